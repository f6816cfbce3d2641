(** * Occam's bound in relative-entropy form and prefix codes (Lemma 15, Theorem D)

Prior weights of sum at most 1 over any set of models, losses in [[0, 1]]: with probability at least
[1 - delta] every model [h] has [risk <= kl_inverse (empirical risk, (ln (1/w) + ln (1/delta)) / m)].
For a prefix code the weight is [2^-(length)] (Kraft), hence Theorem D, which may be applied to
whatever compressed model training ends with. *)
From Coq Require Import Reals List Lra Psatz Lia Arith.
From Attention Require Import SignAverages Expectation Probability Risk SoftmaxHead ChernoffHoeffding.
Import ListNotations.
Open Scope R_scope.

Lemma empirical_range {Z T} (F : T -> Z -> R) t zs : (0 < length zs)%nat -> (forall z, 0 <= F t z <= 1) ->
  0 <= empirical_risk F zs t <= 1.
Proof.
  intros Hm HF. assert (Hm' : 0 < INR (length zs)) by (apply lt_0_INR; auto). unfold empirical_risk.
  assert (K : forall l, 0 <= sum_list l (F t) <= INR (length l)).
  { induction l as [| z l IH]. simpl; lra. cbn [sum_list length]. rewrite S_INR. pose proof (HF z). lra. }
  specialize (K zs). split. apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; auto].
  apply Rmult_le_reg_r with (INR (length zs)); auto. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra.
Qed.

Lemma risk_range {Z T} (P : list (R * Z)) (F : T -> Z -> R) t : distribution P -> (forall z, 0 <= F t z <= 1) -> 0 <= risk P F t <= 1.
Proof. intros HP HF. apply (mean_range P HP (F t) HF). Qed.

(** Lemma 15: the event that is excluded, for all models at once. *)
Theorem occam_event {Z H : Type} (P : list (R * Z)) (F : H -> Z -> R) (w : H -> R) m delta :
  distribution P -> (0 < m)%nat -> 0 < delta < 1 ->
  (forall h z, 0 <= F h z <= 1) ->
  (forall h, 0 < w h) -> (forall l, NoDup l -> sum_list l w <= 1) ->
  Pr P m (fun zs => exists h, empirical_risk F zs h < risk P F h /\
    kl_at_least ((ln (1 / w h) + ln (1 / delta)) / INR m) (empirical_risk F zs h) (risk P F h)) <= delta.
Proof.
  intros HP Hm Hd HF Hw Hsum. assert (Hm' : 0 < INR m) by (apply lt_0_INR; auto). destruct HP as [Pnn Pone].
  apply (Pr_union P Pnn Pone m (fun h zs => empirical_risk F zs h < risk P F h /\
    kl_at_least ((ln (1 / w h) + ln (1 / delta)) / INR m) (empirical_risk F zs h) (risk P F h)) w delta); [lra | exact Hsum |].
  intros h. assert (Hw1 : w h <= 1).
  { specialize (Hsum [h] ltac:(constructor; [intros [] | constructor])). simpl in Hsum. lra. }
  pose proof (Hw h) as Hwh.
  assert (Hlw : 0 <= ln (1 / w h)).
  { rewrite <- ln_1. assert (K : 1 <= 1 / w h). { apply Rmult_le_reg_r with (w h); auto. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
    destruct K as [K | <-]; [left; apply ln_increasing; lra | lra]. }
  assert (Hld : 0 <= ln (1 / delta)).
  { rewrite <- ln_1. left; apply ln_increasing. lra. apply Rmult_lt_reg_r with delta. lra. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
  eapply Rle_trans. apply (kl_deviation P F h m _ (conj Pnn Pone) Hm); auto.
  - apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; auto].
  - right. replace (INR m * ((ln (1 / w h) + ln (1 / delta)) / INR m)) with (ln (1 / w h) + ln (1 / delta)) by (field; lra).
    rewrite Ropp_plus_distr, exp_plus. unfold Rdiv. rewrite !Rmult_1_l, !ln_Rinv, !Ropp_involutive, !exp_ln; auto; lra.
Qed.

(** Lemma 15 as a bound on the risk. *)
Theorem occam_bound {Z H : Type} (P : list (R * Z)) (F : H -> Z -> R) (w : H -> R) m delta :
  distribution P -> (0 < m)%nat -> 0 < delta < 1 ->
  (forall h z, 0 <= F h z <= 1) ->
  (forall h, 0 < w h) -> (forall l, NoDup l -> sum_list l w <= 1) ->
  Pr P m (fun zs => exists h,
    risk P F h > kl_inverse (empirical_risk F zs h) ((ln (1 / w h) + ln (1 / delta)) / INR m)) <= delta.
Proof.
  intros HP Hm Hd HF Hw Hsum. eapply Rle_trans; [| apply (occam_event P F w m delta HP Hm Hd HF Hw Hsum)].
  assert (Hr : forall h, 0 <= risk P F h <= 1) by (intros; apply risk_range; auto).
  destruct HP as [Pnn Pone]. apply Pr_mono; auto. intros zs Hzs [h Hh]. exists h.
  pose proof (samples_length P m zs Hzs) as Hl.
  apply above_kl_inverse; auto. apply empirical_range; auto. lia. apply Hr.
Qed.

(** ** Prefix codes *)
Definition is_prefix (a b : list bool) : Prop := exists d, b = a ++ d.
Definition prefix_free {H : Type} (code : H -> list bool) : Prop :=
  forall g h, g <> h -> ~ is_prefix (code g) (code h).
Definition code_weight {H : Type} (code : H -> list bool) (h : H) : R := (1 / 2) ^ length (code h).

Definition sign (b : bool) : R := if b then 1 else neg1.
Definition starts_with (b : list bool) (x : list R) : Prop := exists y, x = map sign b ++ y.

Lemma starts_with_probability b : forall n, (length b <= n)%nat -> E n (fun x => indicator (starts_with b x)) = (1 / 2) ^ length b.
Proof.
  induction b as [| c b IH]; intros n Hn; cbn [length pow].
  - rewrite (E_ext n _ (fun _ => 1)). apply E_const. intros x _. unfold indicator. destruct decide as [| K]; auto.
    exfalso. apply K. exists x. reflexivity.
  - destruct n as [| n]; [simpl in Hn; lia |]. cbn [E]. rewrite <- (IH n) by (simpl in Hn; lia).
    assert (Hyes : forall x, indicator (starts_with (c :: b) (sign c :: x)) = indicator (starts_with b x)).
    { intros x. unfold indicator. destruct (decide (starts_with (c :: b) (sign c :: x))) as [[y Hy] | K], (decide (starts_with b x)) as [[y' Hy'] | K']; auto.
      - exfalso. apply K'. exists y. simpl in Hy. congruence.
      - exfalso. apply K. exists y'. simpl. congruence. }
    assert (Hno : forall s x, s <> sign c -> indicator (starts_with (c :: b) (s :: x)) = 0).
    { intros s x Hs. unfold indicator. destruct decide as [[y Hy] |]; auto. exfalso. simpl in Hy. congruence. }
    destruct c; cbn [sign] in *.
    + rewrite (E_ext n (fun x => indicator (starts_with (true :: b) (1 :: x))) (fun x => indicator (starts_with b x))) by (intros; apply Hyes).
      rewrite (E_ext n (fun x => indicator (starts_with (true :: b) (neg1 :: x))) (fun _ => 0)) by (intros; apply Hno; lra).
      rewrite E_const. field.
    + rewrite (E_ext n (fun x => indicator (starts_with (false :: b) (1 :: x))) (fun _ => 0)) by (intros; apply Hno; lra).
      rewrite (E_ext n (fun x => indicator (starts_with (false :: b) (neg1 :: x))) (fun x => indicator (starts_with b x))) by (intros; apply Hyes).
      rewrite E_const. field.
Qed.

Lemma both_prefixes : forall a b x, starts_with a x -> starts_with b x -> is_prefix a b \/ is_prefix b a.
Proof.
  induction a as [| c a IH]; intros b x Ha Hb. left; exists b; reflexivity.
  destruct b as [| d b]. right; exists (c :: a); reflexivity.
  destruct Ha as [y Hy], Hb as [y' Hy']. subst x. simpl in Hy'. inversion Hy' as [[Hs Ht]].
  assert (c = d). { destruct c, d; auto; simpl in Hs; exfalso; lra. } subst d.
  destruct (IH b (map sign a ++ y)) as [[e He] | [e He]]; [exists y; auto | exists y'; auto | |].
  - left. exists e. simpl. congruence.
  - right. exists e. simpl. congruence.
Qed.

(** Kraft's inequality: at most one code word starts any given sequence of coin flips. *)
Theorem kraft {H : Type} (code : H -> list bool) : prefix_free code -> forall l, NoDup l -> sum_list l (code_weight code) <= 1.
Proof.
  intros Hfree l Hl. set (n := list_max (map (fun h => length (code h)) l)).
  assert (Hn : forall h, In h l -> (length (code h) <= n)%nat).
  { assert (K : Forall (fun k => (k <= n)%nat) (map (fun h => length (code h)) l)) by (apply list_max_le; auto).
    rewrite Forall_forall in K. intros h Hh. apply K. apply in_map_iff. exists h; auto. }
  assert (Heq : sum_list l (code_weight code) = E n (fun x => sum_list l (fun h => indicator (starts_with (code h) x)))).
  { clearbody n. clear Hl. induction l as [| h l IH]; cbn [sum_list]. rewrite E_const. reflexivity.
    rewrite E_plus. f_equal. symmetry. apply starts_with_probability. apply Hn; left; auto.
    apply IH. intros; apply Hn; right; auto. }
  rewrite Heq. rewrite <- (E_const n 1). apply E_le. intros x _. clear Heq Hn n.
  induction l as [| h l IH]; simpl. lra. inversion Hl; subst. unfold indicator at 1. destruct decide as [Hx | _]; [| specialize (IH H3); lra].
  assert (Hz : forall l', (forall g, In g l' -> g <> h) -> sum_list l' (fun h => indicator (starts_with (code h) x)) = 0).
  { induction l' as [| g l' IH']; simpl; intros Hg; auto. unfold indicator at 1. destruct decide as [Hgx | _].
    - exfalso. assert (g <> h) by (apply Hg; left; auto). destruct (both_prefixes _ _ x Hgx Hx) as [K | K]; [apply (Hfree g h) | apply (Hfree h g)]; auto.
    - rewrite IH'. ring. intros; apply Hg; right; auto. }
  rewrite Hz. lra. intros g Hg ->. contradiction.
Qed.

(** Theorem D: the risk of every model with a code word, in terms of the number of its bits. *)
Theorem prefix_code_bound {Z H : Type} (P : list (R * Z)) (F : H -> Z -> R) (code : H -> list bool) m delta :
  distribution P -> (0 < m)%nat -> 0 < delta < 1 ->
  (forall h z, 0 <= F h z <= 1) -> prefix_free code ->
  Pr P m (fun zs => exists h,
    risk P F h > kl_inverse (empirical_risk F zs h) ((INR (length (code h)) * ln 2 + ln (1 / delta)) / INR m)) <= delta.
Proof.
  intros HP Hm Hd HF Hfree.
  assert (Hw : forall h, 0 < code_weight code h) by (intros; unfold code_weight; apply pow_lt; lra).
  assert (Hln : forall h, ln (1 / code_weight code h) = INR (length (code h)) * ln 2).
  { intros h. unfold code_weight. generalize (length (code h)). induction n. simpl. replace (1 / 1) with 1 by field. rewrite ln_1. ring.
    cbn [pow]. assert (0 < (1 / 2) ^ n) by (apply pow_lt; lra).
    replace (1 / (1 / 2 * (1 / 2) ^ n)) with (2 * (1 / (1 / 2) ^ n)) by (field; lra).
    rewrite ln_mult, IHn, S_INR. ring. lra. apply Rdiv_lt_0_compat; lra. }
  eapply Rle_trans; [| apply (occam_bound P F (code_weight code) m delta HP Hm Hd HF Hw (kraft code Hfree))].
  destruct HP as [Pnn Pone]. apply Pr_mono; auto. intros zs _ [h Hh]. exists h. rewrite Hln. exact Hh.
Qed.

(** Code lengths in bits need not be whole numbers: only Kraft's sum matters. *)
Theorem ideal_code_bound {Z H : Type} (P : list (R * Z)) (F : H -> Z -> R) (bits : H -> R) m delta :
  distribution P -> (0 < m)%nat -> 0 < delta < 1 ->
  (forall h z, 0 <= F h z <= 1) -> (forall l, NoDup l -> sum_list l (fun h => Rpower 2 (- bits h)) <= 1) ->
  Pr P m (fun zs => exists h,
    risk P F h > kl_inverse (empirical_risk F zs h) ((bits h * ln 2 + ln (1 / delta)) / INR m)) <= delta.
Proof.
  intros HP Hm Hd HF Hsum.
  assert (Hln : forall h, ln (1 / Rpower 2 (- bits h)) = bits h * ln 2).
  { intros h. rewrite Rpower_Ropp. unfold Rdiv. rewrite Rmult_1_l, Rinv_inv. unfold Rpower. apply ln_exp. }
  eapply Rle_trans; [| apply (occam_bound P F (fun h => Rpower 2 (- bits h)) m delta HP Hm Hd HF)]; auto.
  - destruct HP as [Pnn Pone]. apply Pr_mono; auto. intros zs _ [h Hh]. exists h. rewrite Hln. exact Hh.
  - intros h. apply exp_pos.
Qed.

(** The square-root form, by Pinsker. *)
Corollary ideal_code_bound_sqrt {Z H : Type} (P : list (R * Z)) (F : H -> Z -> R) (bits : H -> R) m delta :
  distribution P -> (0 < m)%nat -> 0 < delta < 1 ->
  (forall h z, 0 <= F h z <= 1) -> (forall h, 0 <= bits h) ->
  (forall l, NoDup l -> sum_list l (fun h => Rpower 2 (- bits h)) <= 1) ->
  Pr P m (fun zs => exists h,
    risk P F h > empirical_risk F zs h + sqrt ((bits h * ln 2 + ln (1 / delta)) / (2 * INR m))) <= delta.
Proof.
  intros HP Hm Hd HF Hbits Hsum. assert (Hm' : 0 < INR m) by (apply lt_0_INR; auto).
  eapply Rle_trans; [| apply (ideal_code_bound P F bits m delta HP Hm Hd HF Hsum)].
  destruct HP as [Pnn Pone]. apply Pr_mono; auto. intros zs Hzs [h Hh]. exists h.
  pose proof (samples_length P m zs Hzs) as Hl.
  assert (Hld : 0 <= ln (1 / delta)).
  { rewrite <- ln_1. left; apply ln_increasing. lra. apply Rmult_lt_reg_r with delta. lra. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
  assert (Hl2 : 0 < ln 2) by (rewrite <- ln_1; apply ln_increasing; lra). pose proof (Hbits h).
  set (c := (bits h * ln 2 + ln (1 / delta)) / INR m).
  assert (Hc : 0 <= c). { unfold c. apply Rmult_le_pos; [nra | left; apply Rinv_0_lt_compat; auto]. }
  pose proof (kl_inverse_le (empirical_risk F zs h) c ltac:(apply empirical_range; auto; lia) Hc) as K.
  replace ((bits h * ln 2 + ln (1 / delta)) / (2 * INR m)) with (c / 2) in Hh by (unfold c; field; lra). lra.
Qed.

(** One model fixed before the sample, for instance on a held-out test set: losses in [[0, 1]]. *)
Corollary test_set_kl {Z : Type} (P : list (R * Z)) (loss : Z -> R) m delta :
  distribution P -> (0 < m)%nat -> 0 < delta < 1 -> (forall z, 0 <= loss z <= 1) ->
  Pr P m (fun zs => Ex P loss > kl_inverse (sum_list zs loss / INR (length zs)) (ln (1 / delta) / INR m)) <= delta.
Proof.
  intros HP Hm Hd HF. assert (Hw : forall l : list unit, NoDup l -> sum_list l (fun _ => 1) <= 1).
  { intros [| [] [| [] l]] Hl; simpl; try lra. inversion Hl; subst. exfalso. apply H1. left; auto. }
  eapply Rle_trans; [| apply (occam_bound P (fun _ : unit => loss) (fun _ => 1) m delta HP Hm Hd (fun _ => HF) (fun _ => Rlt_0_1) Hw)].
  destruct HP as [Pnn Pone]. apply Pr_mono; auto. intros zs _ Hz. exists tt. unfold risk, empirical_risk.
  replace (1 / 1) with 1 by field. rewrite ln_1, Rplus_0_l. exact Hz.
Qed.
