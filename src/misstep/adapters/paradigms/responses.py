"""`responses`: function calling on a server that remembers the conversation."""

import msgspec

from misstep.adapters.paradigms.carrying import carry_out
from misstep.core.agent import Answer, Assignment, Toolbox
from misstep.core.model import Assistant, Chat, Message, ResponseModel, System, User
from misstep.core.template import Template


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
