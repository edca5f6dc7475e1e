"""One attempt of an agent at one case, kept within its limits."""

import asyncio

import msgspec

from misstep.core.agent import Agent, Answer, Assignment, StepsExhausted
from misstep.core.transcript import storable
from misstep.engine.deadline import Deadline
from misstep.engine.recorder import Recorder


async def attempt(
    agent: Agent, assignment: Assignment, recorder: Recorder, deadline: Deadline
) -> tuple[Answer, str]:
    """How the agent ended, and what broke if something did. Nothing the agent does gets past here."""
    try:
        async with deadline:
            answer, broken = _checked(await agent.run(assignment, recorder)), ""
    except StepsExhausted:
        answer, broken = Answer(ended="iterations"), ""
    except asyncio.CancelledError:
        if _being_cancelled():
            raise
        answer, broken = Answer(ended="error"), "the agent cancelled itself"
    except (Exception, SystemExit) as error:
        answer, broken = Answer(ended="error"), storable(f"{type(error).__name__}: {error}")
    finally:
        recorder.close()
    if recorder.exhausted:
        return Answer(ended="iterations"), ""
    if deadline.passed:
        return Answer(ended="timeout"), ""
    return answer, broken


def _being_cancelled() -> bool:
    """Whether we are asked to stop, rather than the agent having raised the same error by itself."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _checked(answer: object) -> Answer:
    """The answer with a text that can be stored; a TypeError for what is no answer."""
    if not isinstance(answer, Answer):
        raise TypeError(f"the agent returned {type(answer).__name__} instead of an Answer")
    if isinstance(answer.text, str):
        answer = msgspec.structs.replace(answer, text=storable(answer.text))
    return msgspec.convert(msgspec.to_builtins(answer), Answer)
