(** * Rademacher averages of losses of linear scores

A loss that is 1-Lipschitz in [K] scores, each linear in trained weights, has a Rademacher average
of at most

  (sqrt 2 / m) * (omega1 * sqrt (sum of squares of features1) + omega2 * sqrt (... features2)),

by Maurer's contraction applied to each sample, Cauchy-Schwarz, and the second moment of a signed
sum of vectors.  Two blocks of weights, so that scores and values may be trained together. *)
From Coq Require Import Reals List Lra Psatz Lia.
From Attention Require Import SignAverages FiniteSup VectorContraction Expectation CauchySchwarz Symmetrization
  Probability Risk Softmax.
Import ListNotations.
Open Scope R_scope.

(** ** Vectors *)
Fixpoint add (v w : list R) : list R :=
  match v, w with a :: v, b :: w => (a + b) :: add v w | _, _ => nil end.
Definition scale (c : R) (v : list R) : list R := map (Rmult c) v.

(** [sum_k e_k v_k], a vector with [p] entries. *)
Fixpoint lin_comb (p : nat) (vs : list (list R)) (e : list R) : list R :=
  match vs, e with v :: vs, a :: e => add (scale a v) (lin_comb p vs e) | _, _ => repeat 0 p end.

(** Sum of the squares of all entries of a list of vectors: the squared Frobenius norm. *)
Fixpoint frobenius_sq (rows : list (list R)) : R :=
  match rows with nil => 0 | r :: rs => norm_sq r + frobenius_sq rs end.

Lemma frobenius_sq_nonneg rows : 0 <= frobenius_sq rows.
Proof. induction rows; simpl. lra. pose proof (norm_sq_nonneg a). lra. Qed.

Lemma frobenius_sq_app a b : frobenius_sq (a ++ b) = frobenius_sq a + frobenius_sq b.
Proof. induction a; simpl. ring. rewrite IHa. ring. Qed.

Lemma scale_length c v : length (scale c v) = length v.
Proof. apply map_length. Qed.

Lemma norm_sq_scale c v : norm_sq (scale c v) = c^2 * norm_sq v.
Proof. induction v; cbn [scale map norm_sq]. ring. fold (scale c v). rewrite IHv. ring. Qed.

Lemma add_length : forall v w, length v = length w -> length (add v w) = length v.
Proof. induction v; destruct w; cbn; intros H; try discriminate; auto. Qed.

Lemma lin_comb_length p : forall vs e, (forall v, In v vs -> length v = p) -> length (lin_comb p vs e) = p.
Proof.
  induction vs as [| v vs IH]; intros e H; simpl. apply repeat_length. destruct e; [apply repeat_length |].
  assert (Hv : length v = p) by (apply H; left; auto).
  rewrite add_length; rewrite scale_length; auto. rewrite IH; auto. intros; apply H; right; auto.
Qed.

Lemma dot_zeros p : forall v, dot v (repeat 0 p) = 0.
Proof. induction p; destruct v; simpl; try reflexivity. rewrite IHp. ring. Qed.

Lemma dot_add_right : forall w a b, length a = length b -> dot w (add a b) = dot w a + dot w b.
Proof.
  induction w as [| x w IH]; intros a b H; [simpl; ring |].
  destruct a, b; simpl in *; try discriminate. ring. rewrite IH by lia. ring.
Qed.

Lemma dot_add_left : forall a b w, length a = length b -> dot (add a b) w = dot a w + dot b w.
Proof.
  induction a as [| x a IH]; destruct b as [| y b]; intros w H; simpl in *; try discriminate. ring.
  destruct w; simpl; [ring |]. rewrite IH by lia. ring.
Qed.

Lemma dot_scale_right : forall w c v, dot w (scale c v) = c * dot w v.
Proof. induction w; destruct v; simpl; try ring. rewrite IHw. ring. Qed.

Lemma dot_lin_comb p w : forall vs e, (forall v, In v vs -> length v = p) ->
  dot w (lin_comb p vs e) = dot (map (dot w) vs) e.
Proof.
  induction vs as [| v vs IH]; intros e H; simpl. apply dot_zeros. destruct e. apply dot_zeros.
  rewrite dot_add_right, dot_scale_right, IH. ring. intros; apply H; right; auto.
  rewrite scale_length, lin_comb_length. apply H; left; auto. intros; apply H; right; auto.
Qed.

(** ** The second moment of a signed sum *)
Lemma norm_sq_add_scale : forall v w, length v = length w ->
  norm_sq (add (scale 1 v) w) + norm_sq (add (scale neg1 v) w) = 2 * norm_sq v + 2 * norm_sq w.
Proof.
  induction v as [| a v IH]; destruct w as [| b w]; intros H; try discriminate. simpl; ring.
  cbn [scale map add norm_sq]. specialize (IH w ltac:(simpl in H; lia)). unfold scale in IH.
  replace ((1 * a + b)^2 + norm_sq (add (map (Rmult 1) v) w) + ((neg1 * a + b)^2 + norm_sq (add (map (Rmult neg1) v) w)))
    with ((1 * a + b)^2 + (neg1 * a + b)^2 + (norm_sq (add (map (Rmult 1) v) w) + norm_sq (add (map (Rmult neg1) v) w))) by ring.
  rewrite IH. ring.
Qed.

Lemma norm_sq_zeros p : norm_sq (repeat 0 p) = 0.
Proof. induction p; simpl; auto. rewrite IHp. ring. Qed.

Lemma second_moment p : forall vs, (forall v, In v vs -> length v = p) ->
  E (length vs) (fun e => norm_sq (lin_comb p vs e)) = frobenius_sq vs.
Proof.
  induction vs as [| v vs IH]; intros H; cbn [length E lin_comb frobenius_sq]. apply norm_sq_zeros.
  rewrite <- E_plus.
  rewrite (E_ext (length vs) _ (fun e => 2 * norm_sq v + 2 * norm_sq (lin_comb p vs e))).
  2:{ intros e _. apply norm_sq_add_scale. rewrite lin_comb_length. apply H; left; auto. intros; apply H; right; auto. }
  rewrite E_plus, E_const, E_scal, IH. field. intros; apply H; right; auto.
Qed.

Lemma expected_norm p vs n : length vs = n -> (forall v, In v vs -> length v = p) ->
  E n (fun e => norm (lin_comb p vs e)) <= sqrt (frobenius_sq vs).
Proof.
  intros <- H. rewrite <- (second_moment p vs H). set (a := E (length vs) (fun e => norm (lin_comb p vs e))).
  assert (Ha : 0 <= a) by (apply E_nonneg; intros; apply norm_nonneg).
  rewrite <- (sqrt_pow2 a Ha). apply sqrt_le_1_alt. eapply Rle_trans. apply jensen_sq.
  right. apply E_ext. intros. unfold norm. apply pow2_sqrt, norm_sq_nonneg.
Qed.

Lemma dot_le_norms v w : length v = length w -> dot v w <= norm v * norm w.
Proof. apply cs_sqrt. Qed.

(** ** The contraction of a loss of linear scores *)
Section LinearScores.
Context {Z T : Type} (F : T -> Z -> R) (K p1 p2 : nat).
Context (w1 w2 : T -> list R) (v1 v2 : Z -> list (list R)) (omega1 omega2 : R).
Hypothesis v1_shape : forall z, length (v1 z) = K /\ forall v, In v (v1 z) -> length v = p1.
Hypothesis v2_shape : forall z, length (v2 z) = K /\ forall v, In v (v2 z) -> length v = p2.

(** The [K] scores of the weights [t] on the point [z]. *)
Definition scores (t : T) (z : Z) : list R := add (map (dot (w1 t)) (v1 z)) (map (dot (w2 t)) (v2 z)).

Context (t0 : T) (l : list T).
Let C (t : T) := t = t0 \/ In t l.
Hypothesis w1_shape : forall t, C t -> length (w1 t) = p1 /\ norm (w1 t) <= omega1.
Hypothesis w2_shape : forall t, C t -> length (w2 t) = p2 /\ norm (w2 t) <= omega2.
Hypothesis lipschitz : forall z s t, C s -> C t -> F s z - F t z <= norm (sub (scores s z) (scores t z)).

Let data (zs : list Z) := map (fun z => ((fun t => F t z), (fun t => scores t z))) zs.
Let features1 (zs : list Z) := flat_map v1 zs.
Let features2 (zs : list Z) := flat_map v2 zs.

Lemma scalar_signed_sum_data : forall zs e t, scalar_signed_sum (data zs) e t = signed_sum F zs e t.
Proof. induction zs; destruct e; simpl; intros; auto. rewrite IHzs. reflexivity. Qed.

Lemma dot_split : forall a b e, dot (a ++ b) e = dot a (firstn (length a) e) + dot b (skipn (length a) e).
Proof.
  induction a as [| x a IH]; intros b e; simpl. ring. destruct e; simpl. destruct b; simpl; ring. rewrite IH. ring.
Qed.

Lemma vector_signed_sum_data : forall zs e t,
  vector_signed_sum K (data zs) e t
  = dot (map (dot (w1 t)) (features1 zs)) e + dot (map (dot (w2 t)) (features2 zs)) e.
Proof.
  induction zs as [| z zs IH]; intros e t. simpl; ring.
  cbn [data map vector_signed_sum]. fold (data zs). rewrite IH. unfold scores, features1, features2. simpl.
  destruct (v1_shape z) as [H1 _], (v2_shape z) as [H2 _].
  rewrite dot_add_left by (rewrite !map_length; congruence).
  rewrite !map_app, !dot_split, !map_length, H1, H2. ring.
Qed.

Lemma features_length (v : Z -> list (list R)) : (forall z, length (v z) = K) ->
  forall zs, length (flat_map v zs) = (length zs * K)%nat.
Proof. intros H. induction zs; simpl; auto. rewrite app_length, H, IHzs. reflexivity. Qed.

Lemma features_entry (v : Z -> list (list R)) p : (forall z x, In x (v z) -> length x = p) ->
  forall zs x, In x (flat_map v zs) -> length x = p.
Proof. intros H zs x Hx. apply in_flat_map in Hx. destruct Hx as [z [_ Hz]]. eapply H; eauto. Qed.

Lemma frobenius_features (v : Z -> list (list R)) : forall zs,
  frobenius_sq (flat_map v zs) = sum_list zs (fun z => frobenius_sq (v z)).
Proof. induction zs; simpl; auto. rewrite frobenius_sq_app, IHzs. reflexivity. Qed.

(** Losses 1-Lipschitz in linear scores: Rademacher average at most [sqrt 2 / m] times radius times root of the sum of squared features. *)
Theorem rademacher_linear_scores zs : (0 < length zs)%nat ->
  rademacher F t0 l zs <= sqrt 2 / INR (length zs) *
    (omega1 * sqrt (sum_list zs (fun z => frobenius_sq (v1 z)))
     + omega2 * sqrt (sum_list zs (fun z => frobenius_sq (v2 z)))).
Proof.
  intros Hm. assert (Hm' : 0 < INR (length zs)) by (apply lt_0_INR; auto). set (m := length zs) in *.
  rewrite rademacher_sum by auto. fold m.
  assert (Hs : 0 <= sqrt 2) by apply sqrt_pos.
  assert (Hdata : length (data zs) = m) by (unfold data; apply map_length).
  assert (HM : E m (fun e => Sup t0 l (fun t => signed_sum F zs e t))
     <= sqrt 2 * E (m * K) (fun e => Sup t0 l (fun t => vector_signed_sum K (data zs) e t))).
  { rewrite (E_ext m _ (fun e => Sup t0 l (fun t => scalar_signed_sum (data zs) e t)))
      by (intros; apply Sup_ext; intros; symmetry; apply scalar_signed_sum_data).
    rewrite <- Hdata. apply maurer_contraction. intros d Hd. unfold data in Hd. apply in_map_iff in Hd.
    destruct Hd as [z [<- _]]. split; cbn [fst snd].
    - intros t Ht. unfold scores. destruct (v1_shape z) as [H1 _], (v2_shape z) as [H2 _].
      rewrite add_length; rewrite !map_length; congruence.
    - intros s t Hs' Ht. apply lipschitz; auto. }
  assert (HV : E (m * K) (fun e => Sup t0 l (fun t => vector_signed_sum K (data zs) e t))
     <= omega1 * sqrt (frobenius_sq (features1 zs)) + omega2 * sqrt (frobenius_sq (features2 zs))).
  { apply Rle_trans with (E (m * K) (fun e => omega1 * norm (lin_comb p1 (features1 zs) e) + omega2 * norm (lin_comb p2 (features2 zs) e))).
    - apply E_le. intros e _. apply Sup_le. intros t Ht. rewrite vector_signed_sum_data.
      destruct (w1_shape t Ht) as [L1 N1], (w2_shape t Ht) as [L2 N2].
      assert (Hf1 : forall v, In v (features1 zs) -> length v = p1).
      { apply features_entry. intros z x Hx. apply v1_shape in Hx. auto. }
      assert (Hf2 : forall v, In v (features2 zs) -> length v = p2).
      { apply features_entry. intros z x Hx. apply v2_shape in Hx. auto. }
      rewrite <- (dot_lin_comb p1 (w1 t)), <- (dot_lin_comb p2 (w2 t)) by auto.
      apply Rplus_le_compat; (eapply Rle_trans; [apply dot_le_norms; rewrite lin_comb_length; auto
        | apply Rmult_le_compat_r; [apply norm_nonneg | auto]]).
    - rewrite E_plus, !E_scal. destruct (w1_shape t0 (or_introl eq_refl)) as [_ N1], (w2_shape t0 (or_introl eq_refl)) as [_ N2].
      pose proof (norm_nonneg (w1 t0)). pose proof (norm_nonneg (w2 t0)).
      apply Rplus_le_compat; (apply Rmult_le_compat_l; [lra |]); apply expected_norm.
      + apply features_length. intros; apply v1_shape.
      + apply features_entry. intros z x Hx. apply v1_shape in Hx. auto.
      + apply features_length. intros; apply v2_shape.
      + apply features_entry. intros z x Hx. apply v2_shape in Hx. auto. }
  unfold features1, features2 in HV. rewrite !frobenius_features in HV.
  apply Rmult_le_reg_l with (INR m); auto.
  replace (INR m * (E m (fun e => Sup t0 l (fun t => signed_sum F zs e t)) / INR m))
    with (E m (fun e => Sup t0 l (fun t => signed_sum F zs e t))) by (field; lra).
  eapply Rle_trans. apply HM.
  match goal with |- _ <= INR m * (sqrt 2 / INR m * ?x) => replace (INR m * (sqrt 2 / INR m * x)) with (sqrt 2 * x) by (field; lra) end.
  apply Rmult_le_compat_l; auto.
Qed.
End LinearScores.

(** ** Points with different numbers of scores: padding with zero features *)
Lemma repeat_app_zeros p k : map (dot p) (repeat (@nil R) k) = repeat 0 k.
Proof. induction k; cbn [repeat map]; auto. rewrite IHk. f_equal. destruct p; reflexivity. Qed.

Lemma dot_zero_vectors w p k : map (dot w) (repeat (repeat 0 p) k) = repeat 0 k.
Proof. induction k; cbn [repeat map]; auto. rewrite IHk, dot_zeros. reflexivity. Qed.

Lemma frobenius_zero_vectors p k : frobenius_sq (repeat (repeat 0 p) k) = 0.
Proof. induction k; simpl; auto. rewrite IHk, norm_sq_zeros. ring. Qed.

Lemma add_app : forall a b c d, length a = length b -> add (a ++ c) (b ++ d) = add a b ++ add c d.
Proof. induction a; destruct b; simpl; intros; try discriminate; auto. rewrite IHa by lia. reflexivity. Qed.

Lemma sub_app : forall a c b d, length a = length c -> sub (a ++ b) (c ++ d) = sub a c ++ sub b d.
Proof. induction a; destruct c; simpl; intros; try discriminate; auto. rewrite IHa by lia. reflexivity. Qed.

Lemma sub_same : forall a, norm_sq (sub a a) = 0.
Proof. induction a; simpl; auto. rewrite IHa. ring. Qed.

Lemma norm_sq_app a b : norm_sq (a ++ b) = norm_sq a + norm_sq b.
Proof. induction a; simpl. ring. rewrite IHa. ring. Qed.

Lemma add_zeros_zeros k : add (repeat 0 k) (repeat 0 k) = repeat 0 k.
Proof. induction k; simpl; auto. rewrite IHk. f_equal. ring. Qed.

Section Padded.
Context {Z T : Type} (F : T -> Z -> R) (K p1 p2 : nat).
Context (w1 w2 : T -> list R) (v1 v2 : Z -> list (list R)) (omega1 omega2 : R).
Hypothesis v1_shape : forall z, (length (v1 z) <= K)%nat /\ forall v, In v (v1 z) -> length v = p1.
Hypothesis v2_shape : forall z, length (v2 z) = length (v1 z) /\ forall v, In v (v2 z) -> length v = p2.
Context (t0 : T) (l : list T).
Let C (t : T) := t = t0 \/ In t l.
Hypothesis w1_shape : forall t, C t -> length (w1 t) = p1 /\ norm (w1 t) <= omega1.
Hypothesis w2_shape : forall t, C t -> length (w2 t) = p2 /\ norm (w2 t) <= omega2.
Hypothesis lipschitz : forall z s t, C s -> C t ->
  F s z - F t z <= norm (sub (scores w1 w2 v1 v2 s z) (scores w1 w2 v1 v2 t z)).

Let pad p (v : Z -> list (list R)) z := v z ++ repeat (repeat 0 p) (K - length (v z)).

(** The same when the number of scores differs from point to point. *)
Theorem rademacher_padded_scores zs : (0 < length zs)%nat ->
  rademacher F t0 l zs <= sqrt 2 / INR (length zs) *
    (omega1 * sqrt (sum_list zs (fun z => frobenius_sq (v1 z)))
     + omega2 * sqrt (sum_list zs (fun z => frobenius_sq (v2 z)))).
Proof.
  intros Hm.
  assert (Hpad : forall p v z, frobenius_sq (pad p v z) = frobenius_sq (v z)).
  { intros. unfold pad. rewrite frobenius_sq_app, frobenius_zero_vectors. ring. }
  assert (Hsum : forall p v, sum_list zs (fun z => frobenius_sq (v z)) = sum_list zs (fun z => frobenius_sq (pad p v z))).
  { intros p v. clear Hm. induction zs; simpl; auto. rewrite IHzs, Hpad. reflexivity. }
  rewrite (Hsum p1 v1), (Hsum p2 v2).
  apply (rademacher_linear_scores F K p1 p2 w1 w2 (pad p1 v1) (pad p2 v2)); auto.
  - intros z. destruct (v1_shape z) as [H1 H2]. unfold pad. split. rewrite app_length, repeat_length. lia.
    intros v Hv. apply in_app_or in Hv. destruct Hv as [Hv | Hv]; auto. apply repeat_spec in Hv. subst. apply repeat_length.
  - intros z. destruct (v1_shape z) as [H1 _], (v2_shape z) as [H2 H3]. unfold pad. split.
    rewrite app_length, repeat_length. lia.
    intros v Hv. apply in_app_or in Hv. destruct Hv as [Hv | Hv]; auto. apply repeat_spec in Hv. subst. apply repeat_length.
  - intros z s t Hs Ht. destruct (v1_shape z) as [H1 _], (v2_shape z) as [H2 _].
    assert (Hsc : forall t, scores w1 w2 (pad p1 v1) (pad p2 v2) t z
                  = scores w1 w2 v1 v2 t z ++ repeat 0 (K - length (v1 z))).
    { intros t'. unfold scores, pad. rewrite !map_app, !dot_zero_vectors, H2, add_app, add_zeros_zeros; auto.
      rewrite !map_length. auto. }
    rewrite !Hsc, sub_app by (unfold scores; rewrite !add_length; rewrite !map_length; auto).
    unfold norm. rewrite norm_sq_app, sub_same, Rplus_0_r. apply lipschitz; auto.
Qed.
End Padded.
