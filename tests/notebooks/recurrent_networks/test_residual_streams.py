"""References and pictures of 09_recurrent_networks/03_residual_streams against nudges, paths, scikit-learn."""

import functools
import itertools

import numpy as np
import pytest
import torch
from sklearn.linear_model import Lasso

from descent.pictures.recurrent_networks import residual_streams as pictures
from solutions import notebook_module
from tests.notebooks import controls

NOTEBOOK = "09_recurrent_networks/03_residual_streams"
ref = notebook_module(NOTEBOOK, "reference")


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def small(rng, B=3, K=4, d=3, T=3):
    """ids, targets, [E, Ws, bs, U] as tensors."""
    params = [0.7 * rng.normal(size=s) for s in ((K, d), (T, d, d), (T, d), (d, K))]
    ids, targets = (torch.tensor(rng.integers(K, size=B)) for _ in range(2))
    return ids, targets, [torch.tensor(p) for p in params]


@pytest.mark.parametrize("skip", [0.0, 0.5, 1.0])
def test_all_slopes_are_those_of_nudges(skip, rng):
    ids, targets, params = small(rng)
    told = ref.resmlp_grads(ids, targets, *params, skip)
    for i, slopes in enumerate(told["grads"]):
        for place in np.ndindex(*slopes.shape):
            ends = []
            for sign in (1, -1):
                moved = [p.clone() for p in params]
                moved[i][place] += sign * 1e-6
                ends.append(ref.resmlp_grads(ids, targets, *moved, skip)["loss"])
            slope = float(ends[0] - ends[1]) / 2e-6
            assert float(slopes[place]) == pytest.approx(slope, abs=1e-8)


def test_a_message_is_the_sum_over_all_paths_of_the_last_one(rng):
    ids, targets, (E, Ws, bs, U) = small(rng)
    hs, told = ref.resmlp_forward(ids, E, Ws, bs), ref.resmlp_grads(ids, targets, E, Ws, bs, U)
    for row in range(len(ids)):
        added = hs[1:, row] - hs[:-1, row]
        paths = ref.path_sums(Ws * (1 - added**2)[:, None, :]).sum(0)
        torch.testing.assert_close(told["messages"][0, row], paths @ told["messages"][-1, row])


def test_all_choices_of_blocks_one_by_one_give_the_sums(rng):
    Js = torch.tensor(rng.normal(size=(5, 3, 3)))
    for k, found in enumerate(ref.path_sums(Js)):
        total = torch.zeros(3, 3).double()
        for chosen in itertools.combinations(Js, k):
            total += functools.reduce(torch.matmul, chosen, torch.eye(3).double())
        torch.testing.assert_close(found, total)


def test_equal_blocks_make_binomial_coefficients():
    s = torch.full((6, 1, 1), 0.5).double()
    wanted = [1, 3, 15 / 4, 20 / 8, 15 / 16, 6 / 32, 1 / 64]
    assert ref.path_sums(s).flatten().tolist() == pytest.approx(wanted)


def test_blocks_of_descent_end_at_least_squares(rng):
    A, b = torch.tensor(rng.normal(size=(6, 3))), torch.tensor(rng.normal(size=6))
    Ws, cs = ref.gd_as_resnet(A, b, 1.0 / float(torch.linalg.matrix_norm(A, 2) ** 2), 3000)
    h = torch.zeros(3).double()
    for W, c in zip(Ws, cs, strict=True):
        h = h + h @ W + c
    torch.testing.assert_close(h, torch.linalg.lstsq(A, b[:, None]).solution[:, 0])


def test_with_istas_numbers_the_loop_ends_at_scikit_learns_lasso():
    D, X = pictures.dictionary(m=8, n=12), pictures.codes(np.random.default_rng(2), 3, 0.3, n=12)
    Y, eta = X @ D.T, 1 / torch.linalg.matrix_norm(D, 2) ** 2
    ours = ref.rounds(Y, D, (eta * D)[None], 0.05 * eta.reshape(1), 5000)[-1]
    torch.testing.assert_close(ours, pictures.ista(Y, D, 0.05, 5000)[-1])
    theirs = Lasso(0.05 / 8, fit_intercept=False, tol=1e-12, max_iter=100_000)
    for y, found in zip(Y.numpy(), ours.numpy(), strict=True):
        assert found == pytest.approx(theirs.fit(D.numpy(), y).coef_, abs=1e-6)


def test_adam_written_out_is_torchs():
    D, X = pictures.dictionary(m=3, n=5), pictures.codes(np.random.default_rng(2), 4, 0.6, n=5)
    begin, w = (
        [0.3 * D.repeat(2, 1, 1), torch.tensor([0.02, 0.03]).double()],
        torch.ones(2).double(),
    )
    told = ref.train_lista(D, *begin, [X, X, 2 * X], 0.01, w)
    leaves = [p.clone().requires_grad_(True) for p in begin]
    adam, losses = torch.optim.Adam(leaves, 0.01), []
    for batch in (X, X, 2 * X):
        loss = 0
        x = torch.zeros_like(batch)
        for V, theta in zip(*leaves, strict=True):
            x = pictures.shrink(x + (batch @ D.T - x @ D.T) @ V, theta)
            loss = loss + ((x - batch) ** 2).sum(1).mean()
        adam.zero_grad()
        loss.backward()
        adam.step()
        losses.append(loss.item())
    assert told["losses"].tolist() == pytest.approx(losses)
    torch.testing.assert_close(told["Vs"], leaves[0].detach())
    torch.testing.assert_close(told["thetas"], leaves[1].detach())


def test_the_numbers_of_the_printed_slopes_of_one_skip():
    """w = (0.9, −1.3, 0.8), x = 0.7, y = −0.4: right 0.21454 and 0.25462; printed 0.27763 and 1.85893."""
    x, y = torch.tensor([0.7]).double(), torch.tensor([-0.4]).double()
    slopes = ref.scalar_skip_grads(0.9, -1.3, 0.8, x, y, 1.0)
    assert slopes[:2].tolist() == pytest.approx([0.21454, 0.25462], abs=5e-6)


def test_parts_add_up_to_the_score_and_a_block_of_zeros_is_not_missed(rng):
    ids, targets, (E, Ws, bs, U) = small(rng)
    Ws[1], bs[1] = 0, 0
    parts, without = ref.assembly(ids, targets, E, Ws, bs, U)
    scores = ref.resmlp_forward(ids, E, Ws, bs)[-1] @ U
    torch.testing.assert_close(parts.sum(0), scores[range(3), targets])
    assert not parts[2].any()
    torch.testing.assert_close(without[1], ref.resmlp_grads(ids, targets, E, Ws, bs, U)["loss"])


# ------------------------------------------------------------ what it draws


def test_the_puzzle_is_told_as_it_is():
    facts = pictures.draw_race(*pictures.race())[1].facts
    assert facts["T"] == 8 and facts["fast"] < 0.11 and 0.35 < facts["best"] < 0.42
    slow, fast = pictures.race()
    assert pictures.rounds_needed(slow, fast[-1]) > 75
    assert pictures.rounds_needed(slow, 0.0) is None


def steps(found, X):
    """Mean cosine of each round's update with the way that was left, and their lengths' ratio. -> (T,), (T,)"""
    rows = X.abs().sum(1) > 0
    moved, left = (found[1:] - found[:-1])[:, rows], (X - found[:-1])[:, rows]
    sizes, ways = moved.norm(dim=2), left.norm(dim=2)
    cosines = (moved * left).sum(2) / (sizes * ways).clamp(min=1e-12)  # a row may stand still
    return cosines.mean(1), (sizes / ways).mean(1)


def test_the_trained_loop_wins_with_other_mixtures_and_lessons_too():
    for seed in (1, 2, 3, 4):
        D = pictures.dictionary(seed)
        eta, w = 1 / torch.linalg.matrix_norm(D, 2) ** 2, torch.full((8,), 1 / 8).double()
        begin = (eta * D).repeat(8, 1, 1), (0.1 * eta).repeat(8)
        told = ref.train_lista(D, *begin, pictures.lessons(seed=seed + 7), 0.01, w)
        X = pictures.codes(np.random.default_rng(seed + 50), 500)
        found = ref.rounds(X @ D.T, D, told["Vs"], told["thetas"], 8)
        slow = {lam: pictures.ista(X @ D.T, D, lam, 8) for lam in pictures.LAMBDAS}
        best = min(pictures.off(xs, X)[-1] for xs in slow.values())
        assert best > 3 * pictures.off(found, X)[-1]
        # its steps are longer, its direction over all rounds is no better
        cosine, length = steps(found, X)
        for lam in pictures.LAMBDAS:
            of_ista, shorter = steps(slow[lam], X)
            assert (length > 1.1 * shorter).all() and (length > 2 * shorter)[1:].all()
            assert of_ista.min() > 0.4
        assert cosine.min() > 0 and of_ista.mean() > cosine.mean()


@pytest.mark.parametrize("seed", range(1, 5))
def test_what_the_names_teach_does_not_hang_on_the_first_weights(seed):
    ids = torch.arange(32)
    params = [torch.tensor(p) for p in pictures.network(8, seed=seed)]
    for _ in range(200):
        slopes = ref.resmlp_grads(ids, ids, *params)["grads"]
        params = [p - 0.5 * g for p, g in zip(params, slopes, strict=True)]
    told = ref.resmlp_grads(ids, ids, *params)
    parts, without = ref.assembly(ids, ids, *params)
    assert (parts[1:] > 0).double().mean() > 0.95
    assert told["loss"] < without.min() and without.max() < 0.1
    added = ref.resmlp_forward(ids, *params[:3]).diff(dim=0)
    downhill = torch.cosine_similarity(added, -told["messages"][:-1], dim=2).mean(1)
    assert downhill.min() > 0.2
    for W, u in zip(params[1], added[:, 0], strict=True):
        J = W * (1 - u**2)
        assert (J - J.T).norm() > 0.25 * (J + J.T).norm()  # 0.25 is the notebook's 0.2


def test_a_message_through_blocks_is_the_one_of_the_reference():
    for skip in (0.0, 1.0):
        E, Ws, bs, U = (torch.tensor(p) for p in pictures.network(5))
        ids = torch.arange(32)
        hs = ref.resmlp_forward(ids, E, Ws, bs, skip)
        last = hs[-1].clone()
        h0 = E.clone().requires_grad_(True)
        h = h0
        for W in Ws:
            h = skip * h + torch.tanh(h @ W)
        torch.testing.assert_close(h.detach(), last)
        (slope,) = torch.autograd.grad(h.sum() / 4, h0)
        assert pictures.arrives(skip, T=5) == pytest.approx(slope.norm(dim=1).mean().item())


def test_the_stream_in_the_widget_is_descent_and_explodes_from_2_over_L():
    widget = controls.explorer(NOTEBOOK, "draw_descent")
    for eta, shrinks in ((0.5, True), (1.9, True), (2.2, False)):
        widget.controls["eta"].value = eta
        facts = widget.words.facts
        assert facts["same"] == "yes" and (facts["last"] < facts["first"]) == shrinks


def test_the_lens_reads_the_chosen_name_after_the_chosen_block():
    widget = controls.explorer(NOTEBOOK, "draw_lens")
    widget.controls["word"].value = 4
    chances = []
    for step in (0, 4, 8):
        widget.controls["step"].value = step
        chances.append(widget.words.facts["p"])
    assert widget.words.facts["last"] == "Lovelace"
    assert chances[0] < 0.7 and chances[2] > 0.95


def test_a_memory_and_a_residual_stream_keep_messages_and_plain_loops_do_not():
    for shared in (True, False):
        assert 0.05 < pictures.stream_messages(shared, 1.0)[0] < 20
        assert pictures.stream_messages(shared, 0.0)[0] < 1e-12


@pytest.mark.parametrize("seed", range(3))
def test_a_shared_rule_learns_from_fewer_rows_and_need_not_last(seed):
    n1, same, far = pictures.sum_stream(True, seed=seed)
    n10, own, _ = pictures.sum_stream(False, seed=seed)
    assert n10 == 10 * n1 and own > 2.5 * same and far > 4 * same


def test_pictures_tell_the_numbers_that_they_draw():
    curve = np.array([1.0, 0.1, 0.01])
    facts = pictures.draw_layers({"plain": curve}, {"plain": curve[::-1]})[1].facts
    assert [t.facts["left"] for t in facts["told"]] == pytest.approx([0.01, 0.01])
    facts = pictures.draw_layers({"grown": curve[::-1]}, {"grown": curve})[1].facts
    assert [t.facts["left"] for t in facts["told"]] == pytest.approx([100, 100])
    told = pictures.draw_depths([2, 10], {"with": [0.1, 0.3]}, 3.4)[1].facts["told"]
    assert told[0].facts["v"] == 0.3
    means = pictures.draw_paths({"a": np.array([1.0, 2, 1])})[1].facts["means"]
    assert means[0].facts["mean"] == pytest.approx(1)
    facts = pictures.draw_line(np.array([1.0, 2, -0.5]), np.array([0.3, 0.9]), 0.1)[1].facts
    assert (facts["start"], facts["end"], facts["worst"]) == (1, 2.5, 0.9)
    facts = pictures.draw_rules({"a": curve}, {"b": curve})[1].facts
    assert facts["told"][0].facts["c"] == facts["ends"][0].facts["e"] == 0.01
    assert pictures.draw_tied({"a": curve}, 1)[1].facts["told"][0].facts["e"] == 0.1
    told = pictures.draw_times()[1].facts["told"]
    assert abs(told[0].facts["p"]) < 1.5 and told[2].facts["p"] < -10
