"""Makes ordinary files for servers whose tools work on files, if the user gives none.

Only kinds of files that the tools' names and descriptions mention are made. They are the same every time.
"""

import os
import re
import sqlite3
import struct
import subprocess
import zipfile
import zlib
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from pathlib import Path

from misstep.core.tool import Described

TEXTS = {
    "notes.md": "# Notes\n\n- Water the plants on Monday.\n- Call Ada.\n\n## Ideas\n\nA garden.\n",
    "report.txt": "Sales rose in March.\nSales fell in April.\nThe shop in Oslo was closed for two days.\n",
    "config.json": '{"name": "shop", "version": 2, "features": ["search", "export"], "debug": false}\n',
    "settings.yaml": "name: shop\nport: 8080\nhosts:\n  - example.com\n  - example.org\n",
    "data/sales.csv": "day,product,quantity,price\n2024-01-15,apple,3,0.50\n2024-01-16,pear,1,0.75\n",
    "data/people.json": '[{"id": 1, "name": "Ada"}, {"id": 2, "name": "Linus"}]\n',
    "src/main.py": 'def greet(name):\n    return f"Hello, {name}!"\n\n\nprint(greet("Ada"))\n',
    "index.html": "<html><head><title>Shop</title></head><body><h1>Fruit</h1><p>Apples</p></body></html>\n",
}
SHOP = """
CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, price REAL);
CREATE TABLE orders (id INTEGER PRIMARY KEY, product_id INTEGER REFERENCES products (id), quantity INTEGER);
INSERT INTO products VALUES (1, 'apple', 0.5), (2, 'pear', 0.75), (3, 'plum', NULL);
INSERT INTO orders VALUES (1, 1, 3), (2, 2, 1);
"""
ROWS = (("product", "quantity", "price"), ("apple", 3, 0.5), ("pear", 1, 0.75))
A_DATE = (2024, 1, 15, 10, 30, 0)
GIT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    **{f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in (
        ("NAME", "Ada"), ("EMAIL", "ada@example.com"), ("DATE", "2024-01-15T10:30:00Z")
    )},
}  # fmt: skip
PATIENCE = 20.0  # seconds for a git command


def make_workspace(tools: Sequence[Described], folder: Path) -> bool:
    """Fill a folder with the kinds of files that the tools mention. Returns whether they mention any."""
    words = " ".join(_words_of(tool) for tool in tools).lower()
    mentioned = [kind for kind in KINDS if re.search(rf"(?<![a-z])(?:{kind})(?![a-z])", words)]
    for kind in mentioned:
        KINDS[kind](folder)
    return bool(mentioned)


def _words_of(tool: Described) -> str:
    """Names and descriptions of a tool and its parameters, with a space between the words of a name."""
    told = [tool.name, tool.tool.description, *_told(tool.tool.parameters)]
    return re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", " ".join(told))


def _told(schema: object) -> Iterable[str]:
    if isinstance(schema, dict):
        for name, part in schema.items():
            if name == "properties" and isinstance(part, dict):
                yield from part
            if name in ("description", "title") and isinstance(part, str):
                yield part
            yield from _told(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from _told(part)


def _make_texts(folder: Path) -> None:
    for name, text in TEXTS.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _make_database(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "shop.db")) as connection:
        connection.executescript(SHOP)


def _make_repository(folder: Path) -> None:
    """Three commits, a branch, a tag, and a change that is not committed; empty without git."""
    place = folder / "repository"
    place.mkdir()

    def git(*words: str) -> None:
        command, environment = ["git", "-c", "init.defaultBranch=main", *words], {**os.environ, **GIT}
        subprocess.run(command, cwd=place, env=environment, capture_output=True, timeout=PATIENCE, check=True)

    try:
        git("init", "-q", "--template=")
        for number, name in enumerate(("notes.md", "report.txt", "config.json"), 1):
            (place / name).write_text(TEXTS[name], encoding="utf-8")
            git("add", name)
            git("commit", "-q", "-m", f"Add {name}")
            if number == 2:
                git("tag", "v1.0")
                git("branch", "feature")
        (place / "report.txt").write_text("Sales rose in May.\n", encoding="utf-8")
    except (OSError, subprocess.SubprocessError):
        return


def _make_spreadsheet(folder: Path) -> None:
    cells = [
        [_cell(column, row, value) for column, value in enumerate(line)] for row, line in enumerate(ROWS, 1)
    ]
    rows = "".join(f'<row r="{number}">{"".join(row)}</row>' for number, row in enumerate(cells, 1))
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    sheet = f'<worksheet xmlns="{main}"><sheetData>{rows}</sheetData></worksheet>'
    sheets = "".join(f'<sheet name="Sheet{n}" sheetId="{n}" r:id="rId{n}"/>' for n in (1, 2))
    linked = f'xmlns:r="{RELATIONS}"'
    links = {f"rId{n}": ("worksheet", f"worksheets/sheet{n}.xml") for n in (1, 2)}
    parts = {
        "xl/workbook.xml": f'<workbook xmlns="{main}" {linked}><sheets>{sheets}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": _links(links),
        "xl/worksheets/sheet1.xml": sheet,
        "xl/worksheets/sheet2.xml": f'<worksheet xmlns="{main}"><sheetData/></worksheet>',
    }
    types = {"xl/workbook.xml": "sheet.main"} | {f"xl/worksheets/sheet{n}.xml": "worksheet" for n in (1, 2)}
    _write_package(folder / "book.xlsx", parts, "xl/workbook.xml", "spreadsheetml", types)


def _cell(column: int, row: int, value: object) -> str:
    place = f"{'ABC'[column]}{row}"
    if isinstance(value, str):
        return f'<c r="{place}" t="inlineStr"><is><t>{value}</t></is></c>'
    return f'<c r="{place}"><v>{value}</v></c>'


def _make_document(folder: Path) -> None:
    main = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    lines = ("A letter", "Dear Ada,", "the invoice is paid.")
    body = "".join(f"<w:p><w:r><w:t>{line}</w:t></w:r></w:p>" for line in lines)
    parts = {"word/document.xml": f'<w:document xmlns:w="{main}"><w:body>{body}</w:body></w:document>'}
    types = {"word/document.xml": "document.main"}
    _write_package(folder / "letter.docx", parts, "word/document.xml", "wordprocessingml", types)


PACKAGE = "http://schemas.openxmlformats.org/package/2006"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def _links(links: dict[str, tuple[str, str]]) -> str:
    each = "".join(
        f'<Relationship Id="{name}" Type="{RELATIONS}/{kind}" Target="{target}"/>'
        for name, (kind, target) in links.items()
    )
    return f'<Relationships xmlns="{PACKAGE}/relationships">{each}</Relationships>'


def _write_package(path: Path, parts: dict[str, str], main: str, family: str, types: dict[str, str]) -> None:
    """An Office document: a ZIP file of XML parts, whose types and links are parts as well."""
    content = "application/vnd.openxmlformats-officedocument"
    overrides = "".join(
        f'<Override PartName="/{name}" ContentType="{content}.{family}.{kind}+xml"/>'
        for name, kind in types.items()
    )
    default = (
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    )
    listed = f'<Types xmlns="{PACKAGE}/content-types">{default}{overrides}</Types>'
    links = {"rId1": ("officeDocument", main)}
    _write_zip(path, {"[Content_Types].xml": listed, "_rels/.rels": _links(links), **parts}, XML)


XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'


def _write_zip(path: Path, files: dict[str, str], before: str = "") -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(zipfile.ZipInfo(name, A_DATE), before + text)


def _make_pdf(folder: Path) -> None:
    text = b"BT /F1 24 Tf 72 720 Td (Invoice 1042: 12.50 EUR) Tj ET"
    objects = (
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R"
        b" /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(text), text),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    )
    written, places = b"%PDF-1.4\n", list[int]()
    for number, each in enumerate(objects, 1):
        places.append(len(written))
        written += b"%d 0 obj\n%s\nendobj\n" % (number, each)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    end = b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (size, len(written))
    (folder / "invoice.pdf").write_bytes(written + b"xref\n0 %d\n0000000000 65535 f \n" % size + table + end)


def _make_picture(folder: Path) -> None:
    wide, high = 16, 12
    rows = b"".join(
        b"\0" + bytes(value for x in range(wide) for value in (x * 16, y * 20, 128)) for y in range(high)
    )
    header = struct.pack(">IIBBBBB", wide, high, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    written = b"\x89PNG\r\n\x1a\n"
    for kind, data in parts:
        written += struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    (folder / "picture.png").write_bytes(written)


def _make_archive(folder: Path) -> None:
    _write_zip(folder / "archive.zip", {name: TEXTS[name] for name in ("notes.md", "data/sales.csv")})


# Words in names and descriptions, as a pattern, for each kind of file.
KINDS: dict[str, Callable[[Path], None]] = {
    r"files?|filenames?|paths?|director(?:y|ies)|folders?|documents?|markdown": _make_texts,
    r"sqlite|sql|databases?|db": _make_database,
    r"git|repositor(?:y|ies)|repos?|commits?": _make_repository,
    r"excel|xlsx|spreadsheets?|workbooks?|worksheets?": _make_spreadsheet,
    r"word|docx": _make_document,
    r"pdfs?": _make_pdf,
    r"images?|pictures?|png|photos?": _make_picture,
    r"zip|archives?|unzip": _make_archive,
}
