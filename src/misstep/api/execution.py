"""One agent at work on planning cases."""

import asyncio
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from inspect import iscoroutinefunction

import msgspec

from misstep.api.judging import Judge, JudgeProcess
from misstep.core.agent import Agent, Assignment, Closing, Displaced, Preparing
from misstep.core.case import Case
from misstep.core.dice import derive_seed
from misstep.core.outcome import Outcome
from misstep.core.secrets import Redactor, secrets_in
from misstep.core.settings import Settings
from misstep.core.spending import UNCOUNTED, Account
from misstep.core.transcript import Transcript
from misstep.core.verdict import Verdict
from misstep.engine.attempt import attempt
from misstep.engine.deadline import Deadline
from misstep.engine.recorder import Recorder
from misstep.planning.baselines import baselines
from misstep.planning.judging.explanation import check
from misstep.planning.world.mock import MockWorld

CLOSING_SECONDS = 10.0
NO_CALLS = "The judge passed a plan without calls, which no case allows: it has been tampered with."

_environment: dict[object, object] = {}  # as it was when it was last looked through
_secrets: tuple[str, ...] = ()  # of this process, kept though their variables may go


@asynccontextmanager
async def at_work(agent: Agent) -> AsyncIterator[None]:
    """An agent that has been prepared, and gives back what it holds at the end."""
    try:
        if isinstance(agent, Preparing) and iscoroutinefunction(agent.prepare):
            await agent.prepare()
        yield
    finally:
        if isinstance(agent, Closing) and iscoroutinefunction(agent.close):
            # All results are in: an agent that can't tidy up after itself must not cost them.
            with suppress(Exception):
                async with asyncio.timeout(CLOSING_SECONDS):
                    await agent.close()


async def execute_once(
    agent: Agent, settings: Settings, case: Case, judge_process: JudgeProcess | None = None
) -> Outcome:
    async with at_work(agent):
        return await execute(agent, settings, case, judge_process=judge_process)


async def execute(
    agent: Agent,
    settings: Settings,
    case: Case,
    account: Account = UNCOUNTED,
    judge_process: JudgeProcess | None = None,
) -> Outcome:
    """Let the agent try a case, and judge what it did, in the judge's own process if there is one."""
    while True:  # not for ever: each displacement is the end of another case
        with suppress(Displaced):
            judging = judge_process.expect(case) if judge_process else None
            return await _execute(agent, settings, case, account, judging)


async def _execute(
    agent: Agent, settings: Settings, case: Case, account: Account, judging: Judge | None
) -> Outcome:
    began = time.monotonic()
    deadline = Deadline(settings.timeout)
    recorder = record(case, settings, deadline, account)
    # Not the seed of the case: what an agent leaves to chance must not depend on how the case was made.
    assignment = Assignment(case.query, derive_seed(case.seed, "agent"))
    answer, broken = await attempt(agent, assignment, recorder, deadline)
    transcript = recorder.transcript(case.id, answer, broken)
    return judge(case, settings, transcript, time.monotonic() - began, judging)


def record(case: Case, settings: Settings, deadline: Deadline, account: Account = UNCOUNTED) -> Recorder:
    """A toolbox for a case, which writes down what is done with it."""
    redact = Redactor(known_secrets())
    return Recorder(MockWorld(case), deadline, settings.max_steps, redact, settings.messages, account)


def known_secrets() -> tuple[str, ...]:
    """Every secret that has been in the environment so far, the longest first."""
    global _environment, _secrets
    raw = getattr(
        os.environ, "_data", None
    )  # going through the mapping itself takes longer than all the rest
    if raw is None or raw != _environment:
        _environment = dict(raw or {})
        found = {*_secrets, *secrets_in(os.environ)}
        _secrets = tuple(sorted(found, key=len, reverse=True))
    return _secrets


def judge(
    case: Case, settings: Settings, transcript: Transcript, seconds: float, judging: Judge | None = None
) -> Outcome:
    transcript = _masked(transcript)
    decide = judging or partial(check, case)
    verdict = decide(transcript, settings.parallel)
    if verdict.verdict == "passed" and not transcript.calls:
        verdict = Verdict(case.id, "errored", explanation=NO_CALLS)
    return Outcome(case, transcript, verdict, round(seconds, 6), baselines(case))


def _masked(transcript: Transcript) -> Transcript:
    """Without keys that the agent has brought along only after its case began, as from a file of its own."""
    secrets = known_secrets()
    text = msgspec.json.encode(transcript).decode()
    if not any(secret in text for secret in secrets):
        return transcript
    return msgspec.convert(Redactor(secrets).within(msgspec.to_builtins(transcript)), Transcript)
