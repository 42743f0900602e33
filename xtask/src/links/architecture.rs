//! docs/ARCHITECTURE.md held against the tree: the places it names are there; and docs/decisions.md: its dependencies are the real ones.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result};

use crate::repo::Repo;

const PAGE: &str = "docs/ARCHITECTURE.md";
const REASONS: &str = "docs/decisions.md";
const PLACES: &str = "## To change";
const DEPENDENCIES: &str = "## Dependencies";

pub(super) fn problems(repo: &Repo, pages: &BTreeMap<String, String>) -> Result<Vec<String>> {
    let of = |page: &str| pages.get(page).with_context(|| format!("{page}: no such file"));
    let (page, reasons) = (of(PAGE)?, of(REASONS)?);
    let files = repo.file_names()?;
    let mut problems = Vec::new();
    for cell in column(page, PLACES, 1) {
        problems.extend(
            missing(&cell, &files).into_iter().map(|place| format!("{PAGE}: {place}: nothing there")),
        );
    }
    let told: BTreeSet<String> =
        column(reasons, DEPENDENCIES, 0).iter().flat_map(|cell| code(&without_brackets(cell))).collect();
    let manifest: toml::Table = std::fs::read_to_string(repo.path("Cargo.toml"))?.parse()?;
    let all = manifest["workspace"]["dependencies"].as_table().context("no table of dependencies")?;
    let foreign = all.iter().filter(|(_, value)| value.get("path").is_none());
    for (name, _) in foreign.filter(|(name, _)| !told.contains(*name)) {
        problems.push(format!("{REASONS}: the dependency {name} is not in its table"));
    }
    // Some are of the packages that are workspaces of their own.
    let manifests = files.iter().filter(|name| name.ends_with("Cargo.toml"));
    let manifests: Vec<String> =
        manifests.filter_map(|name| std::fs::read_to_string(repo.path(name)).ok()).collect();
    for name in told {
        let used = |text: &String| text.lines().any(|line| line.trim_start().starts_with(&name));
        if !manifests.iter().any(used) {
            problems.push(format!("{REASONS}: {name}: no package depends on it"));
        }
    }
    Ok(problems)
}

/// The cells of a column of the table in the section that starts with `heading`.
fn column(page: &str, heading: &str, index: usize) -> Vec<String> {
    let section = page.lines().skip_while(|line| !line.starts_with(heading)).skip(1);
    let rows = section.take_while(|line| !line.starts_with("## ")).filter(|line| line.starts_with('|'));
    let cells = rows.skip(2).filter_map(|row| row.split('|').nth(index + 1));
    cells.map(str::to_owned).collect()
}

/// Returns the texts between back quotes.
fn code(cell: &str) -> Vec<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

fn without_brackets(cell: &str) -> String {
    let mut depth = 0_usize;
    let kept = cell.chars().filter(|c| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => return depth == 0,
        }
        false
    });
    kept.collect()
}

/// The places of a cell at which there is no file. One that names no crate is beside the one before it.
fn missing(cell: &str, files: &[String]) -> Vec<String> {
    let mut folder = String::new();
    let mut missing = Vec::new();
    for place in code(cell).iter().flat_map(|place| expanded(place)) {
        let tries = [format!("crates/{place}"), place.clone(), format!("{folder}{place}")];
        match tries.iter().find(|path| files.iter().any(|file| fits(path, file))) {
            Some(path) => folder = path.rfind('/').map_or(String::new(), |at| path[..=at].to_owned()),
            None => missing.push(place),
        }
    }
    missing
}

/// `a/{b,c}*` is `a/b*` and `a/c*`.
fn expanded(place: &str) -> Vec<String> {
    match place.split_once('{').and_then(|(head, rest)| Some((head, rest.split_once('}')?))) {
        None => vec![place.to_owned()],
        Some((head, (names, tail))) => {
            names.split(',').map(|name| format!("{head}{name}{tail}").replace("**", "*")).collect()
        }
    }
}

/// Whether `file` is at `path`: a file, a folder that ends with a slash, or either with one `*` or `<word>` for any letters.
fn fits(path: &str, file: &str) -> bool {
    let wild = path.find('*').map(|at| (at, at + 1));
    let wild = wild.or_else(|| Some((path.find('<')?, path.find('>')? + 1)));
    match wild {
        Some((start, end)) => file.starts_with(&path[..start]) && file.contains(&path[end..]),
        None if path.ends_with('/') => file.starts_with(path),
        None => file == path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files() -> Vec<String> {
        [
            "crates/a/src/b.rs",
            "crates/a/src/b/c.rs",
            "crates/a/src/d.rs",
            "xtask/src/ci.rs",
            "testdata/x/make.py",
        ]
        .map(str::to_owned)
        .to_vec()
    }

    #[test]
    fn places_are_found_in_each_of_their_forms() {
        for cell in [
            "`a/src/b.rs`, `b/`",
            "`a/src/{b,d}*`",
            "`a/src/b*`, `d.rs`",
            "`xtask/src/ci.rs`",
            "`testdata/<format>/make.py`",
        ] {
            assert_eq!(missing(cell, &files()), Vec::<String>::new(), "{cell}");
        }
    }

    #[test]
    fn missing_paths_are_reported() {
        assert_eq!(missing("`a/src/{b,e}*`, `f.rs`", &files()), ["a/src/e*", "f.rs"]);
        assert_eq!(missing("`testdata/<format>/made.py`", &files()), ["testdata/<format>/made.py"]);
    }

    #[test]
    fn a_table_is_read_by_its_heading() {
        let page = "# A\n| x |\n## To change it\n| what | where |\n|---|---|\n| b | `c` |\n## Dependencies\n| crate | why |\n\
                    |---|---|\n| `d` (feature `e`), `f` | g |\n";
        assert_eq!(column(page, PLACES, 1), [" `c` "]);
        assert_eq!(code(&without_brackets(&column(page, DEPENDENCIES, 0)[0])), ["d", "f"]);
    }
}
