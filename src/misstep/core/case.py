"""A case: a planning problem ready to run, with measures of how hard it is."""

import hashlib
from typing import Any, cast

import msgspec

from misstep.core.constraint import FAMILIES, Before, Constraint, Family, family_of


class Difficulty(msgspec.Struct, frozen=True):
    """How hard a case is. `chain` is the length of the longest sequence of actions with a forced order.

    `reading` is the fewest pairs that have to be swapped to turn the order of the text into a correct one.
    `tokens` estimates the length of the request.
    """

    chance: float
    actions: int
    constraints: int
    chain: int
    reading: int
    tokens: int


MEASURES = tuple(field.name for field in msgspec.structs.fields(Difficulty))


class Baselines(msgspec.Struct, frozen=True):
    """What two agents that don't plan reach: 1 or 0 for one case, the share of passed cases for several.

    `text_order` follows the order of the text; `ignores_family` obeys ordering constraints only. Both are
    defined in `planning.difficulty`.
    """

    text_order: float
    ignores_family: float


CASE_VERSION = 1
MOST_ACTIONS = 20  # per case; a topic has this many activities


class Action(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One thing the request asks for; it has exactly one tool.

    `parameters` is the JSON schema if the tool is one of the user's own. The parameters of generated tools
    follow from the case.
    """

    id: str
    name: str
    tool: str
    description: str = ""
    parameters: dict[str, Any] | None = None


class World(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What the tools will do, which the agent finds out only by calling them. Actions are named by id.

    In a timed problem `day` is the start and end in minutes since midnight, every action has a duration, and
    `attempts` is the total number of attempts the agent has. `values` are what an action returns, by
    parameter, one for each time it is carried out. `findings` says for each action that a condition asks
    about whether it reports the finding. `costs` are the costs of actions. `failures` is how often a tool is
    unavailable before it works; `retries` is how often the request says to try again. `broken` are actions
    that are permanently out of service. `announcements` are sentences that a result adds to the request.
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
    """Actions, constraints and the text that states them.

    `witness` is one correct order of action ids, `chance` the share of all orders that are correct, and
    `redundant` the indices of sentences that deliberately repeat what is already implied. `distractors` are
    tools that no action needs. Where a plan is more than an order, `solution` is all calls of an agent that
    knew only what it had been told so far and got everything right in its last attempt.
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
        """A copy of this case with the id computed from its content."""
        content = _encoder.encode(msgspec.structs.replace(self, id=""))
        return msgspec.structs.replace(self, id=hashlib.blake2b(content, digest_size=6).hexdigest())


def families_of(case: Case) -> list[Family]:
    """The constraint families that occur in a case."""
    said = {family_of(constraint) for constraint in case.constraints}
    if case.world.failures or case.world.broken:
        said.add("dynamic")
    return [family for family in FAMILIES if family in said]


def plain_order(case: Case) -> tuple[Before, ...] | None:
    """The constraints of a case with ordering constraints only; None if anything else matters.

    In such a case every action is due once, every tool belongs to an action, and no tool has parameters.
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
