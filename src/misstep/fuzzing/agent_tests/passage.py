"""Finds out whether an agent can run into a defect that fuzzing found.

The agent is first told to make the failing calls with tools that do nothing: if it declines because of the
documentation, the defect is out of reach. Otherwise it gets natural requests and the real tools. A judge says
whether a refusal would surprise somebody who has read the documentation.
"""

import json
import re
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeAlias

import msgspec
from msgspec import Meta, structs

from misstep.core.agent import Tool
from misstep.core.model import Unusable, fenced
from misstep.core.results.finding import RUNTIME_ERRORS, Finding
from misstep.core.results.fuzzing import Matter, ReachAttempt
from misstep.core.results.trial import REFUSALS, Judged, Trial, Use
from misstep.core.text import cut
from misstep.core.tool import Described, Invocation
from misstep.fuzzing.agent_tests.harvest import fits, is_same_refusal, stuck_at
from misstep.fuzzing.agent_tests.parties import SHOWN, AgentTrials, Models, confirmed, told, trouble_with
from misstep.fuzzing.agent_tests.prompts import Prompts, calls_in_words, documentation_for, error_in_words
from misstep.fuzzing.agent_tests.requests import arguments_schema, given_arguments, requests_form
from misstep.fuzzing.triage.replay import is_same
from misstep.schemas.answers import form_of
from misstep.schemas.formats import same

_WORD = re.compile(r"[^\W_]{3,}")
# Words about arguments in general, whatever the tool.
_ABOUT = """
    documentation documented documents parameter parameters argument arguments schema string strings
    integer integers number numbers boolean array object empty blank negative positive zero null
"""
# Words found in any refusal, any text or any documentation: they say nothing about a particular tool.
_IDLE = """
    about additionalproperties again all also and any are assist assistance but call called calls
    can cannot could description did does doing don done exactly for from get give given have help
    how into its just like made make may might not one other our out please properties provide
    request requests required returns sorry such sure that the their them then there these they this
    those title tool tools unable use used user using want was what when where which will with would
    you your
"""
# Phrases that state a rule, unlike a made-up result ("Order 7 has been cancelled").
_RULES = re.compile(
    r"""
    n['’]t\b | \b(?:
        cannot | no | not | nor | never | none | neither | nothing | only | must | should | shall | may
        | ha(?:s|ve)\ to | needs? | wants? | takes? | expect(?:s|ed)? | requires? | required | allow(?:s|ed)?
        | accept(?:s|ed)? | support(?:s|ed)? | forbid(?:s|den)? | prohibit(?:s|ed)? | exclude[sd]? | limited
        | valid | invalid | missing | unknown | unsupported | outside | beyond | exceeds? | without | instead
        | at\ (?:least|most) | (?:more|less|fewer|longer|shorter|larger|smaller)\ than | too | violates?
    )\b
    """,
    re.IGNORECASE | re.VERBOSE,
)


def names_a_reason(said: str, question: str, tools: Iterable[Described], calls: Sequence[Invocation]) -> bool:
    """Whether the agent's words state a rule about the tools, or about the calls it was asked to make.

    "I can't help with that", a made-up result and a repetition of the question don't count.
    """
    if " ".join(said.split()) in " ".join(question.split()) or not _RULES.search(said):
        return False
    documented = [
        f"{tool.name} {tool.tool.description} {json.dumps(tool.tool.parameters, ensure_ascii=False)}"
        for tool in tools
    ]
    return bool(_words(said) & _words(" ".join([_ABOUT, *documented, calls_in_words(calls)])))


def made_all(uses: Sequence[Use], calls: Sequence[Invocation]) -> bool:
    """Whether all calls were made with these arguments, in this order; other calls may come in between."""
    wanted = list(calls)
    for use in uses:
        if wanted and _is_call(use, wanted[0]):
            wanted.pop(0)
    return not wanted


def others_among(uses: Sequence[Use], calls: Sequence[Invocation]) -> list[Use]:
    return [use for use in uses if not any(_is_call(use, call) for call in calls)]


def done_instead(rehearsal: Trial, calls: Sequence[Invocation]) -> str:
    """Describe what the agent did instead of the call, when that says nothing about the documentation."""
    for last in others_among(rehearsal.uses, calls)[-1:]:
        call = f"{last.tool}({cut(last.arguments, SHOWN)})"
        return f"the agent, instructed to make the call, made another: {call}"
    said = cut(rehearsal.answer.strip(), SHOWN)
    return f"the agent did not make the call, and named no rule against it: {said or '(no answer)'}"


def _is_call(use: Use, call: Invocation) -> bool:
    try:
        return use.tool == call.tool and same(json.loads(use.arguments), json.loads(call.arguments))
    except ValueError:  # not JSON, because a secret in it was masked
        return False


def _words(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(text)} - {*_IDLE.split()}


class _Opinion(msgspec.Struct, frozen=True):
    reason: str
    surprising: bool


class _Second(msgspec.Struct, frozen=True):
    reason: str
    foreseen: bool


async def judge_refusal(
    passage: ReachAttempt, trial: Trial, place: int, models: Models, trials: AgentTrials
) -> ReachAttempt:
    """Ask a judge whether the refusal of call number `place` of the trial contradicts the documentation.

    The refusal must occur again from a fresh start. If the judge is surprised, it is also asked the opposite
    question, and both answers must agree. The result is returned as an updated attempt.
    """
    calls = trial.calls_up_to(place)
    if (await trials.make(calls)).ruling not in REFUSALS:
        return structs.replace(passage, why="it was refused once, but not after a fresh start")
    about = {
        "tools": documentation_for(calls, trials.tools),
        "request": fenced(trial.request),
        "calls": calls_in_words(calls),
        "error": fenced(cut(trial.uses[place].result, SHOWN)),
    }
    try:
        opinion = await models.ask("judge", "refusal", form_of(_Opinion), **about)
        if not opinion.surprising:
            return structs.replace(passage, fate="expected", why=cut(opinion.reason, SHOWN))
        second = await models.ask("judge", "foretold", form_of(_Second), **about)
    except Unusable as error:
        return structs.replace(passage, why=f"the refusal was not judged: {told(error)}")
    if second.foreseen:
        return structs.replace(passage, why="the judge's answers about the refusal contradict each other")
    return structs.replace(passage, fate="reached", why=cut(opinion.reason, SHOWN))


DONE = "Done."


@dataclass
class Rehearsal:
    """A `World` that reports every call as done and does nothing. `uses` are the calls made so far."""

    tools: Sequence[Tool]
    uses: list[Use] = field(default_factory=list)

    def answer(self, name: str, arguments: Any) -> str:
        if name not in [tool.name for tool in self.tools]:
            return f"Error: there is no tool '{name}'."
        self.uses.append(Use(name, json.dumps(arguments), DONE, Judged("fine")))
        return DONE

    def renewed(self) -> "Rehearsal":
        self.uses.clear()
        return self


NATURAL = 3  # ways to show a defect that a model is asked for
MOST_ARGUMENTS = 20_000  # characters of the arguments that a model proposes

Calls: TypeAlias = tuple[Invocation, ...]


class _Arguments(msgspec.Struct, frozen=True, kw_only=True):
    cause: str = ""  # comes first, so that the model derives the values from it
    arguments: Annotated[tuple[dict[str, Any], ...], Meta(min_length=1)]


@dataclass
class ReachStages:
    """Takes defects through the stages, with as few model calls and trials as possible.

    Up to `count` requests are tried for each defect. If `is_trusting`, it is not checked whether the
    documentation allows the calls.
    """

    models: Models
    trials: AgentTrials
    prompts: Prompts
    count: int
    is_trusting: bool = False

    async def lead(self, finding: Finding) -> ReachAttempt:
        """How far a defect gets: allowed by the documentation, covered by a request, shown by the agent.

        A refusal counts as reached only if it surprises a judge.
        """
        matter: Matter = "refusal" if finding.kind == "refusal" else "defect"
        passage = ReachAttempt(finding.id, "inconclusive", matter=matter)
        passage, calls = await self._rehearsed(finding, passage)
        if not calls:
            return passage
        try:
            about, form = self._about(finding, calls), requests_form(self.count)
            requests = await self.models.ask("generator", "request", form, **about, count=str(self.count))
        except Unusable as error:
            return structs.replace(passage, why=f"no requests were generated: {told(error)}")
        return await self._tried(finding, calls, structs.replace(passage, requests=requests))

    async def _rehearsed(self, finding: Finding, passage: ReachAttempt) -> tuple[ReachAttempt, Calls]:
        """Calls showing the defect that the agent makes when told to; empty if it makes none."""
        declined, unclear = list[Trial](), list[tuple[Trial, str]]()
        async with aclosing(self._forms(finding)) as forms:
            async for calls in forms:
                if self.is_trusting:
                    return passage, calls
                names = _names(calls)
                exactly = self.prompts.fill("exactly", calls=calls_in_words(calls))
                rehearsal = await self.trials.rehearse(exactly, names)
                if made_all(rehearsal.uses, calls):
                    return structs.replace(passage, documented=True, rehearsal=rehearsal), calls
                if not rehearsal.is_usable:
                    return structs.replace(passage, why=trouble_with(rehearsal), rehearsal=rehearsal), ()
                tools = [tool for tool in self.trials.tools if tool.name in names]
                answer, request = rehearsal.answer, rehearsal.request
                if others_among(rehearsal.uses, calls) or not names_a_reason(answer, request, tools, calls):
                    unclear.append((rehearsal, done_instead(rehearsal, calls)))
                else:
                    declined.append(rehearsal)
        for rehearsal, why in unclear[:1]:
            return structs.replace(passage, why=why, rehearsal=rehearsal), ()
        why = f"the agent declined to make the call: {cut(declined[0].answer, SHOWN)}"
        told = structs.replace(passage, fate="undocumented", why=why, documented=False, rehearsal=declined[0])
        return told, ()

    async def _forms(self, finding: Finding) -> AsyncGenerator[Calls]:
        """Calls that show the defect: natural ones first, then the fuzzer's own."""
        for arguments in await self._propose(finding):
            call = Invocation(finding.calls[-1].tool, arguments)
            calls = (*finding.calls[:-1], call)
            judged = await self.trials.make(calls)
            if finding.kind == "refusal":
                shows = self._fits(call) and is_same_refusal(finding, judged, call)
            else:
                shows = judged.ruling in RUNTIME_ERRORS and judged.signature == finding.signature
            if shows:
                yield calls
        for calls in dict.fromkeys([finding.calls, finding.original]):
            yield calls

    def _fits(self, call: Invocation) -> bool:
        return any(fits(call.arguments, tool) for tool in self.trials.tools if tool.name == call.tool)

    async def _propose(self, finding: Finding) -> Sequence[str]:
        """Realistic arguments for the last call, as JSON; empty if the model has no idea."""
        last = [each for each in self.trials.tools if each.name == finding.calls[-1].tool]
        parameters = last[0].tool.parameters if last else {}

        def make(form: _Arguments) -> tuple[str, ...]:
            given = [given_arguments(each, parameters) for each in form.arguments]
            written = dict.fromkeys(json.dumps(each) for each in given)
            return tuple(each for each in written if len(each) <= MOST_ARGUMENTS)

        items = arguments_schema(parameters)
        objects = {"type": "array", "items": items, "minItems": 1, "maxItems": NATURAL}
        form = form_of(_Arguments, arguments=objects).then(make)
        about = self._about(finding, finding.calls)
        try:
            proposed = await self.models.ask("generator", "natural", form, **about, count=str(NATURAL))
        except Unusable:
            return ()
        return proposed[:NATURAL]

    async def _tried(self, finding: Finding, calls: Calls, passage: ReachAttempt) -> ReachAttempt:
        """Run the requests until one shows this defect; other errors don't count."""
        looked_for = Judged(finding.ruling, signature=finding.signature)
        for request in passage.requests:
            trial = await confirmed(await self.trials.run(request, _names(calls)), self.trials)
            passage = structs.replace(passage, trials=(*passage.trials, trial))
            if finding.kind == "refusal":
                place = stuck_at(trial, finding.tool)
                if place is not None and self._fits(trial.uses[place].call):
                    return await judge_refusal(passage, trial, place, self.models, self.trials)
            elif any(use.tool == finding.tool and is_same(use.judged, looked_for) for use in trial.uses):
                return structs.replace(passage, fate="reached")
        troubles = [trouble_with(trial) for trial in passage.trials]
        if all(troubles):
            return structs.replace(passage, why=troubles[-1])
        return structs.replace(passage, fate="unmet")

    def _about(self, finding: Finding, calls: Calls) -> dict[str, str]:
        judged = Judged(finding.ruling, finding.why, error=finding.error, message=finding.message)
        return {
            "tools": documentation_for(calls, self.trials.tools),
            "calls": calls_in_words(calls),
            "error": error_in_words(judged),
        }


def _names(calls: Calls) -> list[str]:
    return list(dict.fromkeys(call.tool for call in calls))
