"""Lines that call an answer as the check did."""

import numpy as np
import pytest
import torch

from descent import tried, wire


def lines(inputs, probe=None, name="f"):
    return tried.lines({"name": name, "probe": probe}, wire.encode(inputs))


def test_a_short_call_is_one_line():
    assert lines({"x": 2, "names": ["a", None]}) == "f(x=2, names=['a', None])"
    assert lines({"x": float("inf")}) == "import numpy as np\nf(x=np.inf)"


@pytest.mark.parametrize(
    "value",
    [
        np.array([[0.1, np.nan], [-np.inf, 1 / 3]]),
        np.array([1, 2], dtype=np.int32),
        np.array([0.1], dtype=np.float32),
        np.zeros((0, 2)),
        np.zeros(0, dtype=int),
        np.array([True]),
        np.array([1j]),
        torch.tensor([0.1]),
        torch.tensor([0.1]).double(),
        torch.zeros(0, 3, dtype=torch.int64),
        {"a b": [np.array([1.5]), {}]},
        "inf",
        -0.0,
    ],
    ids=str,
)
def test_the_lines_make_the_same_value(value):
    names = {"np": np, "torch": torch, "f": lambda x: x}
    *imports, call = lines({"x": value}).split("\n", lines({"x": value}).count("import"))
    assert wire.encode(eval(call, names)) == wire.encode(value)
    assert all(line.startswith("import") for line in imports)


@pytest.mark.parametrize(
    ("probe", "told"),
    [
        ("def _(answer, H):\n    return answer(lambda x: H @ x)", "H = 2\nf(lambda x: H @ x)"),
        (
            "def _(answer, H):\n    def g(x):\n        return H * x\n\n    return dict(\n        y=answer(g)\n    )",
            "H = 2\ndef g(x):\n    return H * x\n\ndict(\n    y=f(g)\n)",
        ),
        (
            "def _(answer, H):\n    if H:\n        return answer(H)\n    return 0",
            "H = 2\ndef tried(answer, H):\n    if H:\n        return answer(H)\n    return 0\n\ntried(f, H=H)",
        ),
        (
            "def _(answer, H, k=3):\n    return answer(H, k)",
            "H = 2\ndef tried(answer, H, k=3):\n    return answer(H, k)\n\ntried(f, H=H)",
        ),
    ],
)
def test_a_probe_s_lines_call_the_answer_by_its_name(probe, told):
    assert lines({"H": 2}, probe) == told


def test_what_nobody_reads_is_left_out():
    assert lines({"x": np.random.default_rng(0).normal(size=2000)}) == ""
