"""`tools`: chat with function calling."""

import msgspec

from misstep.adapters.paradigms.carrying import carry_out
from misstep.core.agent import Answer, Assignment, Toolbox
from misstep.core.model import Assistant, Chat, LanguageModel, Message, System, User
from misstep.core.template import Template


class ToolsAgent:
    """Sends the whole conversation with every request and carries out whatever calls come back."""

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
