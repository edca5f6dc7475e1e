"""Built-in agents with function calling: `tools` (chat), `responses` and `assistant`.

`responses` uses a server that remembers the conversation; with `assistant` the server runs it (OpenAI's
Assistants API, version 2).
"""

import asyncio

import msgspec

from misstep.adapters.builtin.prompts import carry_out
from misstep.core.agent import Answer, Assignment, Toolbox
from misstep.core.model import (
    Assistant,
    Chat,
    LanguageModel,
    Message,
    ResponseModel,
    System,
    Template,
    Thread,
    ThreadModel,
    User,
)


class ToolsAgent:
    """Sends the whole conversation with every request and makes the calls in each reply."""

    def __init__(self, model: LanguageModel, prompt: Template, parallel: bool = True) -> None:
        self.name = "tools"
        self._model = model
        self._prompt = prompt
        self._parallel = parallel

    async def run(self, assignment: Assignment, toolbox: Toolbox) -> Answer:
        messages: list[Message] = [System(self._prompt.fill()), User(assignment.request)]
        tools = tuple(toolbox.tools)
        for message in messages:
            toolbox.note(msgspec.to_builtins(message))
        while True:
            turn = toolbox.begin_turn()
            reply = await self._model.chat(Chat(tuple(messages), tools, parallel=self._parallel), toolbox)
            new: list[Message] = [Assistant(reply.text, reply.calls)]
            toolbox.note(msgspec.to_builtins(new[0]))
            if not reply.calls:
                return Answer(reply.text)
            new += carry_out(reply.calls, toolbox, turn)
            for result in new[1:]:
                toolbox.note(msgspec.to_builtins(result))
            messages += new

    async def close(self) -> None:
        await self._model.close()


class ResponsesAgent:
    """Sends only what is new since the last reply."""

    def __init__(self, model: ResponseModel, prompt: Template, parallel: bool = True) -> None:
        self.name = "responses"
        self._model = model
        self._prompt = prompt
        self._parallel = parallel

    async def run(self, assignment: Assignment, toolbox: Toolbox) -> Answer:
        new: list[Message] = [System(self._prompt.fill()), User(assignment.request)]
        tools, earlier = tuple(toolbox.tools), ""
        while True:
            turn = toolbox.begin_turn()
            for message in new:
                toolbox.note(msgspec.to_builtins(message))
            request = Chat(tuple(new), tools, parallel=self._parallel)
            reply = await self._model.respond(request, earlier, toolbox)
            toolbox.note(msgspec.to_builtins(Assistant(reply.text, reply.calls)))
            if not reply.calls:
                return Answer(reply.text)
            new = [*carry_out(reply.calls, toolbox, turn)]
            earlier = reply.id

    async def close(self) -> None:
        await self._model.close()


CLOSING_SECONDS = 5.0


class AssistantAgent:
    """Uses an assistant and a thread per case, which are deleted while later cases run."""

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
            # Not awaited: a case that timed out has no time left for cleanup.
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
