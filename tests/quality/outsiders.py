"""Agents whose faults are none of those that dissection knows, as rules on what any agent sees."""

import re
from collections.abc import Callable, Iterator
from itertools import count
from typing import cast
from zlib import crc32

import msgspec

from misstep.core.case import Case
from misstep.core.outcome import Outcome
from misstep.core.results.diagnosis import Cause, Diagnosis
from misstep.core.rng import derive_seed
from misstep.core.run import Inquiry
from misstep.planning.dissection.hypotheses import ElementHistory
from misstep.planning.synthesis.suite import Suite, make_case
from tests.quality.labelled import COIN, Planted, run

PERFECT = Planted("perfect", {}, "undetermined")
CASES = 60
PRIMES = (2, 3, 5, 7, 11)

# Says whether the agent goes wrong, by the request and the names of the tools as they are listed.
Rule = Callable[[str, list[str]], bool]


class Outsider(msgspec.Struct, frozen=True):
    """An agent that goes wrong by a rule; `right` are causes that tell the truth about it all the same."""

    name: str
    make_rule: Callable[[], Rule]
    right: tuple[Cause, ...] = ("undetermined",)
    both: Rule = lambda *_: (
        True
    )  # of two faults: whether both are in a request, so that neither is to blame alone
    topics: tuple[str, ...] = ()


def outsiders() -> list[Outsider]:
    return [
        Outsider(
            "two words together", lambda: lambda text, _: "before" in said(text) and "after" in said(text)
        ),
        Outsider("comma in the second sentence", lambda: lambda text, _: "," in nth(text, 1)),
        Outsider("even number of vowels", lambda: lambda text, _: len(re.findall("[aeiou]", text)) % 2 == 0),
        Outsider("prime number of tools", lambda: lambda _, tools: len(tools) in PRIMES),
        Outsider("even number of tools", lambda: lambda _, tools: len(tools) % 2 == 0),
        Outsider("first tool not first by name", lambda: lambda _, tools: tools[0] != min(tools)),
        Outsider(
            "two tools with one initial", lambda: lambda _, tools: len({t[0] for t in tools}) < len(tools)
        ),
        Outsider("every third case", every_third, ("undetermined", "probability")),
        Outsider(
            "a z in the request", lambda: lambda text, _: "z" in text, ("undetermined", "name", "topic")
        ),
        Outsider("checksum of the request", lambda: lambda text, _: crc32(text.encode()) % 2 == 0),
        Outsider("words a multiple of three", lambda: lambda text, _: len(text.split()) % 3 == 0),
        Outsider(  # nearly all of which are joined ones, so that to name these is no lie
            "a sentence over 110 characters",
            lambda: lambda text, _: longest(text) > 110,
            ("undetermined", "structure"),
        ),
        Outsider("long and short sentence", lambda: lambda text, _: longest(text) > 2 * shortest(text)),
        Outsider("two phrases, either", lambda: lambda text, _: sum(w in text for w in EITHER) > 1),
        Outsider(
            "a phrase or five tools",
            lambda: lambda text, tools: "before" in said(text) or len(tools) > 4,
            both=lambda text, tools: "before" in said(text) and len(tools) > 4,
        ),
        Outsider(
            "a phrase and four tools",
            lambda: lambda text, tools: "before" in said(text) and len(tools) > 3,
        ),
        Outsider(
            "a topic or a phrase",
            lambda: lambda text, _: "a baker" in text or "precede" in said(text),
            both=lambda text, _: "a baker" in text and "precede" in said(text),
            topics=("baker", "florist"),
        ),
    ]


EITHER = ("prior to", "precede", "later than", "follow")


def every_third() -> Rule:
    numbers = count(1)
    return lambda *_: next(numbers) % 3 == 0


def sentences(text: str) -> list[str]:
    """Those about the tasks; they have a line of their own."""
    return re.split(r"(?<=\.) (?=[A-Z])", text.split("\n\n")[1])


def said(text: str) -> str:
    """What is said about the tasks; the words around it are always the same."""
    return text.split("\n\n")[1]


def nth(text: str, number: int) -> str:
    return [*sentences(text), "", ""][number]


def longest(text: str) -> int:
    return max(map(len, sentences(text)))


def shortest(text: str) -> int:
    return min(map(len, sentences(text)))


def seen(case: Case) -> tuple[str, list[str]]:
    """What the agent sees of a case."""
    return case.query, [action.tool for action in case.actions]


def tries(rule: Rule, case: Case) -> Outcome:
    """Let the agent try a case; where its rule says so, it gets everything backwards."""
    wrong = rule(*seen(case))
    return run(COIN if wrong else PERFECT, case)


def dissections(
    outsider: Outsider, each: int, seed: int, method: Callable[[Case, ElementHistory], Inquiry[Diagnosis]]
) -> Iterator[Diagnosis]:
    """What a method makes of so many failures of an agent in a run of `CASES` cases."""
    rule, suite = outsider.make_rule(), Suite(derive_seed(seed, outsider.name), 3, 7, topics=outsider.topics)
    outcomes = [tries(rule, make_case(suite, index)) for index in range(CASES)]
    history = ElementHistory(outcomes)
    failed = [outcome.case for outcome in outcomes if outcome.verdict.verdict == "failed"]
    mixed = [case for case in failed if outsider.both(*seen(case))]
    for case in mixed[:each]:
        yield held(method(case, history), rule)


def held(inquiry: Inquiry[Diagnosis], rule: Rule) -> Diagnosis:
    cases = next(inquiry)
    while True:
        try:
            cases = inquiry.send([tries(rule, case) for case in cases])
        except StopIteration as end:
            return cast("Diagnosis", end.value)
