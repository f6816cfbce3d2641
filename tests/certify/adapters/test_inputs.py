"""Inputs from files: what is read, what is cut and said, what is refused."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from certify.adapters import Model, open_model, read_array_inputs, read_text_inputs
from certify.errors import DataError, ModelError
from tests.certify.adapters.families import HOOKED, build


@pytest.fixture(scope="module")
def minilm() -> Model:
    return open_model("minilm")


@pytest.fixture
def text(tmp_path: Path) -> Any:
    def write(content: str | bytes) -> Path:
        path = tmp_path / "text.txt"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


def test_each_non_empty_line_is_one_input(minilm: Model, text: Any) -> None:
    path = text("\ufeffFirst line.\r\n\n   \nSecond line, longer.\n")
    inputs = read_text_inputs(minilm, path)
    assert len(inputs) == 2
    assert inputs.truncated == 0
    assert inputs.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    # [CLS] first line . [SEP]
    assert inputs.items[0]["input_ids"].tolist() == [101, 2034, 2240, 1012, 102]


def test_long_lines_are_cut_at_the_models_length_and_counted(minilm: Model, text: Any) -> None:
    inputs = read_text_inputs(
        minilm, text("word " * 500 + "\nshort\n" + "word " * 254 + "\n" + "word " * 255)
    )
    assert [len(i["input_ids"]) for i in inputs.items] == [256, 3, 256, 256]
    assert inputs.truncated == 2
    assert any("2 of 4 lines were longer" in note for note in inputs.notes)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "no text in this file"),
        ("\n \n", "no text in this file"),
        (b"ok\n\xff\xfe", r"not UTF-8 at byte 3 \(0xff\)"),
    ],
)
def test_bad_text_names_the_file(minilm: Model, text: Any, content: str | bytes, message: str) -> None:
    with pytest.raises(DataError, match=r"text\.txt: " + message):
        read_text_inputs(minilm, text(content))


def test_missing_text_file(minilm: Model, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"gone\.txt: cannot be read"):
        read_text_inputs(minilm, tmp_path / "gone.txt")


def test_text_for_a_model_without_a_tokenizer(tmp_path: Path, text: Any) -> None:
    build(HOOKED["bert"]).save_pretrained(tmp_path / "m")
    with pytest.raises(DataError, match="no usable tokenizer"):
        read_text_inputs(open_model(str(tmp_path / "m")), text("hello"))
    with pytest.raises(DataError, match="no tokenizer"):
        read_text_inputs(open_model(torch.nn.Linear(2, 3)), text("hello"))


def test_text_for_a_model_that_cannot_run(tmp_path: Path, text: Any) -> None:
    np.savez(tmp_path / "w.npz", a=np.ones((2, 3)))
    with pytest.raises(ModelError, match="cannot be run on inputs"):
        read_text_inputs(open_model(str(tmp_path / "w.npz")), text("hello"))


def test_arrays_are_split_along_their_first_axis(tmp_path: Path) -> None:
    ids, mask = np.arange(6).reshape(2, 3), np.array([[1, 1, 0], [1, 1, 1]])
    np.savez(tmp_path / "i.npz", input_ids=ids, attention_mask=mask)
    inputs = read_array_inputs(tmp_path / "i.npz")
    assert len(inputs) == 2
    assert np.array_equal(inputs.items[1]["input_ids"], [3, 4, 5])


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"x": np.ones(3), "y": np.ones(4)}, r"differ in their number of inputs .*'x': 3, 'y': 4"),
        ({"x": np.float64(3)}, "single number"),
        ({"x": np.array([[1.0, np.inf]])}, r"array 'x' holds inf at \(0, 1\)"),
        ({"x": np.ones((0, 3))}, "no input"),
        ({"x": np.array(["a"])}, "dtype <U1"),
        ({"x": np.array([{}], dtype=object)}, r"i\.npz: not a readable"),
        ({"x": np.ones(2, complex)}, "complex128"),
        ({}, "holds no array"),
    ],
)
def test_bad_arrays_name_file_array_and_value(tmp_path: Path, arrays: dict[str, Any], message: str) -> None:
    np.savez(tmp_path / "i.npz", **arrays)
    with pytest.raises(DataError, match=message):
        read_array_inputs(tmp_path / "i.npz")


def test_broken_archive(tmp_path: Path) -> None:
    (tmp_path / "i.npz").write_bytes(b"PK\x03\x04 no")
    with pytest.raises(DataError, match=r"i\.npz"):
        read_array_inputs(tmp_path / "i.npz")


@pytest.mark.parametrize("family", ["bert", "llama", "t5"])
def test_padding_is_taken_out_and_changes_nothing(tmp_path: Path, family: str) -> None:
    """The attention matrices of a padded input are those of the input without its padding."""
    build(HOOKED[family]).save_pretrained(tmp_path / "m")
    model = open_model(str(tmp_path / "m"))
    ids = np.array([[7, 8, 9, 10]])
    decoder = {"decoder_input_ids": np.array([[5, 6]])} if family == "t5" else {}
    np.savez(tmp_path / "plain.npz", input_ids=ids, **decoder)
    np.savez(
        tmp_path / "padded.npz",
        input_ids=np.hstack([ids, [[0, 0]]]),
        attention_mask=[[1, 1, 1, 1, 0, 0]],
        **decoder,
    )
    plain = list(model.attention(read_array_inputs(tmp_path / "plain.npz")))
    padded = list(model.attention(read_array_inputs(tmp_path / "padded.npz")))
    assert len(plain) == len(padded) > 0
    for one, two in zip(plain, padded, strict=True):
        assert one.queries_in.shape == two.queries_in.shape
        assert one.keys_in.shape == two.keys_in.shape
        assert one.query_positions == two.query_positions
        for (_, p), (_, q) in zip(one.probabilities(), two.probabilities(), strict=True):
            assert p.shape == q.shape
            assert np.max(np.abs(p - q)) <= 1e-5
            assert np.max(np.abs(one.values(0) - two.values(0))) <= 1e-4
        assert two.score_form(0).covered  # type: ignore[union-attr]
    features = [
        next(iter(model.pooled_features(read_array_inputs(tmp_path / f"{n}.npz"))))[1]
        for n in ("plain", "padded")
    ]
    assert np.max(np.abs(features[0] - features[1])) <= 1e-4


def test_ids_outside_the_vocabulary_are_an_error_with_the_input_index(tmp_path: Path) -> None:
    build(HOOKED["bert"]).save_pretrained(tmp_path / "m")
    np.savez(tmp_path / "i.npz", input_ids=np.array([[7, 8], [7, 999]]))
    model = open_model(str(tmp_path / "m"))
    with pytest.raises(DataError, match=r"input 1: .*input_ids \(2,\)"):
        list(model.attention(read_array_inputs(tmp_path / "i.npz")))


def test_mask_that_hides_everything(tmp_path: Path) -> None:
    build(HOOKED["bert"]).save_pretrained(tmp_path / "m")
    np.savez(tmp_path / "i.npz", input_ids=np.array([[7, 8]]), attention_mask=np.array([[0, 0]]))
    with pytest.raises(DataError, match="hides every position"):
        list(open_model(str(tmp_path / "m")).attention(read_array_inputs(tmp_path / "i.npz")))
