"""The settings of each feature, composed of shared groups, and `Settings`, which has all of them."""

import shlex
from typing import Annotated, Literal

from msgspec import Meta

from misstep.core.results.consistency import CHECKS, Check
from misstep.core.results.fixing import STRATEGIES, Strategy
from misstep.core.settings.groups import (
    AgentRunSettings,
    BudgetSettings,
    LimitSettings,
    OutputSettings,
    ProblemSettings,
    RunSettings,
    SettingsGroup,
    Share,
    StoreSettings,
    ToolRunSettings,
    about,
)


class SynthSettings(ProblemSettings, OutputSettings):
    """`misstep plan synth`."""


class CheckSettings(ProblemSettings, LimitSettings, RunSettings):
    """`misstep plan check`."""

    plans: Annotated[
        str, about("A file of plans, or of trajectories: messages, Inspect logs, OTLP JSON.")
    ] = ""
    case: Annotated[str, about("The case that plans belong to which don't say so themselves.")] = ""
    verify: Annotated[bool, about("Judge every plan with Z3 as well and stop if the two disagree.")] = False


class PlanTestSettings(ProblemSettings, AgentRunSettings):
    """`misstep plan test`."""


class CapabilitySettings(PlanTestSettings):
    """`misstep plan capability`."""

    per_pair: Annotated[
        int, Meta(ge=1, le=10_000), about("Cases for each pair of actions in a capability curve.")
    ] = 20
    most_cases: Annotated[
        int, Meta(ge=1, le=10**6), about("Most cases for one number of actions in a capability curve.")
    ] = 300
    threshold: Annotated[Share, about("Success under which a capability curve ends.")] = 0.2
    full: Annotated[bool, about("Go on under the threshold, to the last number of actions.")] = False
    adaptive: Annotated[bool, about("Choose numbers of actions where they tell most, and stop early.")] = (
        False
    )
    width: Annotated[
        Annotated[float, Meta(gt=0, le=20)] | None,
        about("How narrow --adaptive gets the interval of the 50 % point (default: like all cases would)."),
    ] = None


class SearchSettings(SettingsGroup):
    """How sure to be of what is found by running an agent again and again."""

    confidence: Annotated[
        float, Meta(ge=0.5, le=0.9999), about("How sure to be of a cause, or of a step in shrinking.")
    ] = 0.95
    most_runs: Annotated[
        Annotated[int, Meta(ge=1, le=10**6)] | None,
        about("Most runs of the agent for one failure (60, or 500 to shrink it)."),
    ] = None


class DissectSettings(SearchSettings, AgentRunSettings):
    """`misstep plan dissect`."""

    method: Annotated[Literal["sequential", "pdoctor"], about("How causes are found.")] = "sequential"
    sample: Annotated[int, Meta(ge=1, le=10**6), about("Most failures to look into.")] = 100
    mutations: Annotated[int, Meta(ge=1, le=1000), about("Mutations of each kind in the method pdoctor.")] = 5


class ShrinkSettings(SearchSettings, AgentRunSettings):
    """`misstep plan shrink`."""


class ToolFuzzSettings(ToolRunSettings):
    """`misstep tool fuzz`."""

    requests_per_crash: Annotated[
        int, Meta(ge=1, le=100), about("How many natural requests are tried for each defect of a tool.")
    ] = 3
    skip_sanity: Annotated[
        bool, about("Put defects to the agent without asking whether the documentation allows them.")
    ] = False


class ConsistencySettings(ToolRunSettings):
    """`misstep tool consistency`."""

    variants: Annotated[int, Meta(ge=2, le=100), about("Synonymous requests in a set.")] = 5
    checks: Annotated[
        tuple[Check, ...],
        about("What has to say that a set is faulty: inputs, outputs, judge."),
    ] = CHECKS
    normalise: Annotated[bool, about("Take results for equal that differ in spelling and rounding only.")] = (
        False
    )
    context: Annotated[str, about("A file about where the tools work, for whoever writes requests.")] = ""


class CrosstalkSettings(ToolRunSettings):
    """`misstep tool crosstalk`."""

    groups: Annotated[str, about("A file with the tools of each group, by its name.")] = ""


class TaskSettings(SettingsGroup):
    """The tasks of a benchmark."""

    split: Annotated[
        Literal["validation", "test", "all", "fresh"],
        about("Which tasks of a benchmark; fresh ones are made from the seed."),
    ] = "test"
    kinds: Annotated[tuple[str, ...], about("A kind of task; may be repeated (default: all).")] = ()
    domains: Annotated[tuple[str, ...], about("A domain of tasks; may be repeated (default: all).")] = ()
    data: Annotated[str, about("A folder with tasks on files in the layout of the ToolFuzz paper.")] = ""


class BenchSettings(TaskSettings, ToolRunSettings):
    """`misstep bench`."""


class FixSettings(BenchSettings):
    """`misstep tool fix`."""

    candidates: Annotated[int, Meta(ge=1, le=1000), about("How many descriptions are tried for a tool.")] = 10
    strategy: Annotated[
        tuple[Strategy, ...],
        about(f"What descriptions are written from, one or more of {', '.join(STRATEGIES)}."),
    ] = ("findings",)
    bench: Annotated[
        Literal["files", "forge"] | None, about("A benchmark to score descriptions on, rather than requests.")
    ] = None


class Settings(
    SynthSettings,
    CheckSettings,
    CapabilitySettings,
    DissectSettings,
    ShrinkSettings,
    ToolFuzzSettings,
    ConsistencySettings,
    CrosstalkSettings,
    FixSettings,
):
    """Every setting with its default; each is a flag, an environment variable and a key in a file."""


BUDGETS = tuple(BudgetSettings.fields())
MEANS = (*BUDGETS, "retries", "time_per_request")  # what a resumed run may be given more of


def store_flag(location: str) -> str:
    """The `--store` option that a command needs to find the store; empty for the default location."""
    return "" if location == StoreSettings.store else f" --store {shlex.quote(location)}"
