(** * The headline theorems

This file only states them; each proof is one name.  The reading order of the development is
SignAverages, Khintchine, FiniteSup, VectorContraction; Expectation, Symmetrization, HoeffdingLemma,
McDiarmid, Probability, Risk, UniformDeviation; Softmax, LinearScores, Matrices, SoftmaxHead,
Peeling, FrozenFeatures, JointHead, PooledHead; RankOneAttention, NoRankBound; EffectiveRank; ChernoffHoeffding,
Occam, BinomialTail, BinomialBound; Stirling, PriorMoment, Law, PacBayes, MonteCarlo, GibbsBounds, GaussianNoise.

Where a hypothesis says so, the sample space is finite ([P] is a list of weights and points) and the
sample is iid.  Classes are finite only where a list [t0 :: l] appears. *)
From Coq Require Import Reals List.
From Attention Require Import SignAverages Khintchine FiniteSup VectorContraction Expectation Symmetrization
  McDiarmid Probability Risk UniformDeviation Softmax LinearScores Matrices SoftmaxHead Peeling FrozenFeatures
  JointHead PooledHead RankOneAttention NoRankBound EffectiveRank ChernoffHoeffding Occam BinomialTail BinomialBound
  Massart PriorMoment Law PacBayes MonteCarlo GibbsBounds GaussianNoise.
Import ListNotations.
Open Scope R_scope.

(** ** Ingredients *)

(** Khintchine's inequality in L1: constant sqrt 2, any dimension. *)
Theorem khintchine_inequality : forall v : list R,
  norm v <= sqrt 2 * E (length v) (fun e => Rabs (dot v e)).
Proof. exact khintchine. Qed.

(** Maurer's vector contraction: constant sqrt 2, finite class, [K] outputs, any number of points. *)
Theorem maurer_vector_contraction : forall (T : Type) (t0 : T) (l : list T) (K : nat)
    (points : list ((T -> R) * (T -> list R))),
  (forall point, In point points -> contracts t0 l K (fst point) (snd point)) ->
  E (length points) (fun e => Sup t0 l (fun t => scalar_signed_sum points e t))
  <= sqrt 2 * E (length points * K) (fun e => Sup t0 l (fun t => vector_signed_sum K points e t)).
Proof. exact @maurer_contraction. Qed.

(** McDiarmid's inequality: a function that moves by at most [c_i] with point [i]. *)
Theorem mcdiarmid_inequality : forall (Z : Type) (P : list (R * Z)) (cs : list R) (f : list Z -> R) (t : R),
  distribution P -> bounded_differences cs f -> 0 < t -> 0 < sum_sq cs ->
  Pr P (length cs) (fun zs => f zs - Em P (length cs) f >= t) <= exp (- 2 * t^2 / sum_sq cs).
Proof.
  intros Z P cs f t [Pnn Pone] HB Ht HS. eapply Rle_trans; [| exact (mcdiarmid P Pnn Pone cs f t HB Ht HS)].
  apply Em_le; [exact Pnn |]. intros zs _. unfold indicator, indicator_le. destruct decide as [H | H], (Rle_dec t _) as [H' | H'];
    try apply Rle_refl; try exact Rle_0_1. exfalso. apply H', Rge_le, H.
Qed.

(** Lemma 3(c): one event, constants 2 and ln (1/delta). *)
Theorem sharp_uniform_deviation : forall (Z T : Type) (P : list (R * Z)) (F : T -> Z -> R) (M : R) (t0 : T) (l : list T)
    (m : nat) (delta : R),
  distribution P -> 0 < M -> (forall t, t = t0 \/ In t l -> forall z, 0 <= F t z <= M) -> (0 < m)%nat -> 0 < delta < 1 ->
  Pr P m (fun zs => exists t, (t = t0 \/ In t l) /\
    gap P F zs t >= 2 * rademacher F t0 l zs + 2 * M * sqrt (ln (1 / delta) / (2 * INR m))) <= delta.
Proof. intros Z T P F M t0 l m delta [Pnn Pone] HM HF Hm Hd. exact (uniform_deviation P Pnn Pone F M HM t0 l HF m delta Hm Hd). Qed.

(** Lemma 12: softmax constants, all sharp. *)
Theorem softmax_constants : forall s s' a : list R, length s = length s' -> length a = length s ->
  norm_1 (sub (softmax s) (softmax s')) <= osc (sub s s') / 2 /\
  norm (sub (softmax s) (softmax s')) <= 1 / 2 * norm (sub s s') /\
  Rabs (readout s a - readout s' a) <= osc a * osc (sub s s') / 4 /\
  Rabs (readout s a - readout s' a) <= osc a / (2 * sqrt 2) * norm (sub s s').
Proof.
  intros s s' a H1 H2. exact (conj (softmax_l1 s s' H1) (conj (softmax_l2 s s' H1)
    (conj (readout_osc s s' a H1 H2) (readout_lipschitz s s' a H1 H2)))).
Qed.

(** ** Bounds for a softmax attention head *)

(** Theorem C1(i): query-key matrix trained, spectral norm at most [s], stable rank at most [r]. *)
Theorem softmax_head_bound : forall (Z : Type) (P : list (R * Z)) (d1 d2 n : nat)
    (query : Z -> list R) (tokens : Z -> list (list R)) (centre : Z -> list R) (values : Z -> list R)
    (loss : Z -> R -> R) (L M s r : R) (m : nat) (delta : R),
  distribution P ->
  (forall z, length (query z) = d1) ->
  (forall z, (length (tokens z) <= n)%nat /\ forall x, In x (tokens z) -> length x = d2) ->
  (forall z, length (centre z) = d2) ->
  (forall z, length (values z) = length (tokens z)) ->
  (forall z y, 0 <= loss z y <= M) ->
  (forall z y y', Rabs (loss z y - loss z y') <= L * Rabs (y - y')) ->
  0 <= L -> 0 < M -> 0 <= r -> (0 < m)%nat -> 0 < delta < 1 ->
  Pr P m (fun zs => exists W, (shaped d1 d2 W /\ spectral_norm W <= s /\ stable_rank_at_most r W) /\
    gap P (fun W z => loss z (readout (map (score W (query z)) (tokens z)) (values z))) zs W
    >= 2 * (L * s * sqrt r / (2 * INR m)
            * sqrt (sum_list zs (fun z => (osc (values z))^2
                * (norm_sq (query z) * frobenius_sq (map (fun x => sub x (centre z)) (tokens z))))))
       + 2 * M * sqrt (ln (1 / delta) / (2 * INR m))) <= delta.
Proof. intros. eapply head_bound; eassumption. Qed.

(** The same with the Frobenius norm of [W] read off after training (Theorem P on top of C1(i)). *)
Theorem softmax_head_bound_peeled : forall (Z : Type) (P : list (R * Z)) (d1 d2 n : nat)
    (query : Z -> list R) (tokens : Z -> list (list R)) (centre : Z -> list R) (values : Z -> list R)
    (loss : Z -> R -> R) (L M c0 rho : R) (m : nat) (delta : R),
  distribution P ->
  (forall z, length (query z) = d1) ->
  (forall z, (length (tokens z) <= n)%nat /\ forall x, In x (tokens z) -> length x = d2) ->
  (forall z, length (centre z) = d2) ->
  (forall z, length (values z) = length (tokens z)) ->
  (forall z y, 0 <= loss z y <= M) ->
  (forall z y y', Rabs (loss z y - loss z y') <= L * Rabs (y - y')) ->
  0 <= L -> 0 < M -> (0 < m)%nat -> 0 < delta < 1 ->
  Pr P m (fun zs => exists j W, (shaped d1 d2 W /\ frobenius_norm W <= c0 * rho ^ j) /\
    gap P (fun W z => loss z (readout (map (score W (query z)) (tokens z)) (values z))) zs W
    >= 2 * (L * (c0 * rho ^ j) / (2 * INR m)
            * sqrt (sum_list zs (fun z => (osc (values z))^2
                * (norm_sq (query z) * frobenius_sq (map (fun x => sub x (centre z)) (tokens z))))))
       + 2 * M * sqrt ((ln (1 / delta) + ln (INR (j + 1) * INR (j + 2))) / (2 * INR m))) <= delta.
Proof. intros. eapply peeled_head_bound; eassumption. Qed.

(** Theorem C1-vector: fixed vector values within [radius] of a centre. *)
Theorem softmax_head_vector_bound : forall (Z : Type) (P : list (R * Z)) (d1 d2 n K : nat)
    (query : Z -> list R) (tokens : Z -> list (list R)) (centre : Z -> list R) (values : Z -> list (list R))
    (loss : Z -> list R -> R) (value_centre : Z -> list R) (radius : Z -> R) (L M omega : R) (m : nat) (delta : R),
  distribution P ->
  (forall z, length (query z) = d1) ->
  (forall z, (length (tokens z) <= n)%nat /\ forall x, In x (tokens z) -> length x = d2) ->
  (forall z, length (centre z) = d2) ->
  (forall z, length (values z) = length (tokens z) /\ forall a, In a (values z) -> length a = K) ->
  (forall z, length (value_centre z) = K /\ 0 <= radius z /\
    forall a, In a (values z) -> norm (sub a (value_centre z)) <= radius z) ->
  (forall z y, 0 <= loss z y <= M) ->
  (forall z y y', length y = K -> length y' = K -> Rabs (loss z y - loss z y') <= L * norm (sub y y')) ->
  0 <= L -> 0 < M -> (0 < m)%nat -> 0 < delta < 1 ->
  Pr P m (fun zs => exists W, (shaped d1 d2 W /\ frobenius_norm W <= omega) /\
    gap P (fun W z => loss z (lin_comb K (values z) (softmax (map (score W (query z)) (tokens z))))) zs W
    >= 2 * (L * omega / INR m
            * sqrt (sum_list zs (fun z => (radius z)^2
                * (norm_sq (query z) * frobenius_sq (map (fun x => sub x (centre z)) (tokens z))))))
       + 2 * M * sqrt (ln (1 / delta) / (2 * INR m))) <= delta.
Proof. intros. eapply vector_head_bound_frobenius; eassumption. Qed.

(** C1-vector as a report uses it: several readings of one sequence, fixed score offsets, norm of [W] read
    off after training. *)
Theorem softmax_head_pooled_bound : forall (Z : Type) (P : list (R * Z)) (d1 d2 K N : nat) (readings : Z -> list reading)
    (loss : Z -> list (list R) -> R) (L : Z -> R) (M c0 rho : R) (m : nat) (delta : R),
  distribution P ->
  (forall z, (length (flat_map tokens_of (readings z)) <= N)%nat /\ forall x, In x (readings z) -> well_formed d1 d2 K x) ->
  (forall z y, 0 <= loss z y <= M) ->
  (forall z y y', length y = length y' -> (forall v, In v y -> length v = K) -> (forall v, In v y' -> length v = K) ->
    Rabs (loss z y - loss z y') <= L z * norm (sub (concat y) (concat y'))) ->
  (forall z, 0 <= L z) -> 0 < M -> (0 < m)%nat -> 0 < delta < 1 ->
  Pr P m (fun zs => exists j W, (shaped d1 d2 W /\ frobenius_norm W <= c0 * rho ^ j) /\
    gap P (pooled_loss K readings loss) zs W
    >= 2 * ((c0 * rho ^ j) / INR m * sqrt (pooled_sum readings L zs))
       + 2 * M * sqrt ((ln (1 / delta) + ln (INR (j + 1) * INR (j + 2))) / (2 * INR m))) <= delta.
Proof. intros. eapply peeled_pooled_head_bound; eassumption. Qed.

(** Theorem C1-joint: query-key matrix and value matrix trained. *)
Theorem softmax_head_joint_bound : forall (Z : Type) (P : list (R * Z)) (d1 d2 n K : nat)
    (query : Z -> list R) (tokens : Z -> list (list R)) (centre : Z -> list R) (radius : Z -> R)
    (loss : Z -> list R -> R) (L M sV omegaV omegaW : R) (m : nat) (delta : R),
  distribution P ->
  (forall z, length (query z) = d1) ->
  (forall z, (length (tokens z) <= n)%nat /\ forall x, In x (tokens z) -> length x = d2) ->
  (forall z, length (centre z) = d2) ->
  (forall z, 0 <= radius z /\ forall x, In x (tokens z) -> norm (sub x (centre z)) <= radius z) ->
  (forall z y, 0 <= loss z y <= M) ->
  (forall z y y', length y = K -> length y' = K -> Rabs (loss z y - loss z y') <= L * norm (sub y y')) ->
  0 <= L -> 0 < M -> (0 < m)%nat -> 0 < delta < 1 ->
  Pr P m (fun zs => exists t, joint_class d1 d2 K sV omegaV omegaW t /\
    gap P (joint_loss K query tokens loss) zs t
    >= 2 * (sqrt 2 * L * joint_complexity (values_part K tokens omegaV zs)
                                          (scores_part query tokens centre radius sV omegaW zs))
       + 2 * M * sqrt (ln (1 / delta) / (2 * INR m))) <= delta.
Proof. intros. eapply joint_bound; eassumption. Qed.

(** ** The refutation of the naive claim *)

(** N1: attention matrices of rank one, Rademacher average exactly [tanh (beta/2)]. *)
Theorem rank_one_attention_shatters : forall (blocks contents : nat) (beta : R),
  0 <= beta -> (0 < blocks)%nat -> (0 < contents)%nat ->
  rademacher (pattern_output blocks contents beta) (repeat 1 (blocks * contents)) (patterns (blocks * contents))
    (all_points blocks contents) = tanh (beta / 2) /\
  (forall Omega z, valid blocks contents z ->
     stable_rank (attention_matrix (pattern_matrix blocks contents beta Omega) (two_tokens blocks contents z)) = 1).
Proof. intros b c beta Hb Hbl Hc. split; [exact (rank_one_rademacher b c beta Hc Hb Hbl) | intros; apply pattern_attention_rank_one; assumption]. Qed.

(** N2: no constant, power of the logarithm or confidence saves the naive bound. *)
Theorem naive_rank_bound_is_false : forall C a delta : R, delta < 1 -> ~ naive_bound C a delta.
Proof. exact naive_bound_false. Qed.

(** ** Effective ranks, codes and test sets *)

(** The chain of effective ranks, Lemma 14. *)
Theorem chain_of_effective_ranks : forall s : list R, spectrum s ->
  1 <= stable_rank_of s <= nuclear_rank s /\ nuclear_rank s <= nuclear_frobenius_rank s /\
  nuclear_frobenius_rank s <= entropy_rank s <= rank_of s.
Proof. exact effective_rank_chain. Qed.

(** Lemma 15: Occam's bound in relative-entropy form, any countable or uncountable set of models. *)
Theorem occam_kl_bound : forall (Z H : Type) (P : list (R * Z)) (F : H -> Z -> R) (w : H -> R) (m : nat) (delta : R),
  distribution P -> (0 < m)%nat -> 0 < delta < 1 ->
  (forall h z, 0 <= F h z <= 1) ->
  (forall h, 0 < w h) -> (forall l, NoDup l -> sum_list l w <= 1) ->
  Pr P m (fun zs => exists h,
    risk P F h > kl_inverse (empirical_risk F zs h) ((ln (1 / w h) + ln (1 / delta)) / INR m)) <= delta.
Proof. exact @occam_bound. Qed.

(** Theorem D: a model with a code word of [|h|] bits. *)
Theorem compressed_model_bound : forall (Z H : Type) (P : list (R * Z)) (F : H -> Z -> R) (code : H -> list bool) (m : nat) (delta : R),
  distribution P -> (0 < m)%nat -> 0 < delta < 1 ->
  (forall h z, 0 <= F h z <= 1) -> prefix_free code ->
  Pr P m (fun zs => exists h,
    risk P F h > kl_inverse (empirical_risk F zs h) ((INR (length (code h)) * ln 2 + ln (1 / delta)) / INR m)) <= delta.
Proof. exact @prefix_code_bound. Qed.

(** A held-out test set of [n] points, zero-one loss. *)
Theorem held_out_test_bound : forall (Z : Type) (P : list (R * Z)) (wrong : Z -> bool) (n : nat) (delta : R),
  distribution P -> 0 < delta < 1 ->
  Pr P n (fun zs => error_rate P wrong > binomial_tail_inverse (errors wrong zs) n delta) <= delta.
Proof. intros Z P wrong n delta HP Hd. exact (test_set_bound P wrong HP n delta Hd). Qed.

(** Theorem D in binomial form: zero-one loss, the exact binomial tail at level [delta 2^-bits]. *)
Theorem compressed_model_binomial_bound : forall (Z H : Type) (P : list (R * Z)) (wrong : H -> Z -> bool) (bits : H -> R) (m : nat) (delta : R),
  distribution P -> 0 < delta < 1 -> (forall l, NoDup l -> sum_list l (fun h => Rpower 2 (- bits h)) <= 1) ->
  Pr P m (fun zs => exists h,
    error_rate P (wrong h) > binomial_tail_inverse (errors (wrong h) zs) m (delta * Rpower 2 (- bits h))) <= delta.
Proof. exact @ideal_code_binomial_bound. Qed.

(** ** PAC-Bayes: noisy and drawn models *)

(** Maurer's moment: [sum_k C(m,k) (k/m)^k (1-k/m)^(m-k) <= 2 + sqrt (PI m / 2)]. *)
Theorem maurer_moment_bound : forall m : nat, (1 <= m)%nat -> xi m <= 2 + sqrt (PI * INR m / 2).
Proof. exact prior_moment_le. Qed.

(** Theorem E: a family of priors fixed before the sample, with weights; every prior and posterior at once.  Priors are
    any distributions on any space of models, Gaussian noise for instance; [gibbs_risk] averages the risk over the posterior. *)
Theorem gibbs_risk_bound : forall (Z H N : Type) (P : list (R * Z)) (F : H -> Z -> R) (m : nat)
    (prior : N -> law H) (w : N -> R) (delta : R),
  distribution P -> (forall h z, 0 <= F h z <= 1) -> (0 < m)%nat ->
  (forall n, measurable P F m (prior n)) -> (forall n, 0 < w n) -> (forall l, NoDup l -> sum_list l w <= 1) -> 0 < delta < 1 ->
  Pr P m (fun zs => exists n rho, posterior F (prior n) rho /\
    gibbs_risk P F (prior n) rho > kl_inverse (gibbs_empirical F (prior n) rho zs)
      ((relative_entropy (prior n) rho + ln (1 / w n) + ln ((2 + sqrt (PI * INR m / 2)) / delta)) / INR m)) <= delta.
Proof.
  intros Z H N P F m prior w delta HP HF Hm Hmu Hw Hs Hd.
  exact (gibbs_grid_bound P F HP HF m Hm prior w _ delta Hmu Hw Hs (prior_moment_le m Hm) Hd).
Qed.

(** Theorem E-single: one model drawn once from the posterior [rho zs], which training chose; the probability is over
    the sample and the draw. *)
Theorem drawn_model_risk_bound : forall (Z H N : Type) (P : list (R * Z)) (F : H -> Z -> R) (m : nat)
    (prior : N -> law H) (w : N -> R) (delta : R) (chosen : list Z -> N) (rho : list Z -> H -> R),
  let K := 2 + sqrt (PI * INR m / 2) in
  let bad zs h := risk P F h > kl_inverse (empirical_risk F zs h) (Rmax 0 (ln (rho zs h) + ln (1 / w (chosen zs)) + ln (K / delta)) / INR m) in
  distribution P -> (forall h z, 0 <= F h z <= 1) -> (0 < m)%nat ->
  (forall n, measurable P F m (prior n)) -> (forall n, 0 < w n) -> (forall l, NoDup l -> sum_list l w <= 1) -> 0 < delta < 1 ->
  (forall zs, length zs = m -> density (prior (chosen zs)) (rho zs)) ->
  (forall zs, length zs = m -> integrable (prior (chosen zs)) (fun h => rho zs h * indicator (bad zs h))) ->
  Em P m (fun zs => posterior_mean (prior (chosen zs)) (rho zs) (fun h => indicator (bad zs h))) <= delta.
Proof.
  intros Z H N P F m prior w delta chosen rho K bad HP HF Hm Hmu Hw Hs Hd Hrho Hi.
  exact (drawn_model_bound P F HP HF m Hm prior w K delta Hmu Hw Hs (prior_moment_le m Hm) Hd chosen rho Hrho Hi).
Qed.

(** Theorem E-split: priors and weights learned on the first [k] points, losses from the other [m]; the posterior may use all. *)
Theorem learned_prior_bound : forall (Z H N : Type) (P : list (R * Z)) (F : H -> Z -> R) (k m : nat)
    (prior : list Z -> N -> law H) (w : list Z -> N -> R) (delta : R),
  distribution P -> (forall h z, 0 <= F h z <= 1) -> (0 < m)%nat ->
  (forall xs n, measurable P F m (prior xs n)) -> (forall xs n, 0 < w xs n) ->
  (forall xs l, NoDup l -> sum_list l (w xs) <= 1) -> 0 < delta < 1 ->
  Pr P (k + m) (fun zs => let xs := firstn k zs in exists n rho, posterior F (prior xs n) rho /\
    gibbs_risk P F (prior xs n) rho > kl_inverse (gibbs_empirical F (prior xs n) rho (skipn k zs))
      ((relative_entropy (prior xs n) rho + ln (1 / w xs n) + ln (moment_bound m / delta)) / INR m)) <= delta.
Proof. intros. apply gibbs_split_bound; assumption. Qed.

(** Theorem E-rank: noise of relative level at least [tau] on each weight update, updates of stable rank at most [r]. *)
Theorem gibbs_risk_by_stable_rank : forall (Z H N : Type) (P : list (R * Z)) (F : H -> Z -> R) (m : nat)
    (prior : N -> law H) (w : N -> R) (delta tau r : R) (layers : nat),
  distribution P -> (forall h z, 0 <= F h z <= 1) -> (0 < m)%nat ->
  (forall n, measurable P F m (prior n)) -> (forall n, 0 < w n) -> (forall l, NoDup l -> sum_list l w <= 1) -> 0 < delta < 1 ->
  0 < tau -> 0 <= r ->
  Pr P m (fun zs => exists n rho ms, posterior F (prior n) rho /\ gaussian_posterior (prior n) rho ms /\ length ms = layers /\
    (forall a, In a ms -> stable_rank_at_most r (update a) /\ tau * spectral_norm (update a) <= level a) /\
    gibbs_risk P F (prior n) rho > gibbs_empirical F (prior n) rho zs
      + sqrt ((INR layers * r / (2 * tau^2) + ln (1 / w n) + ln (moment_bound m / delta)) / (2 * INR m))) <= delta.
Proof. exact @rank_gibbs_bound. Qed.
