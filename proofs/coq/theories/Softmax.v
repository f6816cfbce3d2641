(** * Lipschitz constants of softmax

  - a read-out of softmax moves by at most [osc a * osc (s - s') / 4]            ([readout_osc])
    and by at most [osc a / (2 sqrt 2)] times the Euclidean distance of the scores ([readout_lipschitz]);
  - softmax itself moves by at most [osc (s - s') / 2] in the l1 norm           ([softmax_l1])
    and by at most half the Euclidean distance                                   ([softmax_l2]).

Along the segment from [s'] to [s] the derivative of a read-out is a covariance under softmax, and
a covariance is at most a quarter of the product of the two oscillations. *)
From Coq Require Import Reals List Lra Psatz Lia.
From Coquelicot Require Import Coquelicot.
From Attention Require Import SignAverages FiniteSup VectorContraction Expectation CauchySchwarz HoeffdingLemma
  Probability.
Import ListNotations.
Open Scope R_scope.

(** ** Definitions *)
Definition exp_sum (s : list R) : R := sum_list s exp.
Definition softmax (s : list R) : list R := map (fun x => exp x / exp_sum s) s.
Definition readout (s a : list R) : R := dot (softmax s) a.
(** Oscillation: largest entry minus smallest entry. *)
Definition osc (a : list R) : R :=
  match a with nil => 0 | x :: r => Sup x r (fun y => y) + Sup x r Ropp end.
Definition norm (v : list R) : R := sqrt (norm_sq v).
Definition norm_1 (v : list R) : R := sum_list v Rabs.

(** ** Oscillations *)
Lemma osc_spread a x y : In x a -> In y a -> x - y <= osc a.
Proof.
  destruct a as [| z r]; [intros [] |]. intros Hx Hy. unfold osc.
  assert (x = z \/ In x r) by (destruct Hx; auto). assert (y = z \/ In y r) by (destruct Hy; auto).
  pose proof (Sup_ub z r (fun y => y) x H). pose proof (Sup_ub z r Ropp y H0). cbn beta in *. lra.
Qed.

Lemma osc_le a A : 0 <= A -> (forall x y, In x a -> In y a -> x - y <= A) -> osc a <= A.
Proof.
  intros HA H. destruct a as [| z r]. exact HA. unfold osc.
  destruct (Sup_att z r (fun y => y)) as [x [Hx ->]]. destruct (Sup_att z r Ropp) as [y [Hy ->]].
  assert (In x (z :: r)) by (destruct Hx; [left | right]; auto).
  assert (In y (z :: r)) by (destruct Hy; [left | right]; auto). pose proof (H x y H0 H1). lra.
Qed.

Lemma osc_nonneg a : 0 <= osc a.
Proof. destruct a as [| z r]. simpl; lra. pose proof (osc_spread (z :: r) z z (or_introl eq_refl) (or_introl eq_refl)). lra. Qed.

Lemma norm_nonneg v : 0 <= norm v.
Proof. apply sqrt_pos. Qed.
Lemma norm_sqr v : norm v * norm v = norm_sq v.
Proof. apply sqrt_sqrt, norm_sq_nonneg. Qed.

Lemma entry_sq_le a x : In x a -> x^2 <= norm_sq a.
Proof.
  induction a as [| z r IH]; simpl; intros H. destruct H. pose proof (norm_sq_nonneg r).
  destruct H as [<- | H]. nra. specialize (IH H). nra.
Qed.

Lemma spread_sq_le a x y : In x a -> In y a -> (x - y)^2 <= 2 * norm_sq a.
Proof.
  induction a as [| z r IH]; cbn [In norm_sq]; intros Hx Hy. destruct Hx. pose proof (norm_sq_nonneg r).
  destruct Hx as [<- | Hx], Hy as [<- | Hy].
  - nra.
  - pose proof (entry_sq_le r y Hy). pose proof (pow2_ge_0 (z + y)). nra.
  - pose proof (entry_sq_le r x Hx). pose proof (pow2_ge_0 (x + z)). nra.
  - specialize (IH Hx Hy). nra.
Qed.

Lemma le_of_sq a b : 0 <= b -> a * a <= b * b -> a <= b.
Proof. intros Hb H. apply Rsqr_incr_0_var; auto. Qed.

Lemma osc_le_norm a : osc a <= sqrt 2 * norm a.
Proof.
  apply osc_le. apply Rmult_le_pos; apply sqrt_pos. intros x y Hx Hy. apply le_of_sq.
  apply Rmult_le_pos; apply sqrt_pos. pose proof (spread_sq_le a x y Hx Hy).
  replace (sqrt 2 * norm a * (sqrt 2 * norm a)) with ((sqrt 2 * sqrt 2) * (norm a * norm a)) by ring.
  rewrite norm_sqr, sqrt_sqrt by lra. nra.
Qed.

(** ** A covariance is at most a quarter of the product of the oscillations *)
Section Covariance.
Context {Z : Type} (P : list (R * Z)).
Hypothesis Pnn : forall p z, In (p, z) P -> 0 <= p.
Hypothesis Pone : Ex P (fun _ => 1) = 1.
Notation Ex := (Ex P).
Definition covariance (f g : Z -> R) : R := Ex (fun z => f z * g z) - Ex f * Ex g.

Lemma covariance_centred f g : covariance f g = Ex (fun z => (f z - Ex f) * (g z - Ex g)).
Proof.
  rewrite (Ex_ext P _ (fun z => (f z * g z + (- Ex g) * f z) + ((- Ex f) * g z + Ex f * Ex g))) by (intros; ring).
  rewrite !Ex_plus, !Ex_scal, Ex_const by auto. unfold covariance. ring.
Qed.

Lemma variance_nonneg f : 0 <= covariance f f.
Proof.
  rewrite covariance_centred. rewrite <- (Ex_const P Pone 0). apply Ex_le; auto. intros. apply Rle_0_sqr.
Qed.

Lemma variance_le f A : (forall p z q y, In (p, z) P -> In (q, y) P -> f z - f y <= A) ->
  covariance f f <= A^2 / 4.
Proof.
  intros H. destruct P as [| [p0 z0] Q] eqn:HP. unfold Expectation.Ex in Pone; simpl in Pone; lra. rewrite <- HP in *.
  destruct (Sup_att (p0, z0) Q (fun pz => - f (snd pz))) as [[q y] [Hy Hsup]].
  assert (Hin : In (q, y) P) by (rewrite HP; destruct Hy; [left | right]; auto).
  set (lo := f y).
  assert (Hlo : forall p z, In (p, z) P -> lo <= f z).
  { intros p z Hz. assert (K : (p, z) = (p0, z0) \/ In (p, z) Q) by (rewrite HP in Hz; destruct Hz; [left | right]; auto).
    pose proof (Sup_ub (p0, z0) Q (fun pz => - f (snd pz)) (p, z) K) as U. rewrite Hsup in U. cbn in U. unfold lo. lra. }
  assert (Hhi : forall p z, In (p, z) P -> f z <= lo + A) by (intros p z Hz; pose proof (H _ _ _ _ Hz Hin); unfold lo; lra).
  assert (K : 0 <= Ex (fun z => (f z - lo) * (lo + A - f z))).
  { rewrite <- (Ex_const P Pone 0). apply Ex_le_support; auto. intros p z Hz.
    pose proof (Hlo p z Hz). pose proof (Hhi p z Hz). nra. }
  rewrite (Ex_ext P _ (fun z => ((2 * lo + A) * f z + (-1) * (f z * f z)) + - (lo * (lo + A)))) in K by (intros; ring).
  rewrite !Ex_plus, !Ex_scal, Ex_const in K by auto. unfold covariance. set (mu := Ex f) in *.
  pose proof (pow2_ge_0 (mu - lo - A / 2)). nra.
Qed.

Lemma covariance_sq_le f g : (covariance f g)^2 <= covariance f f * covariance g g.
Proof.
  set (c := covariance f g). set (a := covariance f f). set (b := covariance g g).
  assert (H : forall x y, 0 <= x^2 * a + 2 * x * y * c + y^2 * b).
  { intros x y. pose proof (variance_nonneg (fun z => x * f z + y * g z)) as V.
    replace (covariance (fun z => x * f z + y * g z) (fun z => x * f z + y * g z))
      with (x^2 * a + 2 * x * y * c + y^2 * b) in V; auto.
    unfold a, b, c, covariance.
    rewrite (Ex_ext P (fun z => (x * f z + y * g z) * (x * f z + y * g z))
      (fun z => (x^2 * (f z * f z) + (2 * x * y) * (f z * g z)) + y^2 * (g z * g z))) by (intros; ring).
    rewrite !Ex_plus, !Ex_scal. ring. }
  destruct (Req_dec b 0) as [Hb | Hb].
  - assert (c = 0). { destruct (Req_dec c 0); auto. pose proof (H 1 (- (a + 1) / (2 * c))) as K.
      rewrite Hb in K. replace (1^2 * a + 2 * 1 * (- (a + 1) / (2 * c)) * c + (- (a + 1) / (2 * c))^2 * 0) with (-1) in K
        by (field; auto). lra. }
    rewrite H0, Hb. lra.
  - assert (0 < b) by (pose proof (variance_nonneg g); fold b in H0; lra).
    pose proof (H b (- c)) as K. assert (0 <= b * (a * b - c^2)) by nra.
    assert (0 <= a * b - c^2). { apply Rmult_le_reg_l with b; auto. lra. } lra.
Qed.

(** A covariance is at most a quarter of the product of the oscillations. *)
Theorem covariance_le f g A U : 0 <= A -> 0 <= U ->
  (forall p z q y, In (p, z) P -> In (q, y) P -> f z - f y <= A) ->
  (forall p z q y, In (p, z) P -> In (q, y) P -> g z - g y <= U) ->
  Rabs (covariance f g) <= A * U / 4.
Proof.
  intros HA HU Hf Hg. pose proof (variance_le f A Hf). pose proof (variance_le g U Hg).
  pose proof (covariance_sq_le f g). pose proof (variance_nonneg f). pose proof (variance_nonneg g).
  assert (0 <= A * U) by (apply Rmult_le_pos; auto).
  apply le_of_sq. lra. rewrite <- Rabs_mult, Rabs_pos_eq by nra.
  assert (covariance f f * covariance g g <= (A^2 / 4) * (U^2 / 4)) by (apply Rmult_le_compat; auto).
  nra.
Qed.
End Covariance.

(** ** The read-out along a segment of scores *)
Section Segment.
(* one entry: base score, direction, value *)
Variable pts : list (R * R * R).
Hypothesis nonempty : pts <> nil.
Let dir (p : R * R * R) := snd (fst p).
Let val (p : R * R * R) := snd p.
Let weight x (p : R * R * R) := exp (fst (fst p) + x * dir p).
Let total (c : R * R * R -> R) x := sum_list pts (fun p => c p * weight x p).
Definition segment_readout x := total val x / total (fun _ => 1) x.

Lemma total_derive c x : is_derive (total c) x (total (fun p => c p * dir p) x).
Proof.
  unfold total. clear nonempty. induction pts as [| p l IH]; simpl. apply @is_derive_const.
  apply (is_derive_plus (V := R_NormedModule) (fun x => c p * weight x p) (fun x => sum_list l (fun p => c p * weight x p))); auto.
  unfold weight. auto_derive; auto. ring.
Qed.

Lemma total_pos x : 0 < total (fun _ => 1) x.
Proof.
  unfold total. destruct pts as [| p l]. destruct nonempty; auto. clear nonempty.
  assert (forall l, 0 <= sum_list l (fun p => 1 * weight x p)).
  { clear. induction l as [| p l IH]; simpl. lra. pose proof (exp_pos (fst (fst p) + x * dir p)). unfold weight in *. lra. }
  simpl. pose proof (exp_pos (fst (fst p) + x * dir p)). specialize (H l). unfold weight in *. lra.
Qed.

Let law x : list (R * (R * R * R)) := map (fun p => (weight x p / total (fun _ => 1) x, p)) pts.

Lemma Ex_law x f : Ex (law x) f = total f x / total (fun _ => 1) x.
Proof.
  unfold law, Ex. pose proof (total_pos x) as HD. set (D := total (fun _ => 1) x) in *.
  clearbody D. unfold total. clear nonempty. induction pts as [| p l IH]; simpl. unfold Rdiv; ring. rewrite IH. field. lra.
Qed.

Lemma segment_derive x : is_derive segment_readout x (covariance (law x) val dir).
Proof.
  unfold segment_readout. pose proof (total_pos x).
  evar_last. apply is_derive_div; [apply total_derive | apply total_derive | lra].
  unfold covariance. rewrite !Ex_law.
  replace (total (fun p => 1 * dir p) x) with (total dir x)
    by (unfold total; f_equal; apply FunctionalExtensionality.functional_extensionality; intros; ring).
  field. lra.
Qed.

Lemma segment_bound A U : 0 <= A -> 0 <= U ->
  (forall p q, In p pts -> In q pts -> val p - val q <= A) ->
  (forall p q, In p pts -> In q pts -> dir p - dir q <= U) ->
  Rabs (segment_readout 1 - segment_readout 0) <= A * U / 4.
Proof.
  intros HA HU Hval Hdir.
  destruct (mvt segment_readout _ segment_derive 0 1) as [x [_ ->]].
  rewrite Rminus_0_r, Rmult_1_r. pose proof (total_pos x).
  assert (Hin : forall r p, In (r, p) (law x) -> In p pts).
  { intros r p H'. unfold law in H'. apply in_map_iff in H'. destruct H' as [q [E' Hq]]. inversion E'; subst; auto. }
  apply covariance_le; auto.
  - intros r p H'. unfold law in H'. apply in_map_iff in H'. destruct H' as [q [E' Hq]]. inversion E'.
    left. apply Rdiv_lt_0_compat; auto. apply exp_pos.
  - rewrite Ex_law. field. lra.
  - intros r p r' q Hp Hq. apply Hval; eapply Hin; eauto.
  - intros r p r' q Hp Hq. apply Hdir; eapply Hin; eauto.
Qed.
End Segment.

Lemma segment_at_0 : forall s' s a, length s' = length s -> length a = length s ->
  segment_readout (combine (combine s' (sub s s')) a) 0 = readout s' a.
Proof.
  intros s' s a H1 H2. unfold segment_readout, readout, softmax.
  assert (HD : sum_list (combine (combine s' (sub s s')) a) (fun p => 1 * exp (fst (fst p) + 0 * snd (fst p))) = exp_sum s').
  { unfold exp_sum. revert s a H1 H2. induction s' as [| x s' IH]; destruct s, a; simpl; intros; try discriminate; auto.
    rewrite IH by lia. f_equal. rewrite Rmult_1_l. f_equal. ring. }
  rewrite HD. clear HD. generalize (exp_sum s'). intros D.
  revert s a H1 H2. induction s' as [| x s' IH]; destruct s, a; simpl; intros; try discriminate. unfold Rdiv; ring.
  rewrite <- (IH s a) by lia. unfold Rdiv. rewrite Rmult_0_l, Rplus_0_r. ring.
Qed.

Lemma segment_at_1 : forall s' s a, length s' = length s -> length a = length s ->
  segment_readout (combine (combine s' (sub s s')) a) 1 = readout s a.
Proof.
  intros s' s a H1 H2. unfold segment_readout, readout, softmax.
  assert (HD : sum_list (combine (combine s' (sub s s')) a) (fun p => 1 * exp (fst (fst p) + 1 * snd (fst p))) = exp_sum s).
  { unfold exp_sum. revert s a H1 H2. induction s' as [| x s' IH]; destruct s, a; simpl; intros; try discriminate; auto.
    rewrite IH by lia. f_equal. rewrite Rmult_1_l. f_equal. ring. }
  rewrite HD. clear HD. generalize (exp_sum s). intros D.
  revert s a H1 H2. induction s' as [| x s' IH]; destruct s, a; simpl; intros; try discriminate. unfold Rdiv; ring.
  rewrite <- (IH s a) by lia. unfold Rdiv. replace (x + 1 * (r - x)) with r by ring. ring.
Qed.

(** ** The theorems *)
(** A softmax average of [a] moves by at most [osc a * osc (s - s') / 4]. *)
Theorem readout_osc s s' a : length s = length s' -> length a = length s ->
  Rabs (readout s a - readout s' a) <= osc a * osc (sub s s') / 4.
Proof.
  intros H1 H2. destruct s as [| x s0].
  - destruct s'; try discriminate. unfold readout; simpl. rewrite Rminus_0_r, Rabs_R0.
    pose proof (osc_nonneg a). lra.
  - rewrite <- (segment_at_1 s' (x :: s0) a), <- (segment_at_0 s' (x :: s0) a) by auto.
    destruct s' as [| x' s']; try discriminate. destruct a as [| y a]; try discriminate.
    set (pts := combine (combine (x' :: s') (sub (x :: s0) (x' :: s'))) (y :: a)).
    assert (Hp : forall p, In p pts -> In (snd p) (y :: a) /\ In (snd (fst p)) (sub (x :: s0) (x' :: s'))).
    { intros [[b u] v] Hp. unfold pts in Hp. split. eapply in_combine_r; eauto.
      apply in_combine_l in Hp. eapply in_combine_r; eauto. }
    apply segment_bound; try apply osc_nonneg. discriminate.
    + intros p q Hpp Hq. apply osc_spread; apply Hp; auto.
    + intros p q Hpp Hq. apply osc_spread; apply Hp; auto.
Qed.

(** A softmax average of [a] moves by at most [osc a / (2 sqrt 2)] times the Euclidean distance of the scores. *)
Theorem readout_lipschitz s s' a : length s = length s' -> length a = length s ->
  Rabs (readout s a - readout s' a) <= osc a / (2 * sqrt 2) * norm (sub s s').
Proof.
  intros H1 H2. eapply Rle_trans. apply readout_osc; auto.
  pose proof (osc_le_norm (sub s s')) as H. pose proof (osc_nonneg a).
  assert (H' : osc a * osc (sub s s') <= osc a * (sqrt 2 * norm (sub s s'))) by (apply Rmult_le_compat_l; auto).
  assert (Hs : 0 < sqrt 2) by (apply sqrt_lt_R0; lra).
  replace (osc a / (2 * sqrt 2) * norm (sub s s')) with (osc a * (sqrt 2 * norm (sub s s')) / 4). lra.
  assert (Hss : sqrt 2 * sqrt 2 = 2) by (apply sqrt_sqrt; lra).
  apply Rmult_eq_reg_r with (4 * sqrt 2); [| lra]. 
  transitivity (osc a * norm (sub s s') * (sqrt 2 * sqrt 2)). field. rewrite Hss. field. lra.
Qed.

Lemma softmax_length s : length (softmax s) = length s.
Proof. apply map_length. Qed.

Lemma dot_sub_left p p' a : length p = length p' -> dot (sub p p') a = dot p a - dot p' a.
Proof. intros H. apply dot_sub; auto. Qed.

Lemma dot_self v : dot v v = norm_sq v.
Proof. induction v; simpl; auto. rewrite IHv. ring. Qed.

(** Softmax is 1/2-Lipschitz in the Euclidean norm. *)
Theorem softmax_l2 s s' : length s = length s' ->
  norm (sub (softmax s) (softmax s')) <= 1 / 2 * norm (sub s s').
Proof.
  intros H. set (u := sub (softmax s) (softmax s')).
  assert (Hu : length u = length s) by (unfold u; rewrite sub_length; rewrite ?softmax_length; auto).
  pose proof (readout_lipschitz s s' u H Hu) as K. unfold readout in K.
  rewrite <- dot_sub_left in K by (rewrite !softmax_length; auto). fold u in K. rewrite dot_self in K.
  rewrite Rabs_pos_eq in K by apply norm_sq_nonneg. rewrite <- norm_sqr in K.
  pose proof (osc_le_norm u) as Ho. pose proof (norm_nonneg u). pose proof (norm_nonneg (sub s s')).
  assert (Hs : 0 < sqrt 2) by (apply sqrt_lt_R0; lra).
  assert (K2 : norm u * norm u <= norm u * (1 / 2 * norm (sub s s'))).
  { eapply Rle_trans. apply K.
    replace (norm u * (1 / 2 * norm (sub s s'))) with (sqrt 2 * norm u / (2 * sqrt 2) * norm (sub s s')) by (field; lra).
    apply Rmult_le_compat_r; auto. apply Rmult_le_compat_r; auto. left; apply Rinv_0_lt_compat; lra. }
  destruct (Req_dec (norm u) 0) as [-> | Hne]. lra. apply Rmult_le_reg_l with (norm u); lra.
Qed.

Lemma norm_1_signs : forall v, exists a, length a = length v /\ dot v a = norm_1 v /\ osc a <= 2.
Proof.
  intros v. exists (map (fun x => if Rle_dec 0 x then 1 else -1) v). split; [apply map_length | split].
  - unfold norm_1. induction v as [| x v IH]; simpl; auto. rewrite IH. f_equal. destruct Rle_dec.
    rewrite Rabs_pos_eq by auto. ring. rewrite Rabs_left by lra. ring.
  - apply osc_le. lra. intros x y Hx Hy. apply in_map_iff in Hx, Hy.
    destruct Hx as [? [<- _]], Hy as [? [<- _]]. repeat destruct Rle_dec; lra.
Qed.

(** The l1 change of softmax is at most half the oscillation of the score change. *)
Theorem softmax_l1 s s' : length s = length s' ->
  norm_1 (sub (softmax s) (softmax s')) <= osc (sub s s') / 2.
Proof.
  intros H. set (u := sub (softmax s) (softmax s')).
  assert (Hu : length u = length s) by (unfold u; rewrite sub_length; rewrite ?softmax_length; auto).
  destruct (norm_1_signs u) as [a [Ha [Hd Ho]]]. rewrite <- Hd.
  pose proof (readout_osc s s' a H ltac:(congruence)) as K. unfold readout in K.
  rewrite <- dot_sub_left in K by (rewrite !softmax_length; auto). fold u in K.
  pose proof (Rle_abs (dot u a)). pose proof (osc_nonneg (sub s s')). nra.
Qed.

(** ** Softmax is a probability vector and does not see a common shift of the scores *)
Lemma exp_sum_pos s : s <> nil -> 0 < exp_sum s.
Proof.
  intros H. destruct s as [| x r]. destruct H; auto. unfold exp_sum; simpl. pose proof (exp_pos x).
  assert (forall l, 0 <= sum_list l exp). { induction l as [| y l IH]; simpl. lra. pose proof (exp_pos y). lra. }
  specialize (H1 r). lra.
Qed.

Lemma softmax_sum s : s <> nil -> sum_list (softmax s) (fun p => p) = 1.
Proof.
  intros H. pose proof (exp_sum_pos s H). unfold softmax. transitivity (exp_sum s / exp_sum s); [| field; lra].
  unfold exp_sum at 2. generalize (exp_sum s). intros D. clear. induction s; simpl. unfold Rdiv; ring. rewrite IHs. unfold Rdiv; ring.
Qed.

Lemma softmax_shift s b : softmax (map (fun x => x - b) s) = softmax s.
Proof.
  assert (HD : exp_sum (map (fun x => x - b) s) = exp (- b) * exp_sum s).
  { unfold exp_sum. induction s; simpl. ring. rewrite IHs. unfold Rminus. rewrite exp_plus. ring. }
  unfold softmax. rewrite HD. destruct s as [| x r]. reflexivity.
  pose proof (exp_sum_pos (x :: r) ltac:(discriminate)). generalize dependent (exp_sum (x :: r)). intros D _ HD.
  rewrite map_map. apply map_ext. intros y. unfold Rminus. rewrite exp_plus. pose proof (exp_pos (- b)). field. lra.
Qed.
