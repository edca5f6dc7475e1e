"""Puts a defect that was found by fuzzing to the agent: would anybody ever run into it?"""

import json
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Annotated, Any, TypeAlias

import msgspec
from msgspec import Meta

from misstep.core.finding import Finding
from misstep.core.forms import Complaint, read_form
from misstep.core.model import Unusable
from misstep.core.passage import Passage
from misstep.core.ruling import Judged
from misstep.core.tool import Described, Invocation
from misstep.core.trial import Trial, Use
from misstep.core.words import cut
from misstep.schemas.equality import same
from misstep.tooling.asking.documentation import calls_in_words, documentation_of, error_in_words
from misstep.tooling.asking.parties import Models, Trials
from misstep.tooling.asking.prompts import Prompts

RUNTIME_ERRORS = ("crash", "hang", "blow-up", "protocol")
SHOWN = 500  # characters of what an agent says
NATURAL = 3  # ways to show a defect that a model is asked for

Request: TypeAlias = Annotated[str, Meta(min_length=1, max_length=20_000)]
Calls: TypeAlias = tuple[Invocation, ...]


class _Requests(msgspec.Struct, frozen=True):
    requests: Annotated[tuple[Request, ...], Meta(min_length=1)]


class _Arguments(msgspec.Struct, frozen=True):
    arguments: Annotated[tuple[dict[str, Any], ...], Meta(min_length=1)]


class Passing:
    """Leads defects through the stages; each model and trial is asked for no more than it takes."""

    def __init__(
        self, tools: Sequence[Described], models: Models, trials: Trials, prompts: Prompts, count: int
    ) -> None:
        self._tools = tools
        self._models = models
        self._trials = trials
        self._prompts = prompts
        self._count = count

    async def lead(self, finding: Finding) -> Passage:
        """How far a defect gets: past the documentation, into a natural request, there through the agent."""
        try:
            return await self._lead(finding)
        except Unusable as error:
            return Passage(finding.id, "inconclusive", "; ".join((error.message, *error.hints)))

    async def _lead(self, finding: Finding) -> Passage:
        first: Trial | None = None
        async for calls in self._forms(finding):
            rehearsal = await self._rehearse(calls)
            first = first or rehearsal
            if not rehearsal.is_usable:
                why = f"the agent did not answer: {_ending(rehearsal)}"
                return Passage(finding.id, "inconclusive", why, rehearsal)
            if _made(rehearsal.uses, calls):
                return await self._ask_for(finding, calls, rehearsal)
        assert first is not None
        return Passage(finding.id, "undocumented", _refusal(first), first)

    async def _forms(self, finding: Finding) -> AsyncIterator[Calls]:
        """Calls that show the defect: the smallest, those that showed it first, then natural ones."""
        known = list(dict.fromkeys([finding.calls, finding.original]))
        for calls in known:
            yield calls
        for arguments in await self._propose(finding):
            calls = (*finding.calls[:-1], Invocation(finding.calls[-1].tool, arguments))
            judged = await self._trials.make(calls)
            if judged.signature == finding.signature and judged.ruling in RUNTIME_ERRORS:
                yield calls

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

    async def _ask_for(self, finding: Finding, calls: Calls, rehearsal: Trial) -> Passage:
        """Whether natural requests lead to an error; the first that does is enough."""
        reader = requests_reader(self._count)
        about = self._about(finding, calls)
        requests = await self._models.ask("generator", "request", reader, **about, count=str(self._count))
        tried = list[Trial]()
        for request in requests:
            tried.append(await self._trials.run(request, _names(calls)))
            if any(shows_defect(use) for use in tried[-1].uses):
                return Passage(finding.id, "reached", "", rehearsal, requests, tuple(tried))
        if not any(trial.is_usable for trial in tried):
            why = f"the agent did not answer: {_ending(tried[-1])}"
            return Passage(finding.id, "inconclusive", why, rehearsal, requests, tuple(tried))
        return Passage(finding.id, "unmet", "", rehearsal, requests, tuple(tried))

    def _about(self, finding: Finding, calls: Calls) -> dict[str, str]:
        names = _names(calls)
        told = Judged(finding.kind, finding.why, error=finding.error, message=finding.message)
        return {
            "tools": documentation_of(tool for tool in self._tools if tool.name in names),
            "calls": calls_in_words(calls),
            "error": error_in_words(told),
        }


def shows_defect(use: Use) -> bool:
    """Whether what came of a call is an error of the tool's at run time."""
    return use.judged.ruling in RUNTIME_ERRORS


def requests_reader(count: int) -> Callable[[str], tuple[str, ...] | Complaint]:
    """Reads up to so many requests out of an answer, each once."""

    def read(text: str) -> tuple[str, ...] | Complaint:
        form = read_form(text, _Requests)
        if isinstance(form, Complaint):
            return form
        plain = (each.replace("\0", "\ufffd").strip() for each in form.requests)
        requests = tuple(dict.fromkeys(filter(None, plain)))[:count]
        return requests or Complaint("The messages are empty.")

    return read


def _read_arguments(text: str) -> tuple[str, ...] | Complaint:
    form = read_form(text, _Arguments)
    if isinstance(form, Complaint):
        return form
    return tuple(dict.fromkeys(json.dumps(each) for each in form.arguments))


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


def _refusal(rehearsal: Trial) -> str:
    if rehearsal.uses:
        last = rehearsal.uses[-1]
        return f"the agent made another call: {last.tool}({cut(last.arguments, SHOWN)})"
    return f"the agent would not make the call: {cut(rehearsal.answer, SHOWN)}"


def _ending(trial: Trial) -> str:
    return cut(trial.error or trial.ended, SHOWN)
