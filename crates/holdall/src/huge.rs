//! A container of a thousand million datasets, made on request, for tests of code that must not iterate over all of them.

use std::borrow::Cow;
use std::sync::atomic::{AtomicUsize, Ordering};

use container_core::array::Array;
use container_core::block::Block;
use container_core::container::{
    About, CheckDepth, Container, Dataset, FileStructure, Interchange, ReadOptions, Segment, Visibility,
    all_datasets, require, visible_datasets,
};
use container_core::dtype::{DType, Order};
use container_core::region::Region;
use container_core::report::{BlockCounts, Report};
use container_core::{Progress, Result, Value};

use crate::address::Address;
use crate::convert::{ConvertOptions, ConvertOutcome};
use crate::diff::{DiffOptions, diff};
use crate::extract::{ExtractAs, ExtractOptions, extract_files};
use crate::json::info_json;
use crate::views::reverse_axes::Reversed;

const COUNT: usize = 1_000_000_000;

const PATHS: [&str; 3] = ["all", "parts/0", "parts/1"];

/// `all`, listed, and below it `parts/<n>`, of one byte each: the lowest of n.
struct Many {
    all: [Dataset; 1],
    made: AtomicUsize,
}

impl Many {
    fn new() -> Self {
        Self { all: [dataset("all".into(), Visibility::Always)], made: AtomicUsize::new(0) }
    }

    fn made(&self) -> usize {
        self.made.load(Ordering::Relaxed)
    }

    fn select(&self, path: &str) -> Result<Vec<(usize, Region)>> {
        Address::parse(&format!("no-such-file::{path}")).select(self)
    }
}

fn dataset(path: String, listed: Visibility) -> Dataset {
    Dataset {
        path,
        dtype: DType::parse("|u1").unwrap(),
        shape: vec![1],
        order: Order::C,
        chunks: None,
        codec: "none".into(),
        stored: 1,
        logical: 1,
        attributes: vec![],
        visibility: listed,
    }
}

impl Container for Many {
    fn about(&self) -> About {
        About { format: "many", version: None, size: COUNT as u64, complete: true, details: vec![] }
    }

    fn meta(&self) -> Result<Value> {
        Ok(Value::Map(vec![]))
    }

    fn datasets(&self) -> &[Dataset] {
        &self.all
    }

    fn dataset_count(&self) -> usize {
        COUNT + 1
    }

    fn dataset(&self, index: usize) -> Option<Cow<'_, Dataset>> {
        self.made.fetch_add(1, Ordering::Relaxed);
        match index {
            0 => Some(Cow::Borrowed(&self.all[0])),
            1..=COUNT => Some(Cow::Owned(dataset(format!("parts/{}", index - 1), Visibility::Recursive))),
            _ => None,
        }
    }

    fn find(&self, path: &str) -> Option<usize> {
        match path.strip_prefix("parts/") {
            None => (path == "all").then_some(0),
            Some(number) => {
                number.parse::<usize>().ok().filter(|number| *number < COUNT).map(|number| number + 1)
            }
        }
    }

    fn read(&self, index: usize, region: &Region, _options: &ReadOptions) -> Result<Array<'_>> {
        let dataset = require(self, index)?;
        let byte = u8::try_from(index.saturating_sub(1) & 255).unwrap();
        let bytes = Cow::Owned(vec![byte]);
        Array::new(dataset.dtype.clone(), dataset.shape.clone(), dataset.order, bytes)?.select(region)
    }
}

impl FileStructure for Many {
    fn blocks(&self) -> Vec<&dyn Block> {
        panic!("a block for each dataset")
    }

    fn byte_map(&self) -> Vec<Segment> {
        panic!("a segment for each dataset")
    }

    fn check(&self, _depth: CheckDepth, _options: &ReadOptions, _progress: Progress<'_>) -> Result<Report> {
        Ok(Report::new(vec![], BlockCounts { total: 0, checked: 0, bad: 0 }))
    }
}

impl Interchange for Many {}

#[test]
fn one_of_a_thousand_million_is_found_and_taken_out_without_the_others() {
    let many = Many::new();
    let chosen = many.select("parts/999999998").unwrap();
    assert_eq!(chosen, [(999_999_999, Region::whole(&[1]))]);
    let directory = tempfile::tempdir().unwrap();
    let npy = directory.path().join("one.npy");
    let format = crate::formats::target_format(&npy, None, &[]).unwrap();
    let outcome = crate::convert::write(&many, &chosen, format, &npy, &ConvertOptions::default()).unwrap();
    assert!(matches!(outcome, ConvertOutcome::Done(done) if done.datasets == ["parts/999999998"]));
    // 999999998 is 0x3b9ac9fe.
    assert_eq!(std::fs::read(&npy).unwrap().last(), Some(&0xfe));
    let options = ExtractOptions::default();
    let files = extract_files(&many, &chosen, ExtractAs::Arrays, directory.path(), &options).unwrap();
    assert_eq!(files[0].path, directory.path().join("parts/999999998.npy"));
    assert!(many.made() < 50, "{} were made", many.made());
}

#[test]
fn summaries_cover_only_listed_datasets() {
    let many = Many::new();
    assert_eq!(info_json("x", &many)["datasets"], 1);
    assert_eq!(many.select("").unwrap().len(), 1);
    assert_eq!(visible_datasets(&many).count(), 1);
    assert_eq!(all_datasets(&many).take(3).map(|(_, one)| one.path.clone()).collect::<Vec<_>>(), PATHS);
    let listing = |rest: &str, most| -> Vec<String> {
        let address = Address::parse(&format!("no-such-file{rest}"));
        address.datasets(&many, most).unwrap().take(3).map(|one| one.path.clone()).collect()
    };
    assert_eq!(listing("", Visibility::Always), ["all"]);
    assert_eq!(listing("", Visibility::Recursive), PATHS);
    assert_eq!(listing("::parts/1", Visibility::Always), ["parts/1"]);
    assert_eq!(many.select("[0]").unwrap(), [(0, Region::parse("0", &[1]).unwrap())]);
    let error = many.select("parts/1000000000").unwrap_err();
    assert_eq!(error.hint(), Some("one of: all"));
    assert!(!crate::open::passes(&many, None));
    let whole = many.select("").unwrap();
    assert_eq!(diff(&many, &whole, &many, &whole, &DiffOptions::default()).unwrap(), []);
    let view = Reversed::new(&many);
    assert_eq!((view.dataset_count(), view.listed_count()), (COUNT + 1, 1));
    assert_eq!(require(&view, 7).unwrap().path, "parts/6");
    assert_eq!(view.find("parts/6"), Some(7));
    assert!(many.made() < 50, "{} were made", many.made());
}
