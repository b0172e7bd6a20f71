"""Runs solution notebooks as other processors would, and compares as nbval does: `python -m tests.portable`.

NOTEBOOK… for some, --way WAY for one way. Status 1: an output differs from its baseline.
"""

import argparse
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat

from autograder.building import build, masters
from autograder.kernels import running

# How libraries choose their instructions, where the processor has those. On AMD's, torch's MKL multiplies matrices by
# AVX2 and AVX512 alike, to the same bits, so that another way to sum is asked of it.
HASWELL = {
    "OPENBLAS_CORETYPE": "Haswell",
    "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL",
    "ATEN_CPU_CAPABILITY": "avx2",
    "MKL_CBWR": "COMPATIBLE",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
}
SKYLAKE = {"OPENBLAS_CORETYPE": "SkylakeX"}
TWO_THREADS = {
    "OMP_NUM_THREADS": "2",
    "OPENBLAS_NUM_THREADS": "2",
    "MKL_NUM_THREADS": "2",
    "OMP_WAIT_POLICY": "PASSIVE",  # threads that spin for work cost minutes where others run, too
}

BASELINES = build.ROOT / "solutions"
NUDGE = Path(__file__).with_name("nudge.py").read_text(encoding="utf-8")
# What a way sets is proven in the kernel: a variable that is misspelt changes nothing.
PROOF = """
import numpy, os, threadpoolctl, torch
(blas,) = [one for one in threadpoolctl.threadpool_info() if "numpy.libs" in one["filepath"]]
assert blas["architecture"] == os.environ["OPENBLAS_CORETYPE"], blas
assert blas["num_threads"] == torch.get_num_threads() == int(os.environ["OMP_NUM_THREADS"]), blas
"""
WAYS = {
    "nudged": ({}, NUDGE + "\n\ninstall()"),
    "haswell": (HASWELL, PROOF + 'assert torch.backends.cpu.get_cpu_capability() == "AVX2"'),
    "haswell-two": (HASWELL | TWO_THREADS, PROOF),
    "skylake": (SKYLAKE, PROOF),
    "skylake-two": (SKYLAKE | TWO_THREADS, PROOF),
}


def main(argv: list[str] | None = None) -> int:
    """Status 0: every notebook says the same every way. 1: some do not, each shown."""
    parser = argparse.ArgumentParser(prog="portable", description=__doc__)
    parser.add_argument("notebook", nargs="*", default=masters.notebooks())
    parser.add_argument("--way", choices=WAYS, action="append")
    arguments = parser.parse_args(argv)
    todo = [(name, way) for way in arguments.way or WAYS for name in arguments.notebook]
    failed = 0
    with ThreadPoolExecutor(2) as pool:
        for (name, way), found in zip(
            todo, pool.map(lambda job: differences(*job), todo), strict=True
        ):
            print(f"{way} {name}: {found or 'the same'}", flush=True)
            failed += bool(found)
    print(f"{failed} of {len(todo)} runs differ.")
    return 1 if failed else 0


def differences(notebook: str, way: str) -> str:
    """What nbval says of a solution notebook that is run one way; empty where it is as its baseline."""
    environment, first = WAYS[way]
    content = nbformat.read(BASELINES / f"{notebook}.ipynb", 4)
    content.cells.insert(0, nbformat.v4.new_code_cell(first))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{Path(notebook).name}.ipynb"
        nbformat.write(content, path)
        run = [sys.executable, "-m", "pytest", "--nbval", "-q", "-p", "no:cacheprovider"]
        done = subprocess.run(
            [*run, "-p", "no:xdist", str(path)],
            cwd=build.ROOT,
            env=running.environment(folder, build.COURSE, static=True) | environment,
            capture_output=True,
            text=True,
        )
    return done.stdout + done.stderr if done.returncode else ""


if __name__ == "__main__":
    sys.exit(main())
