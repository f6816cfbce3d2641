(** * Gaussian noise on weights: relative entropy and stable rank (Lemma 17, Theorem E-rank)

The prior adds Gaussian noise of level [s] to each weight of the anchors, the posterior to each trained weight.
What is used of Gaussians is the ratio of their densities and the posterior's mean; both are hypotheses on
the law. The relative entropy is then [sum_a ‖D_a‖_F^2 / (2 s_a^2)], [D_a] the update of matrix [a]. *)
From Coquelicot Require Import Coquelicot.
From Coq Require Import Reals List Lra Psatz Lia.
From Attention Require Import SignAverages VectorContraction Expectation Probability Risk LinearScores Matrices SoftmaxHead
  ChernoffHoeffding PriorMoment Law PacBayes GibbsBounds.
Import ListNotations.
Open Scope R_scope.

(** One noisy matrix: what training added to the anchor, the noise level, and the deviations of a drawn model's entries
    from the anchor, one function for each entry. *)
Record noisy_matrix (H : Type) := { update : matrix; level : R; deviations : list (H -> R) }.
Arguments update {H}. Arguments level {H}. Arguments deviations {H}.

Definition entries (D : matrix) : list R := concat D.

(** [ln] of the ratio of the two Gaussian densities, [(y^2 - (y - d)^2) / (2 s^2)] for each entry. *)
Fixpoint log_ratio {H} (s : R) (d : list R) (ys : list (H -> R)) (h : H) : R :=
  match d, ys with
  | e :: d, y :: ys => ((y h)^2 - (y h - e)^2) / (2 * s^2) + log_ratio s d ys h
  | _, _ => 0
  end.

Section Entropy.
Context {H : Type} (mu : law H) (rho : H -> R).
Hypothesis Hrho : density mu rho.

(** The posterior's mean of every entry is the trained one. *)
Fixpoint centred_on (d : list R) (ys : list (H -> R)) : Prop :=
  match d, ys with
  | e :: d, y :: ys => integrable mu (fun h => rho h * y h) /\ posterior_mean mu rho y = e /\ centred_on d ys
  | nil, nil => True
  | _, _ => False
  end.

Definition gaussian_posterior (ms : list (noisy_matrix H)) : Prop :=
  (forall h, rho h = exp (sum_list ms (fun a => log_ratio (level a) (entries (update a)) (deviations a) h))) /\
  forall a, In a ms -> 0 < level a /\ centred_on (entries (update a)) (deviations a).

Lemma log_ratio_mean s : 0 < s -> forall d ys, centred_on d ys ->
  integrable mu (fun h => rho h * log_ratio s d ys h) /\
  mean mu (fun h => rho h * log_ratio s d ys h) = norm_sq d / (2 * s^2).
Proof.
  intros Hs. destruct Hrho as [Hpos [Irho Hone]]. assert (Hs2 : 0 < s^2) by (apply pow_lt; auto).
  induction d as [| e d IH]; intros [| y ys] Hc; cbn [centred_on] in Hc; try contradiction; cbn [log_ratio norm_sq].
  - assert (E : (fun h => rho h * 0) = (fun _ => 0)) by (apply FunctionalExtensionality.functional_extensionality; intros; ring).
    rewrite E. split. apply integrable_const. rewrite mean_const. field. lra.
  - destruct Hc as [Iy [Hy Hc]]. destruct (IH ys Hc) as [I M].
    assert (E : (fun h => rho h * (((y h)^2 - (y h - e)^2) / (2 * s^2) + log_ratio s d ys h))
      = (fun h => (e / s^2 * (rho h * y h) + - (e^2 / (2 * s^2)) * rho h) + rho h * log_ratio s d ys h)).
    { apply FunctionalExtensionality.functional_extensionality; intros h. field. lra. }
    pose proof (integrable_scal mu (e / s^2) _ Iy) as J1. pose proof (integrable_scal mu (- (e^2 / (2 * s^2))) _ Irho) as J2.
    pose proof (integrable_plus mu _ _ J1 J2) as J. rewrite E. split. apply (integrable_plus mu _ _ J I).
    rewrite (mean_plus mu _ _ J I), (mean_plus mu _ _ J1 J2), !mean_scal, M, Hone by auto.
    unfold posterior_mean in Hy. rewrite Hy. simpl. field. lra.
Qed.

Lemma frobenius_entries D : frobenius_sq D = norm_sq (entries D).
Proof.
  unfold entries. induction D as [| r D IH]; cbn [frobenius_sq concat]; auto. rewrite IH. clear.
  induction r as [| x r IH]; cbn [app norm_sq]. ring. rewrite <- IH. ring.
Qed.

(** Lemma 17 for several matrices: the relative entropy of the posterior and the prior of equal noise levels. *)
Theorem gaussian_relative_entropy ms : gaussian_posterior ms ->
  integrable mu (fun h => rho h * ln (rho h)) /\
  relative_entropy mu rho = sum_list ms (fun a => frobenius_sq (update a) / (2 * (level a)^2)).
Proof.
  intros [Hexp Hms]. assert (E : (fun h => rho h * ln (rho h)) = (fun h => rho h * sum_list ms (fun a => log_ratio (level a) (entries (update a)) (deviations a) h))).
  { apply FunctionalExtensionality.functional_extensionality; intros h. rewrite Hexp at 2. rewrite ln_exp. reflexivity. }
  unfold relative_entropy. rewrite E. clear E Hexp. induction ms as [| a ms IH]; cbn [sum_list].
  - assert (E : (fun h => rho h * 0) = (fun _ => 0)) by (apply FunctionalExtensionality.functional_extensionality; intros; ring).
    rewrite E. split. apply integrable_const. apply mean_const.
  - destruct (IH (fun b Hb => Hms b (or_intror Hb))) as [I M]. destruct (Hms a (or_introl eq_refl)) as [Hs Hc].
    destruct (log_ratio_mean (level a) Hs _ _ Hc) as [I1 M1].
    assert (E : (fun h => rho h * (log_ratio (level a) (entries (update a)) (deviations a) h
        + sum_list ms (fun a => log_ratio (level a) (entries (update a)) (deviations a) h)))
      = (fun h => rho h * log_ratio (level a) (entries (update a)) (deviations a) h
        + rho h * sum_list ms (fun a => log_ratio (level a) (entries (update a)) (deviations a) h)))
      by (apply FunctionalExtensionality.functional_extensionality; intros; ring).
    rewrite E. split. apply (integrable_plus mu _ _ I1 I). rewrite (mean_plus mu _ _ I1 I), M1, M, frobenius_entries. reflexivity.
Qed.

(** Noise of relative level at least [tau] on updates of stable rank at most [r]. *)
Lemma entropy_by_rank ms tau r : gaussian_posterior ms -> 0 < tau -> 0 <= r ->
  (forall a, In a ms -> stable_rank_at_most r (update a) /\ tau * spectral_norm (update a) <= level a) ->
  relative_entropy mu rho <= INR (length ms) * r / (2 * tau^2).
Proof.
  intros HG Htau Hr Hms. destruct (gaussian_relative_entropy ms HG) as [_ ->]. destruct HG as [_ Hlev].
  assert (Ht : 0 < 2 * tau^2) by (apply Rmult_lt_0_compat; [lra | apply pow_lt; auto]).
  induction ms as [| a ms IH]; cbn [sum_list length]. simpl. unfold Rdiv. lra.
  specialize (IH (fun b Hb => Hlev b (or_intror Hb)) (fun b Hb => Hms b (or_intror Hb))). rewrite S_INR.
  destruct (Hms a (or_introl eq_refl)) as [Hsr Hl]. destruct (Hlev a (or_introl eq_refl)) as [Hs _].
  assert (Hs2 : 0 < 2 * (level a)^2) by (apply Rmult_lt_0_compat; [lra | apply pow_lt; auto]).
  assert (frobenius_sq (update a) / (2 * (level a)^2) <= r / (2 * tau^2)).
  { unfold stable_rank_at_most in Hsr. pose proof (spectral_norm_nonneg (update a)) as Hn.
    apply Rmult_le_reg_r with (2 * (level a)^2); auto. unfold Rdiv at 1. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
    apply Rle_trans with (r * (spectral_norm (update a))^2); [exact Hsr |].
    replace (r / (2 * tau^2) * (2 * (level a)^2)) with (r * (level a / tau)^2) by (field; lra).
    apply Rmult_le_compat_l; auto. apply pow_incr. split; auto. apply Rmult_le_reg_r with tau; auto.
    unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
  replace ((INR (length ms) + 1) * r / (2 * tau^2)) with (INR (length ms) * r / (2 * tau^2) + r / (2 * tau^2)) by (field; lra). lra.
Qed.
End Entropy.

(** Theorem E-rank: the repair of "largest effective rank over the layers, rate sqrt (R/m)"; [R] is the largest stable rank
    of a weight update, [tau] the smallest noise level relative to the update's spectral norm. *)
Theorem rank_gibbs_bound {Z H N : Type} (P : list (R * Z)) (F : H -> Z -> R) (m : nat) (prior : N -> law H) (w : N -> R) (delta tau r : R)
    (layers : nat) :
  distribution P -> (forall h z, 0 <= F h z <= 1) -> (0 < m)%nat ->
  (forall n, measurable P F m (prior n)) -> (forall n, 0 < w n) -> (forall l, NoDup l -> sum_list l w <= 1) -> 0 < delta < 1 ->
  0 < tau -> 0 <= r ->
  Pr P m (fun zs => exists n rho ms, posterior F (prior n) rho /\ gaussian_posterior (prior n) rho ms /\ length ms = layers /\
    (forall a, In a ms -> stable_rank_at_most r (update a) /\ tau * spectral_norm (update a) <= level a) /\
    gibbs_risk P F (prior n) rho > gibbs_empirical F (prior n) rho zs
      + sqrt ((INR layers * r / (2 * tau^2) + ln (1 / w n) + ln (moment_bound m / delta)) / (2 * INR m))) <= delta.
Proof.
  intros HP HF Hm Hmu Hw Hsum Hd Htau Hr. pose proof (xi_ge_1 m Hm) as Hxi. pose proof (prior_moment_le m Hm) as Hmom. fold (moment_bound m) in Hmom.
  eapply Rle_trans; [| exact (gibbs_grid_bound P F HP HF m Hm prior w (moment_bound m) delta Hmu Hw Hsum Hmom Hd)].
  apply Pr_mono; [exact (proj1 HP) |]. intros zs Hzs [n [rho [ms [HQ [HG [Hlen [Hms Hbad]]]]]]]. exists n, rho. split; auto.
  pose proof (samples_length P m zs Hzs) as Hl.
  pose proof (gibbs_range P F HP HF m Hm (prior n) rho zs HQ Hl) as [_ He]. assert (Hm' : 0 < INR m) by (apply lt_0_INR; auto).
  pose proof (entropy_by_rank (prior n) rho (proj1 HQ) ms tau r HG Htau Hr Hms) as Hent. rewrite Hlen in Hent.
  pose proof (Hw n) as Hwn. assert (Hw1 : w n <= 1).
  { specialize (Hsum [n] ltac:(constructor; [intros [] | constructor])). simpl in Hsum. lra. }
  assert (L1 : 0 <= ln (1 / w n)).
  { rewrite <- ln_1. assert (K : 1 <= 1 / w n). { apply Rmult_le_reg_r with (w n); auto. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
    destruct K as [K | <-]; [left; apply ln_increasing; lra | lra]. }
  assert (L2 : 0 <= ln (moment_bound m / delta)).
  { rewrite <- ln_1. assert (K : 1 < moment_bound m / delta). { apply Rmult_lt_reg_r with delta. lra. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
    left; apply ln_increasing; lra. }
  assert (L0 : 0 <= relative_entropy (prior n) rho).
  { destruct (gaussian_relative_entropy (prior n) rho (proj1 HQ) ms HG) as [_ ->]. clear - HG. destruct HG as [_ Hlev].
    induction ms as [| a ms IH]; cbn [sum_list]. lra. specialize (IH (fun b Hb => Hlev b (or_intror Hb))).
    destruct (Hlev a (or_introl eq_refl)) as [Hs _].
    assert (0 <= frobenius_sq (update a) / (2 * (level a)^2)); [| lra].
    apply Rmult_le_pos. apply frobenius_sq_nonneg. left. apply Rinv_0_lt_compat. apply Rmult_lt_0_compat; [lra | apply pow_lt; auto]. }
  set (c := (relative_entropy (prior n) rho + ln (1 / w n) + ln (moment_bound m / delta)) / INR m).
  assert (Hc : 0 <= c). { unfold c. apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; auto]. }
  pose proof (kl_inverse_le _ c He Hc) as K. eapply Rle_lt_trans; [exact K |]. eapply Rle_lt_trans; [| exact Hbad].
  apply Rplus_le_compat_l. apply sqrt_le_1_alt. unfold c.
  replace ((relative_entropy (prior n) rho + ln (1 / w n) + ln (moment_bound m / delta)) / INR m / 2)
    with ((relative_entropy (prior n) rho + ln (1 / w n) + ln (moment_bound m / delta)) / (2 * INR m)) by (field; lra).
  apply Rmult_le_compat_r. left; apply Rinv_0_lt_compat; lra. lra.
Qed.
