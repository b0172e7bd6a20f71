"""JupyterLab on a copy of course/, as a student has it, and a headless Chromium to drive it."""

import contextlib
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tools import start

ROOT = Path(__file__).resolve().parents[2]
ARTEFACTS = ROOT / "artefacts"
SOLUTIONS = ROOT / "solutions"
CHROMIUM_FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync"
).split()


class Lab:
    """A JupyterLab that runs in `folder`."""

    def __init__(self, address, token, folder):
        self.address, self.token, self.folder = address, token, folder


@contextlib.contextmanager
def running_lab(folder, person, *, page="/lab", **environ):
    """JupyterLab in `folder`, with the settings of `person` and a home of its own beside it."""
    home = folder.parent / "home"
    settings = home / "settings" / "@jupyterlab" / "notebook-extension"
    settings.mkdir(parents=True)
    # Cells outside the window are drawn too, so that a test sees all of a notebook.
    setting = json.dumps({"windowingMode": "none"})
    (settings / "tracker.jupyterlab-settings").write_text(setting)
    token = secrets.token_hex(16)
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    ours = {k: v for k, v in os.environ.items() if k not in ("DESCENT_HOME", "MPLBACKEND")}
    environ = ours | {
        "HOME": str(home),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "run"),
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
        "JUPYTER_TOKEN": token,
        **environ,
    }
    root = os.geteuid() == 0
    command = start.lab_command(sys.executable, port, browser=False, root=root, page=page)
    with (folder.parent / "lab.log").open("w") as log:
        server = subprocess.Popen(
            [*command, "--KernelManager.transport=ipc"],
            cwd=folder,
            env=start.lab_environ(environ, person),
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            start.wait_until_listening(port, server)
            yield Lab(f"http://127.0.0.1:{port}", token, folder)
        finally:
            server.terminate()
            server.wait(30)


@pytest.fixture(scope="session")
def course():
    """A copy of course/ that lasts the session. Its path is short: sockets lie beside it."""
    with tempfile.TemporaryDirectory(prefix="gd-", ignore_cleanup_errors=True) as folder:
        mess = shutil.ignore_patterns("__pycache__", "*.egg-info", ".ipynb_*", ".descent")
        yield shutil.copytree(ROOT / "course", Path(folder) / "course", ignore=mess)


@pytest.fixture(scope="session")
def lab(course):
    """A student's JupyterLab in the copy, whose own `descent` it imports."""
    with running_lab(course, "student", PYTHONPATH=str(course)) as lab:
        yield lab


@pytest.fixture(scope="session")
def browser():
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=60_000)  # how fast a kernel answers on a busy machine is not asked
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=CHROMIUM_FLAGS
        )
        yield chromium
        chromium.close()


@pytest.fixture
def open_notebook(browser, lab):
    """Function from a path in the course to the Notebook open in JupyterLab, alone in its window."""
    contexts = []

    def open_(path):
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        contexts.append(context)
        context.set_default_timeout(60_000)
        page = context.new_page()
        # A workspace of its own: no tab that another test opened comes back.
        workspace = f"{lab.address}/lab/workspaces/{secrets.token_hex(4)}"
        page.goto(f"{workspace}/tree/{path}?token={lab.token}")
        return Notebook(page, lab.folder / path)

    yield open_
    for context in contexts:
        context.close()


class Notebook:
    """A notebook in the browser: what a student does with it, by keyboard and menu."""

    def __init__(self, page, path):
        self.page, self.path = page, path
        page.wait_for_selector(".jp-Notebook .jp-Cell")
        page.wait_for_function(IDLE)

    def run_all(self, *, seconds=180):
        self.page.get_by_role("menuitem", name="Run", exact=True).click()
        self.page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
        self.wait_until_run(seconds=seconds)

    def wait_until_run(self, *, seconds=60):
        """Return once no cell waits or runs and the kernel is idle."""
        self.page.wait_for_function(DONE, timeout=seconds * 1000)

    def cell(self, start):
        """The first open code cell whose source starts so; it stays that cell when it is rewritten."""
        editor = self.page.locator(".jp-InputArea-editor")  # a folded cell has none
        cells = self.page.locator(".jp-Notebook .jp-CodeCell").filter(has=editor)
        sources = cells.locator(".jp-InputArea-editor").all_inner_texts()
        return cells.nth([source.startswith(start) for source in sources].index(True))

    def write(self, cell, source):
        """Replace the source of a code cell and run it."""
        cell.locator(".cm-content").click()
        self.page.keyboard.press("Control+A")
        self.page.keyboard.insert_text(source)
        self.run(cell)

    def run(self, cell, *, seconds=60):
        cell.locator(".cm-content").click()
        self.page.keyboard.press("Control+Enter")
        self.wait_until_run(seconds=seconds)

    def errors(self):
        """Tracebacks and stderr shown anywhere in the notebook."""
        shown = self.page.locator(
            '[data-mime-type="application/vnd.jupyter.stderr"],'
            '[data-mime-type="application/vnd.jupyter.error"]'
        )
        return shown.all_inner_texts()

    def saved(self):
        """The notebook as JupyterLab writes it to disk."""

        def written(response):
            return response.request.method == "PUT" and "/api/contents/" in response.url

        with self.page.expect_response(written):
            self.page.keyboard.press("Control+S")
        return json.loads(self.path.read_text())

    def picture(self, name, element=None):
        """Keep a screenshot under artefacts/ for a person to look at."""
        ARTEFACTS.mkdir(exist_ok=True)
        (element or self.page).screenshot(path=ARTEFACTS / f"{name}.png")


# A kernel has been chosen and does nothing.
IDLE = """() => {
  const panel = document.querySelector('.jp-NotebookPanel:not(.lm-mod-hidden)');
  const kernel = panel?.querySelector('.jp-KernelName')?.textContent ?? '';
  const indicator = panel?.querySelector('.jp-Notebook-ExecutionIndicator');
  return kernel.startsWith('Python') && indicator?.dataset.status === 'idle';
}"""
# … and no cell waits for it.
DONE = f"""() => ({IDLE})() && ![...document.querySelectorAll('.jp-InputPrompt')].some(
  prompt => prompt.textContent.includes('[*]')
)"""
