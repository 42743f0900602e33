//! The byte map of a file.

use std::collections::HashMap;

use container_core::container::Segment;

use crate::blocks::header::BlockHeader;
use crate::compression::codec_name;
use crate::layout::{Layout, StoredBlock};

/// Lists the segments of a file, which cover every byte from the first to the last. `datasets` has the path of an array for the number of its block.
pub(crate) fn segments(layout: &Layout, datasets: &HashMap<usize, String>) -> Vec<Segment> {
    let mut parts = vec![
        Segment::plain(layout.header.line.clone(), "header"),
        Segment::plain(layout.header.comments.clone(), "comments"),
        Segment::plain(layout.before_tree.clone(), "padding"),
        Segment::plain(layout.tree.clone().unwrap_or(0..0), "tree"),
        Segment::plain(layout.padding.clone(), "padding"),
        Segment::plain(layout.index.clone().unwrap_or(0..0), "index"),
        Segment::plain(layout.trailing.clone(), "trailing"),
    ];
    parts.extend(layout.gaps.iter().map(|gap| Segment::plain(gap.range.clone(), "gap")));
    for block in &layout.blocks {
        parts.extend(block_parts(block, datasets.get(&block.index)));
    }
    Segment::tile(parts, layout.size, "unknown")
}

/// True of a block whose digest covers bytes of the file: not of a streamed block, whose range is unknown, nor of one that the file ends before.
pub(crate) fn has_digest(block: &StoredBlock) -> bool {
    block.header.digest().is_some() && !block.header.is_streamed() && !block.data.is_empty()
}

fn block_parts(block: &StoredBlock, dataset: Option<&String>) -> [Segment; 3] {
    let data = block.data.clone();
    let of_dataset = |range, role| Segment { dataset: dataset.cloned(), ..Segment::plain(range, role) };
    [
        of_dataset(block.at..data.start, "block header"),
        Segment {
            codec: Some(codec_name(block.label()).to_owned()),
            stored: Some(data.end.saturating_sub(data.start)),
            decoded: Some(block.data_size()),
            checksum: has_digest(block).then(|| BlockHeader::ALGORITHM.name().to_owned()),
            ..of_dataset(data.clone(), "data")
        },
        of_dataset(data.end..block.end.max(data.end), "allocated"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use container_core::Limits;

    fn file() -> Vec<u8> {
        let mut bytes = b"#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n%YAML 1.1\n---\na: 1\n...\n\0\0".to_vec();
        let header = BlockHeader {
            header_size: 50,
            flags: 0,
            compression: *b"zlib",
            allocated_size: 8,
            used_size: 5,
            data_size: 100,
            checksum: [7; 16],
        };
        bytes.extend_from_slice(&header.to_bytes());
        bytes.extend_from_slice(&[0; 2]);
        bytes.extend_from_slice(&[1; 8]);
        bytes.extend_from_slice(b"junk");
        bytes
    }

    #[test]
    fn the_map_has_every_byte_once() {
        let bytes = file();
        let layout = Layout::parse(&&bytes[..], &Limits::default()).unwrap();
        let map = segments(&layout, &HashMap::from([(0, "a".to_owned())]));
        let mut at = 0;
        for segment in &map {
            assert_eq!(segment.range.start, at);
            at = segment.range.end;
        }
        assert_eq!(at, bytes.len() as u64);
        let roles: Vec<&str> = map.iter().map(|segment| segment.role.as_str()).collect();
        assert_eq!(
            roles,
            ["header", "comments", "tree", "padding", "block header", "data", "allocated", "trailing"]
        );
        let data = &map[5];
        assert_eq!((data.codec.as_deref(), data.checksum.as_deref()), (Some("zlib"), Some("md5")));
        assert_eq!((data.stored, data.decoded, data.dataset.as_deref()), (Some(5), Some(100), Some("a")));
    }
}
