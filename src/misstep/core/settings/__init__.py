"""The settings of all commands: shared groups, those of each feature, and `Settings` with all of them."""

import re
import shlex
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Literal, Self, TypeAlias, dataclass_transform, get_args

from msgspec import Meta

from misstep.core.constraint import FAMILIES, Family
from misstep.core.results.consistency import CHECKS, Check
from misstep.core.results.fixing import STRATEGIES, Strategy
from misstep.core.spending import Budget

Aspect: TypeAlias = Literal["topics", "words", "structures"]
Portion: TypeAlias = Literal["train", "topics", "words", "structures"]

ASPECTS: tuple[Aspect, ...] = get_args(Aspect)
PORTIONS: tuple[Portion, ...] = get_args(Portion)
Positive = Annotated[int, Meta(ge=1)]
Few = Annotated[int, Meta(ge=1, le=100)]
Several = Annotated[int, Meta(ge=1, le=10_000)]
Many = Annotated[int, Meta(ge=1, le=10**6)]
Amount = Annotated[int, Meta(ge=1, le=10**15)]
Share = Annotated[float, Meta(ge=0, le=1)]
AboveZero = Annotated[float, Meta(gt=0, le=1e9)]
Report = Literal["html", "junit", "sarif", "json", "md", "ndjson"]
ToolMethod = Literal["toolfuzz", "greybox", "whitebox"]
TABLES = ("agent_args", "model_roles")
RETRIES = 6
RUN_NAME = r"(?!last\Z)[A-Za-z0-9][A-Za-z0-9._-]{0,63}"  # also that of a tag
TIME_PER_REQUEST = 180.0  # seconds
TIME_PER_TOOL = 300.0  # seconds


class Span:
    """An inclusive range of whole numbers, written `3-5` or `4`."""

    __slots__ = ("high", "low")

    def __init__(self, low: int, high: int) -> None:
        self.low, self.high = low, high

    def __str__(self) -> str:
        return f"{self.low}-{self.high}" if self.low != self.high else str(self.low)

    def __repr__(self) -> str:
        return f"Span({self})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Span) and (self.low, self.high) == (other.low, other.high)

    def __hash__(self) -> int:
        return hash((self.low, self.high))

    @classmethod
    def parse(cls, given: object) -> "Span":
        if isinstance(given, int) and not isinstance(given, bool):
            return cls(given, given)
        match = (
            re.fullmatch(r"\s*(\d{1,9})\s*(?:-\s*(\d{1,9})\s*)?", given) if isinstance(given, str) else None
        )
        if not match:
            raise ValueError(given)
        return cls(int(match[1]), int(match[2] or match[1]))


@dataclass_transform(kw_only_default=True, frozen_default=True)
class SettingsGroup:
    """Frozen settings: annotated class attributes are their defaults, an instance holds what was given.

    The text in an annotation is the help text. Not dataclasses: these would take 25 ms of every start to
    define.
    """

    def __init__(self, **given: Any) -> None:
        for name in given:
            if name not in self.fields():
                raise TypeError(f"{type(self).__name__} has no setting {name!r}")
        # Tables can be changed, so each instance has its own.
        vars(self).update({name: {} for name in TABLES if name in self.fields()}, **given)

    @classmethod
    @cache
    def fields(cls) -> Mapping[str, Any]:
        """The types of all settings: those of this class, then those of its bases."""
        return {name: kind for base in cls.__mro__[:-1] for name, kind in base.__annotations__.items()}

    def overlay(self, layer: Mapping[str, Any]) -> Self:
        """These settings with some replaced; the values must have passed `parse_setting`."""
        return type(self)(**{**vars(self), **layer})

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} can't be changed: overlay() makes a changed copy")

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all([getattr(self, name) == getattr(other, name) for name in self.fields()])

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"
        )


class AgentSettings(SettingsGroup):
    """The agent under test."""

    agent: Annotated[str, "Agent under test, e.g. my_agent.py:agent or sim:greedy."] = ""
    agent_args: Annotated[dict[str, str], "Agent parameter; repeatable."] = {}  # noqa: RUF012
    prompt: Annotated[str, "Prompt template file (built-in agents)."] = ""
    python: Annotated[str, "Python interpreter to run the agent in, in separate processes."] = ""
    record_proxy: Annotated[bool, "Record the agent's model traffic with a local proxy."] = False


class ModelSettings(SettingsGroup):
    """Models and requests to them."""

    model: Annotated[str, "Model, e.g. openai/gpt-4o, ollama/llama3 or local."] = ""
    model_base_url: Annotated[str, "URL of an OpenAI-compatible server."] = ""
    model_roles: Annotated[dict[str, str], "Model for a role, e.g. judge=openai/gpt-4o; repeatable."] = {}  # noqa: RUF012
    temperature: Annotated[float, Meta(ge=0, le=2), "Sampling temperature."] = 0.0
    retries: Annotated[
        Annotated[int, Meta(ge=0, le=100)] | None, f"Retries of a failed model request (default: {RETRIES})."
    ] = None
    requests: Annotated[Several, "Maximum concurrent model requests."] = 16
    requests_per_minute: Annotated[
        Annotated[int, Meta(ge=1, le=10**9)] | None, "Maximum model requests per minute."
    ] = None
    cache: Annotated[bool, "Cache model replies."] = False
    prices: Annotated[str, "File with model prices."] = ""

    @property
    def most_retries(self) -> int:
        return RETRIES if self.retries is None else self.retries


class SampleSettings(SettingsGroup):
    """Number of cases or requests, and the random seed."""

    seed: Annotated[int, Meta(ge=0, le=2**53 - 1), "Random seed; the same seed gives the same run."] = 0
    count: Annotated[
        Annotated[int, Meta(ge=1, le=10**9)] | None,
        "Number of cases (default: 100, or one per partial order with --exhaustive).",
    ] = None


class ProblemSettings(SampleSettings):
    """The planning problems."""

    cases: Annotated[str, "File of cases to use instead of synthesising them."] = ""
    actions: Annotated[Span, "Number of actions per problem."] = Span(3, 5)
    family: Annotated[tuple[Family, ...], f"Kinds of constraints, one or more of {', '.join(FAMILIES)}."] = (
        "order",
    )
    timed: Annotated[bool, "Same as --family order,time."] = False
    attempts: Annotated[int, Meta(ge=1, le=10), "Attempts allowed at a timed problem."] = 3
    distractors: Annotated[int, Meta(ge=0, le=15), "Number of distractor tools."] = 0
    tools: Annotated[str, "Build problems from your own tools (never called)."] = ""
    difficulty: Annotated[tuple[str, ...], "Difficulty bound, e.g. chain>=3; repeatable."] = ()
    topics: Annotated[tuple[str, ...], "Topic; repeatable (default: all)."] = ()
    part: Annotated[
        tuple[Portion, ...], f"Training part (train) or held-out parts: {', '.join(ASPECTS)} (default: all)."
    ] = ()
    sentences: Annotated[int, Meta(ge=0, le=100), "Maximum sentences (0: one fewer than actions)."] = 0
    iterations: Annotated[Positive, "Attempts to find each sentence."] = 50
    redundancy: Annotated[Share, "Rate of redundant sentences."] = 0.0
    group: Annotated[Positive, "Maximum actions grouped in one clause."] = 3
    relative: Annotated[Share, "Rate of relative clauses."] = 0.2
    request: Annotated[str, "Request template around the problem."] = "role-play"
    exhaustive: Annotated[bool, "Cover every partial order up to isomorphism."] = False


class LimitSettings(SettingsGroup):
    """Limits per case or call, and concurrency."""

    jobs: Annotated[Several, "Cases run concurrently."] = 8
    timeout: Annotated[AboveZero, "Timeout for one case, in seconds."] = 180.0
    max_steps: Annotated[Positive, "Maximum agent turns per case."] = 50
    parallel: Annotated[
        Literal["ordered", "forbid"], "Parallel calls in one turn: judged in the order given, or an error."
    ] = "ordered"
    messages: Annotated[bool, "Store the messages between agent and model."] = False


class BudgetSettings(SettingsGroup):
    """Budget of a run."""

    budget_usd: Annotated[AboveZero | None, "Maximum cost in US dollars."] = None
    budget_tokens: Annotated[Amount | None, "Maximum tokens."] = None
    budget_time: Annotated[AboveZero | None, "Maximum duration, e.g. 90s or 1h30m."] = None
    budget_calls: Annotated[Amount | None, "Maximum tool calls."] = None

    @property
    def budget(self) -> Budget:
        return Budget(self.budget_usd, self.budget_tokens, self.budget_time, self.budget_calls)


class ClusterSettings(SettingsGroup):
    """Where cases run."""

    on: Annotated[Literal["local", "ray"], "Where to run cases: this process or a Ray cluster."] = "local"
    ray_address: Annotated[str, "Address of the Ray cluster (default: start a local one)."] = ""


class TracingSettings(SettingsGroup):
    """Where traces of cases are sent."""

    otlp: Annotated[str, "OTLP/HTTP endpoint for a trace of each case."] = ""
    otlp_content: Annotated[bool, "Include requests, arguments, results and answers in traces."] = False


class StoreSettings(SettingsGroup):
    """The store for runs."""

    trust_store: Annotated[
        bool, "Allow agents, interpreters, tools and servers named by a store from another machine."
    ] = False
    store: Annotated[str, "Store for runs."] = ".misstep/store.db"


class ViewSettings(StoreSettings):
    """How stored runs are shown."""

    beside: Annotated[
        tuple[str, ...], "Capability run or curve file (.json) to show in the same figure; repeatable."
    ] = ()
    published: Annotated[bool, "Show the PDoctor paper's figures for GPT-3.5 and GPT-4."] = False


class OutputSettings(SettingsGroup):
    """What a command prints and writes."""

    report: Annotated[
        tuple[Report, ...], f"Reports to write, one or more of {', '.join(get_args(Report))}."
    ] = ()
    report_dir: Annotated[str, "Folder for reports; - for standard output."] = "misstep-report"
    step_summary: Annotated[bool, "Append the result to $GITHUB_STEP_SUMMARY if it is set."] = True
    display: Annotated[Literal["auto", "rich", "plain", "none"], "Progress display on stderr."] = "auto"
    json: Annotated[bool, "Print the summary as JSON on stdout."] = False
    out: Annotated[str, "Output file (default: standard output)."] = ""


class RunSettings(ViewSettings, OutputSettings):
    """Settings of every run: name, baseline, exit code."""

    run_name: Annotated[
        str, Meta(pattern=rf"^({RUN_NAME})?\Z"), "Name for the run, usable in place of its id."
    ] = ""
    tags: Annotated[
        tuple[Annotated[str, Meta(pattern=rf"^{RUN_NAME}\Z")], ...], "Tag for the run; repeatable."
    ] = ()
    resume: Annotated[str, "Resume an interrupted run."] = ""
    dry_run: Annotated[bool, "Estimate cost and time without running."] = False
    fail_on: Annotated[
        str | None, "When to exit with 1: any, none or threshold:RATE (default: any; none with --baseline)."
    ] = None
    baseline: Annotated[str, "Earlier run to compare with; exit 1 if this one is significantly worse."] = ""


class AgentRunSettings(
    AgentSettings,
    ModelSettings,
    SampleSettings,
    LimitSettings,
    BudgetSettings,
    ClusterSettings,
    TracingSettings,
    RunSettings,
):
    """A run of an agent."""


class ToolSettings(SettingsGroup):
    """The tools under test, and the sandbox they run in."""

    only: Annotated[tuple[str, ...], "Tool to test; repeatable (default: all)."] = ()
    memory: Annotated[
        int, Meta(ge=64, le=10**6), "Memory limit per tool in MB, not counting what loading it uses."
    ] = 1024
    sandbox: Annotated[
        Literal["auto", "bubblewrap", "none"],
        "Sandbox for tools under test; auto uses bubblewrap, none runs them with all your permissions.",
    ] = "auto"
    allow_network: Annotated[bool, "Allow tools to use the network."] = False
    allow_read: Annotated[
        tuple[str, ...], "File or folder that tools may read in the sandbox; repeatable."
    ] = ()
    workspace: Annotated[str, "Folder copied as the tools' working directory."] = ""
    descriptions: Annotated[str, "File with tool descriptions to use instead of their own."] = ""


class ToolLimits(SettingsGroup):
    """Fuzzing limits, and an earlier run to start from."""

    time_per_tool: Annotated[
        AboveZero | None, "Time per tool, e.g. 90s or 5m (default: 5m, less if many tools are fuzzed)."
    ] = None
    calls_per_tool: Annotated[Annotated[int, Meta(ge=1, le=10**12)] | None, "Maximum calls per tool."] = None
    from_run: Annotated[str, "Seed from an earlier fuzz run's findings and corpus."] = ""

    @property
    def tool_seconds(self) -> float:
        """How long a tool may take, if others don't matter."""
        return TIME_PER_TOOL if self.time_per_tool is None else self.time_per_tool


class RequestSettings(SettingsGroup):
    """Requests to an agent that uses the tools."""

    prompts: Annotated[str, "Folder with your own prompt templates."] = ""
    time_per_request: Annotated[
        AboveZero | None, f"Timeout for one request to the agent or a model (default: {TIME_PER_REQUEST:g}s)."
    ] = None
    tokens_per_tool: Annotated[Amount, "Tokens per tool above which the report warns."] = 25_000
    usd_per_tool: Annotated[AboveZero, "US dollars per tool above which the report warns."] = 0.10
    tool_method: Annotated[
        ToolMethod, "How requests are generated; greybox and whitebox only ask a model for them."
    ] = "toolfuzz"

    @property
    def request_seconds(self) -> float:
        """How long a request may take."""
        return TIME_PER_REQUEST if self.time_per_request is None else self.time_per_request


class ToolRunSettings(ToolSettings, ToolLimits, RequestSettings, AgentRunSettings):
    """A run of tools, called by the fuzzer or by an agent."""


class SynthSettings(ProblemSettings, OutputSettings):
    """`misstep plan synth`."""


class CheckSettings(ProblemSettings, LimitSettings, RunSettings):
    """`misstep plan check`."""

    plans: Annotated[str, "File of plans or trajectories: messages, Inspect logs, OTLP JSON."] = ""
    case: Annotated[str, "Case id for plans that do not name their case."] = ""
    verify: Annotated[bool, "Also judge with Z3, and stop if the two disagree."] = False


class PlanTestSettings(ProblemSettings, AgentRunSettings):
    """`misstep plan test`."""


class CapabilitySettings(PlanTestSettings):
    """`misstep plan capability`."""

    per_pair: Annotated[Several, "Cases per pair of actions."] = 20
    most_cases: Annotated[Many, "Maximum cases per number of actions."] = 300
    threshold: Annotated[Share, "Stop when success falls below this rate."] = 0.2
    full: Annotated[bool, "Measure all numbers of actions, even below the threshold."] = False
    adaptive: Annotated[bool, "Choose the most informative numbers of actions and stop early."] = False
    width: Annotated[
        Annotated[float, Meta(gt=0, le=20)] | None,
        "Stop --adaptive when the 95 % interval of the 50 % point is this narrow "
        "(default: as narrow as without --adaptive).",
    ] = None


class SearchSettings(SettingsGroup):
    """Confidence and limits when an agent runs repeatedly."""

    confidence: Annotated[
        float, Meta(ge=0.5, le=0.9999), "Confidence required for a cause or a shrinking step."
    ] = 0.95
    most_runs: Annotated[
        Many | None, "Maximum agent runs per failure (default: 60; 500 for plan shrink)."
    ] = None


class DissectSettings(SearchSettings, AgentRunSettings):
    """`misstep plan dissect`."""

    method: Annotated[Literal["sequential", "pdoctor"], "Method for finding causes."] = "sequential"
    sample: Annotated[Many, "Maximum failures to analyse."] = 100
    mutations: Annotated[int, Meta(ge=1, le=1000), "Mutations of each kind (method pdoctor)."] = 5


class ShrinkSettings(SearchSettings, AgentRunSettings):
    """`misstep plan shrink`."""


class ToolFuzzSettings(ToolRunSettings):
    """`misstep tool fuzz`."""

    requests_per_crash: Annotated[Few, "Natural requests to try per defect."] = 3
    skip_sanity: Annotated[bool, "Skip the check that the documentation allows a failing call."] = False


class ConsistencySettings(ToolRunSettings):
    """`misstep tool consistency`."""

    variants: Annotated[int, Meta(ge=2, le=100), "Paraphrases per set."] = 5
    checks: Annotated[
        tuple[Check, ...], "Checks that must find a set inconsistent: inputs, outputs, judge."
    ] = CHECKS
    normalise: Annotated[bool, "Ignore differences in spelling and rounding."] = False
    context: Annotated[
        str, "Text file about the tools' environment, shown to the model that writes requests."
    ] = ""


class CrosstalkSettings(ToolRunSettings):
    """`misstep tool crosstalk`."""

    groups: Annotated[str, "File that lists the tools of each group."] = ""


class TaskSettings(SettingsGroup):
    """The tasks of a benchmark."""

    split: Annotated[
        Literal["validation", "test", "all", "fresh"], "Tasks to run; fresh ones are generated from the seed."
    ] = "test"
    kinds: Annotated[tuple[str, ...], "Kind of task; repeatable (default: all)."] = ()
    domains: Annotated[tuple[str, ...], "Domain of tasks; repeatable (default: all)."] = ()
    data: Annotated[str, "Folder with file tasks in the ToolFuzz paper's layout."] = ""


class BenchSettings(TaskSettings, ToolRunSettings):
    """`misstep bench`."""


class FixSettings(BenchSettings):
    """`misstep tool fix`."""

    candidates: Annotated[int, Meta(ge=1, le=1000), "Descriptions to try per tool."] = 10
    strategy: Annotated[
        tuple[Strategy, ...], f"Sources for new descriptions, one or more of {', '.join(STRATEGIES)}."
    ] = ("findings",)
    bench: Annotated[
        Literal["files", "forge"] | None, "Benchmark to score descriptions on, instead of requests."
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


def setting_names(words: str) -> tuple[str, ...]:
    """The names of settings that belong together, written as words."""
    return tuple(words.split())


BUDGETS = tuple(BudgetSettings.fields())
MEANS = (*BUDGETS, "retries", "time_per_request")  # what a resumed run may be given more of


def store_flag(location: str) -> str:
    """The `--store` option that a command needs to find the store; empty for the default location."""
    return "" if location == StoreSettings.store else f" --store {shlex.quote(location)}"
