"""Groups of settings: what they hold, and that commands get the groups they have options for."""

import copy
import inspect
import pickle
from collections import Counter
from typing import get_type_hints

import click
import pytest

from misstep.cli import cli
from misstep.core.settings import AgentRunSettings, Settings, SettingsGroup, ShrinkSettings, StoreSettings
from misstep.core.settings.reading import check_settings, decode_settings
from misstep.errors import UsageError
from tests.reference.commands import commands

COMMANDS = dict(commands(cli, "misstep"))


def groups() -> list[type[SettingsGroup]]:
    return [kind for kind in Settings.__mro__ if issubclass(kind, SettingsGroup)]


def test_a_setting_is_in_one_group() -> None:
    defined = Counter(name for kind in groups() for name in kind.__annotations__)
    assert [name for name, times in defined.items() if times > 1] == []
    assert set(defined) == set(Settings.fields())


def test_every_setting_has_a_default_and_a_meaning() -> None:
    for name, kind in Settings.fields().items():
        assert hasattr(Settings, name)
        assert any(isinstance(meta, str) for meta in kind.__metadata__), name


def test_a_feature_has_what_its_groups_have_and_nothing_else() -> None:
    assert {"store", "budget_usd", "agent", "confidence"} <= set(ShrinkSettings.fields())
    assert "variants" not in ShrinkSettings.fields()
    assert isinstance(Settings(), ShrinkSettings)


def test_unknown_settings_are_refused() -> None:
    with pytest.raises(TypeError, match="ShrinkSettings has no setting 'variants'"):
        ShrinkSettings(variants=3)
    with pytest.raises(TypeError, match="Settings has no setting 'colour'"):
        Settings().overlay({"colour": "red"})


def test_settings_are_frozen() -> None:
    settings = Settings(jobs=2)
    with pytest.raises(AttributeError, match="overlay"):
        settings.jobs = 3  # type: ignore[misc]
    assert settings.overlay({"jobs": 3}).jobs == 3
    assert settings.jobs == 2


def test_tables_are_not_shared() -> None:
    settings = Settings()
    settings.agent_args["key"] = "value"
    assert Settings().agent_args == {}


def test_a_stored_setting_that_is_odd_is_named() -> None:
    with pytest.raises(ValueError, match="jobs: Expected `int`, got `str`"):
        decode_settings(b'{"jobs": "many"}')
    assert decode_settings(b'{"jobs": 3, "of_a_later_version": 1}') == Settings(jobs=3)


def test_settings_are_equal_by_value() -> None:
    assert Settings(jobs=Settings.jobs) == Settings()
    assert Settings(jobs=3) != Settings()
    assert StoreSettings() != AgentRunSettings()


def test_settings_can_be_copied() -> None:
    settings = Settings(agent="sim:x", agent_args={"a": "1"}, jobs=3)
    assert pickle.loads(pickle.dumps(settings)) == settings
    assert copy.deepcopy(settings) == settings


def test_a_group_is_checked_like_all_settings() -> None:
    checked = check_settings(ShrinkSettings(agent="sim:x"))
    assert checked == ShrinkSettings(agent="sim:x")
    with pytest.raises(UsageError, match="confidence"):
        check_settings(ShrinkSettings(confidence=2.0))


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_get_the_settings_they_have_options_for(name: str) -> None:
    command: click.Command = COMMANDS[name]
    assert command.callback
    function = inspect.unwrap(command.callback)
    own = set(inspect.signature(function).parameters)
    options = {each.name for each in command.params if each.name not in own}
    known = get_type_hints(function).get("settings", SettingsGroup).fields()
    assert options - set(known) == set()
