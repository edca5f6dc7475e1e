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

    plans: Annotated[str, about("File of plans or trajectories: messages, Inspect logs, OTLP JSON.")] = ""
    case: Annotated[str, about("Case id for plans that do not name their case.")] = ""
    verify: Annotated[bool, about("Also judge with Z3, and stop if the two disagree.")] = False


class PlanTestSettings(ProblemSettings, AgentRunSettings):
    """`misstep plan test`."""


class CapabilitySettings(PlanTestSettings):
    """`misstep plan capability`."""

    per_pair: Annotated[int, Meta(ge=1, le=10_000), about("Cases per pair of actions.")] = 20
    most_cases: Annotated[int, Meta(ge=1, le=10**6), about("Maximum cases per number of actions.")] = 300
    threshold: Annotated[Share, about("Stop when success falls below this rate.")] = 0.2
    full: Annotated[bool, about("Measure all numbers of actions, even below the threshold.")] = False
    adaptive: Annotated[bool, about("Choose the most informative numbers of actions and stop early.")] = False
    width: Annotated[
        Annotated[float, Meta(gt=0, le=20)] | None,
        about(
            "Stop --adaptive when the 95 % interval of the 50 % point is this narrow "
            "(default: as narrow as without --adaptive)."
        ),
    ] = None


class SearchSettings(SettingsGroup):
    """Confidence and limits when an agent runs repeatedly."""

    confidence: Annotated[
        float, Meta(ge=0.5, le=0.9999), about("Confidence required for a cause or a shrinking step.")
    ] = 0.95
    most_runs: Annotated[
        Annotated[int, Meta(ge=1, le=10**6)] | None,
        about("Maximum agent runs per failure (default: 60; 500 for plan shrink)."),
    ] = None


class DissectSettings(SearchSettings, AgentRunSettings):
    """`misstep plan dissect`."""

    method: Annotated[Literal["sequential", "pdoctor"], about("Method for finding causes.")] = "sequential"
    sample: Annotated[int, Meta(ge=1, le=10**6), about("Maximum failures to analyse.")] = 100
    mutations: Annotated[int, Meta(ge=1, le=1000), about("Mutations of each kind (method pdoctor).")] = 5


class ShrinkSettings(SearchSettings, AgentRunSettings):
    """`misstep plan shrink`."""


class ToolFuzzSettings(ToolRunSettings):
    """`misstep tool fuzz`."""

    requests_per_crash: Annotated[int, Meta(ge=1, le=100), about("Natural requests to try per defect.")] = 3
    skip_sanity: Annotated[bool, about("Skip the check that the documentation allows a failing call.")] = (
        False
    )


class ConsistencySettings(ToolRunSettings):
    """`misstep tool consistency`."""

    variants: Annotated[int, Meta(ge=2, le=100), about("Paraphrases per set.")] = 5
    checks: Annotated[
        tuple[Check, ...],
        about("Checks that must find a set inconsistent: inputs, outputs, judge."),
    ] = CHECKS
    normalise: Annotated[bool, about("Ignore differences in spelling and rounding.")] = False
    context: Annotated[
        str, about("Text file about the tools' environment, shown to the model that writes requests.")
    ] = ""


class CrosstalkSettings(ToolRunSettings):
    """`misstep tool crosstalk`."""

    groups: Annotated[str, about("File that lists the tools of each group.")] = ""


class TaskSettings(SettingsGroup):
    """The tasks of a benchmark."""

    split: Annotated[
        Literal["validation", "test", "all", "fresh"],
        about("Tasks to run; fresh ones are generated from the seed."),
    ] = "test"
    kinds: Annotated[tuple[str, ...], about("Kind of task; repeatable (default: all).")] = ()
    domains: Annotated[tuple[str, ...], about("Domain of tasks; repeatable (default: all).")] = ()
    data: Annotated[str, about("Folder with file tasks in the ToolFuzz paper's layout.")] = ""


class BenchSettings(TaskSettings, ToolRunSettings):
    """`misstep bench`."""


class FixSettings(BenchSettings):
    """`misstep tool fix`."""

    candidates: Annotated[int, Meta(ge=1, le=1000), about("Descriptions to try per tool.")] = 10
    strategy: Annotated[
        tuple[Strategy, ...],
        about(f"Sources for new descriptions, one or more of {', '.join(STRATEGIES)}."),
    ] = ("findings",)
    bench: Annotated[
        Literal["files", "forge"] | None, about("Benchmark to score descriptions on, instead of requests.")
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
