//! The generated part of `docs/conformance.md`: written, and read again for what others answered.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use holdall::formats::by_name;

use super::reasons::{REASONS, Reason};
use crate::manifest::Fixture;

const MARKS: [&str; 2] = ["<!-- tables: written by cargo xtask conformance -->\n", "<!-- end -->\n"];

/// As they stand on the page.
const FORMATS: [&str; 5] = ["asdf", "bloscpack", "blosc2", "gsd", "rawarray"];
const FOLDERS: [(&str, &str); 3] =
    [("ok", "sound"), ("odd", "sound, with something to note"), ("bad", "damaged or unreadable")];
/// In the order of the summary: of sound files, and of the others.
const WORDS: [&[&str]; 2] = [
    &["equal", "read", "other", "refused", "none", "–"],
    &["refused", "reported", "equal", "read", "other", "none", "–"],
];

/// Answers of the other implementations: names by format, and words by format and path of the fixture.
#[derive(Default)]
pub struct Answers {
    names: BTreeMap<String, Vec<String>>,
    words: BTreeMap<(String, String), Vec<String>>,
}

impl Answers {
    /// From lines of `format TAB fixture TAB word TAB …`, below one with the names for each format.
    pub fn told(text: &str) -> Self {
        let mut all = Self::default();
        for line in text.lines() {
            let fields: Vec<String> = line.split('\t').map(str::to_owned).collect();
            let [format, path, words @ ..] = &fields[..] else { panic!("what is {line:?}?") };
            if path == "fixture" {
                all.names.insert(format.clone(), words.to_vec());
            } else {
                all.words.insert((format.clone(), path.clone()), words.to_vec());
            }
        }
        all
    }

    /// From the page.
    pub fn committed(page: &str) -> Self {
        let mut all = Self::default();
        let (mut format, mut folder) = (String::new(), String::new());
        for line in page.lines() {
            if let Some(title) = line.strip_prefix("## ") {
                format = FORMATS
                    .iter()
                    .find(|name| title_of(name) == title)
                    .copied()
                    .unwrap_or_default()
                    .to_owned();
            } else if let Some(rest) = line.strip_prefix("<details><summary>") {
                folder = rest.split(':').next().unwrap_or_default().to_owned();
            } else if let Some(row) = line.strip_prefix("| ").and_then(|it| it.strip_suffix(" |")) {
                let cells: Vec<&str> = row.split(" | ").collect();
                let [name, _, words @ ..] = &cells[..] else { continue };
                let words = words.iter().map(|&it| it.to_owned()).collect();
                if *name == "fixture" {
                    all.names.insert(format.clone(), words);
                } else if let Some(name) = name.strip_prefix('`').and_then(|it| it.strip_suffix('`')) {
                    all.words.insert((format.clone(), format!("{folder}/{name}")), words);
                }
            }
        }
        all
    }
}

fn title_of(format: &str) -> &'static str {
    by_name(format).expect("a format").title
}

/// A fixture and what is made of it.
pub struct Row<'a> {
    fixture: &'a Fixture,
    ours: &'static str,
    others: Vec<String>,
}

impl<'a> Row<'a> {
    pub fn new(fixture: &'a Fixture, ours: &'static str, answers: &Answers) -> Self {
        let key = (fixture.format.clone(), fixture.path.clone());
        let count = answers.names.get(&fixture.format).map_or(0, Vec::len);
        let others = answers.words.get(&key).cloned().unwrap_or_else(|| vec!["?".to_owned(); count]);
        Self { fixture, ours, others }
    }

    fn is_sound(&self) -> bool {
        self.fixture.verdict == "sound"
    }

    fn words(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.ours).chain(self.others.iter().map(String::as_str))
    }

    /// Whether others read less of a sound file, or all of them see nothing wrong with another.
    fn differs(&self) -> bool {
        let takes = |word: &&String| ["equal", "read"].contains(&word.as_str());
        let asked = || self.others.iter().filter(|word| *word != "–");
        if self.is_sound() {
            asked().any(|word| !takes(&word))
        } else {
            asked().next().is_some() && asked().all(|word| takes(&word))
        }
    }

    fn reason(&self) -> Option<&'static Reason> {
        let (_, name) = self.fixture.path.split_once('/').expect("a folder");
        let stem = name.split('.').next().unwrap_or(name);
        let is = |pattern: &&str| match pattern.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => *pattern == name || *pattern == stem,
        };
        REASONS
            .iter()
            .find(|it| it.format == self.fixture.format && it.names.split_whitespace().any(|one| is(&one)))
    }
}

/// The page with these rows in it.
pub fn written(page: &str, rows: &[Row<'_>], answers: &Answers) -> String {
    let (before, rest) = page.split_once(MARKS[0]).expect("a mark");
    let (_, after) = rest.split_once(MARKS[1]).expect("a mark");
    let mut text = [before, MARKS[0]].concat();
    for format in FORMATS {
        let rows: Vec<_> = rows.iter().filter(|row| row.fixture.format == format).collect();
        section(format, &rows, answers.names.get(format).map_or(&[], Vec::as_slice), &mut text);
    }
    [&text, "\n", MARKS[1], after].concat()
}

fn section(format: &str, rows: &[&Row<'_>], names: &[String], text: &mut String) {
    let columns: Vec<&str> = ["holdall"].into_iter().chain(names.iter().map(String::as_str)).collect();
    let head = columns.join(" | ");
    let rule = "---|".repeat(columns.len());
    _ = write!(text, "\n## {}\n\n| fixtures | | {head} |\n|---|---|{rule}\n", title_of(format));
    let (sound, damaged): (Vec<&Row<'_>>, Vec<&Row<'_>>) = rows.iter().partition(|row| row.is_sound());
    for (group, title, words) in [(&sound, "sound", WORDS[0]), (&damaged, "damaged", WORDS[1])] {
        let mut title = format!("{} {title}", group.len());
        for word in words {
            let count = |at| group.iter().filter(|row| row.words().nth(at) == Some(word)).count();
            let counts: Vec<usize> = (0..columns.len()).map(count).collect();
            if counts.iter().any(|&count| count > 0) {
                let counts: Vec<String> = counts.iter().map(ToString::to_string).collect();
                _ = writeln!(text, "| {} | {word} | {} |", std::mem::take(&mut title), counts.join(" | "));
            }
        }
    }
    differences("Sound files that others do not read, or read otherwise", &sound, text);
    differences("Damaged files in which no other sees anything wrong", &damaged, text);
    for (folder, what) in FOLDERS {
        let rows: Vec<_> =
            rows.iter().filter(|row| row.fixture.path.split('/').next() == Some(folder)).collect();
        _ = write!(text, "\n<details><summary>{folder}: {} fixtures, {what}</summary>\n\n", rows.len());
        _ = write!(text, "| fixture | {head} |\n|---|{rule}\n");
        for row in rows {
            let (_, name) = row.fixture.path.split_once('/').expect("a folder");
            _ = writeln!(text, "| `{name}` | {} |", row.words().collect::<Vec<_>>().join(" | "));
        }
        text.push_str("\n</details>\n");
    }
}

/// The fixtures by reason.
fn differences(title: &str, rows: &[&Row<'_>], text: &mut String) {
    let mut listed: Vec<(&str, Vec<String>)> = Vec::new();
    for row in rows.iter().filter(|row| row.differs()) {
        let why = row.reason().map_or("(not looked at)", |reason| reason.why);
        let name = format!("`{}`", row.fixture.path);
        match listed.iter_mut().find(|(other, _)| *other == why) {
            Some((_, names)) => names.push(name),
            None => listed.push((why, vec![name])),
        }
    }
    if !listed.is_empty() {
        _ = write!(text, "\n**{title}**\n\n");
    }
    for (why, names) in listed {
        _ = writeln!(text, "* {why}: {}", names.join(", "));
    }
}

/// Lists the errors to correct before the page is true.
pub fn problems(rows: &[Row<'_>]) -> Vec<String> {
    let mut all = Vec::new();
    for row in rows {
        let path = format!("{}/{}", row.fixture.format, row.fixture.path);
        let right: &[&str] = if row.is_sound() { &["equal", "read"] } else { &["refused", "reported"] };
        if !right.contains(&row.ours) {
            all.push(format!("{path}: holdall: {}", row.ours));
        }
        if row.others.iter().any(|word| word == "?") {
            all.push(format!("{path}: nobody else was asked"));
        } else if row.differs() && row.reason().is_none() {
            all.push(format!("{path}: {}: no reason", row.others.join(", ")));
        }
    }
    for reason in REASONS {
        let is_used =
            |row: &Row<'_>| row.differs() && row.reason().is_some_and(|it| std::ptr::eq(it, reason));
        if !rows.iter().any(is_used) {
            all.push(format!("{}: nothing differs because {}", reason.format, reason.why));
        }
    }
    all
}
