"""The calls that come first, in the order in which they are most likely to find something soon."""

import json
from collections.abc import Iterable, Iterator
from itertools import chain, zip_longest

from misstep.tooling.fuzzing.idea import Idea
from misstep.tooling.fuzzing.learning.corpus import Calls
from misstep.tooling.fuzzing.making.sequences import Sequences
from misstep.tooling.fuzzing.making.telling import telling_arguments
from misstep.tooling.fuzzing.subject import Subject, encode

_EARLY = 6  # telling calls of each tool before it is called twice with the same arguments
_EXAMPLES = 8


def opening_plan(
    subjects: list[Subject], sequences: Sequences, telling: Iterator[Idea], corpus: Iterable[str]
) -> Iterator[Idea]:
    """What was kept of earlier runs, examples, simple calls, the most telling ones, the lives of things."""
    names = {subject.name for subject in subjects}
    for text in corpus:
        calls = read_calls(text, names)
        if calls:
            yield Idea(calls, "corpus")
    yield from _taking_turns([_first_calls(subject) for subject in subjects])
    for _ in range(_EARLY * len(subjects)):
        idea = next(telling, None)
        if idea is not None:
            yield idea
    if len(subjects) > 1:
        for calls in sequences.lives():
            yield Idea(calls, "sequence")
    for subject in subjects:
        yield Idea(((subject.name, subject.simple),) * 2, "again", again=True)


def telling_plan(subjects: list[Subject]) -> Iterator[Idea]:
    """Telling arguments of all tools, one of each in turn."""
    return _taking_turns(
        [
            (Idea(((subject.name, each),), "telling") for each in telling_arguments(subject))
            for subject in subjects
        ]
    )


def read_calls(text: str, names: set[str]) -> Calls:
    """The calls of an entry that was kept; none where it can't be read or is about other tools."""
    try:
        found = json.loads(text)
        calls = tuple((call["tool"], call["arguments"]) for call in found)
    except (ValueError, TypeError, KeyError, RecursionError):
        return ()
    fitting = all(tool in names and isinstance(arguments, dict) for tool, arguments in calls)
    return calls if fitting else ()


def written_calls(calls: Calls) -> str:
    return encode([{"tool": tool, "arguments": arguments} for tool, arguments in calls])


def _first_calls(subject: Subject) -> Iterator[Idea]:
    for text in subject.described.examples[:_EXAMPLES]:
        try:
            arguments = json.loads(text)
        except (ValueError, RecursionError):
            continue
        if isinstance(arguments, dict):
            yield Idea(((subject.name, arguments),), "example", mark=True)
    yield Idea(((subject.name, subject.simple),), "simple", mark=True)
    yield Idea(((subject.name, subject.complete),), "simple", mark=True)


def _taking_turns(plans: Iterable[Iterator[Idea]]) -> Iterator[Idea]:
    return (idea for idea in chain.from_iterable(zip_longest(*plans)) if idea is not None)
