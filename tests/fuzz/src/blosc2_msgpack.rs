//! msgpack of any bytes, and the parts of a frame that are made of it.

use blosc2_frame::b2nd::Meta;
use blosc2_frame::msgpack::{MAX_DEPTH, decode_json_text, from_value, metalayer_to_value, to_value};
use blosc2_frame::{Header, Metalayers, Trailer};
use container_core::Value;

use crate::lens::look_at_error;
use crate::options::small_options;

/// Decodes the bytes as everything that they could be; what can be decoded is encoded again, and is the same.
pub fn blosc2_msgpack(data: &[u8]) {
    let limits = small_options().limits;
    match to_value(data, &limits) {
        Ok(value) => again(&value),
        Err(error) => look_at_error(&error),
    }
    for name in ["b2nd", "caterva", "other"] {
        match metalayer_to_value(name, data, &limits) {
            Ok(value) => {
                let _ = decode_json_text(value);
            }
            Err(error) => look_at_error(&error),
        }
    }
    match Meta::parse(data) {
        Ok(meta) => assert_eq!(Meta::parse(&meta.encode()).expect("what was encoded"), meta),
        Err(error) => look_at_error(&error),
    }
    match Header::parse(data) {
        Ok(header) => assert_eq!(Header::parse(&header.encode()).expect("what was encoded"), header),
        Err(error) => look_at_error(&error),
    }
    match Metalayers::parse(data, 87) {
        Ok(all) => assert_eq!(Metalayers::parse(&all.encode(), 87).expect("what was encoded"), all),
        Err(error) => look_at_error(&error),
    }
    match Trailer::parse(data, 0) {
        Ok(trailer) => {
            assert_eq!(Trailer::parse(&trailer.encode(), 0).expect("what was encoded"), trailer);
        }
        Err(error) => look_at_error(&error),
    }
}

/// Lists and maps within each other.
fn depth(value: &Value) -> usize {
    match value {
        Value::List(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Map(entries) => 1 + entries.iter().map(|(_, value)| depth(value)).max().unwrap_or(0),
        _ => 0,
    }
}

fn again(value: &Value) {
    let encoded = match from_value(value) {
        Ok(encoded) => encoded,
        // A map whose keys are no text is a list of pairs, which has a level more.
        Err(error) => return assert!(depth(value) > MAX_DEPTH, "what was decoded: {error}"),
    };
    let limits = small_options().limits;
    match to_value(&encoded, &limits) {
        // What stands for a tuple is gone, so that a tuple that begins like one is another.
        Ok(second) => {
            let shown = (format!("{value:?}"), format!("{second:?}"));
            assert!(shown.0 == shown.1 || shown.0.contains("__tuple__"), "{} {}", shown.0, shown.1);
        }
        // Maps that stand for extensions can be deeper, and take more, than those.
        Err(error) => look_at_error(&error),
    }
}
