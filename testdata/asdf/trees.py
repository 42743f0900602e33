"""YAML 1.1 by hand: what every scalar means, styles, tags, anchors and what stands between them. No blocks."""

from parts import HEAD, TAGS, Fixture, file

INTS = "0 00 +1 -0 -17 1_000 0b101 -0b1_1 0x1F 0xDEADBEEF -0x1a 017 -017 0_7 1:30 190:20:30 -1:30 12:30:45 9223372036854775807 -9223372036854775808 18446744073709551616 123456789012345678901234567890"
FLOATS = "1. .5 1.0 -1.5 1.0e+3 1.5E-3 685.230_15e+03 1:30.5 -190:20:30.15 .inf -.inf +.inf .Inf .INF .nan .NaN .NAN 5.0e-324 1.7976931348623157e+308 2.2250738585072014e-308 0.1 -0.0 1.0e+400 123456789.123456789 1_0.5"
BOOLS = "yes Yes YES no No NO true True TRUE false False FALSE on On ON off Off OFF"
NULLS = "null Null NULL ~"
STRINGS = (
    "y n Y N tRUE nUll 08 09 0o17 0X1F 0x 0b 0b2 _1 1__ +_1 1e3 1e+3 1.0e3 1.e5 12e03 -2E+05 -.5 +.5 inf nan .iNF .Nan "
    "2001-1-1 1:60 1:30:60 1:99.5 1.2.3 1,5 - -- --1 1-2 a:b a#b .. .e+3 ._1 0.e 99999999999999999999x é 日本 😀 = <<x"
)
TIMES = (
    "2001-12-14", "2001-12-14 21:59:43.10 -5", "2001-12-14t21:59:43.1-05:00", "2001-12-15 2:59:43.10",
    "2001-12-14T21:59:43Z", "2001-12-14T21:59:43.123456789Z", "1970-01-01 00:00:00", "2001-12-14 21:59:43 +05:30", "0001-01-01",
)  # fmt: skip


def one(name: str, about: str, body: str, **more: object) -> Fixture:
    return Fixture(f"yaml_{name}", about, file(body), nodes=True, **more)


def listed(*texts: str) -> str:
    return "".join(f"- {text}\n" for text in texts)


def scalars() -> list[Fixture]:
    def block(texts: str) -> str:
        return "a:\n" + listed(*texts.split()) + "b: {" + ", ".join(f"k{at}: {text}" for at, text in enumerate(texts.split()) if not {",", ":"} & set(text) and text != "-") + "}\n"

    quoted = "".join(f"- '{it}'\n- \"{it}\"\n- !!str {it}\n- ! {it}\n" for it in ("yes", "017", "1:30", "1.5", "~", "2001-12-14", ".inf"))
    explicit = listed(
        "!!int '12'", "!!int \"0x1F\"", "!!int 017", "!!float 1", "!!float '1e3'", "!!float 1e3", "!!float inf", "!!bool 'yes'", "!!null ''", "!!str", "!!str null",
        "!!binary SGVsbG8=", "!!binary |\n  SGVs\n  bG8=", "!!timestamp '2001-12-14'", "!!float .nan", "!!int '190:20:30'",
    )  # fmt: skip
    return [
        one("ints", "what is an integer", block(INTS)),
        one("floats", "what is a float", block(FLOATS)),
        one("bools", "what is a boolean", block(BOOLS)),
        one("nulls", "what is null", block(NULLS) + "c:\nd: {e: , f}\ng:\n-\n- \n"),
        one("strings", "what looks like something else and is a string", block(STRINGS)),
        one("times", "dates and times", "a:\n" + listed(*TIMES)),
        one("quoted", "quotes and tags make strings of all", "a:\n" + quoted),
        one("explicit", "tags of YAML's own types", "a:\n" + explicit),
        one("keys", "keys that are no text", "1: a\n0x10: b\n1.5: c\ntrue: d\nnull: e\n2001-12-14: f\n'1': g\n? quoted\n: h\n? |\n  block\n: i\n~: j\n"),
    ]  # fmt: skip


def styles() -> list[Fixture]:
    double = r'''a: "\0\a\b\t\n\v\f\r\e\"\/\\\N\_\L\P\x41\u00e9\U0001F600"
b: "folded
  line

  and a break \
  joined"
c: "tab	in it"
d: 'it''s'
e: 'folded
  line

  twice'
f: ""
g: ''
h: " blanks "
'''
    literal = (
        "a: |\n  one\n  two\n\n  three\nb: |-\n  no newline\nc: |+\n  all newlines\n\n\nd: |2\n    two blanks\n  none\n"
        "e: >\n  folded\n  line\n\n  next\n   indented\n  last\nf: >-\n  strip\ng: >+\n  keep\n\nh: |\ni: |1-\n  one blank\nj: | # comment\n  # no comment\n"
    )
    plain = "a: word\nb: two words\nc: over\n  several\n  lines\n\n  and more\nd: a#b\ne: a # comment\nf: http://example.org/x?y=1#z\ng: -a\nh: ?b\ni: :c\nj: [a b, c:d, 'e,f']\nk: {a: b c, d: e:f}\nl: a, b\nm: a]b\n"
    flow = "a: {b: [1, 2, {c: d}], e: {}, f: []}\ng: [\n  1,\n  2,   # comment\n  [3,\n   4],\n]\nh: {i: 1, 'j': 2, \"k\": 3, l, m: }\nn: [o: p, q: r]\ns: {\"t\":1, 'u':[2]}\n"
    indents = "a:\n- b\n- c:\n    d: e\n    f:\n    - g\n-   - h\n    - i\n-\n  j: k\n-\n  - l\nm:\n      n: o\np: # comment\n\n  q: r\n# comment\n\n  # comment\n"
    return [
        one("double_quoted", "quotes with every escape", double),
        one("literal", "block scalars with every header", literal),
        one("plain", "plain scalars, some over several lines", plain),
        one("flow", "flow collections", flow),
        one("indents", "every way to indent", indents),
        one("unicode", "letters of several scripts, as keys and values", "é: ü\n日本語: 漢字\n'😀': \"\\U0001F600\"\nα β: γ δ\n'x y': \"\\u2028 \\x85\"\n"),
        one("explicit_keys", "keys behind question marks", "? a\n: b\n? c\n? 'd'\n:\n  - e\n? |\n  block\n: f\n"),
        one("long_lines", "lines of several thousand letters", "a: " + "word " * 900 + "\nb: '" + "x" * 3000 + "'\n" + "c" * 120 + ": d\n"),
        one("deep", "100 levels", "a: " + "[" * 100 + "]" * 100 + "\n"),
        one("many", "500 keys in a row", "".join(f"key{it:04}: {it * 7919 % 1000}\n" for it in range(500))),
        one("crlf", "newlines of CR and LF in scalars", "a: |\r\n  one\r\n  two\r\nb: 'x\r\n  y'\r\nc: >-\r\n  f\r\n  g\r\n"),
    ]  # fmt: skip


def structure() -> list[Fixture]:
    anchors = "a: &x {b: 1}\nc: *x\nd: &y [1, *x]\ne: *y\nf: &z text\ng: *z\nh: [&w 5, *w]\n'i': &a-b_1 v\nj: *a-b_1\n&k key: 1\nl: *k\n"
    cycles = "a: &a\n  b: *a\nc: &c [*c, {d: *c}]\n"
    merges = (
        "base: &b {x: 1, y: 2}\nother: &o {y: 3, z: 4}\na:\n  <<: *b\n  y: own\nb:\n  <<: [*b, *o]\n  q: 5\nc:\n  y: own\n  <<: *o\n"
        "d: {<<: {inline: 1}, k: 2}\nf:\n  '<<': no merge\ng:\n  <<: *b\nh: &h\n  <<: *o\n  h: 1\ni:\n  <<: *h\n"
    )
    tags = (
        "%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n%TAG !a! tag:example.org,2020:a/\n%TAG !! tag:yaml.org,2002:\n--- !core/asdf-1.1.0\n"
        "a: !a!thing-1.0.0 {b: 1}\nc: !a!text-1.0.0 5\nd: !unknown/x-1.0.0 [1, 2]\ne: !<tag:example.org,2020:verbatim> v\nf: !<!local> w\n"
        "g: !a!%C3%A9 é\nh: !!int '5'\ni: !<tag:yaml.org,2002:int> '6'\nj: !core/unknown-9.9.9 {k: 1}\nl: !<asdf://example.org/tags/m-1.0.0> {n: 1}\no: ! untagged\n...\n"
    )
    local = "%YAML 1.1\n---\na: !local {b: 1}\nc: !other/thing 5\nd: ! 5\n...\n"
    collections = "a: !!set {b, c}\nd: !!omap [e: 1, f: 2]\ng: !!pairs [h: 1, h: 2]\ni: !!map {j: 1}\nk: !!seq [1]\n"
    comments = "# first\na: 1 # one\n\n# second\nb:\n  # third\n  - 2 # two\n  # fourth\n  - 3\n\n# fifth\nc: {d: 4, # four\n    e: 5}\n//: the key for comments\n# last\n"
    return [
        one("anchors", "anchors and aliases on everything", anchors),
        one("cycles", "what holds itself", cycles),
        one("merges", "merge keys", merges),
        Fixture("yaml_tags", "tags of several handles, in full, local and unknown", file(tags.encode()), nodes=True),
        Fixture("yaml_local_tags", "tags that are local, without a directive", file(local.encode()), nodes=True),
        one("collections", "YAML's own collections: set, omap, pairs", collections),
        one("comments", "comments everywhere", comments),
        one("strings_for_1_2", "strings as Python asdf writes them, which YAML 1.2 reads otherwise", "a: 0o17\nb: 1e3\nc: 'yes'\nd: '017'\ne: 1e+3\nf: .5.\ng: 'null'\nh: ! '2001-12-14'\n"),
        Fixture("yaml_directives", "comments behind directives, and one that is reserved", HEAD + b"%YAML 1.1 # comment\n%TAG ! tag:stsci.edu:asdf/  # comment\n# between\n--- # comment\na: 1\n...\n", nodes=True),
        one("utf8_breaks", "what breaks lines in YAML 1.1: NEL, LS and PS", "a: 'x\u2028y'\nb: 'x\u0085y'\nc: \"x\u2029y\"\n"),
    ]  # fmt: skip


def fixtures() -> list[Fixture]:
    return [*scalars(), *styles(), *structure()]
