"""`misstep plan synth`: make planning problems, or training examples from them."""

from collections.abc import Iterator

import click

from misstep.cli.options import SYNTHESIS, one_shot_option, settings_options
from misstep.cli.output import left_out_lines, one_output, quoted, sum_up, to_stdout
from misstep.core.case import Case
from misstep.core.results.report import SYNTH_FORMATS, SynthFormat
from misstep.core.settings import Settings
from misstep.errors import UsageError
from misstep.features.synth.examples import SuiteStats, SuiteSummary
from misstep.rendering.terminal import baselines_in_words, counted, easy_lines, percent
from misstep.runs.cases import synthesise
from misstep.store.files import write_lines


@click.command("synth")
@click.option(
    "--format",
    "form",
    type=click.Choice(SYNTH_FORMATS),
    default="cases",
    help="Problems, or conversations in which they are solved, to train models on (sft).  [default: cases]",
)
@one_shot_option
@settings_options(*SYNTHESIS, "out", "json")
def synth(settings: Settings, form: SynthFormat, one_shot: bool) -> int:
    """Synthesise planning problems as JSON lines."""
    if one_shot and form == "cases":
        raise UsageError("--one-shot is about conversations", "add --format sft, or leave --one-shot out")
    one_output(settings, "cases" if form == "cases" else "examples")
    stats = SuiteStats()
    cases = stats.watch(synthesise(settings))
    if form == "sft":
        return _write_examples(settings, stats, cases, one_shot)
    write_lines(settings.out, cases)
    summary = stats.summary(settings.seed, settings.out)
    sum_up(settings, summary, [*_stats_lines(summary, bool(settings.tools)), *_put_to_use(settings)])
    return 0


def _write_examples(settings: Settings, stats: SuiteStats, cases: Iterator[Case], one_shot: bool) -> int:
    from misstep.features.synth.examples import CaseExamples

    made = CaseExamples(settings, one_shot)
    write_lines(settings.out, made.examples(cases))
    summary = made.summary(stats.summary(settings.seed, settings.out))
    lines = [counted(summary.examples, "example"), *left_out_lines(summary.left_out)]
    sum_up(settings, summary, [*_stats_lines(summary, bool(settings.tools)), *lines])
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


def _put_to_use(settings: Settings) -> list[str]:
    """The next command, if the cases are in a file."""
    if to_stdout(settings):
        return []
    return [f"try them: misstep plan test --agent AGENT --cases {quoted(settings.out)}"]
