//! `/api/tree`: metadata as text, with tags where the format has them.

use std::fmt::Write as _;

use holdall::json::value_json;
use holdall::yaml_text::yaml;

use crate::reply::{Failure, Reply};
use crate::routes::Call;

pub(crate) fn answer(call: &Call<'_>, reply: &mut Reply) -> Result<(), Failure> {
    let opened = call.opened()?;
    let container = opened.container();
    let text = match yaml(container, "")? {
        Some(text) => text.unwrap_or_default(),
        // JSON is YAML, too.
        None => serde_json::to_string_pretty(&value_json(&container.meta()?)).unwrap_or_default(),
    };
    let most = call.job.max_answer();
    if text.len() as u64 > most {
        return Err(Failure::too_large(text.len() as u64, most).with_hint("holdall tree prints it"));
    }
    reply.whole("text/plain; charset=utf-8", escaped(&text).into_bytes())
}

/// The text with letters that would change how others are shown written as YAML escapes them.
fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        let turns =
            matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        match letter {
            '\n' | '\t' => shown.push(letter),
            _ if turns || letter.is_control() => {
                let _ = write!(shown, "\\u{:04X}", u32::from(letter));
            }
            _ => shown.push(letter),
        }
    }
    shown
}
