"""An `.eval` log, written sample by sample.

Inspect's own writer keeps all samples in memory until the end. So it writes the log without any, and they
are put beside that one by one, where it would have put them.
"""

import tempfile
import zipfile
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import IO, Any

import msgspec
from inspect_ai.log import (
    EvalConfig,
    EvalDataset,
    EvalLog,
    EvalPlan,
    EvalPlanStep,
    EvalSpec,
    EvalStats,
    write_eval_log,
)

from misstep.core.transcript import Usage
from misstep.interop.episodes import Agent, Episode
from misstep.interop.inspecting.metrics import Counted
from misstep.interop.inspecting.samples import sample_of, usage_of

SUMMARIES = "summaries.json"


class Campaign(msgspec.Struct, frozen=True):
    """The run that a log is of: `task` is its command, `started` and `ended` are seconds since 1970."""

    agent: Agent
    task: str
    started: float
    ended: float
    is_complete: bool
    settings: dict[str, Any]
    about: dict[str, Any]


def write_log(file: IO[bytes], campaign: Campaign, episodes: Iterable[Episode]) -> int:
    """Write a log into a file that can be sought in; how many samples it has."""
    counted, usage = Counted(), Usage()
    with (
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as packed,
        tempfile.TemporaryFile("w+", encoding="utf-8") as summaries,
    ):
        for episode in episodes:
            sample = sample_of(campaign.agent, episode)
            packed.writestr(f"samples/{sample.id}_epoch_1.json", sample.model_dump_json(exclude_none=True))
            summaries.write("," if counted.samples else "[")
            summaries.write(sample.summary().model_dump_json(exclude_none=True))
            counted.add(episode)
            usage += episode.usage
        summaries.write("]" if counted.samples else "[]")
        _copy_text(summaries, packed)
        _write_frame(packed, _log(campaign, counted, usage))
    return counted.samples


def _copy_text(text: IO[str], packed: zipfile.ZipFile) -> None:
    text.seek(0)
    with packed.open(SUMMARIES, "w", force_zip64=True) as entry:
        while part := text.read(1 << 20):
            entry.write(part.encode())


def _write_frame(packed: zipfile.ZipFile, log: EvalLog) -> None:
    """Everything but the samples and their summaries, as Inspect writes it."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/frame.eval"
        write_eval_log(log, path)
        with zipfile.ZipFile(path) as frame:
            for entry in frame.infolist():
                if entry.filename != SUMMARIES and not entry.filename.startswith("samples/"):
                    packed.writestr(entry.filename, frame.read(entry))


def _log(campaign: Campaign, counted: Counted, usage: Usage) -> EvalLog:
    agent = campaign.agent
    return EvalLog(
        status="success" if campaign.is_complete else "cancelled",
        eval=EvalSpec(
            eval_id=agent.run,
            run_id=agent.run,
            task_id=agent.run,
            created=_when(campaign.started),
            task=campaign.task,
            task_args=campaign.settings,
            solver=agent.name,
            dataset=EvalDataset(name=campaign.task, samples=counted.samples),
            model=f"{agent.provider}/{agent.model}" if agent.model else f"none/{agent.name}",
            config=EvalConfig(),
            packages={"misstep": agent.version},
            metadata={"misstep": {"run": agent.run, **campaign.about}},
        ),
        plan=EvalPlan(steps=[EvalPlanStep(solver=agent.name)]),
        results=counted.results(),
        stats=EvalStats(
            started_at=_when(campaign.started),
            completed_at=_when(campaign.ended),
            model_usage={agent.model: usage_of(usage)} if agent.model else {},
        ),
    )


def _when(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
