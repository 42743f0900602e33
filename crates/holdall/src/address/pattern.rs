//! Paths that name several datasets: a group, or a pattern with `*` and `**`.

/// A path of which every dataset below it, or that fits it, is meant.
pub(super) enum Several {
    /// The path of a group, with the slash after it.
    Group(String),
    /// A path with stars.
    Pattern(Vec<Step>),
}

/// A part of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// This character.
    Char(char),
    /// `*`: any characters within one name.
    Star,
    /// `**`: any characters, slashes too.
    DoubleStar,
    /// `**/` where a name begins: any number of whole names, none included.
    Names,
}

impl Several {
    /// The meaning of a path that no dataset has.
    pub(super) fn parse(path: &str) -> Self {
        if !path.contains('*') {
            let slash = if path.ends_with('/') { "" } else { "/" };
            return Self::Group(format!("{path}{slash}"));
        }
        let mut steps: Vec<Step> = Vec::new();
        let mut rest = path;
        while let Some(first) = rest.chars().next() {
            let begins_name = steps.last().is_none_or(|step| matches!(step, Step::Char('/') | Step::Names));
            let (step, len) = match rest {
                _ if begins_name && rest.starts_with("**/") => (Step::Names, 3),
                _ if rest.starts_with("**") => (Step::DoubleStar, 2),
                _ if first == '*' => (Step::Star, 1),
                _ => (Step::Char(first), first.len_utf8()),
            };
            // Stars that follow one another are one: the widest.
            match (steps.last_mut(), step) {
                (Some(last @ (Step::Star | Step::DoubleStar)), Step::DoubleStar | Step::Star) => {
                    if step == Step::DoubleStar {
                        *last = step;
                    }
                }
                (Some(Step::Names), Step::Names) => {}
                _ => steps.push(step),
            }
            rest = rest.get(len..).unwrap_or_default();
        }
        Self::Pattern(steps)
    }

    /// True for a path with stars.
    pub(super) const fn is_pattern(&self) -> bool {
        matches!(self, Self::Pattern(_))
    }

    /// True where a dataset of this path is meant. Linear in the product of the lengths, whatever the pattern.
    pub(super) fn has(&self, path: &str) -> bool {
        match self {
            Self::Group(group) => path.starts_with(group.as_str()),
            Self::Pattern(steps) => fits(steps, path),
        }
    }
}

/// Steps through the path with all places of the pattern that the characters so far lead to.
fn fits(steps: &[Step], path: &str) -> bool {
    let mut places = vec![false; steps.len().saturating_add(1)];
    let mut next = places.clone();
    reach(steps, &mut places, 0);
    for c in path.chars() {
        next.fill(false);
        for (at, step) in steps.iter().enumerate().filter(|(at, _)| places.get(*at) == Some(&true)) {
            let after = at.saturating_add(1);
            match step {
                Step::Char(wanted) if *wanted == c => reach(steps, &mut next, after),
                Step::Char(_) => {}
                Step::Star if c == '/' => {}
                Step::Star | Step::DoubleStar => reach(steps, &mut next, at),
                Step::Names => {
                    // Only a slash ends it.
                    if let Some(place) = next.get_mut(at) {
                        *place = true;
                    }
                    if c == '/' {
                        reach(steps, &mut next, after);
                    }
                }
            }
        }
        std::mem::swap(&mut places, &mut next);
    }
    places.last() == Some(&true)
}

/// Marks a place, and those after it that no character is needed for.
fn reach(steps: &[Step], places: &mut [bool], from: usize) {
    for (at, place) in places.iter_mut().enumerate().skip(from) {
        if std::mem::replace(place, true) || matches!(steps.get(at), None | Some(Step::Char(_))) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Several;

    /// The verdicts are those of Python's `glob.translate(pattern, recursive=True, include_hidden=True)`, with `**` allowed within names too.
    #[test]
    fn a_star_stays_within_a_name_and_two_do_not() {
        for (path, fitting, other) in [
            ("log/*", &["log/a", "log/particles", "log/"][..], &["log/a/b", "log", "xlog/a"][..]),
            ("log/**", &["log/a", "log/a/b"], &["log", "logs/a"]),
            ("*", &["a", ""], &["a/b"]),
            ("**", &["a", "a/b/c", ""], &[]),
            ("**/data", &["data", "roman/data", "a/b/data"], &["mydata", "a/mydata", "data/x"]),
            ("a/**/b", &["a/b", "a/x/b", "a/x/y/b"], &["ab", "a/xb", "b"]),
            ("a/**/**/b", &["a/b", "a/x/y/b"], &["a/xb"]),
            ("r*n/d*", &["roman/data", "rn/d"], &["roman/x/data", "roman/xd"]),
            ("a**b", &["ab", "a/x/b", "axb"], &["abc"]),
            ("a***b", &["ab", "a/x/b"], &["bab/"]),
            ("*a*a*a*b", &["aaab", "xaxaxaxb"], &["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"]),
            ("é/*", &["é/ü"], &["e/ü"]),
        ] {
            let several = Several::parse(path);
            fitting.iter().for_each(|name| assert!(several.has(name), "{path} {name}"));
            other.iter().for_each(|name| assert!(!several.has(name), "{path} {name}"));
        }
    }

    #[test]
    fn a_group_is_what_is_below_it() {
        for path in ["roman", "roman/"] {
            let several = Several::parse(path);
            assert!(!several.is_pattern());
            assert!(several.has("roman/data") && several.has("roman/a/b"));
            assert!(!several.has("roman") && !several.has("romans/data"));
        }
    }
}
