//! Patterns of names, as Python's `fnmatch` has them: `*`, `?`, `[abc]`, `[a-c]`, `[!abc]`.

/// True where all of `name` fits `pattern`.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut p, mut n) = (0, 0);
    // Position to continue at when the last `*` takes one character more.
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        if pattern.get(p) == Some(&'*') {
            star = Some((p + 1, n));
            p += 1;
        } else if let Some(len) = one(&pattern[p..], name[n]) {
            p += len;
            n += 1;
        } else if let Some((after, taken)) = star {
            (p, n) = (after, taken + 1);
            star = Some((after, n));
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

/// Characters of the pattern that `c` fits; `None` if it does not.
fn one(pattern: &[char], c: char) -> Option<usize> {
    match pattern {
        ['?', ..] => Some(1),
        ['[', rest @ ..] => {
            let negated = rest.first() == Some(&'!');
            let set = &rest[usize::from(negated)..];
            // A bracket in first position belongs to the set.
            let end = set.iter().skip(1).position(|c| *c == ']').map(|at| at + 1);
            let Some(end) = end else { return (c == '[').then_some(1) };
            let mut inside = false;
            let mut left = &set[..end];
            while let [first, more @ ..] = left {
                left = match more {
                    ['-', last, more @ ..] => {
                        inside |= (*first..=*last).contains(&c);
                        more
                    }
                    _ => {
                        inside |= *first == c;
                        more
                    }
                };
            }
            (inside != negated).then_some(end + 2 + usize::from(negated))
        }
        [first, ..] => (*first == c).then_some(1),
        [] => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By CPython's `fnmatch.fnmatchcase`.
    #[test]
    fn patterns_fit_as_in_python() {
        let fit = [
            ("*", ""),
            ("*energy", "log/md/energy"),
            ("log/*/e*y", "log/a/b/eyy"),
            ("a?c", "abc"),
            ("[ab]x", "bx"),
            ("[!ab]x", "cx"),
            ("[a-c]1", "b1"),
            ("[]]", "]"),
            ("[", "["),
            ("a**b", "ab"),
        ];
        assert!(fit.iter().all(|(pattern, name)| matches(pattern, name)));
        let unfit =
            [("", "a"), ("a", ""), ("a?", "a"), ("[!ab]x", "ax"), ("[a-c]1", "d1"), ("*x", "xy"), ("A", "a")];
        assert!(unfit.iter().all(|(pattern, name)| !matches(pattern, name)));
    }
}
