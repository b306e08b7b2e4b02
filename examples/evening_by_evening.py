"""A place list that is published every evening from one budget, until the budget ends.

Makes its own small town in the current folder. Each evening is a question of its own with a price of its own; the fourth
evening is refused because the cap allows three.
It needs pandas, which a plain install lacks: pip install "leeward[frames]".
"""

from datetime import date, timedelta

import pandas as pd

import leeward as lw

evenings = [date(2026, 3, 2) + timedelta(days=day) for day in range(4)]
stalls = ["bread", "fish", "flowers", "fruit", "tea", "wool"]
rows = [
    (f"person-{person}", stalls[min(person % 23, 5) - day % 2], f"{evening} 19:{person % 60:02d}")
    for day, evening in enumerate(evenings)
    for person in range(120)
]
visits = lw.visits(pd.DataFrame(rows, columns=["who", "stall", "when"]), person="who", place="stall", time="when")
places = lw.places(pd.DataFrame({"stall": stalls}), place="stall")
budget = lw.Budget("sqlite:///market.db", dataset="market", cap="3/2")

for evening in evenings:
    query = lw.count_visitors(
        visits, places, start=f"{evening}T19:00", end=f"{evening}T20:00", places_per_person=1, if_more="earliest"
    )
    try:
        result = lw.release(lw.plan(query, lw.AdditionOnly("1/2"), lw.Decide(safe_at_most=8)), budget)
    except lw.LeewardError as refusal:
        print(evening, "refused:", refusal)
    else:
        states = result.to_pandas().set_index("place")["state"]
        print(evening, "safe:", ", ".join(states.index[states == "safe"]) or "none that we can tell")
