import shutil

import pytest

pytestmark = pytest.mark.browser


def test_toy(course, open_notebook):
    shutil.copy("/tmp/setup-work/toy.ipynb", course / "toy.ipynb")
    nb = open_notebook("toy.ipynb")
    nb.run_all()
    nb.picture("toy-1")
    assert nb.errors() == []
    s = nb.page.get_by_role("slider")
    print(s.count(), s.first.get_attribute("aria-label"), s.first.evaluate("e=>e.outerHTML"))
    s.first.focus()
    for _ in range(5):
        nb.page.keyboard.press("ArrowRight")
    nb.page.wait_for_timeout(2000)
    nb.picture("toy-2")
    print(
        nb.page.locator(".jp-Notebook .jp-Cell").count(),
        nb.page.locator(".jp-InputArea-editor").all_inner_texts(),
        nb.page.locator(".jp-InputArea-editor", has_text="print").count(),
    )
    nb.page.set_default_timeout(5000)
    nb.write(
        nb.cell("print('x'+'y')"),
        "def g(x):\n    if x:\n        return [1, (2, 'a')]\n    return 0\nprint(g(1))",
    )
    nb.picture("toy-3")
    print(nb.saved()["cells"][2])
