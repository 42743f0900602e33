//! `links`: what the documents point to is there: files, headings, pages of the site, and what docs/ARCHITECTURE.md names.

mod architecture;
mod markdown;

use std::collections::BTreeMap;

use anyhow::{Result, bail};

use crate::repo::Repo;
use crate::{Outcome, flags};
use markdown::{Link, anchors, links as links_of};

/// The table of contents of the site, which mdBook reads.
const SUMMARY: &str = "docs/SUMMARY.md";

pub(crate) fn links(repo: &Repo, args: &[String]) -> Result<Outcome> {
    flags(args, [])?;
    let mut pages = repo.text_files()?;
    pages.retain(|name, _| name.ends_with(".md"));
    let mut problems = broken(&pages, |path| repo.path(path).exists());
    problems.extend(not_in_summary(&pages));
    problems.extend(architecture::problems(repo, &pages)?);
    for problem in &problems {
        println!("{problem}");
    }
    if !problems.is_empty() {
        bail!("what documents point to and is not there: {}", problems.len());
    }
    println!("{} documents, every link leads somewhere", pages.len());
    Ok(Outcome::Done)
}

/// Links that lead to no file, or to no heading of one.
fn broken(pages: &BTreeMap<String, String>, exists: impl Fn(&str) -> bool) -> Vec<String> {
    let mut problems = Vec::new();
    for (page, text) in pages {
        for Link { line, target } in links_of(text) {
            if elsewhere(&target) || rust_item(page, &target) {
                continue;
            }
            let (file, anchor) = target.split_once('#').map_or((&*target, None), |(f, a)| (f, Some(a)));
            let path = if file.is_empty() { Some(page.clone()) } else { joined(page, file) };
            let there = path.filter(|path| exists(path));
            let heading = |path: &String| match (anchor, pages.get(path)) {
                (Some(anchor), Some(text)) => anchors(text).iter().any(|known| known == anchor),
                _ => true,
            };
            match there {
                None => problems.push(format!("{page}:{line}: {target}: no such file")),
                Some(path) if !heading(&path) => {
                    problems.push(format!("{page}:{line}: {target}: no such heading"));
                }
                Some(_) => {}
            }
        }
    }
    problems
}

/// Addresses on the network, which a check of the repository does not ask.
fn elsewhere(target: &str) -> bool {
    ["http://", "https://", "mailto:"].iter().any(|scheme| target.starts_with(scheme))
}

/// The READMEs of crates are their front pages in rustdoc too, which has links to items and checks those itself.
fn rust_item(page: &str, target: &str) -> bool {
    let readme = page.starts_with("crates/") && page.ends_with("/README.md");
    readme && !target.contains(['/', '.', '#']) && target != "LICENSE"
}

/// `target` as seen from `page`, relative to the root; `None` where it leads out.
pub(crate) fn joined(page: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Pages below docs/ that a reader of the site would not find.
fn not_in_summary(pages: &BTreeMap<String, String>) -> Vec<String> {
    let Some(summary) = pages.get(SUMMARY) else {
        return vec![format!("{SUMMARY}: no such file")];
    };
    let listed: Vec<String> =
        links_of(summary).iter().filter_map(|link| joined(SUMMARY, &link.target)).collect();
    let on_site = pages.keys().filter(|page| page.starts_with("docs/") && *page != SUMMARY);
    on_site.filter(|page| !listed.contains(page)).map(|page| format!("{page}: not in {SUMMARY}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(pages: &[(&str, &str)]) -> BTreeMap<String, String> {
        pages.iter().map(|&(name, text)| (name.to_owned(), text.to_owned())).collect()
    }

    fn told(pages: &BTreeMap<String, String>) -> Vec<String> {
        broken(pages, |path| pages.contains_key(path) || path == "docs" || path == "LICENSE")
    }

    #[test]
    fn valid_links_to_files_and_headings_pass() {
        let pages = pages(&[
            ("README.md", "see [a](docs/a.md#two-words), [b](docs), [c](https://x.y/z)\n[d](LICENSE)"),
            ("docs/a.md", "# One\n## Two *words*\n[up](../README.md) [here](#one)"),
        ]);
        assert_eq!(told(&pages), Vec::<String>::new());
    }

    #[test]
    fn broken_links_are_reported_with_their_line() {
        let pages = pages(&[
            ("README.md", "x\n[a](docs/b.md)\n[b](docs/a.md#three) [c](../out.md)"),
            ("docs/a.md", "# One\n[gone](#gone)"),
        ]);
        assert_eq!(
            told(&pages),
            [
                "README.md:2: docs/b.md: no such file",
                "README.md:3: docs/a.md#three: no such heading",
                "README.md:3: ../out.md: no such file",
                "docs/a.md:2: #gone: no such heading",
            ]
        );
    }

    #[test]
    fn items_of_rust_are_left_to_rustdoc_in_the_readmes_of_crates_alone() {
        let text = "[a](Decoder::decode) [b](mod@array) [c](RawArray)";
        assert_eq!(told(&pages(&[("crates/a/README.md", text)])), Vec::<String>::new());
        assert_eq!(told(&pages(&[("docs/a.md", text)])).len(), 3);
    }

    #[test]
    fn pages_missing_in_the_summary_are_reported() {
        let summary = "[a](a.md)\n- [b](sub/b.md)\n";
        let pages = pages(&[
            (SUMMARY, summary),
            ("docs/a.md", ""),
            ("docs/sub/b.md", ""),
            ("docs/c.md", ""),
            ("x.md", ""),
        ]);
        assert_eq!(not_in_summary(&pages), ["docs/c.md: not in docs/SUMMARY.md"]);
    }
}
