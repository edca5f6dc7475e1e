"""Runs an agent on requests, with the real tools in their sandbox."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Protocol

from misstep.core.agent import Agent, Assignment, Displaced, Origin
from misstep.core.outcome import Usage
from misstep.core.results.trial import Judged, Trial, Use
from misstep.core.rng import derive_seed
from misstep.core.secrets import Redactor
from misstep.core.settings import ToolRunSettings
from misstep.core.spending import Account, Nobody
from misstep.core.tool import Described, Invocation, Probe
from misstep.engine.attempt import attempt
from misstep.engine.recorder import Deadline, Recorder, ToolWorld
from misstep.fuzzing.agent_tests.passage import Rehearsal
from misstep.fuzzing.judging.ruling import judge_calls_of
from misstep.runs.execution import known_secrets, masked
from misstep.runs.setup.roles import Outage
from misstep.tool_host.host import ToolHost
from misstep.tool_host.live import JoinedBench, LiveTools


class _Used(ToolWorld, Protocol):
    uses: list[Use]


class Trier:
    """Runs an agent on requests, one at a time; it is `AgentTrials`. `account` is told what they use.

    `admit` is called before each request, and raises if it may not be made. `grant` is asked for each call of
    a real tool, and counts it. `notes` are problems that the agent did not cause. If the model is
    unavailable, a `ModelError` is raised; `outage` shares what other threads have seen.
    """

    def __init__(
        self,
        agent: Agent,
        bench: ToolHost | JoinedBench,
        settings: ToolRunSettings,
        account: Account,
        admit: Callable[[], None],
        grant: Callable[[], bool],
        outage: Outage | None = None,
    ) -> None:
        self._agent = agent
        self._bench = bench
        self._settings = settings
        self._account = account
        self._admit = admit
        self._grant = grant
        self._outage = outage or Outage()
        self.notes = list[str]()

    @property
    def tools(self) -> Sequence[Described]:
        return self._bench.tools

    async def run(self, request: str, tools: Sequence[str]) -> Trial:
        self._admit()
        while True:  # ends: see `execute`
            with suppress(Displaced):
                self._bench.reset()
                world = LiveTools(self._bench, tools, self._grant)
                trial = await self._try(request, world)
                if world.failure is not None:
                    raise world.failure
                if world.is_stopped:
                    self._admit()  # what an agent does without its tools is not a result
                return trial

    async def rehearse(self, request: str, tools: Sequence[str]) -> Trial:
        self._admit()
        offered = [described.tool for described in self._bench.tools if described.name in tools]
        while True:
            with suppress(Displaced):
                return await self._try(request, Rehearsal(offered))

    async def make(self, calls: Sequence[Invocation]) -> Judged:
        self._admit()
        self._bench.reset()
        reactions = list(self._bench.run([Probe(call) for call in calls if self._grant()]))
        if len(reactions) < len(calls):
            self._admit()
            return Judged("environment", "the tools are no longer available")
        return masked(judge_calls_of(self._bench.tools)(calls[-1], reactions[-1]))

    async def _try(self, request: str, world: _Used) -> Trial:
        began = time.monotonic()
        deadline = Deadline(self._settings.request_seconds)
        redact = Redactor(known_secrets())
        account = _TokensAlone(self._account)
        recorder = Recorder(world, deadline, self._settings.max_steps, redact, account=account)
        # A framework's own objects have only their own descriptions.
        own = [each for each in self._bench.tools if not each.is_reworded]
        origins = {each.name: Origin(self._bench.spec_of(each.name), each.kind) for each in own}
        assignment = Assignment(request, derive_seed(self._settings.seed, request), origins)
        answer, broken = await attempt(self._agent, assignment, recorder, deadline)
        self.notes += [warning for warning in recorder.warnings if warning not in self.notes]
        made = recorder.transcript("", answer, broken)
        seconds = round(time.monotonic() - began, 6)
        limits = {
            "iterations": f"it did not finish within {self._settings.max_steps:,} turns (--max-steps)",
            "timeout": f"it did not finish within {self._settings.request_seconds:g} s (--time-per-request)",
        }
        error = made.error or limits.get(made.ended, "")
        trial = masked(Trial(request, tuple(world.uses), made.answer, made.ended, error, made.usage, seconds))
        self._outage.look_at(trial, has_begun=bool(made.calls))
        return trial


class _TokensAlone(Nobody):
    """An account that ignores calls: they are counted where tools are called, and not in a rehearsal."""

    def __init__(self, account: Account) -> None:
        self._account = account

    def spend(self, role: str, usage: Usage) -> None:
        self._account.spend(role, usage)
