(** * McDiarmid's inequality

A function of an iid sample that moves by at most [c_i] with its i-th point exceeds its mean by
[t] with probability at most [exp (-2 t^2 / sum c_i^2)]. *)
From Coq Require Import Reals List Lra Psatz Lia.
From Attention Require Import Expectation HoeffdingLemma.
Import ListNotations.
Open Scope R_scope.

Section McDiarmid.
Context {Z : Type} (P : list (R * Z)).
Hypothesis Pnn : forall p z, In (p, z) P -> 0 <= p.
Hypothesis Pone : Ex P (fun _ => 1) = 1.
Notation Ex := (Ex P). Notation Em := (Em P).

(* ---------- bounded differences and McDiarmid's mgf bound ---------- *)
Fixpoint bounded_differences (cs : list R) (f : list Z -> R) : Prop :=
  match cs with
  | nil => True
  | c :: cs => 0 < c
     /\ (forall z z' zs, length zs = length cs -> f (z :: zs) - f (z' :: zs) <= c)
     /\ (forall z, bounded_differences cs (fun zs => f (z :: zs)))
  end.

Lemma inhab : exists z : Z, True.
Proof.
  destruct P as [|[p z] Q]. exfalso. unfold Expectation.Ex in Pone. simpl in Pone. lra. exists z; auto.
Qed.

Lemma range_of_diff (h : Z -> R) (c : R) : (forall z z', h z - h z' <= c) ->
  exists a, forall z, a <= h z <= a + c.
Proof.
  intros H. destruct inhab as [z0 _].
  destruct (completeness (fun y => exists z, y = h z)) as [s [Hub Hlub]].
  - exists (h z0 + c). intros y [z ->]. specialize (H z z0). lra.
  - exists (h z0), z0. reflexivity.
  - exists (s - c). intros z. split.
    assert (s <= h z + c). { apply Hlub. intros y [z' ->]. specialize (H z' z). lra. } lra.
    assert (h z <= s) by (apply Hub; exists z; auto). lra.
Qed.

Fixpoint sum_sq (cs : list R) : R := match cs with nil => 0 | c :: cs => c^2 + sum_sq cs end.

(** The moment generating function behind McDiarmid: [exp (lam^2 sum c^2 / 8)]. *)
Theorem mcdiarmid_mgf : forall cs f lam, bounded_differences cs f ->
  Em (length cs) (fun zs => exp (lam * (f zs - Em (length cs) f))) <= exp (lam^2 * sum_sq cs / 8).
Proof.
  induction cs as [|c cs IH]; intros f lam.
  - intros _. simpl. right. f_equal. lra.
  - intros [Hc [Hd Hb]]. cbn [length Expectation.Em sum_sq].
    set (m := length cs) in *. set (h := fun z => Em m (fun zs => f (z :: zs))).
    assert (Hh : forall z z', h z - h z' <= c).
    { intros z z'. unfold h. rewrite <- Em_minus. rewrite <- (Em_const P Pone m c). apply Em_le; auto. }
    destruct (range_of_diff h c Hh) as [a Ha].
    pose proof (hoeffding_lemma P Pnn Pone h a c lam Hc Ha) as HH.
    apply Rle_trans with (Ex (fun z => exp (lam^2 * sum_sq cs / 8) * exp (lam * (h z - Ex h)))).
    + apply Ex_le; auto. intros z.
      rewrite (Em_ext P m _ (fun zs => exp (lam * (h z - Ex h)) * exp (lam * (f (z :: zs) - h z)))).
      2:{ intros zs _. rewrite <- exp_plus. f_equal. change (Ex (fun z => Em m (fun zs => f (z :: zs)))) with (Ex h). ring. }
      rewrite Em_scal. rewrite Rmult_comm. apply Rmult_le_compat_r. left; apply exp_pos.
      apply (IH (fun zs => f (z :: zs)) lam (Hb z)).
    + rewrite Ex_scal. 
      replace (lam^2 * (c^2 + sum_sq cs) / 8) with (lam^2 * sum_sq cs / 8 + lam^2 * c^2 / 8) by field.
      rewrite exp_plus. apply Rmult_le_compat_l. left; apply exp_pos. apply HH.
Qed.

(** 1 if [a <= b], else 0. *)
Definition indicator_le (a b : R) : R := if Rle_dec a b then 1 else 0.

(** McDiarmid's inequality: [P(f - E f >= t) <= exp (-2 t^2 / sum c^2)]. *)
Theorem mcdiarmid cs f t : bounded_differences cs f -> 0 < t -> 0 < sum_sq cs ->
  Em (length cs) (fun zs => indicator_le t (f zs - Em (length cs) f)) <= exp (- 2 * t^2 / sum_sq cs).
Proof.
  intros HB Ht HS. set (m := length cs). set (mu := Em m f). set (s := sum_sq cs) in *.
  set (lam := 4 * t / s).
  pose proof (mcdiarmid_mgf cs f lam HB) as H. fold m mu s in H.
  apply Rle_trans with (exp (- lam * t) * exp (lam^2 * s / 8)).
  - eapply Rle_trans; [| apply Rmult_le_compat_l; [left; apply exp_pos | apply H]].
    rewrite <- Em_scal. apply Em_le; auto. intros zs _. unfold indicator_le.
    assert (Hlam : 0 < lam) by (unfold lam; apply Rdiv_lt_0_compat; lra).
    rewrite <- exp_plus. destruct Rle_dec; [| left; apply exp_pos].
    rewrite <- exp_0.
    assert (K : 0 <= - lam * t + lam * (f zs - mu)) by nra.
    destruct (Rle_lt_or_eq_dec _ _ K) as [K'|K']; [left; apply exp_increasing; auto | right; f_equal; auto].
  - rewrite <- exp_plus. right. f_equal. unfold lam. field. lra.
Qed.
End McDiarmid.
