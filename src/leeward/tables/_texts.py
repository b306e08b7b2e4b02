# SPDX-License-Identifier: Apache-2.0
"""Files of text that are written otherwise than CSV with commas in UTF-8: as a spec says, and never by a guess."""

from __future__ import annotations

import codecs
import os
import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from leeward.errors import DENIED, DataError, EngineError
from leeward.tables._files import File
from leeward.tables._writing import PLAIN, Writing

_PIECE: Final = 1 << 20

_BY_ENDING: Final = {".csv": ",", ".tsv": "\t"}


def delimiter_of(file: File, writing: Writing = PLAIN) -> str:
    """Return what separates the columns of a file of text: what is said, or else what the end of its name says.

    Raises:
        DataError: neither says it.
    """
    if writing.delimiter is not None:
        return writing.delimiter
    ending = Path(file.name.lower().removesuffix(".gz")).suffix
    if ending in _BY_ENDING:
        return _BY_ENDING[ending]
    raise DataError(
        f"The file '{file.name}'",
        "its name does not say what separates its columns",
        'Say it: delimiter = "tab", ";" or "," (in a spec in the section that names the file, in Python of lw.query.Source)',
    )


def in_utf8(files: Sequence[File], encoding: str | None, folder: str) -> list[File]:
    """Return files of text in UTF-8: those that are in another encoding written anew in a private folder.

    Raises:
        DataError: a file is not text in that encoding, naming the line; or it cannot be read.
        EngineError: there is no room for the private folder.
    """
    if encoding in (None, "utf-8"):
        return list(files)
    made = [Path(folder) / f"text{index}.csv" for index in range(len(files))]
    for file, target in zip(files, made, strict=True):
        _write(file, str(encoding), target)
    return [replace(File.of(target), name=file.name) for file, target in zip(files, made, strict=True)]


def _write(file: File, encoding: str, target: Path) -> None:
    decode, line, damaged = codecs.getincrementaldecoder(encoding)("strict"), 1, False
    try:
        with file.opened() as raw, open(target, "w", encoding="utf-8", newline="") as out:
            while True:
                piece = raw.read(_PIECE)
                text = decode.decode(piece, final=not piece)
                line += text.count("\n")
                out.write(text)
                if not piece:
                    return
    except UnicodeDecodeError as error:
        line += error.object[: error.start].count(b"\n")
    except (OSError, EOFError, zlib.error) as error:
        number = getattr(error, "errno", None)  # what cannot be unpacked has none
        if number in DENIED:
            what = f"The file '{file.name}' cannot be written anew in UTF-8, as it is read"
            raise EngineError(what, os.strerror(number), DENIED[number]) from None
        if number:
            raise DataError(f"The file '{file.name}' cannot be read", os.strerror(number), "Check the file") from None
        damaged = True
    if damaged:
        raise DataError(f"The file '{file.name}' cannot be read", "it is damaged, or was cut short", "Get it again")
    raise DataError(
        f"Line {line:,} of the file '{file.name}'",
        f"it is not text in {encoding}, as encoding says",
        "Name the encoding that it was saved in, or save it as UTF-8. That it fails may be a fact about the data: do not"
        " publish it",
    )
