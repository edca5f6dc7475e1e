"""What the PDoctor paper publishes about its agents."""

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources

import msgspec

from misstep.core.statistics import wilson


class Published(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the paper says about one agent; shares are in percent, of timed problems not always there."""

    framework: str
    paradigm: str
    model: str
    generated: int
    failed: int
    synthesis_seconds: float
    agent_seconds: float
    errors: Mapping[str, float]
    causes: Mapping[str, float]
    timed_errors: Mapping[str, float] = {}
    timed_causes: Mapping[str, float] = {}

    @property
    def success(self) -> float:
        return 1 - self.failed / self.generated

    @property
    def interval(self) -> tuple[float, float]:
        """Of 95 %, by the paper's counts; it prints none itself."""
        return wilson(self.generated - self.failed, self.generated)


class Reach(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How far agents get: the first and last number of actions that their rates are over, and by model the
    number at which success is under the threshold."""

    actions: tuple[int, int]
    threshold: float
    limits: Mapping[str, int]


class Paper(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    agent: tuple[Published, ...]
    reach: Reach
    topics: Mapping[str, Mapping[str, int]]


class Level(msgspec.Struct, frozen=True):
    """A model's agents in the paper, which has no curve in numbers: one rate of each over several numbers of
    actions, and where success is under the threshold."""

    model: str
    agents: Sequence[Published]
    actions: tuple[int, int]
    threshold: float
    limit: int

    @property
    def best(self) -> Published:
        return max(self.agents, key=lambda agent: agent.success)


@cache
def load_paper() -> Paper:
    text = resources.files(__package__).joinpath("data/pdoctor.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), Paper)


def published_levels() -> tuple[Level, ...]:
    """One for each model, the weaker first."""
    paper = load_paper()
    return tuple(
        Level(
            model,
            [agent for agent in paper.agent if agent.model == model],
            paper.reach.actions,
            paper.reach.threshold,
            limit,
        )
        for model, limit in paper.reach.limits.items()
    )
