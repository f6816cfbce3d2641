"""Exact normal forms: when are two terms the same number, and when is a term not negative?

TRUSTED. A term is a nested tuple of strings, ``("add", "x", ("sqrt", "2"))``. Arithmetic heads are
interpreted; every other head is an opaque number. A normal form is a sum of monomials with rational
coefficients; a monomial is a product of bases with rational exponents. Bases are variables, primes (for
radicals of integers), opaque terms, ``exp`` of a monomial, ``log`` of a base, and sums that stand under
a power. Powers, logarithms and quotients are split only over factors that are known to be positive
(nonnegative for positive exponents), so that every rewriting is an identity of real numbers.

``E`` and ``sum`` are linear: they are distributed over sums, and factors that do not mention the bound
variable are pulled out. ``sup`` lets go of positive factors and of added terms in the same way. Nothing else
is known about them here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from functools import lru_cache
from math import gcd, lcm
from typing import Any

Term = Any
"""A variable or rational (``str``), or a tuple ``(head, argument, ...)``."""
Base = Any
Mono = tuple[tuple[Base, Fraction], ...]
Poly = dict[Mono, Fraction]

BINDERS = ("E", "sup", "sum", "lambda")
NONNEGATIVE_HEADS = frozenset(
    {"norm", "abs", "kl", "variance", "card", "osc", "frobenius", "nuclear", "spectral"}
)
POSITIVE_SORTS = frozenset({"positive", "count"})
NONNEGATIVE_SORTS = POSITIVE_SORTS | {"nonnegative", "index", "fraction"}
INTERPRETED = frozenset(
    {"add", "mul", "neg", "sub", "div", "sqrt", "pow", "log", "exp", "pi", "cosh", "tanh", "max", "min"}
)
RESERVED = (
    INTERPRETED | NONNEGATIVE_HEADS | {*BINDERS, "le", "lt", "eq", "kl_inverse", "binomial_tail_inverse"}
)
"""Heads with a fixed meaning; no variable may be called so."""
ONE: Poly = {(): Fraction(1)}


class NotDecided(ValueError):
    """The term lies outside what normal forms decide (a power of something of unknown sign, ...)."""


@lru_cache(maxsize=100_000)
def _order(item: Any) -> str:
    return repr(item)


def key(poly: Poly) -> tuple[tuple[Mono, Fraction], ...]:
    """A hashable, canonical form of ``poly``."""
    return tuple(sorted(poly.items(), key=_order))


def rational(term: Term) -> Fraction | None:
    """The value of a rational atom, else ``None``."""
    if not isinstance(term, str) or not (term[0].isdigit() or term[0] == "-"):
        return None
    try:
        return Fraction(term)
    except (ValueError, ZeroDivisionError):
        raise NotDecided(f"{term!r} is not a number") from None


def mentions(item: Any, name: str) -> bool:
    """Whether ``name`` occurs anywhere in a term, base, monomial or key."""
    if isinstance(item, tuple):
        return any(mentions(part, name) for part in item)
    return bool(item == name)


def add(*polys: Poly) -> Poly:
    """Sum of normal forms."""
    total: Poly = {}
    for poly in polys:
        for mono, coefficient in poly.items():
            total[mono] = total.get(mono, Fraction(0)) + coefficient
    return {mono: c for mono, c in total.items() if c}


def scale(poly: Poly, factor: Fraction) -> Poly:
    """A normal form times a rational."""
    return {mono: c * factor for mono, c in poly.items()} if factor else {}


def multiply(left: Poly, right: Poly) -> Poly:
    """Product of normal forms; sums under powers are expanded once their exponent reaches 1."""
    total: Poly = {}
    for mono_l, c_l in left.items():
        for mono_r, c_r in right.items():
            total = add(total, scale(_product(mono_l, mono_r), c_l * c_r))
    return total


def _product(left: Mono, right: Mono) -> Poly:
    exponents: dict[Base, Fraction] = dict(left)
    for base, exponent in right:
        exponents[base] = exponents.get(base, Fraction(0)) + exponent
    coefficient, expand, kept = Fraction(1), [], []
    for base, exponent in exponents.items():
        whole = exponent.numerator // exponent.denominator
        if isinstance(base, tuple) and base[0] == "prime" and whole:
            coefficient *= Fraction(int(base[1])) ** whole
            exponent -= whole
        elif isinstance(base, tuple) and base[0] == "poly" and whole >= 1:
            expand += [dict(base[1])] * whole
            exponent -= whole
        if exponent:
            kept.append((base, exponent))
    result: Poly = {tuple(sorted(kept, key=_order)): coefficient}
    for poly in expand:
        result = multiply(result, poly)
    return result


def _prime_factors(number: int) -> dict[int, int]:
    factors: dict[int, int] = {}
    divisor = 2
    while divisor * divisor <= number:
        while number % divisor == 0:
            factors[divisor] = factors.get(divisor, 0) + 1
            number //= divisor
        divisor += 1
    if number > 1:
        factors[number] = factors.get(number, 0) + 1
    return factors


class Arithmetic:
    """Normal forms under known signs.

    ``sorts`` maps variables (and function heads) to their sort; ``facts`` are terms known to be positive
    (``True``) or nonnegative (``False``), from checked premises.
    """

    def __init__(self, sorts: Mapping[str, str], facts: Iterable[tuple[Term, bool]] = ()) -> None:
        self.sorts = sorts
        self._positive: set[Any] = set()
        self._nonnegative: set[Any] = set()
        self._facts: list[Poly] = []
        self._known: dict[Term, Poly] = {}
        for term, strict in facts:
            primitive = self._primitive(self.poly(term))[2]
            (self._positive if strict else self._nonnegative).add(key(primitive))
            self._facts.append(primitive)
            self._known.clear()

    # signs
    def base_positive(self, base: Base) -> bool:
        """Whether ``base`` is known to be greater than 0."""
        if ((((base, Fraction(1)),), Fraction(1)),) in self._positive:
            return True
        if isinstance(base, str):
            return self.sorts.get(base) in POSITIVE_SORTS or base == "%pi"
        if base[0] in ("prime", "exp", "cosh"):
            return True
        if base[0] == "log":
            return bool(base[1][0] == "prime") or (
                base[1][0] == "poly" and self.positive(add(dict(base[1][1]), {(): Fraction(-1)}))
            )
        if base[0] == "poly":
            return self.positive(dict(base[1]))
        if base[0] == "E":
            return self.positive(dict(base[2]))
        return self.sorts.get(base[0]) in POSITIVE_SORTS

    def base_nonnegative(self, base: Base) -> bool:
        """Whether ``base`` is known to be at least 0."""
        if self.base_positive(base) or ((((base, Fraction(1)),), Fraction(1)),) in self._nonnegative:
            return True
        if isinstance(base, str):
            return self.sorts.get(base) in NONNEGATIVE_SORTS
        if base[0] == "log":
            inner = base[1]
            shifted = dict(inner[1]) if inner[0] == "poly" else self._atom(inner)
            return (
                self.sorts.get(inner) == "count"
                if isinstance(inner, str)
                else self.nonnegative(add(shifted, {(): Fraction(-1)}))
            )
        if base[0] in NONNEGATIVE_HEADS or self.sorts.get(base[0]) in NONNEGATIVE_SORTS:
            return True
        if base[0] in ("E", "sum", "sup"):
            return self.nonnegative(dict(base[2]))
        if base[0] in ("max", "min"):
            test = any if base[0] == "max" else all
            return test(self.nonnegative(dict(part)) for part in base[1:])
        return bool(base[0] == "poly" and self.nonnegative(dict(base[1])))

    def _mono_nonnegative(self, mono: Mono) -> bool:
        return all(self.base_nonnegative(b) or (e.denominator == 1 and e % 2 == 0) for b, e in mono)

    def nonnegative(self, poly: Poly) -> bool:
        """Whether every monomial is visibly nonnegative, or the whole is a known fact."""
        if not poly or key(self._primitive(poly)[2]) in self._nonnegative | self._positive:
            return True
        return self._visible(poly) or any(self._visible(rest) for rest in self._less_facts(poly))

    def _visible(self, poly: Poly) -> bool:
        return all(c > 0 and self._mono_nonnegative(mono) for mono, c in poly.items())

    def _less_facts(self, poly: Poly) -> Iterator[Poly]:
        """``poly`` minus a nonnegative multiple of one known nonnegative fact."""
        for fact in self._facts:
            pivot, coefficient = next(iter(fact.items()))
            for mono, c in poly.items():
                if any(dict(mono).get(base, 0) < exponent for base, exponent in pivot):
                    continue
                quotient = _product(mono, tuple((base, -exponent) for base, exponent in pivot))
                if c / coefficient > 0 and self._visible(quotient):
                    yield add(poly, scale(multiply(quotient, fact), -c / coefficient))

    def positive(self, poly: Poly) -> bool:
        """Whether ``poly`` is visibly greater than 0."""
        if poly and key(self._primitive(poly)[2]) in self._positive:
            return True
        parts = (poly, *self._less_facts(poly))
        return any(self._visible(part) and self._some_positive(part) for part in parts)

    def _some_positive(self, poly: Poly) -> bool:
        return any(c > 0 and all(self.base_positive(b) for b, _ in mono) for mono, c in poly.items())

    def _primitive(self, poly: Poly) -> tuple[Fraction, Mono, Poly]:
        """``poly = content * monomial * primitive`` with positive content and positive monomial."""
        if not poly:
            return Fraction(1), (), {}
        numerators = [abs(c.numerator) for c in poly.values()]
        content = Fraction(gcd(*numerators), lcm(*(c.denominator for c in poly.values())))
        first, *others = (dict(mono) for mono in poly)
        common: list[tuple[Base, Fraction]] = []
        for base in set(first).union(*others):
            lowest = min(mono.get(base, Fraction(0)) for mono in (first, *others))
            if lowest and self.base_positive(base):
                common.append((base, lowest))
        inverse = tuple(sorted(((b, -e) for b, e in common), key=_order))
        return (
            content,
            tuple(sorted(common, key=_order)),
            scale(multiply(poly, {inverse: Fraction(1)}), 1 / content),
        )

    # terms to normal forms
    def poly(self, term: Term) -> Poly:
        """The normal form of ``term``; not to be changed by the caller."""
        if term not in self._known:
            self._known[term] = self._poly(term)
        return self._known[term]

    def _poly(self, term: Term) -> Poly:
        if isinstance(term, str):
            value = rational(term)
            if value is not None:
                return {(): value} if value else {}
            return {((term, Fraction(1)),): Fraction(1)}
        head, arguments = term[0], term[1:]
        if head in INTERPRETED:
            result: Poly = getattr(self, f"_node_{head}")(*arguments)
            return result
        if head in ("E", "sum"):
            return self._linear(head, *arguments)
        if head == "sup":
            return self._supremum(*arguments)
        parts = tuple(key(self.poly(part)) for part in arguments)
        return self._atom((head, *parts))

    @staticmethod
    def _atom(base: Base, exponent: Fraction = Fraction(1)) -> Poly:
        return {((base, exponent),): Fraction(1)}

    def _node_add(self, *parts: Term) -> Poly:
        return add(*(self.poly(part) for part in parts))

    def _node_mul(self, *parts: Term) -> Poly:
        product = ONE
        for part in parts:
            product = multiply(product, self.poly(part))
        return product

    def _node_neg(self, part: Term) -> Poly:
        return scale(self.poly(part), Fraction(-1))

    def _node_sub(self, left: Term, right: Term) -> Poly:
        return add(self.poly(left), self._node_neg(right))

    def _node_div(self, left: Term, right: Term) -> Poly:
        return multiply(self.poly(left), self._power(self.poly(right), Fraction(-1)))

    def _node_sqrt(self, part: Term) -> Poly:
        return self._power(self.poly(part), Fraction(1, 2))

    def _node_pow(self, base: Term, exponent: Term) -> Poly:
        powers = self.poly(exponent)
        if set(powers) <= {()}:
            return self._power(self.poly(base), powers.get((), Fraction(0)))
        if not self.positive(self.poly(base)):
            raise NotDecided(f"a power with a variable exponent needs a positive base: {base}")
        return self._exponential(multiply(powers, self._logarithm(self.poly(base))))

    def _node_log(self, part: Term) -> Poly:
        """Products, quotients and powers of positive terms are split as written, before multiplying out."""
        head = part[0] if isinstance(part, tuple) else None
        if head in ("mul", "div") and all(self.positive(self.poly(factor)) for factor in part[1:]):
            logs = [self._node_log(factor) for factor in part[1:]]
            return add(*logs) if head == "mul" else add(logs[0], scale(logs[1], Fraction(-1)))
        return self._logarithm(self.poly(part))

    def _node_exp(self, part: Term) -> Poly:
        return self._exponential(self.poly(part))

    def _node_pi(self) -> Poly:
        return self._atom("%pi")

    def _node_cosh(self, part: Term) -> Poly:
        return scale(
            add(self._exponential(self.poly(part)), self._exponential(self._node_neg(part))), Fraction(1, 2)
        )

    def _node_tanh(self, part: Term) -> Poly:
        double = self._exponential(scale(self.poly(part), Fraction(2)))
        return multiply(add(double, {(): Fraction(-1)}), self._power(add(double, ONE), Fraction(-1)))

    def _extremum(self, head: str, parts: tuple[Term, ...]) -> Poly:
        keys = sorted({key(self.poly(part)) for part in parts}, key=_order)
        return dict(keys[0]) if len(keys) == 1 else self._atom((head, *keys))

    def _node_max(self, *parts: Term) -> Poly:
        return self._extremum("max", parts)

    def _node_min(self, *parts: Term) -> Poly:
        return self._extremum("min", parts)

    def _power(self, poly: Poly, exponent: Fraction) -> Poly:
        if exponent.denominator == 1 and exponent >= 0:
            result = ONE
            for _ in range(int(exponent)):
                result = multiply(result, poly)
            return result
        if not poly:
            if exponent > 0:
                return {}
            raise NotDecided("division by zero")
        enough = self.nonnegative if exponent > 0 else self.positive
        content, common, primitive = self._primitive(poly)
        if not enough(poly):
            return self._atom(("pow", key(poly), str(exponent)))
        result = self._rational_power(content, exponent)
        result = multiply(result, {tuple((b, e * exponent) for b, e in common): Fraction(1)})
        if len(primitive) == 1:
            ((mono, c),) = primitive.items()
            if c == 1 and all(self.base_nonnegative(b) for b, _ in mono):
                return multiply(result, {tuple((b, e * exponent) for b, e in mono): Fraction(1)})
        return multiply(result, self._atom(("poly", key(primitive)), exponent))

    @staticmethod
    def _rational_power(number: Fraction, exponent: Fraction) -> Poly:
        exponents: dict[int, int] = _prime_factors(number.numerator)
        for prime, count in _prime_factors(number.denominator).items():
            exponents[prime] = exponents.get(prime, 0) - count
        result = ONE
        for prime, count in exponents.items():
            result = multiply(result, {((("prime", str(prime)), exponent * count),): Fraction(1)})
        return result

    def _logarithm(self, poly: Poly) -> Poly:
        if not self.positive(poly):
            return self._atom(("log", ("poly", key(poly))))
        content, common, primitive = self._primitive(poly)
        factors = list(common)
        if len(primitive) == 1 and all(self.base_positive(b) for b, _ in next(iter(primitive))):
            factors += list(next(iter(primitive)))
        elif primitive != ONE:
            factors.append((("poly", key(primitive)), Fraction(1)))
        for prime, count in _prime_factors(content.numerator).items():
            factors.append((("prime", str(prime)), Fraction(count)))
        for prime, count in _prime_factors(content.denominator).items():
            factors.append((("prime", str(prime)), Fraction(-count)))
        total: Poly = {}
        for base, exponent in factors:
            if isinstance(base, tuple) and base[0] == "exp":
                total = add(total, {base[1]: exponent})
            else:
                total = add(total, scale(self._atom(("log", base)), exponent))
        return total

    def _exponential(self, poly: Poly) -> Poly:
        result = ONE
        for mono, coefficient in poly.items():
            if (
                len(mono) == 1
                and mono[0][1] == 1
                and isinstance(mono[0][0], tuple)
                and mono[0][0][0] == "log"
            ):
                inner = mono[0][0][1]
                if self.base_positive(inner):
                    result = multiply(result, {((inner, coefficient),): Fraction(1)})
                    continue
            result = multiply(result, self._atom(("exp", mono), coefficient))
        return result

    # binders
    def _split(self, mono: Mono, name: str) -> tuple[Mono, Mono]:
        inside = tuple((b, e) for b, e in mono if mentions(b, name))
        outside = tuple((b, e) for b, e in mono if not mentions(b, name))
        return inside, outside

    def _linear(self, head: str, name: str, body: Term) -> Poly:
        total: Poly = {}
        for mono, coefficient in self.poly(body).items():
            inside, outside = self._split(mono, name)
            if not inside and head == "E":
                operated: Poly = ONE
            else:
                operated = self._atom((head, name, key({inside: Fraction(1)})))
            total = add(total, scale(multiply({outside: Fraction(1)}, operated), coefficient))
        return total

    def _supremum(self, name: str, body: Term) -> Poly:
        poly = self.poly(body)
        free = {mono: c for mono, c in poly.items() if not mentions(mono, name)}
        bound = {mono: c for mono, c in poly.items() if mentions(mono, name)}
        if not bound:
            return free
        content, common, primitive = self._primitive(bound)
        outside = tuple((b, e) for b, e in common if not mentions(b, name))
        inside = tuple((b, e) for b, e in common if mentions(b, name))
        primitive = multiply(primitive, {inside: Fraction(1)})
        atom = self._atom(("sup", name, key(primitive)))
        return add(free, scale(multiply({outside: Fraction(1)}, atom), content))

    # verdicts
    def is_zero(self, poly: Poly) -> bool:
        """Whether ``poly`` is 0 once sums under negative powers are multiplied out."""
        for _ in range(8):
            if not poly:
                return True
            lowest: dict[Base, Fraction] = {}
            for mono in poly:
                for base, exponent in mono:
                    if isinstance(base, tuple) and base[0] == "poly" and exponent < 0:
                        lowest[base] = min(lowest.get(base, exponent), exponent)
            if not lowest:
                return False
            for base, exponent in lowest.items():
                poly = multiply(poly, {((base, -exponent),): Fraction(1)})
        return not poly

    def equal(self, left: Term, right: Term) -> bool:
        """Whether the two terms have the same normal form (``False`` means not decided)."""
        try:
            return self.is_zero(self.poly(("sub", left, right)))
        except NotDecided:
            return False


@lru_cache(maxsize=2048)
def under_signs(sorts: tuple[tuple[str, str], ...], facts: tuple[tuple[Term, bool], ...]) -> Arithmetic:
    """Normal forms under these signs; one object for each set of signs, because it remembers its results."""
    return Arithmetic(dict(sorts), facts)
