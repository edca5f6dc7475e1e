"""What is taken from the paper is what it prints."""

import pytest

from misstep.features.capability.view import load_paper, published_levels

# Table 2: test cases, errors, and their share as it is printed there.
TABLE_2 = {
    ("GPT-3.5", "ReAct"): (843, 519, 61.57),
    ("GPT-3.5", "OT"): (1168, 635, 54.37),
    ("GPT-3.5", "OA"): (327, 179, 54.74),
    ("GPT-4", "ReAct"): (160, 47, 29.38),
    ("GPT-4", "OT"): (144, 32, 22.22),
    ("GPT-4", "OA"): (111, 40, 36.04),
}


def test_rates_are_those_of_table_2() -> None:
    assert [(agent.model, agent.framework) for agent in load_paper().agent] == list(TABLE_2)
    for agent in load_paper().agent:
        generated, failed, percent = TABLE_2[agent.model, agent.framework]
        assert (agent.generated, agent.failed) == (generated, failed)
        assert 100 * (1 - agent.success) == pytest.approx(percent, abs=0.005_01)


def test_a_level_is_over_three_to_five_actions_and_ends_where_section_6_2_says() -> None:
    levels = [(each.model, each.actions, each.threshold, each.limit) for each in published_levels()]
    assert levels == [("GPT-3.5", (3, 5), 0.2, 4), ("GPT-4", (3, 5), 0.2, 8)]


def test_a_level_has_all_agents_of_its_model_and_knows_the_best() -> None:
    for level in published_levels():
        assert [agent.framework for agent in level.agents] == ["ReAct", "OT", "OA"]
        assert {agent.model for agent in level.agents} == {level.model}
        assert level.best.framework == "OT"


def test_a_rate_has_the_interval_of_its_counts() -> None:
    low, high = published_levels()[1].best.interval
    assert (low, high) == (pytest.approx(0.703, abs=0.001), pytest.approx(0.838, abs=0.001))
