"""Parses a written skeleton back into its syntax tree."""

import re
from collections.abc import Sequence
from typing import NoReturn, TypeVar

from misstep.core.constraint import Condition, Constraint, Given
from misstep.errors import UsageError
from misstep.planning.language import syntax

DEEPEST = 20  # nested relative clauses: more than there are actions
LONGEST = 50_000  # characters; no readable request has a longer skeleton
SHOWN = 60  # characters of it in a message

_NAMES = re.compile(r"a[1-9][0-9]?(?:\+a[1-9][0-9]?)*")
_NUMBER = re.compile(r"[0-9]{1,9}")
_WORD = re.compile(r"[^\s.;,]{1,100}")
_SIGN = re.compile(r"[<>]")
_EDGE = re.compile(r"(START|END)S")
_CLOCK = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])")
_PLACE = re.compile(r" (FIRST|LAST)")

K = TypeVar("K", Condition, Given)


def read_skeleton(text: str, constraints: Sequence[Constraint] = ()) -> syntax.Paragraph:
    """The paragraph for which `syntax.skeleton` gives this text; `UsageError` if there is none.

    What a skeleton leaves out (the finding of a condition, and given arguments) is taken from the constraints
    of that sentence.
    """
    if len(text) > LONGEST:
        raise UsageError(f"the skeleton has {len(text):,} characters", f"expected at most {LONGEST:,}")
    paragraph = _Reader(text, constraints).paragraph()
    if syntax.skeleton(paragraph) != text:
        raise UsageError("the skeleton is not written as misstep writes one", f"given: {shown(text)}")
    return paragraph


class _Reader:
    """A position in the text that advances as parts are parsed."""

    def __init__(self, text: str, constraints: Sequence[Constraint]) -> None:
        self._text = text
        self._constraints = constraints
        self._at = 0
        self._sentence = 0
        self._depth = 0

    def paragraph(self) -> syntax.Paragraph:
        sentences = list[syntax.Sentence]()
        while self._at < len(self._text):
            if sentences:
                self._need(" ")
            self._sentence = len(sentences)
            sentences.append(self._read_sentence())
        return tuple(sentences)

    def _read_sentence(self) -> syntax.Sentence:
        parts, joins = [self._part()], list[syntax.Join]()
        while not self._take("."):
            join = next((join for join in syntax.JOINS if self._take(f"{join} ")), None)
            joins.append(join or self._refuse())
            parts.append(self._part())
        return syntax.Sentence(tuple(parts), tuple(joins))

    def _part(self) -> syntax.SubSentence:
        if self._take("P"):
            direction, object_ = self._direction(), self._group()
            self._need(", ")
            return syntax.Clause("fronted preposition", direction, self._happening(), object_)
        if self._take("SC"):
            direction, object_ = self._direction(), self._happening()
            self._need(", ")
            return syntax.Clause("fronted conjunction", direction, self._happening(), object_)
        if self._take("NEXT"):
            direction, neighbour = self._direction(), self._action()
            self._need(", ")
            subject = self._alone(self._happening())
            return syntax.Neighbours("fronted preposition", direction, subject, neighbour)
        if self._take("BEFORE "):
            time = self._clock()
            self._need(", ")
            actions = self._actions()
            self._need(" ")
            return syntax.Timed("fronted", self._edge(), "before", time, actions)
        if self._take("IF "):
            asks = self._action()
            self._need(" THEN ")
            then = self._action()
            return syntax.Conditional(asks, self._said(Condition).finding, then, self._otherwise())
        if self._take("SPEND "):
            return syntax.BudgetRemark(self._number())
        return self._about(self._group())

    def _otherwise(self) -> int | None:
        return self._action() if self._take(" ELSE ") else None

    def _about(self, subject: syntax.Group) -> syntax.SubSentence:
        """What is said about a group that has just been named."""
        if self._take(" VP0"):
            if self._take(" P"):
                return syntax.Clause("preposition", self._direction(), subject, self._group())
            if self._take(" SC"):
                return syntax.Clause("conjunction", self._direction(), subject, self._happening())
            self._need(" NEXT")
            return syntax.Neighbours("preposition", self._direction(), self._alone(subject), self._action())
        if self._take(" VP"):
            return syntax.Clause("verb", self._direction(), subject, self._group())
        if self._take(" free"):
            return syntax.Free(subject)
        if subject.relative:
            self._refuse()
        return self._remark(subject.actions)

    def _remark(self, actions: tuple[int, ...]) -> syntax.SubSentence:
        if self._take(" DUE"):
            return syntax.Duty(actions)
        if self._text.startswith((" STARTS", " ENDS"), self._at):
            self._need(" ")
            return syntax.Timed("verb", *self._window(), actions)
        return self._single(self._only(actions))

    def _single(self, action: int) -> syntax.SubSentence:
        if self._take(" NEXT"):
            return syntax.Neighbours("verb", self._direction(), action, self._action())
        if self._take(" IF "):
            asks, finding = self._action(), self._said(Condition).finding
            return syntax.Conditional(asks, finding, action, self._otherwise(), "then first")
        if self._take(" OR "):
            return syntax.Alternative((action, self._action()))
        if self._take(" TIMES "):
            return syntax.RepeatRemark(action, self._number())
        if self._take(" LIMIT "):
            return syntax.Limited(action, self._number())
        if self._take(" FOR "):
            return syntax.Replacing(self._action(), action)
        if self._take(" GIVES "):
            value = self._match(_WORD)[0].replace("_", " ")
            self._need(" TO ")
            return syntax.HandOver(action, self._action(), value)
        if self._take(" GIVEN "):
            arguments = self._said(Given).arguments
            self._need(",".join(arguments))  # names of parameters may look like anything
            return syntax.Giving(action, arguments)
        return syntax.End("first" if self._match(_PLACE)[1] == "FIRST" else "last", action)

    def _happening(self) -> syntax.Group:
        group = self._group()
        self._need(" VP0")
        return group

    def _group(self) -> syntax.Group:
        actions = self._actions()
        if not self._take("[which "):
            return syntax.Group(actions)
        self._depth += 1
        if self._depth > DEEPEST:
            self._refuse()
        relative = self._relative()
        self._need("]")
        self._depth -= 1
        return syntax.Group(actions, relative)

    def _relative(self) -> syntax.Relative | syntax.TimedRelative:
        if self._take("VP0 P"):
            return syntax.Relative("preposition", self._direction(), self._group())
        if self._take("VP"):
            return syntax.Relative("verb", self._direction(), self._group())
        return syntax.TimedRelative(*self._window())

    def _window(self) -> tuple[syntax.Edge, syntax.Bound, int]:
        edge, sign = self._edge(), self._match(_SIGN)[0]
        return edge, "after" if sign == ">" else "before", self._clock()

    def _edge(self) -> syntax.Edge:
        return "start" if self._match(_EDGE)[1] == "START" else "end"

    def _direction(self) -> syntax.Direction:
        sign = self._match(_SIGN)[0]
        self._need(" ")
        return "<" if sign == "<" else ">"

    def _clock(self) -> int:
        found = self._match(_CLOCK)
        return int(found[1]) * 60 + int(found[2])

    def _number(self) -> int:
        return int(self._match(_NUMBER)[0])

    def _action(self) -> int:
        return self._only(self._actions())

    def _actions(self) -> tuple[int, ...]:
        return tuple([int(name[1:]) - 1 for name in self._match(_NAMES)[0].split("+")])

    def _alone(self, group: syntax.Group) -> int:
        return self._refuse() if group.relative else self._only(group.actions)

    def _only(self, actions: tuple[int, ...]) -> int:
        return actions[0] if len(actions) == 1 else self._refuse()

    def _said(self, kind: type[K]) -> K:
        """The constraint of this kind that the sentence states."""
        for constraint in self._constraints:
            if isinstance(constraint, kind) and constraint.sentence == self._sentence:
                return constraint
        return self._refuse()

    def _take(self, literal: str) -> bool:
        """Advance past a literal if it comes next."""
        found = self._text.startswith(literal, self._at)
        self._at += len(literal) * found
        return found

    def _need(self, literal: str) -> None:
        if not self._take(literal):
            self._refuse()

    def _match(self, pattern: re.Pattern[str]) -> re.Match[str]:
        found = pattern.match(self._text, self._at) or self._refuse()
        self._at = found.end()
        return found

    def _refuse(self) -> NoReturn:
        raise UsageError(
            f"the skeleton can't be read from character {self._at} on",
            f"there: {shown(self._text[self._at :])}",
        )


def shown(text: str, most: int = SHOWN) -> str:
    """The beginning of a text from outside, on one line."""
    return repr(text if len(text) <= most else f"{text[:most]}…")
