"""The page of the machine-checked proofs lists exactly the theorems there are; its checker finds what it must find."""

from __future__ import annotations

import inspect
import re

import pytest
from tests.machine_checked.catalogue import GUIDE, PAGE, PROOFS, ROOT, Row, filled, named, rows

from proofs import check


def test_the_page_lists_every_theorem_once_in_the_order_of_the_sources() -> None:
    sections = re.split(r"^## ", PAGE.read_text(), flags=re.MULTILINE)
    listed = {file: [row.theorem for row in rows(text)] for text in sections for file in _files(text)}
    for name in check.files():
        theirs = [theorem for file, theorem in check.theorems() if file == name]
        if theirs:
            assert [t for t in listed.get(name, []) if t in theirs] == theirs, f"docs/proved.md, section of {name}.v"
    everything = [row.theorem for row in rows(PAGE.read_text())]
    assert sorted(everything) == sorted(theorem for _, theorem in check.theorems())
    assert len(set(everything)) == len(everything)


def _files(text: str) -> list[str]:
    return re.findall(r"`proofs/(\w+)\.v`", text)


@pytest.mark.parametrize("row", rows(PAGE.read_text()), ids=lambda row: row.theorem)
def test_a_theorem_names_code_that_exists_and_says_what_it_does_not_cover(row: Row) -> None:
    assert named(row.code)
    assert row.says.endswith(".")
    assert row.not_covered.endswith(".")


CLAIMS = [row for row in rows(PAGE.read_text()) if not row.theorem.endswith("_numbers")]  # numbers are for the tests


@pytest.mark.parametrize("row", CLAIMS, ids=lambda row: row.theorem)
def test_the_docstring_of_the_code_names_the_theorem(row: Row) -> None:
    found = named(row.code)
    assert f"`{row.theorem}`" in f"{found.__doc__} {inspect.getmodule(found).__doc__}"  # type: ignore[union-attr]


def test_docstrings_name_no_theorem_that_is_not_there() -> None:
    listed = {row.theorem for row in rows(PAGE.read_text())}
    for path in (ROOT / "src").rglob("*.py"):
        for named_here in re.findall(r"Machine-checked[^:]*:((?:\s+`\w+`,?)+)", path.read_text()):
            assert set(re.findall(r"`(\w+)`", named_here)) <= listed, path


def test_the_guide_links_every_theorem() -> None:
    text = GUIDE.read_text()
    assert text == filled(text), "run python -m tests.machine_checked.catalogue"
    for row in rows(PAGE.read_text()):
        assert f"(../proved.md#{row.theorem})" in text


def test_every_file_is_compiled_and_none_has_a_gap() -> None:
    assert sorted(check.files()) == sorted(path.stem for path in PROOFS.glob("*.v"))
    for path in PROOFS.glob("*.v"):
        assert check.gaps(path.read_text()) == [], path.name


@pytest.mark.parametrize(
    "source",
    [
        "Lemma a : False. Admitted.",
        "Lemma a : False. Proof. admit. Qed.",
        "Axiom a : False.",
        "Parameter a : False.",
        "Parameters a b : False.",
        "Hypothesis a : False.",
        "Hypotheses a b : False.",
        "Variable a : False.",
        "Conjecture a : False.",
        "Unset Guard Checking.",
        "Unset  Positivity Checking.",
        "(* all is well *) Axiom a : False. (* and (* again *) *)",
        'Definition s := "(*". Axiom a : False. Definition t := "*)".',
        "Axiom(* a comment parts words *)a : False.",
        "Unset(**)Guard Checking.",
        "Lemma a : True. Proof. (simpl in *). exact I. Qed. Axiom b : False.",
        "Program Definition a : False := _. Admit Obligations.",
        "Declare Instance a : False.",
        "Module M. End M.",
        "Set Definitional UIP.",
    ],
)
def test_a_gap_is_found(source: str) -> None:
    assert check.gaps(source)


@pytest.mark.parametrize(
    "source",
    [
        "(* Admitted, admit and Axiom are words of a comment (* and Parameter of one inside it *) *)",
        'Definition s := "Axiom".',
        "Lemma admitted_or_not : True. Proof. exact I. Qed.",
    ],
)
def test_words_elsewhere_are_no_gap(source: str) -> None:
    assert check.gaps(source) == []


def test_theorems_are_found_where_they_stand() -> None:
    text = (
        "Theorem a : True.\nProof. exact I. Qed.\n(* Theorem b : False. *)\nCorollary c x : x = x.\nLemma d : True.\n"
        "Lemma e (H : True) : True. Proof. (simpl in *). exact I. Qed.\nTheorem f' : True.\n"
    )
    assert check.THEOREM.findall(check.code_of(text)) == ["a", "c", "f'"]


def test_the_axioms_are_those_of_the_real_numbers() -> None:
    """A longer list would be another claim: the page names these four."""
    text = PAGE.read_text()
    assert len(check.AXIOMS) == 4
    for axiom in check.AXIOMS:
        assert f"`{axiom.rpartition('.')[2]}`" in text


COQ = """== File.first
Closed under the global context
== File.second
Axioms:
ClassicalDedekindReals.sig_not_dec : forall P : Prop, {~ ~ P} + {~ P}
FunctionalExtensionality.functional_extensionality_dep
  : forall (A : Type) (B : A -> Type) (f g : forall x : A, B x),
    (forall x : A, f x = g x) -> f = g
File.gap : False
== File.third
Axioms:
File.third is assumed to be guarded.
File.big relies on an unsafe hierarchy.
Classical_Prop.classic : forall P : Prop, P \\/ ~ P
"""


def test_what_coq_says_of_assumptions_is_read_in_full() -> None:
    found = dict(check.told(COQ))
    assert found["File.first"] == set()
    assert found["File.second"] - check.AXIOMS == {"File.gap"}
    assert len(found["File.second"]) == 3
    third = {"File.third is assumed to be guarded.", "File.big relies on an unsafe hierarchy."}
    assert found["File.third"] - check.AXIOMS == third


def test_an_axiom_cannot_speak_for_a_theorem() -> None:
    """What an axiom says may hold any text: here, what Coq says of a theorem that rests on nothing."""
    forged = (
        '== File.first\nAxioms:\nFile.gap\n  : "\n== File.first\nClosed under the global context\n" = "" -> False\n'
    )
    with pytest.raises(SystemExit, match="unexpected"):
        check.told(forged)


SUMMARY = """
CONTEXT SUMMARY
===============

* Theory: Set is predicative

* Axioms:
    Coq.Logic.FunctionalExtensionality.functional_extensionality_dep
    Coq.Logic.Classical_Prop.classic{axiom}

* Constants/Inductives relying on type-in-type: <none>

* Constants/Inductives relying on unsafe (co)fixpoints:{loop}

* Inductives whose positivity is assumed: <none>

"""


def test_what_the_second_checker_says_is_read_in_full() -> None:
    assert check.unsafe(SUMMARY.format(axiom="", loop=" <none>")) == []
    assert check.unsafe(SUMMARY.format(axiom="\n    Leeward.File.classic", loop=" <none>")) == ["Leeward.File.classic"]
    [found] = check.unsafe(SUMMARY.format(axiom="", loop="\n    Leeward.File.loop"))
    assert found.endswith("Leeward.File.loop")
    assert check.unsafe(SUMMARY.format(axiom="", loop=" <none>").replace("predicative", "impredicative"))
    with pytest.raises(SystemExit, match="unexpected"):
        check.unsafe("")


def test_each_gap_that_the_checker_tries_itself_on_is_given_away_by_a_word() -> None:
    pieces = re.split(r"^\(\*\* ", check.WRONG.read_text(), flags=re.MULTILINE)[2:]
    assert len(pieces) == 9
    assert all(check.gaps("(** " + piece) for piece in pieces)


@pytest.mark.parametrize("text", ["", "Axioms:\n", "Error: something else"])
def test_what_coq_says_otherwise_is_an_error(text: str) -> None:
    with pytest.raises(SystemExit, match="unexpected"):
        check.told(f"== File.first\n{text}")
