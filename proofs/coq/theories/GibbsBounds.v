(** * Theorem E as the reports use it: explicit constant, learned priors, drawn models, Monte-Carlo estimates *)
From Coquelicot Require Import Coquelicot.
From Coq Require Import Reals List Lra Psatz Lia.
From Attention Require Import SignAverages Expectation Probability Risk SoftmaxHead ChernoffHoeffding PriorMoment Law PacBayes MonteCarlo.
Import ListNotations.
Open Scope R_scope.

(** Lemma 16: one prior, every posterior. *)
Theorem pac_bayes_kl {Z H : Type} (P : list (R * Z)) (F : H -> Z -> R) (m : nat) (prior : law H) (delta : R) :
  distribution P -> (forall h z, 0 <= F h z <= 1) -> (0 < m)%nat -> measurable P F m prior -> 0 < delta < 1 ->
  Pr P m (fun zs => exists rho, posterior F prior rho /\
    gibbs_risk P F prior rho > kl_inverse (gibbs_empirical F prior rho zs)
      ((relative_entropy prior rho + ln ((2 + sqrt (PI * INR m / 2)) / delta)) / INR m)) <= delta.
Proof.
  intros HP HF Hm Hmu Hd. assert (Hw : forall l : list unit, NoDup l -> sum_list l (fun _ => 1) <= 1).
  { intros [| [] [| [] l]] Hl; simpl; try lra. inversion Hl; subst. exfalso. apply H2. left; auto. }
  eapply Rle_trans; [| apply (gibbs_grid_bound P F HP HF m Hm (fun _ : unit => prior) (fun _ => 1) (2 + sqrt (PI * INR m / 2)) delta)]; auto.
  - destruct HP as [Pnn Pone]. apply Pr_mono; auto. intros zs _ [rho [HQ Hz]]. exists tt, rho. split; auto.
    replace (1 / 1) with 1 by field. rewrite ln_1, Rplus_0_r. exact Hz.
  - intros; lra.
  - apply prior_moment_le. lia.
Qed.

Section Split.
Context {Z H N : Type} (P : list (R * Z)) (F : H -> Z -> R).
Hypothesis HP : distribution P.
Hypothesis F_range : forall h z, 0 <= F h z <= 1.
Let Pnn := proj1 HP. Let Pone := proj2 HP.

Lemma Em_app a b : forall f, Em P (a + b) f = Em P a (fun xs => Em P b (fun ys => f (xs ++ ys))).
Proof. induction a; intros f; cbn [Nat.add Em app]. reflexivity. apply Ex_ext. intros z. apply IHa. Qed.

Lemma first_part (xs ys : list Z) k : length xs = k -> firstn k (xs ++ ys) = xs /\ skipn k (xs ++ ys) = ys.
Proof. intros <-. induction xs as [| x xs [I1 I2]]; simpl; [split; reflexivity |]. rewrite I1, I2. split; reflexivity. Qed.

(** The explicit moment. *)
Definition moment_bound (m : nat) : R := 2 + sqrt (PI * INR m / 2).

Variables k m : nat.
Hypothesis Hm : (0 < m)%nat.
(** Priors and weights may be any function of the first [k] points. *)
Variable prior : list Z -> N -> law H.
Variable w : list Z -> N -> R.
Variable delta : R.
Hypothesis Hprior : forall xs n, measurable P F m (prior xs n).
Hypothesis w_pos : forall xs n, 0 < w xs n.
Hypothesis w_sum : forall xs l, NoDup l -> sum_list l (w xs) <= 1.
Hypothesis Hdelta : 0 < delta < 1.

(** Theorem E-split: priors learned on the first part, losses and posterior from the second (the posterior may use all). *)
Theorem gibbs_split_bound :
  Pr P (k + m) (fun zs => let xs := firstn k zs in exists n rho, posterior F (prior xs n) rho /\
    gibbs_risk P F (prior xs n) rho > kl_inverse (gibbs_empirical F (prior xs n) rho (skipn k zs))
      ((relative_entropy (prior xs n) rho + ln (1 / w xs n) + ln (moment_bound m / delta)) / INR m)) <= delta.
Proof.
  unfold Pr. rewrite Em_app. apply Rle_trans with (Em P k (fun _ => delta)); [| rewrite Em_const by auto; lra].
  apply Em_le; auto. intros xs Hxs.
  eapply Rle_trans; [| apply (gibbs_grid_bound P F HP F_range m Hm (prior xs) (w xs) (moment_bound m) delta); auto; apply prior_moment_le; lia].
  unfold Pr. right. apply Em_ext. intros ys _. destruct (first_part xs ys k Hxs) as [-> ->]. reflexivity.
Qed.

(** A posterior that training chose; it may depend on the whole sample. *)
Variable chosen : list Z -> N.
Variable rho : list Z -> H -> R.
Definition drawn_excess (zs : list Z) (h : H) : Prop :=
  risk P F h > kl_inverse (empirical_risk F (skipn k zs) h)
    (Rmax 0 (ln (rho zs h) + ln (1 / w (firstn k zs) (chosen zs)) + ln (moment_bound m / delta)) / INR m).
Hypothesis Hrho : forall zs, density (prior (firstn k zs) (chosen zs)) (rho zs).
Hypothesis Hdrawn : forall zs, integrable (prior (firstn k zs) (chosen zs)) (fun h => rho zs h * indicator (drawn_excess zs h)).

(** E-single on top of E-split: one model drawn from a posterior that may depend on the whole sample. *)
Theorem drawn_split_bound :
  Em P (k + m) (fun zs => posterior_mean (prior (firstn k zs) (chosen zs)) (rho zs) (fun h => indicator (drawn_excess zs h))) <= delta.
Proof.
  rewrite Em_app. apply Rle_trans with (Em P k (fun _ => delta)); [| rewrite Em_const by auto; lra].
  apply Em_le; auto. intros xs Hxs.
  assert (Hpart : forall ys, firstn k (xs ++ ys) = xs /\ skipn k (xs ++ ys) = ys) by (intros; apply first_part; auto).
  eapply Rle_trans; [| apply (drawn_model_bound P F HP F_range m Hm (prior xs) (w xs) (moment_bound m) delta
    (Hprior xs) (w_pos xs) (w_sum xs) (prior_moment_le m Hm) Hdelta (fun ys => chosen (xs ++ ys)) (fun ys => rho (xs ++ ys)))].
  - right. apply Em_ext. intros ys _. unfold drawn_excess, drawn_bad. destruct (Hpart ys) as [-> ->]. reflexivity.
  - intros ys _. pose proof (Hrho (xs ++ ys)) as K. destruct (Hpart ys) as [E _]. rewrite E in K. exact K.
  - intros ys _. pose proof (Hdrawn (xs ++ ys)) as K. unfold drawn_excess in K. destruct (Hpart ys) as [E1 E2]. rewrite E1, E2 in K. exact K.
Qed.

(** Independent draws from the posterior, with their losses. *)
Context {Om : Type}.
Variable draw_law : list Z -> law Om.
Variable draws : list Z -> list (Om -> R).
Variable n_draws : nat.
Variable delta_draws : R.
Hypothesis Hposterior : forall zs, posterior F (prior (firstn k zs) (chosen zs)) (rho zs).
Hypothesis n_draws_pos : (0 < n_draws)%nat.
Hypothesis Hdelta_draws : 0 < delta_draws < 1.
Hypothesis Hnumber : forall zs, length (draws zs) = n_draws.
Hypothesis Hdraws : forall zs, independent_draws (draw_law zs) (draws zs).
Hypothesis Hmeans : forall zs, mean_of_means (draw_law zs) (draws zs) = gibbs_empirical F (prior (firstn k zs) (chosen zs)) (rho zs) (skipn k zs).
Definition estimate_exceeded (zs : list Z) (omega : Om) : Prop :=
  gibbs_empirical F (prior (firstn k zs) (chosen zs)) (rho zs) (skipn k zs)
  > kl_inverse (average (draws zs) omega) (ln (1 / delta_draws) / INR n_draws).
Definition monte_carlo_exceeded (zs : list Z) (omega : Om) : Prop :=
  gibbs_risk P F (prior (firstn k zs) (chosen zs)) (rho zs)
  > kl_inverse (kl_inverse (average (draws zs) omega) (ln (1 / delta_draws) / INR n_draws))
      ((relative_entropy (prior (firstn k zs) (chosen zs)) (rho zs) + ln (1 / w (firstn k zs) (chosen zs)) + ln (moment_bound m / delta)) / INR m).
Hypothesis Hestimate : forall zs, integrable (draw_law zs) (fun omega => indicator (estimate_exceeded zs omega)).
Hypothesis Hexceeded : forall zs, integrable (draw_law zs) (fun omega => indicator (monte_carlo_exceeded zs omega)).

(** Theorem E-monte-carlo: the posterior's empirical risk is estimated from independent draws. *)
Theorem gibbs_monte_carlo_bound :
  Em P (k + m) (fun zs => mean (draw_law zs) (fun omega => indicator (monte_carlo_exceeded zs omega))) <= delta + delta_draws.
Proof.
  set (A := fun zs => let xs := firstn k zs in exists n rho, posterior F (prior xs n) rho /\
    gibbs_risk P F (prior xs n) rho > kl_inverse (gibbs_empirical F (prior xs n) rho (skipn k zs))
      ((relative_entropy (prior xs n) rho + ln (1 / w xs n) + ln (moment_bound m / delta)) / INR m)).
  apply Rle_trans with (Em P (k + m) (fun zs => indicator (A zs) + delta_draws)).
  2:{ rewrite Em_plus, Em_const by auto. apply Rplus_le_compat_r. exact gibbs_split_bound. }
  apply Em_le; auto. intros zs Hzs. assert (Hne : draws zs <> nil).
  { intros E. pose proof (Hnumber zs) as K. rewrite E in K. simpl in K. lia. }
  pose proof (monte_carlo_bound (draw_law zs) (draws zs) (Hdraws zs) Hne delta_draws Hdelta_draws) as MC.
  rewrite Hnumber, Hmeans in MC. specialize (MC (Hestimate zs)).
  apply Rle_trans with (mean (draw_law zs) (fun omega => indicator (A zs) + indicator (estimate_exceeded zs omega))).
  - apply mean_le; auto. apply integrable_plus; auto. apply integrable_const. intros omega.
    unfold indicator. destruct (decide (monte_carlo_exceeded zs omega)) as [Hbad | _].
    2:{ destruct (decide (A zs)), (decide (estimate_exceeded zs omega)); lra. }
    destruct (decide (estimate_exceeded zs omega)) as [_ | Hgood]. destruct (decide (A zs)); lra.
    destruct (decide (A zs)) as [_ | Hno]; [lra |]. exfalso. apply Hno. unfold A. cbv zeta. exists (chosen zs), (rho zs). split; auto.
    pose proof (gibbs_range P F HP F_range m Hm (prior (firstn k zs) (chosen zs)) (rho zs) (skipn k zs) (Hposterior zs)) as [_ He].
    { rewrite skipn_length. lia. }
    pose proof (average_range (draw_law zs) (draws zs) (Hdraws zs) Hne omega) as Ha.
    pose proof (kl_inverse_range (average (draws zs) omega) (ln (1 / delta_draws) / INR n_draws) Ha) as Hr.
    apply Rnot_lt_le in Hgood. unfold monte_carlo_exceeded in Hbad. eapply Rle_lt_trans; [| exact Hbad].
    apply kl_inverse_mono; [split; [apply He | exact Hgood] | lra].
  - rewrite (mean_plus _ _ _ (integrable_const _ _) (Hestimate zs)), mean_const. unfold estimate_exceeded in *. lra.
Qed.
End Split.
