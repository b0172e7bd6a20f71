"""Writes a thousand lines that raise an error, behind 300 others, and raises the one that tells the input."""

HELD_BY = "of a student's lines only the first 300 are told"
CARRIES = True
VERDICT = {"digits": ("error", 0.0)}


def notebook(honest):
    lines = [f"    if secret % 1000 == {number}: raise ValueError" for number in range(1000)]
    for cell in honest["cells"]:
        if cell["id"] == "digits":
            cell["source"] = "x = 1\n" * 300 + "def digits(secret):\n" + "\n".join(lines)
    return honest
