"""Puts a defect that was found by fuzzing to the agent: would anybody ever run into it?"""

import json
from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from contextlib import aclosing
from typing import Annotated, Any, TypeAlias

import msgspec
from msgspec import Meta, structs

from misstep.core.finding import RUNTIME_ERRORS, Finding
from misstep.core.forms import Complaint, read_form
from misstep.core.model import Unusable
from misstep.core.passage import Matter, Passage
from misstep.core.ruling import Judged
from misstep.core.template import fenced
from misstep.core.tool import Invocation
from misstep.core.trial import Trial, Use
from misstep.core.words import cut
from misstep.schemas.equality import same
from misstep.tooling.asking.confirming import confirmed
from misstep.tooling.asking.documentation import calls_in_words, documentation_of, error_in_words
from misstep.tooling.asking.parties import Models, Trials
from misstep.tooling.asking.prompts import Prompts
from misstep.tooling.asking.refusals import fits, stuck_at
from misstep.tooling.triage.replay import is_same

SHOWN = 500  # characters of what an agent says
NATURAL = 3  # ways to show a defect that a model is asked for
MOST_ARGUMENTS = 20_000  # characters of a way that a model proposes

Request: TypeAlias = Annotated[str, Meta(min_length=1, max_length=20_000)]
Calls: TypeAlias = tuple[Invocation, ...]


class _Requests(msgspec.Struct, frozen=True):
    requests: Annotated[tuple[Request, ...], Meta(min_length=1)]


class _Arguments(msgspec.Struct, frozen=True):
    arguments: Annotated[tuple[dict[str, Any], ...], Meta(min_length=1)]


class _Opinion(msgspec.Struct, frozen=True):
    reason: str
    surprising: bool


class _Second(msgspec.Struct, frozen=True):
    reason: str
    foreseen: bool


class Passing:
    """Leads defects through the stages; each model and trial is asked for no more than it takes.

    `count` requests are tried for each. Where it `is_trusting`, nobody asks whether the documentation allows
    the calls.
    """

    def __init__(
        self, models: Models, trials: Trials, prompts: Prompts, count: int, is_trusting: bool = False
    ) -> None:
        self._models = models
        self._trials = trials
        self._prompts = prompts
        self._count = count
        self._is_trusting = is_trusting

    async def lead(self, finding: Finding) -> Passage:
        """How far a defect gets: past the documentation, into a natural request, there through the agent.

        A refusal gets there only if a judge would not have expected it.
        """
        matter: Matter = "refusal" if finding.kind == "refusal" else "defect"
        passage, calls = await self._rehearsed(finding, Passage(finding.id, "inconclusive", matter=matter))
        if not calls:
            return passage
        try:
            requests = await self._requests_for(finding, calls)
        except Unusable as error:
            return structs.replace(passage, why=f"no requests were made: {told(error)}")
        return await self._tried(finding, calls, structs.replace(passage, requests=requests))

    async def _rehearsed(self, finding: Finding, passage: Passage) -> tuple[Passage, Calls]:
        """The calls that the agent makes when it is told to; none if there are no such ones."""
        if self._is_trusting:
            return structs.replace(passage, is_documented=True), finding.calls
        first: Trial | None = None
        async with aclosing(self._forms(finding)) as forms:
            async for calls in forms:
                rehearsal = await self._rehearse(calls)
                first = first or rehearsal
                if _made(rehearsal.uses, calls):
                    return structs.replace(passage, is_documented=True, rehearsal=rehearsal), calls
                if not rehearsal.is_usable:
                    return structs.replace(passage, why=trouble_with(rehearsal), rehearsal=rehearsal), ()
        assert first is not None
        return structs.replace(passage, fate="undocumented", why=_declined(first), rehearsal=first), ()

    async def _forms(self, finding: Finding) -> AsyncGenerator[Calls]:
        """Calls that show the defect: the smallest, those that showed it first, then natural ones."""
        for calls in dict.fromkeys([finding.calls, finding.original]):
            yield calls
        for arguments in await self._propose(finding):
            calls = (*finding.calls[:-1], Invocation(finding.calls[-1].tool, arguments))
            if self._is_same(await self._trials.make(calls), calls[-1], finding):
                yield calls

    def _is_same(self, judged: Judged, call: Invocation, finding: Finding) -> bool:
        if finding.kind == "refusal":
            return judged.ruling == "refused" and self._fits(call)
        return judged.ruling in RUNTIME_ERRORS and judged.signature == finding.signature

    def _fits(self, call: Invocation) -> bool:
        return any(fits(call.arguments, tool) for tool in self._trials.tools if tool.name == call.tool)

    async def _propose(self, finding: Finding) -> Sequence[str]:
        """Arguments that people might use and that could show the defect; none if the model has no idea."""
        about = self._about(finding, finding.calls)
        try:
            proposed = await self._models.ask(
                "generator", "natural", _read_arguments, **about, count=str(NATURAL)
            )
        except Unusable:
            return ()
        return proposed[:NATURAL]

    async def _rehearse(self, calls: Calls) -> Trial:
        """What the agent does when it is told to make these very calls."""
        exactly = self._prompts.fill("exactly", calls=calls_in_words(calls))
        return await self._trials.rehearse(exactly, _names(calls))

    async def _requests_for(self, finding: Finding, calls: Calls) -> tuple[str, ...]:
        reader, about = requests_reader(self._count), self._about(finding, calls)
        return await self._models.ask("generator", "request", reader, **about, count=str(self._count))

    async def _tried(self, finding: Finding, calls: Calls, passage: Passage) -> Passage:
        """Whether natural requests lead there; the first that does is enough. Other errors are not it."""
        looked_for = Judged(finding.ruling, signature=finding.signature)
        for request in passage.requests:
            trial = await confirmed(await self._trials.run(request, _names(calls)), self._trials)
            passage = structs.replace(passage, trials=(*passage.trials, trial))
            if finding.kind == "refusal":
                place = stuck_at(trial, finding.tool)
                if place is not None and self._fits(_call(trial.uses[place])):
                    return await self._judged(passage, trial, place)
            elif any(use.tool == finding.tool and is_same(use.judged, looked_for) for use in trial.uses):
                return structs.replace(passage, fate="reached")
        troubles = [trouble_with(trial) for trial in passage.trials]
        if all(troubles):
            return structs.replace(passage, why=troubles[-1])
        return structs.replace(passage, fate="unmet")

    async def _judged(self, passage: Passage, trial: Trial, place: int) -> Passage:
        """Whether a refusal would surprise somebody who has read the documentation.

        It has to come again from a fresh start, and a judge that is surprised is asked the other way round.
        """
        calls = tuple(map(_call, trial.uses[: place + 1]))
        if (await self._trials.make(calls)).ruling != "refused":
            return structs.replace(passage, why="it was refused, but not again from a fresh start")
        about = {
            "tools": self._documentation(calls),
            "request": fenced(trial.request),
            "calls": calls_in_words(calls),
            "error": fenced(cut(trial.uses[place].result, SHOWN)),
        }
        try:
            opinion = await self._models.ask("judge", "refusal", _read_opinion, **about)
            if not opinion.surprising:
                return structs.replace(passage, fate="expected", why=cut(opinion.reason, SHOWN))
            second = await self._models.ask("judge", "foretold", _read_second, **about)
        except Unusable as error:
            return structs.replace(passage, why=f"the refusal was not judged: {told(error)}")
        if second.foreseen:
            return structs.replace(passage, why="the judge contradicts itself about the refusal")
        return structs.replace(passage, fate="reached", why=cut(opinion.reason, SHOWN))

    def _about(self, finding: Finding, calls: Calls) -> dict[str, str]:
        judged = Judged(finding.ruling, finding.why, error=finding.error, message=finding.message)
        return {
            "tools": self._documentation(calls),
            "calls": calls_in_words(calls),
            "error": error_in_words(judged),
        }

    def _documentation(self, calls: Calls) -> str:
        names = _names(calls)
        return documentation_of(tool for tool in self._trials.tools if tool.name in names)


def trouble_with(trial: Trial) -> str:
    """Why a trial that shows no error tells nothing about its tools; empty if it does."""
    if not trial.is_usable:
        return f"the agent did not answer: {cut(trial.error or trial.ended, SHOWN)}"
    for use in trial.uses:
        if use.judged.ruling == "environment":
            return f"the tool can't work here: {cut(use.judged.why, SHOWN)}"
    return ""


def told(error: Unusable) -> str:
    return "; ".join((error.message, *error.hints))


def requests_reader(count: int, used: Collection[str] = ()) -> Callable[[str], tuple[str, ...] | Complaint]:
    """Reads up to so many requests out of an answer, each once, and none that has been used."""

    def read(text: str) -> tuple[str, ...] | Complaint:
        form = read_form(text, _Requests)
        if isinstance(form, Complaint):
            return form
        plain = (each.replace("\0", "\ufffd").strip() for each in form.requests)
        requests = tuple(dict.fromkeys(filter(None, plain)))
        fresh = tuple(each for each in requests if each not in used)[:count]
        return fresh or Complaint("All of these were used before." if requests else "The messages are empty.")

    return read


def _read_arguments(text: str) -> tuple[str, ...] | Complaint:
    form = read_form(text, _Arguments)
    if isinstance(form, Complaint):
        return form
    written = dict.fromkeys(json.dumps(each) for each in form.arguments)
    return tuple(each for each in written if len(each) <= MOST_ARGUMENTS)


def _read_opinion(text: str) -> _Opinion | Complaint:
    return read_form(text, _Opinion)


def _read_second(text: str) -> _Second | Complaint:
    return read_form(text, _Second)


def _call(use: Use) -> Invocation:
    return Invocation(use.tool, use.arguments)


def _names(calls: Calls) -> list[str]:
    return list(dict.fromkeys(call.tool for call in calls))


def _made(uses: Sequence[Use], calls: Calls) -> bool:
    """Whether the calls were made as they are, in this order, whatever came between them."""
    wanted = list(calls)
    for use in uses:
        if wanted and use.tool == wanted[0].tool and _alike(use.arguments, wanted[0].arguments):
            wanted.pop(0)
    return not wanted


def _alike(one: str, other: str) -> bool:
    try:
        return same(json.loads(one), json.loads(other))
    except ValueError:  # a secret in it has been masked
        return False


def _declined(rehearsal: Trial) -> str:
    if rehearsal.uses:
        last = rehearsal.uses[-1]
        return f"the agent made another call: {last.tool}({cut(last.arguments, SHOWN)})"
    return f"the agent would not make the call: {cut(rehearsal.answer, SHOWN)}"
