//! The blocks of a page that a reader types: shell sessions with their answers, and scripts.

use std::ops::Range;

/// A block of a page that is run.
#[derive(Debug, PartialEq, Eq)]
pub struct Block {
    /// Lines of the page between the fences.
    pub lines: Range<usize>,
    pub steps: Vec<Step>,
    pub kind: BlockKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockKind {
    /// `console`: commands after `$ `, each with its answer.
    Session,
    /// `sh`: commands without answers, each of which has to succeed.
    Script,
}

/// A command, which may have several lines, and its answer on the page.
#[derive(Debug, PartialEq, Eq)]
pub struct Step {
    pub command: String,
    pub answer: Vec<String>,
}

/// Comment in the line before a block that no test can run, with the reason.
const NOT_RUN: &str = "<!-- not run: ";

impl Block {
    /// All blocks of a page that are run.
    pub fn of_page(text: &str) -> Vec<Self> {
        let lines: Vec<&str> = text.lines().collect();
        let mut blocks = Vec::new();
        let mut at = 0;
        while at < lines.len() {
            let Some(language) = lines[at].strip_prefix("```") else {
                at += 1;
                continue;
            };
            let before = lines[..at].iter().rev().find(|line| !line.is_empty());
            let is_run = !before.is_some_and(|line| line.starts_with(NOT_RUN));
            let start = at + 1;
            let length = lines[start..].iter().position(|line| line.starts_with("```"));
            let end = start + length.unwrap_or_else(|| panic!("line {at}: a fence without an end"));
            let body = &lines[start..end];
            match language {
                "console" if is_run => blocks.push(Self::session(start..end, body)),
                "sh" if is_run => blocks.push(Self::script(start..end, body)),
                _ => {}
            }
            at = end + 1;
        }
        blocks
    }

    fn script(lines: Range<usize>, body: &[&str]) -> Self {
        let command = format!("set -e\n{}", body.join("\n"));
        Self { lines, steps: vec![Step { command, answer: Vec::new() }], kind: BlockKind::Script }
    }

    fn session(lines: Range<usize>, body: &[&str]) -> Self {
        let mut steps: Vec<Step> = Vec::new();
        for line in body {
            if let Some(command) = line.strip_prefix("$ ") {
                steps.push(Step { command: command.to_owned(), answer: Vec::new() });
                continue;
            }
            let step = steps.last_mut().expect("a session begins with a command");
            match line.strip_prefix("> ") {
                Some(more) if step.command.ends_with('\\') => step.command += &format!("\n{more}"),
                _ => step.answer.push((*line).to_owned()),
            }
        }
        for step in &mut steps {
            while step.answer.last().is_some_and(String::is_empty) {
                step.answer.pop();
            }
        }
        Self { lines, steps, kind: BlockKind::Session }
    }

    /// The lines of a session with these answers.
    pub fn with_answers(&self, answers: &[Vec<String>]) -> Vec<String> {
        let mut lines = Vec::new();
        for (index, (step, answer)) in self.steps.iter().zip(answers).enumerate() {
            if index > 0 {
                lines.push(String::new());
            }
            let mut command = step.command.split('\n');
            lines.extend(command.next().map(|first| format!("$ {first}")));
            lines.extend(command.map(|more| format!("> {more}")));
            lines.extend_from_slice(answer);
        }
        lines
    }
}

/// Whether an answer is what the page shows. On the page a line `...` is any lines, and `[..]` any part of one.
pub fn matches(shown: &[String], answer: &[String]) -> bool {
    match shown.split_first() {
        None => answer.is_empty(),
        Some((first, rest)) if first == "..." => {
            (0..=answer.len()).any(|skip| matches(rest, &answer[skip..]))
        }
        Some((first, rest)) => match answer.split_first() {
            Some((line, others)) => line_matches(first, line) && matches(rest, others),
            None => false,
        },
    }
}

fn line_matches(shown: &str, line: &str) -> bool {
    let mut parts = shown.split("[..]");
    let Some(mut left) = parts.next().and_then(|first| line.strip_prefix(first)) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return left.is_empty() };
    for part in middle {
        let Some(at) = left.find(part) else { return false };
        left = &left[at + part.len()..];
    }
    left.ends_with(last)
}

#[test]
fn a_session_has_commands_and_answers() {
    let page =
        "text\n\n```console\n$ a \\\n> b\none\n\ntwo\n\n$ c\n\n```\n<!-- not run: slow -->\n```sh\nd\n```\n";
    let blocks = Block::of_page(page);
    let step = |command: &str, answer: &[&str]| Step {
        command: command.to_owned(),
        answer: answer.iter().map(|&line| line.to_owned()).collect(),
    };
    let steps = vec![step("a \\\nb", &["one", "", "two"]), step("c", &[])];
    assert_eq!(blocks, [Block { lines: 3..11, steps, kind: BlockKind::Session }]);
    let answers = [vec!["1".to_owned()], vec![]];
    assert_eq!(blocks[0].with_answers(&answers), ["$ a \\", "> b", "1", "", "$ c"]);
}

#[test]
fn dots_are_any_lines_and_any_part_of_one() {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    assert!(matches(&lines("a\n...\nd"), &lines("a\nb\nc\nd")));
    assert!(matches(&lines("a [..] c"), &lines("a b b c")));
    assert!(!matches(&lines("a [..] c"), &lines("a b b")));
    assert!(!matches(&lines("a\n..."), &lines("b")));
}
