"""Every deliberate mistake in the tests, and the check that catches it: the second table of docs/guide/proofs.md."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

from tests.proofs.words import least_scale
from tests.verification import svt, test_mutants

from leeward.exact import exact
from leeward.verification import verify

VERIFY = "tests/verification/test_mutants.py"

PROVED: dict[str, str] = {
    "test_noise_of_the_wrong_sign": "noise of the wrong sign",
    "test_a_rate_ten_per_cent_too_high": "a rate 10 % too high; on four lines",
    "test_a_sensitivity_one_too_small": "a sensitivity one too small: two places a person, noise for one",
    "test_several_policies_joined_into_one": "several policies joined into one: by *or*, by *and*",
    "test_truncation_under_presence": "truncation to two places under presence",
    "test_drawing_again_instead_of_clamping": "drawing again until in range, instead of clamping",
    "test_weights_normalised_row_by_row": "weights normalised row by row",
    "test_rounding_half_to_even": "rounding half to even",
    "test_one_noise_for_all_counts": "one noise for all counts of a sanitized run",
    "test_a_monitor_that_goes_on_asking": "a monitor that withholds and goes on asking",
    "test_windows_that_count_first_visits": "windows that count first visits",
    "test_halves_published_separately": "halves published separately; under each of three notions",
}
"""By test in `VERIFY`: each goes through everything at four ε, beside the correct twin, which is proved private."""

SPARSE = "test_broken_sparse_vectors"

ELSEWHERE: list[tuple[str, str, str]] = [
    (
        "an effect one too small, of the wrong sign, of one count for all, of a withdrawal for a replacement, of rises and"
        " falls apart",
        "all tables of a small universe",
        "tests/query/test_sensitivity_brute_force.py::test_the_brute_force_catches_a_wrong_derivation",
    ),
    (
        "Python's `round` on a published mean",
        "enumeration",
        "tests/query/test_numeric.py::test_half_to_even_would_double_it",
    ),
    (
        "distances from the truth to the output",
        "`verify`",
        "tests/mechanism/test_laplace.py::test_from_the_output_to_the_truth_and_not_the_other_way",
    ),
    (
        "a coin a visit, not a person: 2ε",
        "`verify`",
        "tests/mechanism/test_subsampled.py::test_a_coin_a_visit_costs_twice_as_much",
    ),
    (
        "a monitor that goes on; first visits (again, on the monitor's own states)",
        "`verify`",
        "tests/mechanism/test_sanitized.py::test_withholding_and_going_on_costs_four_epsilon",
    ),
    (
        "a bound on those left out that counts and bound pay too much for together",
        "`verify`",
        "tests/mechanism/test_everyone.py::test_a_split_that_spends_more_is_rejected",
    ),
    (
        "a bound on those left out under presence",
        "`verify`",
        "tests/mechanism/test_everyone.py::test_under_notions_about_single_visits_it_is_rejected",
    ),
    (
        "sparse vectors, by another enumeration",
        "`verify`",
        "tests/mechanism/test_sparse_vector.py::test_the_broken_variants_are_caught",
    ),
    (
        "a fresh threshold for each count",
        "a test of the law",
        "tests/mechanism/test_sparse_vector.py::test_releases_follow_the_matrix",
    ),
    (
        "twice the rate, against Theorem 4 of d-privacy",
        "Bayes' rule",
        "tests/analysis/test_characterise.py::test_the_bounds_are_missed_by_a_mechanism_that_is_less_private",
    ),
    (
        "a rate 10 % too high, in a black box",
        "`audit`, from samples",
        "tests/verification/test_audit.py::test_a_rate_ten_per_cent_too_high_is_refuted",
    ),
    (
        "a sampler that serves another secret, or one rate 10 % off; for every mechanism",
        "a test of the law",
        "tests/conformance/mechanism_conformance.py::test_a_broken_sampler_is_found_out",
    ),
    (
        "geometric noise: rate, sign, support, a digit dropped or copied",
        "a test of the law",
        "tests/statistical/test_geometric.py::test_one_sided_noise_fits_and_broken_noise_does_not",
    ),
    (
        "norm noise: one face and the rest uniform; a radius of the wrong law",
        "a test of the law",
        "tests/noise/test_norm.py::test_broken_samplers_are_rejected",
    ),
    (
        "planar noise: no rejection, polar and rounded, polar and cut, diagonals lost",
        "a test of the law",
        "tests/noise/test_planar.py::test_broken_samplers_are_caught",
    ),
    (
        "degrees taken for metres; Web Mercator",
        "geodesics",
        "tests/local/test_projection.py::test_planes_of_tools_lengthen_distances_at_sixty_degrees_north",
    ),
    (
        "a budget that looks at each release alone",
        "an adversary",
        "tests/accounting/test_odometer.py::test_a_filter_that_looks_at_each_release_alone_is_caught",
    ),
    (
        "the loss of one fact priced like the withdrawal of a person, when sampling",
        "enumeration",
        "tests/accounting/test_pure.py::test_sampling_people_does_not_amplify_the_loss_of_single_facts",
    ),
]
"""The mistake, what catches it, and the test."""


def measured(name: str, run: Callable[[], None]) -> list[str]:
    """Run a test of `VERIFY`, and return the least c of everything that it saw caught."""
    seen: list[str] = []
    caught = test_mutants.caught

    def watching(mechanism: Any, distance: Any, scale: Any = None) -> None:
        caught(mechanism, distance, scale)
        seen.append(least_scale(verify(mechanism, distance)))

    with patch.object(test_mutants, "caught", watching):
        run()
    assert seen, f"{name} caught nothing"
    return list(dict.fromkeys(seen))


def measurements() -> list[tuple[str, str, str]]:
    """The mistake, the least c at ε = 1, and the test, of everything in `VERIFY`."""
    one = exact(1)
    found = [
        (words, ", ".join(measured(name, lambda name=name: getattr(test_mutants, name)(one))), name)  # type: ignore[misc]
        for name, words in PROVED.items()
    ]
    for variant in svt.BROKEN:
        seen = measured(variant, lambda variant=variant: test_mutants.test_broken_sparse_vectors(one, variant))  # type: ignore[misc]
        found.append((f"sparse vector: {variant}", ", ".join(seen), SPARSE))
    return found
