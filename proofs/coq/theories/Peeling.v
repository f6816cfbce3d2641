(** * Peeling: a bound for every radius becomes a bound at the radius found after training (Theorem P)

The radii [c0 * rho^j] carry the weights [1/((j+1)(j+2))], whose sum is below 1.  So with
probability at least [1 - delta] every weight matrix, of any norm, satisfies the bound of the first
radius above its norm, with [ln (1/delta)] increased by [ln ((j+1)(j+2))]. *)
From Coq Require Import Reals List Lra Psatz Lia Arith.
From Attention Require Import SignAverages FiniteSup Expectation Probability Risk UniformDeviation Softmax LinearScores
  Matrices SoftmaxHead.
Import ListNotations.
Open Scope R_scope.

Definition peeling_weight (j : nat) : R := 1 / (INR (j + 1) * INR (j + 2)).

Lemma peeling_weight_pos j : 0 < peeling_weight j.
Proof. unfold peeling_weight. apply Rdiv_lt_0_compat. lra. apply Rmult_lt_0_compat; apply lt_0_INR; lia. Qed.

Lemma sum_list_app {H} (a b : list H) w : sum_list (a ++ b) w = sum_list a w + sum_list b w.
Proof. induction a; simpl. ring. rewrite IHa. ring. Qed.

Lemma sum_list_remove {H} (dec : forall a b : H, {a = b} + {a <> b}) (w : H -> R) x : forall l, NoDup l -> In x l ->
  sum_list l w = w x + sum_list (remove dec x l) w.
Proof.
  induction l as [| y l IH]; intros Hl Hx; [destruct Hx |]. inversion Hl; subst. simpl. destruct (dec x y) as [<- | Hne].
  - rewrite notin_remove; auto.
  - destruct Hx as [-> | Hx]; [congruence |]. simpl. rewrite IH by auto. ring.
Qed.

Lemma NoDup_remove_elt {H} (dec : forall a b : H, {a = b} + {a <> b}) x : forall l, NoDup l -> NoDup (remove dec x l).
Proof.
  induction l as [| y l IH]; intros Hl; simpl; auto. inversion Hl; subst. destruct (dec x y); auto.
  constructor; auto. intros K. apply in_remove in K. tauto.
Qed.

(** A sum of nonnegative weights over distinct indices below [k] is at most the full sum. *)
Lemma sum_list_below (w : nat -> R) (s : nat -> R) : s 0%nat = 0 -> (forall k, s (S k) = s k + w k) -> (forall k, 0 <= w k) ->
  forall k l, NoDup l -> (forall j, In j l -> (j < k)%nat) -> sum_list l w <= s k.
Proof.
  intros H0 HS Hw. induction k; intros l Hl Hlt.
  - destruct l as [| j l]. simpl; lra. specialize (Hlt j (or_introl eq_refl)). lia.
  - rewrite HS. destruct (in_dec Nat.eq_dec k l) as [Hin | Hin].
    + rewrite (sum_list_remove Nat.eq_dec w k l Hl Hin).
      assert (sum_list (remove Nat.eq_dec k l) w <= s k).
      { apply IHk. apply NoDup_remove_elt; auto. intros j Hj. apply in_remove in Hj. destruct Hj as [Hj Hne].
        specialize (Hlt j Hj). lia. }
      lra.
    + assert (sum_list l w <= s k). { apply IHk; auto. intros j Hj. specialize (Hlt j Hj).
        assert (j <> k) by (intros ->; auto). lia. }
      pose proof (Hw k). lra.
Qed.

Lemma peeling_weights_sum l : NoDup l -> sum_list l peeling_weight <= 1.
Proof.
  intros Hl. set (k := S (list_max l)).
  assert (H : sum_list l peeling_weight <= 1 - 1 / INR (k + 1)).
  { apply (sum_list_below peeling_weight (fun k => 1 - 1 / INR (k + 1))); auto.
    - simpl. lra.
    - intros j. unfold peeling_weight. rewrite !plus_INR, S_INR. simpl. pose proof (pos_INR j). field. lra.
    - intros j. left. apply peeling_weight_pos.
    - intros j Hj. unfold k. assert (Hm : Forall (fun k => (k <= list_max l)%nat) l) by (apply list_max_le; lia).
      rewrite Forall_forall in Hm. specialize (Hm j Hj). lia. }
  assert (0 < 1 / INR (k + 1)) by (apply Rdiv_lt_0_compat; [lra | apply lt_0_INR; lia]). lra.
Qed.

(** Theorem P: bounds that hold at each [j] with failure probability [delta/((j+1)(j+2))] hold together. *)
Theorem peeling {Z : Type} (P : list (R * Z)) m delta (bad : nat -> list Z -> Prop) :
  distribution P -> 0 < delta < 1 ->
  (forall j, Pr P m (bad j) <= delta / (INR (j + 1) * INR (j + 2))) ->
  Pr P m (fun zs => exists j, bad j zs) <= delta.
Proof.
  intros [Pnn Pone] Hd H. apply (Pr_union P Pnn Pone m bad peeling_weight); [lra | apply peeling_weights_sum |].
  intros j. eapply Rle_trans. apply H. right. unfold peeling_weight, Rdiv. ring.
Qed.

Lemma peeled_delta delta j : 0 < delta < 1 ->
  0 < delta / (INR (j + 1) * INR (j + 2)) < 1 /\
  ln (1 / (delta / (INR (j + 1) * INR (j + 2)))) = ln (1 / delta) + ln (INR (j + 1) * INR (j + 2)).
Proof.
  intros Hd. assert (A : 1 <= INR (j + 1)) by (apply (le_INR 1); lia). assert (B : 1 <= INR (j + 2)) by (apply (le_INR 1); lia).
  set (k := INR (j + 1) * INR (j + 2)) in *. assert (Hk : 1 <= k) by (unfold k; nra).
  split; [split |].
  - apply Rdiv_lt_0_compat; lra.
  - apply Rmult_lt_reg_r with k. lra. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra.
  - rewrite <- ln_mult; [f_equal; field; lra | apply Rdiv_lt_0_compat; lra | lra].
Qed.

(** Theorem P for a complexity [c] of the members [t] of a class: bounds that are linear in the radius. *)
Theorem peeling_complexity {Z T : Type} (P : list (R * Z)) (F : T -> Z -> R) (C : T -> Prop) (c : T -> R)
  (slope : list Z -> R) M c0 rho m delta :
  distribution P -> 0 < delta < 1 ->
  (forall r d, 0 < d < 1 ->
    Pr P m (fun zs => exists t, (C t /\ c t <= r) /\
      gap P F zs t >= slope zs * r + 2 * M * sqrt (ln (1 / d) / (2 * INR m))) <= d) ->
  Pr P m (fun zs => exists j t, (C t /\ c t <= c0 * rho ^ j) /\
    gap P F zs t >= slope zs * (c0 * rho ^ j)
      + 2 * M * sqrt ((ln (1 / delta) + ln (INR (j + 1) * INR (j + 2))) / (2 * INR m))) <= delta.
Proof.
  intros HP Hd H. apply peeling; auto. intros j. destruct (peeled_delta delta j Hd) as [Hdj Hln].
  rewrite <- Hln. apply H. exact Hdj.
Qed.

(** The first radius at or above a norm is at most [max (c0, rho * norm)]. *)
Definition first_radius (c0 rho c : R) (j : nat) : Prop :=
  c <= c0 * rho ^ j /\ (j = 0%nat \/ c0 * rho ^ (j - 1) < c).

Lemma first_radius_le c0 rho c j : 0 < c0 -> 1 < rho -> first_radius c0 rho c j -> c0 * rho ^ j <= Rmax c0 (rho * c).
Proof.
  intros Hc Hr [_ [-> | H]]. simpl. rewrite Rmult_1_r. apply Rmax_l.
  destruct j. simpl. rewrite Rmult_1_r. apply Rmax_l. simpl in H. rewrite Nat.sub_0_r in H.
  eapply Rle_trans; [| apply Rmax_r]. simpl. nra.
Qed.

Lemma first_radius_exists c0 rho c : 0 < c0 -> 1 < rho -> exists j, first_radius c0 rho c j.
Proof.
  intros Hc Hr. destruct (Pow_x_infinity rho ltac:(rewrite Rabs_pos_eq; lra) (c / c0)) as [N HN].
  assert (Hex : exists j, c <= c0 * rho ^ j).
  { exists N. specialize (HN N (Nat.le_refl N)). rewrite Rabs_pos_eq in HN by (apply pow_le; lra).
    apply Rge_le in HN. apply (Rmult_le_compat_l c0) in HN; [| lra]. replace (c0 * (c / c0)) with c in HN by (field; lra). lra. }
  destruct (dec_inh_nat_subset_has_unique_least_element (fun j => c <= c0 * rho ^ j)
    (fun j => match decide _ with left a => or_introl a | right b => or_intror b end) Hex) as [j [[Hj Hmin] _]].
  exists j. split; auto. destruct j; [left; auto | right]. destruct (Rlt_le_dec (c0 * rho ^ (S j - 1)) c); auto.
  exfalso. apply Hmin in r. lia.
Qed.

Section PeeledHead.
Context {Z : Type} (d1 d2 n : nat).
Context (query : Z -> list R) (tokens : Z -> list (list R)) (centre : Z -> list R).
Hypothesis query_shape : forall z, length (query z) = d1.
Hypothesis tokens_shape : forall z, (length (tokens z) <= n)%nat /\ forall x, In x (tokens z) -> length x = d2.
Hypothesis centre_shape : forall z, length (centre z) = d2.
Context (L M c0 rho : R).
Hypothesis L_nonneg : 0 <= L.
Hypothesis M_pos : 0 < M.

(** C1(i) with the Frobenius norm read off after training. *)
Theorem peeled_head_bound (values : Z -> list R) (loss : Z -> R -> R) P m delta :
  (forall z, length (values z) = length (tokens z)) ->
  (forall z y, 0 <= loss z y <= M) ->
  (forall z y y', Rabs (loss z y - loss z y') <= L * Rabs (y - y')) ->
  distribution P -> (0 < m)%nat -> 0 < delta < 1 ->
  Pr P m (fun zs => exists j W, (shaped d1 d2 W /\ frobenius_norm W <= c0 * rho ^ j) /\
    gap P (head_loss query tokens values loss) zs W
    >= 2 * (L * (c0 * rho ^ j) / (2 * INR m) * sqrt (scalar_head_sum query tokens centre values zs))
       + 2 * M * sqrt ((ln (1 / delta) + ln (INR (j + 1) * INR (j + 2))) / (2 * INR m))) <= delta.
Proof.
  intros Hv Hl Hlip HP Hm Hd. assert (Hm' : 0 < INR m) by (apply lt_0_INR; auto).
  assert (E : forall zs r, 2 * (L * r / (2 * INR m) * sqrt (scalar_head_sum query tokens centre values zs))
    = 2 * (L / (2 * INR m) * sqrt (scalar_head_sum query tokens centre values zs)) * r) by (intros; field; lra).
  assert (H := peeling_complexity P (head_loss query tokens values loss) (shaped d1 d2) frobenius_norm
    (fun zs => 2 * (L / (2 * INR m) * sqrt (scalar_head_sum query tokens centre values zs))) M c0 rho m delta HP Hd).
  eapply Rle_trans; [| apply H].
  - destruct HP as [Pnn Pone]. apply Pr_mono; auto. intros zs _ [j [W [HW Hg]]]. exists j, W. rewrite E in Hg. auto.
  - intros r d Hdd. eapply Rle_trans; [| apply (head_bound_frobenius d1 d2 n query tokens centre query_shape
      tokens_shape centre_shape values loss L M Hv Hl Hlip L_nonneg M_pos P r m d HP Hm Hdd)].
    destruct HP as [Pnn Pone]. apply Pr_mono; auto. intros zs _ [W [HW Hg]]. exists W. rewrite E. auto.
Qed.

(** C1-vector with the Frobenius norm read off after training. *)
Theorem peeled_vector_head_bound K (values : Z -> list (list R)) (loss : Z -> list R -> R) value_centre radius P m delta :
  (forall z, length (values z) = length (tokens z) /\ forall a, In a (values z) -> length a = K) ->
  (forall z, length (value_centre z) = K /\ 0 <= radius z /\
     forall a, In a (values z) -> norm (VectorContraction.sub a (value_centre z)) <= radius z) ->
  (forall z y, 0 <= loss z y <= M) ->
  (forall z y y', length y = K -> length y' = K -> Rabs (loss z y - loss z y') <= L * norm (VectorContraction.sub y y')) ->
  distribution P -> (0 < m)%nat -> 0 < delta < 1 ->
  Pr P m (fun zs => exists j W, (shaped d1 d2 W /\ frobenius_norm W <= c0 * rho ^ j) /\
    gap P (vector_head_loss query tokens K values loss) zs W
    >= 2 * (L * (c0 * rho ^ j) / INR m * sqrt (vector_head_sum query tokens centre radius zs))
       + 2 * M * sqrt ((ln (1 / delta) + ln (INR (j + 1) * INR (j + 2))) / (2 * INR m))) <= delta.
Proof.
  intros Hv Hrad Hl Hlip HP Hm Hd. assert (Hm' : 0 < INR m) by (apply lt_0_INR; auto).
  assert (E : forall zs r, 2 * (L * r / INR m * sqrt (vector_head_sum query tokens centre radius zs))
    = 2 * (L / INR m * sqrt (vector_head_sum query tokens centre radius zs)) * r) by (intros; field; lra).
  assert (H := peeling_complexity P (vector_head_loss query tokens K values loss) (shaped d1 d2) frobenius_norm
    (fun zs => 2 * (L / INR m * sqrt (vector_head_sum query tokens centre radius zs))) M c0 rho m delta HP Hd).
  eapply Rle_trans; [| apply H].
  - destruct HP as [Pnn Pone]. apply Pr_mono; auto. intros zs _ [j [W [HW Hg]]]. exists j, W. rewrite E in Hg. auto.
  - intros r d Hdd. eapply Rle_trans; [| apply (vector_head_bound_frobenius d1 d2 n query tokens centre query_shape
      tokens_shape centre_shape K values loss L M value_centre radius Hv Hrad Hl Hlip L_nonneg M_pos P r m d HP Hm Hdd)].
    destruct HP as [Pnn Pone]. apply Pr_mono; auto. intros zs _ [W [HW Hg]]. exists W. rewrite E. auto.
Qed.
End PeeledHead.

(** Three complexities read off after training: three grids, three logarithms. *)
Theorem peeling_three {Z : Type} (P : list (R * Z)) m delta (bad : nat -> nat -> nat -> list Z -> Prop) :
  distribution P -> 0 < delta < 1 ->
  (forall i j k d, 0 < d < 1 ->
    ln (1 / d) = ln (1 / delta) + ln (INR (i + 1) * INR (i + 2)) + ln (INR (j + 1) * INR (j + 2)) + ln (INR (k + 1) * INR (k + 2)) ->
    Pr P m (bad i j k) <= d) ->
  Pr P m (fun zs => exists i j k, bad i j k zs) <= delta.
Proof.
  intros HP Hd H. apply (peeling P m delta (fun i zs => exists j k, bad i j k zs) HP Hd). intros i.
  destruct (peeled_delta delta i Hd) as [Hdi Hli]. set (di := delta / (INR (i + 1) * INR (i + 2))) in *.
  apply (peeling P m di (fun j zs => exists k, bad i j k zs) HP Hdi). intros j.
  destruct (peeled_delta di j Hdi) as [Hdj Hlj]. set (dj := di / (INR (j + 1) * INR (j + 2))) in *.
  apply (peeling P m dj (fun k zs => bad i j k zs) HP Hdj). intros k.
  destruct (peeled_delta dj k Hdj) as [Hdk Hlk]. apply H; auto. rewrite Hlk, Hlj, Hli. reflexivity.
Qed.
