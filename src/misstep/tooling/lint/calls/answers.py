"""What tools said to calls that fit their schemas."""

import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from misstep.core.finding import Finding
from misstep.tooling.lint.subject import Subject

LONGEST = 200  # characters of arguments that anybody would give by hand
LARGEST = 10**12  # number that anybody would
_ODD = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u200b-\u200f\u2028-\u202e\ufeff]")


class Answer(msgspec.Struct, frozen=True):
    """What became of a call: `error` is a type or empty, `crashed` if nobody handled it.

    `code` is the line of the tool's own code where it ended, as far as that is known.
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
        """The call and the tool's words."""
        said = f"{self.error}: {self.message}" if self.error and self.message else self.error or self.message
        return f"{self.arguments} → {said}"


def answers_of(subject: Subject) -> Iterator[Answer]:
    """Refusals, then crashes, of arguments such as an agent might give; odd ones prove nothing.

    That a path can't hold a NUL byte, say, goes without saying.
    """
    refused = [Answer(each.arguments, each.error, each.message, False) for each in subject.refusals]
    broken = [answer for finding in subject.findings if (answer := _broken(subject, finding)) is not None]
    for answer in (*refused, *broken):
        if len(answer.arguments) <= LONGEST and not any(map(_is_odd, _leaves(answer.values))):
            yield answer


def _broken(subject: Subject, finding: Finding) -> Answer | None:
    """A finding that one call shows by itself."""
    crashed = finding.kind == "crash"
    if len(finding.calls) != 1 or not (
        crashed or (finding.kind == "schema" and finding.error != "output schema")
    ):
        return None
    code = subject.code_at(finding.where)
    return Answer(finding.calls[0].arguments, finding.error, finding.message, crashed, code)


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
