"""Disturbances of a machine over time, as logarithms of its speed.

Time is cut into slots of SLOT seconds. Every kind has the same ground noise, so that a pair of
adjacent trials of 60 s has a deviation of 1 %: half of its variance comes with each start of a
server (and does not shrink with longer trials), half from within the trial. What a kind adds is
stated at its function. Shapes: (simulations, slots).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

SLOT = 15.0
"""Seconds."""
REFERENCE = 60.0
"""Seconds of the trial whose pairs deviate by PAIR."""
PAIR = 0.01
RESTART = PAIR / 2
"""Deviation of one trial that comes with the start of its server."""
WITHIN = PAIR / 2 * np.sqrt(REFERENCE / SLOT)
"""Deviation of a slot around its trial."""


def iid(shape: tuple[int, int], _period: int, random: np.random.Generator) -> Array:
    """Nothing but the ground noise."""
    return random.normal(0.0, WITHIN, shape)


def noisy(shape: tuple[int, int], _period: int, random: np.random.Generator) -> Array:
    """Twice the ground noise (that of the restarts too)."""
    return random.normal(0.0, 2 * WITHIN, shape)


def drift(shape: tuple[int, int], _period: int, random: np.random.Generator) -> Array:
    """The machine gets faster or slower, by up to 2.5 % an hour."""
    hours = np.arange(shape[1]) * SLOT / 3600
    slope = random.uniform(-0.025, 0.025, (shape[0], 1))
    logs: Array = iid(shape, 0, random) + slope * hours
    return logs


def autocorrelated(shape: tuple[int, int], _period: int, random: np.random.Generator) -> Array:
    """AR(0.9) from slot to slot, deviation 2 %: it lasts for minutes."""
    innovation = random.normal(0.0, 0.02, shape)
    innovation[:, 0] = random.normal(0.0, 0.02, shape[0])
    added = autoregression(innovation, 0.9)
    return iid(shape, 0, random) + added


def autoregression(noise: Array, correlation: float) -> Array:
    """Rows of noise of the same deviation, in which each number depends on the one before it."""
    from scipy.signal import lfilter  # noqa: PLC0415 - takes longer than the rest together

    noise[:, 1:] *= np.sqrt(1 - correlation**2)
    series: Array = lfilter([1.0], [1.0, -correlation], noise, axis=1)
    return series


def periodic(shape: tuple[int, int], period: int, random: np.random.Generator) -> Array:
    """4 % slower during every second trial's time: what ABAB would take for a difference."""
    phase = random.integers(0, period, (shape[0], 1))
    slow = (np.arange(shape[1]) + phase) % period < period / 2
    logs: Array = iid(shape, 0, random) - 0.04 * slow
    return logs


def heavy_tailed(shape: tuple[int, int], _period: int, random: np.random.Generator) -> Array:
    """Student's t with three degrees of freedom, of the same deviation."""
    logs: Array = random.standard_t(3, shape) * WITHIN / np.sqrt(3)
    return logs


def outliers(shape: tuple[int, int], _period: int, random: np.random.Generator) -> Array:
    """A neighbour takes 5 to 25 % for one minute, during a twentieth of the time."""
    minute = round(60 / SLOT)
    starts = random.random(shape) < 0.05 / minute
    taken = np.where(starts, random.uniform(0.05, 0.25, shape), 0.0)
    lasting = np.zeros(shape)
    for later in range(minute):
        lasting[:, later:] = np.maximum(lasting[:, later:], taken[:, : shape[1] - later])
    logs: Array = iid(shape, 0, random) + np.log1p(-lasting)
    return logs


KINDS: dict[str, Callable[[tuple[int, int], int, np.random.Generator], Array]] = {
    "iid": iid,
    "iid, twice as much": noisy,
    "drift": drift,
    "AR(0.9)": autocorrelated,
    "periodic": periodic,
    "heavy tails": heavy_tailed,
    "outliers": outliers,
}


def restarts(shape: tuple[int, ...], kind: str, random: np.random.Generator) -> Array:
    """What each trial's start adds, with tails as heavy as the kind's own."""
    if kind == "heavy tails":
        heavy: Array = random.standard_t(3, shape) * RESTART / np.sqrt(3)
        return heavy
    return random.normal(0.0, RESTART * (2 if KINDS[kind] is noisy else 1), shape)
