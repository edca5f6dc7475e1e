"""Settings that several features share, in groups of what belongs together."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Literal, Self, TypeAlias, dataclass_transform, get_args

from msgspec import Meta

from misstep.core.constraint import FAMILIES, Family
from misstep.core.spending import Budget

Aspect: TypeAlias = Literal["topics", "words", "structures"]
Portion: TypeAlias = Literal["train", "topics", "words", "structures"]

ASPECTS: tuple[Aspect, ...] = get_args(Aspect)
PORTIONS: tuple[Portion, ...] = get_args(Portion)
Positive = Annotated[int, Meta(ge=1)]
Share = Annotated[float, Meta(ge=0, le=1)]
Report = Literal["html", "junit", "sarif", "json", "md", "ndjson"]
ToolMethod = Literal["toolfuzz", "greybox", "whitebox"]
TABLES = ("agent_args", "model_roles")
RETRIES = 6
TIME_PER_REQUEST = 180.0  # seconds


def about(text: str) -> Meta:
    """The help text of a setting."""
    return Meta(description=text)


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

    Not dataclasses: these would take 25 ms of every start to define.
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

    agent: Annotated[str, about("The agent under test, e.g. sim:perfect.")] = ""
    agent_args: Annotated[dict[str, str], about("A parameter of the agent, key=value; may be repeated.")] = {}  # noqa: RUF012
    prompt: Annotated[str, about("A template for the words round the request (react, tools, …).")] = ""
    python: Annotated[str, about("An interpreter to run the agent in, in processes of its own.")] = ""
    record_proxy: Annotated[
        bool, about("Record what the agent's framework hides, between it and its model.")
    ] = False


class ModelSettings(SettingsGroup):
    """Models, and how they are asked."""

    model: Annotated[str, about("The agent's model, e.g. openai/gpt-4o, ollama/llama3 or local.")] = ""
    model_base_url: Annotated[str, about("A server with OpenAI's interface that has the model.")] = ""
    model_roles: Annotated[
        dict[str, str], about("A model for a role, e.g. judge=openai/gpt-4o; may be repeated.")
    ] = {}  # noqa: RUF012
    temperature: Annotated[float, Meta(ge=0, le=2), about("How much a model leaves to chance.")] = 0.0
    retries: Annotated[
        Annotated[int, Meta(ge=0, le=100)] | None,
        about(f"How often a failed model request is tried again ({RETRIES})."),
    ] = None
    requests: Annotated[int, Meta(ge=1, le=10_000), about("Most model requests in flight.")] = 16
    requests_per_minute: Annotated[
        Annotated[int, Meta(ge=1, le=10**9)] | None, about("Most model requests started in a minute.")
    ] = None
    cache: Annotated[bool, about("Keep replies of models, and don't ask the same thing twice.")] = False
    prices: Annotated[str, about("A file that says what models cost.")] = ""

    @property
    def most_retries(self) -> int:
        return RETRIES if self.retries is None else self.retries


class SampleSettings(SettingsGroup):
    """How many cases or requests there are, and the seed they are drawn with."""

    seed: Annotated[
        int, Meta(ge=0, le=2**53 - 1), about("Random seed: the same seed gives the same run.")
    ] = 0
    count: Annotated[
        Annotated[int, Meta(ge=1, le=10**9)] | None,
        about("How many cases (100, or one per order if exhaustive)."),
    ] = None


class ProblemSettings(SampleSettings):
    """The planning problems."""

    cases: Annotated[str, about("A file of cases to use instead of synthesising them.")] = ""
    actions: Annotated[Span, about("How many actions a problem has.")] = Span(3, 5)
    family: Annotated[
        tuple[Family, ...],
        about(f"What problems are about, one or more of {', '.join(FAMILIES)}."),
    ] = ("order",)
    timed: Annotated[bool, about("Order and time: the same as --family order,time.")] = False
    attempts: Annotated[int, Meta(ge=1, le=10), about("Attempts at a timed problem.")] = 3
    distractors: Annotated[int, Meta(ge=0, le=15), about("Tools that nobody needs.")] = 0
    tools: Annotated[str, about("Tools of your own to make problems of; they are never called.")] = ""
    difficulty: Annotated[
        tuple[str, ...], about("What cases have to meet, e.g. chain>=3; may be repeated.")
    ] = ()
    topics: Annotated[tuple[str, ...], about("A topic to draw from; may be repeated (default: all).")] = ()
    part: Annotated[
        tuple[Portion, ...],
        about(
            f"What models may learn from (train), or what is kept back: {', '.join(ASPECTS)} (default: all)."
        ),
    ] = ()
    sentences: Annotated[int, Meta(ge=0, le=100), about("Most sentences (0: actions minus one).")] = 0
    iterations: Annotated[Positive, about("How often a sentence is tried.")] = 50
    redundancy: Annotated[Share, about("Rate of sentences that repeat what is implied.")] = 0.0
    group: Annotated[Positive, about("Most actions that share a place in a clause.")] = 3
    relative: Annotated[Share, about("Rate of relative clauses.")] = 0.2
    request: Annotated[str, about("The template of the request around the problem.")] = "role-play"
    exhaustive: Annotated[bool, about("Cover every partial order, each shape once.")] = False


class LimitSettings(SettingsGroup):
    """Limits of one case or call, and how many of them run at a time."""

    jobs: Annotated[int, Meta(ge=1, le=10_000), about("Cases in flight at a time.")] = 8
    timeout: Annotated[float, Meta(gt=0, le=1e9), about("Seconds allowed for one case.")] = 180.0
    max_steps: Annotated[Positive, about("Turns the agent is allowed in one case.")] = 50
    parallel: Annotated[
        Literal["ordered", "forbid"],
        about("Calls made in one turn: count in the order given, or are an error."),
    ] = "ordered"
    messages: Annotated[bool, about("Keep the raw messages between agent and model.")] = False


class BudgetSettings(SettingsGroup):
    """The most that a run may use."""

    budget_usd: Annotated[
        Annotated[float, Meta(gt=0, le=1e9)] | None, about("The most that a run may cost.")
    ] = None
    budget_tokens: Annotated[
        Annotated[int, Meta(ge=1, le=10**15)] | None, about("The most tokens that a run may use.")
    ] = None
    budget_time: Annotated[
        Annotated[float, Meta(gt=0, le=1e9)] | None,
        about("The longest that a run may take, e.g. 90 or 1h30m."),
    ] = None
    budget_calls: Annotated[
        Annotated[int, Meta(ge=1, le=10**15)] | None, about("The most tool calls that a run may make.")
    ] = None

    @property
    def budget(self) -> Budget:
        return Budget(self.budget_usd, self.budget_tokens, self.budget_time, self.budget_calls)


class ClusterSettings(SettingsGroup):
    """Where cases run."""

    on: Annotated[
        Literal["local", "ray"], about("Where cases run: in this process, or on a Ray cluster.")
    ] = "local"
    ray_address: Annotated[str, about("The Ray cluster (default: a local one of our own).")] = ""


class TracingSettings(SettingsGroup):
    """Where traces of cases are sent."""

    otlp: Annotated[str, about("An OTLP/HTTP endpoint to send a trace of each case to.")] = ""
    otlp_content: Annotated[bool, about("Send requests, arguments, results and answers too.")] = False


class StoreSettings(SettingsGroup):
    """The store that runs are kept in."""

    trust_store: Annotated[
        bool, about("Use agents, interpreters, tools and servers that only a store from elsewhere names.")
    ] = False
    store: Annotated[str, about("Where runs are kept.")] = ".misstep/store.db"


class ViewSettings(StoreSettings):
    """How stored runs are shown."""

    beside: Annotated[
        tuple[str, ...],
        about("A capability run, or a FILE.json with a curve, to show in the same figure; may be repeated."),
    ] = ()
    published: Annotated[
        bool, about("Show beside a curve what the PDoctor paper says of GPT-3.5 and GPT-4.")
    ] = False


class OutputSettings(SettingsGroup):
    """What a command prints and writes."""

    report: Annotated[
        tuple[Report, ...],
        about(f"A report to write, one or more of {', '.join(get_args(Report))}."),
    ] = ()
    report_dir: Annotated[str, about("Where reports are written; - is standard output.")] = "misstep-report"
    step_summary: Annotated[
        bool, about("Add what came of a run to $GITHUB_STEP_SUMMARY, where that is set.")
    ] = True
    display: Annotated[
        Literal["auto", "rich", "plain", "none"], about("How progress is shown on stderr.")
    ] = "auto"
    json: Annotated[bool, about("Print one JSON object, the summary, on stdout.")] = False
    out: Annotated[str, about("Where to write; standard output if left out.")] = ""


class RunSettings(ViewSettings, OutputSettings):
    """What every run has: its store, its reports, and when it counts as failed."""

    resume: Annotated[str, about("Go on with a run that was cut short.")] = ""
    dry_run: Annotated[bool, about("Say what the run would come to, and don't start it.")] = False
    fail_on: Annotated[
        str | None, about("When to exit with 1: any, none or threshold:RATE (any; none beside --baseline).")
    ] = None
    baseline: Annotated[
        str, about("An earlier run of the same command; exit with 1 if this one is significantly worse.")
    ] = ""


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

    only: Annotated[
        tuple[str, ...], about("The name of a tool to fuzz; may be repeated (default: all).")
    ] = ()
    memory: Annotated[
        int, Meta(ge=64, le=10**6), about("Megabytes that a tool may use beyond what loading it took.")
    ] = 1024
    sandbox: Annotated[
        Literal["auto", "bubblewrap", "none"],
        about("Sandbox for tools; auto needs bubblewrap, none runs them with all your rights."),
    ] = "auto"
    allow_network: Annotated[bool, about("Let tools use the network.")] = False
    allow_read: Annotated[
        tuple[str, ...], about("A file or folder that tools may read in the sandbox; may be repeated.")
    ] = ()
    workspace: Annotated[str, about("A folder of which tools get a copy to work in.")] = ""
    descriptions: Annotated[str, about("A file that describes tools in other words than their own.")] = ""


class ToolLimits(SettingsGroup):
    """How long tools are fuzzed, and which run to begin with."""

    time_per_tool: Annotated[
        float, Meta(gt=0, le=1e9), about("How long to fuzz each tool, e.g. 90s or 5m.")
    ] = 300.0
    calls_per_tool: Annotated[
        Annotated[int, Meta(ge=1, le=10**12)] | None, about("Most calls to fuzz each tool with.")
    ] = None
    from_run: Annotated[str, about("A run of tool fuzz to begin with what it has found and kept.")] = ""


class RequestSettings(SettingsGroup):
    """Natural requests to an agent that has the tools."""

    prompts: Annotated[str, about("A folder with templates of your own for what models are asked.")] = ""
    time_per_request: Annotated[
        Annotated[float, Meta(gt=0, le=1e9)] | None,
        about(f"How long the agent, or a model, may take over one request ({TIME_PER_REQUEST:g}s)."),
    ] = None
    tokens_per_tool: Annotated[
        int, Meta(ge=1, le=10**15), about("Tokens for each tool beyond which the report says so.")
    ] = 25_000
    usd_per_tool: Annotated[
        float, Meta(gt=0, le=1e9), about("Dollars for each tool beyond which the report says so.")
    ] = 0.10
    tool_method: Annotated[
        ToolMethod,
        about("How requests are come by; greybox and whitebox only ask a model for them."),
    ] = "toolfuzz"

    @property
    def request_seconds(self) -> float:
        """How long a request may take."""
        return TIME_PER_REQUEST if self.time_per_request is None else self.time_per_request


class ToolRunSettings(ToolSettings, ToolLimits, RequestSettings, AgentRunSettings):
    """A run of tools, called by the fuzzer or by an agent."""
