//! The grammar of literals, except for the text between quotes.
//!
//! The first character decides which rule applies, so a rule that fails is final and text is never parsed twice.

use nom::branch::alt;
use nom::bytes::complete::{tag_no_case, take_while, take_while1};
use nom::character::complete::{char, one_of};
use nom::combinator::{opt, recognize};
use nom::error::{ErrorKind, ParseError};
use nom::multi::many0_count;
use nom::sequence::{pair, preceded};
use nom::{IResult, Parser};

use super::text::quoted;
use super::{Fault, Literal, MAX_DEPTH};

/// A failure as nom carries it: the number of bytes left, and the problem.
#[derive(Debug)]
pub(super) struct Left {
    left: usize,
    what: &'static str,
}

impl ParseError<&str> for Left {
    fn from_error_kind(input: &str, _: ErrorKind) -> Self {
        Self { left: input.len(), what: "not a Python literal" }
    }

    fn append(_: &str, _: ErrorKind, other: Self) -> Self {
        other
    }
}

pub(super) type Step<'a, T> = IResult<&'a str, T, Left>;

pub(super) fn fail<'a, T>(input: &'a str, what: &'static str) -> Step<'a, T> {
    Err(nom::Err::Failure(Left { left: input.len(), what }))
}

/// Parses one literal up to the end of the text.
pub(super) fn whole(text: &str) -> Result<Literal, Fault> {
    let step = value(text, MAX_DEPTH).and_then(|(rest, literal)| match space(rest) {
        Ok(("", ())) => Ok(literal),
        Ok((rest, ())) => fail(rest, "more text after the literal").map(|(_, literal)| literal),
        Err(error) => Err(error),
    });
    step.map_err(|error| match error {
        nom::Err::Error(fault) | nom::Err::Failure(fault) => {
            Fault { at: text.len().saturating_sub(fault.left), what: fault.what }
        }
        nom::Err::Incomplete(_) => Fault { at: text.len(), what: "text ends within a literal" },
    })
}

/// Any literal, white space before it included. `depth` is how many more brackets may open.
fn value(input: &str, depth: usize) -> Step<'_, Literal> {
    let (input, ()) = space(input)?;
    let inner = depth.saturating_sub(1);
    match input.chars().next() {
        None => fail(input, "text ends where a value should be"),
        Some('[' | '(' | '{') if depth == 0 => fail(input, "brackets nest deeper than 32"),
        Some('[') => {
            let (rest, (items, _)) = items(input, ']', |item| value(item, inner))?;
            Ok((rest, Literal::List(items)))
        }
        Some('(') => {
            let (rest, (mut items, comma)) = items(input, ')', |item| value(item, inner))?;
            // Brackets around one value without a comma only group.
            match (items.len(), comma) {
                (1, false) => Ok((rest, items.pop().unwrap_or(Literal::None))),
                _ => Ok((rest, Literal::Tuple(items))),
            }
        }
        Some('{') => {
            let (rest, (pairs, _)) = items(input, '}', |item| key_and_value(item, inner))?;
            Ok((rest, Literal::Dict(pairs)))
        }
        Some('0'..='9' | '+' | '-' | '.') => number(input),
        Some(_) => quoted_or_name(input),
    }
}

/// Skips white space. Line ends are included even outside brackets, where Python would end the statement: the literal is the whole text.
fn space(input: &str) -> Step<'_, ()> {
    take_while(|c| matches!(c, ' ' | '\t' | '\r' | '\n' | '\x0c')).map(|_| ()).parse(input)
}

/// Items from the opening bracket through the closing one, and whether a comma follows the last.
fn items<'a, T>(
    input: &'a str,
    close: char,
    mut item: impl FnMut(&'a str) -> Step<'a, T>,
) -> Step<'a, (Vec<T>, bool)> {
    let (mut input, _) = one_of("[({").parse(input)?;
    let mut found = Vec::new();
    let mut comma = true;
    loop {
        (input, ()) = space(input)?;
        if let Some(rest) = input.strip_prefix(close) {
            return Ok((rest, (found, comma)));
        }
        if !comma {
            return fail(input, "neither a comma nor the closing bracket follows a value");
        }
        let (rest, one) = item(input)?;
        found.push(one);
        let (rest, mark) = preceded(space, opt(char(','))).parse(rest)?;
        comma = mark.is_some();
        input = rest;
    }
}

fn key_and_value(input: &str, depth: usize) -> Step<'_, (Literal, Literal)> {
    let (rest, key) = value(input, depth)?;
    let (rest, ()) = space(rest)?;
    match rest.strip_prefix(':') {
        Some(rest) => value(rest, depth).map(|(rest, value)| (rest, (key, value))),
        None => fail(rest, "no colon after a key"),
    }
}

/// A string with its prefix, or one of Python's three constants.
fn quoted_or_name(input: &str) -> Step<'_, Literal> {
    let (rest, word) = take_while(|c: char| c.is_alphanumeric() || c == '_').parse(input)?;
    if rest.starts_with(['\'', '"']) {
        return quoted(rest, word, input);
    }
    match word {
        "None" => Ok((rest, Literal::None)),
        "True" => Ok((rest, Literal::Bool(true))),
        "False" => Ok((rest, Literal::Bool(false))),
        "" => fail(input, "no value starts with this character"),
        _ => fail(input, "a name that is not a literal"),
    }
}

fn number(input: &str) -> Step<'_, Literal> {
    // `- 5` is Python, too.
    let (digits, sign) = opt(|sign| one_of("+-").and(space).parse(sign)).parse(input)?;
    let minus = matches!(sign, Some(('-', ())));
    let (rest, literal) = match alt((tag_no_case("0x"), tag_no_case("0o"), tag_no_case("0b"))).parse(digits) {
        Ok((rest, prefix)) => in_radix(digits, rest, prefix, minus),
        Err(nom::Err::Error(Left { .. })) => decimal(digits, minus),
        Err(error) => Err(error),
    }?;
    // The long integers of Python 2: `shape: (3L, 4L)`.
    let long = matches!(literal, Literal::Int(_)).then(|| rest.strip_prefix(['L', 'l'])).flatten();
    let rest = long.unwrap_or(rest);
    if rest.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '.')) {
        return fail(rest, "unexpected character after a number");
    }
    Ok((rest, literal))
}

fn in_radix<'a>(input: &'a str, digits: &'a str, prefix: &str, minus: bool) -> Step<'a, Literal> {
    let radix = match prefix.chars().nth(1) {
        Some('x' | 'X') => 16,
        Some('o' | 'O') => 8,
        _ => 2,
    };
    match recognize(pair(opt(char('_')), grouped(radix))).parse(digits) {
        Ok((rest, text)) => integer(input, rest, text, radix, minus),
        Err(nom::Err::Error(Left { .. })) => fail(digits, "no digits in a number"),
        Err(error) => Err(error),
    }
}

/// Digits in groups that single underscores part.
fn grouped<'a>(radix: u32) -> impl Parser<&'a str, Output = &'a str, Error = Left> {
    let group = move || take_while1(move |c: char| c.is_digit(radix));
    recognize(pair(group(), many0_count(pair(char('_'), group()))))
}

/// An integer, or a float: one with a point or an exponent.
fn decimal(input: &str, minus: bool) -> Step<'_, Literal> {
    let digits = || grouped(10);
    let exponent = recognize((one_of("eE"), opt(one_of("+-")), digits()));
    let fraction = pair(char('.'), opt(digits()));
    let (rest, (whole, fraction, exponent)) = (opt(digits()), opt(fraction), opt(exponent)).parse(input)?;
    let no_digits = whole.is_none() && !matches!(fraction, Some((_, Some(_))));
    if no_digits {
        return fail(input, "no digits in a number");
    }
    if fraction.is_some() || exponent.is_some() {
        return float(input, rest, minus);
    }
    let whole = whole.unwrap_or_default();
    if whole.starts_with('0') && whole.contains(|c| !matches!(c, '0' | '_')) {
        return fail(input, "an integer starts with 0");
    }
    integer(input, rest, whole, 10, minus)
}

fn integer<'a>(input: &'a str, rest: &'a str, digits: &str, radix: u32, minus: bool) -> Step<'a, Literal> {
    let mut text = String::from(if minus { "-" } else { "" });
    text.extend(digits.chars().filter(|&c| c != '_'));
    match i128::from_str_radix(&text, radix) {
        Ok(value) => Ok((rest, Literal::Int(value))),
        Err(_) => fail(input, "an integer needs more than 128 bits"),
    }
}

fn float<'a>(input: &'a str, rest: &'a str, minus: bool) -> Step<'a, Literal> {
    let len = input.len().saturating_sub(rest.len());
    let text: String = input.get(..len).unwrap_or_default().chars().filter(|&c| c != '_').collect();
    match text.parse::<f64>() {
        Ok(value) => Ok((rest, Literal::Float(if minus { -value } else { value }))),
        Err(_) => fail(input, "not a number"),
    }
}
