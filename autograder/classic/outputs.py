"""What a cell showed, as a student's process tells it, made into outputs that may be kept and opened by somebody else.

The process may be hostile: only known kinds are kept, as text, as pictures, or as HTML with nothing in it that runs.
"""

import base64
import html
import mimetypes
import re
from urllib.parse import unquote

import nbformat
from nbformat.v4 import new_output

from autograder.classic.restore import PICTURES, is_base64
from autograder.results import harmless, markup

MOST_OUTPUTS = 500  # of one cell
# In the HTML of one cell: cleaning 20,000 nested ones takes 2 s, 100,000 a minute.
MOST_TAGS = 20_000
_ATTACHED = re.compile(r"""(\]\(|src=["']?)attachment:""")
_SOURCE = re.compile(r'src="([^":]+)"')


def clean(told, number: int | None = None) -> list[nbformat.NotebookNode]:
    """The outputs in nbformat's terms; what is none is left out. number: of the cell among those that ran."""
    told = [output for output in told if isinstance(output, dict)] if isinstance(told, list) else []
    # A result decides on points, however much was shown before it.
    results = [
        output for output in told[MOST_OUTPUTS:] if output.get("output_type") == "execute_result"
    ]
    told = told[:MOST_OUTPUTS] + results[-1:]
    pages = [_text(_data(output).get("text/html")) for output in told]
    with_html = sum(page.count("<") for page in pages) <= MOST_TAGS
    made = [_clean_one(output, with_html) for output in told]
    for output in made:
        if output and output.output_type == "execute_result":
            output.execution_count = number
    return [output for output in made if output]


def brief(made: list[nbformat.NotebookNode]) -> list[nbformat.NotebookNode]:
    """Of a cell's outputs only what decides on points, in short."""
    kept = []
    for output in made:
        if output.output_type == "error":
            kept.append(error(output.ename[:100], "(the rest is too much to show)"))
        elif output.output_type == "execute_result":
            text = output.data.get("text/plain", "")[:1000]
            kept.append(new_output("execute_result", data={"text/plain": text} if text else {}))
    return kept


def size(made: list[nbformat.NotebookNode]) -> int:
    """Characters of a cell's outputs, about."""
    return sum(len(str(output)) for output in made)


def error(name: str, words: str) -> nbformat.NotebookNode:
    """An error of ours, in the student's reach of understanding."""
    return new_output("error", ename=name, evalue=words, traceback=[f"{name}: {words}"])


def _clean_one(output: dict, with_html: bool):
    kind = output.get("output_type")
    if kind == "stream":
        name = "stderr" if output.get("name") == "stderr" else "stdout"
        return new_output("stream", name=name, text=_text(output.get("text")))
    if kind == "error":
        lines = output.get("traceback")
        lines = [_text(line) for line in lines] if isinstance(lines, list) else []
        return new_output(
            "error",
            ename=_text(output.get("ename")),
            evalue=_text(output.get("evalue")),
            traceback=lines,
        )
    if kind in ("display_data", "execute_result"):
        return _shown(kind, _data(output), with_html)
    return None


def _shown(kind: str, data: dict, with_html: bool):
    kept = {name: data[name] for name in PICTURES if is_base64(data.get(name))}
    text, page = _text(data.get("text/plain")), _text(data.get("text/html"))
    kept |= {"text/plain": text} if text else {}
    kept |= {"text/html": clean_html(page)} if page and with_html else {}
    return new_output(kind, data=kept)


def _data(output: dict) -> dict:
    data = output.get("data")
    return data if isinstance(data, dict) else {}


def _text(told) -> str:
    if isinstance(told, list):
        told = "".join(part for part in told if isinstance(part, str))
    # A lone surrogate is legal JSON, but cannot be written as UTF-8.
    return told.encode("utf-8", "replace").decode("utf-8") if isinstance(told, str) else ""


def clean_markdown(source: str, pictures: dict[str, tuple[str, str]]) -> str:
    """Markdown that shows what `source` would, with nothing that runs, and with its pictures in it.

    pictures: name -> (kind, base64), of those pasted into the cell and those that lie beside the notebook.
    """

    def embedded(match):
        kind, content = pictures.get(unquote(html.unescape(match[1])), ("", ""))
        return f'src="data:{kind};base64,{content}"' if content else match[0]

    if len(source) > harmless.MAX_MARKDOWN:
        return harmless.raw(source)
    page = markup.page(_ATTACHED.sub(r"\1", source))
    return harmless.one_line(harmless.clean(_SOURCE.sub(embedded, page)))


def clean_html(page: str) -> str:
    """HTML without anything that runs or that asks another machine."""
    return harmless.one_line(harmless.clean(page))


def pictures_of(attachments: dict, files: dict[str, bytes]) -> dict[str, tuple[str, str]]:
    """All pictures that a cell may show, for `clean_markdown`."""
    found = {}
    for name, content in files.items():
        kind = mimetypes.guess_type(name)[0]
        if kind in PICTURES:
            found[name] = kind, base64.b64encode(content).decode()
    return found | {name: next(iter(bundle.items())) for name, bundle in attachments.items()}
