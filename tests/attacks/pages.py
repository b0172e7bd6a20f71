"""Whether a page of a student's holds anything that runs, or that fetches, in the browser of who reads it."""

import json
import re
from html.parser import HTMLParser

RUNS = set("script iframe frame object embed applet base meta link form svg style".split())
PLACES = set("href src action formaction xlink:href data poster srcset background".split())
KEPT_FROM_MATHJAX = {"pre", "code", "script", "style", "textarea", "math"}
PICTURES = {"image/png", "image/jpeg", "image/gif", "image/webp"}
VOID = set("area br col embed hr img input link meta source track wbr base".split())


class _Finder(HTMLParser):
    def __init__(self, mathjax):
        super().__init__()
        self.mathjax = mathjax
        self.found: list[str] = []
        self.open: list[tuple[str, bool]] = []  # tags, and whether MathJax leaves their text alone

    def handle_starttag(self, tag, attrs):
        told = {name: value or "" for name, value in attrs}
        if tag not in VOID:
            ignored = tag in KEPT_FROM_MATHJAX or "tex2jax_ignore" in told.get("class", "")
            self.open.append((tag, ignored))
        if tag in RUNS:
            self.found.append(f"<{tag}>")
        self.found += [f"<{tag} {n}={v!r:.60}>" for n, v in told.items() if _is_active(n, v)]

    def handle_endtag(self, tag):
        at = next((n for n in reversed(range(len(self.open))) if self.open[n][0] == tag), None)
        if at is not None:
            del self.open[at:]

    def handle_data(self, data):
        formula = self.mathjax and re.search(r"\\(href|style|class|cssId|require|unicode)\b", data)
        if formula and not any(ignored for _, ignored in self.open):
            self.found.append(f"for MathJax: {formula[0]}")


def _is_active(name: str, value: str) -> bool:
    word = "".join(value.split()).lower()
    fetches = name in PLACES - {"href"} and word.startswith(("http:", "https:", "//"))
    runs = name in PLACES and word.startswith(("javascript:", "vbscript:", "data:text"))
    return name.startswith("on") or (name == "style" and "url(" in word) or runs or fetches


def what_runs(page: str, *, mathjax: bool = False) -> list[str]:
    """Tags and attributes of an HTML text that run or fetch something. mathjax: also formulas that it makes do so."""
    finder = _Finder(mathjax)
    finder.feed(page)
    finder.close()
    return finder.found


def what_runs_in_notebook(text: str) -> list[str]:
    """The same of a notebook, as the formgrader renders it."""
    from nbconvert.filters import markdown2html

    found = []
    for cell in json.loads(text)["cells"]:
        if cell["cell_type"] == "markdown":
            found += what_runs(markdown2html(cell["source"]), mathjax=True)
        if cell["cell_type"] == "raw":
            found += what_runs(cell["source"])
        kinds = {kind for bundle in cell.get("attachments", {}).values() for kind in bundle}
        found += [f"attachment {kind}" for kind in kinds - PICTURES]
        for output in cell.get("outputs", []):
            found += what_runs(output.get("data", {}).get("text/html", ""), mathjax=True)
    return found
