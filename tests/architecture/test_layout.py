"""The shape of the source tree: small packages, no circles between files, and one place for each kind of run."""

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
MOST_FILES = 15


def modules() -> dict[str, ast.Module]:
    found = {}
    for path in (SOURCE / "misstep").rglob("*.py"):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = ast.parse(path.read_text())
    return found


def test_no_package_has_more_files_than_one_can_keep_in_mind() -> None:
    counts = Counter(path.parent for path in (SOURCE / "misstep").rglob("*.py"))
    large = {str(folder.relative_to(SOURCE)): count for folder, count in counts.items() if count > MOST_FILES}
    assert large == {}


def imported(tree: ast.Module, known: dict[str, ast.Module]) -> Iterator[str]:
    """What a module needs in order to be imported: not what functions import, nor what only types need."""
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module:
            for name in node.names:
                inner = f"{node.module}.{name.name}"
                yield inner if inner in known else node.module
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


def test_no_files_import_each_other_in_a_circle() -> None:
    known = modules()
    needs = {name: {each for each in imported(tree, known) if each in known} for name, tree in known.items()}
    while free := [name for name, needed in needs.items() if not needed & needs.keys() - {name}]:
        for name in free:
            del needs[name]
    assert needs == {}


def test_no_class_name_stands_for_two_things() -> None:
    counts = Counter(
        node.name
        for tree in modules().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert [name for name, count in counts.items() if count > 1] == []


def test_few_modules_are_thin() -> None:
    """Files under 40 lines are boundaries (`__init__`, adapters of frameworks, kinds of run), or too thin."""
    thin = defaultdict(list)
    for path in (SOURCE / "misstep").rglob("*.py"):
        lines = path.read_text().count("\n")
        if lines < 40 and path.name not in ("__init__.py", "tools.py", "kind.py"):
            thin[path.parent.name].append(path.name)
    assert sum(map(len, thin.values())) <= 10, dict(thin)
