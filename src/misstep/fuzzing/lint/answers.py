"""Calls a tool to see which valid arguments it refuses or crashes on, and infers what it requires."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
from msgspec import structs

from misstep.core.results.finding import Finding
from misstep.core.results.fuzzing import ToolReport
from misstep.core.results.trial import Judged
from misstep.core.tool import Described
from misstep.fuzzing.contracts.checks import judge_sequences_of
from misstep.fuzzing.examination import Examination, ExaminationOptions
from misstep.fuzzing.judging.echoes import leaves_of
from misstep.fuzzing.lint.subject import LintSubject
from misstep.fuzzing.triage.replay import Replayer, is_same
from misstep.fuzzing.workbench import Workbench
from misstep.schemas.limits import is_number

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
        said = f"{self.error}: {self.message}" if self.error and self.message else self.error or self.message
        return f"{self.arguments} → {said}"


def answers_of(subject: LintSubject) -> Iterator[CallAnswer]:
    """Refusals, then crashes, on realistic arguments; unusual ones prove nothing.

    For example, nobody has to document that a path cannot contain a NUL byte.
    """
    answers = [CallAnswer(each.arguments, each.error, each.message, False) for each in subject.refusals]
    for each in subject.findings:
        crashed = each.kind == "crash"
        if len(each.calls) == 1 and (crashed or (each.kind == "schema" and each.error != "output schema")):
            code = subject.code_at(each.where)
            answers.append(CallAnswer(each.calls[0].arguments, each.error, each.message, crashed, code))
    for answer in answers:
        if len(answer.arguments) <= LONGEST and not any(map(_is_odd, leaves_of(answer.values))):
            yield answer


def _is_odd(value: Any) -> bool:
    if isinstance(value, str):
        return _ODD.search(value) is not None
    return isinstance(value, int | float) and not abs(value) <= LARGEST


PROVING = ("crash", "schema", "acceptance")  # kinds of findings that may concern documentation


def look_at(bench: Workbench, tool: Described, seed: int, most: int, over: Callable[[], bool]) -> ToolReport:
    """Fuzz a tool with up to `most` calls; keep findings, not minimised, that one call shows again."""
    examination = Examination(bench, [tool], ToolReport(tool.name, 0), ExaminationOptions(tool.where, seed))
    while not over() and examination.calls < most and examination.go_on(most - examination.calls, over):
        pass
    report = examination.report("calls")
    replayer = Replayer(bench, judge_sequences_of([tool]), len(report.unconfirmed), over)
    shown = list[Finding]()
    for each in report.unconfirmed:
        if each.kind in PROVING:
            calls, like = each.calls[-1:], Judged(each.ruling, signature=each.signature)
            judged = replayer.last_of(calls, fresh=bench.starts_quickly)
            if judged is not None and is_same(judged, like):
                shown.append(structs.replace(each, calls=calls, replayed=1, reproduced=1))
    return structs.replace(report, findings=tuple(shown), unconfirmed=())


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
    """What some parameters must fulfil; `told` is a pattern for documentation that mentions it."""

    words: str
    told: str
    names: tuple[str, ...]


def want_of(answer: CallAnswer) -> Want | None:
    """The requirement, if error type, message and arguments determine it; otherwise None."""
    return next(_wants(answer), None)


def _wants(answer: CallAnswer) -> Iterator[Want]:
    error, message, values = answer.error, answer.message, answer.values
    texts = {name: value for name, value in values.items() if isinstance(value, str)}
    numbers = {name: value for name, value in values.items() if is_number(value)}
    if error == "ZeroDivisionError":
        zeros = [name for name, value in numbers.items() if value == 0]
        divisors = [name for name in zeros if re.search(rf"[/%]\s*\(?{re.escape(name)}\b", answer.code)]
        if names := divisors or (zeros if len(numbers) == 1 else []):
            yield Want("can't be 0", _LIMITS, tuple(names))
    empty = [name for name, value in values.items() if value == []]
    if empty and (error in {"ZeroDivisionError", "IndexError"} or "empty" in message):
        yield Want("can't be empty", _EMPTY, tuple(empty))
    if "string index" in message and (names := [name for name, text in texts.items() if not text]):
        yield Want("can't be empty", _EMPTY, tuple(names))
    if "math domain error" in message and numbers:
        yield Want("has to be within a range", _LIMITS, tuple(numbers))
    if re.search(r"does not match format|isoformat|unconverted data remains", message):
        repeated = tuple(name for name, text in texts.items() if repr(text) in message)
        yield Want("has to be a date or time in a certain format", _DATES, repeated or tuple(texts))
    if found := _LITERAL.search(message):
        written = found["one"] or found["other"]
        if names := [name for name, text in texts.items() if repr(text) == written]:
            yield Want("has to be a number, written as a text", _NUMBERS, tuple(names))
    if error == "JSONDecodeError":
        yield Want("has to be JSON", "json", tuple(texts))
    is_short = re.search(r"index out of range|values to unpack|substring not found", message)
    # An escaped character may be the cause instead.
    if is_short and "\\u" not in answer.arguments and _APART.search(answer.code):
        yield Want("must consist of certain parts", _LAYOUT, tuple(texts))
    found = _KEY.fullmatch(message) if error == "KeyError" else None
    objects = [name for name, value in values.items() if _is_object(value)]
    if found and objects and found["key"] not in answer.arguments:
        yield Want(f"has to have the key '{found['key']}'", re.escape(found["key"]), tuple(objects))


def _is_object(value: Any) -> bool:
    """Whether it is an object, or JSON text of one."""
    try:
        return isinstance(json.loads(value) if isinstance(value, str) else value, dict)
    except (ValueError, RecursionError):
        return False
