"""Workbooks written by hand, as the standard says: XML in a ZIP archive. Nothing of ours, and no library, writes them."""

from __future__ import annotations

import datetime as dt
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape


def workbook(file: Path, sheets: Mapping[str, Sequence[Sequence[Any]]]) -> None:
    """Write a workbook: texts inline, numbers, truth values, and times as days since 1899-12-30 in a date format."""
    main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    rel = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    with zipfile.ZipFile(file, "w") as made:
        parts = "".join(
            f'<Override PartName="/xl/worksheets/sheet{i}.xml" ContentType="{kind}.worksheet+xml"/>'
            for i in range(len(sheets))
        )
        made.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{package}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-'
            f'package.relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="{kind}.sheet.main+xml"/>'
            f'<Override PartName="/xl/styles.xml" ContentType="{kind}.styles+xml"/>{parts}</Types>',
        )
        made.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{package}/relationships"><Relationship Id="r" Type="{rel}/officeDocument" '
            'Target="xl/workbook.xml"/></Relationships>',
        )
        listed = "".join(f'<sheet name="{escape(n)}" sheetId="{i + 1}" r:id="r{i}"/>' for i, n in enumerate(sheets))
        made.writestr("xl/workbook.xml", f'<workbook {main} xmlns:r="{rel}"><sheets>{listed}</sheets></workbook>')
        links = "".join(
            f'<Relationship Id="r{i}" Type="{rel}/worksheet" Target="worksheets/sheet{i}.xml"/>'
            for i in range(len(sheets))
        )
        styles = f'<Relationship Id="s" Type="{rel}/styles" Target="styles.xml"/>'
        made.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="{package}/relationships">{links}{styles}</Relationships>',
        )
        made.writestr(
            "xl/styles.xml",
            f'<styleSheet {main}><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="22" applyNumberFormat="1"/></cellXfs>'
            "</styleSheet>",
        )
        for i, rows in enumerate(sheets.values()):
            body = "".join(
                f'<row r="{r}">{"".join(_cell(chr(65 + c) + str(r), v) for c, v in enumerate(row))}</row>'
                for r, row in enumerate(rows, 1)
            )
            made.writestr(f"xl/worksheets/sheet{i}.xml", f"<worksheet {main}><sheetData>{body}</sheetData></worksheet>")


def _cell(at: str, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return f'<c r="{at}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, dt.datetime):
        return f'<c r="{at}" s="1"><v>{(value - dt.datetime(1899, 12, 30)) / dt.timedelta(days=1)!r}</v></c>'
    if isinstance(value, str):
        return f'<c r="{at}" t="inlineStr"><is><t xml:space="preserve">{escape(value)}</t></is></c>'
    return f'<c r="{at}"><v>{value!r}</v></c>'
