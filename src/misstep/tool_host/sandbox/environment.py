"""The variables that tools get to see: none that hold keys."""

import os
import re
from pathlib import Path

from misstep.core.secrets import SECRET_VARIABLE
from misstep.tool_host.conditions import Conditions

KEPT = (
    *("PATH", "LANG", "LANGUAGE", "TZ", "TERM", "VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV"),
    *("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "NIX_LD", "NIX_LD_LIBRARY_PATH", "NODE_PATH", "JAVA_HOME"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"),
)
KEPT_FAMILIES = ("LC_", "PYTHON", "PYENV_", "NVM_")
_VARIABLE = re.compile(r"\$\{(?:env:)?(\w+)")
# The same call is to come to the same, and files beside the tool's are not to change.
SETTLED = {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
# What frameworks would otherwise send to their makers, or ask somebody at a terminal.
QUIET = {
    "CREWAI_DISABLE_TELEMETRY": "true",
    "CREWAI_TRACING_ENABLED": "false",
    "CREWAI_TESTING": "true",
    "DO_NOT_TRACK": "1",
    "OTEL_SDK_DISABLED": "true",
}


def environment_for(spec: str, conditions: Conditions, home: str, temporary: str) -> dict[str, str]:
    """What stays of our own environment, with what the user adds and where tools may keep files.

    Variables that a file of servers names are there too: it would mean nothing without them.
    """
    named = _named_in(spec)
    kept = {name: value for name, value in os.environ.items() if _is_kept(name) or name in named}
    user_base = {"PYTHONUSERBASE": os.path.expanduser("~/.local")}  # which goes by the home
    places = {
        "HOME": home,
        "TMPDIR": temporary,
        "XDG_CACHE_HOME": f"{home}/.cache",
        "XDG_CONFIG_HOME": f"{home}/.config",
        "XDG_DATA_HOME": f"{home}/.local/share",
    }
    return {**QUIET, **user_base, **kept, **SETTLED, **places, **conditions.environment}


def _is_kept(name: str) -> bool:
    return (name in KEPT or name.startswith(KEPT_FAMILIES)) and not SECRET_VARIABLE.search(name)


def _named_in(spec: str) -> set[str]:
    if not spec.endswith(".json"):
        return set()
    try:
        return set(_VARIABLE.findall(Path(spec).read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return set()  # which will be told of when it is loaded
