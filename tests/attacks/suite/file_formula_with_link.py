"""Writes formulas in the language of MathJax that hold links, styles and HTML which would run in the formgrader."""

HELD_BY = "formulas of a student's are drawn beforehand, and kept from MathJax"
VERDICT = {"double": ("full", 3.0)}


def notebook(honest):
    evil = [
        r"$\href{javascript:alert(1)}{x}$",
        r"$$\require{html}\style{background:url(//example.org)}{x}$$",
        r"$\class{x}{\cssId{y}{\unicode{60}script}}$",
        r"\(\href{javascript:alert(2)}{x}\)",
        r"$\text{<img src=x onerror=alert(3)>}$",
        r"$\def\x{\x\x}\x$",
        r"\begin{align}\href{javascript:alert(4)}{x}\end{align}",
    ]
    cells = [
        {"cell_type": "markdown", "id": f"f{n}", "metadata": {}, "source": text}
        for n, text in enumerate(evil)
    ]
    return honest | {"cells": [*honest["cells"][:2], *cells, *honest["cells"][2:]]}
