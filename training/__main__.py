"""Trains the adapter: lessons by number of actions, rounds on failures, and a table of the results."""

import argparse
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch

from misstep.core.case import Case
from misstep.core.rng import Dice, derive_seed
from training.adapter import read_adapter, write_adapter
from training.course import Kind, draw, harder, kinds
from training.examination import Examiner
from training.feeding import Feed
from training.learning import Learner, Pace
from training.marks import Mark, Task, marks_of, papers, table
from training.network import Network, frozen_to
from training.weights import Source

NAME = "misstep planner for SmolLM2-135M-Instruct"
ENOUGH = 0.005  # minimum average gain of a round for another one to follow


class Lesson(NamedTuple):
    """A share of the training steps, on problems with a maximum number of actions."""

    most: int
    most_others: int
    share: float


LESSONS = (Lesson(4, 3, 0.10), Lesson(6, 4, 0.20), Lesson(10, 6, 0.70))
FLOOR = 0.1  # minimum weight of kinds of problems that never fail


class Course:
    """Trains one network through all stages, and writes the log, the table and the adapters."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._out = Path(options.out)
        self._out.mkdir(parents=True, exist_ok=True)
        self._began = time.monotonic()
        self._device = torch.device(options.device)
        torch.manual_seed(options.seed)
        torch.set_float32_matmul_precision("high")
        self._feed = Feed(Path(options.weights), options.seed, options.workers)
        self._feed.turn_to(self._kinds(LESSONS[0]))
        source = Source(Path(options.weights))
        cuda = self._device.type == "cuda"
        shape = source.shape._replace(layers=options.layers or source.shape.layers)
        network = Network(shape, source.tensors(shape.layers))
        self._network = frozen_to(network, self._device, torch.bfloat16 if cuda else torch.float32)
        if options.start:
            read_adapter(self._network, Path(options.start))
        if options.compile:
            for layer in self._network.layers:
                layer.compile(dynamic=True)
        self._learner = Learner(self._network, self._device, options.rate)
        self._examiner = Examiner(self._network, source.tokenizer(), self._device)
        self._batches = self._feed.batches(options.tokens, Dice(derive_seed(options.seed, "batches")))
        self._papers = papers(10**6 + options.seed, options.papers, options.papers // 2, options.most)
        self._columns = dict[str, dict[Task, Mark]]()
        self._log("ready", parameters=sum(p.numel() for p in self._network.parameters()))

    def run(self) -> None:
        options = self._options
        self.examine("before", max(1, options.papers // 4))
        for lesson in LESSONS:
            self._feed.turn_to(self._kinds(lesson))
            self.learn(f"up to {lesson.most}", round(lesson.share * options.steps))
        self.examine("lessons")
        self.save("lessons")
        shares = self._kinds(LESSONS[-1])
        for number in range(1, options.rounds + 1):
            before = self._average()
            failures, wrong = self.find_failures(shares, number)
            self._feed.turn_to(harder(shares, failures, FLOOR), wrong)
            self.learn(f"round {number}", options.round)
            self.examine(f"round {number}")
            self.save(f"round-{number}")
            if self._average() - before < ENOUGH:
                break
        if options.rounds:
            failures, wrong = self.find_failures(shares, options.rounds + 1)
            self._feed.turn_to(harder(shares, failures, 2 * FLOOR), wrong)
        self.learn("settling", options.settling, settle=True)
        self.examine("settled")
        self.save("settled")
        self._feed.close()
        self._log(
            "done",
            memory_gb=round(torch.cuda.max_memory_allocated() / 1e9, 1) if torch.cuda.is_available() else 0,
        )

    def _kinds(self, lesson: Lesson) -> dict[Kind, float]:
        most = self._options.most
        return kinds(min(lesson.most, most), self._options.others, min(lesson.most_others, most))

    def learn(self, what: str, steps: int, settle: bool = False) -> None:
        pace, losses = Pace(self._network), list[torch.Tensor]()
        for step in range(1, steps + 1):
            waiting = time.monotonic()
            batch = next(self._batches)
            pace.waited += time.monotonic() - waiting
            losses.append(self._learner.learn(batch, 1 - (step - 1) / steps if settle else 1.0))
            pace.count(batch)
            if step % 50 == 0 or step == steps:
                loss = float(torch.stack(losses).mean())
                losses.clear()
                self._log("learning", what=what, step=step, of=steps, loss=round(loss, 4), **pace.told())

    def find_failures(
        self, shares: Mapping[Kind, float], number: int
    ) -> tuple[dict[Kind, float], tuple[Case, ...]]:
        """The failure rate of each kind of problem in the training part, and the problems that failed."""
        seed = derive_seed(self._options.seed, "failures", number) % 10**9
        cases = [(kind, draw(kind, seed + i)) for kind in shares for i in range(self._options.probes)]
        passed = self._examiner.examine([case for _, case in cases])
        wrong = [(kind, case) for (kind, case), right in zip(cases, passed, strict=True) if not right]
        failures = {kind: sum(each == kind for each, _ in wrong) / self._options.probes for kind in shares}
        self._log(
            "failures", rates={f"{kind.mixture} {kind.actions}": rate for kind, rate in failures.items()}
        )
        return failures, tuple([case for _, case in wrong])

    def examine(self, name: str, most: int | None = None) -> None:
        if not self._options.papers:
            return
        began = time.monotonic()
        papers = {task: cases[:most] for task, cases in self._papers.items()}
        cases = [case for each in papers.values() for case in each]
        self._columns[name] = marks = marks_of(papers, self._examiner.examine(cases))
        told = {
            f"{task.kind.mixture} {task.kind.actions} {task.part}": mark.passed / mark.tried
            for task, mark in marks.items()
        }
        self._log("examined", what=name, took=round(time.monotonic() - began, 1), marks=told)
        (self._out / "table.md").write_text(table(self._columns) + "\n", "utf-8")

    def save(self, name: str) -> None:
        write_adapter(self._network, self._out / f"planner-{name}.gguf", NAME)

    def _average(self) -> float:
        """The mean success rate in the last evaluation; 0 before the first."""
        if not self._columns:
            return 0.0
        marks = list(self._columns.values())[-1].values()
        return sum(mark.passed / mark.tried for mark in marks) / len(marks)

    def _log(self, event: str, **told: Any) -> None:
        line = json.dumps({"event": event, "at": round(time.monotonic() - self._began, 1), **told})
        print(line, flush=True)
        with (self._out / "log.jsonl").open("a", encoding="utf-8") as log:
            log.write(line + "\n")


def main() -> None:
    parser = argparse.ArgumentParser("python -m training", description=__doc__)
    parser.add_argument("--weights", required=True, help="SmolLM2-135M-Instruct as a GGUF file.")
    parser.add_argument("--out", required=True, help="Folder for the log, the table and the adapters.")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=14, help="Processes that generate problems.")
    parser.add_argument("--tokens", type=int, default=131_072, help="Tokens per batch.")
    parser.add_argument("--layers", type=int, help="Use only this many layers, for a quick trial.")
    parser.add_argument("--rate", type=float, default=2e-3, help="Learning rate.")
    parser.add_argument("--start", help="Adapter to continue from.")
    parser.add_argument("--steps", type=int, default=1500, help="Training steps in the lessons.")
    parser.add_argument("--rounds", type=int, default=4, help="Maximum rounds on failures.")
    parser.add_argument("--round", type=int, default=250, help="Training steps per round.")
    parser.add_argument(
        "--settling", type=int, default=500, help="Final steps with a decreasing learning rate."
    )
    parser.add_argument(
        "--others", type=float, default=0.35, help="Share of problems of families other than order."
    )
    parser.add_argument("--most", type=int, default=10, help="Actions in the largest problems.")
    parser.add_argument(
        "--papers", type=int, default=100, help="Problems of each kind in an evaluation; 0: no evaluation."
    )
    parser.add_argument(
        "--probes", type=int, default=24, help="Problems of each kind to find failures with, per round."
    )
    parser.add_argument(
        "--no-compile", dest="compile", action="store_false", help="Do not compile the layers."
    )
    options = parser.parse_args()
    for file in filter(None, (options.weights, options.start)):
        if not Path(file).is_file():
            parser.error(f"there is no file {file}")
    Course(options).run()


if __name__ == "__main__":
    main()
