"""Words are text that keeps the numbers it was computed from."""

import numpy as np
import pytest

import descent
from descent import explore, plots, predict, show
from descent.widgets import Explorer
from descent.words import say


def test_words_are_the_text_and_keep_the_numbers_unrounded():
    words = say("Precision {p:.2f} of {n} rows.", p=6 / 7, n=14)
    assert words == "Precision 0.86 of 14 rows."
    assert words.facts == {"p": 6 / 7, "n": 14}
    assert descent.say is say


def test_a_part_of_an_array_is_named_as_in_format():
    words = say("It ends at ({end[0]:.1f}, {end[1]:.1f}).", end=np.array([1.25, -2.0]))
    assert words == "It ends at (1.2, -2.0)." and words.facts["end"][0] == 1.25


@pytest.mark.parametrize(
    ("text", "facts", "message"),
    [
        ("Precision {p:.2f}.", {}, "the text names 'p', but no p=… is passed"),
        (
            "Precision {p:.2f}.",
            {"p": 1.0, "q": 2, "r": 3},
            "'q', 'r' passed, but the text does not",
        ),
        ("Precision {:.2f}.", {"p": 1.0}, "a place {} has no name"),
    ],
)
def test_a_name_without_a_number_and_a_number_without_a_name_are_errors(text, facts, message):
    with pytest.raises(TypeError, match=message):
        say(text, **facts)


def test_joined_words_have_the_facts_of_both():
    words = say("{a} up", a=1) + ", then " + say("{b} down", b=2)
    assert words == "1 up, then 2 down" and words.facts == {"a": 1, "b": 2}
    assert ("It goes " + words).facts == words.facts


def test_joined_words_may_not_share_a_fact():
    with pytest.raises(ValueError, match="both parts have the facts 'a'"):
        say("{a}", a=1) + say("{a}", a=1)


def test_words_are_joined_to_nothing_but_text():
    for join in (lambda words: words + 1, lambda words: 1 + words):
        with pytest.raises(TypeError):
            join(say("{a}", a=1))


def test_a_list_of_words_keeps_each_ones_facts():
    ends = [say("{name}: {end:.1f}", name=name, end=end) for name, end in (("a", 0.25), ("b", 3))]
    words = say("Ends: {ends:; }.", ends=ends)
    assert words == "Ends: a: 0.2; b: 3.0."
    assert [part.facts["end"] for part in words.facts["ends"]] == [0.25, 3]


def draw(a=1.0):
    fig, ax = plots.plt.subplots()
    ax.plot([0, a])
    return fig, say("It ends at {a:.1f} < 9.", a=a)


def test_a_widget_hands_out_the_facts_of_what_it_last_drew():
    from ipywidgets import FloatSlider

    widget = Explorer(draw, {"a": FloatSlider(1.0, max=3)})
    widget.controls["a"].value = 2.5
    assert widget.words.facts == {"a": 2.5}
    assert "It ends at 2.5 &lt; 9." in widget.readout.value
    assert 'alt="It ends at 2.5 &lt; 9."' in widget.picture.value


@pytest.mark.parametrize("static", ["0", "1"])
def test_every_way_of_showing_takes_words(static, toy, monkeypatch):
    from ipywidgets import FloatSlider

    shown = []
    monkeypatch.setenv("DESCENT_STATIC", static)
    monkeypatch.setattr("IPython.display.display", lambda data, **meta: shown.append(data))
    show(*draw())
    show(*draw(), digits=0)
    explore(draw, a=FloatSlider(1.0, max=3))
    predict("where", "Where?", ["here", "there"], truth="here", then=draw)
    texts = [data["text/plain"] for data in shown if isinstance(data, dict)]
    assert sum("It ends at 1.0 < 9." in text for text in texts) >= (2 if static == "0" else 3)
