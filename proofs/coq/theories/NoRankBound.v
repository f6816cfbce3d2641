(** * No bound from the effective rank of the attention matrices alone (Proposition N2)

[naive_bound C a delta] is the claim that, for every one-head softmax class whose attention matrices
have stable rank at most [r], with probability at least [1 - delta] all gaps are at most
[C (ln m)^a sqrt (r/m)].  It is false for all [C], [a] and [delta < 1], already for losses that are
2-Lipschitz with values in [[0, 1]] and for attention matrices that all have rank one: with
probability one some weight matrix has empirical risk 0 and risk at least 1/2. *)
From Coq Require Import Reals List Lra Psatz Lia Arith.
From Attention Require Import SignAverages FiniteSup VectorContraction Expectation Symmetrization Probability Risk
  Softmax LinearScores Matrices SoftmaxHead RankOneAttention.
Import ListNotations.
Open Scope R_scope.

(** The loss of a head whose first token asks the query. *)
Definition first_query_loss {Z : Type} (tokens : Z -> list (list R)) (values : Z -> list R) (loss : Z -> R -> R)
  (W : matrix) (z : Z) : R :=
  loss z (readout (map (score W (hd nil (tokens z))) (tokens z)) (values z)).

Definition naive_bound (C a delta : R) : Prop :=
  forall (Z : Type) (P : list (R * Z)) (tokens : Z -> list (list R)) (values : Z -> list R) (loss : Z -> R -> R)
    (class : matrix -> Prop) (r : R) (m : nat),
  distribution P -> (1 < m)%nat ->
  (forall z y, 0 <= loss z y <= 1) ->
  (forall z y y', Rabs (loss z y - loss z y') <= 2 * Rabs (y - y')) ->
  (forall W, class W -> forall p z, In (p, z) P -> stable_rank_at_most r (attention_matrix W (tokens z))) ->
  Pr P m (fun zs => exists W, class W /\
    gap P (first_query_loss tokens values loss) zs W > C * Rpower (ln (INR m)) a * sqrt (r / INR m)) <= delta.

(** ** The claimed rate tends to zero *)
Lemma INR_unbounded x : exists n, x < INR n.
Proof.
  destruct (archimed x) as [H _]. exists (Z.to_nat (Z.max 0 (up x))). rewrite INR_IZR_INZ, Z2Nat.id by lia.
  eapply Rlt_le_trans. apply H. apply IZR_le. lia.
Qed.

Lemma ln_le_root k x : (0 < k)%nat -> 1 <= x -> ln x <= INR k * Rpower x (/ INR k).
Proof.
  intros Hk Hx. assert (Hk' : 0 < INR k) by (apply lt_0_INR; auto). unfold Rpower.
  set (y := / INR k * ln x). pose proof (exp_ineq1_le y). replace (ln x) with (INR k * y) by (unfold y; field; lra).
  apply Rmult_le_compat_l; lra.
Qed.

Lemma rate_vanishes C a : exists m, (1 < m)%nat /\ C * Rpower (ln (INR m)) a * sqrt (1 / INR m) < 1 / 2.
Proof.
  (* a natural exponent above [a], and the constant that comes with it *)
  destruct (INR_unbounded (Rmax a 1)) as [k Hk]. assert (Hka : a <= INR k) by (pose proof (Rmax_l a 1); lra).
  assert (Hk1 : 1 < INR k) by (pose proof (Rmax_r a 1); lra).
  assert (Hkn : (0 < k)%nat) by (apply INR_lt; simpl; lra).
  set (D := Rmax C 1 * Rpower (INR (4 * k)) (INR k)).
  assert (HD : 0 < D) by (unfold D; apply Rmult_lt_0_compat; [pose proof (Rmax_r C 1); lra | apply exp_pos]).
  destruct (INR_unbounded (Rmax 3 (Rpower (2 * D) 4))) as [m Hm].
  assert (Hm3 : 3 < INR m) by (pose proof (Rmax_l 3 (Rpower (2 * D) 4)); lra).
  assert (HmD : Rpower (2 * D) 4 < INR m) by (pose proof (Rmax_r 3 (Rpower (2 * D) 4)); lra).
  exists m. split. apply INR_lt; simpl; lra.
  assert (Hln1 : 1 < ln (INR m)).
  { rewrite <- (ln_exp 1). apply ln_increasing. apply exp_pos. pose proof exp_le_3. lra. }
  assert (H1 : Rpower (ln (INR m)) a <= Rpower (ln (INR m)) (INR k)) by (apply Rle_Rpower; lra).
  assert (H4k : (0 < 4 * k)%nat) by lia. pose proof (lt_0_INR _ H4k) as H4k'.
  assert (H2 : Rpower (ln (INR m)) (INR k) <= Rpower (INR (4 * k)) (INR k) * Rpower (INR m) (1 / 4)).
  { eapply Rle_trans. apply Rle_Rpower_l. lra. split. lra. apply (ln_le_root (4 * k)); auto. lra.
    rewrite <- Rpower_mult_distr; [| auto | apply exp_pos]. rewrite Rpower_mult. right. f_equal. f_equal.
    rewrite mult_INR. simpl. field. lra. }
  replace (sqrt (1 / INR m)) with (Rpower (INR m) (- (1 / 2))).
  2:{ rewrite sqrt_div_alt, sqrt_1 by lra. rewrite Rpower_Ropp, <- (Rpower_sqrt (INR m)) by lra.
      unfold Rdiv. rewrite !Rmult_1_l. reflexivity. }
  apply Rle_lt_trans with (D * Rpower (INR m) (- (1 / 4))).
  - replace (- (1 / 4)) with (1 / 4 + - (1 / 2)) by field. rewrite Rpower_plus.
    replace (D * (Rpower (INR m) (1 / 4) * Rpower (INR m) (- (1 / 2)))) with (D * Rpower (INR m) (1 / 4) * Rpower (INR m) (- (1 / 2))) by ring.
    apply Rmult_le_compat_r. left; apply exp_pos.
    apply Rle_trans with (Rmax C 1 * Rpower (ln (INR m)) a).
    apply Rmult_le_compat_r. left; apply exp_pos. apply Rmax_l.
    unfold D. rewrite Rmult_assoc. apply Rmult_le_compat_l. pose proof (Rmax_r C 1); lra. lra.
  - rewrite Rpower_Ropp. set (q := Rpower (INR m) (1 / 4)). assert (Hq : 0 < q) by apply exp_pos.
    assert (2 * D < q).
    { unfold q. replace (2 * D) with (Rpower (Rpower (2 * D) 4) (1 / 4)).
      apply Rlt_Rpower_l; [lra |]. split; auto. apply exp_pos.
      rewrite Rpower_mult. replace (4 * (1 / 4)) with 1 by field. apply Rpower_1. lra. }
    apply Rmult_lt_reg_r with q; auto. rewrite Rmult_assoc, Rinv_l by lra. lra.
Qed.

(** ** The ramp loss *)
Definition ramp (gamma y : R) : R := Rmax 0 (Rmin 1 (1 - y / gamma)).

Lemma ramp_range gamma y : 0 <= ramp gamma y <= 1.
Proof. unfold ramp, Rmax, Rmin. repeat destruct Rle_dec; lra. Qed.

Lemma ramp_lipschitz gamma y y' : 1 / 2 <= gamma -> Rabs (ramp gamma y - ramp gamma y') <= 2 * Rabs (y - y').
Proof.
  intros Hg. assert (Hdiv : Rabs ((1 - y / gamma) - (1 - y' / gamma)) <= 2 * Rabs (y - y')).
  { replace ((1 - y / gamma) - (1 - y' / gamma)) with (- (/ gamma) * (y - y')) by (field; lra).
    rewrite Rabs_mult, Rabs_Ropp, Rabs_pos_eq by (left; apply Rinv_0_lt_compat; lra).
    apply Rmult_le_compat_r. apply Rabs_pos. replace 2 with (/ (1 / 2)) by field. apply Rinv_le_contravar; lra. }
  eapply Rle_trans; [| apply Hdiv]. unfold ramp. set (x := 1 - y / gamma). set (x' := 1 - y' / gamma).
  unfold Rmax, Rmin, Rabs. repeat destruct Rle_dec; repeat destruct Rcase_abs; lra.
Qed.

Lemma ramp_right gamma : 0 < gamma -> ramp gamma gamma = 0.
Proof. intros. unfold ramp. replace (1 - gamma / gamma) with 0 by (field; lra). unfold Rmax, Rmin. repeat destruct Rle_dec; lra. Qed.

Lemma ramp_wrong gamma : 0 < gamma -> ramp gamma (- gamma) = 1.
Proof. intros. unfold ramp. replace (1 - - gamma / gamma) with 2 by (field; lra). unfold Rmax, Rmin. repeat destruct Rle_dec; lra. Qed.

Lemma half_le_tanh_1 : 1 / 2 <= tanh (2 / 2).
Proof.
  replace (2 / 2) with 1 by field. unfold tanh, sinh, cosh. rewrite exp_Ropp. pose proof (exp_ineq1_le 1). set (e := exp 1) in *.
  assert (0 < e) by lra. replace ((e - / e) / 2 / ((e + / e) / 2)) with ((e * e - 1) / (e * e + 1)) by (field; repeat split; nra).
  apply Rmult_le_reg_r with (e * e + 1). nra. unfold Rdiv at 2. rewrite Rmult_assoc, Rinv_l by nra. nra.
Qed.

(** ** The uniform distribution on [2m] points, and the pattern that fits the sample and nothing else *)
Section Refutation.
Variable m : nat.
Hypothesis m_pos : (0 < m)%nat.
Let N := (2 * m)%nat.
Let P : list (R * (nat * nat)) := map (fun j => (1 / INR N, (0, j)%nat)) (seq 0 N).
Let gamma := tanh (2 / 2).
Let loss (_ : nat * nat) (y : R) := ramp gamma y.
Let tokens := two_tokens 1 N.
Let class (W : matrix) := exists Omega, cube N Omega /\ W = pattern_matrix 1 N 2 Omega.

Lemma Ex_uniform {A B} p (g : A -> B) : forall l f, Ex (map (fun j => (p, g j)) l) f = p * sum_list l (fun j => f (g j)).
Proof. unfold Ex. induction l; intros f; simpl. ring. rewrite IHl. ring. Qed.

Lemma sum_list_one {A} (l : list A) : sum_list l (fun _ => 1) = INR (length l).
Proof. induction l. reflexivity. cbn [sum_list length]. rewrite S_INR, IHl. ring. Qed.

Lemma uniform_distribution : distribution P.
Proof.
  assert (HN : 0 < INR N) by (apply lt_0_INR; unfold N; lia). split.
  - intros p z H. unfold P in H. apply in_map_iff in H. destruct H as [j [E' _]]. inversion E'. left. apply Rdiv_lt_0_compat; lra.
  - unfold P. rewrite (Ex_uniform (1 / INR N) (fun j => (0, j)%nat)), sum_list_one, seq_length. field. lra.
Qed.

Lemma sample_point zs z : In zs (samples P m) -> In z zs -> exists j, z = (0, j)%nat /\ (j < N)%nat.
Proof.
  intros Hs Hz. destruct (samples_in P m zs z Hs Hz) as [p Hp]. unfold P in Hp. apply in_map_iff in Hp.
  destruct Hp as [j [E' Hj]]. inversion E'. exists j. apply in_seq in Hj. split; auto. lia.
Qed.

Let seen (zs : list (nat * nat)) (j : nat) : R := indicator (In (0, j)%nat zs).
Let fitted (zs : list (nat * nat)) : list R := map (fun j => 2 * seen zs j - 1) (seq 0 N).

Lemma seen_01 zs j : seen zs j = 1 /\ In (0, j)%nat zs \/ seen zs j = 0 /\ ~ In (0, j)%nat zs.
Proof. unfold seen, indicator. destruct decide; auto. Qed.

Lemma fitted_nth zs j : (j < N)%nat -> nth j (fitted zs) 0 = 2 * seen zs j - 1.
Proof.
  intros Hj. unfold fitted. set (f := fun j => 2 * seen zs j - 1).
  rewrite (nth_indep _ 0 (f 0%nat)) by (rewrite map_length, seq_length; auto). rewrite map_nth, seq_nth by auto. reflexivity.
Qed.

Lemma fitted_cube zs : cube N (fitted zs).
Proof.
  unfold fitted. generalize 0%nat. clear. induction N; intros s; simpl; auto. split; auto.
  destruct (seen_01 zs s) as [[-> _] | [-> _]]; [left | right]; lra.
Qed.

Lemma fitted_loss zs j : (j < N)%nat ->
  first_query_loss tokens two_values loss (pattern_matrix 1 N 2 (fitted zs)) (0, j)%nat = 1 - seen zs j.
Proof.
  intros Hj. assert (Hv : valid 1 N (0, j)%nat) by (split; simpl; lia).
  assert (Hn : nth (fst (0, j)%nat * N + snd (0, j)%nat) (fitted zs) 0 = 2 * seen zs j - 1) by (simpl; apply fitted_nth; auto).
  assert (HN : (0 < N)%nat) by (unfold N; lia).
  assert (Hg : 0 < gamma) by (pose proof half_le_tanh_1; unfold gamma; lra).
  unfold first_query_loss, loss. change (hd nil (tokens (0, j)%nat)) with (first_token 1 N (0, j)%nat).
  pose proof (pattern_output_sign 1 N 2 (fitted zs) (0, j)%nat Hv) as H. unfold pattern_output in H. unfold tokens. rewrite H, Hn.
  - fold gamma. destruct (seen_01 zs j) as [[-> _] | [-> _]].
    + replace ((2 * 1 - 1) * gamma) with gamma by ring. rewrite ramp_right by auto. ring.
    + replace ((2 * 0 - 1) * gamma) with (- gamma) by ring. rewrite ramp_wrong by auto. ring.
  - rewrite Hn. destruct (seen_01 zs j) as [[-> _] | [-> _]]; [left | right]; lra.
Qed.

Lemma sum_one_hot : forall (l : list nat) k, NoDup l -> sum_list l (fun j => indicator (j = k)) <= 1.
Proof.
  induction l as [| x l IH]; intros k Hl; simpl. lra. inversion Hl; subst. unfold indicator at 1. destruct decide as [-> | _].
  - assert (Hz : forall l', ~ In k l' -> sum_list l' (fun j => indicator (j = k)) = 0).
    { induction l'; simpl; intros Hk; auto. unfold indicator at 1. destruct decide as [-> | _]; [tauto |]. rewrite IHl' by tauto. ring. }
    rewrite Hz by auto. lra.
  - specialize (IH k H2). lra.
Qed.

Lemma seen_count : forall zs, sum_list (seq 0 N) (seen zs) <= INR (length zs).
Proof.
  induction zs as [| z zs IH].
  - right. transitivity (sum_list (seq 0 N) (fun _ => 0 * 1)).
    + f_equal. apply FunctionalExtensionality.functional_extensionality. intros j. destruct (seen_01 nil j) as [[_ []] | [-> _]]. ring.
    + rewrite sum_list_scal. simpl. ring.
  - cbn [length]. rewrite S_INR. apply Rle_trans with (sum_list (seq 0 N) (fun j => seen zs j + indicator (j = snd z))).
    + apply sum_list_le. intros j _. unfold seen, indicator. destruct (decide (In (0, j)%nat (z :: zs))) as [[Hz | Hz] |];
        destruct (decide (In (0, j)%nat zs)); destruct (decide (j = snd z)) as [| Hne]; try lra; try tauto.
      exfalso. apply Hne. rewrite Hz. reflexivity.
    + assert (Hplus : forall l (f g : nat -> R), sum_list l (fun j => f j + g j) = sum_list l f + sum_list l g).
      { induction l; intros; simpl. ring. rewrite IHl. ring. }
      rewrite Hplus. pose proof (sum_one_hot (seq 0 N) (snd z) (seq_NoDup N 0)). lra.
Qed.

(** For every sample, some weight matrix has empirical risk 0 and risk at least 1/2. *)
Theorem fitted_gap zs : In zs (samples P m) ->
  gap P (first_query_loss tokens two_values loss) zs (pattern_matrix 1 N 2 (fitted zs)) >= 1 / 2.
Proof.
  intros Hs. assert (Hm : 0 < INR m) by (apply lt_0_INR; auto).
  assert (HN : INR N = 2 * INR m) by (unfold N; rewrite mult_INR; simpl; ring).
  pose proof (samples_length P m zs Hs) as Hlen.
  set (F := first_query_loss tokens two_values loss (pattern_matrix 1 N 2 (fitted zs))).
  assert (Hemp : sum_list zs F = 0).
  { assert (Hz : forall z, In z zs -> F z = 0).
    { intros z Hz. destruct (sample_point zs z Hs Hz) as [j [-> Hj]]. unfold F. rewrite fitted_loss by auto.
      destruct (seen_01 zs j) as [[-> _] | [_ Hno]]. ring. contradiction. }
    clearbody F. clear - Hz. induction zs as [| z zs IH]; simpl; auto. rewrite (Hz z (or_introl eq_refl)), IH. ring. intros; apply Hz; right; auto. }
  assert (Hrisk : risk P (first_query_loss tokens two_values loss) (pattern_matrix 1 N 2 (fitted zs))
    = 1 / INR N * sum_list (seq 0 N) (fun j => 1 - seen zs j)).
  { unfold risk, P. rewrite (Ex_uniform (1 / INR N) (fun j => (0, j)%nat)). f_equal.
    assert (Hin : forall j, In j (seq 0 N) -> (j < N)%nat) by (intros j Hj; apply in_seq in Hj; lia).
    revert Hin. generalize (seq 0 N). intros l Hin. induction l; cbn [sum_list]; auto. f_equal. apply fitted_loss. apply Hin; left; auto.
    apply IHl. intros; apply Hin; right; auto. }
  unfold gap, empirical_risk. fold F. rewrite Hemp, Hrisk.
  replace (sum_list (seq 0 N) (fun j => 1 - seen zs j)) with (INR N - sum_list (seq 0 N) (seen zs)).
  2:{ assert (K : forall (l : list nat) f, sum_list l (fun j => 1 - f j) = INR (length l) - sum_list l f).
      { induction l; intros f. simpl; ring. cbn [sum_list length]. rewrite IHl, S_INR. ring. }
      rewrite K, seq_length. reflexivity. }
  pose proof (seen_count zs) as Hc. rewrite Hlen in Hc. apply Rle_ge. rewrite HN. unfold Rdiv at 3. rewrite Rmult_0_l, Rminus_0_r.
  apply Rmult_le_reg_l with (2 * INR m). lra.
  replace (2 * INR m * (1 / (2 * INR m) * (2 * INR m - sum_list (seq 0 N) (seen zs)))) with (2 * INR m - sum_list (seq 0 N) (seen zs)) by (field; lra).
  lra.
Qed.

Lemma refute C a delta : (1 < m)%nat -> C * Rpower (ln (INR m)) a * sqrt (1 / INR m) < 1 / 2 -> delta < 1 -> ~ naive_bound C a delta.
Proof.
  intros Hm1 Hrate Hd Hnaive.
  specialize (Hnaive (nat * nat)%type P tokens two_values loss class 1 m uniform_distribution Hm1).
  assert (H : Pr P m (fun zs => exists W, class W /\
    gap P (first_query_loss tokens two_values loss) zs W > C * Rpower (ln (INR m)) a * sqrt (1 / INR m)) <= delta).
  { apply Hnaive.
    - intros z y. apply ramp_range.
    - intros z y y'. apply ramp_lipschitz. apply half_le_tanh_1.
    - intros W [Omega [HO ->]] p z Hz. unfold P in Hz. apply in_map_iff in Hz. destruct Hz as [j [E' Hj]]. inversion E'; subst.
      apply in_seq in Hj. assert (HN : (0 < N)%nat) by (unfold N; lia).
      assert (Hv : valid 1 N (0, j)%nat) by (split; simpl; lia).
      pose proof (pattern_attention_rank_one 1 N 2 Omega (0, j)%nat Hv) as Hst. fold tokens in Hst.
      set (A := attention_matrix (pattern_matrix 1 N 2 Omega) (tokens (0, j)%nat)) in *.
      pose proof (spectral_norm_nonneg A) as Hs. destruct Hs as [Hs | Hs].
      + apply stable_rank_at_most_spec; auto. rewrite Hst. lra.
      + exfalso. unfold stable_rank in Hst. rewrite <- Hs in Hst. unfold Rdiv in Hst.
        replace (0^2) with 0 in Hst by ring. rewrite Rinv_0, Rmult_0_r in Hst. lra. }
  destruct uniform_distribution as [Pnn Pone]. rewrite (Pr_certain P Pnn Pone) in H. lra.
  intros zs Hzs. exists (pattern_matrix 1 N 2 (fitted zs)). split. exists (fitted zs). split; auto. apply fitted_cube.
  pose proof (fitted_gap zs Hzs). lra.
Qed.
End Refutation.

(** Proposition N2: the naive bound fails for every constant, every power of the logarithm, every confidence. *)
Theorem naive_bound_false : forall C a delta, delta < 1 -> ~ naive_bound C a delta.
Proof.
  intros C a delta Hd. destruct (rate_vanishes C a) as [m [Hm Hrate]]. apply (refute m ltac:(lia) C a delta); auto.
Qed.
