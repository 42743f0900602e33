"""Trees that are no YAML, or that ask for more than they are worth, by hand. Blocks behind them are sound."""

from layout import A, BLOCKS, BOTH, ONE, TWO
from parts import HEAD, TAGS, Fixture, block, file, ndarray, tree


def bad(name: str, about: str, body: str | bytes, **more: object) -> Fixture:
    """A tree in front of two blocks."""
    return Fixture(f"tree_{name}", about, file(body, *BLOCKS), verdict="damaged", **more)


def over(name: str, about: str, body: str) -> Fixture:
    """A tree beyond the limits."""
    return Fixture(f"tree_{name}", about, file(body, *BLOCKS), verdict="unreadable")


def syntax() -> list[Fixture]:
    return [
        bad("tab", "a tab that indents", "a:\n\tb: 1\n"),
        bad("unclosed_flow", "a bracket that nothing closes", "a: [1, 2\nb: 3\n"),
        bad("unclosed_quote", "a quote that nothing closes", "a: \"x\nb: 3\n"),
        bad("indent", "a key that is indented too little", "a:\n    b: 1\n  c: 2\n"),
        bad("two_values", "a value behind a value", "a: 'b' 'c'\n"),
        bad("colon_in_plain", "a second colon", "a: b: c\n"),
        bad("undefined_alias", "an alias that nothing names", "a: *x\n"),
        bad("anchor_twice", "an anchor that is defined twice", "a: &x 1\nb: &x 2\nc: *x\n"),
        bad("escape", "an unknown escape", "a: \"\\q\"\n"),
        bad("escape_surrogate", "an escape that is no character", "a: \"\\ud800\"\n"),
        bad("reserved", "a scalar that begins with a reserved sign", "a: @x\n"),
        bad("handle", "a tag with a handle that nothing defines", "a: !none!x 1\n"),
        bad("verbatim_open", "a tag in full that nothing closes", "a: !<tag:x 1\n"),
        bad("two_documents", "a second document before the end", "a: 1\n--- {b: 2}\n"),
        bad("line_break_in_key", "a key over two lines", "'a\n\n  b': 1\n"),
        bad("not_utf8", "text that is no UTF-8", tree("a: x\n").replace(b"a: x", b"a: \xff\xfe")),
        bad("overlong_utf8", "a letter that is spelled with too many bytes", tree("a: x\n").replace(b"a: x", b"a: \xc1\x81")),
        bad("surrogate_utf8", "half a surrogate pair in UTF-8", tree("a: x\n").replace(b"a: x", b"a: \xed\xa0\x80")),
        bad("nul", "a NUL", tree("a: x\n").replace(b"a: x", b"a: \0")),
        bad("control", "a control character", tree("a: x\n").replace(b"a: x", b"a: \x07")),
        bad("directive_twice", "two directives of the version", tree("a: 1\n").replace(b"%YAML 1.1\n", b"%YAML 1.1\n%YAML 1.1\n")),
        bad("directive_2_0", "version 2.0 of YAML", tree("a: 1\n").replace(b"%YAML 1.1\n", b"%YAML 2.0\n")),
        bad("directive_tag", "a handle without its second mark", tree("a: 1\n", tags="%TAG !foo tag:example.org:\n")),
        bad("directive_tag_twice", "a handle that is defined twice", tree("a: 1\n", tags=TAGS + TAGS)),
    ]  # fmt: skip


def ends() -> list[Fixture]:
    text = HEAD + tree(TWO, end="")
    return [
        Fixture("tree_no_end", "no three dots end the tree, and blocks follow", text + b"".join(BLOCKS), verdict="damaged", arrays=BOTH),
        Fixture("tree_no_end_blockless", "no three dots end the tree of a file without blocks", HEAD + tree("a: 1\n", end=""), verdict="damaged"),
        Fixture("tree_end_two_dots", "two dots end the tree", HEAD + tree("a: 1\n", end="..\n"), verdict="damaged"),
        Fixture("tree_end_words", "words behind the three dots", HEAD + tree("a: 1\n", end="... x\n"), verdict="damaged"),
    ]  # fmt: skip


def scalars() -> list[Fixture]:
    return [
        bad("int_word", "a word that is to be an integer", "a: !!int word\n"),
        bad("float_word", "a word that is to be a float", "a: !!float word\n"),
        bad("bool_word", "a word that is to be a boolean", "a: !!bool maybe\n"),
        Fixture("tree_binary_word", "what is no base 64, which Python leaves out", file("a: !!binary '***'\n"), nodes=True),
        bad("list_as_map", "a list that is to be a mapping", "a: !!map [1]\n"),
        bad("key_list", "a list as a key", "? [1, 2]\n: b\n"),
        bad("merge_scalar", "a merge key with a number", "a:\n  <<: 5\n  b: 1\n"),
    ]  # fmt: skip


def large() -> list[Fixture]:
    # 8^10 nodes, if every alias were followed.
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x]\n"
    bomb += "".join(f"a{at}: &a{at} [{', '.join([f'*a{at - 1}'] * 8)}]\n" for at in range(1, 10))
    merges = "a0: &a0 {k0: 1}\n" + "".join(f"a{at}: &a{at}\n  <<: [{', '.join([f'*a{at - 1}'] * 8)}]\n  k{at}: 1\n" for at in range(1, 10))
    return [
        over("depth", "20 000 brackets, one within the other", "a: " + "[" * 20_000 + "]" * 20_000 + "\n"),
        over("depth_open", "20 000 brackets that nothing closes", "a: " + "[" * 20_000 + "\n"),
        over("depth_map", "5 000 braces, one within the other", "a: " + "{a: " * 5_000 + "}" * 5_000 + "\n"),
        Fixture("tree_alias_bomb", "aliases of aliases, a thousand million nodes if each were followed", file(bomb), reference="it follows each"),
        Fixture("tree_merge_bomb", "merge keys of merge keys", file(merges), unread=True),
        Fixture("tree_long_number", "a number of 4000 digits", file("a: 1" + "0" * 4000 + "\n"), nodes=True),
        Fixture("tree_number_too_long", "a number of 5000 digits, which Python does not read", file("a: 1" + "0" * 5000 + "\n"), reference="it refuses the number"),
    ]  # fmt: skip


def fixtures() -> list[Fixture]:
    return [*syntax(), *ends(), *scalars(), *large()]
