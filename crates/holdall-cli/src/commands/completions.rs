//! `holdall completions`: prints the script that a shell needs to complete the command line.

use std::io::Write;

use clap::CommandFactory;
use clap_complete::Shell;

use super::Cli;
use crate::complete::VALUE_OPTIONS;
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
    match (shell, String::from_utf8(script)) {
        (Shell::Bash, Ok(script)) => around(&script, include_str!("completions/bash.sh"), "\nif [[ "),
        (Shell::Zsh, Ok(script)) => {
            around(&script, include_str!("completions/zsh.sh"), "\nif [ \"$funcstack")
        }
        (Shell::Fish, Ok(script)) => script + include_str!("completions/fish.fish") + &fish_options(),
        (_, script) => script.unwrap_or_default(),
    }
    .into_bytes()
}

/// A script with `_holdall` renamed, and `dynamic`, which calls it, before the last lines, which begin with `end`.
fn around(script: &str, dynamic: &str, end: &str) -> String {
    let script = match script.strip_prefix("_holdall() {") {
        Some(rest) => format!("_holdall_static() {{{rest}"),
        None => script.replacen("\n_holdall() {", "\n_holdall_static() {", 1),
    };
    let at = script.rfind(end).unwrap_or(script.len());
    let (functions, last) = script.split_at_checked(at).unwrap_or((&script, ""));
    format!("{functions}\n{dynamic}{last}")
}

/// The options of each verb whose values the command knows.
fn fish_options() -> String {
    let mut lines = String::new();
    for verb in Cli::command().get_subcommands() {
        for argument in verb.get_arguments() {
            let Some(long) = argument.get_long().filter(|long| VALUE_OPTIONS.contains(long)) else {
                continue;
            };
            let short = argument.get_short().map(|short| format!(" -s {short}")).unwrap_or_default();
            lines += &format!(
                "complete -c holdall -n '__fish_holdall_using_subcommand {}'{short} -l {long} -x -a '(__holdall_values)'\n",
                verb.get_name()
            );
        }
    }
    lines
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
