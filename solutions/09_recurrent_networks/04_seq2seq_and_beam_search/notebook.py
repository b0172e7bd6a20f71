# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown] builds="a network that reads one sequence and says another, and the search for the answer that it believes most" covers="guo:V.4.d cs480:11-goal"
# # Sequence to sequence
#
# *1245*: what time is that, in words? People do not agree. Most often they say “a quarter to one”.
#
# At the end of this notebook your own network learns from them. It reads four digits, says one word after the other,
# and picks each time the word that it believes most. At 12:45 it answers “twelve forty five”, and then “am” or “pm”.
# Nobody would complain. But ask it how likely it holds each of the two: it gives “a quarter to one” clearly more.
#
# And so at 36 of the 48 quarter hours of its clock. *How can a network say what it believes less, when it picks what
# it believes most?*

# %%
# What this notebook needs.
from functools import partial
from itertools import product

import numpy as np
import torch
import torch.nn.functional as F
from ipywidgets import FloatSlider, IntSlider
from scipy.special import softmax
from torch import nn

from descent import after, check, claim, erratum, explore, hint
from descent import predict, show, solution, start
from descent.pictures.recurrent_networks import seq2seq_and_beam_search as pictures

start("09_recurrent_networks/04_seq2seq_and_beam_search")

# %% covers="guo:V.4.d"
# What people say at 12:45. The network will learn these shares.
show(*pictures.draw_puzzle())

# %% [markdown] covers="guo:V.4.b cs480:11-goal"
# ## 1. One word after the other
#
# An answer $y_1, \dots, y_m$ has no fixed length. So agree on a *mark*, word 0, that ends each answer, and is also fed to
# the speaker before the first word. Whatever was asked, call it $x$. The chain rule of probability splits the answer's
# chance into the chances of single words, and holds always:
#
# $$p(y_1, \dots, y_m \mid x) = \prod_{t=1}^{m} p(y_t \mid y_1, \dots, y_{t-1}, x).$$
#
# A model of these factors is **autoregressive**: it continues its own words. A simpler one drops
# $y_1, \dots, y_{t-1}$ from each factor: then the words, given $x$, are independent.

# %% [markdown] covers="guo:V.4.b"
# All of today's code sees a speaker through one function, `step(state, word)`. It gets a state and the last word (first:
# 0). It returns `log_p`, an array with the logarithm of the chance of each word to come next, and a new state. The old
# state stays valid: from it one may step again, with another word.
#
# What is in a state is the speaker's business. Here the words so far; later, the state of a network.


# %% exercise="chain_logprob" points=2 difficulty=1 covers="guo:V.4.b cs480:11-goal"
def chain_logprob(step, state, words):
    """The logarithm of the chance that a speaker says these words, one after the other.

    step(state, word) -> log_p (V,), new state, as above; state: the first one.
    words: a list of word numbers; usually, but not always, the last is the mark, 0.
    The first step is fed 0, each later one the word before. Returns a number, 0 for no
    words; it may be -inf, where a word is impossible. An answer may have 1000 words.
    If each of V = 2 words always has the chance ½, words = [1, 1, 0] give 3 log ½.
    """
    ### BEGIN SOLUTION
    total, last = 0.0, 0
    for word in words:
        log_p, state = step(state, last)
        total += log_p[word]
        last = word
    return total
    ### END SOLUTION


# %% check="chain_logprob"
check(chain_logprob)

# %% covers="guo:V.4.b"
# All answers together have the chance 1; independent words make no sense.
people = pictures.clock(12, 45)
tree = pictures.tree_speaker(pictures.TREE)
with after(chain_logprob):
    answers = [[*words, 0] for words in product([1, 2], repeat=3)]
    chances = np.exp([chain_logprob(tree, None, words) for words in answers])
    words = "a speaker of three words a or b: {n} answers, whose chances add up to 1"
    claim(words, np.isclose(chances.sum(), 1), n=len(answers))
    said = [(pictures.encode(text), p) for text, p in pictures.sayings(12, 45)]
    agree = all(np.isclose(np.exp(chain_logprob(people, None, c)), p) for c, p in said)
    claim("12:45: each of the four sayings has its share", agree)

    def share(t, word):
        """How often is this word at place t?"""
        return sum(p for codes, p in said if codes[t] == word)

    alone = sum(np.prod([share(t, w) for t, w in enumerate(c)]) for c, _ in said)
    words = "each word drawn for itself, by its place: {x:.0%} of answers are a saying"
    claim(words, alone < 0.2, x=alone)
    nonsense = np.prod(
        [share(t, w) for t, w in enumerate(pictures.encode("a forty to pm"))]
    )
    claim("then “a forty to pm” has the chance {x:.2f}", nonsense > 0.02, x=nonsense)

# %% [markdown] covers="guo:V.4.e cs480:11-goal"
# ## 2. The search
#
# Which answer is the likeliest? *Greedy search* takes the likeliest word at each step. “Twelve” comes first 58 times of
# 100, and “a” 42. But the 58 split into “pm” and “am”: 30 and 28. And 38 of the 42 go on to “a quarter to one”. A lecture
# note has the same in round numbers: $0.6 \cdot 0.5 = 0.30$ loses to $0.4 \cdot 0.9 = 0.36$. The first word was a promise
# that the later ones did not keep.
#
# *Exhaustive search* tries all answers: with $m$ words from a vocabulary of $|V|$ up to $|V|^m$.
#
# **Beam search** keeps the $M$ likeliest *beginnings*. At each step each is continued by each word, and of all
# $M |V|$ results the likeliest $M$ are kept. Try widths 1 to 4.

# %% covers="guo:V.4.e cs480:11-goal"
# Press play: what a beam keeps. Each step's chances stand on its line.
explore(
    pictures.draw_tree,
    play="step",
    width=IntSlider(2, min=1, max=4, description="width M"),
    step=IntSlider(0, min=0, max=3, description="step"),
)

# %% [markdown] covers="guo:V.4.e"
# Widths 1, 2 and 3: three answers. Which width will do depends on the speaker; only a beam that holds all beginnings finds
# the best answer of any.
#
# Now with answers of any length. Those that have ended, with the mark, are not continued, but keep their
# place among the $M$ as long as their *score* is good enough. Score by the log-chance over a power of the length:
#
# $$\text{score}(y_1, \dots, y_m) = \frac{\log p(y_1, \dots, y_m \mid x)}{m^\alpha},$$
#
# where the mark counts as a word. For now, $\alpha = 0$: the log-chance itself.


# %% exercise="beam" points=5 difficulty=1 covers="guo:V.4.e cs480:11-goal"
def beam(step, state, width, max_len, alpha=0.0):
    """Beam search for the answer with the best score. Any speaker, as above.

    It begins with the one empty answer. In each of max_len >= 1 rounds an answer whose
    last word is 0 stays as it is; any other is replaced by its V continuations, by
    each word. Of all these the `width` best by score stay, or all if there are fewer.
    An answer that has not ended after max_len rounds stands as it is.
    Impossible words have -inf in log_p, and a score of -inf; no two other scores are
    the same. The step need not be asked after a mark.
    Returns the best answer, a list of word numbers, and its log-chance, not its score.
    """
    ### BEGIN SOLUTION
    kept = [(0.0, [], state)]
    for _ in range(max_len):
        grown = []
        for total, words, state in kept:
            if words and words[-1] == 0:
                grown.append((total, words, state))
            else:
                log_p, new = step(state, words[-1] if words else 0)
                grown += [(total + v, words + [k], new) for k, v in enumerate(log_p)]
        grown.sort(key=lambda one: one[0] / len(one[1]) ** alpha, reverse=True)
        kept = grown[:width]
    total, words, _ = kept[0]
    return words, total
    ### END SOLUTION


# %% check="beam"
check(beam)

# %% open=true covers="guo:V.4.e cs480:11-goal"
with after(chain_logprob, beam):
    found = [np.exp(beam(tree, None, width, 4)[1]) for width in (1, 2, 3)]
    words = "widths 1, 2, 3 on the tree find {p:, }"
    claim(words, found[0] < found[1] < found[2], p=[f"{x:.3f}" for x in found])
    log_chance = partial(chain_logprob, tree, None)
    best = max(([*y, 0] for y in product([1, 2], repeat=3)), key=log_chance)
    words = "exhaustive search agrees with width 4: all beginnings of two words"
    claim(words, beam(tree, None, 4, 4)[0] == best)
    told = [pictures.decode(beam(people, None, width, 5)[0]) for width in (1, 2)]
    claim("12:45, widths 1 and 2: {a:; }", told[0] != told[1], a=told)

# %% predict="guest" minutes=1 covers="guo:V.4.e"
predict(
    "guest",
    "Does she come? Of a guest's 100 replies 20 are “yes”, and 80 are “I would love to "
    "come …” with one of eight days; 12 for Monday. What does a perfect search report?",
    ["yes", "I would love to come on monday"],
    truth=max(pictures.REPLIES, key=lambda one: one[1])[0],
    because="Each further choice splits the chance of what is long: 0.12 against 0.20. "
    "The single likeliest answer need not look like most answers.",
)

# %% covers="guo:V.4.e"
# The guest's reply: greedy, by a wide beam, by a wide beam with α.
with after(beam, "guest"):

    def reply(width, alpha=0.0):
        words, _ = beam(pictures.guest, None, width, 9, alpha)
        return pictures.decode(words, pictures.REPLY_WORDS)

    claim("greedy: “{a}”", reply(1).startswith("I"), a=reply(1))
    claim("a beam of 20: “{a}”", reply(20) == "yes", a=reply(20))
    long = "I would love to come on monday"
    claim("with α = {x}: “{a}”", reply(20, 0.6) == long, x=0.6, a=long)
    switch = np.log(np.log(0.12) / np.log(0.2)) / np.log(8 / 2)
    sides = reply(20, switch - 0.01) == "yes" and reply(20, switch + 0.01) == long
    claim("the two change places at α = {x:.2f}", sides, x=switch)

# %% [markdown] covers="guo:V.4.e"
# ### Longer or shorter?
#
# The better you search, the shorter the reply! Programs that translate meet this, too. In 2019 Felix Stahlberg and Bill Byrne
# searched exactly what one believes: for more than half of the sentences its likeliest translation was the empty one. $\alpha$ makes answers of
# different lengths comparable. It is no law of probability, but a dial, set by what people prefer.
#
# ## 3. One network reads, another speaks
#
# In 2014 two groups coupled two recurrent networks. The **encoder** reads $x_1, \dots, x_T$; the **decoder** is the
# speaker, and says as many words as it likes:
#
# $$h_t = f(h_{t-1}, x_t), \quad s_t = \psi(s_{t-1}, y_{t-1}, h_T), \quad p(y_t \mid \dots) = \mathrm{softmax}(s_t W_\text{out} + b).$$
#
# Its first state is $s_0 = h_T$. For $f$ and $\psi$ we take GRUs from torch ([[09/02]] builds them).


# %% open=true covers="guo:V.4.d"
class Parts(nn.Module):  # for two vocabularies, and states of `size` numbers
    def __init__(self, n_in, n_out, size):
        super().__init__()
        self.read, self.said = nn.Embedding(n_in, size), nn.Embedding(n_out, size)
        self.encoder = nn.GRU(size, size, batch_first=True)  # it starts from 0
        self.decoder = nn.GRUCell(2 * size, size)  # called with (input, state)
        self.scores = nn.Linear(size, n_out)

    def look(self, s, H):  # what the decoder sees of the text: the last state
        return H[:, -1]


# %% [markdown] covers="guo:V.4.d"
# **Teacher forcing.** While it learns, the decoder is fed the *right* last word, whatever it would have said itself.
# Then the terms $-\log p(y_t \mid y_1, \dots, y_{t-1}, x)$ of an answer add up to $-\log p$ of the right answer: your chain
# rule. The loss is the mean of all terms of a batch.
# As in [[09/01]], $-1$ fills up what follows the mark, where nothing is asked.
#
# The first task: say up to eight random letters backwards. “Badge” is “egdab”. So write the network, then the loop that
# trains it, by Adam ([[03/02]]), with a learning rate that falls in even steps, in $n$ updates from `lr` to `lr / n`.


# %% exercise="Translator" points=5 difficulty=1 covers="guo:V.4.d guo:V.4.b"
class Translator(Parts):
    """Encoder and decoder. B texts of T symbols; d is the size of a state."""

    def encode(self, x):
        """All states of the encoder, H (B, T, d). x (B, T): numbers of symbols.

        self.read embeds them; self.encoder returns all states, and the last ones again.
        """
        ### BEGIN SOLUTION
        return self.encoder(self.read(x))[0]
        ### END SOLUTION

    def step(self, s, word, H):
        """One step of the decoder: scores (B, n_out) of the next word, new states.

        s (B, d): old states; new ones are (B, d), too. word (B,): the words before.
        H: from encode.
        self.decoder gets the embedding (self.said) of the word and then what
        self.look(s, H) sees, (B, d) too, side by side: torch.cat([…, …], dim=1).
        self.scores reads the scores off the new states.
        """
        ### BEGIN SOLUTION
        seen = torch.cat([self.said(word), self.look(s, H)], dim=1)
        s = self.decoder(seen, s)
        return self.scores(s), s
        ### END SOLUTION

    def loss(self, x, y):
        """Teacher forcing: the mean of -log p of the right words, all that are asked.

        y (B, m): right answers; -1 only behind a row's end, where nothing is asked, and
        any word may be fed. The first states are the last of H, the first words 0.
        F.cross_entropy(…, ignore_index=-1, reduction="sum") may help.
        """
        ### BEGIN SOLUTION
        H = self.encode(x)
        s, word, total = H[:, -1], torch.zeros(len(x), dtype=int), 0.0
        for right in y.T:
            scores, s = self.step(s, word, H)
            total += F.cross_entropy(scores, right, ignore_index=-1, reduction="sum")
            word = right.clamp(min=0)
        return total / (y >= 0).sum()
        ### END SOLUTION


# %% check="Translator"
check(Translator)


# %% exercise="train" points=3 difficulty=1 covers="guo:V.4.d"
def train(model, batches, lr):
    """Train any model by Adam, one update a batch, in their order.

    model: a torch module, changed in place; model.loss(x, y) is the loss of a batch.
    batches: a list of n pairs (x, y). Adam with torch's own settings; update
    k = 0, 1, …, n - 1 has the learning rate lr · (1 - k / n).
    Returns the n losses, numbers, each before its update.
    """
    ### BEGIN SOLUTION
    adam, losses = torch.optim.Adam(model.parameters(), lr), []
    for k, (x, y) in enumerate(batches):
        for group in adam.param_groups:
            group["lr"] = lr * (1 - k / len(batches))
        loss = model.loss(x, y)
        adam.zero_grad()
        loss.backward()
        adam.step()
        losses.append(loss.item())
    return losses
    ### END SOLUTION


# %% check="train"
check(train)


# %% open=true covers="guo:V.4.d"
@torch.no_grad()
def run(model, x, y, forced):  # which words are right: fed with y, or with its own?
    H, hits = model.encode(x), []
    s, word = H[:, -1], torch.zeros_like(y[:, 0])
    for right in y.T:
        scores, s = model.step(s, word, H)
        said = scores.argmax(1)  # greedy
        hits.append(said == right)
        word = right if forced else said
    return torch.stack(hits, 1).double().numpy()


# %% covers="guo:V.4.d"
# 700 updates with your loop; then 300 new texts of eight letters.
def batch(length):
    return pictures.reversal(length, 300, torch.Generator().manual_seed(99))


with after(Translator, train):
    torch.manual_seed(0)
    bare = Translator(11, 11, 32)
    losses = train(bare, pictures.drills(700), 0.01)
    forced, free = (run(bare, *batch(8), forced) for forced in (True, False))
    words = "fed with the right letters before: more than {s:.0%} are right"
    claim(words, forced.mean() > 0.75, s=0.75)

# %% predict="gap" minutes=1 covers="guo:V.4.d"
predict(
    "gap",
    "The same network, the same texts, but it is not told the right letters: it is "
    "fed with its own. How many more of 100 letters are wrong?",
    ["none: it never needed them", "one or two", "more than eight"],
    truth=int(np.digitize(100 * (forced.mean() - free.mean()), [0.5, 8])),
    because="The right letter told it where in the text it stands, again and again. A "
    "mistake of its own takes it where it never was in training: one mistake brings "
    "more.",
)

# %% covers="guo:V.4.d"
# The exposure gap by place; then answers without a mistake, by length.
with after(Translator, train, "gap"):
    first, last = (forced - free)[:, [0, -2]].mean(0)
    claim("no gap at the first letter: both were fed the mark", first == 0)
    claim("a gap of more than 10 of 100 at the last", last > 0.1)
    show(*pictures.draw_gap(forced.mean(0), free.mean(0)), digits=0)
    lengths = [2, 3, 4, 5, 6, 7, 8, 10, 12]
    whole = {"last state only": [run(bare, *batch(n), False).all(1).mean()
                                 for n in lengths]}  # fmt: skip
    short, long = whole["last state only"][1], whole["last state only"][6]
    claim("three letters: over 90 of 100 texts without a mistake", short > 0.9)
    claim("eight letters: fewer than 25", long < 0.25)
    show(*pictures.draw_lengths(lengths, whole), digits=0)

# %% [markdown] covers="guo:V.5.c moon:27.1"
# This is the **exposure gap** (in papers: *exposure bias*): trained on the truth, used on its own words.
#
# ## 4. Look again
#
# Why do long texts fail? Whatever the encoder read must pass through $h_T$: 32 numbers, for two letters or twelve.
# Dzmitry Bahdanau, an intern in Montréal, let the decoder look at *all* states, anew for each word. By **attention**
# its state asks, and each $h_j$ answers by a dot product:
#
# $$e_{tj} = s_{t-1} \cdot h_j, \qquad \alpha_{tj} = \frac{\exp e_{tj}}{\sum_k \exp e_{tk}}, \qquad c_t = \sum_j \alpha_{tj} h_j,$$
#
# and the *context* $c_t$ takes the place of $h_T$: $s_t = \psi(s_{t-1}, y_{t-1}, c_t)$. (His score was a small network;
# the dot product came later.) Where is $c$ if $s = 0$? Drag $s$: can $c$ leave the triangle?
# (This $\alpha_{tj}$ is not the dial $\alpha$.)

# %% covers="moon:27.1 guo:V.5.c"
# Drag the square.
explore(
    pictures.draw_attention,
    drag={("x", "y"): "start"},
    x=FloatSlider(0.5, min=-4, max=4, step=0.1, description="s, first number"),
    y=FloatSlider(0.2, min=-4, max=4, step=0.1, description="s, second number"),
)


# %% exercise="context" points=2 difficulty=1 covers="moon:27.1 guo:V.5.c"
def context(s, H):
    """Attention of decoder states over encoder states, by dot products.

    s (B, d), H (B, T, d): tensors, row i of s looks at H[i] only.
    Returns the weights alpha (B, T) and the contexts c (B, d): tensors that autograd
    can follow back to s. Scores of 1000 and more, for some rows or all, must give
    finite results.
    """
    ### BEGIN SOLUTION
    scores = (H @ s[:, :, None]).squeeze(2)
    alpha = torch.softmax(scores, dim=1)
    return alpha, (alpha[:, None, :] @ H).squeeze(1)
    ### END SOLUTION


# %% check="context"
check(context)

# %% covers="guo:V.5.c moon:27.1 moon:27.1-mt"
# A note's numbers; the same network, with attention; where it looks.
with after(Translator, train, context, "gap"):
    # a lecture note's numbers
    H3, s0 = torch.tensor(pictures.STATES)[None], torch.tensor([[0.5, 0.2]]).double()
    alpha, c = context(s0, H3)
    noted = np.allclose(alpha, [0.3376, 0.2501, 0.4123], atol=5e-5)
    words = "the note's weights: .338, .250, .412 (it prints .3374, .2501, .4125)"
    claim(words, noted)
    claim("its context (0.75, 0.66)", np.allclose(c, [0.75, 0.66], atol=0.005))
    equal = torch.allclose(context(0 * s0, H3)[1], H3.mean(1))
    claim("s = 0: all weights the same, c is the mean", equal)

    class Attentive(Translator):
        def look(self, s, H):
            return context(s, H)[1]

    torch.manual_seed(0)
    attentive = Attentive(11, 11, 32)
    train(attentive, pictures.drills(700), 0.01)
    right = [run(attentive, *batch(n), False).all(1).mean() for n in lengths]
    claim("eight letters: over 35 of 100 texts without a mistake", right[6] > 0.35)
    shares = whole | {"attention": right}
    show(*pictures.draw_lengths(lengths, shares), digits=0)
    x, y = batch(8)
    with torch.no_grad():
        H, table = attentive.encode(x), []
        s, word = H[:, -1], torch.zeros_like(y[:, 0])
        for letter in y.T[:8]:
            table.append(context(s, H)[0])
            _, s = attentive.step(s, word, H)
            word = letter
    table = torch.stack(table, 1).numpy()
    claim("each row of weights adds up to 1", np.allclose(table.sum(2), 1, atol=1e-5))
    found = table.mean(0).argmax(1)
    words = "letter by letter it looks left, never back, at most one letter beside"
    near = np.abs(found - np.arange(8)[::-1]).max() <= 1
    claim(words, near and bool((np.diff(found) <= 0).all()))
    letters = ["".join(pictures.LETTERS[i] for i in row) for row in (x[0], y[0, :8])]
    show(*pictures.draw_alignment(*letters, table[0], table.mean(0)), digits=0)

# %% [markdown] covers="moon:27.1-mt guo:V.5.c"
# Each row of such a table adds up to 1, and its largest weight tells where the network looks: an *alignment*. For “I am
# learning” a lecture note draws one with “Je” at “I” (0.7) and “suis” at “am” (0.8). Nobody gave the network such a
# table. Here it runs backwards, as the task does. Where it looks one letter beside, remember that a state
# holds its own letter and those before.
#
# ## 5. Back to the clock
#
# Now everything is yours: the network, its training, its chances and the search. It reads 1245.

# %% covers="guo:V.4.e guo:V.4.d cs480:11-goal"
# The answer to the question of the first screen.
with after(chain_logprob, beam, Translator, train):
    torch.manual_seed(0)
    talker = Translator(10, len(pictures.WORDS), 32)
    train(talker, pictures.lessons(800), 0.01)

    @torch.no_grad()
    def step(state, word):
        s, H = state
        scores, s = talker.step(s, torch.tensor([word]), H)
        return F.log_softmax(scores[0].double(), 0).numpy(), (s, H)

    def first(hour, minute):
        with torch.no_grad():
            H = talker.encode(torch.tensor([pictures.digits(hour, minute)]))
        return H[:, -1], H

    likeliest = {width: 0 for width in (1, 2, 3, 4)}
    for time in pictures.TIMES:
        codes = [pictures.encode(text) for text, _ in pictures.sayings(*time)]
        best = max(codes, key=lambda c: chain_logprob(step, first(*time), c))
        for width in likeliest:
            likeliest[width] += beam(step, first(*time), width, 6)[0] == best
    texts, shares = zip(*pictures.sayings(12, 45))
    chances = np.exp([chain_logprob(step, first(12, 45), pictures.encode(t))
                      for t in texts])  # fmt: skip
    said, found = (pictures.decode(beam(step, first(12, 45), width, 6)[0])
                   for width in (1, 3))  # fmt: skip
    gap = np.abs(chances - shares).max()
    claim("12:45: the network's chances are the people's, to {x}", gap < 0.06, x=0.06)
    claim("greedy says “twelve forty five …”", said.startswith("twelve forty five"))
    claim("a beam of 3: “{a}”", found == "a quarter to one", a=found)
    words = "greedy says what the network believes less at {n} of 48 times"
    claim(words, likeliest[1] == 12, n=48 - likeliest[1])
    claim("a beam of 3 at none", likeliest[3] == 48)
    drawn = texts, chances, said, found, likeliest
    show(*pictures.draw_answer(*drawn), digits=0)

# %% [markdown] covers="guo:V.4.e guo:V.4.d"
# ## Take-aways
#
# - The chain rule makes a speaker of any model of the next word. What it says depends on the search, too.
# - **The puzzle:** greedy search picks the likeliest *word*. “Twelve” was, but its chance then splits between am and pm,
#   and the answer as a whole is less likely than “a quarter to one”. A beam keeps both beginnings until it can tell.
# - A better search finds likelier answers, often shorter ones; the exponent $\alpha$ takes care of the length.
# - Encoder and decoder translate between lengths. Teacher forcing makes the loss simple, and leaves the exposure gap.
# - One vector is too narrow for a long text; attention looks at all states, and shows where. Chapter 12 drops
#   the recurrent network and keeps the attention ([[12/01]]).
#
# Next: [[next]].

# %% [markdown] covers="guo:V.4.a guo:V.4.c"
# ## Deeper: one label for a text, one for each word
#
# Two more patterns need no second network. *Many to one*: read all, then answer once, from $h_T$:
# $p(y \mid x_1, \dots, x_T) = \mathrm{softmax}(h_T R)$. But in a batch, texts are filled up to one length ([[09/01]]), and
# each has its own last state. What fills up must change nothing.


# %% exercise="classify" points=2 difficulty=1 covers="guo:V.4.a"
def classify(ids, lengths, E, W, b, R):
    """Chances of K labels for each text, read off its last real state.

    ids (B, T): symbols, filled up on the right; lengths (B,): how many are real, at
    least 1. E (V, H), W (H, H), b (H,), R (H, K). The states begin with 0, and each is
    tanh(h W + E[symbol] + b). Returns (B, K), rows that add up to 1.
    """
    ### BEGIN SOLUTION
    h = np.zeros((len(ids), len(b)))
    for t, column in enumerate(ids.T):
        new = np.tanh(h @ W + E[column] + b)
        h = np.where((t < lengths)[:, None], new, h)
    return softmax(h @ R, axis=1)
    ### END SOLUTION


# %% check="classify"
check(classify)

# %% covers="guo:V.4.a"
# A verdict by hand-made weights: a unit adds up words; “not” counts 0.
with after(classify):
    texts = ["great", "great jacket not cheap", "poor poor jacket", "poor"]
    known = ["jacket", "great", "cheap", "not", "poor"]
    E1 = np.array([0.0, 0.5, 0.0, 0.0, -0.5])[:, None]
    R1, lengths1 = np.array([[-2.0, 2.0]]), np.array([len(t.split()) for t in texts])

    def verdicts(filler):
        rows = [[known.index(w) for w in t.split()] for t in texts]
        rows = np.array([row + [filler] * (4 - len(row)) for row in rows])
        return classify(rows, lengths1, E1, np.eye(1), np.zeros(1), R1)

    good = verdicts(0)[:, 1] > 0.5
    claim("praise, praise, blame, blame", good.tolist() == [True, True, False, False])
    same = all(np.array_equal(verdicts(0), verdicts(f)) for f in range(5))
    claim("whatever fills up the rows, the chances stay", same)

# %% [markdown] covers="guo:V.4.c"
# *Aligned many to many*: one label a word, each fed to the next step,
#
# $$h_t = f(h_{t-1}, y_{t-1}, x_t), \qquad p(y_1, \dots, y_T \mid x) \approx \prod_t p(y_t \mid y_1, \dots, y_{t-1}, x_1, \dots, x_t).$$
#
# Such a tagger marks parts of speech. Why ≈? The chain rule conditions on all of $x$; a network that reads forwards
# has not seen $x_{t+1}$ yet.


# %% exercise="tag" points=2 difficulty=1 covers="guo:V.4.c"
def tag(step, state, xs):
    """Greedy labels, one for each symbol, and the logarithm of their chance.

    step(state, last, x) -> log_p (K,), new state: last is the label before (first: 0),
    x the symbol at this place. The label is the likeliest one; there are no ties.
    xs: a list of symbols. Returns a list of as many labels, and the sum of their log_p.
    """
    ### BEGIN SOLUTION
    labels, total, last = [], 0.0, 0
    for x in xs:
        log_p, state = step(state, last, x)
        last = int(np.argmax(log_p))
        labels.append(last)
        total += log_p[last]
    return labels, total
    ### END SOLUTION


# %% check="tag"
check(tag)

# %% covers="guo:V.4.c"
# “The old man the boats”: the old people man them. Read forwards.
with after(tag):
    names = ["", "article", "adjective", "noun", "verb"]
    words = ["the", "old", "man", "boats", "sleeps"]
    fits = np.array([[0, 1, 0, 0, 0], [0, 0, 0.7, 0.3, 0], [0, 0, 0, 0.9, 0.1],
                     [0, 0, 0, 1, 0], [0, 0, 0, 0, 1]])  # fmt: skip
    follows = np.array([[0, 1, 0, 0, 0], [0, 0, 0.6, 0.4, 0], [0, 0, 0.1, 0.9, 0],
                        [0, 0.1, 0, 0.1, 0.8], [0, 0.7, 0, 0.3, 0]])  # fmt: skip

    def grammar(state, last, x):
        p = follows[last] * fits[x] + 1e-6
        return np.log(p / p.sum()), state

    def tags(text):
        return tag(grammar, None, [words.index(w) for w in text.split()])[0]

    boats, sleeps = tags("the old man the boats"), tags("the old man sleeps")
    claim("“the old man sleeps”: {a}", sleeps == [1, 2, 3, 4],
          a=", ".join(names[k] for k in sleeps))  # fmt: skip
    claim("“the old man the boats”: its “man” is a {a}, too; it should be a verb",
          boats[2] == 3, a=names[boats[2]])  # fmt: skip
    claim("what comes later changes no label before", boats[:3] == sleeps[:3])

# %% [markdown]
# ## Where the notes differ
#
# What the lecture notes print otherwise, each with its place. An *error* is shown by computing: the printed form fails,
# the right one holds, and a wrong one of the same shape fails too.

# %% demo=true covers="guo:V.4.b guo:V.4.c guo:V.4.d guo:V.4.e moon:27.1-mt"
# guo V.4, by small tables: a chain rule, what a tagger sees, and a beam.
p_c, p_b = 0.5, 0.8  # independent; A is always 1
erratum(
    "guo:V.4.b",
    quote="$$p(A, B, C) = p(C)p(C | B)p(A | B, C).$$",
    corrected=r"$p(A, B, C) = p(C)\, p(B \mid C)\, p(A \mid B, C)$",
    kind="error",
    printed_holds=bool(np.isclose(p_c * p_c, p_b * p_c)),
    corrected_holds=bool(np.isclose(p_c * p_b, p_b * p_c)),
    decoy_holds=bool(np.isclose(p_b * p_b, p_b * p_c)),
)
worlds = [(x1, x2) for x1 in (0, 1) for x2 in (0, 1)]  # equally likely; y₂ = x₁


def chance_of_y2(seen):
    """That y₂ is 1, where x₁ = x₂ = 1, given these places of x."""
    fits = [w for w in worlds if all(w[i] == 1 for i in seen)]
    return np.mean([w[0] for w in fits])


erratum(
    "guo:V.4.c",
    quote=(
        r"$$p(y_1, \dots, y_T | x_1, \dots, x_T) = \prod_{t=1}^T p(y_t | y_{[t-1]}, "
        r"\dots, y_1, x_t, \dots, x_T).$$"
    ),
    corrected=(
        r"condition on all of $x_1, \dots, x_T$; the network below it realises "
        r"$x_1, \dots, x_t$, never $x_t, \dots, x_T$"
    ),
    kind="error",
    printed_holds=bool(chance_of_y2([1]) == chance_of_y2([0, 1])),
    corrected_holds=bool(chance_of_y2([0, 1]) == 1),
    decoy_holds=bool(chance_of_y2([]) == chance_of_y2([0, 1])),
)
small = {"": (0.5, 0.3, 0.2), "a": (0.4, 0.35, 0.25), "b": (0.4, 0.3, 0.3)}
small |= {"c": (0.4, 0.3, 0.3), "ab": (1.0, 0.0, 0.0), "aa": (0.4, 0.3, 0.3)}
small |= {b: (0.5, 0.3, 0.2) for b in ("ac", "ba", "bb", "bc", "ca", "cb", "cc")}
most = max(pictures.leaves(small).values())


def greedy_from(word):
    """The chance of the answer that begins so and goes on greedily."""
    chance = small[""]["abc".index(word)]
    while word in small:
        chance *= max(small[word])
        word += "abc"[int(np.argmax(small[word]))]
    return chance


erratum(
    "guo:V.4.e",
    quote=(
        r"Step 2, we perform greedy selection, thereafter for  $M$  independent "
        r"sequences."
    ),
    corrected=(
        r"at every step all $M |V|$ continuations are ranked together, and the best "
        r"$M$ kept"
    ),
    kind="error",
    printed_holds=bool(np.isclose(max(map(greedy_from, "ab")), most)),
    corrected_holds=bool(np.isclose(pictures.frontiers(small, 2)[3][0][1], most)),
    decoy_holds=bool(np.isclose(greedy_from("a"), most)),
)
erratum(
    "guo:V.4.b",
    quote="Note that this depend on if the model depends on **Markov property**",
    corrected=(
        r"option 1 is independence of the $y_t$ given $x$; a Markov model, "
        r"$\prod_t p(y_t \mid y_{t-1}, x)$, is neither option"
    ),
    kind="convention",
)
erratum(
    "guo:V.4.c",
    quote="This could be applied to *speech tagging*",
    corrected="part-of-speech tagging",
    kind="convention",
)
erratum(
    "guo:V.4.d",
    quote=r"$$s_{t'} = \psi(s_{t'-1}, y_{t-1}, h_T),$$",
    corrected=r"$y_{t'-1}$",
    kind="convention",
)
erratum(
    "guo:V.4.e",
    quote=(
        r"$$(\hat{y}_1, \dots, \hat{y}_{T'}) = \arg \max_{\hat{y}_1, \dots, "
        r"\hat{y}_{T'}} p(y_1, \dots, y_n \mid x_1, \dots, x_T),$$"
    ),
    corrected=r"$p(\hat y_1, \dots, \hat y_{T'} \mid x_1, \dots, x_T)$",
    kind="convention",
)
erratum(
    "moon:27.1-mt",
    quote="'[Je, suis, en, train, d'apprendre]' … This matrix shows",
    corrected="the rows of “train” and “d'apprendre” are missing",
    kind="convention",
)
