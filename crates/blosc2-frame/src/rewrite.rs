//! All of a frame into a new one: chunk by chunk, as it is or encoded otherwise, with its metalayers and user metadata.

use blosc_chunk::{BloscVersion, Params, Special};
use container_core::container::Digests;
use container_core::format::{Output, WriteRequest};
use container_core::report::{Loss, Severity};
use container_core::source::try_zeroed_vec;
use container_core::{Error, Result};

use crate::frame::Frame;
use crate::header::ChunkSize;
use crate::import::options::{self, BLOCKS, CHUNKS};
use crate::import::user_metadata;
use crate::offsets::Offset;
use crate::options::FrameOptions;
use crate::verified_reads;
use crate::writer::Writer;

/// Returns the encoding for further chunks of a frame, by its header.
pub(crate) fn params(frame: &Frame) -> Params {
    let header = frame.header();
    let blocksize = usize::try_from(header.blocksize).ok().filter(|len| *len > 0);
    Params {
        blosc_version: BloscVersion::Blosc2,
        compressor: header.compressor,
        level: header.level.min(9),
        typesize: usize::try_from(header.typesize).unwrap_or(1).max(1),
        filters: header.filters,
        split: header.split,
        blocksize: blocksize.filter(|_| !header.variable_blocks),
        dictionary: header.use_dictionary,
        threads: 1,
        codec_meta: header.codec_meta,
    }
}

/// Writes all of `frame` anew, without dead space and without the bytes after the frame. Without options for the encoding, chunks are
/// copied byte for byte, each after it has been decoded.
pub(crate) fn rewrite(frame: &Frame, job: &WriteRequest<'_>, out: &mut dyn Output) -> Result<Vec<Loss>> {
    // Recovering a damaged frame is left to repair.
    if let Some(fault) = frame.layout().faults().iter().find(|fault| fault.severity() == Severity::Error) {
        return Err(fault.error());
    }
    let header = frame.header();
    let is_variable = header.chunksize == ChunkSize::Variable || header.variable_blocks;
    let mut losses = losses_of(frame);
    let mut options = FrameOptions::default();
    let as_they_are = !options::is_other_encoding(job.options);
    if as_they_are && !options::is_other_partition(job.options) {
        options.params = params(frame);
    } else {
        let dtype = job.container.dataset(0).filter(|_| !is_variable).map(|dataset| dataset.dtype.clone());
        options.params = options::apply_to_copy(params(frame), job.options, dtype.as_ref())?;
        losses.extend(options::lossy(&options.params).map(|what| Loss { dataset: None, what }));
    }
    options.params.threads = job.read.threads.max(1);
    options.metalayers = frame.metalayers().clone();
    options.variable_chunks = is_variable;
    options.checksums = verified_reads::target_checksum(job.options, Some(frame))?;
    if let ChunkSize::Fixed(len) = header.chunksize {
        options.chunksize = Some(len);
    }
    let plan = Plan::new(frame, &mut options, job, is_variable)?;
    let mut writer = Writer::new(out, options)?;
    for (name, value) in user_metadata(frame)? {
        if let Err(error) = writer.set_vlmetalayer(&name, &value) {
            losses.push(Loss { dataset: None, what: format!("user metadata {name:?}: {}", error.kind()) });
        }
    }
    match plan {
        Plan::Chunks { as_they_are } => chunks(frame, job, &mut writer, as_they_are)?,
        Plan::Runs { len } => runs(frame, job, &mut writer, len)?,
    }
    writer.finish()?;
    Ok(losses)
}

/// Lists the losses of any copy.
fn losses_of(frame: &Frame) -> Vec<Loss> {
    let layout = frame.layout();
    let mut losses = Vec::new();
    let behind = layout.file_len().saturating_sub(layout.end());
    if behind > 0 {
        losses.push(Loss { dataset: None, what: format!("{behind} bytes after the frame") });
    }
    if layout.trailer().fingerprint.kind != 0 {
        losses.push(Loss { dataset: None, what: "the fingerprint, which would no longer fit".to_owned() });
    }
    losses
}

/// Method of copying the data.
enum Plan {
    /// Each chunk by itself.
    Chunks { as_they_are: bool },
    /// In chunks of so many bytes.
    Runs { len: usize },
}

impl Plan {
    fn new(
        frame: &Frame,
        options: &mut FrameOptions,
        job: &WriteRequest<'_>,
        is_variable: bool,
    ) -> Result<Self> {
        let as_they_are = !options::is_other_encoding(job.options);
        if !options::is_other_partition(job.options) {
            return Ok(Self::Chunks { as_they_are });
        }
        if is_variable {
            return Err(Error::usage("chunks and blocks cannot be set for chunks of different lengths"));
        }
        let itemsize = usize::try_from(frame.header().typesize).unwrap_or(1).max(1);
        let bytes = |name: &str| -> Result<Option<usize>> {
            // A super-chunk has one axis, of elements.
            let lens = options::shape(job.options, name, &[u64::MAX])?;
            let len = lens.and_then(|lens| lens.first().copied());
            Ok(len.map(|len| usize::try_from(len).unwrap_or(usize::MAX).saturating_mul(itemsize)))
        };
        let own = match frame.header().chunksize {
            ChunkSize::Fixed(len) => usize::try_from(len).unwrap_or(usize::MAX),
            _ => itemsize,
        };
        let len = bytes(CHUNKS)?.unwrap_or(own);
        options.chunksize =
            Some(u32::try_from(len).map_err(|_| Error::usage(format!("chunks of {len} bytes")))?);
        // The block size of other chunks does not apply.
        options.params.blocksize = bytes(BLOCKS)?;
        Ok(Self::Runs { len })
    }
}

fn chunks(frame: &Frame, job: &WriteRequest<'_>, writer: &mut Writer<'_>, as_they_are: bool) -> Result<()> {
    let total = frame.header().nbytes;
    let is_variable = frame.header().chunksize == ChunkSize::Variable;
    let (mut index, mut done) = (0, 0_u64);
    let mut room: Vec<u8> = Vec::new();
    while index < frame.chunk_count() {
        let len = frame.chunk_len(index)?;
        if let (Some(Offset::Special(special)), false) = (frame.layout().offsets().get(index), is_variable) {
            let count = same_from(frame, index, special, len);
            let nbytes =
                u32::try_from(len).map_err(|_| Error::malformed(format!("a chunk of {len} bytes")))?;
            writer.append_specials(special, nbytes, count)?;
            index += count;
            done = done.saturating_add(len.saturating_mul(count));
        } else {
            let size = job.read.limits.allocate(len)?;
            if room.len() < size {
                room = try_zeroed_vec(len, &job.read.limits)?;
            }
            let bytes = &mut room[..size];
            // Also where it is copied: damage is not to be passed on.
            frame.read_chunk_into(index, 0..size, bytes, &job.read)?;
            copy(frame, index, bytes, writer, as_they_are, job.read.digests)?;
            index += 1;
            done = done.saturating_add(len);
        }
        job.progress.tick(done.min(total), total)?;
    }
    Ok(())
}

/// Returns the number of equal chunks from `index` on that are not stored.
fn same_from(frame: &Frame, index: u64, special: Special, len: u64) -> u64 {
    let offsets = frame.layout().offsets();
    let is_same = |at: &u64| {
        offsets.get(*at) == Some(Offset::Special(special))
            && frame.chunk_len(*at).is_ok_and(|other| other == len)
    };
    if let crate::offsets::Offsets::Same(_, count) = offsets {
        // The last one may be shorter.
        let last = count.saturating_sub(1);
        return if index < last { last - index } else { 1 };
    }
    (index..frame.chunk_count()).take_while(is_same).count() as u64
}

/// Writes the chunk `index`, which decodes to `bytes`; as it is stored if `as_they_are`.
fn copy(
    frame: &Frame,
    index: u64,
    bytes: &[u8],
    writer: &mut Writer<'_>,
    as_they_are: bool,
    digests: Digests,
) -> Result<()> {
    let header = frame.chunk_header(index)?;
    let is_stored = matches!(frame.layout().offsets().get(index), Some(Offset::Stored(_)));
    let stored =
        if is_stored { Some(frame.chunk_by(index, digests, frame.options().limits.stop)?) } else { None };
    if let Some(stored) = &stored {
        // Overwriting zeros may turn a block into one of zeros, which decodes.
        let checked = blosc_chunk::Chunk::parse(stored).and_then(|chunk| chunk.check_zeros());
        checked.map_err(|error| {
            error.with_context(format!("chunk {index}")).with_hint("holdall repair FILE -o NEW")
        })?;
        if as_they_are && header.extended {
            return writer.append_chunk(stored);
        }
    }
    if header.has_variable_blocks() {
        let stored = frame.chunk_by(index, digests, frame.options().limits.stop)?;
        let chunk = blosc_chunk::Chunk::parse(&stored)?;
        let blocks: Vec<&[u8]> = chunk.blocks().filter_map(|range| bytes.get(range)).collect();
        return writer.append_blocks(&blocks);
    }
    writer.append(bytes)
}

/// Writes all bytes, in chunks of `len`.
fn runs(frame: &Frame, job: &WriteRequest<'_>, writer: &mut Writer<'_>, len: usize) -> Result<()> {
    let total = frame.header().nbytes;
    let mut room: Vec<u8> = try_zeroed_vec((len as u64).min(total), &job.read.limits)?;
    let mut at = 0_u64;
    while at < total {
        let here = total.saturating_sub(at).min(room.len() as u64);
        let end = at.saturating_add(here);
        let bytes = &mut room[..usize::try_from(here).unwrap_or(0)];
        frame.read_into(at..end, bytes, &job.read)?;
        writer.append(bytes)?;
        at = end;
        job.progress.tick(at, total)?;
    }
    Ok(())
}
