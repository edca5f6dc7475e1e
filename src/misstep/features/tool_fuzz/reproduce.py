"""Tries to reach the defects of a tool through an agent, one after the other."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass

from msgspec import structs

from misstep.core.results.finding import RUNTIME_ERRORS, Finding, ranked
from misstep.core.results.fuzzing import BY_REQUEST, AgentReach, ReachAttempt, ToolReport
from misstep.core.settings import ToolFuzzSettings
from misstep.fuzzing.agent_tests.harvest import ask_for_crashes, candidates_of, harvest, richness_of
from misstep.fuzzing.agent_tests.parties import Models
from misstep.fuzzing.agent_tests.passage import ReachStages
from misstep.fuzzing.agent_tests.prompts import Prompts
from misstep.runs.budget import RunBudget
from misstep.runs.setup.agent_session import MARK, AgentSession, Over, UsageMeter, refuse_unreachable, unless
from misstep.runs.setup.models import Tell
from misstep.runs.setup.roles import LateTolerantModels
from misstep.runs.setup.trying import Trier
from misstep.runs.setup.workbenches import Target
from misstep.tool_host.host import ToolHost

REQUESTS = 20  # requests that a model is asked for directly, unless --count is given
LEFT = "not tried with the agent"

Keep = Callable[[ToolReport], None]


@dataclass
class AgentReproducer:
    """Tries to reach findings through an agent that has the tools, within the limits."""

    settings: ToolFuzzSettings
    prompts: Prompts
    run_budget: RunBudget
    tell: Tell

    def __post_init__(self) -> None:
        self._agent_session = AgentSession(self.settings, self.prompts, self.run_budget, self.tell)

    def reproduce(self, bench: ToolHost, report: ToolReport, target: Target, keep: Keep) -> ToolReport:
        """The report with the result for each finding; "stopped" if something is left to do.

        `keep` gets the report after each finding.
        """
        progress = _Progress(report, target, UsageMeter(self.run_budget), self._agent_session)
        return asyncio.run(self._reproduce(bench, progress, keep))

    async def _reproduce(self, bench: ToolHost, progress: "_Progress", keep: Keep) -> ToolReport:
        until = progress.began + self.settings.tool_seconds - progress.seconds_before
        if not self._left(progress):
            return progress.report()
        bench.heed(lambda: self._agent_session.is_over() or time.monotonic() >= until)
        try:
            async with self._agent_session.gathered(bench, progress.usage_meter) as (role_models, trier):
                progress.notes = trier.notes
                models = LateTolerantModels(role_models)
                async with aclosing(self._passages(progress, models, trier)) as passages:
                    while passage := await unless(self._agent_session.is_over, anext(passages, None), until):
                        refuse_unreachable(passage.trials)
                        progress.passages.append(passage)
                        keep(structs.replace(progress.report(), ended="stopped"))
        except Over:
            return structs.replace(progress.report(), ended="stopped")
        except TimeoutError:
            return structs.replace(progress.report(self._left(progress)), ended="time")
        except Exception:  # e.g. the model is unreachable: store progress, so that it is not repeated
            keep(structs.replace(progress.report(), ended="stopped"))
            raise
        return progress.report()

    def _left(self, progress: "_Progress") -> int:
        if self.settings.tool_method == "toolfuzz":
            return len(progress.candidates())
        return max(0, (self.settings.count or REQUESTS) - len(progress.requests))

    async def _passages(
        self, progress: "_Progress", models: Models, trier: Trier
    ) -> AsyncGenerator[ReachAttempt]:
        settings, method = self.settings, self.settings.tool_method
        if method == "toolfuzz":
            many, skip = settings.requests_per_crash, settings.skip_sanity
            passing = ReachStages(models, trier, self.prompts, many, skip)
            for finding in progress.candidates():
                yield await passing.lead(finding)
            return
        (tool,) = [each for each in trier.tools if each.name in progress.target.tools]
        count, before = settings.count or REQUESTS, progress.requests
        asked = ask_for_crashes(method, tool, models, trier, count, before, progress.ideas)
        async with aclosing(asked) as made:
            async for passage in made:
                yield passage


class _Progress:
    """The progress of one tool, in this session and earlier ones."""

    def __init__(
        self, report: ToolReport, target: Target, usage_meter: UsageMeter, agent_session: AgentSession
    ) -> None:
        self._before = report
        self._journey = report.journey or AgentReach()
        self._agent_session = agent_session
        self.target = target
        self.usage_meter = usage_meter
        self.began = time.monotonic()
        self.passages = list(self._journey.passages)
        self.ideas = list(self._journey.ideas)
        self.notes = list[str]()

    @property
    def seconds_before(self) -> float:
        return self._before.seconds + self._journey.seconds

    @property
    def requests(self) -> list[str]:
        return [request for passage in self.passages for request in passage.requests]

    def candidates(self) -> list[Finding]:
        """What is left to try with the agent: defects first, then refusals."""
        done = {passage.finding for passage in self.passages}
        found = ranked((*self._before.findings, *self._before.unconfirmed))
        defects = [each for each in found if each.kind in RUNTIME_ERRORS and each.origin != BY_REQUEST]
        # What several tools refuse together, each has refused alone.
        alone = self._before.refusals if len(self.target.tools) == 1 else ()
        refused = candidates_of(alone, self.target.spec, self.target.titles)
        return [each for each in (*defects, *refused) if each.id not in done]

    def report(self, left: int = 0) -> ToolReport:
        """The report so far; `left` is the number of findings that are given up."""
        journey = structs.replace(
            self._journey,
            left=left,
            passages=tuple(self.passages),
            usage=self.usage_meter.added_to(self._journey.usage),
            seconds=round(self._journey.seconds + time.monotonic() - self.began, 3),
            ideas=tuple(self.ideas),
        )
        journey = structs.replace(journey, richness=richness_of(journey.trials))
        findings = harvest(self._before, journey, self.target.spec, self.target.titles)
        known = {each.id for each in findings}
        kept = [note for note in self._before.notes if MARK not in note and LEFT not in note]
        notes = [*kept, *self._agent_session.marks_passed(journey.usage), *self.notes]
        notes += [f"time ran out: {left} {LEFT}"] if left else []
        return structs.replace(
            self._before,
            journey=journey,
            findings=tuple(findings),
            unconfirmed=tuple(each for each in self._before.unconfirmed if each.id not in known),
            notes=tuple(dict.fromkeys(notes)),
            ended=journey.fuzzed,
        )
