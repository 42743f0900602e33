//! The pages of docs/ as the book has them: with the changelog, and without links to files that are outside of the book.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use crate::repo::Repo;

/// Page of the book for the changelog, which is at the top of the repository.
const CHANGELOG: &str = "CHANGELOG.md";

/// Writes the pages, pictures and settings into a folder for mdBook.
pub(super) fn stage(repo: &Repo, folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).context("the folder of the last book")?;
    }
    copy(&repo.path("docs"), folder, "")?;
    let changes = fs::read_to_string(repo.path(CHANGELOG)).context(CHANGELOG)?;
    fs::write(folder.join(CHANGELOG), changes.replace("](docs/", "](")).context(CHANGELOG)?;
    let summary = folder.join("SUMMARY.md");
    let contents = fs::read_to_string(&summary).context("SUMMARY.md")?;
    fs::write(&summary, format!("{contents}- [Changes]({CHANGELOG})\n")).context("SUMMARY.md")?;
    Ok(())
}

/// Copies a folder; `below` is its path from docs/, with a slash at its end where it is not docs/ itself.
fn copy(from: &Path, to: &Path, below: &str) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name().into_string().ok().context("a name in docs/ that is not UTF-8")?;
        let target = to.join(&name);
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target, &format!("{below}{name}/"))?;
        } else if name.ends_with(".md") {
            let text = fs::read_to_string(entry.path()).with_context(|| name.clone())?;
            fs::write(target, within_book(&text, below))?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// A page whose links to the changelog and the README are those of the book, and whose other links out of docs/ are plain text.
fn within_book(text: &str, below: &str) -> String {
    let up = "../".repeat(below.matches('/').count());
    let text = text
        .replace(&format!("]({up}../{CHANGELOG}"), &format!("]({up}{CHANGELOG}"))
        .replace(&format!("]({up}../README.md"), &format!("]({up}README.md"));
    let outside = format!("]({up}../");
    let mut made = String::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find(&outside) {
        let (before, link) = rest.split_at(at);
        let end = link.find(')').unwrap_or(link.len() - 1);
        match before.rfind('[') {
            Some(start) => made += &format!("{}{}", &before[..start], &before[start + 1..]),
            None => made += before,
        }
        rest = &link[end + 1..];
    }
    made + rest
}

#[test]
fn links_out_of_the_book_become_text() {
    let page = "[a](../crates/x/README.md) and [c](../CHANGELOG.md#b), [d](other.md), [`e`](../tests/e.rs).";
    assert_eq!(within_book(page, ""), "a and [c](CHANGELOG.md#b), [d](other.md), `e`.");
    let below = "[a](../../crates/x) [b](../python.md) [c](../../CHANGELOG.md)";
    assert_eq!(within_book(below, "formats/"), "a [b](../python.md) [c](../CHANGELOG.md)");
}
