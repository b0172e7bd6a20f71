"""What a student writes is shown, and none of it can run."""

import re

import pytest
from nbconvert.filters import markdown2html

from autograder.results import harmless

ATTACKS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[go](javascript:alert(1))",
    "[go](&#106;avascript:alert(1))",
    "[go](java\tscript:alert(1))",
    "```\n\n[go](javascript:alert(1))\n\n<script>alert(1)</script>\n\n```",
    "<a href='data:text/html,<script>alert(1)</script>'>x</a>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<svg onload=alert(1)>",
    "</div></body><script>alert(1)</script>",
    "$<script>alert(1)</script>$",
    "<style>body { display: none }</style>",
    '<form action="https://example.org"><input name=a></form>',
]


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_runs_after_any_rendering(attack):
    for source in (harmless.markdown(attack), harmless.raw(attack)):
        assert "\n" not in source
        page = markdown2html(source)
        assert not re.search(r"<(script|iframe|svg|style|form|input)\b", page, re.I)
        assert not re.search(r"<[^>]+\b(on\w+|srcdoc)\s*=", page, re.I)
        assert not re.search(
            r"<[^>]+(href|src)\s*=\s*[\"']?\s*(javascript|data|vbscript)", page, re.I
        )


def test_text_lists_code_and_formulas_stay():
    page = markdown2html(
        harmless.markdown("**Because** $a<b$:\n\n- one\n- `x < y`\n\n```\na\n\nb\n```")
    )
    assert "<strong>Because</strong>" in page and "<li>" in page
    assert "$a&lt;b$" in page and "<code>x &lt; y</code>" in page and "a&#10;&#10;b" in page
