"""Comparisons of runs: two runs on shared cases, a run with its baseline, and a run broken down by facet."""

from typing import Literal, get_args

import msgspec


class Pairing(msgspec.Struct, frozen=True):
    """Cases that both runs have judged.

    `difference` is the second run's success rate minus the first's, with its 95 % interval. `p` is the
    p-value of the exact McNemar test: how often equally good runs differ at least that much.
    """

    cases: int
    both: int
    first_only: int
    second_only: int
    neither: int
    difference: float
    interval: tuple[float, float]
    p: float


class SizePairing(msgspec.Struct, frozen=True):
    """The pairing for one number of actions; `p` is corrected for the number of steps (Holm)."""

    actions: int
    pairing: Pairing
    p: float


class Comparison(msgspec.Struct, frozen=True):
    """What `misstep compare --json` prints. `significant` is at the 5 % level.

    `lost` are cases that only the first run passed, `won` those that only the second did.
    """

    first: str
    second: str
    pairing: Pairing
    significant: bool
    steps: tuple[SizePairing, ...]
    lost: tuple[str, ...]
    won: tuple[str, ...]


class KindPairing(msgspec.Struct, frozen=True):
    """The pairing for tasks of one kind; `p` is corrected for the number of kinds (Holm)."""

    kind: str
    pairing: Pairing
    p: float


class Effort(msgspec.Struct, frozen=True):
    """Average calls, tokens and seconds per task, over the tasks that were compared."""

    calls: float
    tokens: float
    seconds: float


class TaskComparison(msgspec.Struct, frozen=True):
    """The comparison of two benchmark runs. `effort` is a pair: the first run's and the second's."""

    first: str
    second: str
    pairing: Pairing
    significant: bool
    kinds: tuple[KindPairing, ...]
    effort: tuple[Effort, Effort]
    lost: tuple[str, ...]
    won: tuple[str, ...]


class NewFinding(msgspec.Struct, frozen=True):
    """A tool defect that one of two runs has found and the other has not."""

    id: str
    tool: str
    kind: str
    error: str


class Held(msgspec.Struct, frozen=True, omit_defaults=True):
    """The result of comparing a run with its `baseline`, which is empty if none was found.

    Runs of an agent are compared by what both have judged: `pairing`, with `lost` what only the baseline
    passed, and `won` what only the run did; `unit` is what they count. Fuzzing runs are compared by their
    findings: `new` are those that the baseline lacks, `gone` those that only the baseline has.
    """

    baseline: str
    regressed: bool = False
    significant: bool = False
    unit: str = "case"
    pairing: Pairing | None = None
    lost: tuple[str, ...] = ()
    won: tuple[str, ...] = ()
    new: tuple[NewFinding, ...] = ()
    gone: tuple[NewFinding, ...] = ()


Facet = Literal["topic", "actions", "family"]
FACETS: tuple[Facet, ...] = get_args(Facet)


class Portion(msgspec.Struct, frozen=True):
    """The judged cases with one value of a facet.

    `p` tests whether they fail more often than the other cases, corrected for the number of values (Holm).
    """

    value: str
    cases: int
    failed: int
    success: float
    interval: tuple[float, float]
    p: float
    significant: bool


class Breakdown(msgspec.Struct, frozen=True):
    """What `misstep show RUN --by FACET --json` prints.

    Portions that fail most come first; sizes are in ascending order.
    """

    run: str
    by: Facet
    portions: tuple[Portion, ...]
