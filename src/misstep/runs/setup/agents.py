"""Finds agents by name, and imports them when they are named."""

import inspect
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal, TypeAlias, get_args, get_type_hints

import msgspec

from misstep.core.agent import Agent
from misstep.core.model import LanguageModel, Template
from misstep.core.secrets import SECRET_NAME
from misstep.core.settings import AgentRunSettings, AgentSettings
from misstep.core.spending import RateLimiters
from misstep.errors import UsageError, did_you_mean
from misstep.planning.simulated.planners import PLANNERS, simulated_agent
from misstep.runs.setup.models import Tell, open_model

OpenModel: TypeAlias = Callable[[], LanguageModel]
Paradigm: TypeAlias = Callable[[AgentSettings, OpenModel], Agent]


def find_agent(
    settings: AgentRunSettings, tell: Tell = lambda _: None, rate_limiters: RateLimiters | None = None
) -> Agent:
    """The agent that the settings name, ready to run; for the other parameters see `open_model`."""
    for key in settings.agent_args:
        if SECRET_NAME.search(key):
            raise UsageError(
                f"the parameter '{key}' would be stored with the run",
                "put secrets in environment variables",
                where="--agent-arg",
            )
    kind, _, rest = settings.agent.partition(":")
    if kind != "mcp" and settings.agent.rstrip(":").endswith(".py"):
        raise unknown_agent(settings.agent, ())
    theirs = _black_box if kind == "mcp" else _own_agent
    if settings.prompt and settings.agent not in PARADIGMS:
        raise UsageError(f"'{settings.agent}' has its own prompt", "omit --prompt")
    if settings.python and (not rest or kind in ("sim", "mcp")):
        raise UsageError(f"'{settings.agent}' is not a file", "omit --python")
    if settings.record_proxy:
        if kind == "sim" or not rest:
            raise UsageError(f"'{settings.agent}' hides nothing", "omit --record-proxy")
        from misstep.runs.setup.proxied_agent import WatchedAgent

        return WatchedAgent(settings, theirs, tell)
    if kind == "sim" and rest:
        return simulated_agent(rest, settings.agent_args)
    if settings.agent in PARADIGMS:
        return PARADIGMS[settings.agent](
            settings, partial(open_model, settings, tell, rate_limiters=rate_limiters)
        )
    if rest:
        return theirs(settings)
    raise unknown_agent(settings.agent, [*PARADIGMS, *(f"sim:{planner}" for planner in PLANNERS)])


def check_agent(settings: AgentRunSettings) -> None:
    """Refuse an agent that can't be found. Built-in agents may lack their key: it is not needed yet."""
    if settings.agent not in PARADIGMS or not settings.model:
        check_found(find_agent(settings))


def check_found(agent: Agent) -> None:
    """Refuse an agent that can't be started, as far as it can tell: MCP clients and the proxy can."""
    check = getattr(agent, "check", None)
    if inspect.ismethod(check):
        check()


class ReactOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`mode` says whether the model continues a text or chats."""

    mode: Literal["chat", "completion"] = "chat"


class ToolOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`parallel` says whether the model may ask for several tools in one turn."""

    parallel: bool = True


def _react(settings: AgentSettings, open_one: OpenModel) -> Agent:
    from misstep.adapters.builtin.prompts import load_template
    from misstep.adapters.builtin.react import ReactAgent

    options = _options(settings, ReactOptions)
    places = ("tools", "request")
    prompt = load_template("react", settings.prompt, places, places)
    model, by_completion = open_one(), options.mode == "completion"
    if by_completion and not getattr(model, "completes", True):
        raise UsageError(f"{model.name} does not support text completion", "add -A mode=chat to chat with it")
    return ReactAgent(model, prompt, by_completion)


def _with_tools(name: str, verb: str) -> Paradigm:
    def made(settings: AgentSettings, open_one: OpenModel) -> Agent:
        from misstep.adapters.builtin import function_calling
        from misstep.adapters.builtin.prompts import load_template

        make: Callable[[Any, Template, bool], Agent] = getattr(function_calling, name)
        prompt = load_template("tools", settings.prompt, ())
        model = open_one()
        if not hasattr(model, verb):
            hint = "use --agent tools, or an OpenAI-compatible server"
            raise UsageError(f"{model.name} does not support what '{settings.agent}' needs", hint)
        return make(model, prompt, _options(settings, ToolOptions).parallel)

    return made


PARADIGMS: dict[str, Paradigm] = {
    "react": _react,
    "tools": _with_tools("ToolsAgent", "chat"),
    "responses": _with_tools("ResponsesAgent", "respond"),
    "assistant": _with_tools("AssistantAgent", "open_thread"),
}


class Nothing(msgspec.Struct, frozen=True):
    """The user's own agent takes no parameters from us."""


def _own_agent(settings: AgentSettings) -> Agent:
    from misstep.adapters.loading.recognition import load
    from misstep.adapters.subprocess.agent import SubprocessAgent

    spec = settings.agent
    _options(settings, Nothing)
    if settings.python:
        return SubprocessAgent(spec, settings.python, spec)
    loaded = load(spec, spec)
    if loaded.framework and loaded.framework.own_process:
        return SubprocessAgent(spec, sys.executable, spec)
    return loaded.agent


class McpOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`transport` says whether the client connects to us or starts its own server.

    `lazy` is for clients that connect only when they need a tool.
    """

    transport: Literal["http", "stdio"] = "http"
    lazy: bool = False


def _black_box(settings: AgentSettings) -> Agent:
    from misstep.adapters.mcp.agent import McpAgent

    command = settings.agent.partition(":")[2]
    options = _options(settings, McpOptions)
    return McpAgent(command, settings.agent, options.transport, lazy=options.lazy)


def _options(settings: AgentSettings, kind: Any) -> Any:
    known = kind.__struct_fields__
    for key in settings.agent_args:
        if key not in known:
            raise UsageError(
                f"{settings.agent} has no parameter '{key}'",
                f"known: {', '.join(known)}" if known else "it takes none",
                did_you_mean(key, known),
            )
    try:
        return msgspec.convert(settings.agent_args, kind, strict=False)
    except msgspec.ValidationError as error:
        given = ", ".join(f"{key}={value}" for key, value in settings.agent_args.items())
        choices = [
            f"{name} is {' or '.join(map(str, get_args(each))) or 'true or false'}"
            for name, each in get_type_hints(kind).items()
        ]
        raise UsageError(f"{settings.agent} can't be created with {given}", *choices) from error


def unknown_agent(name: str, known: Sequence[str]) -> UsageError:
    """The error for an agent that the command does not know, or that was not given."""
    if name.rstrip(":").endswith(".py"):
        from misstep.adapters.loading.candidates import nameless
        from misstep.adapters.loading.recognition import expected

        return nameless(name, "agent", expected())
    own = "or your own: file.py:name, package.module:name, mcp:COMMAND"
    listed = [f"known agents: {', '.join(known)}", own]
    if not name:
        return UsageError("no agent given", "pass one with --agent", *listed)
    return UsageError(f"unknown agent '{name}'", *listed, did_you_mean(name, known))
