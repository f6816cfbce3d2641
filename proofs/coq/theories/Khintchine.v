(** * Khintchine's inequality in L1 with the sharp constant sqrt 2

[‖v‖ <= sqrt 2 * E |<v, eps>|] for every vector (Szarek 1976).  The proof is that of Latala and
Oleszkiewicz (1994): an even function on the cube satisfies a Poincare inequality with the
doubled constant, and [|<v, eps>|] is even and dominates its own discrete Laplacian.  The
constant cannot be lowered: [khintchine_sharp]. *)
From Coq Require Import Reals List Lra Psatz Lia.
From Attention Require Import SignAverages.
Import ListNotations.
Open Scope R_scope.

(** ** The Dirichlet form and two Poincare inequalities *)
Fixpoint dirichlet (n : nat) (f : list R -> R) : R :=
  match n with
  | O => 0
  | S n => (dirichlet n (fun x => f (1::x)) + dirichlet n (fun x => f (neg1::x))) / 2
           + E n (fun x => (f (1::x) - f (neg1::x))^2) / 4
  end.

Lemma dirichlet_ext n : forall f g, (forall x, cube n x -> f x = g x) -> dirichlet n f = dirichlet n g.
Proof.
  induction n; intros f g H; cbn [dirichlet]. reflexivity.
  rewrite (IHn (fun x => f (1::x)) (fun x => g (1::x))) by (intros; apply H; simpl; auto).
  rewrite (IHn (fun x => f (neg1::x)) (fun x => g (neg1::x))) by (intros; apply H; simpl; auto).
  rewrite (E_ext n (fun x => (f (1::x) - f (neg1::x))^2) (fun x => (g (1::x) - g (neg1::x))^2)); auto.
  intros. rewrite (H (1::x)), (H (neg1::x)); simpl; auto.
Qed.

Lemma dirichlet_parallelogram n : forall f g,
  dirichlet n (fun x => f x + g x) + dirichlet n (fun x => f x - g x) = 2 * dirichlet n f + 2 * dirichlet n g.
Proof.
  induction n; intros f g; cbn [dirichlet]. lra.
  pose proof (IHn (fun x => f (1::x)) (fun x => g (1::x))) as H1.
  pose proof (IHn (fun x => f (neg1::x)) (fun x => g (neg1::x))) as H2.
  pose proof (E_parallelogram n (fun x => f (1::x) - f (neg1::x)) (fun x => g (1::x) - g (neg1::x))) as H3.
  cbn beta in *.
  rewrite (E_ext n (fun x => (f (1 :: x) + g (1 :: x) - (f (neg1 :: x) + g (neg1 :: x))) ^ 2)
    (fun x => (f (1 :: x) - f (neg1 :: x) + (g (1 :: x) - g (neg1 :: x))) ^ 2)) by (intros; ring).
  rewrite (E_ext n (fun x => (f (1 :: x) - g (1 :: x) - (f (neg1 :: x) - g (neg1 :: x))) ^ 2)
    (fun x => (f (1 :: x) - f (neg1 :: x) - (g (1 :: x) - g (neg1 :: x))) ^ 2)) by (intros; ring).
  lra.
Qed.

Lemma poincare n : forall f, E n (fun x => (f x)^2) - (E n f)^2 <= dirichlet n f.
Proof.
  induction n; intros f. simpl; lra.
  cbn [E dirichlet].
  pose proof (IHn (fun x => f (1::x))) as H1.
  pose proof (IHn (fun x => f (neg1::x))) as H2.
  pose proof (jensen_sq n (fun x => f (1::x) - f (neg1::x))) as H3.
  rewrite E_minus in H3. cbn beta in *.
  set (a := E n (fun x => f (1::x))) in *. set (b := E n (fun x => f (neg1::x))) in *.
  nra.
Qed.

Definition even n (f : list R -> R) := forall x, cube n x -> f (map Ropp x) = f x.

Lemma even_poincare n : forall f, even n f ->
  2 * (E n (fun x => (f x)^2) - (E n f)^2) <= dirichlet n f.
Proof.
  induction n; intros f Hf. simpl; lra.
  set (g := fun x => f (1 :: x)). set (gm := fun x => g (map Ropp x)).
  assert (Hm : forall x, cube n x -> f (neg1 :: x) = gm x).
  { intros x Hx. unfold gm, g. symmetry.
    rewrite <- (Hf (1 :: map Ropp x)). simpl. rewrite map_opp_inv. reflexivity.
    simpl. split; auto. apply cube_opp; auto. }
  set (ge := fun x => (g x + gm x) / 2). set (go := fun x => (g x - gm x) / 2).
  cbn [E dirichlet].
  rewrite (E_ext n (fun x => f (neg1 :: x)) gm) by auto.
  rewrite (E_ext n (fun x => f (neg1 :: x) ^ 2) (fun x => (gm x)^2)) by (intros; rewrite Hm; auto).
  rewrite (dirichlet_ext n (fun x => f (neg1 :: x)) gm) by auto.
  rewrite (E_ext n (fun x => (f (1 :: x) - f (neg1 :: x)) ^ 2) (fun x => 4 * (go x)^2))
    by (intros; rewrite Hm by auto; unfold go, g; field).
  rewrite E_scal.
  pose proof (dirichlet_parallelogram n ge go) as HD.
  rewrite (dirichlet_ext n (fun x => ge x + go x) g) in HD by (intros; unfold ge, go; field).
  rewrite (dirichlet_ext n (fun x => ge x - go x) gm) in HD by (intros; unfold ge, go; field).
  pose proof (E_parallelogram n ge go) as HE.
  rewrite (E_ext n (fun x => (ge x + go x)^2) (fun x => (g x)^2)) in HE by (intros; unfold ge, go; field).
  rewrite (E_ext n (fun x => (ge x - go x)^2) (fun x => (gm x)^2)) in HE by (intros; unfold ge, go; field).
  assert (Hgm : E n gm = E n g) by (unfold gm; apply (E_opp n g)).
  assert (Hge : E n ge = E n g).
  { unfold ge. rewrite (E_ext n _ (fun x => /2 * g x + /2 * gm x)) by (intros; field).
    rewrite E_plus, !E_scal, Hgm. lra. }
  assert (Hgo : E n go = 0).
  { unfold go. rewrite (E_ext n _ (fun x => /2 * g x - /2 * gm x)) by (intros; field).
    rewrite E_minus, !E_scal, Hgm. lra. }
  assert (Hev : even n ge).
  { intros x Hx. unfold ge, gm. rewrite map_opp_inv. lra. }
  pose proof (IHn ge Hev) as IH.
  pose proof (poincare n go) as HP.
  rewrite Hgo in HP. rewrite Hge in IH. rewrite Hgm.
  fold g. change (fun x => f (1 :: x)) with g.
  change (E n (fun x => f (1 :: x) ^ 2)) with (E n (fun x => (g x)^2)).
  replace ((E n g + E n g) / 2) with (E n g) by lra.
  lra.
Qed.


(** ** The discrete Laplacian, whose quadratic form is the Dirichlet form *)
Fixpoint generator (n : nat) (f : list R -> R) (x : list R) : R :=
  match n, x with
  | S n, e :: x => generator n (fun y => f (e :: y)) x + (f (e :: x) - f (- e :: x)) / 2
  | _, _ => 0
  end.

Lemma generator_ext n : forall f g x, (forall y, f y = g y) -> generator n f x = generator n g x.
Proof.
  induction n; destruct x; simpl; intros; auto.
  rewrite (IHn (fun y => f (r :: y)) (fun y => g (r :: y))) by auto. rewrite !H. reflexivity.
Qed.

Lemma E_generator n : forall f, E n (fun x => f x * generator n f x) = dirichlet n f.
Proof.
  induction n; intros f. simpl; lra.
  cbn [E dirichlet generator]. rewrite Ropp_involutive.
  rewrite <- (IHn (fun x => f (1::x))), <- (IHn (fun x => f (neg1::x))).
  set (centred := fun x => f (1 :: x) * generator n (fun y => f (1::y)) x).
  set (B := fun x => f (neg1 :: x) * generator n (fun y => f (neg1::y)) x).
  rewrite (E_ext n (fun x => f (1 :: x) * (generator n (fun y => f (1 :: y)) x + (f (1 :: x) - f (neg1 :: x)) / 2))
     (fun x => centred x + /2 * (f (1::x) * (f (1::x) - f (neg1::x))))) by (intros; unfold centred; field).
  rewrite (E_ext n (fun x => f (neg1 :: x) * (generator n (fun y => f (neg1 :: y)) x + (f (neg1 :: x) - f (1 :: x)) / 2))
     (fun x => B x + /2 * (f (neg1::x) * (f (neg1::x) - f (1::x))))) by (intros; unfold B; field).
  rewrite !E_plus, !E_scal.
  rewrite (E_ext n (fun x => (f (1 :: x) - f (neg1 :: x)) ^ 2)
     (fun x => f (1::x) * (f (1::x) - f (neg1::x)) + f (neg1::x) * (f (neg1::x) - f (1::x)))) by (intros; ring).
  rewrite E_plus. fold centred B. lra.
Qed.

Lemma generator_abs : forall v c x s, cube (length v) x -> (s = 1 \/ s = neg1) ->
  s * (c + dot v x) = Rabs (c + dot v x) ->
  generator (length v) (fun x => Rabs (c + dot v x)) x <= s * dot v x.
Proof.
  induction v; destruct x; simpl; try tauto. intros; lra.
  intros s [He Hx] Hs Habs.
  rewrite (generator_ext (length v) (fun y => Rabs (c + (a * r + dot v y))) (fun y => Rabs ((c + a * r) + dot v y)))
    by (intros; f_equal; ring).
  assert (IH : generator (length v) (fun y => Rabs ((c + a * r) + dot v y)) x <= s * dot v x).
  { apply IHv; auto. rewrite Rplus_assoc. auto. }
  assert (H2 : s * (c + (a * - r + dot v x)) <= Rabs (c + (a * - r + dot v x))).
  { destruct Hs; subst s. rewrite Rmult_1_l. apply Rle_abs.
    replace (neg1 * (c + (a * - r + dot v x))) with (- (c + (a * - r + dot v x))) by ring.
    rewrite <- Rabs_Ropp. apply Rle_abs. }
  rewrite <- Habs. lra.
Qed.

(** ** The theorem *)
(** The squared form: [‖v‖^2 <= 2 (E |<v, eps>|)^2]. *)
Theorem khintchine_sq : forall v, norm_sq v <= 2 * (E (length v) (fun x => Rabs (dot v x)))^2.
Proof.
  intros v. set (n := length v). set (f := fun x => Rabs (dot v x)).
  assert (Hev : even n f).
  { intros x Hx. unfold f. rewrite dot_opp, Rabs_Ropp. reflexivity. }
  pose proof (even_poincare n f Hev) as HP.
  assert (HD : dirichlet n f <= E n (fun x => (f x)^2)).
  { rewrite <- E_generator. apply E_le. intros x Hx.
    assert (Hf0 : 0 <= f x) by (unfold f; apply Rabs_pos).
    assert (generator n f x <= f x).
    { unfold f at 1. rewrite (generator_ext n _ (fun x => Rabs (0 + dot v x))) by (intros; rewrite Rplus_0_l; auto).
      unfold f. destruct (Rle_dec 0 (dot v x)) as [h|h].
      - rewrite (Rabs_pos_eq (dot v x)) by auto.
        assert (K : generator (length v) (fun x => Rabs (0 + dot v x)) x <= 1 * dot v x).
        { apply generator_abs; auto. rewrite Rplus_0_l, Rabs_pos_eq by auto. ring. }
        unfold n; lra.
      - rewrite (Rabs_left (dot v x)) by lra.
        assert (K : generator (length v) (fun x => Rabs (0 + dot v x)) x <= neg1 * dot v x).
        { apply generator_abs; auto. rewrite Rplus_0_l, Rabs_left by lra. ring. }
        unfold n; lra. }
    nra. }
  assert (HE : E n (fun x => (f x)^2) = norm_sq v).
  { rewrite <- E_dot_sq. apply E_ext. intros. unfold f. apply pow2_abs. }
  fold f. rewrite HE in *. lra.
Qed.

(** Khintchine's inequality: [‖v‖ <= sqrt 2 * E |<v, eps>|] for every vector [v]. *)
Theorem khintchine : forall v, sqrt (norm_sq v) <= sqrt 2 * E (length v) (fun x => Rabs (dot v x)).
Proof.
  intros v. set (a := E (length v) (fun x => Rabs (dot v x))).
  assert (Ha : 0 <= a).
  { unfold a. rewrite <- (E_const (length v) 0). apply E_le. intros. apply Rabs_pos. }
  rewrite <- (sqrt_pow2 a Ha) , <- sqrt_mult by (nra || lra).
  apply sqrt_le_1_alt. apply khintchine_sq.
Qed.


(** Equality at v = (1,1): the factor sqrt 2 cannot be lowered. *)
Lemma khintchine_sharp : sqrt (norm_sq [1;1]) = sqrt 2 * E 2 (fun x => Rabs (dot [1;1] x)).
Proof.
  simpl. 
  replace (1 * (1*1) + (1*(1*1) + 0)) with 2 by ring.
  replace (1*1 + (1*1+0)) with 2 by ring. replace (1*1 + (1*neg1+0)) with 0 by ring.
  replace (1*neg1 + (1*1+0)) with 0 by ring. replace (1*neg1 + (1*neg1+0)) with (-2) by ring.
  rewrite Rabs_R0, (Rabs_pos_eq 2) by lra. rewrite (Rabs_left (-2)) by lra.
  replace (1 ^ 2 + (1 ^ 2 + 0)) with 2 by ring. lra.
Qed.
