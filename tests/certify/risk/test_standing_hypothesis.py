"""A fine-tuned classifier is certified by what it pays for: below the head, the public base's tensors."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import transformers

from certify import cli
from certify.bounds.risk import features, updates
from certify.engine.journal import Journal
from certify.verify import risk as verify_risk
from certify.verify import update as verify_update

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefghij"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``base``, ``head-only`` (base with another head) and ``whole`` (one inner weight moved), and
    labelled texts."""
    import torch

    out = tmp_path_factory.mktemp("standing")
    (out / "vocab.txt").write_text("\n".join(WORDS))
    tokenizer = transformers.BertTokenizerFast(vocab=str(out / "vocab.txt"), do_lower_case=True)
    if tokenizer.convert_tokens_to_ids("a") == tokenizer.unk_token_id:
        tokenizer = transformers.BertTokenizerFast(vocab={w: i for i, w in enumerate(WORDS)})
    config = transformers.BertConfig(
        vocab_size=len(WORDS),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
    )
    torch.manual_seed(0)
    base = transformers.BertModel(config)
    base.save_pretrained(out / "base")
    for name in ("head-only", "whole"):
        model = transformers.BertForSequenceClassification(config)
        model.bert.load_state_dict(base.state_dict())
        if name == "whole":
            with torch.no_grad():
                model.bert.encoder.layer[0].attention.self.query.weight[0, 0] += 2.0**-20
        model.save_pretrained(out / name)
        tokenizer.save_pretrained(out / name)
    generator = np.random.default_rng(0)
    with (out / "texts.jsonl").open("w") as file:
        for _ in range(120):
            label = int(generator.integers(0, 2))
            text = " ".join(generator.choice(list("abcde" if label else "fghij"), 6))
            file.write(json.dumps({"text": text, "label": "high" if label else "low"}) + "\n")
    return out


def report(folder: Path, name: str, *more: str) -> tuple[int, dict[str, object]]:
    out = folder / f"out-{name}-{len(more)}"
    arguments = [
        "report",
        str(folder / name),
        "--train",
        str(folder / "texts.jsonl"),
        "--out",
        str(out),
        "--quiet",
    ]
    code = cli.main([*arguments, *more])
    return code, json.loads((out / "report.json").read_text())["risk"]


def statuses(record: dict[str, object]) -> set[str]:
    return {b["status"] for b in record["bounds"]}  # type: ignore[attr-defined]


def test_only_the_head_was_trained(folder: Path) -> None:
    _, record = report(folder, "head-only", "--base", str(folder / "base"))
    assert "not a bound" not in statuses(record)
    assert record["certificates"]


def test_one_moved_weight_below_the_head_is_found(folder: Path) -> None:
    code, record = report(folder, "whole", "--base", str(folder / "base"))
    update, *others = record["bounds"]  # type: ignore[misc]
    assert code == (0 if update["status"] == "valid" else 1)
    assert update["theorem"] == "D-binomial"
    assert "relative to a public base" in update["note"]
    others = [b for b in others if b["subject"] not in (updates.SUBJECT, updates.FROZEN)]
    assert {b["status"] for b in others} == {"not a bound"}
    assert "query.weight" in str(others)
    assert all(b["value"] is None for b in others)
    out = folder / "out-whole-2"
    shown = verify_update.verify(out / "model.cert", out / "train.npz", str(folder / "base"))
    assert "run on every unit" in shown
    with pytest.raises(verify_risk.Refused, match="anchor_sha256"):
        verify_update.verify(out / "model.cert", out / "train.npz", str(folder / "whole"))


def test_a_base_of_another_shape_is_named(folder: Path) -> None:
    config = transformers.BertConfig.from_pretrained(folder / "base")
    config.intermediate_size = 8
    transformers.BertModel(config).save_pretrained(folder / "narrow")
    code, record = report(folder, "whole", "--base", str(folder / "narrow"))
    assert code == 1
    assert statuses(record) == {"not a bound"}
    assert "built differently below the head" in str(record["terms"])


def test_without_a_base_nothing_is_certified_but_a_test_set_is(folder: Path) -> None:
    code, record = report(folder, "head-only")
    assert code == 1
    assert statuses(record) == {"not a bound"}
    _, record = report(folder, "head-only", "--test", str(folder / "texts.jsonl"))
    assert {b["theorem"] for b in record["bounds"] if b["status"] != "not a bound"} == {"test-set"}  # type: ignore[attr-defined]


def test_a_plain_encoder_gets_a_head_of_its_own(folder: Path) -> None:
    for name in ("tokenizer.json", "tokenizer_config.json", "vocab.txt"):
        source = folder / "head-only" / name
        if source.is_file():
            (folder / "base" / name).write_bytes(source.read_bytes())
    code, record = report(folder, "base")
    assert code == 0
    assert "not a bound" not in statuses(record)


def test_features_of_a_killed_run_are_picked_up(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [" ".join(letter * (1 + n) for letter in "abcde") for n in range(6)]
    monkeypatch.setattr(features, "CHUNK", 2)
    computed: list[int] = []
    means = features._mean_states
    monkeypatch.setattr(
        features, "_mean_states", lambda *given: computed.append(len(given[2])) or means(*given)
    )

    def run(name: str, given: list[str], said: list[str] | None = None) -> np.ndarray:
        def progress(text: str) -> None:
            if said is not None:
                said.append(text)
                if len(said) == 2:
                    raise KeyboardInterrupt

        return features.text_features(str(folder / name), given, 16, progress, Journal(tmp_path))

    with pytest.raises(KeyboardInterrupt):
        run("head-only", texts, [])
    whole = run("head-only", texts)
    assert computed == [2, 2, 2]
    plain = features.text_features(str(folder / "head-only"), texts, 16, lambda text: None)
    assert np.array_equal(whole, plain)
    computed.clear()
    run("whole", texts)  # another model, by one weight: nothing is reused
    assert computed == [2, 2, 2]
    computed.clear()
    assert np.array_equal(run("head-only", [*texts[:5], "a b"])[:5], whole[:5])
    assert computed == [2] * len(computed)
    assert computed  # the new text is computed


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Torch modules in a file, and rows of features with labels."""
    (tmp_path / "own_modules.py").write_text(
        "import torch\n"
        "torch.manual_seed(0)\n"
        "base = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))\n"
        "head_only = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))\n"
        "head_only[0].load_state_dict(base[0].state_dict())\n"
        "whole = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))\n"
        "linear = torch.nn.Linear(4, 2)\n"
        "empty = torch.nn.Embedding(4, 3)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    generator = np.random.default_rng(0)
    labels = generator.integers(0, 2, 300)
    x = generator.standard_normal((300, 4)) + 2.0 * (2 * labels[:, None] - 1)
    np.savez(tmp_path / "train.npz", features=x.astype(np.float32), labels=labels)
    return tmp_path


@pytest.mark.parametrize(
    ("model", "base", "certified"),
    [
        ("linear", None, True),
        ("head_only", "own_modules:base", True),
        ("head_only", None, False),
        ("whole", "own_modules:base", False),
    ],
)
def test_torch_modules(modules: Path, model: str, base: str | None, certified: bool) -> None:
    from certify.bounds.risk.tasks import read_task

    task = read_task(f"own_modules:{model}", modules / "train.npz", None, base, lambda text: None)
    assert (task.violation == "") is certified
    assert task.head is not None
    margins = task.head.margins(task.train)
    import torch

    loaded = np.load(modules / "train.npz")
    module = __import__("own_modules").__dict__[model]
    with torch.inference_mode():
        logits = module(torch.from_numpy(loaded["features"])).numpy()
    own = np.where(loaded["labels"] == 1, 1, -1) * (logits[:, 1] - logits[:, 0])
    clear = np.abs(own) > 1e-4
    assert np.array_equal((margins.middle > 0)[clear], (own > 0)[clear])


def test_a_module_without_a_head_is_refused(modules: Path) -> None:
    from certify.bounds.risk.tasks import read_task
    from certify.errors import ModelError

    with pytest.raises(ModelError, match="without a linear layer"):
        read_task("own_modules:empty", modules / "train.npz", None, None, lambda text: None)
    with pytest.raises(ModelError, match="head file"):
        read_task("nowhere", modules / "train.npz", None, None, lambda text: None)
