//! Words that shells get to complete, and the script of bash run by bash.

use std::path::Path;
use std::process::Command;

use crate::support::{Run, holdall};

/// Names that a shell would take for something else.
const NAMES: [&str; 5] = ["data", "it's", "$(touch pwned)", "new\nline `touch pwned`", "a:b"];

fn desk() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut tree = "#ASDF 1.0.0\n%YAML 1.1\n---\nroman:\n".to_owned();
    for name in NAMES {
        let name = name.replace('\n', "\\n");
        tree += &format!(
            "  \"{name}\": !<tag:stsci.edu:asdf/core/ndarray-1.1.0> {{data: [1], datatype: int16}}\n"
        );
    }
    std::fs::write(folder.path().join("x.asdf"), tree + "...\n").unwrap();
    folder
}

fn candidates(at: &Path, words: &[&str]) -> Vec<String> {
    let output = holdall(at).args(["__complete", "--"]).args(words).output().unwrap();
    let run = Run::of(&output);
    assert_eq!(run.err, "");
    run.expect(0).split_terminator('\0').map(str::to_owned).collect()
}

#[test]
fn datasets_and_values_are_candidates() {
    let folder = desk();
    let at = folder.path();
    assert_eq!(candidates(at, &["cat", "x.asdf::roman/"]), NAMES.map(|name| format!("x.asdf::roman/{name}")));
    assert_eq!(candidates(at, &["cat", "x.asdf::roman/d"]), ["x.asdf::roman/data"]);
    assert_eq!(candidates(at, &["convert", "a", "b", "--codec", "zs"]), ["zstd"]);
    assert_eq!(candidates(at, &["plot", "x.asdf", "--cmap=viri"]), ["--cmap=viridis"]);
    for words in [&["cat", "none.asdf::"][..], &["cat", "https://host.invalid/x::"], &["cat", "-::"], &[]] {
        assert_eq!(candidates(at, words), [""; 0], "{words:?}");
    }
}

#[test]
fn the_command_is_not_in_the_help() {
    let folder = desk();
    let output = holdall(folder.path()).arg("--help").output().unwrap();
    assert!(!Run::of(&output).expect(0).contains("__complete"));
}

/// Calls the function of the script as readline does, for a line whose last word is `word` after bash has split it at colons.
#[cfg(target_os = "linux")]
fn bash(at: &Path, line: &str, words: &[&str]) -> Option<Vec<String>> {
    let program = Path::new(env!("CARGO_BIN_EXE_holdall"));
    if std::env::var_os("HOLDALL_RUNNER").is_some() || Command::new("bash").arg("--version").output().is_err()
    {
        return None;
    }
    let script = Run::of(&holdall(at).args(["completions", "bash"]).output().unwrap()).expect(0).to_owned();
    std::fs::write(at.join("script.sh"), script).unwrap();
    let call = r#"source ./script.sh
COMP_LINE=$1; COMP_POINT=${#1}; shift
COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 ))
_holdall holdall "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\0' "${COMPREPLY[@]}""#;
    let path = format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let output = Command::new("bash")
        .args(["--noprofile", "--norc", "-c", call, "bash", line])
        .args(words)
        .current_dir(at)
        .env("PATH", path)
        .output()
        .unwrap();
    let run = Run::of(&output);
    // compopt has no completion to change here.
    assert_eq!(run.err, "", "{line}");
    assert!(!at.join("pwned").exists(), "{line}");
    Some(run.expect(0).split_terminator('\0').map(str::to_owned).collect())
}

#[cfg(target_os = "linux")]
#[test]
fn bash_completes_addresses_and_runs_no_name() {
    let folder = desk();
    let at = folder.path();
    for (line, words, want) in [
        (
            "holdall cat x.asdf::roman/d",
            &["holdall", "cat", "x.asdf", "::", "roman/d"][..],
            &["roman/data"][..],
        ),
        ("holdall cat x.asdf::roman/it", &["holdall", "cat", "x.asdf", "::", "roman/it"], &[r"roman/it\'s"]),
        (
            "holdall cat x.asdf::roman/\\$",
            &["holdall", "cat", "x.asdf", "::", "roman/\\$"],
            &[r"roman/\$\(touch\ pwned\)"],
        ),
        (
            "holdall cat x.asdf::roman/n",
            &["holdall", "cat", "x.asdf", "::", "roman/n"],
            &[r"$'roman/new\nline `touch pwned`'"],
        ),
        ("holdall cat x.asdf::roman/a:", &["holdall", "cat", "x.asdf", "::", "roman/a", ":"], &["b"]),
        ("holdall cat 'x.asdf::roman/d", &["holdall", "cat", "'x.asdf::roman/d"], &["x.asdf::roman/data"]),
        // Within quotes the name cannot be written.
        ("holdall cat 'x.asdf::roman/it", &["holdall", "cat", "'x.asdf::roman/it"], &[]),
        ("holdall convert a b --codec zs", &["holdall", "convert", "a", "b", "--codec", "zs"], &["zstd"]),
        (
            "holdall convert a b --codec=zs",
            &["holdall", "convert", "a", "b", "--codec", "=", "zs"],
            &["zstd"],
        ),
        ("holdall pl", &["holdall", "pl"], &["plot"]),
        ("holdall man pl", &["holdall", "man", "pl"], &["plot"]),
        // Files, which bash completes itself.
        ("holdall cat ", &["holdall", "cat", ""], &[]),
        ("holdall digest --check ", &["holdall", "digest", "--check", ""], &[]),
        ("holdall cat --no-ver", &["holdall", "cat", "--no-ver"], &["--no-verify"]),
        ("holdall cat --format n", &["holdall", "cat", "--format", "n"], &["npy"]),
    ] {
        let Some(got) = bash(at, line, words) else { return };
        let got: Vec<&str> =
            got.iter().map(String::as_str).filter(|candidate| !candidate.is_empty()).collect();
        assert_eq!(got, want, "{line}");
    }
}
