"""Every reference keeps the contract, on the cases of its own exercise."""

import pytest
import torch

from solutions import notebook_module
from tests.notebooks import contract
from tests.notebooks.cases import EXERCISES, drawn

ALL = pytest.mark.parametrize(("notebook", "name"), EXERCISES)
# Cases that float32 cannot tell from others.
TOO_FINE_FOR_FLOAT32 = {
    # directions whose singular value is below the rounding of float32
    ("hat_matrix", "almost equal columns still span a plane"),
    ("min_norm", "almost equal columns"),
    ("ols", "almost equal columns are not equal"),
    ("ols", "almost equal columns, several targets"),
    ("hat_matrix", "a little more than that counts"),
    ("min_norm", "a little more than that counts"),
    ("ols", "a little more than that counts"),
    ("double_descent", "small singular values count"),
    # a sensor's variance that vanishes beside that of the state
    ("RecursiveLeastSquares", "a very precise sensor, in single precision"),
}


@ALL
def test_inputs_are_left_alone(notebook, name):
    exercise, cases = drawn(notebook, name)
    for _, inputs in cases:
        contract.assert_inputs_left_alone(exercise.reference, inputs)


@ALL
def test_float32_comes_back_as_float32_and_near(notebook, name):
    exercise, cases = drawn(notebook, name)
    for case, inputs in cases:
        floating = any(t.is_floating_point() for t in contract.tensors(inputs))
        if floating and (name, case) not in TOO_FINE_FOR_FLOAT32:
            contract.assert_any_float(exercise.reference, inputs)


@pytest.mark.parametrize(("name", "case"), sorted(TOO_FINE_FOR_FLOAT32))
def test_what_is_too_fine_for_float32_is_so(name, case):
    [notebook] = [notebook for notebook, found in EXERCISES if found == name]
    exercise, cases = drawn(notebook, name)
    with pytest.raises((AssertionError, RuntimeError)):
        contract.assert_any_float(exercise.reference, dict(cases)[case])


def on_any_device(exercise, cases):
    for _, inputs in cases:
        if contract.tensors(inputs):
            contract.assert_any_device(exercise.reference, inputs)


@ALL
def test_no_value_and_no_device_is_assumed(notebook, name):
    """An exercise that says why its reference reads values is listed with its reason; it must be needed."""
    exercise, cases = drawn(notebook, name)
    if not exercise.data_dependent:
        return on_any_device(exercise, cases)
    with pytest.raises((AssertionError, RuntimeError, NotImplementedError)):
        on_any_device(exercise, cases)
    pytest.xfail(exercise.data_dependent)


@pytest.mark.parametrize(
    ("notebook", "name"),
    [(notebook, name) for notebook, name in EXERCISES if drawn(notebook, name)[0].batched],
)
def test_a_batch_is_a_loop(notebook, name):
    (exercise, cases), (_, others) = drawn(notebook, name), drawn(notebook, name, "other")
    cases, others = (sorted(found, key=lambda case: case[0]) for found in (cases, others))
    pairs = [(one, two) for (_, one), (_, two) in zip(cases, others, strict=True)]
    alike = [pair for pair in pairs if shapes(pair[0], exercise) == shapes(pair[1], exercise)]
    assert alike, f"no case of {name} has arrays of the same shapes in every draw"
    for one, two in alike:
        contract.assert_batch_is_a_loop(exercise.reference, one, two, exercise.batched)


def shapes(inputs, exercise):
    """The shapes of the inputs that come in batches; where one is no array, what equals nothing."""
    found = [getattr(inputs[name], "shape", None) for name in exercise.batched]
    return object() if None in found else found


def normal(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


# Of references that judge no answer themselves.
OTHERS = [
    ("01_regression/02_multiple_regression", "huber_loss", [normal(5), 0.5]),
    ("01_regression/03_ridge_and_lasso", "lasso_gap", [normal(6, 3), normal(6), normal(3), 0.5]),
    (
        "03_optimisation/01_gradient_descent", "heavy_ball_path",
        [normal(3, 3), normal(3), 0.1, 0.9, 4],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("notebook", "name", "arguments"), OTHERS, ids=[o[1] for o in OTHERS])
def test_the_other_references_keep_it_too(notebook, name, arguments):
    reference = getattr(notebook_module(notebook, "reference"), name)
    contract.assert_inputs_left_alone(reference, arguments)
    contract.assert_any_float(reference, arguments)
    contract.assert_any_device(reference, arguments)
