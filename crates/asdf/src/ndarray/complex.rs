//! `core/complex`: a complex number as text (ASDF standard 1.6.0, core schemas, complex).

/// A complex number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Complex {
    /// Real part.
    pub re: f64,
    /// Imaginary part.
    pub im: f64,
}

/// True where `tag` is that of a complex number, of any version.
#[must_use]
pub fn is_tag(tag: &str) -> bool {
    tag.starts_with("tag:stsci.edu:asdf/core/complex-")
}

/// Reads `1+2i`, `(1.5e3-2j)`, `-inf+nani`, `3J`, `4`: with or without parentheses, `i`, `j`, `I` or `J` after the imaginary part, in either order of
/// the parts or one of them alone. `None` for anything else.
#[must_use]
pub fn parse(text: &str) -> Option<Complex> {
    let text = text.trim();
    let text = match text.strip_prefix('(') {
        Some(rest) => rest.strip_suffix(')')?.trim(),
        None => text,
    };
    let (first, rest) = term(text)?;
    let mut number = Complex { re: 0.0, im: 0.0 };
    if rest.is_empty() {
        match first {
            Term::Real(value) => number.re = value,
            Term::Imaginary(value) => number.im = value,
        }
        return Some(number);
    }
    if !rest.starts_with(['+', '-']) {
        return None;
    }
    match (first, term(rest)?) {
        (Term::Real(re), (Term::Imaginary(im), "")) | (Term::Imaginary(im), (Term::Real(re), "")) => {
            Some(Complex { re, im })
        }
        _ => None,
    }
}

/// The text that Python and the standard read back as the same number: `1.5-2.0i`.
#[must_use]
pub fn text(number: Complex) -> String {
    let part = |value: f64| {
        if value.is_nan() {
            "nan".to_owned()
        } else if value.is_infinite() {
            if value > 0.0 { "inf".to_owned() } else { "-inf".to_owned() }
        } else {
            format!("{value:?}")
        }
    };
    let im = part(number.im);
    let sign = if im.starts_with('-') { "" } else { "+" };
    format!("{}{sign}{im}i", part(number.re))
}

enum Term {
    Real(f64),
    Imaginary(f64),
}

/// One number with its sign and perhaps an `i`, and the rest of the text.
fn term(text: &str) -> Option<(Term, &str)> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let len = if let Some(word) =
        unsigned.get(..3).filter(|word| word.eq_ignore_ascii_case("inf") || word.eq_ignore_ascii_case("nan"))
    {
        word.len()
    } else {
        number(unsigned)?
    };
    let value = unsigned.get(..len)?;
    let value: f64 = if value.eq_ignore_ascii_case("nan") { f64::NAN } else { value.parse().ok()? };
    let value = if text.starts_with('-') { -value } else { value };
    let rest = unsigned.get(len..)?;
    match rest.strip_prefix(['i', 'I', 'j', 'J']) {
        Some(rest) => Some((Term::Imaginary(value), rest)),
        None => Some((Term::Real(value), rest)),
    }
}

/// The length of a number without a sign: digits, a dot with digits after it, an exponent.
fn number(text: &str) -> Option<usize> {
    let digits = |from: usize| {
        let rest = text.get(from..).unwrap_or_default();
        rest.bytes().take_while(u8::is_ascii_digit).count()
    };
    let whole = digits(0);
    let mut len = whole;
    if text.get(len..)?.starts_with('.') {
        let behind = digits(len.saturating_add(1));
        // The specification does not allow `1.`.
        if behind == 0 {
            return None;
        }
        len = len.saturating_add(1).saturating_add(behind);
    } else if whole == 0 {
        return None;
    }
    if text.get(len..)?.starts_with(['e', 'E']) {
        let sign = usize::from(text.get(len.saturating_add(1)..)?.starts_with(['+', '-']));
        let from = len.saturating_add(1).saturating_add(sign);
        let exponent = digits(from);
        if exponent > 0 {
            len = from.saturating_add(exponent);
        }
    }
    Some(len)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::float_cmp)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_the_specification_is_read() {
        for (text, re, im) in [
            ("1+1j", 1.0, 1.0),
            ("1-1i", 1.0, -1.0),
            ("(1.5e3-2J)", 1500.0, -2.0),
            ("-.5I", 0.0, -0.5),
            ("4", 4.0, 0.0),
            ("2e-3j", 0.0, 0.002),
            ("2i+1", 1.0, 2.0),
            ("-inf+infj", f64::NEG_INFINITY, f64::INFINITY),
            ("1e+2+1e-2i", 100.0, 0.01),
        ] {
            assert_eq!(parse(text), Some(Complex { re, im }), "{text}");
        }
        let nan = parse("nan-nanj").unwrap();
        assert!(nan.re.is_nan() && nan.im.is_nan());
        assert!(
            parse("-0.0-0.0j").is_some_and(|zero| zero.re.is_sign_negative() && zero.im.is_sign_negative())
        );
        for bad in ["", "1.+2j", "1+2", "1j+2j", "1 + 2j", "(1+2j", "1+2j)", "i", "x", "1+2jj", "--1", "é"] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn text_reads_back_as_the_same_bits() {
        for number in
            [(1.0, -2.5), (0.1, 1e300), (-0.0, -0.0), (f64::INFINITY, f64::NEG_INFINITY), (5e-324, 0.0)]
        {
            let back = parse(&text(Complex { re: number.0, im: number.1 })).unwrap();
            assert_eq!((back.re.to_bits(), back.im.to_bits()), (number.0.to_bits(), number.1.to_bits()));
        }
        assert_eq!(text(Complex { re: 1.0, im: 2.0 }), "1.0+2.0i");
    }
}
