"""One attempt of an agent at one case, kept within its limits."""

import asyncio

import msgspec

from misstep.core.agent import Agent, Answer, Assignment, Displaced, StepsExhausted
from misstep.core.text import in_words, traceback_in_words
from misstep.engine.recorder import Deadline, Recorder

GRACE = 0.5  # seconds for an agent to let go when it is cancelled


async def attempt(
    agent: Agent, assignment: Assignment, recorder: Recorder, deadline: Deadline
) -> tuple[Answer, str]:
    """How the agent ended, and what broke with its traceback. Nothing the agent does gets past here.

    An agent that won't be cancelled is left behind, and gets no more tools. `Displaced` gets out, since it is
    not the agent's doing: the case has to be tried again with another recorder and another deadline.
    """
    work = asyncio.create_task(_guarded(agent, assignment, recorder))
    result: Answer | BaseException = TimeoutError()
    try:
        async with deadline:
            result = await asyncio.shield(work)
    except TimeoutError:
        pass  # the deadline's: those of the agent have been caught
    except GeneratorExit as error:
        if not work.done() or work.cancelled() or work.exception() is not error:
            raise
        result = error
    except asyncio.CancelledError:
        if not work.cancelled() or _being_cancelled():
            raise
        result = RuntimeError("the agent cancelled itself")
    finally:
        recorder.close()
        await _end(work)
    if recorder.exhausted:
        return Answer(ended="iterations"), ""
    if deadline.passed:
        return Answer(ended="timeout"), ""
    if isinstance(result, Answer):
        return result, ""
    if isinstance(result, StepsExhausted):
        return Answer(ended="iterations"), ""
    return Answer(ended="error"), traceback_in_words(result)


async def _guarded(agent: Agent, assignment: Assignment, recorder: Recorder) -> Answer | BaseException:
    """The agent's answer or whatever it raised; only what is meant for us gets out."""
    try:
        return _checked(await agent.run(assignment, recorder))
    except (GeneratorExit, asyncio.CancelledError, Displaced):
        raise
    except BaseException as error:
        return error


async def _end(work: "asyncio.Task[Answer | BaseException]") -> None:
    """Cancel what still runs and wait a moment for it to tidy up."""
    if not work.done():
        work.cancel()
        await asyncio.wait([work], timeout=GRACE)
    if not work.done():
        asyncio._unregister_task(work)  # or the end of the loop would wait for it
    work.add_done_callback(lambda task: task.cancelled() or task.exception())  # nobody else will ask


def _being_cancelled() -> bool:
    """Whether we are asked to stop, rather than the agent having raised the same error by itself."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _checked(answer: object) -> Answer:
    """The answer with a text that is one; a TypeError for what is no answer."""
    if not isinstance(answer, Answer):
        raise TypeError(f"the agent returned {type(answer).__name__} instead of an Answer")
    if not isinstance(answer.text, str | bytes):
        raise TypeError(f"the text of the agent's answer is {type(answer.text).__name__}")
    return msgspec.convert({"text": in_words(answer.text), "ended": answer.ended}, Answer)
