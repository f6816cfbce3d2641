"""The word demonstration at several sample sizes: true gap, each bound, and what the fitted exponents say."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.stats

from certify.bounds.risk import norm_bounds
from certify.bounds.risk.fitting import SoftmaxFit, compress
from certify.bounds.risk.noise import Prior, best_exponents, seed_of
from certify.bounds.risk.occam import occam
from certify.bounds.risk.pac_bayes import single
from certify.demos.words import Population

Progress = Callable[[str], None]
SCHEMA = "certify-attention/scaling/1"
SIZES = (1000, 3000, 10_000, 30_000, 100_000, 200_000)
DELTA = Fraction(1, 20)
SAYING = (
    "A bound on the generalization gap of order m^-1/2 is a statement about the difference of test and "
    "training risk, at worst over a class. Scaling laws describe the test loss itself. That the test loss "
    "falls more slowly than m^-1/2 is neither predicted nor contradicted by a gap bound: a fitted exponent "
    "near 1/2 of some bound confirms nothing about the law, and sqrt(R/m) for the attention matrices' rank R "
    "is no bound at all."
)


def one(population: Population, m: int, seed: int, effort: float, progress: Progress) -> dict[str, float]:
    """Risks and bounds for one sample of m words: floats for the plot (bounds rounded up)."""
    sample = population.draw(m, seed)
    fit = SoftmaxFit(sample, effort, seed)
    head = fit.plain()
    n = len(population.words)
    truth, train = head.margins(population.sample).errors() / n, head.margins(sample).errors() / m
    small = compress(fit, head, (2, 4) if m >= 50_000 else (1, 2), lambda text: None)
    d = occam(small.word, fit.family, sample, DELTA)
    d_truth = small.head.margins(population.sample).errors() / n
    q = fit.gaussian(head, None)
    drawn = q.draw(seed_of(sample, q, "draw"))
    e = single(drawn, q, Prior(best_exponents(q)), fit.family, sample, DELTA)
    e_truth = fit.family.drawn(drawn).margins(population.sample).errors() / n
    covering = norm_bounds.covering(head, sample, DELTA)
    progress(
        f"m = {m}, seed {seed}: gap {truth - train:.4f}, D {d.value.upper:.4f}, E-single {e.value.upper:.4f}"
    )
    return {
        "m": m,
        "seed": seed,
        "test_risk": truth,
        "train_risk": train,
        "gap": truth - train,
        "D": d.value.upper,
        "D_excess": d.value.upper - d_truth,
        "bits": float(small.word.length),
        "E_single": e.value.upper,
        "E_single_excess": e.value.upper - e_truth,
        "C2": covering.value.upper,
        "nominal": math.sqrt(1 / m),
    }


QUANTITIES = {
    "gap": "true gap (test risk minus training risk of the float head)",
    "test_risk": "test risk of the float head",
    "D_excess": "bound D minus the true risk of its head",
    "E_single_excess": "bound E-single minus the true risk of its head",
    "nominal": "sqrt(R/m) with R = 1: not a valid bound",
}


def exponent(ms: Sequence[float], values: Sequence[float]) -> dict[str, Any]:
    """Least squares of log value on log m: exponent b of m^-b with its 95 % interval (Student's t)."""
    pairs = [(math.log(m), math.log(v)) for m, v in zip(ms, values, strict=True) if v > 0]
    if len(pairs) < 4:
        return {"exponent": None, "why": f"only {len(pairs)} positive values"}
    x, y = (np.array(c) for c in zip(*pairs, strict=True))
    fitted = scipy.stats.linregress(x, y)
    half = float(scipy.stats.t.ppf(0.975, len(pairs) - 2)) * float(fitted.stderr)
    return {
        "exponent": -fitted.slope,
        "low": -fitted.slope - half,
        "high": -fitted.slope + half,
        "points": len(pairs),
        "left_out": len(ms) - len(pairs),
    }


def scaling(
    population: Population, sizes: Sequence[int], seeds: int, effort: float, progress: Progress
) -> dict[str, Any]:
    """Runs at every size and seed, fitted exponents, and the plain sentence."""
    planned, runs = [(m, s) for m in sizes for s in range(seeds)], []
    for i, (m, s) in enumerate(planned, 1):
        runs.append(one(population, m, 1000 * s + 7, effort, progress))
        progress(f"runs: {i} of {len(planned)}")
    fits = {
        name: {"what": what, **exponent([r["m"] for r in runs], [r[name] for r in runs])}
        for name, what in QUANTITIES.items()
    }
    seen = 1 - math.exp(-max(sizes) / len(population.words))
    words = f"{says(fits)} {broken(runs)}{caveat(fits, max(sizes), seen)}"
    return {"schema": SCHEMA, "runs": runs, "fits": fits, "says": words}


def broken(runs: Sequence[dict[str, float]]) -> str:
    """Where the invalid sqrt(R/m) lies below the gap that was measured."""
    worst = max(runs, key=lambda r: r["gap"] / r["nominal"])
    if worst["gap"] <= worst["nominal"]:
        return ""
    return (
        f"Here it is even broken by the trained head itself: at m = {worst['m']:.0f} the gap is "
        f"{worst['gap']:.3f} and sqrt(R/m) only {worst['nominal']:.3f}. "
    )


def caveat(fits: dict[str, Any], largest: int, seen: float) -> str:
    """What weakens the fit: a finite population, and runs whose gap was not positive."""
    return (
        f"The population is finite: {largest} draws see {100 * seen:.0f} % of its words, so the measured "
        f"gap falls faster at the largest sizes than it would for new words. Runs without a positive gap, "
        f"left out of its fit: {fits['gap'].get('left_out', 0)}."
    )


def says(fits: dict[str, Any]) -> str:
    """Whether m^-1/2 fits the measured gap, in words, and what follows from it."""
    gap = fits["gap"]
    if gap["exponent"] is None:
        return f"The measured gap has no fitted exponent ({gap['why']}). {SAYING}"
    inside = gap["low"] <= 0.5 <= gap["high"]
    verdict = "lies inside" if inside else "lies outside"
    interval = f"95 % interval {gap['low']:.2f} to {gap['high']:.2f}"
    return f"The measured gap falls like m^-{gap['exponent']:.2f} ({interval}); 1/2 {verdict} it. {SAYING}"
