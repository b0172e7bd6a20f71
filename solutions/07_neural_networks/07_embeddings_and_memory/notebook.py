# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown] minutes=90 builds="word vectors trained by your own gradients, and memories whose forgetting you can predict"
# # Embeddings and associative memory
#
# Lectures: wu 2.9, 2.10, 2.11 and 5.1 · explainers 4.4.2 · cs480 11 · guo V.6.
#
# A word is a number in a list. Numbers in a list have no meaning. This notebook turns them into vectors whose geometry has some, and then stores facts in a matrix.
# At the end you can
#
# - look up an embedding and its gradient without ever building a one-hot vector;
# - train a next-word model and skip-gram vectors with gradients that you derived;
# - test analogies, and count honestly when they fail;
# - use one table for input and output, and differentiate through both uses;
# - predict how much an associative memory forgets, and say what a hidden layer adds.

# %%
import numpy as np
import torch
from ipywidgets import Dropdown, IntSlider, SelectionSlider

from descent import after, check, data, erratum, explore, hint, predict, show, start
from descent.pictures.neural_networks import embeddings_and_memory as em

start("07_neural_networks/07_embeddings_and_memory")

# %% [markdown] covers="wu:2.10 wu:2.10.1"
# ## Why it matters
#
# The last notebooks built functions that bend. They need vectors to bend. For a pixel or a temperature that is no question. For the word "cat" it is.
# Left: the distance of every two of twenty words when each has a switch of its own. Right: the distances of vectors of the same words, learnt from nothing but which words stand together.
# Bent functions are one pillar of deep learning. The blocks on the right are the other: once words are points, "similar" means "near", and what a network learns about one word holds for its neighbours.

# %% covers="wu:2.10.1" demo=true
show(*em.draw_opening(), digits=0)
predict(
    "One-hot vectors of 50 000 words. How far apart are 'cat' and 'dog'?",
    ["1", "√2", "√50 000", "it depends on their numbers in the list"],
    truth=1,
    because="They differ in two places, by 1 each: √(1² + 1²). So are any other two.",
)

# %% [markdown] covers="wu:2.10.1 cs480:11-emb"
# ## From codes to vectors
#
# A text is cut into **tokens**, the smallest units that a model knows; here, words. A vocabulary of $V$ tokens numbers them. Then there is a choice of code:
#
# | code | numbers a word | not zero | who chooses |
# |---|---|---|---|
# | **one-hot** | $V$, each 0 or 1 | one | nobody: it is only the number |
# | **binary** | $\lceil\log_2 V\rceil$, each 0 or 1 | about half | nobody: the number in base 2 |
# | **few-hot** | some, each 0 or 1 | a few | a person lists attributes |
# | **dense** | $d \ll V$, real | all | the training |
#
# A map $\{0,1\}^V \to \mathbb R^d$ with $d \ll V$ is an **embedding**; cs480's transformer has $d = 512$. A prompt of $n$ tokens becomes a table $X \in \mathbb R^{n \times d}$, and $k$ generated tokens another, in $\mathbb R^{k \times d}$.
#
# **Find out below.** Which code gives two words the same vector? Which needs 20 numbers for 20 words and would need 50 000 for 50 000? From which $d$ on do the learnt codes (shown on their first $d$ principal axes) put "cat" clearly nearer to "dog" than to "car"? What do random dense codes have, and what do they lack?

# %% covers="wu:2.10.1"
explore(
    em.draw_codes,
    digits=0,
    kind=Dropdown(
        value="one-hot",
        options=["one-hot", "few-hot", "random dense", "learnt"],
        description="code",
    ),
    d=IntSlider(
        8,
        min=2,
        max=16,
        description="d (random, learnt)",
        continuous_update=False,
    ),
)

# %% [markdown] covers="wu:2.9.2 guo:V.6.b explainers:4.4.2 wu:5.1"
# ## A table of columns
#
# Write the embedding as a matrix $W_e \in \mathbb R^{d \times V}$ and let $e_k$ be the one-hot vector of word $k$. Then $h = W_e\, e_k$ is **column $k$** of $W_e$: multiplying by a one-hot vector is looking up.
# $h$ is called the word's embedding, or its *distributed representation*, or (with a grander word) its *thought vector*.
#
# guo stores a word a row, $E \in \mathbb R^{V \times D}$ with $\mathrm{onehot}(\tau)^\top E = E[\tau, :]$, and so does `torch.nn.Embedding`. It is the transpose: $E = W_e^\top$. Our models hold columns, as wu's do.
#
# For a text of $T$ tokens the answer is a table with a token a row.


# %% exercise="embed" points=1 minutes=4 difficulty=1 covers="wu:2.9.2 guo:V.6.b explainers:4.4.2 wu:5.1 cs480:11-emb"
def embed(ids, W):
    """The embedding of each token of a text, a token a row.

    ids (T,): token numbers. W (d, V): a word a column -> (T, d), for T = 0 too.
    ids = [2, 0], W = [[1, 2, 3], [4, 5, 6]] give [[3, 6], [1, 4]].
    """
    ### BEGIN SOLUTION
    return W[:, ids].T
    ### END SOLUTION


# %% check="embed"
check(embed)

# %% [markdown] covers="wu:2.9.5 guo:V.6.b wu:5.1 cs480:11-emb"
# The cell below looks the text "the cat sees the dog" up in three ways, forwards and backwards. What is the gradient of a sum of squares with respect to the table? Only columns of words in the text get one, and the column of "the", which comes twice, gets both contributions.
#
# How much work is saved? A product with a one-hot matrix takes $T \cdot d \cdot V$ multiplications. Looking up takes none; it copies $T \cdot d$ numbers.

# %% covers="wu:2.9.5 guo:V.6.b explainers:4.4.2 wu:5.1 cs480:11-emb"
with after(embed):
    corpus, _ = em.toy_world()
    ids = np.array([corpus.index[w] for w in ("the", "cat", "sees", "the", "dog")])
    V, d, T = len(corpus.words), 4, len(ids)
    W = torch.randn(d, V, generator=torch.Generator().manual_seed(0), dtype=float)
    onehot = torch.nn.functional.one_hot(torch.tensor(ids), V).to(float)
    layer = torch.nn.Embedding.from_pretrained(W.T.clone(), freeze=False, sparse=True)
    product, picked = W.clone().requires_grad_(), W.clone().requires_grad_()
    ways = [onehot @ product.T, picked[:, ids].T, layer(torch.tensor(ids))]
    for way in ways:
        assert np.allclose(embed(ids, W.numpy()), way.detach())
        (way**2).sum().backward()
    assert torch.allclose(product.grad, picked.grad)
    assert torch.allclose(layer.weight.grad.to_dense().T, picked.grad)
    moved = torch.nonzero(picked.grad.abs().sum(0)).ravel().tolist()
    assert moved == sorted(set(ids.tolist()))
    assert torch.allclose(picked.grad[:, ids[0]], 2 * 2 * W[:, ids[0]])  # comes twice
    rows = layer.weight.grad.coalesce().values()
    print(f"{len(moved)} of {V} columns have a gradient; torch keeps {len(rows)} rows")
    for size in (V, 5_000, 50_000):
        print(f"V = {size}: {T * d * size} multiplications, or {T * d} numbers copied")

# %% [markdown] covers="wu:2.9 wu:2.9.1 wu:2.9.3"
# ## The next word, in two matrices
#
# Task: guess the next word from the current one. After "Barack" most of us would say "Obama". Two matrices will do. With $x, y \in \{0,1\}^V$ the one-hot current and next word,
#
# $$h = W_e\, x, \qquad s = W_u\, h, \qquad p = \mathrm{softmax}(s), \qquad W_e \in \mathbb R^{d \times V},\; W_u \in \mathbb R^{V \times d} .$$
#
# $W_u$ is the **unembedding**: row $j$ scores word $j$ as the next one. There is no bend in between, so all scores together are the one matrix $W_u W_e \in \mathbb R^{V \times V}$, **of rank at most $d$**.
# The model is a table of all word pairs, squeezed. For $V = 50\,000$ and $d = 256$ it has $2dV = 25.6$ million numbers; the table would have $V^2 = 2.5$ billion.
#
# The toy corpus has 3000 sentences of 67 words. Three people are planted: a first name is always followed by its last name.

# %% covers="wu:2.9 wu:2.9.1 wu:2.9.3" demo=true
corpus = em.numbered(em.toy_corpus())
index, words, V = corpus.index, corpus.words, len(corpus.words)
pairs = em.next_pairs(corpus.texts)
rng, d = np.random.default_rng(0), 12
We0, Wu0 = 0.3 * rng.normal(size=(d, V)), 0.3 * rng.normal(size=(V, d))
x = np.eye(V)[index["barack"]]
h = We0 @ x
s = Wu0 @ h
p = np.exp(s - s.max()) / np.sum(np.exp(s - s.max()))
assert np.linalg.matrix_rank(Wu0 @ We0) == d and 2 * 256 * 50_000 == 25_600_000
print(" ".join(em.toy_corpus()[5]), "|", " ".join(em.toy_corpus()[1]))
print(f"h {h.shape}: {np.round(h[:4], 2)} …   s {s.shape}: {np.round(s[:4], 2)} …")
print(f"untrained: P(obama | barack) = {p[index['obama']]:.3f}, 1/V = {1 / V:.3f}")

# %% [markdown] covers="wu:2.9.4"
# ### Which numbers move?
#
# The notes climb $J = \log p_y$. In [Multi-class networks](06_softmax_networks.ipynb) you met $\partial J/\partial s = y - p$. The chain rule, with every gradient shaped like its matrix, gives
#
# $$\frac{\partial J}{\partial W_u} = (y - p)\, h^\top, \qquad \frac{\partial J}{\partial h} = W_u^\top (y - p), \qquad \frac{\partial J}{\partial W_e} = W_u^\top (y - p)\, x^\top .$$
#
# The factor $x^\top$ puts $\partial J/\partial h$ into the column of the current word and zeros everywhere else. The factor $(y - p)$ has no zeros: every word that was *not* next is pushed away a little.
#
# For $n$ pairs of words let $J$ be the **mean** of $\log p_y$. Contributions of a word that occurs as $x$ more than once add up. (NumPy's `D[:, x] += …` would keep only one of them; `np.add.at(D.T, x, rows)` keeps all.)


# %% exercise="embed_grads" points=4 minutes=12 difficulty=3 covers="wu:2.9.4 wu:2.9.5"
def embed_grads(x, y, We, Wu):
    """Gradients of J, the mean over n pairs of log p(y | x), by both matrices.

    x, y (n,): numbers of the current and of the next word. We (d, V), Wu (V, d).
    Returns (dWe (d, V), dWu (V, d)). Scores of thousands, of either sign, may come.
    x = [0], y = [1], We = [[1, 0]], Wu = [[0], [0]] give dWe = [[0, 0]],
    dWu = [[-0.5], [0.5]].
    """
    ### BEGIN SOLUTION
    H = We[:, x].T
    s = H @ Wu.T
    p = np.exp(s - s.max(axis=1, keepdims=True))
    error = -p / p.sum(axis=1, keepdims=True)
    error[np.arange(len(x)), y] += 1
    error /= len(x)
    dWe = np.zeros(We.shape)
    np.add.at(dWe.T, x, error @ Wu)
    return dWe, error.T @ H
    ### END SOLUTION


# %% check="embed_grads"
check(embed_grads)

# %% covers="wu:2.9.4"
with after(embed_grads):
    some = pairs[:200]
    tables = [torch.tensor(W, requires_grad=True) for W in (We0, Wu0)]
    scores = (tables[1] @ tables[0][:, some[:, 0]]).T
    log_p = torch.log_softmax(scores, dim=1)
    log_p[range(200), some[:, 1]].mean().backward()
    for mine, theirs in zip(embed_grads(*some.T, We0, Wu0), tables, strict=True):
        assert np.allclose(mine, theirs.grad)
    at = [np.array([index[w]]) for w in ("barack", "obama")]
    dWe, dWu = embed_grads(*at, We0, Wu0)
    assert np.count_nonzero(np.abs(dWe).sum(axis=0)) == 1
    assert np.count_nonzero(np.abs(dWu).sum(axis=1)) == V
    show(*em.draw_sparsity(dWe, dWu, words, "barack", "obama"))

# %% [markdown] covers="wu:2.9.3 wu:2.10.5"
# Now climb. Nobody tells the model what a name is: the loss of its guesses, your gradients and 1500 small batches are all there is. How surely should it say "obama" in the end? How surely "likes" after "paris", which never follows directly?

# %% covers="wu:2.9.3 wu:2.10.5"
with after(embed_grads):
    rng, We, Wu = np.random.default_rng(1), We0.copy(), Wu0.copy()
    for _ in range(1500):
        x, y = pairs[rng.integers(len(pairs), size=64)].T
        dWe, dWu = embed_grads(x, y, We, Wu)
        We, Wu = We + 2.0 * dWe, Wu + 2.0 * dWu

    def next_word(word, We, Wu):
        s = Wu @ We[:, index[word]]
        return np.exp(s - s.max()) / np.exp(s - s.max()).sum()

    before, p = next_word("barack", We0, Wu0), next_word("barack", We, Wu)
    assert p[index["obama"]] > 0.9
    assert next_word("paris", We, Wu)[index["likes"]] < 0.05
    show(*em.draw_next(before, p, words, "barack"), digits=1)

# %% [markdown] covers="wu:2.9.1 wu:2.9 wu:2.10.5"
# ### The same model on real text
#
# Python carries its own manual, some 65 000 words of English (`data.documents()`; the wording differs a little between Python versions, so nothing here is printed to the last digit). We keep the 600 commonest words, drop the others from the text, and hold out every fifth stretch of 50 words.
#
# How large should $d$ be? Before you look: a model of larger $d$ contains the smaller ones, so on the training text its optimum is never worse.
# And which is better on held-out text: the embedding, or plain counts, each row mixed with the overall word shares as if 30 imagined words had been drawn from them?

# %% covers="wu:2.9.1 wu:2.10.5" demo=true
manual = em.read_manual(data.documents())
ranks = [1, 2, 4, 8, 16, 32, 64, 128]
fits = [em.fit_bigram(manual.train, d) for d in ranks]
train_loss, valid_loss = (
    [em.cross_entropy(counts, P) for P in fits]
    for counts in (manual.train, manual.valid)
)
shares = np.tile(manual.train.sum(axis=0) + 0.5, (len(manual.train), 1))
unigram = em.cross_entropy(manual.valid, shares / shares[0].sum())
table = em.cross_entropy(manual.valid, em.smoothed_table(manual.train))
best = int(np.argmin(valid_loss))
assert train_loss[0] > train_loss[3] > train_loss[-1]
assert min(valid_loss) < unigram - 0.3  # the current word helps
assert valid_loss[-1] > valid_loss[best] + 0.05  # too large a d memorises
assert table < valid_loss[best]  # at this size counting wins
show(*em.draw_ranks(ranks, train_loss, valid_loss, unigram, table), digits=0)

# %% [markdown] covers="wu:2.10.5 wu:2.10.6 wu:2.10.2"
# The embedding beats the word shares by far and then overfits. And the humble smoothed table beats the embedding: with some 40 000 pairs to learn from and one word of context there is little to share between words.
# The embedding pays where tables stop: with ten words of context, a table would need $V^{10}$ rows, while the vectors of ten words are only ten vectors. That is what the rest of deep learning is built on. The notes list six gains: discrete things become continuous; gradients apply to them; distance means likeness; vectors can be combined; vectors learnt for one task start another; and symbols meet networks.
# Each is a possibility that training may realise. None is a law, as we are about to see.
#
# ## What is in a vector?
#
# The notes picture the vector of "cat" as labelled entries: 0.82 animal, 0.75 pet, 0.31 size, −0.12 aggression. Is entry 3 of a trained vector "size"?
#
# Take any orthogonal $Q$ ($Q^\top Q = I$) and replace $W_e$ by $QW_e$ and $W_u$ by $W_uQ^\top$. The scores are $W_u Q^\top Q W_e = W_u W_e$: *the same model*, with the same gradient of the loss by each score, the same distances and the same cosines. But every entry is another mixture.
# The loss cannot prefer one basis over the other, so nothing in it asks an entry to mean something. Directions and distances survive the rotation; that a *direction* means "size" is a claim that can be tested.
#
# (Any invertible $M$ will do: $MW_e$ and $W_uM^{-1}$ make the same predictions, with other distances. Which of these models comes out depends on the start and the optimiser. So even a distance is not dictated by the predictions.)

# %% covers="wu:2.10.2" demo=true
P_toy, We_toy, Wu_toy = em.fit_scores(em.count_table(pairs, V), 12, steps=200)
Q = np.linalg.qr(np.random.default_rng(3).normal(size=(12, 12)))[0]
assert np.allclose((Wu_toy @ Q.T) @ (Q @ We_toy), Wu_toy @ We_toy, atol=1e-4)
M, gaps = np.diag(np.arange(1.0, 13)), em.distances(We_toy.T)
other = (Wu_toy @ np.linalg.inv(M)) @ (M @ We_toy)
assert np.allclose(other, Wu_toy @ We_toy, atol=1e-4)
assert not np.allclose(em.distances((M @ We_toy).T), gaps, rtol=0.5)
assert np.allclose(em.distances((Q @ We_toy).T), gaps, atol=1e-4)
some = ["king", "queen", "man", "woman", "paris", "rome", "cat", "dog"]
chosen = We_toy.T[[index[w] for w in some]]
show(*em.draw_rotation(chosen, chosen @ Q.T, some), digits=0)

# %% [markdown] covers="explainers:4.4.2.a"
# ## Word2vec: is this pair real?
#
# A softmax over 50 000 words for every training pair is dear. **Skip-gram with negative sampling** asks a cheaper question. Take a *centre* word and a word from its *context* (at most so many places away). Hide the true context word among $l$ **noise words**, drawn from a fixed distribution. For each of the $1 + l$ words: real, or noise?
#
# Every word has two vectors, one for its role as centre (table $W$) and one for its role as context or noise (table $C$; here a word is a row). With $\sigma(z) = 1/(1 + e^{-z})$ and the model $P(\text{real}) = \sigma(w_c \cdot w_o)$, minus the logarithm of the probability of the right $1 + l$ answers is
#
# $$L = -\log\sigma(w_c \cdot w_o) - \sum_{i=1}^{l} \log\sigma(-w_c \cdot w_{n_i}),$$
#
# because $1 - \sigma(z) = \sigma(-z)$. It is logistic regression on pairs. From $\frac{d}{dz}\left[-\log\sigma(z)\right] = -\sigma(-z)$ all gradients follow; no more than $l + 2$ vectors move in a step, whatever $V$ is.


# %% exercise="sgns_loss" points=4 minutes=12 difficulty=3 covers="explainers:4.4.2.a"
def sgns_loss(w_c, w_o, W_n):
    """The loss L of one centre, one context and l noise words, and its gradients.

    w_c, w_o (d,). W_n (l, d), l >= 0; a word drawn twice has two rows.
    Returns (L, g_c (d,), g_o (d,), g_n (l, d)): L and dL by w_c, w_o and W_n.
    Dot products of ±1000 must give a finite L. For l = 0, g_n is (0, d).
    w_c = [1], w_o = [0], W_n = [[0]] give L = 2 log 2 = 1.3863, g_c = [0],
    g_o = [-0.5], g_n = [[0.5]].
    """
    ### BEGIN SOLUTION
    z = np.concatenate([[w_c @ w_o], -(W_n @ w_c)])
    L = np.logaddexp(0, -z).sum()
    miss = np.exp(-np.logaddexp(0, z))  # σ(-z)
    g_c = miss[1:] @ W_n - miss[0] * w_o
    return L, g_c, -miss[0] * w_c, np.outer(miss[1:], w_c)
    ### END SOLUTION


# %% check="sgns_loss"
check(sgns_loss)

# %% [markdown] covers="explainers:4.4.2.a"
# **Does it align and repel?** A step against your gradients brings the context word nearer to the centre, and sends every noise word away from it. The centre's own step is the sum of one pull and $l$ pushes; where they disagree, the stronger wins.
#
# **And where does it end?** Let $N_{ij}$ be how often $j$ is seen in the context of $i$, $N_i = \sum_j N_{ij}$, and $q_j$ the chance that noise is $j$. With $l$ noise words a pair, the loss expects $N_{ij}$ real and $l N_i q_j$ noise pairs $(i, j)$. If the dot product $z$ of that pair could be chosen freely, the term
# $-N_{ij}\log\sigma(z) - l N_i q_j \log\sigma(-z)$ would be least where $\sigma(z) = \frac{N_{ij}}{N_{ij} + l N_i q_j}$, that is at
#
# $$z = \log\frac{N_{ij}}{N_i\, q_j} - \log l .$$
#
# When noise is drawn by context frequency, the first part is the **pointwise mutual information** (PMI) of the two words: skip-gram vectors squeeze a PMI table, moved by $-\log l$, into $d$ columns (Levy and Goldberg, 2014). The vectors of the opening picture squeeze the positive part of such a table, by a singular value decomposition.

# %% covers="explainers:4.4.2.a"
with after(sgns_loss):
    rng = np.random.default_rng(4)
    sizes = 6, 6, (5, 6)
    vectors = [torch.tensor(rng.normal(size=s), requires_grad=True) for s in sizes]
    c, o, n = vectors
    log_sigma = torch.nn.functional.logsigmoid
    (-log_sigma(c @ o) - log_sigma(-n @ c).sum()).backward()
    plain = [v.detach().numpy() for v in vectors]
    L, *grads = sgns_loss(*plain)
    assert all(np.allclose(g, v.grad) for g, v in zip(grads, vectors, strict=True))
    c1, o1, n1 = (v - 0.01 * g for v, g in zip(plain, grads, strict=True))
    assert plain[0] @ o1 > plain[0] @ plain[1]  # the context word comes nearer
    pull = sgns_loss(*plain[:2], plain[2][:0])[1]  # on the centre, without noise
    assert (plain[0] - 0.01 * pull) @ plain[1] > plain[0] @ plain[1]
    assert np.all(n1 @ plain[0] < plain[2] @ plain[0])  # every noise word goes away
    assert sgns_loss(c1, o1, n1)[0] < L
    z = torch.tensor(0.0, dtype=float, requires_grad=True)  # N = 30, l N_i q = 12
    for _ in range(200):
        slope = torch.autograd.grad(-30 * log_sigma(z) - 12 * log_sigma(-z), z)[0]
        z = (z - 0.1 * slope).detach().requires_grad_()
    assert np.isclose(z.item(), np.log(30 / 12))
    print("gradients agree with torch; the optimal dot product is log(N / (l N_i q))")

# %% [markdown] covers="wu:2.10.5 wu:2.10.4 explainers:4.4.2.a"
# Train on the toy corpus, 30 000 pairs, five noise words each (drawn by count to the power ¾, which is the custom), with your gradients. Context: the whole sentence. Move the slider through the training. What comes first: the groups, or the arrows within a group (from he to she, from country to capital)?

# %% covers="wu:2.10.5 wu:2.10.4 explainers:4.4.2.a"
with after(sgns_loss):
    contexts = em.context_pairs(corpus.texts, 5)
    marks = (0, 300, 1000, 3000, 10_000)
    W, C, seen = em.skipgram(contexts, V, sgns_loss, marks=marks)
    u = em.unit(W)
    cat, dog, car = (u[index[w]] for w in ("cat", "dog", "car"))
    assert cat @ dog > cat @ car + 0.1
    explore(
        em.snapshot_explorer(corpus, seen),
        digits=0,
        step=SelectionSlider(
            value=30_000,
            options=sorted(seen),
            description="pairs seen",
            continuous_update=False,
        ),
    )

# %% [markdown] covers="wu:2.10.3 wu:2.10.4 explainers:4.4.2"
# ## Analogies
#
# What can be done with vectors? A linear map $Wh$ and a bend $\sigma(h)$, as in every layer. Product by entries, $h_1 \odot h_2$: one vector gates another. Dot product $h_1^\top h_2$: how much do they agree. Sum and difference: combine, and compare.
# The last is the famous one. If the step from man to king is the same as from woman to queen, then
#
# $$v_\text{king} - v_\text{man} + v_\text{woman} \approx v_\text{queen} .$$
#
# In general: $a$ is to $b$ as $c$ is to $d$ asks for the word nearest to $v_b - v_a + v_c$. Nearness is measured by the **cosine** $\cos(u, v) = \frac{u^\top v}{\lVert u\rVert\,\lVert v\rVert}$, so that long vectors have no advantage.
# It is the custom to leave the three words of the question out. Keep that custom in mind.


# %% exercise="analogy" points=3 minutes=8 difficulty=2 covers="wu:2.10.3 explainers:4.4.2 wu:2.14.5"
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
    length = np.linalg.norm(vecs, axis=1) * np.linalg.norm(target)
    cosine = np.zeros(len(vecs))
    np.divide(vecs @ target, length, out=cosine, where=length > 0)
    if exclude:
        cosine[[a, b, c]] = -np.inf
    return int(np.argmax(cosine))
    ### END SOLUTION


# %% check="analogy"
check(analogy)

# %% [markdown] covers="explainers:4.4.2"
# **Repair the formula.** Two printed analogies have their signs mixed up. To see it without any doubt about training, plant a space: a vector for each country, plus one for its role (country, capital, or dictator of the 1930s). In this space every relation holds exactly.

# %% covers="explainers:4.4.2"
with after(analogy):
    basis = np.linalg.qr(np.random.default_rng(5).normal(size=(8, 8)))[0]
    lands = dict(zip(("Italy", "Germany", "Wales"), 2 * basis, strict=False))
    roles = dict(zip(("state", "capital", "fascist"), basis[3:], strict=False))
    planted = {land: v + roles["state"] for land, v in lands.items()}
    for name, land in (("Rome", "Italy"), ("Berlin", "Germany"), ("Cardiff", "Wales")):
        planted[name] = lands[land] + roles["capital"]
    for name, land in (("Mussolini", "Italy"), ("Hitler", "Germany")):
        planted[name] = lands[land] + roles["fascist"]
    planted["fascist"] = roles["fascist"]
    names = list(planted)
    space = np.array(list(planted.values()))

    def ask(minus, plus, plus_too):
        return names[analogy(space, *(names.index(w) for w in (minus, plus, plus_too)))]

    erratum(
        "explainers:4.4.2",
        r"$L_E(\text{Wales}) + L_E(\text{Cardiff}) - L_E(\text{Italy}) "
        r"\approx L_E(\text{Rome})$",
        r"$L_E(\text{Cardiff}) - L_E(\text{Wales}) + L_E(\text{Italy}) "
        r"\approx L_E(\text{Rome})$",
        printed_holds=ask("Italy", "Wales", "Cardiff") == "Rome",
        corrected_holds=ask("Wales", "Cardiff", "Italy") == "Rome",
    )
    erratum(
        "explainers:4.4.2",
        r"$L_E(\text{Germany}) + L_E(\text{fascist}) - L_E(\text{Mussolini}) "
        r"\approx L_E(\text{Hitler})$",
        r"$L_E(\text{Mussolini}) - L_E(\text{Italy}) + L_E(\text{Germany}) "
        r"\approx L_E(\text{Hitler})$",
        printed_holds=ask("Mussolini", "Germany", "fascist") == "Hitler",
        corrected_holds=ask("Italy", "Mussolini", "Germany") == "Hitler",
    )

# %% [markdown] covers="wu:2.10.4 wu:2.10.3"
# ### On trained vectors
#
# If a relation is a direction, its difference vectors are parallel. A score for that is the mean cosine of all pairs of differences: 1 for parallel arrows, about 0 for arrows that have nothing in common.

# %% covers="wu:2.10.4 wu:2.10.3"
with after(sgns_loss):
    parallel = {name: em.parallelism(W, index, ps) for name, ps in em.RELATIONS.items()}
    planted = list(parallel.values())[:3]
    assert min(planted) > 0.5 > 0.4 > max(list(parallel.values())[3:])
    gaps = em.distances(em.unit(W))
    cat, dog, car = (index[w] for w in ("cat", "dog", "car"))
    assert gaps[cat, dog] < gaps[cat, car]
    show(*em.draw_arrows(W, index), digits=0)

# %% covers="wu:2.10.3"
predict(
    "Three of five relations were planted as common contexts (his / her; crown / job; "
    "mayor / army). 'First : last name' and 'two of a kind' (cat : dog = car : bus) "
    "were not. How do analogies on all five do?",
    [
        "all relations work: the words are related",
        "the planted ones work, the others hardly",
        "none works: the corpus is too small",
    ],
    truth=1,
    because="An analogy needs a step that is the same for every pair. Barack and Obama "
    "always stand together, but nothing that goes with all first names is missing "
    "from all last names in the same way.",
)

# %% covers="wu:2.10.3 explainers:4.4.2"
with after(sgns_loss, analogy):
    scores = {}
    for name, ps in em.RELATIONS.items():
        with_custom = em.score_analogies(analogy, W, index, ps, True)
        without = em.score_analogies(analogy, W, index, ps, False)
        scores[name] = with_custom, without, em.nearest_scores(W, index, ps)
    rows = np.array(list(scores.values()))
    assert rows[:3, 0].min() > 0.7 > 0.5 > rows[3:, 0].max()
    assert np.all(rows[:, 1] <= rows[:, 0])
    told = (
        "Shares of analogy questions answered rightly. The three planted relations "
        "work; the other two do not."
    )
    title = "Analogies work where the corpus planted a common step"
    show(*em.draw_scores(scores, title, told), digits=0)

# %% [markdown] covers="wu:2.10.3 wu:2.10.4 explainers:4.4.2.a cs480:11-emb"
# ### On real text, counted honestly
#
# The same loss on Python's manual. To be quick we minimise its *expectation*, with the counts $N_{ij}$ and $l N_i q_j$ from above, instead of drawing pairs. First, nearest neighbours by cosine. Then analogies of two kinds, with the first 30 pairs that the vocabulary offers, or all: word : word + s (object : objects = value : ?), and word : word + ed (call : called = return : ?). The vectors are scaled to length 1 first, as is the custom.
#
# The neighbours look like sense. Will the analogies? Three bars for each kind: the custom; the question words allowed to answer; and a rival that ignores $a$ and $b$ and names the nearest neighbour of $c$.

# %% covers="wu:2.10.3 explainers:4.4.2.a cs480:11-emb" demo=true
W_manual, C_manual = em.fit_skipgram(manual.window)
asked = ["list", "string", "integer", "exception", "module", "left", "true"]
show(*em.draw_neighbours(W_manual, manual.corpus, asked), digits=0)

# %% covers="wu:2.10.3 wu:2.10.4 explainers:4.4.2"
with after(analogy):
    real = manual.corpus

    def endings(tail, real=real):
        pairs = [(w, w + tail) for w in real.words if w + tail in real.index]
        return [pair for pair in pairs if len(pair[0]) > 3][:30]

    scores = {}
    for name, tail in (("word : word + s", "s"), ("word : word + ed", "ed")):
        ps, vecs = endings(tail), em.unit(W_manual)
        asked = analogy, vecs, real.index, ps
        with_custom, without = (em.score_analogies(*asked, e) for e in (True, False))
        scores[name] = with_custom, without, em.nearest_scores(*asked[1:])
        quads = [[real.index[w] for w in quad[:3]] for quad in em.quads(ps)]
        own = [analogy(vecs, a, b, c, False) in (b, c) for a, b, c in quads]
        assert np.mean(own) > 0.6
    rows = np.array(list(scores.values()))
    assert rows[:, 0].max() < 0.35 and rows[:, 1].max() < 0.1
    told = (
        "Shares of analogy questions answered rightly on the manual: few with the "
        "question words left out, hardly any when these may answer, some by a rival "
        "that ignores half of the question."
    )
    title = "On 65 000 words of text most analogies fail"
    show(*em.draw_scores(scores, title, told), digits=0)

# %% [markdown] covers="wu:2.10.3 explainers:4.4.2.a wu:2.10.6"
# Most fail. With the question words allowed to answer, almost all fail: the nearest word to $v_b - v_a + v_c$ is mostly $b$ or $c$ itself, for both are summands of the target. And on plurals the rival who ignores half of the question scores of the same order: singular and plural are often neighbours anyway.
# On billions of words analogies do better; the two controls are worth asking for there as well. Vectors trained *inside* a language model are parameters like others: nothing in their loss asks for neat parallelograms.

# %% [markdown] written="analogy_claim" points=2 minutes=5 covers="wu:2.10.3"
# **In your own words (2 to 4 sentences).** A blog post trains word vectors and reports: "king − man + woman = queen. The model has understood gender." Which two controls would you ask for before you believe that analogies work in this model, and what could each of them reveal?
#
# ### BEGIN SOLUTION
# I would ask whether the question words were left out: without that the nearest word is often king itself, so that the success is partly made by the rule. I would ask for the share of right answers over all questions of that relation, beside a rival that just names the nearest neighbour of c (or of b):
# if the rival does nearly as well, the step from man to woman carries little information. One shown example is no rate; a selected example even less.
#
# **Rubric**
#
# - 1: names the exclusion of the question words (and that the answer without it is often one of them)
# - 1: asks for a rate over many questions against a baseline such as the nearest neighbour, not one chosen example
# ### END SOLUTION

# %% [markdown] covers="wu:2.11 wu:2.11.1 wu:2.11.2 wu:2.11.4"
# ## One table for both ends
#
# Back to Barack. The bigram model has two vectors for "obama": a column of $W_e$ and a row of $W_u$. Must it? **Tie** them, and let a third matrix do the step from a word to its successor:
#
# $$h^{(1)} = W_e\, x, \qquad h^{(2)} = W_a\, h^{(1)}, \qquad s = W_e^\top h^{(2)}, \qquad W_a \in \mathbb R^{d \times d} .$$
#
# Look up; associate; compare with every word of the same table. That takes $dV + d^2$ numbers instead of $2dV$.
#
# Could $W_a$ be dropped? With $W_a = I$ the scores are $S = W_e^\top W_e$. Two things follow. $S$ is symmetric: the score of "obama" after "barack" is that of "barack" after "obama". And by the Cauchy–Schwarz inequality $s_{ij} \le \lVert w_i\rVert\,\lVert w_j\rVert$, so the longest vector $w_i$ has no score above its own, $s_{ii} = \lVert w_i \rVert^2$: at least that word predicts *itself* as its successor (or a tie).
#
# ### Two paths to one table
#
# $W_e$ now enters $J = \log p_y$ twice, so its gradient is a sum. Pretend the two are different matrices, $s = U^\top W_a W x$, differentiate by each, and set them equal again:
#
# $$\frac{\partial J}{\partial h^{(2)}} = W_e\,(y - p), \qquad \frac{\partial J}{\partial W_a} = W_e\,(y - p)\,h^{(1)\top}, \qquad
# \frac{\partial J}{\partial W_e} = \underbrace{W_a^\top W_e\,(y - p)\,x^\top}_{\text{as input}} + \underbrace{h^{(2)}\,(y - p)^\top}_{\text{as output}} .$$
#
# The first part touches one column, the second all of them: with tied weights the gradient is no longer sparse.


# %% exercise="tied_grads" points=4 minutes=10 difficulty=3 covers="wu:2.11.1 wu:2.11.4"
def tied_grads(x, y, We, Wa):
    """Gradients of J = log p(y | x) in the tied model, by both matrices.

    x, y: numbers of the current and of the next word. We (d, V), Wa (d, d).
    Returns (dWe (d, V), dWa (d, d)). Scores of a thousand must not overflow.
    x = 0, y = 1, We = [[1, 0]], Wa = [[0]] give dWe = [[0, 0]], dWa = [[-0.5]].
    """
    ### BEGIN SOLUTION
    h1 = We[:, x]
    h2 = Wa @ h1
    s = We.T @ h2
    p = np.exp(s - s.max())
    error = -p / p.sum()
    error[y] += 1
    back = We @ error
    dWe = np.outer(h2, error)
    dWe[:, x] += Wa.T @ back
    return dWe, np.outer(back, h1)
    ### END SOLUTION


# %% check="tied_grads"
check(tied_grads)

# %% [markdown] covers="wu:2.11.4"
# Finite differences on the function itself are the judge: a small change of one number of the table, seen by both uses. Either path alone fails.

# %% covers="wu:2.11.4"
with after(tied_grads):
    rng = np.random.default_rng(6)
    E, A = rng.normal(size=(3, 5)), rng.normal(size=(3, 3))

    def J(E, A, x=1, y=4):
        s = E.T @ (A @ E[:, x])
        return s[y] - s.max() - np.log(np.exp(s - s.max()).sum())

    bumps = 1e-6 * np.eye(15).reshape(15, 3, 5)
    slopes = np.array([J(E + b, A) - J(E - b, A) for b in bumps]).reshape(3, 5) / 2e-6
    dE, dA = tied_grads(1, 4, E, A)
    s = E.T @ A @ E[:, 1]
    error = np.eye(5)[4] - np.exp(s) / np.exp(s).sum()
    as_output = np.outer(A @ E[:, 1], error)
    assert np.allclose(dE, slopes, atol=1e-6)
    assert not np.allclose(as_output, slopes, atol=0.01)
    assert not np.allclose(dE - as_output, slopes, atol=0.01)
    bumps = 1e-6 * np.eye(9).reshape(9, 3, 3)
    slopes = np.array([J(E, A + b) - J(E, A - b) for b in bumps]).reshape(3, 3) / 2e-6
    assert np.allclose(dA, slopes, atol=1e-6)
    print("both paths together agree with finite differences; either alone does not")

# %% [markdown] covers="wu:2.11.1 wu:2.11.2"
# ### Is $W_a$ needed?
#
# First try: the toy corpus, $d = 12$, three models trained alike: $W_a = I$ held fixed; $W_a$ learnt; untied. The lowest possible loss is the entropy of the next word given the current one, from the counts. Place your bet on $W_a = I$ before you run it.

# %% covers="wu:2.11.1 wu:2.11.2 wu:2.11" demo=true
counts = em.count_table(pairs, V)
rows = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
floor = em.cross_entropy(counts, np.where(rows > 0, rows, 1))
kinds = {"W_a = I": "identity", "W_a learnt": "learnt", "untied": ""}
models = {name: em.fit_scores(counts, 12, 300, kind) for name, kind in kinds.items()}
sizes = dict(zip(models, (12 * V, 12 * V + 12**2, 2 * 12 * V), strict=True))
for name, fit in models.items():
    loss = em.cross_entropy(counts, fit[0])
    assert floor < loss < floor + 0.05
    print(f"{name}: {sizes[name]} numbers, loss {loss:.1f}, floor {floor:.1f}")
_, E, _ = models["W_a = I"]
S, longest = E.T @ E, np.linalg.norm(E, axis=0).argmax()
assert np.allclose(S, S.T, atol=1e-4)  # symmetric
chain = [index[w] for w in ("barack", "obama", "speaks", "today")]
assert np.all(np.diff([S[i, j] for i, j in zip(chain, chain[1:], strict=False)]) > 0)
assert S[:, longest].argmax() == longest and counts[longest].sum() == 0

# %% [markdown] covers="wu:2.11.2 wu:2.11.5"
# $W_a = I$ costs nothing here! Symmetric scores can still tell before from after, as long as they *grow along the sentence*: $s(\text{barack}, \text{obama}) < s(\text{obama}, \text{speaks}) < s(\text{speaks}, \text{today})$. After "obama" the word "barack" loses to a yet higher score. And the longest vector, which predicts itself, is a word that ends sentences: nobody ever asks what follows it.
#
# A week does not end. To be right on every day, each score must beat the one before: $s(\text{Mon}, \text{Tue}) < s(\text{Tue}, \text{Wed}) < \dots < s(\text{Sun}, \text{Mon}) < s(\text{Mon}, \text{Tue})$. That is impossible, in any dimension.
# With a learnt $W_a$, two dimensions are enough. Guess what $2 \times 2$ matrix the training finds.
#
# **A learnt $W_a$ is a memory**: it takes the vector of a word to a vector near its likely successors, $W_a h^{(1)} \approx$ "what comes next". The words of highest score with $h^{(2)}$ are the recall. The second picture shows both parts for the toy corpus: $W_e$ puts words of like use together; follow the stars of $W_a$ from "barack" to the end of a sentence ("speaks" and "smiles" are used alike).

# %% covers="wu:2.11.2 wu:2.11.3 wu:2.11.5" demo=true
week = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
days = 100 * np.roll(np.eye(7), 1, axis=1)  # each day is followed by the next
fixed_P, fixed_E, _ = em.fit_scores(days, 7, 300, "identity")
P, E, A = em.fit_scores(days, 2, 300, "learnt")
tomorrow = np.arange(1, 8) % 7
for name, probs in (("W_a = I, d = 7", fixed_P), ("W_a learnt, d = 2", P)):
    print(f"{name}: right on {np.sum(probs.argmax(axis=1) == tomorrow)} days of 7")
turn = np.degrees(np.angle((A[0, 0] + A[1, 1]) + 1j * (A[1, 0] - A[0, 1])))
assert np.isclose(abs(turn), 360 / 7, atol=3)  # W_a turns by one day, and stretches
show(*em.draw_week(week, fixed_E.T @ fixed_E, E.T @ A @ E, E, A), digits=0)


def recall_topk(Wa, We, word, k):
    return np.argsort(-We.T @ (Wa @ We[:, word]))[:k]


_, E, A = models["W_a learnt"]  # of the toy corpus
chains = {"barack": ["obama"], "obama": ["smiles", "speaks"], "king": ["sees", "wants"]}
for word, followers in chains.items():
    found = [words[i] for i in recall_topk(A, E, index[word], len(followers))]
    assert sorted(found) == followers
some = ["barack", "obama", "speaks", "smiles", "today", "again", "king", "woman"]
some += ["prince", "girl", "wants", "sees", "paris", "rome", "mayor", "tower"]
asked = ["barack", "obama", "speaks", "king", "girl", "paris"]
show(*em.draw_associations(E, A, index, some, asked), digits=0)

# %% [markdown] covers="wu:2.11.6"
# ## Storing facts without training
#
# Such a matrix can be written down at once. Given $n$ pairs of vectors, keys $a_i \in \mathbb R^d$ and values $b_i \in \mathbb R^m$, add up outer products (Hebb's rule: what is active together gets connected):
#
# $$W = \sum_{i=1}^n b_i\, a_i^\top, \qquad W a_k = (a_k^\top a_k)\, b_k + \underbrace{\sum_{i \ne k} (a_i^\top a_k)\, b_i}_{\text{crosstalk}} .$$
#
# **Orthonormal keys**, $a_i^\top a_j = \delta_{ij}$, have no crosstalk: $W a_k = b_k$ exactly. But $d$ dimensions hold at most $d$ of them.


# %% exercise="hebb" points=1 minutes=3 difficulty=1 covers="wu:2.11.6"
def hebb(A, B):
    """The memory W, the sum over all pairs of value times key, as an outer product.

    A (n, d): a key a row. B (n, m): its value in the same row -> W (m, d).
    n may be 0. A = [[1, 0], [0, 2]], B = [[3, 4], [5, 6]] give [[3, 10], [4, 12]].
    """
    ### BEGIN SOLUTION
    return B.T @ A
    ### END SOLUTION


# %% check="hebb"
check(hebb)


# %% exercise="crosstalk" points=2 minutes=6 difficulty=2 covers="wu:2.11.6"
def crosstalk(A, B):
    """What the other pairs add when key k is asked, for every k.

    A (n, d) keys of any length, B (n, m) values -> (n, m); row k is the crosstalk
    at key k: the sum over i ≠ k of (a_i · a_k) b_i.
    A = [[1, 0], [1, 1]] and B = [[2], [3]] give [[3], [2]].
    """
    ### BEGIN SOLUTION
    G = A @ A.T
    np.fill_diagonal(G, 0)
    return G @ B
    ### END SOLUTION


# %% check="crosstalk"
check(crosstalk)

# %% [markdown] covers="wu:2.11.6"
# ### How loud is the crosstalk?
#
# Let the keys be independent, uniformly distributed on the unit sphere. For $i \ne k$ the dot product $a_i^\top a_k$ has mean 0 and mean square $1/d$: by symmetry each of the $d$ entries of a random unit vector has mean square $1/d$. Given $a_k$, the dot products for different $i$ are independent, so the mixed terms vanish on average:
#
# $$\mathbb E\,\lVert W a_k - b_k\rVert^2 = \sum_{i\ne k} \mathbb E\big[(a_i^\top a_k)^2\big]\,\lVert b_i\rVert^2 = \frac1d \sum_{i \ne k} \lVert b_i \rVert^2 .$$
#
# For values of equal length, the error as a share of that length is $\sqrt{(n-1)/d}$, root mean square.

# %% covers="wu:2.11.6"
predict(
    "64 random pairs in 64 dimensions: n = d. The error is as long as the value. "
    "How often is the nearest stored value the right one?",
    ["never", "about half of the time", "about 80 %", "nearly always"],
    truth=3,
    because="The error has a length near 1, but points in a random direction of 64. "
    "The wrong values gain little from it.",
)

# %% covers="wu:2.11.6"
with after(hebb, crosstalk):
    rng = np.random.default_rng(7)
    Q, B = np.linalg.qr(rng.normal(size=(6, 6)))[0], rng.normal(size=(6, 4))
    assert np.allclose(hebb(Q, B) @ Q.T, B.T)  # orthonormal keys: exact
    A, B = em.pairs_of("random", 9, 6, rng)
    assert np.allclose(A @ hebb(A, B).T - B, crosstalk(A, B))  # length 1: all error

    def measured(n, d, rng=rng):
        memories = [em.pairs_of("random", n, d, rng) for _ in range(max(3, 512 // n))]
        squares = [np.mean(crosstalk(A, B) ** 2) for A, B in memories]
        return np.sqrt(np.mean(squares) * d)

    ns = np.array([4, 8, 16, 32, 64, 128, 256])
    results = {d: (ns, np.array([measured(n, d) for n in ns])) for d in (16, 64, 256)}
    for d, (_, errors) in results.items():
        assert np.allclose(errors, np.sqrt((ns - 1) / d), rtol=0.1)  # 4 standard errors
    show(*em.draw_recall_law(results), digits=1)

# %% [markdown] covers="wu:2.11.6"
# **Three kinds of keys.** The widget stores $n$ pairs of unit vectors in $d$ dimensions. "Pseudo-inverse" keeps random keys but solves for the $W$ with the least squared error: exact as long as the keys are independent, $n \le d$ for random ones.
# Beyond that the best $W$ can fit only a share $d/n$ of the random values' squares; the error is about $\sqrt{1 - d/n}$.
#
# The cell first measures what the formula foretells, and how often the nearest stored value is the right one. Then move the sliders.
#
# (1) At $n = d = 64$ and random keys: is the diagonal visible? (2) Double $n$, then double again. Which falls faster, the quality of the recall or that of the reading by nearest value? (3) For which $n$ is the pseudo-inverse hardly better than saying zero?

# %% covers="wu:2.11.6" demo=true
told = {(64, 16): 0.45, (64, 64): 0.99, (64, 256): 2.0, (256, 256): 0.99}
for (d, n), noted in told.items():
    error, _ = em.measure_recall("random", n, d, repeats=10)
    assert abs(error - noted) < 0.05 and abs(error - np.sqrt((n - 1) / d)) < 0.05
    print(f"d = {d}, n = {n}: error {error:.1f}")
for d, n in ((64, 64), (64, 128), (64, 256), (256, 1024)):
    right = em.measure_recall("random", n, d, repeats=8)[1]
    print(f"d = {d}, n = {n}: nearest value right in {100 * right:.0f} %")
    assert right > (0.97 if n == d else 0.6)
for n, exact in ((64, True), (65, False)):
    error = em.measure_recall("pseudo-inverse", n, 64)[0]
    assert (error < 1e-6) == exact
assert em.measure_recall("orthonormal", 64, 64)[0] < 1e-12
explore(
    em.draw_memory,
    digits=1,
    keys=Dropdown(
        value="random",
        options=["orthonormal", "random", "pseudo-inverse"],
        description="keys",
    ),
    n=SelectionSlider(
        value=64,
        options=[4, 8, 16, 32, 64, 128, 256],
        description="pairs n",
        continuous_update=False,
    ),
    d=SelectionSlider(
        value=64,
        options=[8, 16, 32, 64, 128, 256],
        description="dimensions d",
        continuous_update=False,
    ),
)

# %% [markdown] covers="wu:2.11.7"
# ## A memory that bends
#
# A linear memory is a linear map: $n > d$ general facts do not fit, whatever $W$. Put a hidden layer of $m$ ReLU units in between (no biases, as in the notes):
#
# $$h^{(2)} = \mathrm{ReLU}(W_\text{in}\, h^{(1)}), \qquad h^{(3)} = W_\text{out}\, h^{(2)}, \qquad s = W_u\, h^{(3)}, \qquad W_\text{in} \in \mathbb R^{m \times d} .$$
#
# $W_\text{in}$ extracts features of a key; each pattern of active units is a region of the key space with a linear map of its own; $W_\text{out}$ combines. How many facts fit?
#
# - $W_\text{in}$ random: as long as the $n$ hidden vectors (of $m$ entries) are independent, a linear memory on *them* is exact. That is impossible for $n > m$, and common for $n$ a little below $m$ (a unit that is off for all keys, say, is wasted). Capacity about $m$ in place of $d$.
# - $W_\text{in}$ trained too: $md + mk$ numbers for $nk$ equations ($k$ entries a value). Scaling a unit's input weights up and its output weights down changes nothing, which leaves $m(d + k - 1)$. For $k = d$ and random values that caps exact recall just below $n = 2m$; what training reaches is a matter of luck and patience.

# %% covers="wu:2.11.7" demo=true
d, ns = 8, np.array([4, 8, 12, 16, 20, 24, 32, 40, 48, 64])
rng = np.random.default_rng(10)
stored = [em.pairs_of("random", n, d, rng) for n in ns]
keys, values = (em.padded(list(part), 64) for part in zip(*stored, strict=True))


def errors(fit):
    return np.array([em.recall_error(f[: len(B)], B) for f, (_, B) in zip(fit, stored)])


linear = errors([A @ em.store("pseudo-inverse", A, B).T for A, B in stored])
fixed, trained = {}, {}
for m in (16, 32):
    fixed[m] = errors(em.mlp_memory(keys, *em.fit_mlp_memory(keys, values, m, steps=0)))
    memory = em.fit_mlp_memory(keys, values, m)
    trained[m] = errors(em.mlp_memory(keys, *memory))
    assert np.all(fixed[m][ns <= m] < 1e-6) and np.all(fixed[m][ns > m] > 0.2)
    assert np.all(trained[m] < fixed[m] + 1e-6)
    assert trained[m][list(ns).index(m + m // 4)] < 0.05
assert np.all(linear[ns <= d] < 1e-9) and np.all(linear[ns > d] > 0.4)
show(*em.draw_capacity(ns, linear, fixed, trained, d), digits=0)

# %% [markdown] covers="wu:2.11.7"
# So "not limited by the input dimension" is right, with a limit of its own: the number of hidden weights. There is another. **Predict:** the memory holds $a_1 \mapsto b_1$. You ask for $2a_1$.
#
# **Between two memories.** Walk on a straight line from key $a_1$ to key $a_2$. A linear memory answers on a straight line as well. The ReLU memory answers on a broken line that changes slope where a unit switches. That is interpolation, continuous and piecewise linear. Whether what lies between makes sense, the stored facts do not say.

# %% covers="wu:2.11.7" demo=true
predict(
    "What does a ReLU memory without biases answer at 2a, when it answers b at a?",
    ["b", "2b", "anything: it depends on the training", "0"],
    truth=1,
    because="relu(2z) = 2 relu(z): without biases f(ta) = t f(a) for every t ≥ 0. Two "
    "keys on one ray cannot hold two facts. (At -a, other units are on.)",
)
A, B = stored[list(ns).index(24)]
W_in, W_out = (part[list(ns).index(24)] for part in memory)  # m = 32 units, 24 facts
assert np.allclose(em.mlp_memory(3 * A, W_in, W_out), 3 * em.mlp_memory(A, W_in, W_out))
assert np.allclose(em.mlp_memory(A, W_in, W_out), B, atol=1e-5)

t = np.linspace(0, 1, 1001)
way = A[0] + t[:, None] * (A[1] - A[0])
bent = em.mlp_memory(way, W_in, W_out)[:, 0]
flat = (way @ em.store("pseudo-inverse", A, B).T)[:, 0]
from_, to = W_in @ A[0], W_in @ A[1]
kinks = np.sort((from_ / (from_ - to))[from_ * to < 0])  # where a unit's input is 0
bend = np.abs(np.diff(bent, 2))
near = np.abs(t[1:-1, None] - kinks).min(axis=1) < 0.0011
assert bend[~near].max() < 1e-9 < bend.max() and np.abs(np.diff(flat, 2)).max() < 1e-9
show(*em.draw_path(t, flat, bent, kinks, B[:2, 0]), digits=0)

# %% [markdown] covers="wu:2.11.6 wu:2.11.7"
# ## On real data: words as keys
#
# The notes apply exact recall to words: $a_i$ the embedding of a word, $b_i$ that of its successor. There are $V$ words in $d < V$ dimensions, so they cannot be orthonormal. Are they at least as good as random?
#
# Keys: the vectors of the manual's words from above, $d = 32$, scaled to length 1. Values: random unit vectors, so that the keys alone are on trial. Compare the outer products, the same with the mean of all words taken out of every key, least squares, and a ReLU memory of $m = 192$ units with random $W_\text{in}$.

# %% covers="wu:2.11.6 wu:2.11.7"
with after(hebb):
    raw = em.unit(W_manual)
    centred = em.unit(raw - raw.mean(axis=0))
    rng, sizes = np.random.default_rng(11), np.array([4, 8, 16, 32, 64, 128])

    def trial(n):
        chosen = rng.permutation(len(raw))[:n]
        A, A0, B = raw[chosen], centred[chosen], em.unit(rng.normal(size=(n, 32)))
        relu = em.fit_mlp_memory(A[None], B[None], 192, steps=0)
        recalled = [A @ hebb(A, B).T, A0 @ hebb(A0, B).T]
        recalled += [A @ em.store("pseudo-inverse", A, B).T]
        recalled += [em.mlp_memory(A[None], *relu)[0]]
        return [em.recall_error(r, B) for r in recalled]

    found = np.array([np.mean([trial(n) for _ in range(5)], axis=0) for n in sizes])
    theory = np.sqrt((sizes - 1) / 32)
    assert np.all(found[1:, 0] > 1.1 * theory[1:])  # words are not random directions
    assert np.all(found[sizes <= 16, 2] < 1e-6) and np.all(found[sizes > 32, 2] > 0.3)
    assert np.all(np.abs(found[1:, 1] / theory[1:] - 1) < 0.25)  # centred: as theory
    assert np.all(found[:, 3] < 0.01)
    names = ["outer products", "outer products, centred"]
    names += ["least squares", "ReLU, m = 192"]
    named = dict(zip(names, found.T, strict=True))
    show(*em.draw_word_keys(sizes, named, theory), digits=0)

# %% [markdown] covers="wu:2.11.6 wu:2.11.7"
# All words share a direction, and it makes every key answer for every other. Take their mean out and these words are about as good as random directions, no better: the formula for random keys then foretells their errors. Exactness has to be paid for, by solving for $W$ (up to $n = d$) or by hidden units.

# %% [markdown] covers="wu:2.10.6 wu:2.11 wu:2.10"
# ## Take-aways
#
# - A one-hot vector times a matrix is a look-up. Compute it so. Its gradient is sparse: only looked-up columns move, and repeats add up. The unembedding's gradient is not sparse.
# - A linear next-word model factorises the table of pair scores at rank $d$. On small text a smoothed table of counts is hard to beat.
# - A single entry of a vector means nothing by itself: a rotation changes all of them, and no prediction, distance or angle.
# - Skip-gram is logistic regression, real pairs against noise. It squeezes the PMI table.
# - Analogies work where the corpus supports a common step. Report a rate, the rule about question words, and a rival.
# - Tying saves half of the numbers. Without $W_a$ the scores are symmetric: they can order a sentence, not a circle. Both uses contribute to the gradient.
# - Outer products recall exactly for orthonormal keys ($n \le d$); for random ones the error is $\sqrt{(n-1)/d}$, yet reading by nearest value holds out longer. Least squares is exact up to $n = d$. A hidden layer of $m$ random units moves the limit to about $m$.
#
# [Recommenders and superposition](08_recommenders_and_superposition.ipynb) fits the same products $W_uW_e$ to ratings, and asks how more features than dimensions can share a space. Such memories are found in trained transformers, too.
#
# ## What the notes got wrong
#
# First slips of shape: row vectors where columns are needed. They are worth a cell, since the shape of a gradient is its best check. The second cell is about ideas.


# %% covers="wu:2.9.4 wu:2.11.4" demo=true
def multiplies(*shapes):
    """The shape of the product of matrices of these shapes, or None."""
    fits = all(a[1] == b[0] for a, b in zip(shapes, shapes[1:], strict=False))
    return (shapes[0][0], shapes[-1][1]) if fits else None


dim, voc = 12, 67  # d and V
erratum(
    "wu:2.9.4",
    r"$\partial J/\partial W_\text{embed} = "
    r"\big((y-p)^\top W_\text{unembed}\big)\,x^\top$: "
    r"$1 \times d$ times $1 \times V$ (2.111, 2.113)",
    r"$\partial J/\partial W_\text{embed} = W_\text{unembed}^\top (y-p)\,x^\top$, "
    r"$d \times V$",
    printed_holds=multiplies((1, voc), (voc, dim), (1, voc)) == (dim, voc),
    corrected_holds=multiplies((dim, voc), (voc, 1), (1, voc)) == (dim, voc),
)
erratum(
    "wu:2.11.4",
    r"$(y-p)\,h^{(2)\top}$ is the output part of "
    r"$\partial J/\partial W_\text{embed}$ (2.124)",
    r"$h^{(2)}(y-p)^\top$, $d \times V$ like the matrix; the input part is "
    r"$W_\text{assoc}^\top W_\text{embed}(y-p)\,x^\top$",
    printed_holds=multiplies((voc, 1), (1, dim)) == (dim, voc),
    corrected_holds=multiplies((dim, 1), (1, voc)) == (dim, voc)
    and multiplies((dim, dim), (dim, voc), (voc, 1), (1, voc)) == (dim, voc),
)
erratum(
    "wu:2.11.4",
    r"$\partial J/\partial h^{(2)} = (y-p)^\top W_\text{embed}$ (2.125, and in 2.127)",
    r"$\partial J/\partial h^{(2)} = W_\text{embed}(y-p)$",
    printed_holds=multiplies((1, voc), (dim, voc)) is not None,
    corrected_holds=multiplies((dim, voc), (voc, 1)) == (dim, 1),
)
table, k = np.arange(12.0).reshape(3, 4), 2  # E of shape d × |V|
erratum(
    "explainers:4.4.2",
    r"$L_E$ looks up the rows of $E \in \mathbb R^{d \times |V|}$",
    r"$L_E$ looks up the columns of $E \in \mathbb R^{d \times |V|}$",
    printed_holds=np.array_equal(table @ np.eye(4)[k], table[k]),
    corrected_holds=np.array_equal(table @ np.eye(4)[k], table[:, k]),
)


# %% covers="explainers:4.4.2.a wu:2.11.6 wu:2.11.7" demo=true
def sigma(z):
    return 1 / (1 + np.exp(-z))


rng = np.random.default_rng(12)
w_c, w_o, W_n = rng.normal(size=3), rng.normal(size=3), rng.normal(size=(2, 3))
chance = sigma(w_c @ w_o) * np.prod(1 - sigma(W_n @ w_c))  # all three labels right
erratum(
    "explainers:4.4.2.a",
    r"the loss is $-\sigma(w_c, w_o) + \sum_i \sigma(w_c, w_{n_i})$",
    r"the loss is $-\log\sigma(w_c \cdot w_o) "
    r"- \sum_i \log\sigma(-w_c \cdot w_{n_i})$, "
    "minus the logarithm of the probability that all labels are right",
    printed_holds=np.isclose(
        -sigma(w_c @ w_o) + sigma(W_n @ w_c).sum(), -np.log(chance)
    ),
    corrected_holds=np.isclose(
        -np.log(sigma(w_c @ w_o)) - np.log(sigma(-W_n @ w_c)).sum(), -np.log(chance)
    ),
)
keys, values = em.pairs_of("random", 40, 16, rng)  # 40 "words" in 16 dimensions
recalled = keys @ (values.T @ keys).T
overlaps = keys @ keys.T - np.eye(40)
erratum(
    "wu:2.11.6",
    "exact recall of outer products is applied to word embeddings $a_i$",
    r"at most $d$ vectors are orthonormal, so $V > d$ words have crosstalk; for random "
    r"directions its relative size is $\sqrt{(n-1)/d}$",
    printed_holds=np.allclose(recalled, values),
    corrected_holds=np.linalg.matrix_rank(keys) == 16
    and np.allclose(recalled - values, overlaps @ values),
)
erratum(
    "wu:2.11.7",
    "the non-linear memory makes smooth transitions between memories",
    "the transitions are continuous and piecewise linear: the slope jumps where a unit "
    "switches",
    printed_holds=bend.max() < 1e-9,
    corrected_holds=bend[~near].max() < 1e-9 < bend.max(),
)
near_words = em.count_table(em.context_pairs(corpus.texts, 5), V)
drawn = near_words.sum(axis=0) ** 0.75  # chances of noise, as custom has them
hits = np.mean((near_words > 0) @ drawn) / drawn.sum()  # of meeting a neighbour
erratum(
    "explainers:4.4.2.a",
    "negatives are words that do not occur near the centre",
    "negatives are drawn from a noise distribution and may be real neighbours; centre "
    "and context words have two tables of vectors",
    printed_holds=hits == 0,
    corrected_holds=hits > 0.1,
)
