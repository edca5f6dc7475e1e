"""`misstep plan synth`: make planning problems, or training examples from them, and count them."""

from collections import Counter
from collections.abc import Iterable, Iterator

import click
import msgspec

from misstep.cli.help import command
from misstep.cli.options import one_shot_option, settings_options
from misstep.cli.output import left_out_lines, one_output, quoted, sum_up, to_stdout
from misstep.core.case import MEASURES, Baselines, Case, families_of
from misstep.core.constraint import FAMILIES
from misstep.core.results.report import SYNTH_FORMATS, LeftOut, SynthFormat
from misstep.core.settings import Settings
from misstep.errors import UsageError
from misstep.planning.difficulty import baselines, measure
from misstep.planning.language.syntax import all_shapes, shapes_in
from misstep.planning.training import Demonstration, demonstrate_case, is_foreseeable
from misstep.rendering.terminal import baselines_in_words, counted, easy_lines, percent
from misstep.runs.cases import synthesise
from misstep.runs.reporting.training import instructions_of, sorted_part
from misstep.runs.setup.configuration import SYNTHESIS
from misstep.store.files import write_lines

TRY = "misstep plan test --agent AGENT --cases"


class Skeletons(msgspec.Struct, frozen=True):
    """Shapes of sub-sentences, groups not expanded: how many the grammar offers, how many were used."""

    grammar: int
    used: int


class SuiteSummary(msgspec.Struct, frozen=True):
    """What `plan synth --json` prints; difficulty is the mean."""

    cases: int
    seed: int
    out: str
    actions: dict[str, int]
    families: dict[str, int]
    constraints: int
    chance: float | None
    baselines: Baselines | None
    difficulty: dict[str, float]
    skeletons: Skeletons


class SuiteStats:
    """Counts cases without keeping them."""

    def __init__(self) -> None:
        self._cases = 0
        self._actions = Counter[int]()
        self._constraints = 0
        self._chances = self._text_order = self._ignores_family = 0.0
        self._families = Counter[str]()
        self._measured = dict.fromkeys(MEASURES, 0.0)
        self._shapes = set[str]()

    def watch(self, cases: Iterable[Case]) -> Iterator[Case]:
        for case in cases:
            self._cases += 1
            self._actions[len(case.actions)] += 1
            self._constraints += len(case.constraints)
            self._chances += case.chance or 0.0
            reached = baselines(case)
            self._text_order += reached.text_order
            self._ignores_family += reached.ignores_family
            self._families.update(families_of(case))
            difficulty = measure(case)
            for name in MEASURES:
                self._measured[name] += getattr(difficulty, name)
            self._shapes |= shapes_in(case.skeleton)
            yield case

    def summary(self, seed: int, out: str) -> SuiteSummary:
        cases = self._cases
        measured = self._measured if cases else {}
        return SuiteSummary(
            cases=cases,
            seed=seed,
            out=out,
            actions={str(size): count for size, count in sorted(self._actions.items())},
            families={family: self._families[family] for family in FAMILIES if family in self._families},
            constraints=self._constraints,
            chance=self._chances / cases if cases else None,
            baselines=Baselines(self._text_order / cases, self._ignores_family / cases) if cases else None,
            difficulty={name: round(total / cases, 4) for name, total in measured.items()},
            skeletons=Skeletons(len(set(all_shapes())), len(self._shapes)),
        )


class ExamplesSummary(SuiteSummary, frozen=True):
    """What `plan synth --format sft --json` prints: the cases, the number of examples, what was left out."""

    format: SynthFormat
    examples: int
    left_out: dict[LeftOut, int]


class CaseExamples:
    """Makes the examples of a suite one at a time, without keeping them, and counts."""

    def __init__(self, settings: Settings, one_shot: bool = False) -> None:
        self._settings = settings
        self._one_shot = one_shot
        self._made = 0
        self._left_out = Counter[LeftOut]()

    def examples(self, cases: Iterable[Case]) -> Iterator[Demonstration]:
        instructions, part = instructions_of(self._settings), sorted_part(self._settings.part)
        for case in cases:
            example = demonstrate_case(case, instructions, part, self._one_shot)
            if example is None:
                self._left_out["stepwise" if self._one_shot and not is_foreseeable(case) else "unsolved"] += 1
            else:
                self._made += 1
                yield example

    def summary(self, suite: SuiteSummary) -> ExamplesSummary:
        return ExamplesSummary(
            **msgspec.structs.asdict(suite), format="sft", examples=self._made, left_out=dict(self._left_out)
        )


@command(
    "synth",
    "misstep plan synth --count 200 --out cases.jsonl",
    "misstep plan synth --family order,time --format sft --part train --out train.jsonl",
    shown="actions family count seed topics tools part out",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(SYNTH_FORMATS),
    default="cases",
    help="Output: problems (cases), or conversations that solve them for training (sft).  [default: cases]",
)
@one_shot_option
@settings_options(*SYNTHESIS, "out", "json")
def synth(settings: Settings, form: SynthFormat, one_shot: bool) -> int:
    """Synthesise planning problems as JSON lines."""
    if one_shot and form == "cases":
        raise UsageError("--one-shot requires --format sft", "add --format sft, or omit --one-shot")
    one_output(settings, "cases" if form == "cases" else "examples")
    stats = SuiteStats()
    cases = stats.watch(synthesise(settings))
    if form == "sft":
        made = CaseExamples(settings, one_shot)
        write_lines(settings.out, made.examples(cases))
        examples = made.summary(stats.summary(settings.seed, settings.out))
        lines = [counted(examples.examples, "example"), *left_out_lines(examples.left_out)]
        sum_up(settings, examples, [*_stats_lines(examples, bool(settings.tools)), *lines])
        return 0
    write_lines(settings.out, cases)
    summary = stats.summary(settings.seed, settings.out)
    use = [] if to_stdout(settings) else [f"try them: {TRY} {quoted(settings.out)}"]
    sum_up(settings, summary, [*_stats_lines(summary, bool(settings.tools)), *use])
    return 0


def _stats_lines(summary: SuiteSummary, own_tools: bool) -> list[str]:
    sizes = ", ".join(f"{count} with {size} actions" for size, count in summary.actions.items())
    used, grammar = summary.skeletons.used, summary.skeletons.grammar
    families = ", ".join(f"{family} in {count}" for family, count in summary.families.items())
    hard = summary.difficulty
    return [
        f"{counted(summary.cases, 'case')} (seed {summary.seed}): {sizes}",
        *([f"families: {families}"] if list(summary.families) != ["order"] else []),
        f"chance level {percent(summary.chance)} on average, {summary.constraints} constraints in all",
        f"baselines: {baselines_in_words(summary.baselines)}",
        f"longest chain {hard['chain']:.1f} on average, {hard['reading']:.1f} pairs to swap against the text",
        f"{used} of the grammar's {grammar} skeletons used (a sub-sentence each, groups not expanded)",
        *easy_lines(summary.chance, own_tools),
    ]
