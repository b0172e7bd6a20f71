"""`autograder COMMAND …`: one module a command, each with `main(argv) -> int`."""

import importlib
import sys

from autograder import terminal

CHAPTER, NOTEBOOK = "03_optimisation", "03_optimisation/01_gradient_descent"
# Module, what it does, and what stands behind its name, for example.
COMMANDS = {
    "list": ("autograder.building.lists", "name the notebooks", ""),
    "try": (
        "autograder.building.trying",
        "prove a notebook's checks against right and wrong answers",
        f"{NOTEBOOK} gd",
    ),
    "mutate": (
        "autograder.building.mutate",
        "change a notebook's solutions a little: the checks must tell",
        NOTEBOOK,
    ),
    "build": (
        "autograder.building.build",
        "build both editions of the notebooks that changed",
        NOTEBOOK,
    ),
    "solutions": (
        "autograder.building.solutions",
        "write the solutions with their pictures",
        NOTEBOOK,
    ),
    "stale": ("autograder.building.stale", "fail when a built file does not match its master", ""),
    "coverage": (
        "autograder.building.coverage",
        "which lecture sections are covered, and where",
        NOTEBOOK,
    ),
    "release": ("autograder.handing_out.bundle", "pack the course to hand it out", ""),
    "publish-solutions": (
        "autograder.handing_out.publish",
        "write a chapter's worked answers, once its deadline is over",
        CHAPTER,
    ),
    "self-study": (
        "autograder.handing_out.self_study",
        "write all worked answers, for a person who learns alone",
        "",
    ),
    "collect": (
        "autograder.handins.collect",
        "take hand-ins",
        f"{CHAPTER} submissions.zip --roster class.csv",
    ),
    "watch": ("autograder.handins.watch", "grade hand-ins as they arrive", f"INBOX {CHAPTER}"),
    "grade": ("autograder.grading.grade", "grade a chapter", f"{CHAPTER} --student ada bob"),
    "regrade": (
        "autograder.grading.regrade",
        "grade again after a mend: show, enter, or take back",
        f"{CHAPTER} --preview",
    ),
    "feedback": ("autograder.results.feedback", "write feedback pages", f"{CHAPTER} --student ada"),
    "export": (
        "autograder.results.export",
        "write the marks as a table",
        f"{CHAPTER} --to csv --output marks.csv",
    ),
    "report": ("autograder.results.report", "write the instructor's report", CHAPTER),
    "demo": (
        "autograder.simulation.demo",
        "take a simulated class of twelve through everything",
        "--keep /tmp/class",
    ),
}


def main(argv: list[str] | None = None) -> int:
    """Status 0: done. 1: done, with something to look at. 2: wrong command or the tool failed."""
    argv = sys.argv[1:] if argv is None else argv
    if not argv or argv[0] in ("-h", "--help"):
        print("usage: autograder COMMAND …\n")
        for name, (_, words, _) in COMMANDS.items():
            print(f"  {name:<17} {words}")
        print("\n`autograder COMMAND --help` tells what it takes, an example and the exit status.")
        return 0 if argv else 2
    if argv[0] not in COMMANDS:
        print(
            f"autograder: no command {argv[0]!r}. Commands: {', '.join(COMMANDS)}.", file=sys.stderr
        )
        return 2
    with terminal.only_plain():
        return _run(argv)


def _run(argv: list[str]) -> int:
    from autograder.building.tables import TableError
    from autograder.workspace import BookError

    try:
        return _command(argv[0], argv[1:])
    except KeyboardInterrupt:
        print(f"{argv[0]}: stopped.", file=sys.stderr)
        return 2
    except (BookError, TableError) as error:
        print(f"{argv[0]}: {error}", file=sys.stderr)
        return 2


def _command(name: str, arguments: list[str]) -> int:
    module, _, example = COMMANDS[name]
    command = importlib.import_module(module).main
    try:
        return command(arguments)
    except SystemExit as ended:
        if ended.code == 0:  # its help was printed
            status = " ".join(command.__doc__.split("\n\n")[0].split())
            print(f"\nExample: autograder {name} {example}".rstrip())
            print(f"Exit status {status.removeprefix('Status ')}")
        raise
