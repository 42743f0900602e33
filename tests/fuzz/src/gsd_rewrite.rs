//! Files of any bytes, their frames copied to new ones.

use container_core::Progress;
use gsd::hoomd::Trajectory;
use gsd::rewrite::{RedundantChunks, RewriteOptions, concat, slice};
use gsd::{Defaults, ErrorKind, File, Frames, Strictness};

use crate::feed::Feed;
use crate::gsd_file::{MAX_DATASET_BYTES, open};
use crate::gsd_repair::is_clean;
use crate::lens::look_at_error;

/// Copies frames, and reads them in the copy.
pub fn gsd_rewrite(data: &[u8]) {
    let mut feed = Feed::derived(data);
    for policy in [Strictness::Compatible, Strictness::Lenient] {
        let Ok(file) = open(data, policy) else { continue };
        let held = file.index().iter().filter_map(|entry| entry.size()).fold(0, u64::saturating_add);
        if held.saturating_mul(file.nframes()) > MAX_DATASET_BYTES {
            continue;
        }
        let start = feed.below(file.nframes().min(1 << 15) as usize + 1) as u64;
        let some = Frames::range(start..file.nframes()).by(1 + feed.below(3) as u64).expect("a step");
        for frames in [Frames::all(&file), some] {
            for defaults in [Defaults::Schema, Defaults::StoredOnly] {
                let equal = feed.one_of(&[RedundantChunks::Drop, RedundantChunks::Keep]);
                let mut options =
                    RewriteOptions::default().with_defaults(defaults).with_redundant_chunks(equal);
                options.alignment = feed.one_of(&[1, 8, 64]);
                copy(&file, frames, &options);
            }
        }
        twice(&file);
    }
}

/// The entries are in order, and no two of one frame have one name.
fn has_one_of_each(file: &File) -> bool {
    let entries: Vec<_> = file.index().iter().map(|entry| (entry.frame, entry.id)).collect();
    let mut sorted = entries.clone();
    sorted.sort_unstable();
    sorted.dedup();
    entries.len() == sorted.len() && entries.is_sorted_by_key(|entry| entry.0)
}

fn copy(file: &File, frames: Frames, options: &RewriteOptions) {
    let mut out = Vec::new();
    let rewritten = match slice(file, &frames, &mut out, options, Progress::none()) {
        Ok(rewritten) => rewritten,
        Err(error) => {
            look_at_error(&error);
            let sound = is_clean(file.source().lend(0..file.source().len()).expect("memory"));
            let asked = matches!(
                error.kind(),
                ErrorKind::Usage(_) | ErrorKind::Unsupported(_) | ErrorKind::Limit { .. }
            );
            assert!(!sound || asked, "frames of a sound file: {error}");
            return;
        }
    };
    assert_eq!(rewritten.file_len, out.len() as u64);
    let target = open(&out, Strictness::Strict).expect("what was written");
    if !has_one_of_each(file) {
        // What is in it depends on who looks.
        return;
    }
    assert_eq!((target.nframes(), target.index().len() as u64), (rewritten.frames, rewritten.chunks));
    assert_eq!(target.header().schema, file.header().schema);
    if options.defaults == Defaults::StoredOnly {
        stored(file, &target, &frames);
    } else {
        views(file, &target, &frames);
    }
}

/// The same chunks.
fn stored(file: &File, target: &File, frames: &Frames) {
    for slot in 0..frames.count {
        let frame = frames.frame(slot).expect("one of them");
        let of = |file: &File, frame: u64| {
            let entries = file.index().slice(file.frame_entries(frame));
            let mut told: Vec<_> = entries
                .iter()
                .filter(|entry| entry.frame == frame)
                .map(|entry| {
                    let name = file.names().bytes(entry.id).unwrap_or_default().to_vec();
                    let array = file.read_array(&entry).expect("it was copied");
                    (name, entry.n, entry.m, entry.type_code, format!("{:?}", little(&array)))
                })
                .collect();
            told.sort();
            told
        };
        assert_eq!(of(file, frame), of(target, slot), "frame {frame}");
    }
}

fn little(array: &container_core::array::Array<'_>) -> Vec<u8> {
    use container_core::dtype::{ByteOrder, Order};
    let mut bytes = array.bytes(Order::C, &crate::options::limits()).expect("small").into_owned();
    array.dtype().swap_to(ByteOrder::Little, &mut bytes).expect("whole elements");
    bytes
}

/// The same trajectory.
fn views(file: &File, target: &File, frames: &Frames) {
    let again = |file: &File| {
        let bytes = file.source().lend(0..file.source().len()).expect("memory").to_vec();
        open(&bytes, file.options().strictness).and_then(Trajectory::from_file)
    };
    let Ok(before) = again(file) else { return };
    let after = again(target).expect("it has the schema");
    for slot in 0..frames.count.min(target.nframes()) {
        let old = before.frame(frames.frame(slot).expect("one of them")).expect("a frame");
        let Ok(old) = old.to_frame() else { continue };
        let new = after.frame(slot).expect("a frame").to_frame().expect("what could be read can be read");
        let told = |frame: &gsd::hoomd::Frame<'_>| {
            let mut frame = frame.clone();
            (frame.log, frame.state) = Default::default();
            // Defaults that are stored have the width that the others have.
            format!("{frame:?}").replace("F64(", "F32(")
        };
        assert_eq!(told(&new), told(&old), "frame {slot}");
        for (name, value) in old.log.iter() {
            let copy = new.log.get(name).unwrap_or_else(|| panic!("log {name} is gone"));
            assert_eq!(format!("{copy:?}"), format!("{value:?}"), "log {name} of frame {slot}");
        }
    }
}

/// A file behind itself.
fn twice(file: &File) {
    let mut out = Vec::new();
    let options = RewriteOptions::default().with_defaults(Defaults::StoredOnly);
    if !has_one_of_each(file) {
        return;
    }
    match concat(&[file, file], &mut out, &options, Progress::none()) {
        Ok(rewritten) => {
            let target = open(&out, Strictness::Strict).expect("what was written");
            assert!(rewritten.frames <= 2 * file.nframes());
            assert_eq!(target.index().len(), 2 * file.index().len());
        }
        Err(error) => look_at_error(&error),
    }
}
