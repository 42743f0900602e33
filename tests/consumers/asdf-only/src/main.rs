//! Writes a file, changes its tree, and reads it.

use asdf::container_core::container::ReadOptions;
use asdf::container_core::dtype::{DType, Kind};
use asdf::container_core::write::Overwrite;
use asdf::update::{UpdateOptions, Updater};
use asdf::writer::{ArraySpec, Plan, WriteOptions};
use asdf::yaml::Yaml;

fn main() -> asdf::container_core::Result<()> {
    let path = std::env::temp_dir().join(format!("asdf-only-{}.asdf", std::process::id()));
    let mut plan = Plan::new(WriteOptions::default());
    let image = plan.array(&ArraySpec::new(DType::native(Kind::Uint, 1), [2, 3]).compressed("lz4", None))?;
    let tree = Yaml::mapping([("exposure", Yaml::Float(1.5)), ("image", image)]);
    let mut writer = plan.create(tree, &path, Overwrite::Refuse)?;
    writer.write(&[1, 2, 3, 4, 5, 6])?;
    writer.finish()?;

    let mut update = Updater::open(&path, UpdateOptions::default())?;
    update.set("exposure", &Yaml::Float(2.5))?;
    update.commit()?;

    let file = asdf::File::open(&path)?;
    assert_eq!(file.tree().get::<f64>("exposure")?, 2.5);
    assert_eq!(file.find_array("image"), Some(0));
    assert_eq!(*file.read_block(0, &ReadOptions::default())?, [1, 2, 3, 4, 5, 6]);
    std::fs::remove_file(&path)?;
    Ok(())
}
