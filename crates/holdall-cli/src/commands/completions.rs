//! `holdall completions`: prints the script that a shell needs to complete the command line.

use std::io::Write;

use clap::CommandFactory;
use clap_complete::Shell;

use super::Cli;
use crate::errors::{Outcome, Result};
use crate::output::Console;

/// Write the completions of a shell to standard output
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  holdall completions bash > ~/.local/share/bash-completion/completions/holdall
  holdall completions zsh > ~/.zfunc/_holdall
  holdall completions fish > ~/.config/fish/completions/holdall.fish")]
pub struct Args {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

pub fn run(args: &Args, console: &mut Console) -> Result<Outcome> {
    console.out.write_all(&script(args.shell))?;
    Ok(Outcome::Yes)
}

fn script(shell: Shell) -> Vec<u8> {
    // The generator panics when it cannot write; memory can always be written.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "holdall", &mut script);
    script
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;

    #[test]
    fn every_verb_and_flag_completes_in_every_shell() {
        for shell in Shell::value_variants() {
            let script = String::from_utf8(script(*shell)).unwrap();
            for verb in Cli::command().get_subcommands() {
                assert!(script.contains(verb.get_name()), "{shell}: {}", verb.get_name());
                for flag in verb.get_arguments().filter(|arg| !arg.is_hide_set()) {
                    let Some(long) = flag.get_long() else { continue };
                    // fish writes `-l name`.
                    let spelt = [format!("--{long}"), format!("-l {long}")];
                    assert!(
                        spelt.iter().any(|flag| script.contains(flag)),
                        "{shell}: {} {long}",
                        verb.get_name()
                    );
                }
            }
        }
    }
}
