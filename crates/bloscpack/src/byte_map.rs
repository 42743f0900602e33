//! The physical map of a file.

use container_core::container::Segment;

use crate::check::{DATASET, item_path};
use crate::chunk_table::ChunkState;
use crate::file::File;
use crate::header::Dialect;

/// Returns the purpose of every byte, from the first to the last.
pub(crate) fn segments(file: &File) -> Vec<Segment> {
    let mut parts = header_parts(file.header().dialect);
    let layout = file.layout();
    if let Some(metadata) = layout.metadata() {
        let (payload, digest) = (metadata.payload.clone(), metadata.digest.clone());
        let codec = metadata.header.filter(|header| header.meta_codec == 1).map(|_| "zlib".to_owned());
        let checksum =
            metadata.header.map(|header| header.meta_checksum).filter(|code| code.digest_len() > 0);
        parts.push(Segment::plain(metadata.range.start..payload.start, "metadata header"));
        parts.push(Segment {
            stored: Some(payload.end - payload.start),
            decoded: metadata.json.as_ref().map(|json| json.len() as u64),
            codec,
            checksum: checksum.map(|code| code.name().to_owned()),
            ..Segment::plain(payload.clone(), "metadata")
        });
        parts.push(Segment::plain(payload.end..digest.start, "metadata padding"));
        parts.push(Segment::plain(digest, "metadata digest"));
    }
    let (table, used) = (layout.offsets(), layout.used_offsets());
    parts.push(Segment::plain(used.clone(), "offsets"));
    parts.push(Segment::plain(used.end..table.end, "spare offsets"));
    parts.extend(chunk_parts(file));
    let trailing = layout.trailing();
    parts.push(Segment::plain(trailing, "trailing"));
    Segment::tile(parts, layout.file_len(), "unused")
}

fn header_parts(dialect: Dialect) -> Vec<Segment> {
    let fields: &[(u64, &str)] = match dialect {
        Dialect::P0 => &[(4, "magic"), (8, "nchunks")],
        Dialect::V1 => &[(4, "magic"), (5, "version"), (8, "reserved"), (16, "nchunks")],
        _ => &[
            (4, "magic"),
            (5, "version"),
            (6, "options"),
            (7, "checksum"),
            (8, "typesize"),
            (12, "chunk-size"),
            (16, "last-chunk"),
            (24, "nchunks"),
        ],
    };
    let rest: &[(u64, &str)] = match dialect {
        Dialect::P0 | Dialect::V1 => &[],
        Dialect::V2 => &[(32, "reserved")],
        Dialect::V3 => &[(32, "max-app-chunks")],
        Dialect::V3Interim | Dialect::Vl | Dialect::VlAsV3 => &[(28, "meta-size"), (32, "reserved")],
    };
    let ends = fields.iter().chain(rest);
    let starts = [0].into_iter().chain(ends.clone().map(|(end, _)| *end));
    starts.zip(ends).map(|(start, (end, role))| Segment::plain(start..*end, role)).collect()
}

fn chunk_parts(file: &File) -> impl Iterator<Item = Segment> + '_ {
    let (variable, checksum) = (file.header().dialect.is_variable_length(), file.header().checksum);
    let digest_len = file.header().digest_len();
    file.chunks().iter().enumerate().filter(|(_, chunk)| chunk.state() != ChunkState::Missing).flat_map(
        move |(index, chunk)| {
            let range = chunk.range();
            let digest = range.end..range.end.saturating_add(digest_len);
            let dataset = if variable { item_path(index as u64) } else { DATASET.to_owned() };
            let whole = chunk.state() == ChunkState::Whole;
            [
                Segment {
                    codec: whole.then(|| chunk.codec().to_owned()),
                    stored: Some(range.end - range.start),
                    decoded: whole.then(|| chunk.nbytes().into()),
                    checksum: (digest_len > 0).then(|| checksum.name().to_owned()),
                    dataset: Some(dataset.clone()),
                    ..Segment::plain(range, "chunk")
                },
                Segment { dataset: Some(dataset), ..Segment::plain(digest, "digest") },
            ]
        },
    )
}
