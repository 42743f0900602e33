//! The metadata of a numpy array: type, shape and order, in the three spellings that releases of bloscpack have had.
//!
//! * 0.4.0: the type as a JSON list even for plain types, `[["","<f8"]]`: one field without a name.
//! * 0.4.1 to 0.7.1: plain types as text, `"<f8"`; records as JSON lists.
//! * Since 0.7.2: the `repr` of either, as text: `"'<f8'"`, `"[('a', '<i4')]"`. Read as a literal, never evaluated.

use container_core::dtype::{DType, Order};
use container_core::{Error, Limits, Result, Value};

/// Type, shape and order of the array in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumpyArray {
    /// Element type, with its byte order.
    pub dtype: DType,
    /// Length of each axis; empty for a scalar.
    pub shape: Vec<u64>,
    /// Order of the elements in the file; the shape is the same in both.
    pub order: Order,
}

impl NumpyArray {
    /// The array that metadata describe; `None` for other metadata (`container` is not `numpy`).
    ///
    /// # Errors
    /// `Malformed` for an invalid type, shape or order; `Unsupported` for types that only Python has, its objects above
    /// all; `Limit` for too many dimensions.
    pub fn from_metadata(metadata: &Value, limits: &Limits) -> Result<Option<Self>> {
        if metadata.get("container") != Some(&Value::from("numpy")) {
            return Ok(None);
        }
        Self::described(metadata, limits).map(Some).map_err(|error| error.with_context("numpy metadata"))
    }

    fn described(metadata: &Value, limits: &Limits) -> Result<Self> {
        let missing = |key: &str| Error::malformed(format!("missing {key}"));
        let dtype = DType::from_value(metadata.get("dtype").ok_or_else(|| missing("dtype"))?)?;
        let Some(Value::List(dims)) = metadata.get("shape") else { return Err(missing("shape")) };
        if dims.len() as u64 > limits.ndims {
            return Err(Error::limit("number of dimensions", dims.len() as u64, limits.ndims));
        }
        let dim = |value: &Value| match value {
            Value::Int(dim) => u64::try_from(*dim).ok(),
            _ => None,
        };
        let shape = dims.iter().map(dim).collect::<Option<_>>();
        let shape = shape.ok_or_else(|| Error::malformed("the shape is not a list of lengths"))?;
        let order = match metadata.get("order") {
            Some(Value::Text(order)) if order == "C" => Order::C,
            Some(Value::Text(order)) if order == "F" => Order::F,
            None => return Err(missing("order")),
            Some(_) => return Err(Error::malformed("the order is neither C nor F")),
        };
        Ok(Self { dtype, shape, order })
    }

    /// The metadata as the reference writes them today, with its order of keys.
    #[must_use]
    pub fn to_metadata(&self) -> Value {
        let shape: Vec<Value> = self.shape.iter().map(|dim| (*dim).into()).collect();
        Value::Map(vec![
            ("dtype".into(), self.dtype.descr().repr().into()),
            ("shape".into(), shape.into()),
            ("order".into(), self.order.letter().into()),
            ("container".into(), "numpy".into()),
        ])
    }
}

#[cfg(test)]
mod tests {
    use container_core::ErrorKind;

    use super::*;
    use crate::metadata::{from_json, to_json};

    fn read(json: &str) -> Result<Option<NumpyArray>> {
        let limits = Limits::default();
        NumpyArray::from_metadata(&from_json(json.as_bytes(), &limits)?.0, &limits)
    }

    fn with_dtype(dtype: &str) -> Result<Option<NumpyArray>> {
        read(&format!(r#"{{"dtype":{dtype},"shape":[3],"order":"C","container":"numpy"}}"#))
    }

    /// `json.dumps(repr(...))` of what bloscpack 0.16 writes for these numpy types, and numpy's own description.
    #[test]
    fn types_as_written_today_come_back_byte_for_byte() {
        let texts = [
            "'|b1'",
            "'|i1'",
            "'<u2'",
            "'>i4'",
            "'<f2'",
            "'<f16'",
            "'<c16'",
            "'|S5'",
            "'<U3'",
            "'<M8[ms]'",
            "'<m8[25us]'",
            "'|V4'",
            "[('a', '<i4'), ('b', '>f8'), ('c', '|S2')]",
            "[('a', '<i4'), ('b', [('x', '<f8'), ('y', '<i2', (2,))])]",
            "[(('T', 'n'), '<i4')]",
            "[('a', '|i1'), ('', '|V7'), ('b', '<f8')]",
        ];
        for text in texts {
            let json = format!(r#"{{"dtype":"{text}","shape":[2,0,7],"order":"F","container":"numpy"}}"#);
            let array = read(&json).unwrap().unwrap();
            assert_eq!((&array.shape[..], array.order), (&[2, 0, 7][..], Order::F));
            assert_eq!(to_json(&array.to_metadata()).unwrap(), json);
        }
    }

    #[test]
    fn the_older_spellings_mean_the_same() {
        let today = |text: &str| with_dtype(&format!("\"{text}\"")).unwrap().unwrap().dtype;
        let older = |json: &str| with_dtype(json).unwrap().unwrap().dtype;
        // 0.4.0, where numpy 1's descr of a plain type is a field without a name.
        assert_eq!(older(r#"[["","<f8"]]"#), today("'<f8'"));
        assert_eq!(older(r#"[["","|V4"]]"#), today("'|V4'"));
        // 0.4.1 to 0.7.1.
        assert_eq!(older(r#""<f8""#), today("'<f8'"));
        assert_eq!(older(r#"[["a","<f8"]]"#), today("[('a', '<f8')]"));
        let nested = r#"[["a","<i4"],["b",[["x","<f8"],["y","<i2",[2]]]]]"#;
        assert_eq!(older(nested), today("[('a', '<i4'), ('b', [('x', '<f8'), ('y', '<i2', (2,))])]"));
        // Python 2 on Windows writes longs.
        assert_eq!(older(r#""[('y', '<i2', (2L, 3L))]""#), today("[('y', '<i2', (2, 3))]"));
    }

    #[test]
    fn only_valid_numpy_metadata_describes_an_array() {
        assert_eq!(read("{}").unwrap(), None);
        assert_eq!(read("[1,2]").unwrap(), None);
        assert_eq!(read(r#"{"container":"pandas","dtype":"x"}"#).unwrap(), None);
        let kind = |json: &str| read(json).unwrap_err().into_kind();
        assert!(matches!(kind(r#"{"container":"numpy"}"#), ErrorKind::Malformed(_)));
        for (dtype, shape, order) in [
            ("\"'<f8'\"", "[-1]", "\"C\""),
            ("\"'<f8'\"", "[1.0]", "\"C\""),
            ("\"'<f8'\"", "3", "\"C\""),
            ("\"'<f8'\"", "[99999999999999999999999]", "\"C\""),
            ("\"'<f8'\"", "[3]", "\"A\""),
            ("\"__import__('os')\"", "[3]", "\"C\""),
            ("7", "[3]", "\"C\""),
            ("[]", "[3]", "null"),
        ] {
            let json = format!(r#"{{"dtype":{dtype},"shape":{shape},"order":{order},"container":"numpy"}}"#);
            assert!(matches!(kind(&json), ErrorKind::Malformed(_)), "{json}");
        }
        assert!(matches!(with_dtype("\"'|O'\"").unwrap_err().kind(), ErrorKind::Unsupported(_)));
        let many =
            format!(r#"{{"dtype":"'<f8'","shape":[{}1],"order":"C","container":"numpy"}}"#, "1,".repeat(64));
        assert!(matches!(kind(&many), ErrorKind::Limit { .. }));
    }
}
