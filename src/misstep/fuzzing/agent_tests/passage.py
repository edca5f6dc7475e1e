"""Finds out whether an agent can run into a defect that fuzzing found.

The agent is first told to make the failing calls with tools that do nothing: if it declines because of the
documentation, the defect is out of reach. Otherwise it gets natural requests and the real tools.
"""

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Annotated, Any, TypeAlias

import msgspec
from msgspec import Meta, structs

from misstep.core.agent import Tool
from misstep.core.model import Unusable
from misstep.core.results.finding import RUNTIME_ERRORS, Finding, Matter, ReachAttempt
from misstep.core.results.trial import Judged, Trial, Use
from misstep.core.text import cut
from misstep.core.tool import Invocation
from misstep.fuzzing.agent_tests.declining import (
    done_instead,
    judge_refusal,
    made_all,
    names_a_reason,
    others_among,
)
from misstep.fuzzing.agent_tests.parties import SHOWN, AgentTrials, Models, confirmed, told, trouble_with
from misstep.fuzzing.agent_tests.prompts import Prompts, calls_in_words, documentation_for, error_in_words
from misstep.fuzzing.agent_tests.refusals import fits, is_same_refusal, stuck_at
from misstep.fuzzing.agent_tests.requests import arguments_schema, given_arguments, requests_form
from misstep.fuzzing.triage.replay import is_same
from misstep.schemas.answers import AnswerSchema, form_of

DONE = "Done."


class Rehearsal:
    """A `World` that reports every call as done and does nothing. `uses` are the calls made so far."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self.tools = tools
        self.uses = list[Use]()

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


class ReachStages:
    """Takes defects through the stages, with as few model calls and trials as possible.

    Up to `count` requests are tried for each defect. If `is_trusting`, it is not checked whether the
    documentation allows the calls.
    """

    def __init__(
        self, models: Models, trials: AgentTrials, prompts: Prompts, count: int, is_trusting: bool = False
    ) -> None:
        self._models = models
        self._trials = trials
        self._prompts = prompts
        self._count = count
        self._is_trusting = is_trusting

    async def lead(self, finding: Finding) -> ReachAttempt:
        """How far a defect gets: allowed by the documentation, covered by a request, shown by the agent.

        A refusal counts as reached only if it surprises a judge.
        """
        matter: Matter = "refusal" if finding.kind == "refusal" else "defect"
        passage, calls = await self._rehearsed(
            finding, ReachAttempt(finding.id, "inconclusive", matter=matter)
        )
        if not calls:
            return passage
        try:
            requests = await self._requests_for(finding, calls)
        except Unusable as error:
            return structs.replace(passage, why=f"no requests were made: {told(error)}")
        return await self._tried(finding, calls, structs.replace(passage, requests=requests))

    async def _rehearsed(self, finding: Finding, passage: ReachAttempt) -> tuple[ReachAttempt, Calls]:
        """Calls showing the defect that the agent makes when told to; empty if it makes none."""
        declined, unclear = list[Trial](), list[tuple[Trial, str]]()
        async with aclosing(self._forms(finding)) as forms:
            async for calls in forms:
                if self._is_trusting:
                    return passage, calls
                rehearsal = await self._rehearse(calls)
                if made_all(rehearsal.uses, calls):
                    return structs.replace(passage, documented=True, rehearsal=rehearsal), calls
                if not rehearsal.is_usable:
                    return structs.replace(passage, why=trouble_with(rehearsal), rehearsal=rehearsal), ()
                if self._is_declined(rehearsal, calls):
                    declined.append(rehearsal)
                else:
                    unclear.append((rehearsal, done_instead(rehearsal, calls)))
        for rehearsal, why in unclear[:1]:
            return structs.replace(passage, why=why, rehearsal=rehearsal), ()
        why = f"the agent would not make the call: {cut(declined[0].answer, SHOWN)}"
        told = structs.replace(passage, fate="undocumented", why=why, documented=False, rehearsal=declined[0])
        return told, ()

    def _is_declined(self, rehearsal: Trial, calls: Calls) -> bool:
        """Whether the agent made no other calls, and gave a reason from the documentation."""
        names = _names(calls)
        tools = [tool for tool in self._trials.tools if tool.name in names]
        return not others_among(rehearsal.uses, calls) and names_a_reason(
            rehearsal.answer, rehearsal.request, tools, calls
        )

    async def _forms(self, finding: Finding) -> AsyncGenerator[Calls]:
        """Calls that show the defect: natural ones first, then the fuzzer's own."""
        for arguments in await self._propose(finding):
            calls = (*finding.calls[:-1], Invocation(finding.calls[-1].tool, arguments))
            if self._is_same(await self._trials.make(calls), calls[-1], finding):
                yield calls
        for calls in dict.fromkeys([finding.calls, finding.original]):
            yield calls

    def _is_same(self, judged: Judged, call: Invocation, finding: Finding) -> bool:
        if finding.kind == "refusal":
            return self._fits(call) and is_same_refusal(finding, judged, call)
        return judged.ruling in RUNTIME_ERRORS and judged.signature == finding.signature

    def _fits(self, call: Invocation) -> bool:
        return any(fits(call.arguments, tool) for tool in self._trials.tools if tool.name == call.tool)

    async def _propose(self, finding: Finding) -> Sequence[str]:
        """Realistic arguments that could show the defect; empty if the model has no idea."""
        about = self._about(finding, finding.calls)
        try:
            proposed = await self._models.ask(
                "generator", "natural", self._arguments_form(finding), **about, count=str(NATURAL)
            )
        except Unusable:
            return ()
        return proposed[:NATURAL]

    def _arguments_form(self, finding: Finding) -> AnswerSchema[tuple[str, ...]]:
        """A schema for arguments of the last call, parsed to JSON texts."""
        last = [each for each in self._trials.tools if each.name == finding.calls[-1].tool]
        parameters = last[0].tool.parameters if last else {}

        def make(form: _Arguments) -> tuple[str, ...]:
            given = [given_arguments(each, parameters) for each in form.arguments]
            written = dict.fromkeys(json.dumps(each) for each in given)
            return tuple(each for each in written if len(each) <= MOST_ARGUMENTS)

        objects = {
            "type": "array",
            "items": arguments_schema(parameters),
            "minItems": 1,
            "maxItems": NATURAL,
        }
        return form_of(_Arguments, arguments=objects).then(make)

    async def _rehearse(self, calls: Calls) -> Trial:
        """Tell the agent to make exactly these calls, with tools that do nothing."""
        exactly = self._prompts.fill("exactly", calls=calls_in_words(calls))
        return await self._trials.rehearse(exactly, _names(calls))

    async def _requests_for(self, finding: Finding, calls: Calls) -> tuple[str, ...]:
        form, about = requests_form(self._count), self._about(finding, calls)
        return await self._models.ask("generator", "request", form, **about, count=str(self._count))

    async def _tried(self, finding: Finding, calls: Calls, passage: ReachAttempt) -> ReachAttempt:
        """Run the requests until one shows this defect; other errors don't count."""
        looked_for = Judged(finding.ruling, signature=finding.signature)
        for request in passage.requests:
            trial = await confirmed(await self._trials.run(request, _names(calls)), self._trials)
            passage = structs.replace(passage, trials=(*passage.trials, trial))
            if finding.kind == "refusal":
                place = stuck_at(trial, finding.tool)
                if place is not None and self._fits(trial.uses[place].call):
                    return await judge_refusal(passage, trial, place, self._models, self._trials)
            elif any(use.tool == finding.tool and is_same(use.judged, looked_for) for use in trial.uses):
                return structs.replace(passage, fate="reached")
        troubles = [trouble_with(trial) for trial in passage.trials]
        if all(troubles):
            return structs.replace(passage, why=troubles[-1])
        return structs.replace(passage, fate="unmet")

    def _about(self, finding: Finding, calls: Calls) -> dict[str, str]:
        judged = Judged(finding.ruling, finding.why, error=finding.error, message=finding.message)
        return {
            "tools": documentation_for(calls, self._trials.tools),
            "calls": calls_in_words(calls),
            "error": error_in_words(judged),
        }


def _names(calls: Calls) -> list[str]:
    return list(dict.fromkeys(call.tool for call in calls))
