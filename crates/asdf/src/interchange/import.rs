//! Writes datasets of any container as an ASDF file.

mod mask;
mod same_format;
mod tree_paths;

use std::collections::HashMap;

use container_core::chunked_read::{check_readable, for_each_chunk};
use container_core::container::{Axes, Dataset};
use container_core::dtype::{DType, Kind, Order};
use container_core::format::{Output, TargetOptions, WriteRequest};
use container_core::interchange;
use container_core::region::Region;
use container_core::report::Loss;
use container_core::{Error, ErrorKind, Result, Value};

use crate::check::inline_values::require_values;
use crate::compression::wanted_codec;
use crate::header::Version;
use crate::interchange::metadata::{MetadataTree, to_tree};
use crate::writer::{ArraySpec, Padding, Plan, WriteOptions};
use crate::yaml::Yaml;
use tree_paths::TreeBuilder;

/// Word for the version of the standard.
const STANDARD: &str = "standard";

/// Option for the start of block data: a multiple of a number of bytes.
const ALIGN: &str = "align";

/// Option for room after the tree and in blocks.
const PADDING: &str = "padding";

/// Largest factor of padding: a file of a hundred times its data is a mistake.
const MAX_PADDING: f64 = 100.0;

/// Option for the array whose rows continue to the end of the file.
const STREAMED: &str = "streamed";

/// Writes the selected datasets, each as an array at its path, with its mask. Byte order stays, and so does the order of the axes: column-major
/// arrays have strides. Elements that become bytes are little-endian ones. The whole of another ASDF file keeps its tree.
///
/// First all datasets are checked and declared in a plan, which gives a node for each. Then the tree is built from the metadata and these nodes and
/// written. Last come the data of the blocks, in the order of declaration, each mask before its array.
pub(crate) fn import(job: &WriteRequest<'_>, out: &mut dyn Output) -> Result<Vec<Loss>> {
    job.options
        .check_options("ASDF", &[CHECKSUM, TargetOptions::AS_BYTES, STANDARD, ALIGN, PADDING, STREAMED])?;
    let compression = wanted_codec(job.options)?;
    let streamed = job.options.get_some(STREAMED);
    if let Some(file) = same_format::whole_file(job)?
        && streamed.is_none()
    {
        return same_format::rewrite(file, job, out);
    }
    let mut parts = Vec::new();
    let (tree, mut losses) = job.metadata()?;
    let names = ArrayPaths::new(job, &tree)?;
    let tree = MetadataTree::new(tree, &names.paths);
    if tree.is_no_mapping() {
        let what =
            format!("metadata: a tree that is not a mapping becomes the entry {} of one", interchange::WHOLE);
        losses.push(Loss { dataset: None, what });
    }
    for ((index, region), path) in job.selection.iter().zip(&names.paths) {
        if tree.is_alias(path) {
            continue;
        }
        let dataset = &*job.container.require(*index)?;
        let mut part = PlannedDataset::new(*index, region, dataset, job.options)?;
        if let Some((label, level)) = compression {
            part.spec = part.spec.compressed(label, level);
        }
        losses.extend(part.loss.take().map(|what| Loss { dataset: Some(dataset.path.clone()), what }));
        if let Some(dtype) = mask::dtype_of(job, *index)? {
            // Elements that become bytes have one axis more than the mask has.
            match part.spec.shape.len() == region.shape().len() {
                true => part.mask = Some(dtype),
                false => losses.push(Loss {
                    dataset: Some(dataset.path.clone()),
                    what: "mask: missing elements, whose bytes are written".to_owned(),
                }),
            }
        }
        // A region beyond the end of a cut file is refused before anything is written.
        check_readable(job.container, *index, region, &job.read)?;
        parts.push((path, part));
    }
    let is_streamed = streamed.map(|name| put_last(name, &mut parts, job.options)).transpose()?.is_some();
    let mut plan = Plan::new(options(job)?);
    let mut nodes = HashMap::with_capacity(parts.len());
    for (number, (path, part)) in parts.iter().enumerate() {
        let is_last = is_streamed && number + 1 == parts.len();
        let mask = part.mask.as_ref().map(|dtype| plan.array(&mask::spec(dtype, &part.spec))).transpose()?;
        let node = match mask {
            // The mask would have no place for rows that come later.
            Some(_) if is_last => {
                return Err(Error::usage(format!(
                    "{path}: an array with a mask cannot be streamed: rows are appended to the array only"
                )));
            }
            Some(mask) => plan.array(&part.spec.clone().masked(mask))?,
            None if is_last => plan.streamed(&part.spec)?,
            None => plan.array(&part.spec)?,
        };
        nodes.insert((*path).clone(), node);
    }
    let (root, anchor) = to_tree(&tree, &mut nodes);
    let mut tree_builder = TreeBuilder::new(root);
    let paths: Vec<&str> = parts.iter().map(|(path, _)| path.as_str()).collect();
    for path in tree_paths::insertion_order(&paths) {
        if let Some(node) = nodes.remove(path) {
            tree_builder.insert(path, names.escaped, node)?;
        }
    }
    let tree = tree_builder.into_tree();
    let tree = match anchor {
        Some(name) => Yaml::Anchored(name, Box::new(tree)),
        None => tree,
    };
    let mut writer = plan.start(tree, out)?;
    for (path, part) in &parts {
        if part.mask.is_some() {
            mask::write(job, part.index, part.region, part.read, &mut writer)?;
        }
        for_each_chunk(
            job.container,
            part.index,
            part.region,
            part.read,
            &job.read,
            job.progress,
            |bytes| {
                if part.spec.dtype == part.of {
                    require_values(path, &part.of, bytes)?;
                }
                writer.write(&part.of.written_as(&part.spec.dtype, bytes)?)
            },
        )?;
    }
    writer.finish()?;
    losses.extend(job.container.unexported_metadata(job.selection));
    Ok(losses)
}

/// Moves the array that will be streamed to the end: the named one, or the only one.
///
/// # Errors
/// `Usage` for an absent name, for `yes` where there are several, and for reversed axes.
fn put_last(
    name: &str,
    parts: &mut Vec<(&String, PlannedDataset<'_>)>,
    options: &TargetOptions,
) -> Result<()> {
    let place = match name {
        "yes" if parts.len() == 1 => Some(0),
        _ => parts.iter().position(|(path, _)| *path == name),
    };
    let Some(place) = place else {
        let problem = match name {
            "yes" => format!("cannot stream {} arrays (expected one)", parts.len()),
            _ => format!("streamed {name:?}: no array of the new file has this path"),
        };
        return Err(Error::usage(problem).with_hint("-O streamed=PATH"));
    };
    let (path, mut part) = parts.remove(place);
    if options.axes == Axes::Reversed {
        return Err(Error::usage("the rows of reversed axes cannot be streamed").with_context(path.clone()));
    }
    // Rows follow one another, whatever the order of the source is.
    part.read = Order::C;
    part.spec = part.spec.order(Order::C);
    part.spec.compression = None;
    parts.push((path, part));
    Ok(())
}

/// Paths of the arrays in the new tree.
struct ArrayPaths {
    paths: Vec<String>,
    /// Whether `~1` and `~0` in paths stand for slash and tilde.
    escaped: bool,
}

impl ArrayPaths {
    fn new(job: &WriteRequest<'_>, tree: &Value) -> Result<Self> {
        let own = job.selection.iter().map(|(index, _)| Ok(job.container.require(*index)?.path.clone()));
        let mut paths = own.collect::<Result<Vec<String>>>()?;
        let mut escaped = job.container.about().format == crate::FORMAT.name;
        if let [only] = paths.as_mut_slice() {
            let path = interchange::path_of(tree, only);
            escaped |= path != only;
            *only = path.to_owned();
        }
        Ok(Self { paths, escaped })
    }
}

/// The option that every ASDF target has.
pub(crate) const CHECKSUM: &str = "checksum";

/// Builds the options for writing the file.
fn options(job: &WriteRequest<'_>) -> Result<WriteOptions> {
    let mut options = WriteOptions::default();
    options.checksums = checksum(job.options)?;
    options.threads = job.read.threads;
    options.limits = job.options.limits;
    if let Some(text) = job.options.get_some(STANDARD) {
        options.standard = Version::parse(text)
            .ok_or_else(|| Error::usage(format!("standard {text:?} is not a version such as 1.6.0")))?;
    }
    if let Some(text) = job.options.get_some(PADDING) {
        let factor: Option<f64> = text.parse().ok();
        let factor = factor.filter(|factor| (1.0..=MAX_PADDING).contains(factor));
        let problem = || {
            Error::usage(format!(
                "invalid padding {text:?} (expected a factor from 1 to {MAX_PADDING}, such as 1.1)"
            ))
        };
        options.padding = Padding::Factor(factor.ok_or_else(problem)?);
    }
    if let Some(text) = job.options.get_some(ALIGN) {
        let align: Option<u64> = text.parse().ok();
        let align = align.filter(|align| align.is_power_of_two() && *align <= 32768);
        let problem =
            || Error::usage(format!("invalid align {text:?} (expected a power of two up to 32768)"));
        options.align = Some(align.ok_or_else(problem)?);
    }
    Ok(options)
}

/// Whether blocks get a digest; true by default.
///
/// # Errors
/// `Usage` for digests that ASDF does not have.
fn checksum(options: &TargetOptions) -> Result<bool> {
    match options.get(CHECKSUM) {
        None | Some("md5") => Ok(true),
        Some("none") => Ok(false),
        Some(other) => Err(Error::usage(format!("unknown checksum {other:?} (expected one of: none, md5)"))),
    }
}

/// A dataset on its way.
struct PlannedDataset<'a> {
    index: usize,
    region: &'a Region,
    spec: ArraySpec,
    /// The order in which elements are read.
    read: Order,
    /// The type of the source's elements.
    of: DType,
    loss: Option<String>,
    /// The type of the mask that is written before the elements.
    mask: Option<DType>,
}

impl<'a> PlannedDataset<'a> {
    fn new(index: usize, region: &'a Region, dataset: &Dataset, options: &TargetOptions) -> Result<Self> {
        let (mut shape, mut order, mut read) = (region.shape(), dataset.order, dataset.order);
        if options.axes == Axes::Reversed {
            shape.reverse();
            order = order.reversed();
        }
        let dtype = &dataset.dtype;
        // The plan of a file without arrays accepts the same types as the plan of this one.
        let known = Plan::new(WriteOptions::default()).array(&ArraySpec::new(dtype.clone(), [0]));
        let spec = match known {
            Ok(_) => ArraySpec::new(dtype.clone(), shape).order(order),
            Err(error) if matches!(error.kind(), ErrorKind::Unsupported(_)) && options.as_bytes() => {
                if options.axes == Axes::Reversed {
                    return Err(Error::usage(
                        "the axes of elements that are stored as bytes cannot be reversed",
                    ));
                }
                read = Order::C;
                shape.push(dtype.itemsize() as u64);
                ArraySpec::new(DType::native(Kind::Uint, 1), shape)
            }
            Err(error) if matches!(error.kind(), ErrorKind::Unsupported(_)) => {
                let error = Error::new(error.into_kind()).with_context(dataset.path.clone());
                return Err(error.with_hint("--as-bytes writes the bytes of such elements"));
            }
            Err(error) => return Err(error),
        };
        let loss = if spec.dtype != *dtype {
            Some(format!("the type {dtype}: kept as {}", dtype.bytes_loss_message()))
        } else {
            let what =
                "padding, titles and an order in memory of the fields of records, which ASDF cannot store";
            (dtype.packed() != *dtype).then(|| what.to_owned())
        };
        Ok(Self { index, region, spec, read, of: dtype.clone(), loss, mask: None })
    }
}

#[cfg(test)]
mod tests;
