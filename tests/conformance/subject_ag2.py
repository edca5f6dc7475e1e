"""An agent of AG2 on OpenAI's chat completions, given as a factory and as an object."""

from typing import Any

from misstep.adapters.frameworks.ag2 import retool
from misstep.adapters.loading.registry import FRAMEWORKS
from misstep.core.agent import Agent
from tests.conformance.schemas import closed
from tests.conformance.subjects import Owning, Subject
from tests.scripted import ScriptedServer

agent = FRAMEWORKS["ag2"].agent


def connected(server: ScriptedServer, **options: Any) -> tuple[Any, Any]:
    """A configuration of the framework, and the HTTP client inside it, which the framework leaves open."""
    import openai
    from ag2.config import OpenAIConfig

    http = openai.DefaultAsyncHttpxClient()
    settings = {"base_url": server.base_url, "api_key": "sk-test", "max_retries": 0, "http_client": http}
    return OpenAIConfig("gpt-4o", **settings, **options), http


def native(config: Any, tools: list[Any], **options: Any) -> Any:
    import ag2

    return ag2.Agent("me", "Do as asked.", config=config, tools=tools, **options)


def make_from_factory(server: ScriptedServer) -> Agent:
    config, http = connected(server)
    return Owning(agent(lambda tools: native(config, tools), "ag2"), http.aclose)


def make_from_object(server: ScriptedServer) -> Agent:
    def own_tool() -> str:
        """A tool that no case knows."""
        raise AssertionError("the agent's own tool was called")

    config, http = connected(server)
    return Owning(agent(retool(native(config, [own_tool])), "ag2 object"), http.aclose)


NEEDS = ("ag2", "openai")
# The framework tells its models of no other arguments than those listed, unless a schema does.
SUBJECTS = [
    Subject("ag2", make_from_factory, NEEDS, rewrites=closed),
    Subject("ag2 object", make_from_object, NEEDS, rewrites=closed),
]
