"""What a notebook costs the suite is added up from all that its tests do, on however many workers."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import costs

A, B = "03_optimisation/01_gradient_descent", "03_optimisation/02_momentum_and_adam"
OWN = "tests/notebooks/optimisation/test_gradient_descent.py"

# Every phase of a test takes as long as it is told to: no clock decides what is printed.
PHASES = """
import pytest

@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    report = yield
    report.duration = {"setup": 20.0, "call": 3.0, "teardown": 0.5}[report.when]
    return report
"""
SUITE = f"""
import pytest

@pytest.mark.parametrize("notebook", ["{A}", "{B}"])
def test_an_edition(notebook): pass

@pytest.mark.parametrize("notebook", ["{B}"])
def test_that_fails(notebook): assert False

def test_of_none(): pass
"""


def run(folder, *options):
    """What pytest prints about the suite in a folder."""
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "test_toy.py").write_text(SUITE)
    command = ["pytest", "-p", "tests.costs", "-p", "xdist.plugin", *options, str(folder)]
    alone = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, "-m", *command]
    return subprocess.run(command, capture_output=True, text=True, env=alone).stdout


@pytest.mark.parametrize("workers", ["0", "2"])
def test_setup_call_and_teardown_count_on_one_process_and_on_two(tmp_path, workers):
    (tmp_path / "conftest.py").write_text(PHASES)
    own = tmp_path / OWN
    own.parent.mkdir(parents=True)
    own.write_text("def test_a_picture(): pass\n")
    printed = run(tmp_path, "-n", workers, "--durations", "2")
    assert "1 failed, 4 passed" in printed
    lines = printed.split("seconds by notebook")[1].splitlines()[2:5]
    assert sorted(line.split() for line in lines[:2]) == [
        ["47.0s", "70.5s", A],
        ["47.0s", "70.5s", B],
    ]
    assert lines[2].split()[:6] == ["47.0s", "in", "the", "mean", "of", "2"]
    assert lines[2].endswith("; the suite 117.5s")


def test_one_worker_runs_all_tests_of_a_notebook_and_all_of_a_file_elsewhere(tmp_path):
    own = tmp_path / OWN
    own.parent.mkdir(parents=True)
    own.write_text("def test_a_picture(): pass\n")
    (tmp_path / "tests/notebooks/test_more.py").write_text(SUITE)
    printed = run(tmp_path, "-v", "-n", "2", "--dist", "loadscope", "--no-loadscope-reorder")
    ran = re.findall(r"\[(gw\d)\] .*?(?:PASSED|FAILED) \S*?(\w+\.py::\S+)", printed)
    assert len(ran) == 9 and {worker for worker, _ in ran} == {"gw0", "gw1"}
    of_a = {f"test_more.py::test_an_edition[{A}]", f"{Path(OWN).name}::test_a_picture"}
    of_b = {f"test_more.py::test_an_edition[{B}]", f"test_more.py::test_that_fails[{B}]"}
    elsewhere = {test for _, test in ran if test.startswith("test_toy.py")}
    assert len(elsewhere) == 4
    for together in (of_a, of_b, elsewhere):
        assert together <= {test for _, test in ran}
        assert len({worker for worker, test in ran if test in together}) == 1, ran


def test_nothing_is_printed_where_no_durations_are_asked_for(tmp_path):
    printed = run(tmp_path, "-n", "0")
    assert "1 failed, 3 passed" in printed and "seconds by notebook" not in printed


def test_a_notebook_is_not_charged_for_one_whose_name_goes_on():
    longer = f"{A}_again"
    times = [(f"tests/x.py::test_y[{longer}]", 5.0), (f"tests/x.py::test_y[{A}-f]", 1.0)]
    assert costs.by_notebook(times, [A, longer]) == {longer: 5.0, A: 1.0}


def test_a_project_is_not_charged_for_another_chapters():
    times = [("tests/notebooks/regression/test_project.py::test_x", 2.0)]
    assert costs.by_notebook(
        times, ["01_regression/07_project", "02_classification/05_project"]
    ) == {"01_regression/07_project": 2.0}


def test_the_dearest_comes_first_and_without_it_the_suite_is_shorter_by_it():
    lines = costs.table({B: 30.0, A: 10.0}, suite=100.0)
    assert [line.split() for line in lines[1:3]] == [["30.0s", "70.0s", B], ["10.0s", "90.0s", A]]
    assert costs.by_notebook([(f"x[{A}]", 1.0), (f"x[{B}]", 2.0)], [A, B]) == {B: 2.0, A: 1.0}
    assert costs.table({}, suite=100.0) == []
