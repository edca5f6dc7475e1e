"""Puts a defect that was found by fuzzing to the agent: would anybody ever run into it?"""

import json
from collections.abc import Callable, Sequence
from typing import Annotated

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
from misstep.tooling.asking.documentation import calls_in_words, documentation_of, error_in_words
from misstep.tooling.asking.parties import Models, Trials
from misstep.tooling.asking.prompts import Prompts

RUNTIME_ERRORS = ("crash", "hang", "blow-up", "protocol")
SHOWN = 500  # characters of what an agent says

Request = Annotated[str, Meta(min_length=1, max_length=20_000)]


class _Requests(msgspec.Struct, frozen=True):
    requests: Annotated[tuple[Request, ...], Meta(min_length=1)]


async def put_through(
    finding: Finding, tools: Sequence[Described], models: Models, trials: Trials, prompts: Prompts, count: int
) -> Passage:
    """How far a defect gets: past the documentation, into a natural request, and there through the agent."""
    names = list(dict.fromkeys(call.tool for call in finding.calls))
    exactly = prompts.fill("exactly", calls=calls_in_words(finding.calls))
    rehearsal = await trials.rehearse(exactly, names)
    if not rehearsal.is_usable:
        return Passage(
            finding.id, "inconclusive", f"the agent did not answer: {_ending(rehearsal)}", rehearsal
        )
    if not _made(rehearsal.uses, finding.calls):
        return Passage(finding.id, "undocumented", _refusal(rehearsal), rehearsal)
    documented = [tool for tool in tools if tool.name in names]
    try:
        requests = await models.ask(
            "generator",
            "request",
            requests_reader(count),
            tools=documentation_of(documented),
            calls=calls_in_words(finding.calls),
            error=error_in_words(Judged("crash", finding.why, error=finding.error, message=finding.message)),
            count=str(count),
        )
    except Unusable as error:
        return Passage(finding.id, "inconclusive", f"no request was made: {_told(error)}", rehearsal)
    tried = list[Trial]()
    for request in requests:
        tried.append(await trials.run(request, names))
        if any(shows_defect(use) for use in tried[-1].uses):
            return Passage(finding.id, "reached", "", rehearsal, requests, tuple(tried))
    if not any(trial.is_usable for trial in tried):
        why = f"the agent did not answer: {_ending(tried[-1])}"
        return Passage(finding.id, "inconclusive", why, rehearsal, requests, tuple(tried))
    return Passage(finding.id, "unmet", "", rehearsal, requests, tuple(tried))


def shows_defect(use: Use) -> bool:
    """Whether what came of a call is an error of the tool's at run time."""
    return use.judged.ruling in RUNTIME_ERRORS


def requests_reader(count: int) -> Callable[[str], tuple[str, ...] | Complaint]:
    """Reads up to so many requests out of an answer, each once."""

    def read(text: str) -> tuple[str, ...] | Complaint:
        form = read_form(text, _Requests)
        if isinstance(form, Complaint):
            return form
        requests = tuple(dict.fromkeys(each.strip() for each in form.requests if each.strip()))[:count]
        return requests or Complaint("The messages are empty.")

    return read


def _made(uses: Sequence[Use], calls: Sequence[Invocation]) -> bool:
    """Whether the calls were made as they are, in this order, whatever came between them."""
    wanted = [(call.tool, json.loads(call.arguments)) for call in calls]
    for use in uses:
        if wanted and (use.tool, json.loads(use.arguments)) == wanted[0]:
            wanted.pop(0)
    return not wanted


def _refusal(rehearsal: Trial) -> str:
    if rehearsal.uses:
        last = rehearsal.uses[-1]
        return f"the agent made another call: {last.tool}({cut(last.arguments, SHOWN)})"
    return f"the agent would not make the call: {cut(rehearsal.answer, SHOWN)}"


def _ending(trial: Trial) -> str:
    return cut(trial.error or trial.ended, SHOWN)


def _told(error: Unusable) -> str:
    return "; ".join((error.message, *error.hints))
