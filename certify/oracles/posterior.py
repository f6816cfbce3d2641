"""What the trainings of a noisy head share: an oracle's objective, which estimates the PAC-Bayes bound."""

from __future__ import annotations

import math

import torch

Tensor = torch.Tensor
CONFIDENCE = math.log(1e4)  # about log(2 sqrt(m) / delta)


def divergence(means: list[Tensor], logs: list[Tensor], prior: list[tuple[Tensor, Tensor]] | None) -> Tensor:
    """KL of Gaussians, given by means and log deviations in groups, to ``prior`` (means, deviations).

    None: to a centred prior with one variance for each group, at its best for the posterior.
    """
    total = torch.zeros(())
    for index, (mean, log) in enumerate(zip(means, logs, strict=True)):
        spread = (2 * log).exp()
        if prior is None:
            total = total + 0.5 * ((spread + mean**2).mean().log() - 2 * log).sum()
        else:
            centre, deviation = prior[index]
            ratio = spread / deviation**2
            total = total + 0.5 * (ratio - 1 - ratio.log() + ((mean - centre) / deviation) ** 2).sum()
    return total


def objective(risk: Tensor, kl: Tensor, n: int) -> Tensor:
    """risk + slope * KL / n, the slope at its best for the present risk and KL.

    That is (risk / (1 - l/2) + (KL + c) / (n l (1 - l/2))) with the l > 0 that minimises it, up to a factor
    (N. Thiemann, C. Igel, O. Wintenberger, Y. Seldin 2017, arXiv:1608.05610): the slope is 1/l.
    """
    with torch.no_grad():
        slope = ((2 * n * risk / (kl + CONFIDENCE) + 1).sqrt() + 1) / 2
    return risk + slope * kl / n
