"""What users of LangChain call an agent, from `create_agent` to a graph by hand and the old executors."""

import json
from collections.abc import Callable
from typing import Any

import openai

from misstep.adapters.loading.registry import FRAMEWORKS
from misstep.core.agent import Agent
from tests.conformance.schemas import Json, everywhere
from tests.conformance.subjects import Owning, Subject
from tests.scripted import ScriptedServer

framework = FRAMEWORKS["langchain"]


class Clients:
    """Connections to a server, and models that use them."""

    def __init__(self, server: ScriptedServer) -> None:
        # Certificates take most of a client's start.
        self._blocking = openai.DefaultHttpxClient(verify=False)
        self._waiting = openai.DefaultAsyncHttpxClient(verify=False)
        connections = {"http_client": self._blocking, "http_async_client": self._waiting}
        settings = {"base_url": server.base_url, "api_key": "sk-test", "max_retries": 0, "temperature": 0}
        self._options: dict[str, Any] = {**connections, **settings}

    def chat_model(self, **options: Any) -> Any:
        from langchain_openai import ChatOpenAI

        return ChatOpenAI(model="gpt-4o", **self._options, **options)

    def text_model(self) -> Any:
        from langchain_openai import OpenAI

        return OpenAI(model="gpt-3.5-turbo-instruct", **self._options)

    async def close(self) -> None:
        self._blocking.close()
        await self._waiting.aclose()


def made_with(build: Callable[[Clients, list[Any]], Any]) -> Callable[[ScriptedServer], Agent]:
    """What makes an agent of a factory that needs connections."""

    def make(server: ScriptedServer) -> Agent:
        clients = Clients(server)
        return Owning(framework.agent(lambda tools: build(clients, tools), "langchain"), clients.close)

    return make


def created(clients: Clients, tools: list[Any], **options: Any) -> Any:
    from langchain.agents import create_agent

    return create_agent(clients.chat_model(**options), tools)


def streaming(clients: Clients, tools: list[Any]) -> Any:
    return created(clients, tools, streaming=True, stream_usage=True)


def on_responses(clients: Clients, tools: list[Any]) -> Any:
    return created(clients, tools, use_responses_api=True)


def by_hand(clients: Clients, tools: list[Any]) -> Any:
    """A graph of plain functions that remembers, as in LangGraph's tutorials."""
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.graph import START, MessagesState, StateGraph
    from langgraph.prebuilt import ToolNode, tools_condition

    model = clients.chat_model().bind_tools(tools)

    def chat(state: MessagesState) -> Any:
        return {"messages": [model.invoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("chat", chat)
    graph.add_node("tools", ToolNode(tools))
    graph.add_edge(START, "chat")
    graph.add_conditional_edges("chat", tools_condition)
    graph.add_edge("tools", "chat")
    return graph.compile(checkpointer=InMemorySaver())


def executor(clients: Clients, tools: list[Any], **options: Any) -> Any:
    """The old executor, which streams from its model unless it is told not to."""
    from langchain_classic.agents import AgentExecutor, create_tool_calling_agent
    from langchain_core.prompts import ChatPromptTemplate

    prompt = ChatPromptTemplate([("human", "{input}"), ("placeholder", "{agent_scratchpad}")])
    planner = create_tool_calling_agent(clients.chat_model(stream_usage=True), tools, prompt)
    return AgentExecutor(agent=planner, tools=tools, **options)


REACT = """Answer the question with these tools, using the format shown.
{tools}

Thought: what to do
Action: one of {tool_names}
Action Input: its input
Observation: its result
Final Answer: the answer

Question: {input}
{agent_scratchpad}"""


def in_text(clients: Clients, tools: list[Any], **options: Any) -> Any:
    """ReAct in text, by a model for completion; LangChain drops the tokens of streamed completions."""
    from langchain_classic.agents import AgentExecutor, create_react_agent
    from langchain_core.prompts import PromptTemplate

    prompt = PromptTemplate.from_template(REACT)
    planner = create_react_agent(clients.text_model(), tools, prompt, tools_renderer=listed)
    return AgentExecutor(agent=planner, tools=tools, stream_runnable=False, **options)


def listed(tools: list[Any]) -> str:
    """The tools in words; those that are no mocks are described by models, which are of no interest here."""
    schemas = [tool.args_schema if isinstance(tool.args_schema, dict) else {} for tool in tools]
    return "\n".join(
        f"- {tool.name}: {tool.description} Arguments: {json.dumps(schema)}"
        for tool, schema in zip(tools, schemas, strict=True)
    )


@everywhere
def unrolled(schema: Json) -> Json:
    """A schema as LangChain writes its references out: one to itself, within itself, is left open."""
    return {name: part for name, part in schema.items() if "$ref" not in schema and part != {}}


NEW = ("langchain", "langchain_openai")
OLD = ("langchain_classic", "langchain_openai")
SUBJECTS = [
    Subject("langchain", made_with(created), NEW, rewrites=unrolled),
    Subject("langchain streaming", made_with(streaming), NEW, rewrites=unrolled),
    Subject("langchain on responses", made_with(on_responses), NEW, rewrites=unrolled),
    # A function that waits for its model can't be stopped, so its socket lives on until the answer comes.
    Subject("langgraph by hand", made_with(by_hand), NEW, hides=("sockets",), rewrites=unrolled),
    Subject("langchain executor", made_with(executor), OLD, rewrites=unrolled),
    Subject("langchain react", made_with(in_text), OLD, parallel=False),
]
