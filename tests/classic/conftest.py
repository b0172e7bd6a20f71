import pytest

from tests.classic import toy_course


@pytest.fixture(scope="session")
def course(tmp_path_factory):
    """A course whose assignment is generated; take a copy to hand in."""
    return toy_course.make(tmp_path_factory.mktemp("classic") / "course")
