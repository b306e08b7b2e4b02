# SPDX-License-Identifier: Apache-2.0
"""Tables as they are stored: the only room that knows kinds of files and of frames, and what their bytes and types mean.

Which files a name leads to, and each of them once; the first line and the records of CSV; what a Parquet file declares, and
whether its pages are what they say; the types that are read; frames in memory as Arrow; and tables written without what
nobody named. What is learned of a file is learned once, for as long as the file stays as it is.

Nothing here counts or perturbs: `leeward.engine` counts, and `leeward.local` moves positions and readings.
"""
