"""Write the JSON schemas of all documents: ``python docs/schemas/write.py FOLDER``.

The schemas are kept beside this file; a test writes them again and compares.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from leeward._document import Document
from leeward._statement import WindowsStatement
from leeward.cli._balances import Balances, Checked, History
from leeward.cli._checked import CheckedSpec
from leeward.cli._monitored import Monitored
from leeward.cli._questions import PlannedQuestions
from leeward.cli._refused import Refusal
from leeward.cli._released import Released
from leeward.cli._tokens import MayAskList
from leeward.local import Perturbed
from leeward.local.location import LocationStatement
from leeward.local.series import BillingStatement, SeriesStatement
from leeward.planner import AnswerReport, NameReport, PlanReport
from leeward.service._tokens import TokenList
from leeward.session import GroupStatement, NumberStatement, SelectionStatement, UnlistedStatement, VisitorStatement
from leeward.session._question import Question

DOCUMENTS: dict[str, type[Document]] = {
    "billing.json": BillingStatement,
    "budget-check.json": Checked,
    "budget-history.json": History,
    "budget-show.json": Balances,
    "checked.json": CheckedSpec,
    "monitored.json": Monitored,
    "perturb-location.json": LocationStatement,
    "perturb-series.json": SeriesStatement,
    "perturbed.json": Perturbed,
    "plan.json": PlanReport,
    "plan-of-answers.json": AnswerReport,
    "plan-of-name.json": NameReport,
    "plan-of-questions.json": PlannedQuestions,
    "question.json": Question,
    "refusal.json": Refusal,
    "release-of-groups.json": GroupStatement,
    "release-of-name.json": SelectionStatement,
    "release-of-numbers.json": NumberStatement,
    "release-of-unlisted-groups.json": UnlistedStatement,
    "release-of-visitors.json": VisitorStatement,
    "release-of-windows.json": WindowsStatement,
    "released.json": Released,
    "token-list.json": MayAskList,
    "tokens.json": TokenList,
}
"""Every document that Leeward prints, publishes or keeps, and the file of its schema."""


def schema(document: type[Document]) -> dict[str, Any]:
    """Return a document's schema, for what it is written as; its descriptions are the docstrings."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **document.model_json_schema(mode="serialization"),
    }


if __name__ == "__main__":
    for name, document in DOCUMENTS.items():
        text = json.dumps(schema(document), indent=2, ensure_ascii=False) + "\n"
        (Path(sys.argv[1]) / name).write_text(text, encoding="utf-8")
