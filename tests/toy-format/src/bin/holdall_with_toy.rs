//! The command with one more format.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(holdall_cli::main_with(std::env::args_os().collect(), &[&toy_format::FORMAT]))
}
