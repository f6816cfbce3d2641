"""Decoding the payload of a certificate: choices that narrow an interval, as exact fractions.

docs/reference/model-cert.md describes the code. ``certify/codec`` writes it and shares nothing with this.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from .certificate import Refused, whole

MAX_BITS = 1 << 24
MAX_ENTRIES = 1 << 26


class Reader:
    """Choices from the interval [number, number + 1) / 2^bits, as exact fractions."""

    def __init__(self, number: int, bits: int) -> None:
        self.low, self.high, self.unit = number, number + 1, 1 << bits

    def take(self, locate: Callable[[int, int], tuple[int, int, int, int]]) -> int:
        """One choice: ``locate`` gives (value, start, size, total) for the point low / unit."""
        value, start, size, total = locate(self.low, self.unit)
        self.low, self.high = self.low * total - start * self.unit, self.high * total - start * self.unit
        self.unit *= size
        if self.low < 0 or self.high > self.unit:
            raise Refused(
                "model.payload: its bits do not determine a model, some continuations decode to another one"
            )
        return value

    def integer(self, limit: int) -> int:
        """An integer with P(k) = 1 / ((k+1)(k+2))."""

        def locate(low: int, unit: int) -> tuple[int, int, int, int]:
            k = unit // (unit - low) - 1
            if k > limit:
                raise Refused(f"model.payload: holds the integer {k}, more than {limit}")
            return k, k * (k + 2), 1, (k + 1) * (k + 2)

        return self.take(locate)

    def column(self, rows: int, levels: int) -> list[int]:
        """``rows`` symbols in [-levels, levels]."""
        return [value - levels for value in self.symbols(rows, 2 * levels + 1)]

    def symbols(self, count: int, size: int) -> list[int]:
        """``count`` symbols in 0..size-1 with P(s) = (2 seen(s) + 1) / (2 seen + size)."""
        counts = [1] * size

        def locate(low: int, unit: int) -> tuple[int, int, int, int]:
            total, start = sum(counts), 0
            for value, weight in enumerate(counts):
                if low * total < (start + weight) * unit:
                    return value, start, weight, total
                start += weight
            raise Refused("model.payload: a point outside [0, 1)")

        symbols = []
        for _ in range(count):
            value = self.take(locate)
            counts[value] += 2
            symbols.append(value)
        return symbols


def read_matrix(reader: Reader, rows: int, columns: int) -> tuple[Any, Fraction]:
    """(integers (rows, columns) as int64, step): the matrix is their product."""
    if rows * columns > MAX_ENTRIES:
        raise Refused(f"family: a matrix of {rows} x {columns} is too large for this checker")
    rank = reader.integer(min(rows, columns))
    if rank == 0:
        return np.zeros((rows, columns), dtype=np.int64), Fraction(1)
    levels = reader.integer(4095) + 1
    index = reader.integer(480)
    exponent = index // 2 if index % 2 == 0 else -((index + 1) // 2)
    left = np.array([reader.column(rows, levels) for _ in range(rank)], dtype=np.int64)
    right = np.array([reader.column(columns, levels) for _ in range(rank)], dtype=np.int64)
    octave, quarter = divmod(exponent, 4)
    return left.T @ right, Fraction(4 + quarter, 4) * Fraction(2) ** octave


def read_payload(payload: str, bits: int) -> Reader:
    """The choices of a payload. Every continuation of its bits decodes to them, so 2^-bits is a weight
    (Kraft)."""
    if len(payload) % 2 or not set(payload) <= set("0123456789abcdef"):
        raise Refused("model.payload: not hexadecimal, two digits for each byte")
    data = bytes.fromhex(payload)
    if not 0 <= bits <= MAX_BITS or len(data) != (bits + 7) // 8:
        raise Refused(f"model.bits: {bits} bits do not fit a payload of {len(data)} bytes")
    padded = int.from_bytes(data, "big")
    spare = 8 * len(data) - bits
    if padded & ((1 << spare) - 1):
        raise Refused(f"model.bits: the payload has more than the {bits} bits claimed")
    return Reader(padded >> spare, bits)


def decode(payload: str, bits: int, shapes: list[tuple[int, int]]) -> list[tuple[Any, Fraction]]:
    """The matrices of the payload."""
    reader = read_payload(payload, bits)
    return [read_matrix(reader, rows, columns) for rows, columns in shapes]


def decode_update(
    payload: str, bits: int, tensors: list[tuple[str, int, int]], head: tuple[int, int]
) -> tuple[dict[str, tuple[Any, Fraction]], tuple[Any, Fraction]]:
    """(changed tensors by name, head): one flag for each tensor, the changed ones, the head."""
    reader = read_payload(payload, bits)
    flags = reader.symbols(len(tensors), 2)
    changed = {
        name: read_matrix(reader, rows, columns)
        for (name, rows, columns), flag in zip(tensors, flags, strict=True)
        if flag
    }
    return changed, read_matrix(reader, *head)


def read_tensors(family: dict[str, Any]) -> list[tuple[str, int, int]]:
    """(name, rows, columns) of the tensors that an update may change, in the order of the code."""
    found = family.get("tensors")
    if not isinstance(found, list) or not all(
        isinstance(t, list) and len(t) == 3 and type(t[0]) is str and type(t[1]) is type(t[2]) is int
        and min(t[1:]) >= 1
        for t in found
    ):  # fmt: skip
        raise Refused("family.tensors: expected a list of [name, rows, columns]")
    if len({t[0] for t in found}) != len(found):
        raise Refused("family.tensors: a name stands twice")
    return [(t[0], t[1], t[2]) for t in found]


def update_of(certificate: dict[str, Any]) -> tuple[dict[str, tuple[Any, Fraction]], tuple[Any, Fraction]]:
    """(changed tensors, head) of a certificate relative to a base."""
    model, family = certificate["model"], certificate["family"]
    head = (whole(family, "hidden", "family", 1) + 1, whole(family, "outputs", "family", 1))
    bits = whole(model, "bits", "model")
    return decode_update(str(model.get("payload")), bits, read_tensors(family), head)
