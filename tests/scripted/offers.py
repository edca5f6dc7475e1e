"""Reads off a request which tools it offers to the model, whatever the endpoint."""

import json
import re
from dataclasses import dataclass
from typing import Any

from tests.scripted.parts import Json, text_of
from tests.scripted.wire import Recorded

LINE = re.compile(
    r"^- (?P<name>[\w.-]+): (?P<description>.*?)(?: Arguments: (?P<schema>\{.*\}))?$", re.MULTILINE
)


@dataclass(frozen=True)
class Offer:
    """A tool as the model gets to see it; None stands for what it is not told."""

    name: str
    description: str | None
    parameters: Any


def offers_in(request: Recorded) -> list[Offer]:
    """The tools of a request, or those listed in its prompt if it has none."""
    body = request.body if isinstance(request.body, dict) else {}
    return [offer(tool.get("function") or tool) for tool in body.get("tools") or ()] or listed_in(
        prompt_of(body)
    )


def offer(tool: Json) -> Offer:
    parameters = tool.get("parameters", tool.get("input_schema"))
    return Offer(tool["name"], tool.get("description"), parameters)


def listed_in(prompt: str) -> list[Offer]:
    """The tools in lines such as `- name: what it does. Arguments: {…}` before the last question."""
    before, question, all_of_it = prompt.rpartition("Question:")
    lines = LINE.finditer(before if question else all_of_it)
    return [
        Offer(line["name"], line["description"], json.loads(line["schema"]) if line["schema"] else None)
        for line in lines
    ]


def prompt_of(body: Json) -> str:
    """All that is said in the request, in messages or in a prompt, which may come in a list."""
    prompts = body.get("prompt") or ()
    said = [text_of(message.get("content")) for message in body.get("messages") or ()]
    return "\n".join([*said, *([prompts] if isinstance(prompts, str) else prompts)])
