"""A page whose Python needs more than a plain install says so, and by which command, before the first of it."""

from __future__ import annotations

import re

from tests.docs.documents import ROOT

NEEDS = {
    "frames": r"\bpd\.|\bimport pandas|\.to_pandas\(|\bbounded_gain\(|\bvariances\(|\bregion\(",
    "analysis": r"\bAccountant\(|\boptimal\(|\bremap\(|\bbest_sanitizer\(|\bis_universally_optimal\(",
}
"""What is not in a plain install, by the extra that it comes with."""

PAGES = sorted(page for folder in ("docs", "docs/guide") for page in (ROOT / folder).glob("*.md"))


def unsaid(page: str) -> list[str]:
    """Return the extras that Python of a page needs before they are named."""
    found = []
    for extra, needs in NEEDS.items():
        blocks = list(re.finditer(r"^```python$(.*?)^```$", page, re.DOTALL | re.MULTILINE))
        first = next((block.start() for block in blocks if re.search(needs, block[1])), None)
        said = [*re.finditer(r'pip install "leeward\[[^\]]*\b' + extra + r"\b", page)]
        found += [extra] if first is not None and not any(each.start() < first for each in said) else []
    return found


def test_pages_say_which_libraries_their_python_needs() -> None:
    assert {page.name: found for page in PAGES if (found := unsaid(page.read_text()))} == {}


def test_a_page_that_says_it_too_late_is_found() -> None:
    needs, said = "```python\nlw.optimal(range(3))\n```\n", '`pip install "leeward[analysis,frames]"`\n'
    assert [unsaid(needs), unsaid(needs + said), unsaid(said + needs)] == [["analysis"], ["analysis"], []]
