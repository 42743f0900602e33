//! A command line that begins with a file instead of a verb: `holdall FILE` is `holdall info FILE`.

use std::ffi::{OsStr, OsString};
use std::path::is_separator;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use holdall::address::{Address, is_url};

/// The arguments with `info` as the verb, if they have none and begin with a file.
pub fn with_verb(mut arguments: Vec<OsString>, command: &clap::Command) -> Vec<OsString> {
    if first_word(&arguments, command).is_some_and(|word| !is_verb(word, command) && names_file(word)) {
        arguments.insert(1, "info".into());
    }
    arguments
}

/// The first argument that is not an option; `None` where help or the version is asked for before it.
fn first_word<'a>(arguments: &'a [OsString], command: &clap::Command) -> Option<&'a OsStr> {
    let takes_value = |option: &str| {
        let of_command = command
            .get_arguments()
            .find(|argument| option.strip_prefix("--").is_some_and(|name| argument.get_long() == Some(name)));
        of_command.is_some_and(|argument| argument.get_action().takes_values())
    };
    let mut rest = arguments.iter().skip(1);
    while let Some(argument) = rest.next() {
        let text = argument.to_string_lossy();
        match &*text {
            "--" => return rest.next().map(OsString::as_os_str),
            "-h" | "--help" | "-V" | "--version" => return None,
            option if takes_value(option) => {
                rest.next();
            }
            option if option.starts_with('-') && option.len() > 1 => {}
            _ => return Some(argument),
        }
    }
    None
}

fn is_verb(word: &OsStr, command: &clap::Command) -> bool {
    word == "help" || command.find_subcommand(word).is_some()
}

/// True of a word that names a file that exists, or is written as no verb is: the error is then about the file.
fn names_file(word: &OsStr) -> bool {
    let address = Address::parse_os(word);
    if word == "-" || address.file.exists() || is_url(&address.file) {
        return true;
    }
    let is_of_file = |c: char| is_separator(c) || matches!(c, '.' | ':' | '*' | '?');
    word.to_str().is_none_or(|text| text.contains(is_of_file))
}

/// Adds to the error about an unknown verb that no file of that name exists either, and takes the advice to pass it as a file, by `--`, off the error
/// about an unknown option.
pub fn explain(mut error: clap::Error) -> clap::Error {
    if error.kind() == ErrorKind::UnknownArgument
        && let Some(ContextValue::StyledStrs(mut tips)) = error.remove(ContextKind::Suggested)
    {
        tips.retain(|tip| !tip.to_string().contains("as a value"));
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    }
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else { return error };
    let mut tips = match error.get(ContextKind::Suggested) {
        Some(ContextValue::StyledStrs(tips)) => tips.clone(),
        _ => Vec::new(),
    };
    tips.push(format!("no file is called '{}' either", crate::output::printable(word)).into());
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(arguments: &[&str]) -> Vec<String> {
        let arguments = [&["holdall"], arguments].concat().iter().map(OsString::from).collect();
        let with = with_verb(arguments, &crate::commands::command(&[]));
        with.into_iter().skip(1).map(|argument| argument.into_string().unwrap()).collect()
    }

    #[test]
    fn files_get_the_verb_and_verbs_stay() {
        for (arguments, verb) in [
            (&["a.ra"][..], true),
            (&["Cargo.toml", "--json"], true),
            (&["Cargo.toml::data"], true),
            (&["--color", "never", "src"], true),
            (&["--color", "src"], false),
            (&["--json", "Cargo.toml"], true),
            (&["--", "Cargo.toml"], true),
            (&["https://host/a"], true),
            (&["s3://bucket/*"], true),
            (&["-"], true),
            (&["info", "a.ra"], false),
            (&["help", "ls"], false),
            (&["inof"], false),
            (&["--help", "Cargo.toml"], false),
            (&["--pretty"], false),
            (&[], false),
        ] {
            let got = given(arguments);
            assert_eq!(
                got.first().is_some_and(|first| first == "info") && got.len() > arguments.len(),
                verb,
                "{arguments:?}"
            );
        }
    }
}
