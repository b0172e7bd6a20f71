"""The reader project: its judges against SciPy and brute force, its texts, what its check counts, what it draws."""

import math

import numpy as np
import pytest
import torch
from scipy.stats import entropy

from autograder import checkdata
from descent.pictures.recurrent_networks import project as pictures
from solutions import notebook_module
from tests.notebooks import controls

NOTEBOOK = "09_recurrent_networks/05_project"
ref = notebook_module(NOTEBOOK, "reference")
specs = checkdata.load_exercises(NOTEBOOK)
Reader = specs["Reader"]
made = notebook_module(NOTEBOOK, "exercises")


# ------------------------------------------------------------ the judges


def test_bits_of_the_right_chances_are_the_entropy(rng):
    p = np.array([0.5, 0.25, 0.125, 0.125])
    ids = torch.from_numpy(np.repeat(np.arange(4), (800 * p).astype(int)))
    P = torch.from_numpy(p).expand(800, 4)
    asked = torch.ones(800, dtype=torch.bool)
    assert float(ref.bits(P, ids, asked)) == pytest.approx(entropy(p, base=2))


def test_a_sum_beyond_the_tolerance_is_nan_and_an_impossible_character_infinite():
    P = torch.tensor([[0.5, 0.5], [1.0, 0.0]]).double()
    ids, asked = torch.tensor([0, 1]), torch.tensor([True, True])
    assert float(ref.bits(P, ids, asked)) == math.inf
    assert float(ref.bits(P, ids, torch.tensor([True, False]))) == 1
    assert math.isnan(float(ref.bits(1.002 * P, ids, asked)))


def test_pairs_are_counted_as_a_dictionary_counts(rng):
    known, ids = rng.integers(4, size=200), rng.integers(4, size=20)
    P = ref.pairs(torch.from_numpy(known), torch.from_numpy(ids), 4).numpy()
    neighbours = list(zip(known[:-1], known[1:], strict=True))
    for t in range(1, 20):
        a = ids[t - 1]
        total = sum(first == a for first, _ in neighbours) + 4
        for b in range(4):
            assert P[t, b] == pytest.approx((neighbours.count((a, b)) + 1) / total)


def test_influence_is_total_variation_by_brute_force(rng):
    weights, offsets = torch.from_numpy(rng.normal(size=(2, 3, 3))), [1, -1]
    ids = torch.from_numpy(rng.integers(3, size=5))
    M = ref.influence(ids, weights, offsets)
    for t in range(5):
        for j in range(5):
            most = 0
            for symbol in range(3):
                other = ids.clone()
                other[j] = symbol
                one, two = (ref.forecasts(x, weights, offsets)[t] for x in (ids, other))
                most = max(most, float((one - two).clamp(min=0).sum()))
            assert float(M[t, j]) == pytest.approx(most, abs=1e-12)


def test_the_second_word_repeats_the_first():
    words, noise, note, ask = pictures.lines(30, seed=5)
    ids, asked = ref.copy_test(words, noise, note, ask)
    assert ids[asked].tolist() == sum(words, [])
    assert len(ids) == sum(6 + len(between) for between in noise)
    assert {len(between) for between in noise} <= set(range(2, 9))
    assert (ids[1:][ids[:-1] == ask] == ids[1:][ids[:-1] == note]).all()


# ------------------------------------------------------------ the check


class Pairs:
    """Counts of pairs, as the notebook counts them. It keeps what a subclass says."""

    def fit(self, ids, k, n_numbers):
        counts = torch.ones(k, k)
        np.add.at(counts.numpy(), (ids[:-1].numpy(), ids[1:].numpy()), 1)
        return [counts / counts.sum(1, keepdim=True)]

    def step(self, learned, memory, char):
        return learned[0][char], None


def case_of(number, **changes):
    return dict(list(Reader.drawn(np.random.default_rng(5)))[number][1]) | changes


def test_the_check_costs_what_bits_says():
    case = case_of(0)
    told = Reader.probe_function(Pairs, **case)
    known, new = (torch.from_numpy(case[name][0]).long() for name in ("known", "new"))
    asked = torch.arange(len(new)) > 20
    cost = ref.bits(ref.pairs(known, new, 20), new, asked)
    assert told["bits per character"] == pytest.approx([float(cost)], rel=1e-4)
    listened = pictures.listen(Pairs, Pairs().fit(known, 20, 400), new)
    assert float(ref.bits(listened, new, asked)) == pytest.approx(float(cost), rel=1e-4)
    case = case_of(1)
    told = Reader.probe_function(Pairs, **case)
    known, new = (torch.from_numpy(case[name][0]).long() for name in ("known", "new"))
    P = ref.pairs(known, new, 16)
    cost = ref.bits(P, new, torch.from_numpy(case["asked"]))
    assert told["bits per letter of the second word"] == pytest.approx(float(cost), rel=1e-4)


@pytest.mark.parametrize("budget", [400, 399])
def test_the_check_counts_what_is_handed_back(budget):
    told = Reader.probe_function(Pairs, **case_of(0, n_numbers=budget))
    assert told["numbers over the budget"] == 400 - budget


HOARD = []


@pytest.mark.parametrize("place", ["a list", "the class", "a default", "a closure", "a module"])
def test_the_check_counts_what_grows_outside(place):
    kept = []

    class Hoarder(Pairs):
        hoard = {}

        def fit(self, ids, k, n_numbers, default=[]):  # noqa: B006
            where = {"a list": HOARD, "a default": default, "a closure": kept}
            if place == "the class":
                self.hoard[0] = ids.tolist()
            elif place == "a module":
                math.hoard = ids.numpy().copy()
            else:
                where[place].append(ids.numpy().copy())
            return super().fit(ids, k, n_numbers)

    told = Reader.probe_function(Hoarder, **case_of(0, n_numbers=400))
    HOARD.clear()
    vars(math).pop("hoard", None)
    assert 15_700 < told["numbers over the budget"] < 16_100


def test_what_grows_outside_while_it_reads_is_memory():
    class Diarist(Pairs):
        pages = {}

        def step(self, learned, memory, char):
            self.pages[len(self.pages)] = char
            return learned[0][char], len(self.pages)

    told = Reader.probe_function(Diarist, **case_of(0))
    assert 500 < told["numbers in memory over 1000"] < 1500


def test_a_few_notes_outside_are_free():
    class Noter(Pairs):
        losses = []

        def fit(self, ids, k, n_numbers):
            self.losses.extend(range(150))
            return super().fit(ids, k, n_numbers)

    told = Reader.probe_function(Noter, **case_of(0, n_numbers=400))
    assert told["numbers over the budget"] == 0


def test_memory_is_counted_and_handed_on_as_a_copy():
    class Rememberer(Pairs):
        def step(self, learned, memory, char):
            memory = [torch.zeros(600), np.zeros((20, 20))] if memory is None else memory
            return learned[0][char], [*memory, char] if len(memory) < 5 else memory

    told = Reader.probe_function(Rememberer, **case_of(0))
    assert told["numbers in memory over 1000"] == 3
    assert told["change when asked again"] == 0


def test_a_long_number_is_no_place_to_hide_a_text():
    class Packer(Pairs):
        def step(self, learned, memory, char):
            return learned[0][char], 2**100_000 + char

    told = Reader.probe_function(Packer, **case_of(0))
    assert 500 < told["numbers in memory over 1000"] < 600


@pytest.mark.parametrize(
    ("memory", "learned", "told"),
    [
        ({1: 2}, None, "The memory holds a dict"),
        (np.array(["text"], dtype=object), None, "The memory holds a ndarray"),
        (None, {1: 2}, "fit gives a dict"),
    ],
)
def test_what_cannot_be_counted_is_refused(memory, learned, told):
    class Odd(Pairs):
        def fit(self, ids, k, n_numbers):
            return learned or super().fit(ids, k, n_numbers)

        def step(self, learned, _, char):
            return learned[0][char], memory

    with pytest.raises(TypeError, match=told):
        Reader.probe_function(Odd, **case_of(0))


def test_what_step_writes_into_the_list_is_lost():
    class Scribbler(Pairs):
        def step(self, learned, memory, char):
            p = learned[0][char].clone()
            learned[0][char] = learned[0][char].flip(0)
            return p, None

    assert Reader.probe_function(Scribbler, **case_of(0))["change when asked again"] > 0.01


def test_torchs_random_numbers_go_on_as_before():
    state = torch.random.get_rng_state()
    Reader.probe_function(Pairs, **case_of(0))
    assert torch.equal(torch.random.get_rng_state(), state)


# ------------------------------------------------------------ the texts


@pytest.mark.parametrize("seed", range(3))
def test_a_copied_word_stands_before_the_noise_and_nothing_else_tells_it(seed):
    text, asked = made.copies(np.random.default_rng(seed), 18_000)
    at = np.flatnonzero(asked)
    ask = np.bincount(text[at[::2] - 1]).argmax()
    assert (text[at[::2] - 1] == ask).all()
    letters = text[at]
    shares = np.bincount(letters, minlength=16) / len(letters)
    assert np.count_nonzero(shares) == 8 and shares[shares > 0] == pytest.approx(1 / 8, abs=0.03)


def test_no_two_languages_are_alike():
    one, two = (made.language(np.random.default_rng(seed), 4000, 20) for seed in (0, 1))
    shares = [np.bincount(text, minlength=20) / 4000 for text in (one, two)]
    assert not np.allclose(*shares, atol=0.02)


# ------------------------------------------------------------ what the text says


def test_the_applicants_are_what_the_notebook_says():
    known, new, _ = pictures.split()
    claims = pictures.brochures(known, new)
    assert list(claims.values()) == pytest.approx([0.2, 1.3, 0.1, 2.6], abs=0.05)
    k, short = len(pictures.ALPHABET), new[:50]
    sums = {name: pictures.hire(name, known, k)(short).sum(1) for name in pictures.NAMES}
    assert sums.pop("second").min() > 1.05
    assert all(torch.allclose(total, torch.ones(50).double()) for total in sums.values())


def test_half_the_logarithm_is_half_the_cost():
    known, new, _ = pictures.split()
    claims = pictures.brochures(known, new)
    assert claims["second"] == pytest.approx(claims["fourth"] / 2)


def test_a_bound_that_is_met_exactly_is_met():
    assert pictures.fails([bound for _, bound in pictures.JUDGES]) == [False] * 5
    assert pictures.fails([bound * 1.01 for _, bound in pictures.JUDGES]) == [True] * 5
    assert pictures.fails([math.nan] * 5) == [True] * 5


# ------------------------------------------------------------ what it draws


def test_a_table_tells_who_is_turned_away_by_whom():
    rows = {"a": [0.0, 0.0, 2.0, 1.0, 0.1], "b": [0.0, 0.9, 2.0, 1.0, 3.0]}
    told = pictures.draw_verdicts(rows)[1].facts["told"]
    assert [one.facts["by"] for one in told] == ["none", "looks ahead, second word"]


def test_a_map_tells_how_far_ahead_and_how_far_back():
    M = torch.zeros(6, 6)
    M[4, 1], M[2, 3] = 0.5, 0.25
    _, words = pictures.draw_maps({"a": M, "b": M.T}, pictures.split()[1][:6])
    facts = [one.facts for one in words.facts["told"]]
    assert [(one["ahead"], one["back"]) for one in facts] == [(0.25, 3), (0.5, 1)]


@pytest.mark.parametrize("step", [1, 40, 150])
def test_the_reading_shows_the_cost_of_what_came(step):
    facts = controls.explorer(NOTEBOOK, "draw_reading", step=step).words.facts
    assert facts["step"] == step and 0 <= facts["chance"] <= 1
    assert facts["cost"] >= -math.log2(facts["chance"]) - 1e-9


def test_a_word_is_kept_for_longer_than_the_lessons_noise_but_not_without_any():
    costs = {
        delay: controls.explorer(NOTEBOOK, "draw_delays", delay=delay).words.facts["cost"]
        for delay in (0, 4, 8, 24)
    }
    assert max(costs[4], costs[8]) < 0.5 and costs[24] < 1 and costs[0] > costs[8]


def test_the_error_of_a_mean_is_that_of_its_blocks(rng):
    P = torch.from_numpy(rng.dirichlet(np.ones(4), 1020))
    ids = torch.from_numpy(rng.integers(4, size=1020))
    mean, error = pictures.blocks(P, ids)
    cost = -np.log2(P.numpy()[np.arange(1020), ids.numpy()])[20:]
    assert mean == pytest.approx(cost.mean())
    assert error == pytest.approx(cost.reshape(4, 250).mean(1).std(ddof=1) / 2)
