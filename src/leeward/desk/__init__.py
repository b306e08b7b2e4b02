# SPDX-License-Identifier: Apache-2.0
"""The desk: a page on the curator's own machine, from a table of visits to a release, by mouse or by keyboard.

It shows the parts of `leeward.spec`, `leeward.planner`, `leeward.session` and `leeward.report`, and has no way of its own to
count, to add noise or to charge. Each state is an address: what was answered so far is a spec file in a folder of the
desk's own, so that nothing is lost on reload, and the same file gives the same stored answer to the command and to Python.

It needs the extra ``desk``. Nobody but the browser that was opened with the address printed at the start gets a page; see
``leeward.desk._guard``.
"""

from leeward.desk._serve import serve

__all__ = ["serve"]
