//! Words that complete a command line, for the scripts of `holdall completions`: datasets behind `FILE::`, and values of options.
//!
//! The scripts run `holdall __complete -- WORD… CURRENT`. The answer is NUL-separated, because a name may have any other character. Errors give no
//! candidates and no message: they would be written over the line that is typed.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::Path;

use container_core::Limits;
use container_core::container::{OpenOptions, visible_datasets};
use container_core::format::{Format, Formats};
use holdall::address::{is_url, typed};
use holdall::formats::targets;
use holdall::open::{Accept, is_stream};

use crate::commands;

/// First argument of the command for the scripts.
pub const WORD: &str = "__complete";

/// Maximum number of datasets that are looked at: a list of more is of no use, and takes too long.
const MAX_DATASETS: usize = 10_000;

/// Maximum memory for opening a file.
const MAX_MEMORY: u64 = 256 << 20;

/// Options whose values depend on the formats, for the script of fish, which has to name them.
pub const VALUE_OPTIONS: [&str; 6] = ["codec", "filter", "checksum", "to", "option", "cmap"];

/// Writes the candidates for the last of the arguments.
pub fn run(arguments: &[OsString], formats: Formats) {
    let words = match arguments.split_first() {
        Some((first, rest)) if first == "--" => rest,
        _ => arguments,
    };
    let mut answer = Vec::new();
    for candidate in candidates(words, formats) {
        answer.extend_from_slice(candidate.as_bytes());
        answer.push(0);
    }
    // The shell may have gone.
    let _ = std::io::stdout().lock().write_all(&answer);
}

/// Whole words that continue the last one.
fn candidates(words: &[OsString], formats: Formats) -> Vec<String> {
    let Some((current, before)) = words.split_last() else { return Vec::new() };
    let Some(current) = current.to_str() else { return Vec::new() };
    let option = |word: &OsStr| word.to_str()?.strip_prefix("--").map(str::to_owned);
    if let Some((name, value)) = current.strip_prefix("--").and_then(|word| word.split_once('=')) {
        let values = values_of(name, before, formats);
        let fits = values.into_iter().filter(|candidate| candidate.starts_with(value));
        return fits.map(|value| format!("--{name}={value}")).collect();
    }
    let name = match before.last().map(OsString::as_os_str) {
        Some(word) if word == "-O" => Some("option".to_owned()),
        Some(word) => option(word),
        None => None,
    };
    if let Some(values) =
        name.map(|name| values_of(&name, before, formats)).filter(|values| !values.is_empty())
    {
        return values.into_iter().filter(|value| value.starts_with(current)).collect();
    }
    if let [verb] = before
        && let Some(words) = words_after(verb, formats)
    {
        return words.into_iter().filter(|word| word.starts_with(current)).collect();
    }
    datasets(current, formats).unwrap_or_default()
}

/// The words that a verb takes as its argument; `None` for verbs that take files.
fn words_after(verb: &OsStr, formats: Formats) -> Option<Vec<String>> {
    let command = commands::command(formats);
    if verb == "man" || verb == "help" {
        return Some(command.get_subcommands().map(|verb| verb.get_name().to_owned()).collect());
    }
    let argument = command.find_subcommand(verb)?.get_positionals().next()?;
    Some(possible_words(argument)).filter(|words| !words.is_empty())
}

/// The words that the help lists for an argument.
fn possible_words(argument: &clap::Arg) -> Vec<String> {
    argument.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect()
}

/// The values of an option of the verb among the words.
fn values_of(option: &str, before: &[OsString], formats: Formats) -> Vec<String> {
    let command = commands::command(formats);
    let mut verbs = before.iter().filter_map(|word| command.find_subcommand(word));
    let Some(argument) = verbs
        .next()
        .and_then(|verb| verb.get_arguments().find(|argument| argument.get_long() == Some(option)))
        .filter(|argument| argument.get_action().takes_values())
    else {
        return Vec::new();
    };
    let listed = possible_words(argument);
    if !listed.is_empty() {
        return listed;
    }
    let of_formats = |values: fn(&'static Format) -> Vec<String>| -> Vec<String> {
        let all: BTreeSet<String> = targets(formats).flat_map(values).collect();
        all.into_iter().collect()
    };
    match option {
        "codec" => of_formats(|format| format.codecs.iter().map(|codec| codec.name.to_owned()).collect()),
        "filter" => of_formats(|format| words_of(format, "filter")),
        "checksum" => of_formats(|format| words_of(format, "checksum")),
        "to" => of_formats(|format| vec![format.name.to_owned()]),
        "option" => of_formats(|format| {
            let own = ["filter", "checksum", "chunks", "blocks"];
            let names = format.options.iter().map(|option| option.name).filter(|name| !own.contains(name));
            names.map(|name| format!("{name}=")).collect()
        }),
        "cmap" => holdall_plot::names().map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

/// The words among the values of a format's option: `none|trunc_prec:N` has `none` and `trunc_prec:`.
fn words_of(format: &'static Format, option: &str) -> Vec<String> {
    let specs = format.options.iter().filter(|spec| spec.name == option);
    let words = specs.flat_map(|spec| spec.values.split('|')).filter_map(|value| {
        let word = value.split([' ', ',']).next()?;
        Some(word.strip_suffix('N').unwrap_or(word).to_owned())
    });
    words.collect()
}

/// The addresses of the datasets of a file on this machine that continue `FILE::PA`.
fn datasets(current: &str, formats: Formats) -> Option<Vec<String>> {
    let (file, begun) = current.rsplit_once("::")?;
    let path = Path::new(file);
    // A server may be slow, and a pipe wait for a writer.
    if is_url(path) || is_stream(path) || !(path.is_file() || path.is_dir()) {
        return None;
    }
    let mut options = OpenOptions::default();
    options.formats = formats;
    let limits = Limits::default();
    options.limits = limits.with_memory(limits.memory.min(MAX_MEMORY));
    let opened = holdall::open::open_with(path, Accept::Containers, &options).ok()?;
    let listed = visible_datasets(opened.container.as_ref()).take(MAX_DATASETS);
    let fits = listed.filter_map(|(_, dataset)| {
        let path = typed(&dataset.path);
        path.starts_with(begun).then(|| format!("{file}::{path}"))
    });
    // A NUL would end a candidate.
    Some(fits.filter(|address| !address.contains('\0')).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &[&str]) -> Vec<String> {
        candidates(&words.iter().map(OsString::from).collect::<Vec<_>>(), &[])
    }

    #[test]
    fn options_have_their_values() {
        assert_eq!(of(&["convert", "a", "b.blp", "--codec", "lz"]), ["lz4", "lz4hc"]);
        assert_eq!(of(&["convert", "--codec=bl"]), ["--codec=blosc", "--codec=blosclz"]);
        assert_eq!(of(&["recode", "--filter", "trunc"]), ["trunc_prec:"]);
        assert_eq!(of(&["plot", "x", "--cmap", "vir"]), ["viridis"]);
        assert_eq!(of(&["cat", "--format", ""]).len(), 5);
        assert!(of(&["convert", "--to", ""]).contains(&"asdf".to_owned()));
        assert!(of(&["convert", "-O", "off"]).contains(&"offsets=".to_owned()));
    }

    #[test]
    fn verbs_without_files_have_their_words() {
        assert_eq!(of(&["man", "l"]), ["ls", "layout"]);
        assert_eq!(of(&["help", "ex"]), ["extract", "explode"]);
        assert_eq!(of(&["completions", "z"]), ["zsh"]);
    }

    #[test]
    fn other_words_have_none() {
        for words in [
            &["cat", "--nosuch", ""][..],
            &["cat", "nosuch.ra::"],
            &["digest", "--check", ""],
            &["cat", "https://h/a::"],
            &["-::"],
            &[""],
            &[],
        ] {
            assert_eq!(of(words), [""; 0], "{words:?}");
        }
    }
}
