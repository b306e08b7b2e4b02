"""A comparison as tables that fit a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from leeward.cli._output import facts, print_parts, table
from leeward.planner._recommend import people, percent
from leeward.planner._words import head, label, refused, short, sides

if TYPE_CHECKING:
    from rich.table import Table

_TITLE = 21
"""Columns that titles may take."""


def print_plan(told: dict[str, Any]) -> None:
    """Print what `leeward.planner._view.tell` told."""
    asked, advice, options = told["asked"], told["recommendation"], told["options"]
    print_parts(facts(head(asked), max_width=_TITLE))
    if told["refused_as_written"]:
        print_parts(f"\nAs written, `leeward release` refuses: {told['refused_as_written']}")
    shown = [o for o in options if not o["refused"] and "curve" in o]
    print_parts("", _rows(shown, asked, None if advice["option"] is None else options[advice["option"]]))
    print_parts(_legend(asked, shown, advice["option"] is not None), style="dim")
    print_parts("", facts(_advice(advice, options), max_width=_TITLE), "", facts(sides(shown), max_width=_TITLE))
    rest = [*refused(options), *((f"{label(o)}, {o['mechanism']}", o["note"]) for o in options if o["note"])]
    if rest:
        print_parts("", facts(rest, max_width=_TITLE))
    if asked["releases"] > 1:
        print_parts("", _together(shown, asked))
    print_parts("\nNothing was charged and no data was read.")


def _rows(shown: list[dict[str, Any]], asked: dict[str, Any], chosen: dict[str, Any] | None) -> Table:
    word, first, last = "safe", 0, asked["safe_at_most"]
    if last is None:
        word, first = "dangerous", asked["dangerous_at_least"]
        last = first + 2
    ends = list(dict.fromkeys((first, last)))
    said = "safe" if word == "safe" else "dang."
    headers = ["", "notion", "mechanism", "price\nε", "in the\nbudget", *(f"{said}\nat {c}" for c in ends)]
    headers += ["95%\nerror", "wrong\n≤", *(["right\nwords"] if asked["counts"] else [])]
    made = table(padding=(0, 1, 0, 0), header_style="bold")
    for i, header in enumerate(headers):
        made.add_column(header, justify="left" if i < 3 else "right", no_wrap=True, vertical="bottom")
    for option in shown:
        at = {entry["count"]: entry for entry in option["curve"]}
        cells = ["→" if option is chosen else "", label(option), option["mechanism"], short(option["price"])]
        cells.append("–" if option["price_in_budget"] is None else short(option["price_in_budget"]))
        cells += [percent(float(at[c][word])).replace(" ", "") if c in at else "" for c in ends]
        cells.append(str(option["errors"]["most"]))
        wrong = option["decided"][word]["wrong_at_most"]
        cells.append("never" if wrong is None else f"{float(Fraction(wrong)):g}")
        if asked["counts"]:
            cells.append(f"{option['expected']['safe'] + option['expected']['dangerous']:,.0f}")
        made.add_row(*cells, style="bold" if option is chosen else None)
    return made


def _legend(asked: dict[str, Any], shown: list[dict[str, Any]], recommended: bool) -> str:
    said = [*(["→ recommended."] if recommended else []), "95% error: of a published count."]
    if any(not option["never_wrong"] for option in shown):
        said.append("Wrong ≤: α, for one place.")
    if any(option["price_in_budget"] is None for option in shown):
        said.append("–: the budget's notion cannot cover it, whatever the price.")
    if any(option["mechanism"] == "sanitized" for option in shown):
        said.append("Sanitized: of places that are reached before it stops.")
    if asked["counts"]:
        said.append("Right words: expected, of the counts given.")
    return " ".join(said)


def _advice(advice: dict[str, Any], options: list[dict[str, Any]]) -> Iterable[tuple[str, str]]:
    if advice["option"] is None:
        yield "recommended", f"nothing. {advice['reason']}"
    else:
        option = options[advice["option"]]
        yield "recommended", f"{label(option)}, {option['mechanism']}. {advice['reason']}"
        yield "what ε, t?", _needed(option)
        if option.get("answered_if_empty"):
            yield "reach", f"about {option['answered_if_empty']:.3g} places answered, if nobody were anywhere"
        if option.get("expected"):
            yield "expect", _expected(option)
    yield "plain DP?", advice["plain_dp"]
    # what is not protected is told for every notion below
    yield from (("mind", sentence) for sentence in advice["cautions"] if not sentence.startswith("Not protected"))
    lacks: dict[str, list[str]] = {}
    for other in advice["gives_up"]:
        name = f"{label(options[other['option']])} ({options[other['option']]['mechanism']})"
        lacks.setdefault(other["what"], []).append(name)
    yield from (("says more", f"{', '.join(names)}: but {what}") for what, names in lacks.items())


def _needed(option: dict[str, Any]) -> str:
    needed, t = option["epsilon_for_wish"], option["safe_at_most_for_wish"]
    wish = option["wish"]
    chance = f"{float(Fraction(wish['probability'])) * 100:g} %"
    said = f"To call {chance} of the places with {people(wish['count'])} safe: "
    epsilon = "no ε is enough" if needed is None else f"ε = {short(needed['epsilon'])}"
    return said + epsilon + ("" if t is None else f"; or, at this ε, 'safe' must mean at most {people(t)}")


def _expected(option: dict[str, Any]) -> str:
    expected, said = option["expected"], []
    for word in ("safe", "dangerous"):
        if expected[f"truly_{word}"] is not None:
            spread = f" (± {expected['spread']:.0f})" if word == "safe" and expected["spread"] is not None else ""
            said.append(
                f"{expected[word]:,.0f}{spread} of {expected[f'truly_{word}']:,} {word} places called {word},"
                f" {_few(expected[f'wrongly_{word}'])} others"
            )
    if option["mechanism"] == "sanitized":
        said.append(f"about {expected['answered']:,.0f} answered, in a random order")
    if option["remapped_loss"] is not None:
        said.append(f"counts {option['remapped_loss']:.3g} off on average after the best remap")
    return "; ".join(said)


def _few(number: float) -> str:
    return "no" if number == 0 else f"{number:.2g}"


def _together(shown: list[dict[str, Any]], asked: dict[str, Any]) -> Table:
    made = table(padding=(0, 1), header_style="bold")
    made.add_column(f"{asked['releases']} releases together", no_wrap=True)
    for header in ("price ε", "in the budget", f"ε at δ = {asked['delta']}"):
        made.add_column(header, justify="right", no_wrap=True)
    for option in shown:
        together = option["composed"]
        worst = max(together["epsilon_at_delta"].values(), default=None)
        made.add_row(
            f"{label(option)}, {option['mechanism']}",
            short(together["price"]),
            "–" if together["price_in_budget"] is None else short(together["price_in_budget"]),
            "–" if worst is None else f"{worst:.4g}",
        )
    return made
