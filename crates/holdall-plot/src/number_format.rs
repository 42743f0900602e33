//! Numbers as people write them.

/// A number in few characters: up to six digits.
pub(crate) fn short(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    if !value.is_finite() {
        return if value.is_nan() { "NaN".into() } else { minus(&format!("{value}")) };
    }
    let text = format!("{value:.5e}");
    let Some((digits, exponent)) = text.split_once('e') else { return text };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..6).contains(&exponent) {
        let decimals = usize::try_from(5 - exponent).unwrap_or(0);
        let text = format!("{value:.decimals$}");
        let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
        return minus(text);
    }
    let digits = digits.trim_end_matches('0').trim_end_matches('.');
    match digits {
        "1" => format!("10{}", superscript(exponent)),
        "-1" => format!("−10{}", superscript(exponent)),
        digits => format!("{}×10{}", minus(digits), superscript(exponent)),
    }
}

/// A positive number with all its digits.
pub(crate) fn exact(value: f64) -> String {
    if (1e-5..1e16).contains(&value) {
        return value.to_string();
    }
    let text = format!("{value:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let power = format!("10{}", superscript(exponent.parse().unwrap_or(0)));
    if digits == "1" { power } else { format!("{digits}×{power}") }
}

/// Replaces the hyphen by the minus sign U+2212; zero loses its sign.
pub(crate) fn minus(text: &str) -> String {
    match text.strip_prefix('-') {
        Some(rest) if rest.chars().all(|letter| matches!(letter, '0' | '.')) => rest.to_owned(),
        Some(rest) => format!("−{rest}"),
        None => text.to_owned(),
    }
}

pub(crate) fn superscript(exponent: i32) -> String {
    let raised = |letter| match letter {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '0' => '⁰',
        '4' => '⁴',
        '5' => '⁵',
        '6' => '⁶',
        '7' => '⁷',
        '8' => '⁸',
        _ => '⁹',
    };
    exponent.to_string().chars().map(raised).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let cases =
            [(0.1, "0.1"), (-12.5, "−12.5"), (1e6, "10⁶"), (1.5e-7, "1.5×10⁻⁷"), (123_456.0, "123456")];
        for (value, text) in cases {
            assert_eq!(short(value), text);
        }
        for (value, text) in [(1e-300, "10⁻³⁰⁰"), (1.5e20, "1.5×10²⁰"), (0.034_42, "0.03442")] {
            assert_eq!(exact(value), text);
        }
    }
}
