//! Damage to header, index, namelist and length.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::build::*;
use crate::header::Version;
use crate::repair::RepairOptions;
use crate::{ChunkType, File, OpenOptions};
use container_core::dtype::ByteOrder;
use container_core::report::Evidence;

#[test]
fn an_undamaged_file_is_kept_whole() {
    let v1 = Version::new(1, 0);
    let both = [ByteOrder::Little, ByteOrder::Big];
    let versions = [Version::new(0, 3), v1, Version::new(2, 0), Version::new(2, 1)];
    for (version, order) in versions.into_iter().flat_map(|version| both.map(|order| (version, order))) {
        for count in [0_u64, 1, 2, 50, 100] {
            let mut builder = Builder::new("hoomd", version, order);
            for frame in 0..count {
                builder.hoomd_frame(10 * frame, 5);
                if frame % 7 == 3 {
                    builder.flush();
                }
            }
            builder.flush();
            let (new, report) = repaired(&builder.file).unwrap();
            assert_eq!(new, frames(&builder.file).unwrap(), "{version} {order:?} {count}");
            assert!(
                report.guessed.is_empty() && report.lost.is_empty(),
                "{version} {order:?} {count} {report:?}"
            );
        }
    }
}

#[test]
fn frames_may_have_fewer_chunks_than_others() {
    let mut builder = Builder::new("none", Version::new(2, 1), ByteOrder::Little);
    for frame in 0..20_u64 {
        builder.chunk("a", ChunkType::Uint64, 1, 1, &frame.to_le_bytes());
        if frame % 3 == 0 {
            builder.chunk("b", ChunkType::Float, 2, 3, &[1; 24]);
        }
        builder.end_frame();
        if frame % 4 == 0 {
            builder.end_frame();
        }
    }
    builder.flush();
    let (new, report) = repaired(&builder.file).unwrap();
    assert_eq!(new, frames(&builder.file).unwrap());
    assert!(report.guessed.is_empty() && report.lost.is_empty(), "{report:?}");
}

/// Places to cut a file at: every seventh byte, and those about the ends of blocks, entries, names and chunks.
fn cuts(builder: &Builder) -> BTreeSet<usize> {
    let file = File::from_source(Box::new(builder.file.clone()), &OpenOptions::default()).unwrap();
    let header = file.header();
    let (index, names) = (header.index_range().unwrap(), header.namelist_range().unwrap());
    let mut bounds = vec![0, 8, 256, index.start, index.end, names.start, names.end, file.source().len()];
    // Of many entries those of the first frames, and of the last.
    let count = file.index().len();
    for (at, entry) in file.index().iter().enumerate().filter(|(at, _)| *at < 12 || *at + 12 > count) {
        let (slot, chunk) = (index.start + 32 * at as u64, entry.byte_range().unwrap());
        bounds.extend([slot + 16, slot + 32, chunk.start, chunk.end]);
    }
    let mut at = names.start;
    for name in file.names().iter() {
        at += name.len() as u64 + 1;
        bounds.push(at);
    }
    let len = builder.file.len();
    let about = bounds.into_iter().flat_map(|bound| {
        let bound = bound as usize;
        bound.saturating_sub(1)..bound + 2
    });
    let stride = if len > 10_000 { 61 } else { 7 };
    about.chain((0..len).step_by(stride)).filter(|cut| *cut < len).collect()
}

#[test]
fn a_file_cut_anywhere_gives_its_first_frames() {
    for (count, every) in [(6, 6), (6, 1), (50, 9)] {
        let (builder, whole) = sample(count, 4, every);
        for cut in cuts(&builder) {
            let file = &builder.file[..cut];
            for (result, salvaged) in [(repaired(file), true), (committed(file), false)] {
                let (new, report) = match result {
                    Ok(result) => result,
                    Err(error) => {
                        assert!(cut < 5376 + 96, "{cut}: {error}");
                        continue;
                    }
                };
                assert!(new.len() <= whole.len());
                for (frame, (new, old)) in new.iter().zip(&whole).enumerate() {
                    if frame == 0 && new != old {
                        let part = new.iter().all(|(name, chunk)| old.get(name) == Some(chunk));
                        assert!(
                            part && cut < 5376 + 96 && !report.lost.is_empty(),
                            "cut at {cut}: {report:?}"
                        );
                        continue;
                    }
                    assert_eq!(new, old, "cut at {cut}, frame {frame}, salvaged {salvaged}: {report:?}");
                }
            }
        }
    }
}

/// Frames that a repair keeps are those of the original, perhaps fewer, in order.
fn assert_begins_with(new: &[Frame], listed: &[Frame], what: &str) {
    assert!(new.len() >= listed.len(), "{what}");
    for (new, listed) in new.iter().zip(listed) {
        assert!(listed.iter().all(|(name, chunk)| new.get(name) == Some(chunk)), "{what}");
    }
}

fn assert_subsequence(new: &[Frame], whole: &[Frame], what: &str) {
    let mut rest = whole.iter();
    for (at, frame) in new.iter().enumerate() {
        assert!(rest.any(|old| old == frame), "{what}: frame {at} is none of the original");
    }
}

#[test]
fn any_field_of_the_header_may_be_ruined() {
    let (builder, whole) = sample(50, 4, 9);
    let fields = [0..8, 8..16, 16..24, 24..32, 32..40, 40..44, 44..48, 48..112, 112..176, 176..256];
    for field in fields {
        for fill in [0_u8, 1, 0x7F, 0xFF] {
            let mut file = builder.file.clone();
            file[field.clone()].fill(fill);
            let (new, report) = repaired(&file).unwrap_or_else(|error| panic!("{field:?} {fill}: {error}"));
            let names = |frames: &[Frame]| frames.iter().map(Frame::len).sum::<usize>();
            assert_eq!(names(&new), names(&whole), "{field:?} {fill}: {report:?}");
            assert_eq!(new, whole, "{field:?} {fill}: {report:?}");
        }
    }
}

/// The text after the control character is cut: the names are those of the schema that is left.
#[test]
fn schema_is_cut_at_its_first_control_character() {
    let (builder, whole) = sample(50, 4, 9);
    let mut file = builder.file;
    file[112 + 5..112 + 8].copy_from_slice(b"\x01\xFFx");
    let (new, report) = repaired(&file).unwrap();
    assert_eq!(new, whole, "{report:?}");
    let [item] = report.guessed.as_slice() else { panic!("{report:?}") };
    assert_eq!((item.range.clone(), item.evidence), (Some(112..176), Some(Evidence::Index)));
}

#[test]
fn unterminated_name_is_shortened_and_non_utf8_name_is_lost() {
    let (builder, whole) = sample(5, 4, 9);
    let mut file = builder.file;
    file[48..112].fill(b'a');
    let (new, report) = repaired(&file).unwrap();
    assert_eq!(new, whole, "{report:?}");
    assert_eq!(report.guessed[0].evidence, Some(Evidence::KnownDamage), "{report:?}");
    assert!(report.lost.is_empty(), "{report:?}");
    file[50] = 0xE9;
    let (new, report) = repaired(&file).unwrap();
    assert_eq!(new, whole, "{report:?}");
    assert!(report.guessed.is_empty() && report.lost[0].range == Some(48..112), "{report:?}");
}

/// The step, which is written first, has the last id.
#[test]
fn a_last_frame_of_which_the_index_lost_the_end_is_not_kept_in_part() {
    let mut builder = Builder::hoomd();
    for frame in 0..60_u64 {
        if frame == 0 {
            let lattice = [10.0_f32, 10.0, 10.0, 0.0, 0.0, 0.0];
            builder.chunk("configuration/box", ChunkType::Float, 6, 1, bytemuck::cast_slice(&lattice));
            builder.chunk("particles/position", ChunkType::Float, 2, 3, &[1; 24]);
            builder.chunk("log/energy", ChunkType::Double, 1, 1, &[1; 8]);
        } else {
            builder.chunk("configuration/step", ChunkType::Uint64, 1, 1, &frame.to_le_bytes());
            builder.chunk("particles/position", ChunkType::Float, 2, 3, &[frame as u8; 24]);
            builder.chunk("log/energy", ChunkType::Double, 1, 1, &[frame as u8; 8]);
        }
        builder.end_frame();
        if frame == 55 {
            builder.flush();
        }
    }
    builder.flush();
    let whole = frames(&builder.file).unwrap();
    let index = builder.header.index_range().unwrap();
    assert!(index.start > 5376);
    // Within the entries of frame 55, behind whose chunks is the index.
    let used = 3 + 3 * 54;
    for entries in used + 1..used + 3 {
        let file = &builder.file[..index.start as usize + 32 * entries];
        let (new, report) = committed(file).unwrap();
        assert_eq!(new, whole[..55], "{entries}: {report:?}");
        assert!(report.lost.iter().any(|item| item.what.contains("lacks chunks")), "{report:?}");
    }
}

#[test]
fn truncated_index_reports_its_range() {
    let (builder, whole) = sample(50, 4, 9);
    let index = builder.header.index_range().unwrap();
    // The last frame in front of it is whole.
    let (new, report) = committed(&builder.file[..index.start as usize]).unwrap();
    assert!(new.len() < whole.len() && new[..] == whole[..new.len()]);
    assert!(report.lost.iter().any(|item| item.range == Some(index.clone())), "{report:?}");
}

#[test]
fn the_older_copy_of_a_lost_index_is_found() {
    let (mut builder, whole) = sample(50, 4, 9);
    let index = builder.header.index_range().unwrap();
    assert!(index.start > 5376);
    builder.file[index.start as usize..index.end as usize].fill(0);
    let (new, report) = committed(&builder.file).unwrap();
    // 128 entries: frame 0 has 5, the others have 3.
    assert!(new.len() >= 36 && new[..] == whole[..new.len()], "{} {report:?}", new.len());
    let (new, report) = repaired(&builder.file).unwrap();
    assert_eq!(new, whole, "{report:?}");
}

#[test]
fn names_that_are_gone_are_lost_and_may_be_given() {
    let (mut builder, whole) = sample(5, 4, 9);
    builder.file[4352..5376].fill(0);
    let (new, report) = repaired(&builder.file).unwrap();
    assert_eq!(new.len(), 5);
    assert!(report.guessed.is_empty(), "{report:?}");
    let lost: Vec<_> = report.lost.iter().map(|item| item.what.clone()).collect();
    let expected = (0..5).map(|id| format!("name {id} is lost, replaced by \"unknown/{id}\""));
    assert_eq!(lost, expected.collect::<Vec<_>>(), "{report:?}");
    assert_eq!(new[0].get("unknown/1"), whole[0].get("particles/N"));
    let names =
        ["configuration/box", "particles/N", "configuration/step", "particles/position", "log/energy"];
    let options = (0_u16..)
        .zip(names)
        .fold(RepairOptions::default(), |options, (id, name)| options.with_name(id, name));
    assert_eq!(repaired_with(&builder.file, &options).unwrap().0, whole);
}

#[test]
fn names_before_one_that_is_overwritten_are_kept() {
    let (mut builder, whole) = sample(5, 4, 9);
    // The third, with its end.
    let at = 4352 + "configuration/box\0particles/N\0".len();
    builder.file[at..at + "configuration/step\0".len()].fill(0);
    let (new, report) = repaired(&builder.file).unwrap();
    assert_eq!(new.len(), 5);
    for name in ["configuration/box", "particles/N"] {
        assert_eq!(new[0].get(name), whole[0].get(name), "{report:?}");
    }
    assert_eq!(new[4].get("unknown/3"), whole[4].get("particles/position"), "{report:?}");
    assert_eq!(report.lost.len(), 3, "{report:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn repaired_frames_are_a_subsequence_of_the_written_ones(
        count in 2_u64..60, every in 1_u64..20, from in 0_u64..70, len in 1_usize..5, seed in any::<[u8; 32]>(), zero in any::<bool>(),
    ) {
        let (builder, whole) = sample(count, 4, every);
        let mut file = builder.file.clone();
        let start = builder.header.index_location as usize + 32 * (from as usize % (3 * count as usize + 2));
        for slot in file[start..start + 32 * len].as_chunks_mut::<32>().0 {
            *slot = if zero { [0; 32] } else { seed };
        }
        if let Some(listed) = sound(&file) {
            // Nobody can tell; what is there stays, and frames may follow.
            let (new, report) = repaired(&file).unwrap();
            assert_begins_with(&new, &listed, &format!("{report:?}"));
        } else if let Ok((new, report)) = repaired(&file) {
            // Frame 0 may be in part.
            let first = usize::from(new.first() != whole.first());
            assert_subsequence(&new[first.min(new.len())..], &whole, &format!("{report:?}"));
        }
    }

    #[test]
    fn noise_does_no_harm(noise in proptest::collection::vec(any::<u8>(), 0..2000), at in 0_usize..6000) {
        let (builder, _) = sample(50, 4, 9);
        let mut file = builder.file;
        let end = file.len().min(at + noise.len());
        let start = at.min(end);
        file[start..end].copy_from_slice(&noise[..end - start]);
        let _ = repaired(&file);
        let _ = repaired(&noise);
    }
}
