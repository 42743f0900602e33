//! Containers and files for the tests of this crate, made by hand.

use std::borrow::Cow;
use std::path::Path;

use container_core::array::Array;
use container_core::block::Block;
use container_core::container::{
    About, CheckDepth, Container, Dataset, FileStructure, Interchange, OpenOptions, ReadOptions, Segment,
    Visibility, require,
};
use container_core::dtype::{DType, Kind, Order};
use container_core::format::{Format, ITEM, ITEM_NAME, Input, ItemKind, Output, Pack, WriteRequest};
use container_core::region::Region;
use container_core::report::{BlockCounts, Finding, Loss, Report, Severity};
use container_core::write::Durability;
use container_core::{Error, Progress, Result, Value};

/// A container in memory. Every dataset holds its bytes in its own order.
pub(crate) struct Memory {
    pub(crate) format: &'static str,
    pub(crate) meta: Value,
    datasets: Vec<Dataset>,
    bytes: Vec<Vec<u8>>,
    damaged: Vec<String>,
    masks: Vec<(String, Vec<u8>)>,
    may_lack: bool,
}

impl Memory {
    pub(crate) fn new() -> Self {
        let meta = Value::Map(vec![]);
        Self {
            format: "memory",
            meta,
            datasets: vec![],
            bytes: vec![],
            damaged: vec![],
            masks: vec![],
            may_lack: false,
        }
    }

    /// Adds a row-major dataset.
    pub(crate) fn with(self, path: &str, dtype: &str, shape: &[u64], bytes: &[u8]) -> Self {
        self.with_type(path, DType::parse(dtype).unwrap(), shape, Order::C, bytes)
    }

    pub(crate) fn with_type(
        mut self,
        path: &str,
        dtype: DType,
        shape: &[u64],
        order: Order,
        bytes: &[u8],
    ) -> Self {
        let len = bytes.len() as u64;
        self.datasets.push(Dataset {
            path: path.into(),
            dtype,
            shape: shape.to_vec(),
            order,
            chunks: None,
            codec: "none".into(),
            stored: len,
            logical: len,
            attributes: vec![],
            visibility: Visibility::Always,
        });
        self.bytes.push(bytes.to_vec());
        self
    }

    fn dataset_mut(&mut self, path: &str) -> &mut Dataset {
        self.datasets.iter_mut().find(|dataset| dataset.path == path).unwrap()
    }

    pub(crate) fn hidden(mut self, path: &str) -> Self {
        self.dataset_mut(path).visibility = Visibility::Recursive;
        self
    }

    pub(crate) fn attribute(mut self, path: &str, name: &str, value: impl Into<Value>) -> Self {
        self.dataset_mut(path).attributes.push((name.into(), value.into()));
        self
    }

    /// Hides elements of a dataset of C order, those whose byte is not 0; with a byte for each of their scalars, these.
    pub(crate) fn masked(mut self, path: &str, mask: &[u8]) -> Self {
        self.masks.push((path.into(), mask.to_vec()));
        self
    }

    /// Makes every read of a dataset fail.
    pub(crate) fn damaged(mut self, path: &str) -> Self {
        self.damaged.push(path.into());
        self
    }

    /// A container of a format whose frames may lack datasets.
    pub(crate) fn may_lack(mut self) -> Self {
        self.may_lack = true;
        self
    }

    /// Everything that is listed, whole.
    pub(crate) fn all(&self) -> Vec<(usize, Region)> {
        self.datasets.iter().enumerate().map(|(index, one)| (index, Region::whole(&one.shape))).collect()
    }
}

impl Container for Memory {
    fn about(&self) -> About {
        About {
            format: self.format,
            version: Some("1".into()),
            size: self.bytes.iter().map(|bytes| bytes.len() as u64).sum(),
            complete: self.damaged.is_empty(),
            details: vec![("words".into(), Value::Int(8))],
        }
    }

    fn meta(&self) -> Result<Value> {
        Ok(self.meta.clone())
    }

    fn datasets(&self) -> &[Dataset] {
        &self.datasets
    }

    fn mask(&self, index: usize, region: &Region, _options: &ReadOptions) -> Result<Option<Array<'static>>> {
        let dataset = &*require(self, index)?;
        let Some((_, mask)) = self.masks.iter().find(|(path, _)| *path == dataset.path) else {
            return Ok(None);
        };
        let bytes = Cow::Owned(mask.clone());
        let dtype = match mask.len() as u64 == dataset.shape.iter().product::<u64>() {
            true => DType::native(Kind::Bool, 1),
            false => container_core::mask::mask_dtype(&dataset.dtype),
        };
        Array::new(dtype, dataset.shape.clone(), Order::C, bytes)?.select(region).map(Some)
    }

    fn read(&self, index: usize, region: &Region, _options: &ReadOptions) -> Result<Array<'_>> {
        let dataset = self.datasets.get(index).ok_or_else(|| Error::usage("no such dataset"))?;
        if self.damaged.contains(&dataset.path) {
            return Err(Error::malformed("the block is torn")
                .with_range(16..48)
                .with_context("memory block"));
        }
        let bytes = Cow::Borrowed(&self.bytes[index][..]);
        Array::new(dataset.dtype.clone(), dataset.shape.clone(), dataset.order, bytes)?.select(region)
    }
}

impl FileStructure for Memory {
    fn may_lack_datasets(&self) -> bool {
        self.may_lack
    }

    fn blocks(&self) -> Vec<&dyn Block> {
        vec![]
    }

    fn byte_map(&self) -> Vec<Segment> {
        vec![]
    }

    fn check(&self, _depth: CheckDepth, _options: &ReadOptions, _progress: Progress<'_>) -> Result<Report> {
        let torn = |path: &String| {
            Finding::new(Severity::Error, "torn", "the block is torn").at(16..48).dataset(path)
        };
        let counts = BlockCounts { total: 1, checked: 1, bad: self.damaged.len() as u64 };
        Ok(Report::new(self.damaged.iter().map(torn).collect(), counts))
    }
}

impl Interchange for Memory {
    fn export_metadata(&self, _selection: &[(usize, Region)]) -> Result<Value> {
        Ok(Value::Map(container_core::interchange::entries(&self.meta).to_vec()))
    }
}

/// A `.npy` file of version 1.0, by its specification; `descr` without quotes unless it is a list.
pub(crate) fn npy_bytes(descr: &str, fortran: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let descr = if descr.starts_with('[') { descr.to_owned() } else { format!("'{descr}'") };
    let mut text = format!("{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}");
    let len = (10 + text.len() + 1).next_multiple_of(64) - 10;
    text.push_str(&" ".repeat(len - 1 - text.len()));
    text.push('\n');
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend(u16::try_from(len).unwrap().to_le_bytes());
    file.extend(text.as_bytes());
    file.extend(data);
    file
}

/// A RawArray file by its specification: unsigned integers of 2 bytes, dims 2 × 3, first index fastest. numpy:
/// np.arange(6, dtype='<u2').reshape(2, 3) in Fortran order. The data start at 64.
#[cfg(feature = "rawarray")]
pub(crate) fn ra_bytes() -> Vec<u8> {
    let words = [0, 2, 2, 12, 2, 2, 3_u64];
    let header = words.iter().flat_map(|word| word.to_le_bytes());
    let data = [0_u16, 3, 1, 4, 2, 5].into_iter().flat_map(u16::to_le_bytes);
    b"rawarray".iter().copied().chain(header).chain(data).collect()
}

/// A format of items for tests: the magic `FAKE`, then for each note, name and item a letter, a length byte and the bytes.
pub(crate) static FAKE: Format = FAKE_FORMAT;

/// The same, to make others of.
pub(crate) const FAKE_FORMAT: Format = Format {
    extensions: &["fake"],
    magics: &[b"FAKE"],
    append: Some(append_fake),
    pack: Some(pack_fake),
    ..Format::new("fake", "Fake", |probe| probe.head.starts_with(b"FAKE"), open_fake)
};

fn record(letter: u8, bytes: &[u8]) -> Vec<u8> {
    [&[letter, u8::try_from(bytes.len()).unwrap()], bytes].concat()
}

fn pack_fake(pack: Pack<'_>, out: &mut dyn Output) -> Result<()> {
    let Pack { items, count, kind, names, others, .. } = pack;
    out.write_all(b"FAKE")?;
    for note in others {
        let Value::Text(note) = note else { panic!("{note:?}") };
        out.write_all(&record(b'o', note.as_bytes()))?;
    }
    let mut written = 0;
    for (index, item) in items.enumerate() {
        if let Some(names) = names {
            out.write_all(&record(b'n', names[index].as_bytes()))?;
        }
        out.write_all(&record(if kind == ItemKind::Text { b't' } else { b'b' }, &item?))?;
        written += 1;
    }
    assert_eq!(count, Some(written));
    Ok(())
}

fn open_fake(input: Input, _options: &OpenOptions) -> Result<Box<dyn Container>> {
    let source = input.into_source()?;
    let bytes = source.read(0..source.len())?;
    let (mut memory, mut others, mut name) = (Memory::new(), Vec::new(), None);
    let mut rest = &bytes[4..];
    while let [letter, len, more @ ..] = rest {
        let (record, left) = more.split_at(usize::from(*len));
        let text = || String::from_utf8(record.to_vec()).unwrap();
        match letter {
            b'o' => others.push(Value::from(text())),
            b'n' => name = Some(text()),
            _ => {
                let path = format!("items/{}", memory.datasets.len());
                let kind = if *letter == b't' { ItemKind::Text } else { ItemKind::Bytes };
                memory = memory.with(&path, "|u1", &[record.len() as u64], record);
                memory = memory.attribute(&path, ITEM, kind.word());
                if let Some(name) = name.take() {
                    memory = memory.attribute(&path, ITEM_NAME, name);
                }
            }
        }
        rest = left;
    }
    memory.meta = Value::Map(vec![("others".into(), others.into())]);
    Ok(Box::new(memory))
}

fn append_fake(
    path: &Path,
    options: &OpenOptions,
    import: &WriteRequest<'_>,
    _durability: Durability,
) -> Result<Vec<Loss>> {
    assert_eq!(import.read.digests, container_core::container::Digests::Compare);
    let mut bytes = std::fs::read(path)?;
    for (index, region) in import.selection {
        let array = import.container.read(*index, region, &import.read)?;
        bytes.extend(record(b'b', &array.bytes(Order::C, &options.limits)?));
    }
    std::fs::write(path, bytes)?;
    Ok(vec![Loss { dataset: None, what: "nothing".into() }])
}

/// The files below a path, or the one there, with their bytes.
pub(crate) fn bytes_below(path: &Path) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    if !path.is_dir() {
        return vec![(path.to_owned(), std::fs::read(path).unwrap())];
    }
    let mut entries: Vec<_> = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    entries.iter().flat_map(|entry| bytes_below(entry)).collect()
}
