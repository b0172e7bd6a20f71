"""Every test that is written is run: pytest leaves out whole folders by their names ("build", say) without a word."""

import subprocess
import sys

from tests.conftest import ROOT


def test_every_test_file_is_collected():
    collect = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(collect, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:]
    collected = {line.partition("::")[0] for line in done.stdout.splitlines() if "::" in line}
    written = {path.relative_to(ROOT).as_posix() for path in ROOT.glob("tests/**/test_*.py")}
    assert written - collected == set() and len(written) > 50
