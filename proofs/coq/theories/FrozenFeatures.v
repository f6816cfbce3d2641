(** * Frozen features, trained read-out (Theorems A1 and A2)

The features [Psi(x)] (a list of [N] rows with [d] entries) do not depend on the trained matrix [W],
kept as the list of its [K] columns.  Output: [Psi W], all [N K] entries.  For A2 the features are
[A(x) X] with a frozen attention matrix: here its stable rank does count, times spectral norms. *)
From Coq Require Import Reals List Lra Psatz Lia.
From Attention Require Import SignAverages FiniteSup VectorContraction Expectation Probability Risk UniformDeviation
  Softmax LinearScores Matrices SoftmaxHead Peeling.
Import ListNotations.
Open Scope R_scope.

(** [x] as a row that reads column [k] of the [K] columns, for every [k]: [K] vectors of [K d] entries. *)
Fixpoint placements (K d : nat) (x : list R) : list (list R) :=
  match K with
  | O => nil
  | S K => (x ++ repeat 0 (K * d)) :: map (fun v => repeat 0 d ++ v) (placements K d x)
  end.

Lemma placements_length K d x : length (placements K d x) = K.
Proof. induction K; simpl; auto. rewrite map_length, IHK. reflexivity. Qed.

Lemma placements_entry K d x : length x = d -> forall v, In v (placements K d x) -> length v = (K * d)%nat.
Proof.
  intros Hx. induction K; simpl; intros v Hv. destruct Hv. destruct Hv as [<- | Hv].
  - rewrite app_length, repeat_length, Hx. reflexivity.
  - apply in_map_iff in Hv. destruct Hv as [u [<- Hu]]. rewrite app_length, repeat_length, (IHK u Hu). reflexivity.
Qed.

Lemma placements_dot d x : length x = d -> forall W, (forall r, In r W -> length r = d) ->
  map (dot (concat W)) (placements (length W) d x) = map (fun r => dot x r) W.
Proof.
  intros Hx. induction W as [| r W IH]; intros HW; simpl; auto. assert (Hr : length r = d) by (apply HW; left; auto). f_equal.
  - rewrite dot_app by congruence. rewrite dot_zeros. 
    replace (dot r x) with (dot x r). ring. clear. revert r. induction x; destruct r; simpl; auto. rewrite IHx. ring.
  - rewrite map_map. rewrite <- IH by (intros; apply HW; right; auto). apply map_ext. intros v.
    rewrite dot_app by (rewrite repeat_length; auto). rewrite dot_zeros. ring.
Qed.

Lemma placements_norm K d x : frobenius_sq (placements K d x) = INR K * norm_sq x.
Proof.
  induction K. simpl; ring. cbn [placements frobenius_sq]. rewrite norm_sq_app, norm_sq_zeros, S_INR.
  replace (frobenius_sq (map (fun v => repeat 0 d ++ v) (placements K d x))) with (frobenius_sq (placements K d x)).
  rewrite IHK. ring. generalize (placements K d x). induction l; simpl; auto. rewrite norm_sq_app, norm_sq_zeros, IHl. ring.
Qed.

(** All entries of [X W], for the columns [W], and the features that produce them. *)
Definition product_entries (X : list (list R)) (W : matrix) : list R := flat_map (fun x => map (fun r => dot x r) W) X.
Definition product_features (K d : nat) (X : list (list R)) : list (list R) := flat_map (placements K d) X.

Lemma product_entries_length X W : length (product_entries X W) = (length X * length W)%nat.
Proof. induction X; simpl; auto. rewrite app_length, map_length, IHX. reflexivity. Qed.

Lemma product_features_length K d X : length (product_features K d X) = (length X * K)%nat.
Proof. induction X; simpl; auto. rewrite app_length, placements_length, IHX. reflexivity. Qed.

Lemma product_features_entry K d X v : (forall x, In x X -> length x = d) -> In v (product_features K d X) -> length v = (K * d)%nat.
Proof. intros H Hv. apply in_flat_map in Hv. destruct Hv as [x [Hx Hv]]. eapply placements_entry; eauto. Qed.

Lemma product_features_dot K d X W : (forall x, In x X -> length x = d) -> shaped K d W ->
  map (dot (concat W)) (product_features K d X) = product_entries X W.
Proof.
  intros HX [<- HW]. induction X as [| x X IH]; simpl; auto. rewrite map_app, placements_dot, IH; auto.
  intros; apply HX; right; auto. apply HX; left; auto.
Qed.

Lemma product_features_norm K d X : frobenius_sq (product_features K d X) = INR K * frobenius_sq X.
Proof. induction X; simpl. ring. rewrite frobenius_sq_app, placements_norm, IHX. ring. Qed.

Lemma sqrt2_pos : 0 < sqrt 2.
Proof. apply sqrt_lt_R0; lra. Qed.

Section Frozen.
Context {Z : Type} (d K N : nat) (features : Z -> list (list R)).
Hypothesis features_shape : forall z, (length (features z) <= N)%nat /\ forall x, In x (features z) -> length x = d.
Context (loss : Z -> list R -> R) (L M : R).
Hypothesis loss_range : forall z y, 0 <= loss z y <= M.
Hypothesis loss_lipschitz : forall z y y', length y = length y' -> Rabs (loss z y - loss z y') <= L * norm (sub y y').
Hypothesis L_nonneg : 0 <= L.
Hypothesis M_pos : 0 < M.

Definition linear_loss (W : matrix) (z : Z) : R := loss z (product_entries (features z) W).
Definition features_sum (zs : list Z) : R := sum_list zs (fun z => frobenius_sq (features z)).

(** The Rademacher average of the class, for any finite part of the ball. *)
Theorem rademacher_linear omega t0 l zs : (0 < length zs)%nat ->
  (forall W, W = t0 \/ In W l -> shaped K d W /\ frobenius_norm W <= omega) ->
  rademacher linear_loss t0 l zs <= sqrt 2 * L * omega * sqrt (INR K * features_sum zs) / INR (length zs).
Proof.
  intros Hm HC. assert (Hm' : 0 < INR (length zs)) by (apply lt_0_INR; auto).
  set (v1 := fun z => map (scale L) (product_features K d (features z))).
  assert (Hlen : forall z, length (v1 z) = (length (features z) * K)%nat).
  { intros z. unfold v1. rewrite map_length. apply product_features_length. }
  assert (Hf : forall z, frobenius_sq (v1 z) = L^2 * (INR K * frobenius_sq (features z))).
  { intros z. rewrite <- (product_features_norm K d). unfold v1. generalize (product_features K d (features z)).
    induction l0; simpl. ring. rewrite norm_sq_scale, IHl0. ring. }
  assert (Hs : sqrt (sum_list zs (fun z => frobenius_sq (v1 z))) = L * sqrt (INR K * features_sum zs)).
  { transitivity (sqrt (sum_list zs (fun z => L^2 * (INR K * frobenius_sq (features z))))).
    f_equal. clear - Hf. induction zs; simpl; auto. rewrite Hf, IHzs. simpl; ring.
    rewrite sqrt_sum_scal by auto. f_equal. f_equal. unfold features_sum. symmetry. rewrite <- sum_list_scal. reflexivity. }
  assert (H : rademacher linear_loss t0 l zs <= sqrt 2 / INR (length zs) *
    (omega * sqrt (sum_list zs (fun z => frobenius_sq (v1 z)))
     + 0 * sqrt (sum_list zs (fun z => frobenius_sq (repeat (@nil R) (length (v1 z))))))).
  { apply (rademacher_padded_scores linear_loss (N * K) (K * d) 0 (fun W => concat W) (fun _ => nil) v1
      (fun z => repeat nil (length (v1 z)))); auto.
    - intros z. destruct (features_shape z) as [H1 H2]. split. rewrite Hlen. apply Nat.mul_le_mono_r; auto.
      intros v Hv. unfold v1 in Hv. apply in_map_iff in Hv. destruct Hv as [u [<- Hu]]. rewrite scale_length.
      eapply product_features_entry; eauto.
    - intros z. split. apply repeat_length. intros v Hv. apply repeat_spec in Hv. subst; auto.
    - intros W HW. destruct (HC W HW) as [Hsh Hn]. rewrite norm_concat. split; auto. apply concat_length; auto.
    - intros W _. split; auto. unfold norm; simpl. rewrite sqrt_0. lra.
    - intros z V W HV HW. unfold scores.
      assert (Hsc : forall W, shaped K d W ->
        add (map (dot (concat W)) (v1 z)) (map (dot nil) (repeat (@nil R) (length (v1 z)))) = scale L (product_entries (features z) W)).
      { intros U HU. rewrite repeat_app_zeros, add_zeros by (rewrite map_length; auto). unfold v1. rewrite map_map.
        rewrite <- (product_features_dot K d) by (auto; apply features_shape). unfold scale at 2. rewrite map_map.
        apply map_ext. intros. apply dot_scale_right. }
      destruct (HC V HV) as [HsV _], (HC W HW) as [HsW _]. rewrite !Hsc by auto.
      assert (Hl : length (product_entries (features z) V) = length (product_entries (features z) W)).
      { rewrite !product_entries_length. f_equal. destruct HsV, HsW; congruence. }
      pose proof (sub_scale_zeros L _ _ 0 Hl L_nonneg) as Hsub. simpl in Hsub. rewrite !app_nil_r in Hsub. rewrite Hsub.
      unfold linear_loss. eapply Rle_trans. apply Rle_abs. apply loss_lipschitz; auto. }
  eapply Rle_trans. apply H. right. rewrite Hs. field. lra.
Qed.

(** Theorem A1: a read-out trained in the Frobenius ball of radius [omega] over frozen features. *)
Theorem frozen_bound P omega m delta : distribution P -> (0 < m)%nat -> 0 < delta < 1 ->
  Pr P m (fun zs => exists W, (shaped K d W /\ frobenius_norm W <= omega) /\
    gap P linear_loss zs W >= 2 * (sqrt 2 * L * omega * sqrt (INR K * features_sum zs) / INR m)
                              + 2 * M * sqrt (ln (1 / delta) / (2 * INR m))) <= delta.
Proof.
  intros [Pnn Pone] Hm Hd.
  apply (uniform_deviation_any_class P Pnn Pone linear_loss M M_pos
    (fun W => shaped K d W /\ frobenius_norm W <= omega)
    (fun zs => sqrt 2 * L * omega * sqrt (INR K * features_sum zs) / INR m) m delta Hm Hd).
  - intros W _ z. apply loss_range.
  - intros t0 l HC zs <-. apply rademacher_linear; auto.
Qed.

(** Theorem A1 with the Frobenius norm read off after training. *)
Theorem peeled_frozen_bound P c0 rho m delta : distribution P -> (0 < m)%nat -> 0 < delta < 1 ->
  Pr P m (fun zs => exists j W, (shaped K d W /\ frobenius_norm W <= c0 * rho ^ j) /\
    gap P linear_loss zs W >= 2 * (sqrt 2 * L * (c0 * rho ^ j) * sqrt (INR K * features_sum zs) / INR m)
       + 2 * M * sqrt ((ln (1 / delta) + ln (INR (j + 1) * INR (j + 2))) / (2 * INR m))) <= delta.
Proof.
  intros HP Hm Hd. assert (Hm' : 0 < INR m) by (apply lt_0_INR; auto).
  assert (E : forall zs r, 2 * (sqrt 2 * L * r * sqrt (INR K * features_sum zs) / INR m)
    = 2 * (sqrt 2 * L * sqrt (INR K * features_sum zs) / INR m) * r) by (intros; field; lra).
  assert (H := peeling_complexity P linear_loss (shaped K d) frobenius_norm
    (fun zs => 2 * (sqrt 2 * L * sqrt (INR K * features_sum zs) / INR m)) M c0 rho m delta HP Hd).
  eapply Rle_trans; [| apply H].
  - destruct HP as [Pnn Pone]. apply Pr_mono; auto. intros zs _ [j [W [HW Hg]]]. exists j, W. rewrite E in Hg. auto.
  - intros r e He. eapply Rle_trans; [| apply (frozen_bound P r m e HP Hm He)].
    destruct HP as [Pnn Pone]. apply Pr_mono; auto. intros zs _ [W [HW Hg]]. exists W. rewrite E. auto.
Qed.
End Frozen.

(** ** Frozen attention *)
(** The spectral norm bounds the transpose too: [‖X^T r‖ <= ‖X‖_2 ‖r‖]. *)
Lemma transpose_bound X r : length r = length X -> X <> nil -> (forall x, In x X -> length x = columns X) ->
  norm (lin_comb (columns X) X r) <= spectral_norm X * norm r.
Proof.
  intros Hr Hne HX. set (d := columns X). set (y := lin_comb d X r).
  assert (Hy : length y = d) by (apply lin_comb_length; auto).
  assert (Hyy : norm y * norm y = dot r (mat_vec X y)).
  { rewrite norm_sqr, <- dot_self. unfold y at 2. rewrite dot_lin_comb by auto. fold y. unfold mat_vec.
    assert (Hc : forall a b : list R, dot a b = dot b a) by (induction a; destruct b; simpl; auto; rewrite IHa; ring).
    rewrite Hc. f_equal. apply map_ext. intros. apply Hc. }
  assert (Hle : dot r (mat_vec X y) <= norm r * (spectral_norm X * norm y)).
  { eapply Rle_trans. apply dot_le_norms. unfold mat_vec; rewrite map_length; auto.
    apply Rmult_le_compat_l. apply norm_nonneg. apply spectral_norm_bounds. exact Hy. }
  pose proof (norm_nonneg y). pose proof (norm_nonneg r). pose proof (spectral_norm_nonneg X).
  destruct (Req_dec (norm y) 0) as [-> | Hn]. apply Rmult_le_pos; auto.
  apply Rmult_le_reg_l with (norm y); [lra |]. rewrite Hyy. eapply Rle_trans. apply Hle. right. ring.
Qed.

(** The rows of [A X]. *)
Definition attended (A : matrix) (X : list (list R)) : list (list R) := map (lin_comb (columns X) X) A.

Lemma attended_norm A X a chi r : (forall row, In row A -> length row = length X) -> X <> nil ->
  (forall x, In x X -> length x = columns X) -> 0 <= r ->
  spectral_norm A <= a -> stable_rank_at_most r A -> spectral_norm X <= chi ->
  frobenius_sq (attended A X) <= (a * chi)^2 * r.
Proof.
  intros HA HX HXd Hr Ha Hst Hchi. pose proof (spectral_norm_nonneg A). pose proof (spectral_norm_nonneg X).
  apply Rle_trans with (chi^2 * frobenius_sq A).
  - clear Hst Ha. induction A as [| row A IH]; cbn [attended map frobenius_sq]. lra.
    rewrite Rmult_plus_distr_l. apply Rplus_le_compat.
    + pose proof (transpose_bound X row (HA row (or_introl eq_refl)) HX HXd) as T.
      rewrite <- !norm_sqr. pose proof (norm_nonneg (lin_comb (columns X) X row)). pose proof (norm_nonneg row).
      assert (norm (lin_comb (columns X) X row) <= chi * norm row) by (eapply Rle_trans; [apply T | apply Rmult_le_compat_r; auto]).
      replace (chi^2 * (norm row * norm row)) with ((chi * norm row) * (chi * norm row)) by ring.
      apply Rmult_le_compat; auto.
    + apply IH. intros; apply HA; right; auto. apply spectral_norm_nonneg.
  - replace ((a * chi)^2 * r) with (chi^2 * (r * a^2)) by ring. apply Rmult_le_compat_l. apply pow2_ge_0.
    eapply Rle_trans. apply Hst. apply Rmult_le_compat_l; auto. apply pow_incr. lra.
Qed.

Section FrozenAttention.
Context {Z : Type} (d K N : nat) (attention : Z -> matrix) (tokens : Z -> list (list R)) (a chi r : R).
Hypothesis tokens_shape : forall z, tokens z <> nil /\ forall x, In x (tokens z) -> length x = d.
Hypothesis attention_shape : forall z, (length (attention z) <= N)%nat /\
  forall row, In row (attention z) -> length row = length (tokens z).
Hypothesis attention_bounds : forall z, spectral_norm (attention z) <= a /\ stable_rank_at_most r (attention z).
Hypothesis tokens_bound : forall z, spectral_norm (tokens z) <= chi.
Context (loss : Z -> list R -> R) (L M : R).
Hypothesis loss_range : forall z y, 0 <= loss z y <= M.
Hypothesis loss_lipschitz : forall z y y', length y = length y' -> Rabs (loss z y - loss z y') <= L * norm (sub y y').
Hypothesis L_nonneg : 0 <= L.
Hypothesis M_pos : 0 < M.
Hypothesis r_nonneg : 0 <= r.

Definition attention_loss := linear_loss (fun z => attended (attention z) (tokens z)) loss.

Lemma tokens_columns z : columns (tokens z) = d.
Proof. destruct (tokens_shape z) as [H1 H2]. unfold columns. destruct (tokens z) as [| x X]; [congruence |]. apply H2. left; auto. Qed.

(** Theorem A2: the sentence "sqrt(R/m) with R the effective rank of attention", repaired. *)
Theorem frozen_attention_bound P omega m delta : distribution P -> (0 < m)%nat -> 0 < delta < 1 -> 0 <= omega ->
  Pr P m (fun zs => exists W, (shaped K d W /\ frobenius_norm W <= omega) /\
    gap P attention_loss zs W >= 2 * (sqrt 2 * L * omega * a * chi * sqrt (INR K * r / INR m))
                                 + 2 * M * sqrt (ln (1 / delta) / (2 * INR m))) <= delta.
Proof.
  intros HP Hm Hd Ho. assert (Hm' : 0 < INR m) by (apply lt_0_INR; auto).
  assert (Hshape : forall z, (length (attended (attention z) (tokens z)) <= N)%nat /\
    forall x, In x (attended (attention z) (tokens z)) -> length x = d).
  { intros z. destruct (tokens_shape z) as [H1 H2], (attention_shape z) as [H3 H4]. unfold attended. rewrite map_length. split; auto.
    intros x Hx. apply in_map_iff in Hx. destruct Hx as [row [<- _]]. rewrite tokens_columns. apply lin_comb_length; auto. }
  eapply Rle_trans; [| apply (frozen_bound d K N (fun z => attended (attention z) (tokens z)) Hshape loss L M loss_range
    loss_lipschitz L_nonneg M_pos P omega m delta HP Hm Hd)].
  destruct HP as [Pnn Pone]. apply Pr_mono; auto. intros zs Hzs [W [HW Hg]]. exists W. split; auto.
  apply Rge_le in Hg. apply Rle_ge. eapply Rle_trans; [| apply Hg]. apply Rplus_le_compat_r, Rmult_le_compat_l; [lra |].
  pose proof (samples_length P m zs Hzs) as Hlen.
  destruct zs as [| z0 zs0]; [simpl in Hlen; lia |].
  assert (Ha0 : 0 <= a) by (eapply Rle_trans; [apply spectral_norm_nonneg | apply (attention_bounds z0)]).
  assert (Hc0 : 0 <= chi) by (eapply Rle_trans; [apply spectral_norm_nonneg | apply (tokens_bound z0)]).
  set (zs := z0 :: zs0) in *.
  assert (Hsum : features_sum (fun z => attended (attention z) (tokens z)) zs <= INR m * ((a * chi)^2 * r)).
  { rewrite <- Hlen. unfold features_sum. clear Hg Hzs Hlen. clearbody zs. induction zs as [| z zs IH]. simpl; lra.
    cbn [sum_list length]. rewrite S_INR. destruct (tokens_shape z) as [H1 H2], (attention_shape z) as [H3 H4], (attention_bounds z) as [H5 H6].
    pose proof (attended_norm (attention z) (tokens z) a chi r H4 H1 ltac:(rewrite tokens_columns; auto) r_nonneg H5 H6 (tokens_bound z)). lra. }
  assert (Hsq : sqrt (INR K * features_sum (fun z => attended (attention z) (tokens z)) zs) / INR m <= a * chi * sqrt (INR K * r / INR m)).
  { replace (a * chi * sqrt (INR K * r / INR m)) with (sqrt (INR K * (INR m * ((a * chi)^2 * r))) / INR m).
    - apply Rmult_le_compat_r. left; apply Rinv_0_lt_compat; auto. apply sqrt_le_1_alt. apply Rmult_le_compat_l; auto. apply pos_INR.
    - replace (INR K * (INR m * ((a * chi)^2 * r))) with ((a * chi * INR m)^2 * (INR K * r / INR m)) by (field; lra).
      rewrite sqrt_mult_alt by apply pow2_ge_0. rewrite sqrt_pow2 by (repeat apply Rmult_le_pos; lra). field. lra. }
  pose proof sqrt2_pos.
  replace (sqrt 2 * L * omega * sqrt (INR K * features_sum (fun z => attended (attention z) (tokens z)) zs) / INR m)
    with (sqrt 2 * L * omega * (sqrt (INR K * features_sum (fun z => attended (attention z) (tokens z)) zs) / INR m)) by (unfold Rdiv; ring).
  replace (sqrt 2 * L * omega * a * chi * sqrt (INR K * r / INR m)) with (sqrt 2 * L * omega * (a * chi * sqrt (INR K * r / INR m))) by ring.
  apply Rmult_le_compat_l; auto. repeat apply Rmult_le_pos; lra.
Qed.
End FrozenAttention.
