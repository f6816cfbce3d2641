(** * Matrices as lists of rows: scores, Frobenius and spectral norm, stable rank

No spectral theorem is needed: the spectral norm is the least upper bound of [‖W x‖] over the unit
ball, and the stable rank is [‖W‖_F^2 / ‖W‖_2^2]. *)
From Coq Require Import Reals List Lra Psatz Lia.
From Coquelicot Require Import Coquelicot.
From Attention Require Import SignAverages VectorContraction CauchySchwarz Probability Softmax LinearScores.
Import ListNotations.
Open Scope R_scope.

Definition matrix := list (list R).
Definition shaped (d1 d2 : nat) (W : matrix) : Prop := length W = d1 /\ forall r, In r W -> length r = d2.
Definition mat_vec (W : matrix) (x : list R) : list R := map (fun r => dot r x) W.
(** The score [q^T W x] of a query [q] and a token [x]. *)
Definition score (W : matrix) (q x : list R) : R := dot q (mat_vec W x).
(** The matrix [q x^T], row after row. *)
Definition outer (q x : list R) : list R := flat_map (fun a => scale a x) q.
Definition frobenius_norm (W : matrix) : R := sqrt (frobenius_sq W).

Definition columns (W : matrix) : nat := length (hd nil W).
Definition spectral_norm (W : matrix) : R :=
  real (Lub_Rbar (fun y => exists x, length x = columns W /\ norm x <= 1 /\ y = norm (mat_vec W x))).
Definition stable_rank (W : matrix) : R := frobenius_sq W / (spectral_norm W)^2.
(** Stable rank at most [r], multiplied out so that the zero matrix is allowed. *)
Definition stable_rank_at_most (r : R) (W : matrix) : Prop := frobenius_sq W <= r * (spectral_norm W)^2.

Lemma outer_length q x : length (outer q x) = (length q * length x)%nat.
Proof. induction q; simpl; auto. rewrite app_length, scale_length, IHq. reflexivity. Qed.

Lemma norm_sq_outer q x : norm_sq (outer q x) = norm_sq q * norm_sq x.
Proof. induction q; cbn [outer flat_map norm_sq]. ring. rewrite norm_sq_app, norm_sq_scale. fold (outer q x). rewrite IHq. ring. Qed.

Lemma norm_sq_concat W : norm_sq (concat W) = frobenius_sq W.
Proof. induction W; simpl; auto. rewrite norm_sq_app, IHW. reflexivity. Qed.

Lemma norm_concat W : norm (concat W) = frobenius_norm W.
Proof. unfold norm, frobenius_norm. rewrite norm_sq_concat. reflexivity. Qed.

Lemma dot_app : forall a b c d, length a = length c -> dot (a ++ b) (c ++ d) = dot a c + dot b d.
Proof.
  induction a as [| x a IH]; intros b c d H; destruct c; simpl in *; try discriminate. ring.
  rewrite IH by lia. ring.
Qed.

Lemma score_outer : forall W q x, length W = length q -> (forall r, In r W -> length r = length x) ->
  score W q x = dot (concat W) (outer q x).
Proof.
  unfold score. induction W as [| r W IH]; destruct q as [| a q]; intros x H1 H2; try discriminate. reflexivity.
  cbn [mat_vec map concat outer flat_map dot]. fold (mat_vec W x) (outer q x).
  rewrite dot_app by (rewrite scale_length; apply H2; left; auto).
  rewrite dot_scale_right, (IH q x). ring. simpl in H1; lia. intros; apply H2; right; auto.
Qed.

Lemma concat_length W d1 d2 : shaped d1 d2 W -> length (concat W) = (d1 * d2)%nat.
Proof.
  revert d1. induction W as [| r W IH]; intros d1 [<- H]; simpl; auto. rewrite app_length, (H r (or_introl eq_refl)).
  f_equal. apply IH. split; auto. intros; apply H; right; auto.
Qed.

Lemma dot_sub_right : forall w a b, length a = length b -> dot w (sub a b) = dot w a - dot w b.
Proof.
  induction w as [| x w IH]; intros a b H; [simpl; ring |]. destruct a, b; simpl in *; try discriminate. ring.
  rewrite IH by lia. ring.
Qed.

Lemma sub_map {A} (f g : A -> R) l : map (fun r => f r - g r) l = sub (map f l) (map g l).
Proof. induction l; simpl; auto. rewrite IHl. reflexivity. Qed.

Lemma score_sub W q x c : length x = length c -> score W q (sub x c) = score W q x - score W q c.
Proof.
  intros H. unfold score, mat_vec. rewrite <- dot_sub_right by (rewrite !map_length; auto).
  rewrite <- sub_map. f_equal. apply map_ext. intros. apply dot_sub_right; auto.
Qed.

(** ** The spectral norm is attained as a supremum, and lies below the Frobenius norm *)
Lemma dot_sq_le : forall v w, (dot v w)^2 <= norm_sq v * norm_sq w.
Proof.
  intros v w. set (n := Nat.min (length v) (length w)).
  assert (Hd : dot v w = dot (firstn n v) (firstn n w)).
  { unfold n. clear. revert w. induction v as [| a v IH]; destruct w as [| b w]; simpl; auto. rewrite IH. reflexivity. }
  assert (Hn : forall u, norm_sq (firstn n u) <= norm_sq u).
  { intros u. rewrite <- (firstn_skipn n u) at 2. rewrite norm_sq_app. pose proof (norm_sq_nonneg (skipn n u)). lra. }
  rewrite Hd. eapply Rle_trans. apply cauchy_schwarz. rewrite !firstn_length. lia.
  apply Rmult_le_compat; auto; apply norm_sq_nonneg.
Qed.

Lemma mat_vec_le_frobenius W x : norm_sq (mat_vec W x) <= frobenius_sq W * norm_sq x.
Proof.
  induction W as [| r W IH]; cbn [mat_vec map norm_sq frobenius_sq]. lra.
  pose proof (dot_sq_le r x). rewrite Rmult_plus_distr_r. apply Rplus_le_compat; auto.
Qed.

Lemma spectral_norm_lub W :
  is_lub_Rbar (fun y => exists x, length x = columns W /\ norm x <= 1 /\ y = norm (mat_vec W x)) (spectral_norm W).
Proof.
  unfold spectral_norm. match goal with |- is_lub_Rbar ?S _ => set (A := S) end.
  pose proof (Lub_Rbar_correct A) as H. destruct (Lub_Rbar A) as [r | |] eqn:Hlub; auto.
  - exfalso. destruct H as [_ H]. assert (is_ub_Rbar A (frobenius_norm W)).
    { intros y [x [_ [Hx ->]]]. simpl. unfold norm, frobenius_norm. apply sqrt_le_1_alt.
      eapply Rle_trans. apply mat_vec_le_frobenius. pose proof (frobenius_sq_nonneg W).
      assert (norm_sq x <= 1). { rewrite <- norm_sqr. pose proof (norm_nonneg x). nra. } nra. }
    apply H in H0. simpl in H0. exact H0.
  - exfalso. destruct H as [H _]. assert (HA : A (norm (mat_vec W (repeat 0 (columns W))))).
    { exists (repeat 0 (columns W)). rewrite repeat_length. unfold norm at 1. rewrite norm_sq_zeros, sqrt_0. repeat split; lra. }
    apply H in HA. exact HA.
Qed.

Lemma spectral_norm_ub W x : length x = columns W -> norm x <= 1 -> norm (mat_vec W x) <= spectral_norm W.
Proof. intros H1 H2. destruct (spectral_norm_lub W) as [H _]. apply (H (norm (mat_vec W x))). exists x; auto. Qed.

Lemma spectral_norm_least W b : (forall x, length x = columns W -> norm x <= 1 -> norm (mat_vec W x) <= b) ->
  spectral_norm W <= b.
Proof. intros H. destruct (spectral_norm_lub W) as [_ K]. apply (K b). intros y [x [Hx [Hn ->]]]. apply H; auto. Qed.

Lemma spectral_norm_nonneg W : 0 <= spectral_norm W.
Proof.
  eapply Rle_trans. apply (norm_nonneg (mat_vec W (repeat 0 (columns W)))).
  apply spectral_norm_ub. apply repeat_length. unfold norm. rewrite norm_sq_zeros, sqrt_0. lra.
Qed.

Lemma spectral_norm_le_frobenius W : spectral_norm W <= frobenius_norm W.
Proof.
  apply spectral_norm_least. intros x _ Hx. unfold norm, frobenius_norm. apply sqrt_le_1_alt.
  eapply Rle_trans. apply mat_vec_le_frobenius. pose proof (frobenius_sq_nonneg W).
  assert (norm_sq x <= 1). { rewrite <- norm_sqr. pose proof (norm_nonneg x). nra. } nra.
Qed.

Lemma mat_vec_scale W c x : mat_vec W (scale c x) = scale c (mat_vec W x).
Proof. unfold mat_vec, scale at 2. rewrite map_map. apply map_ext. intros. apply dot_scale_right. Qed.

Lemma norm_scale c x : 0 <= c -> norm (scale c x) = c * norm x.
Proof. intros H. unfold norm. rewrite norm_sq_scale, sqrt_mult_alt by apply pow2_ge_0. rewrite sqrt_pow2; auto. Qed.

Lemma spectral_norm_bounds W x : length x = columns W -> norm (mat_vec W x) <= spectral_norm W * norm x.
Proof.
  intros H. destruct (Req_dec (norm x) 0) as [H0 | H0].
  - assert (norm_sq x = 0) by (rewrite <- norm_sqr, H0; ring).
    assert (norm_sq (mat_vec W x) <= 0) by (pose proof (mat_vec_le_frobenius W x); rewrite H1 in H2; lra).
    unfold norm at 1. replace (norm_sq (mat_vec W x)) with 0 by (pose proof (norm_sq_nonneg (mat_vec W x)); lra).
    rewrite sqrt_0, H0. lra.
  - pose proof (norm_nonneg x). assert (0 < norm x) by lra.
    assert (0 < / norm x) by (apply Rinv_0_lt_compat; auto).
    pose proof (spectral_norm_ub W (scale (/ norm x) x)) as K. rewrite scale_length, mat_vec_scale in K.
    rewrite !norm_scale in K by lra. specialize (K H). rewrite Rinv_l in K by lra. specialize (K (Rle_refl 1)).
    apply Rmult_le_reg_l with (/ norm x); auto. replace (/ norm x * (spectral_norm W * norm x)) with (spectral_norm W) by (field; lra).
    exact K.
Qed.

(** ** The stable rank *)
Lemma stable_rank_ge_1 W : 0 < spectral_norm W -> 1 <= stable_rank W.
Proof.
  intros H. pose proof (spectral_norm_le_frobenius W) as K. unfold stable_rank. assert (0 < (spectral_norm W)^2) by nra.
  apply Rmult_le_reg_r with ((spectral_norm W)^2); auto. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra.
  assert (frobenius_norm W * frobenius_norm W = frobenius_sq W) by (apply sqrt_sqrt, frobenius_sq_nonneg). nra.
Qed.

Lemma stable_rank_at_most_spec r W : 0 < spectral_norm W -> (stable_rank_at_most r W <-> stable_rank W <= r).
Proof.
  intros H. unfold stable_rank_at_most, stable_rank. assert (0 < (spectral_norm W)^2) by nra. split; intros K.
  - apply Rmult_le_reg_r with ((spectral_norm W)^2); auto. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra.
  - apply Rmult_le_compat_r with (r := (spectral_norm W)^2) in K; [| lra]. unfold Rdiv in K. rewrite Rmult_assoc, Rinv_l in K; lra.
Qed.

(** Spectral norm at most [s] and stable rank at most [r] put a matrix in the Frobenius ball of radius [s sqrt r]. *)
Lemma frobenius_norm_le s r W : 0 <= r -> spectral_norm W <= s -> stable_rank_at_most r W ->
  frobenius_norm W <= s * sqrt r.
Proof.
  intros Hr Hs Hst. pose proof (spectral_norm_nonneg W). unfold frobenius_norm.
  apply Rle_trans with (sqrt (r * (spectral_norm W)^2)). apply sqrt_le_1_alt; auto.
  rewrite sqrt_mult_alt by auto. rewrite sqrt_pow2 by auto. rewrite Rmult_comm.
  apply Rmult_le_compat_r; auto. apply sqrt_pos.
Qed.
