//! A column of a table as python-blosc2 shows it: its live rows in their own type, with nulls masked.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use container_core::array::{Array, byte_len};
use container_core::container::{Container, Dataset, ReadOptions, Visibility};
use container_core::dtype::{DType, Kind, Order};
use container_core::region::{AxisSelection, Kept, Region};
use container_core::source::try_zeroed_vec;
use container_core::{Error, Limits, Result, Value};

use super::super::check::in_place;
use super::super::container::Store;
use super::super::leaf::Leaf;
use super::live_rows::{Rows, is_flag};
use super::nulls::{Nulls, Sentinel};
use super::strings::{Of, Texts};
use crate::dataset_view::DATASET;

/// A column of a table that is shown in the place of a dataset of its leaf.
pub(crate) struct TableColumn {
    /// Index of its table.
    pub(crate) table: usize,
    /// Index among the datasets of the leaf; their number where none of them is the column.
    pub(crate) own: usize,
    name: String,
    kind: String,
    encoding: ColumnEncoding,
    nulls: Nulls,
    timezone: Option<Value>,
    /// Type of the elements, where all texts have to be seen for it.
    text_dtype: OnceLock<DType>,
}

/// Encoding of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ColumnEncoding {
    /// Elements of the column's type.
    Elements,
    /// Counts of a unit since 1970, in numpy's spelling: `[ms]`.
    Times(&'static str),
    /// Indices into the texts of another leaf.
    Codes { texts: usize, null: i64 },
    /// Starts of texts in the bytes of another leaf.
    Starts { bytes: usize },
    /// Lists of msgpack.
    Items(Of),
    /// In a way that is not decoded, and the reason.
    Refused(String),
}

const UNITS: [(&str, &str); 4] = [("s", "[s]"), ("ms", "[ms]"), ("us", "[us]"), ("ns", "[ns]")];

/// Kinds of which an element is one number or fixed text, or an array of them.
const ELEMENT_KINDS: [&str; 16] = [
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float32",
    "float64",
    "complex64",
    "complex128",
    "bool",
    "string",
    "bytes",
    "ndarray",
];

impl TableColumn {
    /// Returns the column that `spec` of a schema describes, with its values in the leaf of `key`.
    pub(crate) fn new(
        table: usize,
        name: &str,
        spec: &Value,
        (key, leaf): (&str, &Leaf),
        keys: &HashMap<String, usize>,
    ) -> Self {
        let text = |name: &str| match spec.get(name) {
            Some(Value::Text(text)) => text.as_str(),
            _ => "",
        };
        let kind = text("kind");
        let beside = |ending: &str| keys.get(&format!("{key}{ending}")).copied();
        let refused = |what: &str| ColumnEncoding::Refused(what.to_owned());
        let encoding = match kind {
            _ if ELEMENT_KINDS.contains(&kind) => ColumnEncoding::Elements,
            "timestamp" => match UNITS.iter().find(|(unit, _)| *unit == text("unit")) {
                Some((_, unit)) => ColumnEncoding::Times(unit),
                None => ColumnEncoding::Refused(format!("times in the unit {:?}", text("unit"))),
            },
            "dictionary" => match (beside("_dict"), spec.get("null_code")) {
                (Some(texts), Some(Value::Int(null))) => {
                    ColumnEncoding::Codes { texts, null: i64::try_from(*null).unwrap_or(-1) }
                }
                (Some(texts), None) => ColumnEncoding::Codes { texts, null: -1 },
                (Some(_), _) => refused("a null code that is not an integer"),
                (None, _) => refused("a missing dictionary"),
            },
            "utf8" => match beside(".utf8") {
                Some(bytes) => ColumnEncoding::Starts { bytes },
                None => refused("texts without their bytes"),
            },
            "vlstring" | "vlbytes" if !matches!(text("serializer"), "" | "msgpack") => {
                ColumnEncoding::Refused(format!("items of {}", text("serializer")))
            }
            "vlstring" => ColumnEncoding::Items(Of::Text),
            "vlbytes" => ColumnEncoding::Items(Of::Bytes),
            "list" => refused("lists, each of its own length"),
            "struct" => refused("maps (struct)"),
            "object" => refused("Python objects"),
            "" => refused("a kind that the schema does not give"),
            other => ColumnEncoding::Refused(format!("the kind {other:?}")),
        };
        let nulls = match (&encoding, spec.get("null_value")) {
            (ColumnEncoding::Codes { .. }, _) => Nulls::None,
            _ if text("null_storage") == "mask" => beside(".notnull").map_or(Nulls::None, Nulls::Flags),
            (ColumnEncoding::Items(_), _) => Nulls::Nil,
            (_, None | Some(Value::Null)) => Nulls::None,
            (_, Some(value)) => Nulls::Value(value.clone()),
        };
        Self {
            table,
            own: leaf.container().and_then(|container| container.find(DATASET)).unwrap_or(leaf.count),
            name: name.to_owned(),
            kind: kind.to_owned(),
            encoding,
            nulls,
            timezone: spec.get("timezone").filter(|zone| matches!(zone, Value::Text(_))).cloned(),
            text_dtype: OnceLock::new(),
        }
    }

    /// Creates a column of a table that is not decoded.
    pub(crate) fn undecoded(table: usize, name: &str, leaf: &Leaf, why: &str) -> Self {
        Self {
            table,
            own: leaf.container().and_then(|container| container.find(DATASET)).unwrap_or(leaf.count),
            name: name.to_owned(),
            kind: String::new(),
            encoding: ColumnEncoding::Refused(why.to_owned()),
            nulls: Nulls::None,
            timezone: None,
            text_dtype: OnceLock::new(),
        }
    }

    /// Returns name and kind of a column that is not decoded.
    pub(crate) fn refusal(&self) -> Option<(&str, &str)> {
        match &self.encoding {
            ColumnEncoding::Refused(why) => Some((&self.name, why)),
            _ => None,
        }
    }

    /// Whether the leaf holds items instead of an array of the column's shape.
    pub(crate) const fn is_of_items(&self) -> bool {
        matches!(self.encoding, ColumnEncoding::Items(_))
    }

    /// Whether the type of the column follows from all of its texts.
    pub(crate) const fn is_text(&self) -> bool {
        self.of().is_some()
    }

    /// Returns the column as a dataset. Where it cannot be read, that of the leaf.
    pub(crate) fn dataset(&self, store: &Store, leaf: &Leaf) -> Option<Dataset> {
        let container = leaf.container()?;
        let mut dataset = match container.dataset(self.own) {
            Some(dataset) => dataset.into_owned(),
            None => of_parts(&*container, leaf.count),
        };
        let mut attribute = |name: &str, value: Value| dataset.attributes.push((name.to_owned(), value));
        attribute("column", self.name.as_str().into());
        attribute("holds", "values".into());
        if !self.kind.is_empty() {
            attribute("kind", self.kind.as_str().into());
        }
        if let Some(zone) = &self.timezone {
            attribute("timezone", zone.clone());
        }
        match self.described(store, leaf) {
            Ok((dtype, shape)) => {
                // Chunks of what is stored are not chunks of what is left of it.
                if dataset.shape != shape {
                    dataset.chunks = None;
                }
                dataset.logical = byte_len(&dtype, &shape).unwrap_or(u64::MAX);
                (dataset.dtype, dataset.shape) = (dtype, shape);
            }
            Err(error) => {
                attribute("values", error.to_string().into());
                if let (Some(_), Ok(rows)) = (self.refusal(), store.rows(self.table)) {
                    (dataset.dtype, dataset.shape) = (DType::void(0), vec![rows.count()]);
                    (dataset.chunks, dataset.logical) = (None, 0);
                }
            }
        }
        Some(dataset)
    }

    /// Returns type and shape.
    ///
    /// # Errors
    /// The reason for which the column cannot be read.
    fn described(&self, store: &Store, leaf: &Leaf) -> Result<(DType, Vec<u64>)> {
        if let ColumnEncoding::Refused(what) = &self.encoding {
            let error = Error::unsupported(format!("column {} is not decoded: {what}", self.name));
            return Err(error.with_hint("--stored, for the stored values"));
        }
        let own = |error: Error| error.with_context(format!("column {}", self.name));
        let rows = store.rows(self.table)?;
        let mut shape = vec![rows.count()];
        if let ColumnEncoding::Items(_) = self.encoding {
            return Ok((self.text_dtype(store, leaf, &rows).map_err(own)?, shape));
        }
        let container = leaf.open()?;
        let dataset = container.require(self.own)?;
        let unlike = || own(Error::malformed(format!("{} of shape {:?}", dataset.dtype, dataset.shape)));
        let (stored, others) = dataset.shape.split_first().ok_or_else(unlike)?;
        let is_int = dataset.dtype.as_scalar().is_some_and(|it| it.kind == Kind::Int);
        let is_flat_int = is_int && others.is_empty();
        let dtype = match &self.encoding {
            ColumnEncoding::Elements => {
                rows.require_rows(*stored).map_err(own)?;
                shape.extend(others);
                dataset.dtype.clone()
            }
            ColumnEncoding::Times(unit) => {
                let order = dataset.dtype.as_scalar().filter(|it| it.size == 8 && is_flat_int);
                let order = order.ok_or_else(unlike)?.order;
                rows.require_rows(*stored).map_err(own)?;
                DType::new(Kind::Datetime((*unit).to_owned()), 8, order)
            }
            ColumnEncoding::Codes { .. } => {
                let _ =
                    dataset.dtype.as_scalar().filter(|it| it.size == 4 && is_flat_int).ok_or_else(unlike)?;
                rows.require_rows(*stored).map_err(own)?;
                self.text_dtype(store, leaf, &rows).map_err(own)?
            }
            ColumnEncoding::Starts { .. } | ColumnEncoding::Items(_) | ColumnEncoding::Refused(_) => {
                self.text_dtype(store, leaf, &rows).map_err(own)?
            }
        };
        match &self.nulls {
            Nulls::Flags(at) => {
                let flags = store.leaf_at(*at)?.open()?;
                let flags = flags.require(0)?;
                if !is_flag(&flags) || flags.shape.len() != 1 {
                    let problem = format!("nulls by {} of shape {:?}", flags.dtype, flags.shape);
                    return Err(own(Error::malformed(problem)));
                }
                let have = flags.shape.first().copied().unwrap_or(0);
                rows.require_rows(have).map_err(own)?;
            }
            Nulls::Value(value) if self.of().is_none() => {
                Sentinel::new(value, &dtype).map_err(own)?;
            }
            Nulls::Value(_) | Nulls::None | Nulls::Nil => {}
        }
        Ok((dtype, shape))
    }

    /// Returns the kind of texts that the column holds, if any.
    const fn of(&self) -> Option<Of> {
        match self.encoding {
            ColumnEncoding::Codes { .. } | ColumnEncoding::Starts { .. } => Some(Of::Text),
            ColumnEncoding::Items(of) => Some(of),
            ColumnEncoding::Elements | ColumnEncoding::Times(_) | ColumnEncoding::Refused(_) => None,
        }
    }

    fn text_dtype(&self, store: &Store, leaf: &Leaf, rows: &Rows) -> Result<DType> {
        if let Some(dtype) = self.text_dtype.get() {
            return Ok(dtype.clone());
        }
        let of = self.of().unwrap_or(Of::Text);
        let options = store.read_options();
        let texts = self.texts(store, leaf, &options)?;
        let width = if let ColumnEncoding::Codes { .. } = self.encoding {
            texts.width(0..texts.len(), of)?
        } else {
            rows.require_rows(texts.len())?;
            let axis = AxisSelection { start: 0, step: 1, count: rows.count(), kept: Kept::Yes };
            texts.width(rows.stored(&axis), of)?
        };
        Ok(self.text_dtype.get_or_init(|| of.dtype(width)).clone())
    }

    fn texts(&self, store: &Store, leaf: &Leaf, options: &ReadOptions) -> Result<Arc<Texts>> {
        store.texts_of(leaf, || match self.encoding {
            ColumnEncoding::Codes { texts, .. } => {
                Texts::of_batches(&*store.leaf_at(texts)?.open()?, Of::Text, options)
            }
            ColumnEncoding::Starts { bytes } => {
                Texts::of_bytes(&*leaf.open()?, &*store.leaf_at(bytes)?.open()?, options)
            }
            _ => Texts::of_batches(&*leaf.open()?, self.of().unwrap_or(Of::Text), options),
        })
    }

    /// As [`Container::absence`]: the column cannot be read.
    pub(crate) fn absence(&self, store: &Store, leaf: &Leaf, region: &Region) -> Option<Error> {
        if let Err(error) = self.described(store, leaf) {
            return Some(error);
        }
        let container = leaf.container().filter(|_| !self.is_of_items())?;
        let shape = container.dataset(self.own)?.shape.clone();
        let stored = match self.encoding {
            ColumnEncoding::Starts { .. } => Region::whole(&shape),
            _ => store.rows(self.table).ok()?.bounds(region, &shape)?,
        };
        container.absence(self.own, &stored).map(|error| in_place(error, &leaf.place))
    }

    /// As [`Container::repeated`].
    pub(crate) fn repeated(&self, store: &Store, leaf: &Leaf, region: &Region) -> Option<Vec<u8>> {
        let is_plain = matches!(self.encoding, ColumnEncoding::Elements | ColumnEncoding::Times(_))
            && self.nulls == Nulls::None;
        let container = leaf.container().filter(|_| is_plain)?;
        store.rows(self.table).ok()?.repeated(&*container, self.own, region)
    }

    /// As [`Container::read`].
    ///
    /// # Errors
    /// The reason for which the column cannot be read; those of reading the leaf.
    pub(crate) fn read(
        &self,
        store: &Store,
        leaf: &Leaf,
        region: &Region,
        options: &ReadOptions,
    ) -> Result<Array<'static>> {
        let (dtype, shape) = self.described(store, leaf)?;
        let region = Region::new(region.axes().to_vec(), &shape)?;
        let rows = store.rows(self.table)?;
        let limits = &options.limits;
        let select = || {
            let array = rows.select(&*leaf.open()?, self.own, &region, options);
            array.map_err(|error| in_place(error, &leaf.place))
        };
        let axis = region.axes().first().ok_or_else(|| Error::usage("no axis of rows"))?;
        let bytes = match &self.encoding {
            ColumnEncoding::Elements => return select(),
            ColumnEncoding::Times(_) => select()?.bytes(Order::C, limits)?.into_owned(),
            ColumnEncoding::Codes { null, .. } => {
                let texts = self.texts(store, leaf, options)?;
                self.decoded(&select()?, &texts, *null, &dtype, limits)?
            }
            ColumnEncoding::Starts { .. } | ColumnEncoding::Items(_) | ColumnEncoding::Refused(_) => {
                let of = self.of().unwrap_or(Of::Text);
                self.texts(store, leaf, options)?.select(&rows, axis, of, &dtype, limits)?
            }
        };
        Array::new(dtype, region.shape(), Order::C, Cow::Owned(bytes))
    }

    /// Returns the texts that codes mean.
    fn decoded(
        &self,
        codes: &Array<'_>,
        texts: &Texts,
        null: i64,
        dtype: &DType,
        limits: &Limits,
    ) -> Result<Vec<u8>> {
        let size = dtype.itemsize();
        let mut bytes = try_zeroed_vec(codes.len().saturating_mul(size as u64), limits)?;
        let codes = codes.elements::<i32>(Order::C, limits)?;
        for (element, code) in bytes.chunks_exact_mut(size.max(1)).zip(codes.iter()) {
            if i64::from(*code) == null {
                continue;
            }
            let text = u64::try_from(*code).ok().and_then(|code| texts.get(code)).ok_or_else(|| {
                let problem = format!("code {code} of {} texts", texts.len());
                Error::malformed(problem).with_context(format!("column {}", self.name))
            })?;
            Of::Text.put(text, element);
        }
        Ok(bytes)
    }

    /// As [`Container::mask`].
    ///
    /// # Errors
    /// As [`TableColumn::read`].
    pub(crate) fn mask(
        &self,
        store: &Store,
        leaf: &Leaf,
        region: &Region,
        options: &ReadOptions,
    ) -> Result<Option<Array<'static>>> {
        if self.nulls == Nulls::None && !matches!(self.encoding, ColumnEncoding::Codes { .. }) {
            return Ok(None);
        }
        let (dtype, shape) = self.described(store, leaf)?;
        let region = Region::new(region.axes().to_vec(), &shape)?;
        let rows = store.rows(self.table)?;
        let limits = &options.limits;
        let (axis, others) = region.axes().split_first().ok_or_else(|| Error::usage("no axis of rows"))?;
        // A row is null as a whole.
        let axis = AxisSelection { kept: Kept::Yes, ..*axis };
        let row = Region::new(vec![axis], &[rows.count()])?;
        let is_null: Vec<u8> = match (&self.encoding, &self.nulls) {
            (ColumnEncoding::Codes { null, .. }, _) => {
                let codes = rows.select(&*leaf.open()?, self.own, &row, options)?;
                let codes = codes.elements::<i32>(Order::C, limits)?;
                codes.iter().map(|code| u8::from(i64::from(*code) == *null)).collect()
            }
            (_, Nulls::Flags(at)) => {
                let flags = rows.select(&*store.leaf_at(*at)?.open()?, 0, &row, options)?;
                flags.bytes(Order::C, limits)?.iter().map(|flag| u8::from(*flag == 0)).collect()
            }
            (_, Nulls::Nil) => {
                let texts = self.texts(store, leaf, options)?;
                rows.stored(&axis).map(|number| u8::from(texts.is_missing(number))).collect()
            }
            (_, Nulls::Value(value)) if self.of().is_some() => {
                let texts = self.texts(store, leaf, options)?;
                let null = match value {
                    Value::Text(text) => Some(text.as_bytes()),
                    _ => None,
                };
                rows.stored(&axis)
                    .map(|number| u8::from(null.is_some() && texts.get(number) == null))
                    .collect()
            }
            (_, Nulls::Value(value)) => {
                let sentinel = Sentinel::new(value, &dtype)?;
                let whole = Region::whole(&shape);
                let all = whole.axes().get(1..).unwrap_or_default();
                let whole = Region::new(std::iter::once(axis).chain(all.iter().copied()).collect(), &shape)?;
                let array = rows.select(&*leaf.open()?, self.own, &whole, options)?;
                let bytes = array.bytes(Order::C, limits)?;
                let count = usize::try_from(axis.count).unwrap_or(usize::MAX).max(1);
                let each = bytes.len().checked_div(count).unwrap_or(0).max(1);
                bytes.chunks_exact(each).map(|row| u8::from(sentinel.is_all(row, &dtype))).collect()
            }
            (_, Nulls::None) => return Ok(None),
        };
        let each = others.iter().fold(1_u64, |product, axis| product.saturating_mul(axis.count));
        let mut mask = try_zeroed_vec(axis.count.saturating_mul(each), limits)?;
        let each = usize::try_from(each).unwrap_or(usize::MAX).max(1);
        mask.chunks_exact_mut(each).zip(&is_null).for_each(|(row, null)| row.fill(*null));
        Array::new(DType::native(Kind::Bool, 1), region.shape(), Order::C, Cow::Owned(mask)).map(Some)
    }
}

/// Returns a dataset for a leaf whose chunks are datasets of their own.
fn of_parts(container: &dyn Container, count: usize) -> Dataset {
    let parts = || (0..count).filter_map(|own| container.dataset(own));
    Dataset {
        path: DATASET.to_owned(),
        dtype: DType::void(0),
        shape: vec![0],
        order: Order::C,
        chunks: None,
        codec: parts().next().map_or_else(|| "none".to_owned(), |part| part.codec.clone()),
        stored: parts().map(|part| part.stored).fold(0, u64::saturating_add),
        logical: 0,
        attributes: Vec::new(),
        visibility: Visibility::Always,
    }
}
