//! Draws the pictures of docs/gallery.md by the commands next to them, and compares them with those in docs/pictures.
//!
//! `cargo xtask docs` writes them anew.

use std::collections::BTreeSet;
use std::fs;

use crate::{holdall, repository, writes_goldens};

/// Largest picture in bytes: a page has a dozen.
const MAX_LEN: usize = 60 << 10;

/// The commands in blocks of `sh`.
fn commands(page: &str) -> Vec<Vec<&str>> {
    let mut is_block = false;
    let mut found = Vec::new();
    for line in page.lines() {
        match line {
            "```sh" => is_block = true,
            "```" => is_block = false,
            line if is_block => found.push(line.split_whitespace().collect()),
            _ => {}
        }
    }
    found
}

#[test]
fn pictures_of_the_gallery_are_drawn_by_their_commands() {
    let docs = repository().join("docs");
    let page = fs::read_to_string(docs.join("gallery.md")).expect("docs/gallery.md");
    let desk = tempfile::tempdir().expect("a folder");
    for entry in fs::read_dir(docs.join("pictures/data")).expect("docs/pictures/data") {
        let path = entry.expect("a file").path();
        fs::copy(&path, desk.path().join(path.file_name().expect("a name"))).expect("a copy");
    }
    let commands = commands(&page);
    assert!(commands.len() > 9, "{commands:?}");
    let mut drawn = BTreeSet::new();
    for words in commands {
        let [program, verb, args @ .., "-o", name] = words.as_slice() else {
            panic!("no picture: {words:?}")
        };
        assert_eq!((*program, *verb), ("holdall", "plot"), "{words:?}");
        assert!(page.contains(&format!("](pictures/{name})")), "the page does not show {name}");
        assert!(name.starts_with("plot-") && drawn.insert((*name).to_owned()), "{name}");
        let done = holdall().current_dir(&desk).arg(verb).args(args).args(["-o", name]).output();
        let done = done.expect("holdall runs");
        assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
        let made = fs::read(desk.path().join(name)).expect("the picture");
        assert!(made.len() <= MAX_LEN, "{name} has {} bytes", made.len());
        let path = docs.join("pictures").join(name);
        if writes_goldens() {
            fs::write(&path, made).expect("docs/pictures can be written");
        } else {
            let there = fs::read(&path).unwrap_or_default();
            assert!(there == made, "{name} is not what its command draws: run `cargo xtask docs`, and look");
        }
    }
    let kept = fs::read_dir(docs.join("pictures")).expect("docs/pictures").filter_map(|entry| {
        let name = entry.expect("a file").file_name().to_string_lossy().into_owned();
        name.starts_with("plot-").then_some(name)
    });
    assert_eq!(kept.collect::<BTreeSet<String>>(), drawn, "docs/pictures has others than the page");
}
