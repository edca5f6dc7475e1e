"""`react`: thought, action, observation in plain text, by completion or by chat."""

from misstep.adapters.paradigms.prompts import list_tools
from misstep.adapters.paradigms.steps import Act, Finish, read_step
from misstep.core.agent import Answer, Assignment, Toolbox
from misstep.core.model import Assistant, Chat, LanguageModel, Message, Prompt, User
from misstep.core.template import Template

STOP = ("\nObservation:", "\nQuestion:")
THOUGHT = "Thought:"  # a model that continues a text needs to be led into the next step
REMINDER = (
    "That was neither an action nor a final answer. Write an Action with its Action Input, or a Final Answer."
)


class ReactAgent:
    """Works on any model that continues text or chats; it needs no function calling."""

    def __init__(self, model: LanguageModel, prompt: Template, completion: bool = False) -> None:
        self.name = "react"
        self._model = model
        self._prompt = prompt
        self._completion = completion

    async def run(self, assignment: Assignment, toolbox: Toolbox) -> Answer:
        opening = self._prompt.fill(tools=list_tools(toolbox.tools), request=assignment.request)
        toolbox.note({"role": "user", "text": opening})
        said = list[tuple[str, str]]()
        while True:
            turn = toolbox.begin_turn()
            text = await self._say(opening, said, toolbox)
            toolbox.note({"role": "assistant", "text": text})
            match read_step(text):
                case Finish(answer):
                    return Answer(answer)
                case Act(tool, arguments):
                    observation = toolbox.call(tool, arguments, turn)
                case _:
                    toolbox.misread()
                    observation = REMINDER
            toolbox.note({"role": "user", "text": observation})
            said.append((text, observation))

    async def _say(self, opening: str, said: list[tuple[str, str]], toolbox: Toolbox) -> str:
        """What the model says next, without what it makes up about the result."""
        if self._completion:
            steps = "".join(f"{text.strip()}\nObservation: {observed}\n" for text, observed in said)
            prompt = Prompt(f"{opening.rstrip()}\n{steps}{THOUGHT}", STOP)
            reply = await self._model.complete(prompt, toolbox)
            return _before_stop(f"{THOUGHT}{reply.text}")
        messages: list[Message] = [User(opening)]
        for text, observed in said:
            messages += [Assistant(text.strip()), User(f"Observation: {observed}")]
        reply = await self._model.chat(Chat(tuple(messages), stop=STOP), toolbox)
        return _before_stop(reply.text)

    async def close(self) -> None:
        await self._model.close()


def _before_stop(text: str) -> str:
    """The text up to the first stop, for servers that don't know of stops."""
    for stop in STOP:
        text = text.partition(stop)[0]
    return text
