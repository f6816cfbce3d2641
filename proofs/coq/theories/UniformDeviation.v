(** * The sharp empirical uniform deviation bound

With probability at least [1 - delta], every member of a class with losses in [[0, M]] satisfies

  gap <= 2 Rad_S + 2 M sqrt (ln (1/delta) / (2m)).

One use of McDiarmid only: the empirical Rademacher average moves by at most [M/(2m)] with one
sample point (half of the textbook value), so [sup gap - 2 Rad_S] moves by at most [2M/m], and its
mean is at most 0 by symmetrization.  The textbook form (constants 3 and ln (2/delta)) and the form
with the expected Rademacher average are here too. *)
From Coq Require Import Reals List Lra Psatz Lia.
From Attention Require Import SignAverages FiniteSup Expectation Symmetrization HoeffdingLemma McDiarmid
  Probability Risk.
Import ListNotations.
Open Scope R_scope.

Lemma bounded_differences_ext {Z} : forall cs (u v : list Z -> R),
  (forall zs, length zs = length cs -> u zs = v zs) ->
  bounded_differences cs u -> bounded_differences cs v.
Proof.
  induction cs as [| c cs IH]; cbn [bounded_differences length]; intros u v Huv; auto. intros [A [B D]].
  split; [auto | split]. intros. rewrite <- !Huv by (simpl; lia). auto.
  intros. eapply IH; [| apply D]. intros; cbn. apply Huv. simpl; lia.
Qed.

Lemma bounded_differences_plus {Z} : forall cs ds (u v : list Z -> R), length cs = length ds ->
  bounded_differences cs u -> bounded_differences ds v ->
  bounded_differences (map (fun p => fst p + snd p) (combine cs ds)) (fun zs => u zs + v zs).
Proof.
  induction cs as [| c cs IH]; destruct ds as [| d ds]; cbn [length]; intros u v Hl; try discriminate.
  intros; exact I.
  intros [Hc [Hcd Hcr]] [Hd [Hdd Hdr]]. cbn [combine map bounded_differences fst snd].
  assert (Hlen : length (map (fun p => fst p + snd p) (combine cs ds)) = length cs).
  { rewrite map_length, combine_length. lia. }
  split; [lra | split].
  - intros z z' zs Hzs. rewrite Hlen in Hzs.
    pose proof (Hcd z z' zs Hzs). pose proof (Hdd z z' zs ltac:(lia)). lra.
  - intros z. apply (IH ds (fun zs => u (z :: zs)) (fun zs => v (z :: zs))); auto.
Qed.

Lemma sum_sq_repeat c m : sum_sq (repeat c m) = INR m * c^2.
Proof. induction m. simpl; ring. cbn [repeat sum_sq]. rewrite IHm, S_INR. ring. Qed.

Lemma ln_inverse_pos delta : 0 < delta < 1 -> 0 < ln (1 / delta).
Proof.
  intros Hd. rewrite <- ln_1. apply ln_increasing. lra. apply Rmult_lt_reg_r with delta. lra.
  unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra.
Qed.

Lemma exp_minus_ln_inverse delta : 0 < delta -> exp (- ln (1 / delta)) = delta.
Proof.
  intros Hd. unfold Rdiv. rewrite Rmult_1_l, ln_Rinv by auto. rewrite Ropp_involutive. apply exp_ln; auto.
Qed.

Section Deviation.
Context {Z : Type} (P : list (R * Z)).
Hypothesis Pnn : forall p z, In (p, z) P -> 0 <= p.
Hypothesis Pone : Ex P (fun _ => 1) = 1.
Context {T : Type} (F : T -> Z -> R) (M : R).
Hypothesis M_pos : 0 < M.

(** McDiarmid at confidence [1 - delta], all differences at most [c]. *)
Theorem mcdiarmid_confidence c f m delta : 0 < c -> (0 < m)%nat -> 0 < delta < 1 -> bounded_differences (repeat c m) f ->
  Pr P m (fun zs => f zs > Em P m f + c * sqrt (INR m * ln (1 / delta) / 2)) <= delta.
Proof.
  intros Hc Hm Hd HB. assert (Hm' : 0 < INR m) by (apply lt_0_INR; auto). pose proof (ln_inverse_pos delta Hd) as Hln.
  set (s := sqrt (INR m * ln (1 / delta) / 2)).
  assert (Hpos : 0 < INR m * ln (1 / delta) / 2) by (apply Rdiv_lt_0_compat; [apply Rmult_lt_0_compat |]; lra).
  assert (Hs : 0 < s) by (apply sqrt_lt_R0; auto). assert (Hs2 : s^2 = INR m * ln (1 / delta) / 2) by (apply pow2_sqrt; lra).
  pose proof (mcdiarmid P Pnn Pone (repeat c m) f (c * s) HB ltac:(apply Rmult_lt_0_compat; auto)) as H.
  rewrite sum_sq_repeat, repeat_length in H. specialize (H ltac:(apply Rmult_lt_0_compat; nra)).
  replace (exp (- 2 * (c * s)^2 / (INR m * c^2))) with delta in H.
  2:{ replace (- 2 * (c * s)^2 / (INR m * c^2)) with (- (2 * s^2 / INR m)) by (field; lra). rewrite Hs2.
      replace (2 * (INR m * ln (1 / delta) / 2) / INR m) with (ln (1 / delta)) by (field; lra).
      symmetry. apply exp_minus_ln_inverse. lra. }
  eapply Rle_trans; [| apply H]. apply Em_le; auto. intros zs _. unfold indicator, indicator_le.
  destruct decide as [Hg |]; destruct Rle_dec; lra.
Qed.

Section FiniteClass.
Context (t0 : T) (l : list T).
Let C (t : T) := t = t0 \/ In t l.
Hypothesis F_range : forall t, C t -> forall z, 0 <= F t z <= M.
Notation sup := (Sup t0 l).

(** The unnormalised largest deviation and Rademacher sum. *)
Let opposite t z := - F t z.
Definition largest_deviation (zs : list Z) : R := sup (fun t => deviation_sum P opposite zs t).
Definition rademacher_sums (zs : list Z) : R :=
  E (length zs) (fun e => sup (fun t => signed_sum F zs e t)).

Lemma signed_sum_opposite : forall zs e t, signed_sum opposite zs e t = signed_sum F zs (map Ropp e) t.
Proof. induction zs; destruct e; simpl; intros; auto. rewrite IHzs. unfold opposite. ring. Qed.

Lemma expected_deviation m : Em P m largest_deviation <= 2 * Em P m rademacher_sums.
Proof.
  unfold largest_deviation. eapply Rle_trans. apply (symmetrization P Pnn Pone t0 l opposite m).
  apply Req_le. f_equal. apply Em_ext. intros zs Hzs. unfold rademacher_sums. rewrite Hzs.
  rewrite (E_ext m _ (fun e => (fun e' => sup (fun t => signed_sum F zs e' t)) (map Ropp e))).
  apply (E_opp m (fun e' => sup (fun t => signed_sum F zs e' t))).
  intros. apply Sup_ext. intros. apply signed_sum_opposite.
Qed.

(** The largest deviation moves by at most [M] with one point ... *)
Lemma largest_deviation_differences : forall m g,
  bounded_differences (repeat M m) (fun zs => sup (fun t => g t + deviation_sum P opposite zs t)).
Proof.
  induction m; intros g; cbn [repeat bounded_differences]. exact I. split; [lra | split].
  - intros z z' zs _.
    destruct (Sup_att t0 l (fun t => g t + deviation_sum P opposite (z :: zs) t)) as [t [Ht ->]].
    pose proof (Sup_ub t0 l (fun t => g t + deviation_sum P opposite (z' :: zs) t) t Ht) as H.
    cbn [deviation_sum] in *. pose proof (F_range t Ht z). pose proof (F_range t Ht z'). unfold opposite in *. lra.
  - intros z. specialize (IHm (fun t => g t + (opposite t z - Ex P (opposite t)))).
    eapply bounded_differences_ext; [| apply IHm].
    intros zs _. apply Sup_ext. intros; cbn [deviation_sum]. ring.
Qed.

(** ... and the Rademacher sum by at most [M/2]: the other sign cancels one half. *)
Lemma half_step (a : T -> R) z :
  sup a <= (sup (fun t => a t + F t z) + sup (fun t => a t - F t z)) / 2 <= sup a + M / 2.
Proof.
  split.
  - destruct (Sup_att t0 l a) as [t [Ht ->]].
    pose proof (Sup_ub t0 l (fun t => a t + F t z) t Ht).
    pose proof (Sup_ub t0 l (fun t => a t - F t z) t Ht). cbn beta in *. lra.
  - assert (sup (fun t => a t + F t z) <= sup a + M).
    { apply Sup_le. intros t Ht. pose proof (Sup_ub t0 l a t Ht). pose proof (F_range t Ht z). lra. }
    assert (sup (fun t => a t - F t z) <= sup a).
    { apply Sup_le. intros t Ht. pose proof (Sup_ub t0 l a t Ht). pose proof (F_range t Ht z). lra. }
    lra.
Qed.

Lemma rademacher_sum_differences : forall m (g : list R -> T -> R) k,
  bounded_differences (repeat (M / 2) m)
    (fun zs => - E k (fun x => E m (fun e => sup (fun t => g x t + signed_sum F zs e t)))).
Proof.
  induction m; intros g k; cbn [repeat bounded_differences]. exact I. split; [lra | split].
  - intros z z' zs _. cbn [E signed_sum].
    set (step := fun w x => (E m (fun e => sup (fun t => g x t + (1 * F t w + signed_sum F zs e t)))
                     + E m (fun e => sup (fun t => g x t + (neg1 * F t w + signed_sum F zs e t)))) / 2).
    assert (Hstep : forall w x, E m (fun e => sup (fun t => g x t + signed_sum F zs e t)) <= step w x
                      <= E m (fun e => sup (fun t => g x t + signed_sum F zs e t)) + M / 2).
    { intros w x. unfold step.
      rewrite (E_ext m (fun e => sup (fun t => g x t + (1 * F t w + signed_sum F zs e t)))
        (fun e => sup (fun t => (g x t + signed_sum F zs e t) + F t w))) by (intros; apply Sup_ext; intros; ring).
      rewrite (E_ext m (fun e => sup (fun t => g x t + (neg1 * F t w + signed_sum F zs e t)))
        (fun e => sup (fun t => (g x t + signed_sum F zs e t) - F t w))) by (intros; apply Sup_ext; intros; ring).
      rewrite <- E_plus, <- E_div. split; [| rewrite <- (E_const m (M / 2)), <- E_plus];
        apply E_le; intros e _; apply half_step. }
    assert (HH : E k (step z') <= E k (step z) + M / 2).
    { rewrite <- (E_const k (M / 2)). rewrite <- E_plus. apply E_le. intros x _.
      pose proof (Hstep z' x). pose proof (Hstep z x). lra. }
    fold (step z) (step z'). change (fun x => step z x) with (step z). change (fun x => step z' x) with (step z').
    lra.
  - intros z. eapply bounded_differences_ext; [| apply (IHm (fun x t => g (tl x) t + hd 0 x * F t z) (S k))].
    intros zs _. cbn [E hd tl signed_sum]. f_equal.
    rewrite <- E_plus. unfold Rdiv. rewrite Rmult_comm, <- E_scal. apply E_ext. intros x _.
    rewrite Rmult_comm. f_equal. f_equal; apply E_ext; intros; apply Sup_ext; intros; ring.
Qed.

Lemma excess_differences m :
  bounded_differences (repeat (2 * M) m) (fun zs => largest_deviation zs - 2 * rademacher_sums zs).
Proof.
  pose proof (largest_deviation_differences m (fun _ => 0)) as HA.
  pose proof (rademacher_sum_differences m (fun _ _ => 0) 0) as HB.
  pose proof (bounded_differences_plus _ _ _ _ (eq_trans (repeat_length _ _) (eq_sym (repeat_length _ _))) HB HB) as HBB.
  assert (Hrep : forall c d, map (fun p => fst p + snd p) (combine (repeat c m) (repeat d m)) = repeat (c + d) m).
  { intros c d. clear. induction m; simpl; auto. rewrite IHm. reflexivity. }
  rewrite Hrep in HBB.
  pose proof (bounded_differences_plus _ _ _ _ (eq_trans (repeat_length _ _) (eq_sym (repeat_length _ _))) HA HBB) as H.
  rewrite Hrep in H. replace (2 * M) with (M + (M / 2 + M / 2)) by field.
  eapply bounded_differences_ext; [| apply H]. intros zs Hzs. rewrite repeat_length in Hzs. cbn [E].
  unfold largest_deviation, rademacher_sums. rewrite Hzs.
  rewrite (Sup_ext t0 l _ (fun t => deviation_sum P opposite zs t)) by (intros; ring).
  rewrite (E_ext m _ (fun e => sup (fun t => signed_sum F zs e t))) by (intros; apply Sup_ext; intros; ring). ring.
Qed.

(** Lemma 1 in normalised form: the mean of the largest gap is at most twice the mean Rademacher average. *)
Theorem expected_gap m : (0 < m)%nat ->
  Em P m (fun zs => sup (gap P F zs)) <= 2 * Em P m (rademacher F t0 l).
Proof.
  intros Hm. assert (Hm' : 0 < INR m) by (apply lt_0_INR; auto).
  assert (Hr : Em P m (rademacher F t0 l) = Em P m rademacher_sums / INR m).
  { rewrite (Em_ext P m _ (fun zs => / INR m * rademacher_sums zs)). rewrite Em_scal; unfold Rdiv; ring.
    intros ys Hys. rewrite rademacher_sum by lia. unfold rademacher_sums, Rdiv. rewrite Hys. ring. }
  assert (Hg : Em P m (fun zs => sup (gap P F zs)) = Em P m largest_deviation / INR m).
  { rewrite (Em_ext P m _ (fun zs => / INR m * largest_deviation zs)). rewrite Em_scal; unfold Rdiv; ring.
    intros ys Hys. unfold largest_deviation. rewrite <- Sup_scal by (left; apply Rinv_0_lt_compat; auto).
    apply Sup_ext. intros t _. unfold opposite. rewrite deviation_sum_gap by lia. rewrite Hys. field. lra. }
  rewrite Hr, Hg. pose proof (expected_deviation m) as H. unfold Rdiv. rewrite <- Rmult_assoc.
  apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; auto | exact H].
Qed.

(** Lemma 3(c) for a finite class. *)
Theorem uniform_deviation m delta : (0 < m)%nat -> 0 < delta < 1 ->
  Pr P m (fun zs => exists t, C t /\
    gap P F zs t >= 2 * rademacher F t0 l zs + 2 * M * sqrt (ln (1 / delta) / (2 * INR m))) <= delta.
Proof.
  intros Hm Hd. assert (Hm' : 0 < INR m) by (apply lt_0_INR; auto).
  pose proof (ln_inverse_pos delta Hd) as Hln.
  set (s := sqrt (ln (1 / delta) / (2 * INR m))).
  assert (Hs : 0 < s). { apply sqrt_lt_R0. apply Rdiv_lt_0_compat; lra. }
  assert (Hs2 : s^2 = ln (1 / delta) / (2 * INR m)). { unfold s. apply pow2_sqrt. left; apply Rdiv_lt_0_compat; lra. }
  set (t := 2 * M * s * INR m).
  assert (Ht : 0 < t) by (unfold t; repeat apply Rmult_lt_0_compat; lra).
  pose proof (mcdiarmid P Pnn Pone (repeat (2 * M) m) _ t (excess_differences m) Ht) as H.
  rewrite sum_sq_repeat, repeat_length in H. specialize (H ltac:(apply Rmult_lt_0_compat; nra)).
  replace (exp (- 2 * t^2 / (INR m * (2 * M)^2))) with delta in H.
  2:{ replace (- 2 * t^2 / (INR m * (2 * M)^2)) with (- (2 * INR m * s^2)) by (unfold t; field; lra).
      rewrite Hs2. replace (2 * INR m * (ln (1 / delta) / (2 * INR m))) with (ln (1 / delta)) by (field; lra).
      symmetry. apply exp_minus_ln_inverse. lra. }
  eapply Rle_trans; [| apply H]. apply Em_le; auto. intros zs Hzs.
  set (mean := Em P m (fun zs => largest_deviation zs - 2 * rademacher_sums zs)).
  assert (Hmean : mean <= 0).
  { unfold mean. rewrite Em_minus, Em_scal. pose proof (expected_deviation m). lra. }
  unfold indicator, indicator_le. destruct decide as [[u [Hu Hg]] |]; destruct Rle_dec as [|Hno]; try lra.
  exfalso. apply Hno. rewrite rademacher_sum in Hg by lia. fold (rademacher_sums zs) in Hg. rewrite Hzs in Hg.
  assert (INR m * gap P F zs u <= largest_deviation zs).
  { rewrite <- Hzs, <- deviation_sum_gap by lia. apply (Sup_ub t0 l (fun t => deviation_sum P opposite zs t)); auto. }
  apply Rge_le in Hg. apply (Rmult_le_compat_l (INR m)) in Hg; [| lra].
  replace (INR m * (2 * (rademacher_sums zs / INR m) + 2 * M * s)) with (2 * rademacher_sums zs + t) in Hg
    by (unfold t; field; lra). lra.
Qed.

(** Lemma 3(b), the textbook form: constant 3 and ln (2/delta). *)
Corollary uniform_deviation_textbook m delta : (0 < m)%nat -> 0 < delta < 1 ->
  Pr P m (fun zs => exists t, C t /\
    gap P F zs t >= 2 * rademacher F t0 l zs + 3 * M * sqrt (ln (2 / delta) / (2 * INR m))) <= delta.
Proof.
  intros Hm Hd. eapply Rle_trans; [| apply (uniform_deviation m delta Hm Hd)].
  assert (Hm' : 0 < INR m) by (apply lt_0_INR; auto). apply Pr_mono; auto. intros zs _ [t [Ht Hg]].
  exists t; split; auto. pose proof (ln_inverse_pos delta Hd).
  assert (Hln : ln (1 / delta) <= ln (2 / delta)).
  { left; apply ln_increasing; unfold Rdiv; [| apply Rmult_lt_compat_r; [| lra]].
    apply Rmult_lt_0_compat; [lra |]. all: apply Rinv_0_lt_compat; lra. }
  assert (sqrt (ln (1 / delta) / (2 * INR m)) <= sqrt (ln (2 / delta) / (2 * INR m))).
  { apply sqrt_le_1_alt. apply Rmult_le_compat_r; auto. left; apply Rinv_0_lt_compat; lra. }
  pose proof (sqrt_pos (ln (1 / delta) / (2 * INR m))). nra.
Qed.

(** Lemma 3(a): the expected Rademacher average, one factor less in the confidence term. *)
Theorem uniform_deviation_expected m delta : (0 < m)%nat -> 0 < delta < 1 ->
  Pr P m (fun zs => exists t, C t /\
    gap P F zs t >= 2 * Em P m (rademacher F t0 l) + M * sqrt (ln (1 / delta) / (2 * INR m))) <= delta.
Proof.
  intros Hm Hd. assert (Hm' : 0 < INR m) by (apply lt_0_INR; auto).
  pose proof (ln_inverse_pos delta Hd) as Hln.
  set (s := sqrt (ln (1 / delta) / (2 * INR m))).
  assert (Hs : 0 < s). { apply sqrt_lt_R0. apply Rdiv_lt_0_compat; lra. }
  assert (Hs2 : s^2 = ln (1 / delta) / (2 * INR m)). { unfold s. apply pow2_sqrt. left; apply Rdiv_lt_0_compat; lra. }
  set (t := M * s * INR m).
  assert (Ht : 0 < t) by (unfold t; repeat apply Rmult_lt_0_compat; lra).
  assert (HB : bounded_differences (repeat M m) largest_deviation).
  { eapply bounded_differences_ext; [| apply (largest_deviation_differences m (fun _ => 0))].
    intros zs _. apply Sup_ext. intros; ring. }
  pose proof (mcdiarmid P Pnn Pone (repeat M m) _ t HB Ht) as H.
  rewrite sum_sq_repeat, repeat_length in H. specialize (H ltac:(apply Rmult_lt_0_compat; nra)).
  replace (exp (- 2 * t^2 / (INR m * M^2))) with delta in H.
  2:{ replace (- 2 * t^2 / (INR m * M^2)) with (- (2 * INR m * s^2)) by (unfold t; field; lra).
      rewrite Hs2. replace (2 * INR m * (ln (1 / delta) / (2 * INR m))) with (ln (1 / delta)) by (field; lra).
      symmetry. apply exp_minus_ln_inverse. lra. }
  eapply Rle_trans; [| apply H]. apply Em_le; auto. intros zs Hzs.
  pose proof (expected_deviation m) as Hmean.
  assert (Hr : Em P m (rademacher F t0 l) = Em P m rademacher_sums / INR m).
  { rewrite (Em_ext P m _ (fun zs => / INR m * rademacher_sums zs)). rewrite Em_scal; unfold Rdiv; ring.
    intros ys Hys. rewrite rademacher_sum by lia. unfold rademacher_sums, Rdiv. rewrite Hys. ring. }
  unfold indicator, indicator_le. destruct decide as [[u [Hu Hg]] |]; destruct Rle_dec as [|Hno]; try lra.
  exfalso. apply Hno. rewrite Hr in Hg.
  assert (INR m * gap P F zs u <= largest_deviation zs).
  { rewrite <- Hzs, <- deviation_sum_gap by lia. apply (Sup_ub t0 l (fun t => deviation_sum P opposite zs t)); auto. }
  apply Rge_le in Hg. apply (Rmult_le_compat_l (INR m)) in Hg; [| lra].
  replace (INR m * (2 * (Em P m rademacher_sums / INR m) + M * s)) with (2 * Em P m rademacher_sums + t) in Hg
    by (unfold t; field; lra). lra.
Qed.
End FiniteClass.

(** Any class, finite or not, once a data-dependent number bounds the Rademacher average of each of
    its finite parts. *)
Theorem uniform_deviation_any_class (C : T -> Prop) (B : list Z -> R) m delta :
  (0 < m)%nat -> 0 < delta < 1 ->
  (forall t, C t -> forall z, 0 <= F t z <= M) ->
  (forall t0 l, (forall t, t = t0 \/ In t l -> C t) -> forall zs, length zs = m -> rademacher F t0 l zs <= B zs) ->
  Pr P m (fun zs => exists t, C t /\
    gap P F zs t >= 2 * B zs + 2 * M * sqrt (ln (1 / delta) / (2 * INR m))) <= delta.
Proof.
  intros Hm Hd Hrange HB.
  destruct (finite_witnesses P C (fun t zs => gap P F zs t >= 2 * B zs + 2 * M * sqrt (ln (1 / delta) / (2 * INR m))) m)
    as [[| t0 l] [Hl Hw]].
  - rewrite Pr_false; auto; [lra |]. intros zs Hzs Hex. destruct (Hw zs Hzs Hex) as [t [[] _]].
  - assert (HC : forall t, t = t0 \/ In t l -> C t) by (intros t Ht; apply Hl; destruct Ht; [left | right]; auto).
    eapply Rle_trans; [| apply (uniform_deviation t0 l (fun t Ht => Hrange t (HC t Ht)) m delta Hm Hd)].
    apply Pr_mono; auto. intros zs Hzs Hex. destruct (Hw zs Hzs Hex) as [t [Ht Hg]].
    exists t. split. destruct Ht; [left | right]; auto.
    pose proof (HB t0 l HC zs (samples_length P m zs Hzs)). lra.
Qed.
End Deviation.
