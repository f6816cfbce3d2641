(** * Bounds of binomial tails that can be computed

A certified upper bound of [binomial_tail_inverse]: the distribution function is evaluated with integers
only, every step rounded upwards, and compared with [delta].  The goals made from reports end in
[vm_compute], so their proofs rest on the same axioms as everything else.  Also Occam's bound in binomial form. *)
From Coq Require Import Reals List Lra Psatz Lia ZArith.
From Coquelicot Require Import Coquelicot.
From Attention Require Import Expectation Probability SoftmaxHead ChernoffHoeffding BinomialTail.
Import ListNotations.
Open Scope R_scope.

(** ** The distribution function decreases in the success probability *)
Lemma mass_nonneg n i p : 0 <= p <= 1 -> 0 <= binomial_mass n i p.
Proof. intros Hp. unfold binomial_mass. repeat apply Rmult_le_pos; try apply pos_INR; apply pow_le; lra. Qed.

Lemma cdf_decreasing p p' : 0 <= p <= p' -> p' <= 1 -> forall n k, binomial_cdf n k p' <= binomial_cdf n k p.
Proof.
  intros Hp Hp'. induction n as [| n IH]; intros k.
  - assert (E : forall x, binomial_cdf 0 k x = 1); [| rewrite !E; lra]. intros x. induction k; cbn [binomial_cdf].
    unfold binomial_mass; simpl; ring. rewrite IHk. unfold binomial_mass; simpl; ring.
  - destruct k as [| k]. 
    + rewrite !cdf_0. pose proof (IH 0%nat). assert (0 <= binomial_cdf n 0 p') by (apply mass_nonneg; lra).
      apply Rmult_le_compat; lra.
    + rewrite !cdf_S. pose proof (IH k) as I1. pose proof (IH (S k)) as I2.
      assert (S1 : binomial_cdf n k p <= binomial_cdf n (S k) p) by (cbn [binomial_cdf]; pose proof (mass_nonneg n (S k) p ltac:(lra)); lra).
      apply Rle_trans with (p' * binomial_cdf n k p + (1 - p') * binomial_cdf n (S k) p).
      apply Rplus_le_compat; apply Rmult_le_compat_l; lra. nra.
Qed.

(** One comparison certifies an upper bound of the inverse. *)
Theorem binomial_tail_inverse_upper k n delta u : 0 <= u <= 1 -> binomial_cdf n k u < delta -> binomial_tail_inverse k n delta <= u.
Proof.
  intros Hu Hc. unfold binomial_tail_inverse. set (A := fun p => 0 <= p <= 1 /\ delta <= binomial_cdf n k p).
  pose proof (Lub_Rbar_correct A) as [_ Hleast]. assert (U : is_ub_Rbar A u).
  { intros p [Hp Hd]. simpl. apply Rnot_lt_le. intros Hlt. pose proof (cdf_decreasing u p ltac:(lra) ltac:(lra) n k). lra. }
  specialize (Hleast u U). destruct (Lub_Rbar A); simpl in *; lra.
Qed.

(** ** Occam's bound for zero-one losses, in binomial form *)
Theorem occam_binomial_bound {Z H : Type} (P : list (R * Z)) (wrong : H -> Z -> bool) (w : H -> R) m delta :
  distribution P -> 0 < delta < 1 -> (forall h, 0 < w h) -> (forall l, NoDup l -> sum_list l w <= 1) ->
  Pr P m (fun zs => exists h, error_rate P (wrong h) > binomial_tail_inverse (errors (wrong h) zs) m (delta * w h)) <= delta.
Proof.
  intros HP Hd Hw Hsum. pose proof HP as [Pnn Pone].
  apply (Pr_union P Pnn Pone m (fun h zs => error_rate P (wrong h) > binomial_tail_inverse (errors (wrong h) zs) m (delta * w h)) w delta);
    auto; try lra. intros h. apply (test_set_bound P (wrong h) HP). pose proof (Hw h).
  assert (w h <= 1). { specialize (Hsum [h] ltac:(constructor; [intros [] | constructor])). simpl in Hsum. lra. }
  split. apply Rmult_lt_0_compat; lra. nra.
Qed.

(** Theorem D in binomial form: code lengths need not be whole numbers, only Kraft's sum matters. *)
Theorem ideal_code_binomial_bound {Z H : Type} (P : list (R * Z)) (wrong : H -> Z -> bool) (bits : H -> R) m delta :
  distribution P -> 0 < delta < 1 -> (forall l, NoDup l -> sum_list l (fun h => Rpower 2 (- bits h)) <= 1) ->
  Pr P m (fun zs => exists h,
    error_rate P (wrong h) > binomial_tail_inverse (errors (wrong h) zs) m (delta * Rpower 2 (- bits h))) <= delta.
Proof. intros HP Hd Hsum. apply (occam_binomial_bound P wrong (fun h => Rpower 2 (- bits h))); auto. intros h. apply exp_pos. Qed.

(** ** Upward-rounded numbers [m 2^e] *)
Open Scope Z_scope.
Definition precision : Z := 100.
Definition number : Type := (Z * Z)%type.
Definition value (x : number) : R := (IZR (fst x) * powerRZ 2 (snd x))%R.

Definition shorten (x : number) : number :=
  let l := Z.log2 (fst x) - precision in
  if 0 <? l then (Z.shiftr (fst x) l + 1, snd x + l) else x.
Definition times (x y : number) : number := shorten (fst x * fst y, snd x + snd y).
(** [x p / q] *)
Definition scaled (x : number) (p q : Z) : number := shorten (fst x * p / q + 1, snd x).
Fixpoint power_up (x : number) (n : positive) : number :=
  match n with
  | xH => x
  | xO n => let y := power_up x n in times y y
  | xI n => let y := power_up x n in times x (times y y)
  end.
Definition fraction_up (p q : Z) : number := (p * 2 ^ precision / q + 1, - precision).

Lemma power_of_2_pos e : (0 < powerRZ 2 e)%R.
Proof. apply powerRZ_lt. lra. Qed.

Lemma value_add m e l : 0 <= l -> value (m * 2 ^ l, e) = value (m, e + l).
Proof.
  intros Hl. unfold value; simpl. rewrite mult_IZR, powerRZ_add by lra. rewrite <- (Z2Nat.id l) at 1 2 by auto.
  rewrite <- pow_IZR, pow_powerRZ. ring_simplify. rewrite Z2Nat.id by auto. ring.
Qed.

Lemma value_le m m' e : m <= m' -> (value (m, e) <= value (m', e))%R.
Proof. intros H. unfold value; simpl. apply Rmult_le_compat_r. left; apply power_of_2_pos. apply IZR_le. exact H. Qed.

Lemma shorten_le x : (value x <= value (shorten x))%R.
Proof.
  destruct x as [m e]. unfold shorten; cbn [fst snd]. set (l := Z.log2 m - precision). destruct (0 <? l) eqn:E; [| lra].
  apply Z.ltb_lt in E. rewrite <- value_add by lia. apply value_le. rewrite Z.shiftr_div_pow2 by lia.
  pose proof (Z.mul_succ_div_gt m (2 ^ l) ltac:(apply Z.pow_pos_nonneg; lia)). lia.
Qed.

Lemma shorten_nonneg x : 0 <= fst x -> 0 <= fst (shorten x).
Proof.
  destruct x as [m e]. unfold shorten; cbn [fst snd]. intros Hm. destruct (0 <? _); cbn [fst]; auto.
  pose proof (proj2 (Z.shiftr_nonneg m (Z.log2 m - precision)) Hm). lia.
Qed.

Lemma value_nonneg x : 0 <= fst x -> (0 <= value x)%R.
Proof. intros H. unfold value. apply Rmult_le_pos. apply IZR_le. exact H. left; apply power_of_2_pos. Qed.

Lemma times_le x y a b : (0 <= a <= value x)%R -> (0 <= b <= value y)%R -> (a * b <= value (times x y))%R.
Proof.
  intros Ha Hb. eapply Rle_trans; [| apply shorten_le]. unfold value at 1; cbn [fst snd]. rewrite mult_IZR, powerRZ_add by lra.
  replace (IZR (fst x) * IZR (fst y) * (powerRZ 2 (snd x) * powerRZ 2 (snd y)))%R with (value x * value y)%R by (unfold value; ring).
  apply Rmult_le_compat; lra.
Qed.

Lemma division_up (x p q : Z) : 0 < q -> (IZR x * IZR p / IZR q <= IZR (x * p / q + 1))%R.
Proof.
  intros Hq. assert (Hq' : (0 < IZR q)%R) by (apply IZR_lt; exact Hq). apply Rmult_le_reg_r with (IZR q); auto.
  unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra. rewrite <- !mult_IZR. apply IZR_le.
  pose proof (Z.mul_succ_div_gt (x * p) q Hq). lia.
Qed.

Lemma scaled_le x p q a : 0 <= p -> 0 < q -> (a <= value x)%R -> (a * (IZR p / IZR q) <= value (scaled x p q))%R.
Proof.
  intros Hp Hq Ha. eapply Rle_trans; [| apply shorten_le]. unfold value; cbn [fst snd]. assert (Hq' : (0 < IZR q)%R) by (apply IZR_lt; exact Hq).
  apply Rle_trans with (value x * (IZR p / IZR q))%R.
  - apply Rmult_le_compat_r; auto. apply Rmult_le_pos. apply IZR_le; exact Hp. left; apply Rinv_0_lt_compat; auto.
  - unfold value. replace (IZR (fst x) * powerRZ 2 (snd x) * (IZR p / IZR q))%R with (IZR (fst x) * IZR p / IZR q * powerRZ 2 (snd x))%R by (field; lra).
    apply Rmult_le_compat_r. left; apply power_of_2_pos. apply division_up. exact Hq.
Qed.

Lemma power_up_le x n a : (0 <= a <= value x)%R -> (a ^ Pos.to_nat n <= value (power_up x n))%R.
Proof.
  intros Ha. induction n as [n IH | n IH |]; cbn [power_up]; cbv zeta.
  - assert (Hp : (0 <= a ^ Pos.to_nat n)%R) by (apply pow_le; lra). rewrite Pos2Nat.inj_xI. simpl. rewrite Nat.add_0_r, pow_add.
    apply times_le; auto. split. apply Rmult_le_pos; auto. apply times_le; auto.
  - assert (Hp : (0 <= a ^ Pos.to_nat n)%R) by (apply pow_le; lra). rewrite Pos2Nat.inj_xO. simpl. rewrite Nat.add_0_r, pow_add. apply times_le; auto.
  - simpl. lra.
Qed.

Lemma power_of_2_inverse e : 0 <= e -> powerRZ 2 (- e) = (/ IZR (2 ^ e))%R.
Proof.
  intros He. rewrite powerRZ_neg' . f_equal. rewrite <- (Z2Nat.id e) at 1 2 by auto. rewrite <- pow_powerRZ, <- pow_IZR. reflexivity.
Qed.

Lemma fraction_up_le p q : 0 < q -> (IZR p / IZR q <= value (fraction_up p q))%R.
Proof.
  intros Hq. unfold value, fraction_up; cbn [fst snd]. rewrite power_of_2_inverse by (unfold precision; lia).
  assert (H2 : (0 < IZR (2 ^ precision))%R) by (apply IZR_lt; reflexivity).
  apply Rmult_le_reg_r with (IZR (2 ^ precision)); auto. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
  pose proof (division_up p (2 ^ precision) q Hq) as D. assert (Hq' : (0 < IZR q)%R) by (apply IZR_lt; exact Hq).
  replace (IZR p / IZR q * IZR (2 ^ precision))%R with (IZR p * IZR (2 ^ precision) / IZR q)%R by (field; lra). exact D.
Qed.

(** ** The distribution function at [u = a/d], rounded upwards *)
(** [C(n, k)] *)
Fixpoint coefficient_up (n : Z) (k : nat) : number :=
  match k with
  | O => (2 ^ precision, - precision)
  | S j => scaled (coefficient_up n j) (n - Z.of_nat j) (Z.of_nat (S j))
  end.
(** [cdf / mass] at [k], by Horner's rule from below: the ratios of neighbouring masses are [i (1-u) / ((n-i+1) u)]. *)
Fixpoint ratio_up (n a d : Z) (k : nat) : Z :=
  match k with
  | O => 2 ^ precision
  | S j => 2 ^ precision + (ratio_up n a d j * (Z.of_nat (S j) * (d - a)) / ((n - Z.of_nat j) * a) + 1)
  end.
Definition power_or_1 (x : number) (n : Z) : number := match n with Zpos p => power_up x p | _ => (1, 0) end.
Definition cdf_up (n a d : Z) (k : nat) : number :=
  times (times (coefficient_up n k) (times (power_or_1 (fraction_up a d) (Z.of_nat k)) (power_or_1 (fraction_up (d - a) d) (n - Z.of_nat k))))
    (ratio_up n a d k, - precision).
Definition less_than (x : number) (p q : Z) : bool :=
  if 0 <=? snd x then fst x * 2 ^ snd x * q <? p else fst x * q <? p * 2 ^ (- snd x).

Lemma less_than_correct x p q : 0 < q -> less_than x p q = true -> (value x < IZR p / IZR q)%R.
Proof.
  intros Hq H. assert (Hq' : (0 < IZR q)%R) by (apply IZR_lt; exact Hq). unfold less_than in H. destruct x as [m e]; cbn [fst snd] in *.
  unfold value; cbn [fst snd]. apply Rmult_lt_reg_r with (IZR q); auto. unfold Rdiv. rewrite (Rmult_assoc (IZR p)), Rinv_l, Rmult_1_r by lra.
  destruct (0 <=? e) eqn:E.
  - apply Z.leb_le in E. apply Z.ltb_lt in H. apply IZR_lt in H. rewrite !mult_IZR in H.
    replace (powerRZ 2 e) with (IZR (2 ^ e)); auto. rewrite <- (Z2Nat.id e) by auto. rewrite <- pow_IZR, pow_powerRZ. reflexivity.
  - apply Z.leb_gt in E. apply Z.ltb_lt in H. apply IZR_lt in H. rewrite !mult_IZR in H.
    replace e with (- (- e)) by lia. rewrite power_of_2_inverse by lia. assert (H2 : (0 < IZR (2 ^ (- e)))%R) by (apply IZR_lt, Z.pow_pos_nonneg; lia).
    apply Rmult_lt_reg_r with (IZR (2 ^ (- e))); auto. replace (IZR m * / IZR (2 ^ (- e)) * IZR q * IZR (2 ^ (- e)))%R with (IZR m * IZR q)%R by (field; lra). exact H.
Qed.

Section Evaluation.
Variables n a d : Z.
Hypothesis Ha : 0 < a < d.
Let N := Z.to_nat n.
Let u := (IZR a / IZR d)%R.

Lemma u_range : (0 < u < 1)%R.
Proof.
  assert (0 < IZR d)%R by (apply IZR_lt; lia). assert (0 < IZR a)%R by (apply IZR_lt; lia). assert (IZR a < IZR d)%R by (apply IZR_lt; lia).
  unfold u. split. apply Rdiv_lt_0_compat; auto. apply Rmult_lt_reg_r with (IZR d); auto. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra.
Qed.

Lemma one_minus_u : (1 - u = IZR (d - a) / IZR d)%R.
Proof. assert (0 < IZR d)%R by (apply IZR_lt; lia). unfold u. rewrite minus_IZR. field. lra. Qed.

Lemma binomial_step j : (j < N)%nat -> (INR (binomial N (S j)) = INR (binomial N j) * (INR (N - j) / INR (S j)))%R.
Proof.
  intros Hj. assert (Hs : (0 < INR (S j))%R) by (apply lt_0_INR; lia). apply Rmult_eq_reg_r with (INR (S j)); [| lra].
  replace (INR (binomial N j) * (INR (N - j) / INR (S j)) * INR (S j))%R with (INR (binomial N j) * INR (N - j))%R by (field; lra).
  rewrite <- !mult_INR. f_equal.
  pose proof (binomial_factorials N j ltac:(lia)) as H1. pose proof (binomial_factorials N (S j) ltac:(lia)) as H2.
  replace (N - j)%nat with (S (N - S j)) in * by lia. change (fact (S (N - S j))) with (S (N - S j) * fact (N - S j))%nat in H1.
  change (fact (S j)) with (S j * fact j)%nat in H2. pose proof (lt_O_fact j). pose proof (lt_O_fact (N - S j)).
  apply Nat.mul_cancel_r with (p := (fact j * fact (N - S j))%nat). nia. 
  transitivity (binomial N (S j) * (S j * fact j * fact (N - S j)))%nat; [ring |]. rewrite H2, <- H1. ring.
Qed.

Lemma coefficient_le k : (k <= N)%nat -> (INR (binomial N k) <= value (coefficient_up n k))%R.
Proof.
  induction k as [| j IH]; intros Hk; cbn [coefficient_up].
  - assert (binomial N 0 = 1%nat) as -> by (destruct N; reflexivity). unfold value; cbn [fst snd]. rewrite power_of_2_inverse by (unfold precision; lia).
    rewrite Rinv_r by (apply IZR_neq; discriminate). simpl; lra.
  - rewrite binomial_step by lia.
    replace (INR (N - j) / INR (S j))%R with (IZR (n - Z.of_nat j) / IZR (Z.of_nat (S j)))%R.
    + apply scaled_le; try lia. apply IH. lia.
    + rewrite !INR_IZR_INZ. f_equal. f_equal. unfold N in *. lia.
Qed.

Lemma mass_ratio j : (j < N)%nat -> (binomial_mass N j u = binomial_mass N (S j) u * (IZR (Z.of_nat (S j) * (d - a)) / IZR ((n - Z.of_nat j) * a)))%R.
Proof.
  intros Hj. unfold binomial_mass. rewrite binomial_step by auto. replace (N - j)%nat with (S (N - S j)) by lia. cbn [pow].
  rewrite one_minus_u. unfold u. 
  assert (Hd : (0 < IZR d)%R) by (apply IZR_lt; lia). assert (Haa : (0 < IZR a)%R) by (apply IZR_lt; lia).
  rewrite !mult_IZR, <- (INR_IZR_INZ (S j)).
  replace (IZR (n - Z.of_nat j)) with (INR (S (N - S j))) by (rewrite INR_IZR_INZ; f_equal; unfold N in *; lia).
  assert (0 < INR (S j))%R by (apply lt_0_INR; lia). assert (0 < INR (S (N - S j)))%R by (apply lt_0_INR; lia).
  field. repeat split; lra.
Qed.

Lemma ratio_le k : (k <= N)%nat -> (binomial_cdf N k u <= binomial_mass N k u * value (ratio_up n a d k, (- precision)%Z))%R.
Proof.
  pose proof u_range as Hu. induction k as [| j IH]; intros Hk; cbn [ratio_up binomial_cdf].
  - unfold value; cbn [fst snd]. rewrite power_of_2_inverse by (unfold precision; lia). rewrite Rinv_r by (apply IZR_neq; discriminate). lra.
  - specialize (IH ltac:(lia)). pose proof (mass_ratio j ltac:(lia)) as M. pose proof (mass_nonneg N (S j) u ltac:(lra)) as Hm.
    set (r := (IZR (Z.of_nat (S j) * (d - a)) / IZR ((n - Z.of_nat j) * a))%R) in *.
    set (x := ratio_up n a d j) in *. set (y := x * (Z.of_nat (S j) * (d - a)) / ((n - Z.of_nat j) * a) + 1).
    assert (V : value (2 ^ precision + y, - precision) = (1 + value (y, (- precision)%Z))%R).
    { unfold value; cbn [fst snd]. rewrite plus_IZR, Rmult_plus_distr_r. f_equal. rewrite power_of_2_inverse by (unfold precision; lia). apply Rinv_r. apply IZR_neq; discriminate. }
    rewrite V. assert (Y : (r * value (x, (- precision)%Z) <= value (y, (- precision)%Z))%R).
    { unfold value; cbn [fst snd]. rewrite <- Rmult_assoc. apply Rmult_le_compat_r. left; apply power_of_2_pos.
      unfold r, y. replace (IZR (Z.of_nat (S j) * (d - a)) / IZR ((n - Z.of_nat j) * a) * IZR x)%R
        with (IZR x * IZR (Z.of_nat (S j) * (d - a)) / IZR ((n - Z.of_nat j) * a))%R by (unfold Rdiv; ring).
      apply division_up. unfold N in *. nia. }
    rewrite M in IH. apply (Rmult_le_compat_l (binomial_mass N (S j) u)) in Y; auto. lra.
Qed.

Lemma ratio_nonneg k : (k <= N)%nat -> 0 <= ratio_up n a d k.
Proof.
  induction k as [| j IH]; intros Hk; cbn [ratio_up]. unfold precision; lia. specialize (IH ltac:(lia)).
  assert (0 <= ratio_up n a d j * (Z.of_nat (S j) * (d - a)) / ((n - Z.of_nat j) * a)).
  { apply Z.div_pos. apply Z.mul_nonneg_nonneg; auto. nia. unfold N in *. nia. }
  assert (0 < 2 ^ precision) by reflexivity. lia.
Qed.

Lemma power_or_1_le x b j : (0 <= b <= value x)%R -> (b ^ Z.to_nat j <= value (power_or_1 x j))%R.
Proof.
  intros Hb. destruct j as [| p | p]; cbn [power_or_1 Z.to_nat pow]; try (unfold value; simpl; lra). apply power_up_le; auto.
Qed.

Lemma cdf_le k : (k <= N)%nat -> (binomial_cdf N k u <= value (cdf_up n a d k))%R.
Proof.
  intros Hk. pose proof u_range as Hu. eapply Rle_trans. apply ratio_le; auto. unfold cdf_up.
  assert (P1 : (0 <= u ^ k <= value (power_or_1 (fraction_up a d) (Z.of_nat k)))%R).
  { split. apply pow_le; lra. rewrite <- (Nat2Z.id k) at 1. apply power_or_1_le. split; [lra | apply fraction_up_le; lia]. }
  assert (P2 : (0 <= (1 - u) ^ (N - k) <= value (power_or_1 (fraction_up (d - a) d) (n - Z.of_nat k)))%R).
  { split. apply pow_le; lra. replace (N - k)%nat with (Z.to_nat (n - Z.of_nat k)) by (unfold N; lia). apply power_or_1_le.
    split; [lra |]. rewrite one_minus_u. apply fraction_up_le; lia. }
  apply times_le; [| split; [apply value_nonneg, ratio_nonneg; auto | apply Rle_refl]].
  split. apply mass_nonneg; lra. unfold binomial_mass. rewrite Rmult_assoc. apply times_le.
  - split. apply pos_INR. apply coefficient_le; auto.
  - split. apply Rmult_le_pos; apply P1 || apply P2. apply times_le; auto.
Qed.
End Evaluation.

(** Everything a printed bound needs, as one computation. *)
Definition tail_below (k n p q a d : Z) : bool :=
  (0 <=? k) && (k <=? n) && (0 <? a) && (a <? d) && (0 <? q) && less_than (cdf_up n a d (Z.to_nat k)) p q.

(** [tail_below k n p q a d = true] certifies [binomial_tail_inverse k n delta <= a/d] for every [delta >= p/q]. *)
Theorem tail_below_correct k n p q a d delta : tail_below k n p q a d = true -> (IZR p / IZR q <= delta)%R ->
  (binomial_tail_inverse (Z.to_nat k) (Z.to_nat n) delta <= IZR a / IZR d)%R.
Proof.
  unfold tail_below. intros H Hdelta. repeat (apply andb_prop in H; destruct H as [H ?]).
  repeat match goal with E : (_ <=? _) = true |- _ => apply Z.leb_le in E | E : (_ <? _) = true |- _ => apply Z.ltb_lt in E end.
  assert (Ha : 0 < a < d) by lia. pose proof (u_range n a d Ha) as Hu. apply binomial_tail_inverse_upper. lra.
  eapply Rle_lt_trans; [apply (cdf_le n a d Ha); lia |]. eapply Rlt_le_trans; [apply less_than_correct; eassumption | exact Hdelta].
Qed.

(** The level [delta 2^-bits] of Theorem D, from below, as a fraction. *)
Lemma level_of_bits bits p q delta : 0 <= bits -> 0 < q -> (IZR p / IZR q <= delta)%R ->
  (IZR p / IZR (q * 2 ^ bits) <= exp (-1 * IZR bits * ln 2) * delta)%R.
Proof.
  intros Hb Hq Hd. assert (Hq' : (0 < IZR q)%R) by (apply IZR_lt; exact Hq).
  assert (H2 : (0 < IZR (2 ^ bits))%R) by (apply IZR_lt, Z.pow_pos_nonneg; lia).
  assert (E : exp (-1 * IZR bits * ln 2) = (/ IZR (2 ^ bits))%R).
  { replace (-1 * IZR bits * ln 2)%R with (- (INR (Z.to_nat bits) * ln 2))%R by (rewrite INR_IZR_INZ, Z2Nat.id by auto; ring).
    rewrite exp_Ropp, exp_nat_mult, exp_ln by lra. rewrite pow_IZR, Z2Nat.id by auto. reflexivity. }
  rewrite E, mult_IZR. replace (IZR p / (IZR q * IZR (2 ^ bits)))%R with (/ IZR (2 ^ bits) * (IZR p / IZR q))%R by (field; lra).
  apply Rmult_le_compat_l; auto. left. apply Rinv_0_lt_compat. exact H2.
Qed.
