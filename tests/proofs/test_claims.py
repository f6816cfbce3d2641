"""Claims: the examples, further true and false ones, and that nothing is ever accepted by sampling."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest
from flint import arb, ctx

from certify.cli import main
from proofs.claims import FORMS, BadClaim, Claim, judge, read_claim
from proofs.kernel import check

EXAMPLES = Path(__file__).parents[2] / "examples" / "claims"
FOLLOWS, REFUTED, OPEN = "follows", "refuted", "not derivable here"


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("khintchine-1.3", REFUTED),
        ("textbook-deviation", FOLLOWS),
        ("sharp-deviation", FOLLOWS),
        ("deviation-constant-1", OPEN),
        ("maurer-without-sqrt2", REFUTED),
        ("softmax-2-lipschitz", FOLLOWS),
        ("sqrt-rank-over-m", REFUTED),
        ("massart-without-2", REFUTED),
    ],
)
def test_examples(name: str, verdict: str) -> None:
    assert judge(read_claim(EXAMPLES / f"{name}.toml")).verdict == verdict


@pytest.mark.parametrize(
    ("about", "bound", "verdict"),
    [
        ("khintchine", "1.5*mean_modulus", FOLLOWS),
        ("khintchine", "1.4143*mean_modulus", FOLLOWS),
        ("khintchine", "1.4142*mean_modulus", REFUTED),
        ("vector-contraction", "2*L*vector_complexity", FOLLOWS),
        ("vector-contraction", "1.4*L*vector_complexity", REFUTED),
        ("scalar-contraction", "2*L*complexity", FOLLOWS),
        ("scalar-contraction", "0.9*L*complexity", REFUTED),
        ("symmetrization", "expected_complexity", REFUTED),
        ("symmetrization", "1.99*expected_complexity", REFUTED),
        ("massart", "2*r*sqrt(log(N))", FOLLOWS),
        ("massart", "r*sqrt(1.99*log(N))", OPEN),
        ("softmax-l1", "0.99*largest_change", REFUTED),
        ("softmax-l2", "0.49*length", REFUTED),
        ("softmax-l2", "length", FOLLOWS),
        ("softmax-readout", "osc_values*length/2", FOLLOWS),
        ("softmax-readout", "0.35*osc_values*length", REFUTED),
        ("stable-rank", "2*nuclear_rank", FOLLOWS),
        ("nuclear-rank", "stable_rank", REFUTED),
        ("uniform-deviation", "2*empirical_complexity", REFUTED),
        ("uniform-deviation", "2*empirical_complexity + 3*M*sqrt(log(1/delta)/(2*m))", FOLLOWS),
        ("occam", "emp_risk", REFUTED),
        ("occam", "kl_inverse(emp_risk, log(1/delta)/(4*m))", REFUTED),
        ("occam-hoeffding", "emp_risk + sqrt((code_bits*log(2) + log(2/delta))/(2*m))", FOLLOWS),
        ("occam-hoeffding", "emp_risk + sqrt((code_bits*log(2) + log(1/delta))/m)", FOLLOWS),
        ("softmax-head", "2*L*omega*sqrt(sum_sq_readout)/m + 2*sqrt(log(1/delta)/(2*m))", FOLLOWS),
        ("softmax-head", "L*omega*sqrt(sum_sq_readout)/(2*m) + 2*sqrt(log(1/delta)/(2*m))", OPEN),
        ("frozen-features", "4*L*omega*sqrt(K*sum_sq_features)/m + 2*sqrt(log(1/delta)/(2*m))", FOLLOWS),
        ("attention-rank", "1000*sqrt(R/m)", REFUTED),
        ("attention-rank", "sqrt(R*log(m)/m) + sqrt(log(1/delta)/m)", REFUTED),
    ],
)
def test_further_claims(about: str, bound: str, verdict: str) -> None:
    found = judge(Claim("test", about, bound))
    assert found.verdict == verdict, found.because
    if verdict == FOLLOWS:
        assert found.derivation is not None
        check(found.derivation, {}, {})
    if verdict == REFUTED:
        assert found.counterexample is not None
    if verdict == OPEN:
        assert found.failing_step
        assert found.nearest


def test_nearest_constant_is_the_true_one() -> None:
    found = judge(Claim("test", "uniform-deviation", "2*empirical_complexity + M*sqrt(log(1/delta)/(2*m))"))
    assert found.nearest.startswith("2 times")
    assert "lemma-3c" in found.failing_step


def test_no_claim_about_attention_rank_can_follow() -> None:
    for bound in ("sqrt(R/m)", "10**9*sqrt(R/m)", "R + 1"):
        assert judge(Claim("test", "attention-rank", bound)).verdict != FOLLOWS


def test_khintchine_counterexample_rechecks_in_ball_arithmetic() -> None:
    found = judge(read_claim(EXAMPLES / "khintchine-1.3.toml")).counterexample
    assert found is not None
    vector = [int(x) for x in found.data["vector"]]  # type: ignore[attr-defined]
    mean = Fraction(
        sum(
            abs(sum(a * s for a, s in zip(vector, signs, strict=True)))
            for signs in product((1, -1), repeat=len(vector))
        ),
        2 ** len(vector),
    )
    ctx.prec = 200
    assert arb(sum(a * a for a in vector)).sqrt() > arb(13) / 10 * arb(mean.numerator) / arb(mean.denominator)


def test_massart_counterexample_rechecks_in_ball_arithmetic() -> None:
    found = judge(read_claim(EXAMPLES / "massart-without-2.toml")).counterexample
    assert found is not None
    n = int(str(found.data["n"]))
    vectors = list(product((1, -1), repeat=n))
    best = Fraction(
        sum(max(sum(a * s for a, s in zip(v, signs, strict=True)) for v in vectors) for signs in vectors),
        2**n,
    )
    ctx.prec = 200
    assert arb(best.numerator) / best.denominator > arb(n).sqrt() * arb(len(vectors)).log().sqrt()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('name = "x"\nabout = "khintchine"\n', "missing"),
        ("name = ", "not a TOML file"),
        ('name = "x"\nabout = "gravity"\nbound = "1"\n', "cannot judge claims about 'gravity'"),
        ('name = "x"\nabout = "khintchine"\nbound = "phlogiston"\n', "phlogiston means nothing here"),
        ('name = "x"\nabout = "khintchine"\nbound = "mean_modulus +"\n', "cannot read the bound"),
    ],
)
def test_bad_claims_are_explained(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "claim.toml"
    path.write_text(text)
    with pytest.raises(BadClaim, match=message):
        judge(read_claim(path))
    assert main(["check", str(path)]) == 2


def test_every_form_points_to_a_derivation() -> None:
    from proofs.library import load

    names = {d["name"] for d in load()}
    assert {form.derivation for form in FORMS.values()} <= names


def test_command_exit_codes_and_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(EXAMPLES / "softmax-2-lipschitz.toml"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["verdict"] == FOLLOWS
    assert main(["check", str(EXAMPLES / "khintchine-1.3.toml"), "--json"]) == 1
    record = json.loads(capsys.readouterr().out)[0]
    assert record["counterexample"]["data"]["vector"] == [1, 1]


def test_assumptions_bound_the_domain() -> None:
    """A claim about very many vectors is not refuted by few."""
    assert judge(Claim("test", "massart", "r*sqrt(1.9*log(N))", ("2 <= N",))).verdict == OPEN
    assert judge(Claim("test", "massart", "r*sqrt(1.4*log(N))", ("N <= 100",))).verdict == REFUTED
    assert judge(Claim("test", "massart", "r*sqrt(1.4*log(N))", ("10**6 <= N",))).verdict == OPEN
    small = judge(Claim("test", "attention-rank", "10*sqrt(R/m)", ("R <= 1", "10**6 <= m")))
    assert small.verdict == REFUTED
    assert small.counterexample is not None
    assert int(str(small.counterexample.data["m"])) >= 10**6


def test_assumptions_help_a_derivation() -> None:
    claim = ("occam-hoeffding", "emp_risk + sqrt(2*log(1/delta)/(2*m))")
    assert judge(Claim("test", *claim)).verdict != FOLLOWS
    helped = judge(Claim("test", *claim, ("code_bits*log(2) <= log(1/delta)",)))
    assert helped.verdict == FOLLOWS
    assert helped.derivation is not None
    check(helped.derivation, {}, {})


def test_an_assumption_must_be_an_inequality() -> None:
    with pytest.raises(BadClaim, match="is not an inequality"):
        judge(Claim("test", "massart", "r", ("N",)))
