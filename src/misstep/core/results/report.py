"""A run in the terms of any test report: what was tested, what came of it, what is wrong.

What is written for others to read: formats, and what is told of them.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Literal, TypeAlias, get_args

import msgspec

from misstep.core.outcome import Judgement
from misstep.core.results.comparison import Held
from misstep.core.results.summary import Summary
from misstep.core.run import Unit


class SourceLocation(msgspec.Struct, frozen=True):
    """A place in source; the file is absolute."""

    file: str
    line: int = 1


class Issue(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that is wrong. `rule` is the kind of it, as `tool/crash`; `title` and `text` say what it is.

    `misstep` is the call at which it went wrong, `calls` are the smallest that show it. `identity` stays the
    same from run to run, wherever lines have moved to. `subject` is who is to blame, by a name.
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


class ReportItem(msgspec.Struct, frozen=True, omit_defaults=True):
    """What was judged as one: a case, a tool, a group of tools, a task. It failed if it has flaws.

    `group` is what it stands under. `reason` says why it could not be judged.
    """

    id: str
    name: str
    group: str
    verdict: Judgement
    seconds: float = 0.0
    reason: str = ""
    flaws: tuple[Issue, ...] = ()


# All entries, or those with one verdict, read anew each time.
ReportItems: TypeAlias = Callable[[Judgement | None], Iterable[ReportItem]]


class RunReport(msgspec.Struct, frozen=True):
    """A run as its reports tell of it; `run` is empty where nothing is stored.

    `counts` are of entries. `held` is how the run stands against its baseline, `passed` whether its gate was
    passed, None where there is none. `place` is what has to be added to a command so that it finds the store.
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
    """What `misstep export --json` prints: how many examples, by kind of error, and what is not among them.

    `passed` are those of cases that passed. `unsolved` have no correct plan that is known; `faultless` are
    timeouts in which nothing went wrong but the time, and so nothing is there to be rejected; `stepwise` are
    those that can't be done in one shot.
    """

    run: str
    format: Training
    out: str
    examples: int
    kinds: dict[str, int]
    left_out: dict[LeftOut, int]


class Written(msgspec.Struct, frozen=True):
    """The same for a run as other tools read it; `rows` counts its cases, tasks or findings."""

    run: str
    format: Format
    out: str
    rows: int
