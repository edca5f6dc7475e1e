"""What pages say is to be installed: nobody does so here, but it has to exist under that name."""

import re
import shlex
import tomllib

from tests.documents.pages import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SYSTEM = ("bubblewrap", "chromium", "git", "postgresql")


def complaint_about(command: str) -> str | None:
    """What is wrong with a command that installs or makes something, if anything; None if it is another one."""
    words = shlex.split(command)
    match words:
        case ["make", target]:
            makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
            return "" if re.search(rf"^{target}:", makefile, re.MULTILINE) else f"no target {target}"
        case ["apt", "install", *packages]:
            return " ".join(package for package in packages if package not in SYSTEM)
        case [first, *_] if first.endswith("pip") or words[1:3] == ["-m", "pip"]:
            named = words[words.index("install") + 1 :]
            return " ".join(filter(None, (unknown(word) for word in named if not word.startswith("-"))))
        case _:
            return None


def unknown(requirement: str) -> str:
    """A requirement that nobody here has heard of."""
    if requirement.startswith("./"):  # another distribution of this repository
        return "" if (ROOT / requirement / "pyproject.toml").exists() else requirement
    name, extras = re.fullmatch(r"([\w.-]+)(?:\[([\w,-]+)\])?(?:[=<>].*)?", requirement).groups()  # type: ignore[union-attr]
    if name in ("misstep", "."):  # by its name, or from a clone
        return ", ".join({*(extras or "").split(",")} - {"", *PROJECT["optional-dependencies"]})
    return "" if plain(name) in known() else name


def known() -> set[str]:
    """All packages that are installed for tests or for users."""
    files = [ROOT / "constraints.txt", ROOT / "Makefile", *ROOT.glob("tests/environments/*.txt")]
    pinned = {
        plain(name)
        for file in files
        for name in re.findall(r"([\w.-]+)(?:\[[^]]*\])?==", file.read_text(encoding="utf-8"))
    }
    asked = [each for extra in PROJECT["optional-dependencies"].values() for each in extra]
    return pinned | {plain(re.split(r"[\[<>=]", each)[0]) for each in asked}


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
