"""What would each notion let you say about a quiet place, at the same ε? Asked before anything is spent.

Prints Pr[safe | c people were there], c = 0, 1, 2, …, for "at most 5" at ε = 1. Reads no data: the files named below need
not exist.
"""

import leeward as lw

visits = lw.visits("visits.parquet", person="user", place="venue", time="when")
places = lw.places("places.parquet", place="venue")
query = lw.count_visitors(visits, places, start="2026-03-02T19:00", end="2026-03-02T20:00", places_per_person=1)

never_wrong = [lw.Presence("1"), lw.AdditionOnly("1")]
can_be_wrong = [lw.RemovalOnly("1"), lw.UnboundedDP("1")]  # so say how often an unsafe place may be called safe

for notion in never_wrong + can_be_wrong:
    error = None if notion in never_wrong else "0.01"
    plan = lw.plan(query, notion, lw.Decide(safe_at_most=5, error_at_most=error))
    odds = " ".join(f"{float(plan.sanitizer.probability(count)):.4f}" for count in range(8))
    print(f"{type(notion).__name__:13} {odds}  wrong at most: {error or 'never'}")
