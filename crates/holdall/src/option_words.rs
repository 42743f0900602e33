//! Suggestions for misspelt words of options: codecs, filters, digests, names of `-O`.

use container_core::format::{Format, TargetOptions};
use container_core::{Error, ErrorKind};

use crate::nearest::did_you_mean;

/// The error of writing a format, with the name of the target and a suggestion where a word of the options is at fault.
pub(crate) fn explain(error: Error, format: &Format, options: &TargetOptions, target: &str) -> Error {
    let ErrorKind::Usage(problem) = error.kind() else { return error };
    let text = format!("{}{problem}", error.context().unwrap_or_default());
    let Some((word, known)) = unknown_word(format, options).filter(|(word, _)| text.contains(word.as_str()))
    else {
        return error;
    };
    let error = error.with_subject(target);
    match did_you_mean(&word, known, 0) {
        Some(question) => error.with_hint(question),
        None => error,
    }
}

/// The first word of the options that the format lacks, and those that it has in its place.
fn unknown_word<'f>(format: &'f Format, options: &TargetOptions) -> Option<(String, Vec<&'f str>)> {
    let codecs: Vec<&str> = format.codecs.iter().map(|codec| codec.name).collect();
    if let Some((word, _)) = &options.codec
        && !codecs.contains(&word.as_str())
    {
        return Some((word.clone(), codecs));
    }
    let names: Vec<&str> = format.options.iter().map(|option| option.name).collect();
    for (name, value) in &options.extra {
        if !names.contains(&name.as_str()) && name != TargetOptions::AS_BYTES {
            return Some((name.clone(), names));
        }
        let values =
            format.options.iter().find(|option| option.name == name).map_or("", |option| option.values);
        let words = values.split(['|', ' ']).map(before_colon);
        let words: Vec<&str> =
            words.filter(|word| word.starts_with(|c: char| c.is_ascii_lowercase())).collect();
        let value = before_colon(value);
        if values.contains('|') && !words.contains(&value) {
            return Some((value.to_owned(), words));
        }
    }
    None
}

fn before_colon(word: &str) -> &str {
    word.split_once(':').map_or(word, |(word, _)| word)
}
