"""What commands print of students' files, names and errors: a terminal obeys none of it."""

import sys
from argparse import ArgumentParser
from types import SimpleNamespace

import pytest

from autograder import cli, terminal
from autograder.grading import grade
from autograder.handins import collect
from tests.grading.toy_chapter import CHAPTER

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
TITLE, CLEARED, BELL, TURNED = "\x1b]0;mine\x07", "\x1b[2J", "\a", "\u202e"
HOSTILE = f"ada{TITLE}{CLEARED}{BELL}{TURNED}\r\x9b31m\ud800"


@pytest.mark.parametrize("command", cli.COMMANDS)
def test_no_command_prints_what_a_terminal_obeys(command, monkeypatch, capsys):
    def says(argv):
        print(f"look at {HOSTILE}")
        sys.stderr.write(f"refused: {HOSTILE}\n")
        return 0

    module = SimpleNamespace(main=says)
    monkeypatch.setattr(cli, "importlib", SimpleNamespace(import_module=lambda name: module))
    assert cli.main([command]) == 0
    out, errors = capsys.readouterr()
    assert out == "look at ada?]0;mine??[2J????31m?\n"
    assert errors == "refused: ada?]0;mine??[2J??\r?31m?\n"


@pytest.mark.parametrize(
    "text", ["Zoë Łoś", "می\u200cخواهم", "−1 ± 2 · 10⁻³", "a\tb\n", "👩\u200d🔬"]
)
def test_names_and_numbers_stay_as_they_are(text):
    assert terminal.plain(text) == text


@pytest.mark.sandbox
def test_hand_ins_named_and_failing_with_codes_are_told_in_plain_words(
    space, hand_in, notebook, tmp_path, capsys, monkeypatch
):
    for command in (collect, grade):
        monkeypatch.setattr(command, "workspace", lambda: space)
    named = tmp_path / f"thesis{CLEARED}{TITLE}.pdf"
    named.write_bytes(b"%PDF")
    failing = f"def double(x):\n    raise KeyError({TITLE!r})\nraise KeyError({CLEARED!r})"
    paths = [str(named), str(hand_in("ada", notebook(double=failing)))]
    assert cli.main(["collect", CHAPTER, *paths]) == 1
    cli.main(["grade", CHAPTER])
    out, errors = capsys.readouterr()
    assert "thesis?[2J?]0;mine?.pdf" in out + errors
    assert "1 graded" in out
    assert not set(out + errors) & set("\x1b\a\r\x9b")


@pytest.mark.parametrize("command", cli.COMMANDS)
def test_help_ends_with_an_example_and_the_exit_status(command, capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main([command, "--help"])
    *_, example, status = capsys.readouterr().out.splitlines()
    assert ended.value.code == 0
    assert example == f"Example: autograder {command} {cli.COMMANDS[command][2]}".rstrip()
    assert status.startswith("Exit status 0: ") and status.endswith(".") and " 2: " in status


@pytest.mark.parametrize("command", cli.COMMANDS)
def test_the_example_in_help_is_a_call_that_the_command_takes(command, monkeypatch):
    class Parsed(Exception):
        """It goes no further."""

    def parse(self, argv):
        _, unknown = self.parse_known_args(argv)
        raise AssertionError(unknown) if unknown else Parsed

    monkeypatch.setattr(ArgumentParser, "parse_args", parse)
    with pytest.raises(Parsed):
        cli.main([command, *cli.COMMANDS[command][2].split()])
