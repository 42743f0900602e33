//! Every target over all of its seeds and over mutants of them, as `cargo xtask fuzz smoke` runs them.
//!
//! A program of its own does it, which counts what it allocates and ends when a target hangs.

use std::process::Command;

/// `HOLDALL_SMOKE_SECONDS` says for how long, `HOLDALL_RUNNER` what starts programs of another machine.
#[test]
fn targets_pass_on_seeds_and_mutants() {
    let seconds = std::env::var("HOLDALL_SMOKE_SECONDS").unwrap_or_else(|_| "10".to_owned());
    let smoke = env!("CARGO_BIN_EXE_smoke");
    let mut command = match std::env::var_os("HOLDALL_RUNNER") {
        Some(runner) => {
            let mut command = Command::new(runner);
            command.arg(smoke);
            command
        }
        None => Command::new(smoke),
    };
    let output = command.args(["--seconds", &seconds]).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{}\n{out}\n{err}", output.status);
    for target in fuzz::TARGETS {
        assert!(
            out.lines().any(|line| line.split(' ').next() == Some(target.name)),
            "{}: {out}",
            target.name
        );
    }
}
