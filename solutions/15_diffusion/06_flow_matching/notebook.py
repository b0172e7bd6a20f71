# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown] builds="a flow that turns noise into data in a single step" covers="wu:6.16"
# # Flow matching
#
# Join every data point to a point of noise by a straight line. To draw new data, start in the noise and follow a line
# back. A straight line needs no small steps: one step of the right length, and you are there.
#
# So let somebody who knows the best velocity at every place take that one step, for 400 points of noise. All end on
# one and the same point, in the middle, where there are no data at all. With 64 steps they arrive. **The lines are
# straight, so why are the walks not? And how does one more training make a single step enough?** You build the machine,
# watch it fail, and straighten it.

# %%
# What this notebook needs.
import math
from functools import partial

import numpy as np
import torch
from ipywidgets import FloatSlider
from torch import nn

from descent import after, below, check, claim, erratum, explore, hint
from descent import movie, predict, show, solution, start
from descent.pictures.diffusion import flow_matching as pictures
from descent.pictures.diffusion.mixtures import Mixture, ring, two_hills

start("15_diffusion/06_flow_matching")

# %% covers="wu:6.16 wu:6.16.1"
# Straight lines from noise to data; the best velocity walked in one step, and in 64.
world = ring(6, 2.0, 0.2)  # six hills on a circle
real = torch.tensor(world.sample(8000, np.random.default_rng(0))[0]).float()
fresh = torch.tensor(world.sample(600, np.random.default_rng(1))[0]).float()


def noise(*shape, seed):
    g = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=g)


show(*pictures.draw_puzzle(world, real[:80], noise(400, 2, seed=1)), digits=1)

# %% [markdown] covers="wu:6.16.1 wu:6.16.3 wu:6.16.4"
# ## 1. Draw the lines
#
# A diffusion adds noise a thousand times, and then asks where it got to. In 2022 three groups found that one may
# choose the way first. Draw a data point $x_0$ and, without looking at it, a point of noise $x_1 \sim N(0, I)$. Between
# them go straight:
#
# $$x_t = (1 - t)\, x_0 + t\, x_1, \qquad 0 \le t \le 1 .$$
#
# We walk from $t = 1$ to $t = 0$, so let the *velocity* point to the data: $v = x_0 - x_1$. While $t$ falls by
# $\Delta t$, the point moves by $\Delta t\, v$. (Many texts count the other way, and their $v$ has the other sign.)
#
# Say that the data, on a line, have mean $m$ and variance $V$. Which mean and variance have the points $x_t$?


# %% exercise="interp" points=2 difficulty=1 covers="wu:6.16.1 wu:6.16.3 wu:6.16.4"
def interp(x0, x1, t):
    """Where each pair is at its own time, and its velocity towards the data.

    x0, x1 (n, d): a data point and a point of noise in each row; t (n,): the time of
    each row, 0 at the data, 1 at the noise. All are torch tensors.
    Returns x_t (n, d) and v (n, d).
    x0 = [[2.0]], x1 = [[0.0]], t = [0.25] gives [[1.5]] and [[2.0]].
    """
    ### BEGIN SOLUTION
    t = t[:, None]
    xt = (1 - t) * x0 + t * x1
    return xt, x0 - x1
    ### END SOLUTION


# %% check="interp"
check(interp)

# %% covers="wu:6.16.3 wu:6.16.4"
# On two hills of the line: mean and spread at each time, and a step back.
hills = two_hills()
drawn = torch.tensor(hills.sample(20_000, np.random.default_rng(2))[0])
ends = noise(20_000, 1, seed=2).double()
with after(interp):
    m, V, words = hills.mean()[0], hills.covariance()[0, 0], "at t = {t}: mean {m:.2f} "
    words = (
        words + "and variance {v:.2f}, as (1 − t) m and (1 − t)² V + t² say, to 0.05"
    )
    for t in (0.2, 0.5, 0.8):
        at, _ = interp(drawn, ends, t * torch.ones(20_000).double())
        mean, spread = (1 - t) * m, (1 - t) ** 2 * V + t**2
        near = abs(at.mean() - mean) < 0.05 and abs(at.var() - spread) < 0.05
        claim(words, bool(near), t=t, m=mean, v=spread)
    t = 0.7 * torch.ones(20_000).double()
    (now, v), (then, _) = interp(drawn, ends, t), interp(drawn, ends, t - 0.2)
    claim("x at t − Δt is x at t, plus Δt v", torch.allclose(now + 0.2 * v, then))

# %% [markdown] covers="wu:6.16.2"
# ## 2. Change at every meeting
#
# Put the lines on one road: $d = 1$. Each is a *car* that goes from its noise to its data at constant speed. They meet,
# again and again. In each car sits one passenger, and these have made a rule: **whenever two cars meet, their passengers
# change cars.**
#
# Where does that lead? Follow the passenger who is farthest to the left. Who could ever overtake them?


# %% exercise="swap_rides" points=3 difficulty=1 covers="wu:6.16.2"
def swap_rides(x0, x1, n_steps):
    """Where each passenger is, while the cars go from the noise to the data.

    x0, x1 (n,) torch tensors: car i starts at x1[i] at t = 1 and ends at x0[i] at
    t = 0, as passenger i would, if nobody changed. No two start at one place.
    Returns (n_steps + 1, n): row k holds the n passengers' places at the time
    t = 1 - k / n_steps.
    x0 = [3.0, 0.0], x1 = [1.0, 2.0], n_steps = 1 gives [[1.0, 2.0], [0.0, 3.0]].
    """
    ### BEGIN SOLUTION
    rank = x1.argsort().argsort()
    places = []
    for k in range(n_steps + 1):
        t = 1 - k / n_steps
        cars = (1 - t) * x0 + t * x1
        places.append(cars.sort().values[rank])
    return torch.stack(places)
    ### END SOLUTION


# %% check="swap_rides"
check(swap_rides)

# %% open=true covers="wu:6.16.2"
with after(swap_rides):  # 45 cars; press play, and watch one colour
    x0, x1, t = drawn[:45, 0], ends[:45, 0], torch.arange(100, -1, -1)[:, None] / 100
    rides, cars = swap_rides(x0, x1, 100), (1 - t) * x0 + t * x1
    same = torch.allclose(rides.sort(1).values, cars.sort(1).values, atol=1e-6)
    claim("at {T} times, passengers are just where cars are", same, T=len(t))
    fig, ax, film, words, colors = pictures.road(x0, x1, rides)
    movie(fig, ax, film, words, seconds=8, colors=colors, digits=1)

# %% [markdown] covers="wu:6.16.2 wu:6.16.4"
# Seen from afar, nobody can tell cars from passengers: at every time the same places are taken. Yet passengers have no
# memory. Where a car goes depends on both its ends; where a passenger goes, only on the traffic around.
#
# ## 3. How fast is a passenger?
#
# Each keeps the same share of all cars on the left. Faster cars come past from behind, slower ones from ahead. For the share
# to stay, they must balance. So a passenger goes at the *mean speed of the cars that are just there*:
#
# $$v(x, t) = \mathbb E\,[\,x_0 - x_1 \mid x_t = x\,].$$
#
# Drag the point. Where do lines disagree most? What is their mean at $t = 1$, left of the middle and right of it?

# %% covers="wu:6.16.2 wu:6.16.4 wu:6.16.1"
# Drag the point: the lines that pass there, and the mean of their velocities.
with after(interp):

    def draw_here(t, x):
        at, v = interp(drawn, ends, t * torch.ones(20_000).double())
        best = pictures.velocity(hills, [x], t)[0]
        parts = (part[:, 0] for part in (drawn, ends, at, v))
        return pictures.draw_here(*parts, t, x, best)

    explore(
        draw_here,
        drag={("t", "x"): "here"},
        digits=1,
        t=FloatSlider(0.6, min=0, max=1, step=0.01, description="time t"),
        x=FloatSlider(0, min=-2.5, max=2.5, step=0.05, description="place x"),
    )

# %% predict="at-the-start" minutes=1 covers="wu:6.16.5"
predict(
    "at-the-start",
    "The six hills again: one has its centre at (2, 0). You start, at t = 1, at the "
    "noise point (1.5, 0). What is v there?",
    ["(0.5, 0): to the hill near by", "(−1.5, 0): to the middle", "(0, 0)"],
    truth=int(
        np.abs(
            pictures.velocity(world, [1.5, 0.0], 1.0)[0] - np.array([0.5, -1.5, 0.0])
        ).argmin()
    ),
    because="The noise was drawn without looking at the data. So from here lines go to "
    "all six hills alike, and their mean is E x₀ − x₁: to the middle. One step of "
    "length 1 ends just there, wherever it starts.",
)

# %% [markdown] covers="wu:6.16.5 wu:6.16.4"
# In the plane nobody has a rank. The mean still leads the crowd: for smooth $\varphi$, the lines change
# $\mathbb E\, \varphi(x_t)$ at the rate
#
# $$\mathbb E[\nabla \varphi(x_t) \cdot (x_0 - x_1)] = \mathbb E[\nabla \varphi(x_t) \cdot v(x_t, t)],$$
#
# as $\nabla \varphi(x_t)$ is known once $x_t$ is. Who walks with $v$, at the same places, changes it at the second
# rate, so **that crowd stays where the lines are.**
#
# ### Learn it from single lines
#
# Who knows $v$? A mean is what regression learns: of all functions, $v$ has the smallest
#
# $$L = \mathbb E\, \lVert v_\theta(x_t, t) - (x_0 - x_1) \rVert^2, \qquad t \text{ uniform on } (0, 1),$$
#
# where $v_\theta$ is a network with weights $\theta$. It sees one line at a time, never a mean. Write the loss, then
# the training loop.


# %% exercise="fm_loss" points=2 difficulty=1 covers="wu:6.16.5"
def fm_loss(model, x0, x1, t):
    """The squared length of model(x_t, t) - v, its mean over the rows of a batch.

    model: (x (n, d), t (n,)) -> velocity (n, d), called once. x0, x1 (n, d), t (n,).
    Returns a scalar tensor that can be differentiated. You may use interp.
    A model that says 0 has loss 25 on x0 = [[3.0, 4.0]], x1 = [[0.0, 0.0]].
    """
    ### BEGIN SOLUTION
    xt, v = interp(x0, x1, t)
    wrong_by = model(xt, t) - v
    return wrong_by.square().sum(1).mean()
    ### END SOLUTION


# %% check="fm_loss"
check(fm_loss)


# %% covers="wu:6.16.5"
# The network: place and time, three layers, a velocity.
class Velocity(nn.Module):
    """Predicts the velocity: (x (n, d), t (n,)) -> (n, d)."""

    def __init__(self, d, width):
        super().__init__()
        widths = [d + 5, width, width, width]
        layers = [
            layer
            for a, b in zip(widths[:-1], widths[1:], strict=True)
            for layer in (nn.Linear(a, b), nn.SiLU())
        ]
        self.layers = nn.Sequential(*layers, nn.Linear(width, d))

    def forward(self, x, t):
        angle = t[:, None] * torch.tensor([math.pi / 2, math.pi])
        clock = torch.cat([t[:, None], angle.sin(), angle.cos()], 1)
        return self.layers(torch.cat([x, clock], 1))


# %% exercise="train" points=4 difficulty=1 covers="wu:6.16.5"
def train(model, x0, x1, n_steps, batch, lr, g):
    """Train a model by Adam on fm_loss; returns the n_steps losses, numbers.

    model: a torch module, called as model(x, t); its weights change in place.
    x0 (N, d) data, float32. x1 (N, d): row i is the partner of x0[i]; or None: then
    each update draws fresh noise. Adam with torch's own settings; update k = 0, 1, …
    has the learning rate lr · (1 - k / n_steps).
    All chance comes from the generator g, in each update in this order: `batch` row
    numbers of x0, which may repeat (torch.randint); as many times t (torch.rand); the
    noise, only where x1 is None (torch.randn). You may use fm_loss.
    """
    ### BEGIN SOLUTION
    adam, losses = torch.optim.Adam(model.parameters(), lr), []
    for k in range(n_steps):
        for group in adam.param_groups:
            group["lr"] = lr * (1 - k / n_steps)
        rows = torch.randint(len(x0), (batch,), generator=g)
        t = torch.rand(batch, generator=g)
        if x1 is None:
            noise = torch.randn(batch, x0.shape[1], generator=g)
        else:
            noise = x1[rows]
        loss = fm_loss(model, x0[rows], noise, t)
        adam.zero_grad()
        loss.backward()
        adam.step()
        losses.append(loss.item())
    return losses
    ### END SOLUTION


# %% check="train"
check(train)

# %% covers="wu:6.16.5"
# Train on lines of the six hills; how near it comes to the least loss there is.
with after(fm_loss, train):
    torch.manual_seed(0)
    first, g = Velocity(2, 96), torch.Generator().manual_seed(0)
    losses = train(first, real, None, 800, 256, 5e-3, g)
    x0, x1, t = real[:2000], noise(2000, 2, seed=4), (torch.arange(2000) + 0.5) / 2000
    at = (1 - t[:, None]) * x0 + t[:, None] * x1
    best = [
        pictures.velocity(world, x, time)
        for x, time in zip(at.double().numpy(), t.tolist(), strict=True)
    ]
    tensor = torch.tensor(np.array(best)).float()
    with torch.no_grad():
        least = fm_loss(lambda x, t: tensor, x0, x1, t).item()
        loss = fm_loss(first, x0, x1, t).item()
    words = (
        "the best v there is has a loss of {a:.1f}, the network a tenth more at most"
    )
    claim(words, least < loss < 1.1 * least, a=least)

# %% [markdown] covers="wu:6.16.5"
# The loss does not go to 0, nor could it: at each place lines disagree, and the network says their mean.
#
# ## 4. Walk
#
# Start at $t = 1$ in fresh noise and follow $v$ to $t = 0$. *Euler's* step of length $h$ is $x \leftarrow x + h\, v(x, t)$,
# and then it is $t - h$. On a bent path the velocity at the start of the step is not that of the step. *Midpoint*
# asks again half way. Write both.


# %% exercise="fm_sample" points=4 difficulty=1 covers="wu:6.16.5"
def fm_sample(model, x1, n_steps, midpoint=False):
    """Walk from the noise x1 (t = 1) to the data (t = 0) in n_steps equal steps.

    model: (x (n, d), t (n,), all the same) -> velocity (n, d), towards the data.
    Euler's step uses the velocity where it begins. With midpoint, that velocity carries
    you half a step on, only to ask again there, at the time in the middle; the whole
    step, from where it began, uses the second answer alone. Ask once a step, with
    midpoint twice.
    x1 (n, d). Returns the states (n_steps + 1, n, d), the first is x1.
    A model that says x: from [[1.0]], one step gives [[2.0]], with midpoint [[2.5]].
    """
    ### BEGIN SOLUTION
    h = 1 / n_steps
    states = [x1]
    for k in range(n_steps):
        x = states[-1]
        t = torch.full((len(x),), 1 - k * h)
        v = model(x, t)
        if midpoint:
            v = model(x + h / 2 * v, t - h / 2)
        states.append(x + h * v)
    return torch.stack(states)
    ### END SOLUTION


# %% check="fm_sample"
check(fm_sample)

# %% covers="wu:6.16 wu:6.16.5"
# On the line, with the exact velocity: errors of both walks, and your passengers.
with after(fm_sample, swap_rides):
    x1 = torch.linspace(-2, 2, 81).double()[:, None]
    goal, errors = pictures.carried(hills, x1[:, 0]), {}
    for midpoint in (False, True):
        for n in (16, 32, 64):
            end = fm_sample(pictures.exact(hills), x1, n, midpoint)[-1, :, 0]
            errors[midpoint, n] = np.abs(end.numpy() - goal).mean()
    for midpoint, name, power in ((False, "Euler", 2), (True, "midpoint", 4)):
        a, b, c = (errors[midpoint, n] for n in (16, 32, 64))
        words = name + ": twice the steps, about {p} times less error ({n} steps)"
        claim(words, power / 1.5 < b / c < 1.5 * power, p=power, n="32 to 64")
    rides = swap_rides(drawn[:, 0], ends[:, 0], 1)
    off = np.abs(rides[-1].numpy() - pictures.carried(hills, rides[0])).mean()
    words = "{n} passengers end where the flow v ends, to {d} in the mean"
    claim(words, off < 0.03, n=len(drawn), d=0.03)

# %% covers="wu:6.16"
# How far samples are from data: the network's walk, and a diffusion that knows all.
with after(fm_loss, train, fm_sample):
    x1, real_ones = noise(600, 2, seed=5), real[:600]

    def distances(end):
        """By the number of questions. end: number of steps -> samples (600, 2)."""
        return [pictures.apart(end(n), fresh) for n in pictures.COUNTS]

    def flow(model, n):
        with torch.no_grad():
            return fm_sample(model, x1, n)[-1]

    def diffusion(n, noise=lambda x, a, b: world.noise(x, a, b)):
        rng = np.random.default_rng(6)
        return pictures.diffuse(noise, x1.double().numpy(), n, rng)

    floor, curves = pictures.apart(real_ones, fresh), {}
    curves["flow, learned"] = distances(partial(flow, first))
    curves["flow, exact"] = distances(partial(flow, pictures.exact(world)))
    curves["diffusion, exact"] = distances(diffusion)
    near = abs(curves["flow, learned"][-1] - floor) < 0.1
    claim("64 steps of the network: as near to data as data, to {d}", near, d=0.1)

# %% predict="do-lines-help" minutes=1 covers="wu:6.16"
predict(
    "do-lines-help",
    "A diffusion that knows the best noise everywhere, and a flow that knows the best "
    "velocity, both with two steps. By which factor is the flow nearer to the data?",
    ["about 1: no difference", "about 2", "about 5"],
    truth=int(
        np.digitize(
            curves["diffusion, exact"][1] / curves["flow, exact"][1], [1.5, 3.5]
        )
    ),
    because="The lines are straight, but the walk follows their mean, and that bends "
    "where they cross, as it does in a diffusion. Straight lines alone buy nothing.",
    then=lambda: pictures.draw_evaluations(curves, floor),
    digits=1,
)

# %% [markdown] covers="wu:6.16"
# ## 5. Straighten it
#
# So measure what one step needs: a velocity that stays what it is, all along the walk. That is straight *and* even.
# Write a number that is 0 then, and only then.


# %% exercise="bend" points=2 difficulty=1 covers="wu:6.16"
def bend(path):
    """How far walks are from straight lines at constant speed: 0 if they are.

    path (K + 1, n, d): states of n walkers at equal times; all K steps take a time of 1
    together. Let v_k be a walker's velocity in step k, and D its whole way, from
    path[0] to path[-1]. Returns the mean of ‖v_k - D‖² over all steps and walkers,
    divided by the mean of ‖D‖² over walkers.
    path = [[[0.0]], [[3.0]], [[4.0]]] has v = 6, then 2, and D = 4: 4 / 16 = 0.25.
    """
    ### BEGIN SOLUTION
    K = len(path) - 1
    D = path[-1] - path[0]
    v = K * (path[1:] - path[:-1])
    off = (v - D).square().sum(-1)
    return off.mean() / D.square().sum(-1).mean()
    ### END SOLUTION


# %% check="bend"
check(bend)

# %% [markdown] covers="wu:6.16"
# Now the trick, called *rectifying*. Walks with $v$ never cross: at one place and time there is one velocity. So take
# each start together with the end of *its own walk*, and draw a straight line between the two. Train once more, on these
# pairs. Do the new lines cross? On the road they cannot: your passengers arrive in the order in which they start. In the
# plane nobody promises it, but they cross far less.

# %% open=true covers="wu:6.16"
with after(fm_loss, swap_rides, train, fm_sample):
    rides = swap_rides(drawn[:2000, 0], ends[:2000, 0], 100)
    again = swap_rides(rides[-1], rides[0], 1)
    claim("a second round: nobody changes any more", torch.equal(again[1], rides[-1]))
    starts = noise(8000, 2, seed=3)
    with torch.no_grad():
        walked = fm_sample(first, starts, 16, midpoint=True)[-1]
    torch.manual_seed(0)
    second, g = Velocity(2, 96), torch.Generator().manual_seed(0)
    new_losses = train(second, walked, starts, 800, 256, 5e-3, g)

# %% predict="the-floor" minutes=1 covers="wu:6.16"
predict(
    "the-floor",
    "Same network, same number of updates, other pairs. The first training's loss "
    "stayed near 4. And the second's?",
    ["about 4 again", "about half of it", "less than a tenth of it"],
    truth=int(2 - np.digitize(np.mean(new_losses[-50:]) / 4, [0.1, 0.75])),
    because="The 4 was the disagreement of the lines that meet at a place. Now nearly "
    "every place has one line, and its velocity can be known.",
)

# %% covers="wu:6.16"
# The answer to the question of the first screen: bends, and a single step.
with after(fm_loss, swap_rides, train, fm_sample, bend, "the-floor", "do-lines-help"):
    x1 = noise(600, 2, seed=5)
    nets = {"first": first, "second": second}
    with torch.no_grad():
        paths = {name: fm_sample(net, x1, 64) for name, net in nets.items()}
        ones = {name: fm_sample(net, x1, 1)[-1] for name, net in nets.items()}
    bends = [bend(path).item() for path in paths.values()]
    claim("the first network's walks bend by over {a}", bends[0] > 1, a=1)
    claim("the second's by {b}", bends[1] < 0.05, b=below(0.05))
    one = [pictures.apart(end, fresh) for end in ones.values()]
    claim("one step of the first: over {d} away from data", one[0] > 1.5, d=1.5)
    words = "one step of the second: as near to data as data are, to {d}"
    claim(words, abs(one[1] - floor) < 0.1, d=0.1)
    fig, words = pictures.draw_straightened(paths, ones, world)
    near = words.facts["second"]
    claim(
        "over {s:.0%} of its points are within 0.8 of a hill's centre",
        near > 0.8,
        s=0.8,
    )
    show(fig, words, digits=0)

# %% [markdown]
# ## Take-aways
#
# - Walks with the *mean* velocity of the lines fill the same places as the lines do, at every time.
# - That mean is learned by regression on single lines: no walk in training, no noise in the walk.
# - **Why the walks bend:** noise and data were paired blindly, so lines cross. In the noise their mean points to the
#   middle: one step is a smear. Straight lines that cross were no better than a diffusion.
# - **Why once more helps:** walks do not cross, and lines between *their* ends hardly do. So the mean is each line's own
#   velocity, and one step follows it to its end. (Points between hills: a continuous network cannot tear the
#   noise apart.) The price: a second training, on the first one's walks.
#
# Next: [[next]].

# %% [markdown] covers="wu:6.16.6"
# ## Deeper: velocity, noise and score
#
# You have met three things to learn: noise, score, and now velocity. Are they different? Given $x_t$, write
# $\hat x_0 = \mathbb E[x_0 \mid x_t]$ and $\hat\epsilon = \mathbb E[x_1 \mid x_t]$ for the best guesses. Means are linear, so
#
# $$x_t = (1 - t)\, \hat x_0 + t\, \hat\epsilon, \qquad v = \hat x_0 - \hat\epsilon .$$
#
# With $x_t$ known, two equations tie all three together: who has one has all. The noise enters with standard deviation
# $t$, so the score is $s = \nabla \log p_t(x_t) = -\hat\epsilon / t$, where $p_t$ is the density of $x_t$. One of the lecture notes
# prints $v = x_t - (t + 1)\, \epsilon$. Find your own.


# %% exercise="convert" points=3 difficulty=1 covers="wu:6.16.6"
def convert(given, have, want, x, t):
    """Turn velocity, noise or score at x_t = x into one another.

    given, x (n, d), t (n,) with 0 < t < 1. have and want: "velocity", "noise" or
    "score"; given is what `have` says. Returns what `want` says, (n, d).
    The noise 0.5 at x = 2, t = 0.5 is the velocity 3 and the score -1.
    """
    ### BEGIN SOLUTION
    t = t[:, None]
    if have == "velocity":
        noise = x - (1 - t) * given
    elif have == "score":
        noise = -t * given
    else:
        noise = given
    if want == "velocity":
        return (x - noise) / (1 - t)
    if want == "score":
        return -noise / t
    return noise
    ### END SOLUTION


# %% check="convert"
check(convert)

# %% covers="wu:6.16.6"
# Three ways to one velocity on the six hills; the printed formulas; the losses.
with after(convert):
    rng, worst, printed, loss_gap = np.random.default_rng(7), 0, [9, 9], 0
    for t in (0.1, 0.3, 0.5, 0.7, 0.9):
        x = torch.tensor(world.noised(1 - t, t).sample(200, rng)[0])
        clean = torch.tensor(world.denoised(x.numpy(), 1 - t, t))
        eps = torch.tensor(world.noise(x.numpy(), 1 - t, t))
        score = torch.tensor(world.noised(1 - t, t).score(x.numpy()))
        v, time = clean - eps, t * torch.ones(200).double()
        exact = dict(velocity=v, noise=eps, score=score)
        for have, given in exact.items():
            for want, value in exact.items():
                off = (convert(given, have, want, x, time) - value).abs().max()
                worst = max(worst, off.item())
        for i, formula in enumerate((x - (1 + t) * eps, x + (1 + t) * score)):
            printed[i] = min(printed[i], (formula - v).square().mean().item())
        other = eps + torch.tensor(rng.normal(size=x.shape))  # a worse noise
        loss = (convert(other, "noise", "velocity", x, time) - v).square().sum()
        by_noise = (other - eps).square().sum() / (1 - t) ** 2
        loss_gap = max(loss_gap, (loss / by_noise - 1).abs().item())
    words = "nine ways, {n} places, five times: all agree to {w}"
    claim(words, worst < 1e-10, n=1000, w=below(1e-10))
    words = "v = x − (t + 1) ε is off by over {d} (mean square), at each time"
    claim(words, printed[0] > 0.01, d=0.01)
    claim("and so is v = x + (t + 1) s", printed[1] > 0.01)
    words = "the velocity's loss is the noise's over (1 − t)², to {w}"
    claim(words, loss_gap < 1e-9, w=below(1e-9))

# %% [markdown] covers="wu:6.16.6"
# So flow matching to Gaussian noise *is* denoising, up to a weight that depends on $t$:
# $\lVert v_\theta - v\rVert^2 = \lVert \epsilon_\theta - \epsilon \rVert^2 / (1 - t)^2$, which is also
# $\frac{t^2}{(1-t)^2} \lVert s_\theta - s \rVert^2$. Then your network must be able to drive a diffusion. A state
# $a\, x_0 + b\, \epsilon$ of a diffusion, divided by $a + b$, lies on a line, at $t = b/(a + b)$.

# %% covers="wu:6.16.6"
# The velocity network, converted, as the noise predictor of a diffusion.
with after(fm_loss, train, fm_sample, convert):

    def converted(x, a, b):
        x, t = torch.tensor(x / (a + b)).float(), torch.full((len(x),), b / (a + b))
        with torch.no_grad():
            v = first(x, t)
        return convert(v, "velocity", "noise", x, t).double().numpy()

    driven = pictures.apart(diffusion(64, converted), fresh)
    words = "a diffusion driven by it: within {d} of what real data have"
    claim(words, abs(driven - floor) < 0.1, d=0.1)

# %% [markdown] covers="wu:6.14 wu:6.14.1 wu:6.14.2"
# ## Deeper: why a walk without noise will do
#
# Take a process forward in time, in $N$ steps of length $\Delta t = 1/N$. Each step has a drift $f$ and some noise, of size
#
# $$\sigma\, \Delta t \ \text{ (a random drift)} \qquad \text{or} \qquad \sigma \sqrt{\Delta t} \ \text{ (a diffusion)},$$
#
# times $z_k$, independent, of mean 0 and variance 1. One power of $\Delta t$ is all the difference. Of $N$ steps the
# variances add up: $N \sigma^2 \Delta t^2 = \sigma^2 \Delta t$ goes to 0, $N \sigma^2 \Delta t = \sigma^2$ stays.
# Write the process for any power.


# %% exercise="simulate" points=2 difficulty=1 covers="wu:6.14.1"
def simulate(f, sigma, x0, z, power):
    """N steps of length dt = 1 / N: x gains f(x, t) dt + sigma(x, t) dt**power z[k].

    f and sigma: (x (n, d), t a number) -> (n, d), asked where a step begins; step
    k = 0, 1, … begins at t = k / N. x0 (n, d); z (N, n, d): the noise of each step.
    Returns all states (N + 1, n, d).
    f = 0, sigma = 1, x0 = [[0.0]], four z of 1 and power 1: the last state is [[1.0]].
    """
    ### BEGIN SOLUTION
    N, path = len(z), [x0]
    for k in range(N):
        x, t = path[-1], k / N
        noise = sigma(x, t) / N**power * z[k]
        path.append(x + f(x, t) / N + noise)
    return torch.stack(path)
    ### END SOLUTION


# %% check="simulate"
check(simulate)

# %% covers="wu:6.14 wu:6.14.1 wu:6.14.2"
# Move the power from a diffusion, ½, to a random drift, 1.
with after(simulate):
    z = noise(256, 2000, 1, seed=8).double()

    def ends_of(N, power):
        """Ends (2000,) of N steps without drift, σ = 1."""
        x0 = torch.zeros(2000, 1).double()
        return simulate(lambda x, t: 0 * x, lambda x, t: 1 + 0 * x, x0, z[:N], power)

    def draw_power(power):
        walks = {N: ends_of(N, power)[..., 0] for N in (4, 16, 64, 256)}
        coarse = {N: walk[-1] for N, walk in walks.items()}
        return pictures.draw_powers(power, walks[256][:, :30], coarse)

    power = FloatSlider(0.5, min=0.5, max=1, step=0.05, description="power")
    explore(draw_power, power=power, digits=1)
    for power, slope in ((0.5, 0), (1.0, 1)):
        spread = [ends_of(N, power)[-1].var().item() for N in (4, 256)]
        found = math.log(spread[0] / spread[1]) / math.log(64)
        words = "noise · dt^{p}: the variance goes as dt to the power {s}, to 0.05"
        claim(words, abs(found - slope) < 0.05, p=power, s=slope)

# %% [markdown] covers="wu:6.14.3 wu:6.14.4"
# So a random drift may be replaced by its mean: $x_{t + \Delta t} = x_t + f \Delta t$ has the same distribution in the
# limit, and even the same paths, up to $\sqrt{\Delta t}$. What is left has no noise, so it can be walked
# back: $x_{t - \Delta t} = x_t - f\, \Delta t$, which is your `fm_sample` with the velocity $-f$.
#
# The fine print: each step draws *anew*. With one $z$ for the whole path the noise adds up to $\sigma z$, however fine
# the steps. The straight lines are of that kind! A line keeps its $v = x_0 - x_1$ for ever. The argument becomes right once
# more if walkers change lines: at each step take *any* line that passes here, follow it, and forget it.

# %% covers="wu:6.14.3 wu:6.14.4"
# Path by path: noise drawn anew, noise drawn once; and the way back.
with after(simulate, fm_sample):
    x0 = noise(2000, 1, seed=9).double()
    args = (lambda x, t: torch.sin(2 * x) + t, lambda x, t: 1 + 0 * x, x0)

    def gap(z):
        """Root mean square distance from the path of the mean, at the end."""
        noisy, plain = (simulate(*args, part, 1.0)[-1] for part in (z, 0 * z))
        return (noisy - plain).square().mean().sqrt().item()

    fresh_z, one_z = gap(z[:16]) / gap(z), gap(z[:1].expand(256, 2000, 1))
    words = (
        "16 times finer: the distance to the mean path is {r} times smaller, to 10 %"
    )
    claim(words, abs(fresh_z / 4 - 1) < 0.1, r=4)
    words = "one z for the whole path: it stays above {d} with {N} steps"
    claim(words, one_z > 0.5, d=0.5, N=256)
    back = {}
    for N in (64, 128):
        there = simulate(*args, torch.zeros(N, 2000, 1).double(), 1.0)[-1]
        home = fm_sample(lambda x, t: -torch.sin(2 * x) - t[:, None], there, N)[-1]
        back[N] = (home - x0).abs().mean().item()
    words = "there and back: with twice the steps the error is halved, to 10 %"
    claim(words, abs(back[64] / back[128] / 2 - 1) < 0.1)

# %% covers="wu:6.16.2 wu:6.16.4 wu:6.14.3"
# Three ways from the noise to the two hills, among 20,000 lines.
with after(interp):
    rng, x = np.random.default_rng(10), noise(4000, seed=11).double().numpy()
    walkers = {"random line, then forget": x, "mean of lines here": x}
    for k in range(100):
        t = 1 - k / 100
        at, v = interp(drawn, ends, t * torch.ones(20_000).double())
        at, v = at[:, 0].numpy(), v[:, 0].numpy()
        lost, mean = walkers.values()
        lost = pictures.reroute(at, v, lost, 0.01, rng)
        mean = mean + 0.01 * pictures.velocity(hills, mean[:, None], t)[:, 0]
        walkers = dict(zip(walkers, (lost, mean), strict=True))
    walkers["mean of all lines"] = x + (hills.mean()[0] - 0 * x)
    fig, words = pictures.draw_ends(walkers, hills)
    off = [told.facts["worst"] for told in words.facts["told"]]
    claim("forgetting and mean velocity: data, to {d}", max(off[:2]) < 0.05, d=0.05)
    claim("one velocity for all does not: off by over {d}", off[2] > 0.1, d=0.1)
    show(fig, words, digits=1)

# %% [markdown]
# ## Where the notes differ
#
# What the lecture notes print otherwise, each with its place. An *error* is shown by computing: the printed form fails,
# the right one holds, and a wrong one of the same shape fails too. *Too broad*: a condition is missing.


# %% demo=true covers="wu:6.14.1 wu:6.16.4 wu:6.16.6"
# wu, sections 6.14 and 6.16: a mean, a condition, and three formulas.
def mean_end(mean_z, N=1000):
    """f = 0, σ = 1: the mean of a random drift at its end; 0 by (6.94)."""
    return sum(mean_z / N for _ in range(N))


erratum(
    "wu:6.14.1",
    quote=r"where  $\mathbb{E}[\mathbf{z}_t] = \mathbf{1}$",
    corrected=r"$\mathbb E[z_t] = 0$, as in (6.106): else the drift is $f + \sigma$",
    kind="error",
    printed_holds=abs(mean_end(1)) < 0.01,
    corrected_holds=abs(mean_end(0)) < 0.01,
    decoy_holds=abs(mean_end(-1)) < 0.01,
)
z = noise(100, 4000, seed=12)
erratum(
    "wu:6.16.4",
    quote=r"Can be replaced by its expectation by our previous analysis",
    corrected=(
        r"that needs noise drawn anew in each step; a line keeps its $v$. What holds: "
        r"$\mathbb E[\nabla \varphi(x_t) \cdot v] = \mathbb E[\nabla \varphi(x_t) "
        r"\cdot \mathbb E[v \mid x_t]]$"
    ),
    kind="broad",
    # does the variance of the noise of all steps vanish, frozen and drawn anew?
    printed_holds=bool(z[:1].expand(100, 4000).mean(0).var() < 0.1),
    corrected_holds=bool(z.mean(0).var() < 0.1),
)
t, x0, eps = 0.3, 2.0, 0.5
xt = (1 - t) * x0 + t * eps
erratum(
    "wu:6.16.6",
    quote=(
        r"$\mathbf{x}_t = (1-t)\mathbf{x}_0 + t\mathbf{x}_1 = \mathbf{x}_0 + "
        r"t\mathbf{x}_1 = \mathbf{x}_0 + t\boldsymbol{\epsilon}$"
    ),
    corrected=r"$x_t = (1 - t)\, x_0 + t\, \epsilon$",
    kind="error",
    printed_holds=math.isclose(x0 + t * eps, xt),
    corrected_holds=math.isclose(x0 - t * x0 + t * eps, xt),
    decoy_holds=math.isclose(t * x0 + t * eps, xt),
)
erratum(
    "wu:6.16.6",
    quote=(
        r"$\mathbf{v}(\mathbf{x}_t, t) = \mathbf{x}_0 - \mathbf{x}_1 … = "
        r"\mathbf{x}_t - (t+1)\boldsymbol{\epsilon}$"
    ),
    corrected=(
        r"$v = (x_t - \epsilon)/(1 - t)$, so $\epsilon_\theta = x_t - (1 - t)\, "
        r"v_\theta$ and the losses differ by $(1 - t)^2$"
    ),
    kind="error",
    printed_holds=math.isclose(xt - (t + 1) * eps, x0 - eps),
    corrected_holds=math.isclose((xt - eps) / (1 - t), x0 - eps),
    decoy_holds=math.isclose((xt - eps) / (1 + t), x0 - eps),
)
wide = Mixture.of([[0.0]], 2.0)  # N(0, 4)
score, best = wide.noised(0.7, 0.3).score([1.0])[0], pictures.velocity(wide, [1.0], 0.3)
erratum(
    "wu:6.16.6",
    quote=(
        r"connects through $\mathbf{v}_{\theta} = \mathbf{x}_t + "
        r"(t+1)s_{\theta}$"
    ),
    corrected=r"$v_\theta = (x_t + t\, s_\theta)/(1 - t)$",
    kind="error",
    printed_holds=math.isclose(1 + 1.3 * score, best[0]),
    corrected_holds=math.isclose((1 + 0.3 * score) / 0.7, best[0]),
    decoy_holds=math.isclose((1 - 0.3 * score) / 0.7, best[0]),
)
erratum(
    "wu:6.16.2",
    quote=r"Knowing $\mathbf{x}_t$ alone doesn't determine $\mathbf{x}_{t-1}$",
    corrected=r"$x_{t - \Delta t}$: at $t - 1$ no line is left",
    kind="convention",
)
