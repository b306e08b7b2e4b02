# SPDX-License-Identifier: Apache-2.0
"""The privacy statement of perturbed series and totals: what is promised, in every distance, and what is not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Final

from leeward._plain import at_most, counted, odds
from leeward.exact._real import Real
from leeward.ledger._person_budgets import Over
from leeward.local._statement import order_stays
from leeward.local.series._documents import (
    GridPart,
    Published,
    ReadingError,
    SchedulePart,
    SeriesBudget,
    SeriesLevel,
    SeriesMechanism,
    SeriesOption,
    SeriesPricePart,
    SeriesPromise,
    SeriesRoute,
    SeriesSnapping,
    SeriesStatement,
    TotalError,
)
from leeward.local.series._quantities import in_digits, plain
from leeward.local.series._routes import Way, routes
from leeward.local.series._schedule import Per
from leeward.local.series._series import Series
from leeward.local.series._totals import Totals
from leeward.local.series._tree import TotalsTree
from leeward.mechanism._series import DISTANCES, SeriesNoise, SeriesPrice
from leeward.version import __version__

_THEOREMS: Final = (
    "Chatzikokolakis, Andrés, Bordenabe, Palamidessi, Broadening the Scope of Differential Privacy Using Metrics,"
    " Definition 6"
    " and Section 6.1: noise of weight e^(-d(z, x)), with a normaliser that does not depend on x, is d-private.",
    "Series of one meter over disjoint windows: distances add. Independent noise of rate r on n readings is"
    " r·d_1-private, and"
    " because d_1 ≤ n·d_∞ it is n·r·d_∞-private, and no better (their Example 2 draws it at r = ε).",
)
_PUBLISHED: Final[dict[Per, Published]] = {
    "hour": "totals per hour",
    "day": "totals per day",
    "month": "totals per month",
    "period": "totals per period",
}
_WAYS: Final[dict[Way, str]] = {
    "readings": "noisy readings added up, each with noise of its own",
    "norm readings": "noisy readings added up, with one draw for all that may move together",
    "totals": "noise on it, and no other totals",
    "tree": "a tree of totals",
}
_SECOND: Final = "A second run draws new noise and costs as much again"
_AGAIN: Final = (
    "A reading is drawn once: a later run with the same store shows what was drawn, also where the reading was corrected"
    " since. That costs nothing more; readings that are new to the store cost what is said here, in each run that draws some"
)
_AT_ANOTHER: Final = (
    "At another level a meter's reading is drawn anew, at that level's own price: if a meter's level changes between two"
    " runs, both are paid"
)
_ONE_METER: Final = (
    "An id is one meter's, for good, in all tables whose readings one store keeps: of two meters of one id the second is"
    " shown as the first was"
)
_SHOWS: Final = "Where a reading is withheld, none is published: that its budget is spent shows"
_NOISES: Final[dict[SeriesNoise, str]] = {"norm": "norm noise on a window", "independent": "noise on each reading"}


def statement(series: Series, totals: Totals | None = None, others: Sequence[str] | None = None) -> SeriesStatement:
    """Return the privacy statement, of totals where there are some that are published.

    The others are the columns that are passed on as they are; None where no table was read.
    """
    if totals is None:
        series.check()
    price = series.price if totals is None else totals.price
    span = _span(series, totals)
    return SeriesStatement(
        format=1,
        leeward=__version__,
        created=datetime.now(UTC).date().isoformat(),
        kind="series",
        publishes="readings" if totals is None else _PUBLISHED[totals.per],
        promise=SeriesPromise(
            asked=str(series.closeness),
            between=series.closeness.between,
            distance=series.mechanism.kind.symbol,
            epsilon=str(series.epsilon),
            unit=str(series.unit),
            window=series.closeness.window if totals is None else None,
            span=span,
            text=_promise(series, span, totals),
        ),
        unit="the readings of one meter over the whole period; each meter is protected on its own",
        price=price_part(series, totals, price, span),
        snapping=_snapping(series, totals),
        schedule=SchedulePart(
            start=str(series.schedule.start),
            end=str(series.schedule.end),
            every=series.schedule.every,
            zone=series.schedule.zone,
            readings=series.schedule.slots,
            windows=series.windows if totals is None else len(totals.spans),
        ),
        grid=GridPart(
            unit=series.grid.unit,
            step=plain(series.grid.step_value),
            lower=plain(series.grid.low_value),
            upper=plain(series.grid.high_value),
            text="Readings beyond the bounds are moved to them first, which takes no two readings further apart;"
            " then they are rounded half up to the grid",
        ),
        mechanism=SeriesMechanism(
            name=series.mechanism.noise if totals is None else "geometric",
            rate=str(series.mechanism.rate) if totals is None else str(totals.law(max(_lengths(totals))).line.rise),
            text=_mechanism(series, totals),
        ),
        mean_error=_reading_error(series) if totals is None else _total_error(totals),
        options=() if totals is not None else tuple(_options(series)),
        routes=() if totals is None else routes_part(totals),
        post_processing=() if totals is not None else tuple(_after(series)),
        assumptions=(
            "The schedule, the bounds, the grid and every option were chosen without looking at the data",
            "Which meters there are, and at which times they report, is not protected",
        ),
        theorems=_THEOREMS,
        not_guaranteed=tuple(_not_guaranteed(series, price, span, totals)),
        fit_for_release=series.fit_for_release,
        levels=None,
        budget=None,
        repeats=False,
        attacker=None,
        columns_as_they_are=None if others is None else tuple(others),
        files=None,
    )


def with_repeats(made: SeriesStatement) -> SeriesStatement:
    """Return a statement of readings that later runs show again as they were."""
    kept = (each for each in made.not_guaranteed if each != _SECOND)
    again = (_AGAIN,) if made.levels is None else (_AGAIN, _AT_ANOTHER)
    assumptions = (*made.assumptions, _ONE_METER)
    return made.model_copy(update={"repeats": True, "not_guaranteed": (*kept, *again), "assumptions": assumptions})


def with_groups(made: SeriesStatement) -> SeriesStatement:
    """Return a statement of totals of groups of meters: noise on readings adds up over meters, noise on a total does not."""
    routes = (
        each.model_copy(update={"text": f"{each.text} for a group of one meter, √n times that for n"})
        if each.way in ("readings", "norm readings")
        else each
        for each in made.routes
    )
    return made.model_copy(update={"routes": tuple(routes)})


def with_budget(made: SeriesStatement, reports_a_day: int, over: Over) -> SeriesStatement:
    """Return a statement with a bound on how many times the readings of a meter's day are published."""
    runs = counted(reports_a_day, "run")
    what = "a run that would be one more is refused" if over == "refuse" else "what would be one more is withheld"
    drawn = "drawn anew" if made.repeats else "published, or used for what is,"
    text = (
        f"Readings of a day of a meter are {drawn} in at most {runs}; {what}. So what is published"
        f" of a day costs at most {f'{reports_a_day} times' if reports_a_day > 1 else 'once'} what is said here of one run,"
        " or of an earlier one that said more; what different runs publish of different days adds up"
    )
    kept = tuple(each for each in made.not_guaranteed if each != _SECOND)
    return made.model_copy(
        update={
            "budget": SeriesBudget(reports_a_day=reports_a_day, over=over, text=text),
            "not_guaranteed": (*kept, _SHOWS) if over == "withhold" else kept,
        }
    )


def facts(made: SeriesStatement) -> list[tuple[str, str]]:
    """Return a statement in short, as (title, sentence)."""
    found = [("promise", made.promise.text), ("unit", made.unit)]
    found += [("price", text) for text in made.price.texts]
    found += [("first", made.grid.text), ("rounding", made.snapping.text)]
    found += [("mechanism", made.mechanism.text), ("mean error", made.mean_error.text)]
    if made.levels is not None:
        found += [(f"level {each.name}", _in_short(each)) for each in made.levels.each]
        found.append(("between levels", made.levels.text))
    if made.budget is not None:
        found.append(("budget", made.budget.text))
    if made.repeats:
        whose = "meter and time" if made.levels is None else "meter, time and level"
        found.append(("repeats", f"the same noisy reading for the same {whose}, drawn once"))
    if made.attacker is not None:
        found += [("attacker", made.attacker.text), *(("attacker", each.text) for each in made.attacker.sees)]
    found += [("at the same ε", option.text) for option in made.options]
    found += [("same promise", route.text) for route in made.routes]
    found += [("then", text) for text in made.post_processing]
    return found + [("not guaranteed", text) for text in made.not_guaranteed]


def _in_short(level: SeriesLevel) -> str:
    promised = level.promise
    per = "reading that changes" if promised.between == "hamming" else promised.unit
    return f"ε = {promised.epsilon} for each {per}; {level.mean_error.text}"


def _lengths(totals: Totals) -> list[int]:
    return sorted({span.readings for span in totals.spans})


def _span(series: Series, totals: Totals | None) -> str:
    if totals is not None:
        return f"one {totals.per}"
    return "one reading" if series.closeness.window == 1 else f"a window of {series.closeness.window:,} readings"


def _promise(series: Series, span: str, totals: Totals | None) -> str:
    unit, factor = series.unit, odds(float(series.epsilon))
    mixes = series.published > series.price.window  # what is published of a window with the noisy readings of others
    if series.mechanism.kind.by_window and totals is None and mixes:
        mixed = _number(series.published)
        return (
            f"Two series that differ in no more than {span}, and in no reading by more than {unit}, are told apart by odds"
            f" of at most e^ε = {factor}; by at most twice as much at e^(2ε), and so on; ε = {series.epsilon}. If every"
            f" reading of the period differs by so much, what is published of {span} tells them apart by odds of"
            f" at most e^({mixed}) = {odds(float(series.published))}: smoothing mixes it with the readings around it"
        )
    return series.mechanism.kind.promise.format(unit=unit, span=span, factor=factor, epsilon=series.epsilon)


def price_part(series: Series, totals: Totals | None, price: SeriesPrice, span: str) -> SeriesPricePart:
    """Return a price in every distance; ``span`` is what the one of a window is about."""
    readings = 1 if totals is None else max(each.readings for each in totals.spans)
    unit, whole = series.unit, series.grid.width / series.size
    change = price.readings * whole
    slots = series.schedule.slots
    moved = "one reading moves" if span == "one reading" else f"all readings of {span} move at once"
    all_moved = f"all {slots:,} readings of the period move at once" if slots > 1 else "the only reading moves"
    texts = [
        f"d_1: ε = {_number(price.readings)} for each {unit} that readings move in all",
        f"d_∞: ε = {_number(price.window)} for each {unit} that {moved}",
        f"d_∞: ε = {_number(price.total)} for each {unit} that {all_moved}",
        f"d_h: ε = {_number(change)} for one reading that changes, however far",
    ]
    published = series.published if totals is None else price.window
    if published > price.window:
        texts.insert(
            2,
            f"d_∞: ε = {_number(published)} for each {unit} that all readings of the period move at once, to who sees only"
            f" what is published of {span}, which is smoothed",
        )
    return SeriesPricePart(
        manhattan=str(price.readings),
        maximum_window=str(price.window),
        maximum_published_window=str(published),
        maximum_total=str(price.total),
        hamming=str(change),
        per=str(unit),
        longest_span=readings if readings > 1 else series.closeness.window,
        texts=tuple(texts),
    )


def _number(value: Real) -> str:
    """Write a price shortly: exactly, or rounded up."""
    text = str(value)
    return text if len(text) < 12 and "log" not in text else at_most(float(value), 6)


def _snapping(series: Series, totals: Totals | None) -> SeriesSnapping:
    each = series.snapping
    total = each.total if totals is None else totals.snapping
    return SeriesSnapping(
        manhattan=str(each.readings) if totals is None else None,
        maximum_window=str(each.window) if totals is None else None,
        maximum_total=str(total),
        text=f"Readings that are whole multiples of {plain(series.grid.step_value)} {series.grid.unit} cost nothing more."
        f" Others are rounded, which takes two readings less than a step further apart: at most"
        f" ε = {at_most(float(total), 4)} more over the period",
    )


def _mechanism(series: Series, totals: Totals | None) -> str:
    if totals is not None:
        kind = series.mechanism.kind
        rate = kind.rate + (", n the number of its readings" if kind.by_window else "")
        return f"Each total gets exact two-sided geometric noise of its own, of rate {rate}"
    rate = f"{_number(series.mechanism.rate)} for each {series.grid.unit}"
    if series.mechanism.noise == "norm":
        return (
            f"Each window of {counted(series.closeness.window, 'reading')}, counted from the start of the period, gets one"
            f" draw of noise of weight e^(-ε·largest move), exact, rate {rate}"
        )
    return f"Each reading gets exact two-sided geometric noise of its own, of rate {rate}"


def _total_error(totals: Totals) -> TotalError:
    errors = {n: float(f"{float(totals.expected_error(n)):.6g}") for n in _lengths(totals)}
    by_length = ", ".join(
        f"{in_digits(error)} {totals.unit} for {counted(n, 'reading')}" for n, error in errors.items()
    )
    moved = float(totals.step / 2)
    return TotalError(
        unit=totals.unit,
        by_readings=errors,
        rounding_of_a_reading=moved,
        text=f"a total of readings on the grid is off by {by_length} on average; others are rounded first, which moves the"
        f" total by at most {at_most(moved, 4)} {totals.unit} for each of them",
    )


def _reading_error(series: Series) -> ReadingError:
    error, between = series.mechanism.typical_error(), series.mechanism.typical_error(between=True)
    unit = series.grid.unit
    return ReadingError(
        unit=unit,
        reading=float(f"{error:.6g}"),
        reading_halfway=float(f"{between:.6g}"),
        text=f"a reading on the grid is off by {in_digits(error)} {unit} on average, one halfway between two grid points by"
        f" {in_digits(between)} {unit}, before anything is done with it",
    )


def _options(series: Series) -> Iterator[SeriesOption]:
    for option in series.describe():
        error, symbol = option.mean_error, DISTANCES[option.between].symbol
        yield SeriesOption(
            between=option.between,
            noise=option.noise,
            mean_error=float(f"{error:.6g}"),
            manhattan=str(option.price.readings),
            maximum_window=str(option.price.window),
            maximum_total=str(option.price.total),
            chosen=option.chosen,
            text=f"{symbol} by {_NOISES[option.noise]}{' (chosen)' if option.chosen else ''}: off by"
            f" {in_digits(error)} {series.grid.unit} on average, on the grid; for each {series.unit}, ε ="
            f" {_number(option.price.readings)} in d_1, {_number(option.price.window)} in d_∞ a window,"
            f" {_number(option.price.total)} in d_∞ in all",
        )


def routes_part(asked: Totals | TotalsTree) -> tuple[SeriesRoute, ...]:
    """Return the ways to what is asked for, in words too."""
    unit = (asked.totals if isinstance(asked, TotalsTree) else asked).unit
    found = []
    for route in routes(asked):
        with_others = f" of every {', '.join(route.levels)}" if route.levels else ""
        found.append(
            SeriesRoute(
                **asdict(route) | {"deviation": float(f"{route.deviation:.6g}")},
                text=f"the total of one {route.span} from {_WAYS[route.way]}{with_others}"
                f"{' (chosen)' if route.chosen else ''}: standard deviation {in_digits(route.deviation)} {unit}",
            )
        )
    return tuple(found)


def _after(series: Series) -> Iterator[str]:
    after = series.post_processing
    if after.prior is not None:
        yield "Each noisy reading is replaced by the median of what it leaves to believe under the public prior"
    if after.smooth > 1:
        yield f"Each reading is the mean of those there are among the {after.smooth} around it, rounded to the grid"
    if after.clamp:
        yield "Readings beyond the public bounds are moved to them, which takes means near a bound off the truth"


def _not_guaranteed(series: Series, price: SeriesPrice, span: str, totals: Totals | None) -> list[str]:
    found = []
    by_window = series.mechanism.kind.by_window
    alone = series.closeness.window == 1 or not by_window
    windows = series.windows if totals is None else len(totals.spans)
    if totals is None and series.mechanism.noise == "independent" and alone and series.schedule.slots > 1:
        found.append(
            f"All {series.schedule.slots:,} readings moving together: in d_∞ the period costs ε ="
            f" {_number(price.total)} for each {series.unit}, because noise on each reading hides one reading, and averages"
            f" out over many"
        )
    elif by_window and windows > 1:
        found.append(
            f"More than {span}: something that moves all readings of k of the {windows:,} is held to k·ε only, and a"
            " habit that comes back every day shows in the mean of many days"
        )
    if totals is None and series.mechanism.noise == "norm" and series.closeness.window > 1 and windows > 1:
        found.append(
            f"Readings in a row that lie in two windows: windows of {series.closeness.window:,} readings follow one another"
            " from the start of the period, and what moves readings on both sides of a cut is held to 2ε only"
        )
    found.append(
        "Series far apart are told apart: that nobody was at home for the period is a large move of all readings"
    )
    if series.missing == "keep":
        found.append("Where a reading is missing, none is published: that it is missing shows")
    if totals is not None and series.missing == "keep":
        found[-1] = "A missing reading adds nothing to a total; that there are some is not protected"
    if totals is None:
        found.append(order_stays("reading"))
    found.append(_SECOND)
    return found
