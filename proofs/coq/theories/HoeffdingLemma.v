(** * Hoeffding's lemma, constant 1/8

The moment generating function of a centred variable with range of length [c] is at most
[exp (lam^2 c^2 / 8)].  The heart is the two-point case, proved by two uses of the mean value
theorem. *)
From Coq Require Import Reals List Lra Psatz Lia.
From Coquelicot Require Import Coquelicot.
From Attention Require Import Expectation.
Import ListNotations.
Open Scope R_scope.

Section Core.
Variable p : R.
Hypothesis Hp : 0 <= p <= 1.
Let q h := 1 - p + p * exp h.
Let L h := h^2 / 8 + p * h - ln (q h).
Let L1 h := h / 4 + p - p * exp h / q h.
Let L2 h := 1 / 4 - (p * exp h / q h) * ((1 - p) / q h).

Lemma q_pos h : 0 < q h.
Proof.
  unfold q. pose proof (exp_pos h).
  destruct (Rle_lt_dec p 0). replace p with 0 by lra. lra.
  assert (0 < p * exp h) by (apply Rmult_lt_0_compat; lra). lra.
Qed.
Lemma dL h : is_derive L h (L1 h).
Proof.
  unfold L, L1, q. pose proof (q_pos h) as Hq. unfold q in Hq.
  auto_derive. auto. field. lra.
Qed.
Lemma dL1 h : is_derive L1 h (L2 h).
Proof.
  unfold L1, L2, q. pose proof (q_pos h) as Hq. unfold q in Hq.
  auto_derive. lra. field. lra.
Qed.
Lemma L2_pos h : 0 <= L2 h.
Proof.
  unfold L2. pose proof (q_pos h) as Hq.
  assert (H : p * exp h / q h + (1 - p) / q h = 1) by (unfold q in *; field; lra).
  set (u := p * exp h / q h) in *. set (v := (1 - p) / q h) in *.
  assert (0 <= (u - v)^2) by (apply pow2_ge_0). nra.
Qed.
Lemma mvt (f df : R -> R) : (forall x, is_derive f x (df x)) -> forall a b,
  exists c, Rmin a b <= c <= Rmax a b /\ f b - f a = df c * (b - a).
Proof.
  intros H a b. apply (MVT_gen f a b df).
  - intros; apply H.
  - intros x _. apply continuity_pt_filterlim. apply (ex_derive_continuous (V := R_NormedModule)). exists (df x). apply H.
Qed.
Lemma L_nonneg h : 0 <= L h.
Proof.
  assert (L0 : L 0 = 0). { unfold L, q. rewrite exp_0. replace (1 - p + p * 1) with 1 by ring. rewrite ln_1. lra. }
  assert (L10 : L1 0 = 0). { unfold L1, q. rewrite exp_0. field. lra. }
  destruct (mvt L L1 dL 0 h) as [c [Hc Heq]].
  destruct (mvt L1 L2 dL1 0 c) as [d [Hd Heq2]].
  pose proof (L2_pos d) as H2. rewrite L10 in Heq2. rewrite L0 in Heq.
  assert (0 <= c * h).
  { unfold Rmin, Rmax in Hc. destruct Rle_dec; nra. }
  replace (L1 c) with (L2 d * c) in Heq by lra. 
  replace (L h) with (L2 d * (c * h)) by lra. apply Rmult_le_pos; auto.
Qed.
Lemma two_point h : (1 - p) * exp (- p * h) + p * exp ((1 - p) * h) <= exp (h^2 / 8).
Proof.
  pose proof (L_nonneg h) as H. unfold L in H. pose proof (q_pos h) as Hq.
  replace ((1 - p) * exp (- p * h) + p * exp ((1 - p) * h)) with (exp (ln (q h) - p * h)).
  - destruct (Rle_lt_or_eq_dec _ _ H) as [K|K]. left. apply exp_increasing. lra.
    right. f_equal. lra.
  - unfold Rminus at 1. rewrite exp_plus, exp_ln by auto. unfold q.
    replace ((1 - p) * h) with (h + - p * h) by ring. rewrite exp_plus.
    replace (- (p * h)) with (- p * h) by ring. ring.
Qed.
End Core.

(* chord bound: convexity of exp from the tangent line 1 + x <= exp x *)
Lemma exp_tangent m x : exp m + exp m * (x - m) <= exp x.
Proof.
  replace (exp x) with (exp m * exp (x - m)) by (rewrite <- exp_plus; f_equal; ring).
  pose proof (exp_pos m). pose proof (exp_ineq1_le (x - m)). nra.
Qed.
Lemma exp_chord th u v : 0 <= th <= 1 -> exp ((1 - th) * u + th * v) <= (1 - th) * exp u + th * exp v.
Proof.
  intros H. set (m := (1 - th) * u + th * v).
  pose proof (exp_tangent m u) as H1. pose proof (exp_tangent m v) as H2.
  assert (E0 : (1 - th) * (u - m) + th * (v - m) = 0) by (unfold m; ring).
  assert ((1 - th) * (exp m + exp m * (u - m)) <= (1 - th) * exp u) by (apply Rmult_le_compat_l; lra).
  assert (th * (exp m + exp m * (v - m)) <= th * exp v) by (apply Rmult_le_compat_l; lra).
  replace (exp m) with ((1 - th) * (exp m + exp m * (u - m)) + th * (exp m + exp m * (v - m))).
  lra. transitivity (exp m + exp m * ((1 - th) * (u - m) + th * (v - m))). ring. rewrite E0. ring.
Qed.

Section Prob.
Context {Z : Type} (P : list (R * Z)).
Hypothesis Pnn : forall p z, In (p, z) P -> 0 <= p.
Hypothesis Pone : Ex P (fun _ => 1) = 1.
Notation Ex := (Ex P). Notation Em := (Em P).

(* ---------- Hoeffding's lemma ---------- *)
Theorem hoeffding_lemma (X : Z -> R) (a c lam : R) : 0 < c ->
  (forall z, a <= X z <= a + c) ->
  Ex (fun z => exp (lam * (X z - Ex X))) <= exp (lam^2 * c^2 / 8).
Proof.
  intros Hc HX. set (mu := Ex X).
  assert (Hmu : a <= mu <= a + c).
  { split; unfold mu. rewrite <- (Ex_const P Pone a); apply Ex_le; auto; intros; apply HX.
    rewrite <- (Ex_const P Pone (a + c)); apply Ex_le; auto; intros; apply HX. }
  set (p := (mu - a) / c).
  assert (Hp : 0 <= p <= 1).
  { unfold p. split. apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; auto].
    apply Rmult_le_reg_r with c; auto. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
  pose proof (two_point p Hp (lam * c)) as H.
  replace ((lam * c)^2 / 8) with (lam^2 * c^2 / 8) in H by field.
  eapply Rle_trans; [| apply H].
  set (u := exp (- p * (lam * c))) in *. set (v := exp ((1 - p) * (lam * c))) in *.
  assert (Hpt : forall z, exp (lam * (X z - mu)) <= (1 - (X z - a) / c) * u + (X z - a) / c * v).
  { intros z. unfold u, v. specialize (HX z).
    replace (lam * (X z - mu)) with ((1 - (X z - a) / c) * (- p * (lam * c)) + (X z - a) / c * ((1 - p) * (lam * c)))
      by (unfold p; field; lra).
    apply exp_chord. split. apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; auto].
    apply Rmult_le_reg_r with c; auto. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
  eapply Rle_trans. apply Ex_le; auto. apply Hpt.
  rewrite (Ex_ext P _ (fun z => (u + (- a / c) * (v - u)) + ((v - u) / c) * X z)) by (intros; field; lra).
  rewrite Ex_plus, Ex_const, Ex_scal by auto. fold mu. apply Req_le. unfold p. field. lra.
Qed.

End Prob.
