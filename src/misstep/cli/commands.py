"""Commands that are loaded when they are wanted: looking at a run needs no agents."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from misstep.errors import did_you_mean


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

    def resolve_command(
        self, context: click.Context, arguments: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = arguments[0]
        if name not in self._homes and not name.startswith("-"):
            context.fail(
                " ".join(filter(None, (f"no such command '{name}'.", did_you_mean(name, self._homes))))
            )
        return super().resolve_command(context, arguments)
