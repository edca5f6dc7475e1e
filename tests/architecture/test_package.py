"""The package as a user meets it: what importing costs, what is public, what a wheel holds."""

import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import misstep_planner

import misstep
from misstep.models.local.model import ADAPTER_VERSION
from misstep.rendering.html import assets

ROOT = Path(__file__).parents[2]
LARGEST = 2_000_000  # bytes; what is larger is a distribution of its own
HEAVY = ("z3", "rich", "click", "sqlite3", "asyncio", "msgspec")


def test_importing_misstep_loads_nothing_heavy() -> None:
    script = f"import misstep, sys; print([name for name in {HEAVY!r} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_testing_an_agent_loads_no_solver(tmp_path: Path) -> None:
    script = """
import sys
from misstep.cli import run
assert run("plan test --agent sim:random --count 20 --fail-on none --display none --json".split()) == 0
assert "z3" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)


def test_every_public_name_is_there() -> None:
    homes = sorted(name for names in misstep._HOMES.values() for name in names)
    assert homes == misstep.__all__
    assert all(getattr(misstep, name) for name in misstep.__all__)
    assert set(misstep.__all__) <= set(dir(misstep))
    assert len(misstep.__all__) <= 25  # more than anybody keeps in mind


def built(source: Path, folder: Path) -> Path:
    """The wheel of a distribution of this repository."""
    build = f"from hatchling.build import build_wheel; build_wheel({str(folder)!r})"
    subprocess.run([sys.executable, "-c", build], cwd=source, capture_output=True, check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def test_the_adapter_is_a_distribution_of_its_own(tmp_path: Path) -> None:
    names = zipfile.ZipFile(built(ROOT / "adapter", tmp_path)).namelist()
    assert {name for name in names if ".dist-info/" not in name} == {
        "misstep_planner/__init__.py",
        "misstep_planner/planner.gguf",
        "misstep_planner/py.typed",
    }
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert f"misstep-planner=={misstep_planner.__version__}" in extras["local"]
    assert misstep_planner.__version__ == ADAPTER_VERSION


def test_a_wheel_holds_the_data_and_the_type_marker(tmp_path: Path) -> None:
    wheel = built(ROOT, tmp_path)
    assert wheel.stat().st_size < LARGEST
    names = zipfile.ZipFile(wheel).namelist()
    modules = {str(path.relative_to(ROOT / "src")) for path in (ROOT / "src").rglob("*.py")}
    assert {name for name in names if name.endswith(".py")} == modules
    data = {name for name in names if not name.endswith(".py") and ".dist-info/" not in name}
    domains = (ROOT / "src/misstep/benchmarks/files/data/domains").glob("*.toml")
    assert data == {
        *(f"misstep/benchmarks/files/data/domains/{path.name}" for path in domains),
        "misstep/benchmarks/files/data/phrasings.toml",
        "misstep/benchmarks/files/data/shared.toml",
        "misstep/benchmarks/files/data/types.toml",
        "misstep/py.typed",
        "misstep/rendering/html/assets/favicon.svg",
        "misstep/adapters/mcp/inside/misstep_coverage.cjs",
        "misstep/adapters/builtin/data/react.txt",
        "misstep/adapters/builtin/data/tools.txt",
        "misstep/features/repair/data/repair-relations.txt",
        "misstep/features/repair/data/repair-tools.txt",
        "misstep/benchmarks/forge/data/project.toml",
        "misstep/benchmarks/forge/data/tasks.toml",
        "misstep/models/data/prices.toml",
        "misstep/models/data/providers.toml",
        "misstep/planning/language/data/lexicon.toml",
        "misstep/planning/language/data/requests.toml",
        "misstep/planning/language/data/topics.toml",
        "misstep/rendering/data/figure.css",
        "misstep/rendering/data/notebook.css",
        "misstep/features/capability/data/pdoctor.toml",
        "misstep/features/papers/data/toolfuzz.toml",
        *(f"misstep/rendering/html/assets/{name}" for name in assets.FILES),
        "misstep/rendering/html/assets/echarts-LICENSE.txt",
        "misstep/rendering/html/assets/echarts-NOTICE.txt",
        *(
            f"misstep/web/data/{name}"
            for name in (
                "follow.js",
                "labelling.css",
                "labelling.js",
                "one.js",
                "playground.css",
                "playground.js",
                "run.js",
                "start.css",
                "tools.js",
                "web.css",
            )
        ),
        "misstep/web/templates/case.html",
        "misstep/web/templates/compare.html",
        "misstep/web/templates/complaint.html",
        "misstep/web/templates/crumbs.html",
        "misstep/web/templates/delete.html",
        "misstep/web/templates/done.html",
        "misstep/web/templates/item.html",
        "misstep/web/templates/label.html",
        "misstep/web/templates/layout.html",
        "misstep/web/templates/part.html",
        "misstep/web/templates/playground.html",
        "misstep/web/templates/run.html",
        "misstep/web/templates/runs.html",
        "misstep/web/templates/start.html",
        "misstep/web/templates/trend.html",
        "misstep/web/templates/waiting.html",
        "misstep/tool_host/sandbox/data/places.toml",
        "misstep/fuzzing/judging/data/wording.toml",
        "misstep/fuzzing/inputs/data/semantic.toml",
        "misstep/fuzzing/agent_tests/data/answers-greybox.txt",
        "misstep/fuzzing/agent_tests/data/answers-whitebox.txt",
        "misstep/fuzzing/agent_tests/data/correct.txt",
        "misstep/fuzzing/agent_tests/data/crashes-greybox.txt",
        "misstep/fuzzing/agent_tests/data/crashes-whitebox.txt",
        "misstep/fuzzing/agent_tests/data/emulate.txt",
        "misstep/fuzzing/agent_tests/data/exactly.txt",
        "misstep/fuzzing/agent_tests/data/fix-description.txt",
        "misstep/fuzzing/agent_tests/data/fix-explore.txt",
        "misstep/fuzzing/agent_tests/data/fix-findings.txt",
        "misstep/fuzzing/agent_tests/data/fix-observed.txt",
        "misstep/fuzzing/agent_tests/data/fix-source.txt",
        "misstep/fuzzing/agent_tests/data/humanise.txt",
        "misstep/fuzzing/agent_tests/data/infills.txt",
        "misstep/fuzzing/agent_tests/data/judge.txt",
        "misstep/fuzzing/agent_tests/data/majority.txt",
        "misstep/fuzzing/agent_tests/data/request.txt",
        "misstep/fuzzing/agent_tests/data/templates.txt",
        "misstep/fuzzing/agent_tests/data/natural.txt",
        "misstep/fuzzing/agent_tests/data/crosstalk.txt",
        "misstep/fuzzing/agent_tests/data/groups.txt",
        "misstep/fuzzing/agent_tests/data/declined.txt",
        "misstep/fuzzing/agent_tests/data/foretold.txt",
        "misstep/fuzzing/agent_tests/data/refusal.txt",
        "misstep/fuzzing/agent_tests/data/same.txt",
    }


def test_every_module_says_why_it_exists() -> None:
    for path in (ROOT / "src").rglob("*.py"):
        first = path.read_text().split("\n", 1)[0]
        assert first.startswith('"""'), f"{path} does not say why it exists"
