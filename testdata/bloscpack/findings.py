"""What `verify` is to say of each file that it says anything of, and of how much weight it is."""

ERRORS = {
    # of the header
    "undefined_options", "unknown_checksum", "interim_version", "variable_length_version", "impossible_size",
    # of metadata
    "metadata_truncated", "metadata_sizes", "metadata_checksum", "metadata_unreadable", "numpy_metadata",
    "shape_mismatch",
    # of offsets
    "offsets_missing", "offsets_truncated", "offsets_unset", "offset_mismatch",
    "spare_offset", "item_count",
    # of chunks
    "chunk_truncated", "chunk_header", "chunk_overlap", "chunk_size_mismatch", "checksum", "undecodable_chunk",
    "unsupported_chunk",
}  # fmt: skip
WARNINGS = {
    "unfinished", "size_unknown", "reserved_not_zero", "metadata_spelling", "gap",
}  # fmt: skip
NOTES = {"metadata_padding", "blosc2_chunk", "trailing_bytes"}

ODD = {
    "append_shrinks": "trailing_bytes",
    "blosc2_chunk": "blosc2_chunk",
    "chunk_size_unknown": "size_unknown",
    "gaps": "gap trailing_bytes",
    "meta_bit_v2": "reserved_not_zero",
    "meta_blank_padded": "metadata_spelling",
    "meta_lone_surrogate": "metadata_spelling",
    "meta_options": "reserved_not_zero",
    "meta_python": "metadata_spelling",
    "meta_stale_padding": "metadata_padding",
    "nchunks_too_few": "trailing_bytes",
    "spare_without_offsets": "reserved_not_zero",
    "streamed": "unfinished size_unknown",
    "trailing_bytes": "trailing_bytes",
    "v1_count_unknown": "unfinished",
    "v2_other_options": "reserved_not_zero",
    "vl_gaps": "gap trailing_bytes",
    "vl_metadata_bit_alone": "reserved_not_zero",
    "vl_metadata_list": "metadata_spelling",
    "vl_python_metadata": "metadata_spelling",
    "vl_reserved": "reserved_not_zero",
}

BAD = {
    # of the header
    "checksum_9": "unknown_checksum",
    "chunk_size_minus_2": "impossible_size",
    "chunk_size_too_large": "impossible_size chunk_size_mismatch",
    "chunk_size_wrong": "chunk_size_mismatch",
    "last_chunk_larger": "impossible_size chunk_size_mismatch",
    "last_chunk_wrong": "chunk_size_mismatch",
    "nchunks_2e40": "chunk_truncated chunk_size_mismatch",
    "nchunks_max": "offsets_truncated",
    "nchunks_minus_2": "impossible_size unfinished",
    "nchunks_too_many": "chunk_truncated chunk_size_mismatch",
    "nchunks_unknown_offsets": "offsets_unset unfinished",
    "option_bit_2": "variable_length_version",
    "option_bit_7": "undefined_options",
    "spare_2e60": "offsets_truncated offset_mismatch",
    "spare_negative": "impossible_size",
    "spare_one_too_many": "offset_mismatch",
    "v2_bit_2": "undefined_options size_unknown",
    "v3_interim": "interim_version",
    # of metadata
    "meta_area_huge": "metadata_truncated",
    "meta_area_too_small": "metadata_sizes",
    "meta_checksum_9": "unknown_checksum trailing_bytes",
    "meta_codec_2": "metadata_unreadable",
    "meta_deep": "metadata_unreadable",
    "meta_digest": "metadata_checksum",
    "meta_format": "metadata_unreadable",
    "meta_nan": "metadata_unreadable",
    "meta_json_cut": "metadata_unreadable",
    "meta_not_json": "metadata_unreadable",
    "meta_not_utf8": "metadata_unreadable",
    "meta_size_4_gib": "metadata_unreadable",
    "meta_size_raw": "metadata_sizes",
    "meta_size_too_small": "metadata_unreadable",
    "meta_zlib_broken": "metadata_unreadable",
    "meta_zlib_cut": "metadata_unreadable",
    "np_axes_70": "numpy_metadata",
    "np_bytes_lost": "shape_mismatch",
    "np_dtype_code": "numpy_metadata",
    "np_dtype_number": "numpy_metadata",
    "np_dtype_unknown": "numpy_metadata",
    "np_negative": "numpy_metadata",
    "np_object": "numpy_metadata",
    "np_order": "numpy_metadata",
    "np_overflow": "shape_mismatch",
    "np_overflow_0": "shape_mismatch",
    "np_shape_float": "numpy_metadata",
    "np_shape_text": "numpy_metadata",
    "np_too_long": "shape_mismatch",
    "np_too_short": "shape_mismatch",
    # of offsets
    "header_alone": "offsets_truncated",
    "offsets_all_minus_1": "offsets_unset",
    "offsets_beyond_end": "offset_mismatch",
    "offsets_into_chunk": "offset_mismatch",
    "offsets_into_digest": "offset_mismatch",
    "offsets_into_header": "offset_mismatch",
    "offsets_into_table": "offset_mismatch",
    "offsets_max": "offset_mismatch",
    "offsets_minus_2": "offset_mismatch",
    "offsets_one_minus_1": "offset_mismatch",
    "offsets_same": "offset_mismatch",
    "offsets_swapped": "offset_mismatch offset_mismatch",
    "offsets_spare_used": "spare_offset",
    "table_cut": "offsets_truncated",
    # of the place and length of chunks
    "chunk_bit_flipped": "checksum",
    "chunk_missing": "chunk_truncated chunk_size_mismatch",
    "chunk_nbytes_flipped": "chunk_size_mismatch checksum",
    "chunk_sizes_uneven": "chunk_size_mismatch",
    "cut_after_first_chunk": "chunk_truncated",
    "cut_in_last_chunk": "chunk_truncated",
    "cut_in_last_digest": "chunk_truncated",
    "digest_wrong": "checksum",
    # of chunk headers
    "chunk_blocksize_0": "chunk_header",
    "chunk_blocksize_1": "undecodable_chunk",
    "chunk_blocksize_max": "chunk_header",
    "chunk_blosc2_lazy": "undecodable_chunk blosc2_chunk",
    "chunk_cbytes_0": "chunk_header",
    "chunk_cbytes_15": "chunk_header",
    "chunk_cbytes_beyond_end": "chunk_truncated",
    "chunk_cbytes_max": "chunk_truncated",
    "chunk_cbytes_stored": "chunk_header",
    "chunk_codec_5": "chunk_header",
    "chunk_codec_7": "chunk_header",
    "chunk_nbytes_0_with_bytes": "chunk_header",
    "chunk_nbytes_2_gib": "undecodable_chunk",
    "chunk_nbytes_max": "chunk_header",
    "chunk_reserved_flag": "chunk_header",
    "chunk_stored_too_long": "chunk_header",
    "chunk_stored_too_short": "chunk_header",
    "chunk_typesize_0": "chunk_header",
    "chunk_version_0": "chunk_header",
    "chunk_version_7": "chunk_header",
    "chunk_versionlz_9": "unsupported_chunk",
    "chunk_zstd_window": "unsupported_chunk",
    # of items
    "vl_as_v3": "variable_length_version",
    "vl_bit_2_clear": "undefined_options",
    "vl_count_2e50": "offsets_truncated item_count",
    "vl_count_unknown": "offsets_unset unfinished item_count trailing_bytes",
    "vl_cut": "chunk_truncated",
    "vl_example": "item_count",
    "vl_item_digest": "checksum",
    "vl_meta_size_2e31": "metadata_sizes trailing_bytes",
    "vl_meta_size_without_bit": "metadata_sizes chunk_truncated chunk_truncated chunk_truncated gap",
    "vl_metadata_broken": "metadata_unreadable",
    "vl_no_offsets": "offsets_missing",
    "vl_shape_wrong": "item_count",
    "vl_offset_beyond_end": "offset_mismatch",
    "vl_offset_into_table": "offset_mismatch",
    "vl_offsets_minus_1": "offsets_unset",
    "vl_offsets_overlap": "chunk_overlap gap",
}

# What a codec finds wrong within a chunk.
WITHIN = (
    "chunk_blosclz_", "chunk_lz4_", "chunk_snappy_before", "chunk_snappy_length", "chunk_start_", "chunk_stream_",
    "chunk_zlib_", "chunk_zstd_",
)  # fmt: skip


def of(name: str, bad: bool) -> list[str]:
    """The codes, errors first."""
    if bad and name.startswith(WITHIN) and name not in BAD:
        return ["undecodable_chunk"]
    return (BAD if bad else ODD).get(name, "").split()
