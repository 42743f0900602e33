//! Encodes and decodes with the registry that container-core has by default.

use container_core::codec::{Codec, Codecs};

fn main() -> Result<(), container_core::Error> {
    let codecs = Codecs::built_in();
    let codec: &dyn Codec = codecs.get("zlib")?;
    let values: Vec<u8> = (0..10_000_u32).flat_map(|n| (n / 7).to_le_bytes()).collect();
    let mut stored = Vec::new();
    codec.encode(&values, None, &mut stored)?;
    let mut decoded = vec![0; values.len()];
    codec.decode(&stored, &mut decoded)?;
    assert!(stored.len() < values.len() / 4);
    assert_eq!(decoded, values);
    Ok(())
}
