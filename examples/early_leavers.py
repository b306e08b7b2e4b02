"""What if only some things about a row are secret? Early school leavers of the bundled census, under policies.

That somebody left school at one of three early levels is a secret; that somebody did not may become known. Each spec below
says so in its own way, and its noise follows from what it says; then one of them is released. Data: UCI Machine Learning
Repository, doi 10.24432/C5XW20 (CC BY 4.0).
It needs pandas, which a plain install lacks: pip install "leeward[frames]".
"""

import leeward as lw
from leeward.demo import write_census
from leeward.spec import check_spec

LEVELS = ["Preschool", "1st-4th", "5th-6th"]
PROMISES = {
    "adp, each level": {"notion": "adp", "policies": [{"outside": {"education": [level]}} for level in LEVELS]},
    "adp, all levels at once": {"notion": "adp", "policies": [{"outside": {"education": LEVELS}}]},
    "osdp, passing as any": {"notion": "osdp", "sensitive": {"education": LEVELS}},
    "osdp, as non-sensitive": {"notion": "osdp", "sensitive": {"education": LEVELS}, "reading": "non-sensitive"},
    "blowfish, a level and the next": {"notion": "blowfish", "edges": [LEVELS[:2], LEVELS[1:], ["5th-6th", "7th-8th"]]},
    "bounded-dp": {"notion": "bounded-dp"},
}

write_census("census.parquet")
for name, promise in PROMISES.items():
    spec = check_spec(
        {
            "data": {"table": "census.parquet", "person": "each row"},
            "query": {"kind": "histogram", "by": {"education": LEVELS}},
            "protect": {"epsilon": "1/10", **promise},
            "budget": {"ledger": f"{promise['notion']}.db", "dataset": "census", "cap": "1"},
        }
    )
    (plan,) = spec.plans()
    side = "never below, " if plan.parts[0].law.down.is_infinite else ""
    print(f"{name:32}{side}± {plan.accuracy().within_95_percent:.0f} at 95 %")
    if name == "adp, each level":
        budget, released = spec.ledger(), plan

result = lw.release(released, budget)
print(result.to_pandas().to_string(index=False))
