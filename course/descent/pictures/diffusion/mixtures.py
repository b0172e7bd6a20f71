"""The world of the chapter: mixtures of round Gaussians, whose scores, posteriors and velocities are known exactly."""

from dataclasses import dataclass

import numpy as np


def _gaps(x, means):
    return means - np.asarray(x, float)[..., None, :]


@dataclass(frozen=True)
class Mixture:
    """With chance weights[k] a draw from N(means[k], sds[k]² I).

    weights (k,), of sum 1; means (k, d); sds (k,), not negative. Points are (..., d), a density needs every sds > 0.
    """

    weights: np.ndarray
    means: np.ndarray
    sds: np.ndarray

    @classmethod
    def of(cls, means, sd, weights=None):
        """From means (k, d), sd a number or (k,), and weights (k,) in any unit (None: all equal)."""
        means = np.asarray(means, float)
        weights = np.ones(len(means)) if weights is None else np.asarray(weights, float)
        return cls(
            weights / weights.sum(), means, np.broadcast_to(np.asarray(sd, float), len(means))
        )

    def sample(self, n, rng):
        """n draws -> points (n, d), and the component of each (n,)."""
        which = rng.choice(len(self.weights), n, p=self.weights)
        noise = rng.normal(size=(n, self.means.shape[1]))
        return self.means[which] + self.sds[which, None] * noise, which

    def _log_parts(self, x):
        squared = (_gaps(x, self.means) ** 2).sum(-1) / self.sds**2
        constant = self.means.shape[1] * np.log(np.sqrt(2 * np.pi) * self.sds)
        return np.log(self.weights) - squared / 2 - constant

    def log_density(self, x):
        """(..., d) -> (...)."""
        return np.logaddexp.reduce(self._log_parts(x), axis=-1)

    def density(self, x):
        """(..., d) -> (...)."""
        return np.exp(self.log_density(x))

    def shares(self, x):
        """The chance of each component, given the point: (..., d) -> (..., k)."""
        parts = self._log_parts(x)
        return np.exp(parts - np.logaddexp.reduce(parts, axis=-1, keepdims=True))

    def score(self, x):
        """The gradient of the log density: (..., d) -> (..., d)."""
        pulls = _gaps(x, self.means) / self.sds[:, None] ** 2
        return (self.shares(x)[..., None] * pulls).sum(-2)

    def mean(self):
        """(d,)"""
        return self.weights @ self.means

    def covariance(self):
        """(d, d)"""
        off = self.means - self.mean()
        round_part = (self.weights @ self.sds**2) * np.eye(self.means.shape[1])
        return (self.weights * off.T) @ off + round_part

    def noised(self, a, b):
        """The mixture of a·x0 + b·ε, where x0 is drawn from this one and ε from N(0, I). a, b numbers."""
        return Mixture(self.weights, a * self.means, np.sqrt(a**2 * self.sds**2 + b**2))

    def _best(self, x, a, b):
        """Given a·x0 + b·ε = x: shares (..., k); of x0 in each component the mean (..., k, d) and the variance (k,)."""
        seen = self.noised(a, b)
        gain = a * self.sds**2 / seen.sds**2
        means = self.means - gain[:, None] * _gaps(x, seen.means)
        return seen.shares(x), means, b**2 * self.sds**2 / seen.sds**2

    def posterior(self, x, a, b):
        """The mixture of x0, given that a·x0 + b·ε = x, for one point x (d,); b > 0."""
        shares, means, variances = self._best(np.asarray(x, float), a, b)
        return Mixture(shares, means, np.sqrt(variances))

    def denoised(self, x, a, b):
        """The best guess E[x0 | a·x0 + b·ε = x]: (..., d) -> (..., d); b > 0 or every sds > 0."""
        shares, means, _ = self._best(x, a, b)
        return (shares[..., None] * means).sum(-2)

    def noise(self, x, a, b):
        """The best guess E[ε | a·x0 + b·ε = x] = -b times the score there: (..., d) -> (..., d)."""
        return -b * self.noised(a, b).score(x)


def two_hills():
    """On the line: a narrow hill at -1.5 with a third of the mass, a broad one at 1."""
    return Mixture.of([[-1.5], [1.0]], [0.25, 0.5], [1, 2])


def ring(k=8, radius=2.0, sd=0.15):
    """In the plane: k equal hills on a circle."""
    angle = 2 * np.pi * np.arange(k) / k
    return Mixture.of(radius * np.stack([np.cos(angle), np.sin(angle)], 1), sd)


def three_hills():
    """In the plane: three hills on a triangle, with 60, 30 and 10 % of the mass."""
    angle = np.radians([210, 330, 90])
    return Mixture.of(2 * np.stack([np.cos(angle), np.sin(angle)], 1), 0.3, [6, 3, 1])
