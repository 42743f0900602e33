//! Plans the contents of each block of the new file: copied, copied under a corrected header, or cut to what can be decoded.

use std::ops::Range;

use container_core::codec::Encoded;
use container_core::container::StaleChecksums;
use container_core::report::{Evidence, RepairItem, RepairReport};
use container_core::source::try_zeroed_vec;
use container_core::{Progress, Result};

use super::arrays::ShortBlock;
use super::encoded_block::{
    DecodedSize, Tools, checksum_status, compare_decoded_size, decodable_len, decodes_at, is_external_codec,
    is_limit, recover_label, used_size_from_checksum, with_data_size, without_streamed_flag,
};
use super::find_blocks::Extent;
use crate::blocks::header::{BlockHeader, MIN_LEN, MIN_SIZE};
use crate::check::block_recovery::{RecoveredBlock, Support};
use crate::compression;
use crate::compression::salvage::{self, Hole, Salvaged};
use crate::digest::{self, ChecksumStatus};
use crate::layout::StoredBlock;

/// A block of the new file.
pub(super) struct PlannedBlock {
    /// The block in the damaged file.
    pub(super) block: StoredBlock,
    /// The bytes to write.
    pub(super) body: BlockBody,
}

impl PlannedBlock {
    /// Decoded bytes of what is written.
    pub(super) fn data_size(&self) -> u64 {
        let header = match &self.body {
            BlockBody::Same if self.block.header.is_streamed() => return self.block.data_size(),
            BlockBody::Same => &self.block.header,
            BlockBody::Header(header) | BlockBody::First(header, _) | BlockBody::Bytes(header, _) => header,
        };
        if header.is_streamed() { self.block.data.end - self.block.data.start } else { header.data_size }
    }
}

/// The bytes to write for a block.
pub(super) enum BlockBody {
    /// Every byte from its magic to the end of what is set aside.
    Same,
    /// Another header, and the rest as it is.
    Header(BlockHeader),
    /// Another header, and of the stored data the first bytes.
    First(BlockHeader, u64),
    /// Another header, and these data.
    Bytes(BlockHeader, Vec<u8>),
}

/// Number of blocks that the tree and the index expect.
pub(super) struct ExpectedBlocks {
    /// Number of blocks that arrays name beyond the existing ones.
    pub(super) missing: usize,
    /// Number of blocks that arrays name; all, where an array counts from the end or where not all arrays are known.
    pub(super) named: usize,
    /// Whether the index lists just those that there are.
    pub(super) is_listed: bool,
}

impl ExpectedBlocks {
    /// Whether something is lost with bytes behind so many blocks: one that was there would be missed, or those behind it had other numbers.
    const fn is_loss(&self, before: usize) -> bool {
        self.missing > 0 || (!self.is_listed && before < self.named)
    }
}

/// The blocks of the new file, and those with fewer bytes than they said.
pub(super) fn plan(
    found: Vec<Extent>,
    expected: &ExpectedBlocks,
    tools: &Tools<'_>,
    report: &mut RepairReport,
    progress: Progress<'_>,
) -> Result<(Vec<PlannedBlock>, Vec<ShortBlock>)> {
    let total = tools.source.len();
    let gaps = found.iter().filter(|found| matches!(found, Extent::Gap(_))).count();
    let (mut parts, mut short) = (Vec::with_capacity(found.len()), Vec::new());
    for found in found {
        let index = parts.len();
        match found {
            Extent::Block(recovered) => {
                let end = recovered.block.end;
                parts.push(plan_intact_block(recovered, index, tools, &mut short, report)?);
                progress.tick(end.min(total), total)?;
            }
            Extent::Truncated(recovered) => {
                parts.push(plan_truncated_block(recovered.block, index, tools, &mut short, report)?);
            }
            Extent::Lost(range) => {
                let what = format!("block {index}: listed in the block index, but unreadable");
                report.lost.push(RepairItem::new(range.clone(), what));
                short.push(ShortBlock::new(index, 0, range.clone()));
                parts.push(lost_block(range));
            }
            Extent::Gap(range) => {
                let what = format!("{} bytes outside every block", range.end - range.start);
                if !expected.is_loss(index) {
                    let item = RepairItem::new(range, format!("{what}: left out"));
                    report.guessed.push(item.with_evidence(Evidence::Walk));
                    continue;
                }
                report.lost.push(RepairItem::new(range.clone(), what));
                // Arrays name more blocks than there are, and there is one place for those that are missing.
                let room = usize::try_from((range.end - range.start) / MIN_LEN).unwrap_or(usize::MAX);
                for _ in 0..if gaps == 1 { expected.missing.min(room) } else { 0 } {
                    let index = parts.len();
                    let what =
                        format!("block {index} was here: the arrays reference more blocks than were found");
                    report.guessed.push(RepairItem::new(range.clone(), what).with_evidence(Evidence::Index));
                    short.push(ShortBlock::new(index, 0, range.clone()));
                    parts.push(lost_block(range.clone()));
                }
            }
        }
    }
    Ok((parts, short))
}

/// A block whose bytes are all there.
fn plan_intact_block(
    recovered: RecoveredBlock,
    index: usize,
    tools: &Tools<'_>,
    short: &mut Vec<ShortBlock>,
    report: &mut RepairReport,
) -> Result<PlannedBlock> {
    let (mut block, state, is_changed) = recover_fields(recovered, index, tools, report)?;
    let range = block.at..block.end;
    let header = block.header;
    let same = |block: StoredBlock| PlannedBlock {
        body: if is_changed { BlockBody::Header(block.header) } else { BlockBody::Same },
        block,
    };
    if header.is_streamed() && header.is_compressed() {
        let what = format!("block {index}: streamed with a codec, which readers refuse; left unchanged");
        report.lost.push(RepairItem::new(range, what));
        return Ok(same(block));
    }
    if header.is_streamed() {
        report.kept.push(RepairItem::new(range, format!("block {index}, streamed")));
        return Ok(same(block));
    }
    let fits = matches!(state, ChecksumStatus::Stored | ChecksumStatus::Absent);
    let len = if header.is_compressed() && fits {
        compare_decoded_size(&block, tools)?
    } else {
        DecodedSize::Unknown
    };
    if let DecodedSize::Differs(len) = len {
        if len < header.data_size {
            // Arrays that need more are cut.
            short.push(ShortBlock::new(index, len, block.data.clone()));
        }
        block.header.data_size = len;
        let (by, evidence) = match state {
            ChecksumStatus::Stored => ("match their digest", Evidence::Digest),
            _ => ("have no digest", Evidence::SecondCopy),
        };
        let what = format!("block {index}: data_size corrected: its bytes, which {by}, decode to {len}");
        report.guessed.push(RepairItem::new(range.clone(), what).with_evidence(evidence));
        report.kept.push(RepairItem::new(range, format!("block {index}")));
        return Ok(PlannedBlock { body: BlockBody::Header(block.header), block });
    }
    let must_decode = header.is_compressed() && len != DecodedSize::Matches;
    let mut is_unknown = false;
    if must_decode && matches!(state, ChecksumStatus::Absent | ChecksumStatus::Bad { .. }) {
        let decoded = digest::decoded(tools.source, &block, tools.codecs, tools.limits, 1);
        match decoded.map(drop) {
            Ok(()) => {}
            Err(error) if error.is_damage() => {
                let what = format!("block {index}: its data cannot be decoded: {}", error.kind());
                report.lost.push(RepairItem::new(block.data.clone(), what));
                return salvage_block(block, true, tools, short, report);
            }
            // A codec that is not known here: nothing can be said of it, and the block is copied. What its digest says is told below.
            Err(error) if matches!(error.kind(), container_core::ErrorKind::Unsupported(_)) => {
                let what = format!("block {index} copied as it is: {}", error.kind());
                if state == ChecksumStatus::Absent || is_external_codec(&block) {
                    let list = if block.has_name() { &mut report.kept } else { &mut report.lost };
                    list.push(RepairItem::new(range, what));
                    return Ok(same(block));
                }
                report.lost.push(RepairItem::new(block.data.clone(), what));
                is_unknown = true;
            }
            // More than memory holds, and less is there.
            Err(error) if is_limit(&error) && !decodes_at(&block, header.data_size, tools)? => {
                let what = format!("block {index}: its data cannot be decoded to {} bytes", header.data_size);
                report.lost.push(RepairItem::new(block.data.clone(), what));
                block.header.data_size = 0;
                short.push(ShortBlock::new(index, 0, block.data.clone()));
                return Ok(PlannedBlock {
                    body: BlockBody::Bytes(with_sizes(block.header, 0), Vec::new()),
                    block,
                });
            }
            Err(error) => return Err(error),
        }
    }
    if must_decode && state == ChecksumStatus::Stored {
        // These are the bytes that were written, so there is nothing to heal: their writer made a mistake, or knows what we do not.
        let decoded = digest::decoded(tools.source, &block, tools.codecs, tools.limits, 1);
        let problem = match decoded.map(drop) {
            Ok(()) => None,
            Err(error) if error.is_damage() => Some(error),
            Err(error) if is_limit(&error) => {
                if decodes_at(&block, header.data_size, tools)? {
                    None
                } else {
                    Some(error)
                }
            }
            Err(error) if matches!(error.kind(), container_core::ErrorKind::Unsupported(_)) => {
                let what = format!("block {index} copied as it is: {}", error.kind());
                // What is no name was one.
                let list = if block.has_name() { &mut report.kept } else { &mut report.lost };
                list.push(RepairItem::new(range, what));
                return Ok(same(block));
            }
            Err(error) => return Err(error),
        };
        if let Some(error) = problem {
            let what = format!(
                "block {index}: matches its digest but cannot be decoded, left unchanged: {}",
                error.kind()
            );
            report.lost.push(RepairItem::new(block.data.clone(), what));
            return Ok(same(block));
        }
    }
    // A new digest would speak for the wrong bytes of a block of which nothing else does.
    let renew = tools.digests == StaleChecksums::Renew && !is_unknown;
    match state {
        ChecksumStatus::Bad { computed, .. } => {
            let what = if renew {
                "its bytes do not match its digest; kept with a new digest"
            } else {
                "its bytes do not match its digest, and the damage cannot be located; both left unchanged"
            };
            report.lost.push(RepairItem::new(block.data.clone(), format!("block {index}: {what}")));
            if renew {
                return Ok(with_digest(block, computed.as_bytes()));
            }
        }
        ChecksumStatus::LegacyDecoded if renew => {
            let computed = digest::of_stored(tools.source, &block)?;
            let what = format!("block {index}, with a digest of its bytes as stored instead of decoded");
            report.kept.push(RepairItem::new(range, what));
            return Ok(with_digest(block, computed.as_bytes()));
        }
        _ => report.kept.push(RepairItem::new(range, format!("block {index}"))),
    }
    Ok(same(block))
}

/// Corrects the fields of a block's header that have evidence. Returns the block, the state of its checksum, and whether a field is another.
fn recover_fields(
    recovered: RecoveredBlock,
    index: usize,
    tools: &Tools<'_>,
    report: &mut RepairReport,
) -> Result<(StoredBlock, ChecksumStatus, bool)> {
    let evidence = recovered.evidence();
    let RecoveredBlock { mut block, support, mut changes } = recovered;
    block.index = index;
    let mut found = Vec::new();
    if block.header.is_streamed()
        && block.header.is_compressed()
        && let Some(other) = without_streamed_flag(&block, tools)?
    {
        let what = "flags corrected: a streamed block cannot have a codec".to_owned();
        found.push((what, Evidence::SecondCopy));
        block = other;
    }
    let mut state = match support {
        _ if block.header.is_streamed() => ChecksumStatus::Absent,
        Support::Digest => ChecksumStatus::Stored,
        _ => checksum_status(&block, tools)?,
    };
    if matches!(state, ChecksumStatus::Bad { .. })
        && let Some(len) = used_size_from_checksum(&block, tools)?
    {
        let what = format!("used_size corrected: its first {len} bytes match its digest");
        found.push((what, Evidence::Digest));
        block.header.used_size = len;
        block.data.end = block.data.start.saturating_add(len);
        state = ChecksumStatus::Stored;
    }
    if let Some((labelled, its_state)) = recover_label(&block, state, tools)? {
        let label = labelled.label().unwrap_or_default();
        let what = format!("compression corrected to {label:?}: its bytes decode to its data_size");
        found.push((what, Evidence::SecondCopy));
        changes.retain(|change| *change != "data_size");
        (block, state) = (labelled, its_state);
    }
    if !changes.is_empty() {
        let by = match evidence {
            Evidence::Digest => "its digest matches",
            _ => "its other fields and the bytes after it allow no other value",
        };
        found.insert(0, (format!("{} corrected: {by}", changes.join(" and ")), evidence));
    }
    let is_changed = !found.is_empty();
    let range = block.at..block.end;
    report.guessed.extend(found.into_iter().map(|(what, evidence)| {
        RepairItem::new(range.clone(), format!("block {index}: {what}")).with_evidence(evidence)
    }));
    Ok((block, state, is_changed))
}

fn with_digest(block: StoredBlock, digest: &[u8]) -> PlannedBlock {
    let mut header = block.header;
    header.checksum = digest_bytes(digest);
    PlannedBlock { block, body: BlockBody::Header(header) }
}

fn digest_bytes(digest: &[u8]) -> [u8; 16] {
    digest.try_into().unwrap_or_default()
}

/// A block within which the file ends.
fn plan_truncated_block(
    mut block: StoredBlock,
    index: usize,
    tools: &Tools<'_>,
    short: &mut Vec<ShortBlock>,
    report: &mut RepairReport,
) -> Result<PlannedBlock> {
    block.index = index;
    let claimed = block.data.start..block.data.start.saturating_add(block.header.used_size);
    let have = block.data.end - block.data.start;
    let what = format!("block {index}: the file ends after {have} of {} bytes", block.header.used_size);
    report.lost.push(RepairItem::new(claimed, what));
    if block.header.is_compressed() {
        return salvage_block(block, false, tools, short, report);
    }
    let mut header = with_sizes(block.header, have);
    if block.header.digest().is_some() {
        let mut running = BlockHeader::ALGORITHM.start();
        container_core::block::for_each_piece(tools.source, block.data.clone(), Progress::none(), |piece| {
            running.update(piece);
            Ok(())
        })?;
        header.checksum = digest_bytes(running.finish().as_bytes());
    }
    short.push(ShortBlock::new(index, have, block.data.clone()));
    Ok(PlannedBlock { block, body: BlockBody::First(header, have) })
}

/// The header of a plain block of `len` bytes, without a digest.
fn with_sizes(header: BlockHeader, len: u64) -> BlockHeader {
    let compression = [0; 4];
    let checksum = [0; 16];
    BlockHeader { allocated_size: len, used_size: len, data_size: len, compression, checksum, ..header }
}

/// Decodes the readable part of an encoded block, to be written uncompressed. `is_whole` is false where the file ends within it.
fn salvage_block(
    mut block: StoredBlock,
    is_whole: bool,
    tools: &Tools<'_>,
    short: &mut Vec<ShortBlock>,
    report: &mut RepairReport,
) -> Result<PlannedBlock> {
    let range = block.data.clone();
    let (index, had) = (block.index, block.header.digest().is_some());
    block.header.used_size = range.end - range.start;
    let size = block.header.data_size;
    let label = block.label().unwrap_or_default();
    let encoded = Encoded {
        source: tools.source,
        range: range.clone(),
        decoded_len: size,
        limits: tools.limits,
        threads: 1,
    };
    let salvaged = match size {
        0 => None,
        // More than memory holds: what there is of it may not be.
        _ => match salvage::salvage(label, &encoded, is_whole) {
            Err(error) if is_limit(&error) => None,
            salvaged => salvaged?,
        },
    };
    let is_proved = salvaged.as_ref().is_some_and(|salvaged| salvaged.is_proved);
    let (bytes, holes) = match salvaged {
        Some(Salvaged { bytes, holes, .. }) => (bytes, holes),
        None => (first_bytes(&block, tools)?, Vec::new()),
    };
    let have = bytes.len() as u64;
    for Hole { data, stored } in &holes {
        let what =
            format!("block {index}: bytes {}..{} of its data, replaced by zeros", data.start, data.end);
        report.lost.push(RepairItem::new(stored.clone(), what));
    }
    if have < size {
        let what = format!("block {index}: bytes {have}..{size} of its data");
        report.lost.push(RepairItem::new(range.clone(), what));
    }
    if have > 0 {
        let rest = if holes.is_empty() { "" } else { ", except for the lost bytes" };
        let what =
            format!("block {index}: the first {have} of {size} bytes of its data, stored uncompressed{rest}");
        report.kept.push(RepairItem::new(range.clone(), what));
        // Of a block that is merely cut, what is there is as it was.
        if is_whole && !is_proved {
            let what = format!(
                "block {index}: the decoded bytes are unverified: {label} has no checksum before its end"
            );
            report.lost.push(RepairItem::new(range.clone(), what));
        }
    }
    let mut header = with_sizes(block.header, have);
    if had {
        header.checksum = digest_bytes(BlockHeader::ALGORITHM.digest(&bytes).as_bytes());
    }
    if have < size || !holes.is_empty() {
        short.push(ShortBlock { index, have, range, holes });
    }
    Ok(PlannedBlock { block, body: BlockBody::Bytes(header, bytes) })
}

/// As many bytes from the start as can be decoded.
fn first_bytes(block: &StoredBlock, tools: &Tools<'_>) -> Result<Vec<u8>> {
    // One more than memory holds is enough to see that it does not.
    let most = block.header.data_size.min(tools.limits.memory.saturating_add(1));
    let len = decodable_len(block, most, tools)?;
    let mut bytes = try_zeroed_vec(len, tools.limits)?;
    if len > 0 {
        // Damage may make more of it than there was.
        let longer = with_data_size(block, len.saturating_add(1));
        compression::read_range(tools.source, &longer, tools.codecs, tools.limits, 1, 0..len, &mut bytes)?;
    }
    Ok(bytes)
}

/// A block without data, in the place of one that is lost, so that those behind it keep their numbers.
fn lost_block(range: Range<u64>) -> PlannedBlock {
    let header = BlockHeader {
        header_size: MIN_SIZE,
        flags: 0,
        compression: [0; 4],
        allocated_size: 0,
        used_size: 0,
        data_size: 0,
        checksum: [0; 16],
    };
    let block =
        StoredBlock { index: 0, at: range.start, header, data: range.start..range.start, end: range.end };
    PlannedBlock { block, body: BlockBody::Bytes(header, Vec::new()) }
}
