//! Write options from strings: codec, filters, splitting, shapes of chunks and blocks, digests.

use blosc_chunk::{Compressor, Filter, Params, Pipeline, SplitMode};
use container_core::dtype::{ByteOrder, DType, Kind};
use container_core::format::{OptionSpec, TargetOptions};
use container_core::{Error, Result};

use crate::b2nd::NdOptions;
use crate::options::FrameOptions;
use crate::verified_reads;

pub(crate) const FILTER: &str = "filter";
pub(crate) const CHECKSUM: &str = "checksum";
pub(crate) const CHUNKS: &str = "chunks";
pub(crate) const BLOCKS: &str = "blocks";
pub(crate) const SPLIT: &str = "split";
pub(crate) const DICTIONARY: &str = "dictionary";

/// Asks for a sparse frame, a directory.
pub(crate) const SPARSE: &str = "sparse";

/// Options that every Blosc2 target accepts.
pub(crate) const OPTIONS: &[OptionSpec] = &[
    OptionSpec::new(
        FILTER,
        "none|shuffle|bitshuffle|delta|bytedelta|trunc_prec:N|int_trunc:N|ndcell:N|ndmean:N, up to six in order",
    ),
    OptionSpec::new(CHECKSUM, "none|adler32|crc32|md5|sha1|sha224|sha256|sha384|sha512"),
    OptionSpec::new(CHUNKS, "SHAPE"),
    OptionSpec::new(BLOCKS, "SHAPE"),
    OptionSpec::new(SPLIT, "auto|always|never|forward"),
    OptionSpec::new(DICTIONARY, "yes|no"),
    OptionSpec::new(SPARSE, "yes|no (a directory)"),
];

/// True where something is to be encoded otherwise than it is.
pub(crate) fn is_other_encoding(options: &TargetOptions) -> bool {
    options.codec.is_some() || [FILTER, SPLIT, DICTIONARY].iter().any(|name| options.get(name).is_some())
}

/// True where chunks or blocks are to have other shapes than they have.
pub(crate) fn is_other_partition(options: &TargetOptions) -> bool {
    [CHUNKS, BLOCKS].iter().any(|name| options.get_some(name).is_some())
}

/// Replaces the defaults by the caller's options.
///
/// # Errors
/// `Usage` for codecs, levels and filters that Blosc2 does not have, listing those it has.
pub(crate) fn apply(mut params: Params, options: &TargetOptions) -> Result<Params> {
    // A frame that was stored plainly does not contain a level.
    let own_level = if params.level == 0 { 5 } else { params.level };
    if let Some(chosen) = Compressor::from_options(options, "Blosc2", own_level)? {
        (params.compressor, params.level) = chosen;
        params.codec_meta = 0;
    }
    let filters: Vec<&str> =
        options.extra.iter().filter(|(word, _)| word == FILTER).map(|(_, value)| value.as_str()).collect();
    if !filters.is_empty() {
        params.filters = Pipeline::parse_words(&filters)?;
    }
    let splits = [
        ("auto", SplitMode::Auto),
        ("always", SplitMode::Always),
        ("never", SplitMode::Never),
        ("forward", SplitMode::ForwardCompat),
    ];
    params.split = options.choice("Blosc2", SPLIT, &splits)?.unwrap_or(params.split);
    let yes_no = [("yes", true), ("no", false)];
    if options.choice("Blosc2", SPARSE, &yes_no)? == Some(true) {
        return Err(Error::usage("a sparse frame is a directory, not a stream"));
    }
    if options.get(DICTIONARY).is_some() {
        params.dictionary = options.choice("Blosc2", DICTIONARY, &yes_no)?.unwrap_or(false);
    }
    Ok(params)
}

/// Parses a shape as it is typed: `100,100`; `None` where it is left to the library.
///
/// # Errors
/// `Usage` for anything else, and for another number of lengths than there are axes. One length is enough for arrays of more axes: it is the
/// first one's, and the others are whole.
pub(crate) fn shape(options: &TargetOptions, name: &str, whole: &[u64]) -> Result<Option<Vec<u32>>> {
    let Some(text) = options.get_some(name) else { return Ok(None) };
    let bad = || Error::usage(format!("{name} of {text:?} (Blosc2 takes a length for each axis: 100,100)"));
    let lens = text.split(',').map(|len| len.trim().parse::<u32>().ok().filter(|len| *len > 0));
    let lens: Vec<u32> = lens.collect::<Option<_>>().ok_or_else(bad)?;
    match (lens.as_slice(), whole) {
        (lens, whole) if lens.len() == whole.len() => Ok(Some(lens.to_vec())),
        ([first], [_, rest @ ..]) => {
            let rest = rest.iter().map(|len| u32::try_from(*len).ok().map(|len| len.max(1)));
            let rest: Option<Vec<u32>> = rest.collect();
            Ok(Some([&[*first][..], &rest.ok_or_else(bad)?].concat()))
        }
        (lens, whole) => {
            let problem = format!("{name} of {text}: {} lengths for {} axes", lens.len(), whole.len());
            Err(Error::usage(problem))
        }
    }
}

/// Replaces the encoding of a source by the caller's options, for a copy of its values. Lossy filters apply only if the caller names
/// them: those of the source have already been applied, and would change the values again in other blocks.
///
/// # Errors
/// As [`apply`] and [`check_lossy`].
pub(crate) fn apply_to_copy(
    params: Params,
    options: &TargetOptions,
    dtype: Option<&DType>,
) -> Result<Params> {
    let mut params = apply(params, options)?;
    if options.get(FILTER).is_none() {
        params.filters = params.filters.without_lossy();
    } else if let Some(dtype) = dtype {
        check_lossy(&params, dtype)?;
    }
    Ok(params)
}

/// # Errors
/// `Usage` for filters that would destroy values of `dtype` instead of rounding them: they take each element for one little-endian
/// float, or one little-endian integer. Opaque bytes are not checked.
pub(crate) fn check_lossy(params: &Params, dtype: &DType) -> Result<()> {
    for filter in params.filters.filters().filter(|filter| filter.is_lossy()) {
        let fits = dtype.as_scalar().is_some_and(|scalar| match scalar.kind {
            Kind::Void => true,
            Kind::Float => filter.id != Filter::INT_TRUNC && scalar.order == ByteOrder::Little,
            Kind::Int | Kind::Uint => filter.id == Filter::INT_TRUNC && scalar.order == ByteOrder::Little,
            _ => false,
        });
        if !fits {
            let what = if filter.id == Filter::INT_TRUNC { "integers" } else { "floats" };
            let problem =
                format!("the filter {filter} rounds little-endian {what}, and destroys values of {dtype}");
            return Err(Error::usage(problem).with_hint("leave it out"));
        }
    }
    Ok(())
}

/// Describes the precision that lossy filters remove.
pub(crate) fn lossy(params: &Params) -> Option<String> {
    let lossy: Vec<String> = params
        .filters
        .filters()
        .filter(|filter| filter.is_lossy())
        .map(|filter| filter.to_string())
        .collect();
    (!lossy.is_empty())
        .then(|| format!("precision that the filter {} removes from each value", lossy.join(", ")))
}

impl NdOptions {
    /// Puts the command's words in the place of these options, for an array of `dtype` and `shape`: codec, filter, split, dictionary,
    /// chunks, blocks, checksum.
    ///
    /// # Errors
    /// `Usage` for words that Blosc2 does not have, for lossy filters that do not fit the type, and for shapes of another number of axes.
    pub fn with_words(mut self, words: &TargetOptions, dtype: &DType, shape: &[u64]) -> Result<Self> {
        words.check_options("Blosc2", &OptionSpec::names(OPTIONS))?;
        self.take_words(words, dtype, shape)?;
        if words.get(CHECKSUM).is_some() {
            self.checksums = verified_reads::target_checksum(words, None)?;
        }
        Ok(self)
    }

    /// As [`NdOptions::with_words`], less the digests.
    pub(crate) fn take_words(&mut self, words: &TargetOptions, dtype: &DType, shape: &[u64]) -> Result<()> {
        self.params = apply_to_copy(self.params.clone(), words, Some(dtype))?;
        self.chunkshape = self::shape(words, CHUNKS, shape)?;
        self.blockshape = self::shape(words, BLOCKS, shape)?;
        Ok(())
    }
}

impl FrameOptions {
    /// Puts the command's words in the place of these options: codec, filter, split, dictionary, checksum; chunks and blocks in elements.
    ///
    /// # Errors
    /// `Usage` for words that Blosc2 does not have, and for chunks of 4 GiB.
    pub fn with_words(mut self, words: &TargetOptions) -> Result<Self> {
        words.check_options("Blosc2", &OptionSpec::names(OPTIONS))?;
        self.params = apply(self.params, words)?;
        let bytes = |name: &str| -> Result<Option<usize>> {
            let count = shape(words, name, &[u64::MAX])?.and_then(|lens| lens.first().copied());
            Ok(count.map(|count| (count as usize).saturating_mul(self.params.typesize)))
        };
        let (chunk, block) = (bytes(CHUNKS)?, bytes(BLOCKS)?);
        if let Some(len) = chunk {
            let len = u32::try_from(len).map_err(|_| Error::usage(format!("chunks of {len} bytes")))?;
            self.chunksize = Some(len);
        }
        self.params.blocksize = block.or(self.params.blocksize);
        if words.get(CHECKSUM).is_some() {
            self.checksums = verified_reads::target_checksum(words, None)?;
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::default_params;

    fn options(codec: Option<(&str, Option<i32>)>, words: &[(&str, &str)]) -> TargetOptions {
        let mut options = TargetOptions::default();
        options.codec = codec.map(|(name, level)| (name.to_owned(), level));
        options.extra = words.iter().map(|(word, value)| ((*word).to_owned(), (*value).to_owned())).collect();
        options
    }

    #[test]
    fn options_replace_the_default_parameters() {
        let words =
            [(FILTER, "trunc_prec:10"), (FILTER, "bitshuffle"), (SPLIT, "never"), (DICTIONARY, "yes")];
        let asked = options(Some(("lz4", Some(9))), &words);
        let params = apply(default_params(4), &asked).unwrap();
        assert_eq!((params.compressor, params.level), (Compressor::LZ4, 9));
        assert_eq!(params.filters.names(), ["trunc_prec:10", "bitshuffle"]);
        assert_eq!((params.split, params.dictionary), (SplitMode::Never, true));
        assert!(lossy(&params).unwrap().contains("trunc_prec:10"));
        let plain = apply(params, &options(Some(("none", None)), &[(FILTER, "none")])).unwrap();
        assert_eq!((plain.level, plain.filters.is_empty()), (0, true));
        assert_eq!(apply(plain, &options(Some(("zstd", None)), &[])).unwrap().level, 5);
    }

    #[test]
    fn lossy_filters_are_explicit_and_match_the_element_type() {
        let rounded = Params {
            filters: Pipeline::parse_words(&["trunc_prec:10", "shuffle"]).unwrap(),
            ..default_params(4)
        };
        let copied = apply_to_copy(rounded, &options(Some(("lz4", None)), &[]), None).unwrap();
        assert_eq!(copied.filters.names(), ["shuffle"]);
        let fits = |filter: &str, dtype: &str| {
            let dtype = DType::parse(dtype).unwrap();
            let asked = options(None, &[(FILTER, filter)]);
            apply_to_copy(default_params(dtype.itemsize()), &asked, Some(&dtype)).is_ok()
        };
        for (filter, dtype) in
            [("trunc_prec:10", "<f4"), ("ndmean:2", "<f8"), ("int_trunc:4", "<i4"), ("int_trunc:4", "|u1")]
        {
            assert!(fits(filter, dtype), "{filter} {dtype}");
        }
        for (filter, dtype) in [
            ("trunc_prec:10", "<i4"),
            ("trunc_prec:10", ">f8"),
            ("trunc_prec:10", "<c8"),
            ("ndmean:2", "<u4"),
            ("int_trunc:4", "<f4"),
            ("int_trunc:4", ">i2"),
        ] {
            assert!(!fits(filter, dtype), "{filter} {dtype}");
        }
        assert!(fits("shuffle", ">f8"));
    }

    #[test]
    fn import_options_set_array_and_frame_options() {
        let words = [(CHUNKS, "4,3"), (BLOCKS, "2,3"), (FILTER, "bitshuffle"), (CHECKSUM, "sha256")];
        let dtype = DType::parse("<f4").unwrap();
        let asked = options(Some(("lz4", None)), &words);
        let array = NdOptions::default().with_words(&asked, &dtype, &[10, 10]).unwrap();
        assert_eq!((array.chunkshape, array.blockshape), (Some(vec![4, 3]), Some(vec![2, 3])));
        assert_eq!((array.params.compressor, array.checksums.is_some()), (Compressor::LZ4, true));
        assert!(NdOptions::default().with_words(&asked, &dtype, &[10]).is_err());
        let lossy = options(None, &[(FILTER, "int_trunc:4")]);
        assert!(NdOptions::default().with_words(&lossy, &dtype, &[10]).is_err());
        assert!(NdOptions::default().with_words(&options(None, &[("frames", "1")]), &dtype, &[10]).is_err());

        let words = [(CHUNKS, "100"), (BLOCKS, "10"), (FILTER, "none")];
        let new = FrameOptions { params: default_params(8), ..FrameOptions::default() };
        let frame = new.with_words(&options(None, &words)).unwrap();
        assert_eq!((frame.chunksize, frame.params.blocksize), (Some(800), Some(80)));
        assert!(frame.params.filters.is_empty() && frame.checksums.is_none());
    }

    #[test]
    fn unsupported_options_are_usage_errors() {
        let bad = [
            options(Some(("bzp2", None)), &[]),
            options(Some(("zstd", Some(22))), &[]),
            options(Some(("none", Some(3))), &[]),
            options(None, &[(FILTER, "fletcher32")]),
            options(None, &[(SPLIT, "sometimes")]),
            options(None, &[(DICTIONARY, "maybe")]),
        ];
        for options in bad {
            let error = apply(default_params(4), &options).unwrap_err();
            assert!(matches!(error.kind(), container_core::ErrorKind::Usage(_)), "{error}");
        }
    }

    #[test]
    fn a_shape_has_a_length_for_each_axis_or_for_the_first() {
        let asked = |text: &str, whole: &[u64]| shape(&options(None, &[(CHUNKS, text)]), CHUNKS, whole);
        assert_eq!(asked("3, 4", &[10, 10]).unwrap(), Some(vec![3, 4]));
        assert_eq!(asked("3", &[10, 20, 0]).unwrap(), Some(vec![3, 20, 1]));
        assert_eq!(asked("none", &[10]).unwrap(), None);
        for (text, whole) in [("3,4", &[10][..]), ("0", &[10]), ("a", &[10]), ("", &[10]), ("3", &[])] {
            assert!(asked(text, whole).is_err(), "{text} for {whole:?}");
        }
    }
}
