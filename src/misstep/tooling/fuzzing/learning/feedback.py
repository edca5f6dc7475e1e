"""What is new about a call: places of the code where they can be seen, else the shape of its result."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import msgspec

from misstep.core.ruling import REFUSALS, Judged
from misstep.core.tool import Reaction

# An edge of the code, or a result in outline.
Feature: TypeAlias = int | str

_READ = 400  # characters of a text that its outline is made of
_SHOWN = 120  # characters of an outline
_WORDS = 8  # of a text that tells of no error; what follows is its content
_MOST_OUTLINES = 96  # of one tool; more mean that it says something else each time
_MOST_KEYS = 24
_EDGE = 56  # bits, more than an edge has
_DEEPEST = 3
_BAD = frozenset({"crash", "hang", "blow-up", "schema", "protocol", "acceptance", "suspicious-refusal"})
_LASTING = frozenset({"hung", "died", "exhausted"})

_PARTS = re.compile(
    r"""(?P<quoted>"[^"]{0,200}"|'[^']{0,200}'|`[^`]{0,200}`)|(?P<path>(?:\w:)?[\\/][^\s:,;'"]{2,})"""
    r"""|(?P<number>0x[0-9a-fA-F]+|[0-9a-fA-F]{8}-[-0-9a-fA-F]{9,}|[-+]?\d[\d.,:eE+-]*)"""
)
_ERROR = re.compile(r"error|exception|invalid|fail|cannot|can't|not |denied|unknown|missing|traceback", re.I)


def is_bad(judged: Judged) -> bool:
    """Whether the ruling is a defect."""
    return judged.ruling in _BAD


def is_costly(reaction: Reaction) -> bool:
    """Whether a call like this one had better not be made again."""
    return reaction.ended in _LASTING


class Feedback:
    """Tells what is new about the calls of one tool, or about what follows upon what."""

    def __init__(self, tool: int) -> None:
        self._tool = tool  # among those of the toolkit, which may share code
        self._seen = set[Feature]()
        self._outlines = 0
        self._has_edges = False

    def features(
        self, reaction: Reaction, judged: Judged, arguments: Mapping[str, Any]
    ) -> tuple[Feature, ...]:
        """All that is known to set the call apart; of the edges only new ones, unless it was marked."""
        self._has_edges = self._has_edges or bool(reaction.edges)
        shape = outline(reaction, judged, arguments, brief=self._has_edges)
        if not self._tool:
            return (*reaction.edges, shape)
        apart = self._tool << _EDGE
        return (*(edge | apart for edge in reaction.edges), f"{self._tool} {shape}")

    def fresh(self, features: Sequence[Feature]) -> list[Feature]:
        """Those that were never seen before; outlines only as long as they are not new each time."""
        return [feature for feature in features if self._is_new(feature)]

    def _is_new(self, feature: Feature) -> bool:
        if feature in self._seen:
            return False
        if type(feature) is str:
            if self._outlines >= _MOST_OUTLINES:
                return False
            self._outlines += 1
        self._seen.add(feature)
        return True


def outline(reaction: Reaction, judged: Judged, arguments: Mapping[str, Any], brief: bool = False) -> str:
    """A text that calls have in common whose results differ in their content only.

    A brief one is for tools whose code can be seen, so that the result has less to tell.
    """
    if judged.signature:
        return f"!{judged.ruling} {judged.signature}"
    if reaction.raised is not None:
        return f"!{reaction.raised.kind} {normalised(reaction.raised.message, arguments)}"
    if reaction.ended != "returned":
        return f"!{reaction.ended}"
    head = "?" if reaction.flagged or judged.ruling in (*REFUSALS, "environment") else ""
    size = reaction.size.bit_length() // 2
    if reaction.structured is not None:
        return f"{head}{size} {_form_of(reaction.structured)}"
    text = reaction.text
    if not head and brief:
        return f"{size}"
    if text[:1] in ("{", "["):
        return f"{head}{size} {_form_of(text)}"
    if head or _ERROR.search(text[:_READ]):
        return f"?{normalised(text, arguments)}"
    return f"{size} {' '.join(normalised(text, arguments).split()[:_WORDS])}"


def normalised(text: str, arguments: Mapping[str, Any]) -> str:
    """The text without what changes from call to call: numbers, what is quoted, what was given."""
    text = text[:_READ]
    for value in arguments.values():
        if type(value) is str and len(value) > 2:
            text = text.replace(value[:_READ], "*")
    return _PARTS.sub("*", text)[:_SHOWN]


def _form_of(text: str) -> str:
    try:
        return form(msgspec.json.decode(text))
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return text[:1]


def form(value: Any, deep: int = 0) -> str:
    """The keys and types of a JSON value."""
    if isinstance(value, dict):
        if deep >= _DEEPEST:
            return "{}"
        keys = sorted(value)[:_MOST_KEYS]
        return "{" + ",".join(f"{key[:24]}:{form(value[key], deep + 1)}" for key in keys) + "}"
    if isinstance(value, list):
        many = min(len(value).bit_length(), 4)
        return f"[{many}{form(value[0], deep + 1) if value and deep < _DEEPEST else ''}]"
    return type(value).__name__[:1]
