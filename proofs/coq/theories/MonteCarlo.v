(** * A mean loss estimated from independent draws

The relative-entropy form of the Chernoff bound for the average of independent losses in [[0, 1]] drawn from
any law; they need not have equal means.  Independence enters as: exponential moments of the sum factor. *)
From Coquelicot Require Import Coquelicot.
From Coq Require Import Reals List Lra Psatz Lia Classical.
From Attention Require Import HoeffdingLemma Expectation Probability SoftmaxHead UniformDeviation ChernoffHoeffding Law PriorMoment PacBayes.
Import ListNotations.
Open Scope R_scope.

Section Draws.
Context {Om : Type} (D : law Om) (Xs : list (Om -> R)).

Definition average (omega : Om) : R := sum_list Xs (fun X => X omega) / INR (length Xs).
Definition mean_of_means : R := sum_list Xs (mean D) / INR (length Xs).

(** Losses in [[0, 1]] whose exponential moments factor, and finitely many values of their average (as for errors counted). *)
Definition independent_draws : Prop :=
  (forall X, In X Xs -> integrable D X /\ forall omega, 0 <= X omega <= 1) /\
  (forall s X, In X Xs -> integrable D (fun omega => exp (s * X omega))) /\
  (forall s, integrable D (fun omega => product (fun X => exp (s * X omega)) Xs) /\
     mean D (fun omega => product (fun X => exp (s * X omega)) Xs) = product (fun X => mean D (fun omega => exp (s * X omega))) Xs) /\
  exists values, forall omega, In (average omega) values.

Hypothesis draws : independent_draws.
Hypothesis some : Xs <> nil.

Lemma draws_number : 0 < INR (length Xs).
Proof. apply lt_0_INR. destruct Xs; [contradiction | simpl; lia]. Qed.

Lemma sum_list_range {A} (l : list A) f : (forall a, In a l -> 0 <= f a <= 1) -> 0 <= sum_list l f <= INR (length l).
Proof.
  induction l as [| a l IH]; intros Hf. simpl; lra. cbn [sum_list length]. rewrite S_INR.
  pose proof (Hf a (or_introl eq_refl)). specialize (IH (fun b Hb => Hf b (or_intror Hb))). lra.
Qed.

Lemma part_of_length x : 0 <= x <= INR (length Xs) -> 0 <= x / INR (length Xs) <= 1.
Proof.
  intros Hx. pose proof draws_number as Hn. split. apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; auto].
  apply Rmult_le_reg_r with (INR (length Xs)); auto. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra.
Qed.

Lemma average_range omega : 0 <= average omega <= 1.
Proof. apply part_of_length. apply sum_list_range. intros X HX. apply (proj1 draws X HX). Qed.

Lemma mean_range_draw X : In X Xs -> 0 <= mean D X <= 1.
Proof.
  intros HX. destruct (proj1 draws X HX) as [I Hr]. split; [rewrite <- (mean_const D 0) | rewrite <- (mean_const D 1)];
    apply mean_le; auto using integrable_const; intros; apply Hr.
Qed.

Lemma mean_of_means_range : 0 <= mean_of_means <= 1.
Proof. apply part_of_length. apply sum_list_range. apply mean_range_draw. Qed.

Lemma product_exp s omega : product (fun X => exp (s * X omega)) Xs = exp (s * sum_list Xs (fun X => X omega)).
Proof. clear. induction Xs as [| X l IH]; simpl. rewrite Rmult_0_r, exp_0. reflexivity. rewrite IH, <- exp_plus. f_equal. ring. Qed.

Lemma product_le_exp {A} (l : list A) (u v : A -> R) : (forall a, In a l -> 0 <= u a <= exp (v a)) -> 0 <= product u l <= exp (sum_list l v).
Proof.
  induction l as [| a l IH]; intros Hu; simpl. rewrite exp_0. lra. rewrite exp_plus.
  pose proof (Hu a (or_introl eq_refl)). specialize (IH (fun b Hb => Hu b (or_intror Hb))). split.
  apply Rmult_le_pos; lra. apply Rmult_le_compat; lra.
Qed.

Lemma product_scal {A} (l : list A) c (u : A -> R) : product (fun a => c * u a) l = c ^ length l * product u l.
Proof. induction l as [| a l IH]; simpl. ring. rewrite IH. ring. Qed.

(** The exponential moment of a tangent plane at the mean is at most 1. *)
Lemma tangent_moment a b : 0 < a < 1 -> 0 < b < 1 ->
  integrable D (fun omega => exp (INR (length Xs) * tangent a b (average omega) mean_of_means)) /\
  mean D (fun omega => exp (INR (length Xs) * tangent a b (average omega) mean_of_means)) <= 1.
Proof.
  intros Ha Hb. pose proof draws_number as Hn. destruct draws as [Hr [He [Hi _]]].
  set (n := INR (length Xs)) in *. set (q := mean_of_means). set (r := (1 - a) / (1 - b)).
  assert (Hrp : 0 < r) by (apply Rdiv_lt_0_compat; lra). assert (Hab : 0 < a / b) by (apply Rdiv_lt_0_compat; lra).
  set (s := ln (a / b) - ln r). set (c := n * (ln r + (1 - q * (a / b) - (1 - q) * r))).
  destruct (Hi s) as [I E].
  assert (Hf : forall omega, exp (n * tangent a b (average omega) q) = exp c * product (fun X => exp (s * X omega)) Xs).
  { intros omega. rewrite product_exp, <- exp_plus. f_equal. unfold tangent, average, c, s. fold r. fold n. field. lra. }
  assert (Hfun : (fun omega => exp (n * tangent a b (average omega) q)) = (fun omega => exp c * product (fun X => exp (s * X omega)) Xs))
    by (apply FunctionalExtensionality.functional_extensionality; exact Hf).
  rewrite Hfun. split. apply integrable_scal; auto. rewrite mean_scal, E by auto.
  assert (Ec : exp c = r ^ length Xs * exp (n * (1 - q * (a / b) - (1 - q) * r))).
  { unfold c. rewrite Rmult_plus_distr_l, exp_plus. f_equal. unfold n. rewrite exp_nat_mult, exp_ln; auto. }
  rewrite Ec. replace (r ^ length Xs * exp (n * (1 - q * (a / b) - (1 - q) * r)) * product (fun X => mean D (fun omega => exp (s * X omega))) Xs)
    with (exp (n * (1 - q * (a / b) - (1 - q) * r)) * product (fun X => r * mean D (fun omega => exp (s * X omega))) Xs) by (rewrite product_scal; ring).
  assert (Hes : r * exp s = a / b). { unfold s, Rminus. rewrite exp_plus, exp_Ropp, !exp_ln by auto. field. lra. }
  assert (Hbound : forall X, In X Xs -> 0 <= r * mean D (fun omega => exp (s * X omega)) <= exp ((1 - mean D X) * r + mean D X * (a / b) - 1)).
  { intros X HX. destruct (Hr X HX) as [IX RX]. pose proof (mean_range_draw X HX) as Hmx. split.
    - apply Rmult_le_pos; [lra |]. apply mean_nonneg; auto. intros; left; apply exp_pos.
    - pose proof (exp_ineq1_le ((1 - mean D X) * r + mean D X * (a / b) - 1)) as K.
      apply Rle_trans with ((1 - mean D X) * r + mean D X * (a / b)); [| lra].
      replace ((1 - mean D X) * r + mean D X * (a / b)) with (r * (1 + (exp s - 1) * mean D X)) by (rewrite <- Hes; ring).
      apply Rmult_le_compat_l; [lra |]. rewrite <- (mean_const D 1) at 1. rewrite <- mean_scal by auto.
      rewrite <- (mean_plus D _ _ (integrable_const D 1) (integrable_scal D _ _ IX)).
      apply mean_le; auto. apply integrable_plus; [apply integrable_const | apply integrable_scal; auto].
      intros omega. pose proof (exp_chord (X omega) 0 s (RX omega)) as Ch. rewrite exp_0 in Ch.
      replace ((1 - X omega) * 0 + X omega * s) with (s * X omega) in Ch by ring. lra. }
  pose proof (product_le_exp Xs _ _ Hbound) as [B0 B1].
  assert (Sum : sum_list Xs (fun X => (1 - mean D X) * r + mean D X * (a / b) - 1) = n * ((1 - q) * r + q * (a / b) - 1)).
  { unfold q, mean_of_means. fold n. transitivity (n * (r - 1) + sum_list Xs (mean D) * (a / b - r)); [| field; lra].
    unfold n. clear. induction Xs as [| X l IH]; [simpl; ring |]. cbn [sum_list length]. rewrite IH, S_INR. ring. }
  rewrite Sum in B1. apply Rle_trans with (exp (n * (1 - q * (a / b) - (1 - q) * r)) * exp (n * ((1 - q) * r + q * (a / b) - 1))).
  - apply Rmult_le_compat_l; auto. left; apply exp_pos.
  - rewrite <- exp_plus. replace (n * (1 - q * (a / b) - (1 - q) * r) + n * ((1 - q) * r + q * (a / b) - 1)) with 0 by ring. rewrite exp_0. lra.
Qed.

(** The mean of the draws' means is at most [kl_inverse (average, ln (1/delta) / n)], up to probability [delta]. *)
Theorem monte_carlo_bound delta : 0 < delta < 1 ->
  integrable D (fun omega => indicator (mean_of_means > kl_inverse (average omega) (ln (1 / delta) / INR (length Xs)))) ->
  mean D (fun omega => indicator (mean_of_means > kl_inverse (average omega) (ln (1 / delta) / INR (length Xs)))) <= delta.
Proof.
  intros Hd Hint. pose proof draws_number as Hn. set (n := INR (length Xs)) in *. set (c := ln (1 / delta) / n) in *.
  pose proof mean_of_means_range as Hq. destruct draws as [_ [_ [_ [values Hvalues]]]].
  assert (Ec : exp (- (n * c)) = delta).
  { unfold c. replace (n * (ln (1 / delta) / n)) with (ln (1 / delta)) by (field; lra). apply exp_minus_ln_inverse. lra. }
  destruct (largest_witness (fun t => t) (fun t => 0 <= t <= 1 /\ kl_inverse t c < mean_of_means) values) as [Hno | [t [_ [[Ht Hlt] Hmax]]]].
  - apply Rle_trans with 0; [| lra]. rewrite <- (mean_const D 0). apply mean_le; auto using integrable_const.
    intros omega. unfold indicator. destruct decide as [Hbad | _]; [| lra]. exfalso.
    apply (Hno (average omega) (Hvalues omega)). split; [apply average_range | exact Hbad].
  - destruct (beyond_kl_inverse t c mean_of_means Ht (proj2 Hq) Hlt) as [Htq Hc].
    destruct (separating t mean_of_means c (conj (proj1 Ht) Htq) (proj2 Hq) Hc) as [a [b [Ha [Hb [Hab K]]]]].
    destruct (tangent_moment a b Ha Hb) as [I M]. fold n in I, M.
    rewrite <- Ec. rewrite <- (Rmult_1_r (exp (- (n * c)))).
    apply Rle_trans with (exp (- (n * c)) * mean D (fun omega => exp (n * tangent a b (average omega) mean_of_means))).
    + rewrite <- mean_scal by auto. apply mean_le; auto. apply integrable_scal; auto.
      intros omega. unfold indicator. destruct decide as [Hbad | _]. 2:{ apply Rmult_le_pos; left; apply exp_pos. }
      pose proof (Hmax (average omega) (Hvalues omega) (conj (average_range omega) Hbad)) as Hle.
      pose proof (tangent_decreasing a b (average omega) t mean_of_means ltac:(lra) Hab ltac:(lra) Hle) as T.
      rewrite <- exp_plus, <- exp_0. left. apply exp_increasing.
      assert (n * c < n * tangent a b (average omega) mean_of_means); [| lra]. apply Rmult_lt_compat_l; auto. lra.
    + apply Rmult_le_compat_l; auto. left; apply exp_pos.
Qed.
End Draws.
