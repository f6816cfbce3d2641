"""Serve a folder of pages on the loopback address only."""

from __future__ import annotations

import http.server
from functools import partial
from pathlib import Path
from typing import Any


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *arguments: Any) -> None:
        """Say nothing: the terminal belongs to the user."""


def loopback_server(folder: Path, port: int = 0) -> http.server.ThreadingHTTPServer:
    """A server of ``folder`` on 127.0.0.1; ``port`` 0 takes a free one. The caller runs and closes it."""
    return http.server.ThreadingHTTPServer(("127.0.0.1", port), partial(_Quiet, directory=str(folder)))


def address(server: http.server.ThreadingHTTPServer) -> str:
    """The URL of the served folder."""
    return f"http://127.0.0.1:{server.server_port}/"
