(** * Averages over random signs

[E n f] is the mean of [f] over the [2^n] sign vectors [{-1,1}^n]: the exact meaning of
"expectation over Rademacher signs" in every later file.  Vectors are lists of reals; [dot] is
the inner product, [norm_sq] the squared Euclidean norm. *)
From Coq Require Import Reals List Lra Psatz Lia.
Import ListNotations.
Open Scope R_scope.

Notation neg1 := (Ropp 1).

(* ---- uniform average over the cube {-1,1}^n ---- *)
Fixpoint E (n : nat) (f : list R -> R) : R :=
  match n with
  | O => f nil
  | S n => (E n (fun x => f (1 :: x)) + E n (fun x => f (neg1 :: x))) / 2
  end.

Fixpoint cube (n : nat) (x : list R) : Prop :=
  match n, x with
  | O, nil => True
  | S n, e :: x => (e = 1 \/ e = neg1) /\ cube n x
  | _, _ => False
  end.

Lemma E_ext n : forall f g, (forall x, cube n x -> f x = g x) -> E n f = E n g.
Proof.
  induction n; simpl; intros f g H. apply H; exact I.
  rewrite (IHn (fun x => f (1 :: x)) (fun x => g (1 :: x))), (IHn (fun x => f (neg1 :: x)) (fun x => g (neg1 :: x))); auto;
  intros x Hx; apply H; simpl; auto.
Qed.

Lemma E_le n : forall f g, (forall x, cube n x -> f x <= g x) -> E n f <= E n g.
Proof.
  induction n; simpl; intros f g H. apply H; exact I.
  assert (E n (fun x => f (1 :: x)) <= E n (fun x => g (1 :: x))) by (apply IHn; intros; apply H; simpl; auto).
  assert (E n (fun x => f (neg1 :: x)) <= E n (fun x => g (neg1 :: x))) by (apply IHn; intros; apply H; simpl; auto).
  lra.
Qed.

Lemma E_plus n : forall f g, E n (fun x => f x + g x) = E n f + E n g.
Proof.
  induction n; simpl; intros f g. reflexivity.
  rewrite (IHn (fun x => f (1::x)) (fun x => g (1::x))), (IHn (fun x => f (neg1::x)) (fun x => g (neg1::x))). lra.
Qed.

Lemma E_scal n : forall c f, E n (fun x => c * f x) = c * E n f.
Proof.
  induction n; simpl; intros c f. reflexivity.
  rewrite (IHn c (fun x => f (1::x))), (IHn c (fun x => f (neg1::x))). lra.
Qed.

Lemma E_const n : forall c, E n (fun _ => c) = c.
Proof. induction n; simpl; intros c. reflexivity. rewrite IHn. lra. Qed.

Lemma E_minus n f g : E n (fun x => f x - g x) = E n f - E n g.
Proof.
  rewrite (E_ext n _ (fun x => f x + (-1) * g x)) by (intros; lra).
  rewrite E_plus, E_scal. lra.
Qed.

Lemma E_opp n : forall f, E n (fun x => f (map Ropp x)) = E n f.
Proof.
  induction n; simpl; intros f. reflexivity.
  rewrite Ropp_involutive.
  rewrite (IHn (fun x => f (neg1 :: x))), (IHn (fun x => f (1 :: x))). lra.
Qed.

Lemma cube_opp n : forall x, cube n x -> cube n (map Ropp x).
Proof.
  induction n; destruct x; simpl; try tauto. intros [H Hx]. split; auto.
  destruct H; subst; [right | left]; lra.
Qed.

Lemma map_opp_inv : forall x, map Ropp (map Ropp x) = x.
Proof. induction x; simpl; auto. rewrite IHx, Ropp_involutive. reflexivity. Qed.

Lemma cube_length n : forall x, cube n x -> length x = n.
Proof. induction n; destruct x; simpl; try tauto. intros [_ H]. f_equal. auto. Qed.

(* Fubini and concatenation *)
Lemma E_swap m : forall n (f : list R -> list R -> R),
  E m (fun x => E n (fun y => f x y)) = E n (fun y => E m (fun x => f x y)).
Proof.
  induction m; simpl; intros n f. reflexivity.
  rewrite (IHm n (fun x y => f (1::x) y)), (IHm n (fun x y => f (neg1::x) y)).
  rewrite <- E_plus. unfold Rdiv. rewrite Rmult_comm, <- E_scal.
  apply E_ext; intros; lra.
Qed.

Lemma E_app m : forall n f, E (m + n) f = E m (fun x => E n (fun y => f (x ++ y))).
Proof.
  induction m; simpl; intros n f. reflexivity.
  rewrite (IHm n (fun z => f (1::z))), (IHm n (fun z => f (neg1::z))). reflexivity.
Qed.

(* Jensen for the square *)
Lemma E_sq_nonneg n f : 0 <= E n (fun x => (f x)^2).
Proof. rewrite <- (E_const n 0). apply E_le. intros. nra. Qed.

Lemma jensen_sq n f : (E n f)^2 <= E n (fun x => (f x)^2).
Proof.
  set (c := E n f).
  assert (H : 0 <= E n (fun x => (f x - c)^2)) by (apply E_sq_nonneg).
  rewrite (E_ext n _ (fun x => ((f x)^2 + (-2*c) * f x) + c^2)) in H by (intros; ring).
  rewrite !E_plus, E_scal, E_const in H. fold c in H. lra.
Qed.

Lemma E_parallelogram n f g :
  E n (fun x => (f x + g x)^2) + E n (fun x => (f x - g x)^2)
  = 2 * E n (fun x => (f x)^2) + 2 * E n (fun x => (g x)^2).
Proof.
  rewrite <- E_plus, <- !E_scal, <- E_plus. apply E_ext; intros; ring.
Qed.

(** ** Vectors and linear forms in the signs *)

Fixpoint dot (v x : list R) : R :=
  match v, x with a :: v, e :: x => a * e + dot v x | _, _ => 0 end.
Fixpoint norm_sq (v : list R) : R := match v with nil => 0 | a :: v => a^2 + norm_sq v end.

Lemma norm_sq_nonneg v : 0 <= norm_sq v.
Proof. induction v; simpl; nra. Qed.

Lemma dot_opp v : forall x, dot v (map Ropp x) = - dot v x.
Proof. induction v; destruct x; simpl; try lra. rewrite IHv. lra. Qed.

Lemma E_lin n : forall v, E n (fun x => dot v x) = 0.
Proof.
  intros v. pose proof (E_opp n (dot v)) as H.
  rewrite (E_ext n (fun x => dot v (map Ropp x)) (fun x => (-1) * dot v x)) in H by (intros; rewrite dot_opp; lra).
  rewrite E_scal in H. change (E n (fun x => dot v x)) with (E n (dot v)). lra.
Qed.

Lemma E_dot_sq : forall v, E (length v) (fun x => (dot v x)^2) = norm_sq v.
Proof.
  induction v; cbn [length E dot norm_sq]. simpl; lra.
  rewrite (E_ext (length v) (fun x => (a * 1 + dot v x)^2) (fun x => (a^2 + (2*a) * dot v x) + (dot v x)^2)) by (intros; ring).
  rewrite (E_ext (length v) (fun x => (a * neg1 + dot v x)^2) (fun x => (a^2 + (-2*a) * dot v x) + (dot v x)^2)) by (intros; ring).
  rewrite !E_plus, !E_scal, !E_const, E_lin, IHv. lra.
Qed.

Lemma E_nonneg n f : (forall x, cube n x -> 0 <= f x) -> 0 <= E n f.
Proof. intros H. rewrite <- (E_const n 0). apply E_le. exact H. Qed.
