"""The frozen record of what was proved about one object, with everything that it rests on.

A certificate cannot be made without its assumptions: they are joined from the enclosures that it
holds, never typed by the caller.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Protocol

from certify.errors import NotCertified


class _Certified(Protocol):
    """An enclosure, a rank interval or the enclosures of a spectrum."""

    @property
    def assumptions(self) -> frozenset[str]: ...


@dataclass(frozen=True)
class Certificate:
    """Statements ``name -> enclosure`` about the object called ``subject``.

    ``values``: read-only; each value carries its own assumptions. ``digests``: hex sha256 of every
    input array the statements are about, by name. ``environment``: the outcome of the self-test of
    the rounding model and the versions it ran under.
    """

    subject: str
    values: Mapping[str, _Certified]
    digests: Mapping[str, str]
    environment: Mapping[str, Any]

    def __post_init__(self) -> None:
        if not self.values:
            raise NotCertified(f"a certificate about {self.subject} that states nothing")
        if not self.digests:
            raise NotCertified(f"a certificate about {self.subject} must name the inputs it speaks of")
        for name in ("values", "digests", "environment"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    @property
    def assumptions(self) -> frozenset[str]:
        """The union of the assumptions of all values."""
        return frozenset().union(*(value.assumptions for value in self.values.values()))

    def __reduce__(self) -> tuple[Any, ...]:
        return Certificate, (self.subject, dict(self.values), dict(self.digests), dict(self.environment))
