"""Calls a tool to see which valid arguments it refuses or crashes on, and infers what it requires."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
from msgspec import structs

from misstep.core.results.finding import Finding, ToolReport
from misstep.core.results.trial import Judged
from misstep.core.tool import Described
from misstep.fuzzing.examination import Examination
from misstep.fuzzing.judging.ruling import judge_calls_of
from misstep.fuzzing.lint.subject import LintSubject
from misstep.fuzzing.triage.replay import Replayer, is_same
from misstep.fuzzing.workbench import Workbench

LONGEST = 200  # characters of realistic arguments
LARGEST = 10**12  # realistic number
_ODD = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u200b-\u200f\u2028-\u202e\ufeff]")


class CallAnswer(msgspec.Struct, frozen=True):
    """How a call ended: `error` is an exception type or empty, `crashed` if it was not handled.

    `code` is the line of the tool's own code where it ended, if known.
    """

    arguments: str
    error: str
    message: str
    crashed: bool
    code: str = ""

    @property
    def values(self) -> dict[str, Any]:
        found = json.loads(self.arguments)
        return found if isinstance(found, dict) else {}

    @property
    def evidence(self) -> str:
        """The call and what the tool said."""
        said = f"{self.error}: {self.message}" if self.error and self.message else self.error or self.message
        return f"{self.arguments} → {said}"


def answers_of(subject: LintSubject) -> Iterator[CallAnswer]:
    """Refusals, then crashes, on realistic arguments; unusual ones prove nothing.

    For example, nobody has to document that a path cannot contain a NUL byte.
    """
    refused = [CallAnswer(each.arguments, each.error, each.message, False) for each in subject.refusals]
    broken = [answer for finding in subject.findings if (answer := _broken(subject, finding)) is not None]
    for answer in (*refused, *broken):
        if len(answer.arguments) <= LONGEST and not any(map(_is_odd, _leaves(answer.values))):
            yield answer


def _broken(subject: LintSubject, finding: Finding) -> CallAnswer | None:
    """The finding as an answer, if a single call shows it."""
    crashed = finding.kind == "crash"
    if len(finding.calls) != 1 or not (
        crashed or (finding.kind == "schema" and finding.error != "output schema")
    ):
        return None
    code = subject.code_at(finding.where)
    return CallAnswer(finding.calls[0].arguments, finding.error, finding.message, crashed, code)


def _leaves(value: Any) -> Iterator[Any]:
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            waiting += [*each, *each.values()]
        elif isinstance(each, list):
            waiting += each
        else:
            yield each


def _is_odd(value: Any) -> bool:
    if isinstance(value, str):
        return _ODD.search(value) is not None
    return isinstance(value, int | float) and not abs(value) <= LARGEST


PROVING = ("crash", "schema", "acceptance")  # kinds of findings that may concern documentation


def look_at(bench: Workbench, tool: Described, seed: int, most: int, over: Callable[[], bool]) -> ToolReport:
    """Fuzz a tool with up to `most` calls, and keep the findings that one replayed call shows again.

    Findings are not minimised.
    """
    examination = Examination(bench, [tool], tool.where, seed, ToolReport(tool.name, 0))
    while not over() and examination.calls < most and examination.go_on(most - examination.calls, over):
        pass
    report = examination.report("calls")
    replayer = Replayer(bench, judge_calls_of([tool]), len(report.unconfirmed), over)
    sure = [each for each in report.unconfirmed if each.kind in PROVING and _shows(replayer, each, bench)]
    shown = [structs.replace(each, calls=each.calls[-1:], replayed=1, reproduced=1) for each in sure]
    return structs.replace(report, findings=tuple(shown), unconfirmed=())


def _shows(replayer: Replayer, finding: Finding, bench: Workbench) -> bool:
    judged = replayer.last_of(finding.calls[-1:], fresh=bench.starts_quickly)
    return judged is not None and is_same(judged, Judged(finding.ruling, signature=finding.signature))


_LIMITS = r"\bzero\b|non-?zero|positive|negative|at least|greater|more than|minimum|range|between|[<>≤≥]"
_DATES = r"YYYY|%Y|HH:MM|%H|\biso\b|iso.?8601|format|e\.g\.|example"
_NUMBERS = r"numb|integer|digit|numeric|decimal|float|e\.g\.|example"
_LAYOUT = r"separat|delimit|prefix|begin|start|format|e\.g\.|example|split|colon|comma"
_EMPTY = r"empty|blank|at least (?:one|1)|one or more"
_APART = re.compile(r"split\(|partition\(|\.index\(")
_LITERAL = re.compile(
    r"invalid literal for int\(\) .*: (?P<one>.+)|could not convert string to float: (?P<other>.+)"
)
_KEY = re.compile(r"(['\"])(?P<key>.{1,80})\1")


class Want(msgspec.Struct, frozen=True):
    """What some parameters must fulfil so that the tool does not crash.

    `told` is a pattern that matches documentation which mentions it.
    """

    words: str
    told: str
    names: tuple[str, ...]


def want_of(answer: CallAnswer) -> Want | None:
    """The requirement, if error type, message and arguments determine it; otherwise None."""
    return next((want for reading in _READINGS for want in reading(answer)), None)


def _nought(answer: CallAnswer) -> Iterator[Want]:
    """A 0 used as a divisor: it is the only number, or the code shows it."""
    noughts = _named(answer, lambda value: value == 0 and value is not False)
    divisors = tuple(name for name in noughts if re.search(rf"[/%]\s*\(?{re.escape(name)}\b", answer.code))
    names = divisors or (noughts if len(_named(answer, _is_number)) == 1 else ())
    if answer.error == "ZeroDivisionError" and names:
        yield Want("can't be 0", _LIMITS, names)


def _nothing(answer: CallAnswer) -> Iterator[Want]:
    """An empty list or text where at least one item was expected."""
    ends = answer.error in {"ZeroDivisionError", "IndexError"} or "empty" in answer.message
    if ends and (names := _named(answer, lambda value: value == [])):
        yield Want("can't be empty", _EMPTY, names)
    if "string index" in answer.message and (names := _named(answer, lambda value: value == "")):
        yield Want("can't be empty", _EMPTY, names)


def _range(answer: CallAnswer) -> Iterator[Want]:
    if "math domain error" in answer.message and (names := _named(answer, _is_number)):
        yield Want("has to be within a range", _LIMITS, names)


def _date(answer: CallAnswer) -> Iterator[Want]:
    if re.search(r"does not match format|isoformat|unconverted data remains", answer.message):
        yield Want("has to be a date or time in a certain format", _DATES, _quoted(answer))


def _number(answer: CallAnswer) -> Iterator[Want]:
    found = _LITERAL.search(answer.message)
    quoted = (found["one"] or found["other"]) if found else ""
    if found and (names := _named(answer, lambda value: isinstance(value, str) and repr(value) == quoted)):
        yield Want("has to be a number, written as a text", _NUMBERS, names)


def _json(answer: CallAnswer) -> Iterator[Want]:
    if answer.error == "JSONDecodeError":
        yield Want("has to be JSON", "json", _named(answer, lambda value: isinstance(value, str)))


def _parts(answer: CallAnswer) -> Iterator[Want]:
    short = r"index out of range|values to unpack|substring not found"
    plain = "\\u" not in answer.arguments  # an escaped character may be the cause instead
    if plain and re.search(short, answer.message) and _APART.search(answer.code):
        yield Want(
            "has to be made up of certain parts",
            _LAYOUT,
            _named(answer, lambda value: isinstance(value, str)),
        )


def _key(answer: CallAnswer) -> Iterator[Want]:
    """A key that an object in the arguments lacks."""
    found = _KEY.fullmatch(answer.message) if answer.error == "KeyError" else None
    if found and found["key"] not in answer.arguments and (names := _named(answer, _is_object)):
        yield Want(f"has to have the key '{found['key']}'", re.escape(found["key"]), names)


def _quoted(answer: CallAnswer) -> tuple[str, ...]:
    """Text parameters whose values the message repeats, or else all text parameters."""
    texts = _named(answer, lambda value: isinstance(value, str))
    said = tuple(name for name in texts if repr(answer.values[name]) in answer.message)
    return said or texts


def _named(answer: CallAnswer, test: Callable[[Any], bool]) -> tuple[str, ...]:
    return tuple(name for name, value in answer.values.items() if test(value))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_object(value: Any) -> bool:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return False
    return isinstance(value, dict)


_READINGS = (_nought, _nothing, _range, _date, _number, _json, _parts, _key)
