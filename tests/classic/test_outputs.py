"""What a student's process says it showed is kept only as far as it can do no harm to whoever opens it."""

import nbformat
import pytest

from autograder.classic import outputs

PIXEL = "iVBORw0KGgo="


@pytest.mark.parametrize(
    "told",
    [
        None,
        3,
        "x",
        {},
        [None, 3, [], {}],
        [{"output_type": "update_display_data"}],
        [{"output_type": ["stream"]}],
    ],
    ids=str,
)
def test_what_is_no_output_is_left_out(told):
    assert outputs.clean(told) == []


def test_text_pictures_and_errors_are_kept_as_they_are():
    told = [
        {"output_type": "stream", "name": "stderr", "text": ["a\n", "b"]},
        {"output_type": "execute_result", "data": {"text/plain": "0.5"}, "metadata": {"x": 1}},
        {"output_type": "display_data", "data": {"image/png": PIXEL, "text/plain": "<Figure>"}},
        {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["one", "two"]},
    ]
    made = outputs.clean(told)
    assert [output.output_type for output in made] == [output["output_type"] for output in told]
    assert (
        made[0].text == "a\nb" and made[1].data == {"text/plain": "0.5"} and made[1].metadata == {}
    )
    assert made[2].data["image/png"] == PIXEL and made[3].traceback == ["one", "two"]
    nbformat.validate(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(outputs=made)]))


def test_what_could_run_or_load_is_taken_out_of_what_is_shown():
    data = {
        "text/html": "<table><tr><td onclick='x()'>1</td></tr></table><script>x()</script>"
        "<img src='http://elsewhere/?me'><img src='//elsewhere/x'><a href='javascript:x()'>l</a>",
        "application/javascript": "x()",
        "image/svg+xml": "<svg onload='x()'/>",
        "image/png": '"><script>x()</script>',
        "text/latex": "\\href{javascript:x()}{l}",
        "text/plain": "\ud800",
    }
    made = outputs.clean([{"output_type": "display_data", "data": data}])[0]
    assert set(made.data) == {"text/html", "text/plain"} and made.data["text/plain"] == "?"
    page = made.data["text/html"]
    assert page.startswith('<div class="tex2jax_ignore">')
    assert "<td>1</td>" in page and "elsewhere" not in page and "x()" not in page


def test_a_result_counts_however_much_was_shown_before_it():
    told = [{"output_type": "display_data", "data": {"text/plain": "x"}}] * 600
    made = outputs.clean([*told, {"output_type": "execute_result", "data": {"text/plain": "0.5"}}])
    assert len(made) == 501 and made[-1].data["text/plain"] == "0.5"


def test_in_brief_what_decides_on_points_is_left():
    told = [
        {"output_type": "stream", "name": "stdout", "text": "x" * 9999},
        {"output_type": "execute_result", "data": {"text/plain": "0.5", "text/html": "<b>y</b>"}},
        {
            "output_type": "error",
            "ename": "ValueError",
            "evalue": "z" * 9999,
            "traceback": ["z" * 9999],
        },
    ]
    made = outputs.clean(told)
    assert outputs.size(made) > 29_000 and outputs.size(outputs.brief(made)) < 1000
    result, error = outputs.brief(made)
    assert result.data == {"text/plain": "0.5"} and error.ename == "ValueError"


def test_html_that_takes_a_minute_to_clean_is_left_out():
    data = {"text/html": "<div>" * 100_000, "text/plain": "a table"}
    made = outputs.clean([{"output_type": "display_data", "data": data}])
    assert made[0].data == {"text/plain": "a table"}


def test_markdown_keeps_its_look_its_formulas_and_its_pictures_and_runs_nothing():
    source = (
        "**Because** $a < b$\n\n![pasted](attachment:my%20a.png) ![beside](b.png) ![](c.png)\n\n"
        "<script>x()</script><img src=x onerror=x()>\n\n[l](javascript:x()) ![](https://elsewhere/p.png)\n\n"
        "$\\href{javascript:x()}{l}$"
    )
    pictures = outputs.pictures_of(
        {"my a.png": {"image/png": PIXEL}}, {"b.png": b"hi", "c.txt": b"hi", "c.svg": b"<svg/>"}
    )
    page = outputs.clean_markdown(source, pictures)
    assert "\n" not in page and "<strong>Because</strong> <math" in page
    assert (
        f'src="data:image/png;base64,{PIXEL}"' in page
        and 'src="data:image/png;base64,aGk="' in page
    )
    assert "elsewhere" not in page and "c.png" not in page
    assert "javascript:" not in page and "onerror" not in page and "<script" not in page
    assert page.startswith(
        '<div class="tex2jax_ignore">'
    )  # formulas are drawn, MathJax has no part in it
