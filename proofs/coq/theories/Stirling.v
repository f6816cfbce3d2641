(** * Stirling's formula from below, and Wallis' product

[stirling n = n! e^n / (n^n sqrt n)] decreases and is at least [sqrt (2 PI)] for every [n >= 1].  Wallis'
product enters through the integrals of [sin^n]. *)
From Coq Require Import Reals List Lra Psatz Lia Arith.
From Coquelicot Require Import Coquelicot.
Open Scope R_scope.

Definition stirling (n : nat) : R := INR (fact n) * exp (INR n) / (INR n ^ n * sqrt (INR n)).

(** ** Two bounds of the logarithm *)
Lemma increasing_from_zero (f f' : R -> R) : (forall x, 0 <= x -> is_derive f x (f' x)) ->
  (forall x, 0 <= x -> 0 <= f' x) -> f 0 = 0 -> forall x, 0 <= x -> 0 <= f x.
Proof.
  intros Hd Hp H0 x Hx. destruct (MVT_gen f 0 x f') as [c [Hc Heq]].
  - intros y Hy. rewrite Rmin_left, Rmax_right in Hy by lra. apply Hd. lra.
  - intros y Hy. rewrite Rmin_left, Rmax_right in Hy by lra. apply continuity_pt_filterlim.
    apply (ex_derive_continuous (V := R_NormedModule)). exists (f' y). apply Hd. lra.
  - rewrite Rmin_left, Rmax_right in Hc by lra. rewrite H0 in Heq.
    assert (0 <= f' c * (x - 0)); [| lra]. apply Rmult_le_pos; [apply Hp |]; lra.
Qed.

Lemma ln_lower x : 0 <= x -> 2 * x / (2 + x) <= ln (1 + x).
Proof.
  intros Hx. enough (0 <= ln (1 + x) - 2 * x / (2 + x)) by lra. revert x Hx.
  apply (increasing_from_zero _ (fun x => x^2 / ((1 + x) * (2 + x)^2))).
  - intros x Hx. auto_derive. lra. field. lra.
  - intros x Hx. apply Rmult_le_pos. apply pow2_ge_0. left. apply Rinv_0_lt_compat. apply Rmult_lt_0_compat; [| apply pow_lt]; lra.
  - replace (1 + 0) with 1 by ring. rewrite ln_1. field.
Qed.

Lemma ln_upper x : 0 <= x -> ln (1 + x) <= x * (2 + x) / (2 * (1 + x)).
Proof.
  intros Hx. enough (0 <= x * (2 + x) / (2 * (1 + x)) - ln (1 + x)) by lra. revert x Hx.
  apply (increasing_from_zero _ (fun x => x^2 / (2 * (1 + x)^2))).
  - intros x Hx. auto_derive. lra. field. lra.
  - intros x Hx. apply Rmult_le_pos. apply pow2_ge_0. left. apply Rinv_0_lt_compat. apply Rmult_lt_0_compat; [| apply pow_lt]; lra.
  - replace (1 + 0) with 1 by ring. rewrite ln_1. field.
Qed.

(** ** The sequence decreases slowly *)
Lemma INR_ge_1 n : (1 <= n)%nat -> 1 <= INR n.
Proof. intros H. change 1 with (INR 1). apply le_INR. exact H. Qed.

Lemma stirling_pos n : (1 <= n)%nat -> 0 < stirling n.
Proof.
  intros Hn. pose proof (INR_ge_1 n Hn). unfold stirling. apply Rdiv_lt_0_compat; apply Rmult_lt_0_compat.
  apply lt_0_INR, lt_O_fact. apply exp_pos. apply pow_lt; lra. apply sqrt_lt_R0; lra.
Qed.

Lemma stirling_step n : (1 <= n)%nat ->
  ln (stirling n) - ln (stirling (S n)) = (INR n + 1 / 2) * ln (1 + 1 / INR n) - 1.
Proof.
  intros Hn. pose proof (INR_ge_1 n Hn) as H1. pose proof (INR_ge_1 (S n) ltac:(lia)) as H2.
  assert (Hf : forall k, 0 < INR (fact k)) by (intros; apply lt_0_INR, lt_O_fact).
  assert (Hpow : forall k x, 0 < x -> ln (x ^ k) = INR k * ln x) by (intros; apply ln_pow; auto).
  assert (Hs : forall x, 0 < x -> ln (sqrt x) = ln x / 2).
  { intros x Hx. rewrite <- (Rpower_sqrt x Hx). unfold Rpower. rewrite ln_exp. field. }
  assert (Hst : forall k, (1 <= k)%nat -> ln (stirling k) = ln (INR (fact k)) + INR k - (INR k * ln (INR k) + ln (INR k) / 2)).
  { intros k Hk. pose proof (INR_ge_1 k Hk). unfold stirling.
    assert (0 < sqrt (INR k)) by (apply sqrt_lt_R0; lra). assert (0 < INR k ^ k) by (apply pow_lt; lra).
    rewrite ln_div, !ln_mult, ln_exp, Hpow, Hs; auto; try lra; try apply exp_pos.
    apply Rmult_lt_0_compat; auto; apply exp_pos. apply Rmult_lt_0_compat; auto. }
  rewrite !Hst by lia. rewrite fact_simpl, mult_INR, ln_mult by (auto; lra).
  replace (1 + 1 / INR n) with (INR (S n) / INR n) by (rewrite S_INR; field; lra).
  rewrite ln_div by lra. rewrite S_INR in *. lra.
Qed.

Lemma stirling_decreasing n : (1 <= n)%nat -> stirling (S n) <= stirling n.
Proof.
  intros Hn. pose proof (INR_ge_1 n Hn) as H1. pose proof (stirling_pos n Hn). pose proof (stirling_pos (S n) ltac:(lia)).
  apply Rnot_lt_le. intros H2. apply ln_increasing in H2; auto.
  pose proof (stirling_step n Hn) as E. assert (Hx : 0 <= 1 / INR n) by (left; apply Rdiv_lt_0_compat; lra).
  pose proof (ln_lower (1 / INR n) Hx) as K.
  assert (1 <= (INR n + 1 / 2) * ln (1 + 1 / INR n)); [| lra].
  apply Rle_trans with ((INR n + 1 / 2) * (2 * (1 / INR n) / (2 + 1 / INR n))). right; field; lra.
  apply Rmult_le_compat_l; lra.
Qed.

Lemma stirling_le n k : (1 <= k <= n)%nat -> stirling n <= stirling k.
Proof.
  intros [Hk H]. induction H. lra. eapply Rle_trans; [| exact IHle]. apply stirling_decreasing. lia.
Qed.

Lemma stirling_ge_1 n : (1 <= n)%nat -> 1 <= stirling n.
Proof.
  intros Hn. assert (K : forall k, (1 <= k)%nat -> 3 / 4 + 1 / (4 * INR k) <= ln (stirling k)).
  { induction k as [| k IH]; intros Hk. lia. destruct (Nat.eq_dec k 0) as [-> | H0].
    - unfold stirling. simpl. rewrite sqrt_1. replace (1 * exp 1 / (1 * 1 * 1)) with (exp 1) by field. rewrite ln_exp. lra.
    - specialize (IH ltac:(lia)). pose proof (INR_ge_1 k ltac:(lia)) as H1. pose proof (stirling_step k ltac:(lia)) as E.
      assert (Hx : 0 <= 1 / INR k) by (left; apply Rdiv_lt_0_compat; lra).
      pose proof (ln_upper (1 / INR k) Hx) as U.
      assert ((INR k + 1 / 2) * ln (1 + 1 / INR k) <= 1 + (1 / (4 * INR k) - 1 / (4 * INR (S k)))).
      { rewrite S_INR. eapply Rle_trans. apply Rmult_le_compat_l; [lra | exact U]. right. field. lra. }
      lra. }
  specialize (K n Hn). pose proof (INR_ge_1 n Hn). pose proof (stirling_pos n Hn).
  assert (0 < 1 / (4 * INR n)) by (apply Rdiv_lt_0_compat; lra).
  apply Rnot_lt_le. intros H2. apply ln_increasing in H2; auto. rewrite ln_1 in H2. lra.
Qed.

(** ** Wallis *)
Definition sine_integral (n : nat) : R := RInt (fun x => sin x ^ n) 0 (PI / 2).

Lemma sine_power_integrable n a b : ex_RInt (fun x => sin x ^ n) a b.
Proof.
  apply (ex_RInt_continuous (V := R_CompleteNormedModule)). intros x _.
  apply (ex_derive_continuous (V := R_NormedModule)). auto_derive. auto.
Qed.

Lemma sine_integral_step n : INR (n + 2) * sine_integral (n + 2) = INR (n + 1) * sine_integral n.
Proof.
  pose proof PI_RGT_0 as Hpi.
  assert (H : is_RInt (fun x => INR (n + 1) * sin x ^ n - INR (n + 2) * sin x ^ (n + 2)) 0 (PI / 2)
      (minus (cos (PI / 2) * sin (PI / 2) ^ (n + 1)) (cos 0 * sin 0 ^ (n + 1)))).
  { apply (is_RInt_derive (V := R_CompleteNormedModule) (fun x => cos x * sin x ^ (n + 1))).
    - intros x _. auto_derive. auto.
      rewrite !plus_INR. simpl INR. replace (Nat.pred (n + 1)) with n by lia. rewrite !pow_add. simpl.
      pose proof (sin2_cos2 x) as T. unfold Rsqr in T. rewrite !Rmult_1_l, !Rmult_1_r.
      replace (cos x * (cos x * ((INR n + 1) * sin x ^ n))) with ((INR n + 1) * sin x ^ n * (cos x * cos x)) by ring.
      replace (cos x * cos x) with (1 - sin x * sin x) by lra. ring.
    - intros x _. apply (ex_derive_continuous (V := R_NormedModule)). auto_derive. auto. }
  pose proof (is_RInt_unique _ _ _ _ H) as E.
  assert (E' : RInt (fun x => INR (n + 1) * sin x ^ n - INR (n + 2) * sin x ^ (n + 2)) 0 (PI / 2)
      = INR (n + 1) * sine_integral n - INR (n + 2) * sine_integral (n + 2)).
  { apply is_RInt_unique. apply (is_RInt_minus (V := R_NormedModule));
      apply (is_RInt_scal (V := R_NormedModule)), (RInt_correct (V := R_CompleteNormedModule)), sine_power_integrable. }
  rewrite E' in E. clear E'.
  rewrite cos_PI2, sin_0, pow_i in E by lia. unfold minus, plus, opp, scal in E; simpl in E. unfold mult in E; simpl in E.
  lra.
Qed.

Lemma sine_integral_0 : sine_integral 0 = PI / 2.
Proof.
  unfold sine_integral. rewrite (RInt_ext _ (fun _ => 1)) by (intros; simpl; reflexivity).
  rewrite RInt_const. unfold scal; simpl. unfold mult; simpl. lra.
Qed.

Lemma sine_integral_1 : sine_integral 1 = 1.
Proof.
  unfold sine_integral. apply is_RInt_unique.
  replace 1 with (minus (- cos (PI / 2)) (- cos 0)) by (rewrite cos_PI2, cos_0; unfold minus, plus, opp; simpl; ring).
  apply (is_RInt_derive (V := R_CompleteNormedModule) (fun x => - cos x)).
  - intros x _. auto_derive. auto. ring.
  - intros x _. apply (ex_derive_continuous (V := R_NormedModule)). auto_derive. auto.
Qed.

Lemma sine_integral_decreasing n : sine_integral (S n) <= sine_integral n.
Proof.
  pose proof PI_RGT_0 as Hpi. apply RInt_le; try apply sine_power_integrable. lra.
  intros x Hx. assert (0 <= sin x <= 1). { split; [apply sin_ge_0; lra | apply SIN_bound]. }
  simpl. rewrite <- (Rmult_1_l (sin x ^ n)) at 2. apply Rmult_le_compat_r. apply pow_le. lra. lra.
Qed.

(** The central binomial coefficient over [4^n]. *)
Definition central (n : nat) : R := INR (fact (2 * n)) / (4 ^ n * INR (fact n) ^ 2).

Lemma central_pos n : 0 < central n.
Proof.
  unfold central. apply Rdiv_lt_0_compat. apply lt_0_INR, lt_O_fact. apply Rmult_lt_0_compat; apply pow_lt. lra. apply lt_0_INR, lt_O_fact.
Qed.

Lemma central_step n : central (S n) = central n * (INR (2 * n + 1) / INR (2 * n + 2)).
Proof.
  unfold central. replace (2 * S n)%nat with (S (S (2 * n))) by lia. rewrite !fact_simpl, !mult_INR.
  replace (S (S (2 * n))) with (2 * n + 2)%nat by lia. replace (S (2 * n)) with (2 * n + 1)%nat by lia.
  assert (0 < INR (fact n)) by apply lt_0_INR, lt_O_fact. assert (0 < 4 ^ n) by (apply pow_lt; lra). pose proof (pos_INR n).
  rewrite S_INR, !plus_INR, !mult_INR. simpl INR. simpl pow. field. repeat split; lra.
Qed.

Lemma sine_integral_even n : sine_integral (2 * n) = PI / 2 * central n.
Proof.
  induction n. replace (2 * 0)%nat with 0%nat by lia. rewrite sine_integral_0. unfold central. simpl. field.
  pose proof (sine_integral_step (2 * n)) as E. replace (2 * S n)%nat with (2 * n + 2)%nat by lia.
  assert (0 < INR (2 * n + 2)) by (apply lt_0_INR; lia). rewrite IHn in E. rewrite central_step.
  apply Rmult_eq_reg_l with (INR (2 * n + 2)); [| lra]. rewrite E. field. lra.
Qed.

Lemma sine_integral_odd n : sine_integral (2 * n + 1) * (central (S n) * INR (2 * n + 2)) = 1.
Proof.
  induction n. replace (2 * 0 + 1)%nat with 1%nat by lia. rewrite sine_integral_1. unfold central. simpl. field.
  pose proof (sine_integral_step (2 * n + 1)) as E. replace (2 * S n + 1)%nat with (2 * n + 1 + 2)%nat by lia.
  rewrite (central_step (S n)). replace (2 * S n + 1)%nat with (2 * n + 1 + 2)%nat by lia.
  replace (2 * n + 1 + 1)%nat with (2 * n + 2)%nat in E by lia.
  assert (0 < INR (2 * S n + 2)) by (apply lt_0_INR; lia). 
  replace (sine_integral (2 * n + 1 + 2) * (central (S n) * (INR (2 * n + 1 + 2) / INR (2 * S n + 2)) * INR (2 * S n + 2)))
    with (INR (2 * n + 1 + 2) * sine_integral (2 * n + 1 + 2) * central (S n)) by (field; lra).
  rewrite E. rewrite <- IHn. ring.
Qed.

(** Wallis: [central n ^ 2 <= 1 / (PI n)]. *)
Lemma wallis n : (1 <= n)%nat -> central n ^ 2 * (PI * INR n) <= 1.
Proof.
  intros Hn. destruct n as [| n]; [lia |]. pose proof (sine_integral_decreasing (2 * n + 1)) as D.
  replace (S (2 * n + 1)) with (2 * S n)%nat in D by lia. rewrite sine_integral_even in D.
  pose proof (sine_integral_odd n) as O. pose proof (central_pos (S n)) as Hc.
  assert (Hk : 0 < central (S n) * INR (2 * n + 2)) by (apply Rmult_lt_0_compat; auto; apply lt_0_INR; lia).
  apply (Rmult_le_compat_r _ _ _ (Rlt_le _ _ Hk)) in D. rewrite O in D.
  replace (central (S n) ^ 2 * (PI * INR (S n))) with (PI / 2 * central (S n) * (central (S n) * INR (2 * n + 2))); auto.
  rewrite S_INR, plus_INR, mult_INR. simpl. field.
Qed.

(** ** The limit, from below *)
Lemma stirling_double n : (1 <= n)%nat -> sqrt (2 * PI) * stirling (2 * n) <= stirling n ^ 2.
Proof.
  intros Hn. pose proof (INR_ge_1 n Hn) as H1. pose proof PI_RGT_0 as Hpi. pose proof (stirling_pos n Hn) as Hs.
  pose proof (central_pos n) as Hc.
  assert (E : stirling (2 * n) = stirling n ^ 2 * (central n * sqrt (INR n) / sqrt 2)).
  { unfold stirling, central. rewrite mult_INR. simpl (INR 2). replace (1 + 1) with 2 by ring.
    rewrite sqrt_mult_alt by lra. rewrite Rpow_mult_distr.
    replace (exp (2 * INR n)) with (exp (INR n) * exp (INR n)) by (rewrite <- exp_plus; f_equal; ring).
    replace (2 ^ (2 * n)) with (4 ^ n) by (rewrite pow_mult; f_equal; ring).
    replace (INR n ^ (2 * n)) with (INR n ^ n * INR n ^ n) by (rewrite <- pow_add; f_equal; lia).
    assert (0 < sqrt 2) by (apply sqrt_lt_R0; lra). assert (0 < sqrt (INR n)) by (apply sqrt_lt_R0; lra).
    assert (0 < INR (fact n)) by apply lt_0_INR, lt_O_fact. assert (0 < 4 ^ n) by (apply pow_lt; lra).
    assert (0 < INR n ^ n) by (apply pow_lt; lra). 
    field. repeat split; lra. }
  rewrite E. replace (sqrt (2 * PI) * (stirling n ^ 2 * (central n * sqrt (INR n) / sqrt 2)))
    with (stirling n ^ 2 * (central n * sqrt (PI * INR n))).
  2:{ rewrite !sqrt_mult_alt by lra. field. apply Rgt_not_eq, sqrt_lt_R0. lra. }
  rewrite <- (Rmult_1_r (stirling n ^ 2)) at 2. apply Rmult_le_compat_l. apply pow2_ge_0.
  rewrite <- (sqrt_pow2 (central n)) by lra. rewrite <- sqrt_mult_alt by apply pow2_ge_0. rewrite <- sqrt_1. apply sqrt_le_1_alt.
  apply wallis. exact Hn.
Qed.

(** Stirling's formula from below. *)
Theorem stirling_lower n : (1 <= n)%nat -> sqrt (2 * PI) <= stirling n.
Proof.
  intros Hn. apply Rnot_lt_le. intros Hlt. set (c := sqrt (2 * PI)) in *. pose proof PI_RGT_0 as Hpi.
  assert (Hc : 0 < c) by (apply sqrt_lt_R0; lra). set (r := stirling n / c).
  assert (Hr : 0 < r < 1).
  { unfold r. split. apply Rdiv_lt_0_compat; auto. apply stirling_pos; auto.
    apply Rmult_lt_reg_r with c; auto. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
  assert (K : forall j, stirling (2 ^ j * n) <= c * r ^ (2 ^ j)).
  { induction j. simpl. rewrite Nat.add_0_r. unfold r. right. field. lra.
    replace (2 ^ S j * n)%nat with (2 * (2 ^ j * n))%nat by (simpl; lia).
    assert (H2j : (1 <= 2 ^ j * n)%nat). { pose proof (Nat.pow_nonzero 2 j ltac:(lia)). nia. }
    pose proof (stirling_double (2 ^ j * n) H2j) as D. fold c in D. pose proof (stirling_pos _ H2j) as Hp.
    apply Rmult_le_reg_l with c; auto. eapply Rle_trans. exact D.
    eapply Rle_trans. apply pow_incr. split; [lra | exact IHj].
    right. replace (2 ^ S j)%nat with (2 ^ j + 2 ^ j)%nat by (simpl; lia). rewrite pow_add. ring. }
  destruct (pow_lt_1_zero r) with (y := / c) as [N HN].
  { rewrite Rabs_pos_eq; lra. } { apply Rinv_0_lt_compat; auto. }
  specialize (HN (2 ^ N)%nat). assert (Hge : (2 ^ N >= N)%nat) by (pose proof (Nat.pow_gt_lin_r 2 N ltac:(lia)); lia).
  specialize (HN Hge). rewrite Rabs_pos_eq in HN by (apply pow_le; lra). specialize (K N).
  assert (H2N : (1 <= 2 ^ N * n)%nat). { pose proof (Nat.pow_nonzero 2 N ltac:(lia)). nia. }
  pose proof (stirling_ge_1 _ H2N) as H1. apply (Rmult_lt_compat_l c) in HN; auto. rewrite Rinv_r in HN by lra. lra.
Qed.
