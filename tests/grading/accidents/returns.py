"""What a right answer returns: everything that means the numbers that were asked for.

Each solves the toy exercise `double`. `# %%` begins another cell; the last one is the answer's own.
"""

ANSWERS = {
    "a list": "def double(x):\n    return [2 * float(v) for v in x]",
    "a tuple": "def double(x):\n    return tuple(2 * x)",
    "a list of numpy scalars": "def double(x):\n    return [2 * v for v in x]",
    "a list of arrays without axes": "def double(x):\n    return [np.array(2 * v) for v in x]",
    "a list of tensors without axes": """
import torch
def double(x):
    return [torch.tensor(2 * v, dtype=torch.float64) for v in x]""",
    "a generator": """
def double(x):
    for v in x:
        yield 2 * v""",
    "a map": "def double(x):\n    return map(lambda v: 2 * v, x)",
    "a reversed and a zip's parts": "def double(x):\n    return reversed([2 * v for v in x[::-1]])",
    "a dict's values": "def double(x):\n    return {i: 2 * v for i, v in enumerate(x)}.values()",
    "a deque": """
from collections import deque
def double(x):
    return deque(2 * x)""",
    "an array.array": """
from array import array
def double(x):
    return array("d", 2 * x)""",
    "a tensor": """
import torch
def double(x):
    return 2 * torch.as_tensor(x)""",
    "a tensor that requires its gradient": """
import torch
def double(x):
    return 2 * torch.tensor(x, requires_grad=True)""",
    "a parameter": """
import torch
def double(x):
    return torch.nn.Parameter(2 * torch.tensor(x))""",
    "a tensor in float32": """
import torch
def double(x):
    return 2 * torch.tensor(x, dtype=torch.float32)""",
    "a tensor moved to a device": """
import torch
device = "cuda" if torch.cuda.is_available() else "cpu"
def double(x):
    return (2 * torch.tensor(x).to(device)).to("cpu")""",
    "float32": "def double(x):\n    return (2 * x).astype(np.float32)",
    "longdouble": "def double(x):\n    return (2 * x).astype(np.longdouble)",
    "big-endian, strided": "def double(x):\n    return np.repeat(2 * x, 2).astype('>f8')[::2]",
    "an object array of numbers": "def double(x):\n    return (2 * x).astype(object)",
    "fractions": """
from fractions import Fraction
def double(x):
    return [2 * Fraction(float(v)) for v in x]""",
    "decimals": """
from decimal import Decimal
def double(x):
    return [2 * Decimal(float(v)) for v in x]""",
    "sympy's numbers": """
import sympy
def double(x):
    return [sympy.Float(float(v), 30) * 2 for v in x]""",
    "a masked array without a mask": "def double(x):\n    return np.ma.array(2 * x)",
    "a series of pandas": """
import pandas as pd
def double(x):
    return 2 * pd.Series(x)""",
    "complex without an imaginary part": "def double(x):\n    return 2 * x + 0j",
    "minus zero": "def double(x):\n    return np.where(x == 0, -0.0, 2 * x)",
    "a subclass of array": """
class Mine(np.ndarray):
    pass
def double(x):
    return (2 * x).view(Mine)""",
    "a sparse tensor": """
import torch
def double(x):
    return (2 * torch.tensor(x)).to_sparse()""",
    "a data frame's column": """
import pandas as pd
def double(x):
    return pd.DataFrame({"x": x, "y": 2 * x})["y"]""",
    "named tuples": """
from collections import namedtuple
def double(x):
    return namedtuple("Row", [f"x{i}" for i in range(len(x))])(*(2 * x))""",
    "an enum's numbers": """
from enum import IntEnum
class F(IntEnum):
    TWO = 2
def double(x):
    return [F.TWO * v for v in x]""",
    "a tensor in shared memory": """
import torch.multiprocessing as mp, torch
def double(x):
    t = torch.tensor(x).share_memory_()
    return 2 * t""",
    "a tensor on the best device": """
import torch
device = torch.device('cuda' if torch.cuda.is_available() else 'mps' if torch.backends.mps.is_available() else 'cpu')
def double(x):
    return 2 * torch.tensor(x).to(device)""",
}
