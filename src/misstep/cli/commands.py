"""The tree of commands. A command's module is imported when it is called, so that help is fast."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from misstep.errors import did_you_mean


class Commands(click.Group):
    """A group whose commands are given by `module:attribute` and the first line of their help."""

    def __init__(
        self, name: str, about: str, homes: "Mapping[str, tuple[str, str] | Commands]", **options: Any
    ):
        super().__init__(name, help=about, **options)
        self._homes = homes

    def list_commands(self, _: click.Context) -> list[str]:
        return sorted(self._homes)

    def get_command(self, _: click.Context, name: str) -> click.Command | None:
        home = self._homes.get(name)
        if home is None or isinstance(home, click.Command):
            return home
        module, attribute = home[0].split(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def format_commands(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            rows = [
                (name, home.get_short_help_str() if isinstance(home, Commands) else home[1])
                for name, home in sorted(self._homes.items())
            ]
            formatter.write_dl(rows)

    def resolve_command(
        self, context: click.Context, arguments: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = arguments[0]
        if name not in self._homes and not name.startswith("-"):
            context.fail(
                " ".join(filter(None, (f"no such command '{name}'.", did_you_mean(name, self._homes))))
            )
        return super().resolve_command(context, arguments)


BENCH = Commands(
    "bench",
    "Score an agent on file and repository tasks.",
    {
        "files": ("misstep.features.bench.command:files", "Run an agent on tasks with files."),
        "forge": ("misstep.features.bench.command:forge", "Run an agent on tasks in a code repository."),
    },
)
MCP = Commands(
    "mcp",
    "Serve mock tools to any MCP client.",
    {
        "serve": (
            "misstep.features.mcp_serve.command:serve",
            "Serve the mock tools of one case and judge the calls.",
        )
    },
)
PAPER = Commands(
    "paper",
    "Repeat the experiments of the two papers.\n\n"
    "PDoctor and ToolFuzz: your figures stand beside those of the papers.",
    {
        "rq1": ("misstep.features.papers.command:rq1", "Count the errors found in an hour: Table 2."),
        "rq2": ("misstep.features.papers.command:rq2", "Measure how far agents get, and why they fail."),
        "rq3": ("misstep.features.papers.command:rq3", "Do the same with times and durations."),
        "toolfuzz": (
            "misstep.features.papers.command:toolfuzz",
            "Count the errors that each method finds in tools.",
        ),
    },
)
PLAN = Commands(
    "plan",
    "Test whether an agent does what it was asked.",
    {
        "capability": (
            "misstep.features.capability.command:capability",
            "Measure success as the number of actions grows.",
        ),
        "check": (
            "misstep.features.plan_test.command:check",
            "Judge plans against their cases; the verdicts are JSON lines.",
        ),
        "dissect": ("misstep.features.dissect.command:dissect", "Find out why an agent failed."),
        "repair": (
            "misstep.features.repair.command:repair",
            "Have a model read a request, and plan what it says.",
        ),
        "shrink": ("misstep.features.shrink.command:shrink", "Find the smallest request that still fails."),
        "synth": ("misstep.features.synth.command:synth", "Synthesise planning problems as JSON lines."),
        "test": (
            "misstep.features.plan_test.command:test",
            "Run an agent on planning problems and judge what it does.",
        ),
    },
)
TOOL = Commands(
    "tool",
    "Test an agent's tools.",
    {
        "consistency": (
            "misstep.features.consistency.command:consistency",
            "Find tools that answer paraphrases differently.",
        ),
        "crosstalk": (
            "misstep.features.crosstalk.command:crosstalk",
            "Find tools an agent calls for unrelated requests.",
        ),
        "fix": ("misstep.features.fix.command:fix", "Find tool descriptions that help, and prove it."),
        "fuzz": ("misstep.features.tool_fuzz.command:fuzz", "Find inputs that crash or hang tools."),
        "lint": ("misstep.features.lint.command:lint", "Find where documentation and tool disagree."),
        "list": (
            "misstep.features.lint.command:list_command",
            "List tools and what they take, without calling any.",
        ),
    },
)
ROOT = Commands(
    "misstep",
    "Find the step where an LLM agent goes wrong.\n\n"
    "Exit codes: 0 nothing wrong, 1 findings, 2 usage or configuration error, 3 budget spent, "
    "4 something was not tested or could not be judged, 70 our own bug, 130 stopped.",
    {
        "bench": BENCH,
        "compare": ("misstep.cli.runs:compare", "Compare two runs on what both have judged."),
        "doctor": (
            "misstep.features.doctor.command:doctor",
            "Check the installation, the sandbox, settings and the store.",
        ),
        "export": ("misstep.cli.export:export", "Export a run, or training examples from its failures."),
        "init": ("misstep.features.init.command:init", "Write settings, a first test and a CI workflow."),
        "label": (
            "misstep.features.label.command:label",
            "Label the findings of a run without seeing its verdicts.",
        ),
        "mcp": MCP,
        "paper": PAPER,
        "plan": PLAN,
        "rejudge": (
            "misstep.cli.replay:rejudge",
            "Check the verdicts of a run against its recorded calls.",
        ),
        "replay": (
            "misstep.cli.replay:replay",
            "Run a case of a run, or the calls that broke a tool, once more.",
        ),
        "report": ("misstep.cli.reports:report", "Write reports of a run."),
        "runs": ("misstep.cli.runs:runs", "List the runs in the store, the newest first."),
        "serve": ("misstep.features.serve.command:serve", "Show runs in a browser, live, until Ctrl-C."),
        "show": ("misstep.cli.runs:show", "Show a run, or one of its cases in full."),
        "tool": TOOL,
    },
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
