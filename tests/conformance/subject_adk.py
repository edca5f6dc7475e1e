"""An agent of Google's ADK on its own client for OpenAI's chat completions, given as a factory and as an object."""

from typing import Any

from misstep.adapters.frameworks.adk import retool
from misstep.adapters.loading.registry import FRAMEWORKS
from misstep.core.agent import Agent
from tests.conformance.subjects import Owning, Subject
from tests.scripted import ScriptedServer

agent = FRAMEWORKS["adk"].agent


def connected(server: ScriptedServer) -> tuple[Any, Any]:
    """A model of the framework, and the SDK's client inside it."""
    import openai
    from google.adk.integrations.openai import OpenAILlm

    sdk = openai.AsyncOpenAI(base_url=server.base_url, api_key="sk-test", max_retries=0)
    return OpenAILlm(model="gpt-4o", client=sdk), sdk


def native(model: Any, tools: list[Any], **options: Any) -> Any:
    from google.adk.agents import LlmAgent

    return LlmAgent(name="me", model=model, instruction="Do as asked.", tools=tools, **options)


def make_from_factory(server: ScriptedServer) -> Agent:
    model, sdk = connected(server)
    return Owning(agent(lambda tools: native(model, tools), "adk"), sdk.close)


def make_from_object(server: ScriptedServer) -> Agent:
    def own_tool() -> str:
        """A tool that no case knows."""
        raise AssertionError("the agent's own tool was called")

    model, sdk = connected(server)
    return Owning(agent(retool(native(model, [own_tool])), "adk object"), sdk.close)


NEEDS = ("google", "google.adk", "openai")
# The framework's client for OpenAI puts {} in the place of arguments that are no JSON before anybody sees them.
HIDDEN = ("malformed",)
SUBJECTS = [
    Subject("adk", make_from_factory, NEEDS, hides=HIDDEN),
    Subject("adk object", make_from_object, NEEDS, hides=HIDDEN),
]
