"""Cells of Markdown tables that generated pages share."""


def link(place, full=False) -> str:
    anchor = place.heading.replace(" ", "-")
    number = place.notebook.split("/")[0][:2] + "/" + place.notebook.split("/")[1][:2]
    words = f"{number} {place.heading}" if full else place.heading
    exercise = f" (exercise `{place.exercise}`)" if place.exercise else ""
    return f"[{table_text(words)}]({place.notebook}.ipynb#{anchor}){exercise}"


def table_text(text: str) -> str:
    """Text that does not break a row of a Markdown table."""
    return " ".join(text.split()).replace("|", "\\|")
