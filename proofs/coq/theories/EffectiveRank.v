(** * The chain of effective ranks of a spectrum (Lemma 14)

For positive singular values [sigma_1, ..., sigma_k] (the zero ones left out):

  1 <= stable <= nuclear/spectral <= nuclear/Frobenius <= Roy-Vetterli (entropy) <= rank,

and [nuclear/Frobenius <= (nuclear/spectral)^2 <= rank * stable].  The entropy steps are Jensen's
inequality for the logarithm, in the form [ln y <= ln c + (y - c)/c]. *)
From Coq Require Import Reals List Lra Psatz Lia.
From Attention Require Import SignAverages Probability.
Import ListNotations.
Open Scope R_scope.

Definition total (s : list R) : R := sum_list s (fun x => x).
Fixpoint largest (s : list R) : R := match s with nil => 0 | x :: s => Rmax x (largest s) end.
Definition spectrum (s : list R) : Prop := s <> nil /\ forall x, In x s -> 0 < x.

Definition stable_rank_of (s : list R) : R := norm_sq s / (largest s)^2.
Definition nuclear_rank (s : list R) : R := total s / largest s.
Definition nuclear_frobenius_rank (s : list R) : R := (total s)^2 / norm_sq s.
(** [exp] of the entropy of the normalised singular values. *)
Definition entropy_rank (s : list R) : R := exp (- sum_list s (fun x => x / total s * ln (x / total s))).
Definition rank_of (s : list R) : R := INR (length s).

Lemma largest_ub s x : In x s -> x <= largest s.
Proof.
  induction s as [| y s IH]; simpl; intros H. destruct H. destruct H as [<- | H]. apply Rmax_l.
  eapply Rle_trans; [apply IH; auto | apply Rmax_r].
Qed.

Lemma spectrum_facts s : spectrum s -> 0 < largest s /\ 0 < total s /\ 0 < norm_sq s /\ (largest s)^2 <= norm_sq s /\
  norm_sq s <= largest s * total s /\ total s <= INR (length s) * largest s.
Proof.
  intros [Hne Hpos].
  assert (K : forall l, (forall x, In x l -> 0 < x) -> 0 <= largest l /\ 0 <= total l /\ (largest l)^2 <= norm_sq l).
  { induction l as [| x l IH]; intros Hl. unfold total; simpl; repeat split; lra.
    destruct IH as [I1 [I2 I3]]. intros; apply Hl; right; auto. pose proof (Hl x (or_introl eq_refl)). pose proof (norm_sq_nonneg l).
    unfold total in *. cbn [largest sum_list norm_sq]. repeat split.
    - eapply Rle_trans; [apply I1 | apply Rmax_r].
    - lra.
    - unfold Rmax. destruct Rle_dec; nra. }
  destruct (K s Hpos) as [K1 [K2 K3]].
  assert (Hl : 0 < largest s /\ 0 < total s /\ 0 < norm_sq s).
  { destruct s as [| x l]; [congruence |]. pose proof (Hpos x (or_introl eq_refl)). destruct (K l) as [A [B D]]. intros; apply Hpos; right; auto.
    unfold total in *. cbn [largest sum_list norm_sq]. pose proof (Rmax_l x (largest l)). pose proof (norm_sq_nonneg l). repeat split; try nra. }
  destruct Hl as [Hl1 [Hl2 Hl3]]. repeat split; auto.
  - assert (Q : forall c l, (forall x, In x l -> 0 < x <= c) -> norm_sq l <= c * total l).
    { intros c. unfold total. induction l as [| x l IH]; intros Hl; simpl. lra. pose proof (Hl x (or_introl eq_refl)).
      assert (norm_sq l <= c * sum_list l (fun x => x)) by (apply IH; intros; apply Hl; right; auto). nra. }
    apply Q. intros x Hx. split; auto. apply largest_ub; auto.
  - assert (Q : forall c l, (forall x, In x l -> x <= c) -> total l <= INR (length l) * c).
    { intros c. unfold total. induction l as [| x l IH]; intros Hl. simpl; lra. cbn [sum_list length]. rewrite S_INR.
      pose proof (Hl x (or_introl eq_refl)). assert (sum_list l (fun x => x) <= INR (length l) * c) by (apply IH; intros; apply Hl; right; auto). lra. }
    apply Q. apply largest_ub.
Qed.

Lemma div_le_cross a b c d : 0 < b -> 0 < d -> a * d <= c * b -> a / b <= c / d.
Proof.
  intros Hb Hd H. apply Rmult_le_reg_r with (b * d). apply Rmult_lt_0_compat; auto.
  replace (a / b * (b * d)) with (a * d) by (field; lra). replace (c / d * (b * d)) with (c * b) by (field; lra). exact H.
Qed.

(** The stable rank is at least 1. *)
Theorem stable_ge_1 s : spectrum s -> 1 <= stable_rank_of s.
Proof.
  intros H. destruct (spectrum_facts s H) as [A [B [C [D [E' F]]]]]. unfold stable_rank_of.
  replace 1 with (1 / 1) by field. apply div_le_cross; nra.
Qed.

(** Stable rank <= nuclear norm over spectral norm. *)
Theorem stable_le_nuclear s : spectrum s -> stable_rank_of s <= nuclear_rank s.
Proof.
  intros H. destruct (spectrum_facts s H) as [A [B [C [D [E' F]]]]]. apply div_le_cross; nra.
Qed.

(** Nuclear over spectral <= squared nuclear over squared Frobenius. *)
Theorem nuclear_le_nuclear_frobenius s : spectrum s -> nuclear_rank s <= nuclear_frobenius_rank s.
Proof.
  intros H. destruct (spectrum_facts s H) as [A [B [C [D [E' F]]]]]. apply div_le_cross; auto.
  replace ((total s)^2 * largest s) with (total s * (largest s * total s)) by ring. apply Rmult_le_compat_l; lra.
Qed.

Lemma sum_list_add {H} (l : list H) f g : sum_list l (fun x => f x + g x) = sum_list l f + sum_list l g.
Proof. induction l; simpl. ring. rewrite IHl. ring. Qed.

(** Jensen's inequality for the logarithm, with weights of sum 1. *)
Lemma jensen_ln (s : list R) (w y : R -> R) :
  (forall x, In x s -> 0 <= w x /\ 0 < y x) -> sum_list s w = 1 ->
  sum_list s (fun x => w x * ln (y x)) <= ln (sum_list s (fun x => w x * y x)).
Proof.
  intros H Hw. set (c := sum_list s (fun x => w x * y x)).
  assert (Hc : 0 < c).
  { unfold c. clear c. revert Hw. assert (G : forall l, (forall x, In x l -> 0 <= w x /\ 0 < y x) ->
      0 <= sum_list l w /\ 0 <= sum_list l (fun x => w x * y x) /\ (0 < sum_list l w -> 0 < sum_list l (fun x => w x * y x))).
    { induction l as [| x l IH]; intros Hl; simpl. repeat split; lra. destruct IH as [I1 [I2 I3]]. intros; apply Hl; right; auto.
      destruct (Hl x (or_introl eq_refl)) as [W Y]. assert (0 <= w x * y x) by (apply Rmult_le_pos; lra). repeat split; try lra.
      intros Hs. destruct W as [W | W]. assert (0 < w x * y x) by (apply Rmult_lt_0_compat; auto). lra.
      rewrite <- W in *. rewrite Rmult_0_l. specialize (I3 ltac:(lra)). lra. }
    intros Hw. apply G; auto. lra. }
  apply Rle_trans with (sum_list s (fun x => (ln c - 1) * w x + / c * (w x * y x))).
  - apply sum_list_le. intros x Hx. destruct (H x Hx) as [W Y].
    assert (Hln : ln (y x) <= ln c + (y x / c - 1)).
    { assert (Hyc : 0 < y x / c) by (apply Rdiv_lt_0_compat; auto).
      replace (y x) with (c * (y x / c)) at 1 by (field; lra). rewrite ln_mult by auto. apply Rplus_le_compat_l.
      pose proof (exp_ineq1_le (ln (y x / c))). rewrite exp_ln in H0 by auto. lra. }
    replace ((ln c - 1) * w x + / c * (w x * y x)) with (w x * (ln c + (y x / c - 1))) by (unfold Rdiv; ring).
    apply Rmult_le_compat_l; auto.
  - rewrite sum_list_add, !sum_list_scal, Hw. fold c. right. field. lra.
Qed.

Lemma normalised s : spectrum s -> sum_list s (fun x => x / total s) = 1.
Proof.
  intros H. destruct (spectrum_facts s H) as [_ [B _]]. transitivity (/ total s * total s); [| field; lra].
  unfold total at 3. rewrite <- sum_list_scal. f_equal. apply FunctionalExtensionality.functional_extensionality. intros; unfold Rdiv; ring.
Qed.

(** Squared nuclear over squared Frobenius <= entropy rank of Roy and Vetterli. *)
Theorem nuclear_frobenius_le_entropy s : spectrum s -> nuclear_frobenius_rank s <= entropy_rank s.
Proof.
  intros H. destruct (spectrum_facts s H) as [A [B [C [D [E' F]]]]]. destruct H as [Hne Hpos]. unfold nuclear_frobenius_rank, entropy_rank.
  assert (J := jensen_ln s (fun x => x / total s) (fun x => x / total s)).
  assert (Hq : forall x, In x s -> 0 < x / total s) by (intros; apply Rdiv_lt_0_compat; auto).
  specialize (J ltac:(intros x Hx; specialize (Hq x Hx); split; lra) (normalised s (conj Hne Hpos))).
  assert (Hs : sum_list s (fun x => x / total s * (x / total s)) = norm_sq s / (total s)^2).
  { transitivity (/ (total s)^2 * norm_sq s); [| field; lra].
    assert (N : norm_sq s = sum_list s (fun x => x^2)) by (clear; induction s; cbn [norm_sq sum_list]; auto; rewrite IHs; ring).
    rewrite N, <- sum_list_scal. f_equal. apply FunctionalExtensionality.functional_extensionality. intros; field. lra. }
  cbn beta in J. rewrite Hs in J. assert (Ht : 0 < (total s)^2) by nra.
  rewrite <- (exp_ln ((total s)^2 / norm_sq s)) by (apply Rdiv_lt_0_compat; auto).
  assert (Hle : ln ((total s)^2 / norm_sq s) <= - sum_list s (fun x => x / total s * ln (x / total s))).
  { replace ((total s)^2 / norm_sq s) with (/ (norm_sq s / (total s)^2)) by (field; lra).
    rewrite ln_Rinv by (apply Rdiv_lt_0_compat; auto). lra. }
  destruct Hle as [Hlt | ->]; [left; apply exp_increasing; auto | lra].
Qed.

(** Entropy rank <= rank. *)
Theorem entropy_le_rank s : spectrum s -> entropy_rank s <= rank_of s.
Proof.
  intros H. destruct (spectrum_facts s H) as [A [B [C [D [E' F]]]]]. pose proof H as [Hne Hpos]. unfold entropy_rank, rank_of.
  assert (J := jensen_ln s (fun x => x / total s) (fun x => / (x / total s))).
  assert (Hq : forall x, In x s -> 0 < x / total s) by (intros; apply Rdiv_lt_0_compat; auto).
  specialize (J ltac:(intros x Hx; specialize (Hq x Hx); split; [lra | apply Rinv_0_lt_compat; auto]) (normalised s H)).
  assert (S1 : sum_list s (fun x => x / total s * / (x / total s)) = INR (length s)).
  { set (t := total s) in *. clearbody t. clear - Hq. induction s as [| x s IH]. reflexivity. cbn [sum_list length]. rewrite S_INR.
    rewrite IH by (intros; apply Hq; right; auto).
    pose proof (Hq x (or_introl eq_refl)). field. split; intros K; subst; unfold Rdiv in *; rewrite ?Rinv_0, ?Rmult_0_l, ?Rmult_0_r in *; lra. }
  assert (S2 : sum_list s (fun x => x / total s * ln (/ (x / total s))) = - sum_list s (fun x => x / total s * ln (x / total s))).
  { set (t := total s) in *. clearbody t. clear - Hq. induction s as [| x s IH]; simpl. ring.
    rewrite IH by (intros; apply Hq; right; auto). rewrite ln_Rinv by (apply Hq; left; auto). ring. }
  cbn beta in J. rewrite S1, S2 in J. assert (Hn : 0 < INR (length s)) by (apply lt_0_INR; destruct s; [congruence | simpl; lia]).
  rewrite <- (exp_ln (INR (length s))) by auto. destruct J as [J | ->]; [left; apply exp_increasing; auto | lra].
Qed.

(** The whole chain. *)
Theorem effective_rank_chain s : spectrum s ->
  1 <= stable_rank_of s <= nuclear_rank s /\ nuclear_rank s <= nuclear_frobenius_rank s /\
  nuclear_frobenius_rank s <= entropy_rank s <= rank_of s.
Proof.
  intros H. repeat split. apply stable_ge_1; auto. apply stable_le_nuclear; auto. apply nuclear_le_nuclear_frobenius; auto.
  apply nuclear_frobenius_le_entropy; auto. apply entropy_le_rank; auto.
Qed.

(** Squared nuclear over squared Frobenius <= square of nuclear over spectral. *)
Theorem nuclear_frobenius_le_nuclear_sq s : spectrum s -> nuclear_frobenius_rank s <= (nuclear_rank s)^2.
Proof.
  intros H. destruct (spectrum_facts s H) as [A [B [C [D [E' F]]]]]. unfold nuclear_frobenius_rank, nuclear_rank.
  replace ((total s / largest s)^2) with ((total s)^2 / (largest s)^2) by (field; lra). apply div_le_cross; try nra.
Qed.

(** Cauchy-Schwarz for the nuclear norm. *)
Lemma total_sq_le s : (total s)^2 <= INR (length s) * norm_sq s.
Proof.
  unfold total. induction s as [| x s IH]. simpl; lra. cbn [sum_list norm_sq length]. rewrite S_INR.
  set (k := INR (length s)) in *. set (t := sum_list s (fun x => x)) in *. set (q := norm_sq s) in *.
  assert (Hk : 0 <= k) by apply pos_INR. assert (Hq : 0 <= q) by apply norm_sq_nonneg.
  (* 2 x t <= k x^2 + q, from t^2 <= k q *)
  assert (2 * x * t <= k * x^2 + q).
  { destruct (Req_dec k 0) as [Hz | Hz].
    - assert (t = 0) by (rewrite Hz in IH; nra). rewrite H, Hz. nra.
    - assert (0 < k) by lra. apply Rmult_le_reg_l with k; auto. pose proof (pow2_ge_0 (k * x - t)). nra. }
  nra.
Qed.

(** Square of nuclear over spectral <= rank times stable rank. *)
Theorem nuclear_sq_le_rank_stable s : spectrum s -> (nuclear_rank s)^2 <= rank_of s * stable_rank_of s.
Proof.
  intros H. destruct (spectrum_facts s H) as [A [B [C [D [E' F]]]]]. unfold nuclear_rank, rank_of, stable_rank_of.
  replace ((total s / largest s)^2) with ((total s)^2 / (largest s)^2) by (field; lra).
  replace (INR (length s) * (norm_sq s / (largest s)^2)) with ((INR (length s) * norm_sq s) / (largest s)^2) by (field; lra).
  apply div_le_cross; try nra. apply Rmult_le_compat_r. nra. apply total_sq_le.
Qed.

(** A matrix of rank one has a single singular value, and every effective rank of it is 1. *)
Theorem all_ranks_of_one_value x : 0 < x ->
  stable_rank_of [x] = 1 /\ nuclear_rank [x] = 1 /\ nuclear_frobenius_rank [x] = 1 /\ entropy_rank [x] = 1 /\ rank_of [x] = 1.
Proof.
  intros Hx. assert (Hm : Rmax x 0 = x) by (apply Rmax_left; lra).
  unfold stable_rank_of, nuclear_rank, nuclear_frobenius_rank, rank_of, total; cbn [norm_sq largest sum_list length INR].
  rewrite Hm, Rplus_0_r. repeat split; try (field; lra).
  unfold entropy_rank, total; cbn [sum_list]. replace (x / (x + 0)) with 1 by (field; lra).
  rewrite ln_1, Rmult_0_r, Rplus_0_r, Ropp_0. apply exp_0.
Qed.
