(** * The Cauchy-Schwarz inequality for real vectors *)
From Coq Require Import Reals List Lra Psatz Lia.
From Attention Require Import SignAverages.
Import ListNotations.
Open Scope R_scope.

Lemma norm_sq_affine : forall v w t, length v = length w ->
  0 <= t^2 * norm_sq v - 2 * t * dot v w + norm_sq w.
Proof.
  induction v as [|a v IH]; destruct w as [|b w]; cbn [length norm_sq dot]; intros t H; try discriminate. nra.
  pose proof (IH w t ltac:(lia)). pose proof (pow2_ge_0 (t * a - b)). nra.
Qed.
(** [<v, w>^2 <= ‖v‖^2 ‖w‖^2]. *)
Theorem cauchy_schwarz : forall v w, length v = length w -> (dot v w)^2 <= norm_sq v * norm_sq w.
Proof.
  intros v w H. pose proof (norm_sq_nonneg v). pose proof (norm_sq_nonneg w).
  destruct (Req_dec (norm_sq v) 0) as [Hz|Hz].
  - destruct (Req_dec (dot v w) 0) as [Hd|Hd]. rewrite Hd, Hz. lra.
    exfalso. pose proof (norm_sq_affine v w ((norm_sq w + 1) / (2 * dot v w)) H) as K. rewrite Hz in K.
    replace (2 * ((norm_sq w + 1) / (2 * dot v w)) * dot v w) with (norm_sq w + 1) in K by (field; auto). lra.
  - pose proof (norm_sq_affine v w (dot v w / norm_sq v) H) as K.
    replace ((dot v w / norm_sq v)^2 * norm_sq v - 2 * (dot v w / norm_sq v) * dot v w + norm_sq w)
      with ((norm_sq v * norm_sq w - (dot v w)^2) / norm_sq v) in K by (field; auto).
    assert (0 < norm_sq v) by lra.
    apply Rmult_le_compat_r with (r := norm_sq v) in K; [|lra].
    unfold Rdiv in K. rewrite Rmult_assoc, Rinv_l in K by auto. lra.
Qed.

Lemma cs_sqrt v w : length v = length w -> dot v w <= sqrt (norm_sq v) * sqrt (norm_sq w).
Proof.
  intros H. rewrite <- sqrt_mult by apply norm_sq_nonneg. eapply Rle_trans. apply Rle_abs.
  rewrite <- sqrt_Rsqr_abs. apply sqrt_le_1_alt. unfold Rsqr.
  pose proof (cauchy_schwarz v w H). simpl in H0. lra.
Qed.
