"""Inspect at work on what misstep gives it, in an environment of its own.

read LOG             what is in a log, and the metrics that Inspect makes of it
eval CASES ARGUMENTS our task, done by a model that follows the plans in a file of cases
"""

# mypy: disable-error-code="import-not-found"
import json
import sys
from typing import Any

from inspect_ai import eval
from inspect_ai.log import EvalLog, read_eval_log, read_eval_log_sample_summaries, recompute_metrics
from inspect_ai.model import ChatMessage, ModelOutput, ModelUsage, get_model
from inspect_ai.tool import ToolCall, ToolInfo


def main(verb: str, *given: str) -> dict[str, Any]:
    return read(*given) if verb == "read" else evaluate(*given)


def read(path: str) -> dict[str, Any]:
    log = read_eval_log(path)
    summaries = read_eval_log_sample_summaries(path)
    return {**told(log), "summaries": {str(each.id): bool(each.scores) for each in summaries}}


def told(log: EvalLog) -> dict[str, Any]:
    assert log.results
    ours = [{name: each.value for name, each in score.metrics.items()} for score in log.results.scores]
    recompute_metrics(log)
    theirs = [{name: each.value for name, each in score.metrics.items()} for score in log.results.scores]
    samples = [json.loads(sample.model_dump_json()) for sample in log.samples or ()]
    return {
        "status": log.status,
        "metrics": ours,
        "again": theirs,
        "samples": samples,
        "location": log.location,
    }


def evaluate(plans: str, arguments: str) -> dict[str, Any]:
    """Every plan is a request, and turns with the calls of each."""
    with open(plans, encoding="utf-8") as lines:
        scripts = {plan["request"]: plan["turns"] for plan in map(json.loads, lines)}

    def say(messages: list[ChatMessage], tools: list[ToolInfo], *_: object) -> ModelOutput:
        request = next(message.text for message in messages if message.role == "user")
        turn = sum(message.role == "assistant" for message in messages)
        turns = scripts[request]
        if turn < len(turns):
            output = ModelOutput.for_tool_call("mockllm", "x", {}, content="")
            output.choices[0].message.tool_calls = [
                ToolCall(id=f"{turn}-{number}", function=call["tool"], arguments=call["arguments"])
                for number, call in enumerate(turns[turn])
            ]
        else:
            output = ModelOutput.from_content("mockllm", "All done.")
        output.usage = ModelUsage(input_tokens=30, output_tokens=2, total_tokens=32)
        return output

    model = get_model("mockllm/model", custom_outputs=say, memoize=False)
    (log,) = eval(
        "misstep/planning",
        task_args=json.loads(arguments),
        model=model,
        display="none",
        log_dir="logs",
        message_limit=200,
    )
    if log.error:
        raise SystemExit(log.error.message)
    return told(log)


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
