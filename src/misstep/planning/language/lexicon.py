"""The phrases and topics of the planning language, from `data/lexicon.toml` and `data/topics.toml`."""

import tomllib
from functools import cache
from importlib import resources
from typing import Any, Literal

import msgspec


class Verb(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A verb phrase in its singular and plural form; `main` ones don't fit a dependent clause."""

    one: str
    many: str
    main: bool = False


class Linker(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A preposition or sequential conjunction.

    `front` tells whether it may begin a sentence, `single` that only a single action can follow it.
    """

    text: str
    front: bool = True
    single: bool = False


class OrderingVerbs(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    before: tuple[Verb, ...]
    after: tuple[Verb, ...]


class Verbs(OrderingVerbs, frozen=True, forbid_unknown_fields=True):
    neutral: tuple[Verb, ...]
    free: tuple[Verb, ...]


class Linkers(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    before: tuple[Linker, ...]
    after: tuple[Linker, ...]


class Times(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`S start after T`: verbs for either end of an action, and linkers to a time, which is inclusive."""

    start: tuple[Verb, ...]
    end: tuple[Verb, ...]
    after: tuple[Linker, ...]
    before: tuple[Linker, ...]


class Adjacency(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Phrases for directly before and after, and for the first and last position of all."""

    verbs: OrderingVerbs
    prepositions: Linkers
    first: tuple[Verb, ...]
    last: tuple[Verb, ...]


class ReportedFinding(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Something that an action may report, and the words for its absence."""

    some: str
    none: str


class ConditionPhrases(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`OPENER the A REPORT a finding, the B OBLIGATION; OTHERWISE, the B SKIP` or `…, the C OBLIGATION`.

    The user's own tools have their own findings and report verbs.
    """

    openers: tuple[str, ...]
    reports: tuple[str, ...]
    findings: tuple[ReportedFinding, ...]
    own_reports: tuple[str, ...]
    own_findings: tuple[ReportedFinding, ...]
    obligations: tuple[str, ...]
    otherwise: tuple[str, ...]
    skips: tuple[str, ...]

    @property
    def all_findings(self) -> tuple[ReportedFinding, ...]:
        return (*self.findings, *self.own_findings)

    def reports_of(self, finding: str) -> tuple[str, ...]:
        """The verbs that a finding is used with."""
        return self.own_reports if any(own.some == finding for own in self.own_findings) else self.reports


class Count(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    times: int
    text: str


class Repeats(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`A VERB COUNT`; limits are frames with `{a}` and `{count}`, counts have `{number}` and `{tasks}`."""

    verbs: tuple[str, ...]
    counts: tuple[Count, ...]
    limits: tuple[str, ...]
    limit_counts: tuple[str, ...]


class Value(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Something that is passed on, with its article: `a reference code`."""

    noun: str
    article: Literal["a", "an"]
    type: Literal["text", "integer"]


class Data(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Frames with `{giver}`, `{taker}` and `{value}` (the noun) or `{a_value}` (with its article)."""

    values: tuple[Value, ...]
    frames: tuple[str, ...]


class Lexicon(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All phrases; `before` means that the subject comes first, `after` that the object does.

    A frame is a sentence without its initial capital and its full stop. Choices have `{a}`, `{b}` and
    `{verb}` (a neutral one in the singular), budgets `{amount}`, stand-ins `{a}` and `{b}`, given arguments
    `{a}` and `{arguments}`. Duties are verbs for actions that no other sentence mentions.
    """

    verbs: Verbs
    prepositions: Linkers
    conjunctions: Linkers
    times: Times
    adjacency: Adjacency
    choices: tuple[str, ...]
    conditions: ConditionPhrases
    repeats: Repeats
    budgets: tuple[str, ...]
    data: Data
    stand_ins: tuple[str, ...]
    given: tuple[str, ...]
    duties: tuple[Verb, ...]


def read_data(name: str) -> dict[str, Any]:
    """One of the data files of the language."""
    return tomllib.loads(resources.files(__package__).joinpath(f"data/{name}").read_text(encoding="utf-8"))


@cache
def load_lexicon() -> Lexicon:
    return msgspec.convert(read_data("lexicon.toml"), Lexicon)


class Topic(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A job; every activity is a singular noun phrase that takes "the"."""

    name: str
    role: str
    activities: tuple[str, ...]


@cache
def load_topics() -> dict[str, Topic]:
    topics = msgspec.convert(read_data("topics.toml")["topic"], list[Topic])
    return {topic.name: topic for topic in topics}
