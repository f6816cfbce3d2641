"""Goals about printed bounds that contain an inverse: of the relative entropy, or of the binomial tail.

``kl_inverse q c <= u`` follows from one comparison, ``c < kl(q || u)``. A formula with such nodes inside is
taken apart from within: each inner node gets a bound of its own, found here numerically and proved by Coq.
``binomial_tail_inverse`` is bounded by a computation with integers inside Coq (``BinomialBound.v``).
Nothing computed here is trusted: a wrong number makes a goal that does not compile.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from mpmath import iv

from proofs.bridge.coq_text import NotInCoq, number, to_coq
from proofs.export import Nested
from proofs.interval import NotProved, enclose

Range = tuple[Fraction, Fraction]

PRECISION = 128
BITS = 200
GRID = 10**30
"""Inner bounds are fractions with this denominator: far finer than the last printed digit."""
_NUMERIC = f"first [lra | interval with (i_prec {PRECISION})]"


def mentions(tree: Nested, head: str) -> bool:
    """Whether the node ``head`` occurs in the tree."""
    return not isinstance(tree, str) and (tree[0] == head or any(mentions(part, head) for part in tree[1:]))


@dataclass(frozen=True)
class Printed:
    """A theorem to be: its name, the quantifiers of its inputs, and the decimal that is claimed."""

    name: str
    quantifiers: str
    limit: str


# Inverses of the relative entropy


@dataclass
class _Context:
    """Names and ranges of symbols; the Coq lines that bound the inner nodes."""

    names: dict[str, str]
    known: dict[str, Range]
    lines: list[str] = field(default_factory=list)

    def text(self, tree: Nested) -> str:
        return to_coq(tree, self.names, "report")

    def ends(self, tree: Nested) -> Range:
        """Fractions below and above the value of a formula without inverses."""
        if isinstance(tree, str) and tree in self.known:
            return self.known[tree]
        saved, iv.prec = iv.prec, BITS
        try:
            value = enclose(tree, {name: _interval(ends) for name, ends in self.known.items()})
            return Fraction(int(iv.mpf(value.a * GRID).a) - 1, GRID), Fraction(
                int(iv.mpf(value.b * GRID).b) + 1, GRID
            )
        except NotProved as problem:
            raise NotInCoq(str(problem)) from None
        finally:
            iv.prec = saved


def entropy_goal(tree: Nested, names: Mapping[str, str], known: Mapping[str, Range], printed: Printed) -> str:
    """The theorem that a formula with ``kl_inverse`` nodes is at most a printed decimal."""
    context = _Context(dict(names), dict(known))
    statement = context.text(tree)
    if isinstance(tree, tuple) and tree[0] == "kl_inverse":
        node = (tree[0], _flat(tree[1], context), _flat(tree[2], context))
        last = _comparison(node, context, printed.limit)
    else:
        _flat(tree, context)
        last = f"interval with (i_prec {PRECISION})."
    steps = "\n".join(["intros.", *context.lines, last])
    claim = f"{printed.quantifiers}{statement} <= {printed.limit}"
    return f"Theorem {printed.name} : {claim}.\nProof. {steps} Qed.\n"


def _flat(tree: Nested, context: _Context) -> Nested:
    """The tree with every ``kl_inverse`` node replaced by a symbol, whose range is proved in ``lines``."""
    if isinstance(tree, str):
        return tree
    parts = (tree[0], *(_flat(part, context) for part in tree[1:]))
    if tree[0] != "kl_inverse":
        return parts
    low, top = context.ends(parts[1])
    high = _inverse(top, context.ends(parts[2])[1])
    symbol, text = f"inner_{len(context.lines)}", context.text(parts)
    share = _between(parts[1], context, Fraction(1))
    context.lines.append(
        f"assert (H_{symbol} : {number(max(low, Fraction(0)))} <= {text} <= {number(high)}).\n"
        f"{{ split; [eapply Rle_trans; [| apply kl_inverse_range; {share}]; {_at_least(parts[1])} |].\n"
        f"{_comparison(parts, context, number(high))} }}\n"
        f"generalize dependent {text}; intros {symbol} H_{symbol}."
    )
    context.names[symbol], context.known[symbol] = symbol, (max(low, Fraction(0)), high)
    return symbol


def _comparison(node: tuple[Nested, ...], context: _Context, limit: str) -> str:
    """Tactics for ``kl_inverse q c <= limit``: q is raised to a number, then one comparison."""
    top = context.ends(node[1])[1]
    unfold = "rewrite kl_zero by lra" if top == 0 else "unfold kl"
    return (
        f"apply Rle_trans with (kl_inverse {number(top)} {context.text(node[2])}).\n"
        f"{{ apply kl_inverse_mono; [{_between(node[1], context, top)} | lra]. }}\n"
        f"apply kl_inverse_upper; [lra | lra |]. {unfold}. unfold Rmax. repeat destruct Rle_dec; "
        f"apply Rminus_lt_0; interval with (i_prec {PRECISION})."
    )


def _between(share: Nested, context: _Context, high: Fraction) -> str:
    """Tactics for ``0 <= share <= high``."""
    upper = _NUMERIC
    if isinstance(share, tuple) and share[0] == "min" and len(share) == 3:
        first, second = (context.ends(part)[1] for part in share[1:])
        upper = f"eapply Rle_trans; [apply Rmin_{'l' if first <= second else 'r'} | {_NUMERIC}]"
    return f"split; [{_at_least(share)} | {upper}]"


def _at_least(share: Nested) -> str:
    """Tactics for a lower bound of ``share``."""
    return (
        f"repeat apply Rmin_glb; {_NUMERIC}" if isinstance(share, tuple) and share[0] == "min" else _NUMERIC
    )


def _interval(ends: Range) -> Any:
    low, high = (iv.mpf(end.numerator) / iv.mpf(end.denominator) for end in ends)
    return iv.mpf([low.a, high.b])


def _inverse(share: Fraction, price: Fraction) -> Fraction:
    """A number above ``kl_inverse(share, price)``, by bisection."""
    saved, iv.prec = iv.prec, BITS
    try:
        low, high = share, Fraction(1)
        while high - low > Fraction(1, 10 * GRID):
            middle = (low + high) / 2
            low, high = (
                (middle, high) if _entropy(share, middle).a <= _interval((price, price)).b else (low, middle)
            )
        return Fraction(int(high * GRID) + 2, GRID)
    finally:
        iv.prec = saved


def _entropy(q: Fraction, p: Fraction) -> Any:
    total = iv.mpf(0)
    for a, b in ((q, p), (1 - q, 1 - p)):
        if a > 0:
            total += _interval((a, a)) * iv.log(_interval((a / b, a / b)))
    return total


# Binomial tails


def binomial_goal(
    tree: Nested, names: Mapping[str, str], known: Mapping[str, Range], printed: Printed
) -> str:
    """The theorem that ``binomial_tail_inverse k n level`` is at most a printed decimal."""
    if not isinstance(tree, tuple) or tree[0] != "binomial_tail_inverse":
        raise NotInCoq("a binomial tail inside another formula")
    k, n = (_count(part, known) for part in tree[1:3])
    delta, bits = _level(tree[3])
    least = known[delta][0] if delta in known else Fraction(delta)
    whole, _, decimals = printed.limit.partition(".")
    top, scale = int(whole + decimals), 10 ** len(decimals)
    below, enough = str(least.denominator), "lra"
    if bits:
        size = _count(bits, known)
        below = f"({least.denominator} * 2 ^ {size})"
        enough = f"apply (level_of_bits {size} {least.numerator} {least.denominator}); [lia | lia | lra]"
    return (
        f"Theorem {printed.name} : {printed.quantifiers}binomial_tail_inverse (Z.to_nat {k}) (Z.to_nat {n}) "
        f"{to_coq(tree[3], names, 'report')} <= {printed.limit}.\n"
        f"Proof. intros. apply (tail_below_correct {k} {n} {least.numerator} {below} {top} {scale}); "
        f"[vm_cast_no_check (eq_refl true) | {enough}]. Qed.\n"
    )


def _count(tree: Nested, known: Mapping[str, Range]) -> int:
    """A whole number that the record knows exactly."""
    if not isinstance(tree, str) or tree not in known or known[tree][0] != known[tree][1]:
        raise NotInCoq(f"the binomial tail needs {tree} as an exact number")
    value = known[tree][0]
    if value.denominator != 1:
        raise NotInCoq(f"{tree} is not a whole number")
    return int(value)


def _level(tree: Nested) -> tuple[str, Nested]:
    """The level's symbols: ``delta``, or ``2^-bits delta``."""
    match tree:
        case ("mul", ("exp", ("mul", ("mul", "-1", bits), ("log", "2"))), str(delta)):
            return delta, bits
        case str(delta):
            return delta, ""
    raise NotInCoq("the level of the binomial tail is neither delta nor delta 2^-bits")
