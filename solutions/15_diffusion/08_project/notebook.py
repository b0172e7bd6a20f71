# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown] builds="a painter of digits on request, within a budget, judged by five numbers and not by one"
# # Project: a painter on a budget
#
# You need somebody who paints handwritten digits on request. Four painters apply. Each paints every digit forty times,
# and a classifier that knows real digits reads them. It finds all that the first two painted to be what was wanted, and
# nine out of ten of the other two's.
#
# You should hire none of them. *What is wrong with each, and how would you find out if nobody looked?*
#
# You write the judges first. Then you train a painter of your own, within a budget, that stands up to them all. At the
# end you open a lock, once.

# %%
# What this notebook needs.
import math

import torch
from ipywidgets import FloatSlider, IntSlider
from torch import nn

from descent import after, check, claim, explore, hint, predict, show, solution, start
from descent.pictures.diffusion import project as pictures

start("15_diffusion/08_project")

# %% [markdown]
# ## The four applicants
#
# There are 1797 handwritten digits, 8 × 8 pixels, each from −1 (white) to 1 (black). 550 of them are **known**: painters
# learn from these. 550 are **new**: no painter has seen them, but judges may use them. 550 are locked away until the
# last section. (The other 147 stay in a drawer.)
#
# An image or a picture is a row of 64 numbers. The reader is given: `read(x)` says which digit it sees in each row of
# `x`. It has learned from the new images.

# %%
# Two of their pictures for each digit.
known, new, locked = pictures.split()
images, digits = pictures.digits()
read = pictures.reader(images[new], digits[new])
applicants, wanted = pictures.applicants()
show(*pictures.draw_applicants(applicants, wanted, read))

# %% [markdown]
# ## 1. What was wanted, and all of it
#
# What you ask for is a **label**, and a label need not be one digit. Ask for *odd*, and five digits are right. A painter who
# then always paints a 7 makes it too easy. So there are two questions: how much is right? And of all that would have been
# right, what comes off worst?
#
# (`hint(coverage)`, up to three times; so for every exercise.)


# %% exercise="coverage" points=2 difficulty=1
def coverage(seen, wanted, owner):
    """How much is right, and which digit comes off worst.

    Tensors of integers. seen (n,): the digit that a reader sees in each picture.
    wanted (n,): the label asked for, each label at least once. owner (d,): the label
    of each digit 0 … d - 1; a label has one digit or more.
    -> (right, rarest). right: the share of pictures whose digit belongs to the label
    wanted. A digit's fair share: the pictures wanted with its label, divided by the
    digits of that label. rarest: how often a digit was painted where its label was
    wanted, divided by its fair share; the lowest of all digits.
    seen = [0, 0, 0, 2], wanted = [0, 0, 0, 1], owner = [0, 0, 1] gives (1.0, 0.0).
    """
    ### BEGIN SOLUTION
    right = (owner[seen] == wanted).double().mean()
    rarest = math.inf
    for digit, label in enumerate(owner):
        asked = wanted == label
        painted = (asked & (seen == digit)).sum()
        fair = asked.sum() / (owner == label).sum()
        rarest = min(rarest, float(painted / fair))
    return right, rarest
    ### END SOLUTION


# %% check="coverage"
check(coverage)

# %% [markdown]
# ## 2. Was it copied?
#
# A known image looks as good as a real one: it is one. How do you prove a theft? Take real images that are
# neither known nor among the new ones. About half of them lie nearer to a known image than to any new one, because there are as many known as new. A copy lies
# nearer to a known one always.
#
# The same distances tell how real pictures look: they should lie about as far from the new images as the known ones do. A
# mean would hide a few that are no digits, so ask how far nine in ten stay. Distance is the root of the summed squares.


# %% exercise="neighbours" points=2 difficulty=1
def neighbours(drawn, known, new):
    """How many pictures look stolen, and how far they are from real ones.

    drawn (n, d), known (m, d), new (l, d): float tensors.
    -> (copied, far). copied: the share of drawn whose nearest known image is nearer
    than the nearest new one; a tie counts half.
    far: within which distance of its nearest new image nine in ten drawn stay,
    torch.quantile(…, 0.9), divided by the same of the known ones.
    drawn = [[1.0]], known = [[0.0]], new = [[3.0]] gives (1.0, 0.6667).
    """
    ### BEGIN SOLUTION
    to_known = torch.cdist(drawn, known).amin(1)
    to_new = torch.cdist(drawn, new).amin(1)
    nearer = (to_known < to_new).double()
    ties = (to_known == to_new).double()
    usual = torch.cdist(known, new).amin(1).quantile(0.9)
    return (nearer + ties / 2).mean(), to_new.quantile(0.9) / usual
    ### END SOLUTION


# %% check="neighbours"
check(neighbours)

# %% predict="dust" minutes=1
predict(
    "dust",
    "A cleverer copier scatters dust over each copy: noise of standard deviation 0.3 "
    "in every pixel. So none of its pictures equals an image any more. How many of 100 "
    "are still nearer to a known image than to any new one?",
    ["about 50", "about 75", "about 100"],
    truth=int(
        torch.bucketize(
            float(neighbours(pictures.dusty(0.3), images[known], images[new])[0]),
            torch.tensor([0.62, 0.87]),
        )
    ),
    because="In 64 dimensions the dust points away from all images alike. It adds "
    "about as much to all squared distances, so the nearest stays the nearest.",
)

# %% [markdown]
# **Drag the dust.** Is there an amount that hides the theft, while the pictures still lie near to real ones? The dotted lines
# are the bounds of the judges: at most 85 % copied, at most 1.5 times as far as usual.

# %%
# Copies with dust: drag along the two curves.
with after(neighbours, "dust"):
    dusts = [number / 10 for number in range(13)]
    judged = [
        neighbours(pictures.dusty(dust), images[known], images[new]) for dust in dusts
    ]
    explore(
        lambda dust, dusts=dusts, judged=judged: pictures.draw_dust(
            dust, dusts, judged
        ),
        digits=1,
        drag={"dust": "dust"},
        dust=FloatSlider(0.3, min=0, max=1.2, step=0.1, description="dust"),
    )

# %% [markdown]
# ## 3. One picture, forty times
#
# Forty sevens should be forty different sevens. Compare how far apart pictures of one label are with how far apart images of
# one label are.


# %% exercise="variety" points=2 difficulty=1
def variety(drawn, wanted, images, labels):
    """How different pictures of one label are, compared with images of one label.

    drawn (n, d) with their labels wanted (n,), images (m, d) with labels (m,): float
    and integer tensors. A label that stands in a set stands there twice or more; drawn
    may lack some.
    The spread of a set of rows: for each label the mean distance between two
    of its rows, over all pairs, equal ones too; then the mean over the set's labels.
    -> spread of drawn, divided by spread of images.
    drawn = [[0.0], [1.0]], images = [[0.0], [2.0]], all of label 0: 0.5.
    """

    ### BEGIN SOLUTION
    def spread(x, y):
        means = []
        for label in y.unique():
            alike = x[y == label]
            n = len(alike)
            means.append(torch.cdist(alike, alike).sum() / (n * (n - 1)))
        return torch.stack(means).mean()

    return spread(drawn, wanted) / spread(images, labels)
    ### END SOLUTION


# %% check="variety"
check(variety)

# %%
# Your judges on the four applicants.
with after(coverage, neighbours, variety):

    def verdict(drawn, wanted, read=read, new=images[new]):
        """The five numbers for pictures of the ten digits, each its own label."""
        drawn, taught = drawn.clamp(-1, 1), images[known]
        return [
            *coverage(read(drawn), wanted, torch.arange(10)),
            *neighbours(drawn, taught, new),
            variety(drawn, wanted, taught, digits[known]),
        ]

    verdicts = {name: verdict(drawn, wanted) for name, drawn in applicants.items()}
    caught = [pictures.fails(numbers) for numbers in verdicts.values()]
    alone = all(sum(one) == 1 for one in caught)
    claim("each applicant fails one judge, and passes all the others", alone)
    different = len({tuple(one) for one in caught}) == 4
    claim("and no judge catches two of them", different)
    show(*pictures.draw_verdicts(verdicts), digits=1)

# %% [markdown]
# That is the answer to the first screen: a copier, a stamper, one who hides a stamp under dust, and one who cannot paint an 8.
# Each of them pleases all judges but one. Whoever trusts a single number hires at least three of them.
#
# ## 4. The painter
#
# Now train your own, **of any kind**: noise that is guessed ([[15/03]]), clean images that are guessed, velocities
# ([[15/06]]); a walk with or without fresh noise ([[15/04]]); layers or convolutions ([[15/07]]). A network is usually given
# three inputs: the noised picture, how much noise is in it, and the label (`nn.Embedding(k, width)` learns a vector for each).

# %% [markdown]
# **The state.** Who learns is not there when somebody paints. `fit` hands back names with tensors: for a network
# `network.state_dict()`. They are copied. A fresh painter gets them in `draw`, builds the network again, as wide as
# the shapes tell (`state["0.weight"].shape`), and fills it: `network.load_state_dict(state)`. In between, another painter
# learns other labels. They must not mix.
#
# **The budget.** *Numbers*: all entries of the state, of four bytes; a float64 counts twice. More than a hundred that training
# leaves elsewhere, in the class or a global name, are refused. *Gradients*: each `backward()` or `torch.autograd.grad` is
# one, on as many images as you like.
#
# | case | images | numbers | gradients |
# | --- | --- | --- | --- |
# | ten digits, ten labels | 600 | 40,000 | 600 |
# | two labels, three digits each | 500 | 40,000 | 600 |
# | four digits, four labels | 300 | 30,000 | 300 |

# %% [markdown]
# **The images.** Labels are 0 … k − 1; only the images say what they mean. In the check the digits lie, so upright ones
# from elsewhere are no help, and a coin decides whether an image is black on white or white on black. Without that coin a
# bell curve for each label would do, and no gradient. Now it paints the grey between. To try two inks, learn from
# `images[known] * (1 - 2 * torch.randint(2, (550, 1)))`.

# %% [markdown]
# **The judges** see 400 pictures a case, and as many new images as you had known ones. They ask for
#
# - 75 % right, and every digit at least a tenth of its fair share;
# - at most 85 % copied, and 5 % nearly equal to an image, known or new: nearer than 0.3 of what `far` divides by;
# - far: at most 1.5;
# - variety: at least 0.4.
#
# Pixels beyond −1 and 1 are cut. A case may compute for 15 s. Grading draws other images: pass with a margin. To try things out on
# upright digits in black, use `verdict(…)` of section 3 in a cell of your own.


# %% exercise="Painter" points=12 difficulty=1
class Painter:
    """Learns to paint what a label stands for, out of noise."""

    def fit(self, images, labels, n_numbers, n_gradients):
        """Learn from images (N, 64), float32, pixels -1 to 1, and labels (N,), integers
        0 … k - 1, each there.

        n_numbers: how many the state may hold. n_gradients: how many it may take.
        More methods are welcome. Chance comes from torch's own generator:
        torch.randn(…), torch.rand(…), torch.randint(…).
        -> the state: a dict from names to tensors, all that is needed to draw.
        """
        ### BEGIN SOLUTION
        k, width = int(labels.max()) + 1, 8
        while width < 96 and self.build(k, width + 8) <= n_numbers:
            width += 8
        self.build(k, width)
        steps, batch, rate = min(n_gradients, 250), 100, 0.01
        adam = torch.optim.Adam(self.layers.parameters(), rate)
        for step in range(steps):
            adam.param_groups[0]["lr"] = rate * (1 - step / steps)
            rows = torch.randint(len(images), (batch,))
            x0, t = images[rows], torch.rand(batch, 1)
            noise = torch.randn(batch, 64)
            xt = (1 - t) * x0 + t * noise
            guess = self.guess(xt, t, labels[rows])
            loss = (guess - x0).square().mean()
            adam.zero_grad()
            loss.backward()
            adam.step()
        return self.layers.state_dict()

    def build(self, k, width):
        """A new network for k labels; how many numbers it has."""
        self.see = nn.Linear(64, width)
        self.time = nn.Linear(16, width)
        self.label = nn.Embedding(k, width)
        self.one = nn.Linear(width, width)
        self.two = nn.Linear(width, width)
        self.say = nn.Linear(width, 64)
        self.keep = nn.Linear(16, 64)
        inner = [self.see, self.time, self.label, self.one, self.two]
        self.layers = nn.ModuleList([*inner, self.say, self.keep])
        return sum(p.numel() for p in self.layers.parameters())

    def guess(self, x, t, y):
        """The clean images in x (n, 64), at times t (n, 1), of labels y (n,)."""
        angle = t * torch.logspace(0, 1.8, 8)
        clock = torch.cat([angle.sin(), angle.cos()], 1)
        h = self.see(x) + self.time(clock) + self.label(y)
        h = h + self.one(nn.functional.silu(h))
        h = h + self.two(nn.functional.silu(h))
        said = self.say(nn.functional.silu(h))
        kept = self.keep(clock) * x  # a way round the narrow layers
        return said + kept
        ### END SOLUTION

    def draw(self, state, wanted):
        """Paint one picture for each of the labels wanted (n,), integers.

        state: a copy of what fit handed back. This painter is a fresh one, Painter().
        -> the walk out of noise (steps + 1, n, 64), steps >= 1; last the pictures.
        """
        ### BEGIN SOLUTION
        self.build(*state["2.weight"].shape)  # the labels' vectors
        self.layers.load_state_dict(state)
        n_steps = 25
        x = torch.randn(len(wanted), 64)
        states = [x]
        with torch.no_grad():
            for left in range(n_steps, 0, -1):
                t = torch.full((len(x), 1), left / n_steps)
                guess = self.guess(x, t, wanted)
                x = x + (guess - x) / left  # a step on the straight line to it
                states.append(x)
        return torch.stack(states)
        ### END SOLUTION


# %% check="Painter"
check(Painter)

# %% [markdown]
# Your painter at work: three pictures of each digit. **Press play.** When does the digit show that was wanted? When is it settled
# which of all possible sevens it will be?

# %%
# The wanted digits appear step by step.
with after(Painter):
    torch.manual_seed(0)
    mine = Painter().fit(images[known], digits[known], 40_000, 600)
    walk = torch.as_tensor(Painter().draw(mine, torch.arange(10).repeat(3))).detach()
    explore(
        lambda step, walk=walk: pictures.draw_walk(walk, step),
        digits=0,
        play="step",
        step=IntSlider(len(walk) // 2, min=0, max=len(walk) - 1, description="step"),
    )

# %%
# All five, before your judges.
with after(coverage, neighbours, variety, Painter):
    torch.manual_seed(1)
    painted = torch.as_tensor(Painter().draw(mine, wanted))[-1].detach()
    yours = verdict(painted, wanted)
    show(*pictures.draw_verdicts(verdicts | {"yours": yours}), digits=0)

# %% [markdown]
# ## 5. How few images make a copier?
#
# Your painter never meant to copy. It only made a loss small. Of all guesses, the one with the least loss on the known images
# recites them ([[15/03]]), and with 550 images your painter does not get that far in its few gradients. With 50?

# %% predict="few" minutes=1
predict(
    "few",
    "The same painter, with the same budget, learns from 50 known images only. How "
    "many of 100 pictures are nearer to one of these than to any of 50 new ones?",
    ["about 60, as with 550", "about 75", "over 85"],
    truth=int(
        torch.bucketize(pictures.lesson(Painter, 50)[0], torch.tensor([0.68, 0.85]))
    ),
    because="Among fifty, each image has eleven times the weight in the loss that it "
    "has among 550. So as many gradients come nearer to the least loss, which recites.",
    then=lambda: pictures.draw_thefts(Painter, 50),
    digits=0,
)

# %%
# The share that looks copied, by the number of images to learn from.
with after(Painter, "few"):
    sizes = [25, 50, 100, 200, 550]
    shares = [pictures.lesson(Painter, size)[0] for size in sizes]
    show(*pictures.draw_lessons(sizes, shares), digits=0)

# %% [markdown]
# ## 6. Open the lock
#
# You have looked at the new images' verdict, perhaps often, and chosen what pleased it. So it flatters you. Answer the next
# question only when you would sign your painter as it stands: **your guess is the signature, and opens the lock.** The cell
# below it paints once more and lets the locked images judge, with a reader that has learned from them.

# %% predict="lock" minutes=1
predict(
    "lock",
    "Signed. The judges now know nothing but the locked images. How many of the four "
    "applicants do they turn away?",
    ["one", "two or three", "all four"],
    truth=int(
        torch.bucketize(
            sum(
                any(
                    pictures.fails(
                        verdict(
                            drawn,
                            wanted,
                            pictures.reader(images[locked], digits[locked]),
                            images[locked],
                        )
                    )
                )
                for drawn in applicants.values()
            ),
            torch.tensor([1, 3]),
        )
    ),
    because="Nobody chose them to please the new images, so other images find the "
    "same faults. Only who was picked by a judge must fear the next one.",
)

# %%
# The verdict of the locked images, on you and on the four.
with after(coverage, neighbours, variety, Painter, "lock"):
    torch.manual_seed(2)
    last = torch.as_tensor(Painter().draw(mine, wanted))[-1].detach()
    other = pictures.reader(images[locked], digits[locked])
    finals = {
        name: verdict(drawn, wanted, other, images[locked])
        for name, drawn in {**applicants, "yours": last}.items()
    }
    show(*pictures.draw_verdicts(finals), digits=0)
    show(*pictures.draw_misread(last.clamp(-1, 1), wanted, other), digits=0)

# %% [markdown] written="report" points=4 minutes=10
# ## Your report
#
# Write for somebody who wants to use your painter's pictures as training data for a reader of house numbers, in at most 150
# words: what your painter guesses and how it walks, what the judges say of it on the locked images, with the uncertainty of at
# least one number, what it does worst, and what could be wrong with its pictures that none of the five numbers would show. Say
# how you would measure that.
#
# ### BEGIN SOLUTION
# My painter guesses the clean image in a noised one and walks 25 straight steps towards its guesses, without fresh noise. Noise guesses were noisier with the same budget:
# the network is hardly wider than the picture, and has to pass all the noise on.
# Of 400 pictures, 99 % are read as wanted by a reader that has learned from the locked images, with a standard error of half a point. 55 to 60 % lie nearer to known images than to locked ones; half would be perfect.
# Its weakness is variety: about 0.7 of that of real images. It keeps to the usual forms, and a reader trained on it may be good at these only. No number here shows which forms are missing inside a digit. I would train a reader on painted pictures only and look at its errors on real images.
#
# **Rubric**
# - 1: says what is guessed and how it walks, with a reason or a comparison that was tried
# - 1: gives at least three of the judges' numbers on the locked images, one with its uncertainty
# - 1: names the weakest of them, or the digits that come off worst
# - 1: names something that the five numbers do not show, and a measurement for it
# ### END SOLUTION

# %% [markdown]
# ## Take-aways
#
# - Each single number has a painter that pleases it and is no good. Ask for what is wanted, all of it, new, near to real,
#   and varied.
# - A theft shows by comparison: with as many new images as known ones, about half of honest pictures are nearer to the known.
#   Dust hides it no sooner than it spoils the pictures.
# - A judge is as good as its data: one bell curve for each label passes on one ink and fails on two.
# - What was learned from few images is recited, by an honest loss.
# - A judge that you looked at while choosing is no judge any more. Keep one locked.
#
# The notes are used as they stand here: there is nothing to correct. **Next:** [[next]].
