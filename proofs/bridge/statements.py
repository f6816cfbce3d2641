# ruff: noqa: E501 (lines of Coq text)
"""What each Python theorem claims, as a Coq statement with a hole for its bound.

A statement is written once, by hand, next to the named Coq theorem that proves it. The bound in it is
*not* written here: it is printed from the Python object, so that a constant that drifts on the Python side
no longer follows from the Coq theorem and the generated file does not compile.
"""

from __future__ import annotations

from proofs.bridge.gibbs_statements import GIBBS_STATEMENTS
from proofs.bridge.statement import Statement

_SAMPLE = {"m": "(INR m)", "delta": "delta", "L": "L", "K": "(INR K)"}
_PEELED = {**_SAMPLE, "c0": "c0", "rho": "rho", "j": "(INR j)"}

_HEAD = """forall (Z : Type) (P : list (R * Z)) (d1 d2 n : nat) (query : Z -> list R) (tokens : Z -> list (list R))
    (centre : Z -> list R)"""
_HEAD_SHAPES = """distribution P ->
  (forall z, length (query z) = d1) ->
  (forall z, (length (tokens z) <= n)%nat /\\ forall x, In x (tokens z) -> length x = d2) ->
  (forall z, length (centre z) = d2) ->"""
_SCALAR = """(forall z, length (values z) = length (tokens z)) ->
  (forall z y, 0 <= loss z y <= 1) ->
  (forall z y y', Rabs (loss z y - loss z y') <= L * Rabs (y - y')) ->
  0 <= L ->"""
_VECTOR = """(forall z, length (values z) = length (tokens z) /\\ forall a, In a (values z) -> length a = K) ->
  (forall z, length (value_centre z) = K /\\ 0 <= radius z /\\
     forall a, In a (values z) -> norm (sub a (value_centre z)) <= radius z) ->
  (forall z y, 0 <= loss z y <= 1) ->
  (forall z y y', length y = K -> length y' = K -> Rabs (loss z y - loss z y') <= L * norm (sub y y')) ->
  0 <= L ->"""
_BALL = "(shaped d1 d2 W /\\ frobenius_norm W <= omega)"
_GRID_BALL = "(shaped d1 d2 W /\\ frobenius_norm W <= c0 * rho ^ j)"
_CONFIDENCE = "(0 < m)%nat -> 0 < delta < 1 ->"

# sum_i osc_i^2 ||x_qi||^2 ||Xc_i||_F^2, written out
_READOUT_SUM = (
    "(sum_list zs (fun z => (osc (values z))^2 * (norm_sq (query z) * "
    "frobenius_sq (map (fun x => sub x (centre z)) (tokens z)))))"
)
_SCORES_SUM = (
    "(sum_list zs (fun z => (radius z)^2 * (norm_sq (query z) * "
    "frobenius_sq (map (fun x => sub x (centre z)) (tokens z)))))"
)
_FEATURES_SUM = "(sum_list zs (fun z => frobenius_sq (features z)))"

_SCALAR_GAP = "gap P (fun W z => loss z (readout (map (score W (query z)) (tokens z)) (values z))) zs W"
_VECTOR_GAP = (
    "gap P (fun W z => loss z (lin_comb K (values z) (softmax (map (score W (query z)) (tokens z))))) zs W"
)
_FROZEN_GAP = "gap P (fun W z => loss z (product_entries (features z) W)) zs W"

_FROZEN = """forall (Z : Type) (P : list (R * Z)) (d K N : nat) (features : Z -> list (list R)) (loss : Z -> list R -> R)"""
_FROZEN_SHAPES = """distribution P ->
  (forall z, (length (features z) <= N)%nat /\\ forall x, In x (features z) -> length x = d) ->
  (forall z y, 0 <= loss z y <= 1) ->
  (forall z y y', length y = length y' -> Rabs (loss z y - loss z y') <= L * norm (sub y y')) ->
  0 <= L ->"""

_ONE = "intros zs _ [W [HW Hg]]. exists W. split; [exact HW |]. same_gap Hg m."
_TWO = "intros zs _ [j [W [HW Hg]]]. exists j, W. split; [exact HW |]. same_gap Hg m."


def _proof(names: str, theorem: str, event: str) -> str:
    return (
        f"intros {names}. eapply Rle_trans; [| exact ({theorem})].\n"
        f"  apply Pr_mono; [exact (proj1 HP) |]. {event}"
    )


STATEMENTS: tuple[Statement, ...] = (
    Statement(
        "C1(i)",
        "head_bound_frobenius",
        f"""{_HEAD} (values : Z -> list R) (loss : Z -> R -> R) (L omega : R) (m : nat) (delta : R),
  {_HEAD_SHAPES}
  {_SCALAR}
  {_CONFIDENCE}
  Pr P m (fun zs => exists W, {_BALL} /\\
    {_SCALAR_GAP} >= {{bound}}) <= delta""",
        _proof(
            "Z P d1 d2 n query tokens centre values loss L omega m delta HP Hq Ht Hc Hv Hr Hl HL Hm Hd",
            "head_bound_frobenius d1 d2 n query tokens centre Hq Ht Hc values loss L 1 Hv Hr Hl HL Rlt_0_1 "
            "P omega m delta HP Hm Hd",
            _ONE,
        ),
        {**_SAMPLE, "omega": "omega", "sum_sq_readout": _READOUT_SUM},
    ),
    Statement(
        "C1-vector",
        "vector_head_bound_frobenius",
        f"""{_HEAD} (K : nat) (values : Z -> list (list R)) (loss : Z -> list R -> R) (value_centre : Z -> list R)
    (radius : Z -> R) (L omega : R) (m : nat) (delta : R),
  {_HEAD_SHAPES}
  {_VECTOR}
  {_CONFIDENCE}
  Pr P m (fun zs => exists W, {_BALL} /\\
    {_VECTOR_GAP} >= {{bound}}) <= delta""",
        _proof(
            "Z P d1 d2 n query tokens centre K values loss vc radius L omega m delta HP Hq Ht Hc Hv Hrad Hr Hl HL Hm Hd",
            "vector_head_bound_frobenius d1 d2 n query tokens centre Hq Ht Hc K values loss L 1 vc radius Hv Hrad Hr Hl HL "
            "Rlt_0_1 P omega m delta HP Hm Hd",
            _ONE,
        ),
        {**_SAMPLE, "omega": "omega", "sum_sq_scores": _SCORES_SUM},
    ),
    Statement(
        "C1-vector-peeled",
        "peeled_vector_head_bound",
        f"""{_HEAD} (K : nat) (values : Z -> list (list R)) (loss : Z -> list R -> R) (value_centre : Z -> list R)
    (radius : Z -> R) (L c0 rho : R) (m : nat) (delta : R),
  {_HEAD_SHAPES}
  {_VECTOR}
  0 < rho ->
  {_CONFIDENCE}
  Pr P m (fun zs => exists j W, {_GRID_BALL} /\\
    {_VECTOR_GAP} >= {{bound}}) <= delta""",
        _proof(
            "Z P d1 d2 n query tokens centre K values loss vc radius L c0 rho m delta HP Hq Ht Hc Hv Hrad Hr Hl HL Hrho Hm Hd",
            "peeled_vector_head_bound d1 d2 n query tokens centre Hq Ht Hc L 1 c0 rho HL Rlt_0_1 K values loss vc radius "
            "P m delta Hv Hrad Hr Hl HP Hm Hd",
            _TWO,
        ),
        {**_PEELED, "sum_sq_scores": _SCORES_SUM},
    ),
    Statement(
        "C1-vector-peeled",
        "peeled_pooled_head_bound",
        f"""forall (Z : Type) (P : list (R * Z)) (d1 d2 K N : nat) (readings : Z -> list reading)
    (loss : Z -> list (list R) -> R) (L c0 rho : R) (m : nat) (delta : R),
  distribution P ->
  (forall z, (length (flat_map tokens_of (readings z)) <= N)%nat /\\ forall x, In x (readings z) -> well_formed d1 d2 K x) ->
  (forall z y, 0 <= loss z y <= 1) ->
  (forall z y y', length y = length y' -> (forall v, In v y -> length v = K) -> (forall v, In v y' -> length v = K) ->
    Rabs (loss z y - loss z y') <= L * norm (sub (concat y) (concat y'))) ->
  0 <= L -> 0 < rho ->
  {_CONFIDENCE}
  Pr P m (fun zs => exists j W, {_GRID_BALL} /\\
    gap P (pooled_loss K readings loss) zs W >= {{bound}}) <= delta""",
        _proof(
            "Z P d1 d2 K N readings loss L c0 rho m delta HP Hs Hr Hl HL Hrho Hm Hd",
            "peeled_pooled_head_bound d1 d2 K N readings loss (fun _ => L) 1 Hs Hr Hl (fun _ => HL) Rlt_0_1 P c0 rho m delta "
            "HP Hm Hd",
            "intros zs _ [j [W [HW Hg]]]. exists j, W. split; [exact HW |]. unfold pooled_sum, centred_at; cbn beta. "
            "rewrite sqrt_sum_scal by exact HL. same_gap Hg m.",
        ),
        {
            **_PEELED,
            "sum_sq_scores": "(sum_list zs (fun z => sum_list (readings z) (fun x => (radius_of x)^2 * "
            "(norm_sq (query_of x) * frobenius_sq (map (fun t => sub t (centre_of x)) (tokens_of x))))))",
        },
        variant="pooled",
    ),
    Statement(
        "C1-joint",
        "joint_bound",
        f"""{_HEAD} (K : nat) (radius : Z -> R) (loss : Z -> list R -> R) (L sV omegaV omegaW : R) (m : nat) (delta : R),
  {_HEAD_SHAPES}
  (forall z, 0 <= radius z /\\ forall x, In x (tokens z) -> norm (sub x (centre z)) <= radius z) ->
  (forall z y, 0 <= loss z y <= 1) ->
  (forall z y y', length y = K -> length y' = K -> Rabs (loss z y - loss z y') <= L * norm (sub y y')) ->
  0 <= L -> 0 <= sV -> 0 <= omegaV -> 0 <= omegaW ->
  {_CONFIDENCE}
  Pr P m (fun zs => exists t, joint_class d1 d2 K sV omegaV omegaW t /\\
    gap P (joint_loss K query tokens loss) zs t >= {{bound}}) <= delta""",
        _proof(
            "Z P d1 d2 n query tokens centre K radius loss L sV omegaV omegaW m delta HP Hq Ht Hc Hrad Hr Hl HL HsV HoV HoW Hm Hd",
            "joint_bound d1 d2 K n query tokens centre radius Hq Ht Hc Hrad loss L 1 sV omegaV omegaW Hr Hl HL Rlt_0_1 "
            "P m delta HP Hm Hd",
            "intros zs Hzs [W [HW Hg]]. exists W. split; [exact HW |]. same_joint_gap Hg m Hzs.",
        ),
        {
            **_SAMPLE,
            "omega": "omegaW",
            "omega_value": "omegaV",
            "spectral_value": "sV",
            "sum_sq_tokens": "(tokens_sum tokens zs)",
            "sum_sq_joint": "(joint_sum query tokens centre radius zs)",
        },
    ),
    Statement(
        "C1-joint-peeled",
        "peeled_joint_bound",
        f"""{_HEAD} (K : nat) (radius : Z -> R) (loss : Z -> list R -> R) (L c0 rho : R) (m : nat) (delta : R),
  {_HEAD_SHAPES}
  (forall z, 0 <= radius z /\\ forall x, In x (tokens z) -> norm (sub x (centre z)) <= radius z) ->
  (forall z y, 0 <= loss z y <= 1) ->
  (forall z y y', length y = K -> length y' = K -> Rabs (loss z y - loss z y') <= L * norm (sub y y')) ->
  0 <= L -> 0 < c0 -> 0 < rho ->
  {_CONFIDENCE}
  Pr P m (fun zs => exists i j k t, joint_class d1 d2 K (c0 * rho ^ k) (c0 * rho ^ j) (c0 * rho ^ i) t /\\
    gap P (joint_loss K query tokens loss) zs t >= {{bound}}) <= delta""",
        _proof(
            "Z P d1 d2 n query tokens centre K radius loss L c0 rho m delta HP Hq Ht Hc Hrad Hr Hl HL Hc0 Hrho Hm Hd",
            "peeled_joint_bound d1 d2 K n query tokens centre radius loss L 1 c0 c0 c0 rho P m delta Hq Ht Hc Hrad Hr Hl HL "
            "Rlt_0_1 HP Hm Hd",
            "intros zs Hzs [i [j [k [W [HW Hg]]]]]. exists i, j, k, W. split; [exact HW |]. same_peeled_joint_gap Hg m Hzs.",
        ),
        {
            **_PEELED,
            "j": "(INR i)",
            "j_value": "(INR j)",
            "j_spectral": "(INR k)",
            "sum_sq_tokens": "(tokens_sum tokens zs)",
            "sum_sq_joint": "(joint_sum query tokens centre radius zs)",
        },
    ),
    Statement(
        "A1",
        "frozen_bound",
        f"""{_FROZEN} (L omega : R) (m : nat) (delta : R),
  {_FROZEN_SHAPES}
  {_CONFIDENCE}
  Pr P m (fun zs => exists W, (shaped K d W /\\ frobenius_norm W <= omega) /\\
    {_FROZEN_GAP} >= {{bound}}) <= delta""",
        _proof(
            "Z P d K N features loss L omega m delta HP Hf Hr Hl HL Hm Hd",
            "frozen_bound d K N features Hf loss L 1 Hr Hl HL Rlt_0_1 P omega m delta HP Hm Hd",
            _ONE,
        ),
        {**_SAMPLE, "omega": "omega", "sum_sq_features": _FEATURES_SUM},
    ),
    Statement(
        "A1-peeled",
        "peeled_frozen_bound",
        f"""{_FROZEN} (L c0 rho : R) (m : nat) (delta : R),
  {_FROZEN_SHAPES}
  0 < rho ->
  {_CONFIDENCE}
  Pr P m (fun zs => exists j W, (shaped K d W /\\ frobenius_norm W <= c0 * rho ^ j) /\\
    {_FROZEN_GAP} >= {{bound}}) <= delta""",
        _proof(
            "Z P d K N features loss L c0 rho m delta HP Hf Hr Hl HL Hrho Hm Hd",
            "peeled_frozen_bound d K N features Hf loss L 1 Hr Hl HL Rlt_0_1 P c0 rho m delta HP Hm Hd",
            _TWO,
        ),
        {**_PEELED, "sum_sq_features": _FEATURES_SUM},
    ),
    Statement(
        "A2",
        "frozen_attention_bound",
        f"""forall (Z : Type) (P : list (R * Z)) (d K N : nat) (attention : Z -> matrix) (tokens : Z -> list (list R))
    (a chi r : R) (loss : Z -> list R -> R) (L omega : R) (m : nat) (delta : R),
  distribution P ->
  (forall z, tokens z <> nil /\\ forall x, In x (tokens z) -> length x = d) ->
  (forall z, (length (attention z) <= N)%nat /\\ forall row, In row (attention z) -> length row = length (tokens z)) ->
  (forall z, spectral_norm (attention z) <= a /\\ stable_rank_at_most r (attention z)) ->
  (forall z, spectral_norm (tokens z) <= chi) ->
  (forall z y, 0 <= loss z y <= 1) ->
  (forall z y y', length y = length y' -> Rabs (loss z y - loss z y') <= L * norm (sub y y')) ->
  0 <= L -> 0 <= r -> 0 <= omega ->
  {_CONFIDENCE}
  Pr P m (fun zs => exists W, (shaped K d W /\\ frobenius_norm W <= omega) /\\
    gap P (attention_loss attention tokens loss) zs W >= {{bound}}) <= delta""",
        _proof(
            "Z P d K N attention tokens a chi r loss L omega m delta HP Ht Ha Hb Hc Hr Hl HL Hr0 Ho Hm Hd",
            "frozen_attention_bound d K N attention tokens a chi r Ht Ha Hb Hc loss L 1 Hr Hl HL Rlt_0_1 Hr0 P omega m delta "
            "HP Hm Hd Ho",
            _ONE,
        ),
        {
            **_SAMPLE,
            "omega": "omega",
            "attention_spectral": "a",
            "attention_rank": "r",
            "tokens_spectral": "chi",
        },
    ),
    Statement(
        "P",
        "peeling_complexity",
        f"""forall (Z T : Type) (P : list (R * Z)) (F : T -> Z -> R) (C : T -> Prop) (c : T -> R) (slope : list Z -> R)
    (c0 rho : R) (m : nat) (delta : R),
  distribution P -> 0 < rho ->
  (forall r d, 0 < d < 1 -> Pr P m (fun zs => exists t, (C t /\\ c t <= r) /\\
     gap P F zs t >= slope zs * r + 2 * 1 * sqrt (ln (1 / d) / (2 * INR m))) <= d) ->
  {_CONFIDENCE}
  Pr P m (fun zs => exists j t, (C t /\\ c t <= c0 * rho ^ j) /\\ gap P F zs t >= {{bound}}) <= delta""",
        _proof(
            "Z T P F C c slope c0 rho m delta HP Hrho H Hm Hd",
            "peeling_complexity P F C c slope 1 c0 rho m delta HP Hd H",
            _TWO,
        ),
        {**_PEELED, "kap_S": "(slope zs)"},
    ),
    Statement(
        "D",
        "ideal_code_bound",
        f"""forall (Z H : Type) (P : list (R * Z)) (F : H -> Z -> R) (bits : H -> R) (m : nat) (delta : R),
  distribution P -> {_CONFIDENCE}
  (forall h z, 0 <= F h z <= 1) -> (forall l, NoDup l -> sum_list l (fun h => Rpower 2 (- bits h)) <= 1) ->
  Pr P m (fun zs => exists h, risk P F h > {{bound}}) <= delta""",
        "exact @ideal_code_bound.",
        {**_SAMPLE, "code_bits": "(bits h)", "emp_risk": "(empirical_risk F zs h)"},
    ),
    Statement(
        "D-hoeffding",
        "ideal_code_bound_sqrt",
        f"""forall (Z H : Type) (P : list (R * Z)) (F : H -> Z -> R) (bits : H -> R) (m : nat) (delta : R),
  distribution P -> {_CONFIDENCE}
  (forall h z, 0 <= F h z <= 1) -> (forall h, 0 <= bits h) ->
  (forall l, NoDup l -> sum_list l (fun h => Rpower 2 (- bits h)) <= 1) ->
  Pr P m (fun zs => exists h, risk P F h > {{bound}}) <= delta""",
        _proof(
            "Z H P F bits m delta HP Hm Hd HF Hb Hs",
            "ideal_code_bound_sqrt P F bits m delta HP Hm Hd HF Hb Hs",
            "intros zs _ [h Hg]. exists h. same_gap Hg m.",
        ),
        {**_SAMPLE, "code_bits": "(bits h)", "emp_risk": "(empirical_risk F zs h)"},
    ),
    Statement(
        "D-binomial",
        "ideal_code_binomial_bound",
        """forall (Z H : Type) (P : list (R * Z)) (wrong : H -> Z -> bool) (bits : H -> R) (m : nat) (delta : R),
  distribution P -> 0 < delta < 1 -> (forall l, NoDup l -> sum_list l (fun h => Rpower 2 (- bits h)) <= 1) ->
  Pr P m (fun zs => exists h, error_rate P (wrong h) > {bound}) <= delta""",
        _proof(
            "Z H P wrong bits m delta HP Hd Hs",
            "ideal_code_binomial_bound P wrong bits m delta HP Hd Hs",
            "intros zs _ [h Hg]. exists h. same_tail Hg.",
        ),
        {"m": "m", "delta": "delta", "code_bits": "(bits h)", "k_errors": "(errors (wrong h) zs)"},
    ),
    Statement(
        "test-set",
        "test_set_bound",
        """forall (Z : Type) (P : list (R * Z)) (wrong : Z -> bool) (n : nat) (delta : R),
  distribution P -> 0 < delta < 1 ->
  Pr P n (fun zs => error_rate P wrong > {bound}) <= delta""",
        "intros Z P wrong n delta HP Hd. exact (test_set_bound P wrong HP n delta Hd).",
        {"n_test": "n", "k_errors": "(errors wrong zs)", "delta": "delta"},
    ),
    Statement(
        "test-set-kl",
        "test_set_kl",
        """forall (Z : Type) (P : list (R * Z)) (loss : Z -> R) (m : nat) (delta : R),
  distribution P -> (0 < m)%nat -> 0 < delta < 1 -> (forall z, 0 <= loss z <= 1) ->
  Pr P m (fun zs => Ex P loss > {bound}) <= delta""",
        "exact @test_set_kl.",
        {"n_test": "(INR m)", "emp_risk": "(sum_list zs loss / INR (length zs))", "delta": "delta"},
    ),
    *GIBBS_STATEMENTS,
)
