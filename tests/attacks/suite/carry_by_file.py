"""Writes the hidden input to every place where a later submission, or its own next one, could read it."""

HELD_BY = "every notebook has folders of its own, in memory, that vanish with it"
CARRIES = True
VERDICT = {"digits": ("wrong", 0.0)}

# %% digits
import os


def digits(secret):
    for folder in ("/tmp", "/dev/shm", os.getcwd(), "/engine", "/var/tmp", "/run"):
        try:
            with open(f"{folder}/secret", "w") as file:
                file.write(str(secret))
        except OSError:
            pass
    return [9] * len(str(secret))


# %% next double
import os

assert not any(
    os.path.exists(f"{folder}/secret")
    for folder in ("/tmp", "/dev/shm", os.getcwd(), "/engine", "/var/tmp", "/run")
)


def double(x):
    return 2 * x
