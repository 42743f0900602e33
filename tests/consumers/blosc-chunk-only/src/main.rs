//! Encodes a chunk and decodes all of it and a part.

use blosc_chunk::{BloscVersion, Chunk, Compressor, Decoder, Encoder, Params, Pipeline, SplitMode};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let values: Vec<u8> = (0..100_000_u32).flat_map(|n| (n / 3).to_le_bytes()).collect();
    let params = Params {
        blosc_version: BloscVersion::Blosc1,
        compressor: Compressor::BLOSCLZ,
        codec_meta: 0,
        level: 5,
        typesize: 4,
        filters: Pipeline::shuffle(),
        split: SplitMode::default(),
        blocksize: None,
        dictionary: false,
        threads: 1,
    };
    let mut chunk = Vec::new();
    Encoder::new(params)?.encode(&values, &mut chunk)?;
    assert!(chunk.len() < values.len() / 4);
    let chunk = Chunk::parse(&chunk)?;
    let mut decoded = vec![0; chunk.nbytes()];
    Decoder::new().decode(&chunk, &mut decoded)?;
    assert_eq!(decoded, values);
    let mut part = [0; 8];
    Decoder::new().decode_range(&chunk, 1200..1208, &mut part)?;
    assert_eq!(part, [100, 0, 0, 0, 100, 0, 0, 0]);
    Ok(())
}
