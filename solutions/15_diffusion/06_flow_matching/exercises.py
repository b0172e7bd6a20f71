"""Exercises of 15_diffusion/06_flow_matching."""

import numpy as np
import torch

from descent.compare import close, exact, parts
from solutions.spec import Exercise

from . import reference

# What was computed in float32 and comes back as numbers is compared as float32 is.
FLOAT32 = close(rtol=2e-4, atol=2e-5)

WALKED = close(rtol=1e-6, float32=True)  # networks compute in float32


def away(rng, *shape):
    """Of both signs and not near zero: nothing hides behind a small number."""
    return torch.from_numpy(rng.choice([-1.0, 1.0], shape) * rng.uniform(1, 2, shape))


def times(rng, n):
    """Inside (0, 1), no two alike, and never ½, where t and 1 − t are the same."""
    return torch.from_numpy(rng.permutation(n) + rng.uniform(0.1, 0.45, n)) / n


# ------------------------------------------------------------------------------------------ interp

interp = Exercise(
    "interp",
    reference=reference.interp,
    compare=WALKED,
    batched=("x0", "x1", "t"),
    hints=[
        "Where is a row at t = 0, where at t = 1, and where at half time? And how far does it still have to go at t = 1?",
        "A share t of the noise and the rest of the data. Each row has its own t, and both of its numbers the same. "
        "From t = 1 down to 0, in one unit of time, the row goes the whole way from x1 to x0.",
        "t[:, None] makes t a column. Then (1 - t) * x0 + t * x1, and the velocity is x0 - x1.",
    ],
)


@interp.cases
def _(rng):
    def case(n, d, **changes):
        return dict(x0=away(rng, n, d), x1=away(rng, n, d), t=times(rng, n)) | changes

    yield "each row at its own time", case(4, 2)
    yield "each row at its own time", case(2, 5)
    yield "as many rows as columns", case(3, 3)
    yield "both ends", case(2, 3, t=torch.tensor([0.0, 1.0]).double())
    yield (
        "where there is no noise, data shrink",
        case(3, 2, x1=torch.zeros(3, 2).double()),
    )
    yield "one number", case(1, 1)


interp.mistakes(
    {
        "data and noise change places": (
            "(1 - t) * x0 + t * x1",
            "t * x0 + (1 - t) * x1",
            "t = 0 is the data's end. Where are your rows then?",
        ),
        "the velocity points to the noise": (
            "x0 - x1",
            "x1 - x0",
            "We walk from the noise to the data. Which way is that?",
        ),
        "the data do not shrink": (
            "(1 - t) * x0",
            "x0",
            "At t = 1 a row should be at its noise. Where is yours?",
        ),
        "roots, as in a diffusion": (
            "(1 - t) * x0 + t * x1",
            "(1 - t).sqrt() * x0 + t.sqrt() * x1",
            "With roots the variance stays 1, but is the path a straight line?",
        ),
        "t runs along the columns": (
            "t = t[:, None]",
            "pass",
            "t has shape (n,), x0 (n, d). Along which axis does torch line them up?",
        ),
        "the way that is left": (
            "x0 - x1",
            "x0 - xt",
            "The velocity is the same all along the line: the whole way, in one unit of time.",
        ),
        "the noise does not shrink": (
            "t * x1",
            "x1",
            "At t = 0 a row should be at its data point. Where is yours?",
        ),
        "the way that lies behind": (
            "x0 - x1",
            "xt - x1",
            "The velocity is the same all along the line: the whole way, in one unit of time.",
        ),
        "one step of length 1 for all": (
            "return xt, x0 - x1",
            "v = x0 - x1\n    return xt, v / v.norm(dim=1, keepdim=True)",
            "Long lines and short ones take the same time. Are all rows equally fast?",
        ),
    }
)

interp.worked(
    why=r"""A line is a weighted mean of its ends: at time $t$ a share $t$ of noise. Its velocity towards the data,
    $x_0 - x_1$, is the whole way, walked in one unit of time, and does not depend on $t$. A column of times gives each row
    its own."""
)


@interp.right("torch's own", library="torch.lerp")
def _(x0, x1, t):
    return torch.lerp(x0, x1, t.unsqueeze(1)), x0.sub(x1)


# -------------------------------------------------------------------------------------- swap_rides

swap_rides = Exercise(
    "swap_rides",
    reference=reference.swap_rides,
    compare=WALKED,
    batched=("x0", "x1"),
    hints=[
        "Follow the passenger who starts in front of all. Can anybody ever overtake them? And the second?",
        "Passengers keep their order: whoever starts r-th from the left is always at the r-th place from the left. So at each time you need "
        "the cars' places in order, and each passenger's rank at the start.",
        "rank = x1.argsort().argsort(). In a loop over t: cars = (1 - t) * x0 + t * x1, and append cars.sort().values[rank].",
    ],
)


@swap_rides.cases
def _(rng):
    def spread(ranks):
        """Distinct places of both signs with these ranks."""
        gaps = torch.from_numpy(rng.uniform(0.6, 1.4, len(ranks))).cumsum(0)
        return (gaps - gaps.mean() + 0.1)[torch.tensor(ranks)]

    yield (
        "all the way, many meetings",
        dict(x0=spread([3, 1, 0, 4, 2]), x1=spread([1, 2, 4, 0, 3]), n_steps=4),
    )
    yield (
        "all the way, many meetings",
        dict(x0=spread([2, 0, 3, 1]), x1=spread([1, 3, 0, 2]) * 3, n_steps=3),
    )
    yield (
        "two cars meet once",
        dict(x0=spread([1, 0]), x1=spread([0, 1]), n_steps=5),
    )
    yield (
        "who never meets stays in the car",
        dict(x0=spread([2, 0, 1]) - 1, x1=spread([2, 0, 1]) * 2, n_steps=2),
    )
    yield (
        "more cars than steps",
        dict(
            x0=spread([5, 8, 3, 0, 6, 1, 7, 2, 4]),
            x1=spread([4, 2, 7, 0, 8, 5, 1, 6, 3]),
            n_steps=1,
        ),
    )
    yield (
        "two cars arrive at one place",
        dict(
            x0=torch.tensor([0.5, -1.0, 0.5]).double() + rng.normal(),
            x1=spread([2, 0, 1]),
            n_steps=2,
        ),
    )
    yield "one car", dict(x0=away(rng, 1), x1=away(rng, 1), n_steps=2)


swap_rides.mistakes(
    {
        "nobody changes": (
            "cars.sort().values[rank]",
            "cars",
            "Those are the cars. Where are the passengers after the first meeting?",
        ),
        "sorted, but nobody has a name": (
            "cars.sort().values[rank]",
            "cars.sort().values",
            "Column i is passenger i, who starts in car i. Is your first row x1?",
        ),
        "the order of places for the rank": (
            "x1.argsort().argsort()",
            "x1.argsort()",
            "argsort tells who is third, not in which place number 3 is. Try x1 = [3, 1, 2].",
        ),
        "from the data to the noise": (
            "t = 1 - k / n_steps",
            "t = k / n_steps",
            "The ride begins at t = 1, in the noise.",
        ),
        "the end is missing": (
            "range(n_steps + 1)",
            "range(n_steps)",
            "n_steps steps make one place more. Which is not there?",
        ),
        "ranks of the goals": (
            "x1.argsort().argsort()",
            "x0.argsort().argsort()",
            "Passengers keep the order in which they start. Where do they start?",
        ),
        "the largest first": (
            "cars.sort().values",
            "cars.sort(descending=True).values",
            "Rank 0 is the passenger farthest to the left. Which car is that?",
        ),
        "straight to the place at the end": (
            "(1 - t) * x0",
            "(1 - t) * x0.sort().values[rank]",
            "Each car keeps to its own line, and passengers sit in cars. In your picture nobody meets at all.",
        ),
        "a row for each passenger": (
            "torch.stack(places)",
            "torch.stack(places, 1)",
            "A row holds one time. How many rows do you have?",
        ),
    }
)

swap_rides.worked(
    why=r"""Whoever changes cars at each meeting is never overtaken, so passengers keep their order for ever: the $r$-th from the
    left at the start is the $r$-th at each time. `argsort` twice gives ranks: the first tells who stands where, the second
    turns that round. No meeting has to be found. In each row stand the places of the cars, in another order: whatever time
    it is, cars and passengers occupy the same places."""
)


@swap_rides.right("with numpy")
def _(x0, x1, n_steps):
    x0, x1 = x0.numpy(), x1.numpy()
    t = np.linspace(1, 0, n_steps + 1)[:, None]
    places = np.sort((1 - t) * x0 + t * x1, axis=1)
    return places[:, np.searchsorted(np.sort(x1), x1)]


# ----------------------------------------------------------------------------------------- fm_loss

fm_loss = Exercise(
    "fm_loss",
    reference=reference.loss_report,
    # the gradient comes in W's float64 even where the loss was computed in float32
    compare=parts(loss=close(rtol=1e-5), gradient=FLOAT32, calls=exact()),
    hints=[
        "What does the model see, what should it say, and which of your functions gives you both?",
        "interp gives the place on the line and the line's velocity. Ask the model at that place and time. How far off is it? "
        "The squared length of a row is a sum over its d numbers; then comes a mean over rows.",
        "xt, v = interp(x0, x1, t). Square model(xt, t) - v, then .sum(1).mean(). Keep it a tensor: no .item().",
    ],
)


@fm_loss.probe
def _(answer, x0, x1, t, W, b, perfect):
    W = W.clone().requires_grad_(True)
    calls = []

    def model(x, t):
        calls.append(1)
        if tuple(t.shape) != (len(x),):
            raise ValueError(
                f"the model wants t of shape ({len(x)},), got {tuple(t.shape)}"
            )
        h = x.to(W.dtype) @ W
        says = x0 - x1 + 0 * h if perfect else torch.tanh(h) + t[:, None] * b
        return says.to(x.dtype)

    loss = answer(model, x0, x1, t)
    if not isinstance(loss, torch.Tensor):
        raise TypeError("the loss must be a tensor that can be differentiated")
    gradient = (
        torch.autograd.grad(loss, W)[0] if loss.requires_grad else torch.zeros_like(W)
    )
    return {"loss": loss.detach(), "gradient": gradient, "calls": len(calls)}


@fm_loss.cases
def _(rng):
    def case(n, d, perfect=False):
        given = dict(x0=away(rng, n, d), x1=away(rng, n, d), t=times(rng, n))
        W = torch.from_numpy(rng.normal(size=(d, d))) / 2
        return given | dict(W=W, b=away(rng, d), perfect=perfect)

    yield "rows at different times", case(4, 3)
    yield "as many rows as columns", case(3, 3)
    yield "a single row", case(1, 2)
    yield "a single number in each row", case(3, 1)
    yield "a perfect model has loss zero", case(3, 2, perfect=True)


fm_loss.mistakes(
    {
        "the mean over all numbers": (
            ".sum(1).mean()",
            ".mean()",
            "The squared length of a row is a sum over its d numbers. Only the rows are averaged.",
        ),
        "the sum over all rows": (
            ".sum(1).mean()",
            ".sum()",
            "With twice as many rows your loss doubles. What makes it independent of the batch?",
        ),
        "the model sees the noise": (
            "model(xt, t)",
            "model(x1, t)",
            "On its walk the model is asked everywhere on the way, not only at the start.",
        ),
        "the model sees the data": (
            "model(xt, t)",
            "model(x0, t)",
            "Who walks does not know x0 yet. What does the model have to work with?",
        ),
        "the velocity points to the noise": (
            "model(xt, t) - v",
            "model(xt, t) + v",
            "What is the loss of a model that says exactly x0 - x1?",
        ),
        "time runs backwards": (
            "model(xt, t)",
            "model(xt, 1 - t)",
            "The place is that of time t. Which time does the model hear?",
        ),
        "the answer is cut from the graph": (
            "model(xt, t)",
            "model(xt, t).detach()",
            "The loss is right, but its gradient is zero: nothing would be learned.",
        ),
        "length in place of squared length": (
            ".square().sum(1).mean()",
            ".square().sum(1).clamp(min=1e-300).sqrt().mean()",
            "Is it the length of the error, or its square?",
        ),
        "the mean before the square": (
            "wrong_by.square().sum(1).mean()",
            "wrong_by.mean(0).square().sum()",
            "Errors of opposite signs must not cancel. What is squared first?",
        ),
        "the target is the clean point": (
            "model(xt, t) - v",
            "model(xt, t) - x0",
            "The model says a velocity, not a place.",
        ),
        "the target is the noise": (
            "model(xt, t) - v",
            "model(xt, t) - x1",
            "A diffusion learns the noise. What does this model say?",
        ),
        "t has an axis too many": (
            "model(xt, t)",
            "model(xt, t[:, None])",
            "The model wants t of shape (n,), a time for each row.",
        ),
        "a plain number": (
            ".mean()",
            ".mean().item()",
            "A number cannot be differentiated. Return the tensor.",
        ),
    }
)

fm_loss.worked(
    why=r"""A regression: the input is a place on a line with its time, the target that line's velocity. Where lines with different
    velocities pass, no answer fits them all, and in squared error the best one is their mean, $E[x_0 - x_1 \mid x_t]$. That
    is what walkers need, so the network may be trained on single lines, and nobody has to compute a mean."""
)


@fm_loss.right("torch's own", library="torch.nn.functional.mse_loss")
def _(model, x0, x1, t):
    xt = torch.lerp(x0, x1, t.unsqueeze(1))
    return torch.nn.functional.mse_loss(model(xt, t), x0 - x1, reduction="sum") / len(t)


# ------------------------------------------------------------------------------------------- train

train = Exercise(
    "train",
    reference=reference.train,
    compare=parts(losses=FLOAT32, W=FLOAT32, b=FLOAT32),  # the model is float32
    hints=[
        "Before the loop: the optimiser, once, and an empty list. In an update: set the rate, draw, compute the loss, learn from it, note it.",
        'The rate stands in the optimiser\'s param_groups, under "lr". Rows, times and noise are drawn in the order of the text, each with '
        "generator=g. If x1 is given, no noise is drawn: a row's partner has the same number.",
        "rows = torch.randint(len(x0), (batch,), generator=g), t = torch.rand(batch, generator=g), noise = torch.randn(batch, d, generator=g) "
        "or x1[rows]. After fm_loss: zero_grad, backward, step of the optimiser; append loss.item().",
    ],
)


@train.probe
def _(answer, x0, x1, W, b, n_steps, batch, lr, seed):
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.W = torch.nn.Parameter(W.float().clone())
            self.b = torch.nn.Parameter(b.float().clone())

        def forward(self, x, t):
            return torch.tanh(x @ self.W) + t[:, None] * self.b

    model, g = Model(), torch.Generator().manual_seed(seed)
    partners = None if x1 is None else x1.float()
    losses = answer(model, x0.float(), partners, n_steps, batch, lr, g)
    if any(getattr(loss, "requires_grad", False) for loss in losses):
        raise TypeError("the losses hang on their graphs: numbers are asked for")
    return {"losses": losses, "W": model.W.detach(), "b": model.b.detach()}


@train.cases
def _(rng):
    def case(N=6, d=2, n_steps=4, batch=5, lr=0.1, pairs=False):
        return dict(
            x0=away(rng, N, d),
            x1=away(rng, N, d) if pairs else None,
            W=torch.from_numpy(rng.normal(size=(d, d))),
            b=away(rng, d),
            n_steps=n_steps,
            batch=batch,
            lr=lr,
            seed=int(rng.integers(1000)),
        )

    yield "a few updates on fresh noise", case()
    yield "a few updates on fresh noise", case(N=9, d=3, n_steps=6, lr=0.03)
    yield "pairs stay together", case(pairs=True)
    yield "pairs stay together", case(N=9, d=3, n_steps=6, lr=0.03, pairs=True)
    yield "a large learning rate cools down", case(lr=0.5, n_steps=5)
    yield "a batch larger than the data", case(N=3, batch=8)
    yield "one update has the whole rate", case(n_steps=1, pairs=True)
    yield "one point, one number", case(N=1, d=1, batch=1, n_steps=3)


train.mistakes(
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
            "for k in range(n_steps):",
            "for k in range(n_steps):\n        adam = torch.optim.Adam(model.parameters(), lr)",
            "Adam remembers the gradients of earlier updates. Who remembers in your loop?",
        ),
        "the rate does not fall": (
            "lr * (1 - k / n_steps)",
            "lr",
            "Which rate has the second update?",
        ),
        "partners are drawn anew": (
            "noise = x1[rows]",
            "noise = x1[torch.randint(len(x1), (batch,), generator=g)]",
            "A row of x0 belongs to the same row of x1. Are they still together?",
        ),
        "one time for the whole batch": (
            "torch.rand(batch, generator=g)",
            "torch.rand(1, generator=g).expand(batch)",
            "Each row has a time of its own.",
        ),
        "losses on their graphs": (
            "loss.item()",
            "loss",
            "A list of numbers is asked for: a tensor on its graph keeps all that was computed for it.",
        ),
        "plain gradient descent": (
            "torch.optim.Adam(",
            "torch.optim.SGD(",
            "Which optimiser is asked for?",
        ),
        "the rate falls to 0 in the last update": (
            "k / n_steps)",
            "k / max(n_steps - 1, 1))",
            "The last update should still learn, with lr / n_steps. What is k then?",
        ),
        "the rate falls one update too early": (
            "k / n_steps)",
            "(k + 1) / n_steps)",
            "The first update has k = 0. What is its rate?",
        ),
        "the partners are not used": (
            "noise = x1[rows]",
            "noise = torch.randn(batch, x0.shape[1], generator=g)",
            "What is x1 for, where it is given?",
        ),
        "no row twice": (
            "torch.randint(len(x0), (batch,), generator=g)",
            "torch.randperm(len(x0), generator=g)[:batch]",
            "Rows may repeat: they are drawn by torch.randint.",
        ),
        "times are drawn first": (
            "rows = torch.randint(len(x0), (batch,), generator=g)\n        t = torch.rand(batch, generator=g)",
            "t = torch.rand(batch, generator=g)\n        rows = torch.randint(len(x0), (batch,), generator=g)",
            "In which order does the text draw?",
        ),
        "only the last loss": (
            "return losses",
            "return losses[-1:]",
            "n_steps losses are asked for. How many do you return?",
        ),
        "the rates multiply": (
            'group["lr"] = lr * (1 - k / n_steps)',
            'group["lr"] *= 1 - k / n_steps',
            "Each rate is a share of lr, not of the rate before. Print them.",
        ),
        "times are drawn last": (
            "t = torch.rand(batch, generator=g)\n        if x1 is None:\n            noise = torch.randn(batch, x0.shape[1], generator=g)",
            "if x1 is None:\n            noise = torch.randn(batch, x0.shape[1], generator=g)\n        t = torch.rand(batch, generator=g)\n        if x1 is None:\n            pass",
            "In which order does the text draw?",
        ),
    }
)

train.worked(
    why=r"""One update is one honest question: at a random place of a random line, how fast? No walk occurs in training, so nothing is
    simulated and the gradient goes through one call of the network. With fresh noise every data point meets every noise
    point. With given partners a row of `x0` and the same row of `x1` are the ends of one line, and one index keeps them together."""
)


@train.right("with torch's own schedule")
def _(model, x0, x1, n_steps, batch, lr, g):
    optimiser = torch.optim.Adam(model.parameters(), lr=lr)
    rate = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda k: 1 - k / max(n_steps, 1)
    )
    losses = []
    for _ in range(n_steps):
        rows = torch.randint(0, x0.size(0), (batch,), generator=g)
        t = torch.rand((batch,), generator=g)
        ends = torch.randn(x0[rows].shape, generator=g) if x1 is None else x1[rows]
        xt = torch.lerp(x0[rows], ends, t[:, None])
        loss = (model(xt, t) - x0[rows] + ends).pow(2).sum(-1).mean()
        model.zero_grad()
        loss.backward()
        optimiser.step()
        rate.step()
        losses.append(float(loss))
    return losses


@train.right("cleared at the end, torch's schedule as it is")
def _(model, x0, x1, n_steps, batch, lr, g):
    adam, losses = torch.optim.Adam(model.parameters(), lr), torch.zeros(n_steps)
    rate = torch.optim.lr_scheduler.LambdaLR(adam, lambda k: 1 - k / n_steps)
    for k in range(n_steps):
        rows = torch.randint(len(x0), (batch,), generator=g)
        t = torch.rand(batch, generator=g)
        noise = x1[rows] if x1 is not None else torch.randn(batch, x0.shape[1], generator=g)  # fmt: skip
        off = model(x0[rows] + t[:, None] * (noise - x0[rows]), t) - (x0[rows] - noise)
        loss = off.square().sum() / batch
        loss.backward()
        adam.step()
        adam.zero_grad()
        rate.step()
        losses[k] = loss.detach()
    return losses


# --------------------------------------------------------------------------------------- fm_sample

fm_sample = Exercise(
    "fm_sample",
    reference=reference.fm_sample,
    # the clock may be float32
    compare=parts(states=close(rtol=1e-6, atol=1e-6, float32=True), calls=exact()),
    hints=[
        "You stand in the noise, at t = 1, and the model tells how fast data come nearer. Where are you after a short time h?",
        "Each step has h = 1 / n_steps, and starts at t = 1 - k h. Euler adds h times the velocity. Midpoint walks half a step first, only "
        "to ask there, half a step later, and then makes the whole step from where it was.",
        "t = torch.full((len(x),), 1 - k * h); v = model(x, t); with midpoint v = model(x + h / 2 * v, t - h / 2). Append x + h * v to a list, "
        "torch.stack it.",
    ],
)


@fm_sample.probe
def _(answer, x1, n_steps, midpoint, W, b):
    calls = []

    def model(x, t):
        calls.append(1)
        if tuple(t.shape) != (len(x),):
            raise ValueError(
                f"the model wants t of shape ({len(x)},), got {tuple(t.shape)}"
            )
        says = torch.tanh(x.to(W.dtype) @ W) + t[:, None].to(W.dtype) * b
        return says.to(x.dtype)

    if midpoint is None:
        states = answer(model, x1, n_steps)
    else:
        states = answer(model, x1, n_steps, midpoint)
    return {"states": states, "calls": len(calls)}


@fm_sample.cases
def _(rng):
    def case(n_steps, midpoint, n=3, d=2):
        W = torch.from_numpy(rng.normal(size=(d, d)))
        given = dict(x1=away(rng, n, d), n_steps=n_steps, midpoint=midpoint)
        return given | dict(W=W, b=2 * away(rng, d))

    yield "Euler steps", case(4, False)
    yield "Euler steps", case(3, False, n=2, d=5)
    yield "midpoint steps", case(4, True)
    yield "midpoint steps", case(3, True, n=2, d=5)
    yield "a single step", case(1, False)
    yield "a single midpoint step", case(1, True, n=4, d=1)
    yield "Euler where nothing is said", case(2, None, n=1)
    # 1 / 32 is exact: so is a float32 clock that is counted down
    yield "many steps", case(32, False, n=1, d=1)


fm_sample.mistakes(
    {
        "away from the data": (
            "v = model(x + h / 2 * v, t - h / 2)\n        states.append(x + h * v)",
            "v = model(x - h / 2 * v, t - h / 2)\n        states.append(x - h * v)",
            "The velocity x0 - x1 points to the data. Does x_t plus h v come nearer?",
        ),
        "the time stands still": (
            "1 - k * h)",
            "1.0)",
            "Which time is it in your second step?",
        ),
        "from the data's end": (
            "1 - k * h)",
            "k * h)",
            "The walk starts in the noise. Which t is that?",
        ),
        "midpoint asks at the old time": (
            "t - h / 2)",
            "t)",
            "Half a step later, what does the clock say?",
        ),
        "midpoint's clock runs the wrong way": (
            "t - h / 2)",
            "t + h / 2)",
            "t falls from 1 to 0. What does the clock say half a step later?",
        ),
        "midpoint asks at the old place": (
            "x + h / 2 * v, t",
            "x, t",
            "The second question is asked half a step on. Where is that?",
        ),
        "always midpoint": (
            "if midpoint:",
            "if True:",
            "Euler asks once a step. How often do you?",
        ),
        "the time of the end of the step": (
            "1 - k * h)",
            "1 - (k + 1) * h)",
            "Euler asks where the step begins. Which time is that in the first?",
        ),
        "no step size": (
            "x + h * v)",
            "x + v)",
            "Each step takes only a part of the time. How far do you go?",
        ),
        "midpoint goes on from half way": (
            "x + h * v)",
            "x + h * v + midpoint * h / 2 * v)",
            "The half step is only for asking. From where does the whole step start?",
        ),
        "midpoint asks a whole step on": (
            "x + h / 2 * v, t - h / 2",
            "x + h * v, t - h",
            "Mid-point: how far on is the second question asked?",
        ),
        "the mean of both answers": (
            "v = model(x + h / 2 * v, t - h / 2)",
            "v = (v + model(x + h / 2 * v, t - h / 2)) / 2",
            "Which of the two answers does the step use?",
        ),
        "t is a number": (
            "torch.full((len(x),), 1 - k * h)",
            "torch.tensor(1 - k * h)",
            "The model wants t of shape (n,), a time for each row.",
        ),
        "only the end": (
            "torch.stack(states)",
            "states[-1]",
            "All states are asked for. How many do you return?",
        ),
        "the start is missing": (
            "torch.stack(states)",
            "torch.stack(states[1:])",
            "n_steps steps make one state more. Which is not there?",
        ),
    }
)

fm_sample.worked(
    why=r"""The clock runs from 1 to 0 and the velocity already points to the data, so a step adds $+h v$. Euler trusts the velocity
    where a step begins. Midpoint spends a second call to ask half way, and throws the half step away: what bends the path
    is seen in time, and the error of a step falls from $h^2$ to $h^3$. Where paths are straight and even, both are exact with
    a single step."""
)


@fm_sample.right("by recursion, in float32")
def _(model, x1, n_steps, midpoint=False):
    def walk(x, left):
        if left == 0:
            return [x]
        t = torch.ones(len(x)) * left / n_steps
        v = model(x, t)
        v = model(x + v / n_steps / 2, t - 1 / n_steps / 2) if midpoint else v
        return [x, *walk(x + v / n_steps, left - 1)]

    return torch.stack(walk(x1.float(), n_steps))


@fm_sample.right("a clock counted down, rows of one tensor")
def _(model, x1, n_steps, midpoint=False):
    states, t = x1.repeat(n_steps + 1, 1, 1), torch.ones(len(x1))
    for k in range(n_steps):
        slope = model(states[k], t)
        if midpoint:
            slope = model(states[k] + slope / (2 * n_steps), t - 0.5 / n_steps)
        states[k + 1] = states[k] + slope / n_steps
        t = t - 1 / n_steps
    return states


# -------------------------------------------------------------------------------------------- bend

bend = Exercise(
    "bend",
    reference=reference.bend,
    # a straight path: a rounded difference of rounded numbers, in float32 1e-7 squared
    compare=close(rtol=1e-6, atol=1e-10, float32=True),
    hints=[
        "Which velocity has a walker in each step? Which would it have on the straight line, at constant speed?",
        "K steps in a time of 1: a step takes 1/K, so its velocity is K times what it moves. D is the whole way. Squared lengths are sums "
        "over the last axis; means run over all the rest, above and below the line on their own.",
        "v = K * (path[1:] - path[:-1]), D = path[-1] - path[0]; (v - D).square().sum(-1).mean() over D.square().sum(-1).mean().",
    ],
)


@bend.cases
def _(rng):
    def walk(K, n, d):
        return away(rng, K + 1, n, d)

    yield "walkers who bend", dict(path=walk(4, 3, 2))
    yield "walkers who bend", dict(path=walk(2, 5, 3))
    yield "as many steps as walkers and numbers", dict(path=walk(3, 3, 3))
    yield "a single walker, a single number", dict(path=walk(3, 1, 1))
    start, way = away(rng, 4, 2), away(rng, 4, 2)
    share = torch.tensor([0.0, 0.5, 0.75, 1.0]).double()[:, None, None]
    yield "straight, but slower and slower", dict(path=start + share * way)
    share = torch.linspace(0, 1, 5).double()[:, None, None]
    yield "straight and even: nothing", dict(path=start + share * way)
    yield "one step is always straight", dict(path=walk(1, 3, 2))
    long = torch.tensor([1.0, 10.0, 0.1, 3.0]).double()[:, None]
    yield "long ways and short ones", dict(path=walk(3, 4, 2) * long)


bend.mistakes(
    {
        "moves for velocities": (
            "K * (path[1:] - path[:-1])",
            "path[1:] - path[:-1]",
            "A step takes 1/K of the time. How fast is a walker that moves by D/K in it?",
        ),
        "not per squared length": (
            " / D.square().sum(-1).mean()",
            "",
            "Make the path twice as large: does it bend more?",
        ),
        "each walker by its own length": (
            "off.mean() / D.square().sum(-1).mean()",
            "(off.mean(0) / D.square().sum(-1)).mean()",
            "A mean over a mean: whose squared length stands below?",
        ),
        "the sum over steps": (
            "off.mean()",
            "off.sum(0).mean()",
            "With twice as many steps on the same path, is it bent twice as much?",
        ),
        "compared with the first step": (
            "(v - D)",
            "(v - v[0])",
            "What a walker should do is to go the whole way at constant speed.",
        ),
        "the number of states": (
            "len(path) - 1",
            "len(path)",
            "How many steps lie between K + 1 states?",
        ),
        "per length": (
            "D.square().sum(-1).mean()",
            "D.square().sum(-1).sqrt().mean()",
            "Make the path twice as large: does it bend more?",
        ),
        "lengths for squares": (
            "(v - D).square().sum(-1)",
            "(v - D).square().sum(-1).sqrt()",
            "Squared lengths stand above and below.",
        ),
        "the mean over numbers, too": (
            "(v - D).square().sum(-1)",
            "(v - D).square().mean(-1)",
            "The squared length of a row is a sum over its d numbers, above and below.",
        ),
        "the mean way of the crowd": (
            "(v - D)",
            "(v - D.mean(0))",
            "Each walker is compared with its own way.",
        ),
    }
)

bend.worked(
    why=r"""One Euler step goes from start to end with the velocity of the start. It is right if that velocity is kept all the way:
    so compare each step's velocity with that of the whole way, $D$. Even a straight path bends in this sense if its speed
    changes. As the mean of the $v_k$ is $D$, what you compute is a variance, and over $\lVert D\rVert^2$ it has no unit."""
)


@bend.right("as a variance")
def _(path):
    v = torch.diff(path, dim=0) * (len(path) - 1)
    way = path[-1] - path[0]
    return v.var(dim=0, correction=0).sum(-1).mean() / way.pow(2).sum(-1).mean()


# ----------------------------------------------------------------------------------------- convert

convert = Exercise(
    "convert",
    reference=reference.convert,
    compare=close(rtol=1e-6, float32=True),
    batched=("given", "x", "t"),
    hints=[
        "Six ways lead between three names. You need not write six: which of the three could all of them pass through?",
        "Put the noise in the middle. Two equations tell all: x = (1 - t) x̂0 + t ε̂ and v = x̂0 - ε̂. Take x̂0 out of them, solve for ε̂; then for v.",
        "noise = x - (1 - t) * velocity, or -t * score. Back: velocity = (x - noise) / (1 - t), score = -noise / t. With t = t[:, None].",
    ],
)


@convert.cases
def _(rng):
    names = ["velocity", "noise", "score"]

    def case(have, want, n=3, d=2, **changes):
        given = dict(given=away(rng, n, d), have=have, want=want, x=3 * away(rng, n, d))
        return given | dict(t=times(rng, n)) | changes

    for have in names:
        for want in names:
            if have != want:
                yield f"{have} to {want}", case(have, want)
    yield "what is wanted is there", case("score", "score")
    yield "what is wanted is there", case("velocity", "velocity", n=1)
    yield "as many rows as columns", case("velocity", "score", n=3, d=3)
    yield "as many rows as columns", case("score", "velocity", n=3, d=3)
    yield "one number", case("velocity", "noise", n=1, d=1)
    late = torch.tensor([0.01, 0.99]).double()
    yield "near both ends", case("noise", "velocity", n=2, t=late)


convert.mistakes(
    {
        "as printed: (t + 1) for (1 − t)": (
            "x - (1 - t) * given",
            "(x - given) / (1 + t)",
            "x_t = (1 - t) x̂0 + t ε̂: at which t would your formula fit?",
        ),
        "the velocity as printed": (
            "(x - noise) / (1 - t)",
            "x - (1 + t) * noise",
            "x_t = (1 - t) x̂0 + t ε̂. Take ε̂ = 0: is v then x̂0?",
        ),
        "the velocity points to the noise": (
            "(x - noise) / (1 - t)",
            "(noise - x) / (1 - t)",
            "Here v = x̂0 − ε̂: it points to the data.",
        ),
        "the score has no sign": (
            "-noise / t",
            "noise / t",
            "The score points to where data are dense, the noise away from there.",
        ),
        "t runs along the columns": (
            "t = t[:, None]",
            "pass",
            "t has shape (n,), x (n, d). Along which axis does torch line them up?",
        ),
        "the score has no size": (
            "-noise / t",
            "-noise",
            "Noise enters x with the standard deviation t. Small t, steep density.",
        ),
        "the variance for the standard deviation": (
            "-noise / t",
            "-noise / t**2",
            "N(0, t²) has at x the score −x / t². Here x is t ε̂: what is left?",
        ),
        "the noise from a score of unit noise": (
            "-t * given",
            "-given",
            "Which factor lies between ε̂ and the score?",
        ),
        "data and noise change weights": (
            "x - (1 - t) * given",
            "x - t * given",
            "Which factor has x̂0 in x_t?",
        ),
        "not divided": (
            "(x - noise) / (1 - t)",
            "x - noise",
            "x_t − ε̂ is (1 − t) (x̂0 − ε̂). What is left to do?",
        ),
        "the clean point for the velocity": (
            "(x - noise) / (1 - t)",
            "(x - t * noise) / (1 - t)",
            "That is x̂0. The velocity is x̂0 − ε̂.",
        ),
    }
)


@convert.wrong(
    "the score points away, both ways",
    advice="The score points to where data are dense, the noise away from there.",
)
def _(given, have, want, x, t):
    t = t[:, None]
    ways = {"velocity": x - (1 - t) * given, "noise": given, "score": t * given}
    noise = ways[have]
    return {"velocity": (x - noise) / (1 - t), "noise": noise, "score": noise / t}[want]


@convert.wrong(
    "the velocity points to the noise, both ways",
    advice="Here v = x̂0 − ε̂: it points to the data.",
)
def _(given, have, want, x, t):
    t = t[:, None]
    ways = {"velocity": x + (1 - t) * given, "noise": given, "score": -t * given}
    noise = ways[have]
    return {"velocity": (noise - x) / (1 - t), "noise": noise, "score": -noise / t}[want]  # fmt: skip


convert.worked(
    why=r"""Given $x_t$, the three are one guess under three names. From $x_t = (1-t)\,\hat x_0 + t\,\hat\epsilon$ and
    $v = \hat x_0 - \hat\epsilon$ follows $x_t - \hat\epsilon = (1-t)\,v$; and the score of Gaussian noise of standard deviation
    $t$ is $-\hat\epsilon / t$. Through the noise all six ways are two short halves. At $t = 1$ the noise alone does not tell
    the velocity, at $t = 0$ not the score."""
)


@convert.right("through the clean point")
def _(given, have, want, x, t):
    t = t.unsqueeze(1)
    if have == want:
        return given
    if have == "velocity":
        clean = x + t * given
    elif have == "noise":
        clean = (x - t * given) / (1 - t)
    else:
        clean = (x + t * t * given) / (1 - t)
    noise = (x - (1 - t) * clean) / t
    return {"velocity": clean - noise, "noise": noise, "score": -noise / t}[want]


# ---------------------------------------------------------------------------------------- simulate

simulate = Exercise(
    "simulate",
    reference=reference.simulate,
    compare=WALKED,
    hints=[
        "N steps in a time of 1: how long is one? What is added in it, apart from the noise?",
        "With dt = 1 / N a step adds f(x, t) dt and sigma(x, t) dt**power z[k], both at the place and time where the step begins.",
        "N = len(z); in the loop x = path[-1], t = k / N; append x + f(x, t) / N + sigma(x, t) / N**power * z[k]. torch.stack the list.",
    ],
)


@simulate.probe
def _(answer, x0, z, power, A, scale):
    def f(x, t):
        return x @ A.to(x.dtype) + t

    return answer(f, lambda x, t: scale.to(x.dtype) + x.abs(), x0, z, power)


@simulate.cases
def _(rng):
    def case(power, N=4, n=3, d=2, **changes):
        given = dict(x0=away(rng, n, d), z=away(rng, N, n, d), power=power)
        A = torch.from_numpy(rng.normal(size=(d, d)))
        return given | dict(A=A, scale=away(rng, d).abs()) | changes

    yield "a diffusion", case(0.5)
    yield "a diffusion", case(0.5, N=7, n=2, d=3)
    yield "a random drift", case(1.0)
    yield "a random drift", case(1.0, N=5, n=1, d=1)
    yield "a power in between", case(0.75)
    yield "without noise only the drift", case(1.0, z=torch.zeros(4, 3, 2).double())
    yield "one step", case(0.5, N=1)
    yield "as many steps as walkers and numbers", case(0.5, N=2, n=2, d=2)


simulate.mistakes(
    {
        "the noise is of full size": (
            " / N**power * z[k]",
            " * z[k]",
            "With ten times as many steps, how large is the noise of one?",
        ),
        "always a diffusion": (
            "N**power",
            "N**0.5",
            "What is power for?",
        ),
        "the drift knows no step": (
            "f(x, t) / N",
            "f(x, t)",
            "f is what x gains in a unit of time. A step is shorter.",
        ),
        "always from the start": (
            "x, t = path[-1], k / N",
            "x, t = path[0], k / N",
            "Where does the second step begin?",
        ),
        "one noise for all steps": (
            "z[k]",
            "z[0]",
            "Each step has its own noise.",
        ),
        "always a random drift": (
            "N**power",
            "N",
            "What is power for?",
        ),
        "the noise grows with N": (
            "/ N**power",
            "* N**power",
            "dt is 1 / N. Is dt**power large or small?",
        ),
        "the drift has the power, too": (
            "f(x, t) / N",
            "f(x, t) / N**power",
            "Only the noise comes with the power. How long is a step for the drift?",
        ),
        "the noise has a step too many": (
            "/ N**power",
            "/ N**power / N",
            "dt**power is all of the step that the noise gets.",
        ),
        "the time of the end of the step": (
            "k / N",
            "(k + 1) / N",
            "Both are asked where the step begins. Which time is that in the first?",
        ),
        "the clock counts steps": (
            "k / N",
            "k",
            "All N steps together take a time of 1.",
        ),
        "only the end": (
            "torch.stack(path)",
            "path[-1]",
            "All states are asked for. How many do you return?",
        ),
        "the start is missing": (
            "torch.stack(path)",
            "torch.stack(path[1:])",
            "N steps make N + 1 states. Which is not there?",
        ),
    }
)

simulate.worked(
    why=r"""Drift and noise are asked at the place and time where a step begins. The drift of a step is $f\,\Delta t$ with
    $\Delta t = 1/N$, the noise $\sigma\,\Delta t^{\,p} z_k$. Of $N$ independent noises the variances add up to
    $\sigma^2 N^{1 - 2p}$: with $p = \frac12$ to $\sigma^2$, however fine the steps are; with $p = 1$ to $\sigma^2/N$, to nothing."""
)


@simulate.right("rows of one tensor")
def _(f, sigma, x0, z, power):
    dt = 1 / len(z)
    path = torch.empty(len(z) + 1, *x0.shape, dtype=x0.dtype)
    path[0] = x0
    for k, noise in enumerate(z):
        here = path[k].clone()
        path[k + 1] = here + f(here, k * dt) * dt + sigma(here, k * dt) * dt**power * noise  # fmt: skip
    return path
