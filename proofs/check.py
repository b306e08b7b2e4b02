"""Check the proofs: `make proofs`.

Compiles every file named in _CoqProject from nothing, prints what each theorem assumes, has the compiled files checked again
by Coq's second, smaller checker (`coqchk`), and compares the numbers that the proofs compute with those in examples.txt
(`--write` renews that file). Fails on an assumption that is not in AXIOMS, on a word in a source that could hide one, and on
any difference in the numbers. First it tries itself on wrong/Gaps.v, whose theorems all rest on a gap: it must refuse each.

Only Coq's kernel is trusted, and this script to read what it prints. It needs Python, `coqc` and `coqchk`, and nothing of
Leeward.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).parent
BUILD = HERE / "build"
EXAMPLES = HERE / "examples.txt"

AXIOMS = {
    "ClassicalDedekindReals.sig_forall_dec",
    "ClassicalDedekindReals.sig_not_dec",
    "FunctionalExtensionality.functional_extensionality_dep",
    "Classical_Prop.classic",
}
"""What Coq's own real numbers rest on: the axioms of LIBRARY, a lemma of the standard library. Checked at each run."""

LIBRARY = "Rpower.exp_increasing"

FORBIDDEN = (
    r"Admitted|[Aa]dmit|give_up|Abort|Axioms?|Parameters?|Conjectures?|Hypothes[ie]s|Variables?|Primitive|bypass_check"
    r"|type_in_type|(?:Guard|Positivity|Universe)\s+Checking|Definitional\s+UIP|Extract(?:ion)?|Load|Redirect|Cd"
    r"|Declare\s+(?:Module|Instance|ML)|Module|Include|Add\s+(?:Rec|ML|LoadPath)"
)
"""Words that leave a gap, or could hide one. Sections use `Context`, which each theorem takes as a premise. There are no
modules, so that a theorem's name is its file's name and its own."""

THEOREM = re.compile(r"^(?:Theorem|Corollary)\s+([\w']+)", re.MULTILINE)

WRONG = HERE / "wrong" / "Gaps.v"
"""Theorems that Coq accepts, each by a gap of another kind."""


def files() -> list[str]:
    """The names of the proof files, in the order in which they build on each other."""
    return [line.removesuffix(".v") for line in (HERE / "_CoqProject").read_text().split() if line.endswith(".v")]


def code_of(source: str) -> str:
    """The source without its comments, which may be nested, and without its strings: each leaves a space, as for Coq.

    What looks like the end of a comment where none is open is code: `(simpl in *)`.
    """
    kept, depth = [], 0
    for part in re.split(r'(\(\*|\*\)|"(?:[^"]|"")*")', source):
        if part == "(*":
            depth += 1
            kept.append(" ")
        elif part == "*)" and depth:
            depth -= 1
        elif not depth:
            kept.append(" " if part.startswith('"') else part)
    return "".join(kept)


def gaps(source: str) -> list[str]:
    """The forbidden words of a source."""
    return re.findall(rf"\b(?:{FORBIDDEN})\b", code_of(source))


def theorems() -> list[tuple[str, str]]:
    """(file, theorem) for everything that is claimed, in the order of the sources."""
    return [(name, found) for name in files() for found in THEOREM.findall(code_of((HERE / f"{name}.v").read_text()))]


def coqc(name: str) -> str:
    """Compile a file in the build folder and return what it prints."""
    run = subprocess.run(
        ["coqc", "-q", "-Q", ".", "Leeward", f"{name}.v"],
        cwd=BUILD,
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode:
        sys.exit(f"{name}.v does not compile:\n{run.stdout}{run.stderr}")
    return run.stdout


def compile_all() -> None:
    """Compile every file in a build folder that holds nothing from before: a compiled file is never taken on trust."""
    shutil.rmtree(BUILD, ignore_errors=True)
    BUILD.mkdir()
    for name in files():
        shutil.copyfile(HERE / f"{name}.v", BUILD / f"{name}.v")
        start = time.monotonic()
        coqc(name)
        print(f"{name}.v proved in {time.monotonic() - start:.0f} s")


def told(output: str) -> list[tuple[str, set[str]]]:
    """Read `Print Assumptions` of several theorems, each after a line `== name`: the axioms of each.

    What an axiom says is indented. Every other line is an assumption: of an axiom's name, or in Coq's own words ("loop is
    assumed to be guarded.").
    """
    found = []
    for block in re.split(r"^== ", output, flags=re.MULTILINE)[1:]:
        name, _, text = block.partition("\n")
        head, *lines = text.splitlines() or [""]
        assumed = [re.sub(r"^([\w.']+)\s*(?::.*)?$", r"\1", line) for line in lines if not line.startswith(" ")]
        if head != ("Axioms:" if assumed else "Closed under the global context"):
            sys.exit(f"Coq says something unexpected about {name}:\n{text}")
        found.append((name, set(assumed)))
    return found


def assumptions(required: list[str], names: list[str]) -> dict[str, set[str]]:
    """What each theorem assumes, as Coq tells it, once the files of these names are loaded."""
    asked = [LIBRARY, *names]
    lines = ["From Coq Require Reals.", "From Leeward Require " + " ".join(required) + "."]
    lines += [f'Goal True. idtac "== {name}". Abort. Print Assumptions {name}.' for name in asked]
    (BUILD / "Assumptions.v").write_text("\n".join(lines) + "\n")
    found = told(coqc("Assumptions"))
    if [name for name, _ in found] != asked:
        sys.exit("Coq did not tell the assumptions of every theorem")
    if found[0][1] != AXIOMS:
        sys.exit(f"Coq's own {LIBRARY} does not rest on the four axioms that are allowed")
    return dict(found[1:])


def try_itself() -> None:
    """See that every theorem of WRONG is refused, for a word in it and for what Coq tells of it."""
    source = WRONG.read_text()
    pieces = re.split(r"^\(\*\* ", source, flags=re.MULTILINE)[2:]
    for piece in pieces:
        if not gaps("(** " + piece):
            sys.exit(f"wrong/Gaps.v: no word gives this gap away:\n{piece}")
    shutil.copyfile(WRONG, BUILD / "Gaps.v")
    coqc("Gaps")
    names = [f"Gaps.{name}" for name in THEOREM.findall(code_of(source))]
    told = assumptions(["Gaps"], names)
    if len(names) != len(pieces) or any(axioms <= AXIOMS for axioms in told.values()):
        sys.exit("A theorem of wrong/Gaps.v seems to rest on nothing: what Coq tells is not read rightly")
    second = " ".join(unsafe(second_check("-norec", "Leeward.Gaps")))
    if missed := [gap for gap in ("given_axiom", "loop", "bad", "all_types") if f"Leeward.Gaps.{gap}" not in second]:
        sys.exit(f"coqchk does not find {missed} in wrong/Gaps.v: what it tells is not read rightly")
    print(f"{len(names)} theorems that rest on gaps were refused")


def second_check(*asked: str) -> str:
    """What coqchk says of compiled files and, but for `-norec`, of all that they are built on, Coq's library included."""
    run = subprocess.run(
        ["coqchk", "-silent", "-o", "-Q", ".", "Leeward", *asked],
        cwd=BUILD,
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode:
        sys.exit(f"coqchk refuses the compiled files:\n{run.stdout}{run.stderr}")
    return run.stdout + run.stderr


def unsafe(summary: str) -> list[str]:
    """What a summary of coqchk names beyond the four axioms: other axioms, and whatever is not checked."""
    found = dict(re.findall(r"^\* ([^:]+):(.*?)(?=^\* |\Z)", summary, re.MULTILINE | re.DOTALL))
    if {"Theory", "Axioms"} - set(found):
        sys.exit(f"coqchk says something unexpected:\n{summary}")
    axioms = {
        ".".join(name.split(".")[-2:]) if name.startswith("Coq.") else name for name in found.pop("Axioms").split()
    }
    wrong = sorted(axioms - AXIOMS - {"<none>"})
    if found.pop("Theory").strip() != "Set is predicative":
        wrong.append("impredicative Set")
    return wrong + [
        f"{heading}: {' '.join(text.split())}" for heading, text in found.items() if text.strip() != "<none>"
    ]


def examples() -> str:
    """The numbers that Examples.v computes, one a line."""
    (BUILD / "Printed.v").write_text(
        "From Coq Require Import String List.\nImport ListNotations.\nSet Printing Depth 1000000.\n"
        "From Leeward Require Import Examples.\nEval vm_compute in Examples.printed.\n"
    )
    lines = re.findall(r'"([^"]*)"', coqc("Printed"))
    return "".join(f"{line}\n" for line in lines)


def main(arguments: list[str]) -> None:
    """Run all checks; exits with an error at the first that fails."""
    for name in files():
        if found := gaps((HERE / f"{name}.v").read_text()):
            sys.exit(f"{name}.v has a gap: {', '.join(found)}")
    compile_all()
    with ThreadPoolExecutor() as side:
        second = side.submit(second_check, *(f"Leeward.{name}" for name in files()))
        told = assumptions(files(), [f"{f}.{t}" for f, t in theorems()])
        for name, axioms in told.items():
            print(f"{name}: {', '.join(sorted(a.rpartition('.')[2] for a in axioms)) or 'nothing'}")
        for name, axioms in told.items():
            if axioms - AXIOMS:
                sys.exit(f"{name} assumes {', '.join(sorted(axioms - AXIOMS))}")
        if wrong := unsafe(second.result()):
            sys.exit(f"coqchk finds more than the four axioms: {'; '.join(wrong)}")
    try_itself()
    computed = examples()
    if "--write" in arguments:
        EXAMPLES.write_text(computed)
    elif computed != EXAMPLES.read_text():
        (BUILD / "examples.txt").write_text(computed)
        sys.exit("The numbers computed in the proofs are not those of examples.txt: diff it with build/examples.txt")
    print(f"{len(told)} theorems proved; they assume nothing but the axioms of Coq's real numbers")


if __name__ == "__main__":
    main(sys.argv[1:])
