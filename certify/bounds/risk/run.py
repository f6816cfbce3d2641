"""From a head and its training sample to the table of bounds and the certificates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from certify.bounds.risk import norm_bounds, pac_bayes
from certify.bounds.risk.classical import comparison
from certify.bounds.risk.entries import Bound, without_standing
from certify.bounds.risk.fitting import Candidate, Fit, SoftmaxFit, compress, fit_for, learned_prior
from certify.bounds.risk.heads import Head, LinearHead, SoftmaxHead
from certify.bounds.risk.occam import COMPRESSED, occam, occam_ramp
from certify.bounds.risk.pac_bayes import Gaussian, Prior
from certify.bounds.risk.samples import Sample
from certify.bounds.risk.table import Table, Truth
from certify.bounds.risk.test_set import held_out
from certify.codec import certificate_file

Progress = Callable[[str], None]
RAMP_WIDTH = 1.0  # fixed here, before any sample
SPLIT = Fraction(1, 2)  # share of the sample on which the prior of E-split is learned, fixed here


@dataclass
class Plan:
    """What to compute. ``passes``: Monte-Carlo draws for each unit; ``effort``: scales the epochs."""

    delta: Fraction = Fraction(1, 20)
    passes: int = 4
    effort: float = 1.0
    seed: int = 0
    levels: tuple[int, ...] | None = None
    norms: bool = True
    progress: Progress = field(default=lambda text: None)


@dataclass
class Heads:
    """All heads that the bounds speak of."""

    fit: Fit
    trained: Head
    compressed: Candidate
    posterior: Gaussian
    prior: Prior
    drawn: tuple[np.ndarray, ...]
    split_at: int
    split_posterior: Gaussian
    split_prior: Prior
    split_drawn: tuple[np.ndarray, ...]

    def single(self, drawn: tuple[np.ndarray, ...]) -> Head:
        """A drawn vector as a head."""
        if isinstance(self.fit, SoftmaxFit):
            return SoftmaxHead(drawn[0], drawn[1][:, None])
        return LinearHead(drawn[0][:-1, None], drawn[0][-1:])


def fit_heads(sample: Sample, plan: Plan, trained: Head | None = None) -> Heads:
    """Train, compress and blur; nothing of it is trusted."""
    fit = fit_for(sample, plan.effort, plan.seed)
    plan.progress("train the head")
    head = fit.plain() if trained is None else trained
    compressed = compress(fit, head, plan.levels, plan.progress)
    plan.progress("noise: posterior on the whole sample")
    q, prior = _best_posterior(fit, head)
    at = int(len(sample) * SPLIT)
    plan.progress(f"noise: prior on units 0..{at - 1}")
    first = fit_for(sample.part(slice(0, at)), plan.effort, plan.seed)
    learned = learned_prior(first.plain())
    plan.progress("noise: posterior near that prior")
    moved = fit.gaussian(head, learned)  # type: ignore[arg-type]
    rest = sample.part(slice(at, None))
    return Heads(
        fit,
        head,
        compressed,
        q,
        prior,
        q.draw(pac_bayes.seed_of(sample, q, "draw")),
        at,
        moved,
        Prior(learned=learned),
        moved.draw(pac_bayes.seed_of(rest, moved, "draw")),
    )


def _best_posterior(fit: Fit, head: Head) -> tuple[Gaussian, Prior]:
    """The posterior for one slope; heuristic, any is sound."""
    q = fit.gaussian(head, None)  # type: ignore[arg-type]
    return q, Prior(pac_bayes.best_exponents(q))


def bounds_of(heads: Heads, sample: Sample, test: Sample | None, plan: Plan) -> list[Bound]:
    """Every bound on every head."""
    word, family = heads.compressed.word, heads.fit.family
    rest = sample.part(slice(heads.split_at, None))
    plan.progress("theorem D")
    found = [
        occam(word, family, sample, plan.delta),
        occam_ramp(word, family, sample, plan.delta, RAMP_WIDTH),
    ]
    plan.progress("theorem E")
    for q, prior, drawn, part in (
        (heads.posterior, heads.prior, heads.drawn, sample),
        (heads.split_posterior, heads.split_prior, heads.split_drawn, rest),
    ):
        if isinstance(heads.fit, SoftmaxFit):
            found.append(pac_bayes.gibbs_softmax(q, prior, part, plan.delta, plan.passes))
        else:
            found.append(pac_bayes.gibbs_linear(q, prior, part, plan.delta))
        found.append(pac_bayes.single(heads.single(drawn), drawn, q, prior, part, plan.delta))
    if plan.norms:
        plan.progress("norm bounds")
        if isinstance(heads.trained, LinearHead):
            found.append(norm_bounds.linear_readout(heads.trained, sample, plan.delta))
        else:
            found += [f(heads.trained, sample, plan.delta) for f in _NORMS]
    if test is not None:
        named = {
            COMPRESSED: heads.compressed.head,
            norm_bounds.TRAINED: heads.trained,
            pac_bayes.DRAWN: heads.single(heads.drawn),
        }
        found += [held_out(head, name, test, plan.delta) for name, head in named.items()]
    return found


_NORMS = (norm_bounds.joint, norm_bounds.covering, norm_bounds.margin_bound, norm_bounds.scores_alone)


def write_certificates(heads: Heads, sample: Sample, bounds: list[Bound], out: Path) -> dict[str, str]:
    """``model.cert`` (D) and the four noise certificates; names and what each holds."""
    family, at = heads.fit.family, heads.split_at
    by = {(b.theorem, b.subject): b for b in bounds if b.loss == "0-1"}
    certificate_file.write(
        out / "model.cert",
        certificate_file.occam_certificate(heads.compressed.word, family, by["D", COMPRESSED], sample),
    )
    written = {"model.cert": "theorem D, compressed head"}
    for (theorem, subject), bound in by.items():
        if not theorem.startswith("E"):
            continue
        split = "part 1" in subject
        kind = "E-single" if theorem == "E-single" else "E"
        q, prior = (heads.split_posterior, heads.split_prior) if split else (heads.posterior, heads.prior)
        name = ("split-" if split else "") + ("drawn.cert" if kind == "E-single" else "gibbs.cert")
        document = certificate_file.noise_certificate(
            kind, family, q, prior, bound, sample, at if split else 0
        )
        certificate_file.write(out / name, document)
        written[name] = f"theorem {bound.note}, {subject}"
    return written


def run_risk(
    sample: Sample,
    out: Path,
    plan: Plan,
    *,
    trained: Head | None = None,
    test: Sample | None = None,
    truth: Callable[[Heads], Mapping[str, Truth]] | None = None,
    data: Mapping[str, Any] | None = None,
    unit: str = "unit",
    violation: str = "",
) -> tuple[Table, Heads]:
    """Fit, bound, write ``train.npz``, the certificates and return the table.

    ``violation``: why the standing hypothesis fails; then only a test set says anything.
    """
    out.mkdir(parents=True, exist_ok=True)
    if violation:
        plan = replace(plan, effort=min(plan.effort, 0.05))  # their bounds will not be printed
    heads = fit_heads(sample, plan, trained)
    bounds = bounds_of(heads, sample, test, plan)
    sample.save(out / "train.npz")
    if violation:
        bounds = [without_standing(bound, violation) for bound in bounds]
    certificates = {} if violation else write_certificates(heads, sample, bounds, out)
    described = {
        "m": len(sample),
        "kind": sample.kind,
        "dimension": sample.dimension,
        "sha256": sample.digest(),
        "test": None if test is None else len(test),
        **(data or {}),
    }
    table = Table(
        described,
        bounds,
        plan.delta,
        comparison(heads.trained, sample, plan.delta),
        truth(heads) if truth else {},
        certificates,
        unit,
    )
    return table, heads
