"""Naive Bayes and the evaluation of classifiers: counts, log posteriors, confusion, PR and ROC.

n rows, D features, k classes, K values a categorical feature, m distinct scores. Batches lead where noted.
Source: lecture notes moon 1.1 and 23.1, guo II.4, explainers 2.2.
"""

import math

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


def bernoulli_log_posterior(X: Tensor, pi: Tensor, theta: Tensor) -> Tensor:
    """log p(y = c | x) of every row and class -> (*batch, n, C).

    X (*batch, n, D) of 0 and 1, pi (*batch, C) positive, theta (*batch, C, D) strictly between 0 and 1.
    """
    X = X.to(theta.dtype)
    joint = pi.log().unsqueeze(-2) + X @ theta.log().mT + (1 - X) @ (-theta).log1p().mT
    return torch.log_softmax(joint, -1)


def gaussian_log_posterior(X: Tensor, y: Tensor, new_X: Tensor, C: int) -> Tensor:
    """Gaussian naive Bayes fitted to X (n, D), y (n,), applied to new_X (m, D) -> log posterior (m, C).

    Maximum likelihood: variances divide by the number of rows of the class. Every class needs two
    different values of every feature.
    """
    member = one_hot(y.long(), C).to(X.dtype)
    size = member.sum(0)
    mean = member.mT @ X / size[:, None]
    var = (member.unsqueeze(-1) * (X.unsqueeze(1) - mean).square()).sum(0) / size[
        :, None
    ]
    joint = (size / len(y)).log() - 0.5 * (
        (2 * math.pi * var).log() + (new_X.unsqueeze(1) - mean).square() / var
    ).sum(-1)
    return torch.log_softmax(joint, -1)


def categorical_log_posterior(
    X: Tensor, y: Tensor, new_X: Tensor, C: int, K: int, alpha: float
) -> Tensor:
    """Categorical naive Bayes with pseudo-counts alpha -> log posterior of new_X (m, D) as (m, C), float64.

    X (n, D) and new_X hold integers below K.
    """
    member = one_hot(y.long(), C).double()
    counts = torch.einsum("nc,njk->cjk", member, one_hot(X.long(), K).double())
    size = member.sum(0)
    log_mu = (counts + alpha).log() - (size + K * alpha).log()[:, None, None]
    joint = torch.einsum("mjk,cjk->mc", one_hot(new_X.long(), K).double(), log_mu)
    return torch.log_softmax((size / len(y)).log() + joint, -1)


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
