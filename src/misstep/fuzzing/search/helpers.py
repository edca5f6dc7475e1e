"""Finds out which other tools a server's tool needs first, from what it refuses calls with."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import msgspec

from misstep.core.rng import Dice
from misstep.core.tool import Described
from misstep.fuzzing.judging.echoes import GivenValues, normalise_for
from misstep.fuzzing.returned import READ, is_returned
from misstep.fuzzing.search.acceptance import has_word, places_in
from misstep.fuzzing.search.corpus import CallIdea, Calls
from misstep.fuzzing.search.harvest import (
    allowed_numbers_in,
    as_kinds,
    limited_by,
    meant_by,
    offers_in,
    texts_named_in,
)
from misstep.fuzzing.search.inspiration import Inspiration
from misstep.fuzzing.search.sequences import LONGEST, is_handle, is_known_to_read, says_what_it_does, stage_of
from misstep.fuzzing.search.subject import FuzzSubject
from misstep.schemas.samples import words_of
from misstep.schemas.shape import as_list

_RETRIES = 12  # other arguments for a helper that refuses those it was given
_HINTED_AT = 2  # helpers for a refusal that names none
_ANOTHER = 6  # such refusals before the second of them
_HINTING = 8  # refusals after which such helpers are looked for
_MOST_REFUSALS, _MOST_HELPERS = 64, 24
_MEANT = 2  # parameters that a value in a refusal is tried for
_BEGINNING = 6  # characters of a word
_COMMON = frozenset(word[:_BEGINNING] for word in (
    "a", "an", "and", "are", "be", "been", "can", "could", "did", "do", "does", "error", "exist", "exists",
    "failed", "first", "for", "found", "get", "has", "have", "in", "invalid", "is", "it", "list", "missing",
    "must", "no", "not", "of", "on", "or", "please", "required", "set", "should", "that", "the", "this",
    "to", "update", "use", "using", "was", "with", "you",
))  # fmt: skip


class _HelperCall(msgspec.Struct):
    """A preparation in which a helper is called, because of what the call after `before` was refused with."""

    name: str
    helper: FuzzSubject
    before: Calls
    after: Calls  # what follows the helper
    retried: int = 0
    advice: list[tuple[str, Any]] = []  # values by parameter


class Helpers:
    """Other tools, which make what the examined one needs: one that a refusal names is called before it."""

    def __init__(
        self,
        tools: Sequence[Described],
        ideas: Inspiration,
        subject_of: Callable[[Described], FuzzSubject],
        dice: Dice,
    ) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._ideas = ideas
        self._subject_of = subject_of
        self._dice = dice
        self._helps = dict[str, list[_HelperCall]]()  # by the refusal that they are for
        self._heard = Counter[str]()  # refusals
        self._news = list[str]()

    def __contains__(self, name: str) -> bool:
        return name in self._tools

    def hear_refusal(self, calls: Calls, words: str, later: Calls = ()) -> None:
        """Prepare with the tools that a refusal names or hints at: "Use create_board", "task not done".

        They come after the shortest calls that were refused like this. What a helper refuses is followed by
        that helper again, and by `later` calls of others.
        """
        *before, (tool, arguments) = calls
        after = ((tool, arguments), *later) if tool in self else ()
        refusal = normalise_for(words, GivenValues(arguments))
        if refusal not in self._helps and len(self._helps) >= _MOST_REFUSALS:
            return
        helps = self._helps.setdefault(refusal, [])
        for each in helps:
            if 0 < len(before) <= len(each.before) and _length(before) < _length(each.before):
                each.before, each.after, each.retried = tuple(before), after, 0
                self._prepare(each)
        said = without_values(words, arguments)
        named = [name for name in self._tools if name in said and name != tool and has_word(said, name)]
        named = [name for name in named if not is_known_to_read(name)]  # what they tell is asked for before
        known = [each.helper.name for each in helps]
        self._heard[refusal] += 1
        most = min(1 + self._heard[refusal] // _ANOTHER, _HINTED_AT) if len(self._helps) <= _HINTING else 0
        if not named and not after and len(known) < most:
            others = [each for each, _ in before]
            named = self._hinted_at((tool, *known, *others), words, bool(before), not arguments)
        room = _MOST_HELPERS - sum(map(len, self._helps.values())) if len(calls) + len(later) < LONGEST else 0
        for name in [name for name in named if name not in known][:room]:
            helps.append(_HelperCall("", self._subject_of(self._tools[name]), tuple(before), after))
            self._prepare(helps[-1])

    def hear_own_refusal(self, idea: CallIdea, index: int, words: str) -> None:
        """Prepare in another way where a helper refuses: with the tool that it names, or other arguments."""
        self.hear_refusal(idea.calls[: index + 1], words, idea.calls[index + 1 : -1])
        for each in chain.from_iterable(self._helps.values()):
            if each.name == idea.source and len(each.before) == index and each.retried < _RETRIES:
                each.retried += 1
                each.helper.hear_refusal(idea.calls[index : index + 1], words)
                told = advised(words, each.helper, idea.calls[index][1])
                each.advice += [value for value in told if value not in each.advice]
                self._prepare(each)

    def take_news(self) -> list[CallIdea]:
        """Calls after the preparations that are new or have changed since they were taken last."""
        names, self._news = dict.fromkeys(self._news), []
        return [self._ideas.prepared(name) for name in names]

    def _prepare(self, call: _HelperCall) -> None:
        """Call the helper with other arguments than before: with what it has advised first."""
        arguments = self._ideas.related(call.helper, call.before)
        if len(call.advice) >= call.retried > 0:
            name, value = call.advice[call.retried - 1]
            arguments[name] = value
        elif call.retried and (corrected := call.helper.corrected(self._dice)) is not None:
            returned = {name: value for name, value in arguments.items() if is_returned(value)}
            arguments = {**corrected.calls[-1][1], **returned}
        calls = (*call.before, (call.helper.name, arguments), *call.after)
        call.name = self._ideas.prepare_with(calls, call.name)
        self._news.append(call.name)

    def _hinted_at(self, known: Sequence[str], words: str, is_prepared: bool, is_empty: bool) -> list[str]:
        """The tool whose name has the rarest words of a refusal, of those that make or change something.

        `known` are the refusing tool and what else is not meant. Words of the former's name count, and tools
        whose names don't say what they do, if the values can hardly be wrong: there are none, or they come
        from earlier calls.
        """
        is_sure = is_empty or is_prepared
        said = _beginnings(words[:READ]) - _COMMON - (set() if is_sure else _beginnings(known[0]))
        names = [name for name in self._tools if name not in known]
        names = [name for name in names if stage_of(name) in (0, 2) or is_sure > says_what_it_does(name)]
        names = [name for name in names if is_prepared or not self._takes_handle(name)]
        spread = Counter(word for name in self._tools for word in _beginnings(name))
        worth = {name: sum(1 / spread[word] for word in said & _beginnings(name)) for name in names}
        return sorted(filter(worth.get, names), key=lambda name: -worth[name])[:1]

    def _takes_handle(self, name: str) -> bool:
        return any(map(is_handle, as_list(self._tools[name].tool.parameters.get("required"))))


def advised(message: str, subject: FuzzSubject, arguments: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The values that a refusal offers, and numbers in its ranges, with the parameters they are for."""
    for about, value in (*offers_in(message), *(("", text) for text in texts_named_in(message))):
        for parameter in meant_by(about, message, subject.parameters, arguments)[:_MEANT]:
            yield from ((parameter.name, typed) for typed in as_kinds(value, parameter.kinds))
    for about, number in allowed_numbers_in(message):
        for parameter in limited_by(about, message, subject.parameters)[:_MEANT]:
            yield from ((parameter.name, typed) for typed in as_kinds(number, parameter.kinds))


def without_values(message: str, arguments: Mapping[str, Any]) -> str:
    """What a refusal says itself, without the texts that it was given."""
    for _, value in places_in(arguments):
        if isinstance(value, str) and len(value) > 1:
            message = message.replace(value, "")
    return message


def _beginnings(text: str) -> set[str]:
    """Enough of each word to recognise other forms of it: `approved`, `approve`."""
    return {word[:_BEGINNING] for word in words_of(text)}


def _length(calls: Sequence[tuple[str, Any]]) -> int:
    return len(repr(calls))
