"""The page of the field study says what its results and labels say."""

import json
import os
import subprocess
import sys

from tests.documents.pages import ROOT

STUDY = ROOT / "field-study"
CALL = "import page; print(page.page(), end='')"


def test_the_page_is_what_the_results_make_of_it() -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run([sys.executable, "-c", CALL], cwd=STUDY, env=environment, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.decode() == (ROOT / "docs/explanation/field-study.md").read_text(encoding="utf-8")


def test_each_cause_has_one_label_and_each_group_one_kind_of_label() -> None:
    labels = [json.loads(line) for line in (STUDY / "labels.jsonl").read_text("utf-8").splitlines()]
    found = [
        (file.stem, cause["id"])
        for file in (STUDY / "results").glob("*.json")
        for cause in json.loads(file.read_bytes())["causes"]
    ]
    assert sorted((each["package"], each["cause"]) for each in labels) == sorted(found)
    kinds = {(each["package"], each["group"], each["label"]) for each in labels}
    assert len(kinds) == len({kind[:2] for kind in kinds})
