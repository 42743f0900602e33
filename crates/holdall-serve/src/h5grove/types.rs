//! Element types as h5grove describes those of HDF5.

use container_core::dtype::{ByteOrder, DType, Field, Kind, Record, Scalar};
use serde_json::{Map, Value as Json, json};

// Classes of HDF5 types (H5T_class_t).
const INTEGER: u8 = 0;
const FLOAT: u8 = 1;
const STRING: u8 = 3;
const OPAQUE: u8 = 5;
const COMPOUND: u8 = 6;
const ENUM: u8 = 8;
const ARRAY: u8 = 10;

/// Representation of a scalar type in HDF5's terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// A boolean: an enumeration of `FALSE` and `TRUE` over bytes.
    Bool,
    /// An integer of 1, 2, 4 or 8 bytes, or a time difference.
    Integer {
        /// Two's complement.
        signed: bool,
    },
    /// IEEE of 2, 4 or 8 bytes, or bfloat16.
    Float,
    /// Two floats of this many bytes each.
    Complex(usize),
    /// Bytes padded with NULs.
    Bytes,
    /// Text of any length: UCS-4 and dates.
    Text,
    /// Bytes without an interpretation: also numbers that JavaScript lacks.
    Opaque,
}

impl Class {
    pub(super) fn of(scalar: &Scalar) -> Self {
        match (&scalar.kind, scalar.size) {
            (Kind::Bool, 1) => Self::Bool,
            (Kind::Int, 1 | 2 | 4 | 8) | (Kind::Timedelta(_), 8) => Self::Integer { signed: true },
            (Kind::Uint, 1 | 2 | 4 | 8) => Self::Integer { signed: false },
            (Kind::Float, 2 | 4 | 8) | (Kind::BFloat, 2) => Self::Float,
            (Kind::Complex, size @ (4 | 8 | 16)) => Self::Complex(size / 2),
            (Kind::Bytes, _) => Self::Bytes,
            (Kind::Unicode, _) | (Kind::Datetime(_), 8) => Self::Text,
            _ => Self::Opaque,
        }
    }

    /// Whether h5grove sends values of the class in binary under `dtype=safe`.
    pub(super) const fn is_numeric(self) -> bool {
        matches!(self, Self::Bool | Self::Integer { .. } | Self::Float | Self::Complex(_))
    }
}

/// The `type` of a dataset of `dtype`. `tag` names an opaque type; without one it has numpy's name.
pub(super) fn type_json(dtype: &DType, tag: Option<&str>) -> Json {
    match dtype {
        DType::Scalar(scalar) => scalar_json(scalar, tag),
        DType::Record(record) => record_json(record),
    }
}

/// The `type` of text of any length, as h5py writes Python's strings.
pub(super) fn text_json() -> Json {
    // `strpad` is h5grove's key, `strPad` the one that h5web 17 reads.
    json!({ "class": STRING, "dtype": "|O", "size": 8, "cset": 1, "strpad": 0, "strPad": 0, "vlen": true })
}

fn scalar_json(scalar: &Scalar, tag: Option<&str>) -> Json {
    let dtype = name(&DType::Scalar(scalar.clone()));
    let size = scalar.size;
    let order = match scalar.order {
        ByteOrder::Little => 0,
        ByteOrder::Big => 1,
    };
    match Class::of(scalar) {
        Class::Bool => json!({
            "class": ENUM, "dtype": dtype, "size": 1,
            "members": { "FALSE": 0, "TRUE": 1 },
            "base": { "class": INTEGER, "dtype": "|i1", "size": 1, "order": 0, "sign": 1 },
        }),
        Class::Integer { signed } => {
            json!({ "class": INTEGER, "dtype": dtype, "size": size, "order": order, "sign": u8::from(signed) })
        }
        Class::Float => json!({ "class": FLOAT, "dtype": dtype, "size": size, "order": order }),
        Class::Complex(half) => {
            let part = DType::new(Kind::Float, half, scalar.order);
            let member = |part_name: &str| {
                let part = name(&part);
                json!({ "name": part_name, "class": FLOAT, "dtype": part, "size": half, "order": order })
            };
            json!({ "class": COMPOUND, "dtype": dtype, "size": size, "members": [member("r"), member("i")] })
        }
        Class::Bytes => json!({
            "class": STRING, "dtype": dtype, "size": size, "cset": 0, "strpad": 1, "strPad": 1, "vlen": false,
        }),
        Class::Text => text_json(),
        Class::Opaque => {
            let is_void = scalar.kind == Kind::Void;
            let tag = tag.map_or_else(|| if is_void { String::new() } else { dtype.clone() }, str::to_owned);
            json!({ "class": OPAQUE, "dtype": dtype, "size": size, "tag": tag })
        }
    }
}

fn record_json(record: &Record) -> Json {
    let members: Vec<Json> = record.fields.iter().map(member_json).collect();
    let dtype = names(record);
    json!({ "class": COMPOUND, "dtype": dtype, "size": record.size, "members": members })
}

fn member_json(field: &Field) -> Json {
    let base = type_json(&field.dtype, None);
    let described = if field.shape.is_empty() {
        base
    } else {
        let size = len(field);
        json!({ "class": ARRAY, "dtype": format!("|V{size}"), "size": size, "dims": field.shape, "base": base })
    };
    let mut member = Map::new();
    member.insert("name".to_owned(), field.name.as_str().into());
    if let Json::Object(described) = described {
        member.extend(described);
    }
    member.into()
}

/// Bytes of a field, its sub-array spelled out.
fn len(field: &Field) -> usize {
    field.shape.iter().copied().fold(field.dtype.itemsize(), usize::saturating_mul)
}

/// numpy's `dtype.str`; `bfloat16` for the type that numpy lacks.
fn name(dtype: &DType) -> String {
    match dtype.as_scalar() {
        Some(scalar) if scalar.kind == Kind::BFloat => "bfloat16".to_owned(),
        _ => dtype.to_string(),
    }
}

/// Type names of the fields of a record, as h5grove's `stringify_dtype` nests them.
fn names(record: &Record) -> Json {
    let fields = record.fields.iter().map(|field| {
        let own = match &field.dtype {
            _ if !field.shape.is_empty() => Json::from(format!("|V{}", len(field))),
            DType::Record(inner) => names(inner),
            scalar => match scalar.as_scalar().map(Class::of) {
                Some(Class::Text) => "|O".into(),
                _ => name(scalar).into(),
            },
        };
        (field.name.clone(), own)
    });
    Json::Object(fields.collect())
}
