"""Simulated agents without a plan: chance alone, by the number of actions."""

from collections.abc import Callable
from typing import TypeAlias

from misstep.core.rng import Dice
from misstep.core.stats import logistic
from misstep.planning.capability import Steps
from misstep.planning.curve_fitting import Count

# What comes of so many cases with so many actions: how many passed, how many were judged.
Agent: TypeAlias = Callable[[int, int], tuple[int, int]]


def draws(success: Callable[[int], float], seed: int) -> Agent:
    dice = Dice(seed)
    return lambda size, count: (sum(dice.chance(success(size)) for _ in range(count)), count)


def capable(half: float, spread: float, seed: int) -> Agent:
    return draws(lambda size: logistic(size, half, spread), seed)


def drive(steps: Steps, agent: Agent) -> tuple[int, list[Count]]:
    """How many cases were asked for until the end, and what came of them."""
    asked, counts = 0, dict[int, tuple[int, int]]()
    try:
        size, count = next(steps)
        while True:
            asked += count
            news = agent(size, count)
            passed, judged = counts.get(size, (0, 0))
            counts[size] = (passed + news[0], judged + news[1])
            size, count = steps.send(news)
    except StopIteration:
        return asked, [(size, *counts[size]) for size in sorted(counts)]
