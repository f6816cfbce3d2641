(** * Massart's finite-class lemma *)
From Coq Require Import Reals List Lra Psatz Lia.
From Attention Require Import SignAverages FiniteSup HoeffdingLemma.
Import ListNotations.
Open Scope R_scope.

Lemma cosh_le x : (exp x + exp (- x)) / 2 <= exp (x^2 / 2).
Proof.
  pose proof (two_point (1/2) ltac:(lra) (2 * x)) as H.
  replace ((1 - 1/2) * (2 * x)) with x in H by field. replace (- (1/2) * (2 * x)) with (- x) in H by field.
  replace ((2 * x)^2 / 8) with (x^2 / 2) in H by field. lra.
Qed.
Lemma E_exp_dot lam : forall v, E (length v) (fun e => exp (lam * dot v e)) <= exp (lam^2 * norm_sq v / 2).
Proof.
  induction v as [|a v IH]; cbn [length E dot norm_sq]. right; f_equal; lra.
  rewrite (E_ext (length v) (fun x => exp (lam * (a * 1 + dot v x))) (fun x => exp (lam * a) * exp (lam * dot v x)))
    by (intros; rewrite <- exp_plus; f_equal; ring).
  rewrite (E_ext (length v) (fun x => exp (lam * (a * neg1 + dot v x))) (fun x => exp (- (lam * a)) * exp (lam * dot v x)))
    by (intros; rewrite <- exp_plus; f_equal; ring).
  rewrite !E_scal. pose proof (cosh_le (lam * a)) as H.
  replace (lam^2 * (a^2 + norm_sq v) / 2) with ((lam * a)^2 / 2 + lam^2 * norm_sq v / 2) by field. rewrite exp_plus.
  set (X := E (length v) (fun e => exp (lam * dot v e))) in *.
  assert (0 <= X). { unfold X. rewrite <- (E_const (length v) 0). apply E_le. intros. left. apply exp_pos. }
  pose proof (exp_pos (lam * a)). pose proof (exp_pos (- (lam * a))).
  apply Rle_trans with ((exp (lam * a) + exp (- (lam * a))) / 2 * X). lra.
  apply Rmult_le_compat; lra.
Qed.
Fixpoint sum_class {T} (t0 : T) (l : list T) (f : T -> R) : R := match l with nil => f t0 | t :: l => f t + sum_class t0 l f end.
Lemma Sup_le_sum {T} (t0 : T) l f : (forall t, 0 <= f t) -> Sup t0 l f <= sum_class t0 l f /\ 0 <= sum_class t0 l f.
Proof.
  intros H. induction l as [|a l [I1 I2]]; simpl. pose proof (H t0); lra.
  pose proof (H a). split; [|lra]. unfold Rmax; destruct Rle_dec; lra.
Qed.
Lemma E_sum_class {T} (t0 : T) l n (f : list R -> T -> R) : E n (fun e => sum_class t0 l (f e)) = sum_class t0 l (fun t => E n (fun e => f e t)).
Proof. induction l; simpl. reflexivity. rewrite E_plus, IHl. reflexivity. Qed.
Lemma sum_class_const {T} (t0 : T) l f c : (forall t, f t <= c) -> sum_class t0 l f <= INR (S (length l)) * c.
Proof. intros H. induction l as [|a l IH]. simpl. pose proof (H t0). lra.
  cbn [sum_class length]. rewrite S_INR. pose proof (H a). cbn [length] in IH. lra. Qed.

(** Massart's lemma: [N] vectors of length at most [r] have Rademacher average at most [r sqrt (2 ln N)]. *)
Theorem massart {T} (t0 : T) l n (v : T -> list R) (r : R) : 0 < r ->
  (forall t, length (v t) = n) -> (forall t, norm_sq (v t) <= r^2) -> (1 <= length l)%nat ->
  E n (fun e => Sup t0 l (fun t => dot (v t) e)) <= r * sqrt (2 * ln (INR (S (length l)))).
Proof.
  intros Hr Hlen Hn Hl. set (N := INR (S (length l))). set (s := sqrt (2 * ln N)).
  assert (HN : 1 < N). { unfold N. rewrite S_INR. apply le_INR in Hl. simpl in Hl. lra. }
  assert (Hln : 0 < ln N) by (rewrite <- ln_1; apply ln_increasing; lra).
  assert (Hs : 0 < s) by (apply sqrt_lt_R0; lra).
  assert (Hs2 : s^2 = 2 * ln N) by (unfold s; apply pow2_sqrt; lra).
  set (lam := s / r). assert (Hlam : 0 < lam) by (apply Rdiv_lt_0_compat; auto).
  set (M := E n (fun e => Sup t0 l (fun t => dot (v t) e))).
  assert (Hj : exp (lam * M) <= E n (fun e => exp (lam * Sup t0 l (fun t => dot (v t) e)))).
  { apply Rle_trans with (E n (fun e => exp (lam * M) + exp (lam * M) * (lam * Sup t0 l (fun t => dot (v t) e) - lam * M))).
    rewrite E_plus, E_const, E_scal, E_minus, E_scal, E_const. fold M. lra.
    apply E_le. intros. apply exp_tangent. }
  assert (Hu : exp (lam * M) <= N * exp (lam^2 * r^2 / 2)).
  { eapply Rle_trans. apply Hj.
    apply Rle_trans with (E n (fun e => sum_class t0 l (fun t => exp (lam * dot (v t) e)))).
    - apply E_le. intros e _. destruct (Sup_att t0 l (fun t => dot (v t) e)) as [t [Ht ->]].
      destruct (Sup_le_sum t0 l (fun t => exp (lam * dot (v t) e))) as [H1 _]. intros; left; apply exp_pos.
      eapply Rle_trans; [| apply H1]. apply (Sup_ub t0 l (fun t => exp (lam * dot (v t) e))); auto.
    - rewrite (E_sum_class t0 l n (fun e t => exp (lam * dot (v t) e))). apply sum_class_const. intros t. rewrite <- (Hlen t).
      eapply Rle_trans. apply E_exp_dot.
      assert (lam^2 * norm_sq (v t) / 2 <= lam^2 * r^2 / 2). { pose proof (Hn t). pose proof (pow2_ge_0 lam). nra. }
      destruct (Rle_lt_or_eq_dec _ _ H); [left; apply exp_increasing; auto | right; f_equal; auto]. }
  replace N with (exp (ln N)) in Hu by (apply exp_ln; lra). rewrite <- exp_plus in Hu.
  assert (Hl2 : lam * M <= ln N + lam^2 * r^2 / 2).
  { destruct (Rle_lt_dec (lam * M) (ln N + lam^2 * r^2 / 2)); auto. apply exp_increasing in r0. lra. }
  replace (lam^2 * r^2 / 2) with (s^2 / 2) in Hl2 by (unfold lam; field; lra).
  rewrite Hs2 in Hl2. replace (ln N + 2 * ln N / 2) with (s^2) in Hl2 by lra.
  unfold lam in Hl2. apply Rmult_le_reg_l with (s / r). auto.
  replace (s / r * (r * s)) with (s^2) by (field; lra). auto.
Qed.
