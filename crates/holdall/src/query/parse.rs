//! Conditions from their words.

use std::iter::Peekable;
use std::vec::IntoIter;

use container_core::{Error, Result};

use super::token::{Token, Word, at, tokens};
use super::value::Literal;
use super::{Condition, Subject};
use crate::catalog::{COLUMNS, Form};

/// Maximum number of conditions within conditions.
const MAX_DEPTH: usize = 64;

/// Reads words from the left.
pub(super) struct Parser {
    tokens: Peekable<IntoIter<Token>>,
    depth: usize,
    /// Pointers into metadata, each once.
    pub(super) pointers: Vec<String>,
}

impl Parser {
    pub(super) fn new(text: &str) -> Result<Self> {
        Ok(Self { tokens: tokens(text)?.into_iter().peekable(), depth: 0, pointers: Vec::new() })
    }

    /// All of the text.
    pub(super) fn condition(&mut self) -> Result<Condition> {
        let condition = self.any()?;
        let Token { word, column } = self.next();
        match word {
            Word::End => Ok(condition),
            Word::Compare(_) => Err(at(column, "a comparison has two sides (join two by `and`)")),
            other => {
                Err(at(column, format!("{} follows a condition (expected `and` or `or`)", other.shown())))
            }
        }
    }

    fn next(&mut self) -> Token {
        // The end stays.
        self.tokens.next().unwrap_or(Token { word: Word::End, column: 0 })
    }

    /// Takes a word, if it is the next.
    fn takes(&mut self, word: &Word) -> bool {
        self.tokens.next_if(|token| token.word == *word).is_some()
    }

    fn any(&mut self) -> Result<Condition> {
        let mut parts = vec![self.all()?];
        while self.takes(&Word::Or) {
            parts.push(self.all()?);
        }
        Ok(single(parts, Condition::Any))
    }

    fn all(&mut self) -> Result<Condition> {
        let mut parts = vec![self.not()?];
        while self.takes(&Word::And) {
            parts.push(self.not()?);
        }
        Ok(single(parts, Condition::All))
    }

    fn not(&mut self) -> Result<Condition> {
        self.depth = self.depth.saturating_add(1);
        if self.depth > MAX_DEPTH {
            return Err(Error::limit("conditions within conditions", self.depth as u64, MAX_DEPTH as u64));
        }
        let condition = if self.takes(&Word::Not) {
            Condition::Not(Box::new(self.not()?))
        } else if self.takes(&Word::Open) {
            let condition = self.any()?;
            self.close()?;
            condition
        } else {
            self.comparison()?
        };
        self.depth = self.depth.saturating_sub(1);
        Ok(condition)
    }

    fn close(&mut self) -> Result<()> {
        let Token { word, column } = self.next();
        match word {
            Word::Close => Ok(()),
            other => {
                Err(at(column, format!("{} is where a parenthesis ends (expected \")\")", other.shown())))
            }
        }
    }

    fn comparison(&mut self) -> Result<Condition> {
        if self.takes(&Word::Exists) {
            let is_enclosed = self.takes(&Word::Open);
            let subject = self.subject()?;
            if is_enclosed {
                self.close()?;
            }
            return Ok(Condition::Exists(subject));
        }
        let subject = self.subject()?;
        let Token { word, column } = self.next();
        let comparison = match word {
            Word::Exists => return Ok(Condition::Exists(subject)),
            Word::Compare(comparison) => comparison,
            other => {
                let problem =
                    format!("{} follows a name (expected ==, !=, <, <=, >, >= or exists)", other.shown());
                return Err(at(column, problem));
            }
        };
        let Token { word, column } = self.next();
        let literal = match word {
            Word::Plain(text) => Literal::plain(text),
            Word::Quoted(text) => Literal::quoted(text),
            other => {
                return Err(at(
                    column,
                    format!("{} is no value (expected a number, a date or text)", other.shown()),
                ));
            }
        };
        let literal = match subject {
            Subject::Column(number) => match COLUMNS.get(number) {
                Some(("dtype", _)) => literal.as_dtype(comparison),
                Some((_, Form::Bytes)) => literal.as_size(),
                Some((_, Form::Time)) => literal.as_date(),
                Some((name, Form::Lengths)) => {
                    Err(format!("{name} has an axis in brackets: {name}[0] (or ndim)"))
                }
                Some((_, Form::Text)) | None => Ok(literal.as_text()),
            },
            Subject::Axis(_) | Subject::Dimensions => literal.as_number(),
            Subject::Meta(_) => Ok(literal),
        };
        Ok(Condition::Compare(subject, comparison, literal.map_err(|problem| at(column, problem))?))
    }

    /// A name.
    fn subject(&mut self) -> Result<Subject> {
        let Token { word, column } = self.next();
        let name = match word {
            Word::Plain(name) => {
                if let Some(subject) = of_row(&name) {
                    return Ok(subject);
                }
                if Literal::plain(name.clone()).is_number_or_date() {
                    let problem = format!("{name} is a value (a comparison begins with a name)");
                    return Err(at(column, problem));
                }
                if name.starts_with("shape[") || name.starts_with("chunks[") {
                    return Err(at(column, format!("{name} is no length of an axis (expected shape[0])")));
                }
                name
            }
            // In quotes it is a pointer, whatever it looks like.
            Word::Quoted(name) => name,
            other => return Err(at(column, format!("{} is no name", other.shown()))),
        };
        let slash = if name.starts_with('/') { "" } else { "/" };
        let pointer = format!("{slash}{name}");
        let known = self.pointers.iter().position(|known| *known == pointer);
        Ok(Subject::Meta(known.unwrap_or_else(|| {
            self.pointers.push(pointer);
            self.pointers.len().saturating_sub(1)
        })))
    }
}

/// The one part, or all of them.
fn single(mut parts: Vec<Condition>, of: impl Fn(Vec<Condition>) -> Condition) -> Condition {
    match parts.pop() {
        Some(only) if parts.is_empty() => only,
        last => {
            parts.extend(last);
            of(parts)
        }
    }
}

/// A name of a column, or of what its value has.
fn of_row(name: &str) -> Option<Subject> {
    if name == "ndim" {
        return Some(Subject::Dimensions);
    }
    if let Some(axis) = name.strip_prefix("shape[").and_then(|rest| rest.strip_suffix(']')) {
        return axis.trim().parse().ok().map(Subject::Axis);
    }
    COLUMNS.iter().position(|(column, _)| *column == name).map(Subject::Column)
}
