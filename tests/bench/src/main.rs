//! `bench NAME [OPTIONS]`: runs a benchmark, prints its results, and puts them into the documentation if asked to.
#![forbid(unsafe_code)]

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use bench::harness::measure;
use bench::peer::Numpy;
use bench::rawarray;
use bench::report::{self, Setting};
use bench::scratch::Scratch;

const USAGE: &str =
    "usage: bench rawarray [--size MiB=512] [--rounds 9] [--only WORD,…] [--dir FOLDER] [--write-docs]

  --size        of the array, in MiB
  --rounds      that count; one more is run first
  --only        groups whose name begins with one of the words: open read sum write verify convert
  --dir         where the files go; its file system is what is measured (default: the temporary folder)
  --write-docs  replace the results in docs/benchmarks.md";

struct Options {
    size: usize,
    rounds: usize,
    only: Vec<String>,
    dir: PathBuf,
    write_docs: bool,
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Some(options) = parse(&args) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn parse(args: &[String]) -> Option<Options> {
    let (name, mut rest) = args.split_first()?;
    if name != "rawarray" {
        return None;
    }
    let mut options =
        Options { size: 512, rounds: 9, only: Vec::new(), dir: std::env::temp_dir(), write_docs: false };
    while let Some((flag, after)) = rest.split_first() {
        rest = after;
        if flag == "--write-docs" {
            options.write_docs = true;
            continue;
        }
        let (value, after) = rest.split_first()?;
        rest = after;
        match flag.as_str() {
            "--size" => options.size = value.parse().ok().filter(|size| *size > 0)?,
            "--rounds" => options.rounds = value.parse().ok().filter(|rounds| *rounds > 0)?,
            "--only" => options.only = value.split(',').map(str::to_owned).collect(),
            "--dir" => options.dir = PathBuf::from(value),
            _ => return None,
        }
    }
    // Half of the results in the documentation would be of another run.
    (options.only.is_empty() || !options.write_docs).then_some(options)
}

fn run(options: &Options) -> Result<()> {
    let scratch = Scratch::new(&options.dir).with_context(|| options.dir.display().to_string())?;
    let mut numpy = Numpy::start()?;
    let setting = Setting::new(&mut numpy, options.size, options.rounds)?;
    println!("{setting}\n");
    if let Some(warning) = report::warning(options.size) {
        eprintln!("warning: {warning}\n");
    }
    let job = rawarray::Job { scratch: &scratch, numpy: numpy.into(), bytes: options.size << 20 };
    let mut results = Vec::new();
    for (name, groups) in rawarray::GROUPS {
        if options.only.is_empty() || options.only.iter().any(|word| name.starts_with(word)) {
            for group in groups(&job)? {
                let measured = measure(group, options.rounds)?;
                println!("{}", report::markdown(&measured));
                results.push(measured);
            }
        }
    }
    if options.write_docs {
        report::write_docs("rawarray", &setting, &results)?;
    }
    Ok(())
}
