"""The record of one claim: a Coq proposition with a hole for the bound that a Python object states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Statement:
    """One claim.

    ``statement`` is a Coq proposition with ``{bound}``; ``names`` maps symbols of the bound to Coq terms;
    ``proof`` closes it with ``coq`` (the named theorem), and may have the hole too.
    """

    theorem: str
    coq: str
    statement: str
    proof: str
    names: Mapping[str, str] = field(default_factory=dict)
    variant: str = ""
    """Names a second statement for the same bound."""
