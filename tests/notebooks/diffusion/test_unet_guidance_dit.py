"""References and pictures of 15_diffusion/07_unet_guidance_dit against torch's layers, loops and closed forms."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812 — as everybody writes it
from torch import nn

from descent.pictures.diffusion import unet_guidance_dit as pictures
from solutions import notebook_module
from tests.notebooks import controls
from tests.notebooks.conftest import randn

NOTEBOOK = "15_diffusion/07_unet_guidance_dit"
ref = notebook_module(NOTEBOOK, "reference")


def near(got, wanted):
    torch.testing.assert_close(got, wanted, rtol=1e-9, atol=1e-11)


def loaded(layer, weights, name):
    """One of torch's layers with the weights called name.…, as a function without gradients."""
    layer = layer.double().requires_grad_(False)
    layer.load_state_dict(
        {key: weights[f"{name}.{key}"] for key in layer.state_dict()}, strict=True
    )
    return layer


def torchs_block(p, at, h, emb):
    c, d = h.shape[1], emb.shape[1]
    norm = loaded(nn.GroupNorm(4, c), p, f"{at}norm")
    time = loaded(nn.Linear(d, c), p, f"{at}time")
    first, last = (
        loaded(nn.Conv2d(c, c, 3, padding=1), p, at + name) for name in ("first", "last")
    )
    z = norm(h) + time(emb)[..., None, None]
    return h + last(F.silu(first(F.silu(z))))


def torchs_attention(p, at, h):
    c = h.shape[-1]
    q, k, v, out = (loaded(nn.Linear(c, c), p, at + n) for n in ("ask", "key", "value", "out"))
    return out(F.scaled_dot_product_attention(q(h), k(h), v(h)))


def test_the_clock_is_sines_and_cosines_one_by_one():
    t, d = torch.tensor([0, 3, 41]), 6
    clock = ref.time_embed(t, d)
    for row, step in enumerate(t.tolist()):
        for k in range(d // 2):
            angle = step / 10000 ** (2 * k / d)
            hand = clock[row, 2 * k : 2 * k + 2].tolist()
            assert hand == pytest.approx([math.sin(angle), math.cos(angle)], abs=1e-12)


def test_attention_is_torchs(g):
    h = randn(2, 5, 4, g=g)
    p = ref.filled(ref.attention_shapes(4, "look."), 1.1, h)
    near(ref.attend(p, "look.", h), torchs_attention(p, "look.", h))


@pytest.mark.parametrize("c", [4, 8])
def test_a_residual_block_is_made_of_torchs_layers(c, g):
    h, emb = randn(3, c, 5, 5, g=g), randn(3, 6, g=g)
    p = ref.filled(ref.block_shapes(c, 6), 0.9, h)
    report = ref.block_report(h, emb, 0.9)
    near(report["out"], torchs_block(p, "", h, emb))
    assert report["weights"] == 2 * c + 6 * c + c + 2 * (9 * c * c + c)
    assert torch.equal(ref.block_report(h, emb, None)["out"], h)


@pytest.mark.parametrize("skips", [True, False])
@pytest.mark.parametrize("depth, size", [(1, 6), (2, 8)])
def test_a_u_net_is_made_of_torchs_layers(depth, size, skips, g):
    x, emb, c = randn(2, 3, size, size, g=g), randn(2, 5, g=g), 4
    p = ref.filled(ref.unet_shapes(3, c, depth, 5), 1.2, x)
    h, kept = loaded(nn.Conv2d(3, c, 3, padding=1), p, "enter")(x), []
    for level in range(depth):
        w = c * 2**level
        h = torchs_block(p, f"down.{level}.", h, emb)
        kept.append(h * skips)
        h = loaded(nn.Conv2d(w, 2 * w, 1), p, f"wider.{level}")(F.max_pool2d(h, 2))
    h = torchs_block(p, "bottom.", h, emb)
    tokens = h.flatten(2).transpose(1, 2)
    h = h + torchs_attention(p, "look.", tokens).transpose(1, 2).reshape(h.shape)
    for level in range(depth - 1, -1, -1):
        w = c * 2**level
        h = loaded(nn.ConvTranspose2d(2 * w, w, 2, stride=2), p, f"up.{level}")(h)
        h = torch.cat([h, kept[level]], 1)
        h = loaded(nn.Conv2d(2 * w, w, 1), p, f"merge.{level}")(h)
        h = torchs_block(p, f"refine.{level}.", h, emb)
    out = loaded(nn.Conv2d(c, 3, 3, padding=1), p, "leave")(h)
    report = ref.unet_report(x, emb, c, depth, skips, 1.2)
    near(report["out"], out)
    assert report["weights"] == sum(weights.numel() for weights in p.values())


def test_filled_weights_differ_and_have_the_size_of_a_layers(g):
    p = ref.filled(ref.unet_shapes(1, 4, 2, 3), 1.0, randn(1, g=g))
    firsts = [weights.flatten()[0].item() for weights in p.values()]
    assert len({round(first, 9) for first in firsts}) == len(firsts)
    large = p["bottom.first.weight"]  # 16 channels, 3×3
    assert large.square().mean().item() == pytest.approx(1 / (2 * 16 * 9), rel=0.05)


def test_a_transformer_block_is_made_of_torchs_layers(g):
    h, emb, c = randn(2, 5, 4, g=g), randn(2, 3, g=g), 4
    p = ref.filled(ref.dit_shapes(c, 3), 0.8, h)
    rule = loaded(nn.Linear(3, 6 * c), p, "rule")(F.silu(emb)).reshape(2, 6, 1, c)
    inner, outer = (
        loaded(nn.Linear(*sizes), p, name)
        for name, sizes in (("think.0", (c, 4 * c)), ("think.2", (4 * c, c)))
    )
    z = h + rule[:, 2] * torchs_attention(
        p, "look.", F.layer_norm(h, [c]) * (1 + rule[:, 1]) + rule[:, 0]
    )
    z = z + rule[:, 5] * outer(F.gelu(inner(F.layer_norm(z, [c]) * (1 + rule[:, 4]) + rule[:, 3])))
    near(ref.dit_report(h, emb, 0.8)["out"], z)
    assert torch.equal(ref.dit_report(h, emb, None)["out"], h)


def test_patches_by_loops(g):
    x, p = randn(2, 3, 6, 6, g=g), 2
    cut = ref.patches(x, randn(1, 4, 12, g=g), p)["cut"]
    for number in range(9):
        i, j = divmod(number, 3)
        for k in range(3):
            for a in range(p):
                for b in range(p):
                    assert cut[1, number, k * 4 + a * 2 + b] == x[1, k, i * p + a, j * p + b]
    assert torch.equal(ref.patches(x, cut, p)["joined"], x)


def test_guidance_is_linear_in_w_and_right_at_both_ends(g):
    x, t, y = randn(3, 2, 2, g=g), torch.tensor([1, 5, 9]), torch.tensor([0, 1, 1])
    V = torch.tensor([1.0, 2.0, -3.0]).double()
    deaf, told, loud = (ref.guided_report(x, t, y, w, 2, V)["noise"] for w in (0.0, 1.0, 3.0))
    bent = (x + t.double()[:, None, None] / 10).tanh()
    near(deaf, -3 * bent)
    near(told, V[y][:, None, None] * bent)
    near(loud, deaf + 3 * (told - deaf))


def test_labels_are_hidden_with_the_chance_asked_for():
    y = torch.arange(20_000) % 10
    hidden = ref.drop_labels(y, 0.3, 10, 5)
    assert (hidden == 10).double().mean().item() == pytest.approx(0.3, abs=0.01)
    assert torch.equal(hidden[hidden < 10], y[hidden < 10])


# ------------------------------------------------------------ what it draws


def test_the_schedule_ends_in_noise_and_its_powers_are_products():
    betas, abar = pictures.cosine_schedule(50)
    assert abar[0] == 1 and abar[-1] < 1e-4 and len(abar) == 51
    assert abar[10].item() == pytest.approx(float(torch.prod(1 - betas[:10])), rel=1e-5)


def test_the_walk_with_exact_noise_has_the_mean_and_spread_of_the_data():
    """Data N(2, 0.25): the best guess of the noise is √(1 − ᾱ) (x − 2√ᾱ) / (ᾱ/4 + 1 − ᾱ)."""
    betas, abar = pictures.cosine_schedule(200)

    def noise(x, t):
        left = abar[t[0]]
        return (1 - left).sqrt() * (x - 2 * left.sqrt()) / (left / 4 + 1 - left)

    x = torch.randn(20_000, 1, generator=torch.Generator().manual_seed(0))
    states, guesses = pictures.walk(noise, x, betas)
    assert states.shape == (201, 20_000, 1) and guesses.shape == (200, 20_000, 1)
    assert states[-1].mean().item() == pytest.approx(2, abs=0.02)
    assert states[-1].std().item() == pytest.approx(0.5, abs=0.02)
    assert torch.allclose(guesses[-1], states[-1], atol=1e-4)


def test_slopes_of_the_guided_density_by_the_scores_of_its_mixtures():
    worlds, x = pictures.crowds(), np.random.default_rng(0).normal(size=(20, 2))
    everybody, blue = worlds[2].noised(0.8, 0.6), worlds[0].noised(0.8, 0.6)
    density = pictures.guided_log_density(worlds, 0, 3.0, 0.8, 0.6)
    want = -2 * everybody.score(x) + 3 * blue.score(x)
    assert pictures.slopes(density, x) == pytest.approx(want, rel=1e-5, abs=1e-6)
    # it is p(x) p(blue | x)^3, but for a constant
    sure = everybody.shares(x)[:, :3].sum(1)
    gap = density(x) - everybody.log_density(x) - 3 * np.log(sure)
    assert gap == pytest.approx(gap[0])


def test_the_crowd_answers_each_label_with_its_own_world():
    worlds, (_, abar) = pictures.crowds(), pictures.cosine_schedule(50)
    x, y = torch.tensor([[0.3, -0.2]] * 3).double(), torch.tensor([2, 0, 1])
    eps = pictures.crowd_noise(worlds, abar)(x, torch.full((3,), 20), y)
    a, b = abar[20].sqrt().item(), (1 - abar[20]).sqrt().item()
    for row, label in enumerate(y.tolist()):
        assert eps[row].numpy() == pytest.approx(worlds[label].noise(x[row].numpy(), a, b))


def test_without_guidance_each_blue_hill_has_its_third_by_the_formula():
    worlds = pictures.crowds()
    drawn = pictures.shares(worlds[0].sample(40_000, np.random.default_rng(0))[0], worlds)
    assert pictures.formula_share(worlds, 1.0) == pytest.approx(drawn[2], abs=0.01)
    assert pictures.shares(worlds[2].means, worlds) == pytest.approx([1 / 6] * 6)


def test_a_trace_lists_what_leaves_each_part():
    class Part(nn.Module):
        def forward(self, h):
            return h

    net = nn.Module()
    net.enter, net.bottom, net.leave = Part(), Part(), Part()
    for name in ("down", "wider", "merge", "refine"):
        setattr(net, name, nn.ModuleList([Part()]))

    def forward(x, emb):
        h = net.wider[0](net.down[0](net.enter(x))[..., ::2, ::2])
        return net.leave(net.refine[0](net.merge[0](net.bottom(h))))

    net.forward = forward
    seen = pictures.trace(net, torch.zeros(1, 2, 4, 4), None)
    assert seen[:3] == [("enter", 2, 4), ("down[0]", 2, 4), ("wider[0]", 2, 2)]
    assert [name for name, *_ in seen[3:]] == ["bottom", "merge[0]", "refine[0]", "leave"]


def test_the_u_halves_and_doubles():
    widget = controls.explorer(NOTEBOOK, "draw_u", size=32, depth=3)
    facts = widget.words.facts
    assert (facts["c"], facts["s"]) == (128, 4) and facts["low"] == 128 * 16
    assert facts["kept"] == "16×32×32, 32×16×16, 64×8×8"
    widget.controls["depth"].value = 1
    assert (widget.words.facts["c"], widget.words.facts["s"]) == (32, 16)


def test_the_clocks_reading_is_most_like_its_own():
    for t in (0, 20, 50):
        facts = controls.explorer(NOTEBOOK, "draw_clock", t=t).words.facts
        assert 0 < facts["far"] < facts["near"] < 1


def test_the_dial_starves_the_hill_next_to_the_red_ones():
    widget = controls.explorer(NOTEBOOK, "draw_crowd", w=1.0)
    first = widget.words.facts
    assert first["c"] == pytest.approx(1 / 3, abs=0.07) and first["sure"] > 0.9
    widget.controls["w"].value = 4.0
    loud = widget.words.facts
    assert loud["c"] < 0.1 and loud["sure"] > 0.99 and loud["spread"] < first["spread"]
    widget.controls["w"].value = 0.0
    assert widget.words.facts["sure"] == pytest.approx(0.5, abs=0.07)


def test_a_request_arrives_and_most_are_read_as_asked():
    widget = controls.explorer(NOTEBOOK, "draw_request", digit=7, w=2, walked=0)
    far = widget.words.facts["move"]
    assert widget.words.facts["read"] >= 8
    widget.controls["walked"].value = 50
    assert widget.words.facts["move"] == 0 < 0.5 < far


def test_the_price_by_hand():
    class Judge:
        def score(self, x, y):
            return float((x[:, 0] == y).double().mean())

    wanted = torch.arange(10).repeat_interleave(10)
    same = torch.zeros(100, 64)
    same[:, 0] = wanted
    apart = same.clone()
    apart[:, 1] = torch.arange(100) % 2 * 2.0
    read, spread, off = pictures.price([same, apart], wanted, Judge(), same[:1])
    assert read == [1, 1] and spread[0] == 0
    assert spread[1] == pytest.approx(math.sqrt(10 / 9) / 64)
    assert off[0] == 4  # the lower median of 0 … 9


def test_where_the_ratio_is_least():
    assert pictures.least_ratio([5, 25, 30, 45], [2, 3, 0, 1], [1, 1, 1, 2]) == 2


def test_errors_of_a_net_that_says_nothing_are_one_a_pixel():
    _, abar = pictures.cosine_schedule(50)
    x, y = torch.zeros(200, 1, 8, 8), torch.zeros(200, dtype=torch.long)
    silent = pictures.error_at(lambda x, t, y: 0 * x, x, y, 30, abar)
    assert silent == pytest.approx(1, abs=0.05)
    # an image of zeros: the noise can be read off
    exact = pictures.error_at(lambda x, t, y: x / (1 - abar[30]).sqrt(), x, y, 30, abar)
    assert exact == pytest.approx(0, abs=1e-9)


def test_pictures_tell_the_numbers_that_they_draw():
    images = torch.arange(128.0).reshape(2, 1, 8, 8) / 64 - 1
    facts = pictures.draw_shuffled(images, images.flip(-1))[1].facts
    assert (facts["n"], facts["same"], facts["moved"]) == (2, "yes", 1)
    assert pictures.draw_shuffled(images, images + 1)[1].facts["same"] == "no"
    curves = {"U": [0.4, 0.2], "DiT": [0.6, 0.1]}
    facts = pictures.draw_bodies([5, 10], curves, "a title")[1].facts
    assert facts["best"] == "U"
    assert [each.facts["mean"] for each in facts["told"]] == pytest.approx([0.3, 0.35])
    price = pictures.draw_price([0, 1, 8], [0.1, 0.9, 1], [4, 2, 1], [3, 2, 5])[1].facts
    assert (price["least"], price["last"], price["far"]) == (0.5, 8, 2.5)
