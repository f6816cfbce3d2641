# ruff: noqa: E501 (lines of Coq text)
"""What each stored derivation concludes, as a Coq statement whose constants come from the derivation.

A pattern is the conclusion's prefix text with holes ``?name``. The stored conclusion must match it exactly
outside the holes; what stands in the holes goes into the Coq statement, which the named theorem closes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from proofs.bridge.coq_text import written
from proofs.export import Nested, read_nested


class Drifted(ValueError):
    """A stored conclusion no longer has the form that its Coq statement was written for."""


@dataclass(frozen=True)
class LemmaStatement:
    """One derivation: the pattern of its conclusion, the Coq statement, and the proof by ``coq``."""

    derivation: str
    coq: str
    pattern: str
    statement: str
    proof: str
    names: Mapping[str, str] = field(default_factory=dict)


def match(pattern: Nested, tree: Nested, name: str) -> dict[str, Nested]:
    """The holes' contents; raises ``Drifted`` where the texts differ outside the holes."""
    if isinstance(pattern, str) and pattern.startswith("?"):
        return {pattern[1:]: tree}
    if isinstance(pattern, str) or isinstance(tree, str):
        if pattern != tree:
            raise Drifted(f"{name}: expected {written(pattern)}, found {written(tree)}")
        return {}
    if len(pattern) != len(tree):
        raise Drifted(f"{name}: expected {written(pattern)}, found {written(tree)}")
    found: dict[str, Nested] = {}
    for part, other in zip(pattern, tree, strict=True):
        found |= match(part, other, name)
    return found


def holes(statement: LemmaStatement, conclusion: str) -> dict[str, Nested]:
    """The contents of the holes in a stored conclusion."""
    return match(read_nested(statement.pattern), read_nested(conclusion), statement.derivation)


_GAP = "(sub (P f) (div (sum i (l f S i)) m))"
_GAP_Z = "(sub (P f) (div (sum i (l f Z i)) m))"
_CLASS = """forall (Z T : Type) (P : list (R * Z)) (F : T -> Z -> R) (M : R) (t0 : T) (l : list T) (m : nat) (delta : R),
  distribution P -> 0 < M -> (forall t, t = t0 \\/ In t l -> forall z, 0 <= F t z <= M) -> (0 < m)%nat -> 0 < delta < 1 ->"""
_SOFTMAX = "forall s s' a : list R, length s = length s' -> length a = length s ->"
_ENTROPY = "(- sum_list s (fun x => x / total s * ln (x / total s)))"
_SPECTRUM = {
    "S1": "(total s)",
    "S2": "(norm_sq s)",
    "top": "(largest s)",
    "r": "(INR (length s))",
    "PR": "(nuclear_frobenius_rank s)",
    "H": _ENTROPY,
}
_SAMPLE = {"m": "(INR m)", "delta": "delta", "M": "M"}
_CHAIN = (
    "intros s Hs. pose proof ({coq} s Hs) as H. unfold stable_rank_of, nuclear_rank, nuclear_frobenius_rank, "
    "rank_of in *. {end}"
)

_COMPLEXITY = "(le (E e (sup W (div (sum i (mul (e i) (h i W))) m))) ?bound)"
_COMPLEXITY_NAMES = {"m": "(INR (length zs))", "L": "L", "omega": "omega"}
_HEADS = """forall (Z : Type) (d1 d2 n : nat) (query : Z -> list R) (tokens : Z -> list (list R)) (centre : Z -> list R)"""
_HEAD_SHAPES = """(forall z, length (query z) = d1) ->
  (forall z, (length (tokens z) <= n)%nat /\\ forall x, In x (tokens z) -> length x = d2) ->
  (forall z, length (centre z) = d2) ->"""
_PART = """(0 < length zs)%nat ->
  (forall W, W = t0 \\/ In W l -> shaped d1 d2 W /\\ frobenius_norm W <= omega) ->"""


def _chain(derivation: str, coq: str, pattern: str, end: str = "exact H.") -> LemmaStatement:
    return LemmaStatement(
        derivation,
        coq,
        pattern,
        "forall s : list R, spectrum s -> {lhs} <= {rhs}",
        _CHAIN.replace("{coq}", coq).replace("{end}", end),
        _SPECTRUM,
    )


LEMMAS: tuple[LemmaStatement, ...] = (
    LemmaStatement(
        "lemma-1",
        "expected_gap",
        f"(le (E S (sup f {_GAP})) (mul ?c (E S (E e (sup f (div (sum i (mul (e i) (l f S i))) m))))))",
        """forall (Z T : Type) (P : list (R * Z)) (F : T -> Z -> R) (t0 : T) (l : list T) (m : nat),
  distribution P -> (0 < m)%nat -> Em P m (fun zs => Sup t0 l (gap P F zs)) <= {c} * Em P m (rademacher F t0 l)""",
        "intros Z T P F t0 l m [Pnn Pone] Hm. exact (expected_gap P Pnn Pone F t0 l m Hm).",
    ),
    LemmaStatement(
        "lemma-2",
        "mcdiarmid_confidence",
        "(le (g Z) (add (E S (g S)) ?t))",
        """forall (Z : Type) (P : list (R * Z)) (c : R) (f : list Z -> R) (m : nat) (delta : R),
  distribution P -> 0 < c -> (0 < m)%nat -> 0 < delta < 1 -> bounded_differences (repeat c m) f ->
  Pr P m (fun zs => f zs > Em P m f + {t}) <= delta""",
        "intros Z P c f m delta [Pnn Pone] Hc Hm Hd HB. exact (mcdiarmid_confidence P Pnn Pone c f m delta Hc Hm Hd HB).",
        {**_SAMPLE, "c": "c"},
    ),
    LemmaStatement(
        "lemma-3a",
        "uniform_deviation_expected",
        f"(le (sup f {_GAP_Z}) (add (mul ?c (E S (E e (sup f (div (sum i (mul (e i) (l f S i))) m))))) ?confidence))",
        f"""{_CLASS}
  Pr P m (fun zs => exists t, (t = t0 \\/ In t l) /\\
    gap P F zs t >= {{c}} * Em P m (rademacher F t0 l) + {{confidence}}) <= delta""",
        "intros Z T P F M t0 l m delta [Pnn Pone] HM HF Hm Hd. "
        "exact (uniform_deviation_expected P Pnn Pone F M HM t0 l HF m delta Hm Hd).",
        _SAMPLE,
    ),
    LemmaStatement(
        "lemma-3c",
        "uniform_deviation",
        f"(le (sup f {_GAP_Z}) (add (mul ?c (E e (sup f (div (sum i (mul (e i) (l f Z i))) m)))) ?confidence))",
        f"""{_CLASS}
  Pr P m (fun zs => exists t, (t = t0 \\/ In t l) /\\
    gap P F zs t >= {{c}} * rademacher F t0 l zs + {{confidence}}) <= delta""",
        "intros Z T P F M t0 l m delta [Pnn Pone] HM HF Hm Hd. "
        "exact (uniform_deviation P Pnn Pone F M HM t0 l HF m delta Hm Hd).",
        _SAMPLE,
    ),
    LemmaStatement(
        "lemma-3b",
        "uniform_deviation_textbook",
        f"(le (sup f {_GAP_Z}) (add (mul ?c (E e (sup f (div (sum i (mul (e i) (l f Z i))) m)))) ?confidence))",
        f"""{_CLASS}
  Pr P m (fun zs => exists t, (t = t0 \\/ In t l) /\\
    gap P F zs t >= {{c}} * rademacher F t0 l zs + {{confidence}}) <= delta""",
        "intros Z T P F M t0 l m delta [Pnn Pone] HM HF Hm Hd. "
        "exact (uniform_deviation_textbook P Pnn Pone F M HM t0 l HF m delta Hm Hd).",
        _SAMPLE,
    ),
    LemmaStatement(
        "lemma-12c-vector",
        "vector_readout_lipschitz",
        "(le move (mul (div radius ?d) length))",
        """forall (K : nat) (s s' : list R) (a : list (list R)) (c : list R) (r : R), length s = length s' ->
  length a = length s -> length c = K -> 0 <= r -> (forall x, In x a -> length x = K /\\ norm (sub x c) <= r) ->
  norm (sub (vector_readout K s a) (vector_readout K s' a)) <= r / {d} * norm (sub s s')""",
        "exact vector_readout_lipschitz.",
    ),
    LemmaStatement(
        "lemma-4",
        "massart",
        "(le (E e (sup t (sum i (mul (e i) (v i t))))) ?bound)",
        """forall (T : Type) (t0 : T) (l : list T) (n : nat) (v : T -> list R) (r : R), 0 < r ->
  (forall t, length (v t) = n) -> (forall t, norm_sq (v t) <= r ^ 2) -> (1 <= length l)%nat ->
  E n (fun e => Sup t0 l (fun t => dot (v t) e)) <= {bound}""",
        "exact @massart.",
        {"r": "r", "N": "(INR (S (length l)))"},
    ),
    LemmaStatement(
        "lemma-6-vector",
        "khintchine",
        "(le (sqrt (sum j (pow (a j) 2))) (mul ?c (E x (abs (sum j (mul (x j) (a j)))))))",
        "forall v : list R, sqrt (norm_sq v) <= {c} * E (length v) (fun e => Rabs (dot v e))",
        "exact khintchine.",
    ),
    LemmaStatement(
        "lemma-7",
        "maurer_contraction",
        "(le (E e (sup t (sum i (mul (e i) (h i t))))) "
        "(mul (mul ?c L) (E x (sup t (sum i (sum j (mul (x i j) (p i j t))))))))",
        """forall (T : Type) (t0 : T) (l : list T) (K : nat) (points : list ((T -> R) * (T -> list R))),
  (forall d, In d points -> contracts t0 l K (fst d) (snd d)) ->
  E (length points) (fun e => Sup t0 l (fun t => scalar_signed_sum points e t))
  <= {c} * E (length points * K) (fun e => Sup t0 l (fun t => vector_signed_sum K points e t))""",
        "exact @maurer_contraction.",
    ),
    LemmaStatement(
        "lemma-12a-osc",
        "softmax_l1",
        "(le move (div (osc u) ?d))",
        f"{_SOFTMAX} norm_1 (sub (softmax s) (softmax s')) <= osc (sub s s') / {{d}}",
        "intros s s' a H _. exact (softmax_l1 s s' H).",
    ),
    LemmaStatement(
        "lemma-12b",
        "softmax_l2",
        "(le move (div step ?d))",
        f"{_SOFTMAX} norm (sub (softmax s) (softmax s')) <= norm (sub s s') / {{d}}",
        "intros s s' a H _. pose proof (softmax_l2 s s' H). lra.",
    ),
    LemmaStatement(
        "lemma-12c",
        "readout_lipschitz",
        "(le move (mul (div (osc a) ?d) length))",
        f"{_SOFTMAX} Rabs (readout s a - readout s' a) <= osc a / {{d}} * norm (sub s s')",
        "exact readout_lipschitz.",
    ),
    LemmaStatement(
        "lemma-12c-map",
        "readout_lipschitz",
        "(le (abs (sub (f W) (f U))) (mul (div o ?d) (sqrt (sum k (pow (sub (s k W) (s k U)) 2)))))",
        f"{_SOFTMAX} Rabs (readout s a - readout s' a) <= osc a / {{d}} * norm (sub s s')",
        "exact readout_lipschitz.",
    ),
    _chain("lemma-14a", "stable_le_nuclear", "(le ?lhs ?rhs)"),
    _chain("lemma-14b", "nuclear_le_nuclear_frobenius", "(le ?lhs ?rhs)"),
    _chain("lemma-14c", "nuclear_frobenius_le_entropy", "(le ?lhs ?rhs)"),
    _chain(
        "lemma-14d",
        "entropy_le_rank",
        "(le ?lhs ?rhs)",
        "unfold entropy_rank in H. rewrite <- (ln_exp (- _)). destruct H as [H | ->]; "
        "[left; apply ln_increasing; [apply exp_pos | exact H] | apply Rle_refl].",
    ),
    _chain(
        "lemma-14e",
        "nuclear_sq_le_rank_stable",
        "(le ?lhs ?rhs)",
        "destruct (spectrum_facts s Hs) as [Hl _]. "
        "replace ((total s ^ 2) / (largest s ^ 2)) with ((total s / largest s) ^ 2) by (field; lra). exact H.",
    ),
    LemmaStatement(
        "lemma-15",
        "occam_bound",
        "(le (risk n) (kl_inverse (emp n) ?c))",
        """forall (Z H : Type) (P : list (R * Z)) (F : H -> Z -> R) (w : H -> R) (m : nat) (delta : R),
  distribution P -> (0 < m)%nat -> 0 < delta < 1 -> (forall h z, 0 <= F h z <= 1) ->
  (forall h, 0 < w h) -> (forall l, NoDup l -> sum_list l w <= 1) ->
  Pr P m (fun zs => exists h, risk P F h > kl_inverse (empirical_risk F zs h) {c}) <= delta""",
        "exact @occam_bound.",
        {**_SAMPLE, "(w n)": "(w h)"},
    ),
    LemmaStatement(
        "theorem-d",
        "ideal_code_bound",
        "(le (risk n) (kl_inverse (emp n) ?c))",
        """forall (Z H : Type) (P : list (R * Z)) (F : H -> Z -> R) (bits : H -> R) (m : nat) (delta : R),
  distribution P -> (0 < m)%nat -> 0 < delta < 1 -> (forall h z, 0 <= F h z <= 1) ->
  (forall l, NoDup l -> sum_list l (fun h => Rpower 2 (- bits h)) <= 1) ->
  Pr P m (fun zs => exists h, risk P F h > kl_inverse (empirical_risk F zs h) {c}) <= delta""",
        "exact @ideal_code_bound.",
        {**_SAMPLE, "(bits n)": "(bits h)"},
    ),
    LemmaStatement(
        "theorem-d-hoeffding",
        "ideal_code_bound_sqrt",
        "(le (risk n) (add (emp n) ?slack))",
        """forall (Z H : Type) (P : list (R * Z)) (F : H -> Z -> R) (bits : H -> R) (m : nat) (delta : R),
  distribution P -> (0 < m)%nat -> 0 < delta < 1 -> (forall h z, 0 <= F h z <= 1) -> (forall h, 0 <= bits h) ->
  (forall l, NoDup l -> sum_list l (fun h => Rpower 2 (- bits h)) <= 1) ->
  Pr P m (fun zs => exists h, risk P F h > empirical_risk F zs h + {slack}) <= delta""",
        "exact @ideal_code_bound_sqrt.",
        {**_SAMPLE, "(bits n)": "(bits h)"},
    ),
    LemmaStatement(
        "test-set-kl",
        "test_set_kl",
        "(le (risk n) (kl_inverse (emp n) ?c))",
        """forall (Z : Type) (P : list (R * Z)) (loss : Z -> R) (m : nat) (delta : R),
  distribution P -> (0 < m)%nat -> 0 < delta < 1 -> (forall z, 0 <= loss z <= 1) ->
  Pr P m (fun zs => Ex P loss > kl_inverse (sum_list zs loss / INR (length zs)) {c}) <= delta""",
        "exact @test_set_kl.",
        {"n_test": "(INR m)", "delta": "delta"},
    ),
    LemmaStatement(
        "test-set",
        "test_set_bound",
        "(le risk ?bound)",
        """forall (Z : Type) (P : list (R * Z)) (wrong : Z -> bool) (n : nat) (delta : R),
  distribution P -> 0 < delta < 1 -> Pr P n (fun zs => error_rate P wrong > {bound}) <= delta""",
        "intros Z P wrong n delta HP Hd. exact (test_set_bound P wrong HP n delta Hd).",
        {"n_test": "n", "k_errors": "(errors wrong zs)", "delta": "delta"},
    ),
    LemmaStatement(
        "lemma-16-moment",
        "prior_moment_le",
        "(le xi ?bound)",
        "forall m : nat, (1 <= m)%nat -> xi m <= {bound}",
        "exact prior_moment_le.",
        {"m": "(INR m)"},
    ),
    LemmaStatement(
        "lemma-16",
        "pac_bayes_kl",
        "(le risk (kl_inverse emp ?c))",
        """forall (Z H : Type) (P : list (R * Z)) (F : H -> Z -> R) (m : nat) (prior : law H) (delta : R),
  distribution P -> (forall h z, 0 <= F h z <= 1) -> (0 < m)%nat -> measurable P F m prior -> 0 < delta < 1 ->
  Pr P m (fun zs => exists rho, posterior F prior rho /\\
    gibbs_risk P F prior rho > kl_inverse (gibbs_empirical F prior rho zs) {c}) <= delta""",
        "exact @pac_bayes_kl.",
        {"m": "(INR m)", "delta": "delta", "KL": "(relative_entropy prior rho)"},
    ),
    LemmaStatement(
        "theorem-d-binomial",
        "ideal_code_binomial_bound",
        "(le (risk n) (binomial_tail_inverse (errors n) m ?level))",
        """forall (Z H : Type) (P : list (R * Z)) (wrong : H -> Z -> bool) (bits : H -> R) (m : nat) (delta : R),
  distribution P -> 0 < delta < 1 -> (forall l, NoDup l -> sum_list l (fun h => Rpower 2 (- bits h)) <= 1) ->
  Pr P m (fun zs => exists h, error_rate P (wrong h) > binomial_tail_inverse (errors (wrong h) zs) m {level}) <= delta""",
        "exact @ideal_code_binomial_bound.",
        {"delta": "delta", "(pow 2 (neg (bits n)))": "(Rpower 2 (- bits h))"},
    ),
    LemmaStatement(
        "complexity-a1",
        "rademacher_linear",
        _COMPLEXITY,
        """forall (Z : Type) (d K N : nat) (features : Z -> list (list R)) (loss : Z -> list R -> R) (L omega : R)
    (t0 : matrix) (l : list matrix) (zs : list Z),
  (forall z, (length (features z) <= N)%nat /\\ forall x, In x (features z) -> length x = d) ->
  (forall z y y', length y = length y' -> Rabs (loss z y - loss z y') <= L * norm (sub y y')) -> 0 <= L ->
  (0 < length zs)%nat -> (forall W, W = t0 \\/ In W l -> shaped K d W /\\ frobenius_norm W <= omega) ->
  rademacher (linear_loss features loss) t0 l zs <= {bound}""",
        "intros Z d K N features loss L omega t0 l zs Hf Hl HL. exact (rademacher_linear d K N features Hf loss L Hl HL omega t0 l zs).",
        {**_COMPLEXITY_NAMES, "K": "(INR K)", "sum_sq_features": "(features_sum features zs)"},
    ),
    LemmaStatement(
        "complexity-c1-i",
        "rademacher_scalar_head",
        _COMPLEXITY,
        f"""{_HEADS} (values : Z -> list R) (loss : Z -> R -> R) (L omega : R)
    (t0 : matrix) (l : list matrix) (zs : list Z),
  {_HEAD_SHAPES}
  (forall z, length (values z) = length (tokens z)) ->
  (forall z y y', Rabs (loss z y - loss z y') <= L * Rabs (y - y')) -> 0 <= L -> {_PART}
  rademacher (head_loss query tokens values loss) t0 l zs <= {{bound}}""",
        "intros Z d1 d2 n query tokens centre values loss L omega t0 l zs Hq Ht Hc Hv Hl HL Hz HW.\n"
        "  eapply Rle_trans; [apply (rademacher_scalar_head d1 d2 n query tokens centre Hq Ht Hc values loss L Hv Hl HL omega t0 l zs Hz HW) |].\n"
        "  right. same_bound (length zs).",
        {**_COMPLEXITY_NAMES, "sum_sq_readout": "(scalar_head_sum query tokens centre values zs)"},
    ),
    LemmaStatement(
        "complexity-c1-vector",
        "rademacher_vector_head",
        _COMPLEXITY,
        f"""{_HEADS} (K : nat) (values : Z -> list (list R)) (loss : Z -> list R -> R)
    (L : R) (value_centre : Z -> list R) (radius : Z -> R) (omega : R) (t0 : matrix) (l : list matrix) (zs : list Z),
  {_HEAD_SHAPES}
  (forall z, length (values z) = length (tokens z) /\\ forall a, In a (values z) -> length a = K) ->
  (forall z, length (value_centre z) = K /\\ 0 <= radius z /\\ forall a, In a (values z) -> norm (sub a (value_centre z)) <= radius z) ->
  (forall z y y', length y = K -> length y' = K -> Rabs (loss z y - loss z y') <= L * norm (sub y y')) -> 0 <= L -> {_PART}
  rademacher (vector_head_loss query tokens K values loss) t0 l zs <= {{bound}}""",
        "intros Z d1 d2 n query tokens centre K values loss L vc radius omega t0 l zs Hq Ht Hc Hv Hr Hl HL Hz HW.\n"
        "  eapply Rle_trans; [apply (rademacher_vector_head d1 d2 n query tokens centre Hq Ht Hc K values loss L vc radius Hv Hr Hl HL omega t0 l zs Hz HW) |].\n"
        "  right. same_bound (length zs).",
        {**_COMPLEXITY_NAMES, "sum_sq_scores": "(vector_head_sum query tokens centre radius zs)"},
    ),
    LemmaStatement(
        "complexity-c1-joint",
        "rademacher_joint",
        _COMPLEXITY,
        f"""{_HEADS} (K : nat) (radius : Z -> R) (loss : Z -> list R -> R) (L sV omegaV omega : R)
    (t0 : matrix * matrix) (l : list (matrix * matrix)) (zs : list Z),
  {_HEAD_SHAPES}
  (forall z, 0 <= radius z /\\ forall x, In x (tokens z) -> norm (sub x (centre z)) <= radius z) ->
  (forall z y y', length y = K -> length y' = K -> Rabs (loss z y - loss z y') <= L * norm (sub y y')) -> 0 <= L ->
  (0 < length zs)%nat -> (forall t, t = t0 \\/ In t l -> joint_class d1 d2 K sV omegaV omega t) ->
  rademacher (joint_loss K query tokens loss) t0 l zs <= {{bound}}""",
        "intros Z d1 d2 n query tokens centre K radius loss L sV omegaV omega t0 l zs Hq Ht Hc Hr Hl HL Hz HW.\n"
        "  exact (rademacher_joint d1 d2 K n query tokens centre radius Hq Ht Hc Hr loss L sV omegaV omega Hl HL t0 l zs Hz HW).",
        {
            **_COMPLEXITY_NAMES,
            "K": "(INR K)",
            "omega_value": "omegaV",
            "spectral_value": "sV",
            "sum_sq_tokens": "(tokens_sum tokens zs)",
            "sum_sq_joint": "(joint_sum query tokens centre radius zs)",
        },
    ),
    LemmaStatement(
        "proposition-n1-output",
        "readout_two",
        "(eq (sub (div (exp ?score) (add (exp ?score2) (exp 0))) (div (exp 0) (add (exp ?score3) (exp 0)))) ?value)",
        """forall beta O : R, exp {score} / (exp {score2} + exp 0) - exp 0 / (exp {score3} + exp 0) = {value}""",
        "intros beta O. rewrite <- (readout_two (beta * O)). unfold readout, softmax, exp_sum. cbn [map sum_list dot].\n"
        "  rewrite exp_0. pose proof (exp_pos (beta * O)). field. lra.",
        {"beta": "beta", "O": "O"},
    ),
    LemmaStatement(
        "proposition-n1",
        "rank_one_rademacher",
        "(eq (E e (sup W (div (sum i (mul (e i) (f i W))) m))) ?value)",
        """forall (blocks contents : nat) (beta : R), 0 <= beta -> (0 < blocks)%nat -> (0 < contents)%nat ->
  rademacher (pattern_output blocks contents beta) (repeat 1 (blocks * contents)) (patterns (blocks * contents))
    (all_points blocks contents) = {value}""",
        "intros b c beta Hb H1 H2. exact (rank_one_rademacher b c beta H2 Hb H1).",
        {"beta": "beta"},
    ),
)

_GAP_BOUND = "(le (sub ?risk (div ?sum m)) ?bound)"
# Theorems whose derivation ends in the bound itself: its pattern; the statement is that of proofs/bridge/statements.py.
BOUNDS = {
    "theorem-a1": ("A1", _GAP_BOUND),
    "theorem-a1-peeled": ("A1-peeled", _GAP_BOUND),
    "theorem-a2": ("A2", _GAP_BOUND),
    "theorem-p": ("P", _GAP_BOUND),
    "theorem-c1-i": ("C1(i)", _GAP_BOUND),
    "theorem-c1-vector": ("C1-vector", _GAP_BOUND),
    "theorem-c1-vector-peeled": ("C1-vector-peeled", _GAP_BOUND),
    "theorem-c1-joint": ("C1-joint", _GAP_BOUND),
    "theorem-c1-joint-peeled": ("C1-joint-peeled", _GAP_BOUND),
    "theorem-e": ("E", "(le risk_gibbs ?bound)"),
    "theorem-e-rank": ("E-rank", "(le risk_gibbs ?bound)"),
    "theorem-e-split": ("E-split", "(le risk_gibbs ?bound)"),
    "theorem-e-single": ("E-single", "(le risk ?bound)"),
    "theorem-e-monte-carlo": ("E-monte-carlo", "(le risk_gibbs ?bound)"),
}
# Nothing numeric to compare: the Coq statement has no constant.
WITHOUT_CONSTANTS = ("proposition-n2",)
