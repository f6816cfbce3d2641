"""Forged reports. Every forgery must be refused, at the place that was forged.

Two kinds of forger: one who changes a character and leaves the digests, and one who recomputes them.
Against the second only recomputation helps, and for a spectrum only the model.
"""

from __future__ import annotations

import copy
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import certify.verify
from certify.bounds.nominal import nominal
from certify.bounds.peeling import enclosure_of
from certify.decimals import round_down, round_up
from certify.report.assemble import capacity, heads_over_inputs
from certify.report.digest import sealed
from certify.report.writing import to_json
from certify.verify.digests import check_digests
from certify.verify.model import check_with_model
from certify.verify.report import check
from tests.certify.report.tiny import Tiny, make_tiny

Report = dict[str, Any]
Forge = Callable[[Report], None]
VERIFY = Path(certify.verify.__file__).parent


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Tiny:
    """A real report to forge."""
    return make_tiny(tmp_path_factory.mktemp("tiny"))


def resealed(report: Report) -> Report:
    """What a forger who knows the format does at the end."""
    return sealed({k: v for k, v in report.items() if k not in ("parts", "digest")})


def narrower(pair: dict[str, str]) -> None:
    """Claim a tighter enclosure: move the upper end down by a millionth of the value."""
    high = Fraction(pair["upper"])
    pair["upper"] = round_up(high * (1 - Fraction(1, 10**6)), 17)
    pair["lower"] = round_down(min(Fraction(pair["lower"]), Fraction(pair["upper"])), 17)


def weight(report: Report) -> Report:
    return next(m for m in report["matrices"] if m["role"] == "weight" and min(m["shape"]) > 4)


def _set(path: str, value: Any) -> Forge:
    """A forger who sets one member; the path is written like bounds[1].entries[0].grid_index."""
    steps = [int(s) if s.isdigit() else s for s in re.findall(r"[^.\[\]]+", path)]

    def forge(report: Report) -> None:
        node: Any = report
        for step in steps[:-1]:
            node = node[step]
        old = node.get(steps[-1]) if isinstance(node, dict) else node[steps[-1]]
        assert (old, type(old)) != (value, type(value)), "the forgery changes nothing"
        node[steps[-1]] = value

    return forge


def smaller_rank(kind: str) -> Forge:
    return lambda report: narrower(weight(report)["ranks"][kind])


def halve_every_value(report: Report) -> None:
    for entry in report["bounds"][1]["entries"]:
        value = entry["on_these_inputs"]["value"]
        value["lower"] = round_down(Fraction(value["lower"]) / 2, 17)
        value["upper"] = round_up(Fraction(value["upper"]) / 2, 17)


def better_formula(report: Report) -> None:
    group = report["bounds"][1]
    group["formula"] = group["formula"].replace("(mul 2 L", "(mul 1 L", 1)
    assert "(mul 1 L" in group["formula"]


def drop_hypothesis(report: Report) -> None:
    group = report["bounds"][0]
    group["hypotheses"] = [h for h in group["hypotheses"] if h["id"] != "iid"]


def standing_met(report: Report) -> None:
    hypothesis = next(h for h in report["bounds"][1]["hypotheses"] if h["id"] == "fixed-before-sample")
    hypothesis["status"] = "met"


def unknown_theorem(report: Report) -> None:
    report["bounds"].append({**copy.deepcopy(report["bounds"][0]), "theorem": "sqrt(R/m)"})


def drop_a_head(report: Report) -> None:
    del report["bounds"][1]["entries"][2]


def exchanged_ends(report: Report) -> None:
    pair = weight(report)["norms"]["nuclear"]
    pair["lower"], pair["upper"] = pair["upper"], pair["lower"]


def unsorted_spectrum(report: Report) -> None:
    spectrum = weight(report)["spectrum"]
    for end in ("lower", "upper"):
        spectrum[end][0], spectrum[end][1] = spectrum[end][1], spectrum[end][0]


def negative_singular_value(report: Report) -> None:
    weight(report)["spectrum"]["lower"][-1] = "-1"


def lose_a_singular_value(report: Report) -> None:
    spectrum = weight(report)["spectrum"]
    spectrum["lower"].pop()
    spectrum["upper"].pop()


def integer_rank_too_small(report: Report) -> None:
    item = weight(report)["numerical_rank"][0]
    item["lower"] = item["upper"] = item["lower"] - 1


def energy_rank_too_small(report: Report) -> None:
    item = weight(report)["energy_rank"][0]
    item["lower"] = item["upper"] = item["lower"] - 1


def smaller_capacity(report: Report) -> None:
    narrower(report["attention"]["capacity"]["stable"])


def capacity_elsewhere(report: Report) -> None:
    at = report["attention"]["capacity"]["stable"]["at"]
    at["head"] = 1 - at["head"]


def smaller_median(report: Report) -> None:
    narrower(report["attention"]["heads"][0]["ranks"]["entropy"]["median"])


def attention_rank(report: Report) -> None:
    narrower(report["attention"]["calls"][0]["heads"][0]["ranks"]["gram-entropy"])


def forget_an_input(report: Report) -> None:
    calls = report["attention"]["calls"]
    report["attention"]["calls"] = [c for c in calls if c["input"] != 1]


def fewer_samples(report: Report) -> None:
    report["bounds"][0]["entries"][0]["falls_below"][0]["m"] -= 1


def more_samples(report: Report) -> None:
    report["bounds"][0]["entries"][0]["falls_below"][1]["m"] += 1000


def other_delta(report: Report) -> None:
    report["parameters"]["delta"] = "0.5"


def other_norm(report: Report) -> None:
    narrower(report["bounds"][1]["entries"][0]["norm_after"])


def hide_a_failure(report: Report) -> None:
    matrix = weight(report)
    for name in ("spectrum", "norms", "ranks", "numerical_rank", "energy_rank", "assumptions"):
        del matrix[name]
    matrix["error"] = "MatrixError: NaN"


def hide_a_skip(report: Report) -> None:
    report["skipped"].append({"name": "decoder", "reason": "unsupported", "expected": False})


def nominal_is_valid(report: Report) -> None:
    report["nominal"][0]["valid"] = True


def smaller_nominal(report: Report) -> None:
    narrower(report["nominal"][0]["value"])


def forget_an_assumption(report: Report) -> None:
    report["trust"]["assumptions"].pop("matrix-product")


def foreign_tensor(report: Report) -> None:
    weight(report)["factors"][0]["tensor"] = "another.weight"


def violated_without_reason(report: Report) -> None:
    entry = report["bounds"][1]["entries"][0]
    report["bounds"][1]["entries"][0] = {
        "subject": entry["subject"], "violated": {"id": "bilinear-scores", "why": "trust me"}
    }  # fmt: skip


def violated_consistently(report: Report) -> None:
    violated_without_reason(report)
    _set("bounds[1].hypotheses[5].status", "violated")(report)


def a_bound_instead_of_a_rank(report: Report) -> None:
    weight(report)["ranks"]["stable"]["upper"] = "1e-3"


def not_a_number(report: Report) -> None:
    weight(report)["norms"]["spectral"]["upper"] = "NaN"


def no_norm_after_training(report: Report) -> None:
    """Without the head's norm the bound would be taken at the user's --readout-norm."""
    report["attention"]["trained_norms"].pop(0)
    norm = report["parameters"]["readout_norm"]
    report["bounds"][1]["entries"][0]["norm_after"] = {"lower": norm, "upper": norm}


def violated_and_a_number(report: Report) -> None:
    for call in report["attention"]["calls"]:
        if call["layer"] == 0:
            call["heads"][0]["measured"] = {"violated": "no bilinear form"}
    report["bounds"][1]["entries"][0]["violated"] = {"id": "bilinear-scores", "why": "no bilinear form"}
    _set("bounds[1].hypotheses[5].status", "violated")(report)


def an_input_counted_twice(report: Report) -> None:
    """A second copy of a call moves the median."""
    again = copy.deepcopy(report["attention"]["calls"][0])
    for head in again["heads"]:
        head["measured"] = None
    report["attention"]["calls"].append(again)
    report["attention"]["heads"] = heads_over_inputs(report["attention"]["calls"])


def hide_a_head(report: Report) -> None:
    """The head of the largest effective rank, removed from every place that speaks of it."""
    attention, hidden = report["attention"], (1, 0)
    for call in attention["calls"]:
        call["heads"] = [h for h in call["heads"] if (call["layer"], h["head"]) != hidden]
    attention["heads"] = heads_over_inputs(attention["calls"])
    attention["capacity"] = capacity(attention["calls"])
    report["nominal"] = [nominal(k, enclosure_of(v), 1000) for k, v in attention["capacity"].items()]
    entries = report["bounds"][1]["entries"]
    report["bounds"][1]["entries"] = [
        e for e in entries if (e["subject"]["layer"], e["subject"]["head"]) != hidden
    ]


def threshold_above_one(report: Report) -> None:
    report["parameters"]["epsilons"][0] = "2"
    for matrix in report["matrices"]:
        matrix["numerical_rank"][0] = {"epsilon": "2", "lower": 1, "upper": 1}


def rests_on_nothing(report: Report) -> None:
    heads = [head for call in report["attention"]["calls"] for head in call["heads"]]
    for record in (*report["matrices"], *heads):
        record["assumptions"] = []
    report["trust"]["assumptions"] = {}


def ranks_of_a_failure(report: Report) -> None:
    """A failed matrix is listed, and keeps numbers that nobody checked."""
    matrix = weight(report)
    matrix["error"] = "MatrixError: NaN"
    matrix["ranks"]["stable"] = {"lower": "1", "upper": "1"}
    report["uncertified"] = [{"name": matrix["name"], "reason": "MatrixError: NaN"}]
    report["status"] = "incomplete"


def arabic_digits(report: Report) -> None:
    pair = weight(report)["norms"]["nuclear"]
    pair["upper"] = "".join(chr(0x660 + int(c)) if c.isdigit() else c for c in pair["upper"])


def negative_norm(report: Report) -> None:
    norm = report["attention"]["calls"][0]["heads"][0]["measured"]["query_norm"]
    norm["lower"] = "-" + norm["lower"]


def a_statistic_of_their_own(report: Report) -> None:
    report["attention"]["heads"][0]["ranks"]["stable"]["best"] = {"lower": "1", "upper": "1"}


def endless_grid(report: Report) -> None:
    report["parameters"]["grid_ratio"] = "1.0000000000000001"
    report["parameters"]["grid_start"] = "1E-9999"


def a_grid_that_gains(report: Report) -> None:
    """j one less than the norm needs, with everything that follows from it left as it is."""
    entry = report["bounds"][1]["entries"][0]
    entry["grid_index"] -= 1


def zero_matrix_with_ranks(report: Report) -> None:
    matrix = weight(report)
    zeros = min(matrix["shape"])
    matrix["spectrum"] = {"lower": [], "upper": [], "exact_zeros": zeros}
    matrix["norms"] = {name: {"lower": "0", "upper": "0"} for name in matrix["norms"]}
    matrix["ranks"], matrix["undefined"] = None, "a zero matrix"
    matrix["energy_rank"] = []


FIRST = "bounds[0].entries[0]"

# forgery -> the beginning of the place that must be named
FORGERIES: list[tuple[Forge, str]] = [
    (smaller_rank("stable"), "matrices["),
    (smaller_rank("nuclear"), "matrices["),
    (smaller_rank("nuclear-frobenius"), "matrices["),
    (smaller_rank("participation"), "matrices["),
    (smaller_rank("entropy"), "matrices["),
    (smaller_rank("gram-entropy"), "matrices["),
    (halve_every_value, "bounds[1].entries[0].on_these_inputs.value"),
    (better_formula, "bounds[1].formula"),
    (drop_hypothesis, "bounds[0].hypotheses"),
    (standing_met, "bounds[1].hypotheses[0].status"),
    (unknown_theorem, "bounds[2].theorem"),
    (drop_a_head, "bounds[1].entries"),
    (exchanged_ends, "matrices["),
    (unsorted_spectrum, "matrices["),
    (negative_singular_value, "matrices["),
    (lose_a_singular_value, "matrices["),
    (integer_rank_too_small, "matrices["),
    (energy_rank_too_small, "matrices["),
    (smaller_capacity, "attention.capacity.stable"),
    (capacity_elsewhere, "attention.capacity.stable"),
    (smaller_median, "attention.heads[0].ranks.entropy.median"),
    (attention_rank, "attention.calls[0].heads[0].ranks.gram-entropy"),
    (forget_an_input, "attention.calls"),
    (fewer_samples, "bounds[0].entries[0].falls_below[0].m"),
    (more_samples, "bounds[0].entries[0].falls_below[1].m"),
    (other_delta, "bounds[0].entries[0]"),
    (other_norm, "bounds[1].entries[0].norm_after"),
    (hide_a_failure, "uncertified"),
    (hide_a_skip, "status"),
    (nominal_is_valid, "nominal[0].valid"),
    (smaller_nominal, "nominal[0].value"),
    (forget_an_assumption, "trust.assumptions"),
    (foreign_tensor, "matrices["),
    (violated_without_reason, "bounds[1].hypotheses"),
    (violated_consistently, "bounds[1].entries[0]"),
    (a_bound_instead_of_a_rank, "matrices["),
    (not_a_number, "matrices["),
    (_set("bounds[1].entries[0].grid_index", 5), "bounds[1].entries[0].grid_index"),
    (
        _set("bounds[0].entries[0].on_these_inputs.vacuous", False),
        "bounds[0].entries[0].on_these_inputs.vacuous",
    ),
    (_set("bounds[0].entries[0].at_samples.m", 2000), "bounds[0].entries[0].at_samples.m"),
    (_set("bounds[0].quantity", "risk"), "bounds[0].quantity"),
    (_set("status", "proved"), "status"),
    (_set("inputs.count", 4), "attention.calls"),
    (_set("parameters.readout_norm", "0.001"), "bounds[0].entries[0]"),
    (_set("parameters.order_statistics.median", "1/4"), "parameters.order_statistics"),
    (_set("tensors[0].sha256", "0"), "tensors[0].sha256"),
    (no_norm_after_training, "attention.trained_norms"),
    (violated_and_a_number, "bounds[1].entries[0].violated"),
    (an_input_counted_twice, "attention.calls[6]"),
    (hide_a_head, "attention.calls[1].heads"),
    (threshold_above_one, "parameters.epsilons[0]"),
    (rests_on_nothing, "matrices[0].assumptions"),
    (ranks_of_a_failure, "matrices["),
    (arabic_digits, "matrices["),
    (negative_norm, "attention.calls[0].heads[0].measured.query_norm"),
    (a_statistic_of_their_own, "attention.heads[0].ranks.stable"),
    (endless_grid, f"{FIRST}.grid_index"),
    (a_grid_that_gains, "bounds[1].entries[0].grid_index"),
    (zero_matrix_with_ranks, "matrices["),
    (_set("bounds[0].level", "proved by God"), "bounds[0].level"),
    (_set(f"{FIRST}.on_these_inputs.m", 3.0), f"{FIRST}.on_these_inputs.m"),
    (_set(f"{FIRST}.on_these_inputs.risk", "0.01"), f"{FIRST}.on_these_inputs.risk"),
    (_set(f"{FIRST}.curve[0].vacuous", False), f"{FIRST}.curve[0].vacuous"),
    (_set("parameters.delta", " 0.05 "), "parameters.delta"),
    (_set("parameters.delta", "1e-99999999"), "parameters.delta"),
    (_set("parameters.outputs", True), "parameters.outputs"),
    (_set("matrices[0].spectrum.exact_zeros", False), "matrices[0].spectrum.exact_zeros"),
    (_set("matrices[0].shape[1]", 10**9), "matrices[0].shape"),
    (_set("matrices[0].numerical_rank[0].lower", "8"), "matrices[0].numerical_rank[0].lower"),
    (_set("matrices[0].norms.nuclear.upper", "1E9999"), "matrices[0].norms.nuclear"),
    (_set("attention.calls[0].remark", "certified"), "attention.calls[0].remark"),
    (_set("attention.capacity.stable.at.input", 0), "attention.capacity.stable.at"),
    (_set("model.certified", "yes"), "model.certified"),
]
IDS = [f"{i}-{getattr(forge, '__name__', 'forge').strip('<>')}" for i, (forge, _) in enumerate(FORGERIES)]


def test_the_real_report_is_accepted(tiny: Tiny) -> None:
    assert check(tiny.report) == []
    assert check(resealed(copy.deepcopy(tiny.report))) == []


@pytest.mark.parametrize(("forge", "place"), FORGERIES, ids=IDS)
def test_a_forger_who_recomputes_the_digests_is_refused(forge: Forge, place: str, tiny: Tiny) -> None:
    report = copy.deepcopy(tiny.report)
    forge(report)
    problems = check(resealed(report))
    assert problems, "accepted"
    assert any(p.path.startswith(place) for p in problems), [str(p) for p in problems]


def numbers(value: Any, path: str = "") -> list[tuple[str, list[Any], Any]]:
    """Every decimal, integer and hash of a report as (path, container, key)."""
    found: list[tuple[str, list[Any], Any]] = []
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        where = f"{path}[{key}]" if isinstance(value, list) else (f"{path}.{key}" if path else str(key))
        if isinstance(item, dict | list):
            found += numbers(item, where)
        elif not isinstance(item, bool) and re.search(r"\d", str(item)):
            found.append((where, value, key))
    return found


def another_digit(item: Any) -> Any:
    """The same text or number with its last digit changed."""
    text = str(item)
    place = max(i for i, c in enumerate(text) if c.isdigit())
    changed = text[:place] + str((int(text[place]) + 1) % 10) + text[place + 1 :]
    return changed if isinstance(item, str) else type(item)(changed)


def test_a_changed_digit_anywhere_is_refused_and_named(tiny: Tiny) -> None:
    """Every 37th number of the report, one at a time, digests left alone."""
    report = copy.deepcopy(tiny.report)
    body = {k: v for k, v in report.items() if k not in ("parts", "digest")}
    places = numbers(body)
    assert len(places) > 2000
    for path, container, key in places[::37]:
        old = container[key]
        container[key] = another_digit(old)
        problems = list(check_digests({**body, "parts": report["parts"], "digest": report["digest"]}))
        named = [p.path for p in problems if p.path != "digest"]
        assert len(problems) == 2, path
        assert path.startswith(named[0]), (path, named)
        container[key] = old
    assert list(check_digests({**body, "parts": report["parts"], "digest": report["digest"]})) == []


@pytest.mark.parametrize("place", ["parts", "digest"])
def test_a_changed_digest_is_refused(place: str, tiny: Tiny) -> None:
    report = copy.deepcopy(tiny.report)
    if place == "digest":
        report["digest"] = another_digit(report["digest"])
    else:
        path = sorted(report["parts"])[3]
        report["parts"][path] = "0" * 16
    assert check(report)


# -- with the model ---------------------------------------------------------------------------------


def model_problems(report: Report, tiny: Tiny) -> list[str]:
    problems, _ = check_with_model(resealed(report), str(tiny.model), None)
    return [str(p) for p in problems]


def test_the_model_confirms_the_real_report(tiny: Tiny) -> None:
    problems, words = check_with_model(tiny.report, str(tiny.model), None)
    assert problems == []
    count = len(tiny.report["matrices"])
    assert words.startswith(f"{count} of {count} matrices")


def consistent_lie(report: Report, factor: Fraction) -> int:
    """Scale a whole spectrum and everything derived from it: only the model can tell."""
    import numpy as np

    from certify.engine.matrices import Measures, spectrum_record
    from certify.kernel.singular_values import SingularValues

    index = next(i for i, m in enumerate(report["matrices"]) if m is weight(report))
    matrix = report["matrices"][index]
    low = np.array([float(Fraction(t) * factor) for t in matrix["spectrum"]["lower"]])
    high = np.array([float(Fraction(t) * factor) for t in matrix["spectrum"]["upper"]])
    values = SingularValues(low, high, np.int64(0), frozenset(matrix["assumptions"]))
    measures = Measures(epsilons=tuple(report["parameters"]["epsilons"]))
    matrix.update(spectrum_record(values, measures))
    return index


def test_a_consistent_lie_about_a_spectrum_needs_the_model(tiny: Tiny) -> None:
    report = copy.deepcopy(tiny.report)
    index = consistent_lie(report, 1 - Fraction(1, 10**9))
    assert check(resealed(report)) == [], "nothing in the report contradicts itself"
    (problem,) = model_problems(report, tiny)
    assert problem.startswith(f"matrices[{index}].spectrum[0]")


def test_the_wrong_tensor_is_noticed(tiny: Tiny) -> None:
    report = copy.deepcopy(tiny.report)
    matrix = next(m for m in report["matrices"] if m["name"].endswith("layer.0.attention.self.query.weight"))
    matrix["factors"][0]["tensor"] = matrix["factors"][0]["tensor"].replace("layer.0", "layer.1")
    assert any("exclude each other" in p for p in model_problems(report, tiny))


def test_another_model_is_noticed(tiny: Tiny) -> None:
    report = copy.deepcopy(tiny.report)
    report["tensors"] = [{**t, "sha256": "0" * 64} for t in report["tensors"]]
    assert all("another sha256" in p for p in model_problems(report, tiny))


def test_a_path_out_of_the_model_is_refused(tiny: Tiny) -> None:
    report = copy.deepcopy(tiny.report)
    weight(report)["factors"][0]["file"] = "../inputs.npz"
    assert any("outside the model" in p for p in model_problems(report, tiny))


@pytest.mark.parametrize("damage", ["empty", "half", "no JSON", "no header", "offsets"])
def test_a_damaged_model_file_is_named(damage: str, tiny: Tiny, tmp_path: Path) -> None:
    shutil.copytree(tiny.model, tmp_path / "model")
    path = tmp_path / "model" / "model.safetensors"
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    path.write_bytes(
        {
            "empty": b"",
            "half": data[: len(data) // 2],
            "no JSON": data[:8] + b"{" * length + data[8 + length :],
            "no header": (2**62).to_bytes(8, "little") + data[8:],
            "offsets": data[:8] + data[8 : 8 + length].replace(b'"data_offsets":[0,', b'"data_offsets":[9,'),
        }[damage]
    )
    problems, _ = check_with_model(tiny.report, str(tmp_path / "model"), None)
    assert problems
    assert all(p.path.startswith(("matrices[", str(path))) for p in problems), [str(p) for p in problems]


def test_invented_zeros_are_refused(tiny: Tiny) -> None:
    report = copy.deepcopy(tiny.report)
    spectrum = weight(report)["spectrum"]
    spectrum["lower"].pop()
    spectrum["upper"].pop()
    spectrum["exact_zeros"] += 1
    assert any("spectrum" in p for p in model_problems(report, tiny))


# -- the command ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds a copy of the checker and nothing else."""
    folder = tmp_path_factory.mktemp("alone")
    shutil.copytree(VERIFY, folder / "verify", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def run_alone(alone: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The copied checker in a fresh interpreter where our packages, torch and flint cannot be imported."""
    blocked = ("certify", "proofs", "torch", "flint")
    code = (
        f"import sys, runpy; sys.modules.update(dict.fromkeys({blocked!r})); sys.path.insert(0, '.'); "
        f"sys.argv = ['verify', *{list(arguments)!r}]; runpy.run_module('verify', run_name='__main__')"
    )
    return subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, check=False, cwd=alone
    )


def test_the_checker_runs_without_the_package(tiny: Tiny, alone: Path) -> None:
    done = run_alone(alone, str(tiny.out / "report.json"), "--model", str(tiny.model), "--sample", "3")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("accepted")
    assert "3 of" in done.stdout


def test_exit_codes_of_the_command(tiny: Tiny, tmp_path: Path, alone: Path) -> None:
    forged = copy.deepcopy(tiny.report)
    halve_every_value(forged)
    (tmp_path / "forged.json").write_text(to_json(forged))
    done = run_alone(alone, str(tmp_path / "forged.json"))
    assert done.returncode == 1
    assert "refused: bounds[1].entries[0].on_these_inputs" in done.stdout
    nothing = run_alone(alone, str(tiny.out / "report.json"), "--model", str(tiny.model), "--sample", "-1")
    assert (nothing.returncode, nothing.stderr) == (2, "verify: --sample: -1 is not a number of spectra\n")
    for text in ("", "[]", "{}", '{"schema": "x"}', '{"schema": "certify-attention/report/1", "a": NaN}'):
        (tmp_path / "no.json").write_text(text)
        assert run_alone(alone, str(tmp_path / "no.json")).returncode == 2
    (tmp_path / "twice.json").write_text(
        (tiny.out / "report.json").read_text().replace('"status"', '"tool": {}, "status"', 1)
    )
    assert "occurs twice" in run_alone(alone, str(tmp_path / "twice.json")).stderr
    assert json.loads(to_json(tiny.report)) == tiny.report


AMBIGUOUS = {
    "twice": ('"created"', '"status": "certified", "created"', "twice"),
    "NaN": ('"truncated": 0', '"truncated": NaN', "NaN"),
    "a number that overflows": ('"truncated": 0', '"truncated": 1e999', "too large"),
    "thousands of digits": ('"truncated": 0', f'"truncated": {"9" * 5000}', "digit"),
    "deep": ('"created"', f'"x": {"[" * 100 + "]" * 100}, "created"', "nested"),
    "deeper": ('"created"', f'"x": {"[" * 90000 + "]" * 90000}, "created"', "nested"),
    "byte order mark": ("{", "\ufeff{", "BOM"),
    "half a character": ('"created"', '"\udc80": 0, "created"', "UTF-8"),
}


@pytest.mark.parametrize("name", AMBIGUOUS)
def test_files_that_two_readers_may_read_apart(name: str, tiny: Tiny, tmp_path: Path, alone: Path) -> None:
    old, new, said = AMBIGUOUS[name]
    text = (tiny.out / "report.json").read_text()
    assert old in text
    path = tmp_path / "report.json"
    path.write_bytes(text.replace(old, new, 1).encode("utf-8", "surrogateescape"))
    done = run_alone(alone, str(path))
    assert done.returncode == 2, done.stdout
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_forged_name_does_not_steer_the_terminal(tiny: Tiny, tmp_path: Path, alone: Path) -> None:
    report = {**tiny.report, "\x1b[2J\raccepted: report.json\n": 1}
    path = tmp_path / "report.json"
    path.write_text(json.dumps(report))
    done = run_alone(alone, str(path))
    assert done.returncode == 1
    assert "\x1b" not in done.stdout
    assert len(done.stdout.splitlines()) == 1
