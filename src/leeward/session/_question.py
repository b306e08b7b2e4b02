# SPDX-License-Identifier: Apache-2.0
"""The key of a question: everything public that its drawn integers depend on, written by one serialiser.

A ledger holds one answer a key, and gives it again to whoever asks the same. So two questions whose noise must not be shared
have different keys, and one question has the same key for ever: its text is made from typed, exact facts, never from the
``repr`` or ``str`` of an object. Thresholds belong to it only where they stop the draw (the sanitized mechanism); where they
are post-processing, asking again with another one is free. Paths are left out: a moved file is the same data.

Never change what a key of one ``format`` means. A later format has another number, and reads and writes beside this one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Annotated, Any, Literal, TypeAlias, assert_never, cast

from pydantic import Field, JsonValue, ValidationError

from leeward._document import Document, Part
from leeward._statement._keep import Keep
from leeward.accounting._budget_notion import promise
from leeward.errors import InputError
from leeward.exact._real import exact
from leeward.exact._text import Written, write
from leeward.mechanism import AdaptiveSanitized, Everyone, Geometric, Sanitized
from leeward.notion import Notion
from leeward.notion._value_grid import ValueGrid
from leeward.planner._number_plan import NumberPlan
from leeward.planner._plan import CountMechanism
from leeward.planner._rank_plan import RankPlan
from leeward.planner._selection_plan import AnyPlan, SelectionPlan
from leeward.planner._unlisted_plan import UnlistedPlan
from leeward.query import CountVisitors, Window
from leeward.query._numeric import DrawnKind, Mean, NumericKind, Percentile, Sum
from leeward.query._selection import Which
from leeward.query._source import Allowed, Grid
from leeward.query._spread import Variance
from leeward.query._statistic import Statistic
from leeward.query._unlisted_groups import AnyQuestion, UnlistedGroups

_LONGEST = 4000
"""Parameters of a notion of more characters, such as the ε of many persons, are written as their digest."""


class Span(Part):
    """A window's two ends: with an offset, in UTC."""

    start: str
    end: str


class Cells(Part):
    """The public box whose cells are the places, and how they are cut."""

    west: float
    south: float
    east: float
    north: float
    metres: float | None
    h3: int | None


class AboutVisitors(Part):
    """How many distinct people were at each place."""

    kind: Literal["visitors"] = "visitors"
    person: str
    place: str | None
    time: str | None
    latitude: str | None
    longitude: str | None
    keep: Keep
    timezone: str | None
    time_unit: str | None
    grid: Cells | None
    window: Span
    places_per_person: int | None
    if_more: str | None


class Values(Part):
    """A public grid of numbers, exactly."""

    lower: Written
    upper: Written
    step: Written


class OfNumbers(Part):
    """What is taken of the numbers of one group, and its public parameters."""

    kind: NumericKind
    values: Values
    people: int | None
    grid: Written | None
    p: Written | tuple[Written, ...] | None
    default: Written | None


class AboutNumbers(Part):
    """A statistic of one number a person."""

    kind: DrawnKind
    person: str | None
    combine: str | None
    keep: Keep
    column: str | None
    values: Values | None
    numeric: OfNumbers | None
    by: str | tuple[str, ...] | None


class AboutNumbersWithin(AboutNumbers):
    """The same of rows in a window."""

    time: str
    timezone: str | None
    time_unit: str | None
    window: Span


class AboutUnlisted(Part):
    """How many people are in each group of a column, where nobody has listed them."""

    kind: Literal["unlisted groups"] = "unlisted groups"
    person: str | None
    keep: Keep
    by: str
    groups_per_person: int
    if_more: str
    most_groups: int
    time: str | None
    timezone: str | None
    time_unit: str | None
    window: Span | None


class NotionAsked(Part):
    """Which promise: the notion with all its parameters at ε = 1, or their digest where they are long; and ε."""

    name: str
    own: str | None
    parameters: dict[str, JsonValue] | None
    digest: str | None
    epsilon: Written


class Noise(Part):
    """Directed geometric noise on every answer, by what a rise and a fall of one step cost."""

    name: Literal["geometric"] = "geometric"
    rise: Written
    fall: Written
    step: Written


class LeftOutNoise(Part):
    """Upward noise of this rate on the most people whom the bound leaves out at any place: drawn behind the counts."""

    name: Literal["left out"] = "left out"
    rate: Written


class Stopping(Part):
    """The sanitized mechanism."""

    name: Literal["sanitized"] = "sanitized"
    rise: Written
    fall: Written
    at_most: int
    stop_after: int


class Look(Part):
    """The share of ε that a look spends, and how far above the threshold a noisy count must be at it."""

    share: Written
    margin: int


class Looking(Part):
    """The sanitized mechanism with a budget of ``stop_after`` times ε, and its looks before the last."""

    name: Literal["adaptive"] = "adaptive"
    rise: Written
    fall: Written
    at_most: int
    stop_after: int
    looks: tuple[Look, ...]


class Naming(Part):
    """Report noisy max: the position of the one with the most people, or the fewest; ``rate`` is that of its noise."""

    name: Literal["noisy max"] = "noisy max"
    which: Which
    rate: Written


class Ranking(Part):
    """Permute-and-flip over the points of the public grid: one a group, by its rank; ``rate`` is that of a person."""

    name: Literal["rank"] = "rank"
    rate: Written


class Thresholding(Part):
    """Noise on the count of each group that occurs, cut off at ``reach`` (None: it has no end); large ones are shown."""

    name: Literal["unknown keys"] = "unknown keys"
    rise: Written
    fall: Written
    reach: int | None


Drawing: TypeAlias = Noise | LeftOutNoise | Stopping | Looking | Naming | Ranking | Thresholding
"""A part of what is drawn."""


class Question(Document):
    """The key of one answer.

    Attributes:
        format: of this document.
        about: what is counted, in which columns and window.
        keys: the digest of the public keys of the answer, in their order.
        notion: the promise it is asked under.
        mechanisms: the noise; for a mean over a private number of people that of their sum and of their number; where all
            who were there are bounded, that of the counts and of the most people left out; for a name, which one is named,
            and how; for a percentile by rank, how its point is named; for groups that are not listed, which are shown.
        rounds: of a monitor, every window asked so far, this one last; None for a single question.
        fit_for_release: whether its noise comes from fresh entropy.
    """

    format: Literal[1]
    about: AboutVisitors | AboutNumbersWithin | AboutNumbers | AboutUnlisted
    keys: str
    notion: NotionAsked
    mechanisms: tuple[Annotated[Drawing, Field(discriminator="name")], ...]
    rounds: tuple[Span, ...] | None
    fit_for_release: bool


def question(
    made: AnyPlan, keys: str, *, fit_for_release: bool = True, rounds: Sequence[Window] | None = None
) -> Question:
    """Return the key of what a plan asks."""
    try:
        asked = Question(
            format=1,
            about=about(made.counted),
            keys=keys,
            notion=_notion(made.notion),
            mechanisms=_mechanisms(made),
            rounds=None if rounds is None else tuple(map(span, rounds)),
            fit_for_release=fit_for_release,
        )
        asked.canonical().encode()
    except ValidationError as wrong:
        found = wrong.errors(include_url=False, include_input=False)[0]
        raise _unwritable(".".join(map(str, found["loc"])), str(found["msg"])) from None
    except UnicodeEncodeError:
        raise _unwritable("a name", "it holds half of a surrogate pair") from None
    return asked


def about(query: AnyQuestion) -> AboutVisitors | AboutNumbersWithin | AboutNumbers | AboutUnlisted:
    """Return everything public that the exact answer depends on, apart from its keys."""
    if isinstance(query, UnlistedGroups):
        return _unlisted(query)
    return _visitors(query) if isinstance(query, CountVisitors) else _numbers(query)


def span(window: Window) -> Span:
    """Return the ends of a window; instants are written in UTC, so equal windows read the same."""
    return Span(**window.public())


def _visitors(query: CountVisitors) -> AboutVisitors:
    visits, cells = query.visits, query.places if isinstance(query.places, Grid) else None
    return AboutVisitors(
        person=visits.person,
        place=visits.place,
        time=visits.time,
        latitude=visits.latitude,
        longitude=visits.longitude,
        keep=_keep(visits.keep),
        timezone=visits.timezone,
        time_unit=visits.source.time_unit,
        grid=None if cells is None else Cells(**vars(cells)),
        window=span(query.window),
        places_per_person=query.places_per_person,
        if_more=None if query.places_per_person is None else query.if_more,
    )


def _numbers(query: Statistic) -> AboutNumbersWithin | AboutNumbers:
    table, made = query.records, cast(Callable[..., AboutNumbersWithin | AboutNumbers], AboutNumbers)
    if query.window is not None:
        when = {"time": table.time, "timezone": table.timezone, "time_unit": table.source.time_unit}
        made = functools.partial(AboutNumbersWithin, **when, window=span(query.window))  # type: ignore[arg-type]
    return made(
        kind=query.drawn,
        person=table.person,
        combine=None if table.person is None else table.combine,
        keep=_keep(table.keep),
        column=query.column,
        values=None if query.values is None else _values(query.values),
        numeric=None if query.numeric is None else _numeric(query.numeric, query.ps),
        by=query.by,
    )


def _unlisted(query: UnlistedGroups) -> AboutUnlisted:
    table, timed = query.records, query.window is not None
    return AboutUnlisted(
        person=table.person,
        keep=_keep(table.keep),
        by=query.by,
        groups_per_person=query.groups_per_person,
        if_more=query.if_more,
        most_groups=query.most_groups,
        time=table.time if timed else None,
        timezone=table.timezone if timed else None,
        time_unit=table.source.time_unit if timed else None,
        window=None if query.window is None else span(query.window),
    )


def _numeric(asked: Any, several: Sequence[Fraction]) -> OfNumbers:
    own: dict[str, Any] = {name: _exact(getattr(asked, name, None)) for name in ("grid", "p", "default")}
    if several:
        own["p"] = tuple(map(_exact, several))
    if isinstance(asked, Variance):  # it is rounded, and its root is taken, of what was drawn
        own["grid"] = None
    if type(asked) not in (Sum, Mean, Percentile, Variance):
        raise InputError(
            f"A question of the class {type(asked).__name__}",
            "no form of it lasts by which its answer could be known again",
            "Ask a sum, a mean, a variance or a percentile",
        )
    return OfNumbers(kind=asked.kind, values=_values(asked.values), people=asked.people, **own)


def _values(values: ValueGrid) -> Values:
    return Values(lower=write(exact(values.lower)), upper=write(exact(values.upper)), step=write(exact(values.step)))


def _exact(number: Fraction | int | None) -> Written | None:
    return None if number is None else write(exact(number))


def _keep(keep: Mapping[str, Sequence[Allowed]]) -> Keep:
    return {column: tuple(allowed) for column, allowed in keep.items()}


def _notion(notion: Notion) -> NotionAsked:
    made = promise(notion)
    digest = made.digest(_LONGEST)
    listed = dict(made.parameters) if digest is None else None
    return NotionAsked(name=made.name, own=made.own, parameters=listed, digest=digest, epsilon=write(notion.epsilon))


def _mechanisms(made: AnyPlan) -> tuple[Drawing, ...]:
    if isinstance(made, RankPlan):
        return (Ranking(rate=write(made.mechanism.rate)),)
    if isinstance(made, SelectionPlan):
        return (Naming(which=made.query.which, rate=write(made.mechanism.rate)),)
    if isinstance(made, NumberPlan):
        return tuple(map(_noise, made.parts))
    if isinstance(made, UnlistedPlan):
        line = made.mechanism.line
        return (Thresholding(rise=write(line.rise), fall=write(line.fall), reach=made.mechanism.reach),)
    return _mechanism(made.mechanism)


def _noise(made: Geometric | Everyone) -> Noise:
    step = made.step if isinstance(made, Geometric) else exact(1)
    return Noise(rise=write(made.line.rise), fall=write(made.line.fall), step=write(step))


def _mechanism(made: CountMechanism) -> tuple[Drawing, ...]:
    rise, fall = write(made.line.rise), write(made.line.fall)
    match made:
        case Geometric():
            return (_noise(made),)
        case Everyone():
            return _noise(made), LeftOutNoise(rate=write(made.left_out))
        case Sanitized():
            return (Stopping(rise=rise, fall=fall, at_most=made.at_most, stop_after=made.stop_after),)  # type: ignore[arg-type]
        case AdaptiveSanitized():
            looks = zip(made.shares[:-1], made.margins[:-1], strict=True)
            looking = Looking(
                rise=rise,
                fall=fall,
                at_most=made.at_most,  # type: ignore[arg-type]
                stop_after=made.stop_after,
                looks=tuple(Look(share=write(share), margin=margin) for share, margin in looks),
            )
            return (looking,)
        case never:
            assert_never(never)


def _unwritable(where: str, because: str) -> InputError:
    return InputError(
        f"What is asked, in {where}", f"it cannot be written down: {because}", "Give plain texts and numbers"
    )
