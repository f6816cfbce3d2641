(** * A softmax attention head with trained query-key matrix (Theorems C1(i) and C1-vector)

The head reads [sum_t softmax(s)_t a_t] with scores [s_t = x_q^T W x_t].  Query, tokens, values and
loss are fixed before the sample; only [W] is trained.  With probability at least [1 - delta], every
[W] with spectral norm at most [s] and stable rank at most [R] has

  gap <= 2 (L s sqrt R / (2m)) sqrt (sum_i osc_i^2 ‖x_qi‖^2 ‖Xc_i‖_F^2) + 2 M sqrt (ln (1/delta) / (2m)).

The class is the whole set of such matrices, not a finite part of it.  The number of tokens may
differ from point to point. *)
From Coq Require Import Reals List Lra Psatz Lia.
From Attention Require Import SignAverages FiniteSup VectorContraction Expectation CauchySchwarz Symmetrization
  Probability Risk UniformDeviation Softmax LinearScores Matrices.
Import ListNotations.
Open Scope R_scope.

Definition distribution {Z : Type} (P : list (R * Z)) : Prop :=
  (forall p z, In (p, z) P -> 0 <= p) /\ Ex P (fun _ => 1) = 1.

Lemma sqrt_sum_scal {H} (l : list H) c f : 0 <= c ->
  sqrt (sum_list l (fun h => c^2 * f h)) = c * sqrt (sum_list l f).
Proof. intros Hc. rewrite sum_list_scal, sqrt_mult_alt by apply pow2_ge_0. rewrite sqrt_pow2; auto. Qed.

Section Head.
Context {Z : Type} (d1 d2 n : nat).
Context (query : Z -> list R) (tokens : Z -> list (list R)) (centre : Z -> list R).
Hypothesis query_shape : forall z, length (query z) = d1.
Hypothesis tokens_shape : forall z, (length (tokens z) <= n)%nat /\ forall x, In x (tokens z) -> length x = d2.
Hypothesis centre_shape : forall z, length (centre z) = d2.

(** Scores of all tokens; the attention weights are [softmax (scores_of W z)]. *)
Definition scores_of (W : matrix) (z : Z) : list R := map (score W (query z)) (tokens z).
Definition centred_tokens (z : Z) : list (list R) := map (fun x => sub x (centre z)) (tokens z).
Definition centred_scores (W : matrix) (z : Z) : list R := map (score W (query z)) (centred_tokens z).

Lemma centred_scores_shift W z :
  centred_scores W z = map (fun y => y - score W (query z) (centre z)) (scores_of W z).
Proof.
  unfold centred_scores, centred_tokens, scores_of. rewrite !map_map. apply map_ext_in. intros x Hx.
  apply score_sub. destruct (tokens_shape z) as [_ H]. rewrite (H x Hx), centre_shape. reflexivity.
Qed.

Section Rademacher.
Context {T : Type} (F : T -> Z -> R) (weight : T -> matrix) (lambda : Z -> R) (omega : R) (t0 : T) (l : list T).
Let C (t : T) := t = t0 \/ In t l.
Hypothesis weight_class : forall t, C t -> shaped d1 d2 (weight t) /\ frobenius_norm (weight t) <= omega.
Hypothesis lambda_nonneg : forall z, 0 <= lambda z.
Hypothesis lipschitz : forall z s t, C s -> C t ->
  F s z - F t z <= lambda z * norm (sub (centred_scores (weight s) z) (centred_scores (weight t) z)).

(** The features of one point: [lambda q (x_t - c)^T], padded with zeros to [n] tokens. *)
Let features (z : Z) : list (list R) :=
  map (fun x => scale (lambda z) (outer (query z) x)) (centred_tokens z)
  ++ repeat (repeat 0 (d1 * d2)) (n - length (tokens z)).

Lemma centred_token_length z x : In x (centred_tokens z) -> length x = d2.
Proof.
  unfold centred_tokens. intros H. apply in_map_iff in H. destruct H as [y [<- Hy]]. destruct (tokens_shape z) as [_ H].
  rewrite sub_length; rewrite (H y Hy); auto.
Qed.

Lemma features_shape z : length (features z) = n /\ forall v, In v (features z) -> length v = (d1 * d2)%nat.
Proof.
  unfold features. split.
  - rewrite app_length, map_length, repeat_length. unfold centred_tokens. rewrite map_length.
    destruct (tokens_shape z) as [H _]. lia.
  - intros v Hv. apply in_app_or in Hv. destruct Hv as [Hv | Hv].
    + apply in_map_iff in Hv. destruct Hv as [x [<- Hx]].
      rewrite scale_length, outer_length, query_shape, (centred_token_length z x Hx). reflexivity.
    + apply repeat_spec in Hv. subst. apply repeat_length.
Qed.

Lemma features_scores t z : C t ->
  map (dot (concat (weight t))) (features z)
  = scale (lambda z) (centred_scores (weight t) z) ++ repeat 0 (n - length (tokens z)).
Proof.
  intros Ht. unfold features, centred_scores, scale at 2. rewrite map_app, !map_map. f_equal.
  - apply map_ext_in. intros x Hx. rewrite dot_scale_right. f_equal. symmetry.
    destruct (weight_class t Ht) as [[H1 H2] _]. apply score_outer. rewrite H1, query_shape; auto.
    intros r Hr. rewrite (H2 r Hr), (centred_token_length z x Hx). reflexivity.
  - generalize (n - length (tokens z))%nat as k. induction k; simpl; auto. rewrite IHk, dot_zeros. reflexivity.
Qed.

Lemma frobenius_features_head z :
  frobenius_sq (features z) = (lambda z)^2 * (norm_sq (query z) * frobenius_sq (centred_tokens z)).
Proof.
  unfold features. rewrite frobenius_sq_app.
  assert (Hz : forall k, frobenius_sq (repeat (repeat 0 (d1 * d2)) k) = 0).
  { induction k; simpl; auto. rewrite IHk, norm_sq_zeros. ring. }
  rewrite Hz, Rplus_0_r. induction (centred_tokens z) as [| x X IH]; simpl. ring.
  rewrite IH, norm_sq_scale, norm_sq_outer. ring.
Qed.

Lemma add_zeros : forall a k, length a = k -> add a (repeat 0 k) = a.
Proof. induction a; intros k <-; simpl; auto. rewrite IHa by auto. f_equal. ring. Qed.

Lemma map_nil_dot : forall k, map (dot nil) (repeat (@nil R) k) = repeat 0 k.
Proof. induction k; cbn [repeat map]; auto. rewrite IHk. reflexivity. Qed.

Lemma sub_scale_zeros c a b k : length a = length b -> 0 <= c ->
  norm (sub (scale c a ++ repeat 0 k) (scale c b ++ repeat 0 k)) = c * norm (sub a b).
Proof.
  intros H Hc. rewrite sub_app by (rewrite !scale_length; auto). unfold norm at 1. rewrite norm_sq_app, sub_same, Rplus_0_r.
  assert (Hs : sub (scale c a) (scale c b) = scale c (sub a b)).
  { clear Hc. revert b H. induction a; destruct b; simpl; intros; try discriminate; auto. rewrite IHa by lia.
    f_equal. ring. }
  rewrite Hs, norm_sq_scale, sqrt_mult_alt by apply pow2_ge_0. rewrite sqrt_pow2; auto.
Qed.

(** Rademacher average of a loss that is [lambda]-Lipschitz in the centred attention scores. *)
Theorem rademacher_scores zs : (0 < length zs)%nat ->
  rademacher F t0 l zs <= sqrt 2 * omega / INR (length zs) *
    sqrt (sum_list zs (fun z => (lambda z)^2 * (norm_sq (query z) * frobenius_sq (centred_tokens z)))).
Proof.
  intros Hm. assert (Hm' : 0 < INR (length zs)) by (apply lt_0_INR; auto).
  assert (H : rademacher F t0 l zs <= sqrt 2 / INR (length zs) *
    (omega * sqrt (sum_list zs (fun z => frobenius_sq (features z)))
     + 0 * sqrt (sum_list zs (fun z => frobenius_sq (repeat (@nil R) n))))).
  { apply (rademacher_linear_scores F n (d1 * d2) 0 (fun t => concat (weight t)) (fun _ => nil) features (fun _ => repeat nil n)
      omega 0 features_shape).
    - intros z. split. apply repeat_length. intros v Hv. apply repeat_spec in Hv. subst; auto.
    - intros t Ht. destruct (weight_class t Ht) as [Hs Hn]. split. apply concat_length; auto. rewrite norm_concat; auto.
    - intros t Ht. split; auto. unfold norm; simpl. rewrite sqrt_0. lra.
    - intros z s t Hs Ht. unfold scores. rewrite map_nil_dot, !add_zeros, !features_scores by
        (auto || (rewrite map_length; apply features_shape)).
      rewrite sub_scale_zeros by (auto || (unfold centred_scores; rewrite !map_length; auto)). apply lipschitz; auto.
    - auto. }
  eapply Rle_trans. apply H. right.
  assert (Hf : sum_list zs (fun z => frobenius_sq (features z))
    = sum_list zs (fun z => (lambda z)^2 * (norm_sq (query z) * frobenius_sq (centred_tokens z)))).
  { clear. induction zs; simpl; auto. rewrite IHzs, frobenius_features_head. reflexivity. }
  rewrite Hf. field. lra.
Qed.
End Rademacher.

(** ** Scalar values: Theorem C1(i) *)
Section Scalar.
Context (values : Z -> list R) (loss : Z -> R -> R) (L M : R).
Hypothesis values_shape : forall z, length (values z) = length (tokens z).
Hypothesis loss_range : forall z y, 0 <= loss z y <= M.
Hypothesis loss_lipschitz : forall z y y', Rabs (loss z y - loss z y') <= L * Rabs (y - y').
Hypothesis L_nonneg : 0 <= L.
Hypothesis M_pos : 0 < M.

Definition head_loss (W : matrix) (z : Z) : R := loss z (readout (scores_of W z) (values z)).

Lemma head_loss_lipschitz z W W' :
  head_loss W z - head_loss W' z
  <= L * osc (values z) / (2 * sqrt 2) * norm (sub (centred_scores W z) (centred_scores W' z)).
Proof.
  assert (Hc : forall V, readout (scores_of V z) (values z) = readout (centred_scores V z) (values z)).
  { intros V. unfold readout. rewrite centred_scores_shift, softmax_shift. reflexivity. }
  unfold head_loss. eapply Rle_trans. apply Rle_abs. eapply Rle_trans. apply loss_lipschitz. rewrite !Hc.
  replace (L * osc (values z) / (2 * sqrt 2) * norm (sub (centred_scores W z) (centred_scores W' z)))
    with (L * (osc (values z) / (2 * sqrt 2) * norm (sub (centred_scores W z) (centred_scores W' z)))) by (unfold Rdiv; ring).
  apply Rmult_le_compat_l; auto.
  apply readout_lipschitz; unfold centred_scores, centred_tokens; rewrite !map_length; auto.
Qed.

(** [sum_i osc_i^2 ‖x_qi‖^2 ‖Xc_i‖_F^2], computed from the sample. *)
Definition scalar_head_sum (zs : list Z) : R :=
  sum_list zs (fun z => (osc (values z))^2 * (norm_sq (query z) * frobenius_sq (centred_tokens z))).

(** The Rademacher average of heads with scalar values, for any finite part of the Frobenius ball. *)
Theorem rademacher_scalar_head omega t0 l zs : (0 < length zs)%nat ->
  (forall W, W = t0 \/ In W l -> shaped d1 d2 W /\ frobenius_norm W <= omega) ->
  rademacher head_loss t0 l zs <= L * omega / (2 * INR (length zs)) * sqrt (scalar_head_sum zs).
Proof.
  intros Hm HC. assert (Hm' : 0 < INR (length zs)) by (apply lt_0_INR; auto).
  assert (Hs : 0 < sqrt 2) by (apply sqrt_lt_R0; lra).
  assert (Hl : 0 <= L / (2 * sqrt 2)) by (apply Rmult_le_pos; [auto | left; apply Rinv_0_lt_compat; lra]).
  eapply Rle_trans.
  { apply (rademacher_scores head_loss (fun W => W) (fun z => L * osc (values z) / (2 * sqrt 2)) omega t0 l HC); auto.
    - intros z. replace (L * osc (values z) / (2 * sqrt 2)) with (L / (2 * sqrt 2) * osc (values z)) by (field; lra).
      apply Rmult_le_pos; auto. apply osc_nonneg.
    - intros z s t _ _. apply head_loss_lipschitz. }
  right. unfold scalar_head_sum.
  replace (sum_list zs (fun z => (L * osc (values z) / (2 * sqrt 2))^2 * (norm_sq (query z) * frobenius_sq (centred_tokens z))))
    with (sum_list zs (fun z => (L / (2 * sqrt 2))^2 * ((osc (values z))^2 * (norm_sq (query z) * frobenius_sq (centred_tokens z))))).
  2:{ clear - Hs. induction zs as [| z zs IH]; cbn [sum_list]; auto. rewrite IH. f_equal. field. lra. }
  rewrite sqrt_sum_scal by auto. field. lra.
Qed.

(** Theorem C1(i) for the Frobenius ball. *)
Theorem head_bound_frobenius P omega m delta : distribution P -> (0 < m)%nat -> 0 < delta < 1 ->
  Pr P m (fun zs => exists W, (shaped d1 d2 W /\ frobenius_norm W <= omega) /\
    gap P head_loss zs W >= 2 * (L * omega / (2 * INR m) * sqrt (scalar_head_sum zs))
                            + 2 * M * sqrt (ln (1 / delta) / (2 * INR m))) <= delta.
Proof.
  intros [Pnn Pone] Hm Hd.
  apply (uniform_deviation_any_class P Pnn Pone head_loss M M_pos
    (fun W => shaped d1 d2 W /\ frobenius_norm W <= omega)
    (fun zs => L * omega / (2 * INR m) * sqrt (scalar_head_sum zs)) m delta Hm Hd).
  - intros W _ z. apply loss_range.
  - intros t0 l HC zs <-. apply rademacher_scalar_head; auto.
Qed.

(** Theorem C1(i): spectral norm at most [s], stable rank at most [r]. *)
Theorem head_bound P s r m delta : distribution P -> (0 < m)%nat -> 0 < delta < 1 -> 0 <= r ->
  Pr P m (fun zs => exists W, (shaped d1 d2 W /\ spectral_norm W <= s /\ stable_rank_at_most r W) /\
    gap P head_loss zs W >= 2 * (L * s * sqrt r / (2 * INR m) * sqrt (scalar_head_sum zs))
                            + 2 * M * sqrt (ln (1 / delta) / (2 * INR m))) <= delta.
Proof.
  intros HP Hm Hd Hr. eapply Rle_trans; [| apply (head_bound_frobenius P (s * sqrt r) m delta HP Hm Hd)].
  destruct HP as [Pnn Pone]. apply Pr_mono; auto. intros zs _ [W [[Hsh [Hs Hst]] Hg]]. exists W. split.
  - split; auto. apply frobenius_norm_le; auto.
  - rewrite (Rmult_assoc L s (sqrt r)) in Hg. exact Hg.
Qed.
End Scalar.

(** ** Vector values: Theorem C1-vector *)
Section Vector.
Context (K : nat) (values : Z -> list (list R)) (loss : Z -> list R -> R) (L M : R).
Context (value_centre : Z -> list R) (radius : Z -> R).
Hypothesis values_shape : forall z, length (values z) = length (tokens z) /\ forall a, In a (values z) -> length a = K.
Hypothesis radius_spec : forall z, length (value_centre z) = K /\
  0 <= radius z /\ forall a, In a (values z) -> norm (sub a (value_centre z)) <= radius z.
Hypothesis loss_range : forall z y, 0 <= loss z y <= M.
Hypothesis loss_lipschitz : forall z y y', length y = K -> length y' = K ->
  Rabs (loss z y - loss z y') <= L * norm (sub y y').
Hypothesis L_nonneg : 0 <= L.
Hypothesis M_pos : 0 < M.

(** The output [sum_t softmax(s)_t a_t]. *)
Definition vector_readout (s : list R) (a : list (list R)) : list R := lin_comb K a (softmax s).
Definition vector_head_loss (W : matrix) (z : Z) : R := loss z (vector_readout (scores_of W z) (values z)).

Lemma osc_projection u a c r : length u = K -> length c = K -> 0 <= r ->
  (forall x, In x a -> length x = K /\ norm (sub x c) <= r) -> osc (map (dot u) a) <= 2 * r * norm u.
Proof.
  intros Hu Hc Hr H. pose proof (norm_nonneg u). apply osc_le. nra. intros x y Hx Hy.
  apply in_map_iff in Hx, Hy. destruct Hx as [v [<- Hv]], Hy as [w [<- Hw]].
  destruct (H v Hv) as [Lv Nv], (H w Hw) as [Lw Nw].
  assert (A : dot u v - dot u c <= norm u * norm (sub v c)).
  { rewrite <- dot_sub_right by congruence. apply dot_le_norms. rewrite sub_length; congruence. }
  assert (B : dot u c - dot u w <= norm u * norm (sub w c)).
  { replace (dot u c - dot u w) with (dot (map Ropp u) (sub w c)).
    - replace (norm u) with (norm (map Ropp u)). apply dot_le_norms. rewrite map_length, sub_length; congruence.
      unfold norm. f_equal. clear. induction u; simpl; auto. rewrite IHu. ring.
    - transitivity (- dot u (sub w c)). clear. revert w c. induction u; intros; simpl. ring.
      destruct w, c; simpl; try ring. rewrite IHu. ring. rewrite dot_sub_right by congruence. ring. }
  nra.
Qed.

Lemma vector_readout_length s a : (forall x, In x a -> length x = K) -> length (vector_readout s a) = K.
Proof. intros H. apply lin_comb_length; auto. Qed.

(** A softmax average of vectors within [r] of a centre moves by at most [r / sqrt 2] times the distance of the scores. *)
Theorem vector_readout_lipschitz s s' a c r : length s = length s' -> length a = length s ->
  length c = K -> 0 <= r -> (forall x, In x a -> length x = K /\ norm (sub x c) <= r) ->
  norm (sub (vector_readout s a) (vector_readout s' a)) <= r / sqrt 2 * norm (sub s s').
Proof.
  intros H1 H2 Hc Hr H. assert (HK : forall x, In x a -> length x = K) by (intros; apply H; auto).
  set (u := sub (vector_readout s a) (vector_readout s' a)).
  assert (Lu : length u = K) by (unfold u; rewrite sub_length; rewrite ?vector_readout_length; auto).
  pose proof (osc_projection u a c r Lu Hc Hr H) as Ho.
  pose proof (readout_lipschitz s s' (map (dot u) a) H1 ltac:(rewrite map_length; auto)) as Hl.
  assert (Hr' : forall s, readout s (map (dot u) a) = dot u (vector_readout s a)).
  { intros s0. unfold readout, vector_readout. rewrite dot_lin_comb by auto.
    generalize (softmax s0) as p, (map (dot u) a) as b. induction p; destruct b; simpl; auto. rewrite IHp. ring. }
  rewrite !Hr', <- dot_sub_right in Hl by (rewrite !vector_readout_length; auto). fold u in Hl.
  rewrite dot_self, Rabs_pos_eq, <- norm_sqr in Hl by apply norm_sq_nonneg.
  pose proof (norm_nonneg u). pose proof (norm_nonneg (sub s s')).
  assert (Hs : 0 < sqrt 2) by (apply sqrt_lt_R0; lra).
  assert (K2 : norm u * norm u <= norm u * (r / sqrt 2 * norm (sub s s'))).
  { eapply Rle_trans. apply Hl.
    replace (norm u * (r / sqrt 2 * norm (sub s s'))) with (2 * r * norm u / (2 * sqrt 2) * norm (sub s s')) by (field; lra).
    apply Rmult_le_compat_r; auto. apply Rmult_le_compat_r; auto. left; apply Rinv_0_lt_compat; lra. }
  destruct (Req_dec (norm u) 0) as [-> | Hne].
  - apply Rmult_le_pos; auto. apply Rmult_le_pos; auto. left; apply Rinv_0_lt_compat; auto.
  - apply Rmult_le_reg_l with (norm u); lra.
Qed.

Lemma vector_head_loss_lipschitz z W W' :
  vector_head_loss W z - vector_head_loss W' z
  <= L * radius z / sqrt 2 * norm (sub (centred_scores W z) (centred_scores W' z)).
Proof.
  destruct (values_shape z) as [Hlen HK], (radius_spec z) as [Hc [Hr0 Hr]].
  assert (Hshift : forall V, vector_readout (scores_of V z) (values z) = vector_readout (centred_scores V z) (values z)).
  { intros V. unfold vector_readout. rewrite centred_scores_shift, softmax_shift. reflexivity. }
  unfold vector_head_loss. eapply Rle_trans. apply Rle_abs. eapply Rle_trans.
  apply loss_lipschitz; apply vector_readout_length; auto. rewrite !Hshift.
  replace (L * radius z / sqrt 2 * norm (sub (centred_scores W z) (centred_scores W' z)))
    with (L * (radius z / sqrt 2 * norm (sub (centred_scores W z) (centred_scores W' z)))) by (unfold Rdiv; ring).
  apply Rmult_le_compat_l; auto.
  apply vector_readout_lipschitz with (c := value_centre z); auto; unfold centred_scores, centred_tokens; rewrite !map_length; auto.
Qed.

(** [sum_i rho_i^2 ‖x_qi‖^2 ‖Xc_i‖_F^2], computed from the sample. *)
Definition vector_head_sum (zs : list Z) : R :=
  sum_list zs (fun z => (radius z)^2 * (norm_sq (query z) * frobenius_sq (centred_tokens z))).

(** The Rademacher average of heads with vector values, for any finite part of the Frobenius ball. *)
Theorem rademacher_vector_head omega t0 l zs : (0 < length zs)%nat ->
  (forall W, W = t0 \/ In W l -> shaped d1 d2 W /\ frobenius_norm W <= omega) ->
  rademacher vector_head_loss t0 l zs <= L * omega / INR (length zs) * sqrt (vector_head_sum zs).
Proof.
  intros Hm HC. assert (Hm' : 0 < INR (length zs)) by (apply lt_0_INR; auto).
  assert (Hs : 0 < sqrt 2) by (apply sqrt_lt_R0; lra).
  assert (Hl : 0 <= L / sqrt 2) by (apply Rmult_le_pos; [auto | left; apply Rinv_0_lt_compat; lra]).
  eapply Rle_trans.
  { apply (rademacher_scores vector_head_loss (fun W => W) (fun z => L * radius z / sqrt 2) omega t0 l HC); auto.
    - intros z. destruct (radius_spec z) as [_ [Hr _]].
      replace (L * radius z / sqrt 2) with (L / sqrt 2 * radius z) by (field; lra). apply Rmult_le_pos; auto.
    - intros z s t _ _. apply vector_head_loss_lipschitz. }
  right. unfold vector_head_sum.
  replace (sum_list zs (fun z => (L * radius z / sqrt 2)^2 * (norm_sq (query z) * frobenius_sq (centred_tokens z))))
    with (sum_list zs (fun z => (L / sqrt 2)^2 * ((radius z)^2 * (norm_sq (query z) * frobenius_sq (centred_tokens z))))).
  2:{ clear - Hs. induction zs as [| z zs IH]; cbn [sum_list]; auto. rewrite IH. f_equal. field. lra. }
  rewrite sqrt_sum_scal by auto. field. lra.
Qed.

(** Theorem C1-vector for the Frobenius ball. *)
Theorem vector_head_bound_frobenius P omega m delta : distribution P -> (0 < m)%nat -> 0 < delta < 1 ->
  Pr P m (fun zs => exists W, (shaped d1 d2 W /\ frobenius_norm W <= omega) /\
    gap P vector_head_loss zs W >= 2 * (L * omega / INR m * sqrt (vector_head_sum zs))
                                   + 2 * M * sqrt (ln (1 / delta) / (2 * INR m))) <= delta.
Proof.
  intros [Pnn Pone] Hm Hd.
  apply (uniform_deviation_any_class P Pnn Pone vector_head_loss M M_pos
    (fun W => shaped d1 d2 W /\ frobenius_norm W <= omega)
    (fun zs => L * omega / INR m * sqrt (vector_head_sum zs)) m delta Hm Hd).
  - intros W _ z. apply loss_range.
  - intros t0 l HC zs <-. apply rademacher_vector_head; auto.
Qed.

(** Theorem C1-vector: spectral norm at most [s], stable rank at most [r]. *)
Theorem vector_head_bound P s r m delta : distribution P -> (0 < m)%nat -> 0 < delta < 1 -> 0 <= r ->
  Pr P m (fun zs => exists W, (shaped d1 d2 W /\ spectral_norm W <= s /\ stable_rank_at_most r W) /\
    gap P vector_head_loss zs W >= 2 * (L * s * sqrt r / INR m * sqrt (vector_head_sum zs))
                                   + 2 * M * sqrt (ln (1 / delta) / (2 * INR m))) <= delta.
Proof.
  intros HP Hm Hd Hr. eapply Rle_trans; [| apply (vector_head_bound_frobenius P (s * sqrt r) m delta HP Hm Hd)].
  destruct HP as [Pnn Pone]. apply Pr_mono; auto. intros zs _ [W [[Hsh [Hs Hst]] Hg]]. exists W. split.
  - split; auto. apply frobenius_norm_le; auto.
  - rewrite (Rmult_assoc L s (sqrt r)) in Hg. exact Hg.
Qed.
End Vector.
End Head.
