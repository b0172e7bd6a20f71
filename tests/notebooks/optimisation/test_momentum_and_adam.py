"""References of the adaptive methods against torch.optim, sums written out, closed forms; pictures by their facts."""

import math

import numpy as np
import pytest
import torch

from descent import data
from descent.pictures.optimisation import momentum_and_adam as am
from solutions import notebook_module
from tests.notebooks import controls

NOTEBOOK = "03_optimisation/02_momentum_and_adam"
spec = notebook_module(NOTEBOOK, "exercises")
ref = notebook_module(NOTEBOOK, "reference")
DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)


def tolerance(dtype):
    # float32: torch rounds the root of 1 - 0.999^t and that of s apart, we round their quotient
    return dict(rtol=1e-4, atol=1e-5) if dtype == torch.float32 else dict(rtol=1e-11, atol=1e-12)


def normal(seed, *shape, dtype=torch.float64):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape)).to(dtype)


def quadratic(seed, dtype=torch.float64, d=4):
    """H (d, d) symmetric with curvatures in [0.5, 8], b and x0 (d,)."""
    Q = torch.linalg.qr(normal(seed, d, d)).Q
    H = Q @ torch.diag_embed(torch.linspace(0.5, 8, d, dtype=Q.dtype)) @ Q.mT
    return H.to(dtype), normal(seed + 1, d, dtype=dtype), normal(seed + 2, d, dtype=dtype)


def torch_path(make, H, b, x0, n_steps):
    """Iterates of a torch optimiser on x'Hx/2 - b'x, gradients by autograd -> (n_steps + 1, d)."""
    x = x0.clone().requires_grad_()
    optimiser, path = make([x]), [x0]
    for _ in range(n_steps):
        optimiser.zero_grad()
        (x @ H @ x / 2 - b @ x).backward()
        optimiser.step()
        path.append(x.detach().clone())
    return torch.stack(path)


@DTYPES
@pytest.mark.parametrize("beta", [0.0, 0.5, 0.98])
@pytest.mark.parametrize("shape", [(7,), (7, 3), (1,)], ids=str)
def test_ewa_is_the_recursion_and_corrected_a_weighted_mean(dtype, beta, shape):
    x, v = normal(0, *shape, dtype=dtype), 0.0
    raw, mean = [], []
    for t, x_t in enumerate(x, 1):
        v = beta * v + (1 - beta) * x_t
        raw.append(v)
        mean.append(np.average(x[:t], axis=0, weights=beta ** np.arange(t)[::-1]))
    torch.testing.assert_close(ref.ewa(x, beta), torch.stack(raw), **tolerance(dtype))
    expected = torch.from_numpy(np.array(mean)).to(dtype)
    torch.testing.assert_close(ref.ewa(x, beta, correct=True), expected, **tolerance(dtype))


@DTYPES
@pytest.mark.parametrize("gamma", [0.0, 0.5, 0.9])
def test_heavy_ball_is_torchs_sgd_with_momentum(dtype, gamma):
    H, b, x0 = quadratic(3, dtype)
    path = ref.heavy_ball(H, b, x0, 0.05, gamma, 50, 0.0)
    expected = torch_path(lambda p: torch.optim.SGD(p, lr=0.05, momentum=gamma), H, b, x0, 50)
    torch.testing.assert_close(path, expected, **tolerance(dtype))


def test_a_ball_rests_at_the_first_point_where_slope_and_speed_are_small():
    H, b, x0 = quadratic(3)
    path = ref.heavy_ball(H, b, x0, 0.05, 0.9, 2000, 0.01)
    whole = ref.heavy_ball(H, b, x0, 0.05, 0.9, 2000, 0.0)
    slope = (path @ H - b).norm(dim=-1)
    speed = torch.cat([torch.zeros(1), path.diff(dim=0).norm(dim=-1) / 0.05])
    small = (slope <= 0.01) & (speed <= 0.01)
    assert small[-1] and not small[:-1].any() and 1 < len(path) < len(whole)
    torch.testing.assert_close(path, whole[: len(path)])
    assert (slope[:-1] <= 0.01).any()  # it has rolled over a flat place


@DTYPES
@pytest.mark.parametrize("eps", [1e-8, 1e-2])
def test_the_adaptive_steps_are_torchs(dtype, eps):
    H, b, x0 = quadratic(5, dtype)
    paths = {name: [x0] for name in ("Adagrad", "RMSprop", "Adam")}
    G = s = s2 = v = torch.zeros_like(x0)
    for t in range(1, 41):  # later RMSProp trembles round the minimum, and rounding decides
        x = {name: path[-1] for name, path in paths.items()}
        g = {name: H @ now - b for name, now in x.items()}
        one, G = ref.adagrad_step(x["Adagrad"], g["Adagrad"], G, 0.3, eps)
        two, s = ref.rmsprop_step(x["RMSprop"], g["RMSprop"], s, 0.02, 0.9, eps)
        three, v, s2 = ref.adam_step(x["Adam"], g["Adam"], v, s2, t, 0.03, 0.8, 0.99, eps)
        for path, new in zip(paths.values(), (one, two, three), strict=True):
            path.append(new)
    makers = {
        "Adagrad": lambda p: torch.optim.Adagrad(p, lr=0.3, eps=eps),
        "RMSprop": lambda p: torch.optim.RMSprop(p, lr=0.02, alpha=0.9, eps=eps),
        "Adam": lambda p: torch.optim.Adam(p, lr=0.03, betas=(0.8, 0.99), eps=eps),
    }
    for name, make in makers.items():
        expected = torch_path(make, H, b, x0, 40)
        torch.testing.assert_close(torch.stack(paths[name]), expected, **tolerance(dtype))


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e6])
def test_the_first_adam_step_has_length_eta(size):
    g = normal(0, 5) * size
    theta, _, _ = ref.adam_step(torch.zeros_like(g), g, 0.0, 0.0, 1, 0.01, 0.9, 0.999, 1e-12)
    torch.testing.assert_close(theta, -0.01 * g.sign(), rtol=1e-6, atol=0)


def tuned(**more):
    given = dict(H=torch.diag(torch.tensor([1.0, 3.0]).double()), b=torch.zeros(2).double())
    given |= dict(theta0=torch.tensor([2.0, -1.0]).double(), method="plain", etas=[0.1, 0.3, 0.2])
    given |= dict(goal=-1.0, max_steps=6, edge=-1e9, beyond=math.nan)
    return ref.tune(**given | more)


def test_the_tuned_losses_are_the_closed_form_of_the_lowest_rate():
    eta, losses = tuned()
    k, c = np.arange(7)[:, None], np.array([1.0, 3.0])
    forms = {
        e: (c / 2 * (np.array([2, -1]) * (1 - e * c) ** k) ** 2).sum(1) for e in (0.1, 0.2, 0.3)
    }
    assert eta == min(forms, key=lambda e: forms[e][-1])
    np.testing.assert_allclose(losses, forms[eta], rtol=1e-12)


def test_a_run_ends_at_the_goal_and_the_shortest_wins():
    lengths = {eta: len(tuned(etas=[eta], goal=0.1, max_steps=99)[1]) for eta in (0.1, 0.3, 0.2)}
    eta, losses = tuned(goal=0.1, max_steps=99)
    assert len(losses) == lengths[eta] == min(lengths.values())
    assert losses[-1] <= 0.1 < losses[-2]


@pytest.mark.parametrize("beyond", [math.nan, math.inf, -math.inf])
def test_a_run_beyond_the_edge_is_lost(beyond):
    assert tuned(etas=[2.0, 0.3], edge=-1.0, beyond=beyond)[0] == 0.3
    assert tuned(etas=[2.0], edge=-1.0, beyond=beyond) is None


@pytest.mark.parametrize("beta1, beta2", [(0.9, 0.999), (0.5, 0.9), (0.0, 0.99)])
def test_the_simplified_ratio_is_the_recursion(beta1, beta2):
    v, G, expected = 0.0, 0.0, []
    for _ in range(1500):
        v, G = beta1 * v + 3.0, beta2 * G + 9.0
        expected.append(v / math.sqrt(G))
    ratio = ref.simplified_ratio(torch.arange(1, 1501), beta1, beta2)
    np.testing.assert_allclose(ratio, expected, rtol=1e-10)


@pytest.mark.parametrize("turn", [0.0, 30.0, 90.0, 180.0])
def test_roughness_of_a_regular_turn_is_that_turn(turn):
    heading = torch.deg2rad(torch.arange(8, dtype=torch.float64) * turn)
    path = torch.stack([heading.cos(), heading.sin()], dim=-1).cumsum(0)
    assert ref.roughness(path).item() == pytest.approx(turn, abs=1e-9)


def test_roughness_skips_rests_and_is_zero_without_a_turn():
    rest = torch.tensor([[0.0, 0], [1, 0], [1, 0], [1, 1], [2, 1]])
    assert ref.roughness(rest).item() == pytest.approx(90.0)
    assert ref.roughness(torch.ones(5, 2)).item() == 0
    assert ref.roughness(torch.tensor([[0.0, 0], [1, 0]])).item() == 0


@pytest.mark.parametrize(
    "name, sign", [("nor does a long one", 1), ("there and back turns by 180 degrees", -1)]
)
def test_the_long_paths_ask_for_clipped_cosines(name, sign):
    """Whatever the generator, an arccos without clipping is nan on some long path of the exercise."""
    for seed in range(100):
        excess = []
        for case, inputs in spec.roughness.draw_cases(np.random.default_rng(seed)):
            if case == name:
                a = np.diff(inputs["path"], axis=0)
                lengths = np.linalg.norm(a, axis=1)
                pairs = zip(a[:-1], a[1:], lengths[:-1] * lengths[1:], strict=True)
                excess += [sign * (u @ v / length) - 1 for u, v, length in pairs]
        assert 0 < max(excess) < 1e-12


# ------------------------------------------------------------ what it draws


def answer(exercise):
    """A right answer of the exercise, in numpy, that returns arrays."""
    function = exercise.right_answers[0].function

    def arrays(*given, **more):
        result = function(*given, **more)
        pair = isinstance(result, tuple) and not isinstance(result[1], tuple)
        return tuple(np.array(part) for part in result) if pair else result

    return arrays


def plain(theta, g, memory, t, eta):
    return theta - eta * g, memory


def momentum(theta, g, v, t, eta):
    v = 0.9 * v + g
    return theta - eta * v, v


ball, mean = (e.right_answers[0].function for e in (spec.heavy_ball, spec.ewa))
adagrad, rmsprop, adam = (answer(e) for e in (spec.adagrad_step, spec.rmsprop_step, spec.adam_step))
BEGIN = np.array([1.0, 0.3])


def rmsprop_as_given(theta, g, s, t, eta, beta):
    return rmsprop(theta, g, s, t, eta, beta)


@pytest.mark.parametrize("name", am.SURFACES)
def test_gradients_are_slopes_and_goals_are_minima(name, rng):
    place = am.SURFACES[name]
    for point in rng.normal(size=(5, 2)):
        slope = [(place.f(point + e) - place.f(point - e)) / 2e-5 for e in 1e-5 * np.eye(2)]
        np.testing.assert_allclose(place.grad(point), slope, rtol=1e-5, atol=1e-6)
    for goal in place.goals:
        np.testing.assert_allclose(place.grad(goal), 0, atol=1e-9)
        assert np.all(place.f(goal + 0.05 * rng.normal(size=(200, 2))) > place.f(goal))


@pytest.mark.parametrize(
    "method, make",
    [
        ((plain, 0.0), lambda p: torch.optim.SGD(p, lr=0.01)),
        ((momentum, 0.0), lambda p: torch.optim.SGD(p, lr=0.01, momentum=0.9)),
        ((adagrad, 0.0), lambda p: torch.optim.Adagrad(p, lr=0.01, eps=1e-8)),
        ((rmsprop, 0.0), lambda p: torch.optim.RMSprop(p, lr=0.01, alpha=0.99)),
        ((adam, (0.0, 0.0)), lambda p: torch.optim.Adam(p, lr=0.01)),
    ],
    ids=["SGD", "momentum", "AdaGrad", "RMSProp", "Adam"],
)
def test_a_walk_is_torchs_with_noise_too(method, make):
    noise = 0.5 * np.random.default_rng(7).normal(size=(40, 2))
    ours = am.walk(*method, am.RAVINE.grad, BEGIN, 40, 0.01, noise=0.5, seed=7)
    np.testing.assert_allclose(ours, am.torch_path(make, 40, noise), rtol=1e-9, atol=1e-9)


def test_nesterov_is_torchs():
    theirs = am.torch_path(lambda p: torch.optim.SGD(p, lr=0.005, momentum=0.9, nesterov=True), 40)
    ours = am.nesterov(am.RAVINE.grad, BEGIN, 0.005, 0.9, 40)
    # torch keeps the place looked ahead to: its iterate is ours moved on by eta gamma v
    ahead = ours + 0.9 * np.diff(ours, axis=0, prepend=ours[:1])
    np.testing.assert_allclose(ahead, theirs, rtol=1e-9, atol=1e-12)


def test_growing_momentum_keeps_nesterovs_bound():
    curvature = np.logspace(-5, 0, 60)
    path = am.nesterov(lambda x: curvature * x, np.ones(60), 1.0, None, 500)
    for t in (10, 100, 500):  # 2 L |x0 - x*|² / (t + 1)², each coordinate a problem of its own
        assert (curvature * path[t] ** 2 / 2).max() <= 2 / (t + 1) ** 2


def test_a_walk_that_diverges_stays_finite():
    path = am.walk(plain, 0.0, am.RAVINE.grad, BEGIN, 500, 1.0)
    assert np.isfinite(path).all() and np.abs(path[-1]).max() > 1e6


def test_the_simplified_adam_has_the_steps_of_its_formula():
    path = am.walk(am.simplified_step, (0.0, 0.0), lambda x: np.full(1, 3.0), (0.0,), 50, 1.0)
    expected = spec.simplified_ratio.right_answers[0].function(np.arange(1, 51))
    np.testing.assert_allclose(-np.diff(path[:, 0]), expected, rtol=1e-6)


def test_the_logistic_gradient_is_autograds_and_the_lowest_value_is_stationary(rng):
    X, y = rng.normal(size=(30, 4)), rng.integers(0, 2, 30).astype(float)
    loss, grad, L, lowest = am.logistic(X, y, 0.1)
    w = torch.tensor(rng.normal(size=5), requires_grad=True)
    scores = torch.from_numpy(X) @ w[:-1] + w[-1]
    expected = torch.nn.functional.binary_cross_entropy_with_logits(scores, torch.from_numpy(y))
    expected = expected + 0.05 * (w**2).sum()
    expected.backward()
    assert loss(w.detach().numpy()) == pytest.approx(expected.item())
    np.testing.assert_allclose(grad(w.detach().numpy()), w.grad.numpy())
    found = am.walk(plain, 0.0, grad, np.zeros(5), 2000, 1 / L)[-1]
    assert lowest == pytest.approx(loss(found), abs=1e-12)
    h = 1e-4 * rng.normal(size=(20, 5))
    assert all(np.linalg.norm(grad(e) - grad(-e)) <= 2 * L * np.linalg.norm(e) for e in h)


def test_adams_rates_undo_the_size_of_steady_gradients():
    slopes = np.array([1e-3, 1.0, 1e3])
    sizes, rates = am.adam_rates(adam, lambda theta: slopes, np.zeros(3), 0.01, 50)
    np.testing.assert_allclose(sizes, slopes)
    np.testing.assert_allclose(rates * slopes, 1)


def test_steps_to_counts_the_first_arrival():
    assert am.steps_to(np.array([[1.0], [1e-7], [1.0]])) == 1
    assert am.steps_to(np.array([[1.0], [0.5]])) is None


def test_the_next_words_gradient_is_autograds(rng):
    net, pairs = am.NextWord(12, d=3), rng.integers(0, 12, (20, 2))
    theta = torch.tensor(net.start() * 20, requires_grad=True)
    E, U = theta[:36].reshape(12, 3), theta[36:].reshape(3, 12)
    expected = torch.nn.functional.cross_entropy(E[pairs[:, 0]] @ U, torch.from_numpy(pairs[:, 1]))
    expected.backward()
    point = theta.detach().numpy()
    assert net.losses(point, pairs).mean() == pytest.approx(expected.item())
    np.testing.assert_allclose(net.grad(point, pairs), theta.grad.numpy(), atol=1e-12)


def test_bigrams_are_neighbours():
    pairs, counts = am.bigrams({"a": "the cat saw the dog. The cat", "b": "ran"}, n_words=2)
    # most frequent: the (0), cat (1); neighbours across an unknown word do not count
    assert pairs.tolist() == [[0, 1], [0, 1]] and counts.tolist() == [2, 0]


def test_training_lowers_the_loss_of_chance_or_is_lost():
    pairs, counts = am.bigrams(data.documents(), n_words=50)
    assert max(am.train_next_word(adam, (0.0, 0.0), 0.05, pairs, counts, 100)) < math.log(50)
    lost = am.train_next_word(plain, 0.0, 1e4, pairs, counts, 50)
    assert lost == (math.inf, math.inf)


# ---------------------------------------------------------------- controls


def test_the_average_tells_its_window_and_what_it_lacks():
    for beta, window in ((0.9, 10), (0.5, 2), (0.0, 1)):
        facts = controls.explorer(NOTEBOOK, "draw_average", beta=beta).words.facts
        assert facts["window"] == pytest.approx(window)
        assert facts["first"] == pytest.approx(1 - beta)
        assert facts["late"] == pytest.approx(1 - beta**90)


def shown(**moved):
    facts = controls.explorer(NOTEBOOK, "draw_ball", **moved).words.facts
    return {name: facts[name].facts for name in ("plain", "ball", "ahead")}


def test_the_laboratory_counts_the_steps_of_three_methods():
    told = shown(x=1.0, y=1.0, eta=0.01, gamma=0.9)
    assert told["ball"] == {"steps": 264} and told["ahead"]["steps"] < 264
    assert told["plain"]["left"] == pytest.approx(0.99**800)
    told = shown(eta=0.024, gamma=0.5)  # 2/L = 0.02 < 0.024 < 2 (1 + γ)/L
    assert told["ball"].keys() == {"steps"} and not told["plain"] and not told["ahead"]


@pytest.mark.parametrize("control, value", [("x", -0.5), ("y", 0.2), ("eta", 0.02), ("gamma", 0.8)])
def test_every_control_of_the_laboratory_changes_words_and_picture(control, value):
    widget = controls.explorer(NOTEBOOK, "draw_ball")
    before = widget.words, widget.picture.value
    widget.controls[control].value = value
    assert widget.words != before[0] and widget.picture.value != before[1]


def test_adams_first_move_in_a_bowl_is_alike_in_both():
    for ratio in (1.0, 10.0, 100.0):
        facts = controls.explorer(NOTEBOOK, "draw_bowl", ratio=ratio).words.facts
        np.testing.assert_allclose(facts["plain"], [1 / ratio, 1.0])
        np.testing.assert_allclose(facts["adam"], 0.5, rtol=1e-6)


def ends(**moved):
    told = controls.explorer(NOTEBOOK, "draw_track", **moved).words.facts["ends"]
    return {one.facts["name"]: one.facts.get("end") for one in told}


def test_the_race_track_tells_each_method_where_it_ends():
    told = ends(n_steps=150)
    assert told.keys() == {"gradient descent", "momentum", "AdaGrad", "RMSProp", "Adam"}
    # the flat coordinate decays by 1 - eta, the steep one is at 0 at once
    assert told["gradient descent"] == pytest.approx(0.99**150, rel=1e-6)
    assert ends(eta=1.0)["gradient descent"] is None


def test_the_race_track_has_noise_surfaces_and_a_start():
    still = ends()["gradient descent"]
    assert ends(batch=1)["gradient descent"] != still
    assert ends(x=0.5)["gradient descent"] == pytest.approx(still / 2, rel=1e-6)
    on_the_ridge = ends(surface="saddle", x=1.0, y=0.01, n_steps=100)
    assert on_the_ridge["gradient descent"] > 1 > on_the_ridge["momentum"]


# ---------------------------------------------------------------- what the figures say


def test_the_step_counts_of_the_tunings():
    _, words = am.draw_steps(am.tuned_runs(ball))
    counts = [one.facts["steps"] for one in words.facts["told"]]
    assert counts == [709, 1375, 264, 95]


def test_a_movie_goes_along_the_paths():
    paths = {"a": np.ones((4, 2)), "b": np.zeros((4, 2))}
    _, _, positions, words = am.draw_valley(paths)
    assert positions.shape == (4, 2, 2) and (positions[:, 0] == 1).all()
    assert [one.facts["end"] for one in words.facts["ends"]] == pytest.approx([math.sqrt(2), 0])


def test_only_rmsprop_forgets():
    _, words = am.draw_jump(adagrad, rmsprop_as_given)
    facts = words.facts
    assert facts["near"] < 0.5 < 1 < facts["far"]
    assert facts["fast"] == pytest.approx(100, rel=0.2)
    assert facts["slow"] == pytest.approx(1, abs=0.05)


def test_moments_need_their_correction():
    facts = am.draw_moments(mean)[1].facts
    # standard errors: 0.7 % of E[g], 1.7 % of E[g²] at t = 1
    assert facts["first"] == pytest.approx(1 - 0.9**50, abs=0.01)
    assert facts["second"] == pytest.approx(1 - 0.999**50, abs=0.002)
    assert facts["off"] <= 3


def test_the_race_names_the_first_to_arrive():
    curves = {
        n: np.array(c) for n, c in {"A, η = 1": [1.0, 0.5, 0.3], "B, η = 2": [1.0, 0.1]}.items()
    }
    curves |= {f"{n}, η = 1": np.array([1.0, 0.9, 0.8]) for n in "CDE"}
    fig, words = am.draw_race(curves, np.array([1.0, 10.0]), np.array([10.0, 0.1]))
    ax = fig.axes[0]
    assert "B arrives first" in (ax.get_title(), ax.get_title(loc="left"))
    assert words.facts["decades"] == pytest.approx(2)
    assert [one.facts["steps"] for one in words.facts["told"]] == [2, 1, 2, 2, 2]


def test_adagrad_wins_where_features_are_rare():
    facts = am.draw_sparse(plain, adagrad, np.geomspace(0.01, 2, 8), seeds=1)[1].facts
    assert facts["adagrad"] < 0.5 * facts["plain"] and facts["times"] > 3


def test_the_words_figure_names_best_and_worst():
    facts = am.draw_words({"A": (4.0, 4.5), "B": (4.2, 4.1), "C": (4.1, 4.9)})[1].facts
    assert facts == {"best": "B", "last": "C"}


def test_the_schedule_of_the_simplified_form():
    ratio = spec.simplified_ratio.right_answers[1].function
    facts = am.draw_schedule(rmsprop_as_given, ratio, {"plain": (plain, 0.0)}, 1200)[1].facts
    assert facts["top"] == 12 and facts["peak"] == pytest.approx(2.08, abs=0.005)
    assert facts["at"] == pytest.approx([1, 1.02, 0.40], abs=0.005)
    assert facts["times"] == pytest.approx(20)
