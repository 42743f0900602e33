//! Commands in the text of pages, in their tables and in blocks that are not run: the verb and every option exist.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::{help, page_files, repository};

#[test]
fn commands_in_text_exist() {
    let root = repository();
    let mut known: BTreeMap<String, String> = BTreeMap::new();
    let front = help(&["--help"]);
    let mut problems = BTreeSet::new();
    let mut count = 0;
    for path in page_files(&root) {
        let name = path.strip_prefix(&root).expect("a page of ours").display().to_string();
        if name.ends_with("cli.md") || name.contains("python-api") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("a page");
        for command in commands(&text) {
            let words: Vec<&str> = command.split_whitespace().skip(1).collect();
            let Some(verb) =
                words.first().filter(|word| word.chars().all(|letter| letter.is_ascii_lowercase()))
            else {
                continue;
            };
            count += 1;
            if !front.contains(&format!("\n  {verb} ")) {
                problems.insert(format!("{name}: {command}: no such verb"));
                continue;
            }
            let help = known.entry((*verb).to_owned()).or_insert_with(|| help(&[verb, "--help"]));
            for option in
                words.iter().filter(|word| word.starts_with('-') && word.len() > 1 && **word != "--")
            {
                let option = option.split(['=', ',', '`', ')']).next().unwrap_or(option);
                let is_number = option[1..].starts_with(|letter: char| letter.is_ascii_digit());
                let is_there =
                    help.lines().any(|line| line.split([' ', ',', '[', '=']).any(|word| word == option));
                if !is_number && !is_there {
                    problems.insert(format!("{name}: {command}: no option {option}"));
                }
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.into_iter().collect::<Vec<_>>().join("\n"));
    assert!(count > 150, "{count} commands in the pages");
}

/// Spans of code that begin with `holdall `, and lines of blocks that do.
fn commands(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut in_block = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
            continue;
        }
        if in_block {
            let line = line.strip_prefix("$ ").unwrap_or(line);
            // The first command alone: others may be of another program.
            let command = line.split(['|', '#', ';', '>']).next().unwrap_or_default();
            found.extend(command.starts_with("holdall ").then(|| command.to_owned()));
            continue;
        }
        for code in line.split('`').skip(1).step_by(2) {
            let command = code.split(['|', '#', ';', '>', '…']).next().unwrap_or_default();
            found.extend(command.starts_with("holdall ").then(|| command.trim_end_matches('\\').to_owned()));
        }
    }
    found
}

#[test]
fn commands_are_found_in_spans_and_blocks() {
    let text = "a `holdall ls F` b\n```console\n$ holdall cat F | head\nholdall\n```\n| `holdall a \\| b` |";
    assert_eq!(commands(text), ["holdall ls F", "holdall cat F ", "holdall a "]);
}
