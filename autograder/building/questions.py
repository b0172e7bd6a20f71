"""What students get of a prediction's cell: the question's name.

`KeepAnswer` is named in nbgrader_config.py, so that stock `nbgrader generate_assignment` releases the same bytes.
"""

from nbgrader.preprocessors import NbGraderPreprocessor


def question(name: str) -> str:
    """The cell of a prediction as students get it."""
    return f'predict("{name}")'


def name_of(cell) -> str:
    """The name of the prediction that a notebook's cell holds; "" for another cell."""
    return cell.metadata.get("descent", {}).get("predict", "")


class KeepAnswer(NbGraderPreprocessor):
    """Leaves of a prediction's cell its question's name."""

    def preprocess_cell(self, cell, resources, cell_index):
        if name_of(cell):
            cell.source = question(name_of(cell))
        return cell, resources
