//! Metadata of other formats as msgpack: what it has natively, and maps for other forms.

use std::collections::HashSet;

use container_core::{Result, Value, interchange};
use rmp::encode;

use super::MAX_DEPTH;
use super::write::{check_len, deeper, with_items, write as plain, wrong};

pub(super) fn whole(value: &Value) -> Result<Vec<u8>> {
    if let Some(("raw", Value::Bytes(bytes))) = interchange::form_of(value) {
        return Ok(bytes.clone());
    }
    let mut out = Vec::new();
    write(value, MAX_DEPTH, &mut out)?;
    Ok(out)
}

/// True for keys that python-blosc2 reads back: text and bytes, each once. For others, it refuses all user metadata of the frame. Text
/// that begins like a form would be taken for one.
fn has_plain_keys(pairs: &[(&Value, &Value)]) -> bool {
    let mut seen = HashSet::with_capacity(pairs.len());
    pairs.iter().all(|(key, _)| match key {
        Value::Text(text) => !text.starts_with(interchange::PREFIX) && seen.insert((true, text.as_bytes())),
        Value::Bytes(bytes) => seen.insert((false, bytes.as_slice())),
        _ => false,
    })
}

fn write(value: &Value, depth: usize, out: &mut Vec<u8>) -> Result<()> {
    if let Some(("pairs", Value::List(pairs))) = interchange::form_of(value)
        && let Some(pairs) = pairs.iter().map(interchange::pair).collect::<Option<Vec<_>>>()
        && has_plain_keys(&pairs)
    {
        let depth = deeper(depth)?;
        encode::write_map_len(out, check_len(pairs.len())?).map_err(wrong)?;
        for (key, value) in pairs {
            write(key, depth, out)?;
            write(value, depth, out)?;
        }
        return Ok(());
    }
    if let Some(("ext", Value::List(parts))) = interchange::form_of(value)
        && let [Value::Int(code), Value::Bytes(bytes)] = parts.as_slice()
        && let Ok(code) = i8::try_from(*code)
    {
        encode::write_ext_meta(out, check_len(bytes.len())?, 0).map_err(wrong)?;
        // The library has no negative codes, which msgpack keeps for itself; the code is the last byte.
        if let Some(place) = out.last_mut() {
            *place = code.to_ne_bytes()[0];
        }
        out.extend_from_slice(bytes);
        return Ok(());
    }
    match value {
        Value::Int(number) if i64::try_from(*number).is_err() && u64::try_from(*number).is_err() => {
            plain(&interchange::to_json_value(value), deeper(depth)?, out)
        }
        other => with_items(other, depth, out, write),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::msgpack::{from_interchange, to_interchange};
    use container_core::Limits;

    #[test]
    fn msgpack_round_trips_byte_for_byte() {
        // Python: msgpack.packb({b"k": b"a"}), msgpack.packb(msgpack.ExtType(5, b"xy")), a tuple as python-blosc2 marks it, no msgpack.
        for bytes in [
            &b"\x81\xc4\x01k\xc4\x01a"[..],
            b"\xd5\x05xy",
            b"\xd6\xff\x00\x00\x00\x01",
            b"\x93\xa9__tuple__\x01\x02",
            b"\xc1",
            b"\x81\xa1a\xcb\x7f\xf8\x00\x00\x00\x00\x00\x00",
        ] {
            let value = to_interchange(bytes, &Limits::default()).unwrap();
            assert_eq!(from_interchange(&value).unwrap(), bytes, "{value:?}");
        }
    }

    #[test]
    fn keys_that_python_refuses_are_in_a_form() {
        // Python: msgpack.packb({1: b"a"}), which msgpack.unpackb(..) with strict_map_key does not take.
        let value = to_interchange(b"\x81\x01\xc4\x01a", &Limits::default()).unwrap();
        let bytes = from_interchange(&value).unwrap();
        assert!(bytes.starts_with(b"\x81\xae$holdall:pairs\x91\x92\x01"), "{bytes:?}");
        assert_eq!(to_interchange(&bytes, &Limits::default()).unwrap(), value);
    }

    #[test]
    fn user_maps_with_reserved_keys_round_trip() {
        for key in ["$holdall:bytes", "$holdall:int", "$holdall:pairs", "$holdall:"] {
            let own = Value::Map(vec![(key.to_owned(), Value::Text("00ff".to_owned()))]);
            let value = interchange::escape_reserved(own, interchange::Forms::None);
            let bytes = from_interchange(&value).unwrap();
            let back = interchange::from_json_value(to_interchange(&bytes, &Limits::default()).unwrap());
            assert_eq!(back, value, "{key}");
        }
    }

    #[test]
    fn an_integer_beyond_64_bits_is_a_form() {
        let bytes = from_interchange(&Value::Int(-(1 << 70))).unwrap();
        let value = interchange::from_json_value(to_interchange(&bytes, &Limits::default()).unwrap());
        assert_eq!(value, Value::Int(-(1 << 70)));
    }
}
