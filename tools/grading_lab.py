"""Open the gradebook in nbgrader's formgrader, in JupyterLab: `make grading-lab`.

PORT=8891 listens there, BROWSER=none opens no browser.
"""

import os

from tools import environment, start
from tools.environment import ROOT, Problem

GRADEBOOK = ROOT / "grading" / "gradebook.db"


def main():
    if not GRADEBOOK.exists():
        raise Problem(
            "There is no gradebook yet: autograder grade CHAPTER writes grading/gradebook.db."
        )
    port = os.environ.get("PORT") or "8890"
    environ = start.lab_environ(environment.environ(), "instructor")
    return start.serve(ROOT, environ, port=port, page="/formgrader")


if __name__ == "__main__":
    environment.run(main)
