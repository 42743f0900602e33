//! Writing items of any length, for the table of formats: each a chunk of its own.

use container_core::dtype::DType;
use container_core::format::{Output, Pack};
use container_core::{Result, Value};

use crate::import::options::{self, CHECKSUM, DICTIONARY, FILTER, SPLIT};
use crate::items::{Items, LAYER};
use crate::msgpack;
use crate::options::{FrameOptions, default_params};
use crate::verified_reads;
use crate::writer::Writer;

/// Writes a frame of chunks of different lengths, which python-blosc2 4 opens as a super-chunk. What the items are is in the user metadata
/// `holdall.items`.
///
/// # Errors
/// `Usage` for options that Blosc2 does not have; those of the items; `Io`, `Cancelled`.
pub(crate) fn pack(job: Pack<'_>, out: &mut dyn Output) -> Result<()> {
    job.options.check_options("Blosc2", &[FILTER, CHECKSUM, SPLIT, DICTIONARY])?;
    let mut options = FrameOptions::default();
    let itemsize = job.dtype.map_or(1, DType::itemsize);
    let mut params = default_params(itemsize);
    if itemsize == 1 {
        // Bytes have no planes to shuffle.
        params.filters = blosc_chunk::Pipeline::none();
    }
    options.params = options::apply(params, job.options)?;
    options.variable_chunks = true;
    options.checksums = verified_reads::target_checksum(job.options, None)?;
    let mut items = Items::of_kind(job.kind, job.dtype)?;
    items.names = job.names.map(<[String]>::to_vec);
    items.others = job.others.to_vec();
    let mut writer = Writer::new(out, options)?;
    writer.set_vlmetalayer(LAYER, &items.encode()?)?;
    if let Some(Value::Map(entries)) = &job.options.metadata {
        for (name, value) in entries {
            writer.set_vlmetalayer(name, &msgpack::from_interchange(value)?)?;
        }
    }
    let Pack { items, count, progress, .. } = job;
    for (done, item) in (1..).zip(items) {
        writer.append(&item?)?;
        progress.tick(done, count.unwrap_or(0))?;
    }
    writer.finish()
}
