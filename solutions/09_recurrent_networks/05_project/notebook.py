# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown] builds="a reader of unknown languages, of your own choice, judged by honest bits per character and by a word that comes back"
# # Project: a reader that remembers
#
# In 1951 Claude Shannon let people guess English text, letter by letter. From their guesses he reckoned that a character of
# English costs between 0.6 and 1.3 bits. A single bit: one question, answered by yes or no.
#
# Four programs apply as readers of Python's manual. Each forecasts every next character and says what its forecasts cost:
# **0.2**, **1.3**, **0.1** and **2.6** bits per character. All four numbers were computed by one formula, without a slip.
#
# *One is honest. Which one, and how do you catch the others? And why should you not hire the honest one either?*
#
# You write the judges first. Then you build a reader of your own, within a budget. At the end you open a lock, once.

# %%
# What this notebook needs.
import math

import torch
from ipywidgets import IntSlider
from torch import nn

from descent import after, check, claim, explore, hint, predict, show, solution, start
from descent.pictures.recurrent_networks import project as pictures

start("09_recurrent_networks/05_project")

# %% [markdown]
# ## The four applicants
#
# A text is a tensor `ids` of whole numbers from 0 to $k - 1$, one for each character. The manual has $k = 33$: letters
# without capitals, blank, line break and some signs. 16,000 of its characters are **known**: readers learn from them. 4,000
# are **new**. The rest is **locked** away until the last section.
#
# A *forecast* for $T$ characters is a table $P$ of shape $(T, k)$. Row $t$ says how likely each character is to come at place $t$.

# %%
# Their brochures. The third does not say what it was tried on.
known, new, locked = pictures.split()
k = len(pictures.ALPHABET)
applicants = {name: pictures.hire(name, known, k) for name in pictures.NAMES}
claims = pictures.brochures(known, new)
show(*pictures.draw_brochures(claims), digits=1)

# %% [markdown]
# ## 1. What a forecast costs
#
# A character that had the chance $p$ costs $-\log_2 p$ bits: $p = \frac12$ costs one, $p = \frac14$ two, $p = 0$ infinitely many.
# So long as no entry of $P$ is negative and each row adds up to 1, there is no way to make everything cheap. That is what the
# formula takes for granted. Yours looks.
#
# (`hint(bits)`, up to three times; so for every exercise.)


# %% exercise="bits" points=2 difficulty=1
def bits(P, ids, asked):
    """What forecasts cost per character.

    P (T, k): row t is the forecast for ids[t]. ids (T,): whole numbers. asked (T,):
    True at the places that count, at least one.
    -> the mean of -log2 P[t, ids[t]] over the places asked, a number; infinite where
    one of these has the chance 0.
    But nan (math.nan) where any row of P, asked or not, has an entry below 0 or a sum
    that is more than 0.001 away from 1.
    P = [[0.5, 0.5], [0.25, 0.75]], ids = [0, 0], asked = [True, True] gives 1.5.
    """
    ### BEGIN SOLUTION
    off = (P.sum(1) - 1).abs()
    if (P < 0).any() or (off > 0.001).any():
        return math.nan
    came = P[torch.arange(len(ids)), ids]
    return -came[asked].log2().mean()
    ### END SOLUTION


# %% check="bits"
check(bits)

# %% [markdown]
# Is 2.6 good? A number wants a neighbour. The simplest reader that has learned anything counts **pairs**: after a *q* comes a
# *u*. One is added to each count, so that nothing is impossible.


# %% exercise="pairs" points=2 difficulty=1
def pairs(known, ids, k):
    """Forecasts for ids, from the pairs of neighbours in the text known.

    known (n,), n >= 1, and ids (T,), T >= 1: tensors of whole numbers 0 … k - 1.
    -> P (T, k). Row 0 is 1/k everywhere. Row t > 0, with a = ids[t - 1]: for each
    character b, how often b directly follows a in known, plus 1; divided by how often
    any character follows a, plus k.
    known = [0, 1, 0, 1], ids = [0, 1], k = 2 gives [[1/2, 1/2], [1/4, 3/4]].
    """
    ### BEGIN SOLUTION
    counts = torch.ones(k, k)
    for a, b in zip(known[:-1], known[1:]):
        counts[a, b] += 1
    table = counts / counts.sum(1, keepdim=True)
    P = torch.full((len(ids), k), 1 / k)
    P[1:] = table[ids[:-1]]
    return P
    ### END SOLUTION


# %% check="pairs"
check(pairs)

# %% predict="cipher" minutes=1
predict(
    "cipher",
    "Somebody rewrites the whole manual in a secret alphabet: every e becomes a q, "
    "every blank a z, and so on. Pairs are counted anew in the rewritten known text. "
    "What do they cost on the rewritten new text?",
    ["more than before", "exactly as much", "less than before"],
    truth=1 + int(pictures.sign_of_cipher(pairs, bits, known, new)),
    because="Counts move along with the letters. A reader that starts from nothing "
    "does not know what an e is, so it cannot miss it. That is why the checks below "
    "can draw a language that nobody has ever seen.",
)

# %%
# Your two judges on the four: new text, after 20 characters.
late = torch.arange(len(new)) >= 20
with after(bits, pairs, "cipher"):
    floor = float(bits(pairs(known, new, k), new, late))
    costs = {name: float(bits(one(new), new, late)) for name, one in applicants.items()}
    claim("pairs cost {b:.2f} bits a character", 3 < floor < 4, b=floor)
    claim("the second's forecasts are none", math.isnan(costs["second"]))
    claim("the third costs more on new text than pairs do", costs["third"] > floor)
    show(*pictures.draw_costs(claims, costs, floor), digits=1)

# %% [markdown]
# One cheat is out: whoever promises more than 1 in all pays less for everything. And whoever is judged on known text may recite
# it. The first one still costs next to nothing. So in the end let five judges sit together: how far rows are off 1; looking ahead;
# bits on new text, at most 3.3 (pairs: 3.5); new text minus known text, at most 1.8, so that nobody recites; and, where a word
# comes back, at most 0.7 bits a letter.
#
# ## 2. Who looks ahead?
#
# A forecast for place $t$ may use `ids[0]` … `ids[t - 1]` and nothing else. You cannot read the first one's code. But you can put
# another character at place $j$ and see **which forecasts change**.


# %% exercise="influence" points=3 difficulty=1
def influence(forecast, ids, k):
    """Which forecast depends on which character.

    forecast: a function, text (T,) -> P (T, k). ids (T,): the text, left as it is.
    -> M (T, T), a tensor. M[t, j]: put any other character of 0 … k - 1 at place j of
    the text; ½ Σ |new row t - old row t|, the sum over the row, says how far the
    forecast for place t moves. M[t, j] is the largest of these over all others.
    A forecast that puts 1 on the character before (1/2, 1/2 in row 0), ids = [0, 1],
    k = 2: M = [[0, 0], [1, 0]].
    """
    ### BEGIN SOLUTION
    T = len(ids)
    old = forecast(ids)
    M = torch.zeros(T, T)
    for j in range(T):
        for symbol in range(k):
            other = ids.clone()
            other[j] = symbol
            moved = (forecast(other) - old).abs().sum(1) / 2
            M[:, j] = torch.maximum(M[:, j], moved)
    return M
    ### END SOLUTION


# %% check="influence"
check(influence)

# %%
# Influence: on the diagonal and right of it stands the future.
with after(influence):
    short = new[: pictures.SHORT]
    maps = {name: influence(one, short, k) for name, one in applicants.items()}
    ahead = {name: float(M.triu().max()) for name, M in maps.items()}
    caught = [name for name, most in ahead.items() if most > 1e-6]
    claim("only the first one looks ahead", caught == ["first"])
    show(*pictures.draw_maps(maps, short), digits=1)

# %% [markdown]
# The first one moves on the diagonal: its forecast for place $t$ has seen the character at place $t$. Under the diagonal a map
# shows how far back a reader looks, at least: the fourth three characters, and nowhere more.
#
# ## 3. A word that comes back
#
# The fourth is honest, and cheaper than pairs. What is wrong with it? Tell it something, talk of other things, and ask:
#
# `<` word, noise, `>` word
#
# Only a reader that has kept the word can forecast it the second time.
#
# The test below has 16 characters: two signs, eight letters for words of two, six more for 2 to 8 characters of noise. A
# letter that is guessed costs $\log_2 8 = 3$ bits. Each applicant learns from 16,000 characters of it.


# %% exercise="copy_test" points=2 difficulty=1
def copy_test(words, noise, note, ask):
    """A text in which each word comes twice.

    words, noise: lists of m lists of whole numbers, m >= 1. No word is empty; noise
    may be. note, ask: the whole numbers of the two signs, which may stand in words
    and noise, too.
    Line i is: note, words[i], noise[i], ask, words[i] again. The text is all lines, one
    after the other.
    -> ids (T,), a tensor of whole numbers, and asked (T,), a tensor that is True where
    a word stands for the second time.
    words = [[5, 6]], noise = [[7]], note = 0, ask = 1:
    [0, 5, 6, 7, 1, 5, 6] and [False, False, False, False, False, True, True].
    """
    ### BEGIN SOLUTION
    ids, asked = [], []
    for word, between in zip(words, noise):
        before = [note, *word, *between, ask]
        ids += [*before, *word]
        asked += [False] * len(before) + [True] * len(word)
    return torch.tensor(ids), torch.tensor(asked)
    ### END SOLUTION


# %% check="copy_test"
check(copy_test)

# %%
# All five judges; the others rescale rows that do not add up.
with after(bits, pairs, influence, copy_test):
    lesson, _ = copy_test(*pictures.lines(1450, seed=1))
    exam, back = copy_test(*pictures.lines(200, seed=2))

    def verdict(P_new, P_known, P_exam, most_ahead):
        """Five numbers of a reader, in the order of the table."""
        off = float((P_new.sum(1) - 1).abs().max())
        P_new, P_known, P_exam = (
            P / P.sum(1, keepdim=True) for P in (P_new, P_known, P_exam)
        )
        on_new = float(bits(P_new, new, late))
        gap = on_new - float(bits(P_known, known[: len(new)], late))
        return [off, most_ahead, on_new, gap, float(bits(P_exam, exam, back))]

    verdicts = {}
    for name, one in applicants.items():
        pupil = pictures.hire(name, lesson, 16)
        tables = one(new), one(known[: len(new)]), pupil(exam)
        verdicts[name] = verdict(*tables, ahead[name])
    fails = {name: pictures.fails(numbers) for name, numbers in verdicts.items()}
    forgets = fails["fourth"] == [False, False, False, False, True]
    claim("the fourth fails one judge only, the last", forgets)
    show(*pictures.draw_verdicts(verdicts), digits=1)

# %% [markdown]
# That is the answer to the first screen. The first looks ahead, the second promises more than it has, the third recites, and
# the honest fourth has no memory beyond three characters. Not one of these faults shows in the number of a brochure.
#
# ## 4. Your reader
#
# Now build one **of any kind**: an RNN ([[09/01]]), an LSTM or a GRU ([[09/02]]; `torch.nn.GRU` is welcome), counts of longer
# contexts, a network beside counts, a memory that looks for the same passage.
#
# Two methods. `fit` learns from a text and hands back **what it has learned**: a list of tensors. `step` reads *one*
# character and forecasts the next. All it gets is that list, the character, and the **memory** that the step before
# handed on. So it cannot look ahead.

# %% [markdown]
# **The budget.** `fit` may hand back `n_numbers` numbers. They arrive in `step` as float32 tensors of the same shapes. The
# memory (tensors, arrays, numbers, or lists of them) may hold 1,000. `step` is called on *new* `Reader`s, so nothing may
# stay in `self`. What grows in names outside the class counts, too: as numbers in `fit`, as memory in `step`.
#
# **The judges.** Each case is a text drawn for this check, in a language that nobody speaks. Every row must add up to 1, and
# asked twice, `step` must say the same twice.

# %% [markdown]
# | case | characters to learn from | numbers | asked |
# | --- | --- | --- | --- |
# | an invented language, $k = 20$ | 16,000 | 20,000 | at most 1.4 bits on new text |
# | a word comes back, $k = 16$ | 16,000 | 20,000 | at most 0.7 bits a letter of the second word, at least 80 % of its letters right |
# | two languages, two readers | 10,000 each | 10,000 each | at most 1.3 bits each |
#
# In the last case both have learned before either reads, and they take turns. Pairs would cost about 3 bits; grading draws other
# texts: pass with a margin. A case may compute for 30 s.


# %% exercise="Reader" points=12 difficulty=1
class Reader:
    """Learns a language from a text, then forecasts character by character."""

    def fit(self, ids, k, n_numbers):
        """Learn from ids (n,), a tensor of whole numbers 0 … k - 1.

        -> what was learned: a list of tensors with n_numbers entries together at most.
        More methods are welcome. Chance comes from torch's own generator:
        torch.rand(…), torch.randint(…), the weights that torch.nn draws.
        """
        ### BEGIN SOLUTION
        width, rows, T, updates, rate = 16, 32, 30, 300, 0.02
        while width < 64 and self.build(k, width + 4) <= n_numbers:
            width += 4
        self.build(k, width)
        apart = ids[-len(ids) // 10 :]  # never trained on: says which weights to keep
        n = (len(ids) - len(apart) - 1) // rows
        x = ids[: rows * n].view(rows, n)
        y = ids[1 : rows * n + 1].view(rows, n)
        adam = torch.optim.Adam(self.parts.parameters(), rate)
        at, h, least, best = 0, None, math.inf, None
        for update in range(updates):
            adam.param_groups[0]["lr"] = rate * (1 - update / updates)
            if at + T > n:
                at, h = 0, None
            window = slice(at, at + T)
            loss, h = self.loss(x[:, window], y[:, window], h)
            adam.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.parts.parameters(), 1.0)
            adam.step()
            at += T
            if update % 30 == 29:
                with torch.no_grad():
                    trial, _ = self.loss(apart[None, :-1], apart[None, 1:], None)
                if trial < least:
                    least = trial
                    best = [p.detach().clone() for p in self.parts.parameters()]
        return best

    def build(self, k, width):
        """A new network; how many numbers it has."""
        self.embed = nn.Embedding(k, width)
        self.gru = nn.GRU(width, width, batch_first=True)
        self.out = nn.Linear(width, k)
        self.parts = nn.ModuleList([self.embed, self.gru, self.out])
        return sum(p.numel() for p in self.parts.parameters())

    def loss(self, x, y, h):
        """Mean loss of the forecasts for y, and the last states."""
        states, h = self.gru(self.embed(x), h)
        scores = self.out(states).transpose(1, 2)
        return nn.functional.cross_entropy(scores, y), h.detach()
        ### END SOLUTION

    def step(self, learned, memory, char):
        """Read one character.

        learned: the list that fit handed back. memory: None at the first character of
        a text, then what the last step handed on. char: a whole number.
        -> chances of the next character (k,), and the memory for the next step.
        """
        ### BEGIN SOLUTION
        E, W, U, b, c, R, r = learned  # the order of parameters()
        h = torch.zeros(E.shape[1]) if memory is None else memory[0]
        reset_x, gate_x, new_x = (W @ E[char] + b).chunk(3)
        reset_h, gate_h, new_h = (U @ h + c).chunk(3)
        gate = torch.sigmoid(gate_x + gate_h)
        reset = torch.sigmoid(reset_x + reset_h)
        fresh = torch.tanh(new_x + reset * new_h)
        h = gate * h + (1 - gate) * fresh
        return torch.softmax(R @ h + r, 0), [h]
        ### END SOLUTION


# %% check="Reader"
check(Reader)

# %% [markdown]
# Your reader on the manual, character by character. **Press play.** Where is it sure? What is dear: the first letter of a word,
# or the last?

# %%
# New text: what each character cost, what comes. Five judges.
with after(bits, pairs, influence, copy_test, Reader):
    torch.manual_seed(0)
    mine = Reader().fit(known, k, 20_000)
    P_new = pictures.listen(Reader, mine, new)
    explore(
        lambda step, P=P_new: pictures.draw_reading(P, new, step),
        digits=0,
        play="step",
        step=IntSlider(40, min=1, max=150, description="step"),
    )
    torch.manual_seed(1)
    pupil = Reader().fit(lesson, 16, 20_000)
    P_known = pictures.listen(Reader, mine, known[: len(new)])
    P_exam = pictures.listen(Reader, pupil, exam)
    yours = verdict(P_new, P_known, P_exam, 0.0)  # step never sees what comes
    show(*pictures.draw_verdicts(verdicts | {"yours": yours}), digits=0)

# %% [markdown]
# ## 5. How long does it remember?
#
# Your reader learned with noise of 2 to 8 characters. How long is too long?

# %% predict="delay" minutes=1
predict(
    "delay",
    "A GRU within your budget learned from these lessons. Now 24 characters of noise "
    "stand between the two words, three times as many as it ever met. What does a "
    "letter cost it the second time? Guessing costs 3 bits.",
    ["less than 1 bit", "1 to 3 bits", "more than 3 bits: worse than guessing"],
    truth=sum(pictures.delayed(Reader, copy_test, 24) > bound for bound in (1, 3)),
    because="A gate that stays shut while noise passes need not count. It was taught "
    "lengths from 2 to 8, and learned a rule: keep until asked.",
)

# %% [markdown]
# (That was a GRU. Yours may do otherwise: look.) **Drag the noise.** Where does the cost begin to rise? And where is it dear once
# more, on the side where nothing has to be kept for long? What was it never taught?

# %%
# Drag the noise along the curve.
with after(bits, copy_test, Reader, "delay"):
    delays = list(range(0, 41, 4))
    memory_costs = [pictures.delayed(Reader, copy_test, delay) for delay in delays]
    explore(
        lambda delay, delays=delays, costs=memory_costs: pictures.draw_delays(
            delays, costs, delay
        ),
        digits=0,
        drag={"delay": "delay"},
        delay=IntSlider(8, min=0, max=40, step=4, description="noise"),
    )

# %% [markdown]
# ## 6. Open the lock
#
# You have looked at the cost on new text, perhaps often, and kept what made it smaller. So it flatters you. Go on only when
# you would sign your reader as it stands. The next cell learns once more and reads the locked text.

# %%
# The locked text's verdict on pairs, on the fourth, and on you.
with after(bits, pairs, Reader):
    torch.manual_seed(2)
    last = Reader().fit(known, k, 20_000)
    tables = {
        "pairs": pairs(known, locked, k),
        "fourth": applicants["fourth"](locked),
        "yours": pictures.listen(Reader, last, locked),
    }
    spread = {name: pictures.blocks(P, locked) for name, P in tables.items()}
    show(*pictures.draw_final(spread), digits=0)

# %% [markdown] written="report" points=4 minutes=10
# ## Your report
#
# Write for somebody who wants to use your reader to spot faulty lines in log files, in at most 150 words: what it is and what
# it keeps in its memory; what it costs on the locked text, with an uncertainty, and beside which other reader; what it does
# with a word that comes back, and up to which distance; and what could be wrong with it that none of these numbers would show.
# Say how you would measure that.
#
# ### BEGIN SOLUTION
# My reader is a GRU with 48 units, trained on windows of 30 characters; the weights that cost least on a tenth kept apart are handed back. Its memory is the state.
# On the locked text it costs about 2.6 bits a character, standard error about 0.1; pairs cost 3.5. The honest fourth costs 2.4: with 16,000 characters counting is hard to beat.
# A letter of a word that comes back costs 0.1 to 0.2 bits after 2 to 8 characters of noise, as in training, and less than half a bit after 24; without any noise, which it never met, one bit and more.
# No number shows how it reads other text than the manual. A log has numbers and names that the manual lacks. I would take lines from a log, spoil some, and count how many of the dearest lines are the spoilt ones.
#
# **Rubric**
# - 1: says what the reader is and what its memory holds
# - 1: gives its bits on the locked text with an uncertainty and beside another reader's
# - 1: says what a word that comes back costs, and up to which distance that was tried
# - 1: names something that these numbers do not show, and a measurement for it
# ### END SOLUTION

# %% [markdown]
# ## Take-aways
#
# - Bits per character are honest only if each forecast has no negative entry and adds up to 1, was made before the character came, and for a text that
#   was not learned from. Test all three.
# - A number wants a neighbour: pairs of characters are free.
# - Average cost does not ask for memory. Ask for it: a word, noise, and the word again.
# - A gated memory may last longer than it was ever asked to, and fail where it looks easier: try what training did not hold.
# - On little text counts are strong. A network earns its place where something has to be kept.
#
# The notes are used as they stand here: there is nothing to correct. **Next:** [[next]].
