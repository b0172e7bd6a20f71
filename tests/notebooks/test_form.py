"""Every notebook keeps every rule of form: the table is autograder/building/form.py."""

import pytest

from autograder.building import form, masters
from autograder.building.draft import Draft


@pytest.mark.parametrize("notebook", masters.notebooks())
def test_a_notebook_breaks_no_rule_of_form(notebook):
    assert [str(finding) for finding in form.findings(Draft(masters.read(notebook)))] == []
