# SPDX-License-Identifier: Apache-2.0
"""The service: several analysts ask about one curator's data over HTTP, within what the curator signed off.

It has no way of its own to count, to add noise or to charge: a question is what a spec asks, and its stored answer is the
same from the service, the desk, the command and Python. What is new here is who may ask (``_tokens``, ``_guard``), what
(``_offers``, ``_asked``), and that nothing but answers depends on the data (``_answering``): where a curator would be told
something and asked, an analyst is answered by the mechanism, or refused by public facts.

It needs the extra ``desk``. The client for analysts is one file of its own, `leeward.service.client`.
"""

from leeward.service import client
from leeward.service._serve import serve

__all__ = ["client", "serve"]
