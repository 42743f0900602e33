//! Rust source as the checks see it: code without comments and literals, and which lines are tests.

/// A source file, made ready for rules that look at code line by line.
#[derive(Debug)]
pub(crate) struct RustSource {
    /// Relative to the root, with `/`.
    pub(crate) path: String,
    /// The text with every comment, string and character literal blanked, line by line the same.
    pub(crate) code: String,
    test_lines: Vec<bool>,
}

impl RustSource {
    pub(crate) fn new(path: &str, text: &str) -> Self {
        let code = code_only(text);
        let test_lines = test_lines(&code);
        Self { path: path.to_owned(), code, test_lines }
    }

    /// Its lines with their numbers, from 1.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        (1..).zip(self.code.lines())
    }

    /// The lines outside `#[cfg(test)]` items; none in a file of tests.
    pub(crate) fn product_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        let none = self.is_all_tests();
        self.lines().filter(move |(number, _)| !none && !self.test_lines[number - 1])
    }

    /// A file named `tests.rs`, or in a folder of tests or examples.
    pub(crate) fn is_all_tests(&self) -> bool {
        let mut parts = self.path.split('/').rev();
        parts.next() == Some("tests.rs") || parts.any(|folder| ["tests", "examples"].contains(&folder))
    }

    /// The last part of the path, without `.rs`.
    pub(crate) fn stem(&self) -> &str {
        let name = self.path.rsplit('/').next().unwrap_or(&self.path);
        name.strip_suffix(".rs").unwrap_or(name)
    }
}

/// Whether `word` stands in `line` as a whole: not as part of a longer identifier.
pub(crate) fn has_word(line: &str, word: &str) -> bool {
    words_at(line, word).next().is_some()
}

/// The byte offsets at which `word` stands in `text` as a whole.
pub(crate) fn words_at<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    text.match_indices(word).map(|(at, _)| at).filter(move |&at| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        let longer = word.ends_with(in_word) && after.is_some_and(in_word);
        !longer && !before.is_some_and(in_word)
    })
}

pub(crate) fn in_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Blanks comments and literals. Newlines stay, every other blanked character becomes a space.
fn code_only(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut code = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        let len = literal_len(&chars, at);
        if len == 0 {
            code.push(chars[at]);
            at += 1;
        } else {
            code.extend(chars[at..at + len].iter().map(|&c| if c == '\n' { c } else { ' ' }));
            at += len;
        }
    }
    code
}

/// Returns the number of characters of the comment or literal that starts at `at`; 0 where none starts.
fn literal_len(chars: &[char], at: usize) -> usize {
    let rest = &chars[at..];
    match (rest[0], rest.get(1)) {
        ('/', Some('/')) => rest.iter().position(|&c| c == '\n').unwrap_or(rest.len()),
        ('/', Some('*')) => block_comment_len(rest),
        ('"', _) => quoted_len(rest, '"'),
        // A character, unless it is a lifetime: those have no quote two places on.
        ('\'', Some('\\')) => quoted_len(rest, '\''),
        ('\'', Some(_)) if rest.get(2) == Some(&'\'') => 3,
        ('r' | 'b' | 'c', Some(_)) if at == 0 || !in_word(chars[at - 1]) => prefixed_len(rest),
        _ => 0,
    }
}

fn block_comment_len(rest: &[char]) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < rest.len() {
        match (rest[at], rest.get(at + 1)) {
            ('/', Some('*')) => (depth, at) = (depth + 1, at + 2),
            ('*', Some('/')) => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    rest.len()
}

fn quoted_len(rest: &[char], quote: char) -> usize {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            '\\' => at += 2,
            c if c == quote => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// `b"…"`, `c"…"`, `b'…'`, `r"…"`, `br##"…"##` and so on.
fn prefixed_len(rest: &[char]) -> usize {
    let prefix = rest.iter().take_while(|c| matches!(c, 'r' | 'b' | 'c')).count();
    let raw = rest[..prefix].contains(&'r');
    let hashes = if raw { rest[prefix..].iter().take_while(|&&c| c == '#').count() } else { 0 };
    let body = prefix + hashes;
    match rest.get(body) {
        Some('"') if raw => {
            let inside = &rest[body + 1..];
            let closes = |at: &usize| {
                inside[*at] == '"' && inside[at + 1..].iter().take_while(|&&c| c == '#').count() >= hashes
            };
            (0..inside.len()).find(closes).map_or(rest.len(), |at| body + 1 + at + 1 + hashes)
        }
        Some('"') => body + quoted_len(&rest[body..], '"'),
        Some('\'') if rest[0] == 'b' => body + quoted_len(&rest[body..], '\''),
        _ => 0,
    }
}

/// Marks the lines of items under `#[cfg(test)]`, the attribute included; all of them under `#![cfg(test)]`.
fn test_lines(code: &str) -> Vec<bool> {
    let mut marks = vec![false; code.lines().count()];
    for (start, _) in code.match_indices("#[cfg(").chain(code.match_indices("#![cfg(")) {
        let condition = &code[start..start + balanced_len(&code[start..])];
        let tests = has_word(condition, "test") && !condition.contains("not(test");
        if !tests {
            continue;
        }
        let end = if code[start..].starts_with("#!") { code.len() } else { item_end(code, start) };
        let first = code[..start].matches('\n').count();
        let last = code[..end].matches('\n').count();
        let last = last.min(marks.len().saturating_sub(1));
        marks[first..=last].fill(true);
    }
    marks
}

/// Returns the end of the item whose first attribute starts at `start`.
fn item_end(code: &str, start: usize) -> usize {
    let mut at = start;
    loop {
        at += code[at..].len() - code[at..].trim_start().len();
        if !code[at..].starts_with('#') {
            break;
        }
        at += balanced_len(&code[at..]);
    }
    while let Some(c) = code[at..].chars().next() {
        match c {
            '{' => return at + balanced_len(&code[at..]),
            ';' => return at + 1,
            '(' | '[' => at += balanced_len(&code[at..]),
            _ => at += c.len_utf8(),
        }
    }
    code.len()
}

/// The bytes up to and including the bracket that closes the first one in `code`.
fn balanced_len(code: &str) -> usize {
    let mut depth = 0_usize;
    for (at, c) in code.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
    }
    code.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> String {
        let code = code_only(text);
        assert_eq!(code.chars().count(), text.chars().count());
        code.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn comments_and_literals_are_blanked() {
        assert_eq!(code("a // unsafe\nb /* x /* y */ z */ c"), "a b c");
        assert_eq!(code(r#"f("unsafe \" {", 1)"#), "f( , 1)");
        assert_eq!(code(r##"f(r#"a " unsafe"#, br"\", b"}", c"{")"##), "f( , , , )");
        assert_eq!(code(r"('{', '\'', '\u{7b}', b'\\', b'{', 'x')"), "( , , , , , )");
        assert_eq!(code("\"never closed"), "");
    }

    #[test]
    fn lifetimes_and_names_with_prefix_letters_are_code() {
        assert_eq!(code("fn f<'a>(x: &'a str, y: &'static u8)"), "fn f<'a>(x: &'a str, y: &'static u8)");
        assert_eq!(code("super::x r#type bar c"), "super::x r#type bar c");
    }

    #[test]
    fn test_modules_are_excluded_from_product_lines() {
        let text = "fn a() {}\n#[cfg(test)]\n#[allow(x)]\nmod tests {\n  fn b() { }\n}\nfn c() {}\n";
        let numbers = |text| {
            let source = RustSource::new("crates/x/src/a.rs", text);
            source.product_lines().map(|(number, _)| number).collect::<Vec<_>>()
        };
        assert_eq!(numbers(text), [1, 7]);
        assert_eq!(numbers("#[cfg(test)]\nmod tests;\nfn a() {}"), [3]);
        assert_eq!(numbers("#[cfg(all(test, unix))]\nfn a(x: [u8; 2]) {\n}\nfn b() {}"), [4]);
        assert_eq!(numbers("#[cfg(not(test))]\nfn a() {\n}"), [1, 2, 3]);
        assert_eq!(numbers("#![cfg(test)]\nfn a() {}\n"), [0_usize; 0]);
        assert_eq!(numbers("// #[cfg(test)]\nfn a() {}"), [1, 2]);
    }

    #[test]
    fn test_files_are_recognised_by_their_path() {
        for path in
            ["crates/a/examples/x.rs", "crates/a/src/x/tests.rs", "crates/a/tests/x.rs", "tests/src/main.rs"]
        {
            assert!(RustSource::new(path, "").is_all_tests(), "{path}");
        }
        for path in ["crates/a/src/latests.rs", "crates/a/src/tests_of.rs"] {
            assert!(!RustSource::new(path, "").is_all_tests(), "{path}");
        }
    }

    #[test]
    fn has_word_matches_whole_words() {
        assert!(has_word("unsafe { x }", "unsafe"));
        assert!(!has_word("#![deny(unsafe_code)]", "unsafe"));
        assert!(has_word("let x = nom::bytes", "nom::"));
        assert!(!has_word("phenom::bytes", "nom::"));
    }
}
