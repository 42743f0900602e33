//! Steps of JSON pointers (RFC 6901) and of paths: escapes for slashes within a step.

use std::borrow::Cow;

/// A step as a pointer has it: `~0` for a tilde, `~1` for a slash.
#[must_use]
pub fn escape(step: &str) -> Cow<'_, str> {
    if step.contains(['/', '~']) { step.replace('~', "~0").replace('/', "~1").into() } else { step.into() }
}

/// A step without its escapes.
#[must_use]
pub fn unescape(step: &str) -> Cow<'_, str> {
    // In this order (RFC 6901, section 4): `~01` is `~1`.
    if step.contains('~') { step.replace("~1", "/").replace("~0", "~").into() } else { step.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_come_back_whatever_they_are() {
        for (step, escaped) in [("a", "a"), ("", ""), ("a/b~c", "a~1b~0c"), ("~1", "~01"), ("~/", "~0~1")] {
            assert_eq!((&*escape(step), &*unescape(escaped)), (escaped, step));
        }
    }
}
