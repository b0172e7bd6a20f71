"""What a right answer does with files, programs, processes and threads.

Each solves the toy exercise `double`. `# %%` begins another cell; the last one is the answer's own.
"""

ANSWERS = {
    "another folder": """
import os, tempfile
os.chdir(tempfile.mkdtemp())
def double(x):
    os.chdir("/tmp")
    return 2 * x""",
    "a file from one cell to the next": """
np.save("two.npy", np.array(2.0))
with open("notes.txt", "w") as file:
    file.write("2")
# %%
FACTOR = np.load("two.npy")
# %%
def double(x):
    return int(open("notes.txt").read()) * x * FACTOR / 2""",
    "a module written by a cell": """
%%writefile helpers.py
def twice(x):
    return 2 * x
# %%
from helpers import twice
# %%
def double(x):
    return twice(x)""",
    "threads": """
import threading
from concurrent.futures import ThreadPoolExecutor
lock = threading.Lock()
def double(x):
    with lock, ThreadPoolExecutor(4) as pool:
        return list(pool.map(lambda v: 2 * v, x))""",
    "a pool of processes": """
from multiprocessing import Pool
def twice(v):
    return 2 * v
def double(x):
    with Pool(2) as pool:
        return pool.map(twice, list(x))""",
    "a process pool that forks, left open": """
from concurrent.futures import ProcessPoolExecutor
pool = ProcessPoolExecutor(2)
def twice(v):
    return 2 * v
def double(x):
    return list(pool.map(twice, list(x)))""",
    "torch's loader with workers": """
import torch
def double(x):
    rows = torch.utils.data.TensorDataset(torch.tensor(x))
    loader = torch.utils.data.DataLoader(rows, batch_size=1, num_workers=2)
    return torch.cat([2 * row for (row,) in loader])""",
    "a subprocess": """
import subprocess, sys
def double(x):
    subprocess.run([sys.executable, "-c", "print(2)"], capture_output=True, check=True)
    return 2 * x""",
    "signals and alarms of its own": """
import signal
signal.signal(signal.SIGALRM, lambda *a: None)
signal.alarm(100)
def double(x):
    return 2 * x""",
    "cell magics": """
%%bash
echo hello
# %%
%%html
<b>hello</b>
# %%
%%javascript
alert(1)
# %%
%cd /tmp
%env FACTOR=2
%who
%run not_there.py
# %%
import os
def double(x):
    return float(os.environ["FACTOR"]) * x""",
    "packages asked for": """
!pip --version
from google.colab import drive
# %%
%pip --version
# %%
def double(x):
    return 2 * x""",
    "the folder deleted under it": """
import os, shutil, tempfile
os.chdir(tempfile.mkdtemp()); shutil.rmtree(os.getcwd())
def double(x):
    return 2 * x""",
    "standard input read": """
import sys
sys.stdin.read()
def double(x):
    return 2 * x""",
    "something at exit": """
import atexit
atexit.register(print, 'bye')
def double(x):
    return 2 * x""",
    "a thread left running": """
import threading, time
def tick():
    while True: time.sleep(0.01)
threading.Thread(target=tick, daemon=True).start()
def double(x):
    return 2 * x""",
    "a queue of processes": """
import multiprocessing as mp
def double(x):
    try:
        ctx = mp.get_context('spawn')
        q = ctx.Queue()
        q.put(2)
        return q.get() * x
    except Exception as e:
        raise""",
    "shared memory": """
from multiprocessing import shared_memory
def double(x):
    s = shared_memory.SharedMemory(create=True, size=100)
    s.close(); s.unlink()
    return 2 * x""",
    "joblib's threads": """
from joblib import Parallel, delayed
def double(x):
    return Parallel(n_jobs=2, prefer='threads')(delayed(lambda v: 2 * v)(v) for v in x)""",
    "a memory map": """
a = np.memmap('m.dat', dtype=float, mode='w+', shape=(3,))
def double(x):
    return 2 * x""",
    "a database": """
import sqlite3
sqlite3.connect('a.db').execute('create table t(a)')
def double(x):
    return 2 * x""",
    "a temporary file": """
import tempfile
def double(x):
    with tempfile.NamedTemporaryFile() as f:
        np.save(f, x)
    return 2 * x""",
    "a file at home": """
from pathlib import Path
Path('~/x').expanduser().write_text('2')
def double(x):
    return int(Path.home().joinpath('x').read_text()) * x""",
    "the network tried": """
import urllib.request
try:
    urllib.request.urlopen('http://example.org', timeout=2)
except OSError: pass
def double(x):
    return 2 * x""",
}
