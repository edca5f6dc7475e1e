"""Tables of runs, read back by others than us."""

import csv
import io
import json
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pyarrow
import pyarrow.parquet
import pytest

from misstep.core.outcome import Usage
from misstep.core.results.finding import Finding
from misstep.core.results.fuzzing import ToolReport
from misstep.core.run import RunSpec
from misstep.core.settings import Settings
from misstep.core.tool import Invocation
from misstep.errors import UsageError
from misstep.interop.tables import (
    CaseRow,
    FindingRow,
    RowSubject,
    TableRow,
    case_row,
    columns,
    csv_lines,
    finding_rows,
    harmless,
    write_parquet,
)
from misstep.runs.reporting.export import write_otlp, write_table
from misstep.store.runs import Store
from tests.interop.runs import HOSTILE, Motley, outcomes, run
from tests.scripted import ScriptedServer

FREE = RowSubject("run", "agent", None, lambda role, usage: 0.0)


def read_csv(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode("utf-8"), newline="")))


def test_every_case_is_a_row(tmp_path: Path) -> None:
    settings = run(tmp_path, by=Motley()).overlay({"out": str(tmp_path / "run.csv")})
    written = write_table(settings, "last", "csv")
    rows, kept = read_csv((tmp_path / "run.csv").read_bytes()), outcomes(settings)
    assert written.rows == len(rows) == len(kept) == 40
    for row, outcome in zip(rows, kept, strict=True):
        case, verdict, transcript = outcome.case, outcome.verdict, outcome.transcript
        assert (row["run"], row["case"], row["agent"]) == (written.run, case.id, "motley")
        assert (row["verdict"], row["error"]) == (verdict.verdict, verdict.error or "")
        assert row["step"] == ("" if verdict.step is None else str(verdict.step))
        assert (int(row["actions"]), int(row["constraints"])) == (len(case.actions), len(case.constraints))
        assert (float(row["chance"]), float(row["seconds"])) == (case.chance, outcome.seconds)
        assert (int(row["calls"]), row["request"]) == (len(transcript.calls), case.query)
        assert json.loads(row["families"]) == ["order"]
        assert json.loads(row["violated"] or "[]") == list(verdict.violated)


def test_parquet_says_the_same_with_types(tmp_path: Path) -> None:
    settings = run(tmp_path, by=Motley()).overlay({"out": str(tmp_path / "run.parquet")})
    write_table(settings, "last", "parquet")
    table = pyarrow.parquet.read_table(tmp_path / "run.parquet")
    kept = outcomes(settings)
    assert table.num_rows == len(kept)
    assert table.column("answer").to_pylist() == [outcome.transcript.answer for outcome in kept]
    assert table.column("step").to_pylist() == [outcome.verdict.step for outcome in kept]
    assert table.column("chance").to_pylist() == [outcome.case.chance for outcome in kept]
    types = {field.name: field.type for field in table.schema}
    assert (types["step"], types["chance"], types["verdict"]) == (
        pyarrow.int64(),
        pyarrow.float64(),
        pyarrow.string(),
    )
    assert pyarrow.types.is_list(types["families"])
    assert [field.name for field in table.schema if not field.nullable][:3] == ["run", "case", "agent"]


def test_tokens_and_what_they_cost(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        settings = run(
            tmp_path, agent="tools", model="openai/gpt-4o", model_base_url=server.base_url, count=4
        ).overlay({"out": str(tmp_path / "run.csv")})
    write_table(settings, "last", "csv")
    for row, outcome in zip(read_csv((tmp_path / "run.csv").read_bytes()), outcomes(settings), strict=True):
        usage = outcome.transcript.usage
        assert (int(row["input_tokens"]), int(row["output_tokens"])) == (usage.input, usage.output)
        assert float(row["usd"]) > 0
        assert row["model"] == "openai/gpt-4o"


@pytest.mark.parametrize(
    "lead", ["=", "+", "-", "@", "\t=", "\r", "\n", " =", "\u00a0=", "＝", "＋", "－", "＠"]
)
def test_no_text_is_a_formula(lead: str) -> None:
    text = f"{lead}1+1"
    assert harmless(text)[0] == "'"
    assert harmless(text)[1:] == text


@pytest.mark.parametrize("text", ["", "plain", "a=b", "1-2", "'=1", "[1]"])
def test_what_is_no_formula_stays(text: str) -> None:
    assert harmless(text) == text


def test_a_negative_number_stays_a_number(tmp_path: Path) -> None:
    (outcome,) = outcomes(run(tmp_path, agent="sim:perfect", count=1))
    row = msgspec.structs.replace(case_row(FREE, outcome), chance=-0.5, answer="-0.5")
    (read,) = read_csv(b"".join(csv_lines(CaseRow, [row])))
    assert (read["chance"], read["answer"]) == ("-0.5", "'-0.5")


def test_hostile_text_comes_back_whole(tmp_path: Path) -> None:
    (outcome,) = outcomes(run(tmp_path, agent="sim:perfect", count=1))
    row = msgspec.structs.replace(case_row(FREE, outcome), answer=HOSTILE, missing=("a,b", '"', "\ud800"))
    (read,) = read_csv(b"".join(csv_lines(CaseRow, [row])))
    assert read["answer"] == f"'{HOSTILE}"
    assert json.loads(read["missing"]) == ["a,b", '"', "?"]
    file = io.BytesIO()
    write_parquet(file, CaseRow, [row])
    assert pyarrow.parquet.read_table(file).column("answer").to_pylist() == [HOSTILE]


def finding(number: int) -> Finding:
    return Finding(
        id=f"f{number}",
        tool="=tool",
        kind="crash",
        error="KeyError",
        where="a.py:1 in f",
        message="boom",
        why="it raised",
        signature="s",
        calls=(Invocation("=tool", "{}"), Invocation("=tool", '{"a": 1}')),
        original=(),
        found_after=7,
    )


def test_findings_are_rows() -> None:
    report = ToolReport("=tool", 10, findings=(finding(1), finding(2)))
    rows = read_csv(b"".join(csv_lines(FindingRow, finding_rows(FREE, report))))
    assert [row["finding"] for row in rows] == ["f1", "f2"]
    assert (rows[0]["tool"], rows[0]["arguments"]) == ("'=tool", '{"a": 1}')
    assert len(json.loads(rows[0]["calls"])) == 2


def test_spending_comes_last_and_nothing_is_lost() -> None:
    assert list(columns(CaseRow))[:2] == ["run", "case"]
    assert list(columns(CaseRow))[-2:] == ["usd", "seconds"]
    assert set(columns(CaseRow)) == set(CaseRow.__struct_fields__)


def many(row: TableRow, count: int) -> Iterator[TableRow]:
    for number in range(count):
        yield msgspec.structs.replace(row, case=f"{number:012}", request=f"{number} " * 200)


@pytest.mark.full
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_twenty_thousand_rows_are_never_in_memory(tmp_path: Path, form: str) -> None:
    (outcome,) = outcomes(run(tmp_path, agent="sim:perfect", count=1))
    rows = many(case_row(FREE, outcome), 20_000)
    tracemalloc.start()
    with open(tmp_path / "table", "wb") as file:
        if form == "csv":
            file.writelines(csv_lines(CaseRow, rows))
        else:
            write_parquet(file, CaseRow, rows)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 15_000_000  # all of it is above 20 MB
    if form == "csv":
        with open(tmp_path / "table", newline="", encoding="utf-8") as lines:
            assert sum(1 for _ in csv.reader(lines)) == 20_001
    else:
        assert pyarrow.parquet.read_metadata(tmp_path / "table").num_rows == 20_000


def test_a_price_that_nobody_knows_is_no_price(tmp_path: Path) -> None:
    (outcome,) = outcomes(run(tmp_path, agent="sim:perfect", count=1))
    unknown = RowSubject("run", "agent", None, lambda role, usage: None)
    assert case_row(unknown, outcome).usd is None
    priced = RowSubject("run", "agent", None, lambda role, usage: usage.input * 0.5)
    spent = msgspec.structs.replace(outcome.transcript, usage=Usage(3, 1))
    assert case_row(priced, msgspec.structs.replace(outcome, transcript=spent)).usd == 1.5


def test_runs_of_tools_have_no_traces(tmp_path: Path) -> None:
    settings = Settings(store=str(tmp_path / "store.db"), out=str(tmp_path / "out"))
    with Store(settings.store, create=True) as store:
        run_id = store.add_run(settings, 0, 0.0, purpose=RunSpec("fuzz", tools=("a.py:f",))).id
    with pytest.raises(UsageError, match="no agent transcripts"):
        write_otlp(settings, run_id)
    assert not (tmp_path / "out").exists()
    assert write_table(settings, run_id, "csv").rows == 0
    assert read_csv((tmp_path / "out").read_bytes()) == []
