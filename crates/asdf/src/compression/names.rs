//! Names of codecs beside their labels on disk.

use container_core::Result;
use container_core::format::{CodecSpec, Levels, TargetOptions};

/// Codecs that are written. Each has its own range of levels.
pub(crate) const CODECS: &[CodecSpec] = &[
    CodecSpec::NONE,
    CodecSpec::new("zlib", Levels::OfCodec),
    CodecSpec::new("bzp2", Levels::OfCodec),
    CodecSpec::new("lz4", Levels::OfCodec),
    CodecSpec::new("zstd", Levels::OfCodec),
    CodecSpec::new("blosc", Levels::OfCodec),
];

/// Name of the codec with a label on disk: `blosc` for `blsc`. A label without another name is its own name, unless it is unreadable.
pub(crate) fn codec_name(label: Option<&str>) -> &str {
    match label {
        None => "none",
        Some("blsc") => "blosc",
        Some("bls2" | "bsc2") => "blosc2",
        Some("?") => "unknown",
        Some(label) => label,
    }
}

/// Label and level of the wanted codec: `None` for plain data, and without a choice.
///
/// # Errors
/// `Usage` for codecs that ASDF does not have, listing those it has, and for a level of `none`.
pub(crate) fn wanted_codec(options: &TargetOptions) -> Result<Option<(&'static str, Option<i32>)>> {
    Ok(options.codec("ASDF", CODECS)?.and_then(labelled))
}

/// Label and level of a codec by name: `blsc` for `blosc`. `None` for `none`.
///
/// # Errors
/// As [`wanted_codec`].
pub(crate) fn codec_of_name(name: &str, level: Option<i32>) -> Result<Option<(&'static str, Option<i32>)>> {
    Ok(labelled(CodecSpec::find("ASDF", CODECS, name, level)?))
}

fn labelled((name, level): (&'static str, Option<i32>)) -> Option<(&'static str, Option<i32>)> {
    match name {
        "none" => None,
        "blosc" => Some(("blsc", level)),
        label => Some((label, level)),
    }
}

#[cfg(test)]
mod tests {
    use container_core::ErrorKind;

    use super::*;

    /// Labels are those of the ASDF standard; on disk Blosc is `blsc`.
    #[test]
    fn names_and_labels_belong_together() {
        for (name, label) in
            [("zlib", "zlib"), ("bzp2", "bzp2"), ("lz4", "lz4"), ("zstd", "zstd"), ("blosc", "blsc")]
        {
            assert_eq!(codec_of_name(name, Some(3)).unwrap(), Some((label, Some(3))));
            assert_eq!(codec_of_name(name, None).unwrap(), Some((label, None)));
            assert_eq!(codec_name(Some(label)), name);
        }
        assert_eq!(codec_of_name("none", None).unwrap(), None);
        for (name, level) in [("none", Some(3)), ("snappy", None)] {
            let error = codec_of_name(name, level).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{name}: {error}");
        }
        let others = [None, Some("bls2"), Some("bsc2"), Some("?"), Some("lz4f")].map(codec_name);
        assert_eq!(others, ["none", "blosc2", "blosc2", "unknown", "lz4f"]);
    }
}
