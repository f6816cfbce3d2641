(** * Symmetrization, factor 2

The expected largest deviation of a finite class is at most twice its Rademacher average.  The
ghost sample is swapped in one point at a time, so no exchange of sums is needed. *)
From Coq Require Import Reals List Lra Psatz Lia.
From Attention Require Import SignAverages FiniteSup Expectation.
Import ListNotations.
Open Scope R_scope.

Section Symmetrization.
Context {Z : Type} (P : list (R * Z)).
Hypothesis Pnn : forall p z, In (p, z) P -> 0 <= p.
Hypothesis Pone : Ex P (fun _ => 1) = 1.
Notation Ex := (Ex P). Notation Em := (Em P).
Let Ex_ext := Ex_ext P.
Let Ex_le := Ex_le P Pnn.
Let Ex_plus := Ex_plus P.
Let Ex_scal := Ex_scal P.
Let Ex_const := Ex_const P Pone.
Let Ex_minus := Ex_minus P.
Let Ex_half := Ex_half P.
Let Ex_swap := Ex_swap P.
Let Em_ext := Em_ext P.
Let Em_plus := Em_plus P.
Let Em_scal := Em_scal P.

Context {T : Type} (t0 : T) (l : list T) (F : T -> Z -> R).
Notation sup := (Sup t0 l).
Let EF t := Ex (F t).

Fixpoint centred m g : R := match m with O => sup g | S m => Ex (fun z => centred m (fun t => g t + (F t z - EF t))) end.
Fixpoint swapped m g : R := match m with O => sup g | S m =>
  Ex (fun z => Ex (fun z' => (swapped m (fun t => g t + (F t z - F t z')) + swapped m (fun t => g t + (F t z' - F t z))) / 2)) end.
Fixpoint signed m g : R := match m with O => sup g | S m =>
  Ex (fun z => (signed m (fun t => g t + F t z) + signed m (fun t => g t - F t z)) / 2) end.

Lemma centred_ext m : forall g h, (forall t, g t = h t) -> centred m g = centred m h.
Proof. induction m; simpl; intros. apply Sup_ext; auto. apply Ex_ext; intros. apply IHm. intros. rewrite H; auto. Qed.
Lemma swapped_ext m : forall g h, (forall t, g t = h t) -> swapped m g = swapped m h.
Proof. induction m; simpl; intros. apply Sup_ext; auto. apply Ex_ext; intros. apply Ex_ext; intros.
  rewrite (IHm (fun t => g t + (F t z - F t z0)) (fun t => h t + (F t z - F t z0))) by (intros; rewrite H; auto).
  rewrite (IHm (fun t => g t + (F t z0 - F t z)) (fun t => h t + (F t z0 - F t z))) by (intros; rewrite H; auto). reflexivity. Qed.

Lemma centred_jensen m : forall h : Z -> T -> R, centred m (fun t => Ex (fun z => h z t)) <= Ex (fun z => centred m (h z)).
Proof.
  induction m; simpl; intros h.
  - apply Sup_le. intros t Ht. apply Ex_le. intros z. apply (Sup_ub t0 l (h z)); auto.
  - rewrite Ex_swap. apply Ex_le. intros z.
    eapply Rle_trans; [| apply (IHm (fun z' t => h z' t + (F t z - EF t)))].
    apply Req_le. apply centred_ext. intros. rewrite Ex_plus, Ex_const. reflexivity.
Qed.

Lemma centred_le_swapped m : forall g, centred m g <= swapped m g.
Proof.
  induction m; intros g; cbn [centred swapped]. lra.
  apply Rle_trans with (Ex (fun z => Ex (fun z' => centred m (fun t => g t + (F t z - F t z'))))).
  - apply Ex_le. intros z. eapply Rle_trans; [| apply (centred_jensen m (fun z' t => g t + (F t z - F t z')))].
    apply Req_le. apply centred_ext. intros. rewrite Ex_plus, Ex_const, Ex_minus, Ex_const. reflexivity.
  - apply Rle_trans with (Ex (fun z => Ex (fun z' => swapped m (fun t => g t + (F t z - F t z'))))).
    apply Ex_le; intros; apply Ex_le; intros; apply IHm.
    apply Req_le.
    rewrite (Ex_ext (fun z => Ex (fun z' => (swapped m (fun t => g t + (F t z - F t z')) + swapped m (fun t => g t + (F t z' - F t z))) / 2))
      (fun z => (Ex (fun z' => swapped m (fun t => g t + (F t z - F t z'))) + Ex (fun z' => swapped m (fun t => g t + (F t z' - F t z)))) / 2))
      by (intros; apply Ex_half).
    rewrite Ex_half. rewrite (Ex_swap (fun z z' => swapped m (fun t => g t + (F t z' - F t z)))). lra.
Qed.

Lemma swapped_le_signed m : forall g1 g2, swapped m (fun t => g1 t + g2 t) <= signed m g1 + signed m g2.
Proof.
  induction m; intros g1 g2; cbn [swapped signed]. apply Sup_plus.
  apply Rle_trans with (Ex (fun z => Ex (fun z' =>
     (signed m (fun t => g1 t + F t z) + signed m (fun t => g1 t - F t z)) / 2
   + (signed m (fun t => g2 t + F t z') + signed m (fun t => g2 t - F t z')) / 2))).
  - apply Ex_le; intros z; apply Ex_le; intros z'.
    pose proof (IHm (fun t => g1 t + F t z) (fun t => g2 t - F t z')) as H1.
    pose proof (IHm (fun t => g1 t - F t z) (fun t => g2 t + F t z')) as H2. cbn beta in *.
    rewrite (swapped_ext m (fun t => g1 t + g2 t + (F t z - F t z')) (fun t => g1 t + F t z + (g2 t - F t z'))) by (intros; ring).
    rewrite (swapped_ext m (fun t => g1 t + g2 t + (F t z' - F t z)) (fun t => g1 t - F t z + (g2 t + F t z'))) by (intros; ring).
    lra.
  - apply Req_le.
    rewrite (Ex_ext _ (fun z => (signed m (fun t => g1 t + F t z) + signed m (fun t => g1 t - F t z)) / 2
       + Ex (fun z' => (signed m (fun t => g2 t + F t z') + signed m (fun t => g2 t - F t z')) / 2)))
      by (intros; rewrite Ex_plus, Ex_const; reflexivity).
    rewrite Ex_plus, Ex_const. reflexivity.
Qed.

Fixpoint deviation_sum (zs : list Z) (t : T) : R := match zs with nil => 0 | z :: zs => (F t z - EF t) + deviation_sum zs t end.
Fixpoint signed_sum (zs : list Z) (e : list R) (t : T) : R :=
  match zs, e with z :: zs, a :: e => a * F t z + signed_sum zs e t | _, _ => 0 end.

Lemma centred_flat m : forall g, centred m g = Em m (fun zs => sup (fun t => g t + deviation_sum zs t)).
Proof.
  induction m; intros g; cbn [centred Em]. apply Sup_ext; intros; simpl; ring.
  apply Ex_ext. intros. rewrite IHm. apply Em_ext. intros. apply Sup_ext. intros; simpl; ring.
Qed.
Lemma signed_flat m : forall g, signed m g = Em m (fun zs => E m (fun e => sup (fun t => g t + signed_sum zs e t))).
Proof.
  induction m; intros g; cbn [signed Em E]. apply Sup_ext; intros; simpl; ring.
  apply Ex_ext. intros. rewrite !IHm.
  rewrite (Em_ext m (fun zs => (E m (fun x => sup (fun t => g t + signed_sum (z :: zs) (1 :: x) t)) + E m (fun x => sup (fun t => g t + signed_sum (z :: zs) (neg1 :: x) t))) / 2)
   (fun zs => /2 * (E m (fun x => sup (fun t => g t + F t z + signed_sum zs x t)) + E m (fun x => sup (fun t => g t - F t z + signed_sum zs x t))))).
  rewrite Em_scal, Em_plus. lra.
  intros. unfold Rdiv. rewrite Rmult_comm. f_equal. f_equal; apply E_ext; intros; apply Sup_ext; intros; simpl; ring.
Qed.

(** The mean of the largest deviation is at most twice the mean of the largest signed sum. *)
Theorem symmetrization m :
  Em m (fun zs => sup (fun t => deviation_sum zs t)) <= 2 * Em m (fun zs => E m (fun e => sup (fun t => signed_sum zs e t))).
Proof.
  pose proof (centred_le_swapped m (fun _ => 0 + 0)) as H1. pose proof (swapped_le_signed m (fun _ => 0) (fun _ => 0)) as H2.
  rewrite centred_flat in H1. rewrite signed_flat in H2.
  rewrite (Em_ext m _ (fun zs => sup (fun t => deviation_sum zs t))) in H1 by (intros; apply Sup_ext; intros; ring).
  rewrite (Em_ext m _ (fun zs => E m (fun e => sup (fun t => signed_sum zs e t)))) in H2 by (intros; apply E_ext; intros; apply Sup_ext; intros; ring).
  lra.
Qed.
End Symmetrization.
