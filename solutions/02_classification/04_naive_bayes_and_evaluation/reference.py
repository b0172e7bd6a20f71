"""Naive Bayes and the evaluation of classifiers: counts, log posteriors, confusion, PR and ROC.

n rows, D features, k classes, K values a categorical feature, m distinct scores. Batches lead where noted.
Source: lecture notes moon 1.1 and 23.1, guo II.4, explainers 2.2.
"""

import torch
from torch import Tensor
from torch.nn.functional import one_hot

# ---------------------------------------------------------------- naive Bayes


def bernoulli_counts(
    X: Tensor, y: Tensor, C: int, alpha: float
) -> tuple[Tensor, Tensor]:
    """Class shares (*batch, C) and smoothed Bernoulli parameters (*batch, C, D).

    X (*batch, n, D) of 0 and 1, y (*batch, n) integers below C. theta = (N_cj + alpha) / (N_c + 2 alpha),
    and 1/2 where that is 0/0. Floating X keeps its dtype; other X counts in float64.
    """
    X = X if X.is_floating_point() else X.double()
    member = one_hot(y.long(), C).to(X.dtype)
    size = member.sum(-2)
    total = size.unsqueeze(-1) + 2 * alpha
    empty = total == 0
    theta = (member.mT @ X + alpha) / torch.where(empty, 1.0, total)
    return size / X.shape[-2], torch.where(empty, 0.5, theta)


def bernoulli_log_posterior(
    X: Tensor, pi: Tensor, theta: Tensor, repeats: int = 1
) -> Tensor:
    """log p(y = c | x) of every row and class -> (*batch, n, C); every feature stands there `repeats` times.

    X (*batch, n, D) of 0 and 1, pi (*batch, C) positive, theta (*batch, C, D) strictly between 0 and 1.
    """
    X = X.to(theta.dtype)
    likelihood = X @ theta.log().mT + (1 - X) @ (-theta).log1p().mT
    return torch.log_softmax(pi.log().unsqueeze(-2) + repeats * likelihood, -1)


def mixed_log_posterior(
    X: Tensor,
    y: Tensor,
    C: int,
    K: list[int],
    new_X: Tensor,
    alpha: float,
    repeats: int = 1,
) -> Tensor:
    """Naive Bayes fitted to X (n, D), y (n,), applied to new_X (m, D) -> log posterior (m, C).

    K[j] = 0: a normal distribution a class, its variance over the class's rows, with two different values
    or more in each class. K[j] > 0: categories below K[j], smoothed by alpha. Every column stands there
    `repeats` times.
    """
    member = one_hot(y.long(), C).to(X.dtype)
    size = member.sum(0)
    likelihood = X.new_zeros(len(new_X), C)
    for j, k in enumerate(K):
        x, new = X[:, j, None], new_X[:, j, None]
        if k:
            counts = member.mT @ one_hot(x[:, 0].long(), k).to(X.dtype)
            mu = (counts + alpha) / (size[:, None] + k * alpha)
            likelihood = likelihood + mu.log().mT[new[:, 0].long()]
        else:
            mean = (member * x).sum(0) / size
            var = (member * (x - mean).square()).sum(0) / size
            normal = torch.distributions.Normal(mean, var.sqrt(), validate_args=False)
            likelihood = likelihood + normal.log_prob(new)
    return torch.log_softmax((size / len(y)).log() + repeats * likelihood, -1)


# ---------------------------------------------------------------- scores of predictions


def prediction_score(y: Tensor, prediction: Tensor, kind: str) -> Tensor:
    """Mean squared error, its root, or accuracy of one test set -> a number.

    kind "mse", "rmse": y and prediction (M,). kind "accuracy": y (M,) class numbers, prediction (M, K)
    probabilities; the most probable class counts, the first of equal ones.
    """
    if kind == "accuracy":
        return (prediction.argmax(-1) == y).to(prediction.dtype).mean(-1)
    mse = (prediction - y).square().mean(-1)
    return mse.sqrt() if kind == "rmse" else mse


def confusion_counts(y: Tensor, yhat: Tensor, K: int) -> Tensor:
    """Rows actual, columns predicted: entry (a, b) counts the cases of class a called b. (n,), (n,) -> (K, K)."""
    cells = y.long() * K + yhat.long()
    return (
        cells.new_zeros(K * K)
        .scatter_add(0, cells, torch.ones_like(cells))
        .reshape(K, K)
    )


def ratio(part: Tensor, whole: Tensor) -> Tensor:
    """part / whole, and 0 where whole is 0."""
    return torch.where(whole == 0, 0.0, part / torch.where(whole == 0, 1.0, whole))


def averaged_scores(C: Tensor, kind: str) -> Tensor:
    """Macro-precision, macro-recall and macro-F1 of confusion matrices C (*batch, K, K) -> (*batch, 3).

    Rows are actual. kind "mean_of_f1" averages the classes' F1; "f1_of_means" takes F1 of the two
    averages. Every 0/0 counts as 0.
    """
    C = C if C.is_floating_point() else C.double()
    right = C.diagonal(dim1=-2, dim2=-1)
    precision, recall = ratio(right, C.sum(-2)), ratio(right, C.sum(-1))
    means = precision.mean(-1), recall.mean(-1)
    if kind == "mean_of_f1":
        f1 = ratio(2 * right, C.sum(-2) + C.sum(-1)).mean(-1)
    else:
        f1 = ratio(2 * means[0] * means[1], means[0] + means[1])
    return torch.stack([*means, f1], -1)


def precision_recall_f1(delta: float, scores: Tensor, y: Tensor) -> Tensor:
    """Precision, recall and F1 of "score > delta" -> (*batch, 3). scores, y (*batch, n), y 0 or 1; 0/0 is 0."""
    called, actual = (scores > delta).to(scores.dtype), y.to(scores.dtype)
    hits, said, there = (called * actual).sum(-1), called.sum(-1), actual.sum(-1)
    return torch.stack(
        [ratio(hits, said), ratio(hits, there), ratio(2 * hits, said + there)], dim=-1
    )


def roc_points(scores: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The ROC curve from (0, 0) to (1, 1), one point a distinct score, and the area under it.

    scores (n,), y (n,) of 0 and 1, both present -> fpr (m + 1,), tpr (m + 1,), area ().
    Each point counts "score >= threshold"; the area is that of the straight pieces between points.
    """
    levels = scores.unique().flip(0)
    called = (scores >= levels.unsqueeze(-1)).to(scores.dtype)
    start = scores.new_zeros(1)
    tpr = torch.cat([start, called[:, y == 1].mean(-1)])
    fpr = torch.cat([start, called[:, y == 0].mean(-1)])
    return fpr, tpr, torch.trapezoid(tpr, fpr)
