"""What a right answer prints, draws and displays on its way.

Each solves the toy exercise `double`. `# %%` begins another cell; the last one is the answer's own.
"""

ANSWERS = {
    "a DeprecationWarning": """
import warnings
def double(x):
    warnings.warn("old", DeprecationWarning, stacklevel=2)
    return 2 * x""",
    "numpy's RuntimeWarning": """
def double(x):
    np.log(-np.abs(x)), np.array([1.0]) / 0
    return 2 * x""",
    "warnings made errors": """
import warnings
warnings.simplefilter("error")
def double(x):
    return 2 * x""",
    "warnings made errors in a cell above": """
import warnings
warnings.filterwarnings("error")
# %%
def double(x):
    1 / np.zeros(2)
    warnings.warn("old")
    return 2 * x""",
    "some prints": """
def double(x):
    for i in range(1000):
        print("step", i, x)
    return 2 * x
print("x" * 100_000)
double(np.ones(3))""",
    "prints to stderr": """
import sys
def double(x):
    print(x, file=sys.stderr)
    sys.stdout.write("a"); sys.stdout.flush(); sys.stderr.flush()
    return 2 * x""",
    "a plot below the answer": """
import matplotlib.pyplot as plt
def double(x):
    return 2 * x
plt.plot([1, 2], double(np.ones(2)))
plt.show()""",
    "a plot inside the answer": """
import matplotlib.pyplot as plt
plt.style.use("ggplot")
def double(x):
    fig, ax = plt.subplots()
    ax.plot(x)
    plt.show()
    return 2 * x""",
    "thirty figures left open": """
import matplotlib.pyplot as plt
def double(x):
    for _ in range(10):
        plt.figure()
    return 2 * x""",
    "a progress bar": """
from tqdm.auto import tqdm
import tqdm as bars
def double(x):
    return np.array([2 * v for v in tqdm(x)])
for _ in bars.tqdm(range(3)): pass""",
    "a notebook's progress bar": """
from tqdm.notebook import tqdm
def double(x):
    return np.array([2 * v for v in tqdm(x)])
for _ in tqdm(range(3)): pass""",
    "logging": """
import logging
logging.basicConfig(level=logging.DEBUG)
def double(x):
    logging.getLogger(__name__).warning("x is %s", x)
    return 2 * x""",
    "display and interact": """
from IPython.display import HTML, clear_output, display
from ipywidgets import FloatSlider, Output, interact
def double(x):
    display(HTML("<b>x</b>"))
    clear_output()
    return 2 * x
display(double(np.ones(1)))
@interact(a=FloatSlider(1.0))
def show(a):
    print(a)
with Output():
    print("inside")""",
    "debugging left in": """
import pdb, traceback
def double(x):
    try:
        1 / 0
    except ZeroDivisionError:
        traceback.print_exc()
    return 2 * x""",
    "prints to a file": """
import sys
sys.stdout = open('log.txt', 'w')
def double(x):
    print(x)
    return 2 * x""",
    "stdout replaced": """
import sys, io
def double(x):
    sys.stdout = io.StringIO()
    print(x)
    sys.stdout = sys.__stdout__
    print('y')
    return 2 * x""",
    "stdout redirected": """
import contextlib, io
def double(x):
    with contextlib.redirect_stdout(io.StringIO()):
        print(x)
    return 2 * x""",
    "logging to a file": """
import logging
logging.basicConfig(filename='a.log', level=0, force=True)
def double(x):
    logging.info('a'); return 2 * x""",
    "a display that fails": """
class R:
    def _repr_html_(self): raise ValueError
def double(x):
    return 2 * x
R()""",
    "warnings always shown": """
import warnings
warnings.simplefilter('always')
warnings.showwarning = None
def double(x):
    warnings.warn('x')
    return 2 * x""",
    "a large picture saved": """
import matplotlib.pyplot as plt
plt.rcParams['figure.figsize'] = (30, 30)
plt.rcParams['font.family'] = 'Comic Sans'
plt.title('hello')
plt.savefig('a.png')
def double(x):
    return 2 * x""",
    "an animation": """
import matplotlib.pyplot as plt
from matplotlib.animation import FuncAnimation
fig, ax = plt.subplots()
a = FuncAnimation(fig, lambda i: ax.plot([i]), frames=2)
a.to_jshtml()
def double(x):
    return 2 * x""",
}
