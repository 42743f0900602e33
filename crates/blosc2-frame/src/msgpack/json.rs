//! Decodes JSON inside text for display: python-blosc2 stores the schemas of its tables this way.
//!
//! Only objects and arrays are decoded, so that a text such as `12` stays one. Text that is not strict JSON stays text as well.
//! So does a text with numbers that have no exact form: integers beyond 128 bits and floating-point numbers beyond f64.

use container_core::Value;

use super::MAX_DEPTH;

/// Replaces every text that is a JSON object or array by its parsed value; texts inside of it stay.
///
/// Memory is taken in proportion to the text, about 50 bytes for one at worst.
#[must_use]
pub fn decode_json_text(value: Value) -> Value {
    decode(value, MAX_DEPTH)
}

fn decode(value: Value, depth: usize) -> Value {
    let Some(deeper) = depth.checked_sub(1) else { return value };
    match value {
        Value::Text(text) => parse(&text).unwrap_or(Value::Text(text)),
        Value::List(items) => Value::List(items.into_iter().map(|item| decode(item, deeper)).collect()),
        Value::Map(entries) => {
            Value::Map(entries.into_iter().map(|(key, value)| (key, decode(value, deeper))).collect())
        }
        other => other,
    }
}

/// Parses the object or array that fills `text`.
fn parse(text: &str) -> Option<Value> {
    parse_as(text, Dialect::Json)
}

/// Parses the object or array that fills `text`, which Python's `json` may have written: its `NaN`, `Infinity` and `-Infinity` are
/// numbers.
pub(crate) fn parse_python_json(text: &str) -> Option<Value> {
    parse_as(text, Dialect::Python)
}

fn parse_as(text: &str, dialect: Dialect) -> Option<Value> {
    let mut reader = Reader { rest: text, dialect };
    if !matches!(reader.peek()?, '{' | '[') {
        return None;
    }
    let value = reader.value(MAX_DEPTH)?;
    reader.blanks();
    reader.rest.is_empty().then_some(value)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Dialect {
    Json,
    /// With numbers that are not finite, as Python writes them.
    Python,
}

struct Reader<'t> {
    rest: &'t str,
    dialect: Dialect,
}

impl<'t> Reader<'t> {
    fn value(&mut self, depth: usize) -> Option<Value> {
        match self.peek()? {
            '{' => self.object(depth.checked_sub(1)?),
            '[' => self.array(depth.checked_sub(1)?),
            '"' => self.string().map(Value::Text),
            't' => self.word("true", Value::Bool(true)),
            'f' => self.word("false", Value::Bool(false)),
            'n' => self.word("null", Value::Null),
            'N' if self.dialect == Dialect::Python => self.word("NaN", Value::Float(f64::NAN)),
            'I' if self.dialect == Dialect::Python => self.word("Infinity", Value::Float(f64::INFINITY)),
            '-' if self.dialect == Dialect::Python && self.rest.starts_with("-I") => {
                self.word("-Infinity", Value::Float(f64::NEG_INFINITY))
            }
            _ => self.number(),
        }
    }

    fn object(&mut self, depth: usize) -> Option<Value> {
        let mut entries = Vec::new();
        self.items('{', '}', |reader| {
            if reader.peek()? != '"' {
                return None;
            }
            let key = reader.string()?;
            reader.eat(':')?;
            entries.push((key, reader.value(depth)?));
            Some(())
        })?;
        Some(Value::Map(entries))
    }

    fn array(&mut self, depth: usize) -> Option<Value> {
        let mut items = Vec::new();
        self.items('[', ']', |reader| {
            items.push(reader.value(depth)?);
            Some(())
        })?;
        Some(Value::List(items))
    }

    /// Items with commas between them.
    fn items(
        &mut self,
        open: char,
        close: char,
        mut item: impl FnMut(&mut Self) -> Option<()>,
    ) -> Option<()> {
        self.eat(open)?;
        if self.peek()? == close {
            return self.eat(close);
        }
        loop {
            item(self)?;
            match self.peek()? {
                ',' => self.eat(',')?,
                _ => return self.eat(close),
            }
        }
    }

    fn string(&mut self) -> Option<String> {
        self.eat('"')?;
        let mut out = String::new();
        loop {
            let plain = self.rest.find(|c: char| matches!(c, '"' | '\\') || c < ' ')?;
            let (before, rest) = self.rest.split_at_checked(plain)?;
            out.push_str(before);
            self.rest = rest;
            match self.next()? {
                '"' => return Some(out),
                '\\' => out.push(self.escape()?),
                _ => return None,
            }
        }
    }

    fn escape(&mut self) -> Option<char> {
        Some(match self.next()? {
            c @ ('"' | '\\' | '/') => c,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let first = self.unit()?;
                if !(0xD800..0xDC00).contains(&first) {
                    return char::from_u32(first.into());
                }
                self.rest = self.rest.strip_prefix("\\u")?;
                char::decode_utf16([first, self.unit()?]).next()?.ok()?
            }
            _ => return None,
        })
    }

    /// Reads four hexadecimal digits.
    fn unit(&mut self) -> Option<u16> {
        let (digits, rest) = self.rest.split_at_checked(4)?;
        self.rest = rest;
        // `from_str_radix` takes a sign.
        digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u16::from_str_radix(digits, 16).ok())?
    }

    fn number(&mut self) -> Option<Value> {
        let end = self.rest.find(|c: char| !matches!(c, '0'..='9' | '-' | '+' | '.' | 'e' | 'E'));
        let (text, rest) = self.rest.split_at_checked(end.unwrap_or(self.rest.len()))?;
        self.rest = rest;
        let digits = text.strip_prefix('-').unwrap_or(text);
        let whole = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        let (whole, more) = digits.split_at_checked(whole)?;
        if whole.is_empty() || (whole.len() > 1 && whole.starts_with('0')) {
            return None;
        }
        if more.is_empty() {
            return text.parse().ok().map(Value::Int);
        }
        if !is_fraction(more) {
            return None;
        }
        text.parse::<f64>().ok().filter(|number| number.is_finite()).map(Value::Float)
    }

    fn word(&mut self, word: &str, value: Value) -> Option<Value> {
        self.rest = self.rest.strip_prefix(word)?;
        Some(value)
    }

    /// Skips blanks and the character `c`.
    fn eat(&mut self, c: char) -> Option<()> {
        self.blanks();
        self.rest = self.rest.strip_prefix(c)?;
        Some(())
    }

    /// Returns the next character after blanks.
    fn peek(&mut self) -> Option<char> {
        self.blanks();
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let c = chars.next();
        self.rest = chars.as_str();
        c
    }

    fn blanks(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
    }
}

/// Whether `text`, the rest after the whole part of a number, is a point and digits, an exponent, or both.
fn is_fraction(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (fraction, exponent) = match text.split_once(['e', 'E']) {
        Some((fraction, exponent)) => (fraction, Some(exponent)),
        None => (text, None),
    };
    let is_fraction = fraction.is_empty() || fraction.strip_prefix('.').is_some_and(digits);
    is_fraction
        && exponent.is_none_or(|exponent| digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)))
}
