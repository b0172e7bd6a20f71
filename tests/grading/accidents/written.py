"""How a right answer is written.

Each solves the toy exercise `double`. `# %%` begins another cell; the last one is the answer's own.
"""

ANSWERS = {
    "a default that it changes": """
def double(x, seen=[], count={"calls": 0}):
    seen.append(x); count["calls"] += 1
    return 2 * x""",
    "recursion": "def double(x):\n    return x if len(x) == 0 else np.append(double(x[:-1]), 2 * x[-1])",
    "its main": """
def double(x):
    return 2 * x
if __name__ == "__main__":
    print(double(np.ones(2)))""",
    "its main only": """
if __name__ == "__main__":
    def double(x):
        return 2 * x""",
    "%%time above the answer": """
%%time
def double(x):
    return 2 * x""",
    "%%capture above the answer": """
%%capture out
def double(x):
    return 2 * x
print(3)""",
    "a magic inside the answer's cell": """
%matplotlib inline
def double(x):
    return 2 * x
%timeit -n 1 -r 1 double(np.ones(3))
!ls""",
    "await at the top": """
import asyncio
await asyncio.sleep(0)
def double(x):
    return 2 * x""",
    "asyncio inside": """
import asyncio
async def twice(x):
    await asyncio.sleep(0)
    return 2 * x
def double(x):
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(twice(x))
    finally:
        loop.close()""",
    "get_ipython": """
shell = get_ipython()
shell.run_line_magic("matplotlib", "inline")
get_ipython().ast_node_interactivity = "all"
from IPython import get_ipython as again
def double(x):
    again()
    return 2 * x""",
    "outputs of cells before": """
2 + 2
# %%
_; Out; In
# %%
def double(x):
    return 2 * x
double""",
    "type hints": """
from __future__ import annotations
def double(x: Vector[Float, 'n']) -> Vector:
    y: Undefined = 2 * x
    return y""",
    "numpy's type hints": """
from numpy.typing import NDArray
def double(x: NDArray[np.float64], *, scale: "Unknown" = 2.0) -> NDArray:
    return scale * x""",
    "a lambda": "double = lambda x: 2 * x",
    "a partial": """
from functools import partial
double = partial(np.multiply, 2.0)
base = double
double = lambda x: base(x)""",
    "an object that can be called": """
from dataclasses import dataclass
@dataclass
class Times:
    factor: float
    def __call__(self, x):
        return self.factor * x
double = Times(2.0)""",
    "a decorator": """
import functools, time
def timed(function):
    @functools.wraps(function)
    def inner(*arguments, **keywords):
        start = time.perf_counter()
        try:
            return function(*arguments, **keywords)
        finally:
            print(time.perf_counter() - start)
    return inner
@timed
def double(x):
    return 2 * x""",
    "a compiled torch function": """
import torch
@torch.jit.script
def twice(x):
    return 2 * x
@torch.no_grad()
def double(x):
    return twice(torch.tensor(x))""",
    "vectorised": """
@np.vectorize
def twice(v):
    return 2 * v
def double(x):
    return twice(x)""",
    "nested under if": """
if True:
    def double(x):
        return 2 * x""",
    "nested under try": """
try:
    import nowhere
except ImportError:
    def double(x):
        return 2 * x""",
    "indented as a whole": """
    def double(x):
        return 2 * x
    y = 1""",
    "pasted from a terminal": ">>> def double(x):\n...     return 2 * x",
    "tabs": "def double(x):\n\treturn 2 * x",
    "form feeds": "\x0c\ndef double(x):\n    return 2 * x\n\x0c\n",
    "more arguments, with defaults": "def double(x, factor=2, *rest, **more):\n    return factor * x",
    "tried twice": """
def double(x):
    return x

def double(x):
    return 2 * x""",
    "an error below the answer": """
def double(x):
    return 2 * x
double(3) + undefined
assert False""",
    "an error in a cell above": """
1 / 0
# %%
from nowhere import nothing
# %%
def double(x):
    return 2 * x""",
    "its own check": """
def double(x):
    return 2 * x
check(double)
hint(double)
assert check(double) == 3""",
    "a name of the course covered": """
import numpy
check = print; after = max; np = None
def double(x):
    return numpy.multiply(x, 2)""",
    "print, list and sum covered": """
list = [1, 2]; sum = 3; type = "x"; input = 2
def print(*arguments): raise ValueError
def double(x):
    return 2 * x""",
    "names in other alphabets": """
def double(x):
    größe = 2 * x; 答え = größe
    return 答え""",
    "a cached function": """
from functools import lru_cache
@lru_cache
def factor():
    return 2
def double(x):
    return factor() * x""",
    "help asked for": """
np.mean?
double??
def double(x):
    return 2 * x""",
    "pasted with prompts": "In [3]: def double(x):\n   ...:     return 2 * x",
    "gradients": """
import torch
torch.autograd.set_detect_anomaly(True)
def double(x):
    y = torch.tensor(x, requires_grad=True); (y**2).sum().backward()
    return y.grad""",
    "torch.compile at hand": """
import torch
@torch.compile
def f(x):
    return 2*x
def double(x):
    return 2 * x""",
    "a dataclass": """
from __future__ import annotations
from dataclasses import dataclass
@dataclass
class A:
    v: Foo
    def __call__(self, x): return self.v * x
double = A(2)""",
    "a class": """
class Double:
    def __call__(self, x):
        return 2 * x
double = Double()""",
    "an enum": """
from enum import Enum
class F(Enum):
    TWO = 2
def double(x):
    return F.TWO.value * x""",
    "a package that may be missing": """
try:
    from numba import njit
except ImportError:
    njit = lambda f: f
@njit
def double(x):
    return 2 * x""",
    "match": """
def double(x):
    match len(x):
        case 0: return x
        case _: return 2 * x""",
    "a walrus": "def double(x):\n    return (y := 2 * x)",
    "another __name__": """
def double(x, **_):
    return 2 * x
double.__name__ = 'other'""",
    "asyncio.run": """
import asyncio
async def f(): return 2
def double(x):
    return asyncio.run(f()) * x""",
    "gather at the top": """
import asyncio
k = await asyncio.gather(asyncio.sleep(0, 1), asyncio.sleep(0, 1))
def double(x):
    return sum(k) * x""",
}
