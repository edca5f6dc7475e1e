"""Help of a command: what it does, examples, the options that matter; with --help-all every option."""

from collections.abc import Callable, Collection, Iterable
from typing import Any

import click

from misstep.core import settings
from misstep.core.settings import SettingsGroup

COMMON = "Options"
TITLES: dict[str, tuple[type[SettingsGroup], ...]] = {
    "Agent": (settings.AgentSettings,),
    "Model": (settings.ModelSettings,),
    "Problems": (settings.ProblemSettings,),
    "Sampling": (settings.SampleSettings,),
    "Curve": (settings.CapabilitySettings, settings.ViewSettings),
    "Search": (settings.SearchSettings, settings.DissectSettings),
    "Tasks": (settings.TaskSettings,),
    "Descriptions": (settings.FixSettings,),
    "Tools and sandbox": (settings.ToolSettings,),
    "Fuzzing": (settings.ToolLimits,),
    "Requests to the agent": (
        settings.RequestSettings,
        settings.ToolFuzzSettings,
        settings.ConsistencySettings,
        settings.CrosstalkSettings,
    ),
    "Limits": (settings.LimitSettings, settings.BudgetSettings),
    "Execution and traces": (settings.ClusterSettings, settings.TracingSettings),
    "Store and output": (settings.RunSettings, settings.StoreSettings, settings.OutputSettings),
}


class Switch(click.Option):
    """A flag that can also be turned off, which help shows only if it is on by default."""

    def __init__(self, *given: Any, on: bool, **named: Any) -> None:
        super().__init__(*given, **named)
        self.on = on

    def get_help_record(self, context: click.Context) -> tuple[str, str] | None:
        record = super().get_help_record(context)
        return record if record is None or self.on else (self.opts[-1], record[1])


class MisstepCommand(click.Command):
    """A command with examples, and more options than --help shows."""

    def __init__(
        self, *given: Any, examples: tuple[str, ...] = (), shown: Collection[str] = (), **named: Any
    ) -> None:
        super().__init__(*given, **named)
        self.examples, self.shown = examples, shown

    def get_params(self, context: click.Context) -> list[click.Parameter]:
        params = super().get_params(context)
        if not self.shown:
            return params
        every = sum(isinstance(each, click.Option) for each in params) + 1
        show_all = click.Option(
            ["--help-all"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_show_all,
            help=f"Show all {every} options.",
        )
        return [*params, show_all]

    def format_help(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        self.format_usage(context, formatter)
        self.format_help_text(context, formatter)
        if self.examples:
            with formatter.section("Examples"):
                for example in self.examples:
                    formatter.write(f"{'':>{formatter.current_indent}}{example}\n")
        self.format_options(context, formatter)

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        options = [each for each in self.get_params(context) if isinstance(each, click.Option)]
        for title, members in self._in_groups(options, bool(context.meta.get(__name__))):
            rows = [record for each in members if (record := each.get_help_record(context))]
            with formatter.section(title):
                formatter.write_dl(rows)

    def _in_groups(
        self, options: list[click.Option], every: bool
    ) -> Iterable[tuple[str, list[click.Option]]]:
        groups: dict[str, list[click.Option]] = {}
        for option in options:
            groups.setdefault(self._title(option.name or ""), []).append(option)
        places = {name: place for place, name in enumerate(self.shown)}
        yield COMMON, sorted(groups[COMMON], key=lambda each: places.get(each.name or "", len(places)))
        if every:
            yield from [(title, groups[title]) for title in TITLES if title in groups]

    def _title(self, name: str) -> str:
        if self.shown and name not in self.shown:
            for title, members in TITLES.items():
                if any([name in member.__annotations__ for member in members]):
                    return title
        return COMMON


def command(name: str, *examples: str, shown: str = "") -> Callable[[Callable[..., Any]], click.Command]:
    """A command with examples. `shown` are the settings that --help shows if there are too many for it."""
    return click.command(name, cls=MisstepCommand, examples=examples, shown=shown.split())


def _show_all(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        context.meta[__name__] = True
        click.echo(context.get_help(), color=context.color)
        context.exit()
