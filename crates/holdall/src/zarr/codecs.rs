//! Codecs: from the bytes of a chunk to those of its file.

use blosc_chunk::{BloscVersion, Compressor, Decoder, Encoder, Params, Pipeline, SplitMode};
use container_codecs::checksum::Algorithm;
use container_codecs::zlib::Zlib;
use container_codecs::zstd::Zstd;
use container_core::codec::Codec;
use container_core::container::About;
use container_core::format::TargetOptions;
use container_core::source::try_zeroed_vec;
use container_core::{Error, Limits, Result, Value};
use serde_json::{Value as Json, json};

/// Levels of Blosc, and the one that is taken where none is named.
const BLOSC_LEVELS: std::ops::RangeInclusive<i32> = 0..=9;
const BLOSC_LEVEL: u8 = 5;

/// Compression of chunks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Compression {
    None,
    Zstd(i32),
    Gzip(i32),
    Blosc { compressor: Compressor, level: u8, filter: Filter, typesize: usize },
}

/// Filter before a codec of Blosc.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Filter {
    None,
    Shuffle,
    Bitshuffle,
}

/// Encoding of the chunks of the source, where it is the same for all of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Own {
    /// The name of its format.
    format: &'static str,
    /// The codec for later chunks, since all present chunks may be of one value.
    codec: Option<String>,
    level: Option<i32>,
    filter: Option<Filter>,
}

impl Own {
    /// Settings of the source: level and filters of a Blosc2 frame, as far as Zarr has them.
    pub(super) fn of(about: &About) -> Self {
        let mut own = Self { format: about.format, ..Self::default() };
        if about.format != "blosc2" {
            return own;
        }
        let has_runs = about.details.iter().any(|(name, _)| name == "chunks of one value");
        for (name, value) in &about.details {
            match (name.as_str(), value) {
                ("codec", Value::Text(codec)) if has_runs => own.codec = Some(codec.clone()),
                ("level", Value::Int(level)) => own.level = i32::try_from(*level).ok(),
                ("filters", Value::List(filters)) => {
                    let has =
                        |word: &str| filters.iter().any(|it| matches!(it, Value::Text(text) if text == word));
                    own.filter = Some(match () {
                        () if has("bitshuffle") => Filter::Bitshuffle,
                        () if has("shuffle") => Filter::Shuffle,
                        () => Filter::None,
                    });
                }
                _ => {}
            }
        }
        own.level = own.level.filter(|level| BLOSC_LEVELS.contains(level));
        if own.level == Some(0) {
            own.codec = None;
        }
        own
    }
}

impl Compression {
    /// As the options have it, else as the source does, whose `codec` is the word for it.
    ///
    /// # Errors
    /// `Usage` for words and levels that Zarr lacks.
    pub(super) fn choose(options: &TargetOptions, codec: &str, own: &Own, itemsize: usize) -> Result<Self> {
        let filter = filter(options)?;
        let typesize = if itemsize <= 255 { itemsize.max(1) } else { 1 };
        let usual = if typesize > 1 { Filter::Shuffle } else { Filter::None };
        let given = options.codec.as_ref();
        let blosc = |compressor, level: Option<i32>| {
            let level = level_in(level, BLOSC_LEVELS, BLOSC_LEVEL.into())?;
            let level = u8::try_from(level).unwrap_or(BLOSC_LEVEL);
            let filter = filter.or(own.filter.filter(|_| given.is_none())).unwrap_or(usual);
            Ok(Self::Blosc { compressor, level, filter, typesize })
        };
        let stored = own.codec.as_deref().filter(|_| codec == "none").unwrap_or(codec);
        let word = given.map_or(stored, |(word, _)| word);
        let of_blosc = given.is_none() && matches!(own.format, "blosc2" | "bloscpack");
        let level = given.map_or(own.level, |(_, level)| *level);
        match word {
            "none" if filter.is_some_and(|filter| filter != Filter::None) => {
                Err(Error::usage("Zarr has filters with a codec alone").with_hint("--codec zstd, for one"))
            }
            "none" => Ok(Self::None),
            "zstd" if !of_blosc && filter.is_none() => Ok(Self::Zstd(level_in(level, -7..=22, 3)?)),
            "zlib" | "gzip" if !of_blosc && filter.is_none() => Ok(Self::Gzip(level_in(level, 0..=9, 6)?)),
            "gzip" => blosc(Compressor::ZLIB, level),
            "blosc" => blosc(Compressor::LZ4, level),
            other => match Compressor::from_name(other) {
                Some(compressor) => blosc(compressor, level),
                None if given.is_some() => Err(Error::usage(format!(
                    "Zarr has no codec {other:?} (it has none, zstd, zlib, blosclz, lz4, lz4hc)"
                ))),
                // Codecs that Zarr lacks are replaced by zstd.
                None => Ok(Self::Zstd(3)),
            },
        }
    }

    /// The entry in the list of codecs; none where chunks are plain.
    pub(super) fn metadata(&self) -> Option<Json> {
        Some(match self {
            Self::None => return None,
            Self::Zstd(level) => {
                json!({ "name": "zstd", "configuration": { "level": level, "checksum": false } })
            }
            Self::Gzip(level) => json!({ "name": "gzip", "configuration": { "level": level } }),
            Self::Blosc { compressor, level, filter, typesize } => {
                let shuffle = match filter {
                    Filter::None => "noshuffle",
                    Filter::Shuffle => "shuffle",
                    Filter::Bitshuffle => "bitshuffle",
                };
                json!({ "name": "blosc", "configuration": {
                    "typesize": typesize, "cname": compressor.name(), "clevel": level, "shuffle": shuffle, "blocksize": 0,
                } })
            }
        })
    }

    /// Most bytes of a chunk.
    pub(super) fn most(&self) -> u64 {
        match self {
            Self::Blosc { .. } => BloscVersion::Blosc1.max_nbytes() as u64,
            Self::None | Self::Zstd(_) | Self::Gzip(_) => isize::MAX as u64,
        }
    }

    /// The bytes of the file of a chunk.
    ///
    /// # Errors
    /// `Io` when memory runs out.
    pub(super) fn encode(&self, plain: Vec<u8>) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        match self {
            Self::None => return Ok(plain),
            Self::Zstd(level) => Zstd.encode(&plain, Some(*level), &mut out)?,
            Self::Gzip(level) => gzip(&plain, *level, &mut out)?,
            Self::Blosc { compressor, level, filter, typesize } => {
                let params = Params {
                    blosc_version: BloscVersion::Blosc1,
                    compressor: *compressor,
                    codec_meta: 0,
                    level: *level,
                    typesize: *typesize,
                    filters: match filter {
                        Filter::None => Pipeline::none(),
                        Filter::Shuffle => Pipeline::shuffle(),
                        Filter::Bitshuffle => Pipeline::bitshuffle(),
                    },
                    split: SplitMode::default(),
                    blocksize: None,
                    dictionary: false,
                    threads: 1,
                };
                Encoder::new(params)?.encode(&plain, &mut out)?;
            }
        }
        Ok(out)
    }
}

impl Compression {
    /// Whether the file `stored` of a chunk holds `plain`.
    ///
    /// # Errors
    /// `Limit`; `Io` when memory runs out.
    pub(super) fn holds(&self, stored: &[u8], plain: &[u8], limits: &Limits) -> Result<bool> {
        if *self == Self::None {
            return Ok(stored == plain);
        }
        let mut decoded = try_zeroed_vec(plain.len() as u64, limits)?;
        let done = match self {
            Self::Zstd(_) => Zstd.decode(stored, &mut decoded),
            Self::Gzip(_) => gunzip(stored, plain, &mut decoded),
            _ => Decoder::new().with_limits(*limits).decode_whole(stored, &mut decoded),
        };
        match done {
            Ok(()) => Ok(decoded == plain),
            Err(error) if error.is_interruption() => Err(error),
            Err(_) => Ok(false),
        }
    }
}

fn filter(options: &TargetOptions) -> Result<Option<Filter>> {
    let mut words =
        options.extra.iter().filter(|(word, _)| word == "filter").map(|(_, value)| value.as_str());
    let (first, more) = (words.next(), words.next());
    match (first, more) {
        (None, _) => Ok(None),
        (Some("none"), None) => Ok(Some(Filter::None)),
        (Some("shuffle"), None) => Ok(Some(Filter::Shuffle)),
        (Some("bitshuffle"), None) => Ok(Some(Filter::Bitshuffle)),
        (Some(other), None) => {
            Err(Error::usage(format!("Zarr has no filter {other:?} (it has none, shuffle, bitshuffle)")))
        }
        (Some(_), Some(_)) => Err(Error::usage("Zarr has one filter before a codec, not several")),
    }
}

fn level_in(level: Option<i32>, levels: std::ops::RangeInclusive<i32>, usual: i32) -> Result<i32> {
    let level = level.unwrap_or(usual);
    if levels.contains(&level) {
        return Ok(level);
    }
    Err(Error::usage(format!("level {level} (expected {} to {})", levels.start(), levels.end())))
}

/// The head of a gzip member without name and time, by no system that has a number.
const GZIP_HEAD: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];

/// A gzip member (RFC 1952): the deflate stream of a zlib stream, with another head and tail and no name or time.
fn gzip(plain: &[u8], level: i32, out: &mut Vec<u8>) -> Result<()> {
    let mut zlib = Vec::new();
    Zlib.encode(plain, Some(level), &mut zlib)?;
    // Two bytes of head, four of Adler-32.
    let deflated = zlib.get(2..zlib.len().saturating_sub(4)).unwrap_or_default();
    out.extend_from_slice(&GZIP_HEAD);
    out.extend_from_slice(deflated);
    // Printed order is most significant first.
    out.extend(Algorithm::Crc32.digest(plain).as_bytes().iter().rev());
    // Its length modulo 2^32.
    out.extend_from_slice(&(plain.len() as u64).to_le_bytes()[..4]);
    Ok(())
}

/// Decodes members that [`gzip`] makes of `plain`; an error for any other.
fn gunzip(member: &[u8], plain: &[u8], decoded: &mut [u8]) -> Result<()> {
    let short = || Error::malformed("a gzip member that ends too early");
    let (_, rest) = member.split_at_checked(GZIP_HEAD.len()).ok_or_else(short)?;
    let (deflated, tail) =
        rest.len().checked_sub(8).and_then(|at| rest.split_at_checked(at)).ok_or_else(short)?;
    // The zlib stream that it was made from.
    let sum = Algorithm::Adler32.digest(plain);
    Zlib.decode(&[&[0x78, 0x9c], deflated, sum.as_bytes()].concat(), decoded)?;
    let crc32 = Algorithm::Crc32.digest(plain);
    if !tail.iter().take(4).eq(crc32.as_bytes().iter().rev())
        || tail[4..] != (plain.len() as u64).to_le_bytes()[..4]
    {
        return Err(Error::malformed("a gzip member with a wrong checksum or length"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gzip_member_is_what_gzip_takes() {
        let mut out = Vec::new();
        gzip(b"hello hello hello", 6, &mut out).unwrap();
        // By Python: zlib.crc32(b"hello hello hello").to_bytes(4, "little"), and the length after it.
        assert_eq!(out[out.len() - 8..], [128, 136, 249, 229, 17, 0, 0, 0]);
        assert_eq!(out[..3], [0x1f, 0x8b, 8]);
    }

    #[test]
    fn the_codec_of_the_source_stays_where_zarr_has_it() {
        let options = TargetOptions::default();
        let own = |format| Own { format, ..Own::default() };
        let of = |codec, format| Compression::choose(&options, codec, &own(format), 4).unwrap();
        assert_eq!(of("none", "asdf"), Compression::None);
        assert_eq!(of("zstd", "asdf"), Compression::Zstd(3));
        assert_eq!(of("zlib", "asdf"), Compression::Gzip(6));
        assert_eq!(of("bzp2", "asdf"), Compression::Zstd(3));
        let blosc =
            |compressor| Compression::Blosc { compressor, level: 5, filter: Filter::Shuffle, typesize: 4 };
        assert_eq!(of("zstd", "blosc2"), blosc(Compressor::ZSTD));
        assert_eq!(of("lz4", "asdf"), blosc(Compressor::LZ4));
        let text = |word: &str| Value::Text(word.to_owned());
        for (filters, filter) in [
            (vec![], Filter::None),
            (vec![text("bitshuffle")], Filter::Bitshuffle),
            (vec![text("delta"), text("shuffle")], Filter::Shuffle),
        ] {
            let mut about =
                About { format: "blosc2", version: None, size: 0, complete: true, details: vec![] };
            about.details.push(("level".into(), 9_u8.into()));
            about.details.push(("filters".into(), Value::List(filters)));
            let chosen = Compression::choose(&options, "zstd", &Own::of(&about), 4).unwrap();
            let compressor = Compressor::ZSTD;
            assert_eq!(chosen, Compression::Blosc { compressor, level: 9, filter, typesize: 4 });
            // Chunks of one value lack a codec; in Zarr, which stores bytes for them, they take the frame's.
            about.details.push(("codec".into(), text("lz4")));
            let none = |about: &About| Compression::choose(&options, "none", &Own::of(about), 4).unwrap();
            assert_eq!(none(&about), Compression::None);
            about
                .details
                .push(("chunks of one value".into(), Value::Map(vec![("value".into(), 2_u8.into())])));
            let compressor = Compressor::LZ4;
            assert_eq!(none(&about), Compression::Blosc { compressor, level: 9, filter, typesize: 4 });
            about.details[0].1 = 0_u8.into();
            assert_eq!(none(&about), Compression::None);
        }
    }

    #[test]
    fn codecs_levels_and_filters_missing_in_zarr_are_refused() {
        let mut options = TargetOptions::default();
        for (codec, level) in [("bzp2", None), ("zstd", Some(23)), ("lz4", Some(10))] {
            options.codec = Some((codec.into(), level));
            assert!(
                Compression::choose(&options, "none", &Own { format: "npy", ..Own::default() }, 4).is_err(),
                "{codec}"
            );
        }
        options.codec = Some(("zstd".into(), Some(9)));
        options.extra = vec![("filter".into(), "bitshuffle".into())];
        let chosen =
            Compression::choose(&options, "none", &Own { format: "npy", ..Own::default() }, 4).unwrap();
        let Compression::Blosc { level: 9, filter: Filter::Bitshuffle, .. } = chosen else {
            panic!("{chosen:?}")
        };
        options.extra[0].1 = "delta".into();
        assert!(Compression::choose(&options, "none", &Own { format: "npy", ..Own::default() }, 4).is_err());
    }
}
