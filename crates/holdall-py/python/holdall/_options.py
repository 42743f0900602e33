"""Options of the whole process."""

from __future__ import annotations


class Options:
    """Settings of the whole process, at `holdall.options`.

    preview : whether notebooks draw a small picture below a dataset, for which its values are read; False at first
    """

    __slots__ = ("preview",)

    def __init__(self) -> None:
        self.preview = False


options = Options()
