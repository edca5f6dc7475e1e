"""Distinguishes runs that this user started on this machine from runs in a store from elsewhere.

A run is signed when it is started, with a key in the user's own configuration folder. The signature covers
the run's id and everything that the run names to be executed, imported, read or connected to.
"""

import hmac
import os
import secrets
import stat
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from misstep.core.results.summary import Run
from misstep.core.run import RunSpec
from misstep.core.settings import Settings
from misstep.store.files import beside

# Settings that name something to execute, import, read or connect to, or that weaken the sandbox. A resumed
# run takes `on` and `ray_address` from its user, never from the store.
NAMING = (
    "agent", "agent_args", "python", "tools", "model", "model_base_url", "model_roles", "prompt", "prompts",
    "context", "descriptions", "groups", "data", "workspace", "cases", "prices", "sandbox", "allow_network",
    "allow_read",
)  # fmt: skip
_SIZE = 32  # bytes
_USUAL = Settings()


def named_by(settings: Settings, purpose: RunSpec) -> dict[str, Any]:
    """What a run names, by setting; `specs` are the tools that it calls.

    Defaults are left out, so that settings added later leave old signatures valid.
    """
    found = {name: getattr(settings, name) for name in NAMING}
    named = {name: value for name, value in found.items() if value != getattr(_USUAL, name)}
    return {**named, "specs": purpose.tools} if purpose.tools else named


def sign(run: str, settings: Settings, purpose: RunSpec) -> str:
    """Sign a run that is started here; empty if there is no key."""
    key = _find_key(key_path())
    return _signature(key, run, settings, purpose) if key else ""


def is_ours(run: str, settings: Settings, purpose: RunSpec) -> bool:
    """Whether this user started the run on this machine, and what it names is unchanged."""
    signature = sign(run, settings, purpose)
    return bool(signature) and hmac.compare_digest(signature, purpose.signature)


def is_trusted(run: Run) -> bool:
    """Whether files that the run names may be read, and what it names executed."""
    return run.settings.trust_store or is_ours(run.id, run.settings, run.purpose)


def has_key() -> bool:
    return bool(_find_key(key_path()))


def key_path() -> Path:
    if sys.platform == "win32":
        base = os.environ.get("APPDATA") or "~/AppData/Roaming"
    else:
        base = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    with suppress(RuntimeError):  # there is no home folder
        return Path(base).expanduser() / "misstep" / "key"
    return Path(os.devnull)


def _signature(key: bytes, run: str, settings: Settings, purpose: RunSpec) -> str:
    named = {**named_by(settings, purpose), "run": run, "verb": purpose.verb}
    return hmac.new(key, msgspec.json.encode(named, order="deterministic"), "sha256").hexdigest()


@cache
def _find_key(path: Path) -> bytes:
    """The key, created if there is none; empty if it can't be stored or others could read it."""
    try:
        if not path.exists():
            _make_key(path)
        status = path.stat()
        own = sys.platform == "win32" or (
            status.st_uid == os.geteuid() and not stat.S_IMODE(status.st_mode) & 0o077
        )
        return path.read_bytes() if own and stat.S_ISREG(status.st_mode) and status.st_size == _SIZE else b""
    except OSError:
        return b""


def _make_key(path: Path) -> None:
    """Create the key; if several processes do this at once, all end up with the first one's key."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with beside(path) as (file, partial):  # readable by this user only
        file.write(secrets.token_bytes(_SIZE))
        file.flush()
        with suppress(FileExistsError):
            os.link(partial, path)
