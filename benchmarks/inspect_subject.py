"""Runs the same work as misstep's run loop with Inspect AI, in an environment without misstep.

Reads JSON lines: first the work (`requests`, `tools` with name, description and result, the
`folder` for logs), then one line per evaluation. Answers each of these with its CPU seconds.
"""

# mypy: disable-error-code="import-not-found"
import json
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import ChatMessage, ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import includes
from inspect_ai.solver import generate, use_tools
from inspect_ai.tool import ToolDef

SIDE_BY_SIDE = 8  # misstep's default
ANSWER = "All the tasks have been carried out."


def main() -> None:
    given = json.loads(sys.stdin.readline())
    for line in sys.stdin:
        print(_cpu_seconds(given, **json.loads(line)), flush=True)


def _cpu_seconds(given: dict[str, Any], count: int, realtime: bool) -> float:
    samples = [Sample(input=request, target="carried out") for request in given["requests"][:count]]
    tools = [_tool(**tool) for tool in given["tools"]]
    task = Task(dataset=MemoryDataset(samples), solver=[use_tools(tools), generate()], scorer=includes())
    model = get_model("mockllm/model", custom_outputs=_script([tool.name for tool in tools]), memoize=False)
    began = time.process_time()
    (log,) = eval(
        task,
        model=model,
        display="none",
        log_dir=given["folder"],
        log_realtime=realtime,
        max_samples=SIDE_BY_SIDE,
    )
    seconds = time.process_time() - began
    _check(log, count, len(tools))
    return seconds


def _tool(name: str, description: str, result: str) -> ToolDef:
    async def execute() -> str:
        return result

    made: Callable[[], Awaitable[str]] = execute
    return ToolDef(made, name=name, description=description)


def _script(tools: list[str]) -> Callable[..., ModelOutput]:
    """A model that calls each tool in turn, and reports usage, so that Inspect counts no tokens."""

    def say(messages: list[ChatMessage], *_: object) -> ModelOutput:
        done = sum(message.role == "tool" for message in messages)
        if done < len(tools):
            output = ModelOutput.for_tool_call("mockllm", tools[done], {}, content="")
        else:
            output = ModelOutput.from_content("mockllm", ANSWER)
        output.usage = ModelUsage(input_tokens=300, output_tokens=20, total_tokens=320)
        return output

    return say


def _check(log: EvalLog, count: int, calls: int) -> None:
    """Check that the requested work was done."""
    done = [sum(message.role == "tool" for message in sample.messages) for sample in log.samples or ()]
    if log.status != "success" or done != [calls] * count:
        raise SystemExit(f"the evaluation ended as {log.status}, with {len(done)} of {count} samples")


if __name__ == "__main__":
    main()
