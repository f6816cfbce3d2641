"""Two inverse tail functions as enclosures: the kl inverse and the binomial tail inverse.

Both are monotone in every argument, so each end of the result comes from one end of the arguments,
and both are found by bisection on dyadic points where every accepted step is a certified inequality.
"""

from __future__ import annotations

from collections.abc import Callable

import flint

from certify.errors import NotCertified
from certify.kernel.directed import rational
from certify.kernel.enclosure import Enclosure

arb = flint.arb

_BITS = 192
_STEPS = 72  # bisection steps: 2^-72 absolute, or until a comparison is undecided


Test = Callable[[arb], bool]


def _bisect(low: arb, high: arb, below: Test, above: Test) -> tuple[arb, arb]:
    """Shrink [low, high] around a crossing: ``below(p)`` certifies crossing >= p, ``above(p)`` <= p."""
    for _ in range(_STEPS):
        middle = ((low + high) / 2).mid()
        if below(middle):
            low = middle
        elif above(middle):
            high = middle
        else:
            break
    return low, high


def _kl(q: arb, p: arb) -> arb:
    """Binary relative entropy kl(q || p) for 0 <= q <= p, 0 < p < 1."""
    total = (1 - q) * ((1 - q) / (1 - p)).log() if q < 1 else arb(0)
    return total + q * (q / p).log() if q > 0 else total


def _kl_inverse_at(q: arb, c: arb) -> tuple[arb, arb]:
    """Ends around max{p in [q, 1] : kl(q || p) <= c} for exact 0 <= q <= 1 and c >= 0."""
    if not q < 1:
        return arb(1), arb(1)
    return _bisect(q, arb(1), lambda p: bool(_kl(q, p) <= c), lambda p: bool(_kl(q, p) >= c))


def kl_inverse(q: Enclosure, c: Enclosure) -> Enclosure:
    """``max{p in [q, 1] : kl(q || p) <= c}`` for a probability q and c >= 0; increasing in both.

    p -> kl(q || p) is increasing on [q, 1), so kl(q || p) <= c proves p <= the maximum and
    kl(q || p) >= c proves p >= it (Seeger 2002; Langford 2005). The true q lies in [0, 1] and the
    true c is >= 0 whenever the function is defined, so the ends are clipped there.
    """
    zero, one = arb(0), arb(1)
    (q_low, q_high), (c_low, c_high) = q.endpoints, c.endpoints
    if q_low > one or q_high < zero:
        raise NotCertified(f"kl_inverse: {q} is not a probability")
    if c_high < zero:
        raise NotCertified(f"kl_inverse: the budget {c} is negative")
    with flint.ctx.workprec(_BITS):
        low, _ = _kl_inverse_at(q_low if q_low > zero else zero, c_low if c_low > zero else zero)
        _, high = _kl_inverse_at(q_high if q_high < one else one, c_high)
    return Enclosure(low, high, q.assumptions | c.assumptions)


def _tail_sum(first: arb, ratio: Callable[[int], arb], terms: int) -> arb:
    """first * (1 + r_1 + r_1 r_2 + ...), ``terms`` terms, ratios r_i >= 0 not increasing in i.

    The sum stops early once the rest, at most term * r / (1 - r), is below 2^-100 of the sum.
    """
    total, term = first, first
    for i in range(1, terms):
        r = ratio(i)
        term = term * r
        total = total + term
        if i % 16 == 0 and r < 1:
            rest = term * r / (1 - r)
            if rest < total * arb(2) ** -100:
                return total + arb(0).union(rest)
    return total


def binomial_tail(k: int, n: int, p: arb) -> arb:
    """A ball containing P(Bin(n, p) <= k) for 0 <= k < n and an exact 0 < p < 1."""
    odds = p / (1 - p)
    if p * n >= k:  # the terms k, k-1, ..., 0 decrease
        first = arb.bin_uiui(n, k) * p**k * (1 - p) ** (n - k)
        return _tail_sum(first, lambda i: arb(k - i + 1) / (arb(n - k + i) * odds), k + 1)
    j = k + 1  # the terms k+1, k+2, ..., n decrease: the complement
    first = arb.bin_uiui(n, j) * p**j * (1 - p) ** (n - j)
    return 1 - _tail_sum(first, lambda i: arb(n - j - i + 1) * odds / arb(j + i), n - j + 1)


def _binomial_inverse_at(k: int, n: int, delta: arb) -> tuple[arb, arb]:
    if k >= n or not delta > 0:
        return arb(1), arb(1)
    if delta >= 1:
        return arb(0), arb(0)  # P(Bin(n, p) <= k) < 1 for every p > 0 when k < n
    at_least: Test = lambda p: bool(binomial_tail(k, n, p) >= delta)  # noqa: E731
    at_most: Test = lambda p: bool(binomial_tail(k, n, p) <= delta)  # noqa: E731
    return _bisect(arb(0), arb(1), at_least, at_most)


def _integer_end(name: str, end: arb) -> int:
    value = rational(end)
    if value.denominator != 1:
        raise NotCertified(f"binomial_tail_inverse: {name} must be an integer, found {value}")
    return value.numerator


def binomial_tail_inverse(k: Enclosure, n: Enclosure, delta: Enclosure) -> Enclosure:
    """``sup{p : P(Bin(n, p) <= k) >= delta}``: increasing in k, decreasing in n and delta.

    The tail is continuous and decreasing in p, so a certified value >= delta (<= delta) at p proves
    that p is a lower (upper) bound (Clopper & Pearson 1934; Langford 2005). k >= n gives 1.
    """
    k_low, k_high = (_integer_end("k", end) for end in k.endpoints)
    n_low, n_high = (_integer_end("n", end) for end in n.endpoints)
    if k_low < 0 or n_low < 1:
        raise NotCertified(f"binomial_tail_inverse: needs k >= 0 and n >= 1, found k={k_low}, n={n_low}")
    delta_low, delta_high = delta.endpoints
    if delta_high <= 0 or delta_low > 1:
        raise NotCertified(f"binomial_tail_inverse: delta = {delta} is not in (0, 1]")
    with flint.ctx.workprec(_BITS):
        low, _ = _binomial_inverse_at(k_low, n_high, delta_high)
        _, high = _binomial_inverse_at(k_high, n_low, delta_low)
    return Enclosure(low, high, k.assumptions | n.assumptions | delta.assumptions)
