(** * The largest value of a function on a finite class

The class is the nonempty list [t0 :: l]; [Sup t0 l f] is the maximum of [f] on it.  A maximum,
not a supremum: it is attained ([Sup_att]), and the contraction proof uses the maximiser. *)
From Coq Require Import Reals List Lra Psatz Lia.
Import ListNotations.
Open Scope R_scope.

Fixpoint Sup {T : Type} (t0 : T) (l : list T) (f : T -> R) : R :=
  match l with nil => f t0 | t :: l => Rmax (f t) (Sup t0 l f) end.

Section Sup.
Context {T : Type} (t0 : T) (l : list T).
(** Membership in the class. *)
Let C (t : T) := t = t0 \/ In t l.

Lemma Sup_ub f t : C t -> f t <= Sup t0 l f.
Proof.
  unfold C. clear C. induction l; simpl; intros [H | H]; subst; try lra; try tauto.
  - eapply Rle_trans; [| apply Rmax_r]. auto.
  - destruct H; subst. apply Rmax_l. eapply Rle_trans; [| apply Rmax_r]. auto.
Qed.

Lemma Sup_att f : exists t, C t /\ Sup t0 l f = f t.
Proof.
  unfold C; clear C. induction l as [|a l' IH]; simpl. exists t0; auto.
  destruct IH as [t [Ht Heq]]. unfold Rmax. destruct Rle_dec.
  exists t; split; auto; tauto. exists a; auto.
Qed.

Lemma Sup_le f c : (forall t, C t -> f t <= c) -> Sup t0 l f <= c.
Proof. intros H. destruct (Sup_att f) as [t [Ht ->]]. auto. Qed.

Lemma Sup_mono f g : (forall t, C t -> f t <= g t) -> Sup t0 l f <= Sup t0 l g.
Proof. intros H. apply Sup_le. intros t Ht. eapply Rle_trans. apply H; auto. apply Sup_ub; auto. Qed.

Lemma Sup_ext f g : (forall t, C t -> f t = g t) -> Sup t0 l f = Sup t0 l g.
Proof. intros H. apply Rle_antisym; apply Sup_mono; intros; rewrite H; auto; lra. Qed.

Lemma Sup_plus f g : Sup t0 l (fun t => f t + g t) <= Sup t0 l f + Sup t0 l g.
Proof.
  apply Sup_le. intros t Ht. pose proof (Sup_ub f t Ht). pose proof (Sup_ub g t Ht). lra.
Qed.

Lemma Sup_half f g : Sup t0 l (fun t => (f t + g t) / 2) <= (Sup t0 l f + Sup t0 l g) / 2.
Proof.
  apply Sup_le. intros t Ht. pose proof (Sup_ub f t Ht). pose proof (Sup_ub g t Ht). lra.
Qed.
End Sup.
