use container_core::ErrorKind;
use container_core::dtype::{DType, Field, Kind as DKind, Record};

use super::*;
use crate::tree::emit_options;
use crate::yaml::{Collection, Document, YamlLimits, emit_node};

fn datatype(text: &str, order: ByteOrder) -> Result<DType> {
    let document = Document::parse(text.as_bytes(), 0, &YamlLimits::default())?;
    Datatype::parse(document.root(), order).map(|datatype| datatype.dtype)
}

fn spelled(dtype: &DType) -> Result<String> {
    let yaml = Datatype::to_yaml(dtype)?;
    emit_node(&yaml, 0, Collection::Flow, &emit_options())
}

#[test]
fn names_are_numpys_types() {
    // ASDF standard 1.6.0, core schemas, datatype; and numpy's names.
    for (name, little, big) in [
        ("int8", "|i1", "|i1"),
        ("int64", "<i8", ">i8"),
        ("uint16", "<u2", ">u2"),
        ("float16", "<f2", ">f2"),
        ("float32", "<f4", ">f4"),
        ("complex64", "<c8", ">c8"),
        ("complex128", "<c16", ">c16"),
        ("bool8", "|b1", "|b1"),
        ("[ascii, 5]", "|S5", "|S5"),
        ("[ucs4, 5]", "<U5", ">U5"),
        ("[ascii, 0]", "|S0", "|S0"),
    ] {
        for (order, numpy) in [(ByteOrder::Little, little), (ByteOrder::Big, big)] {
            let dtype = datatype(name, order).unwrap();
            assert_eq!(dtype.to_string(), numpy, "{name}");
            assert_eq!(spelled(&dtype).unwrap().trim(), name, "{name}");
        }
    }
    // Of ASDF.jl and asdf-cxx.
    assert_eq!(datatype("int128", ByteOrder::Big).unwrap(), DType::new(DKind::Int, 16, ByteOrder::Big));
    assert_eq!(datatype("complex32", ByteOrder::Big).unwrap(), DType::new(DKind::Complex, 4, ByteOrder::Big));
}

#[test]
fn records_are_packed_and_their_fields_have_orders_of_their_own() {
    let text = concat!(
        "[{name: a, datatype: uint8}, {name: b, datatype: int32, byteorder: little, shape: [2, 3]}, float64,\n",
        " {name: c, datatype: [[ascii, 3], {name: d, datatype: [ucs4, 2]}]}, [ascii, 7]]"
    );
    let dtype = datatype(text, ByteOrder::Big).unwrap();
    let python = "[('a', '|u1'), ('b', '<i4', (2, 3)), ('f2', '>f8'), ('c', [('f0', '|S3'), ('d', '>U2')]), ('f4', '|S7')]";
    assert_eq!(dtype, DType::parse(python).unwrap());
    assert_eq!(dtype.itemsize(), 1 + 24 + 8 + 11 + 7);
    let again = datatype(&spelled(&dtype).unwrap(), ByteOrder::Little).unwrap();
    assert_eq!(again, dtype);
    // A list of two is text where it can be.
    assert_eq!(datatype("[ascii, 5]", ByteOrder::Big).unwrap().itemsize(), 5);
    assert_eq!(datatype("[int8, int16]", ByteOrder::Big).unwrap().itemsize(), 3);
}

#[test]
fn a_field_has_as_many_axes_as_an_array_of_numpy() {
    let of = |axes: usize| {
        let shape = vec!["1"; axes].join(", ");
        datatype(&format!("[{{name: a, datatype: int8, shape: [{shape}]}}]"), ByteOrder::Little)
    };
    assert!(of(64).is_ok());
    let error = of(65).unwrap_err().to_string();
    assert!(error.contains("more than 64 axes"), "{error}");
}

#[test]
fn invalid_datatypes_are_refused() {
    for text in [
        "[]",
        "{}",
        "[ascii, -1]",
        "[ucs4, 9223372036854775807]",
        "[ascii]",
        "[[ascii, x], int8]",
        "[{name: a}]",
    ] {
        assert!(datatype(text, ByteOrder::Big).is_err(), "{text}");
    }
    let deep = "[".repeat(60) + "int8" + &"]".repeat(60);
    assert!(matches!(datatype(&deep, ByteOrder::Big).unwrap_err().kind(), ErrorKind::Malformed(_)));
    assert!(matches!(datatype("float128", ByteOrder::Big).unwrap_err().kind(), ErrorKind::Unsupported(_)));
    let huge = "[{datatype: int8, shape: [4294967296, 4294967296, 4294967296]}]";
    assert!(matches!(datatype(huge, ByteOrder::Big).unwrap_err().kind(), ErrorKind::Malformed(_)));
}

#[test]
fn types_that_asdf_lacks_are_not_written() {
    for numpy in ["<M8[ns]", "<m8[s]", "|V3", "<f16", "<c32", "bfloat16"] {
        let error = spelled(&DType::parse(numpy).unwrap()).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Unsupported(_)), "{numpy}");
        assert!(error.hint().is_some(), "{numpy}");
    }
    let field = |offset| Field {
        name: format!("at{offset}"),
        title: None,
        dtype: DType::new(DKind::Float, 8, ByteOrder::Little),
        shape: vec![],
        offset,
    };
    for record in [
        Record { fields: vec![field(0), field(16)], size: 24 },
        Record { fields: vec![field(0)], size: 16 },
        Record { fields: vec![field(0), field(0)], size: 8 },
        Record { fields: vec![], size: 0 },
    ] {
        assert!(spelled(&DType::Record(record)).is_err());
    }
}

#[test]
fn the_arrays_byte_order_is_that_of_its_numbers() {
    for (numpy, order) in [
        ("<f8", ByteOrder::Little),
        (">f8", ByteOrder::Big),
        ("|u1", ByteOrder::Big),
        ("|S3", ByteOrder::Big),
        ("[('a', '|u1'), ('b', '<i4')]", ByteOrder::Little),
    ] {
        assert_eq!(Datatype::byteorder_of(&DType::parse(numpy).unwrap()), order, "{numpy}");
    }
}
