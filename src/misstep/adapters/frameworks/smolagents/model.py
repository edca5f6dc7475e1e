"""The model of an agent, watched while it is asked."""

import inspect
import json
from collections.abc import Callable, Iterator
from typing import Any

from misstep.adapters.arguments import read_arguments
from misstep.adapters.frameworks.smolagents.package import load_smolagents
from misstep.adapters.frameworks.smolagents.tools import ANSWERING, mock_tool
from misstep.core.agent import Toolbox
from misstep.core.transcript import Usage


class WatchedModel:
    """A model that tells the toolbox about every request and reply; `names` are what it knows tools by."""

    def __init__(self, model: Any, toolbox: Toolbox, names: dict[str, str]) -> None:
        # An agent that has been used before has a watched model already.
        self._model: Any = model._model if isinstance(model, WatchedModel) else model
        self._toolbox = toolbox
        self._names = names
        self._turn = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def generate(self, *args: Any, **options: Any) -> Any:
        self._turn = self._toolbox.begin_turn()
        message = self._model.generate(*args, **_with_schemas(options, self._model.generate))
        self._tell(message)
        return message

    def generate_stream(self, *args: Any, **options: Any) -> Iterator[Any]:
        self._turn = self._toolbox.begin_turn()
        pieces = list[Any]()
        stream = self._model.generate_stream
        for piece in stream(*args, **_with_schemas(options, stream)):
            pieces.append(piece)
            yield piece
        self._tell(load_smolagents().agglomerate_stream_deltas(pieces))

    def parse_tool_calls(self, message: Any) -> Any:
        """Find calls in the text of a message that has none beside it."""
        parsed = self._model.parse_tool_calls(message)
        self._ask(parsed)
        return parsed

    def _tell(self, message: Any) -> None:
        if spent := message.token_usage:
            self._toolbox.spend(Usage(spent.input_tokens, spent.output_tokens))
        self._toolbox.note(json.loads(message.model_dump_json()))
        self._ask(message)

    def _ask(self, message: Any) -> None:
        for call in message.tool_calls or ():
            name = call.function.name
            if name != ANSWERING:
                arguments = read_arguments(call.function.arguments)
                self._toolbox.ask(self._names.get(name, name), arguments, self._turn)


def _with_schemas(options: dict[str, Any], generate: Callable[..., Any]) -> dict[str, Any]:
    """The options of a request with the tools as their schemas describe them.

    The framework would write them anew from `inputs`, which have no room for most of a schema. What it is
    told goes before that, but a model of the user's own may take nothing that it doesn't know.
    """
    offered = options.get("tools_to_call_from")
    takes = {parameter.kind for parameter in inspect.signature(generate).parameters.values()}
    if not offered or inspect.Parameter.VAR_KEYWORD not in takes:
        return options
    describe = load_smolagents().models.get_tool_json_schema
    own = mock_tool()
    return {**options, "tools": [t.schema if isinstance(t, own) else describe(t) for t in offered]}
