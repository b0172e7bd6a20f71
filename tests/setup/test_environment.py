"""The environment is made once, renewed when its inputs change, and refusals are one clear line."""

import io
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tools import environment, progress, start, system
from tools.environment import Problem

ROOT = Path(__file__).resolve().parents[2]


def one_line(message):
    return "\n" not in message and len(message) < 200


@pytest.mark.parametrize("version", [(3, 11, 0), (3, 12, 4), (4, 0, 0)], ids=str)
def test_a_python_new_enough_is_taken(version):
    assert environment.python_problem(version) is None


@pytest.mark.parametrize("version", [(2, 7, 18), (3, 6, 9), (3, 10, 14)], ids=str)
def test_an_old_python_is_refused_in_one_line_that_says_what_to_do(version):
    message = environment.python_problem(version)
    assert message.startswith("Python {}.{} is too old: Graded Descent needs 3.11".format(*version))
    assert "make start PYTHON=" in message and one_line(message)


def test_a_full_disk_is_refused_with_the_room_that_is_needed():
    message = environment.disk_problem(0.4e9, "/home/ada")
    assert message == "/home/ada has 0.4 GB free: the environment needs 3 GB. Free some space."
    assert environment.disk_problem(50e9, "/home/ada") is None


def test_a_free_port_is_taken():
    assert environment.port_problem("8888", in_use=lambda port: False) is None


def test_a_port_in_use_is_refused_and_another_is_named():
    message = environment.port_problem("8888", in_use=lambda port: port == 8888)
    assert message.startswith("Port 8888 is in use")
    assert message.endswith("make start PORT=8889") and one_line(message)


@pytest.mark.parametrize("port", ["", "eighty", "0", "-1", "65536"])
def test_what_is_no_port_is_refused(port):
    message = environment.port_problem(port, in_use=lambda port: False)
    assert message == f"PORT={port} is not a port: give a number from 1 to 65535."


def test_a_port_somebody_listens_on_is_seen_as_in_use():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert environment.port_in_use(port)
    assert not environment.port_in_use(port)


def test_the_stamp_changes_with_each_of_its_inputs_and_with_nothing_else():
    def stamp(lock=b"numpy==2", project=b"x", version=(3, 11, 7), where="/a/.venv"):
        return environment.wanted_stamp([lock, project], version, where)

    assert stamp() == stamp(version=(3, 11, 8))
    changed = [dict(lock=b"z"), dict(project=b"y"), dict(version=(3, 12, 0)), dict(where="/b")]
    assert len({stamp(), *(stamp(**change) for change in changed)}) == 5


def test_an_environment_without_stamp_or_with_an_older_one_is_not_current(tmp_path):
    stamp = tmp_path / "stamp"
    assert not environment.is_current(stamp, "new")
    stamp.write_text("old\n")
    assert not environment.is_current(stamp, "new")
    stamp.write_text("new\n")
    assert environment.is_current(stamp, "new")


@pytest.fixture
def fresh(tmp_path, monkeypatch):
    """A project whose environment is current, and a list of the commands that ensure() runs."""
    commands = []

    def call(command, **_):
        commands.append([str(part) for part in command])
        return subprocess.CompletedProcess(command, 0)

    def note(command):
        commands.append([str(part) for part in command])

    (tmp_path / "course").mkdir()
    for name in ("requirements.lock", "pyproject.toml", "course/pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path / name)
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch()
    monkeypatch.setattr(environment, "ROOT", tmp_path)
    monkeypatch.setattr(environment, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(environment, "PYTHON", python)
    monkeypatch.setattr(environment, "LOCK", tmp_path / "requirements.lock")
    monkeypatch.setattr(environment, "STAMP", tmp_path / ".venv" / "stamp")
    monkeypatch.setattr(environment.subprocess, "run", call)
    monkeypatch.setattr(environment, "install", note)
    monkeypatch.delenv("TORCH", raising=False)
    environment.ensure()
    return commands


def test_a_first_run_installs_the_lock_and_then_the_project_without_its_dependencies(fresh):
    pip = [command for command in fresh if "pip" in command]
    assert pip[0][-2:] == ["-r", "requirements.lock"]
    assert pip[1][-5:] == ["--no-deps", "-e", "./course", "-e", "."]
    assert len(pip) == 2


def test_a_second_run_starts_no_process_at_all(fresh):
    fresh.clear()
    environment.ensure()
    assert fresh == []


def test_a_changed_lock_is_installed(fresh):
    fresh.clear()
    with environment.LOCK.open("a") as lock:
        lock.write("# one line more\n")
    environment.ensure()
    assert any("requirements.lock" in command for command in fresh)


def test_an_install_that_fails_leaves_no_stamp(fresh, monkeypatch):
    environment.STAMP.unlink()

    def fail(command):
        raise Problem("pip could not finish")

    monkeypatch.setattr(environment, "install", fail)
    with pytest.raises(Problem, match="pip could not finish"):
        environment.ensure()
    assert not environment.STAMP.exists()


# What pip writes, from its versions 23 to 26: of a file fetched, one on the disk, one that is there.
PIP = """\
Looking in links: /opt/wheels
Collecting numpy==2.3.0 (from -r requirements.lock (line 2))
  Downloading numpy-2.3.0-cp311-cp311-manylinux_2_28_x86_64.whl.metadata (62 kB)
Downloading numpy-2.3.0-cp311-cp311-manylinux_2_28_x86_64.whl (16.9 MB)
Processing /opt/six-1.17.0-py2.py3-none-any.whl (from -r requirements.lock (line 3))
Requirement already satisfied: torch==2.13.0 in ./lib (from -r requirements.lock (line 4)) (2.13.0)
Requirement already satisfied: numpy>=1.2 in ./lib (from torch==2.13.0->-r requirements.lock (line 4)) (2.3.0)
Installing collected packages: six, numpy
Successfully installed numpy-2.3.0 six-1.17.0
"""
SMALL_LOCK = "# Written by `make lock`.\nnumpy==2.3.0\nsix==1.17.0\ntorch==2.13.0\n"


def test_pips_lines_become_a_count_with_the_newest_package():
    assert list(progress.steps(PIP.splitlines(), SMALL_LOCK)) == [
        "1 of 3: numpy",
        "1 of 3: numpy, 16.9 MB",
        "2 of 3: six",
        "3 of 3: torch",
        "unpacking 2 packages, a minute or two",
    ]


def test_before_the_lock_only_what_is_large_is_named():
    lines = ["Collecting torch==2.13.0", "  Downloading torch-2.13.0+cpu-cp311.whl (190.1 MB)"]
    assert list(progress.steps(lines, SMALL_LOCK)) == ["torch, 190.1 MB"]


def test_a_terminal_shows_one_line_and_a_log_one_step_of_ten(monkeypatch):
    told = [f"{number} of 20: package" for number in range(1, 21)] + ["unpacking"]
    log, terminal = io.StringIO(), io.StringIO()
    progress.show(told, log)
    assert log.getvalue() == "  10 of 20: package …\n  20 of 20: package …\n  unpacking …\n"
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    progress.show(told, terminal)
    assert "\n" not in terminal.getvalue() and terminal.getvalue().endswith("\r\033[K")
    assert terminal.getvalue().count("\r\033[K  ") == 21


def test_an_install_shows_its_steps_and_on_failure_pips_last_lines(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(environment, "ROOT", tmp_path)
    monkeypatch.setattr(environment, "LOCK", tmp_path / "requirements.lock")
    environment.LOCK.write_text(SMALL_LOCK)
    script = f"import sys; sys.stdout.write({PIP!r}); print('ERROR: no room', file=sys.stderr); sys.exit({{}})"
    environment.install([sys.executable, "-c", script.format(0)])
    told = capsys.readouterr()
    assert told.out == "  unpacking 2 packages, a minute or two …\n" and told.err == ""
    with pytest.raises(Problem, match="its last lines above say why") as caught:
        environment.install([sys.executable, "-c", script.format(1)])
    assert "ERROR: no room" in capsys.readouterr().err and one_line(str(caught.value))


def test_torch_cpu_is_one_line_where_the_wheels_cannot_be_reached(fresh, monkeypatch):
    environment.STAMP.unlink()
    fresh.clear()
    monkeypatch.setenv("TORCH", "cpu")
    monkeypatch.setattr(environment, "reachable", lambda url: False)
    with pytest.raises(Problem, match="cannot be reached") as caught:
        environment.ensure()
    assert "\n" not in str(caught.value)
    assert fresh == []


def test_torch_cpu_asks_pytorchs_own_index_for_torch_alone():
    commands = environment.install_commands("python", True, "torch==2.13.0")
    assert [c for c in commands if "--index-url" in c] == [commands[0]]
    assert commands[0][-3:] == ["torch==2.13.0", "--index-url", environment.TORCH_CPU_INDEX]


def test_the_lock_pins_torch():
    assert environment.torch_pin(environment.LOCK.read_text()) == "torch==2.13.0"


def test_whatever_is_started_finds_the_environments_programs_first():
    assert environment.environ()["PATH"].split(":")[0] == str(ROOT / ".venv" / "bin")


def test_root_and_the_quiet_browser_are_passed_on_to_jupyterlab():
    plain = start.lab_command("python", "8888", browser=True, root=False)
    assert "--no-browser" not in plain and "--allow-root" not in plain
    quiet = start.lab_command("python", "8899", browser=False, root=True)
    assert {"--no-browser", "--allow-root", "--port=8899"} <= set(quiet)


def test_a_server_that_ends_at_once_is_a_problem_in_one_line():
    server = subprocess.Popen([sys.executable, "-c", "raise SystemExit(3)"])
    server.wait()
    with pytest.raises(Problem, match="ended with status 3"):
        start.wait_until_listening(1, server)


def test_only_missing_system_packages_are_asked_for():
    assert system.missing(lambda program: None) == ["chromium", "bubblewrap", "postgresql"]
    assert system.missing(lambda program: "/usr/bin/" + program) == []
    assert system.missing({"chromium": "/usr/bin/chromium"}.get) == ["bubblewrap", "postgresql"]


def test_without_apt_the_one_command_is_printed_and_nothing_is_run(monkeypatch, capsys):
    monkeypatch.setattr(system.shutil, "which", lambda program: None)
    monkeypatch.setattr(system.subprocess, "run", lambda *args, **_: pytest.fail("ran a command"))
    assert system.main() == 0
    assert "apt-get install --yes chromium bubblewrap" in capsys.readouterr().out


@pytest.mark.parametrize("script", ["environment", "progress", "start", "system", "doctor"])
def test_a_python_3_7_can_read_the_scripts_that_tell_it_that_it_is_too_old(script):
    import ast

    text = (ROOT / "tools" / f"{script}.py").read_text()
    tree = ast.parse(text, feature_version=(3, 7))
    newer = {n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)} | {
        a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names
    }
    assert "tomllib" not in newer
