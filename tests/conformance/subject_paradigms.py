"""Our own agents on a model behind OpenAI's interface."""

from misstep.adapters.builtin.function_calling import AssistantAgent, ResponsesAgent, ToolsAgent
from misstep.adapters.builtin.prompts import load_template
from misstep.adapters.builtin.react import ReactAgent
from misstep.models.anthropic import AnthropicModel
from misstep.models.client import Options
from misstep.models.openai import OpenAIModel
from misstep.models.providers import Endpoint, ModelName
from tests.conformance.subjects import Subject
from tests.scripted import ScriptedServer

PROMPT = load_template("tools", "", ())
REACT = load_template("react", "", ("tools", "request"), ("tools", "request"))


def model(server: ScriptedServer) -> OpenAIModel:
    return OpenAIModel(
        ModelName("openai", "gpt-4o"), Endpoint(server.base_url, "sk-test"), Options(retries=0)
    )


def anthropic(server: ScriptedServer) -> AnthropicModel:
    endpoint = Endpoint(server.base_url.removesuffix("/v1"), "sk-test")
    return AnthropicModel(ModelName("anthropic", "claude-sonnet-5"), endpoint, Options(retries=0))


SUBJECTS = [
    Subject("tools", lambda server: ToolsAgent(model(server), PROMPT)),
    Subject("responses", lambda server: ResponsesAgent(model(server), PROMPT)),
    Subject("assistant", lambda server: AssistantAgent(model(server), PROMPT)),
    # Anthropic's interface carries arguments as objects, so that no model can write them wrongly.
    Subject(
        "tools anthropic",
        lambda server: ToolsAgent(anthropic(server), PROMPT),
        ("anthropic",),
        hides=("malformed",),
    ),
    Subject("react", lambda server: ReactAgent(model(server), REACT), parallel=False),
    Subject(
        "react completion", lambda server: ReactAgent(model(server), REACT, completion=True), parallel=False
    ),
]
