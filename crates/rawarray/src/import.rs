//! Writes one dataset of any container as RawArray.

use container_core::array::byte_len;
use container_core::chunked_read::{check_readable, for_each_chunk};
use container_core::container::{Axes, Container, Dataset};
use container_core::dtype::{ByteOrder, DType, Kind, Order};
use container_core::format::{CodecSpec, Levels, OptionSpec, Output, WriteRequest};
use container_core::interchange;
use container_core::region::Region;
use container_core::report::Loss;
use container_core::{Error, Progress, Result, Value};

use crate::eltype::{eltype_of, public_type};
use crate::write::{BigEndian, Encoder, Target};
use crate::{Eltype, Encoding, TRAILER, trailer};

/// Key of the format's own entries among carried metadata.
pub(crate) const OWN: &str = "rawarray";

/// Writes the one selected dataset, little-endian and column major: same shape, same values. Row-major values are transposed on the way, unless
/// [`Axes::Reversed`] selects reversed dimensions instead, which keep the order of the bytes.
pub(crate) fn import(job: &WriteRequest<'_>, out: &mut dyn Output) -> Result<Vec<Loss>> {
    let words = Words::new(job)?;
    let (index, region) = job.single()?;
    let dataset = &*job.container.require(index)?;
    let encoding = encoding(job)?;
    let of_same_format = is_rawarray(job.container);
    if of_same_format && job.options.metadata.is_some() {
        let error = Error::usage("the trailer of a RawArray source is copied unchanged");
        return Err(error.with_hint("holdall meta --set, of the new file"));
    }
    let (tree, mut lost) = if of_same_format { (Value::Null, Vec::new()) } else { job.metadata()? };
    let (eltype, big_endian, mut losses) = target_type(dataset, tree.get(OWN), &words);
    let mut dims = region.shape();
    let order = match job.options.axes {
        Axes::AsStored => Order::F,
        Axes::Reversed => {
            dims.reverse();
            Order::C
        }
    };
    let target = Target {
        eltype,
        // Opaque elements have no order to mark, so numbers in them are little-endian.
        dtype: dataset.dtype.with_order(if big_endian == BigEndian::Yes {
            ByteOrder::Big
        } else {
            ByteOrder::Little
        }),
        dims,
        encoding,
        header_order: ByteOrder::Little,
        big_endian,
    };
    let trailer = trailer_of(job.container).filter(|(at, _)| words.trailer == Trailer::Keep && *at != index);
    if encoding == Encoding::Leb128 && trailer.is_some() {
        return Err(Error::usage("LEB128 data run to the end of the file and leave no room for the trailer")
            .with_hint("use --codec none or lz4"));
    }
    let tree = if is_opaque(&dataset.dtype) { interchange::remove_key(tree, OWN) } else { tree };
    let metadata = if words.trailer == Trailer::Keep && encoding != Encoding::Leb128 {
        trailer::from_tree(&tree)?
    } else {
        lost.extend(interchange::losses(&tree));
        Vec::new()
    };
    // A region beyond the end of a cut file is refused before disk space is allocated.
    check_readable(job.container, index, region, &job.read)?;
    let mut encoder = Encoder::start(out, target, &job.options.limits)?;
    encoder.reserve()?;
    for_each_chunk(job.container, index, region, order, &job.read, job.progress, |bytes| {
        encoder.push(bytes, &dataset.dtype)
    })?;
    let out = encoder.finish()?;
    match trailer {
        Some((index, len)) => {
            let whole = Region::whole(&[len]);
            for_each_chunk(job.container, index, &whole, Order::C, &job.read, Progress::none(), |bytes| {
                Ok(out.write_all(bytes)?)
            })?;
        }
        // The metadata of another RawArray file were copied above, or left out on request.
        None if of_same_format => {}
        None => {
            out.write_all(&metadata)?;
            losses.append(&mut lost);
            losses.extend(job.container.unexported_metadata(job.selection));
        }
    }
    Ok(losses)
}

/// Codecs that are written.
pub(crate) const CODECS: &[CodecSpec] = &[
    CodecSpec::NONE,
    CodecSpec::new(Encoding::Lz4.name(), Levels::None),
    CodecSpec::new(Encoding::Leb128.name(), Levels::None),
    CodecSpec::new(Encoding::Bits.name(), Levels::None),
];

/// Options of targets besides the codec.
pub(crate) const OPTIONS: &[OptionSpec] = &[
    OptionSpec::new("bool", "eltype5|uint8"),
    OptionSpec::new("byte-order", "little|big"),
    OptionSpec::new("trailer", "keep|drop"),
];

fn encoding(job: &WriteRequest<'_>) -> Result<Encoding> {
    let codec = job.options.codec("RawArray", CODECS)?;
    Ok(codec.and_then(|(name, _)| Encoding::from_name(name)).unwrap_or(Encoding::Plain))
}

/// Options of a RawArray target except its codec.
struct Words {
    bools: Bools,
    data_order: ByteOrder,
    trailer: Trailer,
}

/// Stored type of bools.
#[derive(PartialEq)]
enum Bools {
    /// Eltype 5 in one byte, which keeps the type.
    Eltype5,
    /// Unsigned bytes, which every library reads.
    Uint8,
}

/// Treatment of the trailer of another RawArray file.
#[derive(PartialEq)]
enum Trailer {
    Keep,
    Drop,
}

impl Words {
    fn new(job: &WriteRequest<'_>) -> Result<Self> {
        let mut words = Self { bools: Bools::Eltype5, data_order: ByteOrder::Little, trailer: Trailer::Keep };
        job.options.check_options("RawArray", &OptionSpec::names(OPTIONS))?;
        for (word, value) in &job.options.extra {
            match (word.as_str(), value.as_str()) {
                ("bool", "eltype5") => words.bools = Bools::Eltype5,
                ("bool", "uint8") => words.bools = Bools::Uint8,
                ("byte-order", "little") => words.data_order = ByteOrder::Little,
                ("byte-order", "big") => words.data_order = ByteOrder::Big,
                ("trailer", "keep") => words.trailer = Trailer::Keep,
                ("trailer", "drop") => words.trailer = Trailer::Drop,
                ("bool" | "byte-order" | "trailer", _) => {
                    let known = "bool=eltype5|uint8, byte-order=little|big, trailer=keep|drop";
                    return Err(Error::usage(format!("RawArray has no {word}={value} (it has {known})")));
                }
                // Another word with the value none.
                _ => {}
            }
        }
        Ok(words)
    }
}

/// Element code, state of flag bit 0, and losses of the type.
fn target_type(dataset: &Dataset, own: Option<&Value>, words: &Words) -> (Eltype, BigEndian, Vec<Loss>) {
    let attribute = |name: &str| {
        let attribute = dataset.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value);
        attribute.or_else(|| own?.get(name))
    };
    // Opaque elements that came from a RawArray file keep their code, and the mark of their byte order.
    if let (Some(Value::Int(code)), true) = (attribute("eltype"), is_opaque(&dataset.dtype)) {
        let big = attribute("byte_order").is_some_and(|order| *order == Value::from("big"));
        let code = u64::try_from(*code).map_or(Eltype::USER, Eltype);
        return (code, if big { BigEndian::Yes } else { BigEndian::No }, Vec::new());
    }
    let loss = |what: String| Loss { dataset: Some(dataset.path.clone()), what };
    match eltype_of(&dataset.dtype) {
        Some(eltype) => {
            let bfloat = dataset.dtype.as_scalar().is_some_and(|scalar| scalar.kind == Kind::BFloat);
            // In a RawArray file the type had few readers before.
            let note = (bfloat && attribute("eltype").is_none())
                .then(|| loss("bfloat16 is eltype 5, which only the Rust crate reads".into()));
            let big = if words.data_order == ByteOrder::Big { BigEndian::Yes } else { BigEndian::No };
            if words.bools == Bools::Uint8 && dataset.dtype == DType::native(Kind::Bool, 1) {
                return (Eltype::UINT, big, vec![loss("the type bool: kept as unsigned bytes".into())]);
            }
            // numpy's `<f16` and `<c32` are another type on each machine.
            let opaque = (public_type(&dataset.dtype) != dataset.dtype).then(|| {
                let size = dataset.dtype.itemsize();
                loss(format!("the type {}: read back as {size} opaque bytes", dataset.dtype))
            });
            (eltype, big, note.into_iter().chain(opaque).collect())
        }
        None if dataset.dtype.is_void() => (Eltype::USER, BigEndian::No, Vec::new()),
        None => {
            let what = format!("the type {}: kept as {}", dataset.dtype, dataset.dtype.bytes_loss_message());
            (Eltype::USER, BigEndian::No, vec![loss(what)])
        }
    }
}

fn is_opaque(dtype: &DType) -> bool {
    dtype.as_scalar().is_some_and(|scalar| matches!(scalar.kind, Kind::Void | Kind::Opaque(_)))
}

/// Returns the properties that the type of opaque elements lacks, for a conversion back.
pub(crate) fn own_type(datasets: &[Dataset], selection: &[(usize, Region)]) -> Option<Value> {
    let [(index, _)] = selection else { return None };
    let dataset = datasets.get(*index).filter(|dataset| is_opaque(&dataset.dtype))?;
    let told = dataset.attributes.iter().filter(|(key, value)| match key.as_str() {
        "eltype" => *value != Value::from(Eltype::USER.0),
        key => key == "byte_order",
    });
    let told: Vec<(String, Value)> = told.cloned().collect();
    (!told.is_empty()).then_some(Value::Map(told))
}

fn is_rawarray(container: &dyn Container) -> bool {
    container.about().format == crate::FORMAT.name
}

/// The trailer of another RawArray file, which a rewrite keeps.
fn trailer_of(container: &dyn Container) -> Option<(usize, u64)> {
    if !is_rawarray(container) {
        return None;
    }
    let index = container.find(TRAILER)?;
    let dataset = container.dataset(index)?;
    Some((index, byte_len(&dataset.dtype, &dataset.shape)?))
}
