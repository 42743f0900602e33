//! Converts a dataset to another format, by the ending of the target, and reads it back: `cargo run -p holdall --example convert FILE::PATH TARGET`.
#![allow(clippy::print_stdout)]

use holdall::Address;
use holdall::convert::{ConvertOptions, ConvertOutcome, ReadBack};

fn main() -> holdall::Result<()> {
    run(std::env::args().skip(1))
}

fn run(mut arguments: impl Iterator<Item = String>) -> holdall::Result<()> {
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/asdf/ok/image.asdf::roman/data");
    let source = Address::parse(&arguments.next().unwrap_or_else(|| own.into()));
    let given = arguments.next();
    let is_given = given.is_some();
    let target = given.map_or_else(
        || std::env::temp_dir().join(format!("convert-{}.b2nd", std::process::id())),
        std::path::PathBuf::from,
    );
    let options = ConvertOptions { verify: ReadBack::Yes, ..ConvertOptions::default() };
    match holdall::convert(&source, &target, &options)? {
        ConvertOutcome::Done(conversion) => println!("{}, lost: {:?}", target.display(), conversion.losses),
        ConvertOutcome::Differs(differences) => println!("the new file differs: {differences:?}"),
    }
    println!("{:?}", holdall::open(&target)?.datasets().next());
    if is_given { Ok(()) } else { Ok(std::fs::remove_file(target)?) }
}

#[test]
fn example_runs() -> holdall::Result<()> {
    run(std::iter::empty())
}
