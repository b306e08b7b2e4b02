# SPDX-License-Identifier: Apache-2.0
"""Drafts: what was answered so far is a spec file, which lacks the sections that are not answered yet."""

from __future__ import annotations

import itertools
import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, get_args

from leeward._toml import read_toml
from leeward.desk._folder import LEDGER, OWN, Folder
from leeward.errors import InputError
from leeward.outputs import MANIFEST, fresh, prepared
from leeward.outputs._disk import alone_in, mode, said
from leeward.spec import Spec, check_spec
from leeward.spec._draft import written
from leeward.spec._first_question import KINDS, Never, Side, decided, promises, protected
from leeward.spec._sections import Account, Data, GridBox, PublicPlaces, Query, Windows

SPEC: Final = "spec.toml"
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,60}")
_PATHS: Final = (("data", "visits"), ("data", "table"), ("places", "table"), ("budget", "ledger"))
"""The keys that name files, after their section."""


@dataclass(frozen=True)
class Draft:
    """A spec that is being written.

    Attributes:
        name: its name in addresses.
        folder: where it is kept; its paths are relative to it.
        sections: what is answered, as TOML has it.
    """

    name: str
    folder: Path
    sections: Mapping[str, Mapping[str, Any]] = field(repr=False)

    @property
    def of_visits(self) -> bool:
        """Whether it is about visits to places; else it is about the rows of a table."""
        return "visits" in self.sections["data"]

    @property
    def table(self) -> str:
        """The key of ``[data]`` that names its private table."""
        return "visits" if self.of_visits else "table"

    def with_section(self, name: str, keys: Mapping[str, Any]) -> Draft:
        """Return it with one section answered, or answered anew; sections stand in the order in which they are asked."""
        said = {**self.sections, name: keys}
        return Draft(self.name, self.folder, {each: said[each] for each in ORDER if each in said})

    def without(self, *names: str) -> Draft:
        """Return it with some sections unanswered."""
        return Draft(self.name, self.folder, {each: keys for each, keys in self.sections.items() if each not in names})

    def path_to(self, file: Path) -> str:
        """Return how the draft writes the path of a file."""
        return os.path.relpath(file, self.folder)

    def spec(self, **sections: Mapping[str, Any]) -> Spec:
        """Return it as a whole spec, with some sections put in the place of its own.

        Raises:
            SpecError: a section is missing, or a key or value is not as described.
        """
        return check_spec({**self.sections, **sections}, folder=self.folder)

    def check_so_far(self) -> None:
        """Refuse what cannot be asked, whatever is answered to what is still open.

        Raises:
            LeewardError: it makes no question.
        """
        open_yet: dict[str, Any] = {"budget": {"ledger": LEDGER, "dataset": self.name, "cap": "1"}}
        if "time" in self.sections["data"] and "window" not in self.sections:
            open_yet["window"] = {"start": "2000-01-01", "end": "2000-01-02"}
        if "protect" not in self.sections:
            never: Any = next(iter(promises(self.sections.get("query", {}))))
            open_yet["protect"] = protected(never, "1", visits=self.of_visits)
            open_yet |= {"decide": decided(never, 2)} if never in get_args(Never) else {}
        elif "epsilon" not in self.sections["protect"]:
            open_yet["protect"] = {**self.sections["protect"], "epsilon": "1"}
        self.spec(**open_yet).plans()

    def text(self) -> str:
        """Return it with absolute paths, as a spec that works from wherever it is saved."""
        absolute = {name: dict(keys) for name, keys in self.sections.items()}
        for section, key in _PATHS:
            if key in absolute.get(section, {}):
                absolute[section][key] = os.path.normpath(self.folder / absolute[section][key])
        return written(absolute)


ORDER: Final = ("data", "places", "query", "window", "protect", "decide", "budget")
"""The sections of a spec, in the order in which they are asked."""


class Drafts:
    """The drafts of a folder, each in a folder of its own below ``leeward-desk/drafts``.

    Each is written whole or not at all, and one that somebody else changed is not written over, nor is an answer lost that
    another tab sent meanwhile.
    """

    def __init__(self, files: Folder) -> None:
        self._files = files

    @property
    def _home(self) -> Path:
        return self._files.own(OWN, "drafts")

    def names(self) -> list[str]:
        """Return the names of all drafts, the last that was written first."""
        home = self._home
        found = [home / name for name in self._files.kept(home) if self._is_draft(name)]
        return [one.name for one in sorted(found, key=os.path.getmtime, reverse=True)]

    def _is_draft(self, name: str) -> bool:
        home = self._home / name
        return bool(_NAME.fullmatch(name)) and not os.path.islink(home) and os.path.isfile(home / MANIFEST)

    def begin(self, file: Path, about: str, data: Mapping[str, Any]) -> Draft:
        """Make a draft, named after its private table.

        Args:
            file: the table.
            about: ``visits``, or ``table`` where it is about the rows of one.
            data: what else is known of ``[data]``.

        Raises:
            InputError: it cannot be written.
        """
        stem = file.name.partition(".")[0]
        plain = re.sub(r"[^a-z0-9]+", "-", stem.lower()).strip("-")[:40] or "draft"
        names = itertools.chain([plain], (f"{plain}-{number}" for number in itertools.count(2)))
        with fresh(self._home, names) as home:
            draft = Draft(home.name, home, {"data": {about: os.path.relpath(file, home), **data}})
            self._write(draft)
        return draft

    def read(self, name: str) -> Draft:
        """Return a draft.

        Raises:
            InputError: there is none of this name; or somebody else wrote it, and it says what the desk does not ask, or
                names a file outside the folder.
        """
        if not self._is_draft(name):
            raise InputError(
                "This draft", "there is none of that name", "Begin with a table, or choose one of the drafts"
            )
        spec = self._home / name / SPEC
        if not stat.S_ISREG(mode(spec) or stat.S_IFREG):  # a pipe would be waited for, and a link may lead out
            raise InputError("This draft", "its spec is no plain file", "Put that back, or begin anew")
        sections, _ = read_toml(spec)
        _refuse_unasked(sections)
        draft = Draft(name, self._home / name, sections)
        for section, key in _PATHS:
            if (named := sections.get(section, {}).get(key)) is not None:
                self._check(draft.folder, named, is_table=section != "budget")
        return draft

    def _check(self, folder: Path, named: str, *, is_table: bool) -> None:
        """Refuse what is not one file below the folder of the desk: a pattern, an address, or another file."""
        below = None if "://" in named else os.path.normpath(folder / named)
        if below is None or not Path(below).is_relative_to(self._files.root):
            raise InputError(
                "A file that this draft names",
                "it is not one below the folder of the desk",
                "Correct the draft, or begin anew",
            )
        if is_table:
            self._files.file(Path(below).relative_to(self._files.root).as_posix())
        elif os.path.realpath(below) != str(self._files.root / LEDGER):
            raise InputError(
                "The budget of this draft",
                f"it is not the file '{LEDGER}' in the folder of the desk, which is what the pages show",
                "Correct the draft, or begin anew",
            )

    def save(self, draft: Draft, was: Draft) -> bool:
        """Write a draft in the place of what was written of it before; return whether that was still as it was read.

        Where it was not, another tab, or another desk over the folder, answered a step meanwhile: nothing is written.

        Args:
            draft: it.
            was: what it was made from.

        Raises:
            InputError: somebody else changed it meanwhile, or it cannot be written.
        """
        home = self._home
        with said(home), alone_in(home):
            is_as_read = self.read(draft.name).sections == was.sections
            if is_as_read:
                self._write(draft)
        return is_as_read

    def _write(self, draft: Draft) -> None:
        with prepared(draft.folder, "a draft of the desk", names=[SPEC]) as folder:
            folder.write({SPEC: lambda path: path.write_text(written(draft.sections), "utf-8")})


def _refuse_unasked(sections: Mapping[str, Any]) -> None:
    """Refuse what the desk never writes: its pages would not show it, and a release would be of it all the same."""
    if not (_is_asked(sections) and _is_promise(sections)):
        raise InputError(
            "This draft",
            "its spec says what the desk does not ask, and so would not show before it is paid for",
            "Release it with `leeward release`, or begin anew",
        )


def _is_asked(sections: Mapping[str, Any]) -> bool:
    """Whether all of it, but for the promise, is as the steps answer it: about visits, or about the rows of a table."""
    if not (sections.keys() <= {*ORDER} and all(isinstance(keys, dict) for keys in sections.values())):
        return False
    data, query = sections.get("data", {}), sections.get("query", {})
    of_visits = "visits" in data
    return (
        of_visits != ("table" in data)
        and ("query" if of_visits else "places") not in sections
        and all(
            (key in _TEXTS[name] and isinstance(value, str)) or _is_list(name, key, value)
            for name, keys in sections.items()
            if name in _TEXTS
            for key, value in keys.items()
        )
        and query.get("kind", "count") in KINDS
    )


def _is_list(section: str, key: str, value: object) -> bool:
    """Whether it is what the steps answer with more than a text: a grid of squares, percentiles, levels or groups."""
    if (section, key) == ("places", "grid"):
        known = {*GridBox.model_fields} - {"h3"}
        return (
            isinstance(value, dict) and value.keys() <= known and all(type(n) in (int, float) for n in value.values())
        )
    if section == "query" and key in ("p", "levels"):
        return isinstance(value, list) and all(isinstance(one, str) for one in value)
    listed = [*value.values()] if isinstance(value, dict) else []
    return (
        (section, key) == ("query", "by")
        and len(listed) == 1
        and isinstance(listed[0], list)
        and all(type(one) in (str, int) for one in listed[0])
    )


def _is_promise(sections: Mapping[str, Any]) -> bool:
    """Whether ``[protect]`` and ``[decide]`` are as one of the answers about what must never be wrong is written."""
    protect, decide = sections.get("protect"), sections.get("decide")
    if protect is None:
        return decide is None
    epsilon, people = protect.get("epsilon", "1"), next(iter((decide or {"safe_at_most": 0}).values()))
    if not isinstance(epsilon, str) or type(people) is not int:
        return False
    answers: tuple[Any, ...] = get_args(Side if decide is None else Never)
    return any(
        {"epsilon": epsilon, **protect} == protected(never, epsilon, visits="visits" in sections["data"])
        and (decide is None or decide == decided(never, people))
        for never in answers
    )


_TEXTS: Final = {
    "data": {*Data.model_fields} - {"keep", "engine", "spark"},
    "places": {*PublicPlaces.model_fields} - {"grid"},
    "query": {*Query.model_fields} & {"kind", "column", "lower", "upper", "step", "grid", "p", "combine"},
    "window": {*Windows.model_fields} & {"start", "end", "every"},
    "budget": {*Account.model_fields} & {"ledger", "dataset", "cap", "version"},
}
"""The keys that the steps answer with a text, by their section."""
