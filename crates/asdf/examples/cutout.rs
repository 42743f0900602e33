//! Lists the arrays of an ASDF file, and prints a cutout of one: `cargo run -p holdall-asdf --example cutout FILE.asdf PATH`.
#![allow(clippy::print_stdout)]

fn main() -> asdf::Result<()> {
    run(std::env::args().skip(1))
}

fn run(mut arguments: impl Iterator<Item = String>) -> asdf::Result<()> {
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/asdf/ok/image.asdf");
    let file = asdf::File::open(arguments.next().unwrap_or_else(|| own.into()))?;
    for entry in file.arrays() {
        println!("{:?}", file.dataset(&entry.path)?);
    }

    let image = file.dataset(&arguments.next().unwrap_or_else(|| "roman/data".into()))?;
    // In compressed blocks only the chunks under the selection are decoded.
    let cutout = image.read_region::<f32>((30..33, 40..44))?;
    println!("{cutout:?}, the first pixel is {}", cutout[[0, 0]]);
    Ok(())
}

#[test]
fn example_runs() -> asdf::Result<()> {
    run(std::iter::empty())
}
