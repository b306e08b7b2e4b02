# SPDX-License-Identifier: Apache-2.0
"""How the command ends early: signals clean up as Ctrl-C does, and what stdout does not take is not called a defect."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

_ENDING = (signal.SIGTERM, signal.SIGHUP)
_got: list[signal.Signals] = []


@contextmanager
def ended_as_by_an_interrupt() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end the block as Ctrl-C does: charges are withdrawn, and private files removed.

    A signal that is ignored stays ignored, as under nohup.
    """
    _got.clear()
    before = {each: signal.getsignal(each) for each in (*_ENDING, signal.SIGINT)}
    ours = [each for each, does in before.items() if does in (signal.SIG_DFL, signal.default_int_handler)]
    if threading.current_thread() is not threading.main_thread():
        ours = []  # only the main thread may say what signals do

    def end(number: int, _frame: object) -> None:
        _got.append(signal.Signals(number))
        for each in ours:
            if each != signal.SIGINT:
                signal.signal(each, _ignore)  # once is enough: what is being cleaned up is not cut short
        raise KeyboardInterrupt

    hook, alarm = sys.unraisablehook, signal.getsignal(signal.SIGALRM)

    def swallowed(what: sys.UnraisableHookArgs) -> None:
        if _got and issubclass(what.exc_type, KeyboardInterrupt):
            signal.signal(signal.SIGALRM, _interrupt)
            signal.setitimer(signal.ITIMER_REAL, _SOON)
        else:
            hook(what)

    if ours:
        # an interrupt that meets the end of an object is printed there and then ignored: it comes once more
        sys.unraisablehook = swallowed
    for each in ours:
        signal.signal(each, end)
    try:
        yield
    finally:
        for each in ours:
            signal.signal(each, before[each])
        if ours:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, alarm)
            sys.unraisablehook = hook


_SOON: Final = 0.01
"""Seconds after which an interrupt that was swallowed comes again."""


def _interrupt(number: int, frame: object) -> None:
    raise KeyboardInterrupt


def _ignore(number: int, frame: object) -> None:
    """Do nothing: for a signal that Python has noted already, the system's own way of ignoring it prints a traceback."""


def ended_by() -> signal.Signals | None:
    """Return the first signal that asked for an end, or None.

    What fails after it fails because of it, whatever the exception: libraries swallow an interrupt while they are loaded,
    and break in other ways.
    """
    return _got[0] if _got else None


def open_closed_streams() -> None:
    """Give a process whose standard streams are closed some that lead nowhere.

    Otherwise a file of ours would get the number of one, and what is for the curator on stderr would be printed on stdout.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w" if number else "r", encoding="utf-8"))  # noqa: SIM115 - to the end


STANDARD_OUTPUT, STANDARD_ERROR = "standard output", "standard error"


class BrokenStreamError(Exception):
    """Standard output or standard error cannot be written, as on a full disk."""


@contextmanager
def printing(stream: str) -> Iterator[None]:
    """Tell what a stream does not take from a defect of ours. A reader that has gone is neither: the work goes on unread.

    Raises:
        BrokenStreamError: the stream, named so, cannot be written.
    """
    try:
        yield
    except BrokenPipeError:
        unread = sys.stderr if stream == STANDARD_ERROR else sys.stdout
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), unread.fileno())
    except OSError as error:
        raise BrokenStreamError(f"{stream} cannot be written: {os.strerror(error.errno or 0)}") from None
