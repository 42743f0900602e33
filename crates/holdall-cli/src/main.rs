//! The `holdall` program: the command as a process.

#![deny(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(holdall_cli::main(std::env::args_os().collect()))
}
