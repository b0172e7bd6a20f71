"""What a right answer imports, and sets in its own process.

Each solves the toy exercise `double`. `# %%` begins another cell; the last one is the answer's own.
"""

ANSWERS = {
    "slow imports": """
import scipy.stats
import sklearn.linear_model
def double(x):
    from sklearn.decomposition import PCA
    return 2 * x""",
    "pandas": """
import pandas as pd
def double(x):
    return (2 * pd.Series(x)).to_numpy()""",
    "imports of its own": """
from functools import *
import numpy, torch, math, os, sys
def double(x):
    return numpy.array(list(map(lambda v: v + v, x)))""",
    "a backend that is not here": """
%matplotlib qt
def double(x):
    return 2 * x""",
    "a backend that is not here, by name": """
import matplotlib
import matplotlib.pyplot as plt
matplotlib.use("TkAgg")
plt.switch_backend("QtAgg")
def double(x):
    return 2 * x""",
    "an extension and a magic that are not here": """
%load_ext nowhere
%nothing at all
def double(x):
    return 2 * x""",
    "state in another cell": """
calls = 0
cache = {}
FACTOR = 2
# %%
def double(x):
    global calls
    calls += 1
    return cache.setdefault(tuple(x), FACTOR * x)""",
    "chance without a seed": """
import random, torch
def double(x):
    noise = random.random() + np.random.rand() + torch.rand(1).item()
    return (x + noise) + (x - noise)""",
    "seeds of its own": """
import random, torch
random.seed(1); np.random.seed(2); torch.manual_seed(3)
def double(x):
    np.random.seed(5)
    return 2 * x""",
    "numpy's errors raised": """
np.seterr(all="raise")
def double(x):
    return 2 * x""",
    "torch in double precision, gradients off": """
import torch
torch.set_default_dtype(torch.float64)
torch.set_grad_enabled(False)
torch.use_deterministic_algorithms(True)
torch.set_num_threads(2)
def double(x):
    return 2 * torch.tensor(list(x))""",
    "no_grad entered and left on": """
import torch
torch.no_grad().__enter__()
torch.inference_mode().__enter__()
def double(x):
    return 2 * torch.tensor(x)""",
    "numpy's print options, a locale": """
import locale
np.set_printoptions(precision=1, threshold=3)
locale.setlocale(locale.LC_ALL, "C")
def double(x):
    return 2 * x""",
    "magics": """
%matplotlib notebook
%matplotlib inline
%load_ext autoreload
%autoreload 2
%config InlineBackend.figure_format = 'retina'
%precision 3
# %%
%time y = np.ones(3)
%timeit -n 1 -r 1 sum(range(10))
!echo hello
files = !ls
# %%
def double(x):
    return 2 * x""",
    "a magic that this machine lacks": """
%matplotlib qt
# %%
%load_ext nowhere
# %%
%magic_that_is_not
# %%
def double(x):
    return 2 * x""",
    "a deeper stack": """
import sys
sys.setrecursionlimit(50_000)
def double(x):
    return 2 * x""",
    "a larger memory of its own": """
table = np.ones((5000, 5000))
def double(x):
    return 2 * x * table[0, 0]""",
    "garbage and weak references": """
import gc
gc.disable(); gc.collect()
def double(x):
    gc.collect()
    return 2 * x""",
    "exit() in another cell": """
exit()
# %%
quit()
# %%
def double(x):
    return 2 * x""",
    "a stop below": """
def double(x):
    return 2 * x
raise SystemExit('the rest is not done')""",
    "everything reset above": """
%reset -f
# %%
import numpy
def double(x):
    return numpy.add(x, x)""",
    "much text in a cell": f"PICTURE = {'A' * 3_000_000!r}\n# %%\ndef double(x):\n    return 2 * x",
    "debugging and waiting": """
import time
def double(x):
    start = time.perf_counter()
    time.sleep(0.05)
    assert time.perf_counter() > start
    return 2 * x""",
    "a default device": """
import torch
torch.set_default_device('cpu')
def double(x):
    return 2 * torch.as_tensor(x)""",
    "a trace function": """
import sys
sys.settrace(lambda *a: None)
def double(x):
    return 2 * x""",
    "%prun below": """
def double(x):
    return 2 * x
%prun double(np.ones(3))""",
    "data of scikit-learn": """
from sklearn.datasets import load_digits
X = load_digits().data
def double(x):
    return 2 * x""",
    "many globals": """
for i in range(20000): globals()[f'v{i}'] = i
def double(x):
    return 2 * x""",
    "recursion of five thousand calls": """
import sys
sys.setrecursionlimit(10**6)
def deep(n): return 0 if n == 0 else 1 + deep(n - 1)
def double(x):
    deep(5000)
    return 2 * x""",
    "check deleted": """
del check
def double(x):
    return 2 * x""",
    "hooks of sys": """
import sys
sys.excepthook = None
sys.displayhook = None
sys.ps1 = 1
def double(x):
    return 2 * x""",
    "faulthandler": """
import faulthandler
faulthandler.enable()
def double(x):
    return 2 * x""",
    "tracemalloc": """
import tracemalloc
tracemalloc.start()
def double(x):
    return 2 * x""",
    "its memory looked at": """
import resource, psutil
psutil.Process().memory_info()
def double(x):
    return 2 * x""",
    "the machine asked": """
import platform, socket, getpass, os, uuid
platform.platform(); socket.gethostname(); os.cpu_count(); os.getcwd(); uuid.uuid1()
try: getpass.getuser(); os.getlogin()
except (KeyError, OSError): pass
def double(x):
    return 2 * x""",
}
