"""Exercises of 15_diffusion/05_score_and_langevin."""

import numpy as np
import torch

from descent.compare import close, exact, parts
from solutions.spec import Exercise

from . import reference

WALKED = close(rtol=1e-6, atol=1e-8, float32=True)  # a network's score is float32
# What was computed in float32 and comes back as numbers is compared as float32 is.
FLOAT32 = close(rtol=2e-4, atol=2e-5)


def away(rng, *shape):
    """Of both signs and not near zero: nothing hides behind a small number."""
    return rng.choice([-1.0, 1.0], shape) * rng.uniform(1, 2, shape)


def normal(rng, *shape):
    return torch.from_numpy(rng.normal(size=shape))


def pull(rng, d):
    """A matrix (d, d) with eigenvalues of positive real part, not symmetric."""
    return rng.uniform(1, 2) * np.eye(d) + rng.uniform(-0.4, 0.4, (d, d))


# ------------------------------------------------------------------------------------ energy_score

energy_score = Exercise(
    "energy_score",
    reference=reference.energy_score,
    compare=close(rtol=1e-6, atol=1e-8, float32=True),
    batched=("x",),
    hints=[
        "Which way is up for the density: where the energy grows, or where it falls?",
        "Make a copy of x that asks for gradients. Which single number, made of all the energies, has every row's own gradient in its own?",
        "x.detach().requires_grad_(True) is such a copy; torch.autograd.grad(number, x) gives a tuple with one gradient. Mind the sign.",
    ],
)


@energy_score.probe
def _(answer, x, A, b, c):
    def f(x):
        return c + ((x @ A.to(x)) * x).sum(1) / 2 + torch.sin(x @ b.to(x))

    s = answer(f, x)
    if x.requires_grad:
        raise ValueError(
            "x itself was changed: it asks for gradients now. Copy it first"
        )
    return torch.as_tensor(s).detach()


@energy_score.cases
def _(rng):
    def case(n=3, d=2, scale=1.0, **changes):
        given = dict(
            x=torch.from_numpy(scale * away(rng, n, d)),
            A=torch.from_numpy(pull(rng, d)),
            b=torch.from_numpy(away(rng, d)),
            c=0.0,
        )
        return given | changes

    yield "each row points down its own energy", case()
    yield "each row points down its own energy", case(n=5, d=3)
    yield "a single point, a single number", case(n=1, d=1)
    yield "a constant in the energy plays no part", case(c=-40.0)
    yield (
        "a constant in the energy plays no part",
        case(c=float(rng.uniform(900, 1000))),
    )
    yield "far out, where e^(-f) is 0", case(n=2, scale=80.0)
    flat = dict(A=torch.zeros(2, 2).double(), b=torch.zeros(2).double())
    yield "a flat energy points nowhere", case(**flat)


energy_score.mistakes(
    {
        "towards high energy": (
            "return -slopes",
            "return slopes",
            "p is large where f is small. Does your arrow point to where p grows?",
        ),
        "the mean in place of the sum": (
            ".sum()",
            ".mean()",
            "With twice as many rows your scores halve. Whose gradient holds each row's own?",
        ),
        "the slope of the density": (
            "f(x).sum()",
            "(-torch.exp(-f(x))).sum()",
            "That is ∇p, without its Z. The score is the slope of log p.",
        ),
        "through the density and back": (
            "f(x).sum()",
            "-torch.log(torch.exp(-f(x))).sum()",
            "Far out e^(-f) is 0 in the computer, and its logarithm is no number. Do you need the density at all?",
        ),
        "arrows of length 1": (
            "-slopes",
            "-slopes / slopes.norm(dim=1, keepdim=True)",
            "The score says how steep it is, too. How long are your arrows where f is flat?",
        ),
        "x asks for gradients ever after": (
            "x = x.detach().requires_grad_(True)",
            "x.requires_grad_(True)",
            "requires_grad_ changes the tensor that was handed in. Work on a copy.",
        ),
    }
)


energy_score.worked(
    why=r"""$\log p = -f - \log Z$, and $Z$ is the same at every place, so that the slope of $-f$ is all there is to know. Each row's energy
    depends on that row alone; in the gradient of the sum, therefore, row $i$ holds the gradient of energy $i$, and one backward
    pass serves them all. Nothing is exponentiated, so nothing overflows, far out as well."""
)


@energy_score.right("torch's functional gradient", library="torch.func.grad")
def _(f, x):
    return torch.func.grad(lambda x: -f(x).sum())(x)


@energy_score.right("in float32")
def _(f, x):
    x = x.float().requires_grad_(True)
    return -torch.autograd.grad(f(x).sum(), x)[0]


# ---------------------------------------------------------------------------------------- langevin

langevin = Exercise(
    "langevin",
    reference=reference.langevin,
    compare=parts(path=WALKED, asked=exact()),
    hints=[
        "Every state is made of the one before it, by two moves: one up the hill, one by chance.",
        "A list that starts with x0. For each z[t - 1]: ask the score at the newest state, add ε/2 of it, and the shake. z has variance 1; "
        "the shake should have variance ε.",
        "Append path[-1] + eps / 2 * score(path[-1]) + math.sqrt(eps) * noise, for each noise in z. np.array makes one array of the list.",
    ],
)


@langevin.probe
def _(answer, x0, z, eps, A, m):
    asked = []

    def score(x):
        asked.append(1)
        return (m - np.asarray(x)) @ A

    return {"path": answer(score, x0, z, eps), "asked": len(asked)}


@langevin.cases
def _(rng):
    def case(T=4, n=3, d=2, eps=0.3, **changes):
        given = dict(
            x0=away(rng, n, d),
            z=away(rng, T, n, d),
            eps=eps,
            A=pull(rng, d),
            m=away(rng, d),
        )
        return given | changes

    yield "every state of the walk", case()
    yield "every state of the walk", case(T=3, n=2, d=4, eps=0.7)
    yield "without shakes it walks uphill", case(z=np.zeros((4, 3, 2)))
    yield "on a plain it is shaken only", case(A=np.zeros((2, 2)), eps=2.5)
    yield "a step that is too long", case(T=3, eps=5.0)
    yield (
        "whole numbers to start from",
        case(T=2, n=2, x0=rng.choice([-3, -2, 2, 3], (2, 2))),
    )
    yield "one particle on a line", case(T=2, n=1, d=1)
    yield "no step at all", case(T=0)


langevin.mistakes(
    {
        "downhill": (
            "+ drift",
            "- drift",
            "The score points to where p grows. Which sign brings a particle there?",
        ),
        "the whole score": (
            "eps / 2 *",
            "eps *",
            "On N(0, 1) the variance goes to 1/2 then. Which factor has the score?",
        ),
        "the shake has the size ε": (
            "math.sqrt(eps) * noise",
            "eps * noise",
            "z has variance 1, the shake should have variance ε. By what do you multiply?",
        ),
        "the shake has the variance ε/2": (
            "math.sqrt(eps) * noise",
            "math.sqrt(eps / 2) * noise",
            "The half belongs to the drift. On a plain, how much variance should one step add?",
        ),
        "every step from the start": (
            "path.append(path[-1]",
            "path.append(x0",
            "Where does the second step begin?",
        ),
        "the score at the start": (
            "score(path[-1])",
            "score(path[0])",
            "The slope changes on the way. Where do you ask in the second step?",
        ),
        "the start is missing": (
            "np.array(path)",
            "np.array(path[1:]).reshape(-1, *x0.shape)",
            "T steps make T + 1 states. Which one is not there?",
        ),
        "every entry is the last state": (
            "np.array(path)",
            "np.array([path[-1]] * len(path))",
            "x += … changes one array in place. Is it the same array that your list holds?",
        ),
        "whole numbers cut off": (
            "np.array(path)",
            "np.array(path, x0.dtype)",
            "x0 may hold whole numbers; the walk does not.",
        ),
    }
)


langevin.worked(
    why=r"""Both moves start at the newest state: the drift goes with $\epsilon$, the shake with $\sqrt\epsilon$, since variances of independent
    shakes add up: after $k$ steps they have made $k \epsilon$ of variance, and the drifts $k \epsilon / 2$ of way. That is the balance which
    keeps $p$, to first order in $\epsilon$. A new array is appended each time, so that x0 and all earlier states stay."""
)


@langevin.right("rows of one array, in float32")
def _(score, x0, z, eps):
    path = np.empty((len(z) + 1, *x0.shape), np.float32)
    path[0] = x0
    for t in range(len(z)):
        path[t + 1] = path[t] + eps / 2 * score(path[t]) + eps**0.5 * z[t]
    return path


# ------------------------------------------------------------------------------- annealed_langevin

annealed_langevin = Exercise(
    "annealed_langevin",
    reference=reference.annealed_langevin,
    compare=parts(path=WALKED, asked=close(rtol=1e-12)),
    hints=[
        "Within a level nothing is new: it is a Langevin walk, with that level's score and step size. What hands one level over to the next?",
        "Your langevin wants a score of x alone: bind sigma. It returns its start as well, and that stands in your path already.",
        "For each pair of z[i] and sigma: walk = langevin(lambda x: score(x, sigma), path[-1], z[i], r * sigma**2), then extend the path by walk[1:].",
    ],
)


@annealed_langevin.probe
def _(answer, x0, z, sigmas, r, A, m):
    asked = []

    def score(x, sigma):
        if np.ndim(sigma):
            raise ValueError("the score wants sigma as a number, not as an array")
        asked.append(float(sigma))
        return (m - np.asarray(x)) @ A / sigma

    return {"path": answer(score, x0, z, sigmas, r), "asked": np.array(asked)}


@annealed_langevin.cases
def _(rng):
    def case(sigmas, K=2, n=2, d=2, r=0.3, **changes):
        sigmas = np.array(sigmas) * rng.uniform(0.9, 1.1)
        given = dict(
            x0=away(rng, n, d),
            z=away(rng, len(sigmas), K, n, d),
            sigmas=sigmas,
            r=r,
            A=pull(rng, d),
            m=away(rng, d),
        )
        return given | changes

    yield "level after level", case([2.0, 1.0, 0.5])
    yield "level after level", case([1.5, 0.6], K=3, n=3, d=3)
    yield "more levels than steps", case([2.0, 1.4, 1.0, 0.7, 0.5], K=1, n=1)
    yield "a single level", case([1.3], K=4)
    yield "without shakes", case([2.0, 0.5], z=np.zeros((2, 2, 2, 2)))
    yield "a larger r", case([1.2, 0.4], r=1.2)
    yield "levels that do not fall", case([0.5, 0.5, 1.0], K=1)
    whole = rng.choice([-3, -2, 2, 3], (2, 2))
    yield "whole numbers to start from", case([1.0, 0.5], x0=whole)


annealed_langevin.mistakes(
    {
        "every level from the start": (
            "path[-1], noise",
            "path[0], noise",
            "Where does the second level begin?",
        ),
        "one step size for all levels": (
            "r * sigma**2",
            "r * sigmas[0] ** 2",
            "What is wide is walked in long steps. Which step size has the last level?",
        ),
        "σ in place of its square": (
            "r * sigma**2",
            "r * sigma",
            "A variance per step goes with the square of a width.",
        ),
        "the score of the first level": (
            "score(x, sigma)",
            "score(x, sigmas[0])",
            "Each level has a score of its own. Which sigma does it hear?",
        ),
        "the start of each level twice": (
            "walk[1:]",
            "walk",
            "langevin returns its start, too. Where does it stand already?",
        ),
    }
)


annealed_langevin.worked(
    why=r"""A level is a plain Langevin walk; all that is new is the hand-over, `path[-1]`. The scale of everything at level $\sigma$ is $\sigma$, so
    in units of $\sigma$ every level has the same step, $r$: large strides while the hills are one, small ones when they are sharp. `sigma=sigma`
    in the little function binds the level of this round, as a name in a loop means its last value later on. `walk[1:]` leaves out the
    start, which the path has already."""
)


@annealed_langevin.right("two loops")
def _(score, x0, z, sigmas, r):
    x = np.array(x0, float)
    path = [x]
    for i in range(len(sigmas)):
        eps = r * sigmas[i] ** 2
        for k in range(z.shape[1]):
            x = x + eps / 2 * score(x, sigmas[i]) + np.sqrt(eps) * z[i, k]
            path.append(x)
    return np.stack(path)


# ---------------------------------------------------------------------------------------- ism_loss

ism_loss = Exercise(
    "ism_loss",
    reference=reference.ism_report,
    compare=parts(loss=WALKED, gradient=WALKED),
    hints=[
        "Two parts for each row: half the squared length of its score, and a sum of d slopes. Which slopes stand in the trace?",
        "Slope i is that of the i-th number of s along the i-th coordinate of x. The gradient of s[:, i].sum() in x holds, for each row, all "
        "slopes of s_i. Which of its columns do you want?",
        "x.detach().requires_grad_(True), s = score(x); for each i the column i of torch.autograd.grad(s[:, i].sum(), x, create_graph=True)[0], "
        "added up; then the mean of s.square().sum(1) / 2 plus the sum.",
    ],
)


@ism_loss.probe
def _(answer, x, W, b):
    W = W.clone().requires_grad_(True)
    loss = answer(lambda x: torch.tanh(x @ W.to(x) + b.to(x)), x)
    if not isinstance(loss, torch.Tensor):
        raise TypeError("the loss must be a tensor that can be differentiated")
    if x.requires_grad:
        raise ValueError(
            "x itself was changed: it asks for gradients now. Copy it first"
        )
    none = torch.zeros_like(W)
    gradient = torch.autograd.grad(loss, W)[0] if loss.requires_grad else none
    return {"loss": loss.detach(), "gradient": gradient}


@ism_loss.cases
def _(rng):
    def case(n=4, d=2, **changes):
        given = dict(
            x=torch.from_numpy(away(rng, n, d)) / 2,
            W=torch.from_numpy(away(rng, d, d)) / 2,
            b=torch.from_numpy(away(rng, d)) / 4,
        )
        return given | changes

    yield "length and trace", case()
    yield "length and trace", case(n=5, d=3)
    yield "as many rows as columns", case(n=3, d=3)
    yield "one row", case(n=1, d=3)
    yield "numbers on a line", case(n=4, d=1)
    turn = torch.tensor([[0.0, 1.0], [-1.0, 0.0]]).double()
    turn = turn * float(rng.uniform(0.5, 1))
    yield "a score that only turns has no trace", case(W=turn)
    down = -torch.diag(torch.from_numpy(rng.uniform(1, 2, 2)))
    yield "a trace below zero", case(x=torch.from_numpy(away(rng, 4, 2)) / 9, W=down)
    yield "a score of 0", case(W=torch.zeros(2, 2).double(), b=torch.zeros(2).double())


ism_loss.mistakes(
    {
        "without the half": (
            "s.square().sum(1) / 2",
            "s.square().sum(1)",
            "For s = −θx on N(0, 1) the best θ is 1. Which is best under your loss?",
        ),
        "the trace is taken away": (
            "/ 2 + trace",
            "/ 2 - trace",
            "At a peak the score points inwards, and its slope is below 0. Should that raise the loss or lower it?",
        ),
        "all slopes, not the trace": (
            "trace + slopes[:, i]",
            "trace + slopes.sum(1)",
            "The trace has d terms, ∂sᵢ/∂xᵢ. How many do you add?",
        ),
        "the length is averaged over the coordinates": (
            "s.square().sum(1) / 2",
            "s.square().mean(1) / 2",
            "‖s‖² is a sum of d squares. Does your loss keep it when d grows?",
        ),
        "the slopes along the first coordinate": (
            "slopes[:, i]",
            "slopes[:, 0]",
            "The i-th score along the i-th coordinate: which column of its gradient is that?",
        ),
        "the slopes have no graph": (
            "slopes[:, i]",
            "slopes[:, i].detach()",
            "The loss is right, but the weights do not feel the trace. Did you use detach, or leave out create_graph?",
        ),
        "a plain number": (
            ".mean()",
            ".mean().item()",
            "A number cannot be differentiated. Return the tensor.",
        ),
        "x asks for gradients ever after": (
            "x = x.detach().requires_grad_(True)",
            "x.requires_grad_(True)",
            "requires_grad_ changes the tensor that was handed in. Work on a copy.",
        ),
    }
)


ism_loss.worked(
    why=r"""The cross term of the Fisher divergence became a trace by parts, and a trace is a sum of $d$ slopes, each from a backward pass of its
    own. The rows do not mix, so one pass over the sum of column $i$ serves all rows. `create_graph=True` keeps how the slopes came about:
    training differentiates them once more, in the weights. The squared length keeps the score small where there are data, the trace wants it
    to point inwards there: a hill at every point."""
)


@ism_loss.right("row by row, by Jacobians", library="torch.func.jacrev")
def _(score, x):
    total = 0
    for row in x:
        J = torch.func.jacrev(lambda row: score(row[None])[0])(row)
        s = score(row[None])[0]
        total = total + s @ s / 2 + torch.trace(J)
    return total / len(x)


# ---------------------------------------------------------------------------------------- dsm_loss

dsm_loss = Exercise(
    "dsm_loss",
    reference=reference.dsm_report,
    # the gradient comes in W's float64 even where the loss was computed in float32
    compare=parts(loss=close(rtol=1e-5), gradient=FLOAT32, calls=exact()),
    hints=[
        "What does the model see, and what should it say? Look at J once more: three letters in it are handed to you.",
        "Melt each row by its own sigma, and ask once. Multiply σ into the bars: what remains of the sum there has no division.",
        "level = sigma[:, None]; the model at x + level * z; the rows are level * s + z. Their squared lengths, the mean, the half.",
    ],
)


@dsm_loss.probe
def _(answer, x, sigma, z, W):
    W = W.clone().requires_grad_(True)
    calls = []

    def model(x, sigma):
        calls.append(1)
        if tuple(sigma.shape) != (len(x),):
            raise ValueError(
                f"the model wants sigma of shape ({len(x)},), got {tuple(sigma.shape)}"
            )
        says = torch.tanh(x.to(W.dtype) @ W) + sigma[:, None].to(W.dtype) / 5
        return says.to(x.dtype)

    loss = answer(model, x, sigma, z)
    if not isinstance(loss, torch.Tensor):
        raise TypeError("the loss must be a tensor that can be differentiated")
    none = torch.zeros_like(W)
    gradient = torch.autograd.grad(loss, W)[0] if loss.requires_grad else none
    return {"loss": loss.detach(), "gradient": gradient, "calls": len(calls)}


@dsm_loss.cases
def _(rng):
    def case(sigma, d=3, **changes):
        sigma = torch.tensor(sigma).double() * float(rng.uniform(0.9, 1.1))
        n = len(sigma)
        given = dict(
            x=torch.from_numpy(away(rng, n, d)),
            sigma=sigma,
            z=torch.from_numpy(away(rng, n, d)),
            W=normal(rng, d, d) / 2,
        )
        return given | changes

    yield "each row at its own level", case([0.3, 2.0, 0.8, 1.4])
    yield "as many rows as columns", case([0.5, 1.0, 2.0])
    yield "a single row", case([1.7], d=2)
    yield "a single number in each row", case([0.4, 1.6], d=1)
    yield "a wide level", case([30.0, 10.0], d=2, W=normal(rng, 2, 2) / 20)
    yield (
        "a model that says only sigma",
        case([0.6, 1.5], d=2, W=torch.zeros(2, 2).double()),
    )


dsm_loss.mistakes(
    {
        "without the half": (
            ".mean() / 2",
            ".mean()",
            "What is the loss of a model that says 0 on z = [[1, 1]]?",
        ),
        "not weighted by σ²": (
            "level * s + z",
            "s + z / level",
            "The level 0.001 has targets of size 1000 in your loss. Which factor of J evens that out?",
        ),
        "the model names the noise": (
            "level * s + z",
            "s - z",
            "That is the loss of DDPM, whose model says ε. What does a score model say?",
        ),
        "the model sees clean data": (
            "model(x + level * z, sigma)",
            "model(x, sigma)",
            "Whose score is learned: that of the data, or of the melted ones?",
        ),
        "melted by z alone": (
            "model(x + level * z, sigma)",
            "model(x + z, sigma)",
            "How far from its x does a row of level 0.01 lie in your loss?",
        ),
        "the target has the wrong sign": (
            "level * s + z",
            "level * s - z",
            "The score points back to the data, against the noise that was added.",
        ),
        "the mean over all numbers": (
            ".sum(1).mean()",
            ".mean()",
            "The squared length of a row is a sum over its d numbers.",
        ),
        "the answer is cut from the graph": (
            "model(x + level * z, sigma)",
            "model(x + level * z, sigma).detach()",
            "The loss is right, but its gradient is zero: nothing would be learned.",
        ),
        "a plain number": (
            ".mean() / 2",
            ".mean().item() / 2",
            "A number cannot be differentiated. Return the tensor.",
        ),
    }
)


dsm_loss.worked(
    why=r"""Multiplied into the bars, $\sigma$ turns $s + z/\sigma$ into $\sigma s + z$: the target is $-z$, of one size at every
    level, and nothing is divided by a small $\sigma$. One call of the model, one backward pass, however many coordinates there are. The loss does
    not go to 0: many points may hide behind one melted one, so the targets scatter round their mean, and the mean is the score."""
)


@dsm_loss.right("torch's own", library="torch.nn.functional.mse_loss")
def _(model, x, sigma, z):
    level = sigma.unsqueeze(1)
    says = model(torch.addcmul(x, level, z), sigma)
    loss = torch.nn.functional.mse_loss(level * says, -z, reduction="sum")
    return loss / (2 * len(x))


@dsm_loss.right("as it is printed, in float32")
def _(model, x, sigma, z):
    x, sigma, z = x.float(), sigma.float(), z.float()
    target = -z / sigma[:, None]
    off = (model(x + sigma[:, None] * z, sigma) - target).norm(dim=1)
    return 0.5 * (sigma * off).pow(2).mean()


# ------------------------------------------------------------------------------------- train_score

train_score = Exercise(
    "train_score",
    reference=reference.train_score,
    compare=parts(losses=FLOAT32, W=FLOAT32, V=FLOAT32),  # the model is float32
    hints=[
        "Before the loop: the optimiser, an empty list, and a copy of every weight. Then updates. What happens after the last one?",
        "In an update: rows, levels and noise in the order of the text, each with generator=g; the loss of x[rows] at sigmas[levels]; clear, "
        "backward, step; note the loss; let each copy follow its weight.",
        "Copies: w.data.clone(). A copy follows by copy_ of decay times itself plus (1 - decay) times w.data. After the loop "
        "w.data.copy_(average) for each pair.",
    ],
)


@train_score.probe
def _(answer, x, sigmas, W, V, n_steps, batch, lr, decay, seed):
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.W = torch.nn.Parameter(W.float().clone())
            self.V = torch.nn.Parameter(V.float().clone())

        def forward(self, x, sigma):
            return torch.tanh(x @ self.W) + sigma[:, None] * self.V

    model = Model()
    g = torch.Generator().manual_seed(seed)
    losses = answer(model, x.float(), sigmas.float(), n_steps, batch, lr, decay, g)
    if any(getattr(loss, "requires_grad", False) for loss in losses):
        raise TypeError("the losses hang on their graphs: numbers are asked for")
    return {"losses": losses, "W": model.W.detach(), "V": model.V.detach()}


@train_score.cases
def _(rng):
    def case(N=6, d=2, L=4, n_steps=4, batch=5, lr=0.1, decay=0.7):
        return dict(
            x=torch.from_numpy(away(rng, N, d)),
            sigmas=torch.from_numpy(rng.permutation(np.geomspace(0.3, 2, L))),
            W=normal(rng, d, d),
            V=torch.from_numpy(away(rng, d)),
            n_steps=n_steps,
            batch=batch,
            lr=lr,
            decay=decay,
            seed=int(rng.integers(1000)),
        )

    yield "a few updates", case()
    yield "a few updates", case(N=9, d=3, L=7, n_steps=6, lr=0.03, decay=0.9)
    yield "no memory: the averages are the weights", case(decay=0.0)
    yield "a long memory", case(decay=0.99, lr=0.5, n_steps=5)
    yield "a batch larger than the data", case(N=3, batch=8)
    yield "one point, one level", case(N=1, L=1, batch=1, n_steps=3)
    yield "no update leaves the model as it was", case(n_steps=0)


DRAW_ROWS = "rows = torch.randint(len(x), (batch,), generator=g)"
DRAW_LEVELS = "levels = torch.randint(len(sigmas), (batch,), generator=g)"
FOLLOW = "decay * average + (1 - decay) * w.data"
train_score.mistakes(
    {
        "gradients pile up": (
            "adam.zero_grad()",
            "pass",
            "backward adds to the gradients that are there. Who clears those of the last update?",
        ),
        "nothing is learned": (
            "adam.step()",
            "pass",
            "Do the weights change? Print one of them before and after.",
        ),
        "a new optimiser in each update": (
            "for _ in range(n_steps):",
            "for _ in range(n_steps):\n        adam = torch.optim.Adam(model.parameters(), lr)",
            "Adam remembers the gradients of earlier updates. Who remembers in your loop?",
        ),
        "the averages begin at 0": (
            "w.data.clone() for w",
            "torch.zeros_like(w.data) for w",
            "With no update at all, which weights does your model get back?",
        ),
        "the averages are never used": (
            "w.data.copy_(average)",
            "pass",
            "Which weights does the model have when you return?",
        ),
        "the model gets the averages in every update": (
            f"average.copy_({FOLLOW})",
            f"average.copy_({FOLLOW})\n            w.data.copy_(average)",
            "Adam goes on from its own weights. When does the model get the averages?",
        ),
        "δ and 1 − δ change places": (
            FOLLOW,
            "(1 - decay) * average + decay * w.data",
            "With δ near 1, does your average keep its past, or forget it?",
        ),
        "one level for the whole batch": (
            DRAW_LEVELS,
            "levels = torch.randint(len(sigmas), (1,), generator=g).expand(batch)",
            "How many levels does one batch of yours hold?",
        ),
        "levels are drawn before rows": (
            f"{DRAW_ROWS}\n        {DRAW_LEVELS}",
            f"{DRAW_LEVELS}\n        {DRAW_ROWS}",
            "The generator is asked in the order of the text: rows, levels, noise.",
        ),
        "the losses keep their graphs": (
            "loss.item()",
            "loss",
            "Each loss of yours keeps all that it was computed from. How do you get the number alone?",
        ),
    }
)


train_score.worked(
    why=r"""Each update sees other rows, at other levels, under other noise: in the long run that is $J$, averaged over all of them. The targets
    scatter round the score, so that the gradients never come to rest, and neither do Adam's weights; they jitter round a good place. Their
    average jitters less. It is kept beside the model, so that it does not disturb the descent, and put in at the end. `w.data` keeps it
    out of the graph, `clone` makes it a copy."""
)


@train_score.right(
    "torch's own averages", library="torch.optim.swa_utils.AveragedModel"
)
def _(model, x, sigmas, n_steps, batch, lr, decay, g):
    from torch.optim.swa_utils import AveragedModel

    def follow(average, w, count):
        return decay * average + (1 - decay) * w

    adam, losses = torch.optim.Adam(model.parameters(), lr), torch.zeros(n_steps)
    average = AveragedModel(model, avg_fn=follow)
    average.update_parameters(model)  # the first one is copied
    for k in range(n_steps):
        rows = torch.randint(len(x), (batch,), generator=g)
        level = sigmas[torch.randint(len(sigmas), (batch,), generator=g)]
        eps = torch.randn(batch, x.shape[1], generator=g)
        s = model(x[rows] + level[:, None] * eps, level)
        loss = (level[:, None] * s + eps).square().sum() / (2 * batch)
        adam.zero_grad()
        loss.backward()
        adam.step()
        average.update_parameters(model)
        losses[k] = loss.detach()
    model.load_state_dict(average.module.state_dict())
    return losses


# ------------------------------------------------------------------------------------ ebm_gradient

ebm_gradient = Exercise(
    "ebm_gradient",
    reference=reference.ebm_gradient,
    compare=close(rtol=1e-6, atol=1e-8),
    hints=[
        "Two means of the same slopes: one over the data, one over what the model believes. Which of them has the plus?",
        "The model's mean is a sum over the grid. Its weights go with e^(-f) and have the sum 1. Energies of 1000 make every e^(-f) zero: "
        "what may you subtract from all energies without changing the weights?",
        "np.logaddexp.reduce(-energies) is the logarithm of the sum, safely; weights = np.exp(-energies - log_Z); weights @ grad_f(grid, theta) less grad_f(data, theta).mean(0).",
    ],
)


@ebm_gradient.probe
def _(answer, theta, data, grid, lift):
    def f(x, theta):
        return lift + theta[0] * x**2 + np.cos(theta[1] * x)

    def grad_f(x, theta):
        return np.stack([x**2, -x * np.sin(theta[1] * x)], axis=1)

    return answer(f, grad_f, theta, data, grid)


@ebm_gradient.cases
def _(rng):
    def case(m=9, n=4, lift=0.0, **changes):
        given = dict(
            theta=rng.uniform(0.3, 1, 2),
            data=rng.uniform(0.5, 2, n) * rng.choice([-1, 1], n),
            grid=np.linspace(-2.5, 3, m),
            lift=lift,
        )
        return given | changes

    yield "the model's mean less that of the data", case()
    yield "the model's mean less that of the data", case(m=40, n=7)
    yield "energies of any size", case(lift=2000.0)
    yield "energies of any size", case(lift=-2000.0)
    yield "a single point", case(n=1)
    steep = dict(theta=np.array([float(rng.uniform(400, 500)), 1.0]))
    yield "a steep energy", case(**steep)
    upside = dict(theta=np.array([float(rng.uniform(-2, -1)), 0.7]))
    yield "an energy that falls outwards", case(**upside)
    yield "a grid of one point", case(grid=np.array([float(rng.uniform(0.5, 1))]))


ebm_gradient.mistakes(
    {
        "the signs of e^(+f)": (
            "by_model - by_data",
            "by_data - by_model",
            "Where data are, the energy should fall. Does your gradient lower it there?",
        ),
        "high energy counts most": (
            "energies = f(",
            "energies = -f(",
            "Which places does the model visit often: those of low energy, or of high?",
        ),
        "every place counts alike": (
            "weights @ grad_f(grid, theta)",
            "grad_f(grid, theta).mean(0)",
            "The model visits some places more often than others. Where does that enter?",
        ),
        "overflow, or the logarithm of 0": (
            "np.logaddexp.reduce(-energies)",
            "np.log(np.exp(-energies).sum())",
            "Energies of 2000 make every e^(-f) zero or infinite. What may you subtract from all of them?",
        ),
        "the weights do not sum to 1": (
            "-energies - log_Z",
            "-energies",
            "That is a sum, not a mean. What do the weights add up to?",
        ),
        "the sum over the data": (
            "grad_f(data, theta).mean(0)",
            "grad_f(data, theta).sum(0)",
            "It is the mean log-likelihood. With twice as many points yours doubles.",
        ),
    }
)


ebm_gradient.worked(
    why=r"""$\log Z_\theta$ is the only part of the likelihood that sees the whole line, and its slope is a mean under the model. So learning stops when
    model and data agree in the means of the slopes. On a grid the weights are a softmax of $-f$. `logaddexp` takes the smallest energy out
    before it exponentiates, so that the largest term is $e^0 = 1$, however large the energies are."""
)


@ebm_gradient.right("by softmax", library="scipy.special.softmax")
def _(f, grad_f, theta, data, grid):
    from scipy.special import softmax

    share = softmax(-f(grid, theta))
    return -grad_f(data, theta).mean(axis=0) + grad_f(grid, theta).T @ share
