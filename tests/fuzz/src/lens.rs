//! Invariants of any container, seen through the lens.

use container_core::array::byte_len;
use container_core::container::{CheckDepth, Container, Tolerance};
use container_core::dtype::Order;
use container_core::region::Region;
use container_core::report::{Report, Verdict};
use container_core::{Error, ErrorKind, Progress, Result};

use crate::feed::Feed;
use crate::options::read_options;
use crate::values::{bytes_of, pick, region};

/// Looks at everything that the lens offers, and reads regions that `feed` chooses.
pub(crate) fn look_through(container: &dyn Container, len: u64, tolerance: Tolerance, feed: &mut Feed<'_>) {
    let about = container.about();
    assert_eq!(about.size, len);
    if let Err(error) = container.meta() {
        look_at_error(&error);
    }
    tiles(container, len);
    for block in container.blocks() {
        let range = block.range();
        // Of a block that the file cuts, ASDF has what its header claims.
        let most = if about.format == "asdf" { u64::MAX } else { len };
        assert!(range.start <= range.end.min(len) && range.end <= most, "block {range:?} of {len}");
    }
    let report = reports(container);
    let wholes: Vec<Result<Vec<u8>>> =
        (0..container.dataset_count()).map(|index| dataset(container, index, feed)).collect();
    if let Ok(report) = report {
        agree(container, &report, &wholes, tolerance);
    }
    let past = container.dataset_count();
    assert!(container.read(past, &Region::whole(&[]), &read_options()).is_err());
}

/// The map covers the file once.
fn tiles(container: &dyn Container, len: u64) {
    let mut end = 0;
    for segment in container.byte_map() {
        assert_eq!(segment.range.start, end, "{} in {:?}", segment.role, container.byte_map());
        assert!(segment.range.end > end, "{} is empty", segment.role);
        end = segment.range.end;
    }
    assert_eq!(end, len, "{:?}", container.byte_map());
}

/// The full check, once it is known that the quick one finds no more.
fn reports(container: &dyn Container) -> Result<Report> {
    let check = |depth| {
        let report = container.check(depth, &read_options(), Progress::none());
        if let Err(error) = &report {
            look_at_error(error);
            assert!(!error.is_damage(), "damage is a finding, not an error: {error}");
        }
        report
    };
    let (quick, full) = (check(CheckDepth::Quick)?, check(CheckDepth::Full)?);
    for finding in &full.findings {
        assert!(finding.range.as_ref().is_none_or(|range| range.start <= range.end), "{finding:?}");
        assert!(!finding.message.is_empty() && !finding.code.is_empty());
    }
    let is_asdf = container.about().format == "asdf";
    for finding in &quick.findings {
        // Of an array whose block cannot be decoded the full check tells by the block.
        let by_block = is_asdf && finding.code == "array" && full.verdict() == Verdict::Damaged;
        assert!(by_block || full.findings.contains(finding), "only the quick check found {finding:?}");
    }
    assert!(full.blocks.checked <= full.blocks.total && full.blocks.bad <= full.blocks.total);
    Ok(full)
}

/// Reads a dataset as a whole, row by row, and compares some regions of it.
fn dataset(container: &dyn Container, index: usize, feed: &mut Feed<'_>) -> Result<Vec<u8>> {
    let dataset = container.require(index)?;
    let size = dataset.dtype.itemsize();
    assert_eq!(byte_len(&dataset.dtype, &dataset.shape).unwrap_or(0), dataset.logical);
    assert!(!dataset.dtype.to_string().is_empty());
    let read = |part: &Region| container.read(index, part, &read_options());
    let whole = match read(&Region::whole(&dataset.shape)) {
        Ok(whole) => whole,
        Err(error) => {
            look_at_error(&error);
            return Err(error);
        }
    };
    assert_eq!((whole.dtype(), whole.shape()), (&dataset.dtype, &dataset.shape[..]));
    // Views of ASDF blocks are lent with the strides they have.
    assert!(whole.is_contiguous(dataset.order) || container.about().format == "asdf");
    let whole = whole.bytes(Order::C, &crate::options::limits())?.into_owned();
    assert_eq!(whole.len() as u64, dataset.logical);
    let format = container.about().format;
    let is_decoded = format == "blosc2" || (format == "asdf" && dataset.codec != "none");
    for _ in 0..3 {
        let part = region(&dataset.shape, feed);
        let array = match read(&part) {
            // Of a block no more is decoded than is needed, and more is needed where it is to be kept.
            Err(error) if is_decoded && error.is_damage() => {
                look_at_error(&error);
                continue;
            }
            array => array.expect("a region of what can be read as a whole"),
        };
        assert_eq!(array.shape(), part.shape());
        if let Some(expected) = pick(&whole, &dataset.shape, size, &part) {
            assert!(bytes_of(&array, Order::C) == Some(expected), "{part:?} of {:?}", dataset.shape);
        }
    }
    Ok(whole)
}

/// A verdict and what can be read say the same, where nothing is forgiven.
fn agree(container: &dyn Container, report: &Report, wholes: &[Result<Vec<u8>>], tolerance: Tolerance) {
    // Bloscpack files say most things twice, and may have no items: there is damage that can be read around. So there is in GSD,
    // where entries can be out of order, or share data; and in ASDF, where indices and trees say things twice. A sound Blosc2 or ASDF file
    // may need what is not here: a codec of a user, a server, another file.
    let about = container.about();
    let is_exact = !["asdf", "blosc2", "bloscpack", "gsd"].contains(&about.format);
    let is_asked = |whole: &Result<_>| match whole {
        Ok(_) => true,
        Err(error) => {
            ["asdf", "blosc2"].contains(&about.format) && matches!(error.kind(), ErrorKind::Unsupported(_))
        }
    };
    let all_read = (!is_exact || !wholes.is_empty()) && wholes.iter().all(is_asked);
    let over_limit = wholes.iter().flat_map(Result::as_ref).count() < wholes.len()
        && wholes.iter().flat_map(|whole| whole.as_ref().err()).all(is_limit);
    let sound = report.verdict() == Verdict::Sound;
    assert!(!sound || report.blocks.bad == 0);
    match tolerance {
        _ if over_limit => {}
        Tolerance::Strict if is_exact => assert_eq!(sound, all_read, "{report:?}\n{about:?}"),
        _ => {
            let failed = wholes.iter().find(|whole| whole.is_err());
            assert!(!sound || all_read, "{failed:?}\n{report:?}\n{about:?}");
        }
    }
}

fn is_limit(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Limit { .. })
}

/// An error can be shown, and its place is a range.
pub(crate) fn look_at_error(error: &Error) {
    assert!(!error.to_string().is_empty() && !format!("{error:?}").is_empty());
    assert!(error.range().is_none_or(|range| range.start <= range.end), "{error:?}");
    assert!(!matches!(error.kind(), ErrorKind::Missing(_)), "nothing is missing: {error}");
}
