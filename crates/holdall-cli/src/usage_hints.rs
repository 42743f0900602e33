//! Next steps for command lines that the parser of arguments refuses.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::output::{printable, to_stderr};

/// Verbs with a source and a target.
const OF_TWO: [&str; 2] = ["convert", "recode"];

/// Writes the next step to standard error, after the parser's own message.
pub fn tell(error: &clap::Error, args: &[OsString]) {
    let words: Vec<&str> = args.iter().skip(1).filter_map(|word| word.to_str()).collect();
    if let Some(hint) = next_step(error, &words) {
        to_stderr(&format!("  try: {}", printable(&hint)));
    }
}

fn next_step(error: &clap::Error, words: &[&str]) -> Option<String> {
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let verb = words.iter().find(|word| !word.starts_with('-')).copied().unwrap_or_default();
    match error.kind() {
        ErrorKind::UnknownArgument => {
            let word = context(ContextKind::InvalidArg)?;
            let frames = words
                .iter()
                .position(|word| *word == "--frames")
                .and_then(|at| words.get(at.checked_add(1)?));
            let is_range =
                |word: &&&str| word.bytes().all(|byte| byte.is_ascii_digit() || b":-".contains(&byte));
            if let Some(range) = frames.filter(is_range) {
                return Some(format!("--frames={range}, with an equals sign"));
            }
            if word.starts_with("--frames") {
                return Some(
                    "the frames in the address: 'FILE::NAME[0:3]', or FILE::frames/0/NAME".to_owned(),
                );
            }
            of_two(verb, word)
        }
        _ => None,
    }
}

/// The hint for verbs with a source and a target.
fn of_two(verb: &str, word: &str) -> Option<String> {
    if !OF_TWO.contains(&verb) {
        return (verb == "plot" && !word.starts_with('-'))
            .then(|| "one file at a time: for f in *.npy; do holdall plot \"$f\"; done".to_owned());
    }
    if word == "-o" || word == "--output" {
        return Some(format!("holdall {verb} SOURCE TARGET: the new file is the second argument"));
    }
    // A pattern without quotes is many arguments.
    (!word.starts_with('-')).then(|| {
        format!(
            "one SOURCE and one TARGET: for f in *.npy; do holdall {verb} \"$f\" \"${{f%.npy}}.asdf\"; done"
        )
    })
}
