(** * Numbers that the text quotes, certified by interval arithmetic

Checked by [coqc] with the tactic [interval]; it relies on primitive 63-bit integers, so this file is
left out of [coqchk] and of the list of four axioms. *)
From Coq Require Import Reals.
From Interval Require Import Tactic.
Open Scope R_scope.

(** Confidence term at delta = 0.05, times sqrt (2m): 3 sqrt (ln 40) = 5.762, 2 sqrt (ln 20) = 3.462. *)
Lemma textbook_confidence : 5.761 <= 3 * sqrt (ln (2 / 0.05)) <= 5.762.
Proof. split; interval with (i_prec 60). Qed.
Lemma sharp_confidence : 3.461 <= 2 * sqrt (ln (1 / 0.05)) <= 3.462.
Proof. split; interval with (i_prec 60). Qed.

(** The output of the rank-one construction at beta = 6: tanh 3 = 0.995055. *)
Lemma separation_at_six : 0.995054 <= (exp 3 - exp (-3)) / (exp 3 + exp (-3)) <= 0.995055.
Proof. split; interval with (i_prec 60). Qed.

(** A complete bound: C1(i) with L = s = R = 1, sum = 1, m = 10000, delta = 1/20. *)
Lemma c1_example : 2 * (1 * 1 * sqrt 1 / (2 * 10000) * sqrt 10000) + 2 * 1 * sqrt (ln (1 / (1 / 20)) / (2 * 10000)) <= 0.03448.
Proof. interval with (i_prec 60). Qed.
(** The same claim with the last digit lowered is refused. *)
Lemma c1_example_too_low : 2 * (1 * 1 * sqrt 1 / (2 * 10000) * sqrt 10000) + 2 * 1 * sqrt (ln (1 / (1 / 20)) / (2 * 10000)) <= 0.03447.
Proof. Fail interval with (i_prec 200). Abort.
