"""Built-in agents with function calling: `tools` (chat), `responses` and `assistant`."""

import asyncio
from collections.abc import Sequence
from typing import Generic, TypeVar

import msgspec

from misstep.adapters.arguments import read_arguments
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
    ToolCall,
    ToolResult,
    User,
)

Model = TypeVar("Model", bound=LanguageModel)


class _Agent(Generic[Model]):
    def __init__(self, model: Model, prompt: Template, parallel: bool = True) -> None:
        self._model = model
        self._prompt = prompt
        self._parallel = parallel

    def _opening(self, assignment: Assignment) -> list[Message]:
        return [System(self._prompt.fill()), User(assignment.request)]

    async def close(self) -> None:
        await self._model.close()


def _note(messages: Sequence[Message], toolbox: Toolbox) -> None:
    for message in messages:
        toolbox.note(msgspec.to_builtins(message))


def _carry_out(calls: Sequence[ToolCall], toolbox: Toolbox, turn: int) -> list[ToolResult]:
    """The results of the calls of one turn; invalid calls get a result that says what is wrong."""
    read = [(call, read_arguments(call.arguments)) for call in calls]
    for call, given in read:
        toolbox.ask(call.name, given, turn)
    return [ToolResult(call.id, toolbox.call(call.name, given, turn)) for call, given in read]


class ToolsAgent(_Agent[LanguageModel]):
    """Sends the whole conversation with every request and makes the calls in each reply."""

    name = "tools"

    async def run(self, assignment: Assignment, toolbox: Toolbox) -> Answer:
        messages = self._opening(assignment)
        tools = tuple(toolbox.tools)
        _note(messages, toolbox)
        while True:
            turn = toolbox.begin_turn()
            reply = await self._model.chat(Chat(tuple(messages), tools, parallel=self._parallel), toolbox)
            said = Assistant(reply.text, reply.calls)
            _note([said], toolbox)
            if not reply.calls:
                return Answer(reply.text)
            results = _carry_out(reply.calls, toolbox, turn)
            _note(results, toolbox)
            messages += [said, *results]


class ResponsesAgent(_Agent[ResponseModel]):
    """Sends only what is new since the last reply: the server remembers the conversation."""

    name = "responses"

    async def run(self, assignment: Assignment, toolbox: Toolbox) -> Answer:
        new = self._opening(assignment)
        tools, earlier = tuple(toolbox.tools), ""
        while True:
            turn = toolbox.begin_turn()
            _note(new, toolbox)
            request = Chat(tuple(new), tools, parallel=self._parallel)
            reply = await self._model.respond(request, earlier, toolbox)
            _note([Assistant(reply.text, reply.calls)], toolbox)
            if not reply.calls:
                return Answer(reply.text)
            new = [*_carry_out(reply.calls, toolbox, turn)]
            earlier = reply.id


CLOSING_SECONDS = 5.0


class AssistantAgent(_Agent[ThreadModel]):
    """Lets the server run an assistant and a thread per case, deleted later (Assistants API, version 2)."""

    name = "assistant"

    def __init__(self, model: ThreadModel, prompt: Template, parallel: bool = True) -> None:
        super().__init__(model, prompt, parallel)
        self._deletions = set[asyncio.Task[None]]()

    async def run(self, assignment: Assignment, toolbox: Toolbox) -> Answer:
        messages = self._opening(assignment)
        _note(messages, toolbox)
        request = Chat(tuple(messages), tuple(toolbox.tools), parallel=self._parallel)
        thread = self._model.open_thread(request)
        try:
            return await _converse(thread, toolbox)
        finally:
            # Not awaited: a case that timed out has no time left for cleanup.
            task = asyncio.create_task(thread.close())
            self._deletions.add(task)
            task.add_done_callback(self._deletions.discard)

    async def close(self) -> None:
        if self._deletions:
            await asyncio.wait(self._deletions, timeout=CLOSING_SECONDS)
        for task in self._deletions:
            task.cancel()
        await super().close()


async def _converse(thread: Thread, toolbox: Toolbox) -> Answer:
    turn = 0
    while True:
        if turn == toolbox.max_steps:
            await thread.cancel(toolbox)
        turn = toolbox.begin_turn()
        reply = await thread.next(toolbox)
        _note([Assistant(reply.text, reply.calls)], toolbox)
        if not reply.calls:
            return Answer(reply.text)
        results = _carry_out(reply.calls, toolbox, turn)
        _note(results, toolbox)
        await thread.submit(results, toolbox)
