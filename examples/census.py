"""What does each notion cost in accuracy? The mean and the median age of the bundled census, planned and then released.

Prints, for several notions at the same ε, how far the mean of 1,000 people is off at most (95 %): free, no data are read.
Then releases it under one of them, and the medians, whose error is a number of rows.
Data: UCI Machine Learning Repository, doi 10.24432/C5XW20 (CC BY 4.0).
It needs pandas, which a plain install lacks: pip install "leeward[frames]".
"""

import leeward as lw
from leeward.demo import census

people = lw.records(census(), person="each row")  # nobody answered twice
ages = lw.ValueGrid(17, 90)
asked = {"column": "age", "lower": 17, "upper": 90, "by": {"income": ["<=50K", ">50K"]}}
question = lw.statistic(people, lw.query.Kind("mean", grid="1/10"), **asked)

for notion in (
    lw.AdditionOnly("1/2"),
    lw.UnboundedDP("1/2"),
    lw.BoundedDP("1/2"),
    lw.Manhattan("1/2", ages, unit="10 years"),
):
    errors = {entry.number: entry.within_95_percent for entry in lw.plan(question, notion).accuracy().by_number}
    print(f"{notion.name:14} ± {errors[1_000]:.2f} years with 1,000 rows, ± {errors[10_000]:.2f} with 10,000")

budget = lw.Budget("sqlite:///budget.db", dataset="census", cap="1")
result = lw.release(lw.plan(question, lw.UnboundedDP("1/2")), budget)
print(result.to_pandas().to_string(index=False))

medians = lw.statistic(people, "median", **asked)
plan = lw.plan(medians, lw.UnboundedDP("1/2"))
print(f"the median: at most {plan.accuracy().within_95_percent} rows between it and the exact one")
print(lw.release(plan, budget).to_pandas().to_string(index=False))
