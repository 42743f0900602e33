"""What `verify` is to say of each file that it says anything of."""

CHANGED = {
    "inserted": "offsets_unsorted",
    "inserted_first": "offsets_unsorted",
    "deleted_first": "dead_space",
    "deleted_middle": "dead_space",
    "deleted_last": "dead_space",
    "deleted_all": "stored_sizes_differ",
    "array_shrunk": "dead_space",
}
ODD = {
    **CHANGED,
    **{f"old_{name}": codes for name, codes in CHANGED.items()},
    "reordered": "offsets_unsorted",
    "variable_by_insert": "offsets_unsorted",
    "sparse_inserted": "offsets_unsorted",
    # The old release leaves a chunk where it was when its place is too small for what replaces it.
    "old_updated_smaller": "dead_space",
    "old_updated_larger": "offsets_unsorted dead_space",
    "old_updated_zeros": "dead_space",
    "old_updated_twice": "offsets_unsorted dead_space",
    "gap_before": "dead_space",
    "gaps": "offsets_unsorted dead_space dead_space",
    "shared_chunk": "offsets_unsorted shared_chunk",
    "mixed_codecs": "mixed_codecs",
    "mixed_typesizes": "typesize_differs typesize_differs",
    "trailing_bytes": "trailing_bytes",
    "trailing_zeros": "trailing_bytes",
    "trailing_frame": "trailing_bytes",
    "fingerprint": "fingerprint",
    "vlmeta_flag": "vlmeta_flag",
    "stored_zeros": "stored_special",
    "padding": "padding",
    "embed_deleted": "dead_space",
    "sparse_stray": "stray_file",
    "sparse_stray_empty": "stray_file",
    "variable_one_zeros": "zeros_of_unknown_size",
}
BAD = {
    "array_dtype_length": "geometry",
    "chunk_cbytes_long": "chunk_overlap",
    "chunk_nbytes_less": "chunk_size",
    "chunk_nbytes_other": "chunk_size",
    "chunk_noise": "chunk_header",
    "chunk_zero": "chunk_header",
    "offset_in_chunk": "chunk_overlap",
    "offset_overlap": "chunk_header",
    "sparse_contiguous": "chunk_file",
    "sparse_index_cut": "truncated",
    "vl_regular": "chunk_size",
    "variable_nbytes": "nbytes",
    "variable_zeros": "chunk_size",
}
# Many of one kind, by the beginning of the name.
LIKE = {
    "cut_": "truncated", "frame_len_": "frame_len", "header_len_": "header_len", "cbytes_": "cbytes", "nbytes_": "nbytes",
    "chunksize_": "chunksize", "typesize_": "typesize", "blocksize_": "blocksize", "filters_": "filters",
    "meta_": "metalayers", "trailer_": "trailer", "vlmeta_": "vlmetalayers", "offset_": "offset", "index_": "offsets",
    "sparse_": "chunk_file", "chunk_": "chunk_header", "special_": "undecodable_chunk", "block_": "undecodable_chunk",
    "vl_": "undecodable_chunk", "array_dtype_": "dtype", "array_": "geometry", "zip_": "zip", "embed_": "embed_map",
    "torn_": "offsets", "old_torn_": "offsets",
}  # fmt: skip


def of(name: str, verdict: str) -> list[str]:
    """The codes, errors first."""
    if verdict == "unreadable":
        return []
    if verdict == "sound":
        return ODD.get(name, "").split()
    like = [codes for start, codes in LIKE.items() if name.startswith(start)]
    return BAD.get(name, like[0] if like else "").split()
