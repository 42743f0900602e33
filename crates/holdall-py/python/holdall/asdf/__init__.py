"""ASDF trees with their tags: read, searched, validated, written, and changed in place.

    from holdall import asdf
    with asdf.open("image.asdf", "rw") as file:
        print(file["roman"]["meta"]["exposure"], file["roman"]["data"][0:10, ::4].mean())
        file.set("/roman/meta/exposure/quality", "good")
        file.commit()

Not a replacement of the package asdf: there are no converters here, which make a `Quantity` or a `WCS` of what is under a tag. Values are those
of YAML and numpy, and tags stay on them. Both work on one file side by side (docs/python.md).
"""

from ._file import AsdfFile, open
from ._search import Match, SearchResult
from ._tagged import Tagged, TaggedDict, TaggedList, TaggedStr
from ._tree import Tree, plain
from ._write import write

__all__ = [
    "AsdfFile",
    "Match",
    "SearchResult",
    "Tagged",
    "TaggedDict",
    "TaggedList",
    "TaggedStr",
    "Tree",
    "open",
    "plain",
    "write",
]
