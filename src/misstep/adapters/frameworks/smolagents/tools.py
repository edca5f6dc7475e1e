"""Tools of a toolbox as smolagents' own."""

import copy
import json
import keyword
import re
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from misstep.adapters.frameworks.smolagents.inputs import inputs_of, is_told_by_types
from misstep.adapters.frameworks.smolagents.package import load_smolagents
from misstep.adapters.natives import Unroutable, check_unchanged
from misstep.core.agent import Tool, Toolbox

ANSWERING = "final_answer"  # the tool by which an agent of the framework answers
QUOTES = '"""'


@cache
def mock_tool() -> Any:
    class MockTool(load_smolagents().Tool):  # type: ignore[misc]
        skip_forward_signature_validation = True
        output_type = "string"

        def __init__(self, name: str, described: Tool, toolbox: Toolbox) -> None:
            super().__init__()
            self.name = name
            self.description = described.description
            self.inputs = inputs_of(described.parameters)
            self.forward = _forward(described, toolbox)  # what an agent's code can't look into
            self._parameters = described.parameters

        @property
        def schema(self) -> dict[str, Any]:
            parameters = copy.deepcopy(self._parameters)
            function = {"name": self.name, "description": self.description, "parameters": parameters}
            return {"type": "function", "function": function}

        def to_tool_calling_prompt(self) -> str:
            takes = f"Takes inputs: {json.dumps(self._parameters, ensure_ascii=False)}"
            return f"{self.name}: {self.description}\n    {takes}\n    Returns an output of type: string"

        def to_code_prompt(self) -> str:
            prompt: str = super().to_code_prompt()
            if is_told_by_types(self._parameters):
                return prompt
            schema = f"JSON schema of the arguments: {json.dumps(self._parameters, ensure_ascii=False)}"
            return f"{prompt.removesuffix(QUOTES).rstrip()}\n\n    {schema}\n    {QUOTES}"

    return MockTool


def _forward(described: Tool, toolbox: Toolbox) -> Callable[..., str]:
    order = list(described.parameters.get("properties", ()))

    def forward(*values: Any, **arguments: Any) -> str:
        """Code may give values without names; those that no parameter is left for go by their number."""
        free = [name if name not in arguments else "" for name in order] + [""] * len(values)
        named = {free[at] or str(at + 1): value for at, value in enumerate(values)}
        return toolbox.call(described.name, {**named, **arguments})

    return forward


def rerouted(native: Any, described: Tool, toolbox: Toolbox) -> Any:
    """A copy of a tool that is never set up, since it does nothing."""
    check_unchanged(native, "smolagents", "__call__")
    if native.output_type in ("image", "audio"):
        raise Unroutable(f"what it gives is no text but {native.output_type}")
    if [native.name] != [*identifiers([native.name]).values()]:
        raise Unroutable("no agent can have a tool of this name")
    routed = copy.copy(native)
    routed.forward = _forward(described, toolbox)
    routed.is_initialized = True
    return routed


def identifiers(names: Iterable[str]) -> dict[str, str]:
    """For each name one that can be the name of a function in Python and is no other's."""
    given = dict[str, str]()
    for name in names:
        own = re.sub(r"\A(?=\d|\Z)|\W", "_", name, flags=re.ASCII)
        while keyword.iskeyword(own) or own == ANSWERING or own in given.values():
            own += "_"
        given[name] = own
    return given
