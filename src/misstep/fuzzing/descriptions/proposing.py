"""Asks models for better descriptions of a tool, with several strategies, and validates the answers."""

import inspect
import json
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Annotated, Any, TypeAlias, cast

import msgspec
from msgspec import Meta, structs

from misstep.core.model import Unusable, fenced
from misstep.core.outcome import storable
from misstep.core.results.descriptions import Wording, reworded, wording_of
from misstep.core.results.fixing import MOST_WORDS, Candidate, Strategy
from misstep.core.rng import Dice, derive_seed
from misstep.core.text import cut, quoted
from misstep.core.tool import Described, Invocation
from misstep.fuzzing.agent_tests.parties import Models, told
from misstep.fuzzing.agent_tests.prompts import Stage, documentation_of, listed
from misstep.fuzzing.agent_tests.requests import arguments_schema, given_arguments
from misstep.schemas.answers import AnswerSchema, FormatError, form_of
from misstep.schemas.source import parse_docstring

MOST_SAID = 20_000  # characters
MOST_CHARACTERS = 4_000  # of a candidate: not all scripts separate words with spaces
MOST_ARGUMENTS = 20_000

# Includes directional marks, which make code look different from what it is.
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


def wording_form(
    tool: Described, used: Sequence[Wording] | None, is_argued: bool = False
) -> AnswerSchema[tuple[Wording, str]]:
    """A schema for a new wording, not in `used` unless that is None, and for its reasons if it is argued."""

    def make(form: _Rewritten | _Argued) -> tuple[Wording, str] | FormatError:
        own = wording_of(tool.tool).parameters
        given = {name: text for name, text in form.parameters.items() if text is not None}
        texts = {name: " ".join(clean(text).split()) for name, text in given.items()}
        changed = {name: text for name, text in texts.items() if text != own.get(name)}
        wording = Wording(clean(form.description), changed)
        wrong = _wrong_with(wording, tool) + ([] if used is None else _repeated(wording, tool, used))
        argued = (*form.misleads, form.argument) if isinstance(form, _Argued) else ()
        why = "; ".join(filter(None, map(clean, argued)))
        return FormatError(" ".join(wrong)) if wrong else (wording, why)

    names = tool.tool.parameters.get("properties", {})
    texts = {"type": "object", "properties": {name: {"type": ["string", "null"]} for name in names}}
    if is_argued:
        return form_of(_Argued, parameters=texts).then(make)
    return form_of(_Rewritten, parameters=texts).then(make)


def clean(text: str) -> str:
    """Make a text suitable for a docstring: no control characters, indentation or trailing white space."""
    spaced = _CONTROL.sub(" ", storable(text.replace("\r\n", "\n")))
    return inspect.cleandoc("\n".join(line.rstrip() for line in spaced.split("\n"))).strip()


def wrong_at_last(wording: Wording, tool: Described, used: Sequence[Wording]) -> str:
    """What is wrong with a wording combined from several answers; empty if nothing is."""
    return " ".join([*_wrong_with(wording, tool), *_repeated(wording, tool, used)])


def _wrong_with(wording: Wording, tool: Described) -> list[str]:
    known = tool.tool.parameters.get("properties", {})
    texts = wording.parameters
    wrong = [f"The tool has no parameter {quoted(name)}." for name in texts if name not in known]
    wrong += [f"The text for {quoted(name)} is empty." for name, text in texts.items() if not text]
    if not wording.description:
        wrong.append("The description is empty.")
    if wording.words > MOST_WORDS:
        wrong.append(f"There are {wording.words} words in total; the maximum is {MOST_WORDS}.")
    if (count := wording.characters) > MOST_CHARACTERS:
        wrong.append(f"There are {count:,} characters in total; the maximum is {MOST_CHARACTERS:,}.")
    if parse_docstring(wording.description or "").text != wording.description:
        wrong.append("Omit sections such as 'Args:': parameters have their own descriptions.")
    return wrong


def _repeated(wording: Wording, tool: Described, used: Sequence[Wording]) -> list[str]:
    if wording.description == tool.tool.description and not wording.parameters:
        return ["That is what the tool says already."]
    return ["That was proposed before: write something else."] if wording in used else []


EXAMPLES = 8  # examples per question to a model
ROUNDS = 5  # of trying the tool and rewriting
ALIKE = 0.95  # similarity from which a text counts as unchanged
SHOWN = 2_000  # characters of a tool's answer

# Calls the tool in its sandbox and returns what an agent would see.
Call: TypeAlias = Callable[[Invocation], Awaitable[str]]


@dataclass
class Proposer:
    """Asks for descriptions of one tool, without proposing the same one twice."""

    tool: Described
    models: Models
    examples: Sequence[str]
    seed: int
    call: Call

    async def propose(self, number: int, strategy: Strategy, before: Sequence[Candidate]) -> Candidate:
        """A candidate, which has no wording if the model gave no usable one."""
        used = [each.wording for each in before if each.wording is not None]
        blank = Candidate(number, strategy)
        try:
            if strategy == "explore":
                return await self._explored(blank, used)
            about = {"tools": documentation_of([self.tool], strategy == "source"), **_limits(used)}
            if strategy == "findings":  # a random selection of them, a different one for each candidate
                dice = Dice(derive_seed(self.seed, "examples", number))
                drawn = dice.sample(list(self.examples), min(EXAMPLES, len(self.examples)))
                about["examples"] = fenced("\n\n".join(drawn) or "(none)")
            stage = cast("Stage", f"fix-{strategy}")
            form = wording_form(self.tool, used, strategy == "findings")
            wording, why = await self.models.ask("generator", stage, form, **about)
        except Unusable as error:
            return structs.replace(blank, why=told(error))
        return structs.replace(blank, wording=wording, why=cut(why, SHOWN))

    async def _explored(self, blank: Candidate, used: Sequence[Wording]) -> Candidate:
        """Try the tool and improve its description until it stops changing."""
        now, tried, why = Wording(), list[str](), ""
        for _ in range(ROUNDS):
            tool = reworded(self.tool, {self.tool.name: now})
            try:
                tried.append(await self._try(tool, tried))
                # A better description after these calls, or the same one again.
                about = {"tools": documentation_of([tool]), "tried": listed(tried), **_limits(used)}
                form = wording_form(tool, None)
                wording, _ = await self.models.ask("generator", "fix-observed", form, **about)
            except Unusable as error:
                why = told(error)
                break
            before, now = now, Wording(wording.description, {**now.parameters, **wording.parameters})
            same = SequenceMatcher(None, _whole(tool, before), _whole(tool, now), autojunk=False)
            if same.ratio() >= ALIKE:
                break
        wrong = why if now == Wording() else wrong_at_last(now, self.tool, used)
        found = None if wrong or now == Wording() else now
        return structs.replace(blank, wording=found, why=wrong, tried=tuple(tried))

    async def _try(self, tool: Described, tried: Sequence[str]) -> str:
        """Make a call that the model chooses, and describe the result."""
        parameters = tool.tool.parameters

        def make(form: _Planned) -> str | FormatError:
            text = json.dumps(given_arguments(form.arguments, parameters))
            if len(text) <= MOST_ARGUMENTS:
                return text
            most = f"at most {MOST_ARGUMENTS:,} are allowed"
            return FormatError(f"The arguments have {len(text):,} characters; {most}.")

        form = form_of(_Planned, arguments=arguments_schema(parameters)).then(make)
        about = {"tools": documentation_of([tool]), "tried": listed(tried)}
        arguments = await self.models.ask("generator", "fix-explore", form, **about)
        said = await self.call(Invocation(tool.name, arguments))
        return f"{tool.name}({cut(arguments, SHOWN)}) → {cut(said, SHOWN)}"


def _limits(used: Sequence[Wording]) -> dict[str, str]:
    return {"used": listed([each.description or "" for each in used]), "count": str(MOST_WORDS)}


def _whole(tool: Described, wording: Wording) -> str:
    return "\n".join((wording.description or tool.tool.description, *wording.parameters.values()))
