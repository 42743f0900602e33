"""What `verify` is to say of each file that it says anything of."""

CHANGED = {
    "inserted": "offsets_unsorted",
    "inserted_first": "offsets_unsorted",
    "deleted_first": "dead_space",
    "deleted_middle": "dead_space",
    "deleted_last": "dead_space",
    "deleted_all": "stored_sizes_differ",
    "array_shrunk": "padding dead_space",
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
    "zip_name_up": "zip_name",
    "sparse_stray": "stray_file",
    "sparse_stray_empty": "stray_file",
    "variable_one_zeros": "zeros_of_unknown_size",
}
BAD = {
    # of the header: what it says of lengths is found where other bytes do not fit them
    "cbytes_minus_1": "cbytes offsets",
    "cbytes_max": "cbytes",
    "chunksize_0": "chunksize",
    "chunksize_1": "chunk_size chunk_size chunk_size chunk_size offsets",
    "chunksize_max": "chunk_size offsets",
    "chunksize_minus_2": "chunksize",
    "chunksize_unset": "chunksize",
    "chunksize_wrong": "chunk_size chunk_size chunk_size chunk_size offsets",
    "frame_len_0": "frame_len trailing_bytes",
    "frame_len_short": "trailer trailing_bytes",
    "frame_len_long": "truncated",
    "header_len_0": "header_len header_len",
    "header_len_86": "header_len header_len",
    "header_len_long": "offsets",
    "header_len_short": "metalayers offsets",
    "marker_metalayers": "metalayers",
    "nbytes_minus_1": "nbytes offsets",
    "vlmeta_chunk": "user_metadata",
    "cut_after_index": "truncated",
    "cut_in_trailer": "truncated",
    "cut_last_byte": "truncated",
    "cut_in_metalayers": "truncated",
    # of the index
    "index_long": "offsets shared_chunk",
    "index_special_zeros": "offsets shared_chunk",
    "offset_in_chunk": "chunk_header",
    "offset_last_overlap": "chunk_header",
    "offset_overlap": "chunk_header",
    "sparse_alone": "chunk_file chunk_file chunk_file chunk_file",
    "sparse_contiguous": "offset offset offset offset",
    "sparse_index_cut": "truncated offsets",
    "sparse_number_2_33": "offset",
    # of chunks
    "chunk_blocksize_1": "undecodable_chunk",
    "chunk_cbytes_long": "chunk_overlap",
    "chunk_filter_31": "unsupported_chunk",
    "chunk_instrumented": "unsupported_chunk",
    "chunk_nbytes_less": "chunk_size",
    "chunk_nbytes_other": "chunk_size",
    "chunk_nbytes_short": "chunk_size",
    "special_nan_2": "chunk_header typesize_differs typesize_differs",
    "variable_nbytes": "nbytes",
    "variable_zeros": "chunk_size chunk_size",
    "vl_count_max": "chunk_header",
    "vl_regular": "mixed_blocks",
    # of arrays and stores
    "array_dtype_length": "geometry",
    "embed_beyond_end": "leaf_unreadable dead_space",
    "embed_negative": "embed_map",
    "embed_inside": "leaf_unreadable dead_space",
    "zip_crc": "zip_crc",
    "zip_leaf_broken": "zip_crc frame_len",
}
# Many of one kind, by the beginning of the name.
LIKE = {
    "cut_": "truncated offsets", "frame_len_": "frame_len", "header_len_": "frame_len", "cbytes_": "offsets",
    "nbytes_": "offsets", "typesize_": "typesize", "blocksize_": "blocksize", "filters_": "filters",
    "meta_": "metalayers", "trailer_": "trailer", "vlmeta_": "trailer", "offset_": "offset", "index_": "offsets",
    "sparse_": "chunk_file", "chunk_": "chunk_header", "special_": "chunk_header", "block_": "undecodable_chunk",
    "vl_": "undecodable_chunk", "array_dtype_": "dtype", "array_": "geometry", "tensor_": "geometry", "zip_": "zip_local", "embed_": "leaf_unreadable",
}  # fmt: skip
# An append that was interrupted: before the header was written, and after that.
for state in ("chunk", "chunk_200", "index", "index_half", "update"):
    BAD[f"torn_{state}"] = BAD[f"old_torn_{state}"] = "offsets trailer trailing_bytes"
BAD["torn_chunk_8"] = BAD["old_torn_chunk_8"] = "offsets"
for state in ("header", "trailer", "length"):
    BAD[f"torn_{state}"] = BAD[f"old_torn_{state}"] = "cbytes trailer trailing_bytes"


def of(name: str, verdict: str) -> list[str]:
    """The codes, errors first."""
    if verdict == "unreadable":
        return []
    if verdict == "sound":
        return ODD.get(name, "").split()
    like = [codes for start, codes in LIKE.items() if name.startswith(start)]
    return BAD.get(name, like[0] if like else "").split()
