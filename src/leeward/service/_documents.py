# SPDX-License-Identifier: Apache-2.0
"""What is sent and answered, as typed parts: `/openapi.json` is their schema. Amounts are exact texts."""

from __future__ import annotations

from typing import Any

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
        charged: what was charged for it now; "0" of a stored answer.
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


class Refused(Body):
    """Why there is no answer.

    Attributes:
        code: the kind of refusal.
        message: what was given, why it is refused, and what to do instead.
    """

    code: str
    message: str = Field(description="What was given, why it is refused, and what to do instead.")
