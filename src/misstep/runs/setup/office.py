"""Writes small Office documents: a spreadsheet, a letter and a presentation."""

import zipfile
from pathlib import Path

ROWS = (("product", "quantity", "price"), ("apple", 3, 0.5), ("pear", 1, 0.75))
A_DATE = (2024, 1, 15, 10, 30, 0)


STYLES = (
    '<fonts count="1"><font><sz val="11"/><name val="Calibri"/></font></fonts>'
    '<fills count="2"><fill><patternFill patternType="none"/></fill>'
    '<fill><patternFill patternType="gray125"/></fill></fills>'
    '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>'
    '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>'
    '<cellXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/></cellXfs>'
    '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles>'
)


def make_spreadsheet(folder: Path) -> None:
    cells = [
        [_cell(column, row, value) for column, value in enumerate(line)] for row, line in enumerate(ROWS, 1)
    ]
    rows = "".join(f'<row r="{number}">{"".join(row)}</row>' for number, row in enumerate(cells, 1))
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    view = '<sheetViews><sheetView workbookViewId="0"/></sheetViews>'
    sheet = f'<worksheet xmlns="{main}">{view}<sheetData>{rows}</sheetData></worksheet>'
    sheets = "".join(f'<sheet name="Sheet{n}" sheetId="{n}" r:id="rId{n}"/>' for n in (1, 2))
    linked = f'xmlns:r="{RELATIONS}"'
    links = {f"rId{n}": ("worksheet", f"worksheets/sheet{n}.xml") for n in (1, 2)}
    # These are optional, but every spreadsheet program writes them.
    links["rId3"], views = ("styles", "styles.xml"), "<bookViews><workbookView/></bookViews>"
    parts = {
        "xl/styles.xml": f'<styleSheet xmlns="{main}">{STYLES}</styleSheet>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" {linked}>{views}<sheets>{sheets}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": _links(links),
        "xl/worksheets/sheet1.xml": sheet,
        "xl/worksheets/sheet2.xml": f'<worksheet xmlns="{main}">{view}<sheetData/></worksheet>',
    }
    types = {"xl/workbook.xml": "spreadsheetml.sheet.main", "xl/styles.xml": "spreadsheetml.styles"}
    types |= {f"xl/worksheets/sheet{n}.xml": "spreadsheetml.worksheet" for n in (1, 2)}
    _write_package(folder / "book.xlsx", parts, "xl/workbook.xml", types)


def _cell(column: int, row: int, value: object) -> str:
    place = f"{'ABC'[column]}{row}"
    if isinstance(value, str):
        return f'<c r="{place}" t="inlineStr"><is><t>{value}</t></is></c>'
    return f'<c r="{place}"><v>{value}</v></c>'


def make_document(folder: Path) -> None:
    main = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    lines = ("A letter", "Dear Ada,", "the invoice is paid.")
    body = "".join(f"<w:p><w:r><w:t>{line}</w:t></w:r></w:p>" for line in lines)
    parts = {"word/document.xml": f'<w:document xmlns:w="{main}"><w:body>{body}</w:body></w:document>'}
    types = {"word/document.xml": "wordprocessingml.document.main"}
    _write_package(folder / "letter.docx", parts, "word/document.xml", types)


DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
COLOURS = {
    **dict.fromkeys(("dk1", "dk2", "hlink", "folHlink"), "1F2A44"),
    **dict.fromkeys(("lt1", "lt2"), "FFFFFF"),
    **{f"accent{number}": colour for number, colour in enumerate(
        ("4472C4", "ED7D31", "A5A5A5", "FFC000", "5B9BD5", "70AD47"), 1
    )},
}  # fmt: skip
COLOUR_ORDER = (
    "dk1",
    "lt1",
    "dk2",
    "lt2",
    *(f"accent{number}" for number in range(1, 7)),
    "hlink",
    "folHlink",
)
FILL = '<a:solidFill><a:schemeClr val="phClr"/></a:solidFill>'
LAYOUTS = {"Title Slide": "title", "Title and Content": "obj", "Title Only": "titleOnly"}


def make_presentation(folder: Path) -> None:
    """Two slides with a title and a text each, on three layouts of one master."""
    slides = (("Sales", "Sales rose in March."), ("Plans", "A shop in Oslo."))
    layouts = [f"slideLayout{number}" for number in range(1, len(LAYOUTS) + 1)]
    links = {"rId1": ("slideMaster", "slideMasters/slideMaster1.xml"), "rId2": ("theme", "theme/theme1.xml")}
    links |= {f"rId{number + 2}": ("slide", f"slides/slide{number}.xml") for number in (1, 2)}
    ids = "".join(f'<p:sldId id="{255 + number}" r:id="rId{number + 2}"/>' for number in (1, 2))
    sizes = '<p:sldSz cx="9144000" cy="6858000"/><p:notesSz cx="6858000" cy="9144000"/>'
    masters = '<p:sldMasterIdLst><p:sldMasterId id="2147483648" r:id="rId1"/></p:sldMasterIdLst>'
    parts = {
        "presentation": _slide_xml("presentation", f"{masters}<p:sldIdLst>{ids}</p:sldIdLst>{sizes}"),
        "_rels/presentation.xml.rels": _links(links),
        "theme/theme1": _theme(),
        "slideMasters/slideMaster1": _master(len(layouts)),
        "slideMasters/_rels/slideMaster1.xml.rels": _links(
            {f"rId{n}": ("slideLayout", f"../slideLayouts/{each}.xml") for n, each in enumerate(layouts, 1)}
            | {f"rId{len(layouts) + 1}": ("theme", "../theme/theme1.xml")}
        ),
    }
    for layout, (name, kind) in zip(layouts, LAYOUTS.items(), strict=True):
        shapes = _shapes("", None if kind == "titleOnly" else "")
        parts[f"slideLayouts/{layout}"] = _slide_xml("sldLayout", _tree(shapes, name), f' type="{kind}"')
        above = {"rId1": ("slideMaster", "../slideMasters/slideMaster1.xml")}
        parts[f"slideLayouts/_rels/{layout}.xml.rels"] = _links(above)
    for number, (title, text) in enumerate(slides, 1):
        parts[f"slides/slide{number}"] = _slide_xml("sld", _tree(_shapes(title, text)))
        layout_of = {"rId1": ("slideLayout", "../slideLayouts/slideLayout2.xml")}
        parts[f"slides/_rels/slide{number}.xml.rels"] = _links(layout_of)
    written = {f"ppt/{name}{'' if name.endswith('.rels') else '.xml'}": text for name, text in parts.items()}
    types = {name: _type_of(Path(name).stem) for name in written if not name.endswith(".rels")}
    _write_package(folder / "slides.pptx", written, "ppt/presentation.xml", types)


def _type_of(part: str) -> str:
    """The content type of a part of a presentation, such as slideLayout2."""
    kind = part.rstrip("0123456789")
    return kind if kind == "theme" else f"presentationml.{kind}{'.main' if kind == 'presentation' else ''}"


def _slide_xml(tag: str, inner: str, attributes: str = "") -> str:
    main = "http://schemas.openxmlformats.org/presentationml/2006/main"
    spaces = f'xmlns:a="{DRAWING}" xmlns:r="{RELATIONS}" xmlns:p="{main}"'
    return f"<p:{tag} {spaces}{attributes}>{inner}</p:{tag}>"


def _master(layouts: int) -> str:
    names = [*(("bg1", "lt1"), ("tx1", "dk1"), ("bg2", "lt2"), ("tx2", "dk2"))]
    names += [(name, name) for name in COLOUR_ORDER[4:]]
    colours = "".join(f' {name}="{colour}"' for name, colour in names)
    ids = "".join(f'<p:sldLayoutId id="{2147483648 + n}" r:id="rId{n}"/>' for n in range(1, layouts + 1))
    inner = f"{_tree(_shapes('', ''))}<p:clrMap{colours}/><p:sldLayoutIdLst>{ids}</p:sldLayoutIdLst>"
    return _slide_xml("sldMaster", inner)


def _tree(shapes: str, name: str = "") -> str:
    group = '<p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>'
    named = f' name="{name}"' if name else ""
    return f"<p:cSld{named}><p:spTree>{group}{shapes}</p:spTree></p:cSld>"


def _shapes(title: str, text: str | None) -> str:
    """Placeholders for a title and, unless it is None, for a text."""
    wanted = [("Title", 'type="title"', title, 274638), ("Content", 'type="body" idx="1"', text, 1600200)]
    return "".join(
        f'<p:sp><p:nvSpPr><p:cNvPr id="{number}" name="{name} {number}"/><p:cNvSpPr/>'
        f"<p:nvPr><p:ph {kind}/></p:nvPr></p:nvSpPr>"
        f'<p:spPr><a:xfrm><a:off x="457200" y="{top}"/><a:ext cx="8229600" cy="1143000"/></a:xfrm></p:spPr>'
        f"<p:txBody><a:bodyPr/><a:p><a:r><a:t>{words}</a:t></a:r></a:p></p:txBody></p:sp>"
        for number, (name, kind, words, top) in enumerate(wanted, 2)
        if words is not None
    )


def _theme() -> str:
    colours = "".join(f'<a:{name}><a:srgbClr val="{COLOURS[name]}"/></a:{name}>' for name in COLOUR_ORDER)
    font = '<a:latin typeface="Arial"/><a:ea typeface=""/><a:cs typeface=""/>'
    fonts = f"<a:majorFont>{font}</a:majorFont><a:minorFont>{font}</a:minorFont>"
    styles = "".join(
        f"<a:{name}>{each * 3}</a:{name}>"
        for name, each in (
            ("fillStyleLst", FILL),
            ("lnStyleLst", f'<a:ln w="6350">{FILL}</a:ln>'),
            ("effectStyleLst", "<a:effectStyle><a:effectLst/></a:effectStyle>"),
            ("bgFillStyleLst", FILL),
        )
    )
    return (
        f'<a:theme xmlns:a="{DRAWING}" name="Plain"><a:themeElements><a:clrScheme name="Plain">{colours}'
        f'</a:clrScheme><a:fontScheme name="Plain">{fonts}</a:fontScheme><a:fmtScheme name="Plain">{styles}'
        "</a:fmtScheme></a:themeElements></a:theme>"
    )


PACKAGE = "http://schemas.openxmlformats.org/package/2006"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def _links(links: dict[str, tuple[str, str]]) -> str:
    each = "".join(
        f'<Relationship Id="{name}" Type="{RELATIONS}/{kind}" Target="{target}"/>'
        for name, (kind, target) in links.items()
    )
    return f'<Relationships xmlns="{PACKAGE}/relationships">{each}</Relationships>'


def _write_package(path: Path, parts: dict[str, str], main: str, types: dict[str, str]) -> None:
    """An Office document: a ZIP file of XML parts, whose types and links are parts as well."""
    content = "application/vnd.openxmlformats-officedocument"
    overrides = "".join(
        f'<Override PartName="/{name}" ContentType="{content}.{kind}+xml"/>' for name, kind in types.items()
    )
    default = (
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    )
    listed = f'<Types xmlns="{PACKAGE}/content-types">{default}{overrides}</Types>'
    links = {"rId1": ("officeDocument", main)}
    write_zip(path, {"[Content_Types].xml": listed, "_rels/.rels": _links(links), **parts}, XML)


XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'


def write_zip(path: Path, files: dict[str, str], before: str = "") -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(zipfile.ZipInfo(name, A_DATE), before + text)
