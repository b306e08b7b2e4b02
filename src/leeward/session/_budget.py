# SPDX-License-Identifier: Apache-2.0
"""Where the budget of a data set is kept, and what it is counted in."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from leeward._plain import echo, is_text
from leeward._postgres import is_address, resolve_budget
from leeward._taught import taught
from leeward.accounting._budget_notion import budget_notion, in_words, named_budget_notion
from leeward.errors import BudgetConflictError, InputError, LeewardError
from leeward.exact._real import Exact, exact
from leeward.notion import Notion


@taught
@dataclass(frozen=True)
class Budget:
    """Where the budget of a dataset is kept.

    Attributes:
        ledger: the path of the ledger, absolute, or ``postgresql://user@host/database``. A path may be given as one that is
            relative to the working directory of the moment when the budget is described, and as ``sqlite:///budget.db``.
        dataset: the public name of the data.
        cap: the most that may ever be spent on it, exact; fixed by the first release; None for what was fixed then.
        version: the public label of the content: name a new one when the data changes.
        notion: the name of the notion it is counted in; fixed by the first release; None for what was fixed then, or for
            that of the first release.
        new: where nothing is spent on ``dataset`` yet, giving ``cap`` opens its budget; but not if the ledger has a budget
            of nearly the same name, or for the same content, which may be a slip. True: it is not a slip.
        cap_delta: the most that the δ of all releases may add up to, exact; fixed by the first release, where None is 0;
            later None is what was fixed. Only releases of groups that nobody has listed have a δ.
    """

    ledger: str
    dataset: str
    cap: Exact | None = None
    version: str = "1"
    notion: str | None = None
    new: bool = False
    cap_delta: Exact | None = None

    def __post_init__(self) -> None:
        for name in ("dataset", "version", "notion"):
            if not is_text(value := getattr(self, name)) and (name != "notion" or value is not None):
                because = "it is empty or not plain text" if isinstance(value, str) else "it is a public name"
                raise InputError(f"{name} = {echo(value)}", because, "Give it as text")
        self.exact_cap()
        self.exact_cap_delta()
        object.__setattr__(self, "ledger", resolve_budget(self.ledger))

    def _repr_html_(self) -> str:
        """Show where it is kept and where it stands; a database on a server is not asked."""
        from leeward.report import facts

        return facts(
            f"The budget of {self.dataset}, version {self.version}", [("counted in", self._kept), *self._stands()]
        )

    @property
    def _kept(self) -> str:
        """Where it is kept: relative to the working directory where it lies below, as notebooks are passed on."""
        path = Path(self.ledger)
        return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else self.ledger

    def _stands(self) -> list[tuple[str, str]]:
        from leeward.ledger import Ledger

        cap = "fixed by the first release" if self.cap is None else str(self.cap)
        if is_address(self.ledger):
            return [("cap", cap), ("", "Where it stands: `leeward budget show`")]
        try:
            ledger = Ledger.find(self.ledger)
            accounts = [] if ledger is None else ledger.show(self.dataset)
        except LeewardError:
            return [("cap", cap), ("", "Its ledger cannot be read now: `leeward budget show` says why")]
        if not accounts:
            return [("cap", cap), ("spent", "nothing yet")]
        (account,) = accounts
        rows = [
            ("counted in", in_words(account.notion)),
            ("cap", str(account.cap)),
            ("spent", str(account.spent)),
            ("left", str(account.cap - account.spent)),
        ]
        if account.cap_delta:
            rows.append(("δ spent", f"{account.spent_delta} of {account.cap_delta}"))
        return rows

    def exact_cap(self) -> Fraction | None:
        """Return the cap as a fraction.

        Raises:
            InputError: it is not a finite rational above 0.
        """
        if self.cap is None:
            return None
        cap = exact(self.cap).rational
        if cap is None or cap <= 0:
            raise InputError(f"cap = {echo(self.cap)}", "it is not a finite amount above 0", 'Give, say, cap = "5"')
        return cap

    def exact_cap_delta(self) -> Fraction | None:
        """Return the cap on δ as a fraction.

        Raises:
            InputError: it is not a rational from 0 up to, but not at, 1.
        """
        if self.cap_delta is None:
            return None
        cap = exact(self.cap_delta).rational
        if cap is None or not 0 <= cap < 1:
            raise InputError(
                f"cap_delta = {echo(self.cap_delta)}",
                "it is the probability, over all releases, that somebody is not protected",
                'Give one far below one in so many people as there are, cap_delta = "1e-6"',
            )
        return cap

    def counted_in(self, notion: Notion, standing: str | None, *, rows: bool = False) -> str:
        """Return what the budget is counted in, where a release under this notion would be its first.

        Args:
            notion: that of the release.
            standing: what an open account is counted in; None where there is none.
            rows: whether the release takes every row for a person of its own.

        Raises:
            SpecError: no notion has the name given.
            BudgetConflictError: the account is counted in another one.
        """
        asked = None if self.notion is None else named_budget_notion(self.notion, rows=rows)
        if standing is not None and asked is not None and asked != standing:
            raise BudgetConflictError(
                f"The budget of '{self.dataset}' is counted in {in_words(standing)}, and this release says {self.notion}",
                "the first release fixed it, and what was spent is counted in it",
                f"Name no notion for the budget: the release is then priced in {in_words(standing)}",
            )
        return standing or asked or budget_notion(notion, rows=rows)
