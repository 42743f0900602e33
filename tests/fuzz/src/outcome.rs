//! New files of any format: what a repair calls whole, and what a conversion wrote, is sound.

use container_core::Progress;
use container_core::container::{Container, OpenOptions};
use container_core::format::{TargetOptions, WriteRequest};
use container_core::region::Region;
use holdall::formats::by_name;
use holdall::open::{Accept, open_source};

use crate::options::{read_options, small_options};
use crate::repaired::{errors, repaired};
use crate::{asdf_seeds, blosc_seeds, blosc2_seeds, gsd_seeds, seeds};

/// Files of all formats.
pub(crate) fn files() -> Vec<Vec<u8>> {
    [
        asdf_seeds::files(),
        blosc2_seeds::frames(),
        blosc_seeds::files(),
        gsd_seeds::files(),
        seeds::array_files(),
    ]
    .concat()
}

/// Largest of the datasets that are written in every format.
const MAX_BYTES: u64 = 1 << 14;

/// A repair without a loss, and a conversion without an error, leave nothing that `verify` calls damaged.
pub fn outcome(data: &[u8]) {
    let options = small_options();
    let opened = open_source(Box::new(data.to_vec()), None, Accept::ContainersAndArrays, &options);
    let Ok(opened) = opened else { return };
    let format = opened.format;
    if format.repair.is_some()
        && let Ok((new, report)) = repaired(format, data, &options)
    {
        let wrong = errors(format, &new, &options);
        assert!(
            !report.lost.is_empty() || wrong.is_empty(),
            "{} repaired without a loss, and damaged: {report:?} {wrong:?}",
            format.name
        );
    }
    let selection = small(&*opened.container);
    if selection.is_empty() {
        return;
    }
    for name in ["asdf", "blosc2", "bloscpack", "gsd", "rawarray"] {
        let target = by_name(name).expect("it is in the table");
        written(&*opened.container, &selection, target, &options);
    }
}

/// All datasets, where they are few and small.
fn small(container: &dyn Container) -> Vec<(usize, Region)> {
    let datasets = container.datasets();
    let is_small = |it: &container_core::container::Dataset| {
        it.logical <= MAX_BYTES && it.dtype.itemsize() > 0 && it.shape.len() <= 8
    };
    if datasets.len() > 8 || !datasets.iter().all(is_small) {
        return Vec::new();
    }
    datasets.iter().enumerate().map(|(index, it)| (index, Region::whole(&it.shape))).collect()
}

fn written(
    container: &dyn Container,
    selection: &[(usize, Region)],
    target: &container_core::format::Format,
    options: &OpenOptions,
) {
    let import = target.import.expect("it is written");
    let words = TargetOptions::default();
    let (read, progress) = (read_options(), Progress::none());
    let job = WriteRequest { container, selection, options: &words, read, progress };
    let mut out = Vec::new();
    if import(&job, &mut out).is_ok() {
        let from = container.about().format;
        let wrong = errors(target, &out, options);
        assert!(wrong.is_empty(), "{from} written as {}, and damaged: {wrong:?}", target.name);
    }
}
