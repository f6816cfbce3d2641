(** * A held-out test set with zero-one loss: exact binomial tail inversion

The number of errors on an iid test set is binomial, so the true error rate exceeds
[sup {p : P(Bin(n, p) <= errors) >= delta}] with probability at most [delta] (Clopper-Pearson). *)
From Coq Require Import Reals List Lra Psatz Lia Arith Classical.
From Coquelicot Require Import Coquelicot.
From Attention Require Import Expectation Probability SoftmaxHead ChernoffHoeffding.
Import ListNotations.
Open Scope R_scope.

(** Pascal's triangle, the binomial distribution and its distribution function. *)
Fixpoint binomial (n i : nat) : nat :=
  match n, i with
  | _, O => 1
  | O, S _ => 0
  | S n, S i => binomial n i + binomial n (S i)
  end.
Definition binomial_mass (n i : nat) (p : R) : R := INR (binomial n i) * p ^ i * (1 - p) ^ (n - i).
Fixpoint binomial_cdf (n k : nat) (p : R) : R :=
  match k with O => binomial_mass n 0 p | S k => binomial_cdf n k p + binomial_mass n (S k) p end.

(** The largest [p] that still gives [k] or fewer errors with probability [delta]. *)
Definition binomial_tail_inverse (k n : nat) (delta : R) : R :=
  real (Lub_Rbar (fun p => 0 <= p <= 1 /\ delta <= binomial_cdf n k p)).

Lemma binomial_above n : forall i, (n < i)%nat -> binomial n i = 0%nat.
Proof. induction n; destruct i; simpl; intros; try lia. rewrite !IHn by lia. reflexivity. Qed.

Lemma binomial_factorials n : forall k, (k <= n)%nat -> (binomial n k * (fact k * fact (n - k)) = fact n)%nat.
Proof.
  induction n; intros k Hk. assert (k = 0)%nat as -> by lia. reflexivity.
  destruct k as [| k]. simpl binomial. rewrite Nat.sub_0_r. simpl fact at 1. lia.
  cbn [binomial]. replace (S n - S k)%nat with (n - k)%nat by lia. destruct (Nat.eq_dec k n) as [-> | Hne].
  - rewrite (binomial_above n (S n)) by lia. pose proof (IHn n (le_n n)) as H. rewrite Nat.sub_diag in *. 
    change (fact (S n)) with ((S n) * fact n)%nat. nia.
  - pose proof (IHn k ltac:(lia)) as H1. pose proof (IHn (S k) ltac:(lia)) as H2.
    replace (n - k)%nat with (S (n - S k)) in * by lia. change (fact (S n)) with ((S n) * fact n)%nat.
    change (fact (S k)) with ((S k) * fact k)%nat in *. change (fact (S (n - S k))) with ((S (n - S k)) * fact (n - S k))%nat in *.
    rewrite Nat.mul_add_distr_r.
    replace (binomial n k * (S k * fact k * (S (n - S k) * fact (n - S k))))%nat
      with (S k * (binomial n k * (fact k * (S (n - S k) * fact (n - S k)))))%nat by ring. rewrite H1.
    replace (binomial n (S k) * (S k * fact k * (S (n - S k) * fact (n - S k))))%nat
      with (S (n - S k) * (binomial n (S k) * (S k * fact k * fact (n - S k))))%nat by ring. rewrite H2.
    replace (S n) with (S k + S (n - S k))%nat by lia. ring.
Qed.

Lemma mass_0 n p : binomial_mass (S n) 0 p = (1 - p) * binomial_mass n 0 p.
Proof. unfold binomial_mass. rewrite !Nat.sub_0_r. destruct n; simpl; ring. Qed.

Lemma mass_S n i p : binomial_mass (S n) (S i) p = p * binomial_mass n i p + (1 - p) * binomial_mass n (S i) p.
Proof.
  unfold binomial_mass. cbn [binomial]. rewrite plus_INR. destruct (le_lt_dec (S i) n) as [H | H].
  - replace (S n - S i)%nat with (S (n - S i)) by lia. replace (n - i)%nat with (S (n - S i)) by lia. simpl. ring.
  - rewrite (binomial_above n (S i)) by lia. replace (S n - S i)%nat with (n - i)%nat by lia. simpl. ring.
Qed.

Lemma cdf_0 n p : binomial_cdf (S n) 0 p = (1 - p) * binomial_cdf n 0 p.
Proof. apply mass_0. Qed.

Lemma cdf_S n k p : binomial_cdf (S n) (S k) p = p * binomial_cdf n k p + (1 - p) * binomial_cdf n (S k) p.
Proof.
  induction k. cbn [binomial_cdf]. rewrite mass_0, mass_S. ring.
  change (binomial_cdf (S n) (S (S k)) p) with (binomial_cdf (S n) (S k) p + binomial_mass (S n) (S (S k)) p).
  rewrite IHk, mass_S. cbn [binomial_cdf]. ring.
Qed.

Section Test.
Context {Z : Type} (P : list (R * Z)) (wrong : Z -> bool).
Hypothesis HP : distribution P.
Let Pnn := proj1 HP. Let Pone := proj2 HP.

Definition error_rate : R := Ex P (fun z => if wrong z then 1 else 0).
Fixpoint errors (zs : list Z) : nat := match zs with nil => 0 | z :: zs => (if wrong z then 1 else 0) + errors zs end.

Lemma error_rate_range : 0 <= error_rate <= 1.
Proof.
  apply (mean_range P HP (fun z => if wrong z then 1 else 0)). intros z; destruct (wrong z); lra.
Qed.

(** The number of errors has the binomial distribution. *)
Theorem errors_binomial n : forall k, Pr P n (fun zs => (errors zs <= k)%nat) = binomial_cdf n k error_rate.
Proof.
  set (mu := error_rate). unfold Pr. induction n; intros k.
  - simpl. unfold indicator. destruct decide as [_ | H]; [| exfalso; apply H; lia].
    induction k. unfold binomial_cdf, binomial_mass; simpl. ring.
    cbn [binomial_cdf]. rewrite <- IHk. unfold binomial_mass. simpl. ring.
  - cbn [Expectation.Em]. destruct k as [| k].
    + rewrite cdf_0, <- IHn.
      rewrite (Ex_ext P _ (fun z => Em P n (fun zs => indicator (errors zs <= 0)%nat)
        + (- Em P n (fun zs => indicator (errors zs <= 0)%nat)) * (if wrong z then 1 else 0))).
      rewrite Ex_plus, Ex_const, Ex_scal by auto. fold error_rate mu. ring.
      intros z. cbn [errors]. destruct (wrong z).
      * rewrite (Em_ext P n _ (fun _ => 0)). rewrite Em_const by auto. ring.
        intros zs _. unfold indicator. destruct decide; [exfalso; lia | reflexivity].
      * rewrite Rmult_0_r, Rplus_0_r. reflexivity.
    + rewrite cdf_S, <- !IHn.
      rewrite (Ex_ext P _ (fun z => Em P n (fun zs => indicator (errors zs <= S k)%nat)
        + (Em P n (fun zs => indicator (errors zs <= k)%nat) - Em P n (fun zs => indicator (errors zs <= S k)%nat)) * (if wrong z then 1 else 0))).
      rewrite Ex_plus, Ex_const, Ex_scal by auto. fold error_rate mu. ring.
      intros z. cbn [errors]. destruct (wrong z).
      * rewrite Rmult_1_r. transitivity (Em P n (fun zs => indicator (errors zs <= k)%nat)); [| ring].
        apply Em_ext. intros zs _. unfold indicator. destruct decide, decide; auto; exfalso; lia.
      * rewrite Rmult_0_r, Rplus_0_r. reflexivity.
Qed.

(** A distribution function at its own value: small values have small probability. *)
Lemma tail_event n delta : 0 <= delta -> Pr P n (fun zs => binomial_cdf n (errors zs) error_rate < delta) <= delta.
Proof.
  intros Hd. destruct (largest_witness (fun zs => INR (errors zs)) (fun zs => binomial_cdf n (errors zs) error_rate < delta) (samples P n))
    as [Hno | [ys [Hys [HQ Hmax]]]].
  - rewrite Pr_false; auto.
  - apply Rle_trans with (Pr P n (fun zs => (errors zs <= errors ys)%nat)).
    + apply Pr_mono; auto. intros zs Hzs H. apply INR_le. auto.
    + rewrite errors_binomial. lra.
Qed.

(** Clopper-Pearson: the error rate exceeds the inverse of the binomial tail with probability at most [delta]. *)
Theorem test_set_bound n delta : 0 < delta < 1 ->
  Pr P n (fun zs => error_rate > binomial_tail_inverse (errors zs) n delta) <= delta.
Proof.
  intros Hd. eapply Rle_trans; [| apply (tail_event n delta); lra]. apply Pr_mono; auto. intros zs Hzs H.
  destruct (Rlt_le_dec (binomial_cdf n (errors zs) error_rate) delta) as [| Hle]; auto. exfalso.
  unfold binomial_tail_inverse in H. set (A := fun p => 0 <= p <= 1 /\ delta <= binomial_cdf n (errors zs) p) in *.
  pose proof (Lub_Rbar_correct A) as [Hub Hleast]. assert (Ain : A error_rate) by (split; [apply error_rate_range | auto]).
  assert (Hfin : is_ub_Rbar A 1) by (intros p [Hp _]; simpl; lra).
  pose proof (Hub _ Ain) as K. pose proof (Hleast _ Hfin) as K1. destruct (Lub_Rbar A); simpl in *; try contradiction. lra.
Qed.
End Test.
