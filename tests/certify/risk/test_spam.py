"""The mails' preparation: what is read, which copies go, how integers are polished."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from certify.demos import spam
from certify.demos.spam import Mail, fetch, mail_text, shingles, without_copies
from certify.errors import DataError
from certify.oracles.linear_training import code_bits, polish, train_linear

HTML = b"""Subject: Buy now\r
X-List: secret-list\r
Content-Type: text/html\r
\r
<style>p {color: red}</style><p>Cheap&nbsp;pills <b>here</b></p><!-- hidden -->"""


def test_mail_text_is_subject_and_visible_words() -> None:
    text = mail_text(HTML)
    assert text.split() == ["Buy", "now", "Cheap", "pills", "here"]


def long_text(seed: int, words: int = 60) -> str:
    generator = np.random.default_rng(seed)
    return " ".join("".join(generator.choice(list("abcdefgh"), 5)) for _ in range(words))


def test_near_copies_go_and_others_stay() -> None:
    base = long_text(0)
    copies = [base, base + " one more line here", base.replace(base.split()[3], "other", 1)]
    others = [long_text(k) for k in range(1, 6)]
    found = [Mail(str(i), text, 0) for i, text in enumerate(copies + others)]
    kept = {m.text for m in without_copies(found)}
    assert len(kept & set(copies)) == 1
    assert set(others) <= kept


def test_addresses_and_digits_do_not_hide_a_copy() -> None:
    text = long_text(7)
    assert set(shingles(f"{text} 123 http://a.example/x")) == set(shingles(f"{text} 456 someone@b.example"))


def test_a_wrong_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / spam.ARCHIVE).write_bytes(b"not the archive")
    with pytest.raises(DataError, match="digest"):
        fetch(tmp_path, lambda text: None)


def test_polishing_lowers_its_objective() -> None:
    generator = np.random.default_rng(0)
    labels = generator.integers(0, 2, 300)
    x = (generator.standard_normal((300, 12)) + 0.5 * (2 * labels[:, None] - 1)).astype(np.float32)
    start = np.sign(train_linear(x, labels)).astype(np.int64)
    found = polish(x, labels, start, 1, 1e-4)

    def objective(q: np.ndarray) -> float:
        margin = (2.0 * labels - 1) * (x.astype(np.float64) @ q[:-1, 0] + q[-1, 0])
        counts = np.bincount(q[:, 0] + 1, minlength=3).astype(float)
        return float(np.count_nonzero(~(margin > 0)) / 300 + 1e-4 * code_bits(counts))

    assert objective(found) <= objective(start)
    assert np.abs(found).max() <= 1
