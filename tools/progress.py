"""How far pip is, in short lines: "12 of 160: torch, 797.3 MB".

Standard library only, and no syntax newer than Python 3.7: `tools.environment` says why.
"""

import re

PINNED = re.compile(r"\(from -r \S+ \(line (\d+)\)\)")  # pip says so of each package of the lock
FETCHED = re.compile(r"\s*Downloading (\w+)-\d\S*\.(?:whl|gz|zip) \(([\d.]+ [MG]B)\)")


def steps(lines, lock):
    """pip's lines -> how far it is with the packages of a lock file, whose text is `lock`."""
    pins = lock.splitlines()
    total, seen = sum("==" in pin for pin in pins), set()
    for line in lines:
        pinned, fetched = PINNED.search(line), FETCHED.match(line)
        if pinned:
            number = int(pinned.group(1))
            seen.add(number)
            yield "{} of {}: {}".format(len(seen), total, pins[number - 1].split("==")[0])
        elif fetched:  # a large one keeps its line for minutes
            place = f"{len(seen)} of {total}: " if seen else ""
            yield place + "{}, {}".format(*fetched.groups())
        elif line.startswith("Installing collected packages:"):
            yield "unpacking {} packages, a minute or two".format(line.count(",") + 1)


def show(told, stream):
    """Print each step: on a terminal in place of the one before, elsewhere one of ten, as lines."""
    live = stream.isatty()
    for step in told:
        if live:
            stream.write(f"\r\033[K  {step} …")
        elif not re.match(r"\d*[1-9] of", step):
            stream.write(f"  {step} …\n")
        stream.flush()
    if live:
        stream.write("\r\033[K")
