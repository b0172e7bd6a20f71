"""The panels that many pictures share say what they were given, where they were told to."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from descent import plots


def test_fixed_axes_fill_what_the_margins_leave():
    fig, (left, right) = plots.fixed_axes(2, (8, 3), (0.1, 0.9, 0.2, 0.8), width_ratios=(3, 1))
    assert tuple(fig.get_size_inches()) == (8, 3)
    assert (left.get_position().x0, left.get_position().y0) == pytest.approx((0.1, 0.2))
    assert (right.get_position().x1, right.get_position().y1) == pytest.approx((0.9, 0.8))
    assert left.get_position().width == pytest.approx(3 * right.get_position().width)


def test_fixed_axes_stay_where_they_are_when_a_label_is_drawn():
    fig, ax = plots.fixed_axes(1, (4, 3), (0.05, 0.95, 0.05, 0.95))
    before = ax.get_position().bounds
    ax.set(xlabel="a label that an automatic layout would make room for")
    fig.canvas.draw()
    assert np.array_equal(ax.get_position().bounds, before)


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_grouped_bars_stand_apart_around_their_groups_name(rows):
    values = np.arange(1.0, 2 * rows + 1).reshape(rows, 2)
    looks = [("first", plots.BLUE, ""), ("second", plots.PINK, "//"), ("third", plots.SKY, "..")]
    ax = plt.figure().add_subplot()
    drawn = plots.grouped_bars(["a", "b"], values, ax, looks=looks[:rows], step=0.3)
    edges = np.array([[(b.get_x(), b.get_x() + b.get_width()) for b in bars] for bars in drawn])
    assert np.allclose(edges.mean((0, 2)), [0, 1])
    assert np.all(edges[1:, :, 0] > edges[:-1, :, 1])
    assert np.array_equal([[b.get_height() for b in bars] for bars in drawn], values)
    assert [label.get_text() for label in ax.get_xticklabels()] == ["a", "b"]
    assert ax.get_legend_handles_labels()[1] == [label for label, *_ in looks[:rows]]
