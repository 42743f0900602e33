//! `cross`: the checks and tests for machines of another word length and another byte order.
//!
//! Programs of 32 bits run here as they are, those of another processor under an emulator. All are linked statically, so that no
//! library of theirs has to be where this machine looks for its own.

use std::env;
use std::path::PathBuf;

use anyhow::Result;

use crate::repo::Repo;
use crate::step::Step;
use crate::test::PYTHON;
use crate::{Outcome, Usage, python};

/// Tells tests what starts the command where this machine cannot start it.
const RUNNER: &str = "HOLDALL_RUNNER";

#[derive(Debug)]
struct Machine {
    target: &'static str,
    /// Differences from this machine.
    other: &'static str,
    /// Compiles what is C, and links.
    gcc: &'static str,
    /// Emulator that runs its programs, where this machine does not.
    emulator: Option<&'static str>,
    /// The packages of Debian that have these.
    packages: &'static str,
}

const MACHINES: &[Machine] = &[
    Machine {
        target: "i686-unknown-linux-gnu",
        other: "32 bits",
        gcc: "i686-linux-gnu-gcc",
        emulator: if cfg!(target_arch = "x86_64") { None } else { Some("qemu-i386") },
        packages: "gcc-i686-linux-gnu qemu-user",
    },
    Machine {
        target: "s390x-unknown-linux-gnu",
        other: "big-endian",
        gcc: "s390x-linux-gnu-gcc",
        emulator: Some("qemu-s390x"),
        packages: "gcc-s390x-linux-gnu qemu-user",
    },
];

/// Tests that an emulator cannot run, and why. They do run on 32 bits.
const NOT_EMULATED: &[(&str, &str)] = &[
    ("campaign::", SHARED),
    ("a_file_larger_than_the_address_space_is_read_in_pieces", SHARED),
    ("a_limit_on_file_sizes_is_an_error_and_not_the_end_of_the_process", ITSELF),
    ("a_killed_writer_leaves_every_frame_that_it_committed", ITSELF),
    ("a_killed_restart_leaves_the_old_frame_or_the_new_one", ITSELF),
    ("a_file_that_may_not_grow_keeps_what_was_committed", ITSELF),
    ("several_processes_fill_one_chunk", ITSELF),
    ("gsds_own_tests_pass", FOREIGN),
    ("each_appends_to_what_the_others_wrote", LITTLE),
    ("everyone_reads_what_is_written_here", LITTLE),
    ("frames_of_each_are_read_by_the_other", LITTLE),
    ("every_type_of_the_reference_is_read_and_rewritten", LITTLE),
    ("files_reshaped_by_the_reference_are_recognised_and_repaired", LITTLE),
    ("pictures_are_the_same_every_time_and_by_their_recipes", DRAWN),
    ("pictures_of_the_gallery_are_drawn_by_their_commands", DRAWN),
    ("pages_are_drawn_by_pdfium_as_the_png_is", DRAWN),
];

const SHARED: &str = "it limits the address space, which the emulator shares";
const ITSELF: &str = "it starts itself as another process";
const FOREIGN: &str = "a program of this machine starts one of the other";
const DRAWN: &str = "tiny-skia 0.12 leaves lines and letters out there";
const LITTLE: &str = "hoomd-gsd 1.4.0 and rawarray 0.1.4, which are linked to it, read and write on little-endian machines alone";

pub(crate) fn cross(repo: &Repo, args: &[String]) -> Result<Outcome> {
    let (check_only, machines) = parse(args)?;
    let mut summary = Vec::new();
    let mut missing = Vec::new();
    for machine in machines {
        println!("\n== {}: {}", machine.target, machine.other);
        let end = match machine.lack(repo)? {
            Some(lack) => {
                missing.push(format!("{}: {lack}", machine.target));
                format!("NOT RUN: {lack}")
            }
            None => {
                machine.check(repo)?;
                if !check_only {
                    machine.test(repo)?;
                }
                (if check_only { "checked" } else { "checked and tested" }).to_owned()
            }
        };
        summary.push(format!("{:<26} {:<10} {end}", machine.target, machine.other));
    }
    println!("\n{}", summary.join("\n"));
    Ok(if missing.is_empty() { Outcome::Done } else { Outcome::NotRun(missing.join("; ")) })
}

/// Compiler of C code for a big-endian machine.
pub(crate) struct Compiler {
    pub(crate) target: &'static str,
    pub(crate) variable: String,
    pub(crate) gcc: &'static str,
}

/// # Errors
/// What is not installed, and the command that installs it.
pub(crate) fn big_endian() -> std::result::Result<Compiler, String> {
    let machine = &MACHINES[1];
    let compiler = Compiler { target: machine.target, variable: machine.cc(), gcc: machine.gcc };
    if is_on_path(machine.gcc) { Ok(compiler) } else { Err(machine.absent(machine.gcc)) }
}

impl Machine {
    /// Returns the first requirement that is not installed, and the command that installs it.
    fn lack(&self, repo: &Repo) -> Result<Option<String>> {
        let libraries =
            Step::new(repo, "rustc").args(["--print", "target-libdir", "--target", self.target]).stdout()?;
        if !PathBuf::from(libraries.trim_end()).is_dir() {
            return Ok(Some(format!("no standard library: rustup target add {}", self.target)));
        }
        let programs = [Some(self.gcc), self.emulator].into_iter().flatten();
        let absent = programs.into_iter().find(|program| !is_on_path(program));
        Ok(absent.map(|program| self.absent(program)))
    }

    fn absent(&self, program: &str) -> String {
        format!("no {program}: apt-get install {}", self.packages)
    }

    /// All but this program, which is for the machine that builds; tests with it.
    fn check(&self, repo: &Repo) -> Result<()> {
        self.cargo(repo).args(["check", "--all-targets"]).args(self.options()).run()
    }

    /// Every test of these but the examples in the documents.
    fn test(&self, repo: &Repo) -> Result<()> {
        // The tests that ask a peer start it on this machine.
        let python = env::var_os(PYTHON).map_or_else(|| python::ready(repo), |python| Ok(python.into()))?;
        // Not the examples of the documents, which rustdoc would link as for this machine.
        let tests = ["test", "--no-fail-fast", "--lib", "--bins", "--tests"];
        let mut step = self.cargo(repo).args(tests).args(self.options()).env(PYTHON, python);
        if let Some(emulator) = self.emulator {
            // Without optimisation, and with as many random cases as here, it would take hours.
            let ours = repo.packages("Cargo.toml")?.into_iter().map(|package| package.name);
            for name in ours {
                step = step.args(["--config".to_owned(), format!("profile.dev.package.{name}.opt-level=1")]);
            }
            step = step.env("PROPTEST_CASES", "16");
            step = step.env(&self.variable("RUNNER"), emulator).env(RUNNER, emulator).arg("--");
            for (test, why) in NOT_EMULATED {
                println!("not run under {emulator}: {test}: {why}");
                step = step.args(["--skip", test]);
            }
        }
        step.run()
    }

    fn cargo(&self, repo: &Repo) -> Step {
        Step::cargo(repo)
            .env(&self.variable("LINKER"), self.gcc)
            .env(&self.variable("RUSTFLAGS"), "-C target-feature=+crt-static")
            .env(&self.cc(), self.gcc)
    }

    fn options(&self) -> [&str; 6] {
        ["--workspace", "--exclude", "xtask", "--all-features", "--target", self.target]
    }

    /// Returns the variable that names the compiler of C to build scripts.
    fn cc(&self) -> String {
        format!("CC_{}", self.target.replace('-', "_"))
    }

    /// Cargo's variable of that name for this target.
    fn variable(&self, name: &str) -> String {
        format!("CARGO_TARGET_{}_{name}", self.target.replace('-', "_").to_uppercase())
    }
}

fn is_on_path(program: &str) -> bool {
    env::split_paths(&env::var_os("PATH").unwrap_or_default()).any(|place| place.join(program).is_file())
}

fn parse(args: &[String]) -> Result<(bool, Vec<&'static Machine>)> {
    let (mut check_only, mut machines) = (false, Vec::new());
    for arg in args {
        match MACHINES.iter().find(|machine| machine.target.split('-').next() == Some(arg)) {
            Some(machine) => machines.push(machine),
            None if arg == "--check" => check_only = true,
            None => return Err(Usage(format!("{arg:?} is neither --check nor i686 nor s390x")).into()),
        }
    }
    if machines.is_empty() {
        machines.extend(MACHINES);
    }
    Ok((check_only, machines))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_are_named_by_their_processor() {
        let args = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let named = |text: &str| {
            let (check_only, machines) = parse(&args(text)).unwrap();
            (check_only, machines.iter().map(|machine| machine.other).collect::<Vec<_>>())
        };
        assert_eq!(named(""), (false, vec!["32 bits", "big-endian"]));
        assert_eq!(named("s390x --check"), (true, vec!["big-endian"]));
        for wrong in ["s390", "--chekc", "x86_64"] {
            assert!(parse(&args(wrong)).unwrap_err().is::<Usage>(), "{wrong}");
        }
    }

    #[test]
    fn variables_are_those_of_cargo() {
        assert_eq!(MACHINES[1].variable("RUNNER"), "CARGO_TARGET_S390X_UNKNOWN_LINUX_GNU_RUNNER");
    }
}
