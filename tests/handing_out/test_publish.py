"""Worked answers are published chapter by chapter, and not while somebody may hand in."""

import pytest

from autograder import cli
from autograder.building import build, masters
from autograder.handing_out import publish, self_study, worked
from autograder.handins.policy import Policy, read
from autograder.workspace import VARIABLE

CHAPTER = "03_optimisation"
LONG_AGO, FAR_AWAY = "2020-01-01T12:00:00Z", "2990-01-01T12:00:00Z"


@pytest.fixture
def published(tmp_path, monkeypatch):
    """published("--now", policy="…") -> (status, the chapters that were written)."""
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    monkeypatch.setattr(build, "COURSE", tmp_path / "course")
    written = []
    monkeypatch.setattr(worked, "write", lambda name: written.append(name) or {f"{name}/01_one": 5})

    def run(*arguments, policy=""):
        (tmp_path / "policy.toml").write_text(policy)
        return cli.main(["publish-solutions", *arguments]), written

    return run


def deadline(end, more=""):
    return f'timezone = "UTC"\n[deadlines]\n{CHAPTER} = {end}\n{more}'


def test_without_a_deadline_it_is_written_and_said_what_to_do(published, capsys):
    assert published(CHAPTER) == (0, [CHAPTER])
    told = capsys.readouterr().out
    assert f"course/.descent/solutions/{CHAPTER}.json: 5 worked answers, in 1 notebook." in told
    assert "Hand this file out." in told and "To withdraw it, delete it here" in told


@pytest.mark.parametrize(
    "policy",
    [
        deadline(FAR_AWAY),
        deadline(LONG_AGO, "[extra_time]\nada = { days = 99999 }"),
        deadline(LONG_AGO, f"[extra_time]\nada = {{ {CHAPTER} = {{ days = 99999 }} }}"),
    ],
    ids=["for all", "for one", "for one in this chapter"],
)
def test_while_a_deadline_is_open_it_wants_now(published, policy, capsys):
    assert published(CHAPTER, policy=policy) == (1, [])
    assert "somebody may hand in 03_optimisation until 2" in (told := capsys.readouterr().err)
    assert "at once with --now" in told
    assert published(CHAPTER, "--now", policy=policy) == (0, [CHAPTER])


@pytest.mark.parametrize(
    "policy",
    [
        deadline(LONG_AGO),
        deadline(LONG_AGO, "[extra_time]\nada = { days = 1 }"),
        deadline(FAR_AWAY).replace(CHAPTER, "02_classification"),
    ],
    ids=["over", "over for ada too", "of another chapter"],
)
def test_once_everybodys_time_is_over_it_is_written(published, policy):
    assert published(CHAPTER, policy=policy) == (0, [CHAPTER])


def test_the_last_time_counts_extra_days_and_the_grace(tmp_path):
    path = tmp_path / "policy.toml"
    path.write_text(
        deadline(LONG_AGO, "[extra_time]\nada = { days = 2 }\n[late]\ngrace_minutes = 15")
    )
    assert f"{read(path).closes(CHAPTER):%Y-%m-%d %H:%M %Z}" == "2020-01-03 12:15 UTC"
    assert Policy().closes(CHAPTER) is None


@pytest.mark.parametrize(
    ("chapter", "policy", "words"),
    [
        ("04_nothing", "", "there is no released chapter '04_nothing'"),
        (CHAPTER, "deadline = 1", "deadline: no such key"),
        (
            CHAPTER,
            deadline(FAR_AWAY).replace("sation", "zation"),
            "there is no chapter '03_optimization'",
        ),
    ],
)
def test_what_cannot_be_done_is_said(published, chapter, policy, words, capsys):
    assert published(chapter, policy=policy) == (2, [])
    assert words in capsys.readouterr().err


def test_self_study_writes_every_chapter_and_says_for_whom(published, monkeypatch, capsys):
    monkeypatch.setattr(masters, "notebooks", lambda: ["01_a/01_x", "01_a/02_y", "02_b/01_z"])
    assert self_study.main([]) == 0
    told = capsys.readouterr().out
    assert told.count("5 worked answers") == 2 and "01_a.json" in told and "02_b.json" in told
    assert "for who learns alone" in told


def test_what_is_said_counts_answers_and_notebooks(published, capsys):
    publish.told("01_a", {"01_a/01_x": 5, "01_a/02_y": 7})
    assert "12 worked answers, in 2 notebooks." in capsys.readouterr().out
