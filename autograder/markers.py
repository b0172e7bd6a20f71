"""nbgrader's solution markers in a cell: what stands between them is hidden from students, the rest is handed out."""

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"


def stubbed(source: str, stub: list[str]) -> str:
    """A cell of the student's edition as it must be: stubs in place of what stands between the markers."""
    lines, inside = [], False
    for line in source.split("\n"):
        if line.strip() == BEGIN:
            inside = True
            indent = line[: len(line) - len(line.lstrip())]
            lines += [indent + part for part in stub]
        elif line.strip() == END:
            inside = False
        elif not inside:
            lines.append(line)
    return "\n".join(lines)


def hidden(source: str) -> set[int]:
    """The numbers, from 1, of the lines between the markers."""
    found, inside = set(), False
    for number, line in enumerate(source.split("\n"), 1):
        if line.strip() in (BEGIN, END):
            inside = line.strip() == BEGIN
        elif inside:
            found.add(number)
    return found


def solution_lines(source: str) -> list[str]:
    """The lines between the markers that are worth hiding."""
    found, inside = [], False
    for line in source.split("\n"):
        if line.strip() == BEGIN:
            inside = True
        elif line.strip() == END:
            inside = False
        elif inside and len(line.strip()) > 12 and not line.strip().startswith("#"):
            found.append(line.strip())
    return found


def holds_solution(text: str, source: str) -> bool:
    """Whether a text gives away every line of the solution in a cell."""
    lines = solution_lines(source)
    return bool(lines) and all(line in text for line in lines)
