"""How long a notebook takes: counted from what stands in its master, so that nobody has to guess.

A student reads 150 words or 15 lines of open code a minute. A statement to write takes a minute times the difficulty
of its exercise, a prediction one minute, a control that is moved one; a written answer what its header says.
"""

WORDS, LINES = 150, 15  # a minute
STEP = 5  # minutes: what is told is rounded to these
PARTS = ("core", "deeper")  # what the notes got wrong is for who wants to know


def planned(master) -> dict[str, int]:
    """{"core": minutes, "deeper": minutes} of a notebook, rounded."""
    taken = {part: [of_cell(c) for c in master.cells if c.part == part] for part in PARTS}
    return {part: STEP * round(sum(minutes) / STEP) for part, minutes in taken.items()}


def of_cell(cell) -> float:
    """What a cell of a master takes."""
    if "written" in cell.metadata:
        said = cell.metadata.get("minutes")
        return cell.words / WORDS + (
            said if isinstance(said, int | float) else 0
        )  # a rule wants it
    if "predict" in cell.metadata:
        return 1
    read = cell.words / WORDS + (cell.lines / LINES if cell.is_open else 0)
    return read + of_exercise(cell) + cell.controls


def of_exercise(cell) -> int:
    """What writing the answer takes, without reading what is asked; 0 where nothing is to be written."""
    return cell.statements * cell.metadata.get("difficulty", 1)
