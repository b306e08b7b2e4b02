"""Load the service near its caps: two processes on one ledger, 200 requests at once for 60 s, and one of the two is killed.

    python benchmarks/service.py [--clients 200] [--seconds 60]

Analysts whose caps add up to more than that of the data set ask random questions of a fixed list: so some are new, some were
asked before, and soon most are too dear. Halfway, one process is killed with SIGKILL and started again. Then the ledger is
held against what was answered: nothing is spent beyond any cap, each answer that anybody saw is recorded, and each question
has one answer. The figures are seconds from sending a request to its answer, at the client; connections that broke with the
killed process are counted apart. Clients and services share the machine.
"""

from __future__ import annotations

import argparse
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from leeward.ledger import Ledger
from leeward.service._offers import read_offers
from leeward.service.client import Client, RefusedError

CAP, OWN, ANALYSTS = Fraction(3), Fraction(1), 6
FILES = {
    "service.toml": """
tokens = "tokens.json"
seconds = 1
[data_sets.town]
spec = "town.toml"
kinds = ["visitors"]
notions = ["addition-only"]
most_epsilon = "1"
""",
    "town.toml": f"""
[data]
visits = "visits.csv"
person = "user"
place = "venue"
time = "at"
[places]
table = "places.csv"
place = "venue"
[budget]
ledger = "budget.db"
dataset = "town"
cap = "{CAP}"
notion = "addition-only"
""",
    "places.csv": "venue\n" + "".join(f"v{i}\n" for i in range(20)),
    "visits.csv": "user,venue,at\n" + "".join(f"p{i},v{i % 23},2026-01-01T18:{i % 60:02}:00\n" for i in range(2000)),
}
QUESTIONS: list[dict[str, Any]] = [
    {
        "window": {"start": f"2026-01-01T18:{minute:02}", "end": "2026-01-01T19:00"},
        "protect": {"notion": "addition-only", "epsilon": price, "places_per_person": 1, "if_more": "latest"},
        "decide": {"safe_at_most": 200},
        "publish": {"what": "counts"},
    }
    for minute in range(50)
    for price in ("1/2", "1/3")
]


@dataclass
class Found:
    """What was seen: seconds by kind of answer, the answers by question, and how often a connection broke."""

    took: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    answers: dict[int, set[tuple[str, str]]] = field(default_factory=lambda: defaultdict(set))
    broken: int = 0
    refused: Counter[str] = field(default_factory=Counter)

    def at(self, share: float, *kinds: str) -> float:
        """Return the seconds within which this share of the answers of some kinds came."""
        each = sorted(seconds for kind in kinds or self.took for seconds in self.took[kind])
        return each[min(int(share * len(each)), len(each) - 1)] if each else 0.0


def serve(folder: Path, port: int) -> subprocess.Popen[bytes]:
    """Start a service, and wait until it listens."""
    words = [sys.executable, "-m", "leeward", "serve", str(folder / "service.toml"), "--port", str(port), "--yes"]
    with (folder / "said.txt").open("a") as said:
        process = subprocess.Popen(words, stdout=said, stderr=said)
    while True:
        with socket.socket() as trial:
            if trial.connect_ex(("127.0.0.1", port)) == 0:
                return process
        if process.poll() is not None:
            raise SystemExit("the service did not begin to listen")
        time.sleep(0.05)


def load(folder: Path, clients: int, seconds: float) -> Found:
    """Load two services over one ledger, kill one of them halfway, and hold the ledger against what was seen.

    Raises:
        AssertionError: something was overspent, or an answer is not recorded.
    """
    for name, text in FILES.items():
        (folder / name).write_text(text, "utf-8")
    offers = read_offers(folder / "service.toml")
    tokens = [offers.tokens.create(f"a{i}", {"town": OWN}) for i in range(ANALYSTS)]
    ports = [_free_port() for _ in range(2)]
    services = [serve(folder, port) for port in ports]
    found, lock = Found(), threading.Lock()
    begun = time.monotonic()

    def ask(me: int) -> None:
        chance = random.Random(me)
        while time.monotonic() - begun < seconds:
            client = Client(f"http://127.0.0.1:{chance.choice(ports)}", tokens[chance.randrange(ANALYSTS)])
            which, sent = chance.randrange(len(QUESTIONS)), time.monotonic()
            kind, answer = "", dict[str, Any]()
            try:
                answer = client.release("town", QUESTIONS[which])
                kind = "new" if answer["charged"] != "0" else "stored"
            except RefusedError as refused:
                kind = "refused" if refused.code == "cap-exceeded" else refused.code
            except OSError:
                kind = "broken"
            except Exception as error:
                kind = "broken" if "http.client" in type(error).__module__ else type(error).__name__
            with lock:
                if kind == "broken":
                    found.broken += 1
                    continue
                found.took[kind].append(time.monotonic() - sent)
                if answer:
                    found.answers[which].add((answer["statement"]["entry"], repr(answer["answers"])))

    threads = [threading.Thread(target=ask, args=(me,)) for me in range(clients)]
    for thread in threads:
        thread.start()
    time.sleep(seconds / 2)
    services[0].send_signal(signal.SIGKILL)
    services[0].wait()
    services[0] = serve(folder, ports[0])
    for thread in threads:
        thread.join()
    for service in services:
        service.kill()
        service.wait()
    hold(folder, found)
    return found


def hold(folder: Path, found: Found) -> None:
    """Hold the ledger against what was seen."""
    ledger = Ledger(folder / "budget.db", create=False)
    ledger.check()
    (account,) = ledger.show("town")
    assert account.spent <= account.cap == CAP, account
    shares = ledger.shares("town")
    assert all(each.spent <= OWN for each in shares), shares
    assert sum(each.spent for each in shares) == account.spent
    recorded = {entry.id for entry in ledger.history("town") if entry.kind == "released"}
    assert all(len(answers) == 1 for answers in found.answers.values()), "a question has one answer"
    assert {entry for answers in found.answers.values() for entry, _ in answers} <= recorded
    assert set(found.took) <= {"new", "stored", "refused"}, (folder / "said.txt").read_text("utf-8")


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def main() -> None:
    """Run it, and print how long answers took."""
    from rich.table import Table

    from history import show

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60.0)
    args = parser.parse_args()
    with TemporaryDirectory() as folder:
        found = load(Path(folder), args.clients, args.seconds)
    table = Table(
        "answer", "how many", "median s", "p99 s", title=f"{args.clients} at once for {args.seconds:g} s, two processes"
    )
    for kind, each in sorted(found.took.items()):
        table.add_row(kind, f"{len(each):,}", f"{found.at(0.5, kind):.2f}", f"{found.at(0.99, kind):.2f}")
    table.add_row("all", f"{sum(map(len, found.took.values())):,}", f"{found.at(0.5):.2f}", f"{found.at(0.99):.2f}")
    table.add_row("connections broken by the kill", f"{found.broken:,}", "", "")
    show("service", table)


if __name__ == "__main__":
    main()
