"""The words in which models are asked: ours, then those of the user."""

from pathlib import Path

import pytest

from misstep.core.template import fenced
from misstep.errors import UsageError
from misstep.tooling.asking.prompts import PLACES, STAGES, Prompts, Stage
from tests.asking.scripted_roles import MARKERS, fenced_in, stage_of


@pytest.mark.parametrize("stage", STAGES)
def test_every_stage_has_words_that_hold_all_it_tells(stage: Stage) -> None:
    told = {place: f"<{place}>" for place in PLACES[stage]}
    text = Prompts().fill(stage, **told)
    assert all(each in text for each in told.values())
    assert "{{" not in text
    assert stage_of(text) == (stage if stage in MARKERS else None)


@pytest.mark.parametrize("stage", STAGES)
def test_every_place_of_a_model_s_question_stands_on_lines_of_its_own(stage: Stage) -> None:
    told = {place: fenced(place) for place in PLACES[stage] if place != "count"}
    text = Prompts().fill(stage, **told, count="3")
    assert sorted(fenced_in(text)) == sorted(told)


def test_a_stage_in_the_user_s_words(tmp_path: Path) -> None:
    (tmp_path / "majority.txt").write_text("What do they agree on? {{answers}}")
    assert Prompts(str(tmp_path)).fill("majority", answers="x") == "What do they agree on? x"


def test_a_template_that_leaves_something_out(tmp_path: Path) -> None:
    (tmp_path / "judge.txt").write_text("{{request}} {{answer}} {{first}}")
    with pytest.raises(UsageError, match=r"there is no \{\{second\}\} in it"):
        Prompts(str(tmp_path))


def test_what_is_known_of_the_place_may_be_left_out(tmp_path: Path) -> None:
    own = "{{tools}} {{template}} {{used}} {{count}}"
    (tmp_path / "infills.txt").write_text(own)
    told = {place: place for place in PLACES["infills"]}
    assert Prompts(str(tmp_path)).fill("infills", **told) == "tools template used count"


def test_a_template_of_no_stage(tmp_path: Path) -> None:
    (tmp_path / "juge.txt").write_text("")
    with pytest.raises(UsageError) as caught:
        Prompts(str(tmp_path))
    assert "Did you mean 'judge'?" in caught.value.hints
