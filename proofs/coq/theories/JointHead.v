(** * A softmax head with trained query-key and value matrices (Theorem C1-joint)

Output [f = V^T X^T softmax(s)], scores [s_t = x_q^T W x_t]; both [W] and [V] are trained ([V] is
kept as the list of its [K] columns).  The contraction is split between values and scores with
weights [u^2 + w^2 = 1]; the best split gives [(A0^(2/3) + C0^(2/3))^(3/2)]. *)
From Coq Require Import Reals List Lra Psatz Lia.
From Attention Require Import SignAverages FiniteSup VectorContraction Expectation CauchySchwarz Probability Risk
  UniformDeviation Softmax LinearScores Matrices SoftmaxHead Peeling FrozenFeatures.
Import ListNotations.
Open Scope R_scope.

(** ** The best split *)
Lemma split_cauchy_schwarz a b u w : 0 <= a -> 0 <= b -> 0 < u -> 0 < w -> u^2 + w^2 = 1 ->
  a + b <= sqrt ((a / u)^2 + (b / w)^2).
Proof.
  intros Ha Hb Hu Hw H. rewrite <- (sqrt_pow2 (a + b)) by lra. apply sqrt_le_1_alt.
  replace ((a / u)^2 + (b / w)^2) with (((a / u)^2 + (b / w)^2) * (u^2 + w^2)) by (rewrite H; ring).
  set (p := a / u). set (q := b / w).
  replace (a + b) with (p * u + q * w) by (unfold p, q; field; lra).
  pose proof (pow2_ge_0 (p * w - q * u)). nra.
Qed.

(** [x^e] with the value 0 at 0. *)
Definition power (e x : R) : R := if Rlt_dec 0 x then Rpower x e else 0.
Definition joint_complexity (A0 C0 : R) : R := power (3 / 2) (power (2 / 3) A0 + power (2 / 3) C0).

Lemma power_pos e x : 0 < x -> power e x = Rpower x e.
Proof. intros H. unfold power. destruct Rlt_dec; [reflexivity | contradiction]. Qed.

Lemma power_0 e : power e 0 = 0.
Proof. unfold power. destruct Rlt_dec; lra. Qed.

Lemma power_round_trip x : 0 <= x -> power (3 / 2) (power (2 / 3) x) = x.
Proof.
  intros [H | <-]; [| rewrite !power_0; reflexivity]. rewrite (power_pos _ x H), power_pos by (unfold Rpower; apply exp_pos).
  rewrite Rpower_mult. replace (2 / 3 * (3 / 2)) with 1 by field. apply Rpower_1; auto.
Qed.

(** A bound [y/w] for every [w < 1] is the bound [y]. *)
Lemma split_limit x y : 0 <= y -> (forall w, 0 < w < 1 -> x <= y / w) -> x <= y.
Proof.
  intros Hy H. destruct (Rle_lt_dec x y) as [| Hlt]; auto. exfalso. assert (0 < x) by lra.
  assert (Hw : 0 < (x + y) / (2 * x) < 1).
  { split. apply Rdiv_lt_0_compat; lra. apply Rmult_lt_reg_r with (2 * x). lra. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
  specialize (H _ Hw). replace (y / ((x + y) / (2 * x))) with (2 * x * y / (x + y)) in H by (field; lra).
  apply Rmult_le_compat_r with (r := x + y) in H; [| lra]. unfold Rdiv in H. rewrite Rmult_assoc, Rinv_l in H by lra. nra.
Qed.

Lemma Rpower_mult_self x : 0 < x -> Rpower x (2 / 3) * Rpower x (1 / 3) = x.
Proof. intros H. rewrite <- Rpower_plus. replace (2 / 3 + 1 / 3) with 1 by field. apply Rpower_1; auto. Qed.

(** The Hoelder form is attained: the split [u = A0^(1/3) / sqrt S], [S = A0^(2/3) + C0^(2/3)]. *)
Lemma best_split A0 C0 : 0 < A0 -> 0 < C0 -> exists u w, 0 < u /\ 0 < w /\ u^2 + w^2 = 1 /\
  A0 / u + C0 / w = joint_complexity A0 C0.
Proof.
  intros HA HC. set (a := Rpower A0 (1 / 3)). set (c := Rpower C0 (1 / 3)).
  assert (Ha : 0 < a) by (unfold a, Rpower; apply exp_pos). assert (Hc : 0 < c) by (unfold c, Rpower; apply exp_pos).
  assert (Ha2 : Rpower A0 (2 / 3) = a^2).
  { unfold a. simpl. rewrite Rmult_1_r, <- Rpower_plus. f_equal. field. }
  assert (Hc2 : Rpower C0 (2 / 3) = c^2).
  { unfold c. simpl. rewrite Rmult_1_r, <- Rpower_plus. f_equal. field. }
  assert (HA3 : A0 = a^2 * a) by (rewrite <- Ha2; symmetry; apply Rpower_mult_self; auto).
  assert (HC3 : C0 = c^2 * c) by (rewrite <- Hc2; symmetry; apply Rpower_mult_self; auto).
  unfold joint_complexity. rewrite (power_pos _ A0 HA), (power_pos _ C0 HC), Ha2, Hc2.
  set (S := a^2 + c^2). assert (HS : 0 < S) by (unfold S; nra). rewrite power_pos by auto.
  assert (Hs : 0 < sqrt S) by (apply sqrt_lt_R0; auto).
  assert (Hss : sqrt S * sqrt S = S) by (apply sqrt_sqrt; lra).
  exists (a / sqrt S), (c / sqrt S). repeat split; try (apply Rdiv_lt_0_compat; auto).
  - replace ((a / sqrt S)^2 + (c / sqrt S)^2) with ((a^2 + c^2) / (sqrt S * sqrt S)) by (field; lra).
    rewrite Hss. unfold S. field. fold S; lra.
  - replace (Rpower S (3 / 2)) with (S * sqrt S).
    + rewrite HA3, HC3 at 1. unfold S at 3. field. repeat split; lra.
    + rewrite <- (Rpower_sqrt S HS). rewrite <- (Rpower_1 S HS) at 1. rewrite <- Rpower_plus. f_equal. field.
Qed.

(** ** The head *)
Lemma sum_abs_le : forall a b : list R, dot a b <= norm a * norm b.
Proof.
  intros a b. apply le_of_sq. apply Rmult_le_pos; apply norm_nonneg.
  replace (norm a * norm b * (norm a * norm b)) with ((norm a * norm a) * (norm b * norm b)) by ring. rewrite !norm_sqr.
  pose proof (dot_sq_le a b). simpl in H. lra.
Qed.

Lemma norm_add v w : length v = length w -> norm (add v w) <= norm v + norm w.
Proof.
  intros H. apply le_of_sq. pose proof (norm_nonneg v); pose proof (norm_nonneg w); lra. rewrite norm_sqr.
  assert (E : norm_sq (add v w) = norm_sq v + 2 * dot v w + norm_sq w).
  { revert w H. induction v; destruct w; simpl; intros; try discriminate. ring. rewrite IHv by lia. ring. }
  rewrite E. pose proof (sum_abs_le v w). rewrite <- !norm_sqr. nra.
Qed.

Lemma norm_scale_abs c v : norm (scale c v) = Rabs c * norm v.
Proof. unfold norm. rewrite norm_sq_scale, sqrt_mult_alt by apply pow2_ge_0. f_equal. rewrite <- Rsqr_pow2. apply sqrt_Rsqr_abs. Qed.

(** [‖sum_t p_t v_t‖ <= ‖p‖ * sqrt (sum_t ‖v_t‖^2)]. *)
Lemma lin_comb_norm p : forall vs e, (forall v, In v vs -> length v = p) ->
  norm (lin_comb p vs e) <= norm e * sqrt (frobenius_sq vs).
Proof.
  intros vs e H.
  assert (K : norm (lin_comb p vs e) <= dot (map Rabs e) (map norm vs)).
  { revert e. induction vs as [| v vs IH]; intros e; simpl.
    - unfold norm. rewrite norm_sq_zeros, sqrt_0. destruct e; simpl; lra.
    - destruct e as [| a e]; simpl. unfold norm; rewrite norm_sq_zeros, sqrt_0; lra.
      eapply Rle_trans. apply norm_add. rewrite scale_length, lin_comb_length. apply H; left; auto. intros; apply H; right; auto.
      rewrite norm_scale_abs. apply Rplus_le_compat_l. apply IH. intros; apply H; right; auto. }
  eapply Rle_trans. apply K. eapply Rle_trans. apply sum_abs_le. right.
  assert (A : norm (map Rabs e) = norm e).
  { unfold norm. f_equal. clear. induction e; cbn [map norm_sq]; auto. rewrite IHe, pow2_abs. reflexivity. }
  assert (B : norm (map norm vs) = sqrt (frobenius_sq vs)).
  { unfold norm at 1. f_equal. clear. induction vs; cbn [map norm_sq frobenius_sq]; auto. rewrite IHvs.
    unfold norm. rewrite pow2_sqrt by apply norm_sq_nonneg. reflexivity. }
  rewrite A, B. reflexivity.
Qed.

Lemma softmax_norm_le_1 s : norm (softmax s) <= 1.
Proof.
  destruct s as [| x r] eqn:Es. unfold norm; simpl. rewrite sqrt_0; lra. rewrite <- Es.
  assert (Hne : s <> nil) by (subst; discriminate). pose proof (softmax_sum s Hne) as Hsum. pose proof (exp_sum_pos s Hne) as Hpos.
  assert (Hp : forall y, In y (softmax s) -> 0 <= y).
  { intros y Hy. unfold softmax in Hy. apply in_map_iff in Hy. destruct Hy as [v [<- _]]. left. apply Rdiv_lt_0_compat; auto. apply exp_pos. }
  assert (K : forall l, (forall y, In y l -> 0 <= y) -> 0 <= sum_list l (fun p => p) /\ norm_sq l <= (sum_list l (fun p => p))^2).
  { induction l as [| y l IH]; intros Hl. simpl; split; lra. cbn [sum_list norm_sq].
    destruct IH as [I1 I2]. intros; apply Hl; right; auto. pose proof (Hl y (or_introl eq_refl)). split; nra. }
  destruct (K _ Hp) as [_ K2]. rewrite Hsum in K2. unfold norm. rewrite <- sqrt_1. apply sqrt_le_1_alt. lra.
Qed.

Lemma lin_comb_sub p : forall vs ws e, length vs = length ws ->
  (forall v, In v vs -> length v = p) -> (forall v, In v ws -> length v = p) ->
  sub (lin_comb p vs e) (lin_comb p ws e) = lin_comb p (map (fun q => sub (fst q) (snd q)) (combine vs ws)) e.
Proof.
  assert (Hz : forall p, sub (repeat 0 p) (repeat 0 p) = repeat 0 p).
  { induction p0; simpl; auto. rewrite IHp0. f_equal. ring. }
  assert (Ha : forall a v w b c, length v = length w -> length v = length b -> length w = length c ->
    sub (add (scale a v) b) (add (scale a w) c) = add (scale a (sub v w)) (sub b c)).
  { intros a. induction v; destruct w, b, c; simpl; intros; try discriminate; auto. f_equal. ring. apply IHv; lia. }
  induction vs as [| v vs IH]; destruct ws as [| w ws]; intros e Hl HV HW; try discriminate; simpl. apply Hz.
  destruct e. apply Hz. rewrite Ha. f_equal. apply IH. simpl in Hl; lia.
  intros; apply HV; right; auto. intros; apply HW; right; auto.
  rewrite (HV v), (HW w) by (left; auto); auto.
  rewrite lin_comb_length. apply HV; left; auto. intros; apply HV; right; auto.
  rewrite lin_comb_length. apply HW; left; auto. intros; apply HW; right; auto.
Qed.

Section Joint.
Context {Z : Type} (d1 d2 K n : nat).
Context (query : Z -> list R) (tokens : Z -> list (list R)) (centre : Z -> list R) (radius : Z -> R).
Hypothesis query_shape : forall z, length (query z) = d1.
Hypothesis tokens_shape : forall z, (length (tokens z) <= n)%nat /\ forall x, In x (tokens z) -> length x = d2.
Hypothesis centre_shape : forall z, length (centre z) = d2.
Hypothesis radius_spec : forall z, 0 <= radius z /\ forall x, In x (tokens z) -> norm (sub x (centre z)) <= radius z.
Context (loss : Z -> list R -> R) (L M sV omegaV omegaW : R).
Hypothesis loss_range : forall z y, 0 <= loss z y <= M.
Hypothesis loss_lipschitz : forall z y y', length y = K -> length y' = K ->
  Rabs (loss z y - loss z y') <= L * norm (sub y y').
Hypothesis L_nonneg : 0 <= L.
Hypothesis M_pos : 0 < M.

(** The values [V^T x_t] of the trained [V], and the loss of the head with weights [(W, V)]. *)
Definition trained_values (V : matrix) (z : Z) : list (list R) := map (mat_vec V) (tokens z).
Definition joint_loss (t : matrix * matrix) (z : Z) : R :=
  loss z (vector_readout K (scores_of query tokens (fst t) z) (trained_values (snd t) z)).

(** The class: [‖W‖_F <= omegaW], [‖V‖_F <= omegaV], [‖V‖_2 <= sV]. *)
Definition joint_class (t : matrix * matrix) : Prop :=
  (shaped d1 d2 (fst t) /\ frobenius_norm (fst t) <= omegaW) /\
  shaped K d2 (snd t) /\ frobenius_norm (snd t) <= omegaV /\ spectral_norm (snd t) <= sV.

Definition tokens_sum (zs : list Z) : R := sum_list zs (fun z => frobenius_sq (tokens z)).
Definition joint_sum (zs : list Z) : R :=
  sum_list zs (fun z => (radius z)^2 * (norm_sq (query z) * frobenius_sq (centred_tokens tokens centre z))).

Lemma trained_values_shape V z : shaped K d2 V ->
  length (trained_values V z) = length (tokens z) /\ forall a, In a (trained_values V z) -> length a = K.
Proof.
  intros [HK _]. unfold trained_values. rewrite map_length. split; auto. intros a Ha. apply in_map_iff in Ha.
  destruct Ha as [x [<- _]]. unfold mat_vec. rewrite map_length. exact HK.
Qed.

Lemma dot_comm : forall a b : list R, dot a b = dot b a.
Proof. induction a; destruct b; simpl; auto. rewrite IHa. ring. Qed.

Lemma trained_values_entries V z : concat (trained_values V z) = product_entries (tokens z) V.
Proof.
  unfold trained_values, product_entries, mat_vec. rewrite flat_map_concat_map. f_equal. apply map_ext. intros x.
  apply map_ext. intros. apply dot_comm.
Qed.

(** Change of the output: change of the values, plus change of the scores. *)
Lemma joint_output_change W V W' V' z : joint_class (W, V) -> joint_class (W', V') -> 0 <= sV ->
  norm (sub (vector_readout K (scores_of query tokens W z) (trained_values V z))
            (vector_readout K (scores_of query tokens W' z) (trained_values V' z)))
  <= norm (sub (product_entries (tokens z) V) (product_entries (tokens z) V'))
     + radius z * sV / sqrt 2 * norm (sub (centred_scores query tokens centre W z) (centred_scores query tokens centre W' z)).
Proof.
  intros [[HW _] [HV [_ _]]] [[HW' _] [HV' [_ HsV']]] HsV. cbn [fst snd] in *.
  assert (Hshift : forall U v, vector_readout K (scores_of query tokens U z) v = vector_readout K (centred_scores query tokens centre U z) v).
  { intros U v. unfold vector_readout. rewrite (centred_scores_shift d2 n query tokens centre tokens_shape centre_shape), softmax_shift. reflexivity. }
  rewrite !Hshift. set (s := centred_scores query tokens centre W z). set (s' := centred_scores query tokens centre W' z).
  destruct (trained_values_shape V z HV) as [LV KV], (trained_values_shape V' z HV') as [LV' KV'].
  set (A := trained_values V z) in *. set (A' := trained_values V' z) in *.
  assert (Ls : length s = length (tokens z)) by (unfold s, centred_scores, centred_tokens; rewrite !map_length; auto).
  assert (Ls' : length s' = length (tokens z)) by (unfold s', centred_scores, centred_tokens; rewrite !map_length; auto).
  assert (Hout : forall s v, (forall a, In a v -> length a = K) -> length (vector_readout K s v) = K).
  { intros. apply lin_comb_length; auto. }
  assert (Tri : sub (vector_readout K s A) (vector_readout K s' A')
    = add (sub (vector_readout K s A) (vector_readout K s A')) (sub (vector_readout K s A') (vector_readout K s' A'))).
  { assert (T : forall a b c, length a = length b -> length b = length c -> sub a c = add (sub a b) (sub b c)).
    { induction a; destruct b, c; simpl; intros; try discriminate; auto. f_equal. ring. apply IHa; lia. }
    apply T; rewrite !Hout; auto. }
  rewrite Tri. eapply Rle_trans. apply norm_add. rewrite !sub_length; rewrite !Hout; auto. apply Rplus_le_compat.
  - unfold vector_readout. rewrite lin_comb_sub by (auto || congruence). eapply Rle_trans. apply lin_comb_norm.
    + intros v Hv. apply in_map_iff in Hv. destruct Hv as [[a b] [<- Hab]]. cbn [fst snd].
      rewrite sub_length; [apply KV; eapply in_combine_l; eauto |].
      rewrite (KV a), (KV' b); auto. eapply in_combine_r; eauto. eapply in_combine_l; eauto.
    + rewrite <- (Rmult_1_l (norm (sub (product_entries _ _) _))). apply Rmult_le_compat; try apply sqrt_pos.
      apply softmax_norm_le_1. right. unfold norm. f_equal. rewrite <- !trained_values_entries. fold A A'.
      clearbody A A'. clear - LV LV' KV KV'. assert (HL : length A = length A') by congruence. clear LV LV'. revert A' KV' HL.
      induction A as [| a A IH]; destruct A' as [| b B]; simpl; intros; try discriminate; auto.
      rewrite sub_app by (rewrite (KV a), (KV' b); auto; left; auto). rewrite norm_sq_app. rewrite <- IH; auto.
      intros; apply KV; right; auto.
  - destruct (radius_spec z) as [Hr0 Hr].
    apply vector_readout_lipschitz with (c := mat_vec V' (centre z)); try congruence.
    + unfold mat_vec. rewrite map_length. apply HV'.
    + apply Rmult_le_pos; auto.
    + intros a Ha. split; [apply KV'; auto |]. unfold A', trained_values in Ha. apply in_map_iff in Ha. destruct Ha as [x [<- Hx]].
      destruct (tokens_shape z) as [_ Hd]. destruct HV' as [HK Hrows].
      assert (Hsub : sub (mat_vec V' x) (mat_vec V' (centre z)) = mat_vec V' (sub x (centre z))).
      { unfold mat_vec. rewrite <- sub_map. apply map_ext. intros. symmetry. apply dot_sub_right. rewrite (Hd x Hx), centre_shape; auto. }
      assert (Hcol : V' = nil \/ length (sub x (centre z)) = columns V').
      { destruct V' as [| row rows]; [left; auto | right]. unfold columns; simpl.
        rewrite sub_length; rewrite (Hd x Hx); rewrite ?centre_shape; auto. symmetry. apply Hrows. left; auto. }
      rewrite Hsub. destruct Hcol as [-> | Hcol].
      * unfold norm; simpl. rewrite sqrt_0. apply Rmult_le_pos; auto.
      * eapply Rle_trans. apply spectral_norm_bounds. exact Hcol. rewrite Rmult_comm.
        apply Rmult_le_compat; auto. apply norm_nonneg. apply spectral_norm_nonneg.
Qed.

(** Rademacher average for a fixed split. *)
Lemma rademacher_joint_split u w t0 l zs : (0 < length zs)%nat -> 0 < u -> 0 < w -> u^2 + w^2 = 1 ->
  (forall t, t = t0 \/ In t l -> joint_class t) ->
  rademacher joint_loss t0 l zs <= sqrt 2 * L *
    ((omegaV * sqrt (INR K * tokens_sum zs) / INR (length zs)) / u
     + (sV * omegaW * sqrt (joint_sum zs) / (sqrt 2 * INR (length zs))) / w).
Proof.
  intros Hm Hu Hw Huw HC. assert (Hm' : 0 < INR (length zs)) by (apply lt_0_INR; auto). pose proof sqrt2_pos as Hs2.
  assert (HsV : 0 <= sV).
  { destruct (HC t0 (or_introl eq_refl)) as [_ [_ [_ H]]]. eapply Rle_trans; [apply spectral_norm_nonneg | apply H]. }
  set (beta := fun z => L * (radius z * sV / sqrt 2) / w).
  assert (Hbeta : forall z, 0 <= beta z).
  { intros z. destruct (radius_spec z) as [Hr _]. unfold beta, Rdiv.
    repeat apply Rmult_le_pos; auto; left; apply Rinv_0_lt_compat; auto. }
  assert (Halpha : 0 <= L / u) by (apply Rmult_le_pos; auto; left; apply Rinv_0_lt_compat; auto).
  set (q := fun z => map (scale (L / u)) (product_features K d2 (tokens z))).
  set (g := fun z => map (fun x => scale (beta z) (outer (query z) x)) (centred_tokens tokens centre z)).
  set (v1 := fun z => q z ++ repeat (repeat 0 (K * d2)) (length (tokens z))).
  set (v2 := fun z => repeat (repeat 0 (d1 * d2)) (length (tokens z) * K) ++ g z).
  assert (Lq : forall z, length (q z) = (length (tokens z) * K)%nat) by (intros; unfold q; rewrite map_length; apply product_features_length).
  assert (Lg : forall z, length (g z) = length (tokens z)) by (intros; unfold g, centred_tokens; rewrite !map_length; auto).
  assert (H : rademacher joint_loss t0 l zs <= sqrt 2 / INR (length zs) *
    (omegaV * sqrt (sum_list zs (fun z => frobenius_sq (v1 z))) + omegaW * sqrt (sum_list zs (fun z => frobenius_sq (v2 z))))).
  { apply (rademacher_padded_scores joint_loss (n * K + n) (K * d2) (d1 * d2) (fun t => concat (snd t)) (fun t => concat (fst t)) v1 v2); auto.
    - intros z. destruct (tokens_shape z) as [H1 H2]. unfold v1. split.
      + rewrite app_length, repeat_length, Lq. apply Nat.add_le_mono; auto. apply Nat.mul_le_mono_r; auto.
      + intros v Hv. apply in_app_or in Hv. destruct Hv as [Hv | Hv]; [| apply repeat_spec in Hv; subst; apply repeat_length].
        unfold q in Hv. apply in_map_iff in Hv. destruct Hv as [x [<- Hx]]. rewrite scale_length. eapply product_features_entry; eauto.
    - intros z. destruct (tokens_shape z) as [H1 H2]. unfold v1, v2. split.
      + rewrite !app_length, !repeat_length, Lq, Lg. reflexivity.
      + intros v Hv. apply in_app_or in Hv. destruct Hv as [Hv | Hv]; [apply repeat_spec in Hv; subst; apply repeat_length |].
        unfold g in Hv. apply in_map_iff in Hv. destruct Hv as [x [<- Hx]]. rewrite scale_length, outer_length, query_shape.
        unfold centred_tokens in Hx. apply in_map_iff in Hx. destruct Hx as [y [<- Hy]].
        rewrite sub_length; rewrite (H2 y Hy); rewrite ?centre_shape; auto.
    - intros t Ht. destruct (HC t Ht) as [_ [Hsh [Hn _]]]. rewrite norm_concat. split; auto. apply concat_length; auto.
    - intros t Ht. destruct (HC t Ht) as [[Hsh Hn] _]. rewrite norm_concat. split; auto. apply concat_length; auto.
    - intros z s t Hs Ht. pose proof (HC s Hs) as Cs. pose proof (HC t Ht) as Ct. destruct s as [W V], t as [W' V'].
      assert (Hsc : forall W V, joint_class (W, V) -> scores (fun t => concat (snd t)) (fun t => concat (fst t)) v1 v2 (W, V) z
        = scale (L / u) (product_entries (tokens z) V) ++ scale (beta z) (centred_scores query tokens centre W z)).
      { intros U X [[HU _] [HX _]]. unfold scores, v1, v2. cbn [fst snd] in *. rewrite !map_app, !dot_zero_vectors.
        assert (E1 : map (dot (concat X)) (q z) = scale (L / u) (product_entries (tokens z) X)).
        { unfold q. rewrite map_map. rewrite <- (product_features_dot K d2) by (auto; apply tokens_shape). unfold scale at 2.
          rewrite map_map. apply map_ext. intros. apply dot_scale_right. }
        assert (E2 : map (dot (concat U)) (g z) = scale (beta z) (centred_scores query tokens centre U z)).
        { unfold g, centred_scores, scale at 2. rewrite !map_map. apply map_ext_in. intros x Hx. rewrite dot_scale_right. f_equal.
          symmetry. destruct HU as [U1 U2]. apply score_outer. rewrite U1, query_shape; auto.
          intros r Hr. rewrite (U2 r Hr). unfold centred_tokens in Hx. apply in_map_iff in Hx. destruct Hx as [y [<- Hy]].
          destruct (tokens_shape z) as [_ H2]. rewrite sub_length; rewrite (H2 y Hy); rewrite ?centre_shape; auto. }
        rewrite E1, E2. rewrite add_app.
        - f_equal.
          + assert (E3 : length (scale (L / u) (product_entries (tokens z) X)) = (length (tokens z) * K)%nat).
            { rewrite scale_length, product_entries_length. destruct HX as [-> _]. reflexivity. }
            apply add_zeros. exact E3.
          + assert (E4 : forall k v, length v = k -> add (repeat 0 k) v = v).
            { intros k v <-. clear. induction v; simpl; auto. rewrite IHv. f_equal. ring. }
            apply E4. rewrite scale_length. unfold centred_scores, centred_tokens. rewrite !map_length. reflexivity.
        - rewrite scale_length, product_entries_length, repeat_length. destruct HX as [-> _]. reflexivity. }
      rewrite !Hsc by auto.
      assert (Lpe : length (product_entries (tokens z) V) = length (product_entries (tokens z) V')).
      { rewrite !product_entries_length. destruct Cs as [_ [[E1 _] _]], Ct as [_ [[E2 _] _]]. cbn [snd] in E1, E2. congruence. }
      rewrite sub_app by (rewrite !scale_length; auto).
      assert (Hscale : forall c a b, length a = length b -> sub (scale c a) (scale c b) = scale c (sub a b)).
      { intros c. induction a; destruct b; simpl; intros; try discriminate; auto. rewrite IHa by lia. f_equal. ring. }
      rewrite !Hscale by (auto || (unfold centred_scores; rewrite !map_length; auto)).
      unfold norm at 1. rewrite norm_sq_app, !norm_sq_scale.
      set (dA := sub (product_entries (tokens z) V) (product_entries (tokens z) V')).
      set (ds := sub (centred_scores query tokens centre W z) (centred_scores query tokens centre W' z)).
      unfold joint_loss. eapply Rle_trans. apply Rle_abs. eapply Rle_trans.
      { apply loss_lipschitz; apply lin_comb_length; cbn [snd].
        destruct (trained_values_shape V z) as [_ A]; auto. apply Cs.
        destruct (trained_values_shape V' z) as [_ A]; auto. apply Ct. }
      eapply Rle_trans. apply Rmult_le_compat_l. exact L_nonneg. apply joint_output_change; auto.
      fold dA ds. pose proof (norm_nonneg dA). pose proof (norm_nonneg ds). destruct (radius_spec z) as [Hr _].
      assert (Hb : 0 <= radius z * sV / sqrt 2 * norm ds).
      { apply Rmult_le_pos; auto. unfold Rdiv. repeat apply Rmult_le_pos; auto. left; apply Rinv_0_lt_compat; auto. }
      rewrite Rmult_plus_distr_l. eapply Rle_trans.
      { apply (split_cauchy_schwarz (L * norm dA) (L * (radius z * sV / sqrt 2 * norm ds)) u w); auto; apply Rmult_le_pos; auto. }
      right. f_equal. rewrite <- (norm_sqr dA), <- (norm_sqr ds). unfold beta. field. repeat split; lra. }
  eapply Rle_trans. apply H.
  assert (S1 : sqrt (sum_list zs (fun z => frobenius_sq (v1 z))) = L / u * sqrt (INR K * tokens_sum zs)).
  { transitivity (sqrt (sum_list zs (fun z => (L / u)^2 * (INR K * frobenius_sq (tokens z))))).
    - f_equal. assert (Hf : forall z, frobenius_sq (v1 z) = (L / u)^2 * (INR K * frobenius_sq (tokens z))).
      { intros z. unfold v1. rewrite frobenius_sq_app, frobenius_zero_vectors, Rplus_0_r. rewrite <- (product_features_norm K d2).
        unfold q. generalize (product_features K d2 (tokens z)). induction l0; cbn [map frobenius_sq]. ring. rewrite norm_sq_scale, IHl0. ring. }
      clear - Hf. induction zs; cbn [sum_list]; auto. rewrite Hf, IHzs. reflexivity.
    - rewrite sqrt_sum_scal by auto. f_equal. f_equal. unfold tokens_sum. symmetry. rewrite <- sum_list_scal. reflexivity. }
  assert (S2 : sqrt (sum_list zs (fun z => frobenius_sq (v2 z))) = L * sV / (sqrt 2 * w) * sqrt (joint_sum zs)).
  { transitivity (sqrt (sum_list zs (fun z => (L * sV / (sqrt 2 * w))^2 * ((radius z)^2 * (norm_sq (query z) * frobenius_sq (centred_tokens tokens centre z)))))).
    - f_equal. assert (Hf : forall z, frobenius_sq (v2 z) = (L * sV / (sqrt 2 * w))^2 * ((radius z)^2 * (norm_sq (query z) * frobenius_sq (centred_tokens tokens centre z)))).
      { intros z. unfold v2. rewrite frobenius_sq_app, frobenius_zero_vectors, Rplus_0_l. unfold g.
        transitivity ((beta z)^2 * (norm_sq (query z) * frobenius_sq (centred_tokens tokens centre z))).
        - induction (centred_tokens tokens centre z); cbn [map frobenius_sq]. ring. rewrite norm_sq_scale, norm_sq_outer, IHl0. ring.
        - unfold beta. field. split; lra. }
      clear - Hf. induction zs; cbn [sum_list]; auto. rewrite Hf, IHzs. reflexivity.
    - rewrite sqrt_sum_scal. reflexivity. unfold Rdiv. apply Rmult_le_pos. apply Rmult_le_pos; auto.
      left. apply Rinv_0_lt_compat. apply Rmult_lt_0_compat; auto. }
  rewrite S1, S2. right. field. repeat split; lra.
Qed.

(** The two ingredients: [A0] for the values, [C0] for the scores. *)
Definition values_part (zs : list Z) : R := omegaV * sqrt (INR K * tokens_sum zs) / INR (length zs).
Definition scores_part (zs : list Z) : R := sV * omegaW * sqrt (joint_sum zs) / (sqrt 2 * INR (length zs)).

(** The Rademacher average with both matrices trained, for any finite part of the balls. *)
Theorem rademacher_joint t0 l zs : (0 < length zs)%nat ->
  (forall t, t = t0 \/ In t l -> joint_class t) ->
  rademacher joint_loss t0 l zs <= sqrt 2 * L * joint_complexity (values_part zs) (scores_part zs).
Proof.
  intros Hm HC. assert (Hm' : 0 < INR (length zs)) by (apply lt_0_INR; auto). pose proof sqrt2_pos as Hs2.
  assert (Hsplit : forall u w, 0 < u -> 0 < w -> u^2 + w^2 = 1 ->
    rademacher joint_loss t0 l zs <= sqrt 2 * L * (values_part zs / u + scores_part zs / w)).
  { intros. apply rademacher_joint_split; auto. }
  destruct (HC t0 (or_introl eq_refl)) as [[_ HW] [_ [HV Hs]]].
  assert (Hn : forall W, 0 <= frobenius_norm W) by (intros; apply sqrt_pos).
  pose proof (Hn (fst t0)). pose proof (Hn (snd t0)). pose proof (spectral_norm_nonneg (snd t0)).
  assert (HA : 0 <= values_part zs).
  { unfold values_part, Rdiv. repeat apply Rmult_le_pos; try apply sqrt_pos; try lra. left; apply Rinv_0_lt_compat; auto. }
  assert (HS : 0 <= scores_part zs).
  { unfold scores_part, Rdiv. repeat apply Rmult_le_pos; try apply sqrt_pos; try lra.
    left; apply Rinv_0_lt_compat. apply Rmult_lt_0_compat; auto. }
  assert (Hunit : forall w, 0 < w < 1 -> 0 < sqrt (1 - w^2) /\ (sqrt (1 - w^2))^2 = 1 - w^2).
  { intros w Hw. split. apply sqrt_lt_R0; nra. apply pow2_sqrt; nra. }
  assert (Hk : 0 <= sqrt 2 * L) by (apply Rmult_le_pos; lra).
  destruct HA as [HA | HA]; [destruct HS as [HS | HS] |].
  - destruct (best_split _ _ HA HS) as [u [w [Hu [Hw [Huw <-]]]]]. auto.
  - rewrite <- HS in *. unfold joint_complexity. rewrite power_0, Rplus_0_r, power_round_trip by lra.
    apply split_limit. apply Rmult_le_pos; lra. intros u Hu. destruct (Hunit u Hu) as [H1' H2'].
    specialize (Hsplit u (sqrt (1 - u^2)) ltac:(lra) H1' ltac:(lra)). unfold Rdiv in *. rewrite Rmult_0_l, Rplus_0_r in Hsplit. lra.
  - rewrite <- HA in *. unfold joint_complexity. rewrite power_0, Rplus_0_l, power_round_trip by lra.
    apply split_limit. apply Rmult_le_pos; lra. intros w Hw. destruct (Hunit w Hw) as [H1' H2'].
    specialize (Hsplit (sqrt (1 - w^2)) w H1' ltac:(lra) ltac:(lra)). unfold Rdiv in *. rewrite Rmult_0_l, Rplus_0_l in Hsplit. lra.
Qed.

(** Theorem C1-joint, for every pair of matrices in the balls. *)
Theorem joint_bound P m delta : distribution P -> (0 < m)%nat -> 0 < delta < 1 ->
  Pr P m (fun zs => exists t, joint_class t /\
    gap P joint_loss zs t >= 2 * (sqrt 2 * L * joint_complexity (values_part zs) (scores_part zs))
                             + 2 * M * sqrt (ln (1 / delta) / (2 * INR m))) <= delta.
Proof.
  intros [Pnn Pone] Hm Hd.
  apply (uniform_deviation_any_class P Pnn Pone joint_loss M M_pos joint_class
    (fun zs => sqrt 2 * L * joint_complexity (values_part zs) (scores_part zs)) m delta Hm Hd).
  - intros t _ z. apply loss_range.
  - intros t0 l HC zs Hzs. apply rademacher_joint; auto. lia.
Qed.
End Joint.

(** C1-joint with all three norms read off after training: [‖W‖_F], [‖V‖_F] and [‖V‖_2] are rounded up
    to grids [c * rho^i], and each grid costs a logarithm. *)
Theorem peeled_joint_bound {Z : Type} (d1 d2 K n : nat) (query : Z -> list R) (tokens : Z -> list (list R))
  (centre : Z -> list R) (radius : Z -> R) (loss : Z -> list R -> R) (L M cW cV cs rho : R) P m delta :
  (forall z, length (query z) = d1) ->
  (forall z, (length (tokens z) <= n)%nat /\ forall x, In x (tokens z) -> length x = d2) ->
  (forall z, length (centre z) = d2) ->
  (forall z, 0 <= radius z /\ forall x, In x (tokens z) -> norm (sub x (centre z)) <= radius z) ->
  (forall z y, 0 <= loss z y <= M) ->
  (forall z y y', length y = K -> length y' = K -> Rabs (loss z y - loss z y') <= L * norm (sub y y')) ->
  0 <= L -> 0 < M -> distribution P -> (0 < m)%nat -> 0 < delta < 1 ->
  Pr P m (fun zs => exists i j k t,
    joint_class d1 d2 K (cs * rho ^ k) (cV * rho ^ j) (cW * rho ^ i) t /\
    gap P (joint_loss K query tokens loss) zs t
    >= 2 * (sqrt 2 * L * joint_complexity (values_part K tokens (cV * rho ^ j) zs)
                                          (scores_part query tokens centre radius (cs * rho ^ k) (cW * rho ^ i) zs))
       + 2 * M * sqrt ((ln (1 / delta) + ln (INR (i + 1) * INR (i + 2)) + ln (INR (j + 1) * INR (j + 2))
                        + ln (INR (k + 1) * INR (k + 2))) / (2 * INR m))) <= delta.
Proof.
  intros Hq Ht Hc Hr Hl Hlip HL HM HP Hm Hd.
  apply (peeling_three P m delta (fun i j k zs => exists t,
    joint_class d1 d2 K (cs * rho ^ k) (cV * rho ^ j) (cW * rho ^ i) t /\
    gap P (joint_loss K query tokens loss) zs t
    >= 2 * (sqrt 2 * L * joint_complexity (values_part K tokens (cV * rho ^ j) zs)
                                          (scores_part query tokens centre radius (cs * rho ^ k) (cW * rho ^ i) zs))
       + 2 * M * sqrt ((ln (1 / delta) + ln (INR (i + 1) * INR (i + 2)) + ln (INR (j + 1) * INR (j + 2))
                        + ln (INR (k + 1) * INR (k + 2))) / (2 * INR m))) HP Hd).
  intros i j k d Hdd Hln. rewrite <- Hln. apply joint_bound with (n := n); auto.
Qed.
