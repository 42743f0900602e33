//! The codecs of Blosc, and the codes by which chunks and frames name them.

use std::fmt;

use container_core::Result;
use container_core::format::{CodecSpec, Levels, TargetOptions};

/// Levels of every codec: those of Blosc.
const LEVELS: Levels = Levels::Between(0, 9);

/// A codec by its *compcode*, the number that frames and the `udcodec` byte of Blosc2 chunks hold.
///
/// A newtype, so that codes of other people's plugins survive. Which *format* (bits 5 to 7 of a chunk's flags) a codec
/// writes is [`Compressor::format`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Compressor(pub u8);

impl Compressor {
    /// BloscLZ, the codec that Blosc brought along.
    pub const BLOSCLZ: Self = Self(0);
    /// LZ4 blocks.
    pub const LZ4: Self = Self(1);
    /// LZ4 blocks by a slower search; the format is that of LZ4.
    pub const LZ4HC: Self = Self(2);
    /// Snappy, in chunks of Blosc1 only; not written.
    pub const SNAPPY: Self = Self(3);
    /// zlib streams.
    pub const ZLIB: Self = Self(4);
    /// zstd frames.
    pub const ZSTD: Self = Self(5);
    /// NDLZ of two-dimensional bytes; not written.
    pub const NDLZ: Self = Self(32);
    /// ZFP of floating-point arrays within a bound on the error; not written.
    pub const ZFP_ACC: Self = Self(33);
    /// ZFP with a fixed precision in bits; not written.
    pub const ZFP_PREC: Self = Self(34);
    /// ZFP with a fixed number of bits for each value; not written.
    pub const ZFP_RATE: Self = Self(35);

    /// Codecs that are written, as options of the formats whose chunks are those of Blosc.
    pub const CODECS: &'static [CodecSpec] = &[
        CodecSpec::NONE,
        CodecSpec::new("blosclz", LEVELS),
        CodecSpec::new("lz4", LEVELS),
        CodecSpec::new("lz4hc", LEVELS),
        CodecSpec::new("zlib", LEVELS),
        CodecSpec::new("zstd", LEVELS),
    ];

    /// Returns codec and level, 0 to 9, of `options`: level 0 for `none`, and `default_level` without a level. `None` without a codec.
    ///
    /// # Errors
    /// `Usage` for another codec or level, listing those there are.
    pub fn from_options(
        options: &TargetOptions,
        title: &str,
        default_level: u8,
    ) -> Result<Option<(Self, u8)>> {
        let chosen = options.codec(title, Self::CODECS)?;
        Ok(chosen.map(|(name, level)| match Self::from_name(name) {
            Some(codec) => (codec, level.and_then(|level| u8::try_from(level).ok()).unwrap_or(default_level)),
            None => (Self::BLOSCLZ, 0),
        }))
    }

    /// Returns the codec called `name` in Blosc's own words (`blosclz`, `lz4`, `lz4hc`, `zlib`, `zstd`), if it can be
    /// written.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let known = [Self::BLOSCLZ, Self::LZ4, Self::LZ4HC, Self::ZLIB, Self::ZSTD];
        known.into_iter().find(|compressor| compressor.name() == name)
    }

    /// Returns its name, registered plugins included; `unknown` for an unregistered code.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self.0 {
            0 => "blosclz",
            1 => "lz4",
            2 => "lz4hc",
            3 => "snappy",
            4 => "zlib",
            5 => "zstd",
            32 => "ndlz",
            33 => "zfp_acc",
            34 => "zfp_prec",
            35 => "zfp_rate",
            36 => "openhtj2k",
            37 => "grok",
            38 => "openzl",
            39 => "j2k",
            40 => "htj2k",
            160..=255 => "user-defined",
            _ => "unknown",
        }
    }

    /// Returns the format number in bits 5 to 7 of a chunk's flags.
    #[must_use]
    pub const fn format(self) -> u8 {
        match self.0 {
            0 => 0,
            1 | 2 => 1,
            3 => 2,
            4 => 3,
            5 => 4,
            _ => 6,
        }
    }
}

impl fmt::Display for Compressor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use container_core::ErrorKind;

    use super::*;

    /// Codes of blosc2.h and of `include/blosc2/codecs-registry.h`, formats of blosc2.h (C-Blosc2 3.3.5).
    #[test]
    fn codes_have_the_names_and_formats_of_c_blosc2() {
        for (code, name, format) in [
            (0, "blosclz", 0),
            (1, "lz4", 1),
            (2, "lz4hc", 1),
            (3, "snappy", 2),
            (4, "zlib", 3),
            (5, "zstd", 4),
            (6, "unknown", 6),
            (31, "unknown", 6),
            (32, "ndlz", 6),
            (33, "zfp_acc", 6),
            (34, "zfp_prec", 6),
            (35, "zfp_rate", 6),
            (36, "openhtj2k", 6),
            (37, "grok", 6),
            (38, "openzl", 6),
            (39, "j2k", 6),
            (40, "htj2k", 6),
            (41, "unknown", 6),
            (159, "unknown", 6),
            (160, "user-defined", 6),
            (255, "user-defined", 6),
        ] {
            let codec = Compressor(code);
            assert_eq!((codec.name(), codec.to_string().as_str(), codec.format()), (name, name, format));
            let is_written = matches!(code, 0..=2 | 4 | 5);
            assert_eq!(Compressor::from_name(name), is_written.then_some(codec), "{name}");
        }
        assert_eq!(Compressor::from_name("LZ4"), None);
    }

    #[test]
    fn options_choose_codec_and_level() {
        let choose = |codec: Option<(&str, Option<i32>)>| {
            let mut options = TargetOptions::default();
            options.codec = codec.map(|(name, level)| (name.to_owned(), level));
            Compressor::from_options(&options, "Blosc", 7)
        };
        assert_eq!(choose(None).unwrap(), None);
        assert_eq!(choose(Some(("zstd", None))).unwrap(), Some((Compressor::ZSTD, 7)));
        assert_eq!(choose(Some(("lz4hc", Some(9)))).unwrap(), Some((Compressor::LZ4HC, 9)));
        assert_eq!(choose(Some(("zlib", Some(0)))).unwrap(), Some((Compressor::ZLIB, 0)));
        // Level 0 stores.
        assert_eq!(choose(Some(("none", None))).unwrap().map(|(_, level)| level), Some(0));
        for (name, level) in [("snappy", None), ("lz4", Some(10)), ("lz4", Some(-1)), ("none", Some(3))] {
            let error = choose(Some((name, level))).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{name} {level:?}: {error}");
        }
    }
}
