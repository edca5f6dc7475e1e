"""Examples of synthesised cases: counted, and left out where nobody knows what would be right."""

from misstep.core.case import CASE_VERSION, Action, Case, World
from misstep.core.constraint import Window
from misstep.core.settings import Settings
from misstep.features.synth.command import CaseExamples, SuiteStats
from misstep.planning.admission.validation import validate_case
from misstep.planning.synthesis.suite import Suite, make_case


def test_a_case_that_takes_luck_is_left_out_and_counted() -> None:
    """Two tasks have to start by ten, and the tools alone know that only one of them is short."""
    actions = tuple(Action(name, name, name) for name in ("a1", "a2"))
    windows = tuple(Window(action.id, "start", "before", 600) for action in actions)
    world = World(day=(540, 1080), durations={"a1": 90, "a2": 30})
    luck = validate_case(Case(CASE_VERSION, "x", 0, "", "", actions, windows, world=world))
    known = make_case(Suite(0, 3, 3), 0)
    for one_shot, reason in ((False, "unsolved"), (True, "stepwise")):
        stats, made = SuiteStats(), CaseExamples(Settings(out="x"), one_shot)
        examples = list(made.examples(stats.watch([known, luck, known])))
        assert [example.misstep.case for example in examples] == [known.id, known.id]
        summary = made.summary(stats.summary(0, "x"))
        assert (summary.cases, summary.examples, summary.left_out) == (3, 2, {reason: 1})
