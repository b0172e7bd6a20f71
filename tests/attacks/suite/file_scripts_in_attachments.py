"""Carries scripts in a cell's attachments, in widget states and in the notebook's own metadata."""

HELD_BY = "attachments and metadata of a submission are left behind"
VERDICT = {"double": ("full", 3.0)}


def notebook(honest):
    bomb = "<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"
    honest["cells"].insert(
        2,
        {
            "cell_type": "markdown",
            "id": "mine",
            "metadata": {"nbgrader": "<script>"},
            "source": "![x](attachment:x.svg)",
            "attachments": {"x.svg": {"image/svg+xml": bomb, "text/html": bomb}},
        },
    )
    honest["metadata"] |= {
        "title": "<script>alert(2)</script>",
        "widgets": {"application/vnd.jupyter.widget-state+json": {"state": {"x": bomb}}},
        "language_info": {"name": "<script>", "pygments_lexer": "../../x"},
    }
    return honest
