"""Snapshots of what people see, scrubbed in one place. `UPDATE_SNAPSHOTS=1` writes them anew."""

import os
import re
from pathlib import Path

FOLDER = Path(__file__).parent / "cli" / "snapshots"


def scrub(text: str, *places: Path) -> str:
    """Take out what differs from run to run: folders, run ids, dates, times, how fast it was."""
    for place in places:
        text = text.replace(str(place), "FOLDER")
    text = re.sub(
        r"\b(run |show |replay |resume |dissect |shrink |compare |report |of )[a-hjkmnp-tv-z][2-9a-hjkmnp-tv-z]{5}\b",
        r"\1RUNID1",
        text,
    )
    text = re.sub(r"^[a-hjkmnp-tv-z][2-9a-hjkmnp-tv-z]{5}(?=  \d\d-)", "RUNID1", text, flags=re.MULTILINE)
    text = re.sub(r"\d\d-\d\d \d\d:\d\d", "01-01 12:00", text)
    text = re.sub(
        r"  [\d,.]+ (?:cases|calls|tasks|groups)/s(?=  |$)|  \S+(?: \S+)? left$", "", text, flags=re.MULTILINE
    )
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


def check_snapshot(name: str, text: str, *places: Path) -> None:
    path = FOLDER / f"{name}.txt"
    scrubbed = scrub(text, *places)
    if os.environ.get("UPDATE_SNAPSHOTS"):
        path.write_text(scrubbed)
    assert path.exists(), f"no snapshot {name}; UPDATE_SNAPSHOTS=1 makes it"
    assert scrubbed == path.read_text()
