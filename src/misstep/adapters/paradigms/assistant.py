"""`assistant`: the server runs the conversation and asks for tools (OpenAI's Assistants, second version)."""

import asyncio

import msgspec

from misstep.adapters.paradigms.carrying import carry_out
from misstep.core.agent import Answer, Assignment, Toolbox
from misstep.core.model import Assistant, Chat, System, Thread, ThreadModel, User
from misstep.core.template import Template

CLOSING_SECONDS = 5.0


class AssistantAgent:
    """An assistant and a thread per case, deleted beside the cases that follow."""

    def __init__(self, model: ThreadModel, prompt: Template, parallel: bool = True) -> None:
        self.name = "assistant"
        self._model = model
        self._prompt = prompt
        self._parallel = parallel
        self._deletions = set[asyncio.Task[None]]()

    async def run(self, assignment: Assignment, toolbox: Toolbox) -> Answer:
        messages = (System(self._prompt.fill()), User(assignment.request))
        for message in messages:
            toolbox.note(msgspec.to_builtins(message))
        request = Chat(messages, tuple(toolbox.tools), parallel=self._parallel)
        thread = self._model.open_thread(request)
        try:
            return await self._converse(thread, toolbox)
        finally:
            # Not waited for: a case that is out of time has none left for tidying up.
            task = asyncio.create_task(thread.close())
            self._deletions.add(task)
            task.add_done_callback(self._deletions.discard)

    async def _converse(self, thread: Thread, toolbox: Toolbox) -> Answer:
        turn = 0
        while True:
            if turn == toolbox.max_steps:
                await thread.cancel(toolbox)
            turn = toolbox.begin_turn()
            reply = await thread.next(toolbox)
            toolbox.note(msgspec.to_builtins(Assistant(reply.text, reply.calls)))
            if not reply.calls:
                return Answer(reply.text)
            results = carry_out(reply.calls, toolbox, turn)
            for result in results:
                toolbox.note(msgspec.to_builtins(result))
            await thread.submit(results, toolbox)

    async def close(self) -> None:
        if self._deletions:
            await asyncio.wait(self._deletions, timeout=CLOSING_SECONDS)
        for task in self._deletions:
            task.cancel()
        await self._model.close()
