//! The `holdall` command: parses arguments, calls the library, and formats results and errors.
//!
//! As a library it contains the parts that the program and the Python package share: [`main`], the command as a function, and [`library`],
//! parts of verbs that need no console.

#![cfg_attr(not(test), deny(clippy::expect_used, clippy::unwrap_used))]
#![deny(unsafe_code)]

mod commands;
mod complete;
mod errors;
mod escapes;
mod format_value;
mod interrupt;
pub mod library;
mod many_files;
mod options;
mod output;
mod pager;
mod progress;
mod usage_hints;
mod verbless;

use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};

use clap::FromArgMatches;
use clap::error::ErrorKind;
use container_core::format::Formats;

use crate::commands::Cli;
use crate::errors::Outcome;
use crate::output::Console;

/// Runs the command with `arguments`, the first of which is the program's name, and gives its exit code: 0 yes or clean, 1 the answer is no, 2 it
/// could not answer. Reads standard input, writes to standard output and standard error, and handles signals: for a process whose only
/// work this is.
#[must_use]
pub fn main(arguments: Vec<OsString>) -> u8 {
    main_with(arguments, &[])
}

/// As [`main`], with formats in addition to those of the library: a program that handles a format of its own by all verbs.
#[must_use]
pub fn main_with(arguments: Vec<OsString>, formats: Formats) -> u8 {
    errors::install_panic_message();
    // A panic is a mistake of ours; it still ends with a code of the contract, not with 101.
    let outcome = catch_unwind(AssertUnwindSafe(|| run(arguments, formats))).unwrap_or(Outcome::CouldNot);
    outcome.code()
}

fn run(arguments: Vec<OsString>, formats: Formats) -> Outcome {
    if let Some((word, rest)) = arguments.get(1..).and_then(<[OsString]>::split_first)
        && word == complete::WORD
    {
        complete::run(rest, formats);
        return Outcome::Yes;
    }
    let color = options::color_before_parsing(arguments.iter().cloned());
    options::apply_color(color);
    let command = commands::command(formats).color(color);
    let args = arguments.into_iter().map(options::stdin_address).collect();
    let args = verbless::with_verb(args, &command);
    let parsed = command
        .try_get_matches_from(&args)
        .and_then(|matches| {
            let verb = matches.subcommand_name().unwrap_or_default().to_owned();
            Ok((Cli::from_arg_matches(&matches)?, verb))
        })
        .map_err(verbless::explain);
    let (cli, verb) = match parsed {
        Ok(parsed) => parsed,
        Err(told) => {
            // The reader of the help may have gone; the error cannot be reported.
            let _ = told.print();
            usage_hints::tell(&told, &args);
            return match told.kind() {
                ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Outcome::Yes,
                _ => Outcome::CouldNot,
            };
        }
    };
    interrupt::end_on_lost_pages();
    let mut console = Console::new(cli.global.limits(), cli.global.form(), formats);
    let result = match cli.idle_option(&verb) {
        Some(failure) => Err(failure),
        None => commands::run(cli.command, &mut console),
    };
    console.finish(result)
}
