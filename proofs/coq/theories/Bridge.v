(** * Tactics that compare a printed bound with a proved one

The Python side writes a bound in the normal form of its computer algebra; the theorems here write it
as on paper.  [same_bound] proves the two equal by splitting roots of products and quotients and then
computing with [sqrt 2 * sqrt 2 = 2].  A constant that differs makes it fail. *)
From Coq Require Import Reals List Lra Lia.
From Attention Require Import SignAverages FiniteSup VectorContraction Expectation Probability Risk Softmax LinearScores
  Matrices SoftmaxHead Peeling FrozenFeatures JointHead UniformDeviation ChernoffHoeffding.
Import ListNotations.
Open Scope R_scope.

Lemma exp_index rho j : 0 < rho -> exp (INR j * ln rho) = rho ^ j.
Proof. intros H. rewrite <- (Rpower_pow j rho H). reflexivity. Qed.

Lemma sum_squares_nonneg {H} (l : list H) (f : H -> R) : (forall h, 0 <= f h) -> 0 <= sum_list l f.
Proof. intros K. induction l; simpl. lra. pose proof (K a). lra. Qed.

Lemma power_mult e x y : 0 <= x -> 0 <= y -> power e (x * y) = power e x * power e y.
Proof.
  intros [Hx | <-] Hy; [| rewrite Rmult_0_l, power_0; ring]. destruct Hy as [Hy | <-]; [| rewrite Rmult_0_r, !power_0; ring].
  rewrite !power_pos; auto. symmetry. apply Rpower_mult_distr; auto. apply Rmult_lt_0_compat; auto.
Qed.

Lemma power_nonneg e x : 0 <= power e x.
Proof. unfold power. destruct Rlt_dec; [left; apply exp_pos | lra]. Qed.

Lemma power_positive e x : 0 < x -> 0 < power e x.
Proof. intros H. rewrite power_pos by auto. apply exp_pos. Qed.

Lemma power_inv e x : 0 < x -> power e (/ x) = / power e x.
Proof.
  intros H. rewrite !power_pos by (auto; apply Rinv_0_lt_compat; auto). unfold Rpower. rewrite ln_Rinv by auto.
  rewrite <- exp_Ropp. f_equal. ring.
Qed.

Lemma power_div e x y : 0 <= x -> 0 < y -> power e (x / y) = power e x / power e y.
Proof. intros Hx Hy. unfold Rdiv. rewrite power_mult, power_inv; auto. left; apply Rinv_0_lt_compat; auto. Qed.

Lemma power_sqrt e x : 0 <= x -> power e (sqrt x) = power (e / 2) x.
Proof.
  intros [H | <-]; [| rewrite sqrt_0, !power_0; reflexivity]. rewrite !power_pos by (auto; apply sqrt_lt_R0; auto).
  rewrite <- Rpower_sqrt by auto. rewrite Rpower_mult. f_equal. field.
Qed.

Lemma power_two_split : power (1 / 3) 2 * power (2 / 3) 2 = 2.
Proof. rewrite !power_pos by lra. rewrite <- Rpower_plus. replace (1 / 3 + 2 / 3) with 1 by field. apply Rpower_1. lra. Qed.

Ltac nonneg :=
  match goal with
  | |- 0 <= sqrt _ => apply sqrt_pos
  | |- 0 <= INR _ => apply pos_INR
  | |- 0 <= power _ _ => apply power_nonneg
  | |- 0 <= norm_sq _ => apply norm_sq_nonneg
  | |- 0 <= frobenius_sq _ => apply frobenius_sq_nonneg
  | |- 0 <= _ ^ 2 => apply pow2_ge_0
  | |- 0 <= sum_list _ _ => apply sum_squares_nonneg; intros; nonneg
  | |- 0 <= _ * _ => apply Rmult_le_pos; nonneg
  | |- 0 <= _ + _ => apply Rplus_le_le_0_compat; nonneg
  | |- 0 <= _ / _ => apply Rmult_le_pos; [nonneg | left; apply Rinv_0_lt_compat; positive]
  | |- 0 <= ?x => first [assumption | lra | left; positive]
  end
with positive :=
  match goal with
  | |- 0 < INR _ => first [assumption | apply lt_0_INR; first [assumption | lia]]
  | |- 0 < sqrt _ => apply sqrt_lt_R0; positive
  | |- 0 < power _ _ => apply power_positive; positive
  | |- 0 < _ ^ _ => apply pow_lt; positive
  | |- 0 < _ * _ => apply Rmult_lt_0_compat; positive
  | |- 0 < ?x => first [assumption | lra]
  end.

Ltac split_roots :=
  repeat match goal with
  | |- context [sqrt (?a / ?b)] => rewrite (sqrt_div_alt a b) by positive
  | |- context [sqrt (?a * ?b)] => rewrite (sqrt_mult_alt a b) by nonneg
  end.

Ltac split_powers :=
  repeat match goal with
  | |- context [power ?e (?a / ?b)] => rewrite (power_div e a b) by (nonneg || positive)
  | |- context [power ?e (?a * ?b)] => rewrite (power_mult e a b) by nonneg
  | |- context [power ?e (sqrt ?a)] => rewrite (power_sqrt e a) by nonneg
  end;
  repeat match goal with
  | |- context [power (2 / 3 / 2) ?a] => replace (2 / 3 / 2) with (1 / 3) by field
  end.

(** Two forms of one bound. *)
Ltac same_bound m :=
  let Hm := fresh "Hm" in let H2 := fresh "H2" in let Hs := fresh "Hs" in let Hms := fresh "Hms" in
  assert (Hm : 0 < INR m) by positive;
  assert (H2 : sqrt 2 * sqrt 2 = 2) by (apply sqrt_sqrt; lra);
  assert (Hms : sqrt (INR m) * sqrt (INR m) = INR m) by (apply sqrt_sqrt; lra);
  assert (Hs : 0 < sqrt 2) by (apply sqrt_lt_R0; lra);
  assert (0 < sqrt (INR m)) by (apply sqrt_lt_R0; lra);
  repeat rewrite plus_INR; replace (INR 2) with 2 by (simpl; ring); change (INR 1) with 1; repeat rewrite exp_index by positive;
  split_roots; first [reflexivity | field [H2 Hms]; repeat split; lra].

(** Close [gap >= printed bound] from [H : gap >= proved bound] (or [>]). *)
Ltac same_gap H m :=
  let E := fresh "E" in
  match type of H with
  | ?g >= ?b => match goal with |- _ >= ?b' => assert (E : b' = b); [| rewrite E; exact H] end
  | ?g > ?b => match goal with |- _ > ?b' => assert (E : b' = b); [| rewrite E; exact H] end
  end;
  unfold scalar_head_sum, vector_head_sum, features_sum, centred_tokens; same_bound m.

Lemma joint_sum_nonneg {Z} (query : Z -> list R) tokens centre radius zs : 0 <= joint_sum query tokens centre radius zs.
Proof. unfold joint_sum. nonneg. Qed.
Lemma tokens_sum_nonneg {Z} (tokens : Z -> list (list R)) zs : 0 <= tokens_sum tokens zs.
Proof. unfold tokens_sum. nonneg. Qed.

(** One summand of the joint bound. *)
Ltac joint_part m :=
  split_powers;
  pose proof power_two_split as Htwo; pose proof (power_positive (1 / 3) 2 ltac:(lra));
  pose proof (power_positive (2 / 3) (INR m) ltac:(assumption));
  first [field; repeat split; lra | field [Htwo]; repeat split; lra].

(** The same for the joint bound, whose printed form has rational powers. *)
Ltac same_joint_gap H m Hzs :=
  let E := fresh "E" in
  match type of H with
  | ?g >= ?b => match goal with |- _ >= ?b' => assert (E : b' = b); [| rewrite E; exact H] end
  end;
  unfold joint_complexity, values_part, scores_part; rewrite (samples_length _ _ _ Hzs);
  assert (0 < INR m) by positive; assert (0 < sqrt 2) by (apply sqrt_lt_R0; lra);
  match goal with |- context [joint_sum ?q ?t ?c ?r ?zs] =>
    let J := fresh "J" in let S := fresh "S" in
    pose proof (joint_sum_nonneg q t c r zs); pose proof (tokens_sum_nonneg t zs);
    set (J := joint_sum q t c r zs) in *; set (S := tokens_sum t zs) in *; clearbody J S
  end;
  try match goal with
  | |- context [power ?e (?x1 + ?x2)] => match goal with
    | |- context [power e (?y1 + ?y2)] => let K1 := fresh "K1" in let K2 := fresh "K2" in
      lazymatch constr:((x1, y1)) with (?z, ?z) => fail | _ => idtac end;
      assert (K1 : x1 = y1) by joint_part m; assert (K2 : x2 = y2) by joint_part m; rewrite K1, K2
    end
  end;
  match goal with |- context [power ?e (?x1 + ?x2)] => generalize (power e (x1 + x2)); intros end;
  same_bound m.

(** ** Bounds of the form [kl_inverse q c] and [binomial_tail_inverse k n d] *)
Lemma moment_form x : 0 <= x -> sqrt 2 * sqrt PI * sqrt x / 2 + 2 = 2 + sqrt (PI * x / 2).
Proof.
  intros Hx. pose proof PI_RGT_0. rewrite sqrt_div_alt, sqrt_mult_alt by lra. assert (sqrt 2 * sqrt 2 = 2) by (apply sqrt_sqrt; lra).
  assert (0 < sqrt 2) by (apply sqrt_lt_R0; lra). replace 2 with (sqrt 2 * sqrt 2) at 2 by assumption. field. lra.
Qed.

(** The prices of two forms agree: the moment's constant in its two forms, sums in any order, maxima of such sums. *)
Ltac same_sum := first [reflexivity | unfold Rdiv; ring].
Ltac same_price :=
  try rewrite moment_form by apply pos_INR;
  repeat match goal with
  | |- ?x = ?x => reflexivity
  | |- indicator _ = indicator _ => f_equal
  | |- (_ > _) = (_ > _) => f_equal
  | |- kl_inverse _ _ = kl_inverse _ _ => f_equal
  | |- Rmax _ _ / _ = Rmax _ _ / _ => f_equal
  | |- Rmax _ _ = Rmax _ _ => f_equal
  end; same_sum.

(** Close [g > printed bound] from [H : g > proved bound]. *)
Ltac same_entropy H :=
  let E := fresh "E" in
  match type of H with ?g > ?b => match goal with |- _ > ?b' => first [exact H | assert (E : b' = b) by same_price; rewrite E; exact H] end end.

Ltac same_tail H :=
  let E := fresh "E" in
  match type of H with ?g > ?b => match goal with |- _ > ?b' =>
    assert (E : b' = b) by (unfold Rpower; f_equal; rewrite Rmult_comm; f_equal; f_equal; ring); rewrite E; exact H end end.

Lemma root_form a x : 0 < x -> sqrt 2 * sqrt a / (2 * sqrt x) = sqrt (a / (2 * x)).
Proof.
  intros Hx. rewrite sqrt_div_alt, sqrt_mult_alt by lra. assert (0 < sqrt 2) by (apply sqrt_lt_R0; lra).
  assert (0 < sqrt x) by (apply sqrt_lt_R0; lra). assert (E : sqrt 2 * sqrt 2 = 2) by (apply sqrt_sqrt; lra).
  replace 2 with (sqrt 2 * sqrt 2) at 2 by exact E. field. lra.
Qed.

(** The same for [g > share + sqrt (price / (2 m))]. *)
Ltac same_root H :=
  let E := fresh "E" in
  match type of H with ?g > ?b => match goal with |- _ > ?b' =>
    first [exact H | assert (E : b = b') by (try rewrite moment_form by apply pos_INR; try rewrite root_form by positive;
      f_equal; f_equal; unfold Rdiv; ring); rewrite <- E; exact H] end end.

(** The peeled joint bound: grid values as powers of the ratio. *)
Lemma power_index rho j : 0 < rho -> exp (2 * INR j / 3 * ln rho) = power (2 / 3) (rho ^ j).
Proof.
  intros H. rewrite power_pos by (apply pow_lt; auto). unfold Rpower. rewrite ln_pow by auto. f_equal. field.
Qed.
Lemma power_four_thirds x : 0 < x -> power (4 / 3) x = power (2 / 3) x * power (2 / 3) x.
Proof. intros H. rewrite !power_pos by auto. rewrite <- Rpower_plus. f_equal. field. Qed.

Ltac same_peeled_joint_gap H m Hzs :=
  repeat rewrite power_index in H by assumption; repeat rewrite power_four_thirds in H by assumption;
  repeat rewrite exp_index in H by assumption;
  first [same_joint_gap H m Hzs
        | match type of H with context [sqrt (?a + ?b + ?c + ?d)] => replace (a + b + c + d) with (a + b + d + c) in H by ring end;
          same_joint_gap H m Hzs].
