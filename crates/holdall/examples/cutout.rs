//! Prints part of a dataset of any file: `cargo run -p holdall --example cutout FILE PATH SELECTION`.
#![allow(clippy::print_stdout)]

fn main() -> holdall::Result<()> {
    run(std::env::args().skip(1))
}

fn run(mut arguments: impl Iterator<Item = String>) -> holdall::Result<()> {
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/asdf/ok/image.asdf");
    let file = holdall::open(arguments.next().unwrap_or_else(|| own.into()))?;
    for dataset in file.datasets() {
        println!("{dataset:?}");
    }
    let path = arguments.next().unwrap_or_else(|| "roman/data".into());
    let selection = arguments.next().unwrap_or_else(|| "30, 40:44".into());
    // Elements of any type; `read_region::<f32>` gives those of one type, with an index.
    println!("{:?}", file.dataset(&path)?.read_array(&selection)?);
    Ok(())
}

#[test]
fn example_runs() -> holdall::Result<()> {
    run(std::iter::empty())
}
