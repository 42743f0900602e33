//! Names with `*` and `?`.

/// True where one of the patterns fits the whole name.
pub(crate) fn any(patterns: &[String], name: &str) -> bool {
    patterns.iter().any(|pattern| fits(pattern, name))
}

/// True where a pattern matches the whole name: `*` is any characters, `?` one. Linear in the product of the lengths, whatever the pattern.
#[must_use]
pub fn fits(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    let (mut p, mut n) = (0, 0);
    // The last star, and the first character of the name that it does not cover.
    let mut star = None;
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(wanted) if *wanted == '?' || *wanted == name[n] => {
                p += 1;
                n += 1;
            }
            _ => match star {
                Some((at, covered)) => {
                    star = Some((at, covered + 1));
                    p = at + 1;
                    n = covered + 1;
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|rest| *rest == '*')
}

#[cfg(test)]
mod tests {
    use super::fits;

    /// The verdicts are those of Python's `fnmatch.fnmatchcase`.
    #[test]
    fn stars_and_question_marks_fit_as_in_a_shell() {
        let fitting = [
            ("", ""),
            ("*", ""),
            ("*", "abc"),
            ("a*c", "abc"),
            ("a*c", "ac"),
            ("a?c", "abc"),
            ("*b*", "abc"),
            ("**", "x"),
            ("a*b*c", "aXbYbZc"),
            ("é?", "éü"),
        ];
        for (pattern, name) in fitting {
            assert!(fits(pattern, name), "{pattern} {name}");
        }
        let other =
            [("", "a"), ("a", ""), ("?", ""), ("a?c", "ac"), ("*b", "abc"), ("abc", "ab"), ("A", "a")];
        for (pattern, name) in other {
            assert!(!fits(pattern, name), "{pattern} {name}");
        }
    }
}
