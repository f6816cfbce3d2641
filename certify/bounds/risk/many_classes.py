"""More than two classes on frozen features: theorem D and the test set. Theorem E is for two classes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from certify.bounds.risk.classical import comparison
from certify.bounds.risk.entries import without_standing
from certify.bounds.risk.fitting import Candidate, exponent_near, surrogate
from certify.bounds.risk.heads import Head, LinearHead
from certify.bounds.risk.norm_bounds import TRAINED
from certify.bounds.risk.occam import COMPRESSED, Family, decoded, occam
from certify.bounds.risk.run import Plan
from certify.bounds.risk.samples import Sample
from certify.bounds.risk.table import Table
from certify.bounds.risk.test_set import held_out
from certify.codec import certificate_file
from certify.codec.matrices import QuantisedMatrix, encode, step
from certify.errors import DataError
from certify.oracles.linear_training import train_classes

GRIDS = ((1, 0.8, 3e-5), (1, 0.8, 3e-4), (1, 1.4, 1e-4), (2, 1.4, 1e-4))


def compress_classes(head: LinearHead, sample: Sample, plan: Plan) -> Candidate:
    """The quantised head whose bound by Theorem D is smallest: the factor of full rank is the identity."""
    start = np.vstack([head.weight, head.bias])
    classes, family = start.shape[1], Family("linear-head", sample.dimension, start.shape[1])
    best: tuple[float, Candidate] | None = None
    for levels, width, penalty in GRIDS:
        exponent = exponent_near(max(1e-6, float(np.std(start)) * width / levels))
        grid = (start, levels, step(exponent), penalty)
        integers = train_classes(
            sample.inputs, sample.labels, classes, grid, max(10, round(300 * plan.effort))
        )
        identity = np.eye(classes, dtype=np.int64)
        word = encode([QuantisedMatrix(integers, identity, levels, exponent)])
        candidate = Candidate(word, decoded(word, family))
        errors = candidate.head.margins(sample).errors()
        value = surrogate(errors, len(sample), word.length * math.log(2))
        plan.progress(f"compress: {word.length} bits, {errors} errors, bound about {value:.4f}")
        if best is None or value < best[0]:
            best = (value, candidate)
    if best is None:
        raise DataError("no quantisation was tried")
    return best[1]


def run_many_classes(
    sample: Sample,
    out: Path,
    plan: Plan,
    *,
    trained: Head | None,
    test: Sample | None,
    data: Mapping[str, Any],
    violation: str = "",
) -> Table:
    """Train if no head is given, compress, bound, write ``train.npz`` and ``model.cert``."""
    classes = int(sample.labels.max()) + 1
    if sample.kind != "features" or sample.dimension + 1 < classes:
        raise DataError(f"{classes} classes need features of at least {classes - 1} dimensions")
    if trained is None:
        weight = train_classes(sample.inputs, sample.labels, classes)
        trained = LinearHead(weight[:-1], weight[-1])
    if not isinstance(trained, LinearHead) or trained.weight.shape[1] < classes:
        raise DataError(f"the head has too few outputs for {classes} classes")
    small = compress_classes(trained, sample, plan)
    family = Family("linear-head", sample.dimension, trained.weight.shape[1])
    bounds = [occam(small.word, family, sample, plan.delta)]
    if test is not None:
        heads = {COMPRESSED: small.head, TRAINED: trained}
        bounds += [
            replace(held_out(h, n, test, plan.delta), chance=bounds[0].chance) for n, h in heads.items()
        ]
    out.mkdir(parents=True, exist_ok=True)
    sample.save(out / "train.npz")
    certificates = {}
    if violation:
        bounds = [without_standing(bound, violation) for bound in bounds]
    else:
        document = certificate_file.occam_certificate(small.word, family, bounds[0], sample)
        certificate_file.write(out / "model.cert", document)
        certificates = {"model.cert": "theorem D, compressed head"}
    described = {"m": len(sample), "kind": sample.kind, "dimension": sample.dimension, **data}
    described["sha256"] = sample.digest()
    classical = comparison(trained, sample, plan.delta)
    return Table(described, bounds, plan.delta, classical, {}, certificates)
