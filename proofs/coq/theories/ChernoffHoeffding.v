(** * The Chernoff-Hoeffding bound in relative-entropy form

For iid losses in [[0, 1]] with mean [mu], the empirical mean is at most [a < mu] with probability at
most [exp (-m kl(a || mu))]. *)
From Coq Require Import Reals List Lra Psatz Lia Classical.
From Coquelicot Require Import Coquelicot.
From Attention Require Import Expectation HoeffdingLemma Probability Symmetrization Risk SoftmaxHead.
Import ListNotations.
Open Scope R_scope.

(** Relative entropy of two coins with success probabilities [q] and [p < 1] ([0 ln 0 = 0]). *)
Definition kl (q p : R) : R := q * ln (q / p) + (1 - q) * ln ((1 - q) / (1 - p)).

(** [kl(q || p) >= c], with [kl(q || 1)] infinite for [q < 1]. *)
Definition kl_at_least (c q p : R) : Prop := p = 1 \/ c <= kl q p.

Lemma exp_nat_mult x m : exp (INR m * x) = (exp x)^m.
Proof.
  induction m. simpl. rewrite Rmult_0_l. apply exp_0. cbn [pow]. rewrite <- IHm, <- exp_plus, S_INR. f_equal. ring.
Qed.

Section Chernoff.
Context {Z : Type} (P : list (R * Z)).
Hypothesis HP : distribution P.
Context (X : Z -> R).
Hypothesis X_range : forall z, 0 <= X z <= 1.
Notation Ex := (Ex P). Notation Em := (Em P).
Let Pnn := proj1 HP. Let Pone := proj2 HP.
Let mu := Ex X.

Lemma mean_range : 0 <= mu <= 1.
Proof.
  unfold mu. split; [rewrite <- (Ex_const P Pone 0) | rewrite <- (Ex_const P Pone 1)]; apply Ex_le; auto; intros; apply X_range.
Qed.

Fixpoint product (f : Z -> R) (zs : list Z) : R := match zs with nil => 1 | z :: zs => f z * product f zs end.

(** The exponential moment of a sum is a product. *)
Lemma Em_product m (f : Z -> R) : Em m (product f) = (Ex f)^m.
Proof.
  induction m; cbn [Expectation.Em product pow]; auto. rewrite (Ex_ext P _ (fun z => (Ex f)^m * f z)). rewrite Ex_scal. ring.
  intros z. rewrite <- IHm, <- (Rmult_comm (f z)), <- Em_scal. reflexivity.
Qed.

Lemma exp_sum_product lambda : forall zs, exp (- lambda * sum_list zs X) = product (fun z => exp (- lambda * X z)) zs.
Proof.
  induction zs; simpl. rewrite Rmult_0_r. apply exp_0. rewrite <- IHzs, <- exp_plus. f_equal. ring.
Qed.

Lemma moment_le lambda : Ex (fun z => exp (- lambda * X z)) <= 1 - mu + mu * exp (- lambda).
Proof.
  apply Rle_trans with (Ex (fun z => 1 + (exp (- lambda) - 1) * X z)).
  - apply Ex_le; auto. intros z. pose proof (exp_chord (X z) 0 (- lambda) (X_range z)) as H. rewrite exp_0 in H.
    replace ((1 - X z) * 0 + X z * - lambda) with (- lambda * X z) in H by ring. lra.
  - rewrite Ex_plus, Ex_const, Ex_scal by auto. fold mu. lra.
Qed.

Lemma chernoff_moment m a lambda : 0 <= lambda ->
  Pr P m (fun zs => sum_list zs X <= INR m * a) <= (exp (lambda * a) * (1 - mu + mu * exp (- lambda)))^m.
Proof.
  intros Hl. pose proof mean_range as Hmu. pose proof (exp_pos (- lambda)) as He.
  rewrite Rpow_mult_distr, <- exp_nat_mult.
  apply Rle_trans with (exp (INR m * (lambda * a)) * Em m (fun zs => exp (- lambda * sum_list zs X))).
  - unfold Pr. rewrite <- Em_scal. apply Em_le; auto. intros zs _. rewrite <- exp_plus. unfold indicator.
    destruct decide as [H | _]; [| left; apply exp_pos]. rewrite <- exp_0.
    assert (K : 0 <= INR m * (lambda * a) + - lambda * sum_list zs X) by nra.
    destruct K as [K | <-]; [left; apply exp_increasing; auto | lra].
  - apply Rmult_le_compat_l. left; apply exp_pos.
    rewrite (Em_ext P m _ (product (fun z => exp (- lambda * X z)))) by (intros; apply exp_sum_product).
    rewrite Em_product. apply pow_incr. split; [| apply moment_le].
    rewrite <- (Ex_const P Pone 0). apply Ex_le; auto. intros; left; apply exp_pos.
Qed.

(** Interior case: the best exponent in closed form. *)
Lemma chernoff_interior m a : 0 < a <= mu -> mu < 1 ->
  Pr P m (fun zs => sum_list zs X <= INR m * a) <= exp (- (INR m * kl a mu)).
Proof.
  intros Ha Hmu. set (b := mu * (1 - a) / (a * (1 - mu))).
  assert (Hden : 0 < a * (1 - mu)) by (apply Rmult_lt_0_compat; lra).
  assert (Hb : 0 < b) by (apply Rdiv_lt_0_compat; auto; apply Rmult_lt_0_compat; lra).
  assert (Hb1 : 1 <= b). { unfold b. apply Rmult_le_reg_r with (a * (1 - mu)); auto. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; nra. }
  assert (Hl : 0 <= ln b). { rewrite <- ln_1. destruct Hb1 as [H | <-]; [left; apply ln_increasing; lra | lra]. }
  eapply Rle_trans. apply (chernoff_moment m a (ln b) Hl). right.
  replace (- (INR m * kl a mu)) with (INR m * (- kl a mu)) by ring. rewrite exp_nat_mult. f_equal.
  rewrite exp_Ropp, exp_ln by auto.
  replace (1 - mu + mu * / b) with ((1 - mu) / (1 - a)) by (unfold b; field; lra).
  rewrite <- (exp_ln ((1 - mu) / (1 - a))) by (apply Rdiv_lt_0_compat; lra). rewrite <- exp_plus. f_equal.
  unfold kl, b. rewrite !ln_div, !ln_mult by (try apply Rmult_lt_0_compat; lra). ring.
Qed.

(** Boundary case [a = 0]: all losses vanish. *)
Lemma chernoff_zero m : mu < 1 -> Pr P m (fun zs => sum_list zs X <= 0) <= exp (- (INR m * kl 0 mu)).
Proof.
  intros Hmu. pose proof mean_range.
  replace (exp (- (INR m * kl 0 mu))) with ((1 - mu)^m).
  2:{ unfold kl. rewrite Rmult_0_l, Rplus_0_l, Rminus_0_r, Rmult_1_l. replace (1 / (1 - mu)) with (/ (1 - mu)) by (field; lra).
      rewrite ln_Rinv by lra. replace (- (INR m * - ln (1 - mu))) with (INR m * ln (1 - mu)) by ring. rewrite exp_nat_mult, exp_ln by lra. reflexivity. }
  replace (1 - mu) with (Ex (fun z => 1 + -1 * X z)) by (rewrite Ex_plus, Ex_const, Ex_scal by auto; unfold mu; ring).
  rewrite <- Em_product. apply Em_le; auto. intros zs _. unfold indicator.
  assert (K : forall l, 0 <= sum_list l X /\ 0 <= product (fun z => 1 + -1 * X z) l).
  { induction l as [| z l [I1 I2]]; simpl. lra. pose proof (X_range z). split. lra. apply Rmult_le_pos; lra. }
  destruct decide as [Hs |]; [| apply K]. right. symmetry. induction zs as [| z l IH]; simpl in *; auto.
  pose proof (X_range z). destruct (K l) as [K1 _]. rewrite IH by lra. replace (X z) with 0 by lra. ring.
Qed.

(** Boundary case [mu = 1]: an empirical mean below 1 has probability zero. *)
Lemma chernoff_one m a c : mu = 1 -> a < 1 -> 0 <= c ->
  Pr P m (fun zs => sum_list zs X <= INR m * a) <= exp (- (INR m * c)).
Proof.
  intros Hmu Ha Hc. set (lambda := c / (1 - a)).
  assert (Hl : 0 <= lambda) by (unfold lambda; apply Rmult_le_pos; auto; left; apply Rinv_0_lt_compat; lra).
  eapply Rle_trans. apply (chernoff_moment m a lambda Hl). right. rewrite Hmu.
  replace (1 - 1 + 1 * exp (- lambda)) with (exp (- lambda)) by ring. rewrite <- exp_plus.
  replace (- (INR m * c)) with (INR m * (- c)) by ring. rewrite exp_nat_mult. f_equal. f_equal. unfold lambda. field. lra.
Qed.

(** The Chernoff-Hoeffding bound. *)
Theorem chernoff_hoeffding m a c : (0 < m)%nat -> 0 <= c -> 0 <= a < mu -> kl_at_least c a mu ->
  Pr P m (fun zs => sum_list zs X / INR m <= a) <= exp (- (INR m * c)).
Proof.
  intros Hm Hc Ha Hkl. assert (Hm' : 0 < INR m) by (apply lt_0_INR; auto). pose proof mean_range.
  apply Rle_trans with (Pr P m (fun zs => sum_list zs X <= INR m * a)).
  { apply Pr_mono; auto. intros zs _ H'. apply (Rmult_le_compat_l (INR m)) in H'; [| lra].
    replace (INR m * (sum_list zs X / INR m)) with (sum_list zs X) in H' by (field; lra). exact H'. }
  destruct (Req_dec mu 1) as [H1 | H1]. apply chernoff_one; auto; lra.
  destruct Hkl as [Hkl | Hkl]; [contradiction |].
  apply Rle_trans with (exp (- (INR m * kl a mu))).
  - destruct (Req_dec a 0) as [-> | Ha0]. rewrite Rmult_0_r. apply chernoff_zero; lra. apply chernoff_interior; lra.
  - assert (K : - (INR m * kl a mu) <= - (INR m * c)) by (pose proof (Rmult_le_compat_l (INR m) _ _ (Rlt_le _ _ Hm') Hkl); lra).
    destruct K as [K | ->]; [left; apply exp_increasing; auto | lra].
Qed.
End Chernoff.

(** Among finitely many samples that satisfy [Q], one has the largest value of [f]. *)
Lemma largest_witness {A} (f : A -> R) (Q : A -> Prop) : forall l : list A,
  (forall x, In x l -> ~ Q x) \/ exists y, In y l /\ Q y /\ forall x, In x l -> Q x -> f x <= f y.
Proof.
  induction l as [| a l [Hno | [y [Hy [HQ Hmax]]]]].
  - left. intros x [].
  - destruct (classic (Q a)) as [Ha | Ha].
    + right. exists a. repeat split; auto. left; auto. intros x [<- | Hx] HQ. lra. exfalso. apply (Hno x Hx HQ).
    + left. intros x [<- | Hx]; auto.
  - right. destruct (classic (Q a /\ f y <= f a)) as [[Ha Hle] | Hn].
    + exists a. repeat split; auto. left; auto. intros x [<- | Hx] HQx. lra. specialize (Hmax x Hx HQx). lra.
    + exists y. repeat split; auto. right; auto. intros x [<- | Hx] HQx; auto. destruct (Rle_lt_dec (f y) (f a)); [tauto | lra].
Qed.

(** One fixed model: the empirical risk is below the risk at relative entropy [c] or more with
    probability at most [exp (-m c)]. *)
Theorem kl_deviation {Z T : Type} (P : list (R * Z)) (F : T -> Z -> R) (t : T) m c :
  distribution P -> (0 < m)%nat -> 0 <= c -> (forall z, 0 <= F t z <= 1) ->
  Pr P m (fun zs => empirical_risk F zs t < risk P F t /\ kl_at_least c (empirical_risk F zs t) (risk P F t))
  <= exp (- (INR m * c)).
Proof.
  intros HP Hm Hc HF. assert (Hm' : 0 < INR m) by (apply lt_0_INR; auto). destruct HP as [Pnn Pone].
  set (Q := fun zs => empirical_risk F zs t < risk P F t /\ kl_at_least c (empirical_risk F zs t) (risk P F t)).
  destruct (largest_witness (fun zs => empirical_risk F zs t) Q (samples P m)) as [Hno | [ys [Hys [[HQ1 HQ2] Hmax]]]].
  - rewrite Pr_false; auto. left; apply exp_pos.
  - eapply Rle_trans; [| apply (chernoff_hoeffding P (conj Pnn Pone) (F t) HF m (empirical_risk F ys t) c Hm Hc)].
    + apply Pr_mono; auto. intros zs Hzs HQ. rewrite <- (samples_length P m zs Hzs) at 1. apply (Hmax zs Hzs HQ).
    + split; auto. unfold empirical_risk. apply Rmult_le_pos.
      * induction ys; simpl. lra. clear - HF. pose proof (HF a). assert (0 <= sum_list ys (F t)).
        { clear - HF. induction ys; simpl. lra. pose proof (HF a). lra. } lra.
      * rewrite (samples_length P m ys Hys). left; apply Rinv_0_lt_compat; auto.
    + exact HQ2.
Qed.

(** ** The inverse of the relative entropy, and Pinsker's inequality *)
Definition kl_inverse (q c : R) : R := real (Lub_Rbar (fun p => q <= p <= 1 /\ (p = q \/ p < 1 /\ kl q p <= c))).

Lemma kl_inverse_lub q c : 0 <= q <= 1 ->
  is_lub_Rbar (fun p => q <= p <= 1 /\ (p = q \/ p < 1 /\ kl q p <= c)) (kl_inverse q c).
Proof.
  intros Hq. unfold kl_inverse. match goal with |- is_lub_Rbar ?S _ => set (A := S) end.
  pose proof (Lub_Rbar_correct A) as H. assert (Ain : A q) by (split; [lra | left; auto]).
  destruct (Lub_Rbar A) as [r | |]; auto.
  - exfalso. destruct H as [_ H]. assert (U : is_ub_Rbar A 1) by (intros p [Hp _]; simpl; lra). apply H in U. exact U.
  - exfalso. destruct H as [H _]. apply H in Ain. exact Ain.
Qed.

Lemma above_kl_inverse q c p : 0 <= q <= 1 -> p <= 1 -> kl_inverse q c < p -> q < p /\ kl_at_least c q p.
Proof.
  intros Hq Hp Hlt. destruct (kl_inverse_lub q c Hq) as [Hub _].
  assert (Hqi : q <= kl_inverse q c) by (apply (Hub q); split; [lra | left; auto]).
  split. lra. destruct (Req_dec p 1) as [H1 | H1]; [left; auto | right].
  destruct (Rle_lt_dec c (kl q p)) as [| Hk]; auto. exfalso.
  assert (p <= kl_inverse q c) by (apply (Hub p); split; [lra | right; split; lra]). lra.
Qed.

(** Pinsker's inequality for coins. *)
Theorem pinsker q p : 0 <= q <= p -> p < 1 -> 2 * (p - q)^2 <= kl q p.
Proof.
  intros Hq Hp. destruct (Req_dec q p) as [<- | Hne].
  { unfold kl. destruct (Req_dec q 0) as [-> | H0].
    - rewrite Rmult_0_l, !Rminus_0_r. replace (1 / 1) with 1 by field. rewrite ln_1. lra.
    - replace (q / q) with 1 by (field; auto). replace ((1 - q) / (1 - q)) with 1 by (field; lra). rewrite ln_1. lra. }
  set (g := fun x => kl q x - 2 * (x - q)^2). set (g' := fun x => (x - q) * (/ (x * (1 - x)) - 4)).
  assert (Hg' : forall x, q < x < 1 -> 0 <= g' x).
  { intros x Hx. unfold g'. apply Rmult_le_pos. lra. assert (0 < x * (1 - x)) by (apply Rmult_lt_0_compat; lra).
    assert (x * (1 - x) <= / 4) by (pose proof (pow2_ge_0 (x - / 2)); lra).
    assert (/ / 4 <= / (x * (1 - x))) by (apply Rinv_le_contravar; auto). lra. }
  assert (Hd : forall x, q < x < 1 -> is_derive g x (g' x)).
  { intros x Hx. unfold g, g', kl. destruct (Req_dec q 0) as [-> | H0].
    - apply (is_derive_ext (fun x => - ln (1 - x) - 2 * x^2)).
      + intros t. rewrite Rmult_0_l, !Rminus_0_r, Rplus_0_l, Rmult_1_l. unfold Rdiv. rewrite Rmult_1_l.
        destruct (Rlt_le_dec 0 (1 - t)) as [Ht | Ht]. rewrite ln_Rinv by auto. reflexivity.
        assert (Hz : forall y, y <= 0 -> ln y = 0) by (intros y Hy; unfold ln; destruct (Rlt_dec 0 y); [exfalso; lra | reflexivity]).
        rewrite !Hz; try lra. destruct Ht as [Ht | Ht]. left. apply Rinv_lt_0_compat; auto. rewrite Ht, Rinv_0; lra.
      + auto_derive. lra. field. lra.
    - auto_derive.
      + repeat split; try lra. apply Rdiv_lt_0_compat; lra. apply Rdiv_lt_0_compat; lra.
      + field. repeat split; lra. }
  assert (Hcont : continuity_pt g q).
  { apply continuity_pt_filterlim. apply (ex_derive_continuous (V := R_NormedModule)). unfold g, kl.
    destruct (Req_dec q 0) as [-> | H0].
    - exists 1. apply (is_derive_ext_loc (fun x => - ln (1 - x) - 2 * x^2)).
      + exists (mkposreal (1 / 2) ltac:(lra)). intros t Ht. rewrite Rmult_0_l, !Rminus_0_r, Rplus_0_l, Rmult_1_l. unfold Rdiv.
        rewrite Rmult_1_l. unfold ball in Ht; simpl in Ht. unfold AbsRing_ball, abs, minus, plus, opp in Ht; simpl in Ht.
        apply Rabs_def2 in Ht. rewrite ln_Rinv by lra. reflexivity.
      + auto_derive. lra. field.
    - eexists. auto_derive. repeat split; try lra; apply Rdiv_lt_0_compat; lra. reflexivity. }
  assert (H : 0 <= g p - g q).
  { destruct (MVT_gen g q p g') as [c [Hc Heq]].
    - intros x Hx. rewrite Rmin_left, Rmax_right in Hx by lra. apply Hd. lra.
    - intros x Hx. rewrite Rmin_left, Rmax_right in Hx by lra. destruct (Req_dec x q) as [-> | Hxq]; auto.
      apply continuity_pt_filterlim. apply (ex_derive_continuous (V := R_NormedModule)). exists (g' x). apply Hd. lra.
    - rewrite Heq. apply Rmult_le_pos; [| lra]. rewrite Rmin_left, Rmax_right in Hc by lra.
      destruct (Req_dec c q) as [-> | Hcq]. unfold g'. lra. apply Hg'. lra. }
  assert (Hq0 : g q = 0).
  { unfold g, kl. destruct (Req_dec q 0) as [-> | H0].
    - rewrite Rmult_0_l, !Rminus_0_r. replace (1 / 1) with 1 by field. rewrite ln_1. ring.
    - replace (q / q) with 1 by (field; auto). replace ((1 - q) / (1 - q)) with 1 by (field; lra). rewrite ln_1. ring. }
  unfold g in H at 1. rewrite Hq0 in H. lra.
Qed.

(** The inverse of the relative entropy is at most [q + sqrt (c/2)]. *)
Theorem kl_inverse_le q c : 0 <= q <= 1 -> 0 <= c -> kl_inverse q c <= q + sqrt (c / 2).
Proof.
  intros Hq Hc. destruct (kl_inverse_lub q c Hq) as [_ H]. apply (H (q + sqrt (c / 2))).
  intros p [Hp [-> | [Hp1 Hkl]]]; simpl. pose proof (sqrt_pos (c / 2)); lra.
  pose proof (pinsker q p ltac:(lra) Hp1) as K. assert (p - q <= sqrt (c / 2)).
  { rewrite <- (sqrt_pow2 (p - q)) by lra. apply sqrt_le_1_alt. lra. } lra.
Qed.

(** [kl(q || p)] increases with [p >= q], so one comparison certifies an upper bound of the inverse. *)
Lemma kl_increasing q p p' : 0 <= q <= p -> p < p' -> p' < 1 -> kl q p <= kl q p'.
Proof.
  intros Hq Hp Hp'. set (g' := fun x => (x - q) * / (x * (1 - x))).
  assert (Hd : forall x, q < x < 1 -> is_derive (kl q) x (g' x)).
  { intros x Hx. unfold g', kl. destruct (Req_dec q 0) as [-> | H0].
    - apply (is_derive_ext_loc (fun x => - ln (1 - x))).
      + assert (Hr : 0 < 1 - x) by lra. exists (mkposreal _ Hr). intros t Ht. unfold ball in Ht; simpl in Ht.
        unfold AbsRing_ball, abs, minus, plus, opp in Ht; simpl in Ht. apply Rabs_def2 in Ht.
        rewrite Rmult_0_l, Rminus_0_r, Rplus_0_l, Rmult_1_l. unfold Rdiv. rewrite Rmult_1_l, ln_Rinv by lra. reflexivity.
      + auto_derive. lra. field. lra.
    - auto_derive.
      + repeat split; try lra; apply Rdiv_lt_0_compat; lra.
      + field. repeat split; lra. }
  destruct (Req_dec p q) as [-> | Hne].
  - pose proof (pinsker q p' ltac:(lra) Hp') as Hpin. pose proof (pow2_ge_0 (p' - q)) as Hsq.
    assert (kl q q = 0). { unfold kl. destruct (Req_dec q 0) as [-> | H0].
      - rewrite Rmult_0_l, !Rminus_0_r. replace (1 / 1) with 1 by field. rewrite ln_1. ring.
      - replace (q / q) with 1 by (field; auto). replace ((1 - q) / (1 - q)) with 1 by (field; lra). rewrite ln_1. ring. }
    lra.
  - destruct (MVT_gen (kl q) p p' g') as [c [Hc Heq]].
    + intros x Hx. rewrite Rmin_left, Rmax_right in Hx by lra. apply Hd. lra.
    + intros x Hx. rewrite Rmin_left, Rmax_right in Hx by lra. apply continuity_pt_filterlim.
      apply (ex_derive_continuous (V := R_NormedModule)). exists (g' x). apply Hd. lra.
    + rewrite Rmin_left, Rmax_right in Hc by lra. assert (0 <= g' c * (p' - p)); [| lra].
      apply Rmult_le_pos; [| lra]. unfold g'. apply Rmult_le_pos. lra. left. apply Rinv_0_lt_compat. apply Rmult_lt_0_compat; lra.
Qed.

(** [kl_inverse q c <= u] as soon as [c < kl(q || u)]: how a printed number is certified. *)
Theorem kl_inverse_upper q c u : 0 <= q <= u -> u < 1 -> c < kl q u -> kl_inverse q c <= u.
Proof.
  intros Hq Hu Hc. destruct (kl_inverse_lub q c ltac:(lra)) as [_ H]. apply (H u).
  intros p [Hp [-> | [Hp1 Hkl]]]; simpl. lra. destruct (Rle_lt_dec p u) as [| Hlt]; auto. exfalso.
  pose proof (kl_increasing q u p ltac:(lra) Hlt Hp1). lra.
Qed.

Lemma kl_zero u : u < 1 -> kl 0 u = - ln (1 - u).
Proof.
  intros H. unfold kl. rewrite Rmult_0_l, Rminus_0_r, Rplus_0_l, Rmult_1_l. unfold Rdiv. rewrite Rmult_1_l.
  apply ln_Rinv. lra.
Qed.
