(** * Probabilities of events over iid samples

[Pr P m A] is the probability that an iid sample of size [m] from [P] satisfies [A].  The sample
space is finite, which is what lets [A] quantify over any class at all, finite or not: only
finitely many samples exist, so finitely many members of the class witness every bad sample
([finite_witnesses]).  [Pr_union] is the weighted union bound over any index type. *)
From Coq Require Import Reals List Lra Psatz Lia Classical.
From Attention Require Import Expectation.
Import ListNotations.
Open Scope R_scope.

(** Every proposition is decidable, by the classical axioms of the real numbers. *)
Definition decide (A : Prop) : {A} + {~ A}.
Proof. destruct (ClassicalDedekindReals.sig_not_dec A) as [H | H]; [left; apply NNPP; exact H | right; exact H]. Defined.

Definition indicator (A : Prop) : R := if decide A then 1 else 0.

Lemma indicator_le_1 A : 0 <= indicator A <= 1.
Proof. unfold indicator. destruct decide; lra. Qed.

Fixpoint sum_list {H : Type} (l : list H) (w : H -> R) : R :=
  match l with nil => 0 | h :: l => w h + sum_list l w end.

Lemma sum_list_le {H} (l : list H) u v : (forall h, In h l -> u h <= v h) -> sum_list l u <= sum_list l v.
Proof.
  induction l as [| h l IH]; intros K; simpl. lra.
  pose proof (K h (or_introl eq_refl)). assert (sum_list l u <= sum_list l v) by (apply IH; intros; apply K; right; auto). lra.
Qed.

Lemma sum_list_scal {H} (l : list H) c w : sum_list l (fun h => c * w h) = c * sum_list l w.
Proof. induction l as [| h l IH]; simpl. ring. rewrite IH. ring. Qed.

Section Probability.
Context {Z : Type} (P : list (R * Z)).

(** All samples of size [m] with entries among the points of [P]. *)
Fixpoint samples (m : nat) : list (list Z) :=
  match m with
  | O => [nil]
  | S m => flat_map (fun pz => map (cons (snd pz)) (samples m)) P
  end.

Definition Pr (m : nat) (A : list Z -> Prop) : R := Em P m (fun zs => indicator (A zs)).

Lemma samples_length m : forall zs, In zs (samples m) -> length zs = m.
Proof.
  induction m; simpl; intros zs H. destruct H as [<- | []]; reflexivity.
  apply in_flat_map in H. destruct H as [pz [_ H]]. apply in_map_iff in H.
  destruct H as [ys [<- H]]. simpl. f_equal. auto.
Qed.

Lemma samples_cons m p z zs : In (p, z) P -> In zs (samples m) -> In (z :: zs) (samples (S m)).
Proof.
  intros Hz H. simpl. apply in_flat_map. exists (p, z). split; auto. apply in_map_iff. exists zs; auto.
Qed.

Lemma samples_in m : forall zs z, In zs (samples m) -> In z zs -> exists p, In (p, z) P.
Proof.
  induction m; simpl; intros zs z H Hz. destruct H as [<- | []]; destruct Hz.
  apply in_flat_map in H. destruct H as [[p y] [Hp H]]. apply in_map_iff in H.
  destruct H as [ys [<- H]]. simpl in Hz. destruct Hz as [<- | Hz]. exists p; auto. eapply IHm; eauto.
Qed.

Hypothesis Pnn : forall p z, In (p, z) P -> 0 <= p.

Lemma Ex_le_support f g : (forall p z, In (p, z) P -> f z <= g z) -> Ex P f <= Ex P g.
Proof.
  unfold Ex. revert Pnn. induction P as [| [p z] Q IH]; simpl; intros Hnn H. lra.
  assert (0 <= p) by (apply (Hnn p z); auto). pose proof (H p z (or_introl eq_refl)).
  assert (Exl Q f <= Exl Q g) by (apply IH; intros; [eapply Hnn | eapply H]; right; eauto). nra.
Qed.

Lemma Em_le_samples m : forall f g, (forall zs, In zs (samples m) -> f zs <= g zs) -> Em P m f <= Em P m g.
Proof.
  induction m; intros f g H; simpl. apply H. simpl; auto.
  apply Ex_le_support. intros p z Hz. apply IHm. intros zs Hzs. apply H. eapply samples_cons; eauto.
Qed.

Lemma Em_ext_samples m f g : (forall zs, In zs (samples m) -> f zs = g zs) -> Em P m f = Em P m g.
Proof. intros H. apply Rle_antisym; apply Em_le_samples; intros; rewrite H; auto; lra. Qed.

Lemma Pr_mono m (A B : list Z -> Prop) : (forall zs, In zs (samples m) -> A zs -> B zs) -> Pr m A <= Pr m B.
Proof.
  intros H. apply Em_le_samples. intros zs Hzs. unfold indicator. specialize (H zs Hzs).
  destruct (decide (A zs)), (decide (B zs)); try lra. tauto.
Qed.

Hypothesis Pone : Ex P (fun _ => 1) = 1.

Lemma Pr_range m A : 0 <= Pr m A <= 1.
Proof.
  unfold Pr. split; [rewrite <- (Em_const P Pone m 0) | rewrite <- (Em_const P Pone m 1)];
    apply Em_le_samples; intros; apply indicator_le_1.
Qed.

Lemma Pr_certain m (A : list Z -> Prop) : (forall zs, In zs (samples m) -> A zs) -> Pr m A = 1.
Proof.
  intros H. unfold Pr. rewrite <- (Em_const P Pone m 1). apply Em_ext_samples. intros zs Hzs.
  unfold indicator. destruct decide; [reflexivity | exfalso; auto].
Qed.

Lemma Pr_or m (A B : list Z -> Prop) : Pr m (fun zs => A zs \/ B zs) <= Pr m A + Pr m B.
Proof.
  unfold Pr. rewrite <- Em_plus. apply Em_le_samples. intros zs _. unfold indicator.
  destruct (decide (A zs \/ B zs)), (decide (A zs)), (decide (B zs)); try lra. tauto.
Qed.

Lemma Pr_false m (A : list Z -> Prop) : (forall zs, In zs (samples m) -> ~ A zs) -> Pr m A = 0.
Proof.
  intros H. unfold Pr. rewrite <- (Em_const P Pone m 0). apply Em_ext_samples. intros zs Hzs.
  unfold indicator. destruct decide as [K | K]; [exfalso; eapply H; eauto | reflexivity].
Qed.

Lemma Pr_union_list {H : Type} m (A : H -> list Z -> Prop) (l : list H) :
  Pr m (fun zs => exists h, In h l /\ A h zs) <= sum_list l (fun h => Pr m (A h)).
Proof.
  induction l as [| h l IH]; simpl.
  - rewrite Pr_false. lra. intros zs _ [h [[] _]].
  - eapply Rle_trans; [| apply Rplus_le_compat_l, IH]. eapply Rle_trans; [| apply Pr_or].
    apply Pr_mono. intros zs _ [g [[<- | Hg] K]]; [left; auto | right; exists g; auto].
Qed.

(** Finitely many members of any class witness every bad sample. *)
Lemma finite_witnesses {T : Type} (C : T -> Prop) (A : T -> list Z -> Prop) m :
  exists l : list T, (forall t, In t l -> C t) /\
    forall zs, In zs (samples m) -> (exists t, C t /\ A t zs) -> exists t, In t l /\ A t zs.
Proof.
  induction (samples m) as [| zs S [l [Hl HA]]].
  - exists nil. split; intros; [destruct H | destruct H].
  - destruct (classic (exists t, C t /\ A t zs)) as [[t [Ht HAt]] | Hno].
    + exists (t :: l). split. intros s [<- | Hs]; auto.
      intros ys [<- | Hys] Hex. exists t; split; [left |]; auto.
      destruct (HA ys Hys Hex) as [s [Hs Hs']]. exists s; split; [right |]; auto.
    + exists l. split; auto. intros ys [<- | Hys] Hex; [contradiction | auto].
Qed.

(** The union bound with weights of sum at most 1, over any index type. *)
Theorem Pr_union {H : Type} m (A : H -> list Z -> Prop) (w : H -> R) (delta : R) :
  0 <= delta ->
  (forall l, NoDup l -> sum_list l w <= 1) ->
  (forall h, Pr m (A h) <= delta * w h) ->
  Pr m (fun zs => exists h, A h zs) <= delta.
Proof.
  intros Hd Hw HA.
  destruct (finite_witnesses (fun _ : H => True) A m) as [l [_ Hl]].
  set (l' := nodup (fun a b => decide (a = b)) l).
  apply Rle_trans with (Pr m (fun zs => exists h, In h l' /\ A h zs)).
  - apply Pr_mono. intros zs Hzs [h Hh]. destruct (Hl zs Hzs) as [g [Hg K]]; [eauto |].
    exists g. split; auto. apply nodup_In. exact Hg.
  - eapply Rle_trans. apply Pr_union_list. eapply Rle_trans. apply sum_list_le. intros h _. apply HA.
    rewrite sum_list_scal. rewrite <- (Rmult_1_r delta) at 2. apply Rmult_le_compat_l; auto.
    apply Hw. apply NoDup_nodup.
Qed.
End Probability.
