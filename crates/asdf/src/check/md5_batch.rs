//! MD5 of several plain blocks at once: a core that computes a single MD5 is idle most of the time.

use container_codecs::checksum::Md5Lanes;
use container_core::Result;
use container_core::block::Block;
use container_core::checksum::Digest;
use container_core::source::{Source, check_range};

use crate::layout::StoredBlock;

/// Bytes of each block that are taken at a time: those of sixteen lanes stay in the second-level cache.
const LANE_PIECE_LEN: usize = 16 << 10;

/// Groups blocks that are digested together, longest first. A group has at most one block for each MD5 lane, of similar lengths, and fewer where
/// threads would be idle. Blocks that gain nothing from it are groups of one.
pub(super) fn groups(mut blocks: Vec<&StoredBlock>, threads: usize) -> Vec<Vec<&StoredBlock>> {
    blocks.sort_by_key(|block| std::cmp::Reverse(len(block)));
    let least = Md5Lanes::least();
    let size = blocks.len().div_ceil(threads.max(1)).clamp(least, Md5Lanes::width());
    let mut groups: Vec<Vec<&StoredBlock>> = Vec::new();
    for block in blocks {
        match groups.last_mut() {
            // The rest of the longest after the others have ended is digested by fewer lanes.
            Some(group)
                if group.len() < size && group.first().is_some_and(|first| len(first) / 2 <= len(block)) =>
            {
                group.push(block);
            }
            _ => groups.push(vec![block]),
        }
    }
    let (together, alone): (Vec<_>, Vec<_>) = groups.into_iter().partition(|group| group.len() >= least);
    together.into_iter().chain(alone.into_iter().flatten().map(|block| vec![block])).collect()
}

/// The digests of the stored bytes of blocks. `tick` gets the number of bytes after each piece.
pub(super) fn digests(
    source: &dyn Source,
    group: &[&StoredBlock],
    mut tick: impl FnMut(u64) -> Result<()>,
) -> Result<Vec<Digest>> {
    for block in group {
        check_range(&block.range(), source.len())?;
    }
    let longest = group.iter().map(|block| len(block)).max().unwrap_or(0);
    let most = usize::try_from(longest).unwrap_or(LANE_PIECE_LEN).clamp(1, LANE_PIECE_LEN);
    let mut room = vec![0; most.saturating_mul(group.len())];
    let mut lanes = Md5Lanes::new(group.len());
    let mut at = 0;
    while at < longest {
        let mut pieces: Vec<&[u8]> = Vec::with_capacity(group.len());
        let mut passed = 0;
        for (block, room) in group.iter().zip(room.chunks_exact_mut(most)) {
            let left = usize::try_from(len(block).saturating_sub(at)).unwrap_or(most).min(most);
            let piece = room.get_mut(..left).unwrap_or_default();
            // A block that has ended may have the end of the file less than `at` after its start.
            if left > 0 {
                source.read_into(block.data.start.saturating_add(at), piece)?;
            }
            passed += left as u64;
            pieces.push(piece);
        }
        lanes.update(&pieces);
        tick(passed)?;
        at = at.saturating_add(most as u64);
    }
    lanes.finish().iter().map(|digest| Digest::new(digest)).collect()
}

fn len(block: &StoredBlock) -> u64 {
    let range = block.range();
    range.end.saturating_sub(range.start)
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation)]
mod tests {
    use super::*;
    use crate::blocks::header::BlockHeader;
    use container_codecs::checksum::Algorithm;

    fn block(index: usize, data: std::ops::Range<u64>) -> StoredBlock {
        let used_size = data.end - data.start;
        let header = BlockHeader {
            header_size: 48,
            flags: 0,
            compression: [0; 4],
            allocated_size: used_size,
            used_size,
            data_size: used_size,
            checksum: [1; 16],
        };
        StoredBlock { index, at: data.start, header, end: data.end, data }
    }

    #[test]
    fn every_block_is_in_one_group_of_like_lengths() {
        let lens = [9, 8, 100, 7, 120, 6, 5, 110, 90, 80, 70, 1];
        let blocks: Vec<StoredBlock> =
            lens.iter().enumerate().map(|(index, len)| block(index, 0..*len)).collect();
        for threads in [1, 2, 16] {
            let groups = groups(blocks.iter().collect(), threads);
            let mut all: Vec<usize> = groups.iter().flatten().map(|block| block.index).collect();
            all.sort_unstable();
            assert_eq!(all, (0..lens.len()).collect::<Vec<_>>());
            for group in &groups {
                let few = Md5Lanes::least()..=Md5Lanes::width();
                assert!(group.len() == 1 || few.contains(&group.len()));
                assert!(group.iter().all(|block| len(block) >= len(group[0]) / 2));
            }
        }
        let long: Vec<&StoredBlock> = blocks.iter().filter(|block| len(block) > 80).collect();
        assert_eq!(groups(long, 1).len(), 1);
        // Each thread gets some, as far as lanes allow.
        let alike: Vec<StoredBlock> = (0..64).map(|index| block(index, 0..100)).collect();
        for threads in [1, 2, 3, 16, 100] {
            let groups = groups(alike.iter().collect(), threads);
            assert!(groups.len() >= threads.min(64 / Md5Lanes::least()), "{threads}");
        }
        assert!(groups(Vec::new(), 2).is_empty());
    }

    #[test]
    fn digests_are_those_of_each_block_alone() {
        let bytes: Vec<u8> = (0..700_000_u32).map(|at| (at.wrapping_mul(at) >> 7).to_le_bytes()[0]).collect();
        let ranges = [
            0..0,
            0..1,
            3..16 * 1024 + 3,
            3..64 * 1024 + 3,
            5..200_000,
            7..131_079,
            100..700_000,
            9..73,
            1..900,
            2..2,
            650_000..700_000,
            690_000..700_000,
        ];
        let blocks: Vec<StoredBlock> =
            ranges.into_iter().enumerate().map(|(at, range)| block(at, range)).collect();
        let blocks: Vec<&StoredBlock> = blocks.iter().collect();
        for group in (1..=blocks.len()).flat_map(|count| blocks.chunks(count)) {
            let mut passed = 0;
            let digests = digests(&&bytes[..], group, |bytes| {
                passed += bytes;
                Ok(())
            });
            let alone = group.iter().map(|block| {
                let range =
                    usize::try_from(block.data.start).unwrap()..usize::try_from(block.data.end).unwrap();
                Algorithm::Md5.digest(&bytes[range])
            });
            assert_eq!(digests.unwrap(), alone.collect::<Vec<_>>());
            assert_eq!(passed, group.iter().map(|block| len(block)).sum::<u64>());
        }
    }
}
