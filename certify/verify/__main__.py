"""``python -m certify.verify FILE``: the second checkers without the rest of the package."""

from __future__ import annotations

import sys

from .command import main

sys.exit(main())
