(** * The hypotheses can be met, and the definitions mean what they say

Concrete instances of the headline theorems, with every hypothesis discharged, and small values of
the definitions.  A hypothesis that nothing meets, or a definition that says nothing, would show here. *)
From Coq Require Import Reals List Lra Psatz Lia.
From Attention Require Import SignAverages FiniteSup VectorContraction Expectation Symmetrization Probability Risk
  UniformDeviation Softmax LinearScores Matrices SoftmaxHead Peeling FrozenFeatures JointHead RankOneAttention
  NoRankBound EffectiveRank ChernoffHoeffding Occam BinomialTail BinomialBound PriorMoment Law PacBayes MonteCarlo
  GibbsBounds GaussianNoise Main.
Import ListNotations.
Open Scope R_scope.

(** ** A small world: two points, two tokens in the plane of one dimension *)
Definition P : list (R * bool) := [(1 / 3, true); (2 / 3, false)].
Definition query (z : bool) : list R := [if z then 1 else 2].
Definition tokens (z : bool) : list (list R) := [[1]; [-1]].
Definition centre (z : bool) : list R := [0].
Definition values (z : bool) : list R := [1; -1].
Definition vector_values (z : bool) : list (list R) := [[1; 0]; [0; 1]].
Definition loss (z : bool) (y : R) : R := ramp 1 y.
Definition vector_loss (z : bool) (y : list R) : R := ramp 1 (nth 0 y 0).

Lemma P_distribution : distribution P.
Proof. split. intros p z [H | [H | []]]; inversion H; lra. unfold P, Ex; simpl; lra. Qed.

Lemma query_shape z : length (query z) = 1%nat. Proof. reflexivity. Qed.
Lemma tokens_shape z : (length (tokens z) <= 2)%nat /\ forall x, In x (tokens z) -> length x = 1%nat.
Proof. split; [simpl; lia | intros x [<- | [<- | []]]; reflexivity]. Qed.
Lemma centre_shape z : length (centre z) = 1%nat. Proof. reflexivity. Qed.
Lemma loss_range z y : 0 <= loss z y <= 1. Proof. apply ramp_range. Qed.
Lemma loss_lipschitz z y y' : Rabs (loss z y - loss z y') <= 2 * Rabs (y - y').
Proof. apply ramp_lipschitz; lra. Qed.
Lemma vector_loss_range z y : 0 <= vector_loss z y <= 1. Proof. apply ramp_range. Qed.

Lemma abs_le_norm x v : Rabs x <= norm (x :: v).
Proof.
  unfold norm. cbn [norm_sq]. rewrite <- sqrt_Rsqr_abs, Rsqr_pow2. apply sqrt_le_1_alt. pose proof (norm_sq_nonneg v). lra.
Qed.

Lemma vector_loss_lipschitz z y y' : length y = 2%nat -> length y' = 2%nat ->
  Rabs (vector_loss z y - vector_loss z y') <= 2 * norm (sub y y').
Proof.
  intros H H'. destruct y as [| a y]; [discriminate |]. destruct y' as [| a' y']; [discriminate |]. unfold vector_loss. simpl.
  eapply Rle_trans. apply ramp_lipschitz; lra. apply Rmult_le_compat_l; [lra |]. apply abs_le_norm.
Qed.

Lemma norm_unit_1 : norm [1] = 1. Proof. unfold norm; simpl. replace (1 * (1 * 1) + 0) with 1 by ring. apply sqrt_1. Qed.
Lemma token_radius z x : In x (tokens z) -> norm (sub x (centre z)) <= 1.
Proof.
  assert (forall a, a * a = 1 -> norm [a - 0] <= 1).
  { intros a Ha. unfold norm; simpl. replace ((a - 0) * ((a - 0) * 1) + 0) with (a * a) by ring. rewrite Ha, sqrt_1. lra. }
  intros [<- | [<- | []]]; apply H; ring.
Qed.

(** ** Instances *)
Example head_instance : forall m delta, (0 < m)%nat -> 0 < delta < 1 ->
  Pr P m (fun zs => exists W, (shaped 1 1 W /\ spectral_norm W <= 3 /\ stable_rank_at_most 1 W) /\
    gap P (head_loss query tokens values loss) zs W
    >= 2 * (2 * 3 * sqrt 1 / (2 * INR m) * sqrt (scalar_head_sum query tokens centre values zs))
       + 2 * 1 * sqrt (ln (1 / delta) / (2 * INR m))) <= delta.
Proof.
  intros m delta Hm Hd. apply (softmax_head_bound bool P 1 1 2 query tokens centre values loss 2 1 3 1 m delta);
    auto using P_distribution, query_shape, tokens_shape, centre_shape, loss_range, loss_lipschitz; lra.
Qed.

Example vector_instance : forall m delta, (0 < m)%nat -> 0 < delta < 1 ->
  Pr P m (fun zs => exists W, (shaped 1 1 W /\ frobenius_norm W <= 3) /\
    gap P (vector_head_loss query tokens 2 vector_values vector_loss) zs W
    >= 2 * (2 * 3 / INR m * sqrt (vector_head_sum query tokens centre (fun _ => 1) zs))
       + 2 * 1 * sqrt (ln (1 / delta) / (2 * INR m))) <= delta.
Proof.
  intros m delta Hm Hd. apply (softmax_head_vector_bound bool P 1 1 2 2 query tokens centre vector_values vector_loss
    (fun _ => [0; 0]) (fun _ => 1) 2 1 3 m delta);
    auto using P_distribution, query_shape, tokens_shape, centre_shape, vector_loss_range, vector_loss_lipschitz; try lra.
  - intros z; split; auto. intros a [<- | [<- | []]]; reflexivity.
  - intros z; repeat split; try lra. intros a Ha. simpl in Ha. destruct Ha as [<- | [<- | []]]; 
      (apply Rle_trans with (sqrt 1); [apply sqrt_le_1_alt; simpl; lra | rewrite sqrt_1; lra]).
Qed.

Example joint_instance : forall m delta, (0 < m)%nat -> 0 < delta < 1 ->
  Pr P m (fun zs => exists t, joint_class 1 1 2 1 2 3 t /\
    gap P (joint_loss 2 query tokens vector_loss) zs t
    >= 2 * (sqrt 2 * 2 * joint_complexity (values_part 2 tokens 2 zs) (scores_part query tokens centre (fun _ => 1) 1 3 zs))
       + 2 * 1 * sqrt (ln (1 / delta) / (2 * INR m))) <= delta.
Proof.
  intros m delta Hm Hd. apply (softmax_head_joint_bound bool P 1 1 2 2 query tokens centre (fun _ => 1) vector_loss 2 1 1 2 3 m delta);
    auto using P_distribution, query_shape, tokens_shape, centre_shape, vector_loss_range, vector_loss_lipschitz; try lra.
  intros z; split; [lra | apply token_radius].
Qed.

Example frozen_instance : forall m delta, (0 < m)%nat -> 0 < delta < 1 ->
  Pr P m (fun zs => exists W, (shaped 1 1 W /\ frobenius_norm W <= 3) /\
    gap P (linear_loss (fun z => [query z; query z]) vector_loss) zs W
    >= 2 * (sqrt 2 * 2 * 3 * sqrt (INR 1 * features_sum (fun z => [query z; query z]) zs) / INR m)
       + 2 * 1 * sqrt (ln (1 / delta) / (2 * INR m))) <= delta.
Proof.
  intros m delta Hm Hd. apply (frozen_bound 1 1 2 (fun z => [query z; query z])) with (M := 1); auto using P_distribution, vector_loss_range; try lra.
  - intros z; split; auto. intros x [<- | [<- | []]]; reflexivity.
  - intros z y y' H. destruct y as [| a y], y' as [| a' y']; try discriminate.
    + unfold vector_loss. simpl. rewrite Rminus_eq_0, Rabs_R0. pose proof (norm_nonneg (@nil R)). lra.
    + unfold vector_loss; simpl. eapply Rle_trans. apply ramp_lipschitz; lra. apply Rmult_le_compat_l; [lra |]. apply abs_le_norm.
Qed.

Definition code (b : bool) : list bool := if b then [true] else [false; true].
Example code_instance : forall m delta, (0 < m)%nat -> 0 < delta < 1 ->
  Pr P m (fun zs => exists h,
    risk P (fun h z => if Bool.eqb h z then 1 else 0) h
    > kl_inverse (empirical_risk (fun h z => if Bool.eqb h z then 1 else 0) zs h)
        ((INR (length (code h)) * ln 2 + ln (1 / delta)) / INR m)) <= delta.
Proof.
  intros m delta Hm Hd. apply compressed_model_bound; auto using P_distribution.
  - intros h z. destruct Bool.eqb; lra.
  - intros g h Hne [d Hd']. destruct g, h; simpl in Hd'; congruence.
Qed.

Example test_set_instance : forall n delta, 0 < delta < 1 ->
  Pr P n (fun zs => error_rate P (fun z => z) > binomial_tail_inverse (errors (fun z => z) zs) n delta) <= delta.
Proof. intros n delta Hd. apply held_out_test_bound; auto using P_distribution. Qed.

(** Two models, a fair prior; the posterior [2 z] puts all its weight on the first. *)
Definition models : list (R * bool) := [(1 / 2, true); (1 / 2, false)].
Lemma models_distribution : distribution models.
Proof. split. intros p z [H | [H | []]]; inversion H; lra. unfold models, Ex; simpl; lra. Qed.
Definition prior : law bool := finite_law models models_distribution.
Definition agrees (h z : bool) : R := if Bool.eqb h z then 1 else 0.
Lemma agrees_range h z : 0 <= agrees h z <= 1. Proof. unfold agrees. destruct Bool.eqb; lra. Qed.
Definition first_only (h : bool) : R := if h then 2 else 0.

Lemma first_only_posterior : posterior agrees prior first_only.
Proof.
  split; [split; [| split] |]; [intros []; simpl; lra | exact I | | split; [exact I | intros; exact I]].
  unfold prior, finite_law, models, Ex; simpl. lra.
Qed.

(** Its relative entropy is [ln 2], its Gibbs risk the risk of the first model. *)
Example first_only_entropy : relative_entropy prior first_only = ln 2.
Proof. unfold relative_entropy, prior, finite_law, models, Ex; simpl. lra. Qed.
Example first_only_risk : gibbs_risk P agrees prior first_only = 1 / 3.
Proof. unfold gibbs_risk, posterior_mean, prior, finite_law, models, risk, agrees, P, Ex; simpl. lra. Qed.

Example gibbs_instance : forall m delta, (0 < m)%nat -> 0 < delta < 1 ->
  Pr P m (fun zs => exists n rho, posterior agrees prior rho /\
    gibbs_risk P agrees prior rho > kl_inverse (gibbs_empirical agrees prior rho zs)
      ((relative_entropy prior rho + ln (1 / (1 / 2) ^ S n) + ln ((2 + sqrt (PI * INR m / 2)) / delta)) / INR m)) <= delta.
Proof.
  intros m delta Hm Hd. apply (gibbs_risk_bound bool bool nat P agrees m (fun _ => prior) (fun n => (1 / 2) ^ S n) delta);
    auto using P_distribution, agrees_range.
  - intros n zs _. exact I.
  - intros n. apply pow_lt. lra.
  - intros l Hl. assert (Hfree : prefix_free (fun n => repeat true n ++ [false])).
    { intros g. induction g as [| g IH]; intros [| h] Hgh [d Hd']; simpl in *; try congruence.
      apply (IH h ltac:(congruence)). exists d. congruence. }
    eapply Rle_trans; [| apply (kraft _ Hfree l Hl)]. apply sum_list_le. intros n _. unfold code_weight.
    rewrite app_length, repeat_length. replace (n + length [false])%nat with (S n) by (simpl; lia). lra.
Qed.

(** The posterior of the drawn model may depend on the sample: here the model that errs on the first point is left out. *)
Definition by_first (zs : list bool) (h : bool) : R := if Bool.eqb h (hd true zs) then 0 else 2.
Lemma by_first_density zs : density prior (by_first zs).
Proof.
  split; [| split]; [intros h; unfold by_first; destruct Bool.eqb; lra | exact I |].
  unfold prior, finite_law, models, Ex, by_first; simpl. destruct (hd true zs); simpl; lra.
Qed.
Example drawn_instance : forall m delta, (0 < m)%nat -> 0 < delta < 1 ->
  Em P m (fun zs => posterior_mean prior (by_first zs) (fun h => indicator (risk P agrees h
    > kl_inverse (empirical_risk agrees zs h) (Rmax 0 (ln (by_first zs h) + ln (1 / 1) + ln ((2 + sqrt (PI * INR m / 2)) / delta)) / INR m)))) <= delta.
Proof.
  intros m delta Hm Hd. apply (drawn_model_risk_bound bool bool unit P agrees m (fun _ => prior) (fun _ => 1) delta (fun _ => tt) by_first);
    auto using P_distribution, agrees_range, by_first_density; try (intros; exact I); try (intros; lra).
  - intros _ zs _. exact I.
  - intros l Hl. destruct l as [| [] [| [] l]]; simpl; try lra. inversion Hl; subst. exfalso. apply H1. left; auto.
Qed.

(** A law with the density ratio and the mean that [gaussian_posterior] asks for, on two points: one entry, update 1,
    level 1.  Its relative entropy is the Gaussians' 1/2. *)
Definition G : R := exp (1 / 2).
Definition spread : R := ln (G + sqrt (G^2 - 1)).
Definition two_points : list (R * bool) := [(exp spread / (2 * G), true); (exp (- spread) / (2 * G), false)].
Definition entry (h : bool) : R := if h then 1 - spread else 1 + spread.
Definition one_entry : noisy_matrix bool := {| update := [[1]]; level := 1; deviations := [entry] |}.
Definition tilted (h : bool) : R := exp (sum_list [one_entry] (fun a => log_ratio (level a) (entries (update a)) (deviations a) h)).

Lemma spread_facts : 0 < G /\ exp spread + exp (- spread) = 2 * G.
Proof.
  assert (HG : 1 < G) by (pose proof (exp_increasing 0 (1 / 2) ltac:(lra)) as K; rewrite exp_0 in K; exact K). split; [lra |].
  assert (Hs : 0 <= sqrt (G^2 - 1)) by apply sqrt_pos. assert (Hq : sqrt (G^2 - 1) * sqrt (G^2 - 1) = G^2 - 1) by (apply sqrt_sqrt; nra).
  unfold spread. rewrite exp_Ropp, exp_ln by lra. apply Rmult_eq_reg_r with (G + sqrt (G^2 - 1)); [| lra].
  rewrite Rmult_plus_distr_r, Rinv_l by lra. nra.
Qed.

Lemma two_points_distribution : distribution two_points.
Proof.
  destruct spread_facts as [HG E]. split.
  - intros p z [H | [H | []]]; inversion H; left; apply Rdiv_lt_0_compat; try apply exp_pos; lra.
  - unfold two_points, Ex; simpl. transitivity ((exp spread + exp (- spread)) / (2 * G)); [field; lra | rewrite E; field; lra].
Qed.
Definition two_point_law : law bool := finite_law two_points two_points_distribution.

Lemma tilted_value h : tilted h = if h then G * exp (- spread) else G * exp spread.
Proof.
  unfold tilted, one_entry, G. destruct h; simpl; rewrite <- exp_plus; f_equal; field.
Qed.

Lemma one_entry_posterior : density two_point_law tilted /\ gaussian_posterior two_point_law tilted [one_entry].
Proof.
  destruct spread_facts as [HG E]. assert (Hx : exp spread * exp (- spread) = 1) by (rewrite <- exp_plus, Rplus_opp_r; apply exp_0).
  assert (K : forall u v, exp spread / (2 * G) * (G * exp (- spread) * u) + (exp (- spread) / (2 * G) * (G * exp spread * v) + 0) = (u + v) / 2).
  { intros u v. replace (exp spread / (2 * G) * (G * exp (- spread) * u) + (exp (- spread) / (2 * G) * (G * exp spread * v) + 0))
      with (exp spread * exp (- spread) * (u + v) / 2) by (field; lra). rewrite Hx. field. }
  split; [split; [| split] | split].
  - intros h. left. apply exp_pos.
  - exact I.
  - unfold two_point_law, finite_law, two_points, Ex; simpl. rewrite !tilted_value. pose proof (K 1 1) as K1. rewrite !Rmult_1_r in K1. lra.
  - reflexivity.
  - intros a [<- | []]. split; [simpl; lra |]. simpl. split; [exact I |]. split; [| exact I].
    unfold posterior_mean, two_point_law, finite_law, two_points, Ex; simpl. rewrite !tilted_value. rewrite K. unfold entry. field.
Qed.

Example one_entry_entropy : relative_entropy two_point_law tilted = 1 / 2.
Proof.
  destruct one_entry_posterior as [D Gp]. destruct (gaussian_relative_entropy _ _ D _ Gp) as [_ ->]. simpl. field.
Qed.

(** ** Small values *)
Example moment_values : xi 1 = 2 /\ xi 2 = 5 / 2.
Proof. unfold xi, moment_term; simpl. split; field. Qed.

Example tail_computed : tail_below 686 20000 1 20 36492564008603933 (10 ^ 18) = true /\ tail_below 686 20000 1 20 36492564008603932 (10 ^ 18) = false.
Proof. split; vm_compute; reflexivity. Qed.

Example signs_of_two : forall f, E 2 f = (f [1; 1] + f [1; -(1)] + f [-(1); 1] + f [-(1); -(1)]) / 4.
Proof. intros; simpl; field. Qed.

Example probability_of_two_draws : Pr P 2 (fun zs => zs = [true; false]) = 2 / 9.
Proof.
  assert (I : forall a b, indicator ([a; b] = [true; false]) = if a then if b then 0 else 1 else 0)
    by (intros [] []; unfold indicator; destruct decide; congruence).
  unfold Pr, P, Em, Ex; simpl. rewrite !I. lra.
Qed.

Example osc_value : osc [1; 3; 2] = 2.
Proof. unfold osc; simpl. unfold Rmax. repeat destruct Rle_dec; lra. Qed.

Example softmax_value : softmax [0; 0] = [1 / 2; 1 / 2].
Proof. unfold softmax, exp_sum; simpl. rewrite exp_0. replace (1 / (1 + (1 + 0))) with (1 / 2) by field. reflexivity. Qed.

(** The identity of the plane has spectral norm 1, Frobenius norm sqrt 2, stable rank 2. *)
Example identity_spectral_norm : spectral_norm [[1; 0]; [0; 1]] = 1.
Proof.
  assert (Hid : forall a b, mat_vec [[1; 0]; [0; 1]] [a; b] = [a; b]) by (intros; unfold mat_vec; simpl; repeat f_equal; ring).
  apply Rle_antisym.
  - apply spectral_norm_least. intros x Hx Hn. destruct x as [| a [| b [| c x]]]; try discriminate. rewrite Hid. exact Hn.
  - assert (Hn : norm [1; 0] = 1) by (unfold norm; simpl; replace (1 * (1 * 1) + (0 * (0 * 1) + 0)) with 1 by ring; apply sqrt_1).
    pose proof (spectral_norm_ub [[1; 0]; [0; 1]] [1; 0] eq_refl) as K. rewrite Hid, Hn in K. apply K; lra.
Qed.
Example identity_stable_rank : stable_rank [[1; 0]; [0; 1]] = 2.
Proof. unfold stable_rank. rewrite identity_spectral_norm. simpl. field. Qed.

Example spectrum_ranks : stable_rank_of [2; 1; 1] = 3 / 2 /\ nuclear_rank [2; 1; 1] = 2 /\ nuclear_frobenius_rank [2; 1; 1] = 8 / 3.
Proof. unfold stable_rank_of, nuclear_rank, nuclear_frobenius_rank, total; simpl. unfold Rmax. repeat destruct Rle_dec; lra. Qed.

Example binomial_value : forall p, binomial_cdf 2 1 p = 1 - p^2.
Proof. intros; unfold binomial_cdf, binomial_mass; simpl; ring. Qed.

Example kl_value : kl (1 / 2) (1 / 2) = 0.
Proof. unfold kl. replace (1 / 2 / (1 / 2)) with 1 by field. replace ((1 - 1 / 2) / (1 - 1 / 2)) with 1 by field. rewrite ln_1. ring. Qed.

(** The rank-one head separates: two patterns give opposite outputs on the same sequence. *)
Example pattern_values : pattern_output 1 1 2 [1] (0, 0)%nat = tanh 1 /\ pattern_output 1 1 2 [-1] (0, 0)%nat = - tanh 1.
Proof.
  assert (Hv : valid 1 1 (0, 0)%nat) by (split; simpl; lia).
  split; rewrite pattern_output_sign by (auto; simpl; lra); simpl; replace (2 / 2) with 1 by field; ring.
Qed.
