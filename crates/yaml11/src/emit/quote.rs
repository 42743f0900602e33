//! Finds the styles that can hold a text, and whether it needs quotes to be read as text.
//!
//! Two kinds of readers are served: those of YAML 1.1, as PyYAML and libyaml are, and those of YAML 1.2, which read `0o17` and `1e3` as numbers and
//! `yes` as text. A text that either would misread gets quotes.

/// The styles that can hold a text. Double quotes can hold any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Styles {
    /// Without quotes, in block collections.
    pub(super) block_plain: bool,
    /// Without quotes, in flow collections.
    pub(super) flow_plain: bool,
    /// Single quotes, in one line.
    pub(super) single: bool,
    /// `|` without an indentation indicator, and at most one line break at the end.
    pub(super) literal: bool,
    /// `>` under the same conditions, and no line begins with a blank.
    pub(super) folded: bool,
    /// It has line breaks.
    pub(super) multiline: bool,
}

/// Returns whether libyaml writes a character unescaped. Characters beyond the basic plane are escaped as Python does, and so are those that some
/// readers take for a line break: U+0085, U+2028 and U+2029.
pub(super) const fn is_printable(c: char) -> bool {
    matches!(c, ' '..='~' | '\u{a0}'..='\u{2027}' | '\u{202a}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}')
}

impl Styles {
    /// Finds the styles for a text.
    pub(super) fn of(text: &str) -> Self {
        if is_one_word(text) {
            let (literal, folded, multiline) = (false, false, false);
            return Self { block_plain: true, flow_plain: true, single: true, literal, folded, multiline };
        }
        // One pass over the characters. Indicators at the start, `: ` and ` #` rule out plain text; `flow_plain` also excludes the marks of flow
        // collections.
        let mut plain = !text.is_empty();
        let mut flow_plain = plain;
        let mut printable = true;
        let (mut multiline, mut blank_before_break, mut blank_after_break) = (false, false, false);
        let mut last = '\n';
        let mut chars = text.chars().peekable();
        let mut first = true;
        while let Some(c) = chars.next() {
            let ends_word = chars.peek().is_none_or(|next| matches!(next, ' ' | '\n'));
            match c {
                '#' | ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@'
                | '`'
                    if first =>
                {
                    plain = false;
                }
                '-' if first => plain &= !ends_word,
                '?' | ':' if first => {
                    flow_plain = false;
                    plain &= !ends_word;
                }
                ',' | '?' | '[' | ']' | '{' | '}' => flow_plain = false,
                ':' => {
                    flow_plain = false;
                    plain &= !ends_word;
                }
                '#' => plain &= last != ' ',
                '\n' => {
                    multiline = true;
                    blank_before_break |= last == ' ';
                }
                ' ' => blank_after_break |= last == '\n' && !first,
                c if !is_printable(c) => printable = false,
                _ => {}
            }
            last = c;
            first = false;
        }
        let begins_blank = text.starts_with(char::is_whitespace);
        let ends_blank = text.ends_with(char::is_whitespace);
        let marker = text.starts_with("---") || text.starts_with("...");
        plain &= printable && !multiline && !begins_blank && !ends_blank && !marker;
        let literal = printable
            && multiline
            && !begins_blank
            && !blank_before_break
            && last != ' '
            && !text.ends_with("\n\n");
        Self {
            block_plain: plain,
            flow_plain: plain && flow_plain,
            single: printable && !multiline,
            literal,
            folded: literal && !blank_after_break,
            multiline,
        }
    }
}

/// True for most keys and names, which have no special characters.
fn is_one_word(text: &str) -> bool {
    text.as_bytes().first().is_some_and(|first| first.is_ascii_alphanumeric() || *first == b'_')
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'/' | b'+'))
}

/// True where the text without quotes is a null, a boolean, a number, a date, `=` or `<<` to some reader.
pub(super) fn is_misread(text: &str) -> bool {
    let Some(first) = text.bytes().next() else { return true };
    match first {
        b'0'..=b'9' => is_number(text) || is_date(text),
        b'+' | b'-' => text.get(1..).is_some_and(|rest| is_number(rest) || is_infinite(rest)),
        b'.' => is_number(text) || is_infinite(text),
        b'~' | b'=' => text.len() == 1,
        b'<' => text == "<<",
        // Some readers in C accept the same texts as `strtod`.
        b'i' | b'I' => is_infinite(text),
        b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'y' | b'Y' | b'o' | b'O' => is_word(text),
        _ => false,
    }
}

fn is_word(text: &str) -> bool {
    // YAML 1.1 has `y` and `n` too, but PyYAML takes them for text, and they are names of axes and sizes.
    const WORDS: [&str; 8] = ["null", "true", "false", "yes", "no", "on", "off", "nan"];
    text.len() <= 5 && WORDS.iter().any(|word| word.eq_ignore_ascii_case(text))
}

fn is_infinite(text: &str) -> bool {
    let text = text.strip_prefix('.').unwrap_or(text);
    text.len() <= 8 && ["inf", "nan", "infinity"].iter().any(|word| word.eq_ignore_ascii_case(text))
}

/// Whole numbers and fractions of any notation, `1:30` among them; without a sign.
fn is_number(text: &str) -> bool {
    if let Some(rest) = text.strip_prefix('0') {
        let digits = rest.get(1..).unwrap_or_default();
        match rest.bytes().next() {
            // Hexadecimal fractions are numbers to C.
            Some(b'x' | b'X') => {
                return !digits.is_empty()
                    && digits.bytes().all(|b| {
                        b.is_ascii_hexdigit() || matches!(b, b'_' | b'.' | b'p' | b'P' | b'+' | b'-')
                    });
            }
            Some(b'o' | b'O' | b'b' | b'B') => {
                return !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit() || b == b'_');
            }
            _ => {}
        }
    }
    let (whole, rest) = digits(text);
    if whole.starts_with('_') {
        return false;
    }
    if let Some(mut rest) = rest.strip_prefix(':').filter(|_| !whole.is_empty()) {
        // Sexagesimal: minutes and seconds of one or two digits, perhaps a fraction.
        loop {
            let (part, after) = digits(rest);
            if part.is_empty() {
                return false;
            }
            match after.strip_prefix(':') {
                Some(next) => rest = next,
                None => {
                    return after.is_empty()
                        || after.strip_prefix('.').is_some_and(|after| digits(after).1.is_empty());
                }
            }
        }
    }
    let (fraction, rest) = rest.strip_prefix('.').map_or(("", rest), digits);
    if !whole.bytes().chain(fraction.bytes()).any(|b| b.is_ascii_digit()) {
        return false;
    }
    match rest.strip_prefix(['e', 'E']) {
        None => rest.is_empty(),
        Some(exponent) => {
            let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
            !exponent.is_empty() && exponent.bytes().all(|b| b.is_ascii_digit() || b == b'_')
        }
    }
}

/// Leading digits and underscores, and the rest.
fn digits(text: &str) -> (&str, &str) {
    let len = text.bytes().take_while(|b| b.is_ascii_digit() || *b == b'_').count();
    text.split_at_checked(len).unwrap_or((text, ""))
}

/// `2001-12-14`, alone or before text that may be a time.
fn is_date(text: &str) -> bool {
    let mut parts = text.splitn(3, '-');
    let (Some(year), Some(month), Some(rest)) = (parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    let day = rest.bytes().take_while(u8::is_ascii_digit).count();
    let is_digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    year.len() == 4
        && is_digits(year)
        && (1..=2).contains(&month.len())
        && is_digits(month)
        && (1..=2).contains(&day)
        && rest.get(day..).is_some_and(|rest| rest.is_empty() || rest.starts_with(['t', 'T', ' ', '\t']))
}

#[cfg(test)]
mod tests;
