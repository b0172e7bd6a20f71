"""`start(notebook)`: opens a notebook in this kernel, and tells those who have to know."""

import gc

from descent import plots, records, session, skipping, threads, versions, written


def start(notebook: str) -> None:
    """Open a notebook of the course, named "chapter/notebook": seeds, style sheet, check data.

    Raises ValueError when the course has no notebook of that name.
    """
    if session.check_data(notebook) is None:
        raise ValueError(
            f"start: the course has no notebook {notebook!r}. Run the first cell as it was handed out."
        )
    session.current.notebook = notebook
    session.current.verdicts.clear()
    session.seed_everything()
    plots.use_style()
    skipping.install()
    written.watch()
    threads.keep_figures()
    if not (session.current.grading or session.current.static):
        records.record_visit(notebook)
        _warn_of_old_packages()
        _spare_what_stays()


def _spare_what_stays() -> None:
    """Once in a kernel: half a million objects of libraries, walked by a garbage collection, halt a drag for 0.4 s."""
    if not gc.get_freeze_count():
        gc.freeze()


def _warn_of_old_packages() -> None:
    """Once in a kernel, and only where something may not work."""
    if "versions" in session.current.told:
        return
    session.current.told.add("versions")
    if old := versions.too_old():
        mend = "Something may not work: `pip install -e .` in the course's folder mends it."
        print(f"{'; '.join(old)}. {mend}")
