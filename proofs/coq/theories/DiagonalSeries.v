(** * Rademacher series of diagonal matrices

The operator norm of a signed sum of diagonal matrices, through Massart's lemma on the signed
rows.  (General matrices need a spectral theorem and Lieb's inequality, which are not formalised
here.) *)
From Coq Require Import Reals List Lra Psatz Lia.
From Attention Require Import SignAverages FiniteSup Massart.
Import ListNotations.
Open Scope R_scope.

(* signed rows: +a_k and -a_k *)
Definition srow (p : bool * list R) : list R := if fst p then snd p else map Ropp (snd p).
Lemma dot_oppl : forall v x, dot (map Ropp v) x = - dot v x.
Proof. induction v as [|a v IH]; destruct x as [|b x]; cbn [map dot]; try ring. rewrite IH. ring. Qed.
Lemma norm_sq_opp : forall v, norm_sq (map Ropp v) = norm_sq v.
Proof. induction v as [|a v IH]; cbn [map norm_sq]; [ring|]. rewrite IH. ring. Qed.
Definition both (rows : list (list R)) : list (bool * list R) :=
  map (fun r => (true, r)) rows ++ map (fun r => (false, r)) rows.

(* E max_k |sum_i eps_i a_{k,i}|  <=  sigma sqrt(2 ln(2d)),  sigma^2 >= max_k sum_i a_{k,i}^2 :
   the operator norm of a diagonal matrix Rademacher series of dimension d = length rows + 1 *)
Theorem diag_rademacher n (r0 : list R) rows (sigma : R) : 0 < sigma ->
  (forall r, In r (r0 :: rows) -> length r = n) ->
  (forall r, In r (r0 :: rows) -> norm_sq r <= sigma^2) ->
  E n (fun e => Sup r0 rows (fun r => Rabs (dot r e)))
  <= sigma * sqrt (2 * ln (2 * INR (S (length rows)))).
Proof.
  intros Hs Hlen Hn.
  (* restrict to good rows by padding bad ones with zeros *)
  set (z := repeat 0 n).
  assert (Hz : length z = n) by apply repeat_length.
  assert (Hzn : norm_sq z = 0). { unfold z. clear. induction n as [|n IH]; cbn [repeat norm_sq]; [reflexivity | rewrite IH; ring]. }
  set (ok := fun r => if Nat.eq_dec (length r) n then (if Rle_dec (norm_sq r) (sigma^2) then r else z) else z).
  assert (Hok : forall r, In r (r0 :: rows) -> ok r = r).
  { intros r Hr. unfold ok. destruct Nat.eq_dec as [_|H]; [|destruct H; auto]. destruct Rle_dec as [_|H]; [auto|destruct H; auto]. }
  set (v := fun p : bool * list R => srow (fst p, ok (snd p))).
  assert (Hv1 : forall p, length (v p) = n).
  { intros [b r]. unfold v, srow, ok; simpl. destruct b; rewrite ?map_length; destruct Nat.eq_dec; auto; destruct Rle_dec; auto. }
  assert (Hv2 : forall p, norm_sq (v p) <= sigma^2).
  { intros [b r]. unfold v, srow, ok; simpl fst; simpl snd. assert (0 <= sigma^2) by apply pow2_ge_0.
    destruct b; rewrite ?norm_sq_opp; destruct Nat.eq_dec; try lra; destruct Rle_dec; lra. }
  set (L := (false, r0) :: both rows).
  pose proof (massart (true, r0) L n v sigma Hs Hv1 Hv2) as M.
  assert (HL : length L = S (2 * length rows)).
  { unfold L, both. simpl. rewrite app_length, !map_length. lia. }
  rewrite HL in M. specialize (M ltac:(lia)).
  replace (INR (S (S (2 * length rows)))) with (2 * INR (S (length rows))) in M.
  2:{ rewrite !S_INR, mult_INR. simpl. ring. }
  eapply Rle_trans; [| apply M]. apply E_le. intros e _. apply Sup_le. intros r Hr.
  assert (Hr' : In r (r0 :: rows)) by (destruct Hr as [->|Hr]; [left; reflexivity | right; exact Hr]).
  assert (HP : forall b, (b, r) = (true, r0) \/ In (b, r) L).
  { intros b. unfold L, both. destruct Hr as [->|Hr]. destruct b; [left; auto | right; left; auto].
    right. right. apply in_or_app. destruct b; [left | right]; apply in_map_iff; exists r; auto. }
  unfold Rabs. destruct Rcase_abs.
  - pose proof (Sup_ub (true, r0) L (fun p => dot (v p) e) (false, r) (HP false)) as H.
    cbn beta in H. unfold v, srow in H; simpl in H. rewrite Hok in H by auto. rewrite dot_oppl in H. exact H.
  - pose proof (Sup_ub (true, r0) L (fun p => dot (v p) e) (true, r) (HP true)) as H.
    cbn beta in H. unfold v, srow in H; simpl in H. rewrite Hok in H by auto. exact H.
Qed.
