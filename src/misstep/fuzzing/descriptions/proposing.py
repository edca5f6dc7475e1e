"""Asks models for better descriptions of a tool, with several strategies.

Answers are validated: no unknown parameters, no repetition, limited length. The `explore` strategy calls the
tool and rewrites the description until it stops changing.
"""

import inspect
import json
import re
from collections.abc import Awaitable, Callable, Sequence
from difflib import SequenceMatcher
from typing import Annotated, Any, TypeAlias

import msgspec
from msgspec import Meta, structs

from misstep.core.model import Unusable, fenced
from misstep.core.outcome import storable
from misstep.core.results.fixing import MOST_WORDS, Candidate, Strategy, Wording, reworded, wording_of
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


class WordingProposal(msgspec.Struct, frozen=True):
    """A new wording for a tool, with the model's reasons if it gave any."""

    wording: Wording
    why: str = ""


def rewritten_form(tool: Described, used: Sequence[Wording]) -> AnswerSchema[WordingProposal]:
    """A schema for a wording that is neither the current one nor in `used`."""
    return form_of(_Rewritten, parameters=_texts_for(tool)).then(
        lambda form: _proposal(form.description, form.parameters, tool, used)
    )


def observed_form(tool: Described) -> AnswerSchema[WordingProposal]:
    """A schema for a wording that may be the current one."""
    return form_of(_Rewritten, parameters=_texts_for(tool)).then(
        lambda form: _proposal(form.description, form.parameters, tool)
    )


def argued_form(tool: Described, used: Sequence[Wording]) -> AnswerSchema[WordingProposal]:
    """Like `rewritten_form`, preceded by what is misleading now and an argument."""

    def make(form: _Argued) -> WordingProposal | FormatError:
        found = _proposal(form.description, form.parameters, tool, used)
        if isinstance(found, FormatError):
            return found
        why = "; ".join(filter(None, (*map(clean, form.misleads), clean(form.argument))))
        return WordingProposal(found.wording, why)

    return form_of(_Argued, parameters=_texts_for(tool)).then(make)


def planned_form(tool: Described) -> AnswerSchema[str]:
    """A schema for the arguments of a call to make, parsed to a JSON text."""
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
    """Make a text suitable for a docstring: no control characters, indentation or trailing white space."""
    spaced = _CONTROL.sub(" ", storable(text.replace("\r\n", "\n")))
    return inspect.cleandoc("\n".join(line.rstrip() for line in spaced.split("\n"))).strip()


def _texts_for(tool: Described) -> dict[str, Any]:
    names = tool.tool.parameters.get("properties", {})
    texts = {name: {"type": ["string", "null"]} for name in names}
    return {"type": "object", "properties": texts}


def wrong_at_last(wording: Wording, tool: Described, used: Sequence[Wording]) -> str:
    """What is wrong with a wording combined from several answers; empty if nothing is."""
    return " ".join([*_wrong_with(wording, tool), *_repeated(wording, tool, used)])


def _proposal(
    description: str,
    parameters: dict[str, str | None],
    tool: Described,
    used: Sequence[Wording] | None = None,
) -> WordingProposal | FormatError:
    own = wording_of(tool.tool).parameters
    given = {name: text for name, text in parameters.items() if text is not None}
    texts = {name: " ".join(clean(text).split()) for name, text in given.items()}
    wording = Wording(
        clean(description), {name: text for name, text in texts.items() if text != own.get(name)}
    )
    wrong = _wrong_with(wording, tool)
    if used is not None:
        wrong += _repeated(wording, tool, used)
    return FormatError(" ".join(wrong)) if wrong else WordingProposal(wording)


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


EXAMPLES = 8  # examples per question to a model
ROUNDS = 5  # of trying the tool and rewriting
ALIKE = 0.95  # similarity from which a text counts as unchanged
SHOWN = 2_000  # characters of a tool's answer

# Calls the tool in its sandbox and returns what an agent would see.
Call: TypeAlias = Callable[[Invocation], Awaitable[str]]


class Proposer:
    """Asks for descriptions of one tool, without proposing the same one twice."""

    def __init__(
        self, tool: Described, models: Models, examples: Sequence[str], seed: int, call: Call
    ) -> None:
        self._tool = tool
        self._models = models
        self._examples = examples
        self._seed = seed
        self._call = call

    async def propose(self, number: int, strategy: Strategy, before: Sequence[Candidate]) -> Candidate:
        """A candidate, which has no wording if the model gave no usable one."""
        used = [each.wording for each in before if each.wording is not None]
        blank = Candidate(number, strategy)
        try:
            if strategy == "explore":
                return await self._explored(blank, used)
            proposal = await self._written(strategy, number, used)
        except Unusable as error:
            return structs.replace(blank, why=told(error))
        return structs.replace(blank, wording=proposal.wording, why=cut(proposal.why, SHOWN))

    async def _written(self, strategy: Strategy, number: int, used: Sequence[Wording]) -> WordingProposal:
        tool, models = self._tool, self._models
        told = {"tools": documentation_of([tool], strategy == "source"), **_limits(used)}
        if strategy == "findings":
            form = argued_form(tool, used)
            return await models.ask("generator", "fix-findings", form, **told, examples=self._drawn(number))
        stage: Stage = "fix-source" if strategy == "source" else "fix-description"
        return await models.ask("generator", stage, rewritten_form(tool, used), **told)

    def _drawn(self, number: int) -> str:
        """A random selection of failures, a different one for each candidate."""
        dice = Dice(derive_seed(self._seed, "examples", number))
        drawn = dice.sample(list(self._examples), min(EXAMPLES, len(self._examples)))
        return fenced("\n\n".join(drawn) or "(none)")

    async def _explored(self, blank: Candidate, used: Sequence[Wording]) -> Candidate:
        """Try the tool and improve its description until it stops changing."""
        now, tried, why = Wording(), list[str](), ""
        for _ in range(ROUNDS):
            tool = reworded(self._tool, {self._tool.name: now})
            try:
                tried.append(await self._try(tool, tried))
                proposal = await self._observed(tool, tried, used)
            except Unusable as error:
                why = told(error)
                break
            before, now = now, _joined(now, proposal.wording)
            if _alikeness(_whole(tool, before), _whole(tool, now)) >= ALIKE:
                break
        wrong = why if now == Wording() else wrong_at_last(now, self._tool, used)
        found = None if wrong or now == Wording() else now
        return structs.replace(blank, wording=found, why=wrong, tried=tuple(tried))

    async def _try(self, tool: Described, tried: Sequence[str]) -> str:
        """Make a call that the model chooses, and describe the result."""
        documented = documentation_of([tool])
        arguments = await self._models.ask(
            "generator", "fix-explore", planned_form(tool), tools=documented, tried=listed(tried)
        )
        said = await self._call(Invocation(tool.name, arguments))
        return f"{tool.name}({cut(arguments, SHOWN)}) → {cut(said, SHOWN)}"

    async def _observed(
        self, tool: Described, tried: Sequence[str], used: Sequence[Wording]
    ) -> WordingProposal:
        """A better description after these calls, or the same one again."""
        told = {"tools": documentation_of([tool]), "tried": listed(tried), **_limits(used)}
        return await self._models.ask("generator", "fix-observed", observed_form(tool), **told)


def _limits(used: Sequence[Wording]) -> dict[str, str]:
    return {"used": listed([each.description or "" for each in used]), "count": str(MOST_WORDS)}


def _joined(before: Wording, after: Wording) -> Wording:
    return Wording(after.description, {**before.parameters, **after.parameters})


def _whole(tool: Described, wording: Wording) -> str:
    return "\n".join((wording.description or tool.tool.description, *wording.parameters.values()))


def _alikeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other, autojunk=False).ratio()
