"""What a cell prints and shows, in nbformat's terms, within bounds."""

ROOM = 1_000_000  # characters of one cell's outputs that are kept
EACH = 100  # that an output takes of the room beside its own
LINES = 200  # of a traceback


class Record:
    """The outputs of one cell, in order, up to ROOM characters; what is beyond is dropped."""

    def __init__(self):
        self._outputs: list[dict] = []  # the text of a stream is a list: a print is two writes
        self._named: dict[str, list[dict]] = {}  # by the name that an update calls them by
        self._clear = False  # when the next one comes
        self.room = ROOM

    @property
    def outputs(self) -> list[dict]:
        return [
            one | {"text": "".join(one["text"])} if one["output_type"] == "stream" else one
            for one in self._outputs
        ]

    def stream(self, name: str, text: str) -> None:
        self._before_one_comes()
        text = self._fit(text)
        last = self._outputs[-1] if self._outputs else {}
        if last.get("output_type") == "stream" and last["name"] == name:
            last["text"].append(text)
        elif text:
            self._add({"output_type": "stream", "name": name, "text": [text]})

    def data(self, kind: str, content: dict) -> None:
        """A result or something displayed; content as in Jupyter's message."""
        if self.room <= 0 and kind == "display_data":
            return
        self._before_one_comes()
        shown = {"output_type": kind, "data": self._held(kind, content["data"]), "metadata": {}}
        if kind == "execute_result":
            shown["execution_count"] = content["execution_count"]
        self._add(shown)
        if name := content.get("transient", {}).get("display_id"):
            self._named.setdefault(name, []).append(shown)

    def update(self, content: dict) -> None:
        """Something displayed that changes."""
        for shown in self._named.get(content.get("transient", {}).get("display_id"), []):
            shown["data"] = self._held("display_data", content["data"])

    def clear(self, wait: bool) -> None:
        """Forget what was shown: now, or when something else is. The room that it took stays taken."""
        self._clear = True
        if not wait:
            self._before_one_comes()

    def error(self, content: dict) -> None:
        self._before_one_comes()
        told = {
            "output_type": "error",
            "ename": content["ename"][:200],
            "evalue": content["evalue"][:2000],
            "traceback": [self._fit(line) for line in content["traceback"][:LINES]],
        }
        self._add(told)

    def must_have(self, error: dict) -> None:
        """An error that a cell ended with; inside of `%%capture` and the like it was not shown. As nbgrader has it."""
        if error["ename"] not in [
            one["ename"] for one in self._outputs if one["output_type"] == "error"
        ]:
            lines = error["traceback"] or [f"{error['ename']}: {error['evalue']}"]
            self.error(error | {"traceback": lines})

    def _add(self, output: dict) -> None:
        self._outputs.append(output)
        self.room -= EACH

    def _before_one_comes(self) -> None:
        if self._clear:
            self._outputs, self._named, self._clear = [], {}, False

    def _held(self, kind: str, data: dict) -> dict:
        size = sum(len(name) + len(str(value)) for name, value in data.items())
        if size > self.room:
            # A result is told in short all the same: a number there may be a score.
            told = str(data.get("text/plain", ""))[:1000]
            data = {"text/plain": told if kind == "execute_result" else "(too large to show)"}
        self.room -= size
        return data

    def _fit(self, text: str) -> str:
        kept = text[: max(self.room, 0)]
        self.room -= len(kept)
        return kept
