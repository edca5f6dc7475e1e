"""Scripts and styles: what they may never do, and that nobody has changed the library."""

import re
from hashlib import sha256
from importlib.resources import files

import pytest

from misstep.rendering.html import assets

ASSETS = files("misstep.rendering.html") / "assets"
OWN = (*assets.MODULES, assets.START)
# Apache ECharts 6.1.0, dist/echarts.simple.min.js of the npm package, with its licence and its notice.
VENDORED = {
    "echarts.min.js": "5eef51bee09fb9cc234c4179a58ae0150126f49f88c992efe2d6bca81d8dd03b",
    "echarts-LICENSE.txt": "634293835b43a6dd2094fa39182a3d9a6b9ca43b7fdb9ac354e8037af2a3093a",
    "echarts-NOTICE.txt": "d491d358344f842685c1b1585970999db65fe30ecf7ef3867af8814f4016c016",
}
NEVER = ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "DOMParser")


@pytest.mark.parametrize("name", VENDORED)
def test_what_others_wrote_is_as_they_wrote_it(name: str) -> None:
    assert sha256((ASSETS / name).read_bytes()).hexdigest() == VENDORED[name]


def test_every_file_is_named() -> None:
    notices = {name for name in VENDORED if name.endswith(".txt")}
    assert {path.name for path in ASSETS.iterdir()} == {*assets.FILES, "favicon.svg", *notices}


@pytest.mark.parametrize("name", OWN)
def test_text_never_becomes_markup(name: str) -> None:
    source = assets.asset(name)
    assert not [word for word in NEVER if word in source]
    assert source.startswith("// ")  # why it is there


@pytest.mark.parametrize("name", OWN)
def test_modules_import_what_comes_before_them(name: str) -> None:
    known = assets.MODULES[: assets.MODULES.index(name)] if name in assets.MODULES else assets.MODULES
    for names, module in re.findall(r'^import (.*) from "\./(\S+)";$', assets.asset(name), re.MULTILINE):
        assert module in known
        for each in names.strip("{}").split(","):
            assert re.search(
                rf"^export (async )?(function|const) {each.strip()}\b", assets.asset(module), re.MULTILINE
            )
            assert assets.asset(name).count(each.strip()) > 1  # and uses it


def test_one_script_of_all_modules_has_no_import_left() -> None:
    source = assets.script()
    assert not re.search(r"^(import|export) ", source, re.MULTILINE)
    assert "</" not in source
    assert "\r" not in source
    assert source.endswith("\n$report.start();")


def test_nothing_in_the_library_ends_its_script() -> None:
    source = assets.asset(assets.LIBRARY)
    assert not re.search(r"</script|<!--", source, re.IGNORECASE)
    assert "\r" not in source
