# SPDX-License-Identifier: Apache-2.0
"""The privacy statement of perturbed positions: what is promised, on what grounds, and what is not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Final, Literal

from leeward._plain import at_most, counted, likely, odds, share_of, short_percent
from leeward.exact._real import Real
from leeward.local._statement import order_stays
from leeward.local.location._beyond import share_beyond
from leeward.local.location._documents import (
    BoxPart,
    DisplacementPart,
    LocationStatement,
    PlanePart,
    PositionMechanism,
    PositionPromise,
    ReportBudget,
)
from leeward.local.location._length import off
from leeward.local.location._projection import LocalPlane
from leeward.local.location._terms import AttackerPart, Compared, FeltPart, PositionNoise, Terms
from leeward.version import __version__

_SHOWN: Final = (10, 100, 1_000, 10_000)

_THEOREMS: Final = (
    "Chatzikokolakis, Andrés, Bordenabe, Palamidessi, Broadening the Scope of Differential Privacy Using Metrics,"
    " Definition 6 and Section 6.2: noise of weight e^{-ε·d(x, z)}, with a normaliser that does not depend on x, is"
    " ε·d-private; here on the points of a public grid.",
    "The same, Fact 5: a map to the plane that lengthens no distance carries the promise back to the ground.",
)
_BEST: Final = (
    "Bordenabe, Chatzikokolakis, Palamidessi (2014): the mechanism of least expected loss among all that are ε·d-private,"
    " by linear programming; the matrix that is used was repaired and certified over all ordered pairs of places."
)

_EXPONENTIAL: Final = (
    "McSherry, Talwar (2007): the exponential mechanism; the matrix that is used was proved private over all ordered pairs"
    " of places."
)
_ELASTIC: Final = (
    "Chatzikokolakis, Palamidessi, Stronati, Constructing elastic distinguishability metrics for location privacy (2015);"
    " here distances are directed, and shortest paths of what each place may pass as, in whole metres."
)
_NAMES: Final[dict[str | None, Literal["best over places", "exponential over places"]]] = {
    "best": "best over places",
    "exponential": "exponential over places",
}


_ONE_PERSON: Final = (
    "An id is one person's, for good, in all tables whose reports one store keeps: two people of one id have the same report"
    " at the same grid point, and whoever knows where one of them was learns whether the other was there"
)


def statement(geo: PositionNoise, terms: Terms | None = None, others: Sequence[str] | None = None) -> LocationStatement:
    """Return the privacy statement of one job; by default its terms are what the mechanism itself does.

    The others are the columns that are passed on as they are; None where no table was read.
    """
    terms = geo.terms if terms is None else terms
    return LocationStatement(
        format=1,
        leeward=__version__,
        created=datetime.now(UTC).date().isoformat(),
        kind="location",
        promise=_promise(geo, terms),
        unit="the track of one person: their positions at the public times of their rows"
        if terms.track is not None
        else f"one position of one row; n rows of one person{' at n grid points' if terms.repeats else ''} together cost n"
        " times as much",
        box=BoxPart(**asdict(geo.box)),
        plane=_plane(geo.plane),
        mechanism=PositionMechanism(
            name=_NAMES.get(terms.places, "planar Laplace"), text=_mechanism(geo, terms), step=str(geo.step)
        ),
        displacement=None
        if terms.over_places
        else DisplacementPart(**{name: float(f"{value:.4g}") for name, value in asdict(geo.describe()).items()}),
        expected_loss=terms.compared,
        post_processing=tuple(_after(geo, terms)),
        budget=ReportBudget(
            reports_a_day=terms.reports_a_day,
            a_day=None if terms.a_day is None else str(terms.a_day),
            over=terms.over,
            days=terms.days,
            repeats=terms.repeats,
        ),
        assumptions=(
            "The box, the list of places and every option were chosen without looking at the data",
            "Who is in the table, how often, and all columns but the position are not protected",
            *((_ONE_PERSON,) if terms.repeats else ()),
        ),
        theorems=_theorems(terms),
        not_guaranteed=tuple(_not_guaranteed(geo, terms)),
        levels=None,
        track=terms.track,
        felt=terms.felt,
        attacker=terms.attacker,
        fit_for_release=geo.fit_for_release,
        columns_as_they_are=None if others is None else tuple(others),
        files=None,
    )


def _promise(geo: PositionNoise, terms: Terms) -> PositionPromise:
    price = "the plane's distance along its axes" if geo.norm == "manhattan" else "the distance on the ground"
    subject = "of the public places" if terms.over_places else "positions in the box"
    of_what = "For" if terms.track is None else "For one new report of a track,"
    return PositionPromise(
        asked=geo.promise,
        epsilon_per_metre=str(geo.epsilon),
        epsilon_per_metre_decimal=float(f"{float(geo.epsilon):.12g}"),
        norm=geo.norm,
        ground_epsilon_per_metre=str(geo.ground_epsilon),
        snapping=str(geo.snapping),
        snapping_decimal=float(f"{float(geo.snapping):.6g}"),
        text=f"{of_what} any two {subject}, d metres apart ({price}), and any set of reports, probabilities differ"
        f" at most by the factor e^(ε·d + s): ε = {geo.epsilon} a metre, s = {at_most(float(geo.snapping), 4)}"
        f"{_within(geo)}{_felt(terms)}{_more(terms)}",
        factors={f"{d} m": odds(float(geo.ground_epsilon * d + geo.snapping)) for d in _SHOWN},
    )


def _more(terms: Terms) -> str:
    """What a row of a track costs beside a new report."""
    if terms.track is None:
        return ""
    return (
        ". A test before it costs more, and the rows of a track add up: what holds of all of them is said of the track"
    )


def _within(geo: PositionNoise) -> str:
    """The factor that was asked for, which snapping does not exceed."""
    if geo.asked.factor is None:
        return ""
    return f"; so within {geo.asked.length} metres at most by the factor {geo.asked.factor}, snapping included"


def _felt(terms: Terms) -> str:
    """What is promised beside, and what is not, where distances between places are felt ones."""
    beside = "" if terms.felt is None else "".join(f". {text}" for text in terms.felt.text)
    if terms.never:
        beside += f". All this excepts passing from a place outside {' or '.join(terms.never)} as one inside"
    return beside


def _theorems(terms: Terms) -> tuple[str, ...]:
    if not terms.over_places:
        return _THEOREMS
    found = [_BEST if terms.places == "best" else _EXPONENTIAL]
    return (*found, *((_ELASTIC,) if terms.felt is not None and terms.felt.text else ()), _THEOREMS[1])


def _plane(plane: LocalPlane) -> PlanePart:
    return PlanePart(
        projection=plane.projection,
        scale=plane.scale,
        shrinkage=plane.shrinkage,
        text=f"{plane.name[0].upper() + plane.name[1:]} in the middle of the box. No distance is longer in this"
        f" plane than on the ground, so the promise holds in true metres; distances are shorter by up to"
        f" {at_most(100 * plane.shrinkage, 2)} %, so the noise is larger on the ground by as much",
    )


def _mechanism(geo: PositionNoise, terms: Terms) -> str:
    if terms.over_places:
        of = (
            "of least expected distance"
            if terms.places == "best"
            else "of the exponential mechanism and moved to that of least expected distance from the truth"
        )
        return (
            "Each position is moved to the nearest of the public places, and the place that is reported is drawn"
            f" from the matrix {of}; the promise is about the moved positions"
        )
    law = "e^(-ε·(|east| + |north|))" if geo.norm == "manhattan" else "e^(-ε·distance)"
    each = "once for each person and grid point" if terms.repeats else "for each row on its own"
    each = each if terms.track is None else "for each new report"
    return (
        f"Each position is snapped to a grid of {geo.step} metres and moved by noise of weight {law} over all"
        f" points of the grid, drawn exactly, {each}"
    )


def _after(geo: PositionNoise, terms: Terms) -> list[str]:
    some = share_beyond(geo)
    share = (
        f"of reports from the middle of the box {'' if some < 0.001 else 'about '}{short_percent(some)}, from its edges"
    )
    share += " half or more"
    found = [f"Reports outside the box are moved to its edge, or to at most a step within it: {share}"]
    if terms.over_places:
        found = []
    if terms.places == "remap":
        found = [
            "Each report is moved to the public place with the least expected distance from the truth (Bayes remap)"
        ]
    if terms.h3 is not None:
        found.append(f"Each report is given as an H3 cell of resolution {terms.h3}, and as the centre of that cell")
    return found


def _not_guaranteed(geo: PositionNoise, terms: Terms) -> list[str]:
    bound = terms.reports_a_day
    found = [
        "Tracks that are further apart than the limits are about are told apart by more; which rows show a report again is"
        " published, and that somebody moves far from it shows within these limits"
        if terms.track is not None
        else (
            "Reports of different grid points add up: n of them cost n times as much as one"
            if terms.repeats
            else "Repeated reports add up: the mean of n reports of one place shows it √n times as sharply, and n reports"
            " cost n times as much as one"
        )
        + (
            ""
            if bound is None
            else f"; at most {_reports(bound, terms)} made: {_total(geo, bound)} a day, and as much again"
            f" on every further day ({terms.days})"
        )
        + ("" if terms.a_day is None else _up_to(geo, terms.a_day, terms)),
        "A track is more than its points: speeds, roads and habits tell positions apart that single reports do not",
        "Positions far apart are told apart: 10 km apart, by odds of up to"
        f" {odds(float(geo.ground_epsilon * 10_000 + geo.snapping))}",
        order_stays("position"),
    ]
    if geo.outside == "clamp":
        found.append(
            "Positions outside the box are moved to its edge first: the promise is about the moved positions, and that"
            " somebody is near the edge or beyond it may show"
        )
    if geo.missing == "keep":
        found.append("Where there is no position, none is reported: that it is missing shows")
    if terms.over == "withhold":
        new = "new reports" if terms.repeats else "reports"
        found.append(
            f"A report that is not paid for is missing: that a person had more {new} than are paid for shows"
            + (", and so that they were then on no grid point whose report is shown again" if terms.repeats else "")
        )
    if terms.track is not None:
        found.append(
            "A row that is not asked for, or not paid for, shows the last report again: it says nothing of where the"
            " person then was"
            if terms.track.otherwise == "repeat"
            else "A row that is not asked for, or not paid for, has no report: which rows these are is published"
        )
        found.append("A second run begins tracks anew, and costs as much again")
    if terms.repeats:
        found.append(
            "The same person on the same grid point gives the same report, at no further cost. Whoever sees two equal"
            " reports may conclude that the person came back, and whoever sees two that differ that they did not: neither"
            " is protected at all"
        )
    return found


def _reports(bound: int, terms: Terms) -> str:
    new = "new " if terms.repeats else ""
    return f"1 {new}report of a person and day is" if bound == 1 else f"{bound} {new}reports of a person and day are"


def _total(geo: PositionNoise, reports: int) -> str:
    told_apart = odds(float((geo.ground_epsilon * 100 + geo.snapping) * reports))
    return f"ε = {at_most(float(geo.epsilon * reports), 4)} a metre (a factor of {told_apart} for 100 metres)"


def _up_to(geo: PositionNoise, a_day: Real, terms: Terms) -> str:
    per_metre = float(geo.ground_epsilon * 100 + geo.snapping) / float(geo.epsilon)
    return (
        f"; {'new ones' if terms.repeats else 'those'} of a person and day are made up to ε = {at_most(float(a_day), 4)} a"
        f" metre together (a factor of {odds(float(a_day) * per_metre)} for 100 metres), each at the price of its level, and"
        f" as much again on every further day ({terms.days})"
    )


def facts(made: LocationStatement) -> list[tuple[str, str]]:
    """Return a statement in short, as (title, sentence)."""
    found = [
        ("promise", made.promise.text),
        ("factor for positions apart", ", ".join(f"{far}: {factor}" for far, factor in made.promise.factors.items())),
        ("unit", made.unit),
        ("plane", made.plane.text),
        ("mechanism", made.mechanism.text),
    ]
    found += _how_far(made.displacement, made.expected_loss)
    if made.levels is not None:
        for each in made.levels.each:
            said = "; ".join(f"{what} {far}" for what, far in _how_far(each.displacement, each.expected_loss))
            found.append((f"level {each.name}", f"ε = {each.promise.epsilon_per_metre} a metre; {said}"))
        found.append(("between levels", made.levels.text))
    if made.felt is not None:
        found.append(("places", _over(made.felt)))
        found += [
            (
                "reports lie off",
                f"{each.name} ({counted(each.places, 'place')}, weights {each.lightest:g} to {each.heaviest:g}):"
                f" {off(each.mean)} m on average",
            )
            for each in made.felt.displaced
        ]
    if made.track is not None:
        found += [("track", made.track.text), ("track", made.track.near_text)]
    if made.attacker is not None:
        found += _attacker(made.attacker)
    found += [("then", text) for text in made.post_processing]
    found += [("not guaranteed", text) for text in made.not_guaranteed]
    return found


def _attacker(made: AttackerPart) -> list[tuple[str, str]]:
    found = [
        ("attacker", f"who knows that it is one of {counted(made.places, 'public place')}, and how often; {made.text}")
    ]
    for each in made.sees:
        level = "" if each.level is None else f"level {each.level}, "
        found.append(
            (
                "attacker",
                f"{level}after {counted(each.reports, 'report')} he names the right place {likely(each.right)} of the time"
                f" (± {share_of(each.right_error)}), and is {off(each.distance)} m off on average"
                f" (± {off(each.distance_error)})",
            )
        )
    return found


def _over(felt: FeltPart) -> str:
    drawn = "the best mechanism" if felt.scale is None else f"the exponential mechanism of {felt.scale:.4f} of ε"
    one_way = "" if felt.directed is not False else ", whose weights do not use the direction of the promise"
    return (
        f"{counted(felt.places, 'public place')}, {drawn}{one_way}: for someone at one of them as the weights say, reports"
        f" lie {off(felt.expected_distance)} m off on average"
    )


def _how_far(away: DisplacementPart | None, loss: Compared | None) -> list[tuple[str, str]]:
    """Return in sentences how far reports lie from the truth."""
    found = []
    if away is not None:
        found.append(
            (
                "moves by",
                f"{away.mean:g} m on average; half of the reports by less than {away.median:g} m, 95 % by less"
                f" than {away.within_95:g} m, with positions anywhere in their grid cells, in metres of the plane,"
                " before anything is done with reports",
            )
        )
    if loss is not None:
        best = "" if loss.best is None else f", best mechanism over the places {loss.best:.0f} m"
        found.append(
            (
                "expected distance",
                f"planar Laplace {loss.planar_laplace:.0f} m, with the Bayes remap {loss.remapped:.0f} m"
                f" (± {loss.remapped_error:.0f}){best}; for someone at one of the places",
            )
        )
    return found
