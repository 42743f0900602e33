"""What holds for the whole process."""

from __future__ import annotations


class Options:
    """preview : whether notebooks draw a small picture below a dataset (reads its values)."""

    __slots__ = ("preview",)

    def __init__(self) -> None:
        self.preview = False


options = Options()
