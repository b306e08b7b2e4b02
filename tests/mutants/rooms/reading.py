"""Mistakes in the engine: what is counted, and what is noticed."""

from tests.mutants.mutant import Mutant as M

VISITS = "leeward.engine._visits"
NUMBERS = "leeward.engine._numbers"
COLUMNS = "leeward.engine._columns"
PLACES = "leeward.engine._places"
CLOCK = "leeward.engine._window"
COUNTS = "tests/engine/test_engine_counts.py"

MUTANTS = [
    M(VISITS, "VisitTable._rows_in", "(self._rows.stamp < end)", "(self._rows.stamp <= end)", COUNTS + " tests/session/test_release_command.py",
      "the end of the window is inside"),
    M("leeward.tables._csv", "_packed", "raise _damaged(file) from None", "pass", "tests/engine/test_damaged_files.py", "the checksum of a gzip file is not looked at"),
    M("leeward.engine._csv_rows", "csv_rows", "found - before != there", "False", "tests/engine/test_csv_rows.py", "rows that the engine loses are not missed"),
    M("leeward.tables._csv", "_names", "not _ONE_WAY.fullmatch(line)", "False", "tests/engine/test_csv_rows.py", "a first line that is split in two ways is read"),
    M("leeward.tables._csv", "length", "quoted = np.logical_xor.accumulate(letters == 34) ^ inside", "quoted = np.logical_xor.accumulate(letters == 34)",
      "tests/engine/test_csv_rows.py", "a quote does not last from piece to piece"),
    M("leeward.tables._files", "once", "kept if file.is_still else read", "kept", "tests/tables/test_read_once.py", "what was read of a file in the making is kept"),
    M("leeward.tables._files", "stamp_of", ", found.st_mtime_ns, found.st_ctime_ns", "", "tests/tables/test_read_once.py", "a file of as many bytes in the place of another is not noticed"),
    M("leeward.engine._bind", "bind", "check_bound(columns, file, _named_by_engine(connection, link))", "pass", "tests/engine/test_bound_columns.py",
      "a name that the engine made is read as one of the file's"),
    M("leeward.engine._bind", "_lock", "'statistics_propagation,filter_pushdown'", "''", "tests/engine/test_damaged_files.py", "what a Parquet file says of its rows is believed"),
    M("leeward.engine._bind", "bind", "check_pages(file, tuple(names))", "pass", "tests/engine/test_damaged_files.py", "damaged pages are read on"),
    M("leeward._encodings", "", 'UTF8: Final = "utf-8-sig"', 'UTF8: Final = "utf-8"', "tests/engine/test_engine_encodings.py", "a byte order mark is a character"),
    M(VISITS, "VisitTable.count", 'refused=query.if_more == "refuse" and over > 0', "refused=False", COUNTS, "people over the bound are not refused"),
    M(VISITS, "_by_place", "chosen=packed.max() if latest else packed.min()", "chosen=packed.max()", COUNTS + " tests/spec/test_release_keys.py", "earliest is latest"),
    M(VISITS, "_by_place", "people=(placed.place < k).sum()", "people=(placed.place <= k).sum()", COUNTS, "a person counts at k + 1 places"),
    M(VISITS, "_by_place", "over=(placed.place == k).sum()", "over=(placed.place >= k).sum()", COUNTS, "people over the bound are counted by places"),
    M(VISITS, "_by_place", 'preference = (pairs.stamp.desc() if latest else pairs.stamp.asc(), pairs["rank"].asc())',
      'preference = (pairs.stamp.desc() if latest else pairs.stamp.asc(), pairs["rank"].desc())', COUNTS, "ties go to the later place of the list"),
    M(NUMBERS, "_index", "units = inside * scale", "units = column * scale", "tests/engine/test_engine_numbers.py", "whole numbers are not clamped"),
    M(NUMBERS, "_index", "whole_quotient((2 * above + step).clip(0, None), 2 * step)", "whole_quotient((2 * above + step - 1).clip(0, None), 2 * step)",
      "tests/engine/test_engine_numbers.py", "half is rounded down"),
    M(NUMBERS, "NumberTable.count", "group=taken.group.min()", "group=taken.group.max()", "tests/engine/test_engine_numbers.py",
      "a person in two groups counts in the later one"),
    M(NUMBERS, "NumberTable.count", "(taken.number + first).sum() - first", "taken.number.sum()", "tests/engine/test_engine_numbers.py",
      "the lower bound is subtracted once from a sum of several"),
    M(NUMBERS, "_statistic", "if query.people is not None and total != query.people:", "if False:", "tests/engine/test_engine_numbers.py tests/spec/test_release_keys.py",
      "a declared number of people is not checked"),
    M(NUMBERS, "_statistic", 'side="right"', 'side="left"', "tests/engine/test_engine_numbers.py", "a percentile one place too low"),
    M(NUMBERS, "GroupList.digest", "list(self.query.groups)", "sorted(self.query.groups)", "tests/keys/test_number_inputs.py",
      "the order of the groups leaves the key"),
    M(PLACES, "PlaceList.digest", '"".join(self.keys.to_pylist()).encode()', '"".join(sorted(self.keys.to_pylist())).encode()', "tests/keys/test_visitor_inputs.py",
      "the order of the public list leaves the key"),
    M(PLACES, "PlaceList.digest", "seen.update(lengths.astype(\"<i8\").tobytes())", "pass", "tests/engine/test_engine_places.py",
      "keys that join to the same text are one list"),
    M(PLACES, "_squares", "np.divmod(np.arange(rows * columns), columns)", "np.divmod(np.arange(rows * columns), rows)", "tests/engine/test_engine_places.py",
      "rows and columns of a grid are mixed"),
    M(COLUMNS, "_inside", "(longitude < grid.east)", "(longitude <= grid.east)", "tests/engine/test_engine_places.py tests/spec/test_release_keys.py",
      "points on the eastern edge are inside"),
    M(COLUMNS, "_inside", "(latitude >= grid.south)", "(latitude > grid.south)", "tests/engine/test_engine_places.py tests/spec/test_release_keys.py",
      "points on the southern edge are outside"),
    M(COLUMNS, "kept", "fill_null(False)", "fill_null(True)", COUNTS + " tests/engine/test_engine_digest.py", "a missing value passes the filter"),
    M(COLUMNS, "point", "both.ifelse(value, ibis.null())", "value", "tests/engine/test_engine_places.py " + COUNTS, "half a position is a position"),
    M(CLOCK, "bounds", "-(-start * per_second // 10**6)", "start * per_second // 10**6", "tests/engine/test_engine_clock.py", "the start of a window is rounded down"),
    M(CLOCK, "_instant", "_utc(reading, zone, fold=0)", "_utc(reading, zone, fold=1)", "tests/engine/test_engine_clock.py",
      "of a time shown twice the second is meant"),
    M("leeward.engine._content", "recognised", "coalesce(length(r{i})::VARCHAR || ':' || r{i}, '-')", "coalesce(r{i}, '-')", "tests/engine/test_engine_digest.py",
      "the rows (a, bc) and (ab, c) read the same"),
    M("leeward.engine._content", "recognised", '["rows", names, kinds, *whole[1:]]', '["rows", names, kinds, whole[1]]', "tests/engine/test_engine_digest.py",
      "the digest sees the number of rows only"),
]  # fmt: skip
