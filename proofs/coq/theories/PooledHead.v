(** * Several readings of one sequence, with fixed score offsets (C1-vector as a report uses it)

One unit of the sample (a sequence) may be read by the same trained matrix [W] at many query positions,
each with its own visible tokens, values and fixed additive score offsets (a mask, ALiBi).  The loss is
[L z]-Lipschitz in all outputs of the point [z] together, in the joint Euclidean norm; for a mean of [k]
losses that are [L1]-Lipschitz each, [L z = L1 / sqrt k] ([mean_of_losses_lipschitz]).  The squares of
the readings add up inside the sum. *)
From Coq Require Import Reals List Lra Psatz Lia.
From Attention Require Import SignAverages FiniteSup VectorContraction Expectation Probability Risk UniformDeviation
  Softmax LinearScores Matrices SoftmaxHead Peeling.
Import ListNotations.
Open Scope R_scope.

(** What one query position sees. *)
Record reading := Reading {
  query_of : list R;
  tokens_of : list (list R);
  offset_of : list R;
  centre_of : list R;
  values_of : list (list R);
  value_centre_of : list R;
  radius_of : R
}.

Section Pooled.
Context {Z : Type} (d1 d2 K N : nat) (readings : Z -> list reading) (loss : Z -> list (list R) -> R) (L : Z -> R) (M : R).

(** Shapes, and values within [radius_of] of their centre. *)
Definition well_formed (x : reading) : Prop :=
  length (query_of x) = d1 /\ (forall t, In t (tokens_of x) -> length t = d2) /\ length (centre_of x) = d2 /\
  length (offset_of x) = length (tokens_of x) /\ length (values_of x) = length (tokens_of x) /\
  length (value_centre_of x) = K /\ 0 <= radius_of x /\
  (forall a, In a (values_of x) -> length a = K /\ norm (sub a (value_centre_of x)) <= radius_of x).

Hypothesis readings_shape : forall z, (length (flat_map tokens_of (readings z)) <= N)%nat /\
  forall x, In x (readings z) -> well_formed x.
Hypothesis loss_range : forall z y, 0 <= loss z y <= M.
Hypothesis loss_lipschitz : forall z y y', length y = length y' ->
  (forall v, In v y -> length v = K) -> (forall v, In v y' -> length v = K) ->
  Rabs (loss z y - loss z y') <= L z * norm (sub (concat y) (concat y')).
Hypothesis L_nonneg : forall z, 0 <= L z.
Hypothesis M_pos : 0 < M.

Definition scores_at (W : matrix) (x : reading) : list R := add (map (score W (query_of x)) (tokens_of x)) (offset_of x).
Definition output_at (W : matrix) (x : reading) : list R := lin_comb K (values_of x) (softmax (scores_at W x)).
Definition pooled_loss (W : matrix) (z : Z) : R := loss z (map (output_at W) (readings z)).

Definition centred_at (x : reading) : list (list R) := map (fun t => sub t (centre_of x)) (tokens_of x).
Definition pooled_sum (zs : list Z) : R :=
  sum_list zs (fun z => (L z)^2 * sum_list (readings z) (fun x =>
    (radius_of x)^2 * (norm_sq (query_of x) * frobenius_sq (centred_at x)))).

Let weight z x := L z * radius_of x / sqrt 2.
Let features_at z x := map (fun t => scale (weight z x) (outer (query_of x) t)) (centred_at x).
Let features z := flat_map (features_at z) (readings z).

Lemma sub_add_same : forall s s' b, length s = length b -> length s' = length b -> sub (add s b) (add s' b) = sub s s'.
Proof. induction s; destruct s', b; simpl; intros; try discriminate; auto. rewrite IHs by lia. f_equal. ring. Qed.

Lemma add_shift : forall s b c, length s = length b -> add (map (fun y => y - c) s) b = map (fun y => y - c) (add s b).
Proof. induction s; destruct b; simpl; intros; try discriminate; auto. rewrite IHs by lia. f_equal. ring. Qed.

Lemma output_length W x : well_formed x -> length (output_at W x) = K.
Proof. intros [_ [_ [_ [_ [_ [_ [_ H]]]]]]]. apply lin_comb_length. intros v Hv. apply H; auto. Qed.

(** One reading: the output moves by [radius / sqrt 2] times the change of the centred scores. *)
Lemma output_lipschitz W W' x : well_formed x ->
  norm (sub (output_at W x) (output_at W' x))
  <= radius_of x / sqrt 2 * norm (sub (map (score W (query_of x)) (centred_at x)) (map (score W' (query_of x)) (centred_at x))).
Proof.
  intros [Hq [Ht [Hc [Ho [Hv [Hvc [Hr Ha]]]]]]].
  assert (Hs : forall V, output_at V x = lin_comb K (values_of x) (softmax (add (map (score V (query_of x)) (centred_at x)) (offset_of x)))).
  { intros V. unfold output_at, scores_at. f_equal.
    rewrite <- (softmax_shift (add (map (score V (query_of x)) (tokens_of x)) (offset_of x)) (score V (query_of x) (centre_of x))).
    f_equal. rewrite <- add_shift by (rewrite map_length; auto). f_equal. unfold centred_at. rewrite !map_map. apply map_ext_in.
    intros t Hin. symmetry. apply score_sub. rewrite (Ht t Hin), Hc. reflexivity. }
  rewrite !Hs.
  assert (Hl : forall V, length (map (score V (query_of x)) (centred_at x)) = length (offset_of x)).
  { intros V. unfold centred_at. rewrite !map_length. auto. }
  rewrite <- (sub_add_same (map (score W (query_of x)) (centred_at x)) (map (score W' (query_of x)) (centred_at x)) (offset_of x)) by auto.
  apply (vector_readout_lipschitz K) with (c := value_centre_of x); auto.
  - rewrite !add_length; rewrite ?Hl; auto.
  - rewrite add_length; rewrite Hl; congruence.
Qed.

(** All readings of one point together. *)
Lemma outputs_norm z W W' : forall l, (forall x, In x l -> well_formed x) ->
  L z * norm (sub (concat (map (output_at W) l)) (concat (map (output_at W') l)))
  <= norm (sub (flat_map (fun x => scale (weight z x) (map (score W (query_of x)) (centred_at x))) l)
               (flat_map (fun x => scale (weight z x) (map (score W' (query_of x)) (centred_at x))) l)).
Proof.
  intros l Hl. assert (Hs2 : 0 < sqrt 2) by (apply sqrt_lt_R0; lra).
  unfold norm. rewrite <- (sqrt_pow2 (L z) (L_nonneg z)) at 1. rewrite <- sqrt_mult_alt by apply pow2_ge_0. apply sqrt_le_1_alt.
  induction l as [| x l IH]; [simpl; lra |].
  assert (Hx : well_formed x) by (apply Hl; left; auto). cbn [map concat flat_map].
  assert (Hlen : length (map (score W (query_of x)) (centred_at x)) = length (map (score W' (query_of x)) (centred_at x)))
    by (rewrite !map_length; auto).
  rewrite !sub_app by (rewrite ?scale_length, ?output_length; auto). rewrite !norm_sq_app.
  rewrite Rmult_plus_distr_l. apply Rplus_le_compat; [| apply IH; intros; apply Hl; right; auto].
  assert (Hscale : forall c a b, length a = length b -> sub (scale c a) (scale c b) = scale c (sub a b)).
  { intros c. induction a; destruct b; simpl; intros; try discriminate; auto. rewrite IHa by lia. f_equal. ring. }
  rewrite Hscale, norm_sq_scale by auto.
  pose proof (output_lipschitz W W' x Hx) as H. destruct Hx as [_ [_ [_ [_ [_ [_ [Hr _]]]]]]].
  set (a := sub (output_at W x) (output_at W' x)) in *.
  set (b := sub (map (score W (query_of x)) (centred_at x)) (map (score W' (query_of x)) (centred_at x))) in *.
  rewrite <- (norm_sqr a), <- (norm_sqr b). pose proof (norm_nonneg a). pose proof (norm_nonneg b).
  replace ((weight z x)^2 * (norm b * norm b)) with ((L z)^2 * ((radius_of x / sqrt 2 * norm b) * (radius_of x / sqrt 2 * norm b)))
    by (unfold weight; field; lra).
  apply Rmult_le_compat_l; [apply pow2_ge_0 |]. apply Rmult_le_compat; auto.
Qed.

Lemma features_entry_length z v : In v (features z) -> length v = (d1 * d2)%nat.
Proof.
  intros Hv. unfold features in Hv. apply in_flat_map in Hv. destruct Hv as [x [Hx Hv]].
  destruct (readings_shape z) as [_ Hz]. destruct (Hz x Hx) as [Hq [Ht [Hc _]]].
  unfold features_at in Hv. apply in_map_iff in Hv. destruct Hv as [t [<- Hin]]. rewrite scale_length, outer_length, Hq. f_equal.
  unfold centred_at in Hin. apply in_map_iff in Hin. destruct Hin as [s [<- Hs]]. rewrite sub_length; rewrite (Ht s Hs); auto.
Qed.

Lemma features_count z : length (features z) = length (flat_map tokens_of (readings z)).
Proof.
  unfold features. induction (readings z) as [| x l IH]; simpl; auto. rewrite !app_length, IH. f_equal.
  unfold features_at, centred_at. rewrite !map_length. reflexivity.
Qed.

Lemma features_dot W z : shaped d1 d2 W ->
  map (dot (concat W)) (features z) = flat_map (fun x => scale (weight z x) (map (score W (query_of x)) (centred_at x))) (readings z).
Proof.
  intros [H1 H2]. destruct (readings_shape z) as [_ Hz]. unfold features. induction (readings z) as [| x l IH]; simpl; auto.
  rewrite map_app, IH by (intros; apply Hz; right; auto). f_equal. destruct (Hz x (or_introl eq_refl)) as [Hq [Ht [Hc _]]].
  unfold features_at, scale at 2. rewrite !map_map. apply map_ext_in. intros t Hin. rewrite dot_scale_right. f_equal. symmetry.
  apply score_outer. congruence. intros r Hr. rewrite (H2 r Hr). unfold centred_at in Hin. apply in_map_iff in Hin.
  destruct Hin as [s [<- Hs]]. rewrite sub_length; rewrite (Ht s Hs); auto.
Qed.

Lemma features_squares z : frobenius_sq (features z)
  = (1 / sqrt 2)^2 * ((L z)^2 * sum_list (readings z) (fun x => (radius_of x)^2 * (norm_sq (query_of x) * frobenius_sq (centred_at x)))).
Proof.
  assert (Hs2 : 0 < sqrt 2) by (apply sqrt_lt_R0; lra).
  unfold features. induction (readings z) as [| x l IH]; cbn [flat_map sum_list frobenius_sq]. ring. rewrite frobenius_sq_app, IH.
  assert (H : frobenius_sq (features_at z x) = (weight z x)^2 * (norm_sq (query_of x) * frobenius_sq (centred_at x))).
  { unfold features_at. induction (centred_at x); cbn [map frobenius_sq]. ring. rewrite norm_sq_scale, norm_sq_outer, IHl0. ring. }
  rewrite H. unfold weight. field. lra.
Qed.

Lemma rademacher_pooled omega t0 l zs : (0 < length zs)%nat ->
  (forall W, W = t0 \/ In W l -> shaped d1 d2 W /\ frobenius_norm W <= omega) ->
  rademacher pooled_loss t0 l zs <= omega / INR (length zs) * sqrt (pooled_sum zs).
Proof.
  intros Hm HC. assert (Hm' : 0 < INR (length zs)) by (apply lt_0_INR; auto). assert (Hs2 : 0 < sqrt 2) by (apply sqrt_lt_R0; lra).
  assert (H : rademacher pooled_loss t0 l zs <= sqrt 2 / INR (length zs) *
    (omega * sqrt (sum_list zs (fun z => frobenius_sq (features z)))
     + 0 * sqrt (sum_list zs (fun z => frobenius_sq (repeat (@nil R) (length (features z))))))).
  { apply (rademacher_padded_scores pooled_loss N (d1 * d2) 0 (fun W => concat W) (fun _ => nil) features
      (fun z => repeat nil (length (features z)))); auto.
    - intros z. split. rewrite features_count. apply readings_shape. intros v. apply features_entry_length.
    - intros z. split. apply repeat_length. intros v Hv. apply repeat_spec in Hv. subst; auto.
    - intros W HW. destruct (HC W HW) as [Hsh Hn]. rewrite norm_concat. split; auto. apply concat_length; auto.
    - intros W _. split; auto. unfold norm; simpl. rewrite sqrt_0. lra.
    - intros z V W HV HW. unfold scores. rewrite repeat_app_zeros, !add_zeros by (rewrite map_length; auto).
      destruct (HC V HV) as [HsV _], (HC W HW) as [HsW _]. rewrite !features_dot by auto.
      destruct (readings_shape z) as [_ Hz]. unfold pooled_loss. eapply Rle_trans. apply Rle_abs. eapply Rle_trans.
      { apply loss_lipschitz. rewrite !map_length; auto.
        intros v Hv. apply in_map_iff in Hv. destruct Hv as [x [<- Hx]]. apply output_length; auto.
        intros v Hv. apply in_map_iff in Hv. destruct Hv as [x [<- Hx]]. apply output_length; auto. }
      apply outputs_norm. exact Hz. }
  eapply Rle_trans. apply H. right.
  assert (Hf : sqrt (sum_list zs (fun z => frobenius_sq (features z))) = 1 / sqrt 2 * sqrt (pooled_sum zs)).
  { unfold pooled_sum. rewrite <- sqrt_sum_scal.
    assert (K2 : forall l', sum_list l' (fun z => frobenius_sq (features z)) = sum_list l' (fun z => (1 / sqrt 2)^2 *
      ((L z)^2 * sum_list (readings z) (fun x => (radius_of x)^2 * (norm_sq (query_of x) * frobenius_sq (centred_at x)))))).
    { induction l' as [| z l' IH]; cbn [sum_list]; auto. rewrite IH, features_squares. reflexivity. }
    rewrite K2. reflexivity. apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; auto]. }
  rewrite Hf. field. lra.
Qed.

(** C1-vector for pooled readings, in the Frobenius ball of radius [omega]. *)
Theorem pooled_head_bound P omega m delta : distribution P -> (0 < m)%nat -> 0 < delta < 1 ->
  Pr P m (fun zs => exists W, (shaped d1 d2 W /\ frobenius_norm W <= omega) /\
    gap P pooled_loss zs W >= 2 * (omega / INR m * sqrt (pooled_sum zs))
                              + 2 * M * sqrt (ln (1 / delta) / (2 * INR m))) <= delta.
Proof.
  intros [Pnn Pone] Hm Hd.
  apply (uniform_deviation_any_class P Pnn Pone pooled_loss M M_pos
    (fun W => shaped d1 d2 W /\ frobenius_norm W <= omega)
    (fun zs => omega / INR m * sqrt (pooled_sum zs)) m delta Hm Hd).
  - intros W _ z. apply loss_range.
  - intros t0 l HC zs <-. apply rademacher_pooled; auto.
Qed.

(** The same with the Frobenius norm read off after training: the bound that a report prints for a head. *)
Theorem peeled_pooled_head_bound P c0 rho m delta : distribution P -> (0 < m)%nat -> 0 < delta < 1 ->
  Pr P m (fun zs => exists j W, (shaped d1 d2 W /\ frobenius_norm W <= c0 * rho ^ j) /\
    gap P pooled_loss zs W >= 2 * ((c0 * rho ^ j) / INR m * sqrt (pooled_sum zs))
       + 2 * M * sqrt ((ln (1 / delta) + ln (INR (j + 1) * INR (j + 2))) / (2 * INR m))) <= delta.
Proof.
  intros HP Hm Hd. assert (Hm' : 0 < INR m) by (apply lt_0_INR; auto).
  assert (E : forall zs r, 2 * (r / INR m * sqrt (pooled_sum zs)) = 2 * (1 / INR m * sqrt (pooled_sum zs)) * r) by (intros; field; lra).
  assert (H := peeling_complexity P pooled_loss (shaped d1 d2) frobenius_norm
    (fun zs => 2 * (1 / INR m * sqrt (pooled_sum zs))) M c0 rho m delta HP Hd).
  eapply Rle_trans; [| apply H].
  - destruct HP as [Pnn Pone]. apply Pr_mono; auto. intros zs _ [j [W [HW Hg]]]. exists j, W. rewrite E in Hg. auto.
  - intros r e He. eapply Rle_trans; [| apply (pooled_head_bound P r m e HP Hm He)].
    destruct HP as [Pnn Pone]. apply Pr_mono; auto. intros zs _ [W [HW Hg]]. exists W. rewrite E. auto.
Qed.
End Pooled.

(** The sum of the losses of all readings. *)
Fixpoint total_loss (losses : list (list R -> R)) (y : list (list R)) : R :=
  match losses, y with f :: losses, v :: y => f v + total_loss losses y | _, _ => 0 end.

(** The mean of [k] losses, each [L1]-Lipschitz in its own output, is [L1 / sqrt k]-Lipschitz jointly. *)
Theorem mean_of_losses_lipschitz K L1 : forall losses y y', 0 <= L1 -> losses <> nil ->
  length y = length losses -> length y' = length losses ->
  (forall v, In v y -> length v = K) -> (forall v, In v y' -> length v = K) ->
  (forall f, In f losses -> forall v v', length v = K -> length v' = K -> Rabs (f v - f v') <= L1 * norm (sub v v')) ->
  Rabs (total_loss losses y / INR (length losses) - total_loss losses y' / INR (length losses))
  <= L1 / sqrt (INR (length losses)) * norm (sub (concat y) (concat y')).
Proof.
  intros losses y y' HL Hne Hy Hy' HK HK' Hf.
  assert (Hk : 0 < INR (length losses)) by (apply lt_0_INR; destruct losses; [congruence | simpl; lia]).
  set (k := INR (length losses)) in *. assert (Hsk : 0 < sqrt k) by (apply sqrt_lt_R0; auto).
  assert (Hkk : sqrt k * sqrt k = k) by (apply sqrt_sqrt; lra).
  (* |sum of changes| <= L1 * sum of norms, and (sum of norms)^2 <= k * sum of squares *)
  assert (S : exists t, 0 <= t /\ Rabs (total_loss losses y - total_loss losses y') <= L1 * t /\
    t^2 <= k * norm_sq (sub (concat y) (concat y'))).
  { unfold k. clear k Hk Hsk Hkk Hne. revert y y' Hy Hy' HK HK' Hf.
    induction losses as [| f losses IH]; intros y y' Hy Hy' HK HK' Hf; destruct y as [| v y], y' as [| v' y']; try discriminate.
    - exists 0. simpl. rewrite Rminus_0_r, Rabs_R0. repeat split; lra.
    - destruct (IH y y' ltac:(simpl in Hy; lia) ltac:(simpl in Hy'; lia) (fun u Hu => HK u (or_intror Hu))
        (fun u Hu => HK' u (or_intror Hu)) (fun g Hg => Hf g (or_intror Hg))) as [t [T0 [T1 T2]]].
      assert (Hv : length v = K) by (apply HK; left; auto). assert (Hv' : length v' = K) by (apply HK'; left; auto).
      pose proof (Hf f (or_introl eq_refl) v v' Hv Hv') as F. pose proof (norm_nonneg (sub v v')).
      exists (norm (sub v v') + t). split; [lra | split].
      + cbn [total_loss]. replace (f v + total_loss losses y - (f v' + total_loss losses y'))
          with ((f v - f v') + (total_loss losses y - total_loss losses y')) by ring.
        eapply Rle_trans. apply Rabs_triang. lra.
      + cbn [concat length]. rewrite sub_app by congruence. rewrite norm_sq_app, S_INR, <- (norm_sqr (sub v v')).
        set (a := norm (sub v v')) in *. set (q := norm_sq (sub (concat y) (concat y'))) in *.
        assert (Hq : 0 <= q) by apply norm_sq_nonneg. pose proof (pos_INR (length losses)).
        set (n := INR (length losses)) in *.
        assert (2 * a * t <= n * a^2 + q).
        { destruct (Req_dec n 0) as [Hz | Hz].
          - assert (t = 0) by (rewrite Hz in T2; nra). subst t. rewrite Hz. nra.
          - assert (0 < n) by lra. apply Rmult_le_reg_l with n; auto. pose proof (pow2_ge_0 (n * a - t)). nra. }
        nra. }
  destruct S as [t [T0 [T1 T2]]].
  assert (T3 : t <= sqrt k * norm (sub (concat y) (concat y'))).
  { apply le_of_sq. apply Rmult_le_pos; [lra | apply norm_nonneg].
    replace (sqrt k * norm (sub (concat y) (concat y')) * (sqrt k * norm (sub (concat y) (concat y'))))
      with ((sqrt k * sqrt k) * (norm (sub (concat y) (concat y')) * norm (sub (concat y) (concat y')))) by ring.
    rewrite Hkk, norm_sqr. lra. }
  replace (total_loss losses y / k - total_loss losses y' / k) with (/ k * (total_loss losses y - total_loss losses y')) by (field; lra).
  rewrite Rabs_mult, Rabs_pos_eq by (left; apply Rinv_0_lt_compat; auto).
  apply Rle_trans with (/ k * (L1 * (sqrt k * norm (sub (concat y) (concat y'))))).
  - apply Rmult_le_compat_l; [left; apply Rinv_0_lt_compat; auto |]. eapply Rle_trans. apply T1. apply Rmult_le_compat_l; auto.
  - right. rewrite <- Hkk at 1. field. lra.
Qed.
