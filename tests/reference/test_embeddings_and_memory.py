"""Embedding and memory references against torch's own layers, autograd, scikit-learn and brute force."""

import numpy as np
import pytest
import torch
from scipy.optimize import approx_fprime
from sklearn.metrics import log_loss
from sklearn.metrics.pairwise import cosine_similarity

from solutions.reference import embeddings_and_memory as ref
from tests.reference.contract import assert_any_device, assert_inputs_left_alone

DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
BATCHES = pytest.mark.parametrize("batch", [(), (2,), (2, 3)], ids=str)


def tolerance(dtype):
    if dtype == torch.float32:
        return dict(rtol=1e-4, atol=1e-5)
    return dict(rtol=1e-9, atol=1e-11)


def normal(*shape, dtype=torch.float64, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape)).to(dtype)


# ---------------------------------------------------------------- look-up


@DTYPES
@pytest.mark.parametrize("ids", [[[3, 0], [1, 1]], [2], []], ids=str)
def test_lookup_is_torchs_embedding_layer(ids, dtype):
    W, ids = normal(4, 6, dtype=dtype), torch.tensor(ids, dtype=torch.long)
    assert torch.equal(ref.embed(ids, W), torch.nn.functional.embedding(ids, W.T))


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


# ---------------------------------------------------------------- the contract of every reference

WORDS = torch.tensor([0, 3, 3])
CALLS = {
    "embed": lambda dtype: (WORDS, normal(2, 4, dtype=dtype)),
    "bigram_grads": lambda dtype: (
        WORDS,
        WORDS.flip(0),
        normal(2, 4, dtype=dtype),
        normal(4, 2, dtype=dtype),
    ),
    "skipgram_loss": lambda dtype: (
        normal(3, dtype=dtype),
        normal(3, dtype=dtype, seed=1),
        normal(2, 3, dtype=dtype),
    ),
    "cosine": lambda dtype: (normal(3, dtype=dtype), normal(3, dtype=dtype, seed=1)),
    "solve_analogy": lambda dtype: (normal(5, 3, dtype=dtype), 0, 1, 2),
    "tied_grads": lambda dtype: (0, 1, normal(2, 4, dtype=dtype), normal(2, 2, dtype=dtype)),
    "hebbian_memory": lambda dtype: (normal(4, 3, dtype=dtype), normal(4, 2, dtype=dtype)),
    "crosstalk": lambda dtype: (normal(4, 3, dtype=dtype), normal(4, 2, dtype=dtype)),
    "relu_memory": lambda dtype: (
        normal(4, 3, dtype=dtype),
        normal(5, 3, dtype=dtype),
        normal(2, 5, dtype=dtype),
    ),
}


@DTYPES
@pytest.mark.parametrize("name", CALLS)
def test_inputs_are_left_alone(name, dtype):
    assert_inputs_left_alone(getattr(ref, name), CALLS[name](dtype))


@pytest.mark.parametrize("name", CALLS)
def test_no_value_and_no_device_is_assumed(name):
    assert_any_device(getattr(ref, name), CALLS[name](torch.float64))
