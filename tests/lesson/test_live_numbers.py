"""The numbers that the live figures show, held against Python to the last shown digit, at several
settings."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import certify
from certify.kernel.bound import evaluate
from certify.kernel.enclosure import Enclosure
from proofs.lessons import figures
from tests.lesson.conftest import Watched

Opened = Callable[[str], Watched]

pytestmark = pytest.mark.browser


class Figure:
    """A live figure on an open page: set its controls, read its inputs and its shown numbers."""

    def __init__(self, opened: Opened, chapter: str, kind: str) -> None:
        self.page = opened(f"chapter-{chapter}.html").page
        self.root = self.page.locator(f".live[data-live={kind}]")

    @property
    def state(self) -> dict[str, Any]:
        loaded: dict[str, Any] = json.loads(str(self.root.get_attribute("data-state")))
        return loaded

    def shown(self, name: str) -> str:
        return str(self.root.locator(f"output[data-value='{name}']").inner_text())

    def slide(self, index: int, value: float) -> None:
        slider = self.root.locator("input[type=range]").nth(index)
        slider.evaluate(
            "(node, value) => { node.value = value; node.dispatchEvent(new Event('input')); }", str(value)
        )


def agrees(shown: str, truth: Enclosure | Fraction) -> bool:
    """Whether the shown decimal is the truth rounded to the shown digits (either neighbour at a tie)."""
    value = Fraction(shown)
    mantissa = shown.lower().split("e")[0]
    exponent = int(shown.lower().split("e")[1]) if "e" in shown.lower() else 0
    decimals = len(mantissa.split(".")[1]) if "." in mantissa else 0
    half = Fraction(1, 2) * Fraction(10) ** (exponent - decimals)
    exact = truth if isinstance(truth, Enclosure) else Enclosure.exact(truth)
    band = Enclosure.between(value - half, value + half)
    return band.contains(exact)


def test_agrees_can_fail() -> None:
    assert agrees("0.7071", Enclosure.exact(Fraction(1, 2)).sqrt())
    assert not agrees("0.7072", Enclosure.exact(Fraction(1, 2)).sqrt())
    assert agrees("1.234e-5", Fraction(12341, 10**9))


def _root(value: Fraction) -> Enclosure:
    return Enclosure.exact(value).sqrt()


def test_khintchine(opened: Opened) -> None:
    figure = Figure(opened, "04-contraction", "khintchine")
    constant = evaluate(str(figures.khintchine_figure()["constant"]), {})
    for angle, third in ((20, 0), (45, 0), (0, 0), (70, 0.85), (45, 1.5)):
        figure.slide(0, angle)
        figure.slide(1, third)
        assert figure.state == {"angle": angle, "third": third}
        turn = np.pi * angle / 180
        u = [Fraction(float(np.cos(turn))), Fraction(float(np.sin(turn))), Fraction(third)]
        sums = [
            abs(sum(s * x for s, x in zip(signs, u, strict=True)))
            for signs in itertools.product((-1, 1), repeat=3)
        ]
        mean, length = Fraction(sum(sums), 8), _root(sum((x * x for x in u), Fraction(0)))
        assert agrees(figure.shown("mean"), mean)
        assert agrees(figure.shown("length"), length)
        assert agrees(figure.shown("ratio"), Enclosure.exact(mean) / length)
        assert agrees(figure.shown("floor"), 1 / constant)
    figure.slide(0, 45)
    figure.slide(1, 0)
    assert figure.shown("ratio") == figure.shown("floor")


def test_khintchine_handle_can_be_dragged(opened: Opened) -> None:
    figure = Figure(opened, "04-contraction", "khintchine")
    figure.root.scroll_into_view_if_needed()
    box = figure.root.locator("[data-handle]").bounding_box()
    mouse = figure.page.mouse
    mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    mouse.down()
    mouse.move(box["x"] - 40, box["y"] - 80, steps=5)
    mouse.up()
    assert figure.state["angle"] > 20


MAPS = {
    "length": lambda g: _root(Fraction(g[0] ** 2 + g[1] ** 2)),
    "largest": lambda g: Enclosure.exact(max(g)),
    "first": lambda g: Enclosure.exact(g[0]),
    "bent": lambda g: (
        Enclosure.exact(2)
        if (g[0] - 1) ** 2 + (g[1] - 1) ** 2 >= 4
        else _root(Fraction((g[0] - 1) ** 2 + (g[1] - 1) ** 2))
    ),
}


def _largest(values: list[Enclosure]) -> Enclosure:
    return Enclosure.between(max(Fraction(v.lower) for v in values), max(Fraction(v.upper) for v in values))


def test_contraction(opened: Opened) -> None:
    figure = Figure(opened, "04-contraction", "contraction")
    constant = evaluate(str(figures.contraction_figure()["constant"]), {})
    for name in [*MAPS, *MAPS]:
        figure.root.locator("select").select_option(name)
        members = figure.state["members"]
        left = (
            sum(
                (
                    _largest([s * MAPS[name](a) + t * MAPS[name](b) for a, b in members])
                    for s, t in itertools.product((-1, 1), repeat=2)
                ),
                Enclosure.exact(0),
            )
            / 4
        )
        right = Fraction(
            sum(
                max(sum(e * x for e, x in zip(eps, [*a, *b], strict=True)) for a, b in members)
                for eps in itertools.product((-1, 1), repeat=4)
            ),
            16,
        )
        assert agrees(figure.shown("left"), left)
        assert agrees(figure.shown("right"), constant * right)
        assert left <= constant * right
        figure.root.get_by_role("button", name="Another class").click()
    assert figure.state["members"] != members


def _softmax(scores: list[float]) -> list[Enclosure]:
    powers = [Enclosure.exact(Fraction(s)).exp() for s in scores]
    total = sum(powers, Enclosure.exact(0))
    return [power / total for power in powers]


def _modulus(x: Enclosure) -> Enclosure:
    return x if x.lower >= 0 else -x if x.upper <= 0 else Enclosure.between(0, max(-x.lower, x.upper))


def test_softmax(opened: Opened) -> None:
    figure = Figure(opened, "07-attention", "softmax")
    constant = evaluate(str(figures.softmax_figure()["constant"]), {})
    for values in ((0, 0, -4, 0.5, -0.5, 0), (1, -2, 3, 4, -4, 0.25), (0, 0, 0, 1, 1, 1)):
        for index, value in enumerate(values):
            figure.slide(index, value)
        scores, change = figure.state["scores"], figure.state["change"]
        assert (*scores, *change) == values
        before, after = _softmax(scores), _softmax([s + u for s, u in zip(scores, change, strict=True)])
        moved = sum((_modulus(p - q) for p, q in zip(before, after, strict=True)), Enclosure.exact(0))
        bound = constant * (Fraction(max(change)) - Fraction(min(change)))
        assert agrees(figure.shown("bound"), bound)
        if change[0] == change[1] == change[2]:
            assert figure.shown("ratio") == "no change"
            assert float(figure.shown("moved")) < 1e-15
            continue
        assert agrees(figure.shown("moved"), moved)
        assert moved <= bound


def _attention(state: dict[str, Any]) -> np.ndarray:
    n = figures.TOKENS
    index = np.arange(n)
    scores = {
        "near": -np.abs(index[:, None] - index[None, :]).astype(float),
        "same": np.where(index[:, None] % 3 == index[None, :] % 3, 1.0, -1.0),
        "first": np.where(index[None, :] == 0, 2.0, 0.0) * np.ones((n, 1)),
        "all": np.zeros((n, n)),
    }[state["pattern"]] * state["sharpness"]
    if state["causal"]:
        scores = np.where(index[None, :] <= index[:, None], scores, -np.inf)
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def test_effective_ranks(opened: Opened) -> None:
    figure = Figure(opened, "05-ranks", "ranks")
    settings = [
        ("near", 1, False),
        ("near", 8, False),
        ("same", 2.5, True),
        ("first", 3, True),
        ("all", 0, True),
    ]
    for pattern, sharpness, causal in [*settings, ("all", 0, True)]:
        figure.root.locator("select").select_option(pattern)
        figure.slide(0, sharpness)
        figure.root.locator("input[type=checkbox]").set_checked(causal)
        state = figure.state
        assert (state["pattern"], state["sharpness"], state["causal"]) == (pattern, sharpness, causal)
        matrix = _attention(state)
        for rank in figures.ranks_figure()["ranks"]:  # type: ignore[attr-defined]
            named = certify.effective_rank(matrix, kind=rank["kind"])
            assert agrees(figure.shown(rank["kind"]), named), (rank["kind"], pattern)


def test_shattering(opened: Opened) -> None:
    figure = Figure(opened, "08-breaks", "shattering")
    for press in range(figures.QUERIES * figures.CONTENTS):
        before = figure.state["labels"]
        figure.root.locator(".labels button").nth(press).click()
        after = figure.state["labels"]
        assert [i for i, (a, b) in enumerate(zip(before, after, strict=True)) if a != b] == [press]
        assert figure.shown("errors") == "0"
        assert figure.shown("rank") == "1.000"
    for scale in (0.5, 6, 12):
        figure.slide(0, scale)
        figure.root.get_by_role("button", name="Random labels").click()
        truth = evaluate(
            str(figures.shattering_figure()["complexity"]), {"beta": Enclosure.exact(Fraction(scale))}
        )
        assert agrees(figure.shown("complexity"), truth)
        assert agrees(figure.shown("margin"), truth)
        assert figure.shown("errors") == "0"


def test_bound(opened: Opened) -> None:
    figure = Figure(opened, "07-attention", "bound")
    data: dict[str, Any] = figures.bound_figure()
    boxes = figure.root.locator("input[type=checkbox]")
    for settings, off in (((), None), ((3, -4, 2, 1, 3), None), ((6.5, -2), 0), ((), 1), ((), 2), ((), 3)):
        for index, value in enumerate(settings):
            figure.slide(index, value)
        if off is not None:
            boxes.nth(off).uncheck()
        state = figure.state
        assert state["on"] == [index != off for index in range(boxes.count())]
        values = {
            name: Enclosure.exact(Fraction(x))
            for name, x in {"m": state["m"], "delta": state["delta"], **state["values"]}.items()
        }
        values["sum_sq_readout"] = values["m"] * values["per_example"]
        spread, luck = evaluate(data["spread"], values), evaluate(data["luck"], values)
        if off is not None:
            price = evaluate(data["constants"][off]["prefix"], {})
            spread, luck = (
                (spread, luck / price) if data["constants"][off]["acts"] == "luck" else (spread / price, luck)
            )
        assert agrees(figure.shown("spread"), spread)
        assert agrees(figure.shown("luck"), luck)
        assert agrees(figure.shown("bound"), spread + luck)
        verdict = figure.root.locator(".verdict").inner_text()
        assert ("not a bound" in verdict) == (off is not None)
        if off is not None:
            boxes.nth(off).check()


def test_parts_of_the_bound_figure_are_the_theorem() -> None:
    from proofs.theorems import THEOREMS

    data: dict[str, Any] = figures.bound_figure()
    given = {"m": 1000, "delta": Fraction(1, 20), "L": 2, "omega": 3, "sum_sq_readout": 5000}
    values = {name: Enclosure.exact(x) for name, x in given.items()}
    whole = evaluate(THEOREMS["C1(i)"].prefix, values)
    difference = evaluate(data["spread"], values) + evaluate(data["luck"], values) - whole
    assert difference.lower <= 0 <= difference.upper
    assert difference.upper - difference.lower < 1e-12
    product = Enclosure.exact(1)
    for constant in data["constants"]:
        if constant["acts"] == "spread":
            product = product * evaluate(constant["prefix"], {})
    assert product.lower <= 1 <= product.upper, (
        "2 sqrt(2) / (2 sqrt(2)): all constants of the spread are listed"
    )


def _judge(data: dict[str, Any], bits: int, m: int) -> Iterator[tuple[str, Enclosure | Fraction]]:
    weights, teacher = [Fraction(w) for w in data["weights"]], data["teacher"]
    exponent = 0
    largest = max(abs(w) for w in weights)
    while Fraction(2) ** exponent < largest:
        exponent += 1
    while Fraction(2) ** (exponent - 1) >= largest:
        exponent -= 1
    scale, steps = Fraction(2) ** exponent, 2**bits
    coarse = []
    for w in weights:
        k = min(steps - 1, max(0, int((w / scale + 1) / 2 * steps // 1)))
        coarse.append(scale * (2 * k + 1 - steps) / steps)
    zigzag = 2 * exponent - 1 if exponent > 0 else -2 * exponent

    def sign(vector: list[Fraction], code: int) -> int:
        return 1 if sum(w * (1 if code >> i & 1 else -1) for i, w in enumerate(vector)) >= 0 else -1

    answers = [sign(coarse, code) for code in range(2 ** len(weights))]
    right = [sign(teacher, code) for code in range(2 ** len(weights))]
    wrong = sum(answers[s >> 1] != (1 if s & 1 else -1) for s in data["sample"][:m])
    apart = Fraction(sum(a != b for a, b in zip(answers, right, strict=True)), len(answers))
    two = Enclosure.exact(2).log()
    code = (
        len(weights) * bits
        + (Enclosure.exact(bits * (bits + 1)).log() + Enclosure.exact((zigzag + 1) * (zigzag + 2)).log())
        / two
    )
    noise = Fraction(figures.NOISE.p, figures.NOISE.q)
    yield "code", code
    yield "errors", Fraction(wrong, m)
    yield "truth", noise + (1 - 2 * noise) * apart
    yield (
        "bound",
        evaluate(
            data["bound"],
            {
                "code_bits": code,
                "emp_risk": Enclosure.exact(Fraction(wrong, m)),
                "m": Enclosure.exact(m),
                "delta": Enclosure.exact(Fraction(data["delta"])),
            },
        ),
    )


def test_quantise_and_certify(opened: Opened) -> None:
    figure = Figure(opened, "09-repairs", "quantise")
    data: dict[str, Any] = figures.quantise_figure()
    bounds = {}
    for bits, m in ((3, 3000), (1, 3000), (5, 3000), (12, 3000), (4, 400)):
        figure.slide(0, bits)
        figure.slide(1, m)
        assert figure.state == {"bits": bits, "m": m}
        for name, truth in _judge(data, bits, m):
            assert agrees(figure.shown(name), truth), (name, bits, m)
        assert float(figure.shown("bound")) > float(figure.shown("truth"))
        bounds[bits] = float(figure.shown("bound"))
    assert bounds[5] < bounds[1]
    assert bounds[5] < bounds[12], "the caption says that the best value lies in between"


def test_gradient_descent(opened: Opened) -> None:
    figure = Figure(opened, "08-breaks", "descent")
    for contents, examples in ((200, 20), (20, 5), (400, 100)):
        figure.slide(0, contents)
        figure.slide(1, examples)
        before = figure.state
        assert (before["contents"], before["examples"]) == (contents, examples)
        assert figure.shown("train") == "0"
        assert agrees(figure.shown("gap"), Fraction(1, 2) * Fraction(contents - 1, contents) ** examples)
        assert agrees(figure.shown("nominal"), _root(Fraction(1, examples)))
        assert agrees(figure.shown("unseen"), Fraction(contents - before["seen"], contents))
    figure.root.get_by_role("button", name="Another sample").click()


def test_descent_formula_is_the_enumerated_gap() -> None:
    from proofs.counterexamples.n3_gradient_descent import expected_error

    prefix = str(figures.descent_figure()["gap"])
    for d, m in ((3, 2), (4, 3), (5, 2)):
        value = evaluate(prefix, {"d": Enclosure.exact(d), "m": Enclosure.exact(m)})
        assert value.contains(expected_error(d, m))


def test_prefix_evaluators_agree(opened: Opened) -> None:
    """The page's evaluator of formulas against the kernel's, on every operation of the grammar."""
    page = opened("chapter-07-attention.html").page
    cases = [
        "(add 1 2 (mul 3 4) (neg 5))",
        "(sub 1 3/7)",
        "(div 2 3)",
        "(pow 5 2/3)",
        "(sqrt 2)",
        "(log 10)",
        "(exp 3/2)",
        "(max 1 5/2 2)",
        "(min 1 5/2 1/3)",
        "(ceil 7/2)",
        "(pi)",
        "(gamma 7/2)",
        "(tanh 3)",
        "(cosh 2)",
        "(acosh 3)",
        "(kl_inverse 1/50 1/100)",
        "(kl_inverse 0 1/5)",
        "(binomial_tail_inverse 20 1000 1/20)",
    ]
    for case in cases:
        shown = page.evaluate("(text) => Live.number(Live.evaluate(text))", case)
        assert agrees(shown, evaluate(case, {})), case
    for broken in ("(nonsense 1)", "(add 1 2", "(add 1 x)"):
        assert page.evaluate(
            "(text) => { try { Live.evaluate(text); return false; } catch { return true; } }", broken
        ), broken
