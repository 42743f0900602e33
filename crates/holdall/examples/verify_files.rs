//! Checks files of any format, and prints the errors of each: `cargo run -p holdall --example verify_files FILE…`.
#![allow(clippy::print_stdout)]

fn main() -> holdall::Result<()> {
    run(std::env::args().skip(1))
}

fn run(arguments: impl Iterator<Item = String>) -> holdall::Result<()> {
    let mut paths: Vec<String> = arguments.collect();
    if paths.is_empty() {
        let testdata = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata");
        paths = ["gsd/ok/hoomd_full.gsd", "gsd/bad/cut_data.gsd"]
            .map(|file| format!("{testdata}/{file}"))
            .to_vec();
    }
    for path in paths {
        let verification = holdall::verify(&path);
        println!("{path}: {}", verification.verdict.name());
        for finding in verification.findings {
            println!("  {} {:?}: {}", finding.code, finding.range, finding.message);
        }
    }
    Ok(())
}

#[test]
fn example_runs() -> holdall::Result<()> {
    run(std::iter::empty())
}
