"""Makes ordinary files for servers whose tools work on files, if the user gives none.

Only kinds of files that the tools' names and descriptions mention are made. They are the same every time.
"""

import gzip
import io
import json
import os
import re
import sqlite3
import struct
import subprocess
import tarfile
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path

from misstep.core.tool import Described
from misstep.runs.setup.office import make_document, make_presentation, make_spreadsheet, write_zip

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
DIAGRAM = """<mxfile><diagram id="a" name="Page-1"><mxGraphModel><root>
<mxCell id="0"/><mxCell id="1" parent="0"/>
<mxCell id="2" value="Shop" vertex="1" parent="1"><mxGeometry width="80" height="40" as="geometry"/></mxCell>
</root></mxGraphModel></diagram></mxfile>
"""
# More texts, by words in the names and descriptions of tools.
RARER_TEXTS = {
    r"xml": {"data/catalog.xml": "<catalog><product id='1'><name>apple</name></product></catalog>\n"},
    r"draw\.?io|diagrams?": {"diagram.drawio": DIAGRAM},
    r"mermaid|diagrams?": {"diagram.mmd": "graph TD\n  A[Order] --> B[Invoice]\n"},
    r"java ?script|eslint": {
        "src/app.js": "export function add(a, b) {\n  return a + b;\n}\n",
        "eslint.config.js": "export default [];\n",
    },
    r"type ?script": {
        "src/app.ts": "export function add(a: number, b: number): number {\n  return a + b;\n}\n",
        "tsconfig.json": '{"compilerOptions": {"strict": true}, "include": ["src"]}\n',
    },
}
SHOP = """
CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, price REAL);
CREATE TABLE orders (id INTEGER PRIMARY KEY, product_id INTEGER REFERENCES products (id), quantity INTEGER);
INSERT INTO products VALUES (1, 'apple', 0.5), (2, 'pear', 0.75), (3, 'plum', NULL);
INSERT INTO orders VALUES (1, 1, 3), (2, 2, 1);
"""
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


def _make_texts(folder: Path, texts: Mapping[str, str] = TEXTS) -> None:
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _make_database(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "shop.db")) as connection:
        connection.executescript(SHOP)


def _make_repository(folder: Path) -> None:
    """Three commits, a branch, a tag, and changes: stashed, staged and not staged. Empty without git."""
    place = folder / "repository"
    place.mkdir()

    def git(*words: str) -> None:
        command, environment = ["git", "-c", "init.defaultBranch=main", *words], {**os.environ, **GIT}
        subprocess.run(command, cwd=place, env=environment, capture_output=True, timeout=PATIENCE, check=True)

    try:
        git("init", "-q", "--template=")
        git("config", "user.name", "Ada")  # for commits of the tools
        git("config", "user.email", "ada@example.com")
        for number, name in enumerate(("notes.md", "report.txt", "config.json"), 1):
            (place / name).write_text(TEXTS[name], encoding="utf-8")
            git("add", name)
            git("commit", "-q", "-m", f"Add {name}")
            if number == 2:
                git("tag", "v1.0.0")
                git("branch", "feature/search")
        (place / "config.json").write_text("{}\n", encoding="utf-8")
        git("stash", "push", "-q", "-m", "Empty the configuration")
        (place / "settings.yaml").write_text(TEXTS["settings.yaml"], encoding="utf-8")
        git("add", "settings.yaml")
        (place / "report.txt").write_text("Sales rose in May.\n", encoding="utf-8")
    except (OSError, subprocess.SubprocessError):
        return


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
    (folder / "photo.jpg").write_bytes(_jpeg())


def _jpeg() -> bytes:
    """A grey picture of 16 by 12 points. All of its four blocks are average, which takes two bits each."""
    tables = b"".join(_segment(0xC4, bytes((kind, 1, *[0] * 15, 0))) for kind in (0x00, 0x10))
    return b"".join((
        b"\xff\xd8",
        _segment(0xE0, b"JFIF\0\1\1\0\0\1\0\1\0\0"),
        _segment(0xDB, b"\0" + b"\x10" * 64),
        _segment(0xC0, struct.pack(">BHHBBBB", 8, 12, 16, 1, 1, 0x11, 0)),
        tables,
        _segment(0xDA, b"\1\1\0\0\x3f\0"),
        b"\0\xff\xd9",
    ))  # fmt: skip


def _segment(marker: int, data: bytes) -> bytes:
    return struct.pack(">BBH", 0xFF, marker, len(data) + 2) + data


def _make_archive(folder: Path) -> None:
    packed = {name: TEXTS[name] for name in ("notes.md", "data/sales.csv")}
    write_zip(folder / "archive.zip", packed)
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as archive:
        for name, text in packed.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    (folder / "archive.tar.gz").write_bytes(gzip.compress(written.getvalue(), mtime=0))


def _make_notebook(folder: Path) -> None:
    output = {"name": "stdout", "output_type": "stream", "text": ["6\n"]}
    code = {
        "execution_count": 1,
        "outputs": [output],
        "source": ["prices = [1, 2, 3]\n", "print(sum(prices))"],
    }
    cells = [
        {
            "cell_type": "markdown",
            "id": "a1",
            "metadata": {},
            "source": ["# Sales\n", "\n", "Prices of March."],
        },
        {"cell_type": "code", "id": "a2", "metadata": {}, **code},
        {"cell_type": "code", "id": "a3", "metadata": {}, **code, "outputs": [], "execution_count": None},
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    about = {"kernelspec": kernel, "language_info": {"name": "python"}}
    notebook = {"cells": cells, "metadata": about, "nbformat": 4, "nbformat_minor": 5}
    (folder / "analysis.ipynb").write_text(json.dumps(notebook, indent=1) + "\n", encoding="utf-8")


# Words in names and descriptions, as a pattern, for each kind of file.
KINDS: dict[str, Callable[[Path], None]] = {
    r"files?|filenames?|paths?|director(?:y|ies)|folders?|documents?|markdown": _make_texts,
    r"sqlite|sql|databases?|db": _make_database,
    r"git|repositor(?:y|ies)|repos?|commits?": _make_repository,
    r"excel|xlsx|spreadsheets?|workbooks?|worksheets?": make_spreadsheet,
    r"word|docx": make_document,
    r"pdfs?": _make_pdf,
    r"images?|pictures?|png|jpe?g|photos?": _make_picture,
    r"zip|archives?|unzip|tar|tarballs?": _make_archive,
    r"jupyter|notebooks?|ipynb": _make_notebook,
    r"power ?points?|pptx?|presentations?|slides?": make_presentation,
    **{words: partial(_make_texts, texts=texts) for words, texts in RARER_TEXTS.items()},
}
