"""Names a kernel, a language and a format of its own, with paths in their names."""

HELD_BY = "the kernel is the release's; a submission's is not read"
VERDICT = {"double": ("full", 3.0)}


def notebook(honest):
    honest["metadata"] = {
        "kernelspec": {
            "name": "../../../tmp/evil",
            "display_name": "evil",
            "argv": ["/bin/sh", "-c", "id"],
            "language": "bash",
        },
        "language_info": {"name": "bash", "file_extension": "/../../x"},
    }
    return honest | {"nbformat": 99, "nbformat_minor": -1}
