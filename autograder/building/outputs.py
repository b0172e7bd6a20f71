"""What a build writes, kept small: check data with a case a line, notebooks without pictures, targets as WebP."""

import ast
import base64
import io
import json
from pathlib import Path

from descent import packing, skipping

DEPTH = 5  # of what stands on lines of its own in check data: exercises, name, cases, case, inputs


def write_json(path: Path, data: dict) -> None:
    """Write check data so that a difference is a few lines: each case's inputs are one, its result another."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_in_lines(packing.packed(data), DEPTH) + "\n", encoding="utf-8")


def _in_lines(value, depth: int, indent: str = "") -> str:
    if not depth or not value or not isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    inner = indent + " "
    if isinstance(value, dict):
        parts = [f'"{key}": {_in_lines(part, depth - 1, inner)}' for key, part in value.items()]
        opening, closing = "{}"
    else:
        parts = [_in_lines(part, depth - 1, inner) for part in value]
        opening, closing = "[]"
    return f"{opening}\n{inner}" + f",\n{inner}".join(parts) + f"\n{indent}{closing}"


def write_notebook(notebook, path: Path) -> None:
    import nbformat

    nbformat.validate(notebook)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")


def drop_pictures(notebook) -> None:
    """Take the pictures out of a notebook's outputs. Their summaries stay: tests compare only those."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if output.get("data", {}).pop("image/png", None):
                output.metadata.clear()


def pictures(data_path: Path) -> list[Path]:
    """The target pictures beside a notebook's check data."""
    return sorted(data_path.parent.glob(f"{data_path.stem}.*.*"))


def write_targets(solution, data_path: Path) -> dict:
    """Save the pictures that the `after` cells draw -> fingerprint -> list of file, width, words, narrow (its twin).

    A block that waits for a guess alone runs once its picture may be seen.
    """
    for old in pictures(data_path):
        old.unlink()
    targets: dict[str, list] = {}
    for cell in solution.cells:
        block = after_block(cell)
        drawn = [output for output in cell.get("outputs", []) if _is_target(output)]
        waits = block and skipping.awaited_answers(block)
        for number, output in enumerate(drawn if waits else []):
            mark = skipping.fingerprint(block)
            meta = output.metadata["image/png"]
            told = {
                "file": _save(output.data["image/png"], data_path, f"{mark}.{number}"),
                "width": meta["width"],
                "words": meta["alt"],
            }
            if narrow := meta.get("narrow"):
                file = _save(narrow["png"], data_path, f"{mark}.{number}.narrow")
                told["narrow"] = {"file": file, "width": narrow["width"]}
            targets.setdefault(mark, []).append(told)
    return targets


def _save(png: str, data_path: Path, name: str) -> str:
    """Save a picture (base64) beside a notebook's check data -> its file's name."""
    path = data_path.with_suffix(f".{name}.webp")
    path.write_bytes(webp(base64.b64decode(png)))
    return path.name


def after_block(cell) -> ast.With | None:
    """The `with after(…)` block of a cell, if it has one."""
    if cell.cell_type != "code":
        return None
    try:
        body = ast.parse(cell.source).body
    except SyntaxError:
        return None
    return next((node for node in body if skipping.is_after(node)), None)


def _is_target(output) -> bool:
    """Whether an output is a picture that may be shown before its exercise is solved."""
    return output.get("metadata", {}).get("image/png", {}).get("target", False)


def webp(png: bytes) -> bytes:
    """The same picture, sharp, in its 256 commonest colours: a quarter of the bytes."""
    from PIL import Image

    picture = Image.open(io.BytesIO(png)).convert("RGB")
    few = picture.quantize(256, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    buffer = io.BytesIO()
    # Without loss beats any quality that keeps letters sharp; an effort above 60 takes seconds for 2 %.
    few.convert("RGB").save(buffer, "WEBP", lossless=True, quality=60, method=6)
    return buffer.getvalue()
