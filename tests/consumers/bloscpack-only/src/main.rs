//! Writes bytes and items as Bloscpack files and reads parts of them back.

use bloscpack::container_core::container::ReadOptions;
use bloscpack::{File, VarOptions, VarReader, VarWriter, WriteOptions};

fn main() -> Result<(), bloscpack::Error> {
    let path = std::env::temp_dir().join(format!("bloscpack-only-{}.blp", std::process::id()));
    let bytes: Vec<u8> = (0..1_000_000_u32).flat_map(u32::to_le_bytes).collect();
    bloscpack::write(&path, &bytes, &WriteOptions::default())?;
    let file = File::open(&path)?;
    assert!(file.header().chunk_size > 0);
    assert_eq!(file.read_range(4000..4004, &ReadOptions::default())?, [0xe8, 3, 0, 0]);
    drop(file);
    std::fs::remove_file(&path)?;

    let mut writer = VarWriter::create(&path, None, &VarOptions::text())?;
    writer.push("one")?;
    writer.push("")?;
    writer.push("three")?;
    writer.finish()?;
    let reader = VarReader::open(&path)?;
    assert_eq!(reader.len(), 3);
    assert_eq!(reader.text(2)?, "three");
    std::fs::remove_file(&path)?;
    Ok(())
}
