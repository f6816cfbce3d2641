(** * Risks, gaps and Rademacher averages of a class

[F t z] is the loss of the member [t] of a class on the point [z].  Every quantity is normalised
by the sample size, as in the report. *)
From Coq Require Import Reals List Lra Psatz Lia.
From Attention Require Import SignAverages FiniteSup Expectation Symmetrization Probability.
Import ListNotations.
Open Scope R_scope.

Section Risk.
Context {Z T : Type} (P : list (R * Z)) (F : T -> Z -> R).

(** Mean loss under the distribution, and on the sample. *)
Definition risk (t : T) : R := Ex P (F t).
Definition empirical_risk (zs : list Z) (t : T) : R := sum_list zs (F t) / INR (length zs).
Definition gap (zs : list Z) (t : T) : R := risk t - empirical_risk zs t.

(** Rademacher average of the finite class [t0 :: l] on the sample [zs]. *)
Definition rademacher (t0 : T) (l : list T) (zs : list Z) : R :=
  E (length zs) (fun e => Sup t0 l (fun t => signed_sum F zs e t / INR (length zs))).

Lemma deviation_sum_gap : forall zs t, (0 < length zs)%nat ->
  deviation_sum P (fun t z => - F t z) zs t = INR (length zs) * gap zs t.
Proof.
  intros zs t Hm. assert (0 < INR (length zs)) by (apply lt_0_INR; auto).
  transitivity (INR (length zs) * risk t - sum_list zs (F t)).
  2: unfold gap, empirical_risk; field; lra.
  clear. unfold risk. induction zs as [| z zs IH]. simpl; ring.
  cbn [deviation_sum length sum_list]. rewrite IH, S_INR.
  rewrite (Ex_ext P (fun z => - F t z) (fun z => -1 * F t z)) by (intros; ring). rewrite Ex_scal. ring.
Qed.
End Risk.

Section Scaling.
Context {T : Type} (t0 : T) (l : list T).
Lemma Sup_scal c f : 0 <= c -> Sup t0 l (fun t => c * f t) = c * Sup t0 l f.
Proof.
  intros Hc. apply Rle_antisym.
  - apply Sup_le. intros t Ht. apply Rmult_le_compat_l; auto. apply Sup_ub; auto.
  - destruct (Sup_att t0 l f) as [t [Ht ->]]. apply (Sup_ub t0 l (fun t => c * f t)); auto.
Qed.
End Scaling.

Lemma E_div n c f : E n (fun x => f x / c) = E n f / c.
Proof. rewrite (E_ext n _ (fun x => / c * f x)) by (intros; unfold Rdiv; ring). rewrite E_scal. unfold Rdiv; ring. Qed.

Lemma Sup_div {T} (t0 : T) l c f : 0 < c -> Sup t0 l (fun t => f t / c) = Sup t0 l f / c.
Proof.
  intros Hc. rewrite (Sup_ext t0 l _ (fun t => / c * f t)) by (intros; unfold Rdiv; ring).
  rewrite Sup_scal by (left; apply Rinv_0_lt_compat; auto). unfold Rdiv; ring.
Qed.

Lemma rademacher_sum {Z T} (F : T -> Z -> R) t0 l zs : (0 < length zs)%nat ->
  rademacher F t0 l zs = E (length zs) (fun e => Sup t0 l (fun t => signed_sum F zs e t)) / INR (length zs).
Proof.
  intros Hm. assert (0 < INR (length zs)) by (apply lt_0_INR; auto). unfold rademacher.
  rewrite <- E_div. apply E_ext. intros. apply Sup_div; auto.
Qed.
