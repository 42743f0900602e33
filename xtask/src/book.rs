//! `book`: the pages of docs/ as a site, and a check of every link in it.

mod html;
mod staged;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};

use crate::links::joined;
use crate::repo::Repo;
use crate::step::Step;
use crate::tools::installed_with;
use crate::{Outcome, flags};
use html::Page;

const MDBOOK_VERSION: &str = "0.5.4";
/// The default ones serve and watch pages too: 13 of 68 s of processor time of a build.
const MDBOOK_FEATURES: [&str; 3] = ["--no-default-features", "--features", "search"];

/// Builds `target/book`, and fails where a link inside it has no target.
pub(crate) fn book(repo: &Repo, args: &[String]) -> Result<Outcome> {
    flags(args, [])?;
    let tools = installed_with(repo, "mdbook", MDBOOK_VERSION, &MDBOOK_FEATURES)?;
    let site = repo.target()?.join("book");
    let pages = repo.target()?.join("book-pages");
    staged::stage(repo, &pages)?;
    Step::new(repo, "mdbook").arg("build").arg(&pages).arg("--dest-dir").arg(&site).tools(&tools).run()?;
    let files = files_below(&site)?;
    let mut pages = BTreeMap::new();
    for file in files.iter().filter(|file| is_page(file)) {
        let text = fs::read_to_string(site.join(file)).with_context(|| file.clone())?;
        pages.insert(file.clone(), Page::parse(&text));
    }
    let problems = problems(&files, &pages);
    problems.iter().for_each(|problem| println!("{problem}"));
    if !problems.is_empty() {
        bail!("links of the book without a target: {}", problems.len());
    }
    let links: usize = pages.values().map(|page| page.links.len()).sum();
    println!("{}: {} pages, {links} links", repo.name_of(&site.join("index.html")), pages.len());
    Ok(Outcome::Done)
}

/// Pages that a reader opens. `print.html` repeats all, `toc.html` and `404.html` are parts of others.
fn is_page(name: &str) -> bool {
    name.ends_with(".html") && !["print.html", "toc.html", "404.html"].contains(&name)
}

/// Links to files of the site that are absent, and to names that a page lacks.
fn problems(files: &BTreeSet<String>, pages: &BTreeMap<String, Page>) -> Vec<String> {
    let mut problems = Vec::new();
    for (file, page) in pages {
        for link in page.links.iter().filter(|link| is_of_site(link)) {
            let (path, name) =
                link.split_once('#').map_or((&**link, None), |(path, name)| (path, Some(name)));
            let path = path.split('?').next().unwrap_or(path);
            let target = if path.is_empty() { Some(file.clone()) } else { joined(file, path) };
            let missing = match target.filter(|target| files.contains(target)) {
                None => "no such file",
                Some(target) => match (name, pages.get(&target)) {
                    (Some(name), Some(page)) if !name.is_empty() && !page.names.contains(name) => {
                        "no such heading"
                    }
                    _ => continue,
                },
            };
            problems.push(format!("{file}: {link}: {missing}"));
        }
    }
    problems
}

/// Links with a scheme lead out of the site.
fn is_of_site(link: &str) -> bool {
    let scheme = link.split(['/', '#', '?']).next().unwrap_or_default();
    !scheme.contains(':') && !link.starts_with("//")
}

fn files_below(folder: &Path) -> Result<BTreeSet<String>> {
    let mut files = BTreeSet::new();
    let mut folders = vec![String::new()];
    while let Some(below) = folders.pop() {
        for entry in fs::read_dir(folder.join(&below)).context("the folder of the book")? {
            let entry = entry?;
            let name =
                entry.file_name().into_string().ok().context("a name in the book that is not UTF-8")?;
            let path = if below.is_empty() { name } else { format!("{below}/{name}") };
            if entry.file_type()?.is_dir() {
                folders.push(path);
            } else {
                files.insert(path);
            }
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_without_targets_are_found() {
        let files = ["index.html", "a/b.html", "x.png"].map(str::to_owned).into();
        let page = |text: &str| Page::parse(text);
        let pages = [
            (
                "index.html",
                page(r#"<a href="a/b.html#one">1</a> <a href="a/c.html">2</a> <a href="http://x">3</a>"#),
            ),
            (
                "a/b.html",
                page(
                    r##"<h1 id="one"></h1> <img src="../x.png"> <a href="#two">4</a> <a href="../../y">5</a>"##,
                ),
            ),
        ];
        let pages = pages.map(|(name, page)| (name.to_owned(), page)).into();
        assert_eq!(
            problems(&files, &pages),
            [
                "a/b.html: #two: no such heading",
                "a/b.html: ../../y: no such file",
                "index.html: a/c.html: no such file"
            ]
        );
    }
}
