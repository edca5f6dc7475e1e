"""How a run stands against an earlier one that it must not fall behind."""

import msgspec

from misstep.core.comparison import Pairing


class NewFinding(msgspec.Struct, frozen=True):
    """A defect of a tool that one of two runs has found, and the other has not."""

    id: str
    tool: str
    kind: str
    error: str


class Held(msgspec.Struct, frozen=True, omit_defaults=True):
    """What came of holding a run against its `baseline`, which is empty where there was none to be found.

    Runs of an agent are compared by what both have judged: `pairing`, with `lost` what only the baseline
    passed, and `won` what only the run did; `unit` is what they count. Runs of the fuzzer are compared by
    their findings: `new` are those that the baseline lacks, `gone` those that only it has.
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
