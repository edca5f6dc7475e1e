"""A case: a planning problem ready to run.

How hard a case is, in numbers.
"""

import hashlib
from typing import Any, cast

import msgspec

from misstep.core.constraint import FAMILIES, Before, Constraint, Family, family_of


class Difficulty(msgspec.Struct, frozen=True):
    """`chain` is the most actions that are bound to follow one another.

    `reading` is how far the text's order is from any correct one: the fewest pairs that have to be swapped.
    `tokens` are those of the request, roughly.
    """

    chance: float
    actions: int
    constraints: int
    chain: int
    reading: int
    tokens: int


MEASURES = tuple(field.name for field in msgspec.structs.fields(Difficulty))


class Baselines(msgspec.Struct, frozen=True):
    """What two agents that don't plan reach: 1 or 0 for a case, the share of passed cases for several.

    `text_order` follows the order of the text, `ignores_family` heeds nothing but plain order. Both are
    defined in `planning.baselines`.
    """

    text_order: float
    ignores_family: float


CASE_VERSION = 1
MOST_ACTIONS = 20  # in a case, as many as there are activities in a topic


class Action(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One thing the request asks for; it has exactly one tool.

    `parameters` is the JSON schema of a tool that is the user's own; those of ours follow from the case.
    """

    id: str
    name: str
    tool: str
    description: str = ""
    parameters: dict[str, Any] | None = None


class World(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What the tools will do, which the agent finds out only by calling them. Actions are named by their ids.

    In a timed problem `day` is when it begins and ends, in minutes since midnight; every action has its
    duration, and `attempts` is how often the agent may begin in all. `values` are what an action returns, by
    parameter, one for each time that it is carried out. `findings` tells of actions that conditions ask
    whether they report the finding. `costs` are what actions cost. `failures` is how often a tool is
    unavailable before it works, `retries` how often the request says to try again. `broken` are actions that
    are out of service for good, `announcements` the sentences that results add to the request.
    """

    day: tuple[int, int] | None = None
    durations: dict[str, int] = {}
    attempts: int = 1
    values: dict[str, dict[str, tuple[str | int, ...]]] = {}
    findings: dict[str, bool] = {}
    costs: dict[str, int] = {}
    failures: dict[str, int] = {}
    retries: int = 0
    broken: tuple[str, ...] = ()
    announcements: dict[str, str] = {}


class Planned(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A call in a plan."""

    tool: str
    arguments: dict[str, Any] = {}


class Case(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Actions, constraints and the text that says them.

    `witness` is one correct order of action ids, `chance` the share of all orders that are correct,
    `redundant` the indices of sentences that deliberately repeat what is already implied. `distractors` are
    tools that nobody needs. Where an order alone is not the whole plan, `solution` is all the calls of an
    agent that knew only what it had been told so far, and got everything right in its last attempt.
    """

    version: int
    id: str
    seed: int
    topic: str
    query: str
    actions: tuple[Action, ...]
    constraints: tuple[Constraint, ...]
    witness: tuple[str, ...] = ()
    chance: float | None = None
    skeleton: str = ""
    sentences: tuple[str, ...] = ()
    redundant: tuple[int, ...] = ()
    world: World = World()
    distractors: tuple[Action, ...] = ()
    solution: tuple[Planned, ...] = ()

    def identified(self) -> "Case":
        """This case under the id that its content gives it."""
        content = _encoder.encode(msgspec.structs.replace(self, id=""))
        return msgspec.structs.replace(self, id=hashlib.blake2b(content, digest_size=6).hexdigest())


def families_of(case: Case) -> list[Family]:
    """The families that have a say in a case."""
    said = {family_of(constraint) for constraint in case.constraints}
    if case.world.failures or case.world.broken:
        said.add("dynamic")
    return [family for family in FAMILIES if family in said]


def plain_order(case: Case) -> tuple[Before, ...] | None:
    """The constraints of a case about nothing but order; None where there is more to heed.

    In such a case every action is due once, every tool belongs to an action, and none takes anything.
    """
    plain = (
        all([type(constraint) is Before and not constraint.announced for constraint in case.constraints])
        and case.world == _PLAIN
        and not case.distractors
        and all([action.parameters is None for action in case.actions])
    )
    return cast("tuple[Before, ...]", case.constraints) if plain else None


_PLAIN = World()
_encoder = msgspec.json.Encoder()
