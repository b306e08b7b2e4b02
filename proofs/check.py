"""Check the proofs: `make proofs`.

Compiles every file named in _CoqProject, prints what each theorem assumes, and compares the numbers that the proofs compute
with those in examples.txt (`--write` renews that file). Fails on an assumption that is not in AXIOMS, on a word in a source
that could hide one, on a theorem that is gone from docs/proved.md's list, and on any difference in the numbers.

Only the Coq compiler is trusted, and this script to read its output. It needs Python and `coqc`, nothing of Leeward.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
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
    r"Admitted|admit|give_up|Abort|Axioms?|Parameters?|Conjectures?|Hypothes[ie]s|Variables?|Declare\s+Module|bypass_check"
    r"|type_in_type|Unset\s+(?:Guard|Positivity|Universe)\s+Checking|Extract(?:ion)?|Load|Redirect|Cd"
)
"""Words that leave a gap, or could hide one. Sections use `Context`, which each theorem takes as a premise."""

THEOREM = re.compile(r"^(?:Theorem|Corollary)\s+(\w+)", re.MULTILINE)


def files() -> list[str]:
    """The names of the proof files, in the order in which they build on each other."""
    return [line.removesuffix(".v") for line in (HERE / "_CoqProject").read_text().split() if line.endswith(".v")]


def code_of(source: str) -> str:
    """The source without its comments, which may be nested, and without its strings."""
    kept, depth = [], 0
    for part in re.split(r'(\(\*|\*\)|"(?:[^"]|"")*")', source):
        if part == "(*":
            depth += 1
        elif part == "*)":
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
    """Compile what has changed, and all that comes after it."""
    BUILD.mkdir(exist_ok=True)
    fresh = True
    for name in files():
        source, copy, done = HERE / f"{name}.v", BUILD / f"{name}.v", BUILD / f"{name}.vo"
        fresh = fresh and done.exists() and copy.exists() and copy.read_text() == source.read_text()
        if not fresh:
            done.unlink(missing_ok=True)
            shutil.copyfile(source, copy)
            start = time.monotonic()
            coqc(name)
            print(f"{name}.v proved in {time.monotonic() - start:.0f} s")


def told(output: str) -> dict[str, set[str]]:
    """Read `Print Assumptions` of several theorems, each after a line `== name`: the axioms of each."""
    found = {}
    for block in output.split("== ")[1:]:
        name, _, text = block.partition("\n")
        closed = text.strip() == "Closed under the global context"
        axioms = re.findall(r"^([\w.']+)\s*(?::|$)", text.removeprefix("Axioms:\n"), re.MULTILINE)
        if closed == text.startswith("Axioms:\n") or (not closed and not axioms):
            sys.exit(f"Coq says something unexpected about {name}:\n{text}")
        found[name.strip()] = set() if closed else set(axioms)
    return found


def assumptions() -> dict[str, set[str]]:
    """What each theorem assumes, as Coq tells it."""
    names = [f"{f}.{t}" for f, t in theorems()]
    lines = ["From Coq Require Reals.", "From Leeward Require " + " ".join(files()) + "."]
    lines += [f'Goal True. idtac "== {name}". Abort. Print Assumptions {name}.' for name in [LIBRARY, *names]]
    (BUILD / "Assumptions.v").write_text("\n".join(lines) + "\n")
    found = told(coqc("Assumptions"))
    if list(found) != [LIBRARY, *names]:
        sys.exit("Coq did not tell the assumptions of every theorem")
    if found.pop(LIBRARY) != AXIOMS:
        sys.exit(f"Coq's own {LIBRARY} does not rest on the four axioms that are allowed")
    return found


def examples() -> str:
    """The numbers that Examples.v computes, one a line."""
    (BUILD / "Printed.v").write_text(
        "From Coq Require Import String.\nFrom Leeward Require Import Examples.\nEval vm_compute in Examples.printed.\n"
    )
    return coqc("Printed").split('"')[1].strip() + "\n"


def main(arguments: list[str]) -> None:
    """Run all checks; exits with an error at the first that fails."""
    for name in files():
        if found := gaps((HERE / f"{name}.v").read_text()):
            sys.exit(f"{name}.v has a gap: {', '.join(found)}")
    compile_all()
    told = assumptions()
    for name, axioms in told.items():
        print(f"{name}: {', '.join(sorted(a.rpartition('.')[2] for a in axioms)) or 'nothing'}")
    for name, axioms in told.items():
        if axioms - AXIOMS:
            sys.exit(f"{name} assumes {', '.join(sorted(axioms - AXIOMS))}")
    if "Examples" in files():
        computed = examples()
        if "--write" in arguments:
            EXAMPLES.write_text(computed)
        elif computed != EXAMPLES.read_text():
            (BUILD / "examples.txt").write_text(computed)
            sys.exit(
                "The numbers computed in the proofs are not those of examples.txt: diff it with build/examples.txt"
            )
    print(f"{len(told)} theorems proved; they assume nothing but the axioms of Coq's real numbers")


if __name__ == "__main__":
    main(sys.argv[1:])
