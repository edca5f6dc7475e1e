"""Make the findings of a stored run again and write them to a file to be labelled.

python -m tests.quality.labelled_findings RUN PACKAGE VERSION [--store FILE]
"""

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import structs

from misstep.core.settings import StoreSettings
from misstep.core.text import cut
from misstep.core.tool import Reaction
from misstep.features.tool_fuzz.run import view_fuzzing
from misstep.fuzzing.contracts.checks import judge_sequences_of
from misstep.fuzzing.workbench import run_calls
from misstep.runs.setup.workbenches import Workbenches
from misstep.store.runs import Store
from tests.quality.labelled_findings import HERE, LabelledFinding, LabelledPackage

LONGEST = 10_000  # characters of a reply that are kept
# Folders of this machine; what follows is the same elsewhere.
_FOLDERS = re.compile(r"(?:/[^\s/\"'\\:]+)+(?=/(?:bin|site-packages|node_modules|python3\.\d+)/)")
_TEMPORARY = re.compile(r"/tmp/[^\s/\"'\\:]+")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    for name in ("run", "package", "version"):
        parser.add_argument(name)
    parser.add_argument("--store", default=StoreSettings().store)
    given = parser.parse_args()
    for package in _recorded(StoreSettings(store=given.store), given.run, given.package, given.version):
        file = _free_file(given.package)
        file.write_bytes(msgspec.json.format(_without_folders(msgspec.json.encode(package)), indent=1))
        print(f"{len(package.findings)} findings of {package.spec} -> {file}")


def _recorded(settings: StoreSettings, run: str, package: str, version: str) -> Iterator[LabelledPackage]:
    """The findings of each spec of a run, made again."""
    with Store(settings.store) as store:
        stored = store.find_run(run)
    found = view_fuzzing(settings, run).findings
    for spec in stored.purpose.tools:
        own = [finding for finding in found if finding.spec == spec]
        if not own:
            continue
        with Workbenches(stored.settings) as benches, benches.lend(spec) as bench:
            tools = {tool.name: tool for tool in bench.tools}
            rule = judge_sequences_of(list(tools.values()))
            rows = list[LabelledFinding]()
            for finding in own:
                bench.reset()
                reactions = tuple(map(_brief, run_calls(bench, finding.calls, watch=True)))
                if rule(finding.calls, reactions).signature != finding.signature:
                    print(f"not seen again: {finding.tool} {finding.kind} {finding.error}", file=sys.stderr)
                    continue
                kind, error, calls = finding.kind, finding.error, finding.calls
                rows.append(LabelledFinding(kind=kind, error=error, calls=calls, reactions=reactions))
        called = {call.tool for row in rows for call in row.calls}
        said = tuple(structs.replace(tools[name], where="") for name in sorted(called))
        yield LabelledPackage(package, version, spec, said, rows)


def _brief(reaction: Reaction) -> Reaction:
    """The reaction without what is of no use for judging."""
    text, seconds = cut(reaction.text, LONGEST), round(reaction.seconds, 2)
    return structs.replace(reaction, text=text, seconds=seconds, edges=(), observations=())


def _without_folders(text: bytes) -> bytes:
    said = _FOLDERS.sub("/lib", text.decode().replace(f"{Path.cwd()}/", ""))
    return _TEMPORARY.sub("/tmp/tools", said).encode()


def _free_file(package: str) -> Path:
    name = re.sub(r"\W+", "-", package).strip("-")
    files = (HERE / f"{name}{number}.json" for number in ("", *(f"-{each}" for each in range(2, 100))))
    return next(file for file in files if not file.exists())


main()
