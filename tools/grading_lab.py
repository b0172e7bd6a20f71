"""Open the gradebook in nbgrader's formgrader, in JupyterLab: `make grading-lab`.

PORT=8891 listens there, BROWSER=none opens no browser.
"""

import os

from autograder.workspace import BookError, workspace
from tools import environment, start
from tools.environment import ROOT, Problem


def main():
    try:
        there = workspace().has_gradebook()
    except BookError as error:
        raise Problem(str(error)) from error
    if not there:
        raise Problem("There is no gradebook yet: autograder grade CHAPTER makes it.")
    port = os.environ.get("PORT") or "8890"
    environ = start.lab_environ(environment.environ(), "instructor")
    return start.serve(ROOT, environ, port=port, page="/formgrader")


if __name__ == "__main__":
    environment.run(main)
