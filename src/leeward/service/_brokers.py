# SPDX-License-Identifier: Apache-2.0
"""What a trusted broker may have perturbed: specs of ``leeward perturb``, for one report after another.

A broker holds the true positions of people for a moment, and sends each to have a report drawn under the budget of that
person. So a spec serves here whose reports are drawn one by one, each on its own, and paid for by a store of budgets, which
all processes that charge it share. What would answer a question about somebody's past is refused: above all ``[repeat]``.
Whoever may ask for the report of an id at a place, and is shown an earlier one where there was one, finds out where people
were by trial, position by position, free of charge.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import Field

from leeward._paths import resolve
from leeward._plain import echo
from leeward._toml import Section
from leeward.errors import LeewardError, SpecError
from leeward.local import read_job
from leeward.local.location._job import LocationJob
from leeward.service._tokens import NAME

FOR_BROKERS: Final = (
    "For trusted brokers only: they see true positions, and so does the service. Who does not trust them perturbs on"
    " their own device: leeward.local.location.OwnReports."
)
"""What is said wherever positions may be sent."""


class Brokered(Section):
    """``[perturb.NAME]``: how positions are perturbed, and who may send any.

    Attributes:
        spec: a spec of ``leeward perturb`` for positions, with a budget; what it says of a file is left unread.
        brokers: the names of tokens that may send positions.
        about: what brokers are told of it.
    """

    spec: str
    brokers: list[str] = Field(min_length=1)
    about: str = ""


@dataclass(frozen=True)
class Perturbing:
    """One spec, as it is offered to brokers.

    Attributes:
        name: under which positions are sent.
        about: what brokers are told of it.
        brokers: the names of tokens that may send any.
        job: what charges and draws.
    """

    name: str
    about: str
    brokers: frozenset[str]
    job: LocationJob

    @property
    def timed(self) -> bool:
        """Whether each position comes with a time, which says to which day it belongs; else that is the day it is sent."""
        return self.job.spec.data.time is not None


def read_perturbing(name: str, offer: Brokered, folder: Path) -> Perturbing:
    """Read the spec of an offer; paths are relative to the folder.

    Raises:
        SpecError: it is malformed, or perturbs otherwise than one position after another under a budget.
    """
    where = f"[perturb.{name}]"
    if NAME.fullmatch(name) is None:
        raise SpecError(
            f"[perturb] {echo(name)}", "it is not up to 60 letters, digits, dots, _ and -", "Give it such a name"
        )
    for broker in offer.brokers:
        if NAME.fullmatch(broker) is None:
            raise SpecError(f"{where} brokers: {echo(broker)}", "no token has such a name", "Name those of tokens")
    try:
        job = read_job(resolve(offer.spec, folder))
    except LeewardError as error:
        raise SpecError(f"{where} spec = {echo(offer.spec)}", f"it is refused: {error}", "Correct that file") from None
    if not isinstance(job, LocationJob):
        raise SpecError(
            f'{where} spec: [perturb] kind = "series"',
            "brokers send one position after another, and a reading is protected with those beside it",
            "Perturb series from a file: leeward perturb",
        )
    _refuse(where, job)
    return Perturbing(name, offer.about, frozenset(offer.brokers), job)


def _refuse(where: str, job: LocationJob) -> None:
    """Refuse what is not one report after another, each paid for."""
    spec = job.spec
    if spec.track is not None:
        raise SpecError(
            f"{where} spec: [track]",
            "a track is drawn for all positions of a person in order, and these come one after another from anywhere",
            "Leave it out; a [budget] bounds the reports of a day",
        )
    if spec.protect.levels is not None:
        raise SpecError(
            f"{where} spec: [protect] levels",
            "whoever sends a position would say how carefully it is protected",
            "Offer a spec for each level, each with a store of its own",
        )
    if spec.repeat is not None:
        raise SpecError(
            f"{where} spec: [repeat]",
            "a report that is shown again at the same place tells whoever asks about an id at one place after another where"
            " that person was",
            "Leave it out: each report is drawn anew, and paid for",
        )
    if spec.budget is None:
        raise SpecError(
            f"{where} spec: [budget] is missing",
            "who asks again and again for reports of one position learns it",
            '[budget] store = "people.db", secret = "people.key", reports_a_day = 24',
        )
    if spec.protect.missing == "keep":
        raise SpecError(
            f'{where} spec: [protect] missing = "keep"',
            "a position that is missing has no report, and none is sent",
            "Leave it out",
        )
