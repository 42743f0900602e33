//! Exit codes, and errors in at most three lines: problem, place, hint.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::io::{self, Read};
use std::path::Path;

use container_core::format::Probe;
use container_core::{Error, ErrorKind};
use holdall::address::shown;
use holdall::export::ExportFormat;
use holdall::open::{Accept, sniff};

use crate::output::printable;

/// Result of a verb. Over many files the worst result is the command's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// Yes, or clean.
    Yes,
    /// The command ran, and the answer is no.
    No,
    /// It could not answer.
    CouldNot,
}

impl Outcome {
    /// The exit code.
    pub const fn code(self) -> u8 {
        match self {
            Self::Yes => 0,
            Self::No => 1,
            Self::CouldNot => 2,
        }
    }

    /// `Yes` where the condition holds, else `No`.
    pub const fn yes_if(condition: bool) -> Self {
        if condition { Self::Yes } else { Self::No }
    }
}

/// An error and the file that it is about.
#[derive(Debug)]
pub struct Failure {
    /// The file, as the user named it; `None` for the command as a whole.
    pub subject: Option<String>,
    /// The error.
    pub error: Error,
}

/// The start of hints that ask for another name, and are shown without `try:`.
const QUESTION: &str = "did you mean";

/// A result of a verb.
pub type Result<T, E = Failure> = std::result::Result<T, E>;

impl Failure {
    /// A mistake in the command line that concerns no single file.
    pub fn usage(what: impl Into<String>) -> Self {
        Self { subject: None, error: Error::usage(what.into()) }
    }

    /// The error for an argument that is not a file, where the argument before it is one: it may be meant as a dataset of that, or as the file of
    /// `-o`.
    pub fn after_file(mut self, before: Option<&Path>, file: &Path) -> Self {
        let is_missing =
            matches!(self.error.kind(), ErrorKind::Io(error) if error.kind() == io::ErrorKind::NotFound);
        let Some(before) = before.filter(|before| is_missing && before.is_file()) else { return self };
        let (file, before) = (shown(file), shown(before));
        let hint = match ExportFormat::for_path(Path::new(&file)) {
            Some(_) => format!("-o {}, for values in a new file", shell_word(&file)),
            None => {
                format!("{}, if this is a dataset of that file", shell_word(&format!("{before}::{file}")))
            }
        };
        // In the place of a hint about similar files.
        self.error = Error::new(self.error.into_kind()).with_hint(hint);
        self
    }

    /// True where the reader of our output has gone, which is not an error.
    pub fn is_closed_pipe(&self) -> bool {
        matches!(self.error.kind(), ErrorKind::Io(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }

    /// The exit outcome of the error: a part that a file may lack gives a no.
    pub fn outcome(&self) -> Outcome {
        if matches!(self.error.kind(), ErrorKind::Absent(_)) { Outcome::No } else { Outcome::CouldNot }
    }

    /// The lines for people, the first without `holdall: `.
    pub fn lines(&self) -> Vec<String> {
        let error = &self.error;
        let mut what = error.kind().to_string();
        if let Some(context) = error.context() {
            what = format!("{context}: {what}");
        }
        if let Some(dataset) = error.dataset() {
            what = format!("{dataset}: {what}");
        }
        if error.is_after_change() {
            what = format!("warning: the change was made, but a power cut may undo it: {what}");
        }
        let subject = self.subject();
        if let Some(subject) = subject {
            what = format!("{subject}: {what}");
        }
        let mut lines = vec![printable(&what).into_owned()];
        let bytes = error.range().map(|range| format!("bytes {}..{}", range.start, range.end));
        // Errors of a URL name it by themselves.
        let other = error.file_name().filter(|name| Some(*name) != subject);
        let part = other.map(|part| printable(part).into_owned());
        let place: Vec<String> = part.into_iter().chain(bytes).collect();
        if !place.is_empty() {
            lines.push(format!("  where: {}", place.join(", ")));
        }
        if let Some(hint) = self.next_step() {
            let word = if hint.starts_with(QUESTION) { "" } else { "try: " };
            lines.push(format!("  {word}{}", printable(&hint)));
        }
        lines
    }

    /// The file at fault: the one that the error names, else the one that the verb was about.
    fn subject(&self) -> Option<&str> {
        self.error.subject().or(self.subject.as_deref())
    }

    fn next_step(&self) -> Option<String> {
        if let Some(hint) = self.error.hint() {
            return Some(self.with_file(hint.strip_prefix("try: ").unwrap_or(hint)));
        }
        match self.error.kind() {
            ErrorKind::Limit { what, .. } if what.starts_with("memory") => {
                Some(self.with_file("a larger --limit-memory, or a part of the data: FILE::PATH[0:10]"))
            }
            _ if self.error.is_damage() => {
                let file = self.subject().filter(|file| is_container(file))?;
                Some(format!("holdall verify {}", shell_word(file)))
            }
            _ => None,
        }
    }

    /// A hint with FILE and PATH, as the library calls them, replaced by the names of the file and the dataset.
    fn with_file(&self, hint: &str) -> String {
        match self.subject() {
            Some(file) if Path::new(file).exists() => {
                let hint = hint.replace("FILE", &shell_word(file));
                match self.error.dataset() {
                    Some(path) => {
                        hint.replace("::PATH", &format!("::{path}")).replace("'PATH'", &format!("'{path}'"))
                    }
                    None => hint,
                }
            }
            _ => hint.to_owned(),
        }
    }
}

/// True where `holdall verify` would accept the file: array files are only read.
fn is_container(file: &str) -> bool {
    // Opening a pipe would wait for its writer.
    if !std::fs::metadata(file).is_ok_and(|kind| kind.is_file()) {
        return false;
    }
    let mut head = Vec::new();
    let read = std::fs::File::open(file).and_then(|file| {
        let len = file.metadata()?.len();
        file.take(Probe::LEN as u64).read_to_end(&mut head)?;
        Ok(len)
    });
    let is_known =
        |len| sniff(&Probe { head: &head, directory: None, len: Some(len) }, Accept::Containers, &[]).is_ok();
    read.is_ok_and(is_known)
}

/// A file name as a POSIX shell takes it. Unprintable characters are escaped, which shells take in `$'…'` (POSIX.1-2024).
pub fn shell_word(name: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_alphanumeric() || "-_./:,+@%=".contains(c);
    if !name.is_empty() && name.chars().all(plain) {
        return Cow::Borrowed(name);
    }
    if matches!(printable(name), Cow::Borrowed(_)) {
        return Cow::Owned(format!("'{}'", name.replace('\'', r"'\''")));
    }
    let mut word = String::from("$'");
    push_escaped(&mut word, name);
    word.push('\'');
    Cow::Owned(word)
}

/// As [`shell_word`], of a name that need not be text: on Unix, every byte of it.
pub fn shell_word_of(name: &OsStr) -> Cow<'_, str> {
    if let Some(text) = name.to_str() {
        return shell_word(text);
    }
    let mut word = String::from("$'");
    #[cfg(unix)]
    for chunk in std::os::unix::ffi::OsStrExt::as_bytes(name).utf8_chunks() {
        push_escaped(&mut word, chunk.valid());
        push_octal(&mut word, chunk.invalid());
    }
    #[cfg(not(unix))]
    push_escaped(&mut word, &name.to_string_lossy());
    word.push('\'');
    Cow::Owned(word)
}

/// Text within `$'…'`.
fn push_escaped(word: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '\'' | '\\' => word.extend(['\\', c]),
            '\n' => word.push_str("\\n"),
            '\r' => word.push_str("\\r"),
            '\t' => word.push_str("\\t"),
            c => match printable(c.encode_utf8(&mut [0; 4])) {
                Cow::Borrowed(_) => word.push(c),
                Cow::Owned(_) => push_octal(word, c.encode_utf8(&mut [0; 4]).as_bytes()),
            },
        }
    }
}

/// Appends octal escapes, which have at most three digits, whatever follows: a shell may take more than two hexadecimal ones.
fn push_octal(word: &mut String, bytes: &[u8]) {
    bytes.iter().for_each(|byte| word.push_str(&format!("\\{byte:03o}")));
}

/// Adds the file to an error.
pub trait ErrorContext<T> {
    /// Names the file.
    fn on(self, subject: impl Into<String>) -> Result<T>;
}

impl<T> ErrorContext<T> for container_core::Result<T> {
    fn on(self, subject: impl Into<String>) -> Result<T> {
        self.map_err(|error| Failure { subject: Some(subject.into()), error })
    }
}

impl From<io::Error> for Failure {
    /// For writes to standard output, whose errors name it. All other errors have a file.
    fn from(error: io::Error) -> Self {
        Self { subject: None, error: Error::from(error) }
    }
}

/// Makes a panic read as an error of ours.
pub fn install_panic_message() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(|at| format!(" ({}:{})", at.file(), at.line())).unwrap_or_default();
        let payload = panic.payload();
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let what = text.or(payload.downcast_ref::<&str>().copied()).unwrap_or("unknown");
        crate::output::to_stderr(&format!(
            "holdall: internal error: {}{place}\n  try: report it, with the command and the file",
            printable(what)
        ));
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_once() {
        let lines = |subject: &str| {
            let error = Error::malformed("gone").in_file("https://h/a.ra");
            Failure { subject: Some(subject.into()), error }.lines()
        };
        assert_eq!(lines("https://h/a.ra"), ["https://h/a.ra: gone"]);
        assert_eq!(lines("a.asdf"), ["a.asdf: gone", "  where: https://h/a.ra"]);
    }

    #[test]
    fn an_error_is_three_lines_at_most() {
        let error = Error::truncated(48..168, 64).with_context("rawarray dims").with_hint("try: a\nb");
        let lines = Failure { subject: Some("x.ra".into()), error }.lines();
        assert_eq!(
            lines,
            [
                "x.ra: rawarray dims: file ends early: need 120 bytes, 64 present",
                "  where: bytes 48..168",
                "  try: a\\nb"
            ]
        );
    }

    #[test]
    fn limits_point_to_the_option_and_only_containers_to_verify() {
        let failure = |error| Failure { subject: Some("Cargo.toml".into()), error };
        assert_eq!(failure(Error::malformed("odd")).lines().len(), 1);
        assert!(failure(Error::limit("memory in bytes", 2, 1)).lines()[1].contains("--limit-memory"));
        let hinted = failure(Error::malformed("odd").with_hint("holdall repair FILE -o NEW"));
        assert_eq!(hinted.lines()[1], "  try: holdall repair Cargo.toml -o NEW");
        assert_eq!(failure(Error::usage("no")).lines().len(), 1);
    }

    #[test]
    fn names_are_quoted_for_the_shell() {
        assert_eq!(shell_word("a/b-c.ra"), "a/b-c.ra");
        assert_eq!(shell_word("a b"), "'a b'");
        assert_eq!(shell_word("it's"), r"'it'\''s'");
        assert_eq!(shell_word(""), "''");
        assert_eq!(shell_word("it's\n\\\t\u{1b}7\u{200e}"), r"$'it\'s\n\\\t\0337\342\200\216'");
    }

    #[cfg(unix)]
    #[test]
    fn non_utf8_names_are_quoted_byte_by_byte() {
        use std::os::unix::ffi::OsStrExt;
        let word = |bytes: &'static [u8]| shell_word_of(OsStr::from_bytes(bytes));
        assert_eq!(word(b"it's"), r"'it'\''s'");
        assert_eq!(word(b"\xff\xfe7'\xc3\xa9.npy"), r"$'\377\3767\'é.npy'");
    }

    #[test]
    fn the_worst_answer_is_the_greatest() {
        assert_eq!([Outcome::No, Outcome::CouldNot, Outcome::Yes].iter().max(), Some(&Outcome::CouldNot));
    }
}
