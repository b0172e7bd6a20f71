"""What a student writes is shown, and none of it can run, load, or lie over the page."""

import html
import json
import re
import warnings
from pathlib import Path

import nh3
import pytest
from nbconvert.filters import markdown2html

from autograder.results import harmless, markup
from autograder.results.formulas import mathml

ROOT = Path(__file__).resolve().parents[2]
ATTACKS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[go](javascript:alert(1))",
    "[go](&#106;avascript:alert(1))",
    "[go](java\tscript:alert(1))",
    "```\n\n[go](javascript:alert(1))\n\n<script>alert(1)</script>\n\n```",
    "<a href='data:text/html,<script>alert(1)</script>'>x</a>",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<svg onload=alert(1)>",
    "</div></body><script>alert(1)</script>",
    "$<script>alert(1)</script>$",
    r"$\text{<script>alert(1)</script>}$",
    r"$\href{javascript:alert(1)}{x}$",
    "<math><mtext><table><mglyph><style><!--</style><img title='--><img src=1 onerror=alert(1)>'>",
    "<math><annotation-xml encoding='text/html'><script>alert(1)</script></annotation-xml></math>",
    "<math href='javascript:alert(1)'><mi xlink:href='javascript:alert(1)'>x</mi></math>",
    "<style>body { display: none }</style>",
    "<div style='position:fixed;inset:0;background:url(https://example.org/x)'>x</div>",
    '<form action="https://example.org"><input name=a></form>',
    "![seen](https://example.org/seen.png)",
    "<img src=//example.org/x.png srcset='https://example.org/y.png 2x'>",
    "<base href='https://example.org'><link rel=stylesheet href='https://example.org'>",
]


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_runs_loads_or_covers_after_any_rendering(attack):
    notebook = [harmless.markdown(attack), harmless.raw(attack)]
    assert not any("\n" in source for source in notebook)
    rendered = [markdown2html(source) for source in notebook]
    for page in [*rendered, harmless.markdown_page(attack), harmless.clean(attack)]:
        assert not re.search(
            r"<(script|iframe|svg|style|form|input|base|link|mglyph|ann)\b", page, re.I
        )
        assert not re.search(r"<[^>]+\b(on\w+|srcdoc|srcset)\s*=", page, re.I)
        assert not re.search(
            r"<[^>]+(href|src)\s*=\s*[\"']?\s*(javascript|data|vbscript)", page, re.I
        )
        assert not re.search(r"<[^>]+\b(src|position|url)\b\s*[=:(]", page, re.I)


def test_mathjax_leaves_a_students_text_alone():
    r"""In the formgrader it reads TeX, and \href{javascript:…} is TeX: dollars that were escaped must not count."""
    page = markdown2html(harmless.markdown(r"\$\href{javascript:alert(1)}{x}\$"))
    assert page.startswith('<div class="tex2jax_ignore">') and page.rstrip().endswith("</div>")


def test_text_lists_code_pictures_and_formulas_stay():
    source = "**Because** $a<b$:\n\n- one\n- `x $y$`\n\n```\na\n\nb\n```\n\n![p](data:image/png;base64,AA==)"
    page = markdown2html(harmless.markdown(source))
    assert "<strong>Because</strong>" in page and "<li>" in page
    assert "<mi>a</mi><mo>&lt;</mo><mi>b</mi>" in page
    assert "<code>x $y$</code>" in page and "a&#10;&#10;b" in page
    assert '<img src="data:image/png;base64,AA==" alt="p">' in page


def test_the_courses_own_texts_read_as_in_jupyter(monkeypatch):
    """The same HTML as nbconvert's, for every text of the course, with the formulas left in TeX."""

    def tex(source, display):
        mark = "$" if display == "inline" else "$$"
        return mark + html.escape(source, quote=False) + mark

    monkeypatch.setattr(markup.formulas, "mathml", tex)
    texts = [
        "".join(cell["source"])
        for path in sorted((ROOT / "course").glob("*/*.ipynb"))
        for cell in json.loads(path.read_text())["cells"]
        if cell["cell_type"] == "markdown"
    ]
    assert len(texts) > 50
    for text in texts:
        theirs = re.sub(r'<a href="#[^"]*"[^>]*>¶</a>', "", nh3.clean(markdown2html(text)))
        # A relative link with a colon is refused by mistune's own caution alone.
        assert (
            _flat(nh3.clean(markup.page(text))) == _flat(theirs) or "ipynb#The-common-core:" in text
        )


def _flat(page):
    return re.sub(r">\s+<", "><", re.sub(r"\s+", " ", page)).replace("$$", "").strip()


def test_every_formula_of_the_course_can_be_drawn():
    for path in sorted((ROOT / "course").glob("*/*.ipynb")):
        for cell in json.loads(path.read_text())["cells"]:
            if cell["cell_type"] == "markdown":
                page = harmless.markdown_page("".join(cell["source"]))
                assert not re.search(r"\\[a-zA-Z]+[{ ]", re.sub(r"<code>.*?</code>", "", page)), (
                    path
                )


@pytest.mark.parametrize("tex", [r"\lVert x\rVert^2", r"\lvert x\rvert_2", r"\|x\|^2", "|x|^2"])
def test_a_bar_with_an_exponent_is_not_stretched_below_the_line(tex):
    bars = re.findall("<mo[^>]*>&#x0(?:2016|007C);", mathml(tex, "inline"))
    assert len(bars) == 2 and all('stretchy="false"' in bar for bar in bars)
    assert mathml(r"\left\lVert x\right\rVert", "inline").count('stretchy="true"') == 2


def test_letters_of_a_style_are_letters_and_nonsense_stays_tex():
    made = mathml(r"\mathbb R \mathcal{B} \mathbb 1 \boldsymbol{\theta}", "inline")
    assert "<mi>ℝ</mi>" in made and "<mn>𝟙</mn>" in made and "𝜽" in made
    assert mathml(r"<b> \frac{", "inline") == r"<code>&lt;b&gt; \frac{</code>"


@pytest.mark.parametrize(
    "piece",
    ["[", "*a", "> ", "- ", "`", "<", "[a](", "$", "$$", r"\begin{a}", "|a", "_a *b ", "{", "x^"],
)
def test_no_text_makes_it_fail(piece):
    text = piece * (harmless.MAX_MARKDOWN // len(piece) // 10)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for source in (text, f"${text}$", text + "\n\n" + text):
            assert isinstance(harmless.markdown(source), str)
    assert harmless.markdown(piece + "x" * harmless.MAX_MARKDOWN).startswith(
        '<div class="tex2jax_ignore"><pre>'
    )


def test_a_text_of_tags_inside_tags_is_shown_as_it_stands():
    told = harmless.markdown("<div>" * 9_000)
    assert told.count("&lt;div&gt;") == 9_000
