"""Tags cells so that nbclient skips them, drops their outputs or swallows their errors."""

HELD_BY = "tags and metadata come from the release alone"
VERDICT = {"double": ("wrong", 0.0)}


def notebook(honest):
    for cell in honest["cells"]:
        cell["metadata"]["tags"] = ["skip-execution", "raises-exception", "remove_cell", "skip"]
        if cell["id"] == "double":
            cell["source"] = "def double(x):\n    return x + 1\nraise SystemError('late')"
    return honest
