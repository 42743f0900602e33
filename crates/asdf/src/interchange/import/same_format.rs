//! Import of a whole ASDF file: its tree is kept.

use container_core::container::{Axes, CheckDepth};
use container_core::dtype::Order;
use container_core::format::{Output, Pipe, WriteRequest};
use container_core::report::{Loss, Severity};
use container_core::source::FileSource;
use container_core::{Error, Progress, Result};

use super::STANDARD;
use crate::check::inline_values::has_wrong_values;
use crate::compression::wanted_codec;
use crate::file::ArrayEntry;
use crate::interchange::facade::check_digests;
use crate::interchange::import::CHECKSUM;
use crate::ndarray::{ByteSource, Mask};
use crate::rewrite::explode;
use crate::rewrite::{Recompression, RewriteOptions};
use crate::{File, rewrite};

/// The ASDF file of the container, where all of its datasets are wanted.
///
/// # Errors
/// The first fault of a damaged file, which only `repair` reads past.
pub(super) fn whole_file<'a>(job: &WriteRequest<'a>) -> Result<Option<&'a File>> {
    let Some(file) = job.container.as_any().and_then(|native| native.downcast_ref::<File>()) else {
        return Ok(None);
    };
    refuse_masks(job, file)?;
    // Blocks without a tree become arrays.
    if file.front().tree.is_none() {
        return Ok(None);
    }
    // A tree that stays has the strides that it has.
    let is_turned = job.selection.iter().any(|(index, _)| is_turned(job, file, *index));
    if !job.is_all() || is_turned || job.options.axes == Axes::Reversed {
        return Ok(None);
    }
    let faults = file.array_faults();
    match file.faults().chain(&faults).find(|fault| fault.severity() == Severity::Error) {
        Some(fault) => Err(fault.error()),
        None => Ok(Some(file)),
    }
}

/// Whether an array is shown with its axes reversed.
fn is_turned(job: &WriteRequest<'_>, file: &File, index: usize) -> bool {
    let order = file.geometry(index).map(|geometry| geometry.order().unwrap_or(Order::C));
    job.container.dataset(index).is_some_and(|dataset| order.is_ok_and(|order| order != dataset.order))
}

/// # Errors
/// `Unsupported` for a mask of fewer axes, which fits the last axes of its array, and would not fit the first.
fn refuse_masks(job: &WriteRequest<'_>, file: &File) -> Result<()> {
    let selected = |path: &str| {
        let index = file.find_array(path);
        job.selection.iter().any(|(selected, _)| Some(*selected) == index)
    };
    for (index, _) in job.selection {
        let Some(entry) = file.arrays().get(*index) else { continue };
        let Some(Mask::Array(mask)) = &entry.array.mask else { continue };
        let fits = mask.shape.len() == entry.array.shape.len();
        if !fits && is_turned(job, file, *index) && selected(&format!("{}/mask", entry.path)) {
            let problem = "the axes of an array whose mask has fewer axes cannot be reversed";
            return Err(Error::unsupported(problem).with_context(entry.path.clone()));
        }
    }
    Ok(())
}

/// Writes the file again: the tree as it is, blocks in the new way, without unreferenced blocks.
pub(super) fn rewrite(file: &File, job: &WriteRequest<'_>, out: &mut dyn Output) -> Result<Vec<Loss>> {
    if job.options.get_some(STANDARD).is_some() {
        let problem = "the tree of an ASDF source is copied unchanged, with its version of the standard";
        return Err(Error::usage(problem).with_hint("convert its arrays one by one: FILE::PATH"));
    }
    let mut options = RewriteOptions::default();
    options.compression = match (wanted_codec(job.options)?, &job.options.codec) {
        (Some((label, level)), _) => Some(Recompression::Codec(label.to_owned(), level)),
        (None, Some(_)) => Some(Recompression::Plain),
        (None, None) => None,
    };
    // Blocks that are copied undecoded have to be checked here. A digest that does not match gives an error of its own. Blocks that are encoded anew
    // are decoded, but their values are not checked, so they are checked here too.
    let is_looked_at = |entry: &ArrayEntry| {
        let dtype = entry.array.datatype.as_ref().map(|datatype| &datatype.dtype);
        entry.array.mask.is_some() || dtype.is_none_or(has_wrong_values)
    };
    let must_check = options.compression.is_none() || file.arrays().iter().any(is_looked_at);
    let damage = if must_check { damage(job)? } else { None };
    if options.compression.is_some() || damage.is_some() {
        check_digests(file, &job.read)?;
    }
    if let Some(error) = damage {
        return Err(error);
    }
    options.write = super::options(job)?;
    options.padding = Some(options.write.padding);
    if job.options.get(CHECKSUM).is_some() {
        options.digests = Some(options.write.checksums);
    }
    options.codecs = file.options().codecs.clone();
    (options.limits, options.yaml) = (job.options.limits, file.options().yaml);
    let done = match in_one(file, job, &options)? {
        Some(whole) => rewrite::rewrite(&whole, &options, out)?,
        None => rewrite::rewrite(file.source(), &options, out)?,
    };
    let mut losses = Vec::new();
    let mut lose = |what: String| losses.push(Loss { dataset: None, what });
    if !done.dropped.is_empty() {
        lose(format!("{} blocks that no array names", done.dropped.len()));
    }
    if done.gaps > 0 {
        lose(format!("{} bytes outside every known structure", done.gaps));
    }
    Ok(losses)
}

/// Returns the first damage that a check finds.
fn damage(job: &WriteRequest<'_>) -> Result<Option<Error>> {
    let report = job.container.check(CheckDepth::Full, &job.read, Progress::none())?;
    let damage = report.findings.into_iter().find(|finding| finding.severity == Severity::Error);
    Ok(damage.map(|damage| {
        let error = damage.range.into_iter().fold(Error::malformed(damage.message), Error::with_range);
        damage.part.into_iter().fold(error, Error::in_file).with_hint("holdall repair FILE -o NEW")
    }))
}

/// The file with its external blocks added to its own, in a file without a name: the names of external files are relative to its folder. `None` where
/// it has all blocks itself.
fn in_one(file: &File, job: &WriteRequest<'_>, options: &RewriteOptions) -> Result<Option<FileSource>> {
    let mut any = false;
    for entry in file.arrays().iter().filter(|entry| file.is_external(&entry.array)) {
        let ByteSource::External(uri) = &entry.array.source else { continue };
        check_digests(file.external(uri)?, &job.read).map_err(|error| error.in_file(uri.clone()))?;
        any = true;
    }
    if !any {
        return Ok(None);
    }
    let mut whole = tempfile::tempfile()?;
    explode::implode(file, &options.write, &mut Pipe(&mut whole))?;
    FileSource::new(whole).map(Some)
}
