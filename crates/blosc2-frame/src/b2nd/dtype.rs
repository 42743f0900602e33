//! The element type that a metalayer names.

use container_core::dtype::DType;
use container_core::{Error, Result};

use super::Meta;

/// The dtype that C-Blosc2 writes for callers that name no type, for any size of elements.
const DEFAULT: &str = "|u1";

/// Returns the element type of an array in a frame whose elements have `itemsize` bytes.
///
/// Strings are numpy's, `dtype.str` or the text of `dtype.descr`; names such as `uint8` are taken, too. Without one, or with
/// C-Blosc2's default for elements of another size, elements are opaque.
///
/// # Errors
/// `Malformed` for a string that is not a type or is one of another size; `Unsupported` for Python objects and the like, and for
/// strings of a kind that is not numpy's.
pub(crate) fn parse(meta: &Meta, itemsize: usize) -> Result<DType> {
    let in_meta = |error: Error| error.with_context("b2nd element type");
    if let Some(format) = meta.dtype_format.filter(|format| *format != 0) {
        let problem = format!("unsupported format {format} of the element type (expected 0, numpy)");
        return Err(in_meta(Error::unsupported(problem)));
    }
    let text = meta.dtype.trim_end_matches('\0');
    if (text.is_empty() || text == DEFAULT) && itemsize != 1 {
        return Ok(DType::void(itemsize));
    }
    let dtype = DType::parse(if text.is_empty() { DEFAULT } else { text }).map_err(in_meta)?;
    if dtype.itemsize() != itemsize {
        let problem =
            format!("{dtype} has {} bytes (expected {itemsize}, as the elements)", dtype.itemsize());
        return Err(in_meta(Error::malformed(problem)));
    }
    Ok(dtype)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dtype(text: &str, itemsize: usize) -> Result<DType> {
        let format = if text.is_empty() { None } else { Some(0) };
        parse(&Meta { dtype_format: format, dtype: text.into(), ..Meta::default() }, itemsize)
    }

    #[test]
    fn numpys_strings_and_records_and_names_are_taken() {
        assert_eq!(dtype("<U7", 28).unwrap().to_string(), "<U7");
        assert_eq!(dtype("uint8", 1).unwrap().to_string(), "|u1");
        let record = dtype("[('a', '<i4'), ('b', '<f8', (2,)), ('c', 'S5')]", 25).unwrap();
        assert!(
            matches!(&record, DType::Record(record) if record.fields.len() == 3 && record.fields[1].offset == 4)
        );
    }

    #[test]
    fn without_a_type_elements_are_opaque() {
        assert_eq!(dtype("", 1).unwrap().to_string(), "|u1");
        assert_eq!(dtype("", 3).unwrap(), DType::void(3));
        assert_eq!(dtype("|u1", 8).unwrap(), DType::void(8));
    }

    #[test]
    fn a_type_of_another_size_is_refused() {
        assert!(matches!(dtype("<f4", 8).unwrap_err().kind(), container_core::ErrorKind::Malformed(_)));
        assert!(dtype("nonsense", 8).is_err());
        let meta = Meta { dtype_format: Some(1), dtype: "<f4".into(), ..Meta::default() };
        assert!(matches!(parse(&meta, 4).unwrap_err().kind(), container_core::ErrorKind::Unsupported(_)));
    }
}
