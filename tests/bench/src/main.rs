//! `bench NAME [OPTIONS]`: runs a benchmark, prints its results, and puts them into the documentation if asked to.
#![forbid(unsafe_code)]

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result, ensure};
use bench::harness::{Group, measure};
use bench::report::{self, Setting};
use bench::scratch::Scratch;
use bench::{asdf, blosc, blosc2, bloscpack, gsd, package, rawarray, summary};
use interop::peer::Peer;

const USAGE: &str = "usage: bench rawarray|blosc|bloscpack|gsd|blosc2|asdf|python [--size MiB] [--rounds N] [--only WORD,…] [--dir FOLDER] [--write-docs]
       bench --peers [--dir FOLDER]   all of them, one after the other, as large as by default; the results go into the documentation
       bench ratios                   write docs/ratios.md anew from docs/benchmarks.md

  --size        of the data, in MiB (rawarray: 512, blosc: 16, bloscpack, blosc2, asdf and python: 256); gsd: percent of the frames (100)
  --rounds      that count; one more is run first (rawarray, bloscpack: 9, the others: 5)
  --only        parts whose name begins with one of the words:
                rawarray: open read sum write verify convert
                blosc: blosclz lz4 zlib zstd items threads
                bloscpack: pack unpack
                gsd: write flush read find open ls log hoomd tensor
                blosc2: write read open array slices repeat memory whole
                asdf: open read borrow verify write zlib bzp2 lz4 tree inline edit
                python: import read cutout view call open frames log
  --dir         where the files go; its file system is what is measured (default: the temporary folder)
  --write-docs  replace the results in docs/benchmarks.md";

struct Options {
    name: String,
    size: usize,
    rounds: usize,
    only: Vec<String>,
    dir: PathBuf,
    write_docs: bool,
}

impl Options {
    fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|word| name.starts_with(word))
    }
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["ratios"] => summary::write_docs(),
        ["--peers"] => all(&[]),
        ["--peers", "--dir", dir] => all(&["--dir", dir]),
        _ => match parse(&args) {
            Some(options) => run(&options),
            None => {
                eprintln!("{USAGE}");
                return ExitCode::from(2);
            }
        },
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs every benchmark in a process of its own: what one leaves in memory does not meet the next.
fn all(rest: &[&str]) -> Result<()> {
    let program = std::env::current_exe()?;
    for name in summary::BENCHMARKS {
        println!("# {name}\n");
        let status = Command::new(&program).arg(name).args(rest).arg("--write-docs").status()?;
        ensure!(status.success(), "bench {name}: {status}");
    }
    Ok(())
}

fn parse(args: &[String]) -> Option<Options> {
    let (name, mut rest) = args.split_first()?;
    let (size, rounds) = match name.as_str() {
        "rawarray" => (512, 9),
        "blosc" => (16, 5),
        "bloscpack" => (256, 9),
        "gsd" => (100, 5),
        "blosc2" | "asdf" | "python" => (256, 5),
        _ => return None,
    };
    let dir = std::env::temp_dir();
    let mut options = Options { name: name.clone(), size, rounds, only: Vec::new(), dir, write_docs: false };
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
    let bytes = options.size << 20;
    let (script, others) = match options.name.as_str() {
        "rawarray" => ("numpy_peer.py", ", rawarray 0.1.4"),
        "blosc" => ("blosc_peer.py", ", blosc2-pure-rs 0.2.4"),
        "asdf" => ("asdf_peer.py", ", asdf-rs 0.2.2"),
        "gsd" => ("gsd_peer.py", ", hoomd-gsd 1.4.0"),
        "blosc2" => ("blosc2_peer.py", ", blosc2-pure-rs 0.2.4, zarrs 0.23.14"),
        "python" => ("package_peer.py", ""),
        _ => ("bloscpack_peer.py", ""),
    };
    let mut peer = Peer::start(script)?;
    let data = match options.name.as_str() {
        "gsd" if options.size == 100 => "Frames as told".to_owned(),
        "gsd" => format!("{} % of the frames", options.size),
        _ => format!("An array of {} MiB", options.size),
    };
    let c = (options.name == "gsd").then(|| gsd::c_library::start(&scratch));
    let (c, others) = match c.transpose() {
        Ok(None) => (None, others.to_owned()),
        Ok(Some(mut c)) => {
            let others = format!("{others}, gsd's C library by {}", c.version()?);
            (Some(c.into()), others)
        }
        Err(error) => {
            eprintln!("warning: no C library of gsd: {error:#}\n");
            (None, format!("{others}, no C library of gsd"))
        }
    };
    let setting = Setting::new(&format!("{}{others}", peer.version()?), data, options.rounds);
    println!("{setting}\n");
    if let Some(warning) = report::warning(options.size) {
        eprintln!("warning: {warning}\n");
    }
    let tables = match options.name.as_str() {
        "rawarray" => {
            let job = rawarray::Job { scratch: &scratch, numpy: peer.into(), bytes };
            groups(options, rawarray::GROUPS.iter().map(|(name, groups)| (*name, groups(&job))))?
        }
        "blosc" => {
            let mut job = blosc::Job { scratch: &scratch, peer, bytes, rounds: options.rounds };
            blosc::run(&mut job, &|name| options.wants(name), &|table| println!("{table}"))?
        }
        "blosc2" => {
            let job = blosc2::Job::new(&scratch, peer, bytes)?;
            groups(options, blosc2::GROUPS.iter().map(|(name, groups)| (*name, groups(&job))))?
        }
        "asdf" => {
            let job = asdf::Job { scratch: &scratch, python: peer.into(), bytes };
            groups(options, asdf::GROUPS.iter().map(|(name, groups)| (*name, groups(&job))))?
        }
        "python" => {
            let job = package::Job { scratch: &scratch, python: peer.into(), mib: options.size };
            groups(options, package::GROUPS.iter().map(|(name, groups)| (*name, groups(&job))))?
        }
        "gsd" => {
            let job = gsd::Job { scratch: &scratch, python: peer.into(), c, percent: options.size as u64 };
            groups(options, gsd::GROUPS.iter().map(|(name, groups)| (*name, groups(&job))))?
        }
        _ => {
            let job = bloscpack::Job { scratch: &scratch, peer: peer.into(), bytes };
            groups(options, bloscpack::GROUPS.iter().map(|(name, groups)| (*name, groups(&job))))?
        }
    };
    if options.write_docs {
        report::write_docs(&options.name, &setting, &tables)?;
    }
    Ok(())
}

/// Measures the groups that are wanted; their tables.
fn groups<'a>(
    options: &Options,
    all: impl Iterator<Item = (&'static str, Result<Vec<Group<'a>>>)>,
) -> Result<Vec<String>> {
    let mut tables = Vec::new();
    for (name, groups) in all {
        if options.wants(name) {
            for group in groups? {
                let table = report::markdown(&measure(group, options.rounds)?);
                println!("{table}");
                tables.push(table);
            }
        }
    }
    Ok(tables)
}
