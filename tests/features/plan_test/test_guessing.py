"""Baselines beside the chance level on the command line, and a warning where guessing does."""

import json

from tests.conftest import Command


def test_a_suite_that_guessing_passes_is_warned_of(misstep: Command) -> None:
    easy = misstep("plan", "synth", "--actions", "2", "--family", "repeat", "--count", "10", "--out", "a")
    assert "warning: the chance level is " in easy.err
    assert "--difficulty 'chance<=0.3'" in easy.err
    hard = misstep("plan", "synth", "--actions", "5", "--count", "10", "--out", "b")
    assert "warning" not in hard.err


def test_a_run_on_cases_that_guessing_passes_is_warned_of(misstep: Command) -> None:
    given = ("plan", "test", "--agent", "sim:perfect", "--count", "10", "--actions")
    assert "warning: the chance level is " in misstep(*given, "2", "--family", "repeat").out
    assert "warning" not in misstep(*given, "5").out


def test_json_has_the_baselines_that_the_summary_shows(misstep: Command) -> None:
    given = ("plan", "test", "--agent", "sim:greedy", "--count", "20", "--family", "order,choice")
    shown = misstep(*given).out
    found = json.loads(misstep(*given, "--json").out)["baselines"]
    text_order, ignores = 100 * found["text_order"], 100 * found["ignores_family"]
    assert f"text order {text_order:.1f} %, ignores family {ignores:.1f} %" in " ".join(shown.split())
