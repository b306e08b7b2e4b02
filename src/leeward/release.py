"""The one door: data, noise and budget meet only here.

Order of things, and why: the plan refuses what can be refused without data; the ledger reserves the price before anything
is counted; the engine counts exactly; noise is drawn; the noisy integers are stored; only then is anything shown. What is
shown (decisions, counts) is post-processing of what was stored, so asking again in another form is free.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from leeward.errors import CapExceededError, InputError, SpecError, nearest
from leeward.mechanism import Geometric, SanitizedAnswers
from leeward.noise import Bits, SystemBits
from leeward.notion import Notion
from leeward.query import CountVisitors
from leeward.real import Exact, exact
from leeward.statement import privacy_statement
from leeward.utility.plan import Plan, plan

if TYPE_CHECKING:
    import pandas as pd
    from plotly.graph_objects import Figure

    from leeward.engine import PlaceList, VisitTable

What = Literal["decisions", "counts"]

_SAFE, _STOPPED = -1, -2  # how the sanitized mechanism's answers without a count are stored


@dataclass(frozen=True)
class Budget:
    """Where the budget of a dataset is kept.

    Attributes:
        ledger: URL of the ledger, such as ``sqlite:///budget.db``.
        dataset: the public name of the data.
        cap: the most that may ever be spent on it, exact; fixed by the first release; None for what was fixed then.
        version: the public label of the content: name a new one when the data changes.
    """

    ledger: str
    dataset: str
    cap: Exact | None = None
    version: str = "1"


@dataclass(frozen=True)
class CuratorNotes:
    """Facts about the data that the release does not protect: for the curator's terminal, never to be published.

    Attributes:
        dropped: rows that take no part, by reason; None if a stored answer was used and nothing was counted.
        people_over_bound: people at more places than the bound.
        charged: what this call added to what is spent; 0 for a stored answer.
    """

    dropped: Mapping[str, int] | None
    people_over_bound: int | None
    charged: str


@dataclass(frozen=True)
class Release:
    """What may be published.

    Attributes:
        answers: one row a place, in the public order: ``place``, ``name`` (if known), ``state`` (safe or obscure), and where
            published ``answered`` and ``count``.
        places: the public list in the same order, with coordinates where known.
        statement: the privacy statement, as written to release.json.
        curator: notes that must not be published; nothing writes them to a file.
    """

    answers: pa.Table
    places: pa.Table
    statement: dict[str, Any]
    curator: CuratorNotes = field(repr=False)
    _list_is_ours: bool = field(default=False, repr=False)

    def to_pandas(self) -> pd.DataFrame:
        """Return the answers as a DataFrame; ``count`` is a nullable Int64."""
        import pandas as pd

        frame: pd.DataFrame = self.answers.to_pandas(types_mapper={pa.int64(): pd.Int64Dtype()}.get)
        return frame

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write the answers as Parquet."""
        import pyarrow.parquet as pq

        pq.write_table(self.answers, path)

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the answers as CSV."""
        import pyarrow.csv as pa_csv

        pa_csv.write_csv(self.answers, path)

    def map(self) -> Figure:
        """Return the map of safe and obscure places as a plotly figure.

        Raises:
            InputError: the public list has no coordinates.
        """
        from leeward.report import places_map

        return places_map(self)

    def save(self, directory: str | os.PathLike[str]) -> Path:
        """Write answers.parquet, release.json and report.html (and the list of a grid as places.parquet).

        The directory appears whole or not at all. One that holds an earlier release is replaced; one that holds anything
        else is refused.

        Raises:
            InputError: the directory holds something else, or cannot be written.
        """
        return _save_whole([(".", self)], Path(directory))

    def _write(self, directory: Path) -> None:
        from leeward.report import write_report

        directory.mkdir(parents=True, exist_ok=True)
        self.to_parquet(directory / "answers.parquet")
        if self._list_is_ours:
            import pyarrow.parquet as pq

            pq.write_table(self.places, directory / "places.parquet")
        (directory / "release.json").write_text(
            json.dumps(self.statement, indent=2, ensure_ascii=False) + "\n", "utf-8"
        )
        write_report(self, directory / "report.html")


def release(
    query: CountVisitors,
    notion: Notion,
    *,
    safe_at_most: int | None = None,
    dangerous_at_least: int | None = None,
    budget: Budget,
    error_at_most: Exact | None = None,
    useful_from: Exact | None = None,
    what: What = "decisions",
    mechanism: Literal["auto", "geometric", "sanitized"] = "auto",
    stop_after: int | None = None,
    bits: Bits | None = None,
    on_stage: Callable[[str], None] = lambda _stage: None,
) -> Release:
    """Release which places are safe, charging the budget. The arguments up to ``stop_after`` are those of `leeward.plan`.

    Args:
        query: the question, from `leeward.count_visitors`.
        notion: the privacy notion.
        safe_at_most: what *safe* means: at most so many people.
        dangerous_at_least: what *dangerous* means: at least so many people.
        budget: where the price is charged.
        error_at_most: see `leeward.plan`.
        useful_from: see `leeward.plan`.
        what: ``"decisions"``, or ``"counts"`` for the noisy counts too: post-processing, at no further price.
        mechanism: see `leeward.plan`.
        stop_after: see `leeward.plan`.
        bits: the entropy source; anything but the default marks the release unfit for publication.
        on_stage: told what is going on ("reading places", "counting", …, and the ledger's own stages).

    Raises:
        LeewardError: the release is refused; nothing was charged and nothing is shown. See `leeward.errors`.
    """
    given = {"useful_from": useful_from} if useful_from is not None else {}
    made = plan(
        query,
        notion,
        safe_at_most=safe_at_most,
        dangerous_at_least=dangerous_at_least,
        error_at_most=error_at_most,
        mechanism=mechanism,
        stop_after=stop_after,
        **given,
    )
    return release_planned([made], budget, what=what, bits=bits, on_stage=on_stage)[0]


def release_planned(
    plans: Iterable[Plan],
    budget: Budget,
    *,
    what: What = "decisions",
    bits: Bits | None = None,
    on_stage: Callable[[str], None] = lambda _stage: None,
) -> list[Release]:
    """Carry out plans that share their visits and places (windows of one spec), one release each.

    The whole price is checked against what is left before the first is made.

    Raises:
        LeewardError: a release is refused. What earlier plans of the list released stays released and charged.
    """
    from leeward.engine import open_visits, read_places
    from leeward.ledger import Ledger

    plans = list(plans)
    if what not in get_args(What):
        raise SpecError(f"what = '{what}'", "there is no such thing to publish", nearest(what, get_args(What)))
    first = plans[0].query
    on_stage("reading places")
    places = read_places(first.places)
    ledger = Ledger(budget.ledger)
    keys = [_public_key(made, places, bits) for made in plans]
    _check_total(ledger, budget, plans, keys)
    on_stage("reading visits")
    with open_visits(first.visits, places) as table:
        on_stage("recognising the content")
        digest = table.content_digest(ledger.secret(budget.dataset))
        return [
            _one(made, key, ledger, budget, places, table, digest, what, bits, on_stage)
            for made, key in zip(plans, keys, strict=True)
        ]


def _one(
    made: Plan,
    key: str,
    ledger: Any,
    budget: Budget,
    places: PlaceList,
    table: VisitTable,
    digest: bytes,
    what: What,
    bits: Bits | None,
    on_stage: Callable[[str], None],
) -> Release:
    notes = CuratorNotes(None, None, "0")
    with ledger.reserve(
        dataset=budget.dataset,
        version=budget.version,
        key=key,
        cost=_price(made),
        cap=_cap(budget),
        notion=f"{made.notion.name}/{made.notion.words.unit}",
        digest=digest,
        digest_columns=table.digest_columns,
        on_stage=on_stage,
    ) as claim:
        if claim.answer is None:
            on_stage("counting")
            counted = table.count(made.query)
            on_stage("adding noise")
            claim.store(_draw(made, counted.counts, bits or SystemBits()).astype("<i8").tobytes())
            notes = CuratorNotes(counted.dropped, counted.people_over_bound, str(_price(made)))
        stored, entry = claim.answer, claim.id
    assert stored is not None
    on_stage("deciding")
    noisy = np.frombuffer(stored, dtype="<i8").astype(np.int64)
    fit = bits is None or bits.fit_for_release
    statement = {
        "entry": entry,
        "fit_for_release": fit,
        **privacy_statement(made, places=len(places), dataset=budget.dataset, version=budget.version),
    }
    answers = _answers(made, noisy, places, what)
    return Release(answers, places.to_arrow(), statement, notes, places.grid is not None)


def _draw(made: Plan, counts: NDArray[np.int64], bits: Bits) -> NDArray[np.int64]:
    """Return what the ledger stores: the mechanism's whole output as one int64 a place, and nothing else."""
    if isinstance(made.mechanism, Geometric):
        return made.mechanism.noisy(counts, bits)
    said = made.mechanism.release(counts, bits)
    return np.where(said.safe, _SAFE, np.where(said.answered, said.count, _STOPPED))


def _answers(made: Plan, noisy: NDArray[np.int64], places: PlaceList, what: What) -> pa.Table:
    columns: dict[str, Any] = {"place": places.keys}
    if places.name is not None:
        columns["name"] = places.name
    if isinstance(made.mechanism, Geometric):
        columns["state"] = pa.array(made.states(noisy))
        if what == "counts":
            columns["count"] = pa.array(noisy, pa.int64())
    else:
        said = SanitizedAnswers(noisy != _STOPPED, noisy == _SAFE, noisy)
        columns["state"] = pc.if_else(pa.array(said.safe), "safe", "obscure")
        columns["answered"] = pa.array(said.answered)
        columns["count"] = pa.array(said.count, pa.int64(), mask=noisy < 0)
    return pa.table(columns)


def _public_key(made: Plan, places: PlaceList, bits: Bits | None) -> str:
    """Return the canonical text of everything public that the stored integers depend on.

    Thresholds belong to it only for the sanitized mechanism, whose draw they stop; for the geometric mechanism they are
    post-processing.
    """
    mechanism: dict[str, Any] = {"name": "geometric"}
    if not isinstance(made.mechanism, Geometric):
        mechanism = {"name": "sanitized", "at_most": made.safe_at_most, "stop_after": made.mechanism.stop_after}
    public = {
        **made.query.public(),
        "places": places.digest(),
        "notion": made.notion.name,
        "epsilon": str(made.notion.epsilon),
        "mechanism": mechanism,
    }
    if bits is not None and not bits.fit_for_release:
        public["fit_for_release"] = False
    return json.dumps(public, sort_keys=True, ensure_ascii=False, default=str)


def _check_total(ledger: Any, budget: Budget, plans: list[Plan], keys: list[str]) -> None:
    new = [
        made for made, key in zip(plans, keys, strict=True) if ledger.peek(budget.dataset, budget.version, key) is None
    ]
    account = next(iter(ledger.show(budget.dataset)), None)
    left = account.left if account is not None else _cap(budget)
    total = sum((_price(made) for made in new), _price(plans[0]) * 0)
    if len(new) > 1 and left is not None and total > left:
        raise CapExceededError(
            f"{len(new)} windows at a total price of {total}",
            f"only {left} is left of the budget of '{budget.dataset}'",
            "Ask for fewer windows or a smaller epsilon, or raise the cap with `leeward budget set-cap`",
        )


def _price(made: Plan) -> Any:
    price = made.price.rational
    if price is None:
        raise InputError(
            f"The price {made.price}", "budgets are kept in exact fractions", "Give epsilon as a decimal or fraction"
        )
    return price


def _cap(budget: Budget) -> Any:
    if budget.cap is None:
        return None
    cap = exact(budget.cap).rational
    if cap is None or cap <= 0:
        raise InputError(f"cap = {budget.cap}", "it is no finite amount above 0", 'Give, say, cap = "5"')
    return cap


def save_all(releases: Mapping[str, Release], directory: str | os.PathLike[str]) -> Path:
    """Write several releases as sub-folders of one directory, which appears whole or not at all.

    Raises:
        InputError: the directory holds something else, or cannot be written.
    """
    return _save_whole(list(releases.items()), Path(directory))


def check_directory(directory: str | os.PathLike[str]) -> None:
    """Refuse a directory that `Release.save` could not write to: asked before the budget is charged.

    Raises:
        InputError: it holds something else than a release, or its parent cannot be written.
    """
    path = Path(directory)
    parent = path.resolve().parent
    if path.exists() and not _is_release(path):
        raise InputError(
            f"The directory '{path}'", "it exists and holds something else than a release", "Name another one"
        )
    if not parent.is_dir() or not os.access(parent, os.W_OK):
        raise InputError(f"The directory '{path}'", "its parent cannot be written", "Create it, or name another one")


def _is_release(path: Path) -> bool:
    if not path.is_dir():
        return False
    held = list(path.iterdir())
    return not held or (path / "release.json").is_file() or all((sub / "release.json").is_file() for sub in held)


def _save_whole(releases: list[tuple[str, Release]], path: Path) -> Path:
    check_directory(path)
    parent = path.resolve().parent
    made = Path(tempfile.mkdtemp(prefix=f".{path.name}-", dir=parent))
    try:
        whole = made / "whole"
        for name, one in releases:
            one._write(whole / name)
        if path.exists():
            os.replace(path, made / "old")
        os.replace(whole, path)
    except OSError as error:
        raise InputError(
            f"The directory '{path}' could not be written",
            os.strerror(error.errno or 0),
            "Make room or name another place; running the same release again shows the stored answer at no further price",
        ) from None
    finally:
        shutil.rmtree(made, ignore_errors=True)
    return path
