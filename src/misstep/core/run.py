"""What a run is for, and the campaigns that decide which cases it runs next."""

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
    """A kind of run. `feature` is the package that reads and shows such runs, `unit` what they are made of.

    An inquiry makes its own cases from those of another run, so that its success rate means nothing.
    """

    name: str
    feature: str
    group: Literal["plan", "tool", "bench"] = "plan"
    unit: Unit = "case"
    is_inquiry: bool = False

    @property
    def command(self) -> str:
        """The words by which it is given."""
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
        RunKind("capability", "misstep.features.capability"),
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
    """The command behind a run; where it looks into cases of another run, that one and their ids.

    `verb` names the kind of run. `tools` are the specs of the tools that are tested, or that the agent is
    given. `descriptions` is the text of the file with other words about them. `signature` shows who started
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
            raise ValueError(f"no kind of run: {self.verb!r:.100}")

    @property
    def kind(self) -> RunKind:
        return KINDS[self.verb]

    @property
    def command(self) -> str:
        """The words by which it is given."""
        return self.kind.command


TESTING = RunSpec()


# Lets an agent try a case; the account hears what that takes.
Execute: TypeAlias = Callable[[Case, Account], Awaitable[Outcome]]

Found = TypeVar("Found")

# Asks for cases, some at a time, is sent their outcomes in the same order, and returns what it has found out.
Inquiry: TypeAlias = Generator[Sequence[Case], Sequence[Outcome], Found]


class Campaign(Protocol):
    """Asked for cases, told what became of them.

    An empty answer means that nothing can be run before more outcomes are told, or, once none are
    pending, that the campaign is over.
    """

    def ask(self, most: int) -> Sequence[Case]: ...

    def tell(self, outcome: Outcome) -> None: ...


class FixedSuite:
    """A campaign of cases that are known beforehand."""

    def __init__(self, cases: Iterable[Case]) -> None:
        self._cases = iter(cases)

    def ask(self, most: int) -> Sequence[Case]:
        return list(islice(self._cases, most))

    def tell(self, outcome: Outcome) -> None:
        pass


class Inquiries(Generic[Found]):
    """A campaign of inquiries that go on side by side.

    What an inquiry asks next depends on nothing but the outcomes that it was sent. So `known`, which gives
    the outcomes that have been kept, is all it takes to go on with a campaign that was stopped.
    """

    def __init__(
        self,
        inquiries: Iterable[Inquiry[Found]],
        known: Callable[[Case], Outcome | None] = lambda _: None,
    ) -> None:
        self._waiting: Iterator[Inquiry[Found]] = iter(inquiries)
        self._known = known
        self._asked: dict[str, list[_Batch[Found]]] = {}  # by the id of the case
        self._ready = deque[Case]()
        self._begun = 0
        self._found: dict[int, Found] = {}

    @property
    def found(self) -> list[Found]:
        """What those that have come to their end have found out, in the order in which they were given."""
        return [self._found[number] for number in sorted(self._found)]

    def ask(self, most: int) -> Sequence[Case]:
        while len(self._ready) < most and (inquiry := next(self._waiting, None)):
            self._begun += 1
            self._go_on(_Batch(inquiry, self._begun))
        return [self._ready.popleft() for _ in range(min(most, len(self._ready)))]

    def tell(self, outcome: Outcome) -> None:
        for batch in self._asked.pop(outcome.case.id, ()):
            batch.receive(outcome)
            if batch.is_complete:
                self._go_on(batch)

    def _go_on(self, batch: "_Batch[Found]") -> None:
        """Send an inquiry what it asked for, and take down what it asks next."""
        while batch.is_complete:
            try:
                batch = batch.next()
            except StopIteration as end:
                self._found[batch.number] = end.value
                return
            for case in batch.cases:
                outcome = self._known(case)
                if outcome is not None:
                    batch.receive(outcome)
        for case in batch.missing.values():
            self._request(case, batch)

    def _request(self, case: Case, batch: "_Batch[Found]") -> None:
        """Two that ask for the same case share its outcome."""
        if case.id not in self._asked:
            self._ready.append(case)
        self._asked.setdefault(case.id, []).append(batch)


class _Batch(Generic[Found]):
    """What an inquiry waits for; `cases` is None before it has begun."""

    def __init__(self, inquiry: Inquiry[Found], number: int, cases: Sequence[Case] | None = None) -> None:
        self.number = number
        self.cases = cases or ()
        self.missing = {case.id: case for case in self.cases}
        self._outcomes: dict[str, Outcome] = {}
        self._inquiry = inquiry
        self._begun = cases is not None

    @property
    def is_complete(self) -> bool:
        return not self.missing

    def receive(self, outcome: Outcome) -> None:
        self._outcomes[outcome.case.id] = outcome
        self.missing.pop(outcome.case.id, None)

    def next(self) -> "_Batch[Found]":
        """What it asks for when it has been sent what it waits for; StopIteration where it asks no more."""
        sent = [self._outcomes[case.id] for case in self.cases]
        asked = self._inquiry.send(sent) if self._begun else next(self._inquiry)
        return _Batch(self._inquiry, self.number, tuple(asked))
