//! The `holdall` command: arguments in, verbs out. What it does is the library's; this crate speaks to people.

#![deny(unsafe_code)]

mod commands;
mod errors;
mod escapes;
mod interrupt;
mod many;
mod options;
mod output;
mod progress;
mod values;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches};

use crate::commands::Cli;
use crate::errors::Outcome;
use crate::output::Console;

fn main() -> ExitCode {
    errors::install_panic_message();
    // A panic is a mistake of ours; it still ends with a code of the contract, not with 101.
    let outcome = catch_unwind(AssertUnwindSafe(run)).unwrap_or(Outcome::CouldNot);
    ExitCode::from(outcome.code())
}

fn run() -> Outcome {
    let color = options::color_before_parsing(std::env::args_os());
    options::apply_color(color);
    let args = std::env::args_os().map(options::stdin_address);
    let parsed = Cli::command()
        .color(color)
        .try_get_matches_from(args)
        .and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(told) => {
            // The reader of the help may have gone; there is nobody to tell.
            let _ = told.print();
            return match told.kind() {
                ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Outcome::Yes,
                _ => Outcome::CouldNot,
            };
        }
    };
    interrupt::end_on_lost_pages();
    let mut console = Console::new(cli.global.limits());
    let result = commands::run(cli.command, &mut console);
    console.finish(result)
}
