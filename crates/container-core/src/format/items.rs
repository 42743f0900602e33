//! Items: values of a length of each one's own, such as lines of text, in formats that hold them.

use super::TargetOptions;
use crate::container::Dataset;
use crate::dtype::{ByteOrder, DType};
use crate::{Error, Progress, Result, Value};

/// Items to write, one after the other.
pub struct Pack<'a> {
    /// The items' bytes, in order.
    pub items: &'a mut dyn Iterator<Item = Result<Vec<u8>>>,
    /// Number of items, if it is fixed in advance.
    pub count: Option<u64>,
    /// Kind of the items.
    pub kind: ItemKind,
    /// The type of their elements, where they are [`ItemKind::Numbers`].
    pub dtype: Option<&'a DType>,
    /// Their names, where they have any: as many as there are items.
    pub names: Option<&'a [String]>,
    /// Further values to store with them, in the format's list for such values (`others` in Bloscpack's metadata).
    pub others: &'a [Value],
    /// Options for writing them.
    pub options: &'a TargetOptions,
    /// Called with `(done, total)` in items; the total is 0 until it is determined.
    pub progress: Progress<'a>,
}

/// The attribute in which a container gives the kind of an item: [`ItemKind::word`].
pub const ITEM: &str = "item";

/// The attribute in which a container gives the name of an item, if it has one.
pub const ITEM_NAME: &str = "name";

/// Kind of items. A container gives it as the attribute [`ITEM`] of an item's dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemKind {
    /// UTF-8 text.
    Text,
    /// Bytes of any kind.
    Bytes,
    /// Elements of one type: an array of one axis.
    Numbers,
}

impl ItemKind {
    /// `text`, `bytes` or `numbers`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Bytes => "bytes",
            Self::Numbers => "numbers",
        }
    }
}

/// The byte order that the elements of a dataset get as an item of a file whose items are elements of `dtype`; `None` where it is already
/// right. Bytes are reinterpreted as such elements.
///
/// # Errors
/// `Usage` for text and for elements of another type.
pub fn item_order(dataset: &Dataset, dtype: &DType) -> Result<Option<ByteOrder>> {
    let kind = dataset.attributes.iter().find(|(key, _)| key == ITEM).map(|(_, kind)| kind);
    let is = |word: ItemKind| kind == Some(&Value::from(word.word()));
    let order = match is(ItemKind::Text) {
        true => Err(Error::usage(format!("the file has items of {dtype}, not text"))),
        false if is(ItemKind::Bytes) && dataset.dtype.itemsize() == 1 => Ok(None),
        false => dataset.dtype.order_for(dtype),
    };
    order.map_err(|error| error.with_context(dataset.path.clone()))
}
