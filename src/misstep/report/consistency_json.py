"""Answers of tools to people who mean the same, as JSON."""

from typing import Any

from misstep.core.alikeness import group_sets
from misstep.core.consistency import Buckets, ConsistencyReport, ConsistencyRun, PromptSet, Score, Side
from misstep.core.verdict import Judgement
from misstep.report.parts_json import tokens_as_json
from misstep.report.trial import deeds_as_json

_VERDICTS: tuple[Judgement, ...] = ("failed", "passed", "inconclusive")


def consistency_as_json(report: ConsistencyRun) -> dict[str, Any]:
    """What `--json` prints."""
    verdicts = [each.verdict for each in report.sets]
    return {
        "run": report.run,
        "specs": list(report.specs),
        "seconds": round(report.seconds, 3),
        "sets": len(verdicts),
        **{verdict: verdicts.count(verdict) for verdict in _VERDICTS},
        "tools": [_tool_as_json(tool) for tool in report.tools],
    }


def set_as_json(one: PromptSet, tool: str) -> dict[str, Any]:
    """A set with its requests by their numbers, and all that its verdict rests on."""
    return {
        "id": one.id,
        "tool": tool,
        "verdict": one.verdict,
        "why": one.why,
        "template": one.template,
        "infills": {name: list(words) for name, words in one.infills.items()},
        "requests": list(one.requests),
        "trials": [{"ended": trial.ended, **deeds_as_json(trial)} for trial in one.trials],
        "buckets": _buckets_as_json(one.buckets),
        "normalised": one.normalised and _buckets_as_json(one.normalised),
        "expectation": one.expectation
        and {
            "answers": list(one.expectation.answers),
            "statement": one.expectation.statement,
            "guessed": one.expectation.guessed,
        },
        "scores": [_score_as_json(score) for score in one.scores],
        "evidence": one.evidence
        and {
            "wrong": _side_as_json(one.evidence.wrong),
            "right": one.evidence.right and _side_as_json(one.evidence.right),
        },
    }


def _tool_as_json(tool: ConsistencyReport) -> dict[str, Any]:
    return {
        "name": tool.name,
        "verdict": tool.verdict,
        "method": "toolfuzz" if tool.means == "sets" else tool.means,
        "checks": list(tool.checks),
        **{verdict: len(tool.having(verdict)) for verdict in _VERDICTS},
        "groups": [{"differs": each.differs, "sets": list(each.sets)} for each in group_sets(tool.sets)],
        "calls": tool.calls,
        "tokens": tokens_as_json(tool.usage),
        "seconds": tool.seconds,
        "ended": tool.ended,
        "notes": list(tool.notes),
        "sandbox": tool.sandbox,
        "sets": [set_as_json(each, tool.name) for each in tool.sets],
    }


def _buckets_as_json(buckets: Buckets) -> dict[str, Any]:
    sorts = {"inputs": buckets.inputs, "outputs": buckets.outputs}
    return {
        name: [{"requests": list(each.requests), "value": each.value} for each in found]
        for name, found in sorts.items()
    }


def _score_as_json(score: Score) -> dict[str, Any]:
    second = score.second is not None and {"score": score.second, "reason": score.second_reason}
    return {
        "request": score.request,
        "score": score.score,
        "reason": score.reason,
        "second": second or None,
        "says": score.says,
        "guess": score.guess,
    }


def _side_as_json(side: Side) -> dict[str, Any]:
    return {
        "number": side.number,
        "request": side.request,
        "inputs": side.inputs,
        "outputs": side.outputs,
        "answer": side.answer,
        "score": side.score,
    }
