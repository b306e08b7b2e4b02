# SPDX-License-Identifier: Apache-2.0
"""Numbers for an honest answer to "should I use a one-sided notion?".

The doubts are the article's own (*One-Sided Differential Privacy*): removal-only alone is hardly a promise, one-sided noise
composes linearly, and the gain over two-sided noise is bounded. What is asked there as an exercise, where equation (3) beats
continuous Laplace noise, is `crossover`: for the equation as it is printed, and for the unbiased estimate made from it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

import flint

from leeward._optional import optional
from leeward._plain import likely
from leeward.distance import Line
from leeward.errors import InputError, check_choice
from leeward.exact._real import Exact, outward, positive
from leeward.exact._weight import Weight, exp_minus, weighted_sum
from leeward.mechanism import SubsampledCount
from leeward.noise import DirectedGeometric
from leeward.notion import INSERT, Notion, words_of
from leeward.query._records import Many
from leeward.query._statistic import Noun

if TYPE_CHECKING:
    import pandas as pd


def extreme_reveals(rate: Exact, releases: int = 1) -> Weight:
    """Return 1 − e^{−k·rate}: how likely the extreme of k one-sided answers *is* the count.

    Upward noise is never below 0, so the least of k answers is the count as soon as one noise is 0; downward noise likewise
    with the greatest. Only k·rate matters: .632 at a total of 1, .993 at 5.

    Args:
        rate: the rate of the noise on the count, per release.
        releases: k.
    """
    if releases < 1:
        raise InputError(f"releases = {releases}", "there is nothing to look at", "Give at least 1")
    return 1 - exp_minus(positive(rate, "rate") * releases)


def filled_bins(law: DirectedGeometric, bins: Mapping[int, int]) -> Weight:
    """Return the expected number of bins of a histogram that are published as above 0, exactly, after clamping at 0.

    Upward noise fills empty bins, each with probability e^{−rate}. Downward noise leaves every one of them at 0, and takes
    some of the others down to it.

    Args:
        law: the noise on each bin.
        bins: how many bins have each true count, ``{0: 9_900, 1: 60, 2: 40}``.
    """
    if any(count < 0 or number < 0 for count, number in bins.items()):
        raise InputError("A histogram with negative entries", "counts and bins are counted from 0", "Check the counts")
    return weighted_sum((law.tail(1 - count), number) for count, number in bins.items())


Estimate = Literal["as printed", "unbiased"]
"""Equation (3) itself, q(S_p(x)) + noise, or the same divided by p and centred, which estimates the count without bias."""


def crossover(epsilon: Exact, estimate: Estimate = "as printed") -> tuple[float, float]:
    """Enclose the count below which equation (3) has a smaller variance than continuous Laplace noise of the same ε.

    Laplace noise has variance 2/ε². With p = 1 − e^{−ε}, s = ln(1 + e^ε) and a true count c, equation (3) has

    * as printed, variance c·p·(1 − p) + 1/s². The two meet at ``c = (2/ε² − 1/s²)/(p·(1 − p))``. But it does not estimate
      c: its mean is c·p + 1/s, and what it gains in variance is in part that it shrinks;
    * without bias, divided by p, variance c·(1 − p)/p + 1/(p·s)². They meet at ``c = (e^ε − 1)·(2/ε² − 1/(p·s)²)``, which is
      below 0 for ε under about 0.09: then nowhere.

    Neither is a reason to use it: equation (3) is the two-sided *geometric* mechanism, post-processed
    (`leeward.mechanism.as_postprocessing`), so whatever can be made of it can be made of that.

    Returns:
        Floats (lower, upper) that enclose it.
    """
    check_choice("estimate", estimate, get_args(Estimate), "equation (3) is used in two ways")
    with flint.ctx.workprec(192):
        e, q, s, _ = _equation_3(epsilon)
        if estimate == "as printed":
            return outward((2 / e**2 - 1 / s**2) / ((1 - q) * q))
        return outward((1 / q - 1) * (2 / e**2 - 1 / ((1 - q) * s) ** 2))


def _equation_3(epsilon: Exact) -> tuple[Any, Any, Any, Any]:
    """Enclose ε, 1 − p = e^{−ε}, s = ln(1 + e^ε) and s − ε, none of them by a difference that cancels."""
    e = positive(epsilon, "epsilon").arb(192)
    q = (-e).exp()
    return e, q, e + q.log1p(), q.log1p()


def _table(rows: Sequence[tuple[float, ...]], columns: list[str]) -> pd.DataFrame:
    made: pd.DataFrame = optional("pandas", "The table of advice").DataFrame(rows, columns=columns)
    return made


def region(epsilons: Iterable[Exact]) -> pd.DataFrame:
    """Return where equation (3) beats continuous Laplace noise: one row for each ε.

    Returns:
        Columns ``epsilon``; ``as_printed`` and ``unbiased``, the counts below which its variance is smaller (`crossover`;
        negative: nowhere); ``squared_error``, the count below which the mean squared error of equation (3) as printed, bias
        included, is smaller.
    """
    rows = []
    for epsilon in epsilons:
        with flint.ctx.workprec(192):
            e, q, s, above = _equation_3(epsilon)
            half, rest = (1 - q) / 2 - 1 / s, 2 * above * (s + e) / (e * s) ** 2  # of c² q² + 2·half·q·c − rest
            root = sum(outward(rest / ((half**2 + rest).sqrt() + half) / q)) / 2
        rows.append((float(e), *(sum(crossover(epsilon, estimate)) / 2 for estimate in get_args(Estimate)), root))
    return _table(rows, ["epsilon", "as_printed", "unbiased", "squared_error"])


def variances(epsilon: Exact, counts: Iterable[int]) -> pd.DataFrame:
    """Return the variances of ε-DP answers to one count: one row for each true count.

    Returns:
        Columns ``count``; ``laplace``; ``geometric``; ``as_printed``, equation (3) with exponential noise, and its ``bias``;
        ``unbiased``, the same divided by p; ``unbiased_grid``, with geometric noise. On the grid the unbiased one is equal
        to ``geometric`` at one person, and better only where nobody is.
    """
    rate = positive(epsilon, "epsilon")
    sampled = SubsampledCount(rate)
    p, mean, e = float(sampled.sampling.probability), 1 / float(sampled.rate), float(rate)
    usual = float(DirectedGeometric(rate, rate).variance())
    rows = [
        (
            *(c, 2 / e**2, usual, c * p * (1 - p) + mean**2, c * p + mean - c),
            *(c * (1 - p) / p + (mean / p) ** 2, float(sampled.variance(c))),
        )
        for c in counts
    ]
    names = ["count", "laplace", "geometric", "as_printed", "bias", "unbiased", "unbiased_grid"]
    return _table(rows, names)


def bounded_gain(epsilons: Iterable[Exact]) -> pd.DataFrame:
    """Return how much one-sided noise gains over two-sided noise, and how little more any one-sided notion could.

    By Theorem 6 whatever is private for addition at ln(1 + e^ε) becomes, after sampling people with p = 1 − e^{−ε}, private
    both ways at ε. So an addition-only answer much better than ours would make a two-sided answer better than can be.

    Returns:
        Columns ``epsilon``; ``one_sided`` and ``two_sided``, the variances of geometric noise at this ε; ``ratio``, which is
        always 2; ``theorem_6_rate``, ln(1 + e^ε); ``converted``, the variance at a count of 1 of the one-sided answer at
        that rate turned into a two-sided one at ε: the same as ``two_sided``, so nothing is lost on the way.
    """
    rows = []
    for epsilon in epsilons:
        rate = positive(epsilon, "epsilon")
        one, two = DirectedGeometric.one_sided(rate).variance(), DirectedGeometric(rate, rate).variance()
        sampled = SubsampledCount(rate)
        values = (rate, one, two, two / one, sampled.rate, sampled.variance(1))
        rows.append(tuple(float(value) for value in values))
    return _table(rows, ["epsilon", "one_sided", "two_sided", "ratio", "theorem_6_rate", "converted"])


def cautions(
    notion: Notion,
    line: Line,
    releases: int = 1,
    *,
    above: int | None = None,
    looks: bool = False,
    noun: Noun = "place",
    many: Many = "people",
) -> tuple[str, ...]:
    """Return what a user of one-sided noise should know before choosing it, in plain sentences; nothing otherwise.

    Args:
        notion: the notion of the release.
        line: the rates of the noise on one count (`leeward.sensitivity`).
        releases: how many such releases are planned in all. They may be of the same count, or of another one each, such
            as those of the windows of a day.
        above: a count is published only where more people are than this; None: always.
        looks: whether some counts are published with more noise than these rates.
        noun: what the counts are of: places, groups, …
        many: whom they count.
    """
    if not (line.rise.is_infinite or line.fall.is_infinite):
        return ()

    def often(releases: int) -> str:
        chance = float(extreme_reveals(min(line.rise, line.fall), releases))
        return f"at most {math.ceil(chance * 1000) / 10:.1f}%" if looks else likely(chance)

    end = "least" if line.rise.is_infinite else "greatest"
    of = "" if above is None else f" of {'an' if noun == 'interval' else 'a'} {noun} with over {above:,} {many}"
    again = "" if releases == 1 else f", and the {end} of {releases:,} of the same count with {often(releases)}"
    said = [
        f"One release{of} is the exact count with probability {often(1)}{again}: the noise goes one way only, and is often"
        " 0.",
        "k releases cost k times as much as one. Two-sided noise gains about √k at a small δ; one-sided noise has a constant"
        " loss and gains nothing.",
    ]
    words = words_of(notion, rows=many == "rows")
    if words.reveals:
        said.append(f"Not protected: {words.reveals}.")
    if {step.change for step in notion.steps} == {INSERT}:
        # of several ε (one for each person, or of two promises kept at once) the least limits a sample of everybody
        sample = float(1 - exp_minus(min(step.cost for step in notion.steps)))
        said.append(
            f"This notion also permits publishing the records of {likely(sample, 0)} of all {many}, drawn at random, in the"
            " clear: it promises only that nobody can be sure"
            f" {'of your absence' if many == 'people' else 'that a row is absent'}."
        )
    return tuple(said)
