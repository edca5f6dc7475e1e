"""One attempt of an agent at one case, within its time limit."""

import asyncio

import msgspec

from misstep.core.agent import Agent, Answer, Assignment, Displaced, StepsExhausted
from misstep.core.text import in_words, traceback_in_words
from misstep.engine.recorder import Deadline, Recorder

GRACE = 0.5  # seconds for a cancelled agent to clean up


async def attempt(
    agent: Agent, assignment: Assignment, recorder: Recorder, deadline: Deadline
) -> tuple[Answer, str]:
    """Run the agent; return how it ended, and the traceback if it failed. No exception of the agent escapes.

    An agent that can't be cancelled is abandoned and gets no more tools. `Displaced` is raised, since it is
    not the agent's fault: the case has to be tried again with a new recorder and a new deadline.
    """
    work = asyncio.create_task(_guarded(agent, assignment, recorder))
    result: Answer | BaseException = TimeoutError()
    try:
        async with deadline:
            result = await asyncio.shield(work)
    except TimeoutError:
        pass  # raised by the deadline: the agent's own errors are caught
    except GeneratorExit as error:
        if not work.done() or work.cancelled() or work.exception() is not error:
            raise
        result = error
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if not work.cancelled() or (task and task.cancelling()):  # else the agent raised it itself
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
    """The agent's answer or the exception it raised; only cancellation and `Displaced` are raised."""
    try:
        return _checked(await agent.run(assignment, recorder))
    except (GeneratorExit, asyncio.CancelledError, Displaced):
        raise
    except BaseException as error:
        return error


async def _end(work: "asyncio.Task[Answer | BaseException]") -> None:
    """Cancel the task if it still runs, and give it a moment to clean up."""
    if not work.done():
        work.cancel()
        await asyncio.wait([work], timeout=GRACE)
    if not work.done():
        asyncio._unregister_task(work)  # or closing the loop would wait for it
    work.add_done_callback(lambda task: task.cancelled() or task.exception())  # retrieves its exception


def _checked(answer: object) -> Answer:
    """The answer with its text as a string; raises TypeError if it is not an answer."""
    if not isinstance(answer, Answer):
        raise TypeError(f"the agent returned {type(answer).__name__} instead of an Answer")
    if not isinstance(answer.text, str | bytes):
        raise TypeError(f"the text of the agent's answer is {type(answer.text).__name__}")
    return msgspec.convert({"text": in_words(answer.text), "ended": answer.ended}, Answer)
