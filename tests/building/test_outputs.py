"""What a build writes is small, and a change of one case is a change of one line."""

import copy
import io
import json

import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pytest

from autograder.building import build, masters, outputs, solutions
from descent import packing, plots
from tests.building.toy import NOTEBOOK

DATA = {
    "source": "ab",
    "exercises": {
        "f": {
            "hints": ["Größe?"],
            "cases": [{"name": "one", "inputs": {"x": [1, 2.5]}, "expected": {"$": "é"}}] * 2,
            "wrong": [{"name": "w", "results": [{"value": [1, [2]]}, None]}],
            "none": [],
        }
    },
}


@pytest.fixture
def data_path(tmp_path):
    return tmp_path / "99_toy" / "01_square.json"


LONG = {"$": "array", "dtype": "<f8", "shape": [300], "data": "AAAA" * 800}


def with_long_values():
    """DATA with an input, an expected result and a mistake's results that nobody reads."""
    data = copy.deepcopy(DATA)
    function = data["exercises"]["f"]
    function["cases"][0] |= {"inputs": {"x": LONG, "n": 3}, "expected": [LONG] * 2}
    function["wrong"].append({"name": "other", "results": [{"value": LONG}, None]})
    return data


@pytest.mark.parametrize("data", [DATA, with_long_values()])
def test_what_is_read_is_what_was_written(data_path, data):
    before = copy.deepcopy(data)
    outputs.write_json(data_path, data)
    assert data == before
    assert packing.unpacked(json.loads(data_path.read_text(encoding="utf-8"))) == data


def test_what_is_long_is_compressed_and_names_stay_text(data_path):
    outputs.write_json(data_path, with_long_values())
    text = data_path.read_text(encoding="utf-8")
    assert len(text) < 2000 and "AAAAAAAAAAAA" not in text
    kept = json.loads(text)["exercises"]["f"]
    assert list(kept["cases"][0]["inputs"]) == ["x", "n"] and kept["cases"][0]["inputs"]["n"] == 3
    assert [wrong["name"] for wrong in kept["wrong"]] == ["w", "other"]


def test_files_from_before_are_read():
    assert packing.unpacked(with_long_values()) == with_long_values()


def test_a_hundred_notebooks_built_anew_are_a_difference_below_60_megabytes():
    found = [
        path.stat().st_size
        for notebook in masters.notebooks()
        for path in build._existing(notebook)
    ]
    assert sum(found) / len(masters.notebooks()) < 600_000


def test_a_changed_case_changes_one_line(data_path):
    other = copy.deepcopy(DATA)
    other["exercises"]["f"]["cases"][1] = {"name": "one", "inputs": {"x": [1, 3]}, "expected": {}}
    other["exercises"]["f"]["cases"][1]["expected"] = {"$": "é"}
    texts = []
    for data in (DATA, other):
        outputs.write_json(data_path, data)
        texts.append(data_path.read_text(encoding="utf-8").splitlines())
    changed = [pair for pair in zip(*texts, strict=True) if len(set(pair)) == 2]
    assert changed == [('     "inputs": {"x":[1,2.5]},', '     "inputs": {"x":[1,3]},')]


def test_a_target_is_smaller_and_looks_the_same():
    from PIL import Image

    fig, ax = plt.subplots()
    ax.imshow(np.arange(400).reshape(20, 20))
    ax.plot([0, 10], [3, 15], label="line")
    ax.legend()
    data, _ = plots.png(fig)
    small = outputs.webp(data)
    before, after = (
        np.asarray(Image.open(io.BytesIO(d)).convert("RGB"), float) for d in (data, small)
    )
    assert len(small) < 0.5 * len(data) and small == outputs.webp(data)
    assert np.abs(before - after).mean() < 1  # of 255


def test_a_solution_is_kept_without_pictures_and_written_with_them_to_read(
    toy_course, monkeypatch, tmp_path, capsys
):
    build.build(NOTEBOOK)
    monkeypatch.setattr(solutions, "PICTURED", tmp_path / "pictured")
    assert solutions.main([NOTEBOOK]) == 0
    kept, pictured = (
        nbformat.read(folder / f"{NOTEBOOK}.ipynb", 4)
        for folder in (toy_course / "solutions", tmp_path / "pictured")
    )
    assert "image/png" not in nbformat.writes(kept) and "[axes 1" in nbformat.writes(kept)
    assert any("image/png" in o.data for cell in pictured.cells for o in cell.get("outputs", []))
    outputs.drop_pictures(pictured)
    assert [cell.get("outputs") for cell in kept.cells] == [
        cell.get("outputs") for cell in pictured.cells
    ]


def test_solutions_refuses_what_is_no_notebook(toy_course, capsys):
    assert solutions.main(["99_toy"]) == 2
    assert f"solutions: no master for 99_toy. Known: {NOTEBOOK}." in capsys.readouterr().err
