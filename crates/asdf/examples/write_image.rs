//! Writes an image and its metadata to an ASDF file, compressed, and reads both: `cargo run -p holdall-asdf --example write_image`.
#![allow(clippy::print_stdout)]

use asdf::Array;
use asdf::container_core::write::Overwrite;
use asdf::writer::{ArraySpec, Plan, WriteOptions};
use asdf::yaml::Yaml;

fn main() -> asdf::Result<()> {
    let path = std::env::temp_dir().join(format!("write_image-{}.asdf", std::process::id()));
    let pixels: Vec<f32> = (0..6).map(|pixel| pixel as f32 / 2.0).collect();
    let image = Array::from_elements(&pixels, &[2, 3])?;

    // The tree comes first in the file: arrays are declared, then their values are written.
    let mut plan = Plan::new(WriteOptions::default());
    let node = plan.array(&ArraySpec::of(&image).compressed("lz4", None))?;
    let tree = Yaml::mapping([("exposure", Yaml::Float(30.5)), ("image", node)]);
    let mut writer = plan.create(tree, &path, Overwrite::Refuse)?;
    writer.write_array(&image)?;
    writer.finish()?;

    let file = asdf::File::open(&path)?;
    let exposure: f64 = file.tree().get("exposure")?;
    println!("{exposure} s: {:?}", file.dataset("image")?.read::<f32>()?);
    assert_eq!(file.dataset("image")?.read::<f32>()?.as_slice(), pixels);
    drop(file);
    Ok(std::fs::remove_file(path)?)
}

#[test]
fn example_runs() -> asdf::Result<()> {
    main()
}
