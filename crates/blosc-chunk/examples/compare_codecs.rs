//! Sizes of a file's bytes as one Blosc chunk, by codec and filter: `cargo run -p holdall-blosc-chunk --example compare_codecs FILE TYPESIZE`.
#![allow(clippy::print_stdout)]

use blosc_chunk::{BloscVersion, Compressor, Encoder, Params, Pipeline, SplitMode};

fn main() -> container_core::Result<()> {
    run(std::env::args().skip(1))
}

fn run(mut arguments: impl Iterator<Item = String>) -> container_core::Result<()> {
    let data = match arguments.next() {
        Some(path) => std::fs::read(path)?,
        None => (0..100_000_u32).flat_map(|value| (value / 3).to_le_bytes()).collect(),
    };
    let typesize = arguments.next().and_then(|size| size.parse().ok()).unwrap_or(4);
    for compressor in
        [Compressor::BLOSCLZ, Compressor::LZ4, Compressor::LZ4HC, Compressor::ZLIB, Compressor::ZSTD]
    {
        for (filter, filters) in [("none", Pipeline::default()), ("shuffle", Pipeline::shuffle())] {
            let mut encoder = Encoder::new(Params {
                blosc_version: BloscVersion::Blosc2,
                compressor,
                codec_meta: 0,
                level: 5,
                typesize,
                filters,
                split: SplitMode::default(),
                blocksize: None,
                dictionary: false,
                threads: 1,
            })?;
            let mut chunk = Vec::new();
            encoder.encode(&data, &mut chunk)?;
            println!("{compressor:?} {filter}: {} of {} bytes", chunk.len(), data.len());
        }
    }
    Ok(())
}

#[test]
fn example_runs() -> container_core::Result<()> {
    run(std::iter::empty())
}
