"""The report's figures, as <img> with their words."""

import base64
import html

import matplotlib


def marks(words: str, points: list[float], total: float) -> str:
    """How the marks are spread."""

    def draw(ax):
        bins = min(10, max(int(total), 1))
        ax.hist(points, bins=bins, range=(0, total), color="#0072B2", edgecolor="white")
        ax.set(xlabel="points", ylabel="students", title="How the marks are spread")
        ax.yaxis.get_major_locator().set_params(integer=True)

    return _picture(draw, words, 3.2)


def solved(words: str, items) -> str:
    """Who solved what, of those who tried, with the interval."""
    tried = [item for item in items if item.tried]

    def draw(ax):
        shares = [100 * item.solved_share for item in tried]
        low = [100 * max(0, i.solved_share - i.solved_interval[0]) for i in tried]
        high = [100 * max(0, i.solved_interval[1] - i.solved_share) for i in tried]
        places = range(len(tried))
        ax.barh(places, shares, color="#56B4E9")
        ax.errorbar(shares, places, xerr=[low, high], fmt="none", ecolor="#222", capsize=3)
        ax.set_yticks(places, [item.exercise for item in tried])
        ax.set(xlabel="solved it, of those who tried (%)", xlim=(0, 101))
        ax.set_ylim(len(tried) - 0.4, -0.6)
        ax.set_title("Who solved what (lines: 95 % intervals)")

    return _picture(draw, words, 1 + 0.3 * len(tried))


def _picture(draw, words: str, height: float) -> str:
    import matplotlib.pyplot as plt

    from descent import plots

    backend = matplotlib.get_backend()
    matplotlib.use("agg")
    try:
        with plt.style.context(str(plots.STYLE)):
            fig, ax = plt.subplots(figsize=(7, height))
            draw(ax)
            png, width = plots.png(fig)
    finally:
        matplotlib.use(backend)
    source = base64.b64encode(png).decode("ascii")
    words = html.escape(words, quote=True)
    return f'<img src="data:image/png;base64,{source}" width="{width}" alt="{words}">'
