# SPDX-License-Identifier: Apache-2.0
from ._beyond import refuse_beyond
from ._coarse import refuse_coarse
from ._copies import refuse_copies
from ._look import Look, refuse_doubtful, refuse_late
from ._matches import may_be_alike, refuse_alike
from ._open import Keys, files_of, files_of_list, open_data, read_keys, sources_of
from ._places import PlaceList, read_places
from ._timed import Opened

__all__ = [
    "Keys",
    "Look",
    "Opened",
    "PlaceList",
    "files_of",
    "files_of_list",
    "may_be_alike",
    "open_data",
    "read_keys",
    "read_places",
    "refuse_alike",
    "refuse_beyond",
    "refuse_coarse",
    "refuse_copies",
    "refuse_doubtful",
    "refuse_late",
    "sources_of",
]
