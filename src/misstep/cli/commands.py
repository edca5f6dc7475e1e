"""The tree of commands. A command's module is imported when it is called, so that help is fast."""

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any

import click
from click.shell_completion import CompletionItem

from misstep.errors import UsageError, did_you_mean

POSIX_ONLY = ("fcntl", "grp", "pwd", "resource", "termios")  # modules that Python lacks on Windows

HELP = ("-h", "--help")


class Commands(click.Group):
    """A group whose commands are given by `module:attribute` in misstep and the first line of their help."""

    def __init__(
        self,
        name: str,
        about: str,
        homes: "Mapping[str, tuple[str, str] | Commands]",
        sections: Mapping[str, str] = MappingProxyType({}),
        default: str = "",
        **options: Any,
    ):
        super().__init__(name, help=about, **options)
        self._homes, self._default = homes, default
        self._sections = {title: names.split() for title, names in sections.items()} or {
            "Commands": sorted(homes)
        }

    def parse_args(self, context: click.Context, arguments: list[str]) -> list[str]:
        """Options without a command belong to the default command, if there is one."""
        if self._default and (not arguments or (arguments[0][:1] == "-" and arguments[0] not in HELP)):
            arguments = [self._default, *arguments]
        return super().parse_args(context, arguments)

    def list_commands(self, _: click.Context) -> list[str]:
        return sorted(self._homes)

    def get_command(self, _: click.Context, name: str) -> click.Command | None:
        home = self._homes.get(name)
        if home is None or isinstance(home, click.Command):
            return home
        module, attribute = home[0].split(":")
        try:
            command: click.Command = getattr(import_module(f"misstep.{module}"), attribute)
        except ModuleNotFoundError as error:
            if error.name not in POSIX_ONLY:
                raise
            raise UsageError(
                f"'{self.name} {name}' does not run on Windows",
                "planning tests do: misstep plan test",
                "on Windows, use WSL (Windows Subsystem for Linux) or a container",
            ) from error
        return command

    def format_commands(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, self._homes))
        for title, names in self._sections.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), self._about(name)) for name in names])

    def _about(self, name: str) -> str:
        home = self._homes[name]
        return home.get_short_help_str() if isinstance(home, Commands) else home[1]

    def shell_complete(self, context: click.Context, word: str) -> "list[CompletionItem[Any]]":
        names = [
            CompletionItem(name, help=self._about(name)) for name in self._homes if name.startswith(word)
        ]
        return names + click.Command.shell_complete(self, context, word)

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
        "files": ("features.bench.command:files", "Run an agent on tasks with files."),
        "forge": ("features.bench.command:forge", "Run an agent on tasks in a code repository."),
    },
)
MCP = Commands(
    "mcp",
    "Serve mock tools to any MCP client.",
    {"serve": ("features.mcp_serve.command:serve", "Serve the mock tools of one case and judge the calls.")},
)
PAPER = Commands(
    "paper",
    "Repeat the experiments of the two papers.\n\n"
    "PDoctor and ToolFuzz: your figures next to those of the papers.",
    {
        "rq1": ("features.papers.command:rq1", "Count the errors found in an hour: Table 2."),
        "rq2": ("features.papers.command:rq2", "Measure how far agents get, and why they fail."),
        "rq3": ("features.papers.command:rq3", "Repeat rq2 with times and durations."),
        "toolfuzz": ("features.papers.command:toolfuzz", "Count the errors that each method finds in tools."),
    },
)
PLAN = Commands(
    "plan",
    "Test whether an agent does what it was asked.",
    {
        "capability": (
            "features.capability.command:capability",
            "Measure success as the number of actions grows.",
        ),
        "check": ("features.plan_test.command:check", "Judge plans against their cases."),
        "dissect": ("features.dissect.command:dissect", "Find out why an agent failed."),
        "repair": ("features.repair.command:repair", "Plan a request in free text, read twice by a model."),
        "shrink": ("features.shrink.command:shrink", "Find the smallest request that still fails."),
        "synth": ("features.synth.command:synth", "Synthesise planning problems as JSON lines."),
        "test": (
            "features.plan_test.command:test",
            "Run an agent on planning problems and judge what it does.",
        ),
    },
)
RUNS = Commands(
    "runs",
    "List, name, tag and delete runs.\n\n`misstep runs` alone lists them, and takes the options of list.",
    {
        "list": ("cli.runs:list_command", "List runs, newest first."),
        "name": ("cli.runs:name_command", "Name a run."),
        "rm": ("cli.runs:remove", "Delete runs."),
        "tag": ("cli.runs:tag", "Add or remove tags of a run."),
    },
    default="list",
)
TOOL = Commands(
    "tool",
    "Test an agent's tools.",
    {
        "consistency": (
            "features.consistency.command:consistency",
            "Find tools that answer paraphrases differently.",
        ),
        "crosstalk": (
            "features.crosstalk.command:crosstalk",
            "Find tools an agent calls for unrelated requests.",
        ),
        "fix": ("features.fix.command:fix", "Find better tool descriptions, and prove that they help."),
        "fuzz": ("features.tool_fuzz.command:fuzz", "Find inputs that crash or hang tools."),
        "lint": ("features.lint.command:lint", "Find where a tool's documentation and behaviour disagree."),
        "list": ("features.lint.command:list_command", "List tools and their parameters."),
    },
)
ROOT = Commands(
    "misstep",
    "Find the step where an LLM agent goes wrong.\n\n"
    "\b\nStart with:\n"
    "  misstep plan test --agent my_agent.py:agent     test what an agent does\n"
    "  misstep tool fuzz my_tools.py:search            find inputs that break a tool\n\n"
    "Exit codes: 0 nothing wrong, 1 findings, 2 usage or configuration error, 3 budget exhausted, "
    "4 something was not tested or could not be judged, 70 bug in misstep, 130 interrupted.",
    {
        "bench": BENCH,
        "completion": ("cli.completion:completion", "Print a completion script for your shell."),
        "compare": ("cli.runs:compare", "Compare two runs on what both judged."),
        "doctor": (
            "features.doctor.command:doctor",
            "Check the installation, the sandbox, settings and the store.",
        ),
        "export": ("cli.export:export", "Export a run, or training examples from its failures."),
        "init": ("features.init.command:init", "Write settings, a first test and a CI workflow."),
        "label": ("features.label.command:label", "Label the findings of a run without seeing its verdicts."),
        "mcp": MCP,
        "paper": PAPER,
        "plan": PLAN,
        "rejudge": ("cli.replay:rejudge", "Check the verdicts of a run against its recorded calls."),
        "replay": ("cli.replay:replay", "Run a case or a finding again."),
        "report": ("cli.reports:report", "Write reports of a run."),
        "runs": RUNS,
        "serve": ("features.serve.command:serve", "Show runs in a browser, live."),
        "show": ("cli.runs:show", "Show a run or one of its cases."),
        "tool": TOOL,
        "verify": ("features.tool_fuzz.command:verify", "Check whether another version has a finding."),
    },
    sections={
        "Test": "plan tool bench",
        "Look at results": "runs show report serve compare",
        "Run and judge again": "replay verify rejudge label",
        "Set up": "init doctor completion",
        "More": "export mcp paper",
    },
    context_settings={"help_option_names": HELP, "max_content_width": 110},
)
