"""A fine-tuned encoder: which of two words is the more common one, by MiniLM with a low-rank update.

A unit is a text of two English words in random order, one of the 2,000 most frequent and one from places
8,001 to 20,000 of the list of the `wordfreq` package; the label says which of the two is the common one. The
public encoder's own features hardly know it (they say what a text is about, not in which order), so a head
alone is near guessing, and what fine-tuning changed below the head has to be paid for.

The demonstration does what a user does: fine-tune (LoRA of rank 1 on query and value of one layer, and a
head), save the classifier, and certify it against its public base as `certify report` does.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from certify.bounds.risk.run import Plan, Progress, run_risk
from certify.bounds.risk.samples import Sample
from certify.bounds.risk.table import Table, Truth
from certify.bounds.risk.tail import Tail
from certify.bounds.risk.tasks import read_task
from certify.bounds.risk.update_search import Tuned, dense
from certify.bounds.risk.updated_base import UpdatedBase, classifier_base, token_numbers
from certify.bounds.risk.updates import SUBJECT, table_with_update
from certify.codec.arithmetic import Codeword
from certify.codec.matrices import decode_update
from certify.engine.journal import Journal, digest_of
from certify.errors import DataError, InputError, ModelError
from certify.oracles.update_training import Start, train_lora

BASE, MAX_TOKENS = "minilm", 256
COMMON, RARE = (0, 2_000), (8_000, 20_000)  # places in the list of words
LABELS = ("first", "second")  # which of the two words is the common one
LAYER, TARGETS = 4, ("query", "value")
EPOCHS, SAMPLES, FRESH = 6, 4_000, 5_000
TUNED = "fine-tuned"


def words() -> list[str]:
    """The 20,000 most frequent English words of letters a-z, most frequent first."""
    try:
        import wordfreq
    except ImportError as error:
        raise InputError(
            "this demonstration needs the package wordfreq: pip install 'certify-attention[demo]'"
        ) from error
    known = wordfreq.top_n_list("en", 3 * RARE[1])
    found = [w for w in known if w.isascii() and w.isalpha() and len(w) > 1][: RARE[1]]
    if len(found) < RARE[1]:
        raise DataError(f"wordfreq lists only {len(found)} English words")
    return found


def draw(n: int, seed: int) -> tuple[list[str], np.ndarray]:
    """n independent units: texts, and the label (0 or 1) of each. Each of 48 million is equally likely."""
    known, generator = words(), np.random.default_rng(seed)
    common, rare = generator.integers(*COMMON, n), generator.integers(*RARE, n)
    labels = generator.integers(0, 2, n)
    pairs = [(known[c], known[r]) for c, r in zip(common, rare, strict=True)]
    texts = [" ".join(p[::-1] if y else p) for p, y in zip(pairs, labels, strict=True)]
    return texts, labels.astype(np.int64)


def write_texts(path: Path, texts: list[str], labels: np.ndarray) -> None:
    """One JSON object for each unit, as `certify report --train` reads them."""
    lines = [json.dumps({"text": t, "label": LABELS[y]}) for t, y in zip(texts, labels, strict=True)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def fine_tuned(base: UpdatedBase, units: Sample, seed: int, journal: Journal, progress: Progress) -> Start:
    """The update and the head; once trained, they come from the journal."""
    names = [f"bert.encoder.layer.{LAYER}.attention.self.{target}.weight" for target in TARGETS]
    key = digest_of("fine-tuned", base.digest(), units.digest(), str(seed), str(EPOCHS), *names)
    stored = journal.get(key)
    if stored is None:
        shapes = dict(zip(base.anchors, base.shapes, strict=True))
        tail = Tail(base, units.inputs, set(names), progress)
        start = train_lora(
            tail.enter,
            tail.groups,
            units.labels,
            {n: shapes[n] for n in names},
            (base.width + 1, 1),
            EPOCHS,
            seed,
            progress,
        )
        stored = {n: [_text(a) for a in pair] for n, pair in start.factors.items()}
        stored["head"] = [_text(start.head)]
        journal.put(key, stored)
    arrays = {n: [_column(text) for text in texts] for n, texts in stored.items()}
    return Start({n: (arrays[n][0], arrays[n][1]) for n in names}, arrays["head"][0])


def _text(array: np.ndarray) -> str:
    return base64.b64encode(np.asarray(array, dtype="<f8").tobytes()).decode()


def _column(text: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), dtype="<f8").reshape(-1, 1).copy()


def save(start: Start, folder: Path) -> None:
    """The fine-tuned classifier as a Hugging Face folder, updates merged into the weights."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    from certify.adapters import open_model

    root = open_model(BASE).root
    if root is None:
        raise ModelError(f"{BASE}: its folder is not known")
    model = AutoModelForSequenceClassification.from_pretrained(root, num_labels=2)
    state, head = model.state_dict(), torch.from_numpy(start.head[:, 0]).float()
    with torch.no_grad():
        for name, (left, right) in start.factors.items():
            state[name] += torch.from_numpy(left @ right.T).float()
        state["classifier.weight"].copy_(torch.stack([torch.zeros_like(head[:-1]), head[:-1]]))
        state["classifier.bias"].copy_(torch.stack([torch.zeros(()), head[-1]]))
    model.config.id2label, model.config.label2id = (
        dict(enumerate(LABELS)),
        {n: i for i, n in enumerate(LABELS)},
    )
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(root).save_pretrained(folder)


def truth(out: Path, tuned: Tuned, seed: int, progress: Progress) -> Mapping[str, Truth]:
    """The decoded model on fresh units: an interval that holds its risk with 99.9 % confidence."""
    from scipy.stats import beta

    certificate = json.loads((out / "model.cert").read_text())
    texts, labels = draw(FRESH, seed)
    bits = certificate["model"]["bits"]
    number = int.from_bytes(bytes.fromhex(certificate["model"]["payload"]), "big") >> (-bits % 8)
    update, head = decode_update(Codeword(number, bits), tuned.base.shapes, (tuned.base.width + 1, 1))
    changed = {k: dense(m) for k, m in zip(tuned.base.anchors, update, strict=True) if m.rank}
    progress(f"the truth: {FRESH} fresh units")
    tail = Tail(tuned.base, token_numbers(BASE, texts, MAX_TOKENS), set(changed), progress)
    weight = dense(head)[:, 0]
    margin = np.where(labels == 1, 1, -1) * (tail.features(changed) @ weight[:-1] + weight[-1])
    errors = int(np.count_nonzero(~(margin > 0)))
    lower = float(beta.ppf(0.0005, errors, FRESH - errors + 1)) if errors else 0.0
    upper = float(beta.ppf(0.9995, errors + 1, FRESH - errors))
    said = f"estimate: {errors} errors in {FRESH} fresh units (float32), 99.9 % Clopper-Pearson interval"
    return {SUBJECT: Truth(said, Fraction(lower), Fraction(upper))}


def run(out: Path, m: int, seed: int, progress: Progress) -> Table:
    """The demonstration: draw, fine-tune, save, certify, and look at fresh units."""
    if m < 500:
        raise InputError(f"--samples {m}: this demonstration needs at least 500 units")
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    out.mkdir(parents=True, exist_ok=True)
    for name, count, own in (("train", m, seed), ("test", max(500, m // 4), seed + 1)):
        write_texts(out / f"{name}.jsonl", *draw(count, own))
    texts, labels = draw(m, seed)
    base = classifier_base(BASE)
    inputs = token_numbers(BASE, texts, MAX_TOKENS)
    units = Sample(inputs, labels, inputs.shape[1])
    save(fine_tuned(base, units, seed, Journal(out / ".work"), progress), out / TUNED)
    task = read_task(str(out / TUNED), out / "train.jsonl", out / "test.jsonl", BASE, progress)
    if task.tuned is None:
        raise ModelError(f"{out / TUNED}: {task.violation}")
    described: dict[str, Any] = {
        **task.described,
        "name": f"the more common of two words: {BASE}, fine-tuned",
        "population": "48 million texts of a common and a rarer English word, each equally likely",
        "seed": seed,
    }
    plan = Plan(progress=progress)
    table, _ = run_risk(
        task.train,
        out,
        plan,
        trained=task.head,
        test=task.test,
        data=described,
        unit="text",
        violation=task.violation,
    )
    table = table_with_update(table, task.tuned, out, plan)
    return replace(table, truth=truth(out, task.tuned, seed + 2, progress))
