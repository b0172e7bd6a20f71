"""References and pictures of 15_diffusion/06_flow_matching against closed forms, simulation, brute force and torch."""

import itertools

import numpy as np
import pytest
import torch
from scipy import integrate, stats

from descent.pictures.diffusion import flow_matching as pictures
from descent.pictures.diffusion.mixtures import ring, two_hills
from solutions import notebook_module
from tests.notebooks import controls
from tests.notebooks.conftest import randn

NOTEBOOK = "15_diffusion/06_flow_matching"
ref = notebook_module(NOTEBOOK, "reference")


def test_the_lines_are_torchs_lerp_and_their_slope(g):
    x0, x1, t = randn(5, 3, g=g), randn(5, 3, g=g), torch.rand(5, generator=g).double()
    xt, v = ref.interp(x0, x1, t)
    torch.testing.assert_close(xt, torch.lerp(x0, x1, t[:, None]))
    later = ref.interp(x0, x1, t - 1e-4)[0]
    torch.testing.assert_close((later - xt) / 1e-4, v, rtol=1e-8, atol=1e-8)


def test_passengers_who_change_at_each_meeting_are_followed_one_meeting_after_another(g):
    """Meetings are found from the crossings of pairs of lines, and done in the order of time."""
    x0, x1 = randn(7, g=g), randn(7, g=g)
    meetings = []
    for i, j in itertools.combinations(range(7), 2):
        u = ((x1[j] - x1[i]) / (x0[i] - x0[j] + x1[j] - x1[i])).item()  # u = 1 - t
        if 0 < u < 1:
            meetings.append((u, i, j))
    assert len(meetings) > 5
    seat_of, n_steps, todo = list(range(7)), 20, sorted(meetings)
    for k, row in enumerate(ref.swap_rides(x0, x1, n_steps)):
        while todo and todo[0][0] < k / n_steps:
            _, i, j = todo.pop(0)
            a, b = seat_of.index(i), seat_of.index(j)
            seat_of[a], seat_of[b] = j, i
        cars = torch.lerp(x1, x0, k / n_steps)
        torch.testing.assert_close(row, cars[seat_of])


@pytest.mark.parametrize("perfect", [False, True])
def test_the_gradient_by_hand_is_autograds(perfect, g):
    x0, x1, b = randn(4, 3, g=g), randn(4, 3, g=g), randn(3, g=g)
    t, W = torch.rand(4, generator=g).double(), randn(3, 3, g=g).requires_grad_(True)
    xt = x0 + t[:, None] * (x1 - x0)
    says = x0 - x1 + 0 * (xt @ W) if perfect else (xt @ W).tanh() + t[:, None] * b
    loss = 3 * torch.nn.functional.mse_loss(says, x0 - x1)
    report = ref.loss_report(x0, x1, t, W.detach(), b, perfect)
    torch.testing.assert_close(report["loss"], loss.detach())
    torch.testing.assert_close(report["gradient"], torch.autograd.grad(loss, W)[0])


@pytest.mark.parametrize("pairs", [False, True])
def test_training_by_hand_is_torchs_adam_with_a_linear_schedule(pairs, g):
    x0, W, b = (randn(*shape, g=g).float() for shape in ((5, 2), (2, 2), (2,)))
    x1 = randn(5, 2, g=g).float() if pairs else None
    got = ref.train(x0, x1, W, b, 5, 4, 0.2, seed=3)
    weights = [W.clone().requires_grad_(True), b.clone().requires_grad_(True)]
    adam = torch.optim.Adam(weights, 0.2)
    rate = torch.optim.lr_scheduler.LinearLR(adam, 1.0, 0.0, total_iters=5)
    draws, losses = torch.Generator().manual_seed(3), []
    for _ in range(5):
        rows, t = torch.randint(5, (4,), generator=draws), torch.rand(4, generator=draws)
        ends = x1[rows] if pairs else torch.randn(4, 2, generator=draws)
        says = (torch.lerp(x0[rows], ends, t[:, None]) @ weights[0]).tanh()
        off = says + t[:, None] * weights[1] - x0[rows] + ends
        losses.append(off.square().sum() / 4)
        adam.zero_grad()
        losses[-1].backward()
        adam.step()
        rate.step()
    near = dict(rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(got["losses"], torch.stack(losses).detach(), **near)
    torch.testing.assert_close(got["W"], weights[0].detach(), **near)
    torch.testing.assert_close(got["b"], weights[1].detach(), **near)


@pytest.mark.parametrize("midpoint, order", [(False, 1), (True, 2)])
def test_walks_come_nearer_to_scipys_solution_by_their_order(midpoint, order, g):
    x1, W, b = randn(1, 2, g=g), randn(2, 2, g=g), randn(2, g=g)

    def slope(u, x):  # u = 1 - t grows
        return np.tanh(x @ W.numpy()) + (1 - u) * b.numpy()

    exact = integrate.solve_ivp(slope, (0, 1), x1[0].numpy(), rtol=1e-11, atol=1e-12).y[:, -1]
    off = []
    for n in (100, 200):
        walk = ref.fm_sample(x1, n, midpoint, W, b)
        assert walk["calls"] == n * order and len(walk["states"]) == n + 1
        off.append(np.abs(walk["states"][-1, 0].numpy() - exact).max())
    assert off[0] / off[1] == pytest.approx(2**order, rel=0.1)


def test_the_bend_of_a_quarter_of_a_circle_has_a_closed_form():
    angle = torch.linspace(0, torch.pi / 2, 2001).double()
    path = torch.stack([angle.cos(), angle.sin()], 1)[:, None]
    assert ref.bend(path).item() == pytest.approx(torch.pi**2 / 8 - 1, rel=1e-5)


def test_three_names_of_one_guess_on_a_mixture():
    world, t = two_hills(), 0.35
    x = np.linspace(-3, 3, 13)[:, None]
    grid = np.linspace(-12, 12, 40_001)  # of x0, by Bayes' rule
    belief = world.density(grid[:, None]) * stats.norm.pdf(x, (1 - t) * grid, t)
    clean = (belief * grid).sum(1, keepdims=True) / belief.sum(1, keepdims=True)
    exact = {"velocity": (clean - x) / t, "noise": (x - (1 - t) * clean) / t}
    exact["score"] = -exact["noise"] / t
    exact = {name: torch.tensor(value) for name, value in exact.items()}
    at, times = torch.tensor(x), torch.full((13,), t).double()
    for have, want in itertools.product(exact, exact):
        got = ref.convert(exact[have], have, want, at, times)
        torch.testing.assert_close(got, exact[want])
    seen = world.noised(1 - t, t)
    h = 1e-5
    slope = (seen.log_density(x + h) - seen.log_density(x - h)) / (2 * h)
    assert exact["score"][:, 0].numpy() == pytest.approx(slope, abs=1e-6)
    assert exact["velocity"].numpy() == pytest.approx(pictures.velocity(world, x, t), abs=1e-9)


def test_two_simulated_steps_are_those_made_by_hand():
    A = torch.zeros(1, 1).double()
    one = torch.full((2, 1, 1), 3.0).double()
    path = ref.simulate(torch.ones(1, 1).double(), one, 0.75, 2 + A, torch.ones(1).double())
    second = 1 + 2 / 2 + 2 * 3 / 2**0.75
    assert path[1].item() == pytest.approx(second)
    third = second + (2 * second + 0.5) / 2 + (1 + second) * 3 / 2**0.75
    assert path[2].item() == pytest.approx(third)


# ------------------------------------------------------------ what it draws


def test_the_exact_velocity_is_known_at_both_ends_of_the_way():
    world, x = ring(6, 2.0, 0.2), np.array([[1.5, 0.3], [-2.0, 0.1]])
    assert pictures.velocity(world, x, 1.0) == pytest.approx(-x, abs=1e-12)  # E x0 = 0
    assert pictures.velocity(world, x, 0.0) == pytest.approx(x, abs=1e-12)  # E x1 = 0
    model = pictures.exact(world)(torch.tensor(x).float(), torch.full((2,), 0.5))
    assert model.dtype == torch.float32
    assert model.numpy() == pytest.approx(pictures.velocity(world, x, 0.5), abs=1e-5)


def test_the_flow_carries_quantiles_to_quantiles_and_the_walk_follows_it():
    hills, x1 = two_hills(), np.linspace(-2, 2, 41)
    goal = pictures.carried(hills, x1)
    assert pictures.cumulative(hills, goal) == pytest.approx(stats.norm.cdf(x1), abs=1e-6)
    ends = pictures.walk(hills, x1[:, None], 4000)[:, 0]
    assert ends == pytest.approx(goal, abs=2e-3)


def test_a_diffusion_with_exact_guesses_draws_the_mixture(g):
    hills, rng = two_hills(), np.random.default_rng(0)
    ends = pictures.diffuse(hills.noise, rng.normal(size=(20_000, 1)), 60, rng)
    assert ends.mean() == pytest.approx(hills.mean()[0], abs=0.04)
    assert ends.var() == pytest.approx(hills.covariance()[0, 0], rel=0.05)


def test_the_cheapest_pairing_is_found():
    points = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 3.0]])
    assert pictures.apart(points, points[[2, 0, 1]]) == 0
    assert pictures.apart(points, points[::-1] + [0.0, 2.0]) == pytest.approx(2)
    line = np.random.default_rng(0).normal(size=(2, 60))
    want = stats.wasserstein_distance(*line)
    assert pictures.apart(*line[..., None]) == pytest.approx(want)


def test_who_changes_lines_takes_the_speed_of_a_line_near_by():
    rng, places = np.random.default_rng(0), np.linspace(-1, 1, 2001)
    ends = pictures.reroute(places, np.sign(places), np.array([-0.5, 0.5, 9.0]), 0.1, rng)
    assert ends == pytest.approx([-0.6, 0.6, 9.1])
    many = pictures.reroute(places, np.sign(places), np.zeros(4000), 1, rng)
    assert abs(many.mean()) < 0.06 and set(many.round(6)) <= {-1.0, 0.0, 1.0}


def test_the_lines_counted_at_a_place_have_the_exact_mean_velocity():
    widget = controls.explorer(NOTEBOOK, "draw_here")
    for t, x in ((0.6, 0.0), (1.0, 1.0), (0.2, -1.2), (0.0, 1.0)):
        widget.controls["t"].value, widget.controls["x"].value = t, x
        facts = widget.words.facts
        assert facts["n"] > 100
        error = 4 * facts["spread"] / facts["n"] ** 0.5
        assert facts["mean"] == pytest.approx(facts["exact"], abs=error + 0.05)


def test_only_a_diffusions_noise_stays_when_steps_are_many():
    widget = controls.explorer(NOTEBOOK, "draw_power")
    left = {}
    for power in (0.5, 0.75, 1.0):
        widget.controls["power"].value = power
        left[power] = widget.words.facts["last"]
    assert left[0.5] == pytest.approx(1, rel=0.1)
    assert left[0.75] == pytest.approx(1 / 16, rel=0.1)
    assert left[1.0] == pytest.approx(1 / 256, rel=0.1)


def test_the_road_counts_meetings_and_who_gets_out_elsewhere():
    x0, x1 = np.array([3.0, 0.0, 9.0]), np.array([1.0, 2.0, 8.0])
    rides = np.array([x1, [0.0, 3.0, 9.0]])
    _, _, film, words, colors = pictures.road(x0, x1, rides)
    assert (words.facts["met"], words.facts["moved"], words.facts["kept"]) == (1, 2, "yes")
    assert film.shape == (2, 3, 2) and film[0, 0].tolist() == [1, 1] and len(set(colors)) == 3
    cars = pictures.road(x0, x1, np.array([x1, x0]))[3].facts
    assert cars["moved"] == 0 and cars["kept"] == "no"


def test_pictures_tell_the_numbers_that_they_draw():
    world = ring(6, 2.0, 0.2)
    noise = np.random.default_rng(0).normal(size=(50, 2))
    facts = pictures.draw_puzzle(world, world.means, noise)[1].facts
    assert facts["spread"] <= 0.02 and facts["near"] > 0.95 and facts["radius"] == 2
    told = pictures.draw_evaluations({"flow": [2.0, 1.0, 0.5, 0.4, 0.3, 0.2, 0.1]}, 0.1)[1].facts[
        "told"
    ]
    assert [told[0].facts[key] for key in ("first", "second", "last")] == [2, 1, 0.1]
    ones = {"first": 0 * world.means, "second": world.means * 1.2}
    paths = {name: np.stack([world.means, ends]) for name, ends in ones.items()}
    facts = pictures.draw_straightened(paths, ones, world)[1].facts
    assert facts["first"] == 0 and facts["second"] == pytest.approx(0.95) and facts["reach"] == 0.8
    hills = two_hills()
    exact = pictures.carried(hills, stats.norm.ppf((np.arange(999) + 0.5) / 999))
    told = pictures.draw_ends({"data": exact, "far": np.full(999, 3.9)}, hills)[1].facts["told"]
    assert told[0].facts["worst"] < 0.002 and told[1].facts["worst"] == pytest.approx(1, abs=0.01)
