//! Lists of the chunks of a file, as `gsd_cases.py` makes them.

use std::path::Path;

use container_codecs::checksum::Algorithm;
use container_core::dtype::ByteOrder;
use gsd::{ChunkType, File, OpenOptions, Strictness};
use hoomd_gsd::file_layer::{DataType, GsdFile, IndexEntry, Mode};

/// Frame, name, dtype, shape and MD5.
pub fn line(frame: u64, name: &str, chunk_type: ChunkType, n: u64, m: u32, bytes: &[u8]) -> String {
    if chunk_type == ChunkType::Character {
        let text = std::str::from_utf8(bytes).unwrap();
        return text_line(frame, name, text);
    }
    let shape = match (bytes.len(), m) {
        (0, _) => "0".to_owned(),
        (_, 1) => n.to_string(),
        _ => format!("{n},{m}"),
    };
    let dtype = chunk_type.dtype(ByteOrder::Little);
    format!("{frame}\t{name}\t{dtype}\t{shape}\t{}", Algorithm::Md5.digest(bytes))
}

/// Numbers of `size` bytes that lie in memory as this machine has them.
pub fn little_endian(size: usize, native: &[u8]) -> Vec<u8> {
    let mut bytes = native.to_vec();
    if cfg!(target_endian = "big") {
        bytes.chunks_exact_mut(size).for_each(<[u8]>::reverse);
    }
    bytes
}

pub fn text_line(frame: u64, name: &str, text: &str) -> String {
    let text = text.trim_end_matches('\0');
    format!("{frame}\t{name}\ttext\t\t{}", Algorithm::Md5.digest(text.as_bytes()))
}

pub fn whole(frames: u64, mut lines: Vec<String>) -> String {
    lines.sort();
    lines.insert(0, format!("{frames} frames"));
    lines.join("\n")
}

/// Returns our reading.
pub fn ours(path: &Path) -> String {
    let strict = OpenOptions::default().with_strictness(Strictness::Strict);
    let file = File::open_with(path, &strict).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let lines = file.index().iter().map(|entry| {
        let name = file.names().get(entry.id).unwrap();
        let (mut bytes, chunk_type) =
            (file.read_chunk(&entry).unwrap().into_owned(), entry.chunk_type().unwrap());
        if file.header().byte_order == ByteOrder::Big {
            bytes.chunks_exact_mut(chunk_type.size() as usize).for_each(<[u8]>::reverse);
        }
        line(entry.frame, &name, chunk_type, entry.n, entry.m, &bytes)
    });
    whole(file.nframes(), lines.collect())
}

/// Returns hoomd-gsd's reading of the stored chunks; it is asked for no others.
pub fn hoomd_gsd(path: &Path) -> String {
    let file = GsdFile::open(path, Mode::Read).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let listed = File::open(path).unwrap();
    let lines = listed.index().iter().map(|entry| {
        let name = listed.names().get(entry.id).unwrap();
        let found = file.find_chunk(entry.frame, &name);
        let found = found.unwrap_or_else(|| panic!("{}: no {name} in frame {}", path.display(), entry.frame));
        hoomd_gsd_line(&file, &found, &name, &listed.read_chunk(&entry).unwrap())
    });
    whole(file.n_frames(), lines.collect())
}

/// Numbers of columns are types there, so tables of long strings are told by their shape alone.
fn hoomd_gsd_line(file: &GsdFile, entry: &IndexEntry, name: &str, stored: &[u8]) -> String {
    let (frame, n, m) = (entry.frame(), entry.rows(), entry.columns());
    macro_rules! numbers {
        ($type:ty, $chunk_type:ident) => {{
            fn columns<const M: usize>(file: &GsdFile, frame: u64, name: &str) -> Vec<u8> {
                let rows = file.iter_arrays::<$type, M>(frame, name).unwrap();
                rows.flatten().flat_map(<$type>::to_le_bytes).collect()
            }
            let bytes = match m {
                1 => {
                    file.iter_scalars::<$type>(frame, name).unwrap().flat_map(<$type>::to_le_bytes).collect()
                }
                2 => columns::<2>(file, frame, name),
                3 => columns::<3>(file, frame, name),
                4 => columns::<4>(file, frame, name),
                5 => columns::<5>(file, frame, name),
                6 => columns::<6>(file, frame, name),
                7 => columns::<7>(file, frame, name),
                8 => columns::<8>(file, frame, name),
                9 => columns::<9>(file, frame, name),
                10 => columns::<10>(file, frame, name),
                _ => stored.to_vec(),
            };
            line(frame, name, ChunkType::$chunk_type, n, m, &bytes)
        }};
    }
    match entry.data_type().unwrap() {
        DataType::U8 => numbers!(u8, Uint8),
        DataType::U16 => numbers!(u16, Uint16),
        DataType::U32 => numbers!(u32, Uint32),
        DataType::U64 => numbers!(u64, Uint64),
        DataType::I8 => numbers!(i8, Int8),
        DataType::I16 => numbers!(i16, Int16),
        DataType::I32 => numbers!(i32, Int32),
        DataType::I64 => numbers!(i64, Int64),
        DataType::F32 => numbers!(f32, Float),
        DataType::F64 => numbers!(f64, Double),
        DataType::String => text_line(frame, name, &file.read_string(frame, name).unwrap()),
        other => panic!("{name}: {other:?}"),
    }
}
