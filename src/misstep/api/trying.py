"""An agent that is tried on requests, with the real tools in their sandbox."""

import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Protocol

import msgspec

from misstep.api.execution import known_secrets
from misstep.core.agent import Agent, Assignment, Displaced
from misstep.core.dice import derive_seed
from misstep.core.ruling import Judged
from misstep.core.secrets import Redactor
from misstep.core.settings import Settings
from misstep.core.spending import Account
from misstep.core.tool import Described, Invocation, Probe
from misstep.core.transcript import Usage
from misstep.core.trial import Trial, Use
from misstep.engine.attempt import attempt
from misstep.engine.deadline import Deadline
from misstep.engine.recorder import Recorder, World
from misstep.tooling.asking.rehearsal import Rehearsal
from misstep.tooling.judging.court import judge_calls_of
from misstep.workshop.live import LiveTools
from misstep.workshop.process import Process


class _Used(World, Protocol):
    uses: list[Use]


class Trier:
    """Puts requests to an agent, one at a time; it is `Trials`. `account` hears what that takes."""

    def __init__(self, agent: Agent, bench: Process, settings: Settings, account: Account) -> None:
        self._agent = agent
        self._bench = bench
        self._settings = settings
        self._account = account

    @property
    def tools(self) -> Sequence[Described]:
        return self._bench.tools

    async def run(self, request: str, tools: Sequence[str]) -> Trial:
        while True:  # not for ever: see `execute`
            with suppress(Displaced):
                self._bench.reset()
                return await self._try(request, LiveTools(self._bench, tools), self._account)

    async def rehearse(self, request: str, tools: Sequence[str]) -> Trial:
        offered = [described.tool for described in self._bench.tools if described.name in tools]
        while True:
            with suppress(Displaced):
                return await self._try(request, Rehearsal(offered), _TokensAlone(self._account))

    async def make(self, calls: Sequence[Invocation]) -> Judged:
        self._bench.reset()
        reactions = list(self._bench.run([Probe(call) for call in calls]))
        for _ in reactions:
            self._account.call()
        if len(reactions) < len(calls):
            return Judged("environment", "the tools are not available any more")
        return judge_calls_of(self._bench.tools)(calls[-1], reactions[-1])

    async def _try(self, request: str, world: _Used, account: Account) -> Trial:
        began = time.monotonic()
        deadline = Deadline(self._settings.time_per_request)
        redact = Redactor(known_secrets())
        recorder = Recorder(world, deadline, self._settings.max_steps, redact, account=account)
        assignment = Assignment(request, derive_seed(self._settings.seed, request))
        answer, broken = await attempt(self._agent, assignment, recorder, deadline)
        made = recorder.transcript("", answer, broken)
        uses = msgspec.convert(redact.within(msgspec.to_builtins(world.uses)), tuple[Use, ...])
        seconds = round(time.monotonic() - began, 6)
        return Trial(request, uses, made.answer, made.ended, made.error, made.usage, seconds)


class _TokensAlone:
    """An account that hears of no calls: those of a rehearsal are none."""

    def __init__(self, account: Account) -> None:
        self._account = account

    def spend(self, role: str, usage: Usage) -> None:
        self._account.spend(role, usage)

    def call(self) -> None:
        pass
