(** * Maurer's vector contraction inequality, constant sqrt 2

A. Maurer, "A vector-contraction inequality for Rademacher complexities" (2016).  A scalar loss
[psi] that is 1-Lipschitz in a vector output [phi] (Euclidean norm, [K] entries) may be replaced,
inside the Rademacher average, by sqrt 2 times the output with one fresh sign per entry.  Finite
class, any number of sample points, a Lipschitz map of its own for every point. *)
From Coq Require Import Reals List Lra Psatz Lia.
From Attention Require Import SignAverages Khintchine FiniteSup.
Import ListNotations.
Open Scope R_scope.

Fixpoint sub (v w : list R) : list R :=
  match v, w with a :: v, b :: w => (a - b) :: sub v w | _, _ => nil end.

Lemma sub_length : forall v w, length v = length w -> length (sub v w) = length v.
Proof. induction v; destruct w; cbn; intros H; try discriminate; auto. Qed.

Lemma dot_sub : forall v w x, length v = length w -> dot (sub v w) x = dot v x - dot w x.
Proof.
  induction v as [|a v IH]; destruct w as [|b w]; cbn; intros x H; try discriminate. lra.
  destruct x; [lra|]. rewrite IH by lia. ring.
Qed.

Section Contraction.
Context {T : Type} (t0 : T) (l : list T) (K : nat).
Let C (t : T) := t = t0 \/ In t l.
Notation sup := (Sup t0 l).

(* one sample point: scalar function psi (= h_i o f), vector function phi (= f(x_i)) *)
Definition contracts (psi : T -> R) (phi : T -> list R) : Prop :=
  (forall t, C t -> length (phi t) = K) /\
  (forall s t, C s -> C t -> psi s - psi t <= sqrt (norm_sq (sub (phi s) (phi t)))).

Lemma one_step psi phi g : contracts psi phi ->
  (sup (fun t => g t + psi t) + sup (fun t => g t - psi t)) / 2
  <= E K (fun e => sup (fun t => g t + sqrt 2 * dot (phi t) e)).
Proof.
  intros [Hlen Hlip].
  destruct (Sup_att t0 l (fun t => g t + psi t)) as [s [Hs ->]].
  destruct (Sup_att t0 l (fun t => g t - psi t)) as [t [Ht ->]].
  set (G := fun e => sup (fun t => g t + sqrt 2 * dot (phi t) e)).
  assert (Hk : psi s - psi t <= sqrt 2 * E K (fun e => Rabs (dot (phi s) e - dot (phi t) e))).
  { eapply Rle_trans. apply Hlip; auto.
    eapply Rle_trans. apply khintchine.
    rewrite sub_length by (rewrite !Hlen; auto). rewrite Hlen by auto.
    apply Req_le. f_equal. apply E_ext. intros. rewrite dot_sub; auto. rewrite !Hlen; auto. }
  assert (Hp : E K (fun e => (g s + g t) + sqrt 2 * Rabs (dot (phi s) e - dot (phi t) e))
             <= E K (fun e => G e + G (map Ropp e))).
  { apply E_le. intros e He.
    pose proof (Sup_ub t0 l (fun t => g t + sqrt 2 * dot (phi t) e) s Hs) as A1.
    pose proof (Sup_ub t0 l (fun t => g t + sqrt 2 * dot (phi t) e) t Ht) as A2.
    pose proof (Sup_ub t0 l (fun t => g t + sqrt 2 * dot (phi t) (map Ropp e)) s Hs) as A3.
    pose proof (Sup_ub t0 l (fun t => g t + sqrt 2 * dot (phi t) (map Ropp e)) t Ht) as A4.
    cbn beta in *. rewrite !dot_opp in A3, A4. fold (G e) in A1, A2. fold (G (map Ropp e)) in A3, A4.
    unfold Rabs. destruct Rcase_abs; lra. }
  rewrite !E_plus, E_scal, !E_const in Hp. rewrite (E_opp K G) in Hp.
  change (E K (fun x => G x)) with (E K G) in Hp. fold G. lra.
Qed.

(** The averages, one sample point at a time: scalar signs, and vector signs. *)
Fixpoint scalar_average (ds : list ((T -> R) * (T -> list R))) (g : T -> R) : R :=
  match ds with
  | nil => sup g
  | (psi, _) :: ds => (scalar_average ds (fun t => g t + psi t) + scalar_average ds (fun t => g t - psi t)) / 2
  end.
Fixpoint vector_average (ds : list ((T -> R) * (T -> list R))) (g : T -> R) : R :=
  match ds with
  | nil => sup g
  | (_, phi) :: ds => E K (fun e => vector_average ds (fun t => g t + sqrt 2 * dot (phi t) e))
  end.

Lemma vector_average_ext : forall ds g h, (forall t, C t -> g t = h t) -> vector_average ds g = vector_average ds h.
Proof.
  induction ds as [|[psi phi] ds IH]; simpl; intros g h H. apply Sup_ext; auto.
  apply E_ext; intros. apply IH. intros. rewrite H; auto.
Qed.

Lemma one_step_under : forall ds psi phi g, contracts psi phi ->
  (vector_average ds (fun t => g t + psi t) + vector_average ds (fun t => g t - psi t)) / 2
  <= E K (fun e => vector_average ds (fun t => g t + sqrt 2 * dot (phi t) e)).
Proof.
  induction ds as [|[psi' phi'] ds IH]; intros psi phi g Hc; cbn [vector_average].
  apply one_step; auto.
  rewrite E_swap.
  rewrite <- E_plus. unfold Rdiv. rewrite Rmult_comm, <- E_scal.
  apply E_le. intros e He.
  pose proof (IH psi phi (fun t => g t + sqrt 2 * dot (phi' t) e) Hc) as H. cbn beta in H.
  rewrite (vector_average_ext ds (fun t => g t + psi t + sqrt 2 * dot (phi' t) e) (fun t => g t + sqrt 2 * dot (phi' t) e + psi t)) by (intros; ring).
  rewrite (vector_average_ext ds (fun t => g t - psi t + sqrt 2 * dot (phi' t) e) (fun t => g t + sqrt 2 * dot (phi' t) e - psi t)) by (intros; ring).
  rewrite (E_ext K (fun x => vector_average ds (fun t => g t + sqrt 2 * dot (phi t) x + sqrt 2 * dot (phi' t) e))
      (fun x => vector_average ds (fun t => g t + sqrt 2 * dot (phi' t) e + sqrt 2 * dot (phi t) x))).
  lra. intros. apply vector_average_ext. intros; ring.
Qed.

Lemma maurer_iter : forall ds g, (forall d, In d ds -> contracts (fst d) (snd d)) ->
  scalar_average ds g <= vector_average ds g.
Proof.
  induction ds as [|[psi phi] ds IH]; intros g H; cbn [scalar_average vector_average]. lra.
  eapply Rle_trans; [| apply one_step_under; apply (H (psi, phi)); left; auto].
  assert (forall g, scalar_average ds g <= vector_average ds g) by (intros; apply IH; intros; apply H; right; auto).
  pose proof (H0 (fun t => g t + psi t)). pose proof (H0 (fun t => g t - psi t)). cbn [fst] in *. lra.
Qed.

(** The textbook forms: one average over all signs at once. *)
Fixpoint scalar_signed_sum (ds : list ((T -> R) * (T -> list R))) (e : list R) (t : T) : R :=
  match ds, e with (psi, _) :: ds, a :: e => a * psi t + scalar_signed_sum ds e t | _, _ => 0 end.
(* the n*K signs of the right-hand side, consumed K at a time *)
Fixpoint vector_signed_sum (ds : list ((T -> R) * (T -> list R))) (e : list R) (t : T) : R :=
  match ds with (_, phi) :: ds => dot (phi t) (firstn K e) + vector_signed_sum ds (skipn K e) t | _ => 0 end.

Lemma scalar_average_flat : forall ds g,
  scalar_average ds g = E (length ds) (fun e => sup (fun t => g t + scalar_signed_sum ds e t)).
Proof.
  induction ds as [|[psi phi] ds IH]; intros g; simpl. apply Sup_ext; intros; ring.
  rewrite !IH. 
  rewrite (E_ext (length ds) (fun x => sup (fun t => g t + (1 * psi t + scalar_signed_sum ds x t))) (fun e => sup (fun t => g t + psi t + scalar_signed_sum ds e t))) by (intros; apply Sup_ext; intros; ring).
  rewrite (E_ext (length ds) (fun x => sup (fun t => g t + (neg1 * psi t + scalar_signed_sum ds x t))) (fun e => sup (fun t => g t - psi t + scalar_signed_sum ds e t))) by (intros; apply Sup_ext; intros; ring).
  reflexivity.
Qed.

Lemma vector_average_flat : forall ds g,
  vector_average ds g = E (length ds * K) (fun e => sup (fun t => g t + sqrt 2 * vector_signed_sum ds e t)).
Proof.
  induction ds as [|[psi phi] ds IH]; intros g; simpl. apply Sup_ext; intros; ring.
  rewrite E_app. apply E_ext. intros x Hx. rewrite IH. apply E_ext. intros y Hy.
  apply Sup_ext. intros t Ht.
  rewrite <- (cube_length K x Hx). rewrite firstn_app, Nat.sub_diag, firstn_all, firstn_O, app_nil_r.
  rewrite skipn_app, Nat.sub_diag, skipn_all. simpl. ring.
Qed.

(** Maurer's contraction: losses that are 1-Lipschitz in [K] outputs have at most sqrt 2 times the Rademacher average of the outputs. *)
Theorem maurer_contraction : forall ds,
  (forall d, In d ds -> contracts (fst d) (snd d)) ->
  E (length ds) (fun e => sup (fun t => scalar_signed_sum ds e t))
  <= sqrt 2 * E (length ds * K) (fun e => sup (fun t => vector_signed_sum ds e t)).
Proof.
  intros ds H. pose proof (maurer_iter ds (fun _ => 0) H) as M.
  rewrite scalar_average_flat, vector_average_flat in M.
  rewrite (E_ext _ _ (fun e => sup (fun t => scalar_signed_sum ds e t))) in M by (intros; apply Sup_ext; intros; ring).
  eapply Rle_trans. apply M. rewrite <- E_scal. apply E_le. intros x Hx.
  apply Sup_le. intros t Ht. rewrite Rplus_0_l.
  apply Rmult_le_compat_l. apply sqrt_pos. apply (Sup_ub t0 l (fun t => vector_signed_sum ds x t)); auto.
Qed.
End Contraction.
