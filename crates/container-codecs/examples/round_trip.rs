//! Encodes the same bytes with every codec that is compiled in: `cargo run -p holdall-container-codecs --example round_trip`.
#![allow(clippy::print_stdout)]

use container_codecs::{built_in, checksum::Algorithm};

fn main() -> container_core::Result<()> {
    // A ramp of 16-bit integers, as detectors deliver them.
    let values: Vec<u8> = (0..32_768_u16).flat_map(|value| (value / 8).to_le_bytes()).collect();
    let digest = Algorithm::Md5.digest(&values);
    let codecs = built_in();
    for name in ["zlib", "bzp2", "zstd", "lz4"] {
        let codec = codecs.get(name)?;
        let mut stored = Vec::new();
        codec.encode(&values, None, &mut stored)?;
        let mut decoded = vec![0; values.len()];
        codec.decode(&stored, &mut decoded)?;
        println!("{name}: {} of {} bytes", stored.len(), values.len());
        assert_eq!(Algorithm::Md5.digest(&decoded), digest);
        assert!(stored.len() < values.len() / 2);
    }
    Ok(())
}

#[test]
fn example_runs() -> container_core::Result<()> {
    main()
}
