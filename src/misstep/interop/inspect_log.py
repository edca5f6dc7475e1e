"""Writes episodes as an `.eval` log of Inspect, sample by sample.

Cases that passed or failed are scored as correct or incorrect; a case that could not be judged has no score,
so that Inspect's accuracy equals our success rate. Inspect's own writer keeps all samples in memory, so it
only writes a log without samples, and they are added to the archive one by one.
"""

import shutil
import tempfile
import zipfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import groupby
from math import sqrt
from typing import IO, Any

import msgspec
from inspect_ai import log, model
from inspect_ai.scorer import CORRECT, INCORRECT, Score
from inspect_ai.tool import ToolCall

from misstep.core.outcome import Call, Usage, storable
from misstep.interop.episodes import Episode, EpisodeAgent

SCORER = "misstep"
TARGET = "every constraint kept"
MALFORMED = "arguments that are not a JSON object"
_LIMITS = {"timeout": "time", "iterations": "message"}


def sample_of(agent: EpisodeAgent, episode: Episode) -> log.EvalSample:
    request, answer = storable(episode.request), storable(episode.answer)
    messages = [model.ChatMessageUser(content=request, source="input"), *_conversation(episode)]
    if episode.ended == "answered":
        said = model.ChatMessageAssistant(content=answer, source="generate", model=agent.model or None)
        messages.append(said)
    kind = {"error": episode.kind, "step": episode.step, "chance": episode.chance}
    score = Score(
        value=CORRECT if episode.verdict == "passed" else INCORRECT,
        answer=", ".join(call.tool for call in episode.calls),
        explanation=storable(episode.explanation) or None,
        metadata=kind,
    )
    why = storable(episode.error) or "the agent failed with an error"
    error = log.EvalError(message=why, traceback=why, traceback_ansi=why)
    limit = None
    if episode.ended in _LIMITS:
        reason = f"ended by {episode.ended}"
        limit = log.EvalSampleLimit(type=_LIMITS[episode.ended], limit=0, reason=reason)
    judged = {"case": episode.subject, "verdict": episode.verdict, **kind, "ended": episode.ended}
    return log.EvalSample(
        id=episode.subject,
        epoch=1,
        input=request,
        target=TARGET,
        messages=messages,
        output=model.ModelOutput.from_content(agent.model or agent.name, answer),
        scores={SCORER: score} if episode.verdict in ("passed", "failed") else None,
        metadata=judged | episode.about,
        model_usage={agent.model: usage_of(episode.usage)} if agent.model else {},
        total_time=episode.seconds,
        working_time=episode.seconds,
        error=error if episode.verdict == "errored" else None,
        limit=limit,
        uuid=f"{agent.run}-{episode.subject}",
    )


def usage_of(usage: Usage) -> model.ModelUsage:
    """Inspect counts cached tokens separately from the rest of the input."""
    return model.ModelUsage(
        input_tokens=usage.input - usage.cached,
        output_tokens=usage.output,
        total_tokens=usage.input + usage.output,
        input_tokens_cache_read=usage.cached or None,
    )


def _conversation(episode: Episode) -> Iterator[model.ChatMessage]:
    """The calls of a turn as one message, in the order in which the agent made them, then the results."""
    numbered = list(enumerate(episode.calls, 1))
    for _, turn in groupby(numbered, key=lambda each: each[1].turn or -each[0]):
        calls = list(turn)
        asked = [_asked(number, call) for number, call in calls]
        yield model.ChatMessageAssistant(content="", tool_calls=asked, source="generate")
        for number, call in calls:
            if call.ran >= 0:
                result, tool = storable(call.result), storable(call.tool)
                yield model.ChatMessageTool(content=result, tool_call_id=f"call_{number}", function=tool)


def _asked(number: int, call: Call) -> ToolCall:
    given = call.arguments
    problem = None if isinstance(given, dict) else str(given) or MALFORMED
    return ToolCall(
        id=f"call_{number}",
        function=storable(call.tool),
        arguments={} if problem else given,
        parse_error=problem,
    )


GROUPS = ("actions", "families", "kind", "domain")  # fields of `about` that results are grouped by
MOST_GROUPS = 100


class Counted:
    def __init__(self) -> None:
        self.samples = self._judged = self._passed = 0
        self._chance: float | None = None
        self._groups = defaultdict[tuple[str, str], list[int]](lambda: [0, 0])

    def add(self, episode: Episode) -> None:
        self.samples += 1
        if episode.verdict not in ("passed", "failed"):
            return
        passed = int(episode.verdict == "passed")
        self._judged += 1
        self._passed += passed
        if episode.chance is not None:
            self._chance = (self._chance or 0.0) + episode.chance
        for group in GROUPS:
            if value := episode.about.get(group):
                name = " and ".join(value) if isinstance(value, list) else str(value)
                counts = self._groups[group, name]
                counts[0] += passed
                counts[1] += 1

    def results(self) -> log.EvalResults:
        scores = [self._score()] if self._judged else []
        return log.EvalResults(total_samples=self.samples, completed_samples=self._judged, scores=scores)

    def _score(self) -> log.EvalScore:
        rate = self._passed / self._judged
        # As in Inspect: the sample standard deviation over the square root of the size.
        deviation = sqrt(rate * (1 - rate) / (self._judged - 1)) if self._judged > 1 else 0.0
        metrics = {
            "accuracy": log.EvalMetric(name="accuracy", value=rate),
            "stderr": log.EvalMetric(name="stderr", value=deviation),
        }
        if self._chance is not None:
            metrics["chance"] = log.EvalMetric(name="chance", value=round(self._chance / self._judged, 9))
        for (group, value), (passed, judged) in sorted(self._groups.items())[:MOST_GROUPS]:
            name, size = f"{group} {value}", {"samples": judged}
            metrics[name] = log.EvalMetric(name=name, group=group, value=passed / judged, metadata=size)
        return log.EvalScore(
            name=SCORER,
            scorer=SCORER,
            scored_samples=self._judged,
            unscored_samples=self.samples - self._judged,
            metrics=metrics,
        )


SUMMARIES = "summaries.json"


class LoggedRun(msgspec.Struct, frozen=True):
    """The run of a log: `task` is its command, `started` and `ended` are seconds since 1970."""

    agent: EpisodeAgent
    task: str
    started: float
    ended: float
    is_complete: bool
    settings: dict[str, Any]
    about: dict[str, Any]


def write_log(file: IO[bytes], campaign: LoggedRun, episodes: Iterable[Episode]) -> int:
    """Write a log to a seekable file, and return the number of samples."""
    counted, usage = Counted(), Usage()
    with (
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as packed,
        tempfile.TemporaryFile() as summaries,
    ):
        for episode in episodes:
            sample = sample_of(campaign.agent, episode)
            packed.writestr(f"samples/{sample.id}_epoch_1.json", sample.model_dump_json(exclude_none=True))
            summaries.write(b"," if counted.samples else b"[")
            summaries.write(sample.summary().model_dump_json(exclude_none=True).encode())
            counted.add(episode)
            usage += episode.usage
        summaries.write(b"]" if counted.samples else b"[]")
        summaries.seek(0)
        with packed.open(SUMMARIES, "w", force_zip64=True) as entry:
            shutil.copyfileobj(summaries, entry)
        _write_frame(packed, _log(campaign, counted, usage))
    return counted.samples


def _write_frame(packed: zipfile.ZipFile, frame: log.EvalLog) -> None:
    """Everything except the samples and their summaries, as Inspect writes it."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/frame.eval"
        log.write_eval_log(frame, path)
        with zipfile.ZipFile(path) as written:
            for entry in written.infolist():
                if entry.filename != SUMMARIES and not entry.filename.startswith("samples/"):
                    packed.writestr(entry.filename, written.read(entry))


def _log(campaign: LoggedRun, counted: Counted, usage: Usage) -> log.EvalLog:
    agent = campaign.agent
    return log.EvalLog(
        status="success" if campaign.is_complete else "cancelled",
        eval=log.EvalSpec(
            eval_id=agent.run,
            run_id=agent.run,
            task_id=agent.run,
            created=_when(campaign.started),
            task=campaign.task,
            task_args=campaign.settings,
            solver=agent.name,
            dataset=log.EvalDataset(name=campaign.task, samples=counted.samples),
            model=f"{agent.provider}/{agent.model}" if agent.model else f"none/{agent.name}",
            config=log.EvalConfig(),
            packages={"misstep": agent.version},
            metadata={"misstep": {"run": agent.run, **campaign.about}},
        ),
        plan=log.EvalPlan(steps=[log.EvalPlanStep(solver=agent.name)]),
        results=counted.results(),
        stats=log.EvalStats(
            started_at=_when(campaign.started),
            completed_at=_when(campaign.ended),
            model_usage={agent.model: usage_of(usage)} if agent.model else {},
        ),
    )


def _when(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
