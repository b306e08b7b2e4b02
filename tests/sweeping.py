"""Of a grid `make test` takes the first point, `make sweeps` the last, and `make long` those between.

The build server runs the first two, within 40 minutes; whoever changes something the first, within twelve. So mark a test of
over three seconds as a sweep, and as long a sweep of over ten whose like is run smaller, or elsewhere. Of a grid that is a
sweep as a whole the build server takes one point in the middle.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import pytest

WHOLE = ("accounting", "benchmarks", "distance", "exact", "noise", "notion", "oracle")
"""Rooms whose tests take seconds in all: `make test` runs them whole."""

COMPLETE = {
    *("attacks", "cli", "grid", "keys", "ledger", "machine_checked", "mutants", "outputs", "proofs", "shown", "spec"),
    *("tables", "truth", "verification"),
    *("test_column_types", "test_groups", "test_machine_integers", "test_position_files"),
    *("test_architecture", "test_arguments", "test_docstrings", "test_documents", "test_examples"),
    *("test_masked_arrays", "test_schemas", "test_sensitivity_brute_force"),
}
"""Rooms, and files, whose grids are complete lists of what must hold: the build server runs them whole.

Above all lists in which every point is a thing of its own, such as a module or a document, and not one value of many."""

ALIKE = {
    *("test_changed_stores", "test_clocks", "test_closed_folders", "test_closures", "test_digests", "test_forms"),
    *("test_names_and_levels", "test_taken_for_another", "test_toml_values"),
    *("test_endings", "test_ledger_crash", "test_full_disk", "test_hostile_text", "test_malformed_files"),
    *("test_number_truth", "test_rank_truth", "test_position_truth", "test_decided_group_truth"),
    *("attacks/test_analysis", "attacks/test_desk"),
}
"""Files of complete rooms whose points are values of one thing and take long: thinned like the others."""


def thin(items: Iterable[pytest.Item]) -> None:
    """Mark as sweeps all but the first point of each parametrised test; all but one of what is swept is long.

    Those of the built documentation are run with it, and whole.
    """
    grids = defaultdict[tuple[Path, str], list[pytest.Item]](list)
    for item in items:
        name, parameters, _ = item.nodeid.partition("[")
        if parameters and item.path.parent.name not in WHOLE and not item.get_closest_marker("site"):
            grids[item.path, name].append(item)
    for points in grids.values():
        unswept = [each for each in points if not each.get_closest_marker("sweep")]
        for point in unswept[1:]:
            point.add_marker(pytest.mark.sweep)
        swept = [each for each in points if each.get_closest_marker("sweep") and not each.get_closest_marker("long")]
        room, file = points[0].path.parent.name, points[0].path.stem
        if COMPLETE.isdisjoint((room, file)) or not ALIKE.isdisjoint((file, f"{room}/{file}")):
            taken = unswept[-1:] if len(unswept) > 1 else swept[len(swept) // 2 :][:1]
            for point in swept:
                if point not in taken:
                    point.add_marker(pytest.mark.long)
