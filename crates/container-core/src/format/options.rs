//! Options for writing a file, by name: those of a caller, and those of a format.

use crate::container::Axes;
use crate::{Error, Limits, Result, Value};

/// A codec that a format writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodecSpec {
    /// Its name among the options: `zstd`.
    pub name: &'static str,
    /// Its levels.
    pub levels: Levels,
}

/// Levels of a codec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Levels {
    /// Without compression levels; level 0 of the codec `none` is that codec.
    None,
    /// Range from the first to the second, both included.
    Between(i32, i32),
    /// Those that the codec itself accepts when it encodes.
    OfCodec,
}

impl CodecSpec {
    /// Plain data.
    pub const NONE: Self = Self::new("none", Levels::None);

    /// A codec of a name.
    #[must_use]
    pub const fn new(name: &'static str, levels: Levels) -> Self {
        Self { name, levels }
    }

    /// The name of the codec called `name` among those of a format, and its level.
    ///
    /// # Errors
    /// As [`TargetOptions::codec`].
    pub fn find(
        title: &str,
        codecs: &'static [Self],
        name: &str,
        level: Option<i32>,
    ) -> Result<(&'static str, Option<i32>)> {
        let Some(codec) = codecs.iter().find(|codec| codec.name == name) else {
            let has: Vec<&str> = codecs.iter().map(|codec| codec.name).collect();
            return Err(Error::usage(format!("{title} has no codec {name:?} (it has {})", has.join(", "))));
        };
        let problem = match (codec.levels, level) {
            (_, None) | (Levels::OfCodec, _) => return Ok((codec.name, level)),
            (Levels::Between(min, max), Some(level)) if (min..=max).contains(&level) => {
                return Ok((codec.name, Some(level)));
            }
            (Levels::Between(min, max), _) => format!("{name} has levels {min} to {max} in {title}"),
            (Levels::None, Some(0)) if *codec == Self::NONE => return Ok((codec.name, None)),
            (Levels::None, Some(level)) if *codec == Self::NONE => {
                format!("none has no levels, and {level} was asked for")
            }
            (Levels::None, Some(level)) => {
                format!("{name} has no levels in {title}, and {level} was asked for")
            }
        };
        Err(Error::usage(problem))
    }
}

/// An option of a format's targets, for help texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionSpec {
    /// Its name: `filter`.
    pub name: &'static str,
    /// Its values as help texts show them: `none|shuffle`, `N`.
    pub values: &'static str,
}

impl OptionSpec {
    /// An option of a name.
    #[must_use]
    pub const fn new(name: &'static str, values: &'static str) -> Self {
        Self { name, values }
    }

    /// The names of options, for [`TargetOptions::check_options`].
    #[must_use]
    pub fn names(options: &[Self]) -> Vec<&'static str> {
        options.iter().map(|option| option.name).collect()
    }
}

/// Options for writing a target, as the caller named them: a format uses those it has.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct TargetOptions {
    /// Name and level of the codec.
    pub codec: Option<(String, Option<i32>)>,
    /// Every other option as name and value: `("filter", "shuffle")`.
    pub extra: Vec<(String, String)>,
    /// Bounds on the memory for writing.
    pub limits: Limits,
    /// Metadata of the user for the target: a map, whose entries go before those that the source has.
    pub metadata: Option<Value>,
    /// Presents the source's axes in reverse, so that row-major data become column-major without moving a byte.
    pub axes: Axes,
}

impl TargetOptions {
    /// The option for element types that a format lacks: write their bytes, little-endian.
    pub const AS_BYTES: &'static str = "as-bytes";

    /// The value of an option; the last one where it was given more than once.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.extra.iter().rev().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    /// As [`get`](Self::get), with `none` for an option that was not given: every format has `none` of everything.
    #[must_use]
    pub fn get_some(&self, name: &str) -> Option<&str> {
        self.get(name).filter(|value| *value != "none")
    }

    /// The choice that an option makes among values with names; `None` where it was not given, and for `none` where that is not among them.
    ///
    /// # Errors
    /// `Usage` for another value, listing those there are.
    pub fn choice<T: Copy>(&self, title: &str, name: &str, values: &[(&str, T)]) -> Result<Option<T>> {
        let Some(given) = self.get(name) else { return Ok(None) };
        match values.iter().find(|(value, _)| *value == given) {
            Some((_, choice)) => Ok(Some(*choice)),
            None if given == "none" => Ok(None),
            None => {
                let has: Vec<&str> = values.iter().map(|(value, _)| *value).collect();
                Err(Error::usage(format!("{title} has no {name}={given} (it has {})", has.join(", "))))
            }
        }
    }

    /// The requested codec, among those of a format, and its level; `None` without a request.
    ///
    /// # Errors
    /// `Usage` for a codec that is not among them, listing them, and for a level that the codec does not have.
    pub fn codec(
        &self,
        title: &str,
        codecs: &'static [CodecSpec],
    ) -> Result<Option<(&'static str, Option<i32>)>> {
        self.codec.as_ref().map(|(name, level)| CodecSpec::find(title, codecs, name, *level)).transpose()
    }

    /// A map of metadata with the requested ones.
    #[must_use]
    pub fn with_metadata(&self, tree: Value) -> Value {
        match (&self.metadata, tree) {
            (Some(Value::Map(given)), Value::Map(mut entries)) => {
                entries.retain(|(key, _)| !given.iter().any(|(own, _)| own == key));
                entries.extend(given.iter().cloned());
                Value::Map(entries)
            }
            (_, tree) => tree,
        }
    }

    /// True if elements of a type that the format lacks are written as bytes.
    #[must_use]
    pub fn as_bytes(&self) -> bool {
        self.get_some(Self::AS_BYTES).is_some()
    }

    /// Refuses options that the format lacks. The value `none` is always accepted, and so is [`AS_BYTES`](Self::AS_BYTES) by formats that
    /// store every type.
    ///
    /// # Errors
    /// `Usage`, listing those it has.
    pub fn check_options(&self, title: &str, known: &[&str]) -> Result<()> {
        self.allow(known, |word, has| format!("{title} has no {word} (it has {has})"))
    }

    /// Refuses options that an append to the format does not take, though the format may have them.
    ///
    /// # Errors
    /// `Usage`, listing those it takes.
    pub fn check_append_options(&self, title: &str, known: &[&str]) -> Result<()> {
        self.allow(known, |word, takes| format!("appending to {title} takes no {word} (it takes {takes})"))
    }

    fn allow(&self, known: &[&str], message: impl Fn(&str, &str) -> String) -> Result<()> {
        let everywhere = |word: &str, value: &str| value == "none" || word == Self::AS_BYTES;
        let unknown = |word: &str, value: &str| !everywhere(word, value) && !known.contains(&word);
        match self.extra.iter().find(|(word, value)| unknown(word, value)) {
            None => Ok(()),
            Some((word, _)) if known.is_empty() => Err(Error::usage(message(word, "none of these options"))),
            Some((word, _)) => Err(Error::usage(message(word, &known.join(", ")))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    const CODECS: &[CodecSpec] = &[
        CodecSpec::NONE,
        CodecSpec::new("zstd", Levels::Between(0, 9)),
        CodecSpec::new("lz4", Levels::None),
        CodecSpec::new("zlib", Levels::OfCodec),
    ];

    fn with(codec: Option<(&str, Option<i32>)>, extra: &[(&str, &str)]) -> TargetOptions {
        TargetOptions {
            codec: codec.map(|(name, level)| (name.to_owned(), level)),
            extra: extra.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            ..TargetOptions::default()
        }
    }

    #[test]
    fn a_codec_has_its_levels_and_no_others() {
        let codec = |name, level| with(Some((name, level)), &[]).codec("X", CODECS);
        assert_eq!(with(None, &[]).codec("X", CODECS).unwrap(), None);
        for (name, level, found) in [
            ("none", None, None),
            ("none", Some(0), None),
            ("zstd", None, None),
            ("zstd", Some(9), Some(9)),
            ("lz4", None, None),
            ("zlib", Some(-100), Some(-100)),
        ] {
            assert_eq!(codec(name, level).unwrap(), Some((name, found)), "{name} {level:?}");
        }
        for (name, level, message) in [
            ("bzp2", None, "X has no codec \"bzp2\" (it has none, zstd, lz4, zlib)"),
            ("none", Some(3), "none has no levels, and 3 was asked for"),
            ("zstd", Some(10), "zstd has levels 0 to 9 in X"),
            ("zstd", Some(-1), "zstd has levels 0 to 9 in X"),
            ("lz4", Some(0), "lz4 has no levels in X, and 0 was asked for"),
        ] {
            let error = codec(name, level).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{name} {level:?}");
            assert_eq!(error.to_string(), message);
        }
    }

    #[test]
    fn the_last_value_of_an_option_counts() {
        let options = with(None, &[("split", "no"), ("split", "yes"), ("offsets", "none")]);
        let yes_no = [("yes", true), ("no", false)];
        assert_eq!((options.get("split"), options.get("other")), (Some("yes"), None));
        assert_eq!((options.get("offsets"), options.get_some("offsets")), (Some("none"), None));
        assert_eq!(options.choice("X", "split", &yes_no).unwrap(), Some(true));
        assert_eq!(options.choice("X", "offsets", &yes_no).unwrap(), None);
        assert_eq!(options.choice("X", "offsets", &[("none", 0)]).unwrap(), Some(0));
        let error = with(None, &[("split", "maybe")]).choice("X", "split", &yes_no).unwrap_err();
        assert_eq!(error.to_string(), "X has no split=maybe (it has yes, no)");
    }
}
