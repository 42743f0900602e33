//! Rules over the source, line by line. Comments, literals and tests are not looked at, unless a rule says so.

use super::{Kind, Violation, crate_of, kind};
use crate::rust_source::{RustSource, has_word, in_word, words_at};

/// Files, or folders when they end with `/`, that may hold unsafe code, each with its own tests.
const UNSAFE: &[&str] = &[
    "crates/container-core/src/source/mmap.rs",
    // Vector instructions, where code without unsafety was measured and lost: shuffles of Blosc chunks, and MD5 of several inputs.
    "crates/blosc-chunk/src/simd/",
    "crates/container-codecs/src/checksum/md5_lanes.rs",
    // The one signal handler of the command.
    "crates/holdall-cli/src/interrupt/lost_pages.rs",
    // Memory that arrays of Python are made over, and that of such arrays.
    "crates/holdall-py/src/memory.rs",
    // Not shipped: counts what is allocated on behalf of hostile bytes. GlobalAlloc cannot be written otherwise.
    "tests/fuzz/src/bin/smoke/allocator.rs",
];

/// Actions that library code never does, and the words that show them.
const NEVER_IN_LIBRARIES: &[(&[&str], &str)] = &[
    (&["print!", "println!", "eprint!", "eprintln!", "dbg!"], "library code never prints"),
    (&["io::stderr"], "library code never prints"),
    (
        &["env::var", "env::var_os", "env::vars", "env::vars_os"],
        "library code reads no environment variables",
    ),
    (&["process::exit", "process::abort"], "library code never ends the process"),
    (&["thread_local!"], "library code keeps no mutable statics"),
];

/// The file that writes data that a caller sends to `-`; no other library file opens standard output.
const STDOUT: &str = "crates/holdall/src/output_file.rs";

/// The breaches in `source`.
pub(super) fn check(source: &RustSource) -> Vec<Violation> {
    let mut found: Vec<(usize, String)> = Vec::new();
    unsafe_code(source, &mut found);
    if let Some(krate) = crate_of(&source.path) {
        if kind(krate) != Kind::Front {
            library(source, &mut found);
        }
        nom(source, krate, &mut found);
    }
    let violation = |(line, what)| Violation { path: source.path.clone(), line, what };
    found.into_iter().map(violation).collect()
}

/// Tests included: a test may not do what the code must not.
fn unsafe_code(source: &RustSource, found: &mut Vec<(usize, String)>) {
    let allowed = UNSAFE
        .iter()
        .any(|place| source.path == *place || (place.ends_with('/') && source.path.starts_with(place)));
    if !allowed {
        let lines = source.lines().filter(|(_, line)| has_word(line, "unsafe"));
        found.extend(lines.map(|(number, _)| {
            (number, "unsafe where xtask/src/dependency_rules/sources.rs does not allow it".to_owned())
        }));
    }
}

fn library(source: &RustSource, found: &mut Vec<(usize, String)>) {
    for (number, line) in source.product_lines() {
        for (words, why) in NEVER_IN_LIBRARIES {
            if let Some(word) = words.iter().find(|word| has_word(line, word)) {
                found.push((number, format!("{word}: {why}")));
            }
        }
        if source.path != STDOUT && has_word(line, "io::stdout") {
            found.push((number, format!("io::stdout outside {STDOUT}")));
        }
        if is_mutable_static(line) {
            found.push((number, "library code keeps no mutable statics".to_owned()));
        }
    }
}

fn is_mutable_static(line: &str) -> bool {
    const INTERIOR: [&str; 5] = ["Mutex", "RwLock", "Cell", "RefCell", "UnsafeCell"];
    words_at(line, "static").any(|at| {
        let lifetime = line[..at].ends_with('\'');
        let rest = &line[at + "static".len()..];
        let mutable = has_word(rest, "mut") || rest.contains(": Atomic");
        !lifetime && (mutable || INTERIOR.iter().any(|word| has_word(rest, word)))
    })
}

fn nom(source: &RustSource, krate: &str, found: &mut Vec<(usize, String)>) {
    let bridge = krate == "container-core" && source.stem() == "parse";
    if !bridge && !is_parser(&source.path) {
        let lines = source.product_lines().filter(|(_, line)| uses_crate(line, "nom"));
        found.extend(
            lines.map(|(number, _)| (number, "nom outside header, index and literal modules".to_owned())),
        );
    }
    let names = imported_from_nom(&source.code);
    let product: Vec<usize> = source.product_lines().map(|(number, _)| number).collect();
    for (number, item) in public_items(&source.code) {
        let shown = has_word(item, "nom") || names.iter().any(|name| has_word(item, name));
        if shown && product.contains(&number) {
            found.push((number, "nom in a public signature".to_owned()));
        }
    }
}

/// A module, or a folder of one, named for what nom is meant for: fixed headers, indexes, lists of names, Python literals.
fn is_parser(path: &str) -> bool {
    let modules = path.split_once("/src/").map_or("", |(_, modules)| modules).trim_end_matches(".rs");
    modules.split('/').any(|name| {
        name.ends_with("literal") || name == "namelist" || name.ends_with("header") || name.ends_with("index")
    })
}

/// Whether `line` names the crate itself, not a module of the same name at the end of a path.
fn uses_crate(line: &str, name: &str) -> bool {
    words_at(line, name).any(|at| {
        let before = line[..at].trim_end();
        let after = line[at + name.len()..].trim_start();
        let root =
            !before.ends_with("::") || before.strip_suffix("::").is_some_and(|path| !path.ends_with(in_word));
        let imported = before.ends_with("use") && (after.starts_with(';') || after.starts_with("as "));
        root && (after.starts_with("::") || imported)
    })
}

/// The types and traits that `use nom…` brings into scope. Its functions cannot stand in a signature.
fn imported_from_nom(code: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for (at, _) in code.match_indices("use nom::") {
        let end = code[at..].find(';').map_or(code.len(), |len| at + len);
        let words = code[at..end].split(|c| !in_word(c));
        names.extend(words.filter(|word| word.starts_with(char::is_uppercase)));
    }
    names
}

/// Public functions, type aliases and re-exports: the line of each, and its text up to the body.
/// `pub(crate)` and the like are not public.
fn public_items(code: &str) -> Vec<(usize, &str)> {
    let mut items = Vec::new();
    for at in words_at(code, "pub") {
        let rest = &code[at + "pub".len()..];
        let keyword = rest.split_whitespace().find(|word| !matches!(*word, "const" | "async" | "unsafe"));
        let end = match keyword {
            Some("fn") => rest.find(['{', ';']),
            Some("type" | "use") => rest.find(';'),
            _ => continue,
        };
        let line = code[..at].matches('\n').count() + 1;
        items.push((line, &rest[..end.unwrap_or(rest.len())]));
    }
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    fn breaches(path: &str, text: &str) -> Vec<usize> {
        check(&RustSource::new(path, text)).into_iter().map(|violation| violation.line).collect()
    }

    #[test]
    fn unsafe_is_allowed_only_in_listed_files() {
        let text = "fn a() {\n    unsafe { b() }\n}\n";
        assert_eq!(breaches("crates/container-core/src/array.rs", text), [2]);
        assert_eq!(breaches("crates/holdall-cli/src/main.rs", text), [2]);
        assert_eq!(breaches("tests/src/main.rs", text), [2]);
        assert_eq!(breaches("crates/container-core/src/array/tests.rs", text), [2]);
        assert!(breaches("crates/container-core/src/source/mmap.rs", text).is_empty());
        assert!(breaches("crates/blosc-chunk/src/simd/avx2.rs", text).is_empty());
        assert!(breaches("crates/rawarray/src/lib.rs", "#![forbid(unsafe_code)]\n// unsafe\n").is_empty());
    }

    #[test]
    fn libraries_do_not_print_read_the_environment_or_keep_state() {
        for line in [
            "println!(\"x\");",
            "eprint!(\"x\");",
            "dbg!(x);",
            "let mut out = std::io::stdout();",
            "std::env::var(\"HOME\")",
            "env::var_os(\"HOME\")",
            "std::process::exit(2)",
            "static mut COUNT: u32 = 0;",
            "static COUNT: AtomicUsize = AtomicUsize::new(0);",
            "pub static TABLE: Mutex<Vec<u8>> = Mutex::new(Vec::new());",
            "thread_local! { }",
        ] {
            assert_eq!(breaches("crates/gsd/src/file.rs", line), [1], "{line}");
            assert_eq!(breaches("crates/holdall/src/open.rs", line), [1], "{line}");
            assert!(breaches("crates/holdall-cli/src/cat.rs", line).is_empty(), "{line}");
            assert!(breaches("crates/gsd/src/file/tests.rs", line).is_empty(), "{line}");
        }
        assert!(breaches("crates/holdall/src/output_file.rs", "io::stdout()").is_empty());
        assert_eq!(breaches("crates/holdall/src/output_file.rs", "println!()"), [1]);
        for line in [
            "writeln!(out)",
            "sprintln!(x)",
            "fn f(x: &'static Mutex<u8>)",
            "static NAMES: [&str; 2] = [];",
            "env!(\"CARGO_PKG_VERSION\")",
        ] {
            assert!(breaches("crates/gsd/src/file.rs", line).is_empty(), "{line}");
        }
    }

    #[test]
    fn nom_is_allowed_only_in_header_index_and_literal_modules() {
        let text = "use nom::Parser;\nfn a() { nom::bytes::take(1) }\n";
        assert_eq!(breaches("crates/gsd/src/file.rs", text), [1, 2]);
        assert_eq!(breaches("crates/gsd/src/parse.rs", text), [1, 2]);
        for path in
            ["gsd/src/header", "asdf/src/blocks/index", "container-core/src/parse", "a/src/literal/text"]
        {
            assert!(breaches(&format!("crates/{path}.rs"), text).is_empty(), "{path}");
        }
        assert!(breaches("crates/gsd/src/file.rs", "fn nominal() { phenom::x(); }\n").is_empty());
    }

    #[test]
    fn nom_shows_in_no_public_signature() {
        let path = "crates/gsd/src/header.rs";
        let import = "use nom::{IResult, bytes::complete::take};\n";
        for (item, breach) in [
            ("pub fn a(i: &[u8]) -> IResult<&[u8], u8> {", true),
            ("pub fn a(\n    i: &[u8],\n) -> IResult<&[u8], u8> {", true),
            ("pub const fn a() -> nom::Needed {", true),
            ("pub type Out = nom::IResult<(), ()>;", true),
            ("pub use nom::Parser;", true),
            ("pub(crate) fn a(i: &[u8]) -> IResult<&[u8], u8> {", false),
            ("fn a(i: &[u8]) -> IResult<&[u8], u8> {", false),
            ("pub fn a(i: &[u8]) -> Result<u8> { let x: IResult<(), ()> = b(); }", false),
        ] {
            let expected = if breach { vec![2] } else { vec![] };
            assert_eq!(breaches(path, &format!("{import}{item}")), expected, "{item}");
        }
    }
}
