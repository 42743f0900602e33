use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

use super::toy::{Toy, ToyBlock};
use super::*;
use crate::block::Block;
use crate::report::{BlockCounts, Loss, Report};
use crate::{ErrorKind, Progress};

fn segments(list: &[(Range<u64>, &str)]) -> Vec<Segment> {
    list.iter().map(|(range, role)| Segment::plain(range.clone(), role)).collect()
}

#[test]
fn a_map_is_tiled_from_parts_in_any_order() {
    let parts = segments(&[
        (20..30, "c"),
        (0..4, "a"),
        (2..6, "b"),
        (8..8, "empty"),
        (28..50, "d"),
        (21..25, "within"),
        (40..45, "at the end"),
        (60..70, "past the end"),
    ]);
    let want = segments(&[(0..4, "a"), (4..6, "b"), (6..20, "gap"), (20..30, "c"), (30..40, "d")]);
    assert_eq!(Segment::tile(parts, 40, "gap"), want);
    let want = segments(&[(0..5, "gap"), (5..7, "x"), (7..10, "unknown")]);
    assert_eq!(Segment::tile(segments(&[(5..7, "x")]), 10, "gap"), want);
    assert_eq!(Segment::tile(Vec::new(), 3, "gap"), segments(&[(0..3, "unknown")]));
    assert_eq!(Segment::tile(Vec::new(), 0, "gap"), []);
    let coded = Segment { codec: Some("zlib".into()), ..Segment::plain(0..9, "data") };
    let cut = Segment { range: 0..8, ..coded.clone() };
    assert_eq!(Segment::tile(vec![coded], 8, "gap"), [cut]);
}

#[test]
fn the_shape_of_blocks_is_no_metadata() {
    let mut toy = Toy::new().with("a", "|u1", &[2], Order::C);
    toy.last().attributes =
        vec![("unit".into(), "m".into()), (BLOCK_SHAPE.into(), Value::Null), ("b".into(), Value::Null)];
    let names: Vec<&str> = toy.datasets[0].metadata().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["unit", "b"]);
}

#[test]
fn a_whole_dataset_in_pieces_is_compared_with_its_digests() {
    let shape = [4, 3];
    let (whole, part) = (Region::whole(&shape), Region::parse("1:", &shape).unwrap());
    let options = ReadOptions::default();
    assert_eq!((options.threads, options.digests), (1, Digests::Whole));
    assert_eq!(options.for_region(&whole, &shape).digests, Digests::Compare);
    assert_eq!(options.for_region(&part, &shape).digests, Digests::Whole);
    let ignored = ReadOptions { digests: Digests::Ignore, ..options };
    assert_eq!(ignored.for_region(&whole, &shape).digests, Digests::Ignore);
}

#[test]
fn options_keep_a_request_to_stop_that_others_do_not_have() {
    static ONE: AtomicBool = AtomicBool::new(false);
    static OTHER: AtomicBool = AtomicBool::new(false);
    let (one, other) = (Stop::when(&ONE), Stop::when(&OTHER));
    assert!(one != other && one == Stop::when(&ONE) && one != Stop::never() && Stop::never() != other);
    assert_eq!(Stop::never(), Stop::default());
    let options = ReadOptions::default().with_threads(3).with_stop(one);
    assert_eq!((options.threads, options.limits.stop), (3, one));
    let limits = Limits::default().with_memory(7);
    assert_eq!(options.with_limits(limits).limits, limits.with_stop(one));
    assert_eq!(options.with_limits(limits.with_stop(other)).limits, limits.with_stop(other));
    assert_eq!((one.or(other), Stop::never().or(other)), (one, other));
}

fn toy() -> Toy {
    let mut toy = Toy::new().with("a", "<u2", &[2, 3], Order::C).with("b", "|V4", &[2], Order::C).with(
        "a",
        "|u1",
        &[1],
        Order::C,
    );
    toy.last().visibility = Visibility::Recursive;
    toy.hidden[0] = vec![0, 1, 0, 0, 0, 1];
    toy
}

#[test]
fn datasets_are_found_by_path_and_index() {
    let toy = toy();
    let container: &dyn Container = &toy;
    assert_eq!((container.dataset_count(), container.listed_count()), (3, 2));
    assert_eq!((container.find("a"), container.find("b"), container.find("c")), (Some(0), Some(1), None));
    assert_eq!(container.dataset(2).unwrap().shape, [1]);
    assert!(container.dataset(3).is_none());
    assert_eq!(container.require(1).unwrap().path, "b");
    let error = container.require(3).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Usage(what) if what == "no such dataset"));
    let names = |list: Vec<(usize, Cow<'_, Dataset>)>| -> Vec<(usize, String)> {
        list.into_iter().map(|(index, dataset)| (index, dataset.path.clone())).collect()
    };
    let all = [(0, "a".to_owned()), (1, "b".to_owned()), (2, "a".to_owned())];
    assert_eq!(names(visible_datasets(&toy).collect()), all[..2]);
    assert_eq!(names(all_datasets(&toy).collect()), all);
}

#[test]
fn opaque_elements_have_no_type_and_masks_are_found_without_reading() {
    let toy = toy();
    let container: &dyn Container = &toy;
    assert_eq!([0, 1, 2].map(|index| container.is_typed(index)), [true, false, true]);
    let options = ReadOptions::default();
    assert!(container.has_mask(0, &options).unwrap() && !container.has_mask(1, &options).unwrap());
    assert!(container.has_mask(3, &options).is_err());
    assert!(toy.taken_reads().is_empty());
}

#[test]
fn a_format_that_says_nothing_has_the_defaults() {
    let toy = Toy { meta: || Ok(Value::from(3_u64)), ..toy() };
    let whole = Region::whole(&[2, 3]);
    assert_eq!(toy.logical_meta().unwrap(), Value::Int(3));
    assert!(toy.repeated(0, &whole).is_none() && toy.absence(0, &whole).is_none());
    assert!(toy.records_dtype(0).is_none() && toy.as_any().is_none() && toy.metadata_text().is_none());
    assert!(!toy.has_frame_axis(&toy.datasets[0]) && toy.left_out(0).is_empty());
    assert!(toy.may_hide_datasets() && !toy.may_lack_datasets());
    assert!(toy.notices().is_empty() && toy.uncompared().is_none());
    let mut bytes = [0; 12];
    toy.read_into(0, &whole, Order::F, &mut bytes, &ReadOptions::default()).unwrap();
    assert_eq!(bytes, [0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11]);
    let short = toy.read_into(0, &whole, Order::F, &mut [0; 11], &ReadOptions::default());
    assert!(matches!(short.unwrap_err().kind(), ErrorKind::Usage(_)));
}

#[test]
fn the_parts_of_a_file_are_looked_at_one_by_one() {
    let digest = |name: &str| Segment { checksum: Some(name.into()), ..Segment::plain(0..1, "x") };
    let map = vec![digest("md5"), Segment::plain(1..2, "y"), digest("crc32"), digest("md5")];
    let toy = Toy { map, ..Toy::new() };
    assert_eq!(toy.checksums(), BTreeSet::from(["crc32".to_owned(), "md5".to_owned()]));
    let mut seen = Vec::new();
    toy.for_each_segment(&mut |segment| {
        seen.push(segment.role);
        if seen.len() == 2 { Err(Error::cancelled()) } else { Ok(()) }
    })
    .unwrap_err();
    assert_eq!(seen, ["x", "y"]);
    let blocks =
        vec![ToyBlock { range: 0..100, codec: None }, ToyBlock { range: 100..110, codec: Some("zlib") }];
    let toy = Toy { blocks, ..Toy::new() };
    assert!(toy.has_small_blocks(10) && toy.has_small_blocks(11) && !toy.has_small_blocks(9));
}

/// A container that answers each question otherwise than the defaults.
struct Answering(Toy);

impl FileStructure for Answering {
    fn may_hide_datasets(&self) -> bool {
        false
    }
    fn may_lack_datasets(&self) -> bool {
        true
    }
    fn blocks(&self) -> Vec<&dyn Block> {
        self.0.blocks()
    }
    fn has_small_blocks(&self, most: u64) -> bool {
        most == 7
    }
    fn byte_map(&self) -> Vec<Segment> {
        vec![Segment::plain(0..5, "own")]
    }
    fn for_each_segment(&self, look: &mut dyn FnMut(Segment) -> Result<()>) -> Result<()> {
        look(Segment::plain(0..5, "one by one"))
    }
    fn checksums(&self) -> BTreeSet<String> {
        BTreeSet::from(["sum".to_owned()])
    }
    fn notices(&self) -> Vec<String> {
        vec!["a journal".to_owned()]
    }
    fn uncompared(&self) -> Option<String> {
        Some("a digest".to_owned())
    }
    fn check(&self, depth: CheckDepth, _options: &ReadOptions, _progress: Progress<'_>) -> Result<Report> {
        let total = if depth == CheckDepth::Quick { 3 } else { 4 };
        Ok(Report::new(Vec::new(), BlockCounts { total, ..BlockCounts::default() }))
    }
}

impl Interchange for Answering {}

impl Container for Answering {
    fn about(&self) -> About {
        self.0.about()
    }
    fn meta(&self) -> Result<Value> {
        self.0.meta()
    }
    fn datasets(&self) -> &[Dataset] {
        self.0.datasets()
    }
    fn read(&self, index: usize, region: &Region, options: &ReadOptions) -> Result<Array<'_>> {
        self.0.read(index, region, options)
    }
}

struct Shown(Answering);

impl View for Shown {
    fn inner(&self) -> &dyn Container {
        &self.0
    }
}

#[test]
fn a_view_has_the_bytes_of_the_container_it_shows() {
    let blocks = vec![ToyBlock { range: 3..4, codec: None }, ToyBlock { range: 4..9, codec: None }];
    let view = Shown(Answering(Toy { blocks, ..Toy::new() }));
    assert!(!view.may_hide_datasets() && view.may_lack_datasets());
    assert_eq!(view.blocks().iter().map(|block| block.range()).collect::<Vec<_>>(), [3..4, 4..9]);
    assert!(view.has_small_blocks(7) && !view.has_small_blocks(8));
    assert_eq!(view.byte_map(), [Segment::plain(0..5, "own")]);
    let mut seen = Vec::new();
    view.for_each_segment(&mut |segment| {
        seen.push(segment.role);
        Ok(())
    })
    .unwrap();
    assert_eq!(seen, ["one by one"]);
    assert_eq!(view.checksums(), BTreeSet::from(["sum".to_owned()]));
    assert_eq!((view.notices(), view.uncompared()), (vec!["a journal".to_owned()], Some("a digest".into())));
    let report = view.check(CheckDepth::Quick, &ReadOptions::default(), Progress::none()).unwrap();
    assert_eq!(report.blocks.total, 3);
}

#[test]
fn metadata_of_no_format_are_an_empty_map_and_its_losses_are_those_of_the_file() {
    let answering = Answering(toy());
    assert_eq!(answering.export_metadata(&[]).unwrap(), Value::Map(Vec::new()));
    assert!(answering.losses().is_empty() && answering.unexported_metadata(&[]).is_empty());
    let loss = Loss { dataset: None, what: "a tree".into() };
    let toy = Toy { losses: vec![loss.clone()], ..toy() };
    assert_eq!(toy.unexported_metadata(&[]), [loss]);
}
