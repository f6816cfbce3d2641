"""The bounds on a risk that a report may claim: formula and hypotheses of each theorem, known here by heart.

A test compares these with the symbolic expressions in proofs/, so a changed constant is noticed.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RiskBound:
    """The hash of a theorem's formula, the hypotheses it must list, and whether it bounds the gap: then the
    empirical risk is added."""

    formula_sha256: str
    hypotheses: frozenset[str]
    gap: bool


def _known(formula_sha256: str, hypotheses: str, gap: bool = False) -> RiskBound:
    return RiskBound(formula_sha256, frozenset(hypotheses.split()), gap)


FIXED = "fixed-before-sample iid loss-in-unit-interval loss-lipschitz "

RISK_BOUNDS = {
    "A1": _known(
        "cdb265cc235b2a4ad84969790dbe4fc402135d22ded980d765613176d4b5bd61",
        FIXED + "features-frozen frobenius-ball",
        gap=True,
    ),
    "A1-peeled": _known(
        "494c63901af829db1855ec414f2f5cf5b03d619bda0c8badfb4b64205a97b2de",
        FIXED + "features-frozen grid",
        gap=True,
    ),
    "A1-scalar": _known(
        "f0f86b66e6c003e1983b50b872bbe1681a12b97d5cd4772f42dfc0565bf4533a",
        FIXED + "features-frozen one-output frobenius-ball",
        gap=True,
    ),
    "A1-scalar-peeled": _known(
        "4aaecc179deac3dcfbd64829b45eda1503482b07b49b9f99269e883b4c34bc05",
        FIXED + "features-frozen one-output grid",
        gap=True,
    ),
    "A2": _known(
        "90ca7528fabadaf64dcb9cc8d122b4605ed0009754ead54bee7ea133d2b6b84a",
        FIXED + "features-frozen frobenius-ball attention-bounds",
        gap=True,
    ),
    "B1": _known(
        "9a625b43e0b631a4bd456d07e2a9bca2c7f46edf7c1561674a34ede01e986b52",
        FIXED + "nuclear-ball",
        gap=True,
    ),
    "B1-peeled": _known(
        "64d9cddd9af648ede0af7f3cc64767198d9a68767332c92bf1491cdf9f78b0c9",
        FIXED + "grid",
        gap=True,
    ),
    "B2": _known(
        "0b3c33499e49855bd88e5f85c97e0ccac9b9c5b80bf6ab59f0252c04c4a7293f",
        FIXED + "nuclear-ball",
        gap=True,
    ),
    "B2-peeled": _known(
        "42885bda2bbbb406f9ace5629464022cb4c310d460e21e9f508a48031bcd9e2a",
        FIXED + "grid",
        gap=True,
    ),
    "C1-vector": _known(
        "5cc315fa657ecc6b60fc243852414c00eb96e1fb0426d256899eef70b3acbca7",
        FIXED + "values-frozen bilinear-scores frobenius-ball",
        gap=True,
    ),
    "C1-vector-peeled": _known(
        "2a0f422b20e70b8a4721c8922e4412f19d39c8224ef3a996657e79de3546044f",
        FIXED + "values-frozen bilinear-scores grid",
        gap=True,
    ),
    "C1-joint": _known(
        "804ef12a000686bfac2901dee71213a620a3586fe97be836036721685813bb40",
        FIXED + "bilinear-scores frobenius-ball value-balls",
        gap=True,
    ),
    "C1-joint-peeled": _known(
        "8d3a8ac481b79a42c75f2985c29714ac041b6afc20fd107eb267b5fdf9a9a1df",
        FIXED + "bilinear-scores grid grid-value grid-spectral",
        gap=True,
    ),
    "C2": _known(
        "b2c3aeb0390e91f8c37b52dff6c9d2a8d546c6be883d97dfb79d4542f7c8f341",
        FIXED + "almost-sure-norms dyadic-norms",
    ),
    "C2-hoeffding": _known(
        "c67f49af38c52e57c1266f2222cd38835c92cabe1d3fb12870a19cd0be516c9a",
        FIXED + "almost-sure-norms dyadic-norms",
        gap=True,
    ),
    "C3": _known(
        "4e2d8dd8490cf651ea59bd2374822ebe28446f85df770342998d1e0cb8e1d4cf",
        "fixed-before-sample iid almost-sure-norms noise-small eta-below-one",
    ),
    "D": _known(
        "9bf4f0ebafa954118ba99cbae3c3bb524224cffaae3e570cf60d447ff6bdc81f",
        "fixed-before-sample iid loss-in-unit-interval compressed-model",
    ),
    "D-hoeffding": _known(
        "5e4ae820ab8d9f0900d226880276bfe9f92f5cf451a7f4942618be64647340c8",
        "fixed-before-sample iid loss-in-unit-interval compressed-model",
    ),
    "D-binomial": _known(
        "3a3c00899ad31cf98689cdc085e6556dd6fa79c56451633ca13c0bdd138c670a",
        "fixed-before-sample iid compressed-model zero-one-loss",
    ),
    "test-set": _known(
        "b6d9afe2f1990b68675283e9dd5260e95c4183cd6b7900ffcd08192911c9c4e8",
        "held-out iid zero-one-loss",
    ),
    "test-set-kl": _known(
        "fb34b6d396e1487f814ea460f04e664b616d35990475e3410f24ffa918918c52",
        "held-out iid loss-in-unit-interval",
    ),
    "E": _known(
        "ecaa685ad761d8ab9ab9baf0c610496867f155ceeada5de74e61e31d32e961b8",
        "fixed-before-sample iid loss-in-unit-interval gaussian-noise",
    ),
    "E-rank": _known(
        "d98d5874510e4288a34c4ada9ede2f38598e7624596f75ff4c6011bd3da44137",
        "fixed-before-sample iid loss-in-unit-interval gaussian-noise",
    ),
    "E-monte-carlo": _known(
        "23d2e7d50c45b4f18549d6112049d2f07f544e3789d8cd3d0ac832194e770b60",
        "fixed-before-sample iid loss-in-unit-interval gaussian-noise independent-draws",
    ),
    "E-single": _known(
        "3ea536ba0a8095ce65e5e23bfaf910c512b2069b2a79f35842f3e29f22d0cdcb",
        "fixed-before-sample iid loss-in-unit-interval gaussian-noise single-draw",
    ),
    "E-split": _known(
        "ecaa685ad761d8ab9ab9baf0c610496867f155ceeada5de74e61e31d32e961b8",
        "fixed-before-second-part iid loss-in-unit-interval gaussian-noise",
    ),
}

# What no computation on a sample can establish. (What was fixed before the sample can be met in one case: a
# prior learned on a first part, whose own hypothesis is assumed instead.)
RISK_NEVER_MET = frozenset(
    {"iid", "held-out", "features-frozen", "fixed-before-second-part", "single-draw", "independent-draws"}
)
