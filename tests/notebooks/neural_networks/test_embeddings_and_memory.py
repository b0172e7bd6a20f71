"""Embeddings and memory: references against torch, scikit-learn and brute force; what the notebook draws."""

import numpy as np
import pytest
import torch
from sklearn.metrics import log_loss
from sklearn.metrics.pairwise import cosine_similarity

from descent.pictures.neural_networks import embeddings_and_memory as em
from solutions import notebook_module
from tests.notebooks import controls

NOTEBOOK = "07_neural_networks/07_embeddings_and_memory"
ref = notebook_module(NOTEBOOK, "reference")


def normal(*shape, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape))


# ---------------------------------------------------------------- references


def test_the_next_word_model_is_torchs_embedding_layer_trained_by_sgd():
    We, Wu = normal(3, 5), normal(5, 3, seed=1)
    x, y = torch.tensor([1, 1, 4, 0, 2]), torch.tensor([2, 0, 4, 3, 2])
    table = torch.nn.Embedding.from_pretrained(We.T.clone(), freeze=False)
    layer = torch.nn.Linear(3, 5, bias=False, dtype=torch.float64)
    layer.weight.data = Wu.clone()
    close = torch.testing.assert_close
    close(ref.next_word("embed", We, Wu, x, y), table(x).detach())
    close(ref.next_word("predict", We, Wu, x, y), layer(table(x)).softmax(1).detach())
    batches = torch.tensor([[0, 1, 2], [1, 3, 4]])
    optimizer = torch.optim.SGD([table.weight, layer.weight], lr=0.7)
    losses = []
    for number, rows in enumerate(batches):
        optimizer.zero_grad()
        losses.append(torch.nn.functional.cross_entropy(layer(table(x[rows])), y[rows]))
        losses[-1].backward()
        if number == 0:
            dWe, dWu = ref.next_word("grads", We, Wu, x[rows], y[rows])
            close(dWe.T, table.weight.grad)
            close(dWu, layer.weight.grad)
        optimizer.step()
    got = ref.next_word("train", We, Wu, x, y, batches, 0.7)
    close(torch.stack(got[0]), torch.stack(losses).detach())
    close(got[1].T, table.weight.detach())
    close(got[2], layer.weight.detach())


def test_the_gradient_of_a_lookup_adds_up_repeats_and_leaves_the_rest():
    x, y = torch.tensor([2, 2, 5]), torch.tensor([0, 1, 2])
    We, Wu = normal(3, 6), normal(6, 3, seed=1)
    both, _ = ref.next_word("grads", We, Wu, x, y)
    assert torch.nonzero(both.abs().sum(0)).ravel().tolist() == [2, 5]
    single = [ref.next_word("grads", We, Wu, x[i : i + 1], y[i : i + 1])[0] for i in range(3)]
    torch.testing.assert_close(both, sum(single) / 3)


def test_the_skipgram_loss_is_scikit_learns_log_loss():
    w_c, w_o, W_n = normal(3), normal(3, seed=1), normal(4, 3, seed=2)
    dots = np.array([w_c @ w_o, *(W_n @ w_c)])
    expected = log_loss([1, 0, 0, 0, 0], 1 / (1 + np.exp(-dots)), normalize=False)
    assert ref.skipgram_loss(w_c, w_o, W_n)[0].item() == pytest.approx(expected)


def test_hopeless_pairs_cost_their_dot_product():
    far = torch.tensor([1000.0]), torch.tensor([-1.0]), torch.tensor([[1.0]])
    assert ref.skipgram_loss(*far)[0].item() == pytest.approx(2000)


@pytest.mark.parametrize("exclude", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_analogies_are_scikit_learns_cosines(seed, exclude):
    vecs = normal(9, 4, seed=seed)
    vecs[7] = 0
    scores = cosine_similarity(vecs, (vecs[1] - vecs[3] + vecs[4])[None])[:, 0].round(12)
    allowed = [i for i in range(9) if not (exclude and i in (3, 1, 4))]
    best = max(allowed, key=lambda i: (scores[i], -i))
    assert ref.solve_analogy(vecs, 3, 1, 4, exclude).item() == best


def test_a_zero_target_answers_with_the_first_word_allowed():
    vecs = torch.tensor([[1.0, 0], [0, 1.0], [1.0, -1.0], [2.0, 2.0], [1.0, 3.0]])
    assert ref.solve_analogy(vecs, 0, 1, 2, exclude=True).item() == 3
    assert ref.solve_analogy(vecs, 0, 1, 2, exclude=False).item() == 0


def test_memory_and_crosstalk_are_plain_sums():
    A, B = normal(4, 3), normal(4, 2, seed=1)
    W, noise = ref.crosstalk(A, B)
    expected = sum(np.outer(b, a) for a, b in zip(A, B, strict=True))
    np.testing.assert_allclose(W, expected)
    for k in range(4):
        others = sum((A[i] @ A[k]) * B[i] for i in range(4) if i != k)
        torch.testing.assert_close(noise[k], others)


def test_orthonormal_keys_recall_exactly():
    A, B = torch.linalg.qr(normal(6, 6))[0][:4], normal(4, 3, seed=1)
    W, noise = ref.crosstalk(A, B)
    torch.testing.assert_close(A @ W.T, B)
    assert noise.abs().max() < 1e-12


@pytest.mark.parametrize("n, d", [(5, 8), (20, 8), (20, 50)])
def test_crosstalk_of_random_keys_has_the_predicted_size(n, d):
    A = torch.nn.functional.normalize(normal(400, n, d), dim=-1)
    B = torch.nn.functional.normalize(normal(400, n, d, seed=1), dim=-1)
    square = ref.crosstalk(A, B)[1].square().sum(-1).mean().item()
    assert square == pytest.approx((n - 1) / d, rel=0.1)  # four standard errors or more


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


def test_full_vectors_rebuild_the_positive_information():
    counts = np.random.default_rng(0).poisson(3, (6, 6)).astype(float) + 1
    counts = counts + counts.T
    p = counts / counts.sum()
    ppmi = np.maximum(np.log(p / np.outer(p.sum(1), p.sum(0))), 0)
    vectors = em.ppmi_vectors(counts, 6)
    gram = vectors @ vectors.T  # its square is the square of the table
    np.testing.assert_allclose(gram @ gram, ppmi @ ppmi.T, atol=1e-9)


def test_a_smoothed_table_is_a_distribution_and_nears_the_counts():
    counts = np.random.default_rng(0).poisson(5, (4, 4)).astype(float)
    np.testing.assert_allclose(em.smoothed_table(counts).sum(1), 1)
    near = em.smoothed_table(1e9 * counts)
    np.testing.assert_allclose(near, counts / counts.sum(1, keepdims=True), atol=1e-6)


def test_the_manual_is_split_without_loss():
    texts = {"a": "the cat, the dog and the cat " * 60, "b": "A dog!"}
    manual = em.read_manual(texts, size=4)
    assert manual.corpus.words[0] == "the" and len(manual.corpus.words) == 4
    assert manual.train.sum() > 3 * manual.valid.sum() > 0
    assert np.all(manual.window >= 0) and np.allclose(manual.window, manual.window.T)


# ---------------------------------------------------------------- training


def test_a_wide_model_learns_the_shares_of_next_words():
    counts = np.array([[8.0, 1, 1], [0, 5, 5], [4, 4, 2]])
    P = em.fit_scores(counts, 3, steps=800)[0]
    np.testing.assert_allclose(P, counts / counts.sum(1, keepdims=True), atol=0.02)


def test_symmetric_scores_cannot_learn_a_circle():
    days = 100 * np.roll(np.eye(7), 1, axis=1)
    P, E, _ = em.fit_scores(days, 7, 200, "identity")
    assert np.any(P.argmax(1) != (np.arange(7) + 1) % 7)
    np.testing.assert_allclose(P, torch.softmax(torch.tensor(E.T @ E), 1), rtol=1e-3)


def test_the_expected_loss_ends_at_the_information():
    """Enough dimensions: dot products are log N_ij / (l N_i q_j)."""
    counts = np.array([[6.0, 2, 4], [2, 8, 5], [4, 5, 3]])
    W, C = em.fit_skipgram(counts, d=3, negatives=2, steps=2000)
    q = counts.sum(0) ** 0.75 / np.sum(counts.sum(0) ** 0.75)
    expected = np.log(counts / (2 * counts.sum(1, keepdims=True) * q))
    np.testing.assert_allclose(W @ C.T, expected, atol=0.02)


# ---------------------------------------------------------------- analogies


def test_a_perfect_parallelogram_is_answered_and_a_swapped_one_is_not():
    base = np.random.default_rng(0).normal(size=(3, 4))
    vectors = np.vstack([base, base + [0.5, 0, 0, 1]])[[0, 3, 1, 4, 2, 5]]
    corpus = em.numbered([], list("abcdef"))
    pairs = [("a", "b"), ("c", "d"), ("e", "f")]
    assert len(em.quads(pairs)) == 6 and ("c", "d", "a", "b") in em.quads(pairs)

    def answer(vecs, a, b, c, exclude):
        return ref.solve_analogy(torch.from_numpy(vecs), a, b, c, exclude).item()

    custom, strict, rival = em.score_analogies(answer, vectors, corpus, pairs)
    assert custom == strict == 1 and 0 <= rival <= 1
    swapped = [("a", "b"), ("d", "c"), ("e", "f")]
    assert em.score_analogies(answer, vectors, corpus, swapped)[0] < 1


def test_labels_of_a_map_stand_apart():
    points = np.array([[0.5, 0.5], [0.52, 0.5], [0.0, 0.0], [1.0, 1.0]])
    assert em._corners(points, ["one", "two", "far", "away"])[:2] == [(False, True), (True, True)]
    ((right, _),) = em._corners(points[:1], ["one"], avoid=[(0.6, 0.53), (0.6, 0.47)])
    assert not right


# ---------------------------------------------------------------- pictures that move


def codes(**moved):
    return controls.explorer(NOTEBOOK, "draw_codes", **moved).words.facts


def test_one_hots_are_alike_few_hots_can_coincide_and_codes_from_counts_need_room():
    one = codes(kind="one-hot")
    assert one["size"] == 20 and one["low"] == one["high"] == pytest.approx(2**0.5)
    few = codes(kind="few-hot")
    assert few["size"] == 12 and few["near"] == 0 < few["far"] and few["same"] == 2
    flat, roomy = (codes(kind="from counts", d=d) for d in (2, 4))
    assert flat["far"] < 0.2 and roomy["near"] < 0.01 < 0.5 < roomy["far"]
    assert codes(kind="random dense", d=16)["near"] > 0.5


def played(**moved):
    return controls.explorer(NOTEBOOK, "snapshot_explorer", **moved).words.facts


def test_playing_the_training_brings_cat_nearer_to_dog_than_to_car():
    first, last = played(frame=0), played(frame=24)
    assert (first["step"], last["step"]) == (0, 30_000)
    assert last["near"] > last["far"] + 0.1 > first["near"]


def test_words_that_are_used_alike_are_nearer_than_words_that_stand_together():
    assert played(frame=24, word="cat")["found"][0] == "meat"  # which only dogs eat
    assert played(frame=24, word="obama")["found"][0] == "albert"


def memory(**moved):
    return controls.explorer(NOTEBOOK, "draw_memory", **moved).words


def test_the_memory_errs_as_predicted_when_it_is_filled():
    half, full = memory(n=64, d=64).facts, memory(n=256, d=64).facts
    assert abs(half["error"] - half["theory"]) < 0.1 and half["found"] > 0.97
    assert full["error"] == pytest.approx(2, abs=0.15) and 0.6 < full["found"] < 0.9
    solved = memory(keys="pseudo-inverse", n=256, d=64).facts["error"]
    assert solved == pytest.approx(np.sqrt(1 - 64 / 256), abs=0.05)


def test_orthonormal_keys_are_exact_or_impossible():
    assert memory(keys="orthonormal", n=64, d=64).facts["error"] < 1e-12
    assert "cannot be orthonormal" in memory(keys="orthonormal", n=65, d=64)
    with pytest.raises(ValueError, match="no 128 orthonormal keys"):
        em.pairs_of("orthonormal", 128, 64, np.random.default_rng(0))


# ---------------------------------------------------------------- pictures that stand


def test_stars_mark_the_word_nearest_to_each_image():
    turn = np.array([[0.0, -1], [1, 0]])  # by a quarter: east to north, north to west
    E, index = np.array([[1.0, 0, -1], [0, 2, 0]]), dict(east=0, north=1, west=2)
    fig, words = em.draw_associations(E, turn, index, ["east", "north", "west"], ["east", "north"])
    assert words.facts["steps"] == ["east to north", "north to west"]
    assert fig.axes[1].lines[0].get_ydata().tolist() == [1, 2]


def test_the_sparsity_picture_counts_what_moves():
    _, words = em.draw_sparsity(
        np.eye(3)[:, [1, 1, 0]] * [0, 1, 0], np.ones((3, 2)), "abc", "b", "a"
    )
    assert (words.facts["touched"], words.facts["moved"], words.facts["V"]) == (1, 3, 3)


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


def test_the_relu_memory_is_torchs_sequential():
    W_in, W_out, h = normal(5, 3), normal(2, 5, seed=1), normal(4, 3, seed=2)
    net = torch.nn.Sequential(
        torch.nn.Linear(3, 5, bias=False), torch.nn.ReLU(), torch.nn.Linear(5, 2, bias=False)
    ).double()
    net[0].weight.data, net[2].weight.data = W_in, W_out
    got = em.mlp_memory(*(part.numpy() for part in (h, W_in, W_out)))
    np.testing.assert_allclose(got, net(h).detach())
