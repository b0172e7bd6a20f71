"""What `pages` calls active: the tests of the test."""

import pytest

from tests.attacks import pages


@pytest.mark.parametrize(
    "page",
    [
        "<p><script>1</script>", "<img src=x onerror=a()>", "<a href=' java\nscript:a()'>x</a>",
        "<img src='//example.org/x'>", "<p style='background:url(x)'>", "<object data=x>",
        r"<p>$\href{javascript:a()}{x}$</p>", "<a href='data:text/html,x'>x</a>",
    ],
)  # fmt: skip
def test_what_runs_is_found(page):
    assert pages.what_runs(f"<div>{page}</div>", mathjax=True)


@pytest.mark.parametrize(
    "page",
    [
        "<a href='https://example.org'>x</a>", "<img src='data:image/png;base64,xx'>", "&lt;script&gt;",
        r"<p class='tex2jax_ignore'><b>$\href{javascript:a()}{x}$</b></p>", r"<code>\href</code>",
    ],
)  # fmt: skip
def test_what_does_not_run_is_not(page):
    assert pages.what_runs(f"<div>{page}</div>", mathjax=True) == []
