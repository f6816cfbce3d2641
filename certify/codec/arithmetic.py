"""An exact arithmetic coder: every probability is a rational number, no float takes part.

A sequence of choices narrows the interval [0, 1): the choice ``[a/n, b/n)`` maps an interval to that
share of it. The codeword is the shortest binary fraction ``k / 2^l`` with ``[k, k+1) / 2^l`` inside the final
interval, so every continuation of its ``l`` bits decodes to the same choices. Codewords of different choices
lie in disjoint intervals: the code is prefix-free and Kraft's sum is at most 1, which is all that Theorem D
uses. ``l`` is less than two bits above ``-log2`` of the probability of the choices
(Rissanen 1976; Cover and Thomas, section 13.3).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from certify.errors import VerificationError

Share = tuple[int, int, int]  # (start, size, total): the sub-interval [start, start + size) / total


class Law(Protocol):
    """A probability law on the integers of one choice, given as disjoint shares of [0, 1)."""

    def share(self, value: int) -> Share:
        """The sub-interval of ``value``."""

    def locate(self, numerator: int, denominator: int) -> int:
        """The value whose sub-interval holds the point ``numerator / denominator`` of [0, 1)."""

    def learn(self, value: int) -> None:
        """Adapt to a value that both sides have seen."""


class IntegerLaw:
    """P(k) = 1 / ((k+1)(k+2)) on k = 0, 1, 2, ...: sums to 1, and k costs about 2 log2(k+2) bits."""

    limit = 1 << 24

    def share(self, value: int) -> Share:
        """[1 - 1/(k+1), 1 - 1/(k+2))."""
        return value * (value + 2), 1, (value + 1) * (value + 2)

    def locate(self, numerator: int, denominator: int) -> int:
        """The k with 1/(k+2) < 1 - x <= 1/(k+1)."""
        value = denominator // (denominator - numerator) - 1
        if value >= self.limit:
            raise VerificationError(f"the payload holds the integer {value}, beyond the limit {self.limit}")
        return value

    def learn(self, value: int) -> None:
        """The law is fixed."""


class AdaptiveLaw:
    """The law of Krichevsky and Trofimov on 0..size-1: P(value) = (2 seen(value) + 1) / (2 seen + size)."""

    def __init__(self, size: int) -> None:
        self.counts = [1] * size
        self.total = size

    def share(self, value: int) -> Share:
        """Cumulative counts."""
        return sum(self.counts[:value]), self.counts[value], self.total

    def locate(self, numerator: int, denominator: int) -> int:
        """The value whose cumulative counts hold the point."""
        position = numerator * self.total // denominator
        for value, count in enumerate(self.counts):
            if position < count:
                return value
            position -= count
        raise VerificationError("the point of the payload lies outside [0, 1)")

    def learn(self, value: int) -> None:
        """Count it."""
        self.counts[value] += 2
        self.total += 2


@dataclass(frozen=True)
class Codeword:
    """The bits of ``number`` written with ``length`` binary digits, first digit first."""

    number: int
    length: int


class Encoder:
    """Collects choices; :meth:`codeword` ends the message."""

    def __init__(self) -> None:
        self._low, self._width, self._scale = 0, 1, 1

    def choose(self, law: Law, value: int) -> int:
        """Append one choice and let the law adapt."""
        start, size, total = law.share(value)
        self._low = self._low * total + self._width * start
        self._width *= size
        self._scale *= total
        law.learn(value)
        return value

    def codeword(self) -> Codeword:
        """The shortest dyadic interval inside the interval of all choices."""
        length = max(0, self._scale.bit_length() - self._width.bit_length() - 1)
        while True:
            number = -(-(self._low << length) // self._scale)
            if (number + 1) * self._scale <= (self._low + self._width) << length:
                return Codeword(number, length)
            length += 1


class Decoder:
    """Reads choices back from a codeword and holds it against the prefix property."""

    def __init__(self, word: Codeword) -> None:
        if not 0 <= word.number < 1 << word.length:
            raise VerificationError(f"the payload is not a binary word of {word.length} bits")
        # The codeword's interval [low, high) relative to the interval of the choices read so far.
        self._low, self._high, self._scale = word.number, word.number + 1, 1 << word.length

    def choose(self, law: Law, value: int | None = None) -> int:
        """The next choice. Refused if some continuation of the bits would decode to another one."""
        value = law.locate(self._low, self._scale)
        start, size, total = law.share(value)
        self._low = self._low * total - start * self._scale
        self._high = self._high * total - start * self._scale
        self._scale *= size
        if not 0 <= self._low < self._high <= self._scale:
            raise VerificationError("the payload ends too early: its bits do not determine the model")
        law.learn(value)
        return value
