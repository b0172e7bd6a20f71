# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown] builds="word vectors trained by your own gradients, analogies counted honestly, and memories whose forgetting you can predict"
# # Embeddings and associative memory
#
# In 2013 a subtraction made the news: *king − man + woman ≈ queen*. A small network had read a lot of text, kept some
# numbers for each word, and nobody had told it what a king is.
#
# You will train such numbers, on 3000 short sentences: *the old king wants his crown*, *barack obama smiles again*. The
# queen comes out here, too. But each *barack* is followed by *obama*, each *marie* by *curie*, without one exception.
# Nothing is surer. So is *obama − barack + marie* near *curie*?
#
# And on a real text: is *objects − object + value* near *values*? *What must a text do, so that its words can be added
# and subtracted?* At the end you count, with your own vectors. First place your bet.

# %%
# What this notebook needs.
import numpy as np
import torch
from ipywidgets import Dropdown, IntSlider
from scipy.optimize import minimize_scalar
from scipy.special import expit

from descent import (
    after,
    below,
    check,
    claim,
    erratum,
    explore,
    hint,
    predict,
    show,
    solution,
    start,
)
from descent.pictures.neural_networks import embeddings_and_memory as em

start("07_neural_networks/07_embeddings_and_memory")

# %% predict="bet" minutes=1
predict(
    "bet",
    "Vectors learnt from this text. Which analogies will come out right?",
    [
        "Both kinds",
        "man : king = woman : queen, but not barack : obama = marie : curie",
        "barack : obama = marie : curie, but not man : king = woman : queen",
    ],
    truth=[(True, True), (True, False), (False, True)].index(
        (
            em.cosine_of_steps("man", "king", "woman", "queen") > 0.7,
            em.cosine_of_steps("barack", "obama", "marie", "curie") > 0.7,
        )
    ),
    because="An analogy wants the same step for each pair. What is royal and not plain "
    "is the same for both sexes, and the text says so: crown, throne, castle. But "
    "nothing stands beside all last names that does not stand beside all first names.",
)

# %% [markdown] covers="wu:2.10 wu:2.10.1 cs480:11-emb"
# ## 1. A word is a switch
#
# Networks that bend are one pillar of deep learning. The other is what they bend. A pixel is a number. A word is
# only an entry in a list: a text is cut into **tokens**, the smallest units that a model knows (here, words), and the $V$
# tokens of its vocabulary are numbered. *Cat* is number 14, but it is not fourteen of anything.
#
# The honest code is the **one-hot** vector: $V$ switches, and only the word's own is on.

# %% predict="switches" minutes=1 covers="wu:2.10.1"
predict(
    "switches",
    "One-hot vectors of 50,000 words. How far apart are cat and dog?",
    ["1", "√2", "√50,000", "It depends on their numbers in the list"],
    truth=[1.0, 2**0.5, 50_000**0.5].index(em.distances(np.eye(50))[14, 17]),
    because="They differ in two places, by 1 each: √(1² + 1²). So do any two words.",
)

# %% covers="wu:2.10.1 cs480:11-emb"
# Distances of twenty words: switches, and vectors from counts.
with after("switches"):
    show(*em.draw_opening(), digits=0)

# %% [markdown] covers="wu:2.10.1 cs480:11-emb"
# One-hot, all words are equally unlike. From counts "similar" means "near": there each word has $d$ real numbers
# ($d = 40$ for $V = 67$ words; in earnest $d \ll V$), a **dense** code. A map $\{0,1\}^V \to \mathbb R^d$ from one-hot to
# dense vectors is an **embedding** (in the first transformer $d = 512$).

# %% [markdown] covers="wu:2.9 wu:2.9.1 wu:2.9.2 guo:V.6.b explainers:4.4.2 wu:5.1"
# ## 2. What comes next?
#
# Who could train such numbers, without a teacher? The text itself: let it ask for the **next word**. With $x$
# one-hot for the current word,
#
# $$h = W_e\,x, \quad s = W_u\,h, \quad p = \mathrm{softmax}(s), \quad W_e \in \mathbb R^{d \times V},\; W_u \in
# \mathbb R^{V \times d} .$$
#
# $W_e\,x$ is a **column** of $W_e$: nobody multiplies, one *looks up*. It is called the word's embedding, distributed
# representation, or thought vector. (torch and others store a word a row, $W_e^\top$.) Row $j$ of $W_u$, the
# **unembedding**, scores word $j$ as the next.
#
# Nothing bends in between: all scores are one matrix $W_uW_e$ of rank at most $d$. For $V = 50{,}000$, $d = 256$
# that is $2dV = 25.6$ million numbers in place of $V^2 = 2.5$ billion.

# %% [markdown] covers="wu:2.9.4 wu:2.9.5"
# **Which way is down?** We *descend* the loss $L = -\log p_y$, in the whole notebook. (Some lecture notes climb
# $\log p_y$: all their signs are opposite.) From [[07/06]] you know $\partial L/\partial s = p - y$, with $y$ one-hot
# for the true next word. So
#
# $$\frac{\partial L}{\partial W_u} = (p - y)\,h^\top, \qquad \frac{\partial L}{\partial h} = W_u^\top(p - y), \qquad
# \frac{\partial L}{\partial W_e} = W_u^\top (p - y)\,x^\top .$$
#
# Each has the shape of its matrix. For $n$ pairs take the **mean** loss. A word that comes twice as $x$ gets both
# contributions: on a table $D$ of slopes, NumPy's `D[:, x] += …` would keep one, `np.add.at(D.T, x, rows)` keeps all.

# %% predict="moved" minutes=1 covers="wu:2.9.4"
predict(
    "moved",
    "One step for the pair (barack, obama), from random tables. What moves?",
    [
        "One column of W_e, one row of W_u",
        "One column of W_e, all rows of W_u",
        "All columns of W_e, all rows of W_u",
    ],
    truth=[(1, 1), (1, 5), (5, 5)].index(
        tuple(
            np.count_nonzero(np.abs(D).sum(axis=axis))
            for D, axis in (
                (np.outer([1, 2], np.eye(5)[3]), 0),  # (what comes back) xᵀ
                (np.outer(np.full(5, 0.2) - np.eye(5)[1], [1, 2]), 1),  # (p − y) hᵀ
            )
        )
    ),
    because="xᵀ has a single 1, so one column moves. But p − y has no zeros: each "
    "row of W_u whose word was not next is pushed away from h a little.",
)

# %% [markdown] covers="wu:2.9 wu:2.9.1 wu:2.9.5"
# Now build it, whole: look up, guess, slopes, training. A text of $T$ tokens becomes a table $(T, d)$, a token a row.


# %% exercise="NextWord" points=6 difficulty=1 covers="wu:2.9 wu:2.9.1 wu:2.9.2 wu:2.9.3 wu:2.9.4 wu:2.9.5 guo:V.6.b explainers:4.4.2 cs480:11-emb wu:5.1"
class NextWord:
    """Guesses the next word from the current one. V words, d numbers a word.

    We (d, V): a word a column. Wu (V, d): a word a row.
    """

    def __init__(self, We, Wu):
        self.We, self.Wu = We.copy(), Wu.copy()

    def embed(self, ids):
        """The embeddings of a text, a token a row: (T, d), for T = 0 too.

        ids (T,): word numbers. ids = [2, 0] with We = [[1, 2, 3], [4, 5, 6]] gives
        [[3, 6], [1, 4]].
        """
        ### BEGIN SOLUTION
        return self.We[:, ids].T
        ### END SOLUTION

    def predict(self, ids):
        """Probabilities (T, V) of the word after each of T >= 1 tokens.

        Scores of thousands, of either sign, may come.
        """
        ### BEGIN SOLUTION
        s = self.embed(ids) @ self.Wu.T
        s = s - s.max(axis=1, keepdims=True)
        return np.exp(s) / np.exp(s).sum(axis=1, keepdims=True)
        ### END SOLUTION

    def grads(self, x, y):
        """Slopes of the mean loss of n pairs by We (d, V) and by Wu (V, d).

        x, y (n,): numbers of the current and of the next words. x = [0], y = [1],
        We = [[1, 0]], Wu = [[0], [0]] give [[0, 0]] and [[0.5], [-0.5]].
        """
        ### BEGIN SOLUTION
        H = self.embed(x)
        error = self.predict(x)
        error[np.arange(len(x)), y] -= 1
        error = error / len(x)
        dWe = np.zeros(self.We.shape)
        np.add.at(dWe.T, x, error @ self.Wu)
        return dWe, error.T @ H
        ### END SOLUTION

    def train(self, pairs, batches, rate):
        """A step of gradient descent for each batch; changes We and Wu.

        pairs (N, 2): a word and the next one. batches (k, n): each row holds the
        numbers of n rows of pairs. Returns the k mean losses, each before its step.
        """
        ### BEGIN SOLUTION
        losses = []
        for rows in batches:
            x, y = pairs[rows].T
            p = self.predict(x)
            losses.append(-np.log(p[np.arange(len(x)), y]).mean())
            dWe, dWu = self.grads(x, y)
            self.We = self.We - rate * dWe
            self.Wu = self.Wu - rate * dWu
        return losses
        ### END SOLUTION


# %% check="NextWord"
check(NextWord)

# %% demo=true covers="wu:2.9.4 wu:2.9.5 guo:V.6.b wu:5.1"
# Your look-up and slopes beside torch's; what one pair moves.
corpus = em.numbered(em.toy_corpus())
index, words, V, d = corpus.index, corpus.words, len(corpus.words), 12
pairs, rng = em.next_pairs(corpus.texts), np.random.default_rng(0)
We0, Wu0 = 0.3 * rng.normal(size=(d, V)), 0.3 * rng.normal(size=(V, d))
rank = np.linalg.matrix_rank(Wu0 @ We0)
claim("all {V} × {V} scores are one matrix of rank {d}", rank == d, V=V, d=d)
with after(NextWord, "moved"):
    model, x, y = NextWord(We0, Wu0), *pairs[:200].T
    onehot = np.array_equal(np.eye(V)[x] @ We0.T, model.embed(x))
    claim("one-hot rows times the table, and looking up: the same", onehot)
    layer = torch.nn.Embedding.from_pretrained(
        torch.tensor(We0.T), freeze=False, sparse=True
    )
    Wu = torch.tensor(Wu0, requires_grad=True)
    scores = layer(torch.tensor(x)) @ Wu.T
    torch.nn.functional.cross_entropy(scores, torch.tensor(y)).backward()
    theirs = layer.weight.grad.to_dense().T, Wu.grad
    same = [np.allclose(a, b) for a, b in zip(model.grads(x, y), theirs, strict=True)]
    claim("slopes of 200 pairs: torch's, repeats added up", all(same))
    columns = np.count_nonzero(np.abs(theirs[0].numpy()).sum(axis=0))
    claim("they move {n} columns", columns == len(set(x.tolist())), n=columns)
    for size in (V, 50_000):
        print(f"V = {size:,}: {200 * d * size:,} multiplications,"
              f" or {200 * d:,} copied")  # fmt: skip
    pair = (np.array([index[w]]) for w in ("barack", "obama"))
    show(*em.draw_sparsity(*model.grads(*pair), words, "barack", "obama"))

# %% covers="wu:2.9 wu:2.9.3 wu:2.10.5"
# 1500 small batches. Does it know what comes after barack?
with after(NextWord):
    model = NextWord(We0, Wu0)
    batches = np.random.default_rng(1).integers(len(pairs), size=(1500, 64))
    losses = model.train(pairs, batches, 2.0)
    barack = np.array([index["barack"]])
    before, p = NextWord(We0, Wu0).predict(barack)[0], model.predict(barack)[0]
    claim("P(obama | barack) is above {p}", p[index["obama"]] > 0.9, p=0.9)
    print("h begins with", *(f"{v:.1f}" for v in model.embed(barack)[0, :4]))
    show(*em.draw_next(losses, before, p, words, "barack"), digits=1)

# %% [markdown] covers="explainers:4.4.2.a"
# ## 3. A cheaper question
#
# A softmax over 50,000 words for each pair is dear. In 2013 Mikolov and others asked less: *is this pair real?* Take a
# **centre** word and a word from its **context**, a few places away. Beside it put $l$ **noise** words, drawn from a
# fixed distribution. For each of the $1 + l$: real, or noise? (**Skip-gram with negative sampling**, *word2vec*.)
#
# A word has two vectors, one as centre (table $W$), one as context or noise (table $C$; here a word is a row). Let $w_c$ be
# the centre's, $w_o$ the context word's, $w_{n_1}, \dots, w_{n_l}$ those of the noise. With $\sigma(z) = 1/(1 + e^{-z})$ and
# $P(\text{real}) = \sigma(w_c \cdot w_o)$, minus the logarithm of the probability of $1 + l$ right answers is

# %% [markdown] covers="explainers:4.4.2.a"
# $$L = -\log\sigma(w_c \cdot w_o) - \sum_{i=1}^{l} \log\sigma(-w_c \cdot w_{n_i}),$$
#
# for $1 - \sigma(z) = \sigma(-z)$: [[02/02|logistic regression]] on pairs. And the slopes? $\frac{d}{dz}[-\log\sigma(z)]
# = -\sigma(-z)$, and by the chain rule each dot product hands its slope to both of its vectors. However large $V$ is,
# $l + 2$ vectors move.


# %% exercise="sgns_loss" points=4 difficulty=2 covers="explainers:4.4.2.a"
def sgns_loss(w_c, w_o, W_n):
    """The loss L of one centre, one context and l noise words, and its slopes.

    w_c, w_o (d,). W_n (l, d), l >= 0; a word drawn twice has two rows.
    Returns L and its slopes by w_c (d,), w_o (d,) and W_n (l, d).
    Dot products of ±1000 must give a finite L (np.logaddexp helps).
    w_c = [1], w_o = [0], W_n = [[0]] give 1.3863, [0], [-0.5] and [[0.5]].
    """
    ### BEGIN SOLUTION
    real = w_c @ w_o
    noise = W_n @ w_c
    L = np.logaddexp(0, -real) + np.logaddexp(0, noise).sum()
    pull, push = expit(-real), expit(noise)
    g_c = push @ W_n - pull * w_o
    return L, g_c, -pull * w_c, np.outer(push, w_c)
    ### END SOLUTION


# %% check="sgns_loss"
check(sgns_loss)

# %% covers="explainers:4.4.2.a wu:2.10.5"
# Torch agrees; what one step moves. Then 30,000 pairs are learnt.
with after(sgns_loss):
    rng = np.random.default_rng(4)
    c, o, n = plain = [rng.normal(size=size) for size in (6, 6, (5, 6))]
    L, *slopes = sgns_loss(*plain)
    tensors = [torch.tensor(v, requires_grad=True) for v in plain]
    log_sigma = torch.nn.functional.logsigmoid
    real, noise = tensors[0] @ tensors[1], tensors[2] @ tensors[0]
    (-log_sigma(real) - log_sigma(-noise).sum()).backward()
    same = all(np.allclose(g, v.grad) for g, v in zip(slopes, tensors, strict=True))
    claim("your slopes are torch's", same)
    c1, o1, n1 = (v - 0.01 * g for v, g in zip(plain, slopes, strict=True))
    nearer = c @ o1 > c @ o and (n1 @ c < n @ c).all()
    claim(
        "to the old centre the context word comes nearer; all {n} noise words go away",
        nearer, n=len(n),
    )  # fmt: skip
    back, lower = np.sum(n1 @ c1 > n @ c), sgns_loss(c1, o1, n1)[0] < L
    claim(
        "but the centre moves, too: {k} of them come nearer after all. The loss falls",
        lower and back == 2, k=back,
    )  # fmt: skip
    contexts = em.context_pairs(corpus.texts, 5)
    marks = [round(30_000 * (k / 24) ** 2.5) for k in range(24)]
    W, C, seen = em.skipgram(contexts, V, sgns_loss, marks=marks)

# %% [markdown] covers="wu:2.10.5 wu:2.10.4 cs480:11-emb"
# **Watch them learn.** The context is the whole sentence; noise is drawn by count to the power ¾, which is the custom.
# Press play. The map shows twenty words on two axes, and the line below asks for the nearest words by angle.
#
# 1. What comes first: the groups, or order within a group?
# 2. From when on is cat nearer to dog than to car?
# 3. In this text cats eat only fish, and barack always stands beside obama. So why does meat end nearer to cat than fish,
#    and albert nearer to obama than barack?

# %% covers="wu:2.10.5 wu:2.10.4 cs480:11-emb"
# Play the training.
with after(sgns_loss):
    explore(
        em.snapshot_explorer(corpus, seen),
        digits=0,
        play="frame",
        frame=IntSlider(24, min=0, max=24, description="snapshot"),
        word=Dropdown(options=["obama", "cat", "king", "paris"], description="word"),
    )

# %% [markdown] covers="wu:2.10.3 explainers:4.4.2"
# ## 4. Arithmetic
#
# What can one do with vectors? Map them, $Wh$; bend them, $\sigma(h)$; let one gate another, entry by entry, $h_1 \odot
# h_2$; compare, $h_1^\top h_2$; add and subtract. Let $v$ be a word's row of $W$. If the step from man to king is that from
# woman to queen,
#
# $$v_\text{king} - v_\text{man} + v_\text{woman} \approx v_\text{queen} .$$
#
# In general: $a$ is to $b$ as $c$ is to the word nearest to $v_b - v_a + v_c$, by the **cosine** $\cos(u, v) =
# \frac{u^\top v}{\lVert u\rVert\,\lVert v\rVert}$, so that long vectors have no advantage. And it is the custom that the
# three words of the question may not answer. Remember that custom.


# %% exercise="analogy" points=3 difficulty=1 covers="wu:2.10.3 explainers:4.4.2 wu:2.14.5"
def analogy(vecs, a, b, c, exclude=True):
    """a is to b as c is to which word? The number of the answer.

    vecs (V, d): a word a row, as stored (do not rescale them before adding).
    a, b, c: word numbers. The answer has the largest cosine with
    vecs[b] - vecs[a] + vecs[c]; the lowest number wins a tie. Where a vector is
    zero the cosine counts as 0. exclude: a, b and c themselves may not answer.
    vecs = [[1, 0], [1, 1], [3, 0], [3, 1], [3, 2]] with (0, 1, 2) gives 3.
    """
    ### BEGIN SOLUTION
    target = vecs[b] - vecs[a] + vecs[c]
    length = np.linalg.norm(vecs, axis=1)
    score = np.zeros(len(vecs))  # the cosine, times the length of the target
    np.divide(vecs @ target, length, out=score, where=length > 0)
    if exclude:
        score[[a, b, c]] = -np.inf
    return int(np.argmax(score))
    ### END SOLUTION


# %% check="analogy"
check(analogy)

# %% [markdown] covers="wu:2.10.4"
# One analogy that works is an anecdote. What would make *all* of a relation work? One step that is the same for each
# pair: parallel arrows. So measure that: the mean cosine of two arrows, 1 where all are parallel, about 0 where they
# have nothing in common.


# %% exercise="parallelism" points=3 difficulty=1 covers="wu:2.10.4 wu:2.14.5"
def parallelism(vecs, pairs):
    """The mean cosine of two steps, over all choices of two different pairs.

    vecs (V, d): a word a row. pairs (m, 2), m >= 2: word numbers a, b of each pair;
    its step is vecs[b] - vecs[a], never zero.
    vecs = [[0, 0], [1, 0], [0, 2]], pairs = [[0, 1], [0, 2], [1, 0]] has the cosines
    0, -1 and 0 and gives -0.3333.
    """
    ### BEGIN SOLUTION
    steps = vecs[pairs[:, 1]] - vecs[pairs[:, 0]]
    cosines = []
    for i in range(len(steps)):
        for j in range(i):
            length = np.linalg.norm(steps[i]) * np.linalg.norm(steps[j])
            cosines.append(steps[i] @ steps[j] / length)
    return np.mean(cosines)
    ### END SOLUTION


# %% check="parallelism"
check(parallelism)

# %% covers="wu:2.10.4 wu:2.10.3"
# The arrows of two relations on your vectors.
with after(sgns_loss, parallelism, "bet"):
    numbered = {
        name: np.array([[index[w] for w in pair] for pair in ps])
        for name, ps in em.RELATIONS.items()
    }
    steps = {name: parallelism(W, ps) for name, ps in numbered.items()}
    cat, dog, car = (em.unit(W)[index[w]] for w in ("cat", "dog", "car"))
    nearer = np.linalg.norm(cat - dog) < np.linalg.norm(cat - car)
    claim("cat is nearer to dog than to car", nearer)
    two = "country : capital", "first : last name"
    show(*em.draw_arrows(W, index, {name: steps[name] for name in two}), digits=0)

# %% [markdown] covers="wu:2.10.3"
# ## 5. The answer
#
# Five relations. Three were planted as a common context: *his* or *her*; crown or job; mayor or army. Two were not:
# first and last names, and two of a kind (cat : dog = car : bus). On real text, Python's manual of some 64,000 words, two
# endings: word : word + s, and word : word + ed. (There the same loss is minimised in expectation, from counts, to be quick.)
#
# Each question is asked three ways: by the custom; with the question's words allowed to answer; and by a rival that does
# no arithmetic: of all words but $a$, $b$ and $c$ it names the one nearest to $c$.

# %% covers="wu:2.10.3 wu:2.10.4 explainers:4.4.2"
# Your vectors, analogies, cosines of steps: who answers, and why?
with after(sgns_loss, analogy, parallelism, "bet"):
    rows = {
        name: (steps[name], *em.score_analogies(analogy, W, corpus, ps))
        for name, ps in em.RELATIONS.items()
    }
    table = np.array(list(rows.values()))
    claim("planted steps: cosines above ½, most questions right",
          table[:3, 0].min() > 0.5 and table[:3, 1].min() > 0.7)  # fmt: skip
    claim("not planted: cosines below ½, most questions wrong",
          table[3:, 0].max() < 0.5 and table[3:, 1].max() < 0.5)  # fmt: skip
    manual, vecs = em.the_manual()
    real = manual.corpus
    claim("among the words nearest to true is false",
          "false" in em.neighbours(vecs, real, "true"))  # fmt: skip
    a, b, c = (real.index[word] for word in ("object", "objects", "value"))
    claim("objects − object + value is not nearest to values",
          real.words[analogy(vecs, a, b, c)] != "values")  # fmt: skip
    for tail in ("s", "ed"):
        ps = [
            (w, w + tail) for w in real.words if len(w) > 3 and w + tail in real.index
        ]
        ids = np.array([[real.index[w] for w in pair] for pair in ps[:30]])
        cosine = parallelism(vecs, ids)
        shares = em.score_analogies(analogy, vecs, real, ps[:30])
        rows[f"manual: + {tail}"] = cosine, *shares
        asked = [(a, b, c) for a, b in ids for c in ids[:, 0] if a != c]
        own = np.mean([analogy(vecs, *three, False) in three[1:] for three in asked])
        few = cosine < 0.5 and shares[0] < 0.35 and shares[1] < 0.1
        claim("manual, + {tail}: cosine below ½, most questions wrong", few, tail=tail)
        claim("where they may answer, it is mostly b or c itself", own > 0.6)
    for a, b, c in (("man", "king", "woman"), ("barack", "obama", "marie")):
        answer = words[analogy(W, index[a], index[b], index[c])]
        print(f"{b} − {a} + {c} is nearest to {answer}")
    show(*em.draw_answer(rows), digits=0)

# %% [markdown] covers="wu:2.10.3 wu:2.10 explainers:4.4.2.a"
# ## Take-aways
#
# - Words are near when they are *used alike*, not when they stand together.
# - A text must give all pairs of a relation **the same difference of contexts**. Then their steps are parallel, and
#   arithmetic works. A sure fact (*obama* after *barack*) is no step.
# - Words in a question are summands of the target: let them answer, and on the manual they mostly do. Ask for a
#   rate, that rule, and a rival.
# - A one-hot vector times a matrix is a look-up; the slope is sparse, repeats add up. The unembedding's is not.
# - Skip-gram is logistic regression, real pairs against noise.
#
# Next: [[next]]. Below: where a fact *can* be stored.

# %% [markdown] covers="wu:2.10.1"
# ## Deeper: four codes, and what an entry means
#
# | code | numbers a word | who chooses them |
# |---|---|---|
# | one-hot | $V$, a single 1 | nobody |
# | binary | $\lceil\log_2 V\rceil$, 0 or 1: the number in base 2 | nobody |
# | few-hot | some, 0 or 1 | a person lists attributes |
# | dense | $d \ll V$, real | the text |
#
# 1. Which code gives two words one vector?
# 2. From which $d$ on do the codes from counts, on their first $d$ axes, put cat nearer to dog than to car?
# 3. What do random dense codes have, and what do they lack?

# %% covers="wu:2.10.1"
# Twenty words in three of the codes, and in random dense ones.
explore(
    em.draw_codes,
    digits=0,
    kind=Dropdown(
        value="few-hot",
        options=["one-hot", "few-hot", "random dense", "from counts"],
        description="code",
    ),
    d=IntSlider(8, min=2, max=16, description="d (dense codes)"),
)

# %% [markdown] covers="wu:2.10.2"
# **What does an entry mean?** Lecture notes like to picture *cat* as labelled entries: 0.82 animal, 0.75 pet, 0.31 size. Is
# entry 3 of your vectors "size"?
#
# Take an orthogonal $Q$, and replace $W_e$ by $QW_e$ and $W_u$ by $W_uQ^\top$. The scores $W_uQ^\top QW_e$ are the
# same. So the loss cannot prefer one basis to another: nothing in it asks an entry to mean anything. What
# survives are distances and angles. (Any invertible $M$, with $MW_e$ and $W_uM^{-1}$, leaves the predictions, and
# changes even the distances.)

# %% covers="wu:2.10.2"
# A rotation keeps distances; an invertible matrix does not.
with after(NextWord):
    everyone, rng = np.arange(V), np.random.default_rng(3)
    Q, M = np.linalg.qr(rng.normal(size=(d, d)))[0], np.diag(np.arange(1.0, d + 1))
    gaps = em.distances(model.We.T)
    for name, A, kept in (("a rotation", Q, True), ("an invertible matrix", M, False)):
        other = NextWord(A @ model.We, model.Wu @ np.linalg.inv(A))
        same = np.allclose(other.predict(everyone), model.predict(everyone))
        far = np.allclose(em.distances(other.We.T), gaps)
        told = "the same predictions after {name}; the same distances: {far}"
        claim(told, same and far == kept, name=name, far="yes" if far else "no")
    some = ["king", "queen", "man", "woman", "paris", "rome", "cat", "dog"]
    chosen = model.embed(np.array([index[w] for w in some]))
    show(*em.draw_rotation(chosen, chosen @ Q.T, some), digits=0)

# %% [markdown] covers="wu:2.9.1 wu:2.10.5 wu:2.10.6"
# ## Deeper: how many dimensions can a text pay for?
#
# The next-word model on the manual: its 600 commonest words, each fifth stretch of 50 held out. A larger $d$ contains
# the smaller ones, so on the training text it can only gain. And on held-out text? Beside it stands a rival of the time
# before networks: plain counts, each row mixed with the word shares as if 30 imagined words had been drawn from them.

# %% demo=true covers="wu:2.9.1 wu:2.10.5"
# Training and held-out loss against d, and a table of counts.
manual, ranks = em.the_manual()[0], [1, 4, 16, 64]
fits = [em.fit_scores(manual.train, rank)[0] for rank in ranks]
train_loss, valid_loss = (
    [em.cross_entropy(counts, P) for P in fits]
    for counts in (manual.train, manual.valid)
)
shares = np.tile(manual.train.sum(axis=0) + 0.5, (len(manual.train), 1))
unigram = em.cross_entropy(manual.valid, shares / shares[0].sum())
table = em.cross_entropy(manual.valid, em.smoothed_table(manual.train))
claim("the current word helps", min(valid_loss) < unigram - 0.3)
claim("too large a d memorises", valid_loss[-1] > min(valid_loss) + 0.05)
claim("and the table of counts is better still", table < min(valid_loss))
show(*em.draw_ranks(ranks, train_loss, valid_loss, unigram, table), digits=0)

# %% [markdown] covers="wu:2.10.6 explainers:4.4.2.a"
# The humble table wins: from 43,000 pairs with one word of context there is little to share between words. Embeddings
# pay where tables end: ten words of context are $V^{10}$ rows, but only ten vectors. Six gains are hoped for: discrete
# becomes continuous, slopes apply, likeness is distance, vectors combine, serve other tasks, and let symbols meet
# networks. Each is a possibility, none a law.

# %% [markdown] covers="explainers:4.4.2.a"
# **And skip-gram counts, too.** Let $N_{ij}$ be how often $j$ stands in the context of $i$, $N_i = \sum_j N_{ij}$, and $q_j$
# the chance that noise is $j$. In expectation a pair costs $-N_{ij}\log\sigma(z) - lN_iq_j\log\sigma(-z)$. If $z$ were
# free, the best would be $z = \log\frac{N_{ij}}{N_iq_j} - \log l$. For noise by frequency the first part is the *pointwise
# mutual information*: the vectors squeeze a table of it into $d$ columns (Levy and Goldberg, 2014).

# %% demo=true covers="explainers:4.4.2.a"
# The best dot product of a pair: 30 times real, 12 times noise.
best = minimize_scalar(lambda z: 30 * np.logaddexp(0, -z) + 12 * np.logaddexp(0, z)).x
claim("z = log(30/12) = {z:.3f}", abs(best - np.log(30 / 12)) < 1e-6, z=best)

# %% [markdown] covers="wu:2.11 wu:2.11.1 wu:2.11.2"
# ## Deeper: one table for both ends
#
# The next-word model keeps two vectors for obama, a column of $W_e$ and a row of $W_u$. **Tie** them, and let a third matrix
# take the step from a word to what follows:
#
# $$h^{(1)} = W_e\,x, \qquad h^{(2)} = W_a\,h^{(1)}, \qquad s = W_e^\top h^{(2)}, \qquad W_a \in \mathbb R^{d \times d} .$$
#
# Look up, associate, compare with each word of the same table: $dV + d^2$ numbers in place of $2dV$. Is
# $W_a$ needed? With $W_a = I$ the scores $W_e^\top W_e$ are symmetric: obama after barack scores as barack after
# obama.

# %% predict="week" minutes=1 covers="wu:2.11.2"
predict(
    "week",
    "Seven words: Mon is followed by Tue, …, Sun by Mon. Which tied models can guess "
    "all seven days?",
    [
        "W_a = I, as soon as d is large enough",
        "W_a learnt, from d = 2 on; W_a = I never",
        "W_a learnt, but only from d = 7 on",
    ],
    # A turn by a seventh of a circle is right on all days with d = 2.
    truth=1
    if all(
        np.argmax(np.cos(2 * np.pi * (np.arange(7) - day - 1) / 7)) == (day + 1) % 7
        for day in range(7)
    )
    else 2,
    because="Symmetric scores would have to grow from day to day, "
    "s(Mon, Tue) < s(Tue, Wed) < … < s(Sun, Mon) < s(Mon, Tue). But seven points on a "
    "circle and a turn by a seventh of it do the job.",
)

# %% [markdown] covers="wu:2.11.1 wu:2.11.4"
# $W_e$ enters $L = -\log p_y$ twice, so its slope is a sum of two. Take the uses for two matrices, differentiate by each,
# and set them equal again:
#
# $$\begin{gathered}
# \frac{\partial L}{\partial h^{(2)}} = W_e\,(p - y), \qquad \frac{\partial L}{\partial W_a} = W_e\,(p - y)\,h^{(1)\top}, \\
# \frac{\partial L}{\partial W_e} = \underbrace{W_a^\top W_e\,(p - y)\,x^\top}_{\text{as input}} + \underbrace{h^{(2)}\,(p -
# y)^\top}_{\text{as output}} .
# \end{gathered}$$


# %% exercise="tied_grads" points=3 difficulty=1 covers="wu:2.11.1 wu:2.11.4"
def tied_grads(x, y, We, Wa):
    """Slopes of L = -log p(y | x) in the tied model, by both matrices.

    x, y: numbers of the current and of the next word. We (d, V), Wa (d, d).
    Returns the slopes by We (d, V) and Wa (d, d). Scores of ±1000 must not overflow.
    x = 0, y = 1, We = [[1, 0]], Wa = [[0]] give [[0, 0]] and [[0.5]].
    """
    ### BEGIN SOLUTION
    h1 = We[:, x]
    h2 = Wa @ h1
    s = We.T @ h2
    s = s - s.max()
    error = np.exp(s) / np.exp(s).sum()
    error[y] -= 1
    back = We @ error
    dWe = np.outer(h2, error)
    dWe[:, x] += Wa.T @ back
    return dWe, np.outer(back, h1)
    ### END SOLUTION


# %% check="tied_grads"
check(tied_grads)

# %% covers="wu:2.11.2 wu:2.11.4 wu:2.11.5"
# Finite differences; then a week, learnt without and with W_a.
with after(tied_grads, "week"):
    rng, step = np.random.default_rng(6), 1e-6
    E, A = rng.normal(size=(3, 5)), rng.normal(size=(3, 3))

    def loss(E, x=1, y=4):
        s = E.T @ (A @ E[:, x])
        return np.logaddexp.reduce(s) - s[y]

    bumps = step * np.eye(15).reshape(15, 3, 5)
    slopes = [(loss(E + b) - loss(E - b)) / (2 * step) for b in bumps]
    gap = np.abs(np.reshape(slopes, (3, 5)) - tied_grads(1, 4, E, A)[0]).max()
    claim("differences agree, worst gap {gap}", gap < 1e-7, gap=below(1e-7))
    trained = {}
    for learnt, dim in ((False, 7), (True, 2)):
        E, A = 0.5 * np.random.default_rng(0).normal(size=(dim, 7)), np.eye(dim)
        for _ in range(2000):
            both = [tied_grads(day, (day + 1) % 7, E, A) for day in range(7)]
            dE, dA = (sum(part) for part in zip(*both, strict=True))
            E, A = E - 0.1 * dE, A - 0.1 * learnt * dA
        trained[learnt] = E, A
    (E1, A1), (E2, A2) = trained.values()
    turn = np.degrees(np.arctan2(A2[1, 0] - A2[0, 1], A2[0, 0] + A2[1, 1]))
    claim("W_a turns by {turn:.0f}°, a seventh of a circle",
          abs(abs(turn) - 360 / 7) < 3, turn=abs(turn))  # fmt: skip
    days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    show(*em.draw_week(days, E1.T @ E1, E2.T @ A2 @ E2, E2, A2), digits=0)

# %% [markdown] covers="wu:2.11.2 wu:2.11.3 wu:2.11.5"
# And on sentences? There $W_a = I$ loses almost nothing: scores may *grow along the sentence*, $s(\text{barack},
# \text{obama}) < s(\text{obama}, \text{speaks}) < s(\text{speaks}, \text{today})$. A sentence ends; a week does not.
#
# **A learnt $W_a$ is a memory**: $W_a\,h^{(1)} \approx$ the embedding of what comes next. Here is the sure fact that was no
# step. Recall: the words of highest score with $h^{(2)}$. Follow the stars from barack.

# %% demo=true covers="wu:2.11.1 wu:2.11.2 wu:2.11.3 wu:2.11.5"
# Three models of the toy text; then what W_e and W_a have learnt.
counts = em.count_table(pairs, V)
kinds = {"W_a = I": "identity", "W_a learnt": "learnt", "untied": ""}
models = {name: em.fit_scores(counts, 12, 300, kind) for name, kind in kinds.items()}
rows = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
floor = em.cross_entropy(counts, np.where(rows > 0, rows, 1))
for (name, fit), size in zip(models.items(), (12 * V, 12 * V + 144, 24 * V)):
    loss = em.cross_entropy(counts, fit[0])
    claim(
        "{name}: {size} numbers, loss {loss:.1f}, within 0.05 of the least possible",
        floor < loss < floor + 0.05, name=name, size=size, loss=loss,
    )  # fmt: skip
E = models["W_a = I"][1]
line = [index[w] for w in ("barack", "obama", "speaks", "today")]
scores = [E[:, i] @ E[:, j] for i, j in zip(line, line[1:], strict=False)]
claim("W_a = I: scores grow along the sentence", np.all(np.diff(scores) > 0))


def recall_topk(Wa, We, word, k):
    return [words[i] for i in np.argsort(-We.T @ (Wa @ We[:, index[word]]))[:k]]


_, E, A = models["W_a learnt"]
found = recall_topk(A, E, "barack", 1) + sorted(recall_topk(A, E, "obama", 2))
claim("recall: obama; then smiles or speaks", found == ["obama", "smiles", "speaks"])
some = ["barack", "obama", "speaks", "smiles", "today", "again", "king", "woman"]
some += ["prince", "girl", "wants", "sees", "paris", "rome", "mayor", "tower"]
asked = ["barack", "obama", "speaks", "king", "girl", "paris"]
show(*em.draw_associations(E, A, index, some, asked), digits=0)

# %% [markdown] covers="wu:2.11.6"
# ## Deeper: facts in a matrix, without training
#
# Such a memory can be written down at once. Given $n$ keys $a_i \in \mathbb R^d$ and values $b_i \in \mathbb R^m$, add up outer
# products (Hebb, 1949: what is active together gets connected):
#
# $$W = \sum_{i=1}^n b_i\,a_i^\top, \quad W a_k = (a_k^\top a_k)\,b_k + \underbrace{\sum_{i \ne k} (a_i^\top
# a_k)\,b_i}_{\text{crosstalk}} .$$
#
# Orthonormal keys have no crosstalk, and $W a_k = b_k$ exactly. But $d$ dimensions hold at most $d$ of them, and there are
# $V > d$ words. What do other keys cost?


# %% exercise="crosstalk" points=2 difficulty=2 covers="wu:2.11.6"
def crosstalk(A, B):
    """The memory, and what the other pairs add when key k is asked, for each k.

    A (n, d): keys of any length, a key a row. B (n, m): their values. n may be 0.
    Returns W (m, d) and the crosstalk (n, m), row k at key k.
    A = [[1, 0], [1, 1]], B = [[2], [3]] give [[5, 3]] and [[3], [2]].
    """
    ### BEGIN SOLUTION
    W = B.T @ A
    own = (A**2).sum(axis=1, keepdims=True)
    return W, A @ W.T - own * B
    ### END SOLUTION


# %% check="crosstalk"
check(crosstalk)

# %% [markdown] covers="wu:2.11.6"
# **How loud is it?** Let the keys be independent and uniform on the unit sphere. For $i \ne k$ the dot product has mean 0
# and mean square $1/d$ (each of the $d$ entries of a random unit vector has mean square $1/d$). The mixed terms vanish on
# average:
#
# $$\mathbb E\,\lVert W a_k - b_k\rVert^2 = \frac1d \sum_{i \ne k} \lVert b_i\rVert^2 .$$
#
# For values of equal length the error, as a share of it, is $\sqrt{(n-1)/d}$.

# %% predict="as-long" minutes=1 covers="wu:2.11.6"
predict(
    "as-long",
    "64 random pairs in 64 dimensions: the error is as long as the value. How often is "
    "the nearest stored value the right one?",
    ["Never", "About half of the time", "About 80 %", "Nearly always"],
    truth=int(
        np.digitize(em.measure_recall("random", 64, 64, 8)[1], [0.2, 0.65, 0.95])
    ),
    because="The error has a length near 1, but points in a random direction of 64. "
    "The wrong values gain little from it.",
)

# %% covers="wu:2.11.6"
# Crosstalk and formula; readings by nearest value; words as keys.
with after(crosstalk, "as-long"):
    rng = np.random.default_rng(7)
    Q, B = np.linalg.qr(rng.normal(size=(6, 6)))[0], rng.normal(size=(6, 4))
    claim("orthonormal keys: exact", np.allclose(Q @ crosstalk(Q, B)[0].T, B))
    for n, dim in ((16, 64), (64, 64), (256, 64), (256, 256)):
        memories = [em.pairs_of("random", n, dim, rng) for _ in range(10)]
        error = np.sqrt(
            np.mean([np.mean(crosstalk(*m)[1] ** 2) for m in memories]) * dim
        )
        law = np.sqrt((n - 1) / dim)
        right = em.measure_recall("random", n, dim, repeats=8)[1]
        told = "n = {n}, d = {d}: error {e:.1f}, formula {law:.1f}; nearest {r:.0%}"
        near = abs(error / law - 1) < 0.1
        claim(told, near, n=n, d=dim, e=error, law=law, r=right)
    solved = [em.measure_recall("pseudo-inverse", n, 64)[0] for n in (64, 65)]
    exact = [error < 1e-6 for error in solved]
    claim("least squares: exact for n = 64, not for n = 65", exact == [True, False])
    word_vectors = em.the_manual()[1]
    centred = em.unit(word_vectors - word_vectors.mean(axis=0))
    loud, plain = (
        np.mean((keys[:64] @ keys[:64].T) ** 2) for keys in (word_vectors, centred)
    )
    claim(
        "words of the manual share a direction; without it they interfere less",
        plain < 0.8 * loud,
    )

# %% [markdown] covers="wu:2.11.6"
# **Fill it.** Drag the dot below the star, or the sliders. "Pseudo-inverse" keeps random keys and solves for the $W$ of least squared error.
#
# 1. At $n = d = 64$ with random keys: is the diagonal visible? Then double $n$, twice. What falls faster, the quality of
#    the recall or that of reading by the nearest value?
# 2. From which $n$ on is the pseudo-inverse hardly better than saying 0?

# %% covers="wu:2.11.6"
# Drag n along the curve.
explore(
    em.draw_memory,
    digits=1,
    drag={"n": "error"},
    keys=Dropdown(
        value="random",
        options=["orthonormal", "random", "pseudo-inverse"],
        description="keys",
    ),
    n=IntSlider(64, min=2, max=256, description="pairs n"),
    d=IntSlider(64, min=8, max=256, step=8, description="dimensions d"),
)

# %% [markdown] covers="wu:2.11.7"
# ## Deeper: a memory that bends
#
# A linear map cannot hold more than $d$ general facts. Put $m$ ReLU units between (no biases, as in the lecture notes):
#
# $$h^{(2)} = \mathrm{ReLU}(W_\text{in}\,h^{(1)}), \qquad h^{(3)} = W_\text{out}\,h^{(2)}, \qquad s = W_u\,h^{(3)} .$$
#
# $W_\text{in}$ extracts features of a key; each pattern of active units is a region with a linear map of its own; $W_\text{out}$
# combines. How many facts fit? With random $W_\text{in}$ the $n$ hidden vectors have $m$ entries: exact while they are
# independent, so about $m$ facts. With $W_\text{in}$ trained, $n$ facts of $k$ entries are $nk$ equations, for $md + mk$
# numbers, of which $m$ are lost (scale a unit up going in, down going out). For $k = d$ and facts in
# general position that caps exact recall just below $n = 2m$.

# %% demo=true covers="wu:2.11.7"
# Keys of 8 numbers: linear; 16 and 32 units, random and trained.
dim, ns = 8, np.array([4, 8, 12, 16, 20, 24, 32, 40, 48, 64])
rng = np.random.default_rng(10)
stored = [em.pairs_of("random", n, dim, rng) for n in ns]
keys, values = (em.padded(list(part), 64) for part in zip(*stored, strict=True))


def errors(fit):
    return np.array([em.recall_error(f[: len(B)], B) for f, (_, B) in zip(fit, stored)])


linear = errors([A @ em.store("pseudo-inverse", A, B).T for A, B in stored])
fixed, trained = {}, {}
for m in (16, 32):
    fixed[m] = errors(em.mlp_memory(keys, *em.fit_mlp_memory(keys, values, m, steps=0)))
    memory = em.fit_mlp_memory(keys, values, m)
    trained[m] = errors(em.mlp_memory(keys, *memory))
    exact = np.all(fixed[m][ns <= m] < 1e-6) and np.all(fixed[m][ns > m] > 0.2)
    claim("m = {m}, random W_in: exact up to n = m, not beyond", exact, m=m)
    more = trained[m][list(ns).index(m + m // 4)] < 0.05
    claim("m = {m}, trained: n = {n} fit to 5 %", more, m=m, n=m + m // 4)
show(*em.draw_capacity(ns, linear, fixed, trained, dim), digits=0)

# %% [markdown] covers="wu:2.11.7"
# So it is "not limited by the input dimension", with a limit of its own. And another: without biases $\mathrm{ReLU}(2z)
# = 2\,\mathrm{ReLU}(z)$, so asked for $2a$ the memory answers $2b$, and one ray cannot hold two facts.
#
# **Between two memories.** Walk straight from key $a_1$ to $a_2$. A linear memory answers on a straight line, the
# ReLU memory on a broken one, which turns where a unit switches: it interpolates, continuous and piecewise linear.
# Whether what lies between makes sense, the stored facts do not say.

# %% demo=true covers="wu:2.11.7"
# The answer between two keys: 24 facts, 32 units.
A, B = stored[list(ns).index(24)]
W_in, W_out = (part[list(ns).index(24)] for part in memory)
tripled = np.allclose(
    em.mlp_memory(3 * A, W_in, W_out), 3 * em.mlp_memory(A, W_in, W_out)
)
claim("three times the key, three times the answer", tripled)
t = np.linspace(0, 1, 1001)
way = A[0] + t[:, None] * (A[1] - A[0])
bent = em.mlp_memory(way, W_in, W_out)[:, 0]
flat = (way @ em.store("pseudo-inverse", A, B).T)[:, 0]
from_, to = W_in @ A[0], W_in @ A[1]
kinks = np.sort((from_ / (from_ - to))[from_ * to < 0])  # where a unit's input is 0
bend = np.abs(np.diff(bent, 2))
away = np.abs(t[1:-1, None] - kinks).min(axis=1) > 0.0011
straight = bend[away].max() < 1e-9 < bend.max()
claim("straight but where a unit switches, at {n} places", straight, n=len(kinks))
show(*em.draw_path(t, flat, bent, kinks, B[:2, 0]), digits=0)

# %% [markdown]
# ## Where the notes differ
#
# What the lecture notes print otherwise, each with its place. An *error* is shown by computing: the printed form fails,
# the right one holds, and a wrong one of the same shape fails too.

# %% demo=true covers="wu:2.9.4 wu:2.11.4 wu:2.11.7"
# wu, sections 2.9 and 2.11: shapes, and a word. d = V = 3.
erratum(
    "wu:2.9.4",
    quote=r"= \left( (y - p)^{\top} \mathbf{W}_{\text{unembed}} \right) x^{\top}",
    corrected=r"$W_\text{unembed}^\top(y - p)\,x^\top$, $d \times V$ like its matrix",
    kind="convention",
)
rng = np.random.default_rng(13)
E, A, x, y = (
    rng.normal(size=(3, 3)),
    rng.normal(size=(3, 3)),
    np.eye(3)[0],
    np.eye(3)[1],
)


def J(into, out, moved=0):  # the two uses of the table apart; moved: added to h2
    s = out.T @ (A @ into @ x + moved)
    return y @ s - np.logaddexp.reduce(s)


s = E.T @ (A @ E @ x)
miss, h2 = y - np.exp(s) / np.exp(s).sum(), A @ E @ x
bumps = 1e-6 * np.eye(9).reshape(9, 3, 3)
true = np.reshape([(J(E + b, E + b) - J(E - b, E - b)) / 2e-6 for b in bumps], (3, 3))
as_input = np.outer(A.T @ E @ miss, x)
erratum(
    "wu:2.11.4",
    quote=r"x^{\top} + (y - p)(h^{(2)})^{\top}",
    corrected=(
        r"$W_\text{associative}^\top W_\text{embed}(y - p)\,x^\top "
        r"+ h^{(2)}(y - p)^\top$"
    ),
    printed_holds=np.allclose(as_input + np.outer(miss, h2), true, atol=1e-6),
    corrected_holds=np.allclose(as_input + np.outer(h2, miss), true, atol=1e-6),
    decoy_holds=np.allclose(as_input + np.outer(E @ x, miss), true, atol=1e-6),  # h1
)
true = [(J(E, E, b) - J(E, E, -b)) / 2e-6 for b in 1e-6 * np.eye(3)]
erratum(
    "wu:2.11.4",
    quote=(
        r"\frac{\partial J}{\partial h^{(2)}} = (y - p)^{\top} "
        r"\mathbf{W}_{\text{embed}}"
    ),
    corrected=r"$W_\text{embed}(y - p)$",
    printed_holds=np.allclose(miss @ E, true, atol=1e-6),
    corrected_holds=np.allclose(E @ miss, true, atol=1e-6),
    decoy_holds=np.allclose(A @ miss, true, atol=1e-6),
)
erratum(
    "wu:2.11.7",
    quote="Creates smooth transitions between memories",
    corrected="continuous and piecewise linear: the slope jumps where a unit switches",
    kind="convention",
)

# %% demo=true covers="explainers:4.4.2 explainers:4.4.2.a"
# explainers, section 4.4.2: rows, and signs.
basis, k = np.eye(8), 2
table = np.arange(12.0).reshape(3, 4)  # E of shape d × |V|
erratum(
    "explainers:4.4.2",
    quote=(
        r"it can be seen as a look-up table of the rows of "
        r"$E \in \mathbb{R}^{d \times |V|}$"
    ),
    corrected="of the columns",
    printed_holds=np.array_equal(table @ np.eye(4)[k], table[k]),
    corrected_holds=np.array_equal(table @ np.eye(4)[k], table[:, k]),
    decoy_holds=np.array_equal(table @ np.eye(4)[k], table[:, k - 1]),
)
Italy, Germany, Wales, capital, fascist = basis[:5]  # a capital: country + capital
Rome, Cardiff, Mussolini, Hitler = (
    Italy + capital, Wales + capital, Italy + fascist, Germany + fascist,
)  # fmt: skip
erratum(
    "explainers:4.4.2",
    quote=(
        r'$$L_E(\text{"Wales"}) + L_E(\text{"Cardiff"}) - L_E(\text{"Italy"}) '
        r'\approx L_E(\text{"Rome"})$$'
    ),
    corrected=r"$L_E(\text{Cardiff}) - L_E(\text{Wales}) + L_E(\text{Italy})$",
    printed_holds=np.allclose(Wales + Cardiff - Italy, Rome),
    corrected_holds=np.allclose(Cardiff - Wales + Italy, Rome),
    decoy_holds=np.allclose(Wales - Cardiff + Italy, Rome),
)
erratum(
    "explainers:4.4.2",
    quote=(
        r'$$L_E(\text{"Germany"}) + L_E(\text{"fascist"}) - L_E(\text{"Mussolini"}) '
        r'\approx L_E(\text{"Hitler"})$$'
    ),
    corrected=r"$L_E(\text{Mussolini}) - L_E(\text{Italy}) + L_E(\text{Germany})$",
    printed_holds=np.allclose(Germany + fascist - Mussolini, Hitler),
    corrected_holds=np.allclose(Mussolini - Italy + Germany, Hitler),
    decoy_holds=np.allclose(Italy - Mussolini + Germany, Hitler),
)
erratum(
    "explainers:4.4.2.a",
    quote="In maths notation, the loss looks something like",
    corrected=(
        r"$-\log\sigma(w_c \cdot w_o) - \sum_i \log\sigma(-w_c \cdot w_{n_i})$: "
        "logarithms and dot products are left out"
    ),
    kind="convention",
)
erratum(
    "explainers:4.4.2.a",
    quote="negative-context words which do not lie near the center word",
    corrected=(
        "drawn from a noise distribution, and sometimes a neighbour; centre and "
        "context words have two tables"
    ),
    kind="convention",
)
