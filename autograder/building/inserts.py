"""Blocks that `make build` writes into pages that are otherwise written by hand."""

import re
from pathlib import Path


def inserted(page: Path, name: str, lines: list[str]) -> str:
    """The text of a page with `lines` between its marks of that name. Raises ValueError where they are missing."""
    begin, end = f"<!-- {name}: written by `make build` -->", f"<!-- {name}: end -->"
    text = page.read_text(encoding="utf-8")
    if text.count(begin) != 1 or text.count(end) != 1:
        raise ValueError(f"{page}: it needs the two lines {begin} and {end}, once each.")
    block = "\n".join([begin, *lines, end])
    return re.sub(re.escape(begin) + ".*?" + re.escape(end), lambda _: block, text, flags=re.S)
