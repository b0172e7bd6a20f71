"""`make gpu` refuses politely without a card, and sees a reference that depends on the device."""

import pytest
import torch

from descent.compare import close
from solutions.spec import Exercise
from tests import gpu


def test_without_a_cuda_device_it_says_so_in_one_line(monkeypatch, capsys):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert gpu.main() == 2
    told = capsys.readouterr()
    assert told.out == "" and len(told.err.splitlines()) == 1
    assert "no CUDA device" in told.err


@pytest.fixture
def doubled():
    exercise = Exercise("doubled", reference=lambda x: 2 * x, hints=[], compare=close())

    @exercise.cases
    def _(rng):
        yield "any", dict(x=rng.normal(size=3))

    return exercise


def test_a_reference_that_gives_the_same_on_both_devices_agrees(doubled):
    problem, cases, _ = gpu.compare_devices("00_a/01_b", doubled, "cpu")
    assert (problem, cases) == (None, 1)


def test_a_reference_that_gives_something_else_on_the_device_is_named(doubled):
    calls = iter(range(10))  # two on the CPU, then two on the device
    doubled.reference = lambda x: x + (next(calls) >= 2)
    problem, _, _ = gpu.compare_devices("00_a/01_b", doubled, "cpu")
    assert problem.startswith("any: ")


def test_a_reference_that_fails_on_the_device_is_named(doubled):
    doubled.reference = lambda x: x + torch.ones(3, device="meta")
    problem, _, _ = gpu.compare_devices("00_a/01_b", doubled, "cpu")
    assert problem.startswith("on cpu, any: doubled: its reference fails")
