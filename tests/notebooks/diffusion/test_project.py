"""The painter project: its judges against scikit-learn and SciPy, its reader, its applicants, what it draws."""

import numpy as np
import pytest
import torch
from scipy.spatial.distance import cdist, pdist
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import confusion_matrix
from torch import nn
from torch.autograd import grad as grad_by_another_name

from autograder import checkdata
from descent.pictures.diffusion import project as pictures
from solutions import notebook_module
from tests.notebooks import controls

NOTEBOOK = "15_diffusion/08_project"
ref = notebook_module(NOTEBOOK, "reference")
Painter = checkdata.load_exercises(NOTEBOOK)["Painter"]


def tensors(*arrays):
    return [torch.from_numpy(np.asarray(array)) for array in arrays]


# ------------------------------------------------------------ the judges


@pytest.mark.parametrize("owner", [[0, 1, 2, 3], [0, 0, 1, 0], [1, 0, 1, 0]], ids=str)
def test_coverage_is_read_off_a_confusion_matrix(owner, rng):
    owner = np.array(owner)
    seen, wanted = rng.integers(4, size=200), np.arange(200) % (owner.max() + 1)
    right, rarest = ref.coverage(*tensors(seen, wanted, owner)).tolist()
    assert right == pytest.approx(np.mean(owner[seen] == wanted))
    table = confusion_matrix(seen, wanted, labels=range(4))
    parts = [
        table[digit, label] / (np.sum(wanted == label) / np.sum(owner == label))
        for digit, label in enumerate(owner)
    ]
    assert rarest == pytest.approx(min(parts))


def test_neighbours_are_scipys(rng):
    drawn, known, new = (rng.normal(size=(n, 5)) for n in (40, 12, 15))
    drawn[0] = (known[0] + new[0]) / 2 + 50  # far away, and no tie
    copied, far = ref.neighbours(*tensors(drawn, known, new)).tolist()
    one, two = cdist(drawn, known).min(1), cdist(drawn, new).min(1)
    assert copied == pytest.approx(np.mean(one < two))
    usual = np.quantile(cdist(known, new).min(1), 0.9)
    assert far == pytest.approx(np.quantile(two, 0.9) / usual)


def test_variety_is_scipys(rng):
    x, y = rng.normal(size=(30, 4)), np.arange(30) % 3
    images, labels = rng.normal(size=(24, 4)), np.arange(24) % 4
    spreads = [
        np.mean([pdist(rows[kinds == kind]).mean() for kind in np.unique(kinds)])
        for rows, kinds in ((x, y), (images, labels))
    ]
    told = ref.variety(*tensors(x, y, images, labels)).item()
    assert told == pytest.approx(spreads[0] / spreads[1])


def test_half_of_the_locked_images_are_nearer_to_a_known_one_and_they_are_as_varied():
    images, digits = pictures.digits()
    known, new, locked = (images[rows].double() for rows in pictures.split())
    copied, far = ref.neighbours(locked, known, new).tolist()
    assert abs(copied - 0.5) < 0.065  # three standard errors
    assert far == pytest.approx(1, abs=0.05)
    kinds = [digits[rows] for rows in pictures.split()]
    assert ref.variety(locked, kinds[2], known, kinds[0]).item() == pytest.approx(1, abs=0.05)


class Fake:
    """Hands back 705 numbers, takes 30 gradients, paints dust."""

    taken = 30

    def fit(self, images, labels, n_numbers, n_gradients):
        weight = torch.zeros(1, requires_grad=True)
        take = [
            lambda loss: loss.backward(),
            lambda loss: torch.autograd.grad(loss, weight),
            lambda loss: grad_by_another_name(loss, weight),
            lambda loss: torch.func.grad(torch.sin)(torch.tensor(1.0)),
        ]
        for step in range(self.taken):
            take[step % 4](weight.square().sum())
        some = nn.Linear(5, 60)
        return {**some.state_dict(), "more": torch.zeros(20, 17), "few": torch.zeros(9).half()}

    def draw(self, state, wanted):
        return torch.randn(2, len(wanted), 64)


class Halves:
    """Paints halfway between two images of a label."""

    def fit(self, images, labels, n_numbers, n_gradients):
        return {"images": images, "labels": labels.short()}

    def draw(self, state, wanted):
        halves = [
            state["images"][state["labels"] == label][[0, 1 + k % 9]].mean(0)
            for k, label in enumerate(wanted)
        ]
        return torch.stack([torch.zeros(len(wanted), 64), torch.stack(halves)])


def case_of(number, **changes):
    return dict(list(Painter.drawn(np.random.default_rng(5)))[number][1]) | changes


def test_the_check_judges_as_the_notebook_does():
    case = case_of(0)
    told = Painter.probe_function(Halves, **case)
    known, new = (torch.from_numpy(case[name]).double() / 8 - 1 for name in ("known", "new"))
    labels, new_digits, wanted = (
        torch.from_numpy(case[name]).long() for name in ("digits", "new_digits", "wanted")
    )
    drawn = Halves().draw(Halves().fit(known.float(), labels, 0, 0), wanted)[-1]
    seen = pictures.reader(new, new_digits)(drawn)
    assert np.array_equal(told["labels of what was painted"], seen.numpy())
    copied, far = ref.neighbours(drawn.double(), known, new).tolist()
    assert told["copied"] == pytest.approx(copied)
    assert told["far"] == pytest.approx(far, rel=1e-5)
    varied = ref.variety(drawn.double(), wanted, known, labels).item()
    assert told["variety, short of 0.4 by"] == pytest.approx(max(0, 0.4 - varied), abs=1e-4)
    rarest = ref.coverage(seen, wanted, torch.arange(10))[1]
    assert (told["digits left out"] > 0) == bool(rarest < 0.1)


@pytest.mark.parametrize(("numbers", "gradients"), [(705, 30), (704, 28)])
def test_the_check_counts_what_is_kept_and_how_often_torch_differentiates(numbers, gradients):
    kept = torch.autograd._engine_run_backward
    told = Painter.probe_function(Fake, **case_of(0, n_numbers=numbers, n_gradients=gradients))
    assert told["numbers over the budget"] == 705 - numbers
    assert told["gradients over the budget"] == 30 - gradients
    assert not told["over 100 numbers are left outside the state"]
    assert torch.autograd._engine_run_backward is kept


def test_gradients_taken_while_painting_count_and_a_float64_counts_twice():
    class Later(Fake):
        def fit(self, *given):
            return {"wide": torch.zeros(100).double()}

        def draw(self, state, wanted):
            super().fit(None, None, 0, 0)
            return super().draw(state, wanted)

    told = Painter.probe_function(Later, **case_of(0, n_numbers=190, n_gradients=10))
    assert told["gradients over the budget"] == 20
    assert told["numbers over the budget"] == 10


STORE: dict = {}
HELD = torch.zeros(20, 64)
HIDEOUTS = {
    "in the class": lambda cls, x: setattr(cls, "kept", x.clone()),
    "in a plain list": lambda cls, x: setattr(cls, "kept", x[:20].ravel().tolist()),
    "in bytes": lambda cls, x: setattr(cls, "kept", x.numpy().tobytes()),
    "in a dictionary outside": lambda cls, x: STORE.setdefault(len(STORE), x.clone()),
    "in a network": lambda cls, x: STORE.setdefault(len(STORE), nn.Linear(64, 64)),
    "in an argument's default": lambda cls, x, kept=[]: kept.append(x.clone()),  # noqa: B006
    "on a function": lambda cls, x: setattr(cls.draw, "kept", x.clone()),
    "in a closure": lambda cls, x: setattr(cls, "say", lambda: x),
    "in a bound method": lambda cls, x: setattr(cls, "say", nn.Linear(64, 64).forward),
    "in a tensor that was there": lambda cls, x: HELD.add_(1 + x[:20]),
}


@pytest.mark.parametrize("hide", HIDEOUTS.values(), ids=HIDEOUTS)
def test_what_training_leaves_outside_the_state_is_found(hide):
    class Hides(Fake):
        def fit(self, images, *given):
            hide(type(self), images)
            return super().fit(images, *given)

    told = Painter.probe_function(Hides, **case_of(2))
    assert told["over 100 numbers are left outside the state"]


def test_a_fresh_painter_gets_tensors_only():
    class Clings(Fake):
        def fit(self, *given):
            self.learned = 1
            part = nn.Parameter(torch.zeros(3))
            part.more = "hidden"
            return {"part": part}

        def draw(self, state, wanted):
            seen.append((hasattr(self, "learned"), type(state["part"]), vars(state["part"])))
            return super().draw(state, wanted)

    seen: list = []
    Painter.probe_function(Clings, **case_of(2))
    assert seen == [(False, torch.Tensor, {})]


@pytest.mark.parametrize(("state", "told"), [
    (nn.Linear(2, 2), "fit hands back something of type Linear, not a dict from names to tensors"),
    ([torch.zeros(3)], "fit hands back something of type list, not a dict"),
    (None, "fit hands back something of type NoneType, not a dict"),
    ({"width": 25}, "the state's 'width' is of type int; .* torch.tensor"),
    ({"net": {"a": torch.zeros(2)}}, "the state's 'net' is of type dict"),
    ({"w": np.zeros(3)}, "the state's 'w' is of type ndarray"),
    ({"1.5 " * 30: torch.zeros(1)}, "names, of at most 60 letters"),
    ({str(i): torch.zeros(0, i) for i in range(300)}, "at most 200 names"),
])  # fmt: skip
def test_what_is_no_state_is_told(state, told):
    class Other(Fake):
        def fit(self, *given):
            return state

    with pytest.raises((TypeError, ValueError), match=told):
        Painter.probe_function(Other, **case_of(2))


def test_half_copies_pass_as_painted_but_nearly_equal_an_image():
    class HalfCopies(Halves):
        def draw(self, state, wanted):
            walk = super().draw(state, wanted)
            for place in range(0, len(wanted), 2):
                own = state["images"][state["labels"] == wanted[place]]
                walk[-1, place] = own[place % len(own)]
            return walk

    told = Painter.probe_function(HalfCopies, **case_of(0))
    assert told["nearly equal to an image"] == pytest.approx(0.5, abs=0.02)
    assert Painter.probe_function(Halves, **case_of(0))["nearly equal to an image"] < 0.05


def test_a_draw_without_its_walk_is_told():
    class Short(Fake):
        def draw(self, state, wanted):
            return super().draw(state, wanted)[-1]

    with pytest.raises(ValueError, match=r"shape \(400, 64\)"):
        Painter.probe_function(Short, **case_of(0))


def bell_curves(images, labels, wanted):
    """A picture for each label wanted, from one bell curve a label."""
    drawn = torch.zeros(len(wanted), 64)
    for label in labels.unique():
        own, rows = images[labels == label].double(), wanted == label
        g = np.random.default_rng(int(label))
        told = g.multivariate_normal(own.mean(0).numpy(), own.T.cov().numpy(), int(rows.sum()))
        drawn[rows] = torch.from_numpy(told).float()
    return drawn.clamp(-1, 1)


@pytest.mark.parametrize("inks", [1, 2])
def test_bell_curves_pass_on_one_ink_and_paint_grey_on_two(inks):
    images, digits = pictures.digits()
    known, new, _ = pictures.split()
    g = torch.Generator().manual_seed(0)
    if inks == 2:
        images = images * (1 - 2 * torch.randint(2, (len(images), 1), generator=g))
    wanted = torch.arange(10).repeat(40)
    drawn = bell_curves(images[known], digits[known], wanted)
    seen = pictures.reader(images[new], digits[new])(drawn)
    numbers = [
        *ref.coverage(seen, wanted, torch.arange(10)),
        *ref.neighbours(drawn, images[known], images[new]),
        ref.variety(drawn, wanted, images[known], digits[known]),
    ]
    assert pictures.fails(numbers)[2:] == [False, inks == 2, False]
    assert any(pictures.fails(numbers)) == (inks == 2)
    if inks == 2:
        assert drawn.abs().mean() < images[known].abs().mean() - 0.2


# ------------------------------------------------------------ what the text says


def test_the_reader_is_kernel_ridge_regression_and_reads_locked_images():
    images, digits = pictures.digits()
    _, new, locked = pictures.split()
    seen = pictures.reader(images[new], digits[new])(images[locked])
    assert (seen == digits[locked]).double().mean() > 0.97
    model = KernelRidge(alpha=0.1, kernel="rbf", gamma=0.05)
    model.fit(images[new].double().numpy(), np.eye(10)[digits[new]] - 0.1)
    scores = model.predict(images[locked].double().numpy())
    assert np.array_equal(seen.numpy(), scores.argmax(1))


def test_the_applicants_are_what_the_notebook_says():
    images, digits = pictures.digits()
    known, new, _ = pictures.split()
    applicants, wanted = pictures.applicants()
    facts = pictures.draw_applicants(applicants, wanted, pictures.reader(images[new], digits[new]))[
        1
    ].facts
    shares = [one.facts["share"] for one in facts["told"]]
    assert min(shares[:2]) > 0.98 and shares[2:] == pytest.approx([0.9, 0.9], abs=0.015)
    first, second, _, fourth = applicants.values()
    nearest = torch.cdist(first, images[known], compute_mode="donot_use_mm_for_euclid_dist")
    assert nearest.amin(1).max() == 0
    assert torch.equal(second[:10], second[10:20])
    among = {tuple(row.tolist()) for row in images[digits == 3]}
    assert all(tuple(row.tolist()) in among for row in fourth[wanted == 8])


def test_no_dust_hides_a_copy_before_it_is_far_from_real_images():
    facts = controls.explorer(NOTEBOOK, "draw_dust", dust=0.3).words.facts
    assert facts["free"] == 0 and facts["copied"] > 0.98 and facts["far"] < 1.5
    facts = controls.explorer(NOTEBOOK, "draw_dust", dust=1.0).words.facts
    assert facts["copied"] < 0.85 and facts["far"] > 1.5


def test_dust_adds_about_as_much_to_all_squared_distances():
    images = pictures.digits()[0][pictures.split()[0]]
    clean, dusty = pictures.dusty(0.0)[:100], pictures.dusty(0.3)[:100]
    before, after = (torch.cdist(x, images).square() for x in (clean, dusty))
    near = before.topk(5, dim=1, largest=False).indices
    added = (after - before).gather(1, near)
    gaps = before.gather(1, near)[:, 1]
    assert added.std(1).mean() < 0.5 * added.mean() and added.std(1).mean() < 0.5 * gaps.mean()


def net_guesses(what, way_round, width=32, steps=300):
    """A narrow network learns to guess the clean image or the noise of straight lines: its pictures' (right, far)."""
    images, digits = pictures.digits()
    known, new, _ = pictures.split()
    torch.manual_seed(0)
    see, label, inner = nn.Linear(80, width), nn.Embedding(10, width), nn.Linear(width, width)
    say, around = nn.Linear(width, 64), nn.Linear(16, 64)
    parts = nn.ModuleList([see, label, inner, say, around])

    def guess(x, t, y):
        angle = t * torch.linspace(1, 30, 8)
        clock = torch.cat([angle.sin(), angle.cos()], 1)
        h = see(torch.cat([x, clock], 1)) + label(y)
        said = say(nn.functional.silu(h + inner(nn.functional.silu(h))))
        return said + way_round * around(clock) * x

    adam = torch.optim.Adam(parts.parameters(), 0.01)
    for step in range(steps):
        adam.param_groups[0]["lr"] = 0.01 * (1 - step / steps)
        rows = known[torch.randint(len(known), (128,))]
        x0, noise, t = images[rows], torch.randn(128, 64), torch.rand(128, 1)
        target = x0 if what == "clean" else noise
        loss = (guess((1 - t) * x0 + t * noise, t, digits[rows]) - target).square().mean()
        adam.zero_grad()
        loss.backward()
        adam.step()
    wanted = torch.arange(10).repeat(40)
    x = torch.randn(400, 64)
    with torch.no_grad():
        for left in range(25, 0, -1):
            t = torch.full((400, 1), left / 25)
            said = guess(x, t, wanted)
            # x = (1 - t) x0 + t noise; at t = 1 nothing is left of x0, so start a little later
            v = (said - x) / t if what == "clean" else (x - said) / (1 - t).clamp(min=0.04)
            x = x + v / 25
    x = x.clamp(-1, 1)
    right = pictures.reader(images[new], digits[new])(x) == wanted
    far = ref.neighbours(x.double(), images[known].double(), images[new].double())[1]
    return right.double().mean().item(), far.item()


def test_a_narrow_network_guesses_clean_images_more_easily_and_a_way_round_helps_with_noise():
    clean, noise, helped = (
        net_guesses(*look) for look in (("clean", False), ("noise", False), ("noise", True))
    )
    assert clean[0] > noise[0] + 0.2 and clean[1] < noise[1] - 0.5
    assert helped[0] > noise[0] + 0.2 and helped[1] < noise[1] - 0.5


# ------------------------------------------------------------ what it draws


def test_the_walk_ends_at_the_pictures():
    gaps = [
        controls.explorer(NOTEBOOK, "draw_walk", step=step).words.facts["gap"]
        for step in (0, 12, 25)
    ]
    assert gaps[0] > gaps[1] > gaps[2] == 0


@pytest.mark.parametrize(("numbers", "caught"), [
    ([0.75, 0.1, 0.85, 1.5, 0.4], [False] * 5),
    ([0.74, 0.09, 0.86, 1.51, 0.39], [True] * 5),
])  # fmt: skip
def test_a_bound_that_is_met_exactly_is_met(numbers, caught):
    assert pictures.fails(numbers) == caught


def test_a_table_tells_who_is_turned_away_by_whom():
    rows = {"a": [1.0, 1.0, 0.5, 1.0, 1.0], "b": [0.2, 1.0, 0.9, 1.0, 1.0]}
    told = pictures.draw_verdicts(rows)[1].facts["told"]
    assert [one.facts["by"] for one in told] == ["none", "as wanted, copied"]


def test_whoever_recites_is_told_from_whoever_paints_new_images():
    class Reciter(Halves):
        def draw(self, state, wanted):
            own = [state["images"][state["labels"] == label] for label in wanted]
            rows = [images[k % len(images)] for k, images in enumerate(own)]
            return torch.stack([torch.zeros(len(wanted), 64), torch.stack(rows)])

    class Honest(Halves):
        def draw(self, state, wanted):
            images, _ = pictures.digits()
            rows = pictures.split()[2][: len(wanted)]
            return torch.stack([torch.zeros(len(wanted), 64), images[rows]])

    share, painted, nearest = pictures.lesson(Reciter, 50)
    assert share == 1 and torch.allclose(painted, nearest)
    assert abs(pictures.lesson(Honest, 550)[0] - 0.5) < 0.08
    facts = pictures.draw_thefts(Reciter, 50)[1].facts
    assert facts["share"] == 1 and facts["gap"] == 0
    facts = pictures.draw_lessons([25, 550], [1.0, 0.6])[1].facts
    assert facts == {"few": 25, "first": 1.0, "many": 550, "last": 0.6}


def test_misread_pictures_are_counted():
    drawn, wanted = torch.zeros(20, 64), torch.arange(20) % 10
    wrong = wanted.clone()
    wrong[[3, 7]] += 1
    facts = pictures.draw_misread(drawn, wanted, lambda x: wrong)[1].facts
    assert facts["wrong"] == facts["shown"] == 2
    assert facts["error"] == pytest.approx(100 * np.sqrt(0.9 * 0.1 / 20))
    assert pictures.draw_misread(drawn, wanted, lambda x: wanted)[1].facts["shown"] == 0
