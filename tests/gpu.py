"""Run the references and the DDPM training on a CUDA device: `make gpu`.

Every exercise of every notebook: its reference on its public cases, on the CPU and on the card, compared as
answers are. Status 0: all agree. 1: some differ. 2: PyTorch sees no CUDA device.
"""

import sys
import time

from autograder import checkdata
from autograder.building import masters
from solutions import notebook_module


def main():
    import torch

    if not torch.cuda.is_available():
        print(
            "make gpu: PyTorch sees no CUDA device here. "
            "It needs an NVIDIA card and a CUDA build of torch.",
            file=sys.stderr,
        )
        return 2
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}\n")
    failed = references("cuda")
    failed += not training("cuda")
    return 1 if failed else 0


def references(device):
    """Print one line an exercise: whether its reference on `device` agrees -> how many do not."""
    failed = 0
    print(f"{'notebook':<44} {'exercise':<26} {'cases':>5} {'CPU ms':>9} {device + ' ms':>9}  ")
    for notebook in masters.notebooks():
        for name, exercise in checkdata.load_exercises(notebook).items():
            problem, cases, seconds = compare_devices(notebook, exercise, device)
            failed += problem is not None
            times = " ".join(f"{1000 * s:9.1f}" for s in seconds)
            print(f"{notebook:<44} {name:<26} {cases:5} {times}  {problem or 'agrees'}")
    return failed


def compare_devices(notebook, exercise, device):
    """(problem or None, number of cases, (seconds on the CPU, on `device`)) of one reference."""
    from descent import compare, wire

    difference = compare.from_plain(exercise.compare.to_plain())
    cases = checkdata.draw_cases(exercise, checkdata.public_seed(notebook, exercise.name))
    problem, seconds = None, [0.0, 0.0]
    for case, inputs in cases:
        results = []
        for i, place in enumerate(("cpu", device)):
            encoded = wire.encode(inputs)
            try:
                checkdata.expected_result(exercise, encoded, place)  # the first call loads kernels
                started = time.perf_counter()
                plain = checkdata.expected_result(exercise, encoded, place)
            except checkdata.SpecError as error:
                return f"on {place}, {case}: {error}", len(cases), seconds
            seconds[i] += time.perf_counter() - started
            results.append(wire.decode(plain, tensors=False))
        found = difference(*results)
        problem = problem or (found and f"{case}: {found}")
    return problem, len(cases), seconds


def training(device, steps=1000):
    """Train the digits' DDPM on the CPU and on `device`, print both -> whether both learn alike.

    The draws differ between devices, so the losses are compared as means over the last tenth.
    """
    ddpm = notebook_module("15_diffusion/03_ddpm", "reference")

    print(f"\nDDPM on the digits, {steps} steps")
    last = {}
    for place in ("cpu", device):
        started = time.perf_counter()
        losses = ddpm.train_digits(place, steps)["losses"].cpu()
        first, last[place] = (float(part.mean()) for part in (losses[:10], losses[-steps // 10 :]))
        seconds = time.perf_counter() - started
        print(f"{place:<6} {seconds:7.1f} s   loss a pixel {first:.3f} -> {last[place]:.3f}")
    alike = abs(last[device] - last["cpu"]) < 0.1 * last["cpu"]
    print("both learn alike" if alike else "the losses differ by more than a tenth")
    return alike


if __name__ == "__main__":
    sys.exit(main())
