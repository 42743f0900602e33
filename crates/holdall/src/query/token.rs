//! The words of a condition.

use container_core::{Error, Result};

use super::Comparison;

/// Maximum length of a condition in bytes.
const MAX_LEN: usize = 64 << 10;

/// A word with its place.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub(super) word: Word,
    /// Number of its first character, from 1.
    pub(super) column: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Word {
    Open,
    Close,
    And,
    Or,
    Not,
    Exists,
    Compare(Comparison),
    /// A name or a value as it stands.
    Plain(String),
    /// Text that stood in quotes.
    Quoted(String),
    End,
}

impl Word {
    /// The word for messages.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Open => "(".to_owned(),
            Self::Close => ")".to_owned(),
            Self::And => "and".to_owned(),
            Self::Or => "or".to_owned(),
            Self::Not => "not".to_owned(),
            Self::Exists => "exists".to_owned(),
            Self::Compare(comparison) => match comparison {
                Comparison::Equal => "==",
                Comparison::Different => "!=",
                Comparison::Less => "<",
                Comparison::LessOrEqual => "<=",
                Comparison::Greater => ">",
                Comparison::GreaterOrEqual => ">=",
            }
            .to_owned(),
            Self::Plain(text) | Self::Quoted(text) => format!("{text:?}"),
            Self::End => "the end".to_owned(),
        }
    }
}

/// An error at a place of a condition.
pub(super) fn at(column: usize, problem: impl std::fmt::Display) -> Error {
    Error::usage(format!("condition, column {column}: {problem}"))
}

/// The words of a condition, and the end.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>> {
    if text.len() > MAX_LEN {
        return Err(Error::limit("bytes of a condition", text.len() as u64, MAX_LEN as u64));
    }
    let mut letters = text.chars().zip(1..).peekable();
    let mut tokens = Vec::new();
    while let Some((letter, column)) = letters.next() {
        let mut followed_by = |next: char| letters.next_if(|(letter, _)| *letter == next).is_some();
        let word = match letter {
            letter if letter.is_whitespace() => continue,
            '(' => Word::Open,
            ')' => Word::Close,
            '&' => {
                followed_by('&');
                Word::And
            }
            '|' => {
                followed_by('|');
                Word::Or
            }
            '~' => Word::Not,
            '!' if followed_by('=') => Word::Compare(Comparison::Different),
            '!' => Word::Not,
            '=' if followed_by('=') => Word::Compare(Comparison::Equal),
            '=' => return Err(at(column, "= is no comparison (expected ==)")),
            '<' if followed_by('=') => Word::Compare(Comparison::LessOrEqual),
            '<' => Word::Compare(Comparison::Less),
            '>' if followed_by('=') => Word::Compare(Comparison::GreaterOrEqual),
            '>' => Word::Compare(Comparison::Greater),
            '\'' | '"' => {
                let mut quoted = String::new();
                loop {
                    match letters.next() {
                        None => {
                            return Err(at(column, format!("text in quotes has no end (expected {letter})")));
                        }
                        Some((end, _)) if end == letter => break,
                        Some(('\\', at_backslash)) => match letters.next() {
                            Some((escaped @ ('\\' | '\'' | '"'), _)) => quoted.push(escaped),
                            _ => {
                                let problem =
                                    "a backslash in quotes is before a quote or another (expected \\\\)";
                                return Err(at(at_backslash, problem));
                            }
                        },
                        Some((other, _)) => quoted.push(other),
                    }
                }
                Word::Quoted(quoted)
            }
            first => {
                let mut plain = String::from(first);
                while let Some((next, _)) = letters.next_if(|(next, _)| is_plain(*next)) {
                    plain.push(next);
                }
                match plain.as_str() {
                    "and" => Word::And,
                    "or" => Word::Or,
                    "not" => Word::Not,
                    "exists" => Word::Exists,
                    _ => Word::Plain(plain),
                }
            }
        };
        tokens.push(Token { word, column });
    }
    let column = text.chars().count().saturating_add(1);
    tokens.push(Token { word: Word::End, column });
    Ok(tokens)
}

/// True for a character within a name or a value without quotes.
fn is_plain(letter: char) -> bool {
    !letter.is_whitespace() && !"()&|!=<>'\"".contains(letter)
}
