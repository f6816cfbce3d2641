"""Norms and effective ranks from the enclosures of a spectrum, largest singular value first."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from mpmath import libmp

from .interval import BITS, DOWN, ONE, UP, ZERO, Interval, least, magnitude, square, total

KINDS = ("stable", "nuclear", "nuclear-frobenius", "participation", "entropy", "gram-entropy")

CHAIN = (
    ("stable", "nuclear"),
    ("nuclear", "nuclear-frobenius"),
    ("nuclear-frobenius", "entropy"),
    ("stable", "participation"),
    ("participation", "gram-entropy"),
)


def norms(spectrum: list[Interval]) -> dict[str, Interval]:
    """Spectral, Frobenius and nuclear norm."""
    return {
        "spectral": spectrum[0],
        "frobenius": total([square(s) for s in spectrum]).sqrt(),
        "nuclear": total(spectrum),
    }


def effective_ranks(spectrum: list[Interval], limit: int) -> dict[str, Interval]:
    """Every effective rank, enclosed; ``limit`` is the number of singular values not known to be 0.

    Largest-term ratios are 1 + (rest)/(largest); the others are exp of a Renyi entropy.
    """
    squares = [square(s) for s in spectrum]
    fourth = [square(s) for s in squares]
    sums = {1: total(spectrum), 2: total(squares), 4: total(fourth)}
    ranks = {
        "stable": ONE + total(squares[1:]) / squares[0],
        "nuclear": ONE + total(spectrum[1:]) / spectrum[0],
        "nuclear-frobenius": _quotient_of_powers(spectrum, sums[1], sums[2]),
        "participation": _quotient_of_powers(squares, sums[2], sums[4]),
        "entropy": _entropy(spectrum, sums[1]).exp(),
        "gram-entropy": _entropy(squares, sums[2]).exp(),
    }
    box = Interval.of(1, limit)
    return {kind: value.meet(box) for kind, value in ranks.items()}


def plain_quotients(spectrum: list[Interval]) -> dict[str, Interval]:
    """The four ratios of sums of powers from separate enclosures of numerator and denominator."""
    squares = [square(s) for s in spectrum]
    sums = total(spectrum), total(squares), total([square(s) for s in squares])
    return {
        "stable": sums[1] / squares[0],
        "nuclear": sums[0] / spectrum[0],
        "nuclear-frobenius": square(sums[0]) / sums[1],
        "participation": square(sums[1]) / sums[2],
    }


def _quotient_of_powers(x: list[Interval], s1: Interval, s2: Interval) -> Interval:
    """(sum x)^2 / sum x^2 over the box of ``x``.

    The partial derivative in x_i is 2 s1 (s2 - x_i s1) / s2^2: entries that are certainly small push the
    value up, entries that are certainly large push it down, and the mean value theorem covers the rest.
    """
    threshold = s2 / s1
    low: list[Any] = []
    high: list[Any] = []
    slack = ZERO
    for item in x:
        if libmp.mpf_lt(item.hi, threshold.lo):
            low.append(item.lo)
            high.append(item.hi)
        elif libmp.mpf_gt(item.lo, threshold.hi):
            low.append(item.hi)
            high.append(item.lo)
        else:
            middle, half = _middle(item)
            low.append(middle)
            high.append(middle)
            slope = Interval.of(2) * s1 * (s2 - item * s1) / square(s2)
            slack = slack + Interval(libmp.fzero, magnitude(slope * half))
    bottom, top = (_quotient_at(points) for points in (low, high))
    return (square(s1) / s2).meet(Interval((bottom - slack).lo, (top + slack).hi))


def _quotient_at(points: list[Any]) -> Interval:
    return square(_sum_of_points(points)) / total([square(Interval(p, p)) for p in points])


def _middle(item: Interval) -> tuple[Any, Interval]:
    """A point in the middle of an interval and the largest distance to it."""
    middle = libmp.mpf_shift(libmp.mpf_add(item.lo, item.hi, BITS, DOWN), -1)
    reach = item - Interval(middle, middle)
    return middle, Interval(libmp.fzero, magnitude(reach))


def _entropy(x: list[Interval], s: Interval) -> Interval:
    """The Shannon entropy H of x / sum(x) over the box of ``x``.

    dH/dx_i = -(log p_i + H)/S: entries with p_i < exp(-H) on the whole box push H up, entries with
    p_i > exp(-H) push it down, and the mean value theorem covers the rest. The range of H that this
    needs is improved by its own result until it no longer shrinks.
    """
    if not libmp.mpf_gt(s.lo, libmp.fzero):
        raise ArithmeticError("the entropy of a spectrum that may be zero")
    shares = [_share(item, s) for item in x]
    known: dict[Any, Interval] = {libmp.fzero: ZERO}
    enclosed = Interval(libmp.fzero, Interval.of(len(x)).log().hi)
    for _ in range(6):
        better = _entropy_once(x, s, shares, enclosed, known)
        if better is None:
            return enclosed
        better = enclosed.meet(better)
        gain = (enclosed.high() - enclosed.low()) - (better.high() - better.low())
        small = gain * 10 < enclosed.high() - enclosed.low()
        enclosed = better
        if small:
            break
    return enclosed


def _share(item: Interval, s: Interval) -> Interval:
    """p_i = x_i / (x_i + the others), increasing in x_i and decreasing in the others."""
    others_high = libmp.mpf_sub(s.hi, item.hi, BITS, UP)
    others_low = libmp.mpf_sub(s.lo, item.lo, BITS, DOWN)
    if libmp.mpf_lt(others_low, libmp.fzero):
        others_low = libmp.fzero
    low = libmp.mpf_div(item.lo, libmp.mpf_add(item.lo, others_high, BITS, UP), BITS, DOWN)
    high = libmp.mpf_div(item.hi, libmp.mpf_add(item.hi, others_low, BITS, DOWN), BITS, UP)
    return Interval(low, least([high, libmp.fone]))


def _entropy_once(
    x: list[Interval], s: Interval, shares: list[Interval], h: Interval, known: dict[Any, Interval]
) -> Interval | None:
    """One improvement of the range ``h`` of H, or None when an entry that may be 0 has no finite slope."""
    threshold = (-h).exp()
    low: list[Any] = []
    high: list[Any] = []
    slack = ZERO
    for item, p in zip(x, shares, strict=True):
        if libmp.mpf_lt(p.hi, threshold.lo):
            low.append(item.lo)
            high.append(item.hi)
        elif libmp.mpf_gt(p.lo, threshold.hi):
            low.append(item.hi)
            high.append(item.lo)
        elif item.lo == libmp.fzero:
            return None
        else:
            middle, half = _middle(item)
            low.append(middle)
            high.append(middle)
            slope = (p.log() + h) / s
            slack = slack + Interval(libmp.fzero, magnitude(slope * half))
    bottom, top = _entropy_at(low, known) - slack, _entropy_at(high, known) + slack
    return Interval(bottom.lo, top.hi)


def _entropy_at(points: list[Any], known: dict[Any, Interval]) -> Interval:
    """H at a vector of exact points; ``known`` keeps x log x of each point."""
    for point in points:
        if point not in known:
            log = Interval(point, point).log()
            low, high = libmp.mpf_mul(point, log.lo, BITS, DOWN), libmp.mpf_mul(point, log.hi, BITS, UP)
            known[point] = Interval(low, high)
    s = _sum_of_points(points)
    return s.log() - total([known[p] for p in points]) / s


def _sum_of_points(points: list[Any]) -> Interval:
    lo = hi = libmp.fzero
    for point in points:
        lo, hi = libmp.mpf_add(lo, point, BITS, DOWN), libmp.mpf_add(hi, point, BITS, UP)
    return Interval(lo, hi)


def numerical_rank(spectrum: list[tuple[Fraction, Fraction]], epsilon: Fraction) -> tuple[int, int]:
    """Enclosure of #{i: sigma_i > epsilon sigma_1} for 0 <= epsilon < 1; exact arithmetic."""
    (first_low, first_high), rest = spectrum[0], spectrum[1:]
    sure = 1 + sum(1 for low, _ in rest if low > epsilon * first_high)
    possible = len(spectrum) - sum(1 for _, high in rest if high <= epsilon * first_low)
    return sure, possible


def energy_rank(spectrum: list[tuple[Fraction, Fraction]], level: Fraction) -> tuple[int, int]:
    """Enclosure of the least k whose first k squares hold the share ``level`` of all; exact arithmetic."""
    lows = [low * low for low, _ in spectrum]
    highs = [high * high for _, high in spectrum]
    n = len(spectrum)
    head_low, head_high = Fraction(0), Fraction(0)
    tail_low, tail_high = sum(lows, Fraction(0)), sum(highs, Fraction(0))
    lower, upper, undecided = n, n, True
    for k in range(1, n + 1):
        head_low, head_high = head_low + lows[k - 1], head_high + highs[k - 1]
        tail_low, tail_high = tail_low - lows[k - 1], tail_high - highs[k - 1]
        # share = head / (head + tail), extremal at (low head, high tail) and the other way round
        if undecided and not head_high < level * (head_high + tail_low):
            lower, undecided = k, False
        if head_low >= level * (head_low + tail_high):
            upper = k
            break
    return lower, upper


def as_integers(values: list[tuple[Fraction, Fraction]]) -> list[tuple[Any, Any]]:
    """The same numbers times one integer, as integers (both integer ranks ignore scale)."""
    scale = math.lcm(*(end.denominator for both in values for end in both))
    return [(int(low * scale), int(high * scale)) for low, high in values]
