"""Every error that certify raises on purpose, in one tree.

::

    CertifyError
    ├── InputError            the user's input cannot be used (exit code 2)
    │   ├── MatrixError         a matrix: NaN or infinity, wrong rank, empty, complex, overflow
    │   ├── ModelError          a model: not found, unsupported, unsafe pickle
    │   ├── DataError           text, arrays or labels that cannot be read
    │   └── ClaimError          a claim file that cannot be understood
    ├── NotCertified          the numbers given do not prove a statement; nothing was claimed
    │   ├── Undecided           two enclosures overlap: the comparison has no answer
    │   └── UndefinedRank       the zero matrix has no effective rank
    └── VerificationError     a report, certificate or derivation failed a re-check
"""

from __future__ import annotations


class CertifyError(Exception):
    """Base of every error raised on purpose."""


class InputError(CertifyError, ValueError):
    """The user's input cannot be used; the message names the place, the value and what to try."""


class MatrixError(InputError):
    """A matrix that cannot be certified: not finite, not real, wrong number of dimensions, empty."""


class ModelError(InputError):
    """A model that cannot be found, read or read safely."""


class DataError(InputError):
    """Text, arrays or labels that cannot be read."""


class ClaimError(InputError):
    """A claim file that cannot be understood."""


class NotCertified(CertifyError, ArithmeticError):
    """The evidence at hand does not prove the statement asked for."""


class Undecided(NotCertified):
    """Two enclosures overlap, so the comparison has no answer."""


class UndefinedRank(NotCertified):
    """The zero matrix has no effective rank."""


class VerificationError(CertifyError):
    """A report, certificate or derivation failed a re-check; the message names the place."""
