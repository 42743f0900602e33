"""What `verify` is to say of each file that it says anything of."""

import view

# Of sound ones what `view.odd` does not find.
ODD = {
    "version_1_1": "version",
    "standard_9_9": "standard",
    "standard_word": "standard",
    "blank_line_before_tree": "blank_before_tree",
    "blanks_before_tree": "blank_before_tree",
    "no_directive": "no_yaml_directive",
    "tree_end_blanks": "tree_end_blanks",
    "padding_treeless": "padding_without_tree",
    "junk_after_tree": "junk_after_tree",
    "gap": "gap no_index",
    "gap_nul": "gap",
    "junk_after_blocks": "junk_after_blocks no_index",
    "junk_after_index": "junk_after_index",
    "nuls_after_blocks": "no_index padding",
    "nuls_after_index": "padding",
    "block_flags": "block_flags",
    "index_edited": "stale_index",
    "index_short": "stale_index",
    "index_twice": "stale_index",
    "index_long": "stale_index",
    "index_backwards": "stale_index",
    "index_middle_wrong": "stale_index",
    "index_beyond": "stale_index",
    "index_empty": "stale_index",
    "index_words": "index",
    "index_huge": "index",
    "index_mapping": "index",
    "index_cut": "index",
    "index_cut_marker": "junk_after_blocks no_index",
    "index_no_end": "index",
    "index_broken": "index",
    "index_behind_nul": "junk_after_blocks",
    "index_alone": "index_forbidden",
    "unreferenced": "unreferenced_block unreferenced_block",
    "unreferenced_label": "unreferenced_block",
    "unreferenced_blockless": "unreferenced_block unreferenced_block",
    "stream_torn": "torn_row",
    "stream_torn_first": "torn_row",
    "missing_external": "external",
    "outside_external": " ".join(["external"] * 7),
    "reference_missing": "reference reference",
    "cut_old_end": "junk_after_blocks stale_index",
    "cut_tree_twice": "padding no_index unreferenced_block",
    "cut_copied_down": "stale_index unreferenced_block",
    "duplicate_keys": "duplicate_key duplicate_key",
    "duplicate_keys_equal": "duplicate_key duplicate_key",
}
BAD = {
    "block_header_size_47": "block_header gap",
    "block_header_size_0": "block_header gap",
    "block_header_size_max": "block_header",
    "block_used_over_allocated": "used_over_allocated",
    "block_plain_short": "plain_sizes",
    "block_plain_long": "plain_sizes",
    "block_used_max": "used_over_allocated truncated",
    "block_size_max": "plain_sizes",
    "block_allocated_short": "gap array stale_index",
    "block_allocated_long": "array stale_index",
    "stream_compressed": "streamed_compressed",
    "stream_not_last": "array",
}
# Many of one kind, by the beginning of the name.
LIKE = {
    "tree_no_end": "tree_unterminated",
    "tree_end_": "tree_unterminated",
    "tree_": "tree unreferenced_block unreferenced_block",
    "array_": "array",
    "block_checksum_": "checksum",
    "block_lz4": "undecodable_block",
    "block_blsc": "undecodable_block",
    "block_bls2": "undecodable_block",
    "block_bsc2": "undecodable_block",
    "block_zlib": "undecodable_block",
    "block_bzp2": "undecodable_block",
    "block_zstd": "undecodable_block",
    "block_xz": "undecodable_block",
    "cut_": "truncated",
    "block_allocated_": "truncated",
}


def of(fixture: object) -> list[str]:
    """The codes."""
    if fixture.verdict == "unreadable":
        return []
    if fixture.verdict == "sound":
        return ODD.get(fixture.name, "").split() or view.odd(fixture.data, fixture.main)
    like = [codes for start, codes in LIKE.items() if fixture.name.startswith(start)]
    return BAD.get(fixture.name, like[0] if like else "").split()
