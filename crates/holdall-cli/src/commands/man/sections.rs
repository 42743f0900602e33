//! Sections of a manual page that the options do not give: NOTES and EXAMPLES from the help, EXIT STATUS and SEE ALSO.

/// Line of the help before the examples.
const EXAMPLES: &str = "Examples:\n";

/// Verbs that a page refers to, by the page's verb.
const RELATED: &[(&str, &[&str])] = &[
    ("info", &["ls", "tree", "meta", "verify"]),
    ("ls", &["info", "tree", "find"]),
    ("tree", &["ls", "meta"]),
    ("cat", &["ls", "stat", "extract", "convert"]),
    ("meta", &["tree", "info"]),
    ("stat", &["cat", "plot"]),
    ("plot", &["stat", "serve"]),
    ("serve", &["plot", "ls"]),
    ("layout", &["verify", "info"]),
    ("verify", &["repair", "layout", "digest"]),
    ("repair", &["verify"]),
    ("convert", &["recode", "pack", "extract", "formats"]),
    ("recode", &["convert", "formats"]),
    ("pack", &["extract", "append", "convert"]),
    ("extract", &["pack", "cat", "convert"]),
    ("append", &["pack"]),
    ("explode", &["implode"]),
    ("implode", &["explode"]),
    ("diff", &["digest"]),
    ("digest", &["diff", "verify"]),
    ("catalog", &["find", "ls"]),
    ("find", &["catalog", "ls"]),
    ("formats", &["convert", "verify"]),
    ("samples", &["info", "verify"]),
    ("completions", &["man"]),
    ("man", &["completions"]),
];

/// The sections of the page of `verb`, or of the command with its `verbs`. `help` is the text after the options in the help.
pub(super) fn after_options(verb: &str, verbs: &[String], help: &str) -> String {
    let (notes, examples) = split(help);
    let mut page = String::new();
    if !notes.is_empty() {
        page.push_str(".SH NOTES\n");
        push_notes(notes, &mut page);
    }
    if !examples.is_empty() {
        page.push_str(".SH EXAMPLES\n.nf\n");
        for line in examples.lines() {
            push_line(line.strip_prefix("  ").unwrap_or(line), &mut page);
        }
        page.push_str(".fi\n");
    }
    if !notes.contains("Exit codes") {
        page.push_str(
            ".SH \"EXIT STATUS\"\n.TP\n0\nyes, or clean\n.TP\n1\nthe answer is no: damage, a difference, no match\n.TP\n2\nit could not answer\n",
        );
    }
    page.push_str(".SH \"SEE ALSO\"\n");
    let related = RELATED.iter().find(|(name, _)| *name == verb).map_or(&[][..], |(_, related)| related);
    let own = related.iter().map(|verb| page_of(verb)).chain(verbs.iter().map(|verb| page_of(verb)));
    let all: Vec<String> =
        related.first().map(|_| "\\fBholdall\\fR(1)".to_owned()).into_iter().chain(own).collect();
    page.push_str(&all.join(",\n"));
    page.push('\n');
    page
}

fn page_of(verb: &str) -> String {
    format!("\\fBholdall\\-{verb}\\fR(1)")
}

/// The rules of the help, and its examples.
fn split(help: &str) -> (&str, &str) {
    let at = if help.starts_with(EXAMPLES) {
        Some(0)
    } else {
        help.find(&format!("\n{EXAMPLES}")).map(|at| at + 1)
    };
    match at {
        Some(at) => {
            let (notes, examples) = help.split_at_checked(at).unwrap_or((help, ""));
            (notes.trim_end(), examples.strip_prefix(EXAMPLES).unwrap_or(examples))
        }
        None => (help.trim_end(), ""),
    }
}

/// Paragraphs, and lists, whose lines are indented.
fn push_notes(notes: &str, page: &mut String) {
    for line in notes.lines() {
        match line.strip_prefix("  ") {
            Some(item) => {
                page.push_str(".IP \"\" 2\n");
                push_line(item, page);
            }
            None if line.is_empty() => page.push_str(".PP\n"),
            None => push_line(line, page),
        }
    }
}

/// A line of text: no character of it is one of roff's.
fn push_line(line: &str, page: &mut String) {
    if line.starts_with(['.', '\'', ' ']) {
        page.push_str("\\&");
    }
    for c in line.chars() {
        match c {
            '\\' => page.push_str("\\e"),
            '-' => page.push_str("\\-"),
            '\'' => page.push_str("\\(aq"),
            '`' => page.push_str("\\(ga"),
            '^' => page.push_str("\\(ha"),
            '~' => page.push_str("\\(ti"),
            '"' => page.push_str("\\(dq"),
            c => page.push(c),
        }
    }
    page.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verb_has_related_pages() {
        for verb in crate::commands::command(&[]).get_subcommands() {
            let related = RELATED.iter().find(|(name, _)| *name == verb.get_name());
            let (_, related) = related.unwrap_or_else(|| panic!("{}", verb.get_name()));
            for other in *related {
                assert!(crate::commands::command(&[]).find_subcommand(other).is_some(), "{other}");
            }
        }
    }

    #[test]
    fn text_of_the_help_is_text_of_the_page() {
        let page = after_options(
            "ls",
            &[],
            "It's .a rule\n.so file\n\nExamples:\n  holdall ls 'a b' --json\n  x\\y ~/z",
        );
        let (notes, rest) = page.split_once(".SH EXAMPLES\n").unwrap();
        assert_eq!(notes, ".SH NOTES\nIt\\(aqs .a rule\n\\&.so file\n");
        assert!(rest.starts_with(".nf\nholdall ls \\(aqa b\\(aq \\-\\-json\nx\\ey \\(ti/z\n.fi\n"), "{rest}");
        assert!(rest.ends_with(".SH \"SEE ALSO\"\n\\fBholdall\\fR(1),\n\\fBholdall\\-info\\fR(1),\n\\fBholdall\\-tree\\fR(1),\n\\fBholdall\\-find\\fR(1)\n"), "{rest}");
    }
}
