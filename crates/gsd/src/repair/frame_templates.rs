//! Templates of `hoomd` frames for files in which only frame 0 is committed.
//!
//! That is the usual case: `gsd.hoomd` commits the first frame at once and later ones when it is told to. Later frames have what
//! changes: the step, positions, perhaps the box, orientations, velocities, images, and the log, in the order of frame 0.

use super::uncommitted_frames::{Template, TemplateChunk};
use crate::ChunkType;
use crate::index::IndexEntry;

/// Chunks that a frame may have or lack, apart from the log.
const OPTIONAL_CHUNKS: [&str; 6] = [
    "configuration/box",
    "particles/orientation",
    "particles/velocity",
    "particles/angmom",
    "particles/image",
    "log/",
];

/// All forms that frames may have if `first` is frame 0. The step, with the id `step`, comes first.
pub(super) fn of(first: &[IndexEntry], step: u16, name: impl Fn(u16) -> Option<String>) -> Vec<Template> {
    let mut entries = first.to_vec();
    entries.sort_by_key(|entry| entry.location);
    let which = |entry: &IndexEntry| {
        let name = name(entry.id)?;
        OPTIONAL_CHUNKS
            .iter()
            .position(|changing| name == *changing || (*changing == "log/" && name.starts_with("log/")))
    };
    let is_position = |entry: &IndexEntry| name(entry.id).as_deref() == Some("particles/position");
    let there: Vec<usize> = (0..OPTIONAL_CHUNKS.len())
        .filter(|at| entries.iter().any(|entry| which(entry) == Some(*at)))
        .collect();
    if !entries.iter().any(is_position) {
        return Vec::new();
    }
    let counter =
        IndexEntry { n: 1, m: 1, id: step, type_code: ChunkType::Uint64.code(), ..IndexEntry::default() };
    let item = |entry: &IndexEntry| TemplateChunk {
        entry: IndexEntry { frame: 0, location: 0, ..*entry },
        counted_by: None,
    };
    let form = |chosen: u32| {
        let has = |entry: &&IndexEntry| {
            let place = which(entry).and_then(|at| there.iter().position(|there| *there == at));
            is_position(entry) || place.is_some_and(|place| chosen >> place & 1 == 1)
        };
        [item(&counter)].into_iter().chain(entries.iter().filter(has).map(item)).collect()
    };
    (0..1_u32 << there.len()).map(form).collect()
}
