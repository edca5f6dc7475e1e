"""What an agent is told about tools, in words for a model."""

import json
from collections.abc import Iterable, Sequence

from misstep.core.ruling import Judged
from misstep.core.template import fenced
from misstep.core.tool import Described, Invocation
from misstep.core.words import cut

MOST_SHOWN = 8_000  # characters of a description or a schema
MOST_SOURCE = 20_000
NONE = "(none)"


def documentation_of(tools: Iterable[Described], with_source: bool = False) -> str:
    """Name, description and parameters of each tool, between lines that none of that can contain."""
    return fenced("\n\n".join(_documented(tool, with_source) for tool in tools))


def documentation_for(calls: Iterable[Invocation], tools: Iterable[Described]) -> str:
    """The same for those of the tools that calls are of."""
    names = {call.tool for call in calls}
    return documentation_of(tool for tool in tools if tool.name in names)


def listed(texts: Sequence[str]) -> str:
    """Texts as a list in JSON, between such lines."""
    return fenced(json.dumps(texts, ensure_ascii=False, indent=1) if texts else NONE)


def calls_in_words(calls: Sequence[Invocation]) -> str:
    """Each call on a line, as its tool's name and its arguments in JSON."""
    return fenced("\n".join(f"{call.tool}({cut(_readable(call.arguments), MOST_SHOWN)})" for call in calls))


def error_in_words(judged: Judged) -> str:
    said = f"{judged.error}: {judged.message}" if judged.message else judged.error
    return fenced(cut(said or judged.why, MOST_SHOWN))


def _documented(tool: Described, with_source: bool) -> str:
    schema = json.dumps(tool.tool.parameters, ensure_ascii=False)
    lines = [
        f"Name: {tool.name}",
        f"Description: {cut(tool.tool.description, MOST_SHOWN) or NONE}",
        f"Parameters: {cut(schema, MOST_SHOWN)}",
    ]
    if with_source and tool.source is not None:
        lines.append(f"Source:\n{cut(tool.source.text, MOST_SOURCE)}")
    return "\n".join(lines)


def _readable(arguments: str) -> str:
    """JSON without escapes for what can be read, so that it takes fewer tokens."""
    try:
        text = json.dumps(json.loads(arguments), ensure_ascii=False)
    except ValueError:  # a secret in it has been masked
        text = arguments
    return text.encode("utf-8", "replace").decode()
