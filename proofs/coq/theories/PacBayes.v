(** * PAC-Bayes bounds (Lemma 16, Theorems E, E-single, E-split, E-monte-carlo)

A family of priors with weights of sum at most 1 is fixed before the sample; losses are in [[0, 1]].  With
probability at least [1 - delta], for every prior of the family and every posterior at once,
[gibbs risk <= kl_inverse (gibbs empirical risk, (KL + ln (1/w) + ln (K/delta)) / m)], for any [K >= xi m], for
instance [2 + sqrt (PI m / 2)].  Models form any space; priors are laws, Gaussians among them. *)
From Coquelicot Require Import Coquelicot.
From Coq Require Import Reals List Lra Psatz Lia Classical.
From Attention Require Import SignAverages Expectation Probability Risk SoftmaxHead ChernoffHoeffding Occam PriorMoment Law.
Import ListNotations.
Open Scope R_scope.

(** ** The inverse of the relative entropy, from above *)
Lemma beyond_kl_inverse q c p : 0 <= q <= 1 -> p <= 1 -> kl_inverse q c < p -> q < p /\ (p = 1 \/ c < kl q p).
Proof.
  intros Hq Hp Hlt. destruct (kl_inverse_lub q c Hq) as [Hub _].
  assert (Hqi : q <= kl_inverse q c) by (apply (Hub q); split; [lra | left; auto]).
  split. lra. destruct (Req_dec p 1) as [H1 | H1]; [left; auto | right].
  apply Rnot_le_lt. intros Hk. assert (p <= kl_inverse q c) by (apply (Hub p); split; [lra | right; split; lra]). lra.
Qed.

Lemma kl_inverse_range q c : 0 <= q <= 1 -> q <= kl_inverse q c <= 1.
Proof.
  intros Hq. destruct (kl_inverse_lub q c Hq) as [Hub Hleast]. split. apply (Hub q). split; [lra | left; auto].
  apply (Hleast 1). intros p [Hp _]. simpl. lra.
Qed.

Lemma slope_le a b : 0 < a -> a <= b -> b < 1 -> ln (a / b) <= ln ((1 - a) / (1 - b)).
Proof.
  intros Ha Hab Hb. assert (K1 : ln (a / b) <= 0). { rewrite ln_div by lra. destruct Hab as [L | ->]; [apply ln_increasing in L; lra | lra]. }
  assert (K2 : 0 <= ln ((1 - a) / (1 - b))). { rewrite ln_div by lra. destruct Hab as [L | ->]; [| lra]. assert (E : 1 - b < 1 - a) by lra. apply ln_increasing in E; lra. }
  lra.
Qed.

Lemma tangent_decreasing a b q q' p : 0 < a -> a <= b -> b < 1 -> q <= q' -> tangent a b q' p <= tangent a b q p.
Proof. intros Ha Hab Hb Hq. pose proof (slope_le a b Ha Hab Hb). unfold tangent. nra. Qed.

(** A strict lower bound of [kl(q || p)] is one of a tangent plane too; [kl(q || 1)] is infinite. *)
Lemma separating q p c : 0 <= q < p -> p <= 1 -> p = 1 \/ c < kl q p ->
  exists a b, 0 < a < 1 /\ 0 < b < 1 /\ a <= b /\ c < tangent a b q p.
Proof.
  intros Hq Hp Hc. destruct (Req_dec p 1) as [-> | H1].
  - set (T := (Rmax c 0 + ln 2 + 1) / (1 - q)). assert (Hl2 : 0 < ln 2) by (rewrite <- ln_1; apply ln_increasing; lra).
    assert (Hm : 0 <= Rmax c 0) by apply Rmax_r. assert (HT : 0 <= T) by (unfold T; apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; lra]).
    assert (He : 0 < exp (- T) <= 1). { split. apply exp_pos. rewrite <- exp_0. destruct HT as [HT | <-]; [left; apply exp_increasing; lra | rewrite Ropp_0; lra]. }
    set (b := 1 - exp (- T) / 2). exists (1 / 2), b. assert (Hb : 1 / 2 <= b < 1) by (unfold b; lra).
    repeat split; try lra. apply Rle_lt_trans with (Rmax c 0). apply Rmax_l.
    unfold tangent. replace ((1 - 1 / 2) / (1 - b)) with (exp T).
    2:{ unfold b. replace (1 - (1 - exp (- T) / 2)) with (exp (- T) / 2) by ring. rewrite exp_Ropp. field. apply Rgt_not_eq, exp_pos. }
    rewrite ln_exp. assert (L : - ln 2 <= ln (1 / 2 / b)).
    { rewrite <- ln_Rinv by lra. assert (K : / 2 <= 1 / 2 / b). { replace (/ 2) with (1 / 2 * / 1) by field. apply Rmult_le_compat_l; [lra |]. apply Rinv_le_contravar; lra. }
      destruct K as [K | <-]; [left; apply ln_increasing; lra | lra]. }
    assert (B : 1 / 2 / b <= 1). { apply Rmult_le_reg_r with b. lra. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
    assert (E : (1 - q) * T = Rmax c 0 + ln 2 + 1) by (unfold T; field; lra). nra.
  - destruct Hc as [Hc | Hc]; [contradiction |]. destruct (Req_dec q 0) as [-> | H0].
    + rewrite kl_zero in Hc by lra. set (k := - ln (1 - p)) in *. set (t := (Rmax c 0 + k) / 2).
      assert (Hk : 0 < k). { unfold k. rewrite <- ln_Rinv by lra. rewrite <- ln_1. apply ln_increasing. lra. rewrite <- Rinv_1. apply Rinv_lt_contravar; lra. }
      assert (Ht : Rmax c 0 < t < k) by (unfold t, Rmax in *; destruct Rle_dec; lra). assert (Hm : 0 <= Rmax c 0) by apply Rmax_r.
      assert (Ek : exp k = / (1 - p)) by (unfold k; rewrite exp_Ropp, exp_ln by lra; reflexivity).
      assert (Et : 1 < exp t < / (1 - p)). { rewrite <- Ek, <- exp_0. split; apply exp_increasing; lra. }
      set (a := 1 - (1 - p) * exp t). assert (Ha : 0 < a < p).
      { unfold a. assert ((1 - p) * exp t < 1). { apply Rmult_lt_reg_l with (/ (1 - p)). apply Rinv_0_lt_compat; lra. rewrite <- Rmult_assoc, Rinv_l; lra. }
        assert ((1 - p) * 1 < (1 - p) * exp t) by (apply Rmult_lt_compat_l; lra). lra. }
      exists a, p. repeat split; try lra. apply Rle_lt_trans with (Rmax c 0). apply Rmax_l.
      unfold tangent. replace ((1 - a) / (1 - p)) with (exp t) by (unfold a; field; lra). rewrite ln_exp.
      replace (1 - p * (a / p) - (1 - p) * exp t) with 0 by (unfold a; field; lra). lra.
    + exists q, p. repeat split; try lra. rewrite tangent_touches; lra.
Qed.

Lemma kl_inverse_mono q q' c : 0 <= q <= q' -> q' <= 1 -> kl_inverse q c <= kl_inverse q' c.
Proof.
  intros Hq Hq'. destruct (kl_inverse_lub q c ltac:(lra)) as [_ Hleast]. apply (Hleast (kl_inverse q' c)).
  pose proof (kl_inverse_range q' c ltac:(lra)) as R. intros p [Hp [-> | [Hp1 Hkl]]]; simpl. lra.
  apply Rnot_lt_le. intros Hlt. destruct (beyond_kl_inverse q' c p ltac:(lra) ltac:(lra) Hlt) as [H1 [H2 | H2]]. lra.
  destruct (separating q' p c ltac:(lra) ltac:(lra) (or_intror H2)) as [a [b [Ha [Hb [Hab K]]]]].
  pose proof (tangent_decreasing a b q q' p ltac:(lra) Hab ltac:(lra) ltac:(lra)) as D.
  pose proof (kl_tangent a b q p Ha Hb ltac:(lra) ltac:(lra)). lra.
Qed.

(** ** One sample *)
Section PacBayes.
Context {Z H N : Type} (P : list (R * Z)) (F : H -> Z -> R).
Hypothesis HP : distribution P.
Hypothesis F_range : forall h z, 0 <= F h z <= 1.
Variable m : nat.
Hypothesis Hm : (0 < m)%nat.
Let Pnn := proj1 HP. Let Pone := proj2 HP.

Definition kl_moment (zs : list Z) (h : H) : R := exp (INR m * kl (empirical_risk F zs h) (risk P F h)).
Definition measurable (mu : law H) : Prop := forall zs, length zs = m -> integrable mu (kl_moment zs).
(** A posterior with finite relative entropy, against which losses can be averaged. *)
Definition posterior (mu : law H) (rho : H -> R) : Prop :=
  density mu rho /\ integrable mu (fun h => rho h * ln (rho h)) /\ forall z, integrable mu (fun h => rho h * F h z).
Definition gibbs_risk (mu : law H) (rho : H -> R) : R := posterior_mean mu rho (risk P F).
Definition gibbs_empirical (mu : law H) (rho : H -> R) (zs : list Z) : R := posterior_mean mu rho (empirical_risk F zs).

Lemma INR_m : 0 < INR m. Proof. apply lt_0_INR. exact Hm. Qed.

Lemma tangent_below a b zs h : 0 < a < 1 -> 0 < b < 1 -> length zs = m -> Forall (positive P) zs ->
  tangent a b (empirical_risk F zs h) (risk P F h) <= kl (empirical_risk F zs h) (risk P F h).
Proof.
  intros Ha Hb Hl Hzs. pose proof (risk_range P F h HP (F_range h)) as Hr. pose proof INR_m as Hm'.
  pose proof (empirical_range F h zs ltac:(lia) (F_range h)) as He.
  assert (Log : forall x, 0 < x -> ln x + (1 - x) <= 0). { intros x Hx. pose proof (exp_ineq1_le (ln x)) as K. rewrite exp_ln in K by auto. lra. }
  destruct (Req_dec (risk P F h) 0) as [H0 | H0].
  { assert (E : empirical_risk F zs h = 0) by (unfold empirical_risk; rewrite (risk_zero P HP (F h) (F_range h) zs H0 Hzs); unfold Rdiv; ring).
    rewrite E, H0. unfold tangent, kl. replace ((1 - 0) / (1 - 0)) with 1 by field. rewrite ln_1.
    pose proof (Log ((1 - a) / (1 - b)) ltac:(apply Rdiv_lt_0_compat; lra)). lra. }
  destruct (Req_dec (risk P F h) 1) as [H1 | H1].
  { assert (E : empirical_risk F zs h = 1) by (unfold empirical_risk; rewrite (risk_one P HP (F h) (F_range h) zs H1 Hzs), Hl; field; lra).
    rewrite E, H1. unfold tangent, kl. replace (1 / 1) with 1 by field. rewrite ln_1.
    pose proof (Log (a / b) ltac:(apply Rdiv_lt_0_compat; lra)). lra. }
  apply kl_tangent; auto; lra.
Qed.

Lemma posterior_averages mu rho zs : posterior mu rho ->
  integrable mu (fun h => rho h * risk P F h) /\ integrable mu (fun h => rho h * empirical_risk F zs h).
Proof.
  intros [_ [_ HF]]. split.
  - destruct (mean_Ex mu P (fun h z => rho h * F h z) HF) as [I _].
    assert (E : (fun h => rho h * risk P F h) = (fun h => Ex P (fun z => rho h * F h z))); [| rewrite E; exact I].
    apply FunctionalExtensionality.functional_extensionality. intros h. unfold risk. rewrite Ex_scal. reflexivity.
  - destruct (mean_sum_list mu zs (fun h z => rho h * F h z) HF) as [I _].
    assert (E : (fun h => rho h * empirical_risk F zs h) = (fun h => / INR (length zs) * sum_list zs (fun z => rho h * F h z))).
    + apply FunctionalExtensionality.functional_extensionality. intros h. unfold empirical_risk. rewrite sum_list_scal. unfold Rdiv. ring.
    + rewrite E. apply integrable_scal. exact I.
Qed.

Lemma gibbs_range mu rho zs : posterior mu rho -> length zs = m ->
  0 <= gibbs_risk mu rho <= 1 /\ 0 <= gibbs_empirical mu rho zs <= 1.
Proof.
  intros HQ Hl. pose proof (posterior_averages mu rho zs HQ) as [I1 I2]. destruct HQ as [[Hpos [Hrho Hone]] _].
  assert (K : forall f, integrable mu (fun h => rho h * f h) -> (forall h, 0 <= f h <= 1) -> 0 <= posterior_mean mu rho f <= 1).
  { intros f If Hf. unfold posterior_mean. split.
    - apply mean_nonneg; auto. intros h. apply Rmult_le_pos; [apply Hpos | apply Hf].
    - rewrite <- Hone. apply mean_le; auto. intros h. pose proof (Hpos h). pose proof (Hf h). nra. }
  split; apply K; auto; intros h. apply risk_range; auto. apply empirical_range; auto. lia.
Qed.

Lemma posterior_tangent mu rho zs a b : posterior mu rho ->
  integrable mu (fun h => rho h * (INR m * tangent a b (empirical_risk F zs h) (risk P F h))) /\
  posterior_mean mu rho (fun h => INR m * tangent a b (empirical_risk F zs h) (risk P F h))
  = INR m * tangent a b (gibbs_empirical mu rho zs) (gibbs_risk mu rho).
Proof.
  intros HQ. pose proof (posterior_averages mu rho zs HQ) as [I1 I2]. destruct HQ as [[Hpos [Hrho Hone]] _].
  set (u := INR m * (ln (a / b) - ln ((1 - a) / (1 - b)))). set (v := INR m * ((1 - a) / (1 - b) - a / b)).
  set (c := INR m * (ln ((1 - a) / (1 - b)) + 1 - (1 - a) / (1 - b))).
  assert (E : (fun h => rho h * (INR m * tangent a b (empirical_risk F zs h) (risk P F h)))
    = (fun h => (u * (rho h * empirical_risk F zs h) + v * (rho h * risk P F h)) + c * rho h)).
  { apply FunctionalExtensionality.functional_extensionality. intros h. unfold tangent, u, v, c. ring. }
  pose proof (integrable_scal mu u _ I2) as J2. pose proof (integrable_scal mu v _ I1) as J1. pose proof (integrable_scal mu c _ Hrho) as J.
  pose proof (integrable_plus mu _ _ J2 J1) as J12. unfold posterior_mean. rewrite E. split. apply (integrable_plus mu _ _ J12 J).
  rewrite (mean_plus mu _ _ J12 J), (mean_plus mu _ _ J2 J1), !mean_scal, Hone by auto.
  change (mean mu (fun h => rho h * empirical_risk F zs h)) with (gibbs_empirical mu rho zs).
  change (mean mu (fun h => rho h * risk P F h)) with (gibbs_risk mu rho).
  unfold tangent, u, v, c. ring.
Qed.

(** On a sample whose prior moment is at most [lambda], the bound holds for every posterior. *)
Lemma gibbs_bound mu rho zs lambda : measurable mu -> posterior mu rho -> length zs = m -> Forall (positive P) zs ->
  0 < lambda -> mean mu (kl_moment zs) <= lambda ->
  gibbs_risk mu rho <= kl_inverse (gibbs_empirical mu rho zs) ((relative_entropy mu rho + ln lambda) / INR m).
Proof.
  intros Hmu HQ Hl Hzs Hlam Hmean. pose proof INR_m as Hm'. pose proof (gibbs_range mu rho zs HQ Hl) as [Hr He].
  apply Rnot_lt_le. intros Hlt. destruct (beyond_kl_inverse _ _ _ He (proj2 Hr) Hlt) as [Hqp Hc].
  destruct (separating _ _ _ (conj (proj1 He) Hqp) (proj2 Hr) Hc) as [a [b [Ha [Hb [_ K]]]]].
  pose proof (posterior_tangent mu rho zs a b HQ) as [I E].
  pose proof (change_of_measure mu rho _ (kl_moment zs) lambda (proj1 HQ) (proj1 (proj2 HQ)) I (Hmu zs Hl)) as D.
  assert (Hexp : forall h, exp (INR m * tangent a b (empirical_risk F zs h) (risk P F h)) <= kl_moment zs h).
  { intros h. pose proof (tangent_below a b zs h Ha Hb Hl Hzs) as T. unfold kl_moment.
    apply (Rmult_le_compat_l (INR m)) in T; [| lra]. destruct T as [T | ->]; [left; apply exp_increasing; auto | lra]. }
  specialize (D Hexp Hlam Hmean). rewrite E in D.
  apply (Rmult_lt_compat_l (INR m)) in K; auto. unfold Rdiv in K. rewrite Rmult_comm, Rmult_assoc, Rinv_l, Rmult_1_r in K; lra.
Qed.

Lemma moment_mean mu : measurable mu -> Em P m (fun zs => mean mu (kl_moment zs)) <= xi m.
Proof.
  intros Hmu. destruct (mean_Em mu P m (fun h zs => kl_moment zs h) Hmu) as [I E].
  apply Rle_trans with (mean mu (fun h => Em P m (fun zs => kl_moment zs h))). right; symmetry; exact E. clear E.
  rewrite <- (mean_const mu (xi m)). apply mean_le; auto. apply integrable_const. intros h.
  rewrite (Em_ext P m _ (fun zs => exp (INR m * kl (sum_list zs (F h) / INR m) (Ex P (F h))))).
  - apply maurer_moment; auto.
  - intros zs Hl. unfold kl_moment, empirical_risk, risk. rewrite Hl. reflexivity.
Qed.

Lemma moment_nonneg mu zs : measurable mu -> length zs = m -> 0 <= mean mu (kl_moment zs).
Proof. intros Hmu Hl. apply mean_nonneg; auto. intros h. left; apply exp_pos. Qed.

(** Events that need a sample of positive points only. *)
Lemma Pr_positive k (A B : list Z -> Prop) : (forall zs, length zs = k -> Forall (positive P) zs -> A zs -> B zs) -> Pr P k A <= Pr P k B.
Proof.
  intros HAB. unfold Pr. apply (Em_le_positive P HP). intros zs Hl Hzs. unfold indicator. specialize (HAB zs Hl Hzs).
  destruct (decide (A zs)), (decide (B zs)); try lra. tauto.
Qed.

(** ** Theorem E *)
Variable prior : N -> law H.
Variable w : N -> R.
Variables K delta : R.
Hypothesis Hprior : forall n, measurable (prior n).
Hypothesis w_pos : forall n, 0 < w n.
Hypothesis w_sum : forall l, NoDup l -> sum_list l w <= 1.
Hypothesis HK : xi m <= K.
Hypothesis Hdelta : 0 < delta < 1.

Lemma K_pos : 0 < K. Proof. pose proof (xi_ge_1 m Hm). lra. Qed.

Lemma price n : ln (K / (delta * w n)) = ln (1 / w n) + ln (K / delta).
Proof.
  pose proof K_pos. pose proof (w_pos n). rewrite !ln_div, ln_mult, ln_1; try lra. apply Rmult_lt_0_compat; lra.
Qed.

(** Theorem E: all priors of the family, all posteriors, at once. *)
Theorem gibbs_grid_bound :
  Pr P m (fun zs => exists n rho, posterior (prior n) rho /\
    gibbs_risk (prior n) rho > kl_inverse (gibbs_empirical (prior n) rho zs)
      ((relative_entropy (prior n) rho + ln (1 / w n) + ln (K / delta)) / INR m)) <= delta.
Proof.
  pose proof K_pos as HK0. set (A := fun n zs => K / (delta * w n) < mean (prior n) (kl_moment zs)).
  apply Rle_trans with (Pr P m (fun zs => exists n, A n zs)).
  - apply Pr_positive. intros zs Hl Hzs [n [rho [HQ Hbad]]]. exists n. unfold A. apply Rnot_le_lt. intros Hle.
    assert (Hlam : 0 < K / (delta * w n)). { apply Rdiv_lt_0_compat; auto. apply Rmult_lt_0_compat; [lra | apply w_pos]. }
    pose proof (gibbs_bound (prior n) rho zs _ (Hprior n) HQ Hl Hzs Hlam Hle) as G. rewrite price, <- Rplus_assoc in G. lra.
  - apply (Pr_union P Pnn Pone m A w delta); auto. lra. intros n. pose proof (w_pos n) as Hw.
    assert (Hd : 0 < delta * w n) by (apply Rmult_lt_0_compat; lra).
    unfold Pr. apply Rle_trans with (Em P m (fun zs => delta * w n / K * mean (prior n) (kl_moment zs))).
    + apply Em_le; auto. intros zs Hl. pose proof (moment_nonneg (prior n) zs (Hprior n) Hl) as Hnn.
      assert (Hc : 0 < delta * w n / K) by (apply Rdiv_lt_0_compat; auto). unfold indicator, A. destruct decide as [Hlt | _].
      * apply (Rmult_lt_compat_l (delta * w n / K)) in Hlt; auto. replace (delta * w n / K * (K / (delta * w n))) with 1 in Hlt; [lra |]. field. lra.
      * apply Rmult_le_pos; lra.
    + rewrite Em_scal. pose proof (moment_mean (prior n) (Hprior n)) as M.
      replace (delta * w n) with (delta * w n / K * K) at 2 by (field; lra). apply Rmult_le_compat_l; [left; apply Rdiv_lt_0_compat; auto | lra].
Qed.

(** ** Theorem E-single: one model, drawn once from the posterior *)
Variable chosen : list Z -> N.
Variable rho : list Z -> H -> R.
Hypothesis Hrho : forall zs, length zs = m -> density (prior (chosen zs)) (rho zs).

Definition drawn_bad (zs : list Z) (h : H) : Prop :=
  risk P F h > kl_inverse (empirical_risk F zs h)
    (Rmax 0 (ln (rho zs h) + ln (1 / w (chosen zs)) + ln (K / delta)) / INR m).
Hypothesis Hdrawn : forall zs, length zs = m ->
  integrable (prior (chosen zs)) (fun h => rho zs h * indicator (drawn_bad zs h)).

Lemma drawn_pointwise zs h : length zs = m -> Forall (positive P) zs ->
  rho zs h * indicator (drawn_bad zs h) <= delta * w (chosen zs) / K * kl_moment zs h.
Proof.
  intros Hl Hzs. pose proof K_pos as HK0. pose proof (w_pos (chosen zs)) as Hw. pose proof INR_m as Hm'.
  assert (Hc : 0 < delta * w (chosen zs) / K). { apply Rdiv_lt_0_compat; auto. apply Rmult_lt_0_compat; lra. }
  assert (Hkm : 0 < kl_moment zs h) by apply exp_pos.
  assert (H0 : 0 <= delta * w (chosen zs) / K * kl_moment zs h) by (apply Rmult_le_pos; lra).
  unfold indicator. destruct decide as [Hbad | _]; [| lra].
  destruct (proj1 (Hrho zs Hl) h) as [Hr | <-]; [| lra]. rewrite Rmult_1_r.
  pose proof (risk_range P F h HP (F_range h)) as Hrr. pose proof (empirical_range F h zs ltac:(lia) (F_range h)) as He.
  destruct (beyond_kl_inverse _ _ _ He (proj2 Hrr) Hbad) as [Hqp [H1 | Hk]].
  { exfalso. assert (E : empirical_risk F zs h = 1) by (unfold empirical_risk; rewrite (risk_one P HP (F h) (F_range h) zs H1 Hzs), Hl; field; lra). lra. }
  pose proof (Rmax_r 0 (ln (rho zs h) + ln (1 / w (chosen zs)) + ln (K / delta))) as Mx.
  apply (Rmult_lt_compat_l (INR m)) in Hk; auto. unfold Rdiv at 1 in Hk. rewrite (Rmult_comm (Rmax _ _)), <- Rmult_assoc, Rinv_r, Rmult_1_l in Hk by lra.
  assert (Hlt : ln (rho zs h) + ln (K / (delta * w (chosen zs))) < INR m * kl (empirical_risk F zs h) (risk P F h)) by (rewrite price; lra).
  apply exp_increasing in Hlt. rewrite exp_plus, !exp_ln in Hlt; auto. 2:{ apply Rdiv_lt_0_compat; auto. apply Rmult_lt_0_compat; lra. }
  unfold kl_moment. apply (Rmult_lt_compat_l (delta * w (chosen zs) / K)) in Hlt; auto.
  replace (delta * w (chosen zs) / K * (rho zs h * (K / (delta * w (chosen zs))))) with (rho zs h) in Hlt; [lra |]. field. lra.
Qed.

Lemma positive_samples k : forall zs, length zs = k -> Forall (positive P) zs -> In zs (samples P k).
Proof.
  induction k; intros zs Hl Hzs; destruct zs as [| z zs]; try discriminate. left; auto.
  inversion Hzs as [| ? ? [p [_ Hin]] Hrest]; subst. apply (samples_cons P k p); auto.
Qed.

(** Theorem E-single: probability over the sample and the draw. *)
Theorem drawn_model_bound :
  Em P m (fun zs => posterior_mean (prior (chosen zs)) (rho zs) (fun h => indicator (drawn_bad zs h))) <= delta.
Proof.
  pose proof K_pos as HK0. set (l := nodup (fun a b => decide (a = b)) (map chosen (samples P m))).
  apply Rle_trans with (Em P m (fun zs => delta / K * sum_list l (fun n => w n * mean (prior n) (kl_moment zs)))).
  - apply (Em_le_positive P HP). intros zs Hl Hzs. unfold posterior_mean.
    pose proof (integrable_scal (prior (chosen zs)) (delta * w (chosen zs) / K) _ (Hprior (chosen zs) zs Hl)) as I.
    eapply Rle_trans. apply (mean_le _ _ _ (Hdrawn zs Hl) I). intros h. apply drawn_pointwise; auto.
    rewrite mean_scal by (apply Hprior; auto).
    replace (delta * w (chosen zs) / K * mean (prior (chosen zs)) (kl_moment zs))
      with (delta / K * (w (chosen zs) * mean (prior (chosen zs)) (kl_moment zs))) by (field; lra).
    apply Rmult_le_compat_l. left; apply Rdiv_lt_0_compat; lra.
    assert (Hin : In (chosen zs) l). { apply nodup_In. apply in_map. apply positive_samples; auto. }
    assert (Hnn : forall n, 0 <= w n * mean (prior n) (kl_moment zs)). { intros n. apply Rmult_le_pos. left; apply w_pos. apply moment_nonneg; auto. }
    clear - Hin Hnn. induction l as [| n l IH]; cbn [sum_list]. destruct Hin.
    assert (0 <= sum_list l (fun n => w n * mean (prior n) (kl_moment zs))).
    { clear - Hnn. induction l as [| n l IH]; cbn [sum_list]. lra. pose proof (Hnn n). lra. }
    pose proof (Hnn n). destruct Hin as [-> | Hin]. lra. specialize (IH Hin). lra.
  - rewrite Em_scal. assert (E : Em P m (fun zs => sum_list l (fun n => w n * mean (prior n) (kl_moment zs)))
      = sum_list l (fun n => w n * Em P m (fun zs => mean (prior n) (kl_moment zs)))).
    { clear - Pone. induction l as [| n l IH]; cbn [sum_list]. apply Em_const; auto. rewrite Em_plus, Em_scal, IH. reflexivity. }
    rewrite E. apply Rle_trans with (delta / K * (K * sum_list l w)).
    + apply Rmult_le_compat_l. left; apply Rdiv_lt_0_compat; lra. rewrite <- sum_list_scal. apply sum_list_le. intros n _.
      rewrite (Rmult_comm K). apply Rmult_le_compat_l. left; apply w_pos. pose proof (moment_mean (prior n) (Hprior n)). lra.
    + assert (S : sum_list l w <= 1) by (apply w_sum, NoDup_nodup). replace (delta / K * (K * sum_list l w)) with (delta * sum_list l w) by (field; lra).
      rewrite <- (Rmult_1_r delta) at 2. apply Rmult_le_compat_l; lra.
Qed.
End PacBayes.
