//! Of Markdown, what a check of links needs: inline links and the anchors of headings, outside of code.

/// An inline link.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Link {
    /// From 1.
    pub(super) line: usize,
    pub(super) target: String,
}

/// Every `[text](target)` outside of code.
pub(super) fn links(text: &str) -> Vec<Link> {
    let mut found = Vec::new();
    for (line, prose) in prose(text) {
        let mut rest = &*prose;
        while let Some(at) = rest.find("](") {
            rest = &rest[at + 2..];
            let Some(end) = rest.find(')') else { break };
            // A title may follow the target.
            let target = rest[..end].split_whitespace().next().unwrap_or_default();
            found.push(Link { line, target: target.to_owned() });
            rest = &rest[end..];
        }
    }
    found
}

/// Returns the anchors, which follow `#` in links, of the headings of `text`, made as the usual sites make them.
pub(super) fn anchors(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let fenced: Vec<usize> = prose(text).into_iter().map(|(line, _)| line).collect();
    for (number, line) in (1..).zip(text.lines()) {
        let title = line.trim_start_matches('#');
        if title.len() == line.len() || !title.starts_with(' ') || !fenced.contains(&number) {
            continue;
        }
        let kept = title.trim().chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        let anchor: String = kept.flat_map(char::to_lowercase).collect::<String>().replace(' ', "-");
        let before = found.iter().filter(|other| **other == anchor).count();
        found.push(if before == 0 { anchor } else { format!("{anchor}-{before}") });
    }
    found
}

/// The lines outside of fenced code, with their numbers; code within a line is blanked.
fn prose(text: &str) -> Vec<(usize, String)> {
    let mut fence: Option<&str> = None;
    let mut lines = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let start = line.trim_start();
        let marks = ["```", "~~~"].into_iter().find(|mark| start.starts_with(mark));
        match (fence, marks) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, None) => lines.push((number, without_code(line))),
            _ => {}
        }
    }
    lines
}

fn without_code(line: &str) -> String {
    // Every second piece between back quotes is code; a quote that is not closed is text.
    let pieces: Vec<&str> = line.split('`').collect();
    let last = pieces.len() - 1;
    let kept = (0..).zip(pieces).map(|(i, piece)| if i % 2 == 1 && i < last { "" } else { piece });
    kept.collect::<Vec<_>>().join("`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_in_code_are_ignored() {
        let text = "[a](b.md) `[c](d.md)` [`e`](f.md \"title\")\n```sh\n[g](h.md)\n```\n[i](j.md";
        let found: Vec<String> = links(text).into_iter().map(|link| link.target).collect();
        assert_eq!(found, ["b.md", "f.md"]);
    }

    #[test]
    fn headings_have_the_usual_anchors() {
        let text = "# One\n## `convert`, *twice*\n## One\n```\n# no heading\n```\n#no heading\n";
        assert_eq!(anchors(text), ["one", "convert-twice", "one-1"]);
    }
}
