"""What models answer who are asked for better words, read strictly."""

import inspect
import json
import re
from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from misstep.core.answer_schema import AnswerSchema, FormatError, form_of
from misstep.core.descriptions import Wording, wording_of
from misstep.core.docstring import parse_docstring
from misstep.core.fixing import MOST_WORDS
from misstep.core.tool import Described
from misstep.core.transcript import storable
from misstep.core.words import quoted
from misstep.tooling.asking.arguments import arguments_schema, given_arguments

MOST_SAID = 20_000  # characters
MOST_CHARACTERS = 4_000  # of a candidate: not all scripts have spaces between words
MOST_ARGUMENTS = 20_000

# Marks of direction are among them: with them, code shows as something else than it is.
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufeff]")
_Said = Annotated[str, Meta(max_length=MOST_SAID)]


class _Rewritten(msgspec.Struct, frozen=True):
    description: _Said
    parameters: dict[str, _Said | None] = {}


class _Argued(msgspec.Struct, frozen=True):
    misleads: tuple[_Said, ...]
    argument: _Said
    description: _Said
    parameters: dict[str, _Said | None] = {}


class _Planned(msgspec.Struct, frozen=True):
    reason: _Said
    arguments: dict[str, Any]


class Proposal(msgspec.Struct, frozen=True):
    """Other words for a tool, with an argument for them if there is one."""

    wording: Wording
    why: str = ""


def rewritten_form(tool: Described, used: Sequence[Wording]) -> AnswerSchema[Proposal]:
    """Words for a tool that are neither its own nor among those used before."""
    return form_of(_Rewritten, parameters=_texts_for(tool)).then(
        lambda form: _proposal(form.description, form.parameters, tool, used)
    )


def observed_form(tool: Described) -> AnswerSchema[Proposal]:
    """Words for a tool, which may as well be its own."""
    return form_of(_Rewritten, parameters=_texts_for(tool)).then(
        lambda form: _proposal(form.description, form.parameters, tool)
    )


def argued_form(tool: Described, used: Sequence[Wording]) -> AnswerSchema[Proposal]:
    """The same behind what misleads, and an argument."""

    def make(form: _Argued) -> Proposal | FormatError:
        found = _proposal(form.description, form.parameters, tool, used)
        if isinstance(found, FormatError):
            return found
        why = "; ".join(filter(None, (*map(clean, form.misleads), clean(form.argument))))
        return Proposal(found.wording, why)

    return form_of(_Argued, parameters=_texts_for(tool)).then(make)


def planned_form(tool: Described) -> AnswerSchema[str]:
    """The arguments of a call to be made, as a JSON text."""
    parameters = tool.tool.parameters

    def make(form: _Planned) -> str | FormatError:
        text = json.dumps(given_arguments(form.arguments, parameters))
        if len(text) > MOST_ARGUMENTS:
            return FormatError(
                f"The arguments have {len(text):,} characters; at most {MOST_ARGUMENTS:,} are allowed."
            )
        return text

    return form_of(_Planned, arguments=arguments_schema(parameters)).then(make)


def clean(text: str) -> str:
    """A text as a docstring can hold it: no control characters, no white space round lines."""
    spaced = _CONTROL.sub(" ", storable(text.replace("\r\n", "\n")))
    return inspect.cleandoc("\n".join(line.rstrip() for line in spaced.split("\n"))).strip()


def _texts_for(tool: Described) -> dict[str, Any]:
    names = tool.tool.parameters.get("properties", {})
    texts = {name: {"type": ["string", "null"]} for name in names}
    return {"type": "object", "properties": texts}


def wrong_at_last(wording: Wording, tool: Described, used: Sequence[Wording]) -> str:
    """What is wrong with words that were put together out of several answers; empty if nothing is."""
    return " ".join([*_wrong_with(wording, tool), *_repeated(wording, tool, used)])


def _proposal(
    description: str,
    parameters: dict[str, str | None],
    tool: Described,
    used: Sequence[Wording] | None = None,
) -> Proposal | FormatError:
    own = wording_of(tool.tool).parameters
    given = {name: text for name, text in parameters.items() if text is not None}
    texts = {name: " ".join(clean(text).split()) for name, text in given.items()}
    wording = Wording(
        clean(description), {name: text for name, text in texts.items() if text != own.get(name)}
    )
    wrong = _wrong_with(wording, tool)
    if used is not None:
        wrong += _repeated(wording, tool, used)
    return FormatError(" ".join(wrong)) if wrong else Proposal(wording)


def _wrong_with(wording: Wording, tool: Described) -> list[str]:
    known = tool.tool.parameters.get("properties", {})
    wrong = [f"The tool has no parameter {quoted(name)}." for name in wording.parameters if name not in known]
    wrong += [
        f"The text for {quoted(name)} is empty." for name, text in wording.parameters.items() if not text
    ]
    if not wording.description:
        wrong.append("The description is empty.")
    if wording.words > MOST_WORDS:
        wrong.append(f"There are {wording.words} words in all; at most {MOST_WORDS} will do.")
    if (count := wording.characters) > MOST_CHARACTERS:
        wrong.append(f"There are {count:,} characters in all; at most {MOST_CHARACTERS:,} will do.")
    if parse_docstring(wording.description or "").text != wording.description:
        wrong.append("Leave out sections such as 'Args:': parameters have descriptions of their own.")
    return wrong


def _repeated(wording: Wording, tool: Described, used: Sequence[Wording]) -> list[str]:
    if wording.description == tool.tool.description and not wording.parameters:
        return ["That is what the tool says already."]
    return ["That has been proposed before: say something else."] if wording in used else []
