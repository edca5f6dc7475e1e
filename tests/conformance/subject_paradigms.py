"""Our own agents on a model behind OpenAI's interface."""

from misstep.adapters.paradigms.assistant import AssistantAgent
from misstep.adapters.paradigms.prompts import load_template
from misstep.adapters.paradigms.react import ReactAgent
from misstep.adapters.paradigms.responses import ResponsesAgent
from misstep.adapters.paradigms.tools import ToolsAgent
from misstep.models.openai import OpenAIModel, Options
from misstep.models.providers import Endpoint, ModelName
from tests.conformance.subjects import Subject
from tests.scripted import ScriptedServer

PROMPT = load_template("tools", "", ())
REACT = load_template("react", "", ("tools", "request"), ("tools", "request"))


def model(server: ScriptedServer) -> OpenAIModel:
    return OpenAIModel(
        ModelName("openai", "gpt-4o"), Endpoint(server.base_url, "sk-test"), Options(retries=0)
    )


SUBJECTS = [
    Subject("tools", lambda server: ToolsAgent(model(server), PROMPT)),
    Subject("responses", lambda server: ResponsesAgent(model(server), PROMPT)),
    Subject("assistant", lambda server: AssistantAgent(model(server), PROMPT)),
    Subject("react", lambda server: ReactAgent(model(server), REACT), parallel=False),
    Subject(
        "react completion", lambda server: ReactAgent(model(server), REACT, completion=True), parallel=False
    ),
]
