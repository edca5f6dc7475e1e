"""Calls tools of Pydantic AI: their own validator, then the function."""

from collections.abc import Callable
from typing import Any

from misstep.adapters.toolset.calling import Loop, context_of
from misstep.errors import UsageError


def invoker(tool: Any, _is_async: bool, loop: Loop) -> Callable[[dict[str, Any]], Any]:
    """A function that calls the tool and returns its result."""
    from pydantic_ai import RunContext
    from pydantic_ai._utils import disable_threads  # threads are not observed
    from pydantic_ai.models.test import TestModel
    from pydantic_ai.usage import RunUsage

    schema = getattr(tool, "function_schema", None)
    if schema is None:
        raise UsageError(f"'{tool.name}' has no function of its own that could be called")
    deps = context_of(schema.function, (RunContext,), tool.name)
    context: Any = RunContext(deps=deps, model=TestModel(), usage=RunUsage(), tool_name=tool.name)

    def invoke(arguments: dict[str, Any]) -> Any:
        with disable_threads():
            return loop.settle(schema.call(schema.validator.validate_python(arguments), context))

    return invoke
