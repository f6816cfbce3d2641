"""From a head and its training sample to the table of bounds and the certificates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from certify.bounds.risk import norm_bounds
from certify.bounds.risk.classical import comparison, on_trained_features
from certify.bounds.risk.entries import Bound, without_standing
from certify.bounds.risk.families import Family
from certify.bounds.risk.fitting import Candidate, SoftmaxFit, compress, fit_for, learned_prior
from certify.bounds.risk.heads import Head, SoftmaxHead
from certify.bounds.risk.noise import Gaussian, Prior, best_exponents, seed_of
from certify.bounds.risk.occam import COMPRESSED, occam, occam_ramp
from certify.bounds.risk.pac_bayes import DRAWN, FROM_PART_1, GIBBS, gibbs, single
from certify.bounds.risk.samples import Sample
from certify.bounds.risk.table import Table, Truth
from certify.bounds.risk.test_set import held_out
from certify.codec import certificate_file
from certify.errors import DataError

Progress = Callable[[str], None]
RAMP_WIDTH = 1.0  # fixed here, before any sample
STEPS = (
    "train the head",
    "compress it",
    "posterior on the whole sample",
    "prior on the first part",
    "posterior near that prior",
    "theorem D",
    "theorem E",
    "norm bounds and test set",
    "done",
)
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

    def step(self, name: str) -> None:
        """Say that the step ``name`` of STEPS begins, in the form that moves a bar."""
        self.progress(f"risk: {STEPS.index(name)} of {len(STEPS) - 1} {name}")


@dataclass(frozen=True)
class Noisy:
    """A head with noise: posterior, prior, one draw. Units before ``first`` only served to learn the
    prior."""

    posterior: Gaussian
    prior: Prior
    drawn: tuple[np.ndarray, ...]
    first: int = 0

    def subject(self, name: str) -> str:
        """What the bounds call the head."""
        return name + FROM_PART_1 if self.first else name


@dataclass(frozen=True)
class Heads:
    """All heads that the bounds speak of.

    ``noisy``: with a centred prior, and with a learned one. ``first_part``: trained on the units before the
    second one's ``first``; ``onward``: of a softmax head, the same with its scores trained on the rest.
    """

    family: Family
    trained: Head
    compressed: Candidate
    noisy: tuple[Noisy, ...]
    first_part: Head
    onward: SoftmaxHead | None = None

    def fixed(self) -> dict[str, Head]:
        """The deterministic heads by their subject."""
        drawn = {noisy.subject(DRAWN): self.family.drawn(noisy.drawn) for noisy in self.noisy}
        onward = {} if self.onward is None else {norm_bounds.SCORES_ALONE: self.onward}
        return {COMPRESSED: self.compressed.head, norm_bounds.TRAINED: self.trained, **drawn, **onward}


def outputs_for(sample: Sample, trained: Head | None) -> int:
    """Outputs of the heads: those of the trained one, else one for two classes or one for each class."""
    classes = int(sample.labels.max()) + 1
    if trained is None:
        return 1 if classes <= 2 else classes
    outputs = trained.outputs
    if trained.kind != sample.kind or classes > max(2, outputs):
        raise DataError(
            f"the head reads {trained.kind} and has {outputs} outputs; the sample holds {sample.kind} of "
            f"{classes} classes"
        )
    return outputs


def fit_heads(sample: Sample, plan: Plan, trained: Head | None = None) -> Heads:
    """Train, compress and blur; nothing of it is trusted."""
    outputs = outputs_for(sample, trained)
    fit = fit_for(sample, plan.effort, plan.seed, outputs)
    plan.step("train the head")
    head = fit.plain() if trained is None else trained
    plan.step("compress it")
    compressed = compress(fit, head, plan.levels, plan.progress)
    plan.step("posterior on the whole sample")
    q = fit.gaussian(head, None)
    whole = Noisy(q, Prior(best_exponents(q)), q.draw(seed_of(sample, q, "draw")))
    at = int(len(sample) * SPLIT)
    plan.step("prior on the first part")
    first = fit_for(sample.part(slice(0, at)), plan.effort, plan.seed, outputs)
    before, rest = first.plain(), sample.part(slice(at, None))
    learned = learned_prior(fit.family, before)
    plan.step("posterior near that prior")
    q = fit.gaussian(head, learned)
    split = Noisy(q, Prior(learned=learned), q.draw(seed_of(rest, q, "draw")), at)
    onward = (
        SoftmaxFit(rest, plan.effort, plan.seed).scores_alone(before)
        if isinstance(before, SoftmaxHead)
        else None
    )
    return Heads(fit.family, head, compressed, (whole, split), before, onward)


def bounds_of(heads: Heads, sample: Sample, test: Sample | None, plan: Plan) -> list[Bound]:
    """Every bound on every head."""
    family, word = heads.family, heads.compressed.word
    plan.step("theorem D")
    found = [
        occam(word, family, sample, plan.delta),
        occam_ramp(word, family, sample, plan.delta, RAMP_WIDTH),
    ]
    plan.step("theorem E")
    for noisy in heads.noisy:
        q, prior, part = noisy.posterior, noisy.prior, sample.part(slice(noisy.first, None))
        found.append(gibbs(q, prior, family, part, plan.delta, plan.passes))
        found.append(single(noisy.drawn, q, prior, family, part, plan.delta))
    plan.step("norm bounds and test set")
    if plan.norms:
        found += norm_bounds.all_of(heads.trained, sample, plan.delta)
        if heads.onward is not None and isinstance(heads.first_part, SoftmaxHead):
            rest, start = sample.part(slice(heads.noisy[1].first, None)), heads.first_part.scores
            found.append(norm_bounds.scores_alone(heads.onward, start, rest, plan.delta))
    if test is not None:
        found += [held_out(head, name, test, plan.delta) for name, head in heads.fixed().items()]
    plan.step("done")
    return [replace(bound, chance=family.chance) for bound in found]


def write_certificates(heads: Heads, sample: Sample, bounds: list[Bound], out: Path) -> dict[str, str]:
    """``model.cert`` (D) and two certificates for each noisy head; names and what each holds."""
    by = {(b.theorem, b.subject): b for b in bounds if b.loss == "0-1"}
    document = certificate_file.occam_certificate(
        heads.compressed.word, heads.family, by["D-binomial", COMPRESSED], sample
    )
    certificate_file.write(out / "model.cert", document)
    written = {"model.cert": "theorem D, compressed head"}
    for (theorem, subject), bound in by.items():
        for noisy in heads.noisy:
            kind = {noisy.subject(GIBBS): "E", noisy.subject(DRAWN): "E-single"}.get(subject)
            if kind is None or not theorem.startswith("E"):
                continue
            name = ("split-" if noisy.first else "") + ("gibbs.cert" if kind == "E" else "drawn.cert")
            document = certificate_file.noise_certificate(
                kind, heads.family, noisy.posterior, noisy.prior, bound, sample, noisy.first
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
    classical = comparison(heads.trained, sample, plan.delta)
    if violation:
        bounds = [without_standing(bound, violation) for bound in bounds]
        classical = on_trained_features(classical, violation)
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
        classical,
        truth(heads) if truth else {},
        certificates,
        unit,
    )
    return table, heads
