"""Fills the outputs of all cells with scripts, score cards and fifty megabytes."""

HELD_BY = "no output of a submission is read"
VERDICT = {"double": ("wrong", 0.0)}


def notebook(honest):
    page = (
        "<script>alert(1)</script><img src=x onerror=alert(2)><b>double: 3 of 3</b>"
        + " " * 10_000_000
    )
    output = {
        "output_type": "display_data",
        "metadata": {},
        "data": {"text/html": page, "application/javascript": "alert(3)"},
    }
    for cell in honest["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"] = [dict(output)]
        if cell["id"] == "double":
            cell["source"] = "def double(x):\n    return x + 1"
    return honest
