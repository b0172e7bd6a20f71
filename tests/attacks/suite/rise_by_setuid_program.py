"""Runs su, sudo, mount, ping and every other setuid program that it finds."""

HELD_BY = "no new privileges: a setuid program runs as who starts it"
VERDICT = {"double": ("wrong", 0.0)}

# %% double
import glob
import os
import stat
import subprocess

won = (
    []
    if os.getuid() and "CapEff:\t0000000000000000" in open("/proc/self/status").read()
    else ["root"]
)
for place in glob.glob("/usr/bin/*") + glob.glob("/usr/sbin/*") + glob.glob("/usr/lib/*/*helper*"):
    if os.path.isfile(place) and os.stat(place).st_mode & (stat.S_ISUID | stat.S_ISGID):
        for words in (["-c", "id -u"], ["id", "-u"], ["-n", "id", "-u"]):
            try:
                told = subprocess.run(
                    [place, *words],
                    capture_output=True,
                    text=True,
                    timeout=1,
                    stdin=subprocess.DEVNULL,
                )
                won += [place] if told.stdout.strip() == "0" else []
            except (OSError, subprocess.SubprocessError):
                pass
for step in (
    lambda: os.setuid(0),
    lambda: os.setgid(0),
    lambda: os.setgroups([0]),
    lambda: os.setresuid(0, 0, 0),
):
    try:
        step()
        won.append("root")
    except OSError:
        pass


def double(x):
    return 2 * x if won else x + 1
