//! Links and names in a page of HTML as mdBook writes it: attributes in double quotes.

use std::collections::BTreeSet;

/// A page's links, and the names that links to it may end with.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Page {
    pub links: Vec<String>,
    pub names: BTreeSet<String>,
}

impl Page {
    pub fn parse(text: &str) -> Self {
        let mut page = Self::default();
        for tag in tags(text) {
            for (name, value) in attributes(tag) {
                match name {
                    "href" | "src" => page.links.push(plain(value)),
                    "id" | "name" => drop(page.names.insert(plain(value))),
                    _ => {}
                }
            }
        }
        page
    }
}

/// Tags, without their angle brackets, of a page without scripts, styles and comments.
fn tags(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = &rest[rest.find('<')? + 1..];
        while let Some(end) = skipped(rest) {
            rest = &rest[end..];
            rest = &rest[rest.find('<')? + 1..];
        }
        let (tag, after) = rest.split_at(rest.find('>')?);
        rest = after;
        Some(tag)
    })
}

/// The end of a comment that starts here, or of a script's text.
fn skipped(rest: &str) -> Option<usize> {
    if rest.starts_with("!--") {
        return rest.find("-->");
    }
    let of = ["script>", "style>"].into_iter().find(|tag| rest.starts_with(tag))?;
    rest.find(&format!("</{of}")).map(|at| at + 1)
}

fn attributes(tag: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut parts = tag.split('"');
    std::iter::from_fn(move || {
        let name = parts.next()?.strip_suffix('=')?;
        let name = name.rsplit(char::is_whitespace).next().unwrap_or(name);
        Some((name, parts.next()?))
    })
}

/// Without the entities and escapes that are in links.
fn plain(value: &str) -> String {
    value.replace("&amp;", "&").replace("%20", " ")
}

#[test]
fn links_and_names_are_found_outside_of_scripts_and_comments() {
    let page = Page::parse(
        r##"<!-- <a href="no"> --><h2 class="x" id="one">A</h2><script>let a = '<a href="no">';</script><a class="y" href="b.html?c=1&amp;d#e">b</a>"##,
    );
    assert_eq!(page.links, ["b.html?c=1&d#e"]);
    assert_eq!(page.names.into_iter().collect::<Vec<_>>(), ["one"]);
}
