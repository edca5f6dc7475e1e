"""What a run will come to, told before it starts."""

from collections.abc import Iterable, Mapping
from itertools import islice

import msgspec

from misstep.api.budgets import left_of
from misstep.api.costs import is_theirs
from misstep.api.models import name_model, price_agent
from misstep.core.case import Case
from misstep.core.estimate import Estimate
from misstep.core.run_spec import TESTING, RunSpec
from misstep.core.settings import Settings
from misstep.core.spending import Spent
from misstep.core.summary import Summary
from misstep.core.transcript import Usage
from misstep.errors import NoStoreYet
from misstep.planning.world.mock import MockWorld
from misstep.store.runs import Run, Store

NOTHING = Spent()
SAMPLE = 20
CHARACTERS = 4  # to a token, roughly, in English and in JSON
PROMPT = 60  # tokens round a request: roles, instructions
WRAPPING = 45  # tokens round a tool: its schema, as servers write it
EXCHANGE = 60  # tokens by which a conversation grows with a call and its result
WORDS = 25  # tokens that a model writes in a turn
HOSTED_TURN = 1.5  # seconds for which a model on a server thinks about a turn
LOCAL_TURN = 1.0
SIMULATED_CASE = 0.001

_ALIKE = (
    "agent",
    "agent_args",
    "model",
    "model_base_url",
    "actions",
    "family",
    "timed",
    "tools",
    "cases",
    "prompt",
    "python",
    "parallel",
)


class PerCase(msgspec.Struct, frozen=True):
    """What a case comes to, on average; `seconds` is by how much it makes the run longer."""

    calls: float
    input: float
    output: float
    cached: float
    seconds: float
    basis: str
    known: bool = True


def past_runs(settings: Settings) -> list[Run]:
    """The runs of the store, if there is one."""
    try:
        with Store(settings.store) as store:
            return store.list_runs()
    except NoStoreYet:
        return []


def estimate_run(
    settings: Settings, total: int, cases: Iterable[Case], earlier: Iterable[Run], purpose: RunSpec = TESTING
) -> Estimate:
    """An estimate for `total` cases, by the newest earlier run of the same kind, or by their looks."""
    same_kind = [run for run in earlier if run.purpose.verb == purpose.verb]
    like = next((run.summary for run in same_kind if run.summary and _alike(run.settings, settings)), None)
    each = _from_summary(settings, like, f"run {like.run}") if like else _from_looks(settings, cases)
    return _multiply(settings, total, each)


def estimate_rest(settings: Settings, rest: int, so_far: Summary, spent: Spent) -> Estimate:
    """An estimate for the rest of a run, by what its cases have come to so far."""
    each = _from_summary(settings, so_far, f"its first {so_far.cases} cases")
    return _multiply(settings, rest, each, spent)


def _from_summary(settings: Settings, summary: Summary, basis: str) -> PerCase:
    many, tokens = max(1, summary.cases), summary.tokens
    return PerCase(
        summary.calls / many,
        tokens.input / many,
        tokens.output / many,
        tokens.cached / many,
        # Cases that ran side by side have been waiting for each other while their time was taken.
        summary.seconds / many / max(1, min(settings.jobs, many)),
        basis,
    )


def _alike(one: Settings, other: Settings) -> bool:
    return all([getattr(one, name) == getattr(other, name) for name in _ALIKE])


def _from_looks(settings: Settings, cases: Iterable[Case]) -> PerCase:
    """A rule of thumb: a turn for each action and one to answer, each with the whole conversation so far."""
    sample = list(islice(cases, SAMPLE))
    actions = sum(len(case.solution or case.actions) for case in sample) / max(1, len(sample))
    theirs = is_theirs(settings)
    basis = "nothing: there is no earlier run of this agent" if theirs else "a rule of thumb"
    if settings.agent.startswith("sim:"):
        return PerCase(actions, 0, 0, 0, SIMULATED_CASE, basis)
    turns = actions + 1
    said = sum(map(_first_words, sample)) / max(1, len(sample))
    read = turns * (PROMPT + said) + EXCHANGE * actions * turns / 2
    model = name_model(settings)
    if model and model.provider == "local":
        seconds = turns * LOCAL_TURN
    else:
        seconds = turns * HOSTED_TURN / min(settings.jobs, settings.requests)
    return PerCase(actions, read, turns * WORDS, 0, seconds, basis, known=not theirs)


def _first_words(case: Case) -> float:
    """Tokens of the request and the tools that come with it."""
    tools = MockWorld(case).tools
    return len(case.query) / CHARACTERS + sum(
        WRAPPING + (len(tool.name) + len(tool.description)) / CHARACTERS for tool in tools
    )


def _multiply(settings: Settings, total: int, each: PerCase, spent: Spent = NOTHING) -> Estimate:
    tokens = Usage(round(total * each.input), round(total * each.output), round(total * each.cached))
    price = price_agent(settings)
    usd = None if price is None else round(price.of(tokens), 6)
    seconds = total * each.seconds
    calls = round(total * each.calls)
    needed = {"usd": usd, "tokens": tokens.input + tokens.output, "seconds": seconds, "calls": calls}
    affordable = _affordable(total, needed, left_of(settings, spent))
    return Estimate(total, calls, tokens, usd, round(seconds, 1), each.basis, affordable, each.known)


def _affordable(total: int, needed: Mapping[str, float | None], left: Mapping[str, float]) -> int:
    """How many of the cases can be run with what is left."""
    shares = [max(0.0, left[kind]) / amount for kind, amount in needed.items() if amount and kind in left]
    return int(min([1.0, *shares]) * total)
