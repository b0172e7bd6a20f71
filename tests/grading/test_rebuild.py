"""The release's frame around what a student handed in, however it was treated."""

import copy
import json

import pytest

from autograder.grading.rebuilding import rebuild
from autograder.grading.rebuilding.rebuild import NotebookError, read_cells
from tests.grading.toy_chapter import SOLVED


@pytest.fixture
def rebuilt(release_cells):
    """rebuilt(notebook) -> the rebuilt notebook."""

    def make(content):
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        return rebuild.rebuild(release_cells, read_cells(data)[0])

    return make


def place(cells, name):
    return next(at for at, cell in enumerate(cells) if cell["id"] == name)


def code(source, **more):
    return {
        "cell_type": "code",
        "metadata": {},
        "outputs": [],
        "execution_count": None,
        "source": source,
        "id": "x",
    } | more


def answers(made):
    return {
        part.name: part.cell.source for part in made.parts if part.role in ("answer", "written")
    }


def running(made):
    return [part.cell.source for part in made.parts if part.runs]


def roles(made):
    return [part.role for part in made.parts if part.role not in ("text", "demo")]


FRAME = ["release", "answer", "check", "release", "answer", "check", "written"]


def test_an_honest_notebook_keeps_its_frame(rebuilt, notebook):
    made = rebuilt(notebook())
    assert roles(made) == FRAME
    assert answers(made) == SOLVED
    assert made.restored == {} and made.untouched == set()
    assert set(made.how.values()) == {"by its nbgrader id"}


def test_the_untouched_release_is_known_as_such(rebuilt, released):
    assert rebuilt(released).untouched == {"double", "scaled", "why"}


def test_nothing_of_an_empty_notebook_is_found(rebuilt, released):
    made = rebuilt(released | {"cells": []})
    assert set(made.how.values()) == {""}
    assert set(made.restored.values()) == {"was deleted"}
    assert running(made) == [part.cell.source for part in made.parts if part.role == "release"]


def test_a_deleted_check_is_restored_and_told(rebuilt, notebook):
    content = notebook()
    del content["cells"][place(content["cells"], "check-double")]
    made = rebuilt(content)
    assert made.restored == {"double": "was deleted"}
    assert roles(made) == FRAME


def test_an_edited_check_does_not_run(rebuilt, notebook):
    content = notebook()
    content["cells"][place(content["cells"], "check-double")]["source"] = (
        "check = lambda answer: 3.0\ncheck(double)"
    )
    made = rebuilt(content)
    assert made.restored == {"double": "was edited"}
    assert not any("lambda answer" in source for source in running(made))


@pytest.mark.parametrize("keep_id", [True, False], ids=["with its id", "with a new id"])
def test_a_copied_check_does_not_run_twice(rebuilt, notebook, keep_id):
    content = notebook()
    at = place(content["cells"], "check-double")
    twin = copy.deepcopy(content["cells"][at])
    content["cells"].insert(at, twin if keep_id else twin | {"id": "y", "metadata": {}})
    made = rebuilt(content)
    assert made.restored == {"double": "was there 2 times"}
    assert roles(made) == FRAME


def test_changed_points_and_tags_of_a_check_are_the_releases_own(rebuilt, notebook):
    content = notebook()
    cell = content["cells"][place(content["cells"], "check-double")]
    cell["metadata"]["nbgrader"]["points"] = 300
    cell["metadata"]["tags"] = ["skip-execution"]
    kept = next(
        part.cell
        for part in rebuilt(content).parts
        if part.name == "double" and part.role == "check"
    )
    assert kept.metadata["nbgrader"]["points"] == 3 and "tags" not in kept.metadata


def test_without_any_metadata_answers_are_found_by_name(rebuilt, notebook):
    content = notebook()
    for number, cell in enumerate(content["cells"]):
        cell |= {"metadata": {}, "id": f"c{number}"}
    made = rebuilt(content)
    assert answers(made) == SOLVED
    assert "by the name it defines" in made.how["double"] and "confidence" in made.how["double"]
    assert "by likeness" in made.how["why"]
    assert roles(made) == FRAME


def test_without_nbgrader_metadata_the_cell_ids_are_enough(rebuilt, notebook):
    content = notebook()
    for cell in content["cells"]:
        cell["metadata"] = {}
    assert rebuilt(content).how["double"] == "by its cell id"


def test_an_answer_under_another_name_is_found_by_likeness(rebuilt, notebook):
    content = notebook(double=None)
    cell = content["cells"][place(content["cells"], "double")]
    cell |= {
        "metadata": {},
        "id": "q",
        "source": cell["source"].replace("def double", "def doubled"),
    }
    assert "by likeness" in rebuilt(content).how["double"]


def test_of_a_copied_answer_the_last_solved_one_counts(rebuilt, notebook, released):
    content = notebook()
    at = place(content["cells"], "double")
    stub = copy.deepcopy(next(cell for cell in released["cells"] if cell["id"] == "double"))
    content["cells"].insert(at + 1, stub)
    made = rebuilt(content)
    assert answers(made)["double"] == SOLVED["double"]
    assert "the last of 2 copies" in made.how["double"]


def test_a_split_answer_runs_whole(rebuilt, notebook):
    content = notebook(double="def two_times(x):\n    return 2 * x")
    content["cells"].insert(
        place(content["cells"], "double") + 1, code("def double(x):\n    return two_times(x)")
    )
    made = rebuilt(content)
    assert roles(made) == ["release", "added", "answer", "check", *FRAME[3:]]


def test_merged_answers_run_in_both_places(rebuilt, notebook):
    both = f"{SOLVED['double']}\n\n{SOLVED['scaled']}"
    content = notebook(scaled=both)
    del content["cells"][place(content["cells"], "double")]
    made = rebuilt(content)
    assert (
        made.how["double"] == "in the cell of scaled (confidence 95 %)"
        or "double" in made.how["scaled"]
    )
    assert roles(made) == FRAME
    assert running(made).count(both) == 2
    assert all(p.exercises == ["scaled", "double"] for p in made.parts if p.role == "answer")


def test_reordered_cells_come_back_into_order(rebuilt, notebook):
    content = notebook()
    content["cells"].reverse()
    assert roles(rebuilt(content)) == FRAME


def test_helpers_run_where_they_stood(rebuilt, notebook):
    content = notebook(double="def double(x):\n    return helper(x)")
    content["cells"].insert(
        place(content["cells"], "double"), code("def helper(x):\n    return 2 * x")
    )
    assert roles(rebuilt(content)) == ["release", "added", *FRAME[1:]]


def test_an_edited_setup_cell_runs_after_the_releases_own(rebuilt, notebook):
    content = notebook()
    cell = next(cell for cell in content["cells"] if cell["source"] == "SCALE = 10.0")
    cell["source"] = "import math\nSCALE = 10.0"
    sources = running(rebuilt(content))
    assert sources.index("import math\nSCALE = 10.0") > sources.index("SCALE = 10.0")


def test_cells_that_only_show_do_not_run(rebuilt, notebook):
    content = notebook()
    content["cells"].append(code("print(double(1))"))
    assert roles(rebuilt(content)) == FRAME


def test_an_answer_turned_into_markdown_is_code_again(rebuilt, notebook):
    content = notebook()
    content["cells"][place(content["cells"], "double")]["cell_type"] = "markdown"
    part = next(
        part for part in rebuilt(content).parts if part.name == "double" and part.role == "answer"
    )
    assert part.cell.kind == "code" and part.cell.source == SOLVED["double"]


@pytest.mark.parametrize(
    "change",
    [
        lambda text: b"\xef\xbb\xbf" + text,
        lambda text: text.replace(rb"\n", rb"\r\n"),
        lambda text: json.dumps(_as_format_3(json.loads(text))).encode(),
        lambda text: json.dumps(_with_lines(json.loads(text))).encode(),
    ],
    ids=["a byte-order mark", "CRLF", "format 3", "lists of lines"],
)
def test_other_ways_to_save_a_notebook_are_read(rebuilt, notebook, change):
    made = rebuilt(change(json.dumps(notebook()).encode()))
    assert answers(made) == SOLVED


def _as_format_3(told):
    cells = [{**c, "input": c["source"]} if c["cell_type"] == "code" else c for c in told["cells"]]
    for cell in cells:
        if "input" in cell:
            del cell["source"]
    return {"metadata": {}, "nbformat": 3, "worksheets": [{"cells": cells}]}


def _with_lines(told):
    for cell in told["cells"]:
        cell["source"] = cell["source"].splitlines(keepends=True)
    return told


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[]", b'{"cells": 3}', b"\xff\xfe\x00", b"[" * 100_000, b'{"metadata": {}}'],
    ids=["empty", "half", "a list", "no cells", "no text", "a deep nest", "without cells"],
)
def test_what_is_no_notebook_is_refused_with_a_reason(data):
    with pytest.raises(NotebookError, match="it "):
        read_cells(data)


@pytest.mark.parametrize(
    "cell",
    [
        {"cell_type": 3, "source": 4, "metadata": [], "id": {}},
        {
            "cell_type": "code",
            "source": [1, "x = 1"],
            "metadata": {"nbgrader": "yes", "descent": 1},
        },
        {
            "cell_type": "code",
            "source": "\ud800 = 1",
            "metadata": {"nbgrader": {"grade_id": ["double"]}},
        },
        {"cell_type": "code", "source": "-" * 100_000 + "1"},
        {"cell_type": "code", "source": "f" + "()" * 90_000},
    ],
    ids=["odd types", "odd metadata", "a lone surrogate", "a deep expression", "a long chain"],
)
def test_odd_cells_do_no_harm(rebuilt, notebook, cell):
    content = notebook()
    content["cells"].insert(0, cell)
    assert answers(rebuilt(content)) == SOLVED


def test_text_below_a_question_is_its_answer(rebuilt, notebook):
    content = notebook(why=None)
    assert "why" in rebuilt(content).untouched
    text = {"cell_type": "markdown", "metadata": {}, "id": "w", "source": "Because 2 = 1 + 1."}
    content["cells"].insert(place(content["cells"], "why") + 1, text)
    made = rebuilt(content)
    assert "why" not in made.untouched and made.parts[-1].cell.source == "Because 2 = 1 + 1."


def test_a_written_answer_without_its_question_is_found_by_its_place(rebuilt, notebook):
    content = notebook(why="Because 2 = 1 + 1.")
    content["cells"][place(content["cells"], "why")] |= {"metadata": {}, "id": "w"}
    made = rebuilt(content)
    assert answers(made)["why"] == "Because 2 = 1 + 1."
    assert made.how["why"] == "by its place (confidence 70 %)"


def test_attachments_of_a_written_answer_are_kept(rebuilt, notebook):
    content = notebook()
    picture = {"a.png": {"image/png": "AAAA"}}
    content["cells"][place(content["cells"], "why")]["attachments"] = picture
    assert rebuilt(content).parts[-1].cell.attachments == picture


def test_a_reset_at_the_top_does_not_undo_the_imports(rebuilt, notebook):
    content = notebook()
    content["cells"][0:0] = [code("%reset -f"), code("ONES = np.ones(3)", id="y")]
    sources = running(rebuilt(content))
    assert sources[0] == "%reset -f" and sources[2] == "ONES = np.ones(3)"


def test_a_helper_runs_before_the_check_that_needs_it(rebuilt, notebook):
    content = notebook(double="def double(x):\n    return first(x)")
    content["cells"] += [
        code("def second(x):\n    return 2 * x", id="a"),
        code("def first(x):\n    return second(x)", id="b"),
        code("def spare(x):\n    return x", id="c"),
    ]
    assert roles(rebuilt(content)) == ["release", "added", "added", *FRAME[1:], "added"]


def test_a_renamed_answer_is_asked_by_its_own_name(rebuilt, notebook):
    made = rebuilt(notebook(double="def doubled(x):\n    return 2 * x"))
    assert answers(made)["double"].endswith(
        "\n\ndouble = doubled  # added at grading: the answer has another name"
    )
    assert made.how["double"] == "by its nbgrader id, where it is called doubled"


def test_ids_of_two_answers_that_were_swapped_do_not_mislead(rebuilt, notebook):
    content = notebook(why="Because.")
    one, other = (content["cells"][place(content["cells"], name)] for name in ("double", "why"))
    for key in ("id", "metadata"):
        one[key], other[key] = other[key], one[key]
    made = rebuilt(content)
    assert answers(made)["double"] == SOLVED["double"]


def test_what_is_left_of_the_stub_does_not_undo_the_answer_above_it(rebuilt, notebook):
    content = notebook()
    stub = code("def double(x):\n    # not yet\n    raise NotImplementedError", id="y")
    content["cells"].insert(place(content["cells"], "double") + 1, stub)
    assert roles(rebuilt(content)) == FRAME
