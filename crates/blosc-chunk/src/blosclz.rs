//! BloscLZ, the descendant of FastLZ that Blosc brought along.
