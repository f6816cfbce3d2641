(** * Finite probability spaces and iid samples

A distribution is a list of (weight, point) pairs with nonnegative weights of sum 1.  [Ex P f] is
the expectation, [Em P m f] the expectation of [f] over iid samples of size [m]. *)
From Coq Require Import Reals List Lra Psatz Lia.
Import ListNotations.
Open Scope R_scope.

Section Dist.
Context {Z : Type} (P : list (R * Z)).
Fixpoint Exl (P : list (R * Z)) (f : Z -> R) : R :=
  match P with nil => 0 | (p, z) :: P => p * f z + Exl P f end.
Definition Ex := Exl P.
Hypothesis Pnn : forall p z, In (p, z) P -> 0 <= p.
Hypothesis Pone : Ex (fun _ => 1) = 1.

Lemma Ex_ext f g : (forall z, f z = g z) -> Ex f = Ex g.
Proof. unfold Ex. intros H. clear Pnn Pone. induction P as [|[p z] Q IH]; simpl; auto. rewrite H, IH; auto. Qed.
Lemma Ex_le f g : (forall z, f z <= g z) -> Ex f <= Ex g.
Proof.
  unfold Ex. intros H. clear Pone. induction P as [|[p z] Q IH]; simpl. lra.
  assert (0 <= p) by (apply (Pnn p z); left; auto).
  assert (Exl Q f <= Exl Q g) by (apply IH; intros; eapply Pnn; right; eauto).
  pose proof (H z). nra.
Qed.
Lemma Ex_plus f g : Ex (fun z => f z + g z) = Ex f + Ex g.
Proof. unfold Ex. clear Pnn Pone. induction P as [|[p z] Q IH]; simpl. lra. rewrite IH. lra. Qed.
Lemma Ex_scal c f : Ex (fun z => c * f z) = c * Ex f.
Proof. unfold Ex. clear Pnn Pone. induction P as [|[p z] Q IH]; simpl. lra. rewrite IH. lra. Qed.
Lemma Ex_const c : Ex (fun _ => c) = c.
Proof. rewrite (Ex_ext _ (fun _ => c * 1)) by (intros; lra). rewrite Ex_scal, Pone. lra. Qed.
Lemma Ex_minus f g : Ex (fun z => f z - g z) = Ex f - Ex g.
Proof. rewrite (Ex_ext _ (fun z => f z + (-1) * g z)) by (intros; lra). rewrite Ex_plus, Ex_scal. lra. Qed.
Lemma Ex_half f g : Ex (fun z => (f z + g z) / 2) = (Ex f + Ex g) / 2.
Proof. rewrite (Ex_ext _ (fun z => /2 * (f z + g z))) by (intros; lra). rewrite Ex_scal, Ex_plus. lra. Qed.
Lemma Ex_swap (f : Z -> Z -> R) : Ex (fun z => Ex (fun z' => f z z')) = Ex (fun z' => Ex (fun z => f z z')).
Proof.
  unfold Ex at 1 4. 
  assert (H : forall Q, Exl Q (fun z => Ex (fun z' => f z z')) = Ex (fun z' => Exl Q (fun z => f z z'))).
  { induction Q as [|[p z] Q IH]; simpl. rewrite (Ex_ext _ (fun _ => 0 * 1)), Ex_scal by (intros; lra). lra.
    rewrite Ex_plus, Ex_scal, IH. reflexivity. }
  apply H.
Qed.

(* Jensen for any function with a supporting line at the mean; instance: square, exp *)
Lemma jensen_support (phi : R -> R) (f : Z -> R) (s : R) :
  (forall x, phi (Ex f) + s * (x - Ex f) <= phi x) -> phi (Ex f) <= Ex (fun z => phi (f z)).
Proof.
  intros H. apply Rle_trans with (Ex (fun z => phi (Ex f) + s * (f z - Ex f))).
  rewrite Ex_plus, Ex_const, Ex_scal, Ex_minus, Ex_const. lra.
  apply Ex_le. intros. apply H.
Qed.

(* ---------- i.i.d. samples ---------- *)
Fixpoint Em (m : nat) (f : list Z -> R) : R :=
  match m with O => f nil | S m => Ex (fun z => Em m (fun zs => f (z :: zs))) end.
Lemma Em_ext m : forall f g, (forall zs, length zs = m -> f zs = g zs) -> Em m f = Em m g.
Proof. induction m; simpl; intros. apply H; auto. apply Ex_ext. intros. apply IHm. intros. apply H. simpl; auto. Qed.
Lemma Em_le m : forall f g, (forall zs, length zs = m -> f zs <= g zs) -> Em m f <= Em m g.
Proof. induction m; simpl; intros. apply H; auto. apply Ex_le. intros. apply IHm. intros. apply H. simpl; auto. Qed.
Lemma Em_plus m : forall f g, Em m (fun zs => f zs + g zs) = Em m f + Em m g.
Proof. induction m; simpl; intros. lra. rewrite <- Ex_plus. apply Ex_ext. intros. apply IHm. Qed.
Lemma Em_scal m : forall c f, Em m (fun zs => c * f zs) = c * Em m f.
Proof. induction m; simpl; intros. lra. rewrite <- Ex_scal. apply Ex_ext. intros. apply IHm. Qed.
Lemma Em_const m : forall c, Em m (fun _ => c) = c.
Proof. induction m; simpl; intros. lra. rewrite (Ex_ext _ (fun _ => c)) by (intros; apply IHm). apply Ex_const. Qed.
Lemma Em_minus m f g : Em m (fun zs => f zs - g zs) = Em m f - Em m g.
Proof. rewrite (Em_ext m _ (fun z => f z + (-1) * g z)) by (intros; lra). rewrite Em_plus, Em_scal. lra. Qed.
End Dist.
