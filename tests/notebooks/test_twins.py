"""References that a library has too: on the cases of their own exercise, both give the same."""

import numpy as np
import pytest
import scipy.linalg
import torch
import torch.nn.functional as F  # noqa: N812 — as everybody writes it
from scipy import signal, special, stats
from scipy.spatial.distance import cdist, pdist
from sklearn import metrics
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold, cross_val_score
from statsmodels.regression.linear_model import GLS
from statsmodels.stats.contingency_tables import mcnemar

from tests.notebooks.cases import drawn

t = torch.as_tensor
ACTS = {
    "identity": lambda z: z,
    "relu": F.relu,
    "leaky": lambda z: F.leaky_relu(z, 0.01),
    "elu": F.elu,
    "sigmoid": F.sigmoid,
    "tanh": F.tanh,
}
GLM_LOSSES = {
    "gaussian": lambda eta, y: F.mse_loss(eta, y) / 2,
    "bernoulli": F.binary_cross_entropy_with_logits,
    "poisson": F.poisson_nll_loss,
}
SCORES = {
    "mse": metrics.mean_squared_error,
    "rmse": metrics.root_mean_squared_error,
    "accuracy": lambda y, p: metrics.accuracy_score(y, p.argmax(1)),
}


def ridge(X, y, lam):
    model = Ridge(lam, solver="svd").fit(X, y)
    return model.coef_, model.intercept_


def with_slope(function, z):
    """A torch function and its derivative by autograd."""
    z = torch.tensor(z, dtype=torch.float64, requires_grad=True)
    value = function(z)
    value.sum().backward()
    return value.detach(), z.grad


def paired(y, called_a, called_b):
    table = metrics.confusion_matrix(called_a == y, called_b == y, labels=[True, False])
    return table[0, 1], table[1, 0], mcnemar(table, exact=True).pvalue


def clipped(grads, c):
    leaves = [torch.zeros(np.shape(g), dtype=torch.float64) for g in grads]
    for leaf, g in zip(leaves, grads, strict=True):
        leaf.grad = torch.tensor(g, dtype=leaf.dtype)
    torch.nn.utils.clip_grad_norm_(leaves, c)
    return [leaf.grad for leaf in leaves]


def normaliser(kind, gamma, beta, mean, var, eps, momentum, batches, trains, dY=None):
    gamma, beta = (torch.tensor(a, requires_grad=True) for a in (gamma, beta))
    told = dict(outs=[], mean=torch.tensor(mean), var=torch.tensor(var))  # moved in place
    for A, train in zip(batches, trains, strict=True):
        A = torch.tensor(A, dtype=torch.float64, requires_grad=True)
        if kind == "batch":
            how = gamma, beta, train, momentum, eps
            told["outs"].append(F.batch_norm(A, told["mean"], told["var"], *how))
        elif kind == "layer":
            told["outs"].append(F.layer_norm(A, A.shape[1:], gamma, beta, eps))
        else:
            told["outs"].append(F.rms_norm(A, A.shape[1:], gamma, eps) + beta)
    if dY is not None:
        slopes = torch.autograd.grad(told["outs"][-1], (A, gamma, beta), torch.tensor(dY))
        told |= dict(zip(("dA", "dgamma", "dbeta"), slopes, strict=True))
    return {name: [v.detach() for v in vs] if name == "outs" else vs for name, vs in told.items()}


def skipgram(w_c, w_o, W_n):
    def loss(c, o, n):
        return -F.logsigmoid(c @ o) - F.logsigmoid(-n @ c).sum()

    words = t(w_c), t(w_o), t(W_n)
    return [loss(*words), *torch.autograd.functional.jacobian(loss, words)]


def pooled(X, size, stride, mode):
    X = t(X).double()
    if mode == "mean":
        return F.avg_pool2d(X, size, stride)
    sign = 1 if mode == "max" else -1
    return sign * F.max_pool2d(sign * X, size, stride)


def pool_slopes(X, G, size, stride, mode):
    leaf = torch.tensor(X[None, None], dtype=torch.float64, requires_grad=True)
    pool = F.max_pool2d if mode == "max" else F.avg_pool2d
    return torch.autograd.grad(pool(leaf, size, stride), leaf, t(G)[None, None])[0][0, 0]


def null_part(beta, X):
    N = scipy.linalg.null_space(X)
    return N @ (N.T @ beta)


def fold_errors(X, y, k, ridge):
    model, mse = Ridge(ridge, fit_intercept=False), "neg_mean_squared_error"
    return -cross_val_score(model, X, y, cv=KFold(k), scoring=mse)


def best_rate(p, n, M):
    """Mean lowest rate from the probabilities of the lowest count."""
    at_least = stats.binom.sf(np.arange(-1, n + 1), n, p) ** M
    return np.sum(np.arange(n + 1) * -np.diff(at_least)) / n


def polynomial(x, y, K, new_x):
    fit = np.polynomial.Polynomial.fit(x, y, K)  # on x mapped to -1 … 1
    u = np.polynomial.polyutils.mapdomain(x, fit.domain, [-1, 1])
    return np.vander(u, K + 1, increasing=True), fit.coef, fit(new_x)


def entropies(probs, truth):
    centre = stats.gmean(probs, axis=0)
    centre /= centre.sum()
    spread = np.mean([stats.entropy(centre, row) for row in probs])
    return stats.entropy(truth), stats.entropy(truth, centre), spread


def hat(X):
    Q = scipy.linalg.orth(X, rcond=1e-10)
    return Q @ Q.T


def roc(scores, y):
    fpr, tpr, _ = metrics.roc_curve(y, scores, drop_intermediate=False)
    return fpr, tpr, metrics.roc_auc_score(y, scores)


def precision_recall(delta, scores, y):
    told = metrics.precision_recall_fscore_support(
        y, scores > delta, average="binary", zero_division=0
    )
    return np.array(told[:3])


def torch_rnn(ids, E, W, b, h0):
    if ids.shape[1] == 0:  # torch wants a step
        return h0[None]
    rnn = torch.nn.RNN(*E.shape, batch_first=True).double()
    with torch.no_grad():
        for own, given in zip(rnn.parameters(), (E.T, W.T, b, 0 * b), strict=True):
            own.copy_(t(given))
        states, _ = rnn(F.one_hot(t(ids), len(E)).double(), t(h0)[None])
    return np.concatenate([h0[None], states.transpose(0, 1).numpy()])


def loaded(cell, *weights):
    with torch.no_grad():
        for own, given in zip(cell.parameters(), weights, strict=True):
            own.copy_(t(given))
    return cell


def torch_lstm_cell(x, h, c, W, U, b):
    cell = loaded(torch.nn.LSTMCell(len(W), len(U)).double(), W.T, U.T, b, 0 * b)
    new_h, new_c = cell(t(x), (t(h), t(c)))
    i, f, g, o = (t(x @ W + h @ U + b)).chunk(4, 1)
    gates = torch.stack([i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()])
    return new_h.detach(), new_c.detach(), gates


def torch_gru_cell(x, h, W, U, b, reset_after):
    r, u = torch.sigmoid(t(x @ W + h @ U + b)[:, : 2 * len(U)]).chunk(2, 1)
    if reset_after:
        cell = loaded(torch.nn.GRUCell(len(W), len(U)).double(), W.T, U.T, b, 0 * b)
        return cell(t(x), t(h)).detach(), torch.stack([r, u])
    # torch has no such cell; its RNN cell, told r * h, is the candidate
    H = len(U)
    parts = W[:, 2 * H :].T, U[:, 2 * H :].T, b[2 * H :], 0 * b[2 * H :]
    new = loaded(torch.nn.RNNCell(len(W), H).double(), *parts)(t(x), r * t(h))
    return (u * t(h) + (1 - u) * new).detach(), torch.stack([r, u])


def jacobian_of_stream(V, W, k, h0):
    def run(h):
        hs = [h]
        for v in t(V):
            hs.append(k * hs[-1] + torch.tanh(hs[-1] @ t(W) + v))
        return torch.stack(hs)

    start = t(h0).double()  # may be of whole numbers
    slopes = torch.autograd.functional.jacobian(lambda h: run(h)[-1], start)
    return run(start), slopes.T


# Notebook -> exercise -> what a library gives for the inputs of a case, as students get them.
TWINS = {
    "00_start_here/01_how_this_course_works": {
        "average": lambda x: np.mean(x, axis=0),
        "nearest": lambda rows, x: cdist([x], rows)[0].argmin(),
    },
    "01_regression/01_least_squares": {
        "skew_kurt": lambda x: (stats.skew(x), stats.kurtosis(x)),
        "gauss_loglik": lambda errors, sigma: stats.norm.logpdf(errors, scale=sigma).sum(),
    },
    "01_regression/02_multiple_regression": {
        "hat_matrix": hat,
        "min_norm": lambda X, y: scipy.linalg.lstsq(X, y, cond=1e-10)[0],
        "wls": lambda X, y, R: GLS(y, X, sigma=R).fit().params,
    },
    "01_regression/03_ridge_and_lasso": {
        "ridge": ridge,
        "ridge_dual": lambda X, y, lam: KernelRidge(alpha=lam).fit(X, y).dual_coef_,
        "soft_threshold": lambda a, lam: F.softshrink(t(a).double(), lam),
    },
    "01_regression/04_bias_variance_and_validation": {
        "cv_scores": fold_errors,
        "expected_best": best_rate,
        "ce_decompose": entropies,
    },
    "01_regression/05_double_descent": {"nullspace_part": null_part},
    "02_classification/02_logistic_regression": {
        "sigmoid": lambda z: {"value": special.expit(z), "overflow": False},
        "nll_and_grad": lambda w, X, y: with_slope(
            lambda v: F.binary_cross_entropy_with_logits(t(X).double() @ v, t(y).double()), w
        ),
    },
    "02_classification/03_generalised_linear_models": {
        "glm_grad": lambda X, y, w, family: with_slope(
            lambda v: GLM_LOSSES[family](t(X).double() @ v, t(y).double()), w
        )[1],
        "softmax": lambda Z, T: special.softmax(Z / T, axis=-1),
        "softmax_grad": lambda W, X, labels: with_slope(
            lambda w: F.cross_entropy(t(X).double() @ w, t(labels)), W
        ),
        "fit_poly": polynomial,
    },
    "02_classification/04_naive_bayes_and_evaluation": {
        "score": lambda y, prediction, kind: SCORES[kind](y, prediction),
        "confusion": lambda y, yhat, K: metrics.confusion_matrix(y, yhat, labels=range(K)),
        "pr_at": precision_recall,
        "roc": roc,
    },
    "02_classification/05_project": {"mcnemar": paired},
    "03_optimisation/01_gradient_descent": {
        "logistic_smoothness": lambda X, lam: scipy.linalg.svdvals(X)[0] ** 2 / len(X) / 4 + lam,
    },
    "03_optimisation/03_stochastic_training": {"clip_by_norm": clipped},
    "07_neural_networks/01_one_hidden_layer": {
        "mlp1_forward": lambda X, W1, b1, w2, b2: F.linear(
            F.linear(t(X), t(W1), t(b1)).relu(), t(w2)
        ) + b2,
    },
    "07_neural_networks/03_approximation_and_depth": {
        "activation": lambda name, z: with_slope(ACTS[name], z),
    },
    "07_neural_networks/04_initialisation_and_normalisation": {
        "distinct_units": lambda W, b, V: np.unique(np.vstack([W, b, V.T]), axis=1).shape[1],
        "Norm": normaliser,
        "rmsnorm_jacobian": lambda h, eps: torch.autograd.functional.jacobian(
            lambda x: F.rms_norm(x, x.shape, eps=eps), torch.tensor(h, dtype=torch.float64)
        ),
    },
    "07_neural_networks/06_softmax_networks": {
        "dxent": lambda S, Q: with_slope(lambda s: F.cross_entropy(s, t(Q)), S),
    },
    "07_neural_networks/07_embeddings_and_memory": {
        "parallelism": lambda vecs, pairs: np.mean(
            1 - pdist(np.diff(vecs[pairs], axis=1)[:, 0], "cosine")
        ),
        "sgns_loss": skipgram,
        "tied_grads": lambda x, y, We, Wa: torch.autograd.functional.jacobian(
            lambda E, A: F.cross_entropy(E.T @ (A @ E[:, x]), t(y)), (t(We), t(Wa))
        ),
    },
    "08_convolutional_networks/01_convolution": {
        "correlate2d": lambda X, K, flip: (signal.convolve2d if flip else signal.correlate2d)(
            X, K, mode="valid"
        ),
        "conv2d": lambda X, W, b, stride, pad: F.conv2d(t(X), t(W), t(b), stride, pad),
        "pool2d": pooled,
        "conv_matrix": lambda K, h, w: np.array(
            [
                signal.correlate2d(lit.reshape(h, w), K, mode="valid").ravel()
                for lit in np.eye(h * w)
            ]
        ).T,
        "pool_grad": pool_slopes,
    },
    "08_convolutional_networks/02_convolution_backward": {
        "input_slopes": lambda G, W, h, w, stride, pad: torch.nn.grad.conv2d_input(
            (len(G), W.shape[1], h, w), t(W), t(G), stride, pad
        ),
        "weight_slopes": lambda X, G, a, k, stride, pad: (
            torch.nn.grad.conv2d_weight(
                t(X), (G.shape[1], X.shape[1], a, k), t(G), stride, pad
            ),
            t(G).sum((0, 2, 3)),
        ),
        "conv_transpose2d": lambda G, W, b, stride, pad: F.conv_transpose2d(
            t(G), t(W), t(b), stride, pad
        ),
    },
    "09_recurrent_networks/01_rnn_and_bptt": {
        "rnn_forward": torch_rnn,
        "probe": lambda H, y, H_new: np.insert(H_new, 0, 1, axis=1)
        @ scipy.linalg.lstsq(np.insert(H, 0, 1, axis=1), np.eye(y.max() + 1)[y])[0],
    },
    "09_recurrent_networks/02_lstm_and_gru": {
        "lstm_step": torch_lstm_cell,
        "gru_step": torch_gru_cell,
        "stream": jacobian_of_stream,
    },
    "09_recurrent_networks/04_seq2seq_and_beam_search": {
        "context": lambda s, H: (
            torch.softmax(t(H) @ t(s)[:, :, None], 1)[:, :, 0],
            F.scaled_dot_product_attention(t(s)[:, None], t(H), t(H), scale=1.0)[:, 0],
        ),
    },
}  # fmt: skip

EXACT = 1e-10  # both compute in float64
# Relative tolerances that differ, each with its reason.
LOOSER = {
    "hat_matrix": 1e-6,  # columns that differ in their eighth digit
    "min_norm": 1e-7,  # the same columns: 1e-16 times their condition number, 2e8
    "clip_by_norm": 1e-5,  # torch adds 1e-6 to the norm
}
# Cases that the library refuses.
REFUSED = {
    "Norm": {"training on a single row", "backward, a single row"},
}


@pytest.mark.parametrize(
    ("notebook", "name"), [(notebook, name) for notebook in TWINS for name in TWINS[notebook]]
)
def test_a_reference_is_its_twin_in_a_library(notebook, name):
    exercise, cases = drawn(notebook, name)
    kept = [inputs for case, inputs in cases if case not in REFUSED.get(name, ())]
    assert len(kept) >= 3
    for inputs in kept:
        expected = leaves(TWINS[notebook][name](**plain(inputs)))
        for got, wanted in zip(leaves(exercise.reference(**inputs)), expected, strict=True):
            rtol = LOOSER.get(name, EXACT)
            np.testing.assert_allclose(got, wanted, rtol=rtol, atol=rtol / 100, strict=True)


def leaves(value) -> list:
    """The arrays and numbers in a value, as float64 arrays."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [leaf for item in value for leaf in leaves(item)]
    return [np.asarray(value, dtype=float)]


def plain(value):
    """A copy with NumPy arrays in place of tensors."""
    if isinstance(value, torch.Tensor):
        return value.numpy().copy()
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value
