"""Two runs side by side, on the cases that they have in common."""

import msgspec


class Pairing(msgspec.Struct, frozen=True):
    """Cases that both runs have judged. `difference` is the second's success less the first's, with its 95 %
    interval; `p` is that of the exact McNemar test: how often runs that are equally good differ that much."""

    cases: int
    both: int
    first_only: int
    second_only: int
    neither: int
    difference: float
    interval: tuple[float, float]
    p: float


class Step(msgspec.Struct, frozen=True):
    """The pairing for one number of actions; `p` is corrected for the number of steps (Holm)."""

    actions: int
    pairing: Pairing
    p: float


class Comparison(msgspec.Struct, frozen=True):
    """What `misstep compare --json` prints. `significant` is at the 5 % level. `lost` are cases that only the
    first run passed, `won` those that only the second did."""

    first: str
    second: str
    pairing: Pairing
    significant: bool
    steps: tuple[Step, ...]
    lost: tuple[str, ...]
    won: tuple[str, ...]


class Part(msgspec.Struct, frozen=True):
    """The pairing for tasks of one kind; `p` is corrected for the number of kinds (Holm)."""

    kind: str
    pairing: Pairing
    p: float


class Effort(msgspec.Struct, frozen=True):
    """What one task took on average, over those that were compared."""

    calls: float
    tokens: float
    seconds: float


class TaskComparison(msgspec.Struct, frozen=True):
    """The same for two runs on a benchmark. `effort` is that of the first and that of the second."""

    first: str
    second: str
    pairing: Pairing
    significant: bool
    kinds: tuple[Part, ...]
    effort: tuple[Effort, Effort]
    lost: tuple[str, ...]
    won: tuple[str, ...]
