"""The format-independent report of a run (items and their issues), and what export commands print."""

from collections.abc import Callable, Iterable, Mapping
from typing import Literal, TypeAlias, get_args

import msgspec

from misstep.core.outcome import Judgement
from misstep.core.results.comparison import Held
from misstep.core.results.summary import Summary
from misstep.core.run import Unit


class SourceLocation(msgspec.Struct, frozen=True):
    """A line in a source file; the path is absolute."""

    file: str
    line: int = 1


class Issue(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that is wrong. `rule` is its kind, as `tool/crash`; `title` and `text` describe it.

    `misstep` is the call at which it went wrong, `calls` are the smallest calls that show it. `identity`
    stays the same from run to run, even if lines move. `subject` names what is at fault. `aside` says why it
    is listed after others: it is minor, as with values that hardly anybody sends, or has the cause of an
    earlier one.
    """

    id: str
    rule: str
    title: str
    text: str
    identity: str
    subject: str
    misstep: str = ""
    calls: tuple[str, ...] = ()
    details: Mapping[str, str] = {}
    replay: str = ""
    spot: SourceLocation | None = None
    aside: Literal["", "minor", "same cause"] = ""


class Unconfirmed(msgspec.Struct, frozen=True):
    """What was seen once, and the command that tries it again."""

    text: str
    replay: str

    @property
    def words(self) -> str:
        return f"not confirmed: {self.text}. Replay: {self.replay}"


class ReportItem(msgspec.Struct, frozen=True, omit_defaults=True):
    """What was judged as one unit: a case, a tool, a group of tools, a task. It failed if it has flaws.

    `group` is the group it is listed under. `reason` says why it could not be judged. What is `unconfirmed`
    is not a flaw until it is seen from a fresh start.
    """

    id: str
    name: str
    group: str
    verdict: Judgement
    seconds: float = 0.0
    reason: str = ""
    flaws: tuple[Issue, ...] = ()
    unconfirmed: tuple[Unconfirmed, ...] = ()


# All items, or those with one verdict, read anew each time.
ReportItems: TypeAlias = Callable[[Judgement | None], Iterable[ReportItem]]


class RunReport(msgspec.Struct, frozen=True):
    """A run as reports show it; `run` is empty if nothing is stored.

    `counts` are of items. `held` is the comparison with the baseline. `passed` says whether the `--fail-on`
    condition was met, None without one. `place` is the option that a command needs to find the store.
    """

    run: str
    command: str
    subject: str
    model: str
    unit: Unit
    started: float
    seconds: float
    counts: Mapping[Judgement, int]
    entries: ReportItems
    families: tuple[str, ...]
    summary: Summary | None = None
    unfinished: str = ""
    held: Held | None = None
    passed: bool | None = None
    place: str = ""

    @property
    def total(self) -> int:
        return sum(self.counts.values())


Training = Literal["sft", "dpo"]
Format = Literal["sft", "dpo", "inspect", "otlp", "csv", "parquet"]
FORMATS: tuple[Format, ...] = get_args(Format)
SynthFormat = Literal["cases", "sft"]
SYNTH_FORMATS: tuple[SynthFormat, ...] = get_args(SynthFormat)
LeftOut = Literal["errored", "inconclusive", "unsolved", "faultless", "stepwise"]


class Exported(msgspec.Struct, frozen=True):
    """What `misstep export --json` prints: the number of examples by kind of error, and what was left out.

    `passed` are examples from cases that passed. Left out are `unsolved` cases without a known correct plan;
    `faultless` timeouts in which nothing but the time went wrong, so there is nothing to reject; and
    `stepwise` cases, which can't be solved in one shot.
    """

    run: str
    format: Training
    out: str
    examples: int
    kinds: dict[str, int]
    left_out: dict[LeftOut, int]


class Written(msgspec.Struct, frozen=True):
    """What exporting a run in another tool's format prints; `rows` counts its cases, tasks or findings."""

    run: str
    format: Format
    out: str
    rows: int
