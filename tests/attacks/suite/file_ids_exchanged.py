"""Exchanges the ids of two answers, and gives a third cell all of them."""

HELD_BY = "an id counts where the cell also defines the answer's name"
VERDICT = {"double": ("full", 3.0)}


def notebook(honest):
    cells = {cell["id"]: cell for cell in honest["cells"]}
    one, two = cells["double"], cells["digits"]
    one["source"], two["source"] = two["source"], one["source"]
    extra = dict(one, source="# all of them", metadata=dict(one["metadata"]))
    honest["cells"].append(extra)
    return honest
