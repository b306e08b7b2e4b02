"""A service that asks for places near its users, without learning where they are: one report a question, five a day.

Prints how far reports lie from the truth, and what happens to a sixth question.
"""

import os
import tempfile
from pathlib import Path

import leeward as lw
from leeward.ledger import PersonBudgets

OSLO = (10.4, 59.7, 11.1, 60.1)  # public: west, south, east, north

geo = lw.PlanarLaplace(box=OSLO, within="200 m", factor=2, outside="clamp")
away = geo.describe()
print(f"Half of the reports lie within {away.median:.0f} m, 95 % within {away.within_95:.0f} m.")

folder = Path(tempfile.mkdtemp())
budgets = PersonBudgets(
    folder / "people.db", secret=os.urandom(32), price=f"{geo.epsilon} a metre", reports_a_day=5, new=True
)


def report(person: str, day: int, latitude: float, longitude: float) -> tuple[float, float]:
    """Return a report that may leave the phone; the budget is charged first."""
    with budgets.charging() as charge:
        charge([person], [day])
    return geo.perturb_one(latitude, longitude)


for question in range(1, 7):
    try:
        latitude, longitude = report("ann", 20_000, 59.9139, 10.7522)
        print(f"{question}: near {latitude:.4f}, {longitude:.4f}")
    except lw.LeewardError as refused:
        print(f"{question}: refused: {refused.because}")
