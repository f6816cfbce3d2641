(** * Maurer's moment (Lemma 16)

For iid losses in [[0, 1]] with mean [p], the mean of [exp (m kl(empirical mean || p))] is at most
[xi m = sum_k C(m,k) (k/m)^k (1-k/m)^(m-k)], and [xi m <= 2 + sqrt (PI m / 2)] for every [m >= 1]. *)
From Coq Require Import Reals List Lra Psatz Lia Arith.
From Attention Require Import Expectation HoeffdingLemma Probability Symmetrization Risk SoftmaxHead ChernoffHoeffding
  BinomialTail Stirling.
Import ListNotations.
Open Scope R_scope.

Definition moment_term (m k : nat) : R :=
  INR (binomial m k) * (INR k / INR m) ^ k * (1 - INR k / INR m) ^ (m - k).
Definition xi (m : nat) : R := sum_f_R0 (moment_term m) m.

(** ** [sum_k 1 / sqrt (k (m-k)) <= PI], an arc cut into pieces *)
Fixpoint sum_from_1 (f : nat -> R) (j : nat) : R := match j with O => 0 | S j => sum_from_1 f j + f (S j) end.

Lemma sum_split f j : sum_f_R0 f j = f O + sum_from_1 f j.
Proof. induction j; simpl. ring. rewrite IHj. ring. Qed.

Lemma sum_from_1_le f g j : (forall k, (1 <= k <= j)%nat -> f k <= g k) -> sum_from_1 f j <= sum_from_1 g j.
Proof.
  induction j; simpl; intros H. lra. pose proof (H (S j) ltac:(lia)).
  assert (sum_from_1 f j <= sum_from_1 g j) by (apply IHj; intros; apply H; lia). lra.
Qed.

Lemma sum_from_1_scal c f j : sum_from_1 (fun k => c * f k) j = c * sum_from_1 f j.
Proof. induction j; simpl. ring. rewrite IHj. ring. Qed.

Lemma arc_piece a b t : 0 <= a <= b -> b <= PI -> 0 < sin t -> sin ((a + b) / 2) <= sin t -> (cos a - cos b) / sin t <= b - a.
Proof.
  intros Ha Hb Ht Hs. apply Rmult_le_reg_r with (sin t); auto. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra.
  rewrite Rmult_1_r. rewrite form2. 
  replace (-2 * sin ((a - b) / 2) * sin ((a + b) / 2)) with (2 * sin ((b - a) / 2) * sin ((a + b) / 2)).
  2:{ replace ((a - b) / 2) with (- ((b - a) / 2)) by field. rewrite sin_neg. ring. }
  assert (S1 : sin ((b - a) / 2) <= (b - a) / 2).
  { destruct (Rle_lt_or_eq_dec a b (proj2 Ha)) as [H | <-]. left. apply sin_lt_x. lra. replace ((a - a) / 2) with 0 by field. rewrite sin_0. lra. }
  assert (S2 : 0 <= sin ((a + b) / 2)) by (apply sin_ge_0; lra). nra.
Qed.

Lemma part_range m k : (0 < m)%nat -> (k <= m)%nat -> 0 <= INR k / INR m <= 1.
Proof.
  intros Hm Hk. assert (0 < INR m) by (apply lt_0_INR; lia). apply le_INR in Hk. pose proof (pos_INR k).
  split. apply Rmult_le_pos; auto. left; apply Rinv_0_lt_compat; auto.
  apply Rmult_le_reg_r with (INR m); auto. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra.
Qed.

Section Arc.
Variable m : nat.
Definition angle (k : nat) : R := acos (1 - 2 * (INR k / INR m)).
Hypothesis Hm : (2 <= m)%nat.

Lemma cos_angle k : (k <= m)%nat -> cos (angle k) = 1 - 2 * (INR k / INR m).
Proof. intros Hk. pose proof (part_range m k ltac:(lia) Hk). apply cos_acos. lra. Qed.

Lemma angle_step k : (k < m)%nat -> angle k <= angle (S k) /\ cos (angle k) - cos (angle (S k)) = 2 / INR m.
Proof.
  intros Hk. assert (Hm' : 0 < INR m) by (apply lt_0_INR; lia).
  assert (E : cos (angle k) - cos (angle (S k)) = 2 / INR m) by (rewrite !cos_angle, S_INR by lia; field; lra).
  split; auto. assert (0 < 2 / INR m) by (apply Rdiv_lt_0_compat; lra). left.
  apply cos_decreasing_0; try apply acos_bound. lra.
Qed.

Lemma sin_angle k : (k <= m)%nat -> sin (angle k) = 2 / INR m * sqrt (INR k * INR (m - k)).
Proof.
  intros Hk. pose proof (part_range m k ltac:(lia) Hk). assert (Hm' : 0 < INR m) by (apply lt_0_INR; lia). unfold angle. rewrite sin_acos by lra.
  rewrite <- (sqrt_pow2 (2 / INR m)) at 1 by (left; apply Rdiv_lt_0_compat; lra). rewrite <- sqrt_mult_alt by apply pow2_ge_0.
  f_equal. rewrite minus_INR by auto. unfold Rsqr. field. lra.
Qed.

Lemma inverse_root k : (1 <= k < m)%nat -> / sqrt (INR k * INR (m - k)) = (2 / INR m) / sin (angle k) /\ 0 < sin (angle k).
Proof.
  intros Hk. assert (Hm' : 0 < INR m) by (apply lt_0_INR; lia). rewrite sin_angle by lia.
  assert (0 < sqrt (INR k * INR (m - k))). { apply sqrt_lt_R0. apply Rmult_lt_0_compat; apply lt_0_INR; lia. }
  split. field. lra. apply Rmult_lt_0_compat; auto. apply Rdiv_lt_0_compat; lra.
Qed.

Lemma half_circle k : (k <= m)%nat -> (2 * k <= m)%nat -> angle k <= PI / 2.
Proof.
  intros Hk H2. assert (Hm' : 0 < INR m) by (apply lt_0_INR; lia). apply Rnot_lt_le. intros H.
  pose proof (acos_bound (1 - 2 * (INR k / INR m))) as B. fold (angle k) in B.
  assert (C : cos (angle k) < cos (PI / 2)) by (apply cos_decreasing_1; lra). rewrite cos_PI2, cos_angle in C by auto.
  apply le_INR in H2. rewrite mult_INR in H2. simpl in H2. apply (Rmult_lt_compat_r (INR m)) in C; auto.
  replace ((1 - 2 * (INR k / INR m)) * INR m) with (INR m - 2 * INR k) in C by (field; lra). lra.
Qed.

Lemma second_half k : (k <= m)%nat -> (m <= 2 * k)%nat -> PI / 2 <= angle k.
Proof.
  intros Hk H2. assert (Hm' : 0 < INR m) by (apply lt_0_INR; lia). apply Rnot_lt_le. intros H.
  pose proof (acos_bound (1 - 2 * (INR k / INR m))) as B. fold (angle k) in B.
  assert (C : cos (PI / 2) < cos (angle k)) by (apply cos_decreasing_1; lra). rewrite cos_PI2, cos_angle in C by auto.
  apply le_INR in H2. rewrite mult_INR in H2. simpl in H2. apply (Rmult_lt_compat_r (INR m)) in C; auto.
  replace ((1 - 2 * (INR k / INR m)) * INR m) with (INR m - 2 * INR k) in C by (field; lra). lra.
Qed.

Lemma arc_before k : (1 <= k < m)%nat -> (2 * k <= m)%nat -> / sqrt (INR k * INR (m - k)) <= angle k - angle (k - 1).
Proof.
  intros Hk H2. destruct (inverse_root k Hk) as [-> Hs]. destruct (angle_step (k - 1) ltac:(lia)) as [Hle <-].
  replace (S (k - 1)) with k in * by lia. pose proof (acos_bound (1 - 2 * (INR k / INR m))) as B. fold (angle k) in B.
  pose proof (acos_bound (1 - 2 * (INR (k - 1) / INR m))) as B'. fold (angle (k - 1)) in B'.
  pose proof (half_circle k ltac:(lia) H2). apply arc_piece; try lra. apply sin_incr_1; lra.
Qed.

Lemma arc_after k : (1 <= k < m)%nat -> (m <= 2 * k)%nat -> / sqrt (INR k * INR (m - k)) <= angle (S k) - angle k.
Proof.
  intros Hk H2. destruct (inverse_root k Hk) as [-> Hs]. destruct (angle_step k ltac:(lia)) as [Hle <-].
  pose proof (acos_bound (1 - 2 * (INR k / INR m))) as B. fold (angle k) in B.
  pose proof (acos_bound (1 - 2 * (INR (S k) / INR m))) as B'. fold (angle (S k)) in B'.
  pose proof (second_half k ltac:(lia) H2). apply arc_piece; try lra. apply sin_decr_1; lra.
Qed.

Lemma angle_0 : angle 0 = 0.
Proof. unfold angle. simpl. replace (1 - 2 * (0 / INR m)) with 1 by (unfold Rdiv; ring). apply acos_1. Qed.

Lemma arc_sum j : (j < m)%nat -> sum_from_1 (fun k => / sqrt (INR k * INR (m - k))) j <= angle (S j) /\
  ((2 * j <= m)%nat -> sum_from_1 (fun k => / sqrt (INR k * INR (m - k))) j <= angle j).
Proof.
  induction j as [| j IH]; intros Hj; cbn [sum_from_1].
  - rewrite angle_0. split; [| lra]. apply acos_bound.
  - destruct (IH ltac:(lia)) as [I1 I2]. clear IH. destruct (angle_step (S j) ltac:(lia)) as [Hle _].
    destruct (le_lt_dec (2 * S j) m) as [H2 | H2].
    + pose proof (arc_before (S j) ltac:(lia) H2) as A. replace (S j - 1)%nat with j in A by lia. specialize (I2 ltac:(lia)).
      split; intros; lra.
    + pose proof (arc_after (S j) ltac:(lia) ltac:(lia)) as A. split; [lra | intros; lia].
Qed.

Lemma inverse_roots_le_pi : sum_from_1 (fun k => / sqrt (INR k * INR (m - k))) (m - 1) <= PI.
Proof.
  destruct (arc_sum (m - 1) ltac:(lia)) as [A _]. eapply Rle_trans. exact A. apply acos_bound.
Qed.
End Arc.

(** ** The terms, by Stirling *)
Lemma moment_term_stirling m k : (1 <= k < m)%nat ->
  moment_term m k = stirling m / (stirling k * stirling (m - k)) * (sqrt (INR m) * / sqrt (INR k * INR (m - k))).
Proof.
  intros Hk. assert (P : forall n, (1 <= n)%nat -> 0 < INR n) by (intros; apply lt_0_INR; lia).
  pose proof (P m ltac:(lia)) as Pm. pose proof (P k ltac:(lia)) as Pk. pose proof (P (m - k)%nat ltac:(lia)) as Pd.
  assert (F : forall n, 0 < INR (fact n)) by (intros; apply lt_0_INR, lt_O_fact).
  pose proof (F m). pose proof (F k). pose proof (F (m - k)%nat).
  assert (B : INR (binomial m k) = INR (fact m) / (INR (fact k) * INR (fact (m - k)))).
  { rewrite <- (binomial_factorials m k) by lia. rewrite !mult_INR. field. lra. }
  unfold moment_term. rewrite B.
  replace (1 - INR k / INR m) with (INR (m - k) / INR m) by (rewrite minus_INR by lia; field; lra).
  unfold Rdiv. rewrite !Rpow_mult_distr. rewrite !pow_inv.
  unfold stirling.
  assert (Em : exp (INR m) = exp (INR k) * exp (INR (m - k))) by (rewrite <- exp_plus; f_equal; rewrite minus_INR by lia; ring).
  assert (Mm : INR m ^ m = INR m ^ k * INR m ^ (m - k)) by (rewrite <- pow_add; f_equal; lia).
  rewrite Em, Mm. rewrite sqrt_mult_alt by lra.
  pose proof (exp_pos (INR k)). pose proof (exp_pos (INR (m - k))).
  assert (0 < INR m ^ k) by (apply pow_lt; auto). assert (0 < INR m ^ (m - k)) by (apply pow_lt; auto).
  assert (0 < INR k ^ k) by (apply pow_lt; auto). assert (0 < INR (m - k) ^ (m - k)) by (apply pow_lt; auto).
  assert (0 < sqrt (INR m)) by (apply sqrt_lt_R0; auto). assert (0 < sqrt (INR k)) by (apply sqrt_lt_R0; auto).
  assert (0 < sqrt (INR (m - k))) by (apply sqrt_lt_R0; auto).
  field. repeat split; lra.
Qed.

Lemma moment_term_le m k : (1 <= k < m)%nat -> moment_term m k <= sqrt (INR m / (2 * PI)) * / sqrt (INR k * INR (m - k)).
Proof.
  intros Hk. pose proof PI_RGT_0 as Hpi. rewrite moment_term_stirling by auto. rewrite <- Rmult_assoc.
  assert (Hroot : 0 < / sqrt (INR k * INR (m - k))). { apply Rinv_0_lt_compat, sqrt_lt_R0, Rmult_lt_0_compat; apply lt_0_INR; lia. }
  apply Rmult_le_compat_r. lra. rewrite sqrt_div_alt by lra. unfold Rdiv at 2. rewrite Rmult_comm. apply Rmult_le_compat_l. apply sqrt_pos.
  pose proof (stirling_le m k ltac:(lia)) as D. pose proof (stirling_lower (m - k) ltac:(lia)) as S.
  pose proof (stirling_pos k ltac:(lia)). pose proof (stirling_pos m ltac:(lia)). pose proof (stirling_pos (m - k) ltac:(lia)).
  assert (0 < sqrt (2 * PI)) by (apply sqrt_lt_R0; lra).
  apply Rle_trans with (/ stirling (m - k)); [| apply Rinv_le_contravar; auto].
  replace (stirling m / (stirling k * stirling (m - k))) with (stirling m / stirling k * / stirling (m - k)) by (field; lra).
  rewrite <- (Rmult_1_l (/ stirling (m - k))) at 2. apply Rmult_le_compat_r. left; apply Rinv_0_lt_compat; auto.
  apply Rmult_le_reg_r with (stirling k); auto. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra.
Qed.

(** Maurer's moment, for every sample size. *)
Theorem prior_moment_le m : (1 <= m)%nat -> xi m <= 2 + sqrt (PI * INR m / 2).
Proof.
  intros Hm. pose proof PI_RGT_0 as Hpi. assert (Hm' : 0 < INR m) by (apply lt_0_INR; lia).
  assert (T0 : moment_term m 0 = 1).
  { unfold moment_term. assert (binomial m 0 = 1%nat) as -> by (destruct m; reflexivity). simpl. unfold Rdiv. rewrite Rmult_0_l, Rminus_0_r, pow1. ring. }
  assert (Tm : moment_term m m = 1).
  { unfold moment_term. assert (binomial m m = 1%nat) as ->. { clear. induction m; simpl; auto. rewrite IHm, binomial_above by lia. reflexivity. }
    rewrite Nat.sub_diag. unfold Rdiv. rewrite Rinv_r, pow1 by lra. simpl. ring. }
  unfold xi. rewrite sum_split, T0. destruct m as [| j]; [lia |]. cbn [sum_from_1]. rewrite Tm.
  enough (sum_from_1 (moment_term (S j)) j <= sqrt (PI * INR (S j) / 2)) by lra.
  destruct (Nat.eq_dec j 0) as [-> | Hj]. simpl. apply sqrt_pos.
  eapply Rle_trans. apply sum_from_1_le. intros k Hk. apply moment_term_le. lia. rewrite sum_from_1_scal.
  eapply Rle_trans. apply Rmult_le_compat_l. apply sqrt_pos. pose proof (inverse_roots_le_pi (S j) ltac:(lia)) as A.
  replace (S j - 1)%nat with j in A by lia. exact A.
  rewrite <- (sqrt_pow2 PI) at 2 by lra. rewrite <- sqrt_mult_alt.
  - right. f_equal. field. lra.
  - left. apply Rdiv_lt_0_compat; lra.
Qed.

(** ** Relative entropy lies above its tangent planes *)
Lemma entropy_term x y : 0 <= x -> 0 < y -> x - y <= x * ln (x / y).
Proof.
  intros [Hx | <-] Hy; [| lra]. assert (Hr : 0 < y / x) by (apply Rdiv_lt_0_compat; auto).
  assert (K : ln (y / x) <= y / x - 1). { pose proof (exp_ineq1_le (ln (y / x))) as H. rewrite exp_ln in H by auto. lra. }
  replace (x / y) with (/ (y / x)) by (field; lra). rewrite ln_Rinv by auto.
  apply (Rmult_le_compat_l x) in K; [| lra]. replace (x * (y / x - 1)) with (y - x) in K by (field; lra). lra.
Qed.

Definition tangent (a b q p : R) : R :=
  q * ln (a / b) + (1 - q) * ln ((1 - a) / (1 - b)) + (1 - p * (a / b) - (1 - p) * ((1 - a) / (1 - b))).

Lemma kl_tangent a b q p : 0 < a < 1 -> 0 < b < 1 -> 0 <= q <= 1 -> 0 < p < 1 -> tangent a b q p <= kl q p.
Proof.
  intros Ha Hb Hq Hp. unfold tangent, kl.
  assert (T : forall x y c d, 0 <= x -> 0 < y -> 0 < c -> 0 < d -> x * ln (c / d) + (x - y * (c / d)) <= x * ln (x / y)).
  { intros x y c d Hx Hy Hc Hd. assert (Hr : 0 < y * (c / d)) by (apply Rmult_lt_0_compat; auto; apply Rdiv_lt_0_compat; auto).
    pose proof (entropy_term x (y * (c / d)) Hx Hr) as K. destruct Hx as [Hx | <-]; [| lra].
    replace (x / y) with (x / (y * (c / d)) * (c / d)) by (field; lra).
    rewrite ln_mult; [lra | apply Rdiv_lt_0_compat; auto | apply Rdiv_lt_0_compat; auto]. }
  pose proof (T q p a b ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra)).
  pose proof (T (1 - q) (1 - p) (1 - a) (1 - b) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra)). lra.
Qed.

Lemma tangent_touches a b : 0 < a < 1 -> 0 < b < 1 -> tangent a b a b = kl a b.
Proof. intros Ha Hb. unfold tangent, kl. field. lra. Qed.

Lemma kl_chord p q1 q2 t : 0 < p < 1 -> 0 <= q1 -> q1 < q2 -> q2 <= 1 -> 0 <= t <= 1 ->
  kl ((1 - t) * q1 + t * q2) p <= (1 - t) * kl q1 p + t * kl q2 p.
Proof.
  intros Hp H1 H2 H3 Ht. destruct (Req_dec t 0) as [-> | T0].
  { replace ((1 - 0) * q1 + 0 * q2) with q1 by ring. lra. }
  destruct (Req_dec t 1) as [-> | T1]. { replace ((1 - 1) * q1 + 1 * q2) with q2 by ring. lra. }
  set (a := (1 - t) * q1 + t * q2). assert (Ha : 0 < a < 1) by (unfold a; nra).
  rewrite <- (tangent_touches a p) by auto.
  pose proof (kl_tangent a p q1 p Ha Hp ltac:(lra) Hp) as K1. pose proof (kl_tangent a p q2 p Ha Hp ltac:(lra) Hp) as K2.
  replace (tangent a p a p) with ((1 - t) * tangent a p q1 p + t * tangent a p q2 p) by (unfold tangent, a; ring).
  apply Rplus_le_compat; apply Rmult_le_compat_l; lra.
Qed.

(** ** Losses in [[0, 1]] are at most as bad as coins *)
Fixpoint coin_mean (n : nat) (p : R) (g : R -> R) (s : R) : R :=
  match n with O => g s | S n => (1 - p) * coin_mean n p g s + p * coin_mean n p g (s + 1) end.

Lemma sum_shift f n : sum_f_R0 f (S n) = f O + sum_f_R0 (fun i => f (S i)) n.
Proof. rewrite decomp_sum by lia. reflexivity. Qed.

Lemma coin_mean_sum n p g : forall s, coin_mean n p g s = sum_f_R0 (fun k => binomial_mass n k p * g (s + INR k)) n.
Proof.
  induction n; intros s. simpl. unfold binomial_mass. simpl. rewrite Rplus_0_r. ring.
  cbn [coin_mean]. rewrite !IHn. rewrite sum_shift.
  rewrite (sum_eq (fun i => binomial_mass (S n) (S i) p * g (s + INR (S i)))
    (fun i => p * (binomial_mass n i p * g (s + 1 + INR i)) + (1 - p) * (binomial_mass n (S i) p * g (s + INR (S i))))).
  2:{ intros i _. rewrite mass_S. replace (s + 1 + INR i) with (s + INR (S i)) by (rewrite S_INR; ring). ring. }
  rewrite plus_sum.
  assert (E : forall c h N, sum_f_R0 (fun i => c * h i) N = c * sum_f_R0 h N).
  { intros c h N. rewrite scal_sum. apply sum_eq. intros; ring. }
  rewrite !E, mass_0.
  pose proof (sum_shift (fun k => binomial_mass n k p * g (s + INR k)) n) as Sh. cbn [sum_f_R0] in Sh.
  assert (Z : binomial_mass n (S n) p = 0) by (unfold binomial_mass; rewrite binomial_above by lia; simpl; ring).
  rewrite Z, Rmult_0_l, Rplus_0_r in Sh. rewrite Sh. ring.
Qed.

Definition unit_chords (M : R) (g : R -> R) : Prop :=
  forall x t, 0 <= x -> x + 1 <= M -> 0 <= t <= 1 -> g (x + t) <= (1 - t) * g x + t * g (x + 1).

Lemma coin_mean_chord M g p n : unit_chords M g -> 0 <= p <= 1 -> forall s t, 0 <= s -> s + 1 + INR n <= M -> 0 <= t <= 1 ->
  coin_mean n p g (s + t) <= (1 - t) * coin_mean n p g s + t * coin_mean n p g (s + 1).
Proof.
  intros Hg Hp. induction n; intros s t Hs HM Ht; cbn [coin_mean]. apply Hg; auto. simpl in HM. lra.
  rewrite S_INR in HM. pose proof (IHn s t Hs ltac:(lra) Ht) as K1. pose proof (IHn (s + 1) t ltac:(lra) ltac:(lra) Ht) as K2.
  replace (s + t + 1) with (s + 1 + t) by ring.
  apply (Rmult_le_compat_l (1 - p)) in K1; [| lra]. apply (Rmult_le_compat_l p) in K2; [| lra]. lra.
Qed.

Section Moment.
Context {Z : Type} (P : list (R * Z)).
Hypothesis HP : distribution P.
Let Pnn := proj1 HP. Let Pone := proj2 HP.

(** Points of positive weight, and samples made of them; all others have probability 0. *)
Definition positive (z : Z) : Prop := exists p, 0 < p /\ In (p, z) P.

Lemma Ex_le_positive f g : (forall z, positive z -> f z <= g z) -> Ex P f <= Ex P g.
Proof.
  intros H. assert (K : forall Q, (forall p z, In (p, z) Q -> In (p, z) P) -> Ex Q f <= Ex Q g).
  { unfold Ex. induction Q as [| [p z] Q IH]; intros HQ; simpl. lra.
    assert (Exl Q f <= Exl Q g) by (apply IH; intros; apply HQ; right; auto).
    pose proof (HQ p z (or_introl eq_refl)) as Hin. destruct (Pnn p z Hin) as [Hp | <-]; [| lra].
    assert (f z <= g z) by (apply H; exists p; auto). nra. }
  apply K; auto.
Qed.

Lemma Em_le_positive m : forall f g, (forall zs, length zs = m -> Forall positive zs -> f zs <= g zs) -> Em P m f <= Em P m g.
Proof.
  induction m; intros f g H; simpl. apply H; auto.
  apply Ex_le_positive. intros z Hz. apply IHm. intros zs Hl Hzs. apply H. simpl; auto. constructor; auto.
Qed.

Lemma Ex_term f z : (forall z, 0 <= f z) -> positive z -> exists p, 0 < p /\ p * f z <= Ex P f.
Proof.
  intros Hf [p [Hp Hin]]. exists p. split; auto. unfold Ex.
  assert (N : forall Q, (forall p z, In (p, z) Q -> 0 <= p) -> 0 <= Exl Q f).
  { induction Q as [| [q y] Q IH]; simpl; intros HQ. lra. pose proof (HQ q y (or_introl eq_refl)). pose proof (Hf y).
    assert (0 <= Exl Q f) by (apply IH; intros; eapply HQ; right; eauto). nra. }
  assert (K : forall Q, (forall p z, In (p, z) Q -> 0 <= p) -> In (p, z) Q -> p * f z <= Exl Q f); [| apply K; auto].
  induction Q as [| [q y] Q IH]; simpl; intros HQ HinQ. tauto.
  pose proof (HQ q y (or_introl eq_refl)). pose proof (Hf y).
  assert (HQ' : forall p z, In (p, z) Q -> 0 <= p) by (intros; eapply HQ; right; eauto). pose proof (N Q HQ').
  destruct HinQ as [E | HinQ]. inversion E; subst. lra. specialize (IH HQ' HinQ). nra.
Qed.

Context (X : Z -> R).
Hypothesis X_range : forall z, 0 <= X z <= 1.
Let mu := Ex P X.

Lemma sum_range zs : 0 <= sum_list zs X <= INR (length zs).
Proof.
  induction zs as [| z zs IH]. simpl; lra. cbn [sum_list length]. rewrite S_INR. pose proof (X_range z). lra.
Qed.

(** A mean of 0 or 1 is attained on every sample that can occur. *)
Lemma risk_zero zs : mu = 0 -> Forall positive zs -> sum_list zs X = 0.
Proof.
  intros H0 Hzs. induction Hzs as [| z zs Hz Hzs IH]; cbn [sum_list]; auto. rewrite IH.
  destruct (Ex_term X z (fun z => proj1 (X_range z)) Hz) as [p [Hp K]]. fold mu in K. pose proof (X_range z). nra.
Qed.

Lemma risk_one zs : mu = 1 -> Forall positive zs -> sum_list zs X = INR (length zs).
Proof.
  intros H1 Hzs. induction Hzs as [| z zs Hz Hzs IH]; cbn [sum_list length]; auto. rewrite IH, S_INR.
  assert (Hr : forall z, 0 <= 1 - X z) by (intros y; pose proof (X_range y); lra).
  destruct (Ex_term (fun z => 1 - X z) z Hr Hz) as [p [Hp K]].
  rewrite Ex_minus, Ex_const in K by auto. fold mu in K. pose proof (X_range z). nra.
Qed.

Lemma coins_are_worst M g : unit_chords M g -> forall m s, 0 <= s -> s + INR m <= M ->
  Em P m (fun zs => g (s + sum_list zs X)) <= coin_mean m mu g s.
Proof.
  intros Hg. pose proof (mean_range P HP X X_range) as Hmu. fold mu in Hmu.
  induction m as [| m IH]; intros s Hs HM; cbn [Em coin_mean sum_list]. rewrite Rplus_0_r. lra.
  rewrite S_INR in HM.
  apply Rle_trans with (Ex P (fun z => (1 - X z) * coin_mean m mu g s + X z * coin_mean m mu g (s + 1))).
  - apply Ex_le; auto. intros z. pose proof (X_range z).
    rewrite (Em_ext P m _ (fun zs => g (s + X z + sum_list zs X))) by (intros; f_equal; ring).
    eapply Rle_trans. apply IH; lra. apply (coin_mean_chord M); auto; lra.
  - rewrite (Ex_ext P _ (fun z => coin_mean m mu g s + (coin_mean m mu g (s + 1) - coin_mean m mu g s) * X z)) by (intros; ring).
    rewrite Ex_plus, Ex_const, Ex_scal by auto. fold mu. right. ring.
Qed.

Lemma moment_chords m : (0 < m)%nat -> 0 < mu < 1 -> unit_chords (INR m) (fun x => exp (INR m * kl (x / INR m) mu)).
Proof.
  intros Hm Hmu x t Hx HM Ht. assert (Hm' : 0 < INR m) by (apply lt_0_INR; auto).
  assert (Hinv : 0 < / INR m) by (apply Rinv_0_lt_compat; auto).
  pose proof (kl_chord mu (x / INR m) ((x + 1) / INR m) t Hmu) as K.
  replace ((1 - t) * (x / INR m) + t * ((x + 1) / INR m)) with ((x + t) / INR m) in K by (field; lra).
  assert (U : (x + 1) / INR m <= 1) by (apply Rmult_le_reg_r with (INR m); auto; unfold Rdiv; rewrite Rmult_assoc, Rinv_l; lra).
  specialize (K ltac:(apply Rmult_le_pos; lra) ltac:(apply Rmult_lt_compat_r; lra) U Ht).
  eapply Rle_trans; [| apply (exp_chord t); auto].
  apply (Rmult_le_compat_l (INR m)) in K; [| lra].
  match goal with |- exp ?a <= exp ?b => destruct (Rle_lt_or_eq_dec a b) as [L | ->] end; [lra | left; apply exp_increasing; auto | lra].
Qed.

Lemma coin_moment m p : (0 < m)%nat -> 0 < p < 1 -> coin_mean m p (fun x => exp (INR m * kl (x / INR m) p)) 0 = xi m.
Proof.
  intros Hm Hp. assert (Hm' : 0 < INR m) by (apply lt_0_INR; auto). rewrite coin_mean_sum. apply sum_eq. intros k Hk.
  unfold binomial_mass, moment_term. rewrite Rplus_0_l. unfold kl.
  assert (Pw : forall j y c, 0 < c -> 0 <= y -> (y = 0 -> j = O) -> exp (INR j * ln (y / c)) = y ^ j / c ^ j).
  { intros j y c Hc [Hy | <-] H0. rewrite exp_nat_mult, exp_ln by (apply Rdiv_lt_0_compat; auto). unfold Rdiv. rewrite Rpow_mult_distr, pow_inv. reflexivity.
    rewrite H0 by auto. simpl. rewrite Rmult_0_l, exp_0. field. }
  replace (INR m * (INR k / INR m * ln (INR k / INR m / p) + (1 - INR k / INR m) * ln ((1 - INR k / INR m) / (1 - p))))
    with (INR k * ln (INR k / INR m / p) + INR (m - k) * ln ((1 - INR k / INR m) / (1 - p))) by (rewrite minus_INR by auto; field; lra).
  pose proof (pos_INR k). assert (INR k <= INR m) by (apply le_INR; auto).
  assert (Q : 0 <= INR k / INR m) by (apply Rmult_le_pos; auto; left; apply Rinv_0_lt_compat; auto).
  assert (Q1 : 1 - INR k / INR m = INR (m - k) / INR m) by (rewrite minus_INR by auto; field; lra).
  assert (Q2 : 0 <= 1 - INR k / INR m) by (rewrite Q1; apply Rmult_le_pos; [apply pos_INR | left; apply Rinv_0_lt_compat; auto]).
  assert (N0 : forall j, INR j / INR m = 0 -> j = O).
  { intros j Hj. apply INR_eq. simpl. apply Rmult_eq_reg_r with (/ INR m). unfold Rdiv in Hj. lra. apply Rinv_neq_0_compat. lra. }
  rewrite exp_plus, !Pw; try lra; auto. 2:{ rewrite Q1. apply N0. }
  assert (0 < p ^ k) by (apply pow_lt; lra). assert (0 < (1 - p) ^ (m - k)) by (apply pow_lt; lra). field. lra.
Qed.

Lemma moment_term_nonneg m k : (k <= m)%nat -> (0 < m)%nat -> 0 <= moment_term m k.
Proof.
  intros Hk Hm. pose proof (part_range m k Hm Hk) as [A B]. unfold moment_term.
  repeat apply Rmult_le_pos; try apply pos_INR; apply pow_le; lra.
Qed.

Lemma xi_ge_1 m : (0 < m)%nat -> 1 <= xi m.
Proof.
  intros Hm. unfold xi. rewrite sum_split. assert (E : moment_term m 0 = 1).
  { unfold moment_term. assert (binomial m 0 = 1%nat) as -> by (destruct m; reflexivity). simpl. unfold Rdiv. rewrite Rmult_0_l, Rminus_0_r, pow1. ring. }
  rewrite E. assert (K : forall j, (j <= m)%nat -> 0 <= sum_from_1 (moment_term m) j).
  { induction j; simpl; intros Hj. lra. pose proof (moment_term_nonneg m (S j) Hj Hm). specialize (IHj ltac:(lia)). lra. }
  specialize (K m (le_n m)). lra.
Qed.

(** Maurer's lemma: the exponential moment of [m kl(empirical mean || mean)]. *)
Theorem maurer_moment m : (0 < m)%nat ->
  Em P m (fun zs => exp (INR m * kl (sum_list zs X / INR m) (Ex P X))) <= xi m.
Proof.
  intros Hm. fold mu. assert (Hm' : 0 < INR m) by (apply lt_0_INR; auto). pose proof (mean_range P HP X X_range) as Hmu. fold mu in Hmu.
  assert (Edge : forall e, (forall zs, length zs = m -> Forall positive zs -> kl (sum_list zs X / INR m) mu = e) -> e = 0 ->
      Em P m (fun zs => exp (INR m * kl (sum_list zs X / INR m) mu)) <= xi m).
  { intros e H ->. apply Rle_trans with (Em P m (fun _ => 1)).
    - apply Em_le_positive. intros zs Hl Hzs. rewrite (H zs Hl Hzs), Rmult_0_r, exp_0. lra.
    - rewrite Em_const by auto. apply xi_ge_1. exact Hm. }
  destruct (Req_dec mu 0) as [H0 | H0].
  { apply (Edge (kl 0 0)). intros zs Hl Hzs. rewrite (risk_zero zs H0 Hzs), H0. f_equal. unfold Rdiv; ring.
    unfold kl. rewrite Rmult_0_l, Rminus_0_r. replace (1 / 1) with 1 by field. rewrite ln_1. ring. }
  destruct (Req_dec mu 1) as [H1 | H1].
  { apply (Edge (kl 1 1)). intros zs Hl Hzs. rewrite (risk_one zs H1 Hzs), H1, Hl. f_equal. field. lra.
    unfold kl. replace (1 / 1) with 1 by field. rewrite ln_1. ring. }
  rewrite <- (coin_moment m mu Hm) by lra.
  rewrite (Em_ext P m _ (fun zs => (fun x => exp (INR m * kl (x / INR m) mu)) (0 + sum_list zs X))) by (intros; rewrite Rplus_0_l; reflexivity).
  apply (coins_are_worst (INR m) (fun x => exp (INR m * kl (x / INR m) mu))). apply moment_chords; auto; lra. lra. lra.
Qed.
End Moment.
