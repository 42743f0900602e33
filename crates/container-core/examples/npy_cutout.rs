//! Reads part of a `.npy` file by its selection in numpy's syntax: `cargo run -p holdall-container-core --example npy_cutout FILE.npy "::2, 0"`.
#![allow(clippy::print_stdout)]

use container_core::format::Input;
use container_core::npy::{self, Header};
use container_core::{Element, OpenDataset, OpenOptions, Order, Result};

fn main() -> Result<()> {
    run(std::env::args().skip(1))
}

fn run(mut arguments: impl Iterator<Item = String>) -> Result<()> {
    let bytes = match arguments.next() {
        Some(path) => std::fs::read(path)?,
        None => {
            let mut file = Header::to_bytes(&u16::dtype(), &[3, 4], Order::C)?;
            (0..12_u16).for_each(|element| file.extend(element.to_ne_bytes()));
            file
        }
    };
    let selection = arguments.next().unwrap_or_else(|| "::2, 1:3".into());
    let file =
        (npy::FORMAT.open)(Input { source: Some(Box::new(bytes)), path: None }, &OpenOptions::default())?;
    let dataset = OpenDataset::of_container(&*file, 0)?;
    println!("{:?}", dataset.read_array(&selection)?);
    Ok(())
}

#[test]
fn example_runs() -> Result<()> {
    run(std::iter::empty())
}
