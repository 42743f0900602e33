//! Encodes, decodes and hashes with the codecs and checksums that container-codecs has by default.

use container_codecs::built_in;
use container_codecs::checksum::Algorithm;
use container_codecs::container_core::Error;

fn main() -> Result<(), Error> {
    let codecs = built_in();
    let values: Vec<u8> = (0..10_000_u32).flat_map(|n| (n / 7).to_le_bytes()).collect();
    for name in ["zlib", "bzp2", "zstd", "lz4"] {
        let codec = codecs.get(name)?;
        let mut stored = Vec::new();
        codec.encode(&values, None, &mut stored)?;
        let mut decoded = vec![0; values.len()];
        codec.decode(&stored, &mut decoded)?;
        assert!(stored.len() < values.len() / 3, "{name}: {} bytes", stored.len());
        assert_eq!(decoded, values);
    }
    assert_eq!(Algorithm::Md5.digest(b"abc").to_string(), "900150983cd24fb0d6963f7d28e17f72");
    Ok(())
}
