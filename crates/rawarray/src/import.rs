//! Writing one dataset of any container as RawArray.

use container_core::array::byte_len;
use container_core::container::{Axes, Container, Dataset};
use container_core::dtype::{ByteOrder, DType, Order};
use container_core::format::{Import, Output};
use container_core::region::Region;
use container_core::report::Loss;
use container_core::stream::for_each_run;
use container_core::{Error, Limits, Progress, Result, Value};

use crate::eltype::eltype_of;
use crate::write::{BigEndian, Encoder, Target};
use crate::{Eltype, Encoding, TRAILER};

/// Writes the one selected dataset, little-endian and column major: same shape, same values. Row-major values are transposed
/// on the way, unless [`Axes::Reversed`] asks for reversed dimensions instead, for which no byte moves.
pub(crate) fn import(job: &Import<'_>, out: &mut dyn Output) -> Result<Vec<Loss>> {
    job.options.allow_words("RawArray", &[])?;
    let (index, region) = job.single()?;
    let dataset = job.container.datasets().get(index).ok_or_else(|| Error::usage("no such dataset"))?;
    let encoding = encoding(job)?;
    let (eltype, big_endian, mut losses) = target_type(dataset);
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
        dtype: dataset.dtype.with_order(ByteOrder::Little),
        dims,
        encoding,
        header_order: ByteOrder::Little,
        big_endian,
    };
    let trailer = trailer_of(job.container);
    if encoding == Encoding::Leb128 && trailer.is_some() {
        return Err(Error::usage("LEB128 data run to the end of the file and leave no room for the trailer")
            .hint("use --codec none or lz4"));
    }
    let mut encoder = Encoder::start(out, target, &Limits::default())?;
    for_each_run(job.container, index, region, order, &job.read, job.progress, |bytes| {
        encoder.push(bytes, &dataset.dtype)
    })?;
    let out = encoder.finish()?;
    match trailer {
        Some((index, len)) => {
            let whole = Region::whole(&[len]);
            for_each_run(job.container, index, &whole, Order::C, &job.read, Progress::none(), |bytes| {
                Ok(out.write_all(bytes)?)
            })?;
        }
        None => losses.extend(job.container.losses()),
    }
    Ok(losses)
}

/// `none`, `lz4`, `leb128` or `bits`, none of which has levels.
fn encoding(job: &Import<'_>) -> Result<Encoding> {
    let Some((name, level)) = &job.options.codec else { return Ok(Encoding::Plain) };
    let encoding = Encoding::from_name(name).ok_or_else(|| {
        let known = Encoding::ALL.map(Encoding::name).join(", ");
        Error::usage(format!("RawArray has no codec {name:?} (it has {known})"))
    })?;
    match level {
        None => Ok(encoding),
        Some(level) => {
            Err(Error::usage(format!("{name} has no levels in RawArray, and {level} was asked for")))
        }
    }
}

/// Element code, whether flag bit 0 is kept, and what the type loses.
fn target_type(dataset: &Dataset) -> (Eltype, BigEndian, Vec<Loss>) {
    let attribute =
        |name: &str| dataset.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value);
    // Opaque elements that came from a RawArray file keep their code, and the mark of their byte order.
    if let (Some(Value::Int(code)), true) = (attribute("eltype"), is_void(&dataset.dtype)) {
        let big = attribute("byte_order").is_some_and(|order| *order == Value::from("big"));
        let code = u64::try_from(*code).map_or(Eltype::USER, Eltype);
        return (code, if big { BigEndian::Yes } else { BigEndian::No }, Vec::new());
    }
    let loss = |what: String| Loss { dataset: Some(dataset.path.clone()), what };
    match eltype_of(&dataset.dtype) {
        Some(eltype) => {
            let note = (dataset.dtype.to_string() == "bfloat16").then(|| {
                loss("bfloat16 is eltype 5, which of the other readers only the Rust crate knows".into())
            });
            (eltype, BigEndian::No, note.into_iter().collect())
        }
        None if is_void(&dataset.dtype) => (Eltype::USER, BigEndian::No, Vec::new()),
        None => {
            let what =
                format!("the type {}: kept as {} opaque bytes", dataset.dtype, dataset.dtype.itemsize());
            (Eltype::USER, BigEndian::No, vec![loss(what)])
        }
    }
}

fn is_void(dtype: &DType) -> bool {
    *dtype == DType::void(dtype.itemsize())
}

/// The trailer of another RawArray file, which a rewrite keeps.
fn trailer_of(container: &dyn Container) -> Option<(usize, u64)> {
    if container.about().format != crate::FORMAT.name {
        return None;
    }
    let datasets = container.datasets();
    let index = datasets.iter().position(|dataset| dataset.path == TRAILER)?;
    Some((index, byte_len(&datasets[index].dtype, &datasets[index].shape)?))
}
