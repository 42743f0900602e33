//! Prints each frame's step and mean position: `cargo run -p holdall-gsd --example particles TRAJECTORY.gsd`.
#![allow(clippy::print_stdout)]

use gsd::hoomd::Trajectory;

fn main() -> gsd::Result<()> {
    run(std::env::args().skip(1))
}

fn run(mut arguments: impl Iterator<Item = String>) -> gsd::Result<()> {
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/gsd/ok/hoomd_full.gsd");
    let path = arguments.next();
    let trajectory = Trajectory::open(path.unwrap_or_else(|| own.into()))?;
    for frame in trajectory.iter() {
        // Absent fields are those of frame 0, or the defaults of the schema.
        let positions = frame.particles().position()?.into_f64();
        let count = positions.len().max(1) as f64;
        let mean = [0, 1, 2].map(|axis| positions.iter().map(|position| position[axis]).sum::<f64>() / count);
        println!("step {}: {} particles around {mean:.3?}", frame.step()?, positions.len());
    }
    Ok(())
}

#[test]
fn example_runs() -> gsd::Result<()> {
    run(std::iter::empty())
}
