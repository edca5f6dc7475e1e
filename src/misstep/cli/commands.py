"""Commands that are loaded when they are wanted: looking at a run needs no agents."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click


class Commands(click.Group):
    """A group whose commands are given by their homes, `module:attribute`."""

    def __init__(self, *arguments: Any, homes: Mapping[str, str], **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._homes = homes

    def list_commands(self, _: click.Context) -> list[str]:
        return sorted(self._homes)

    def get_command(self, _: click.Context, name: str) -> click.Command | None:
        if name not in self._homes:
            return None
        module, attribute = self._homes[name].split(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command
