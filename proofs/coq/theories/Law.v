(** * Distributions on any space, known by their means

A [law] on [H] is a class of integrable functions with a mean that is linear, monotone and 1 on the
constant 1.  Lebesgue integrals with respect to a Gaussian (or any other probability measure) are one
instance, with the integrable measurable functions; finite weighted sums are another ([finite_law]).  Models are drawn
from laws; samples still come from a finite list of points, so that exchanging the two means is
linearity ([mean_Em]). *)
From Coq Require Import Reals List Lra Psatz Lia.
From Coquelicot Require Import Rcomplements.
From Attention Require Import Expectation Probability SoftmaxHead.
Import ListNotations.
Open Scope R_scope.

Record law (H : Type) := {
  integrable : (H -> R) -> Prop;
  mean : (H -> R) -> R;
  integrable_const : forall c, integrable (fun _ => c);
  integrable_plus : forall f g, integrable f -> integrable g -> integrable (fun h => f h + g h);
  integrable_scal : forall c f, integrable f -> integrable (fun h => c * f h);
  mean_const : forall c, mean (fun _ => c) = c;
  mean_plus : forall f g, integrable f -> integrable g -> mean (fun h => f h + g h) = mean f + mean g;
  mean_scal : forall c f, integrable f -> mean (fun h => c * f h) = c * mean f;
  mean_le : forall f g, integrable f -> integrable g -> (forall h, f h <= g h) -> mean f <= mean g
}.
Arguments integrable {H}. Arguments mean {H}.
Arguments integrable_const {H}. Arguments integrable_plus {H}. Arguments integrable_scal {H}.
Arguments mean_const {H}. Arguments mean_plus {H}. Arguments mean_scal {H}. Arguments mean_le {H}.

Definition finite_law {H : Type} (P : list (R * H)) (HP : distribution P) : law H.
Proof.
  refine {| integrable := fun _ => True; mean := Ex P |}; auto; destruct HP as [Pnn Pone].
  - intros c. apply Ex_const. exact Pone.
  - intros f g _ _. apply Ex_plus.
  - intros c f _. apply Ex_scal.
  - intros f g _ _ Hfg. apply Ex_le; assumption.
Defined.

Section Law.
Context {H : Type} (mu : law H).

Lemma mean_nonneg f : integrable mu f -> (forall h, 0 <= f h) -> 0 <= mean mu f.
Proof. intros Hf H0. rewrite <- (mean_const mu 0). apply mean_le; auto. apply integrable_const. Qed.

Lemma mean_minus f g : integrable mu f -> integrable mu g ->
  integrable mu (fun h => f h + -1 * g h) /\ mean mu (fun h => f h + -1 * g h) = mean mu f - mean mu g.
Proof.
  intros Hf Hg. pose proof (integrable_scal mu (-1) g Hg) as Hg'. split. apply integrable_plus; auto.
  rewrite mean_plus, mean_scal by auto. ring.
Qed.

(** Exchanging the mean over models with the mean over samples. *)
Lemma mean_Ex {Z : Type} (P : list (R * Z)) (f : H -> Z -> R) : (forall z, integrable mu (fun h => f h z)) ->
  integrable mu (fun h => Ex P (f h)) /\ mean mu (fun h => Ex P (f h)) = Ex P (fun z => mean mu (fun h => f h z)).
Proof.
  intros Hf. unfold Ex. induction P as [| [p z] Q [I1 I2]]; cbn [Exl].
  - split. apply integrable_const. apply mean_const.
  - pose proof (integrable_scal mu p _ (Hf z)) as K. split. apply (integrable_plus mu _ _ K I1).
    rewrite (mean_plus mu _ _ K I1), mean_scal by apply Hf. rewrite I2. reflexivity.
Qed.

Lemma mean_Em {Z : Type} (P : list (R * Z)) m : forall (f : H -> list Z -> R),
  (forall zs, length zs = m -> integrable mu (fun h => f h zs)) ->
  integrable mu (fun h => Em P m (f h)) /\ mean mu (fun h => Em P m (f h)) = Em P m (fun zs => mean mu (fun h => f h zs)).
Proof.
  induction m; intros f Hf; cbn [Em].
  - split. apply Hf; reflexivity. reflexivity.
  - assert (K : forall z, integrable mu (fun h => Em P m (fun zs => f h (z :: zs))) /\
      mean mu (fun h => Em P m (fun zs => f h (z :: zs))) = Em P m (fun zs => mean mu (fun h => f h (z :: zs)))).
    { intros z. apply (IHm (fun h zs => f h (z :: zs))). intros zs Hzs. apply Hf. simpl; auto. }
    destruct (mean_Ex P (fun h z => Em P m (fun zs => f h (z :: zs))) (fun z => proj1 (K z))) as [I1 I2]. split; auto.
    rewrite I2. apply Ex_ext. intros z. apply K.
Qed.

Lemma mean_sum_list {A : Type} (l : list A) (f : H -> A -> R) : (forall a, integrable mu (fun h => f h a)) ->
  integrable mu (fun h => sum_list l (f h)) /\ mean mu (fun h => sum_list l (f h)) = sum_list l (fun a => mean mu (fun h => f h a)).
Proof.
  intros Hf. induction l as [| a l [I1 I2]]; cbn [sum_list].
  - split. apply integrable_const. apply mean_const.
  - split. apply (integrable_plus mu _ _ (Hf a) I1). rewrite (mean_plus mu _ _ (Hf a) I1), I2. reflexivity.
Qed.

(** A posterior by its density with respect to [mu]: nonnegative, of mass 1. *)
Definition density (rho : H -> R) : Prop := (forall h, 0 <= rho h) /\ integrable mu rho /\ mean mu rho = 1.
Definition posterior_mean (rho f : H -> R) : R := mean mu (fun h => rho h * f h).
(** KL(posterior || mu). *)
Definition relative_entropy (rho : H -> R) : R := mean mu (fun h => rho h * ln (rho h)).

(** Change of measure (Donsker and Varadhan): for every posterior and every [phi] with [exp phi <= W],
    the posterior mean of [phi] is at most the relative entropy plus [ln] of any bound of the prior mean of [W]. *)
Theorem change_of_measure (rho phi W : H -> R) (lambda : R) :
  density rho -> integrable mu (fun h => rho h * ln (rho h)) -> integrable mu (fun h => rho h * phi h) -> integrable mu W ->
  (forall h, exp (phi h) <= W h) -> 0 < lambda -> mean mu W <= lambda ->
  posterior_mean rho phi <= relative_entropy rho + ln lambda.
Proof.
  intros [Hpos [Hrho Hone]] Hln Hphi HW Hexp Hl Hmean.
  assert (Hstep : forall h, rho h * phi h <= (/ lambda * W h + -1 * rho h) + (rho h * ln (rho h) + ln lambda * rho h)).
  { intros h. destruct (Hpos h) as [Hr | <-].
    - set (y := exp (phi h) / (rho h * lambda)). assert (Hd : 0 < rho h * lambda) by (apply Rmult_lt_0_compat; auto).
      assert (Hy : 0 < y) by (apply Rdiv_lt_0_compat; auto; apply exp_pos).
      assert (E : ln y = phi h - ln (rho h) - ln lambda) by (unfold y; rewrite ln_div, ln_exp, ln_mult; auto; [ring | apply exp_pos]).
      pose proof (exp_ineq1_le (ln y)) as K. rewrite exp_ln in K by auto. rewrite E in K.
      apply (Rmult_le_compat_l (rho h)) in K; [| lra].
      assert (rho h * y <= / lambda * W h); [| lra].
      unfold y. replace (rho h * (exp (phi h) / (rho h * lambda))) with (/ lambda * exp (phi h)) by (field; lra).
      apply Rmult_le_compat_l; auto. left. apply Rinv_0_lt_compat; auto.
    - assert (0 <= / lambda * W h); [| lra]. apply Rmult_le_pos. left; apply Rinv_0_lt_compat; auto.
      left. eapply Rlt_le_trans; [apply exp_pos | apply Hexp]. }
  pose proof (integrable_scal mu (/ lambda) W HW) as HW'. pose proof (integrable_scal mu (-1) rho Hrho) as Hrho'.
  pose proof (integrable_scal mu (ln lambda) rho Hrho) as Hrho2.
  pose proof (integrable_plus mu _ _ HW' Hrho') as I1. pose proof (integrable_plus mu _ _ Hln Hrho2) as I2.
  unfold posterior_mean, relative_entropy. eapply Rle_trans. apply (mean_le mu _ _ Hphi (integrable_plus mu _ _ I1 I2) Hstep).
  rewrite (mean_plus mu _ _ I1 I2), (mean_plus mu _ _ HW' Hrho'), (mean_plus mu _ _ Hln Hrho2), !mean_scal, Hone by auto.
  assert (/ lambda * mean mu W <= 1); [| lra]. apply Rmult_le_reg_l with lambda; auto. rewrite <- Rmult_assoc, Rinv_r; lra.
Qed.
End Law.
