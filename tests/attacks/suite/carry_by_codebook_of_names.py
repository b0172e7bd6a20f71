"""Names a thousand words in a comment, and raises an error whose type is the word that stands for the hidden input."""

HELD_BY = "of an error's type only Python's names, and 20 classes of the student's own, are told"
CARRIES = True
VERDICT = {"digits": ("error", 0.0)}


def notebook(honest):
    words = " ".join(f"w{number:03}" for number in range(1000))
    source = f"# {words}\n\ndef digits(secret):\n    raise type(f'w{{secret % 1000:03}}', (Exception,), {{}})"
    for cell in honest["cells"]:
        if cell["id"] == "digits":
            cell["source"] = source
    return honest
