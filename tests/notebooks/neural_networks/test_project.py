"""The network project's truth: labels of the tables, levels by brute force, gradients by finite differences."""

import numpy as np
import pytest
import torch
from scipy.stats import binomtest
from sklearn.linear_model import LogisticRegression

from descent.pictures.neural_networks import project as pictures
from solutions import notebook_module
from tests.notebooks import controls

NOTEBOOK = "07_neural_networks/09_project"
ref = notebook_module(NOTEBOOK, "reference")


def network(sizes, seed=0):
    rng = np.random.default_rng(seed)
    draw = lambda *shape: torch.from_numpy(rng.normal(size=shape))  # noqa: E731
    return [(draw(b, a), draw(b)) for a, b in zip(sizes, sizes[1:], strict=False)]


@pytest.mark.parametrize("table", [ref.house_numbers, ref.wines], ids=lambda f: f.__name__)
def test_each_row_has_the_label_of_its_table(table):
    X, y = table()
    assert torch.equal(ref.labels(X[::7]), y[::7])
    assert len({tuple(row.tolist()) for row in X}) == len(y)  # no two rows are alike
    with pytest.raises(ValueError, match="in no table"):
        ref.labels(X[:2] + 0.5)


def test_wines_are_standardised():
    X, _ = ref.wines()
    np.testing.assert_allclose(X.mean(0), 0, atol=1e-12)
    np.testing.assert_allclose(X.numpy().std(0), 1)


def test_the_pattern_is_that_of_quadrants_around_another_point():
    X = torch.tensor([[0.6, 0.2], [0.6, -0.6], [0.4, -0.6], [-1.0, -0.4]])
    assert ref.labels(X).tolist() == [1, 0, 1, 0]


@pytest.mark.parametrize(("bits", "step"), [(2, 0.5), (3, 0.1), (8, 2.0)])
def test_no_other_code_is_nearer(bits, step):
    T = torch.from_numpy(np.random.default_rng(0).normal(0, 3 * step, (6, 5)))
    codes = ref.to_codes(T, bits, step)
    top = 2 ** (bits - 1) - 1
    assert int(codes.abs().max()) <= top
    for other in range(-top, top + 1):
        assert bool(((T - step * codes.double()).abs() <= (T - step * other).abs() + 1e-12).all())


@pytest.mark.parametrize(
    ("d", "k", "depth", "budget"), [(64, 10, 1, 2260), (5, 3, 2, 200), (30, 5, 1, 34)]
)
def test_the_widest_network_fits_and_the_next_does_not(d, k, depth, budget):
    def count(h):
        sizes = [d, *[h] * depth, k]
        layers = [torch.nn.Linear(a, b) for a, b in zip(sizes, sizes[1:], strict=False)]
        return sum(p.numel() for layer in layers for p in layer.parameters())

    h = ref.widest(d, k, depth, budget)
    assert count(h + 1) > budget and (h == 0 or count(h) <= budget)


@pytest.mark.parametrize("sizes", [[3, 2], [3, 4, 2], [2, 5, 4, 3]])
def test_gradients_are_finite_differences(sizes):
    params = network(sizes)
    rng = torch.Generator().manual_seed(0)
    X = torch.randn(6, sizes[0], dtype=torch.float64, generator=rng)
    y = torch.randint(sizes[-1], (6,), generator=rng)
    loss, grads = ref.loss_and_grads(params, X, y)
    p = ref.scores(params, X).softmax(1)
    assert loss.item() == pytest.approx(-p[range(6), y].log().mean().item())
    for layer, (dW, db) in zip(params, grads, strict=True):
        for parameter, grad in zip(layer, (dW, db), strict=True):
            index = tuple(0 for _ in parameter.shape)
            kept = parameter[index].item()
            ends = []
            for step in (1e-6, -1e-6):
                parameter[index] = kept + step
                ends.append(ref.loss_and_grads(params, X, y)[0].item())
            parameter[index] = kept
            assert (ends[0] - ends[1]) / 2e-6 == pytest.approx(grad[index].item(), abs=1e-7)


@pytest.mark.parametrize(("only_a", "only_b"), [(0, 0), (3, 0), (7, 7), (2, 9), (90, 70)])
def test_the_sign_test_is_scipys_binomial_test(only_a, only_b):
    right_a = torch.tensor([True] * (only_a + 5) + [False] * (only_b + 2))
    right_b = torch.tensor([False] * only_a + [True] * (5 + only_b) + [False] * 2)
    n = only_a + only_b
    p = binomtest(only_a, n).pvalue if n else 1.0
    assert ref.versus(right_a, right_b).tolist() == pytest.approx([only_a, only_b, p])


# ------------------------------------------------------------ the colleagues


def test_the_title_tells_what_the_colleagues_readers_are_worth():
    X, odd, digits = pictures.house_numbers()
    learn, trial, locked = pictures.split()
    assert sorted(np.concatenate([learn, trial, locked])) == list(range(1797))
    assert np.array_equal(odd, digits % 2)
    line, net = pictures.colleagues().values()
    sizes = [4 * pictures.numbers_of(layers) for layers in (line, net)]
    assert sizes == [260, 8452] and [-(-size // 140) for size in sizes] == [2, 61]
    shares = [np.mean(pictures.says_odd(layers, X[trial]) == odd[trial]) for layers in (line, net)]
    assert shares == pytest.approx([0.92, 0.99], abs=0.006)
    model = LogisticRegression(max_iter=1000).fit(X[learn], odd[learn])
    assert np.array_equal(pictures.says_odd(line, X), model.predict(X))


@pytest.mark.parametrize("bits", [2, 3, 5])
def test_levels_are_the_references_codes(bits):
    layers = [tuple(p.numpy() for p in layer) for layer in network([4, 3, 2])]
    for (W, b), (V, c) in zip(layers, pictures.on_levels(layers, bits), strict=True):
        step = max(np.abs(W).max(), np.abs(b).max()) / (2 ** (bits - 1) - 1)
        for fine, coarse in zip((W, b), (V, c), strict=True):
            codes = ref.to_codes(torch.from_numpy(fine), bits, step).numpy()
            np.testing.assert_allclose(coarse, step * codes, atol=1e-12)


# ------------------------------------------------------------ what it draws


def test_the_last_level_is_dragged_and_the_words_follow():
    def facts(edge):
        return controls.explorer(NOTEBOOK, "draw_levels", edge=edge).words.facts

    far, near, best = facts(1.6), facts(0.1), facts(0.75)
    assert far["beyond"] == 0 and near["beyond"] > 0.4 > near["nothing"]
    assert far["nothing"] > 0.5
    assert 2 < 0.75 / best["rms"] < 3  # as the text says
    assert best["error"] < 0.6 * min(far["error"], near["error"])
    assert best["share"] > max(far["share"], near["share"]) + 0.02


def test_four_bits_read_nearly_as_well_as_32_and_two_do_not():
    X, odd, _ = pictures.house_numbers()
    rows = pictures.split()[1]
    facts = pictures.draw_bits(X[rows], odd[rows])[1].facts
    assert facts["four"] > facts["full"] - 1.5 and facts["two"] < 85
    assert facts["messages"] == 8
    assert facts["four"] == pytest.approx(100 * pictures.share_on(4, X[rows], odd[rows]))


def test_a_training_that_knows_its_levels_is_told_apart():
    def train(X, y, sizes, rng, rounded):
        """Ones that carry the sign of what rounding does to them: no training at all."""
        layers = [(np.ones((b, a)), np.zeros(b)) for a, b in zip(sizes, sizes[1:], strict=False)]
        rounded(layers)
        return layers

    def codes(T, bits, step):
        return ref.to_codes(torch.as_tensor(T), bits, step).numpy()

    units, after, during = pictures.rounding(train, codes, ref.widest, [16, 3, 2])
    assert units == [1, 5, 8] and after == during
    assert pictures.helps(train, codes, ref.widest) == 0
    words = pictures.draw_rounding([16, 3, 2], units, [0.6, 0.9, 0.8], [0.7, 0.9, 0.95])[1]
    assert words.facts == {"after": 0.8, "during": 0.95, "units": 1, "fine": 0.7}


def test_the_words_of_the_other_pictures():
    X, odd, digits = pictures.house_numbers()
    assert pictures.draw_houses(X, odd, digits)[1].facts["n"] == 1797
    _, words = pictures.draw_message(bytes(range(41)), 0.95)
    assert words.facts == {"n": 41, "share": 0.95}
    rows = pictures.split()[2]
    _, words = pictures.draw_frontier([140, 280], [0.95, 0.97], X[rows], odd[rows])
    assert words.facts["one"] == 0.95 and words.facts["net"] > 0.97 > words.facts["line"]
    line, net = words.facts["line"], words.facts["net"]
    assert words.facts["way"] == pytest.approx((0.95 - line) / (net - line))
    facts = pictures.draw_duels({"line": (9, 2, 0.07), "net": (0, 0, 1.0)})[1].facts
    assert facts == {"a0": 9, "b0": 2, "p0": 0.07, "a1": 0, "b1": 0, "p1": 1.0}


def test_the_misread_are_those_on_the_wrong_side():
    X, odd, digits = (part[:30] for part in pictures.house_numbers())
    called = odd.copy()
    called[[3, 8]] = 1 - called[[3, 8]]
    facts = pictures.draw_misread(X, digits, called)[1].facts
    assert facts["wrong"] == 2 and facts["names"] == f"{digits[3]}, {digits[8]}"
    assert facts["error"] == pytest.approx(100 * np.sqrt(28 * 2 / 30**3))
    assert pictures.draw_misread(X, digits, odd)[1].facts["names"] == "none"
