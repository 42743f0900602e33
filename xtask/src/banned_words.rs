//! `words`: the text holds nothing of the machine it was written on, and doc comments name the thing that they are about.

use anyhow::{Result, bail};

use crate::repo::Repo;
use crate::rust_source::in_word;
use crate::{Outcome, flags};

/// A phrase, in two pieces so that this file passes its own check; the kind of thing it shows.
type Phrase = (&'static str, &'static str, &'static str);

/// Found anywhere, in any case, unless a letter or digit stands before it.
const PHRASES: &[Phrase] = &[
    ("/ro", "ot/", PATH),
    ("/ho", "me/", PATH),
    ("/Use", "rs/", PATH),
    ("C:\\Use", "rs\\", PATH),
    ("/wo", "rk/", PATH),
    ("../sha", "red", PATH),
    ("~/.py", "env", PATH),
    ("index.", "crates.io", HOST),
    ("static.", "crates.io", HOST),
    ("pypi.", "org", HOST),
    ("pythonhosted.", "org", HOST),
    ("artifac", "tory", HOST),
];

/// As [`PHRASES`], in prose only: code and tests may use a temporary folder.
const IN_PROSE: &[Phrase] = &[("/tm", "p/", PATH)];

/// First words of doc comments that describe around a thing: a noun phrase, or a verb in the third person, is asked for instead.
const AROUND: [&str; 4] = ["What", "How", "Where", "Which"];

/// Folder of the command's verbs, whose comments without a full stop are help texts.
const VERBS: &str = "crates/holdall-cli/src/commands/";

const PATH: &str = "a path of one machine";
const HOST: &str = "the host of a registry or service";

pub(crate) fn words(repo: &Repo, args: &[String]) -> Result<Outcome> {
    flags(args, [])?;
    let files = repo.text_files()?;
    let mut count = 0;
    for (path, text) in &files {
        for (line, phrase, why) in found(path, text) {
            println!("{path}:{line}: {phrase:?}: {why}");
            count += 1;
        }
        for line in around(path, text) {
            println!("{path}:{line}: a doc comment that begins with What, How, Where or Which");
            count += 1;
        }
    }
    if count > 0 {
        bail!("phrases that do not belong in the repository: {count}");
    }
    println!("{} text files, no phrase that does not belong", files.len());
    Ok(Outcome::Done)
}

/// Line, phrase and reason of each phrase in `text`.
fn found(path: &str, text: &str) -> Vec<(usize, String, &'static str)> {
    let prose = path.ends_with(".md") || path.ends_with(".txt");
    let phrases = PHRASES.iter().chain(if prose { IN_PROSE } else { &[] });
    let phrases: Vec<_> = phrases.map(|(a, b, why)| (format!("{a}{b}"), *why)).collect();
    let mut all = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let lower = line.to_lowercase();
        for (phrase, why) in &phrases {
            let stands = |at: usize| !lower[..at].ends_with(in_word);
            if lower.match_indices(&phrase.to_lowercase()).any(|(at, _)| stands(at)) {
                all.push((number, phrase.clone(), *why));
            }
        }
    }
    all
}

/// Lines of Rust text at which a doc comment, or a paragraph of one, begins with a word of [`AROUND`].
fn around(path: &str, text: &str) -> Vec<usize> {
    if !path.ends_with(".rs") {
        return Vec::new();
    }
    let content = |line: &str| {
        let line = line.trim_start();
        let content = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"))?;
        Some(content.trim().to_owned())
    };
    let (mut lines, mut is_within) = (Vec::new(), false);
    for (number, line) in (1..).zip(text.lines()) {
        let comment = content(line).unwrap_or_default();
        let first = comment.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        let is_help = path.starts_with(VERBS) && !comment.ends_with('.');
        if !is_within && AROUND.contains(&first) && !is_help {
            lines.push(number);
        }
        is_within = !comment.is_empty();
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_banned_phrase_is_found() {
        for (a, b, _) in PHRASES {
            let text = format!("first\nsee `{a}{b}…`\n");
            let lines: Vec<usize> = found("crates/a/src/lib.rs", &text).iter().map(|hit| hit.0).collect();
            assert!(lines.contains(&2), "{a}{b}");
        }
    }

    #[test]
    fn ordinary_text_passes() {
        let text = "the roots/home/x of a tree, docs.example/work/x\ncrates.io-index\n\
                    docs.rs/nom, $HOME, /homework/, network/";
        assert_eq!(found("README.md", text), []);
    }

    #[test]
    fn temporary_paths_are_allowed_in_code_and_refused_in_prose() {
        let text = ["cat /tm", "p/x.ra"].concat();
        assert!(found("crates/a/src/lib.rs", &text).is_empty());
        assert_eq!(found("README.md", &text).len(), 1);
    }
    #[test]
    fn doc_comments_that_describe_around_a_thing_are_found() {
        let text = "/// What it is.\nstruct A;\n/// Names\n/// What is not.\n//! How it goes.\n\n    /// Where: there.\n// Which\n/// Whatever.";
        assert_eq!(around("crates/a/src/lib.rs", text), [1, 7]);
        assert_eq!(around("README.md", text), [0; 0]);
        let help = "/// What is added: a file\n/// How.";
        assert_eq!(around("crates/holdall-cli/src/commands/append.rs", help), [0; 0]);
        assert_eq!(around("crates/holdall-cli/src/commands/append.rs", "/// How.\n"), [1]);
    }
}
