//! The picture of a terminal in the README: a session as it looks with colours.

use std::fs;
use std::process::Command;

use anstyle_svg::Term;

use crate::pseudo_terminal::shown;
use crate::sessions::Desk;
use crate::{repository, writes_goldens};

/// Typed in the folder of the samples.
const SESSION: &[&str] = &[
    "holdall ls image.asdf",
    "holdall cat 'image.asdf::roman/data[28:33, 42:47]' --digests ignore",
    "holdall verify damaged.blp",
    "holdall repair damaged.blp -o saved.blp",
    "holdall convert image.asdf::roman/data image.b2nd --codec zstd --verify",
    "holdall digest image.asdf::roman/data image.b2nd",
];

/// Sequences that switch bold on and all off.
const BOLD: &str = "\x1b[1m";
const RESET: &str = "\x1b[0m";

#[test]
fn terminal_picture() {
    let desk = Desk::new();
    desk.write_samples();
    let mut text = String::new();
    for command in SESSION {
        let mut shell = Command::new("sh");
        desk.prepare(shell.args(["-c", command])).env_remove("NO_COLOR");
        text += &format!("{BOLD}$ {command}{RESET}\n{}\n", shown(&mut shell).trim_end());
        if *command != SESSION[SESSION.len() - 1] {
            text += "\n";
        }
    }
    let made = Term::new().min_width_px(820).render_svg(text.trim_end());
    let path = repository().join("docs/pictures/terminal.svg");
    if writes_goldens() {
        fs::write(&path, made).expect("the picture can be written");
        return;
    }
    let there = fs::read_to_string(&path).expect("docs/pictures/terminal.svg");
    assert!(there == made, "docs/pictures/terminal.svg differs from the session: run `cargo xtask docs`");
}
