(** * Rank-one attention shatters any number of points (Proposition N1)

[blocks] query directions, [contents] content directions, [m = blocks * contents] points.  Point
[(r, j)] is the sequence of two tokens [(e_r, e_j, 1)] and [(e_r, 0, -1)].  The query-key matrix
carries [beta * Omega_rj] from query [e_r] to content [e_j] and nothing else.  For every sign
pattern [Omega]: all rows of the attention matrix are equal (stable rank 1), and the head outputs
[Omega_rj tanh (beta/2)].  So the Rademacher average is exactly [tanh (beta/2)] on any such sample,
however small the rank of the attention matrices. *)
From Coq Require Import Reals List Lra Psatz Lia Arith.
From Attention Require Import SignAverages FiniteSup VectorContraction Expectation Symmetrization Probability Risk
  Softmax LinearScores Matrices.
Import ListNotations.
Open Scope R_scope.

(** ** The attention matrix of a sequence, and matrices of rank one *)
Definition attention_matrix (W : matrix) (X : list (list R)) : matrix :=
  map (fun q => softmax (map (score W q) X)) X.

(** [u p^T]: rank one in the plain sense. *)
Definition outer_product (u p : list R) : matrix := map (fun a => scale a p) u.

Lemma frobenius_outer u p : frobenius_sq (outer_product u p) = norm_sq u * norm_sq p.
Proof. induction u; cbn [outer_product map frobenius_sq norm_sq]. ring. rewrite norm_sq_scale. fold (outer_product u p). rewrite IHu. ring. Qed.

Lemma dot_comm (a b : list R) : dot a b = dot b a.
Proof. revert b. induction a; destruct b; simpl; auto. rewrite IHa. ring. Qed.

Lemma mat_vec_outer u p x : mat_vec (outer_product u p) x = scale (dot p x) u.
Proof.
  unfold mat_vec, outer_product, scale. rewrite map_map. apply map_ext. intros a.
  rewrite dot_comm. fold (scale a p). rewrite dot_scale_right, dot_comm. ring.
Qed.

(** Every matrix of rank one has stable rank exactly 1. *)
Theorem stable_rank_outer u p : u <> nil -> 0 < norm u -> 0 < norm p -> stable_rank (outer_product u p) = 1.
Proof.
  intros Hne Hu Hp. assert (Hs : spectral_norm (outer_product u p) = norm u * norm p).
  { apply Rle_antisym.
    - eapply Rle_trans. apply spectral_norm_le_frobenius. unfold frobenius_norm. rewrite frobenius_outer.
      rewrite sqrt_mult_alt by apply norm_sq_nonneg. apply Rle_refl.
    - pose proof (spectral_norm_ub (outer_product u p) (scale (/ norm p) p)) as H.
      rewrite mat_vec_outer, dot_scale_right, dot_self, <- (norm_sqr p) in H.
      assert (Hi : 0 < / norm p) by (apply Rinv_0_lt_compat; auto).
      rewrite !norm_scale in H by (try apply Rmult_le_pos; try apply Rmult_le_pos; lra).
      replace (/ norm p * (norm p * norm p) * norm u) with (norm u * norm p) in H by (field; lra).
      apply H. destruct u as [| a u]; [congruence |]. unfold columns; simpl. rewrite !scale_length; auto.
      rewrite Rinv_l by lra. lra. }
  unfold stable_rank. rewrite Hs, frobenius_outer, <- !norm_sqr. field. lra.
Qed.

(** ** Unit vectors *)
Definition unit_vector (n i : nat) : list R := map (fun k => if Nat.eqb k i then 1 else 0) (seq 0 n).

Lemma unit_length n i : length (unit_vector n i) = n.
Proof. unfold unit_vector. rewrite map_length, seq_length. reflexivity. Qed.

Lemma dot_unit_from : forall v s i, (s <= i)%nat ->
  dot (map (fun k => if Nat.eqb k i then 1 else 0) (seq s (length v))) v = nth (i - s) v 0.
Proof.
  induction v as [| x v IH]; intros s i H. simpl. destruct (i - s)%nat; reflexivity.
  cbn [length seq map dot]. destruct (Nat.eqb_spec s i) as [-> | Hne].
  - rewrite Nat.sub_diag. assert (Hz : forall w t, (i < t)%nat -> dot (map (fun k => if Nat.eqb k i then 1 else 0) (seq t (length w))) w = 0).
    { induction w; intros t Ht; simpl; auto. destruct (Nat.eqb_spec t i); [lia |]. rewrite IHw by lia. ring. }
    rewrite Hz by lia. simpl. ring.
  - rewrite IH by lia. destruct (i - s)%nat eqn:Hk; [lia |]. replace (i - S s)%nat with n by lia. simpl. ring.
Qed.

Lemma dot_unit n i v : length v = n -> dot (unit_vector n i) v = nth i v 0.
Proof. intros <-. unfold unit_vector. rewrite dot_unit_from by lia. rewrite Nat.sub_0_r. reflexivity. Qed.

Lemma dot_zeros_left p v : dot (repeat 0 p) v = 0.
Proof. rewrite dot_comm. apply dot_zeros. Qed.

(** ** The construction *)
Section Construction.
Variables (blocks contents : nat) (beta : R).
Hypothesis contents_pos : (0 < contents)%nat.

Definition first_token (z : nat * nat) : list R := unit_vector blocks (fst z) ++ unit_vector contents (snd z) ++ [1].
Definition second_token (z : nat * nat) : list R := unit_vector blocks (fst z) ++ repeat 0 contents ++ [neg1].
Definition two_tokens (z : nat * nat) : list (list R) := [first_token z; second_token z].
(** The value of a token is its last coordinate. *)
Definition two_values (z : nat * nat) : list R := [1; neg1].

Definition pattern_row (Omega : list R) (r : nat) : list R :=
  repeat 0 blocks ++ map (fun j => beta * nth (r * contents + j) Omega 0) (seq 0 contents) ++ [0].
Definition pattern_matrix (Omega : list R) : matrix :=
  map (pattern_row Omega) (seq 0 blocks) ++ repeat (repeat 0 (blocks + contents + 1)) (contents + 1).

Lemma pattern_shaped Omega : shaped (blocks + contents + 1) (blocks + contents + 1) (pattern_matrix Omega).
Proof.
  split. unfold pattern_matrix. rewrite app_length, map_length, seq_length, repeat_length. lia.
  intros r Hr. unfold pattern_matrix in Hr. apply in_app_or in Hr. destruct Hr as [Hr | Hr].
  - apply in_map_iff in Hr. destruct Hr as [k [<- _]]. unfold pattern_row.
    rewrite !app_length, repeat_length, map_length, seq_length. simpl. lia.
  - apply repeat_spec in Hr. subst. apply repeat_length.
Qed.

Definition valid (z : nat * nat) : Prop := (fst z < blocks)%nat /\ (snd z < contents)%nat.

Lemma score_row Omega z rest x : valid z -> length rest = (contents + 1)%nat ->
  score (pattern_matrix Omega) (unit_vector blocks (fst z) ++ rest) x = dot (pattern_row Omega (fst z)) x.
Proof.
  intros [Hr _] Hrest. unfold score, mat_vec, pattern_matrix. rewrite map_app.
  rewrite dot_app by (rewrite unit_length, !map_length, seq_length; auto).
  rewrite dot_unit by (rewrite !map_length, seq_length; auto).
  assert (Hz : forall p k, map (fun r => dot r x) (repeat (repeat 0 p) k) = repeat 0 k).
  { intros p. induction k; cbn [repeat map]; auto. rewrite IHk, dot_zeros_left. reflexivity. }
  rewrite Hz, dot_zeros, Rplus_0_r, map_map.
  set (f := fun k => dot (pattern_row Omega k) x).
  rewrite (nth_indep _ 0 (f 0%nat)) by (rewrite map_length, seq_length; auto).
  rewrite map_nth, seq_nth by auto. reflexivity.
Qed.

Lemma row_first Omega z : valid z -> dot (pattern_row Omega (fst z)) (first_token z)
  = beta * nth (fst z * contents + snd z) Omega 0.
Proof.
  intros [Hr Hj]. unfold pattern_row, first_token. rewrite dot_app by (rewrite repeat_length, unit_length; auto).
  rewrite dot_zeros_left, dot_app by (rewrite map_length, seq_length, unit_length; auto).
  rewrite (dot_comm (map _ _)), dot_unit by (rewrite map_length, seq_length; auto).
  set (f := fun j => beta * nth (fst z * contents + j) Omega 0).
  rewrite (nth_indep _ 0 (f 0%nat)) by (rewrite map_length, seq_length; auto). rewrite map_nth, seq_nth by auto.
  unfold f. simpl. ring.
Qed.

Lemma row_second Omega z : dot (pattern_row Omega (fst z)) (second_token z) = 0.
Proof.
  unfold pattern_row, second_token. rewrite dot_app by (rewrite repeat_length, unit_length; auto).
  rewrite dot_zeros_left, dot_app by (rewrite map_length, seq_length, repeat_length; auto).
  rewrite dot_zeros. simpl. ring.
Qed.

(** Both tokens ask the same query, so both rows of attention are the same. *)
Lemma pattern_scores Omega z rest : valid z -> length rest = (contents + 1)%nat ->
  map (score (pattern_matrix Omega) (unit_vector blocks (fst z) ++ rest)) (two_tokens z)
  = [beta * nth (fst z * contents + snd z) Omega 0; 0].
Proof.
  intros Hz Hrest. unfold two_tokens. cbn [map]. rewrite !score_row, row_first, row_second by auto. reflexivity.
Qed.

Lemma first_rest (z : nat * nat) : length (unit_vector contents (snd z) ++ [1]) = (contents + 1)%nat.
Proof. rewrite app_length, unit_length. reflexivity. Qed.
Lemma second_rest : length (repeat 0 contents ++ [neg1]) = (contents + 1)%nat.
Proof. rewrite app_length, repeat_length. reflexivity. Qed.

Lemma pattern_attention Omega z : valid z ->
  attention_matrix (pattern_matrix Omega) (two_tokens z)
  = outer_product [1; 1] (softmax [beta * nth (fst z * contents + snd z) Omega 0; 0]).
Proof.
  intros Hz. unfold attention_matrix. unfold two_tokens at 2. cbn [map]. unfold first_token at 1, second_token at 1.
  rewrite !pattern_scores by (auto || apply first_rest || apply second_rest).
  unfold outer_product, scale. cbn [map]. rewrite !(map_ext (Rmult 1) (fun x => x)) by (intros; ring). rewrite !map_id. reflexivity.
Qed.

(** (i) Every attention matrix has rank one, and stable rank exactly 1. *)
Theorem pattern_attention_rank_one Omega z : valid z ->
  stable_rank (attention_matrix (pattern_matrix Omega) (two_tokens z)) = 1.
Proof.
  intros Hz. rewrite pattern_attention by auto. apply stable_rank_outer. discriminate.
  - unfold norm; simpl. apply sqrt_lt_R0. lra.
  - unfold norm. apply sqrt_lt_R0. cbn [softmax map norm_sq].
    assert (0 < exp_sum [beta * nth (fst z * contents + snd z) Omega 0; 0]) by (apply exp_sum_pos; discriminate).
    set (D := exp_sum _) in *. assert (0 < exp 0 / D) by (apply Rdiv_lt_0_compat; auto; apply exp_pos).
    pose proof (pow2_ge_0 (exp (beta * nth (fst z * contents + snd z) Omega 0) / D)). nra.
Qed.

(** (ii) The output is the sign of the pattern times [tanh (beta/2)]. *)
Definition pattern_output (Omega : list R) (z : nat * nat) : R :=
  readout (map (score (pattern_matrix Omega) (first_token z)) (two_tokens z)) (two_values z).

(** Softmax over two scores, read out at 1 and -1. *)
Theorem readout_two b : readout [b; 0] [1; neg1] = tanh (b / 2).
Proof.
  unfold readout, softmax, exp_sum, tanh, sinh, cosh. cbn [map sum_list dot]. rewrite exp_0.
  replace (exp b) with (exp (b / 2) * exp (b / 2)) by (rewrite <- exp_plus; f_equal; field).
  rewrite exp_Ropp. pose proof (exp_pos (b / 2)). field. repeat split; nra.
Qed.

Lemma tanh_odd x : tanh (- x) = - tanh x.
Proof.
  unfold tanh, sinh, cosh. rewrite Ropp_involutive. pose proof (exp_pos x). pose proof (exp_pos (- x)). field. lra.
Qed.

(** The head outputs the sign of the pattern times [tanh (beta/2)]. *)
Theorem pattern_output_sign Omega z : valid z -> (nth (fst z * contents + snd z) Omega 0 = 1 \/ nth (fst z * contents + snd z) Omega 0 = neg1) ->
  pattern_output Omega z = nth (fst z * contents + snd z) Omega 0 * tanh (beta / 2).
Proof.
  intros Hz Hs. unfold pattern_output, first_token. rewrite pattern_scores by (auto || apply first_rest).
  unfold two_values. rewrite readout_two. destruct Hs as [-> | ->].
  - rewrite Rmult_1_r, Rmult_1_l. reflexivity.
  - replace (beta * neg1 / 2) with (- (beta / 2)) by field. rewrite tanh_odd. ring.
Qed.

(** ** The Rademacher average over all sign patterns *)
Fixpoint patterns (n : nat) : list (list R) :=
  match n with O => [nil] | S n => map (cons 1) (patterns n) ++ map (cons neg1) (patterns n) end.

Lemma patterns_cube n : forall x, In x (patterns n) <-> cube n x.
Proof.
  induction n; intros x; simpl. destruct x; simpl; intuition; discriminate.
  rewrite in_app_iff, !in_map_iff. split.
  - intros [[y [<- Hy]] | [y [<- Hy]]]; apply IHn in Hy; simpl; auto.
  - destruct x as [| a x]; simpl; [tauto |]. intros [[-> | ->] Hx]; apply IHn in Hx; [left | right]; exists x; auto.
Qed.

Definition all_points : list (nat * nat) := map (fun i => (i / contents, i mod contents)%nat) (seq 0 (blocks * contents)).

Lemma cube_nth n : forall x i, cube n x -> (i < n)%nat -> nth i x 0 = 1 \/ nth i x 0 = neg1.
Proof.
  induction n; intros x i Hx Hi; [lia |]. destruct x as [| a x]; simpl in Hx; [tauto |]. destruct Hx as [Ha Hx].
  destruct i; simpl; auto. apply IHn; auto. lia.
Qed.

Lemma signed_sum_pattern Omega : cube (blocks * contents) Omega -> forall e,
  signed_sum pattern_output all_points e Omega = tanh (beta / 2) * dot Omega e.
Proof.
  intros HO. unfold all_points. pose proof (cube_length _ _ HO) as Hlen.
  assert (K : forall k s w, (s + k = blocks * contents)%nat -> w = skipn s Omega -> forall e,
    signed_sum pattern_output (map (fun i => (i / contents, i mod contents)%nat) (seq s k)) e Omega = tanh (beta / 2) * dot w e).
  { induction k; intros s w Hs -> e; simpl.
    - rewrite skipn_all2 by lia. simpl. ring.
    - assert (Hskip : skipn s Omega = nth s Omega 0 :: skipn (S s) Omega).
      { clear - Hs Hlen. revert Hs Hlen. generalize (blocks * contents)%nat. revert s.
        induction Omega; destruct s; simpl; intros; try lia; auto. apply (IHOmega s (pred n)); lia. }
      rewrite Hskip. destruct e as [| a e]; simpl. ring.
      rewrite (IHk (S s) (skipn (S s) Omega)) by (auto; lia).
      assert (Hidx : (s / contents * contents + s mod contents = s)%nat).
      { rewrite (Nat.mul_comm _ contents). symmetry. apply Nat.div_mod. lia. }
      rewrite pattern_output_sign; simpl; rewrite ?Hidx. ring.
      + split; simpl. apply Nat.div_lt_upper_bound; lia. apply Nat.mod_upper_bound. lia.
      + apply (cube_nth (blocks * contents)); auto. lia. }
  intros e. apply (K _ 0%nat); auto.
Qed.

Lemma dot_cube_le n : forall x e, cube n x -> cube n e -> dot x e <= INR n.
Proof.
  induction n; intros x e Hx He; destruct x, e; simpl in Hx, He; try tauto. simpl; lra.
  cbn [dot]. rewrite S_INR. destruct Hx as [[-> | ->] Hx], He as [[-> | ->] He]; pose proof (IHn _ _ Hx He); lra.
Qed.

Lemma dot_cube_self n : forall x, cube n x -> dot x x = INR n.
Proof.
  induction n; intros x Hx; destruct x; simpl in Hx; try tauto.
  cbn [dot]. rewrite S_INR. destruct Hx as [[-> | ->] Hx]; rewrite (IHn _ Hx); ring.
Qed.

(** Proposition N1: the Rademacher average of these heads is exactly [tanh (beta/2)]. *)
Theorem rank_one_rademacher : 0 <= beta -> (0 < blocks)%nat ->
  rademacher pattern_output (repeat 1 (blocks * contents)) (patterns (blocks * contents)) all_points = tanh (beta / 2).
Proof.
  intros Hb Hbl. set (m := (blocks * contents)%nat). assert (Hm : (0 < m)%nat) by (unfold m; apply Nat.mul_pos_pos; auto).
  assert (Hm' : 0 < INR m) by (apply lt_0_INR; auto).
  assert (Hlen : length all_points = m) by (unfold all_points; rewrite map_length, seq_length; reflexivity).
  assert (Hth : 0 <= tanh (beta / 2)).
  { unfold tanh, sinh, cosh. pose proof (exp_pos (beta / 2)). pose proof (exp_pos (- (beta / 2))).
    assert (exp (- (beta / 2)) <= exp (beta / 2)).
    { destruct (Rle_lt_or_eq_dec _ _ Hb) as [Hlt | <-]. left; apply exp_increasing; lra. right; f_equal; lra. }
    apply Rmult_le_pos. lra. left; apply Rinv_0_lt_compat; lra. }
  unfold rademacher. rewrite Hlen. rewrite (E_ext m _ (fun _ => tanh (beta / 2))). apply E_const. intros e He.
  assert (Hones : cube m (repeat 1 m)). { clear. induction m; simpl; auto. }
  assert (Hcube : forall t, t = repeat 1 m \/ In t (patterns m) -> cube m t) by (intros t [-> | Ht]; auto; apply patterns_cube; auto).
  apply Rle_antisym.
  - apply Sup_le. intros t Ht. rewrite signed_sum_pattern by (apply Hcube; auto).
    pose proof (dot_cube_le m t e (Hcube t Ht) He). apply Rmult_le_reg_r with (INR m); auto.
    unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra. apply Rmult_le_compat_l; auto.
  - eapply Rle_trans; [| apply (Sup_ub _ _ (fun t => signed_sum pattern_output all_points e t / INR m) e)].
    + cbn beta. rewrite signed_sum_pattern by auto. rewrite (dot_cube_self m) by auto. right. field. lra.
    + right. apply patterns_cube; auto.
Qed.
End Construction.
