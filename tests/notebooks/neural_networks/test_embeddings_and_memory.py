"""Embedding and memory references against torch's own layers, autograd, scikit-learn and brute force."""

import re

import numpy as np
import pytest
import torch
from ipywidgets import Dropdown, IntSlider, SelectionSlider
from scipy.optimize import approx_fprime
from sklearn.metrics import log_loss
from sklearn.metrics.pairwise import cosine_similarity

from descent.pictures.neural_networks import embeddings_and_memory as em
from descent.widgets import Explorer
from solutions import notebook_module

ref = notebook_module("07_neural_networks/07_embeddings_and_memory", "reference")


DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
BATCHES = pytest.mark.parametrize("batch", [(), (2,), (2, 3)], ids=str)


def tolerance(dtype):
    if dtype == torch.float32:
        return dict(rtol=1e-4, atol=1e-5)
    return dict(rtol=1e-9, atol=1e-11)


def normal(*shape, dtype=torch.float64, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape)).to(dtype)


# ---------------------------------------------------------------- look-up


def test_the_gradient_of_a_lookup_adds_up_repeats():
    W, ids, upstream = normal(3, 5), torch.tensor([4, 1, 4]), normal(3, 3, seed=1)
    W.requires_grad_()
    (ref.embed(ids, W) * upstream).sum().backward()
    expected = np.zeros((5, 3))
    np.add.at(expected, ids.numpy(), upstream.numpy())
    np.testing.assert_allclose(W.grad.T, expected)


# ---------------------------------------------------------------- bigram


@DTYPES
def test_bigram_gradients_are_those_of_torchs_cross_entropy(dtype):
    x, y = torch.tensor([1, 1, 4, 0]), torch.tensor([2, 0, 4, 3])
    table = torch.nn.Embedding.from_pretrained(normal(5, 3, dtype=dtype), freeze=False, sparse=True)
    layer = torch.nn.Linear(3, 5, bias=False, dtype=dtype)
    (-torch.nn.functional.cross_entropy(layer(table(x)), y)).backward()
    got = ref.bigram_grads(x, y, table.weight.detach().T, layer.weight.detach())
    torch.testing.assert_close(got[0].T, table.weight.grad.to_dense(), **tolerance(dtype))
    torch.testing.assert_close(got[1], layer.weight.grad, **tolerance(dtype))
    assert got[0].dtype == got[1].dtype == dtype


@BATCHES
def test_a_batch_of_bigram_models_is_a_loop(batch):
    x, y = (torch.from_numpy(np.random.default_rng(s).integers(0, 5, (*batch, 4))) for s in (0, 1))
    We, Wu = normal(*batch, 3, 5), normal(*batch, 5, 3, seed=1)
    got = ref.bigram_grads(x, y, We, Wu)
    flat = zip(
        x.reshape(-1, 4), y.reshape(-1, 4), We.reshape(-1, 3, 5), Wu.reshape(-1, 5, 3), strict=True
    )
    for number, arguments in enumerate(flat):
        one = ref.bigram_grads(*arguments)
        torch.testing.assert_close(got[0].reshape(-1, 3, 5)[number], one[0])
        torch.testing.assert_close(got[1].reshape(-1, 5, 3)[number], one[1])


def test_only_the_input_words_columns_move_and_all_rows():
    got = ref.bigram_grads(torch.tensor([2]), torch.tensor([0]), normal(3, 6), normal(6, 3, seed=1))
    assert torch.nonzero(got[0].abs().sum(0)).ravel().tolist() == [2]
    assert torch.all(got[1].abs().sum(1) > 0)


# ---------------------------------------------------------------- skip-gram


@DTYPES
@BATCHES
@pytest.mark.parametrize("negatives", [0, 1, 4])
def test_skipgram_gradients_are_autograds(negatives, batch, dtype):
    shapes = (*batch, 3), (*batch, 3), (*batch, negatives, 3)
    vectors = [normal(*s, dtype=dtype, seed=i).requires_grad_() for i, s in enumerate(shapes)]
    loss, *grads = ref.skipgram_loss(*vectors)
    assert loss.shape == batch and loss.dtype == dtype
    for got, expected in zip(grads, torch.autograd.grad(loss.sum(), vectors), strict=True):
        torch.testing.assert_close(got.detach(), expected, **tolerance(dtype))


def test_the_loss_is_scikit_learns_log_loss():
    w_c, w_o, W_n = normal(3), normal(3, seed=1), normal(4, 3, seed=2)
    dots = np.array([w_c @ w_o, *(W_n @ w_c)])
    expected = log_loss([1, 0, 0, 0, 0], 1 / (1 + np.exp(-dots)), normalize=False)
    assert ref.skipgram_loss(w_c, w_o, W_n)[0].item() == pytest.approx(expected)


def test_hopeless_pairs_cost_their_dot_product():
    far = torch.tensor([1000.0]), torch.tensor([-1.0]), torch.tensor([[1.0]])
    assert ref.skipgram_loss(*far)[0].item() == pytest.approx(2000)


# ---------------------------------------------------------------- analogies


def brute(vecs, a, b, c, exclude):
    scores = cosine_similarity(vecs, (vecs[b] - vecs[a] + vecs[c])[None])[:, 0]
    allowed = [i for i in range(len(vecs)) if not (exclude and i in (a, b, c))]
    return max(allowed, key=lambda i: (round(scores[i], 12), -i))


@DTYPES
@pytest.mark.parametrize("exclude", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_analogies_are_scikit_learns_cosines(seed, exclude, dtype):
    vecs = normal(9, 4, seed=seed, dtype=dtype)
    vecs[7] = 0
    got = ref.solve_analogy(vecs, 3, 1, 4, exclude)
    assert got.item() == brute(vecs.double().numpy(), 3, 1, 4, exclude)


def test_a_batch_of_tables_is_a_loop():
    vecs = normal(2, 3, 6, 4)
    got = ref.solve_analogy(vecs, 0, 1, 2)
    assert got.shape == (2, 3)
    assert got.ravel().tolist() == [
        ref.solve_analogy(v, 0, 1, 2).item() for v in vecs.reshape(-1, 6, 4)
    ]


def test_a_zero_target_answers_with_the_first_word_allowed():
    vecs = torch.tensor([[1.0, 0], [0, 1.0], [1.0, -1.0], [2.0, 2.0], [1.0, 3.0]])
    assert ref.solve_analogy(vecs, 0, 1, 2, exclude=True).item() == 3
    assert ref.solve_analogy(vecs, 0, 1, 2, exclude=False).item() == 0


# ---------------------------------------------------------------- tied weights


@DTYPES
@BATCHES
@pytest.mark.parametrize("x, y", [(0, 3), (2, 2)])
def test_tied_gradients_are_autograds(x, y, batch, dtype):
    We = normal(*batch, 3, 5, dtype=dtype).requires_grad_()
    Wa = normal(*batch, 3, 3, dtype=dtype, seed=1).requires_grad_()
    scores = We.mT @ (Wa @ We[..., x : x + 1])
    J = torch.log_softmax(scores[..., 0], -1)[..., y].sum()
    for got, expected in zip(
        ref.tied_grads(x, y, We.detach(), Wa.detach()),
        torch.autograd.grad(J, (We, Wa)),
        strict=True,
    ):
        assert got.dtype == dtype
        torch.testing.assert_close(got, expected, **tolerance(dtype))


def test_tied_gradients_are_finite_differences():
    We, Wa = normal(2, 3), normal(2, 2, seed=1)

    def J(flat):
        E = flat.reshape(2, 3)
        s = E.T @ Wa.numpy() @ E[:, 1]
        return s[0] - np.log(np.exp(s).sum())

    slopes = approx_fprime(We.numpy().ravel(), J, 1e-7)
    np.testing.assert_allclose(ref.tied_grads(1, 0, We, Wa)[0].ravel(), slopes, atol=1e-5)


# ---------------------------------------------------------------- memories


@DTYPES
@BATCHES
def test_memory_and_crosstalk_are_loops(batch, dtype):
    A, B = normal(*batch, 4, 3, dtype=dtype), normal(*batch, 4, 2, dtype=dtype, seed=1)
    W, noise = ref.hebbian_memory(A, B), ref.crosstalk(A, B)
    assert W.dtype == noise.dtype == dtype
    for number, (keys, values) in enumerate(
        zip(A.reshape(-1, 4, 3), B.reshape(-1, 4, 2), strict=True)
    ):
        keys, values = keys.double().numpy(), values.double().numpy()
        expected = sum(np.outer(b, a) for a, b in zip(keys, values, strict=True))
        np.testing.assert_allclose(W.reshape(-1, 2, 3)[number], expected, **tolerance(dtype))
        for k in range(4):
            others = [i for i in range(4) if i != k]
            expected = sum((keys[i] @ keys[k]) * values[i] for i in others)
            np.testing.assert_allclose(
                noise.reshape(-1, 4, 2)[number, k], expected, **tolerance(dtype)
            )


def test_orthonormal_keys_recall_exactly():
    A = torch.linalg.qr(normal(6, 6))[0][:4]
    B = normal(4, 3, seed=1)
    torch.testing.assert_close(A @ ref.hebbian_memory(A, B).T, B)
    torch.testing.assert_close(ref.crosstalk(A, B), torch.zeros_like(B), rtol=0, atol=1e-12)


@pytest.mark.parametrize("n, d", [(5, 8), (20, 8), (20, 50)])
def test_crosstalk_of_random_keys_has_the_predicted_size(n, d):
    A = torch.nn.functional.normalize(normal(400, n, d), dim=-1)
    B = torch.nn.functional.normalize(normal(400, n, d, seed=1), dim=-1)
    square = ref.crosstalk(A, B).square().sum(-1).mean().item()
    assert square == pytest.approx((n - 1) / d, rel=0.1)  # four standard errors or more


def test_the_relu_memory_is_torchs_sequential():
    W_in, W_out, h = normal(5, 3), normal(2, 5, seed=1), normal(4, 3, seed=2)
    net = torch.nn.Sequential(
        torch.nn.Linear(3, 5, bias=False), torch.nn.ReLU(), torch.nn.Linear(5, 2, bias=False)
    ).double()
    net[0].weight.data, net[2].weight.data = W_in, W_out
    torch.testing.assert_close(ref.relu_memory(h, W_in, W_out), net(h).detach())
    torch.testing.assert_close(
        ref.relu_memory(3 * h, W_in, W_out), 3 * ref.relu_memory(h, W_in, W_out)
    )


# ------------------------------------------------------------ what it draws


def numbers(words):
    return [float(text) for text in re.findall(r"-?\d+\.\d+|-?\d+", words)]


# ---------------------------------------------------------------- corpus and counts


def test_first_names_are_always_followed_by_last_names():
    corpus = em.numbered(em.toy_corpus(500))
    counts = em.count_table(em.next_pairs(corpus.texts), len(corpus.words))
    for first, last in em.NAMES.items():
        row = counts[corpus.index[first]]
        assert row[corpus.index[last]] == row.sum() > 0


def test_pairs_are_those_of_a_plain_loop():
    texts = [np.array([0, 1, 2, 1]), np.array([3, 0])]
    for window in (1, 2, 5):
        expected = sorted(
            (int(t[i]), int(t[j]))
            for t in texts
            for i in range(len(t))
            for j in range(len(t))
            if 0 < abs(i - j) <= window
        )
        assert sorted(map(tuple, em.context_pairs(texts, window).tolist())) == expected
    assert em.next_pairs(texts).tolist() == [[0, 1], [1, 2], [2, 1], [3, 0]]
    table = em.count_table(em.context_pairs(texts, 1), 4)
    assert table[1, 2] == table[2, 1] == 2 and table.sum() == 8


def test_full_vectors_rebuild_the_positive_information():
    rng = np.random.default_rng(0)
    counts = rng.poisson(3, (6, 6)).astype(float) + 1
    counts = counts + counts.T
    p = counts / counts.sum()
    ppmi = np.maximum(np.log(p / np.outer(p.sum(1), p.sum(0))), 0)
    vectors = em.ppmi_vectors(counts, 6)
    np.testing.assert_allclose(vectors @ vectors.T, _square_root(ppmi @ ppmi.T), atol=1e-9)


def _square_root(matrix):
    values, axes = np.linalg.eigh(matrix)
    return axes * np.sqrt(np.maximum(values, 0)) @ axes.T


def test_words_of_a_kind_are_nearer():
    corpus, vectors = em.toy_world()
    gaps = em.distances(em.unit(vectors))
    cat, dog, car, bus = (corpus.index[w] for w in ("cat", "dog", "car", "bus"))
    assert gaps[cat, dog] < gaps[cat, car] and gaps[car, bus] < gaps[dog, bus]


def test_a_smoothed_table_is_a_distribution_and_nears_the_counts():
    counts = np.random.default_rng(0).poisson(5, (4, 4)).astype(float)
    table = em.smoothed_table(counts)
    np.testing.assert_allclose(table.sum(1), 1)
    near = em.smoothed_table(1e9 * counts)
    np.testing.assert_allclose(near, counts / counts.sum(1, keepdims=True), atol=1e-6)


def test_the_manual_is_split_without_loss():
    texts = {"a": "the cat, the dog and the cat " * 60, "b": "A dog!"}
    manual = em.read_manual(texts, size=4)
    assert manual.corpus.words[0] == "the" and len(manual.corpus.words) == 4
    assert manual.train.sum() > 3 * manual.valid.sum() > 0
    assert np.all(manual.window >= 0) and np.allclose(manual.window, manual.window.T)


# ---------------------------------------------------------------- training


def test_a_wide_bigram_model_learns_the_shares():
    counts = np.array([[8.0, 1, 1], [0, 5, 5], [4, 4, 2]])
    P = em.fit_bigram(counts, 3, steps=800)
    np.testing.assert_allclose(P, counts / counts.sum(1, keepdims=True), atol=0.02)


def test_symmetric_scores_cannot_learn_a_circle():
    days = 100 * np.roll(np.eye(7), 1, axis=1)
    P, E, _ = em.fit_scores(days, 7, 200, "identity")
    assert np.any(P.argmax(1) != (np.arange(7) + 1) % 7)
    np.testing.assert_allclose(P, torch.softmax(torch.tensor(E.T @ E), 1), rtol=1e-3)
    learnt = em.fit_scores(days, 2, 300, "learnt")[0]
    assert np.all(learnt.argmax(1) == (np.arange(7) + 1) % 7)


def test_the_expected_loss_ends_at_the_information():
    """Enough dimensions: dot products are log N_ij / (l N_i q_j)."""
    counts = np.array([[6.0, 2, 4], [2, 8, 5], [4, 5, 3]])
    W, C = em.fit_skipgram(counts, d=3, negatives=2, steps=2000)
    q = counts.sum(0) ** 0.75 / np.sum(counts.sum(0) ** 0.75)
    expected = np.log(counts / (2 * counts.sum(1, keepdims=True) * q))
    np.testing.assert_allclose(W @ C.T, expected, atol=0.02)


def _grads(w_c, w_o, W_n):
    return [t.numpy() for t in ref.skipgram_loss(*map(torch.from_numpy, (w_c, w_o, W_n)))]


@pytest.fixture(scope="module")
def trained():
    corpus = em.numbered(em.toy_corpus(400))
    pairs = em.context_pairs(corpus.texts, 5)
    marks = (0, 500)
    return corpus, em.skipgram(pairs, len(corpus.words), _grads, steps=4000, marks=marks)[2]


def test_snapshots_move_towards_sense(trained):
    corpus, seen = trained
    steps = sorted(seen)
    assert steps == [0, 500, 4000]
    widget = Explorer(
        em.snapshot_explorer(corpus, seen), dict(step=SelectionSlider(value=0, options=steps))
    )
    first = numbers(widget.words)
    widget.controls["step"].value = 4000
    last = numbers(widget.words)
    assert last[0] == 4000 and first[0] == 0
    assert last[3] > 0.3 > first[3]  # the arrows from he to she become parallel


# ---------------------------------------------------------------- analogies


def test_questions_are_all_ordered_pairs_of_pairs():
    asked = em.quads([("a", "b"), ("c", "d"), ("e", "f")])
    assert len(asked) == 6 and ("a", "b", "c", "d") in asked and ("c", "d", "a", "b") in asked


def test_a_perfect_parallelogram_scores_one():
    index = dict(zip("abcdef", range(6), strict=True))
    base = np.random.default_rng(0).normal(size=(3, 4))
    step = np.array([0.5, 0.0, 0.0, 1.0])
    vectors = np.vstack([base, base + step])[[0, 3, 1, 4, 2, 5]]
    pairs = [("a", "b"), ("c", "d"), ("e", "f")]

    def answer(vecs, a, b, c, exclude):
        return ref.solve_analogy(torch.from_numpy(vecs), a, b, c, exclude).item()

    assert em.score_analogies(answer, vectors, index, pairs, True) == 1
    assert em.parallelism(vectors, index, pairs) == pytest.approx(1)
    assert 0 <= em.nearest_scores(vectors, index, pairs) <= 1


# ---------------------------------------------------------------- codes


def test_the_opening_gives_no_number_of_the_one_hot_distance_away():
    fig, words = em.draw_opening()
    assert "equally far apart" in words and "1.4" not in words
    ticks = [
        t.get_text() for ax in fig.axes for t in (*ax.get_xticklabels(), *ax.get_yticklabels())
    ]
    assert not any("1.4" in tick for tick in ticks)


def test_labels_of_a_map_stand_apart():
    """Two points close by: their labels take different corners."""
    points = np.array([[0.5, 0.5], [0.51, 0.5], [0.0, 0.0], [1.0, 1.0]])
    corners = em._corners(points, ["one", "two", "far", "away"])
    assert corners[0] != corners[1]


@pytest.fixture
def codes():
    return Explorer(
        em.draw_codes,
        dict(
            kind=Dropdown(
                value="one-hot", options=["one-hot", "few-hot", "random dense", "learnt"]
            ),
            d=IntSlider(8, min=1, max=16),
        ),
    )


def test_one_hots_are_all_the_square_root_of_two_apart(codes):
    size, used, low, high, near, far, same = numbers(codes.words)
    assert (size, used, same) == (20, 1.0, 0)
    assert low == high == near == far == 1.41


def test_few_hot_words_can_share_a_code(codes):
    codes.controls["kind"].value = "few-hot"
    size, _, low, _, near, far, same = numbers(codes.words)
    assert size == 12 and low == near == 0 < far and same > 0


def test_learnt_codes_tell_kinds_apart_once_there_is_room(codes):
    codes.controls["kind"].value = "learnt"
    codes.controls["d"].value = 16
    size, *_, near, far, _ = numbers(codes.words)
    assert size == 16 and 0.5 < near < far - 0.15
    codes.controls["d"].value = 2
    *_, near, far, same = numbers(codes.words)
    assert near <= far < 0.2 and same == 0  # two axes do not tell them apart
    codes.controls["d"].value = 4
    *_, near, far, _ = numbers(codes.words)
    assert near < 0.01 < 0.5 < far
    codes.controls["kind"].value = "random dense"
    assert numbers(codes.words)[4] > 0.5


# ---------------------------------------------------------------- tied models


def test_stars_mark_the_word_nearest_to_each_image():
    turn = np.array([[0.0, -1], [1, 0]])  # by a quarter: east to north, north to west
    E = np.array([[1.0, 0, -1], [0, 2, 0]])
    index = dict(east=0, north=1, west=2)
    fig, words = em.draw_associations(E, turn, index, ["east", "north", "west"], ["east", "north"])
    assert "east to north, north to west" in words
    assert fig.axes[1].lines[0].get_ydata().tolist() == [1, 2]


# ---------------------------------------------------------------- memories


@pytest.mark.parametrize("n, d", [(16, 64), (64, 64), (256, 64)])
def test_recall_errs_as_predicted(n, d):
    error, _ = em.measure_recall("random", n, d, repeats=6)
    assert error == pytest.approx(np.sqrt((n - 1) / d), rel=0.06)


def test_the_pseudo_inverse_is_exact_up_to_d_and_leaves_its_share_beyond():
    assert em.measure_recall("pseudo-inverse", 20, 20)[0] < 1e-6
    error, _ = em.measure_recall("pseudo-inverse", 80, 20, repeats=10)
    assert error == pytest.approx(np.sqrt(1 - 20 / 80), rel=0.03)


@pytest.fixture
def memory():
    return Explorer(
        em.draw_memory,
        dict(
            keys=Dropdown(value="random", options=["orthonormal", "random", "pseudo-inverse"]),
            n=SelectionSlider(value=64, options=[16, 64, 128, 256]),
            d=SelectionSlider(value=64, options=[16, 64, 256]),
        ),
    )


def test_the_readout_follows_the_sliders(memory):
    n, d, error, theory, found = numbers(memory.words)
    assert (n, d, theory) == (64, 64, 0.99) and abs(error - theory) < 0.1 and found >= 98
    memory.controls["n"].value = 256
    *_, error, theory, found = numbers(memory.words)
    assert abs(error - 2) < 0.15 and 60 < found < 90
    memory.controls["keys"].value = "pseudo-inverse"
    assert numbers(memory.words)[2] < 0.95


def test_orthonormal_keys_are_exact_or_impossible(memory):
    memory.controls["keys"].value = "orthonormal"
    assert numbers(memory.words)[2] == 0
    memory.controls["n"].value = 128
    assert "cannot be orthonormal" in memory.words
    with pytest.raises(ValueError, match="no 128 orthonormal keys"):
        em.pairs_of("orthonormal", 128, 64, np.random.default_rng(0))


def test_a_hidden_layer_holds_no_more_facts_than_units_until_it_is_trained(rng):
    A, B = em.pairs_of("random", 12, 4, rng)
    for m, exact in ((24, True), (8, False)):
        fit = em.fit_mlp_memory(A[None], B[None], m, steps=0)
        error = em.recall_error(em.mlp_memory(A[None], *fit)[0], B)
        assert (error < 1e-5) == exact
    trained = em.fit_mlp_memory(A[None], B[None], 8, steps=200)
    assert em.recall_error(em.mlp_memory(A[None], *trained)[0], B) < error


def test_padding_rows_change_nothing(rng):
    A, B = em.pairs_of("random", 6, 4, rng)
    alone = em.fit_mlp_memory(A[None], B[None], 5, steps=20)
    long = em.fit_mlp_memory(em.padded([A], 9), em.padded([B], 9), 5, steps=20)
    for one, other in zip(alone, long, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-8)


def test_the_path_between_keys_is_told_with_its_kinks():
    t = np.linspace(0, 1, 11)
    _, words = em.draw_path(t, t, np.abs(t - 0.5), np.array([0.5]), [0.5, 0.5])
    assert "changes slope at 1 places" in words
