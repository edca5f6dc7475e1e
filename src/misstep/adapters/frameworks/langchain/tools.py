"""Tools of a toolbox as `BaseTool`s."""

import copy
from functools import cache, wraps
from typing import Any

from misstep.adapters.arguments import read_arguments
from misstep.adapters.natives import check_unchanged, stand_in
from misstep.core.agent import Tool, Toolbox


@cache
def mock_tool() -> Any:
    """The class of tools that take their input as it comes, be it an object or the text of a ReAct agent."""
    from langchain_core.tools import BaseTool

    class MockTool(BaseTool):
        def __init__(self, described: Tool, toolbox: Toolbox) -> None:
            schema = copy.deepcopy(described.parameters)
            super().__init__(name=described.name, description=described.description, args_schema=schema)
            self._toolbox = toolbox

        def _to_args_and_kwargs(self, tool_input: Any, _call_id: str | None) -> tuple[Any, dict[str, Any]]:
            return (tool_input,), {}

        def _run(self, given: Any) -> str:
            return self._toolbox.call(self.name, read_arguments(given))

        async def _arun(self, given: Any) -> str:
            return self._run(given)

    return MockTool


def rerouted(native: Any, described: Tool, toolbox: Toolbox) -> Any:
    """A copy of a tool that checks its input as the tool does, then hands it on as it came."""
    check_unchanged(native, "langchain_core", "invoke", "ainvoke", "run", "arun")

    def checked(tool_input: Any, call_id: str | None) -> tuple[Any, dict[str, Any]]:
        type(native)._to_args_and_kwargs(routed, copy.deepcopy(tool_input), call_id)
        return (tool_input,), {}

    @wraps(native._run)
    def carry_out(given: Any, **_info: Any) -> Any:
        text = toolbox.call(described.name, given_by(described, given))
        return (text, None) if native.response_format == "content_and_artifact" else text

    @wraps(native._arun)
    async def carry_out_later(given: Any, **_info: Any) -> Any:
        return carry_out(given)

    routed = native.model_copy()
    own = {"_to_args_and_kwargs": checked, "_run": carry_out, "_arun": carry_out_later}
    own["get_input_schema"] = native.get_input_schema  # which may look at `_run`
    for name, awaited in (("func", False), ("coroutine", True)):
        if callable(function := getattr(native, name, None)):
            own[name] = stand_in(function, described, toolbox.call, awaited)
    for name, part in own.items():
        object.__setattr__(routed, name, part)
    return routed


def given_by(described: Tool, tool_input: Any) -> Any:
    """The arguments of a call; LangChain takes a text for the first of them."""
    first = next(iter(described.parameters.get("properties", ())), "")
    return {first: tool_input} if first and isinstance(tool_input, str) else read_arguments(tool_input)
