//! Completions and manual pages, as the installed command gives them.

use crate::support::{files, run};

#[test]
fn every_shell_gets_its_completions() {
    let directory = files();
    for (shell, word) in [
        ("bash", "complete -F _holdall"),
        ("zsh", "#compdef holdall"),
        ("fish", "complete -c holdall"),
        ("powershell", "Register-ArgumentCompleter"),
        ("elvish", "edit:completion"),
    ] {
        let run = run(directory.path(), &["completions", shell]);
        assert!(run.expect(0).contains(word), "{shell}");
    }
    run(directory.path(), &["completions", "nosuch"]).expect(2);
}

#[test]
fn every_verb_has_a_page_and_help() {
    let directory = files();
    let front = run(directory.path(), &["man"]).expect(0).to_owned();
    for verb in VERBS {
        let page = run(directory.path(), &["man", verb]);
        assert!(
            page.expect(0).starts_with(".ie") && page.out.contains(&format!(".TH holdall-{verb} 1")),
            "{page:#?}"
        );
        assert!(front.contains(&format!("holdall\\-{verb}(1)")), "{verb} is not on the front page");
        let help = run(directory.path(), &[verb, "--help"]);
        assert!(help.expect(0).contains(&format!("Usage: holdall {verb}")), "{help:#?}");
        assert!(help.out.contains("Examples:"), "{help:#?}");
    }
}

const VERBS: [&str; 22] = [
    "info",
    "ls",
    "tree",
    "cat",
    "meta",
    "stat",
    "plot",
    "layout",
    "verify",
    "repair",
    "convert",
    "recode",
    "pack",
    "extract",
    "append",
    "explode",
    "implode",
    "diff",
    "digest",
    "formats",
    "completions",
    "man",
];
