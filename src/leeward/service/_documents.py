# SPDX-License-Identifier: Apache-2.0
"""What is sent and answered, as typed parts: `/openapi.json` is their schema. Amounts are exact texts."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import ConfigDict, Field, JsonValue

from leeward._document import Part


class Body(Part):
    """What is sent or answered."""

    model_config = ConfigDict(defer_build=False)  # FastAPI asks for all of them at once, when it starts


class Asked(Body):
    """A question.

    Attributes:
        data_set: the name of the data set.
        spec: sections of a spec: ``query``, ``window``, ``protect``, ``decide``, ``publish``; and ``keep``, a filter.
        accept_useless: whether to go on where an answer would say practically nothing.
    """

    data_set: str
    spec: dict[str, Any]
    accept_useless: bool = False


class Yours(Body):
    """What the analyst who asks may spend of a data set, in units of its budget; ``counted_in`` is their notion."""

    cap: str
    spent: str
    left: str


class Planned(Body):
    """What is known before anything is charged.

    Attributes:
        price: what it costs.
        counted_in: the notion whose ε that is.
        stored: whether an answer is stored already, which costs nothing.
        yours: what you may spend.
        statement: the privacy statement.
    """

    price: str
    counted_in: str
    stored: bool
    yours: Yours
    statement: dict[str, JsonValue]


class Answered(Body):
    """An answer.

    Attributes:
        answers: one row a place, group or number, in the public order.
        statement: the privacy statement, as in ``release.json``.
        charged: what was charged for it now; "0" where it was paid for before, by whomever.
        yours: what you may spend still.
    """

    answers: tuple[dict[str, JsonValue], ...]
    statement: dict[str, JsonValue]
    charged: str
    yours: Yours


class Bought(Body):
    """A release that was charged to the analyst who asks.

    Attributes:
        data_set: of what.
        entry: its random id, as in its statement.
        day: when, in UTC.
        what: it, in words.
        cost: what it cost.
        answered: whether its answer is stored; a question that broke off goes on when it is asked again.
    """

    data_set: str
    entry: str
    day: str
    what: str
    cost: str
    answered: bool


class Releases(Body):
    """The releases that were charged to the analyst who asks, the oldest first."""

    releases: tuple[Bought, ...]


class Offered(Body):
    """A data set, and what may be asked of it.

    Attributes:
        name: of the data set.
        about: what the curator says of it.
        kinds: which kinds of questions.
        notions: under which notions.
        most_epsilon: the most that one release may cost.
        columns: the columns of numbers that may be asked about.
        groups: the columns by which people may be split or filtered, with their public values.
        counted_in: the notion that the budget is counted in.
        yours: what you may spend.
    """

    name: str
    about: str
    kinds: tuple[str, ...]
    notions: tuple[str, ...]
    most_epsilon: str
    columns: tuple[str, ...]
    groups: dict[str, tuple[bool | int | str, ...]]
    counted_in: str
    yours: Yours


class DataSets(Body):
    """The data sets that may be asked by the analyst who asks."""

    data_sets: tuple[Offered, ...]


MOST_POSITIONS: Final = 64
"""So many positions are sent at once."""

Degrees = Annotated[float, Field(allow_inf_nan=False, repr=False)]


class Position(Body):
    """The true position of one person: nothing of it is kept, logged or repeated.

    Attributes:
        id: whose budget pays; one person has one id, also where it is written as a number.
        latitude: in degrees, WGS 84.
        longitude: in degrees, WGS 84.
        time: when, as ISO 8601; if and only if the offer is ``timed``.
    """

    id: Annotated[int | Annotated[str, Field(min_length=1)], Field(repr=False)]
    latitude: Degrees
    longitude: Degrees
    time: Annotated[str | None, Field(repr=False)] = None


class Positions(Body):
    """True positions that are to be perturbed, each on its own.

    Attributes:
        positions: one a report.
    """

    positions: Annotated[list[Position], Field(min_length=1, max_length=MOST_POSITIONS)]


class Report(Body):
    """A report: a position with noise.

    Attributes:
        latitude: in degrees, WGS 84.
        longitude: in degrees, WGS 84.
        h3: the cell that this is the centre of; None where the curator asks for none.
    """

    latitude: float
    longitude: float
    h3: str | None


class Reports(Body):
    """What was sent, perturbed.

    Attributes:
        reports: one a position, in their order; None where the budget of an id is spent and the curator has it withheld.
    """

    reports: tuple[Report | None, ...]


class Perturbs(Body):
    """A way in which positions are perturbed.

    Attributes:
        name: under which they are sent.
        about: what the curator says of it.
        timed: whether each comes with a time.
        statement: the privacy statement.
    """

    name: str
    about: str
    timed: bool
    statement: dict[str, JsonValue]


class ForBrokers(Body):
    """The ways that the broker who asks may have positions perturbed.

    Attributes:
        who: whom this is for.
        perturb: the ways.
    """

    who: str
    perturb: tuple[Perturbs, ...]


class Refused(Body):
    """Why there is no answer.

    Attributes:
        code: the kind of refusal.
        message: what was given, why it is refused, and what to do instead.
    """

    code: str
    message: str = Field(description="What was given, why it is refused, and what to do instead.")
