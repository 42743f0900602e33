//! The verbs, one file each: their arguments, their help, and how their answer is shown.

use std::borrow::Cow;
use std::path::Path;

use clap::CommandFactory;
use clap::builder::Resettable;
use container_core::container::{Container, Dataset, OpenOptions, Visibility};
use container_core::format::Formats;
use container_core::region::Region;
use container_core::report::Loss;
use holdall::address::Address;
use holdall::open::{Accept, OpenFile};

use crate::errors::{ErrorContext, Failure, Outcome, Result};
use crate::options::GlobalArgs;
use crate::output::{Console, printable, to_stderr};

mod append;
mod cat;
mod catalog;
mod completions;
mod convert;
mod csv_args;
mod diff;
mod digest;
mod explode;
mod extract;
mod find;
mod formats;
mod implode;
mod info;
mod layout;
mod ls;
mod man;
mod meta;
mod pack;
pub mod plot;
mod recode;
mod repair;
mod samples;
mod serve;
mod stat;
pub mod tree;
mod verify;
mod write_args;

/// Look into, verify, repair and convert scientific container files.
#[derive(Debug, clap::Parser)]
#[command(
    name = "holdall",
    version,
    arg_required_else_help = true,
    subcommand_required = true,
    after_help = AFTER_HELP
)]
pub struct Cli {
    #[command(flatten)]
    pub global: GlobalArgs,

    #[command(subcommand)]
    pub command: Command,
}

const AFTER_HELP: &str = "\
Files are recognised by their bytes, never by their names. FILE::PATH names a dataset in a file and FILE::PATH[SEL] a \
part of it, in numpy's slicing: scan.ra::data[0:100, ::4]. FILE::GROUP names all below a group, and FILE::PATH with stars all that fit: * within one name, \
** across. `-` is standard input or output; a dataset in standard input goes after two dashes: \
holdall cat -- '-::data[0]'.

Exit codes: 0 yes or clean; 1 the answer is no (damage, a difference, no match, repaired with losses); 2 it could not \
answer. Over many files the worst one counts.

Examples:
  holdall info scan.ra
  holdall verify *.ra
  holdall convert scan.ra scan.npy";

impl Cli {
    /// The error for a common option that does nothing in `verb`, the one of this command line.
    pub fn idle_option(&self, verb: &str) -> Option<Failure> {
        (WITHOUT_FILES.contains(&verb) && self.global.limit_memory.is_some())
            .then(|| Failure::usage("--limit-memory is for verbs that open files"))
    }
}

/// A verb with its arguments.
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    Info(info::Args),
    Ls(ls::Args),
    Tree(tree::Args),
    Cat(cat::Args),
    Meta(meta::Args),
    Stat(stat::Args),
    Plot(Box<plot::Args>),
    Serve(serve::Args),
    Layout(layout::Args),
    Verify(verify::Args),
    Repair(repair::Args),
    Convert(convert::Args),
    Recode(recode::Args),
    Pack(pack::Args),
    Extract(extract::Args),
    Append(append::Args),
    Explode(explode::Args),
    Implode(implode::Args),
    Diff(diff::Args),
    Digest(digest::Args),
    Catalog(catalog::Args),
    Find(find::Args),
    Formats(formats::Args),
    Samples(samples::Args),
    Completions(completions::Args),
    Man(man::Args),
}

/// The command line, with the formats in its help texts.
pub fn command(formats: Formats) -> clap::Command {
    let command = Cli::command()
        .mut_subcommand("convert", |convert| convert.after_help(convert::after_help(formats)))
        .mut_subcommands(short_in_brief);
    let without_limit = |verb: clap::Command| verb.arg(GlobalArgs::hidden_limit());
    let command =
        WITHOUT_FILES.into_iter().fold(command, |all, verb| all.mut_subcommand(verb, without_limit));
    short_in_brief(command)
}

/// Verbs that open no file: [`Cli::idle_option`] refuses the limit there.
const WITHOUT_FILES: [&str; 4] = ["formats", "samples", "completions", "man"];

/// Moves rules and examples from `-h`, which has a line for each option, to `--help`.
fn short_in_brief(command: clap::Command) -> clap::Command {
    match command.get_after_help().cloned() {
        Some(rules) => command.after_help(Resettable::Reset).after_long_help(rules),
        None => command,
    }
}

/// Runs a verb.
pub fn run(command: Command, console: &mut Console) -> Result<Outcome> {
    match command {
        Command::Info(args) => info::run(&args, console),
        Command::Ls(args) => ls::run(&args, console),
        Command::Tree(args) => tree::run(&args, console),
        Command::Cat(args) => cat::run(&args, console),
        Command::Meta(args) => meta::run(&args, console),
        Command::Stat(args) => stat::run(&args, console),
        Command::Plot(args) => plot::run(&args, console),
        Command::Serve(args) => serve::run(&args, console),
        Command::Layout(args) => layout::run(&args, console),
        Command::Verify(args) => verify::run(&args, console),
        Command::Repair(args) => repair::run(&args, console),
        Command::Convert(args) => convert::run(&args, console),
        Command::Recode(args) => recode::run(&args, console),
        Command::Pack(args) => pack::run(&args, console),
        Command::Extract(args) => extract::run(&args, console),
        Command::Append(args) => append::run(&args, console),
        Command::Explode(args) => explode::run(&args, console),
        Command::Implode(args) => implode::run(&args, console),
        Command::Diff(args) => diff::run(&args, console),
        Command::Digest(args) => digest::run(&args, console),
        Command::Catalog(args) => catalog::run(&args, console),
        Command::Find(args) => find::run(&args, console),
        Command::Formats(args) => formats::run(&args, console),
        Command::Samples(args) => samples::run(&args, console),
        Command::Completions(args) => completions::run(&args, console),
        Command::Man(args) => man::run(&args, console),
    }
}

/// A path as people and JSON see it.
fn shown(path: &Path) -> String {
    holdall::address::shown(path)
}

/// Opens a whole file.
fn open(path: &Path, accept: Accept, options: &OpenOptions) -> Result<OpenFile> {
    let opened = holdall::open::open_with(path, accept, options);
    let opened = opened.map_err(|error| address_in_vain(path, error)).on(shown(path))?;
    tell(path, &opened.container.notices());
    Ok(opened)
}

/// Passes on what there is to say of an opened file.
fn tell(path: &Path, notices: &[String]) {
    for notice in notices {
        to_stderr(&format!("holdall: {}: {}", printable(&shown(path)), printable(notice)));
    }
}

/// Passes on what there is to say of a file that a verb opens within the library.
fn tell_before(path: &Path, options: &OpenOptions) {
    tell(path, &holdall::open::journal_notices(path, options));
}

/// A verb for whole files that is given an address finds no file of that name; says why.
fn address_in_vain(path: &Path, error: container_core::Error) -> container_core::Error {
    match path.to_str().and_then(|text| text.split_once("::")) {
        Some((file, _)) if !path.exists() && Path::new(file).exists() => {
            error.with_hint(format!("the file alone, {file}: this verb takes no dataset"))
        }
        _ => error,
    }
}

/// The datasets that an address names, and where it names none, those that a listing shows.
fn select(address: &Address, container: &dyn Container) -> Result<Vec<(usize, Region)>> {
    let chosen = address.select(container).on(shown(&address.file))?;
    chosen.iter().for_each(|(index, _)| tell_left_out(&address.file, &container.left_out(*index)));
    Ok(chosen)
}

/// Names on standard error what a dataset leaves out of those that it is put together from.
fn tell_left_out(path: &Path, left_out: &[Loss]) {
    for Loss { dataset, what } in left_out {
        let of = dataset.as_ref().map(|dataset| format!("{dataset}: ")).unwrap_or_default();
        let what = printable(&format!("{of}left out: {what}")).into_owned();
        to_stderr(&format!("holdall: {}: {what}", printable(&shown(path))));
    }
}

/// Refuses a selection where there are no values to select from.
fn no_selection(address: &Address) -> Result<()> {
    match &address.selection {
        None => Ok(()),
        Some(selection) => {
            let problem = format!("[{selection}] selects values, which this verb does not list");
            Err(container_core::Error::usage(problem).with_hint("FILE::PATH")).on(shown(&address.file))
        }
    }
}

/// The datasets that an address names, one after the other; where it names none, the listed ones or all.
fn chosen<'a>(
    address: &Address,
    container: &'a dyn Container,
    most: Visibility,
) -> Result<impl Iterator<Item = Cow<'a, Dataset>>> {
    address.datasets(container, most).on(shown(&address.file))
}

#[cfg(test)]
mod tests {
    use super::command;

    #[test]
    fn the_arguments_do_not_contradict_each_other() {
        command(&[]).debug_assert();
    }

    #[test]
    fn every_verb_has_an_example() {
        for verb in command(&[]).get_subcommands() {
            let help = verb.get_after_long_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.contains(&format!("holdall {}", verb.get_name())), "{}", verb.get_name());
        }
    }
}
