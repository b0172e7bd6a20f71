"""The project on shifted digits: its judges by SciPy, its check against dodges, its readers, what it draws."""

import itertools
import random

import numpy as np
import pytest
import torch
from scipy import ndimage, stats
from torch import nn

from autograder import checkdata
from descent.pictures.convolutional_networks import project as pictures
from solutions import notebook_module
from tests.notebooks import controls

NOTEBOOK = "08_convolutional_networks/04_project"
ref = notebook_module(NOTEBOOK, "reference")
Reader = checkdata.load_exercises(NOTEBOOK)["Reader"]


# ------------------------------------------------------------ the judges


@pytest.mark.parametrize("s", [0, 1, 2])
def test_places_are_scipys_shifts(s, rng):
    X = rng.normal(size=(3, 4, 5))
    moved = ref.places(torch.from_numpy(X), s).numpy()
    shifts = list(itertools.product(range(-s, s + 1), repeat=2))
    wanted = [ndimage.shift(X, (0, *shift), order=0, mode="constant") for shift in shifts]
    assert np.allclose(moved, wanted)


def test_verdicts_are_counted_one_by_one(rng):
    read, y = rng.integers(0, 3, (5, 8)), rng.integers(0, 3, 8)
    read[:, 0] = y[0]
    told = ref.verdict(torch.from_numpy(read), torch.from_numpy(y)).tolist()
    pairs = [a == b for digit in read.T for a, b in itertools.combinations(digit, 2)]
    places = [np.mean(row == y) for row in read]
    sure = [all(digit == label) for digit, label in zip(read.T, y, strict=True)]
    assert told == pytest.approx(
        [places[2], np.mean(places), min(places), np.mean(sure), np.mean(pairs)]
    )


def test_a_comparison_is_the_paired_t_test(rng):
    read_a, read_b, y = rng.integers(0, 2, (5, 30)), rng.integers(0, 2, (5, 30)), np.ones(30, int)
    difference, error = ref.compare(*map(torch.from_numpy, (read_a, read_b, y))).tolist()
    test = stats.ttest_rel(read_a.mean(0), read_b.mean(0))
    assert difference / error == pytest.approx(test.statistic)


def test_errors_by_digits_are_the_spread_over_draws_of_digits_and_by_readings_far_too_small(rng):
    one, y = pictures.tried("windows, moved")
    two, _ = pictures.tried("dense, moved")
    _, error = ref.compare(one, two, y).tolist()
    ahead = ((one == y).double() - (two == y).double()).numpy()
    draws = [ahead[:, rng.integers(0, len(y), len(y))].mean() for _ in range(2000)]
    assert np.std(draws) == pytest.approx(error, rel=0.1)
    assert ahead.std() / np.sqrt(ahead.size) < error / 2


# ------------------------------------------------------------ the check of the reader


def case_of(number, **changes):
    return dict(list(Reader.drawn(np.random.default_rng(5)))[number][1]) | changes


def verdict_of(answer, number=2, **changes):
    case = case_of(number, **changes)
    return Reader.compare(Reader.reference(**case), Reader.probe_function(answer, **case))


class Handing:
    """Hands over what the test says, and says label 0."""

    def fit(self, X, y, n_numbers):
        return [torch.zeros(3)]

    def predict(self, state, X):
        return torch.zeros(len(X))


@pytest.mark.parametrize(("state", "told"), [
    (None, "not a list of tensors"),
    ({"a": torch.zeros(3)}, "not a list of tensors"),
    ([[1.0, 2.0]], "not a list of tensors"),
    ([nn.Linear(2, 2)], "not a list of tensors"),
    ([torch.zeros(0, 5)], "empty"),
    ([torch.zeros(3, dtype=torch.complex64)], "complex"),
    ([torch.tensor([float("nan")])], "not finite"),
    ([torch.tensor([1e6])], "not finite"),
])  # fmt: skip
def test_what_is_no_state_is_refused_with_what_to_do(state, told):
    states = itertools.repeat(state)  # nothing that its class would keep
    answer = type("Other", (Handing,), {"fit": lambda self, X, y, n_numbers: next(states)})
    with pytest.raises(ValueError, match=told):
        Reader.probe_function(answer, **case_of(2))


def test_the_numbers_of_the_state_are_counted_and_rounded_to_16_bits():
    seen = []

    class Keeps(Handing):
        def fit(self, X, y, n_numbers):
            return [torch.full((20, 10), 1 / 3), np.zeros((4, 5))]

        def predict(self, state, X):
            seen.append(state)
            return super().predict(state, X)

    for n_numbers, over in ((220, 0), (219, 1)):
        seen.clear()
        told = Reader.probe_function(Keeps, **case_of(2, n_numbers=n_numbers))
        assert told["numbers over the budget"] == over
    assert seen[0][0][0, 0] == torch.tensor(1 / 3).half() and seen[0][0].dtype == torch.float32


def test_predict_gets_an_object_that_has_seen_nothing():
    class Remembers(Handing):
        def fit(self, X, y, n_numbers):
            self.learned = True
            return [torch.zeros(1)]

        def predict(self, state, X):
            assert not hasattr(self, "learned")
            return super().predict(state, X)

    Reader.probe_function(Remembers, **case_of(2))


@pytest.mark.parametrize("seeds", [
    lambda: torch.manual_seed(0),
    lambda: torch.Generator().manual_seed(0),
    lambda: np.random.default_rng(0),
    lambda: np.random.RandomState(0),
    lambda: torch.random.manual_seed(0),
    lambda: random.seed(0),
    lambda: random.Random(0),
    lambda: torch.default_generator.manual_seed(0),
    lambda: torch.random.default_generator.manual_seed(0),
    lambda: torch.quasirandom.SobolEngine(9).draw(4),
])  # fmt: skip
def test_a_seed_in_predict_is_refused_and_everything_is_put_back(seeds):
    class Seeds(Handing):
        def predict(self, state, X):
            seeds()
            return super().predict(state, X)

    before = torch.manual_seed, torch.Generator, np.random.default_rng
    with pytest.raises(ValueError, match="let fit put them into the state"):
        Reader.probe_function(Seeds, **case_of(2))
    assert (torch.manual_seed, torch.Generator, np.random.default_rng) == before


NUMBERS = torch.zeros(100)  # a name of the notebook, for a class that reads it


def test_numbers_that_the_class_keeps_are_refused():
    class Reads(Handing):
        def predict(self, state, X):
            return super().predict(state, X) + NUMBERS[0]

    class Defaults(Handing):
        def predict(self, state, X, K=NUMBERS):
            return super().predict(state, X)

    class Fills(Handing):
        kept = {}

        def fit(self, X, y, n_numbers):
            self.kept[0] = [0.5] * 60
            return super().fit(X, y, n_numbers)

    fields = [{"K": NUMBERS}, {"K": [[0.5] * 9] * 9}, {"K": [nn.Linear(2, 2)]}]
    fields += [{"word": "k" * 900}, {"long": 7**2000}]
    fields += [{"chance": torch.Generator()}, {"kept": {0: (1, np.zeros(3))}}]
    kinds = [type("Keeps", (Handing,), one) for one in fields]
    for answer in (Reads, Defaults, Fills, *kinds):
        with pytest.raises(ValueError, match="numbers outside the state"):
            Reader.probe_function(answer, **case_of(2))


def test_numbers_that_its_methods_hold_are_refused():
    many = ", ".join(map(str, range(80)))
    text = ", ".join(f"[{n}, 0.{n}]" for n in range(40))
    bodies = [
        f"[{many}]",
        f"[{text}]",
        f"(lambda: [{many}])()",
        "'" + "k" * 900 + "'",
        str(7**2000),
    ]

    def enclosed(K):
        return lambda self, state, X: torch.zeros(len(X)) + 0 * K[0]

    def library(self, state, X):
        from sklearn.datasets import load_digits

        return torch.zeros(len(X)) + 0 * len(load_digits().images)

    def course(self, state, X):
        return torch.zeros(len(X)) + 0 * len(pictures.digits()[0])

    def nested(self, state, X):
        return (lambda: torch.zeros(len(X)) + 0 * NUMBERS[0])()

    def helped(self, state, X):
        return torch.zeros(len(X)) + helper()

    methods = [enclosed(NUMBERS), enclosed([0.5] * 60), library, course, nested, helped]
    for body in bodies:
        told = {"torch": torch, "__name__": __name__}
        exec(f"def method(self, state, X):\n    return torch.zeros(len(X)), {body}", told)
        methods.append(told["method"])
    for method in methods:
        answer = type("Holds", (Handing,), {"kernels": method})
        with pytest.raises(ValueError, match="numbers outside the state"):
            Reader.probe_function(answer, **case_of(2))


def helper():
    return 0 * NUMBERS[0]


def test_layers_of_torch_and_a_helper_with_a_few_numbers_are_allowed():
    class Layers(Handing, nn.Module):
        def __init__(self):
            """Some layers."""
            super().__init__()
            self.layer = nn.Conv2d(1, 2, 3)

        def fit(self, X, y, n_numbers):
            return [self.layer.weight]

        def predict(self, state, X):
            maps = nn.functional.conv2d(X[:, None], state[0], padding=(1, 1), stride=(1, 1))
            return maps.amax((1, 2, 3)).round() * few() * Layers.scale

        scale = 0

    assert Reader.probe_function(Layers, **case_of(2))["numbers over the budget"] == 0


def few():
    return sum((1, 2, 3))


def test_a_few_numbers_and_names_of_its_own_are_allowed():
    class Plans(Handing):
        NUMBERS = 12
        widths = {1600: (9, 13), 800: (5, 7)}

        def predict(self, state, X):
            return super().predict(state, X) + 0 * self.NUMBERS

    assert Reader.probe_function(Plans, **case_of(2))["numbers over the budget"] == 0


def test_a_reader_that_looks_at_the_other_fields_is_told():
    class Looks(Handing):
        def predict(self, state, X):
            return torch.full((len(X),), float(len(X) > 1))

    told = Reader.probe_function(Looks, **case_of(2))
    assert told["fields read otherwise in other company"] == 20


def test_always_the_same_label_is_steady_and_fails():
    told = Reader.probe_function(Handing, **case_of(0))
    assert told["unsteady (%)"] == pytest.approx(0) and told["wrong on average (%)"] > 80
    assert verdict_of(Handing, 0)


def test_the_check_judges_as_the_notebook_does():
    class Corner(Handing):
        """Says what the top left part of a field is like."""

        def predict(self, state, X):
            return X[:, :6, :6].amax((1, 2)).mul(3).round().long().clamp(0, 4)

    case = case_of(2)
    told = Reader.probe_function(Corner, **case)
    side = torch.linspace(-1, 1, 14)
    u = torch.from_numpy(case["new_lamp"]).float()[:, :, None, None]
    light = u[:, 0] * side[:, None] + u[:, 1] * side + u[:, 2]
    fields = pictures.slipped(torch.from_numpy(case["new"]).float() / 16, light)
    read = torch.stack([Corner().predict(None, X) for X in fields])
    y = torch.from_numpy(case["y_new"]).long()
    middle, *five = ref.verdict(read, y).tolist()
    assert np.mean(told["labels in the middle"] == case["y_new"]) == pytest.approx(middle, abs=0.01)
    names = ("on average", "at the worst place")
    values = [told[f"wrong {name} (%)"] for name in names]
    values += [told["not right everywhere (%)"], told["unsteady (%)"]]
    assert values == pytest.approx([100 * (1 - share) for share in five], abs=1)


def test_images_are_drawn_anew_and_no_sign_shares_a_half_with_one_to_learn_from():
    one, two = (
        {name: case for name, case in Reader.drawn(np.random.default_rng(seed))} for seed in (1, 2)
    )
    assert not np.array_equal(one["ten digits"]["images"], two["ten digits"]["images"])
    signs = one["made-up signs"]
    halves = [
        {
            half.tobytes()
            for image in signs[name]
            for half in (image[:4], image[4:], image[:, :4], image[:, 4:])
        }
        for name in ("images", "new")
    ]
    assert len(halves[0] & halves[1]) <= 12  # real halves may be equal by chance


def test_centring_by_ink_fails_under_the_lamp():
    class Centred:
        """Moves the centre of the ink to the middle, and takes the nearest mean: no gradient, no kernel."""

        def centre(self, X):
            line, mass = torch.arange(14.0), X.sum((1, 2)).clamp(min=0.1)
            starts = [(X * axis).sum((1, 2)) / mass for axis in (line[:, None], line)]
            corners = [(s - 4).round().long().clamp(0, 6).tolist() for s in starts]
            cut = [x[a : a + 8, b : b + 8] for x, a, b in zip(X, *corners, strict=True)]
            return torch.stack(cut).flatten(1)

        def fit(self, X, y, n_numbers):
            Z = self.centre(X)
            return [torch.stack([Z[y == label].mean(0) for label in y.unique()])]

        def predict(self, state, X):
            return torch.cdist(self.centre(X), state[0]).argmin(1)

    assert all(verdict_of(Centred, number) for number in range(3))


# ------------------------------------------------------------ what the text says


def test_the_reader_of_the_first_screen():
    even, odd, middle = pictures.kinds(*pictures.tried("windows"))
    corner = pictures.by_place(*pictures.tried("windows"))
    assert middle > 0.88 and corner[3, 3] < 0.5 and corner[4, 4] > corner[3, 3] + 0.05
    assert even > odd + 0.15
    assert pictures.numbers_of("windows") == 1296
    assert pictures.numbers_of("dense, moved") == 12_430


def test_a_stride_of_two_moves_along_with_even_slips_only():
    state = pictures._trained("windows")
    X = pictures.field(pictures.digits()[0][:50])
    wide = nn.functional.pad(X, (6, 6, 6, 6))  # far from any edge
    scores = [pictures._windows(state, torch.roll(wide, (by, by), (1, 2))) for by in (0, 1, 2)]
    assert torch.allclose(scores[0], scores[2], atol=1e-4)
    assert (scores[0] - scores[1]).abs().amax(1).min() > 0.1
    state = pictures._trained("no stride")
    one, two = (pictures._windows(state, torch.roll(wide, by, 2), 1) for by in (0, 1))
    assert torch.allclose(one, two, atol=1e-4)


def test_the_dense_reader_is_right_on_average_and_not_everywhere():
    read, y = pictures.tried("dense, moved")
    middle, average, place, everywhere, steady = ref.verdict(read, y).tolist()
    assert 0.86 < average < 0.93 and 0.5 < everywhere < 0.7
    assert ref.verdict(*pictures.tried("windows, moved"))[3] > everywhere + 0.1
    wrong = (read != y).reshape(5, 5, -1)
    both = (wrong[:, 1:] & wrong[:, :-1]).sum() / wrong[:, :-1].sum()
    assert 0.5 < both < 0.9 and round(100 * 0.9**25) == 7


@pytest.mark.parametrize("name", pictures.COLLEAGUES)
def test_everywhere_is_the_smallest_of_the_five(name):
    five = ref.verdict(*pictures.tried(name))
    assert five.min() == five[3]


def test_moved_images_help_the_reader_with_a_stride():
    without, taught = (
        ref.verdict(*pictures.tried(name))[1] for name in ("windows", "windows, moved")
    )
    assert without == pytest.approx(0.62, abs=0.05) and taught == pytest.approx(0.93, abs=0.02)


def test_parts_do_not_overlap_and_the_lamp_lights_every_field_otherwise():
    rows = torch.cat(pictures.split())
    assert [len(part) for part in pictures.split()] == [700, 500, 500]
    assert len(rows.unique()) == len(rows)
    light = pictures.lamp(30)
    assert light.abs().max() < 0.75 and light.flatten(1).std(0).min() > 0.05


# ------------------------------------------------------------ what it draws


def test_a_digit_that_is_dragged_is_told_by_both_readers():
    widget = controls.explorer(NOTEBOOK, "draw_slip", number=2, down=-2, right=2)
    facts = widget.words.facts
    read, y = pictures.tried("dense, moved")
    place = pictures.SHIFTS.index((-2, 2))
    assert facts["truth"] == y[2] and facts["theirs"] == read[place, 2]
    assert facts["b"] == (read[:, 2] == y[2]).sum()


def test_a_table_tells_who_fails_which_judge():
    rows = {"a": [1.0] * 5, "b": [0.9, 0.9, 0.7, 0.49, 0.8], "c": [0.79, 1, 1, 1, 1]}
    told = pictures.draw_verdicts(rows)[1].facts["told"]
    assert [one.facts["by"] for one in told] == ["none", "everywhere", "middle"]


def test_the_price_and_the_misread_are_told():
    five = [0.9, 0.8, 0.7, 0.6, 0.9]
    told = pictures.draw_price([400, 800], [five, five], five)[1].facts["told"]
    assert [one.facts["n"] for one in told] == [400, 800] and told[0].facts["e"] == 60
    read, y = pictures.tried("always 3")
    fields = torch.zeros(25, 500, 14, 14)
    facts = pictures.draw_misread(fields, read, y, (0.1, 0.02))[1].facts
    assert facts["count"] == (y != 3).sum() and facts["difference"] == pytest.approx(10)


def test_maps_and_belt_tell_the_readers_shares():
    images, _ = pictures.digits()
    assert len(pictures.draw_belt(images[:5], pictures.lamp(5))[1].facts["told"]) == 5
    table = pictures.tried("windows")
    even, odd, middle = pictures.kinds(*table)
    facts = pictures.draw_map(*table)[1].facts
    assert (facts["even"], facts["odd"], facts["middle"]) == (even, odd, middle)
    told = pictures.draw_maps({"a": table, "b": table})[1].facts["told"]
    assert [one.facts["odd"] for one in told] == [odd, odd]
