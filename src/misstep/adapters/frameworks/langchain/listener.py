"""Hears through LangChain's callbacks what models say."""

import uuid
from collections.abc import Collection, Iterable, Sequence
from functools import cache, partial
from types import new_class
from typing import Any

from misstep.adapters.arguments import read_arguments
from misstep.adapters.frameworks.langchain.package import core
from misstep.adapters.frameworks.langchain.tools import given_by
from misstep.core.agent import Toolbox
from misstep.core.transcript import Usage

STOPPED = ("Agent stopped due to max iterations.", "Agent stopped due to iteration limit or time limit.")


class _Listener:
    """Tells the toolbox what models do, once it is joined with LangChain's `BaseCallbackHandler`.

    Models may run side by side and in several threads; each run is known by its id.
    """

    raise_error = True  # StepsExhausted has to get out
    run_inline = True  # in order, before anything else happens

    def __init__(self, toolbox: Toolbox, tools: Iterable[Any], own: Collection[str]) -> None:
        self._toolbox = toolbox
        self._mocks = {described.name: described for described in toolbox.tools}
        self._private = {tool.name for tool in tools} - self._mocks.keys()
        self._turns = dict[uuid.UUID, int]()
        self._chunks = dict[uuid.UUID, list[Any]]()
        self._own = own  # tools that are LangChain's own objects
        self._in_words = False  # the last reply had no calls but those in its text
        self.was_stopped = False

    def on_chat_model_start(
        self, _serialized: Any, messages: Sequence[Sequence[Any]], *, run_id: uuid.UUID, **info: Any
    ) -> None:
        self._turns[run_id] = self._toolbox.begin_turn()
        self._private |= _names_of((info.get("invocation_params") or {}).get("tools")) - self._mocks.keys()
        for message in _since_last_reply(messages[0]):
            self._toolbox.note(message.model_dump())

    def on_llm_start(
        self, _serialized: Any, prompts: Sequence[str], *, run_id: uuid.UUID, **_info: Any
    ) -> None:
        self._turns[run_id] = self._toolbox.begin_turn()
        self._toolbox.note(prompts[0])

    def on_llm_new_token(self, _token: Any, *, run_id: uuid.UUID, chunk: Any = None, **_info: Any) -> None:
        """Keep what becomes a call: LangChain mends its arguments when it puts the pieces together."""
        message = getattr(chunk, "message", None)
        if getattr(message, "tool_call_chunks", None):
            self._chunks.setdefault(run_id, []).append(message)

    def on_llm_end(self, response: Any, *, run_id: uuid.UUID, **_info: Any) -> None:
        generation = response.generations[0][0]
        message = getattr(generation, "message", None)
        self._toolbox.spend(_usage(message, response.llm_output))
        self._toolbox.note(generation.text if message is None else message.model_dump())
        calls = _streamed(self._chunks.pop(run_id, [])) or _calls(message)
        self._in_words = not calls
        turn = self._turns.pop(run_id, None)
        for name, arguments in calls:
            self._ask(name, arguments, turn)

    def on_llm_error(self, _error: BaseException, *, run_id: uuid.UUID, **_info: Any) -> None:
        self._turns.pop(run_id, None)
        self._chunks.pop(run_id, None)

    def on_agent_action(self, action: Any, **_info: Any) -> None:
        """An `AgentExecutor` has read a call, perhaps out of the text of a reply."""
        if self._in_words:
            read = partial(given_by, self._mocks[action.tool]) if action.tool in self._own else read_arguments
            self._ask(action.tool, read(action.tool_input))

    def on_agent_finish(self, finish: Any, **_info: Any) -> None:
        """An `AgentExecutor` ends; if it does so without a word of the model, it has run into a limit."""
        self.was_stopped = not finish.log and finish.return_values.get("output") in STOPPED

    def on_tool_start(self, serialized: Any, _text: str, **_info: Any) -> None:
        """An `AgentExecutor` takes words that make no sense for a tool of this name."""
        if (serialized or {}).get("name") == "_Exception":
            self._toolbox.misread()

    def _ask(self, name: str, arguments: Any, turn: int | None = None) -> None:
        """Record a call, except one of what the agent has besides our tools: ways to give its answer."""
        if name not in self._private:
            self._toolbox.ask(name, arguments, turn)


@cache
def listener_class() -> Any:
    return new_class("Listener", (_Listener, core().callbacks.BaseCallbackHandler))


def _names_of(tools: Any) -> set[str]:
    """The names of the tools offered to a model, in OpenAI's form or Anthropic's."""
    offered = [tool for tool in tools or () if isinstance(tool, dict)]
    return {str((tool.get("function") or tool).get("name")) for tool in offered}


def _since_last_reply(messages: Sequence[Any]) -> Sequence[Any]:
    last = max((at for at, message in enumerate(messages) if message.type == "ai"), default=-1)
    return messages[last + 1 :]


def _streamed(chunks: list[Any]) -> list[tuple[str, Any]]:
    """The calls of a reply that came in pieces, as they were written."""
    if not chunks:
        return []
    whole = chunks[0] + chunks[1:]
    return [(call["name"] or "", read_arguments(call["args"])) for call in whole.tool_call_chunks]


def _calls(message: Any) -> list[tuple[str, Any]]:
    """The calls of a reply in the order of its content if that shows it, else those that are no JSON last."""
    calls = [*getattr(message, "tool_calls", ()), *getattr(message, "invalid_tool_calls", ())]
    blocks = [block for block in getattr(message, "content", ()) if isinstance(block, dict)]
    order = [block.get("call_id", block.get("id")) for block in blocks]
    calls.sort(key=lambda call: order.index(call["id"]) if call["id"] in order else len(order))
    old = getattr(message, "additional_kwargs", {}).get("function_call")
    found = calls or ([{"name": old["name"], "args": old["arguments"]}] if old else [])
    return [(call["name"] or "", read_arguments(call["args"])) for call in found]


def _usage(message: Any, output: Any) -> Usage:
    """Tokens as chat models count them or else as models for completion do; none for a reply from a cache."""
    counts = getattr(message, "usage_metadata", None) or {}
    if counts.get("total_cost") == 0:
        return Usage()
    if counts:
        cached = counts.get("input_token_details", {}).get("cache_read", 0)
        return Usage(counts["input_tokens"], counts["output_tokens"], cached or 0)
    older = (output or {}).get("token_usage") or {}
    return Usage(older.get("prompt_tokens", 0), older.get("completion_tokens", 0))
