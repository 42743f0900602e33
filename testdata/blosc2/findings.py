"""What `verify` is to say of each file that it says anything of."""

CHANGED = {
    "inserted": "offsets_unsorted",
    "inserted_first": "offsets_unsorted",
    "deleted_first": "dead_space",
    "deleted_middle": "dead_space",
    "deleted_last": "dead_space",
    "deleted_all": "dead_space",
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
    "shared_chunk": "shared_chunk",
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
}
BAD: dict[str, str] = {}


def of(name: str, verdict: str) -> list[str]:
    """The codes, errors first."""
    if verdict == "unreadable":
        return []
    return (BAD if verdict == "damaged" else ODD).get(name, "").split()
