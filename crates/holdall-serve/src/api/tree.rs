//! `/api/tree`: metadata as text, with tags where the format has them.

use std::fmt::Write as _;

use holdall::json::value_json;
use holdall::yaml_text::yaml;
use hyper::StatusCode;

use crate::bounded_json::on_lines;
use crate::reply::{Failure, Reply};
use crate::routes::Call;

pub(crate) fn answer(call: &Call<'_>, reply: &mut Reply) -> Result<(), Failure> {
    let opened = call.opened()?;
    let container = opened.container();
    let most = usize::try_from(call.job.max_answer()).unwrap_or(usize::MAX);
    let text = match yaml(container, "")? {
        Some(text) => text.filter(|text| text.len() <= most),
        // JSON is YAML, too.
        None => on_lines(&value_json(&container.meta()?), most),
    };
    let too_long = || {
        let message = "the metadata are longer than an answer may be";
        Failure::new(StatusCode::PAYLOAD_TOO_LARGE, message).with_hint("holdall tree prints them")
    };
    let text = text.ok_or_else(too_long)?;
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
