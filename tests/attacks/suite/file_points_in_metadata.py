"""Writes a thousand points, another kind of cell and another exercise into nbgrader's and the course's metadata."""

HELD_BY = "metadata comes from the release alone"
VERDICT = {"double": ("wrong", 0.0)}


def notebook(honest):
    for cell in honest["cells"]:
        about = cell["metadata"].get("nbgrader", {})
        about |= {"points": 1000, "grade": True, "solution": True, "locked": False, "score": 1000}
        cell["metadata"]["descent"] = cell["metadata"].get("descent", {}) | {
            "points": 1000,
            "demo": True,
            "reveal": True,
        }
        if cell["id"] == "double":
            cell["source"] = "def double(x):\n    return x + 1"
    return honest
