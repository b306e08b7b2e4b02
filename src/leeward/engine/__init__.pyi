# SPDX-License-Identifier: Apache-2.0
from ._beyond import refuse_beyond as refuse_beyond
from ._coarse import refuse_coarse as refuse_coarse
from ._copies import refuse_copies as refuse_copies
from ._look import Look as Look
from ._look import refuse_doubtful as refuse_doubtful
from ._look import refuse_late as refuse_late
from ._matches import may_be_alike as may_be_alike
from ._matches import refuse_alike as refuse_alike
from ._open import Keys as Keys
from ._open import files_of as files_of
from ._open import files_of_list as files_of_list
from ._open import open_data as open_data
from ._open import read_keys as read_keys
from ._open import sources_of as sources_of
from ._places import PlaceList as PlaceList
from ._places import read_places as read_places
from ._timed import Opened as Opened
