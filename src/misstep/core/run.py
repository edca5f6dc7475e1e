"""Kinds of runs, and campaigns, which decide which cases to run next."""

from collections import deque
from collections.abc import Awaitable, Callable, Generator, Iterable, Iterator, Sequence
from itertools import islice
from typing import Generic, Literal, Protocol, TypeAlias, TypeVar

import msgspec

from misstep.core.case import Case
from misstep.core.outcome import Outcome
from misstep.core.spending import Account

Unit: TypeAlias = Literal["case", "tool", "group", "task"]


class RunKind(msgspec.Struct, frozen=True):
    """A kind of run. `feature` is the package that reads and shows such runs, `unit` what they consist of.

    An inquiry generates its own cases from those of another run, and an adaptive run chooses cases by earlier
    outcomes, so that their success rates mean nothing.
    """

    name: str
    feature: str
    group: Literal["plan", "tool", "bench"] = "plan"
    unit: Unit = "case"
    is_inquiry: bool = False
    is_adaptive: bool = False

    @property
    def has_rate(self) -> bool:
        return not self.is_inquiry and not self.is_adaptive

    @property
    def command(self) -> str:
        """The command as it is typed, without the program name."""
        return f"{self.group} {self.name}"

    @property
    def units(self) -> str:
        return f"{self.unit}s"

    @property
    def has_cases(self) -> bool:
        return self.unit == "case"


KINDS = {
    kind.name: kind
    for kind in (
        RunKind("test", "misstep.features.plan_test"),
        RunKind("capability", "misstep.features.capability", is_adaptive=True),
        RunKind("dissect", "misstep.features.dissect", is_inquiry=True),
        RunKind("shrink", "misstep.features.shrink", is_inquiry=True),
        RunKind("paper", "misstep.features.papers"),
        RunKind("fuzz", "misstep.features.tool_fuzz", "tool", "tool"),
        RunKind("consistency", "misstep.features.consistency", "tool", "tool"),
        RunKind("crosstalk", "misstep.features.crosstalk", "tool", "group"),
        RunKind("fix", "misstep.features.fix", "tool", "tool"),
        RunKind("files", "misstep.features.bench", "bench", "task"),
        RunKind("forge", "misstep.features.bench", "bench", "task"),
    )
}


class RunSpec(msgspec.Struct, frozen=True, omit_defaults=True):
    """The command behind a run; if it analyses cases of another run, that run and the case ids.

    `verb` names the kind of run. `tools` are the specs of the tools that are tested or that the agent is
    given. `descriptions` is the text of a file with replacement descriptions. `signature` shows who started
    the run (`store/trust`).
    """

    verb: str = "test"
    run: str = ""
    cases: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    descriptions: str = ""
    signature: str = ""

    def __post_init__(self) -> None:
        if self.verb not in KINDS:
            raise ValueError(f"unknown kind of run: {self.verb!r:.100}")

    @property
    def kind(self) -> RunKind:
        return KINDS[self.verb]

    @property
    def command(self) -> str:
        """The command as it is typed, without the program name."""
        return self.kind.command


TESTING = RunSpec()


# Runs an agent on a case; the account is told what that uses.
Execute: TypeAlias = Callable[[Case, Account], Awaitable[Outcome]]

Found = TypeVar("Found")

# A generator that yields batches of cases, is sent their outcomes in the same order, and returns a result.
Inquiry: TypeAlias = Generator[Sequence[Case], Sequence[Outcome], Found]


class Campaign(Protocol):
    """Decides which cases to run: asked for cases, told their outcomes.

    An empty answer means that nothing can be run until more outcomes are told or, if none are pending, that
    the campaign is over.
    """

    def ask(self, most: int) -> Sequence[Case]: ...

    def tell(self, outcome: Outcome) -> None: ...


class FixedSuite:
    """A campaign of cases that are known in advance."""

    def __init__(self, cases: Iterable[Case]) -> None:
        self._cases = iter(cases)

    def ask(self, most: int) -> Sequence[Case]:
        return list(islice(self._cases, most))

    def tell(self, outcome: Outcome) -> None:
        pass


class Inquiries(Generic[Found]):
    """A campaign of concurrent inquiries.

    What an inquiry asks next depends only on the outcomes that it was sent. So `known`, which looks up stored
    outcomes, is enough to resume a campaign that was stopped.
    """

    def __init__(
        self, inquiries: Iterable[Inquiry[Found]], known: Callable[[Case], Outcome | None] = lambda _: None
    ) -> None:
        self._waiting: Iterator[Inquiry[Found]] = iter(inquiries)
        self._known = known
        self._asked: dict[str, list[_Batch[Found]]] = {}  # by case id
        self._ready = deque[Case]()
        self._begun = 0
        self._found: dict[int, Found] = {}

    @property
    def found(self) -> list[Found]:
        """Results of the finished inquiries, in the order in which the inquiries were given."""
        return [self._found[number] for number in sorted(self._found)]

    def ask(self, most: int) -> Sequence[Case]:
        while len(self._ready) < most and (inquiry := next(self._waiting, None)):
            self._begun += 1
            self._go_on(_Batch(inquiry, self._begun))
        return [self._ready.popleft() for _ in range(min(most, len(self._ready)))]

    def tell(self, outcome: Outcome) -> None:
        for batch in self._asked.pop(outcome.case.id, ()):
            batch.receive(outcome)
            if not batch.missing:
                self._go_on(batch)

    def _go_on(self, batch: "_Batch[Found]") -> None:
        """Send an inquiry the outcomes it asked for, and register what it asks next."""
        while not batch.missing:
            try:
                batch = batch.next()
            except StopIteration as end:
                self._found[batch.number] = end.value
                return
            for case in batch.cases:
                outcome = self._known(case)
                if outcome is not None:
                    batch.receive(outcome)
        for case in batch.missing.values():  # inquiries that ask for the same case share its outcome
            if case.id not in self._asked:
                self._ready.append(case)
            self._asked.setdefault(case.id, []).append(batch)


class _Batch(Generic[Found]):
    """The cases that an inquiry waits for; without cases, the inquiry has not started yet."""

    def __init__(self, inquiry: Inquiry[Found], number: int, cases: Sequence[Case] | None = None) -> None:
        self.number = number
        self.cases = cases or ()
        self.missing = {case.id: case for case in self.cases}
        self._outcomes: dict[str, Outcome] = {}
        self._inquiry = inquiry
        self._begun = cases is not None

    def receive(self, outcome: Outcome) -> None:
        self._outcomes[outcome.case.id] = outcome
        self.missing.pop(outcome.case.id, None)

    def next(self) -> "_Batch[Found]":
        """Send the inquiry its outcomes and return its next batch. Raises StopIteration at the end."""
        sent = [self._outcomes[case.id] for case in self.cases]
        asked = self._inquiry.send(sent) if self._begun else next(self._inquiry)
        return _Batch(self._inquiry, self.number, tuple(asked))
