//! Reads a chunk of a frame by its name, or some rows of it: `cargo run -p holdall-gsd --example chunks FILE.gsd FRAME NAME`.
#![allow(clippy::print_stdout)]

fn main() -> gsd::Result<()> {
    run(std::env::args().skip(1))
}

fn run(mut arguments: impl Iterator<Item = String>) -> gsd::Result<()> {
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/gsd/ok/hoomd_full.gsd");
    let file = gsd::File::open(arguments.next().unwrap_or_else(|| own.into()))?;
    let frame = arguments.next().and_then(|frame| frame.parse().ok()).unwrap_or(0);
    let name = arguments.next().unwrap_or_else(|| "particles/position".into());

    let chunk = file.dataset(frame, &name)?;
    println!("{chunk:?}");
    // Whatever the type of its elements.
    println!("{:?}", chunk.read_all()?);
    println!("first row: {:?}", chunk.read_region::<f32>(0)?);
    Ok(())
}

#[test]
fn example_runs() -> gsd::Result<()> {
    run(std::iter::empty())
}
