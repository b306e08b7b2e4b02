"""Which hall of a fair was the busiest, hour by hour: only its name is published, and people may visit any number of halls.

Makes its own small fair in the current folder. What is known before it is paid for comes first: a name costs as much for
somebody at five halls as for somebody at one, where noisy counts of all halls cost five times as much.
It needs pandas, which a plain install lacks: pip install "leeward[frames]".
"""

import pandas as pd

import leeward as lw

halls = ["north", "south", "west", "east", "court"]
crowds = {10: "north", 11: "court", 12: "west"}
rows = [
    (f"p{i}", hall, f"2026-03-02 {hour}:{i % 60:02d}")
    for hour, full in crowds.items()
    for hall in halls
    for i in range(240 if hall == full else 60)
]
visits = lw.visits(pd.DataFrame(rows, columns=["who", "hall", "when"]), person="who", place="hall", time="when")
places = lw.places(pd.DataFrame({"hall": halls}), place="hall")
budget = lw.Budget("sqlite:///fair.db", dataset="fair", cap="3/2")
notion = lw.UnboundedDP("1/2")

known = lw.planner.Scenario(places=len(halls))
for bound in (None, 5):
    counts = lw.count_visitors(
        visits, places, start="2026-03-02T10:00", end="2026-03-02T11:00", places_per_person=bound
    )
    compared = lw.compare(lw.select(counts), notion, scenario=known)
    for option in (compared.find("dp", "noisy max"), compared.find("dp", "noisy counts")):
        said = f"within {option.within} people" if option.within is not None else "refused without a bound"
        print(f"{bound or 'any number of'} halls a person, {option.mechanism}: {said}")

for hour in crowds:
    counts = lw.count_visitors(visits, places, start=f"2026-03-02T{hour}:00", end=f"2026-03-02T{hour + 1}:00")
    result = lw.release(lw.plan(lw.select(counts), notion), budget)
    print(f"{hour}:00 named as the busiest: {result.answers['place'][0].as_py()}")
