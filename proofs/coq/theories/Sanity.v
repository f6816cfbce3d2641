(** * The hypotheses can be met, and the definitions mean what they say

Concrete instances of the headline theorems, with every hypothesis discharged, and small values of
the definitions.  A hypothesis that nothing meets, or a definition that says nothing, would show here. *)
From Coq Require Import Reals List Lra Psatz Lia.
From Attention Require Import SignAverages FiniteSup VectorContraction Expectation Symmetrization Probability Risk
  UniformDeviation Softmax LinearScores Matrices SoftmaxHead Peeling FrozenFeatures JointHead RankOneAttention
  NoRankBound EffectiveRank ChernoffHoeffding Occam BinomialTail Main.
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

(** ** Small values *)
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
