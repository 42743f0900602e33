//! Values in the words of `testdata/asdf/peer.py` as trees of ours.

use asdf::types::complex::{self, Complex};
use asdf::yaml::{Timestamp, Yaml};
use serde_json::Value;

/// The tree of a value without arrays.
pub fn yaml(value: &Value) -> Yaml {
    match value {
        Value::Null => Yaml::Null,
        Value::Bool(value) => Yaml::Bool(*value),
        Value::Number(number) => match number.as_i64() {
            Some(number) => Yaml::int(number),
            None => Yaml::Float(number.as_f64().unwrap()),
        },
        Value::String(text) => Yaml::text(text),
        Value::Array(items) => Yaml::sequence(items.iter().map(yaml)),
        Value::Object(pairs) => match pairs.iter().next().filter(|(key, _)| key.starts_with('$')) {
            Some((kind, value)) => special(kind, value),
            None => Yaml::mapping(pairs.iter().map(|(key, value)| (key, yaml(value)))),
        },
    }
}

fn special(kind: &str, value: &Value) -> Yaml {
    match kind {
        "$float" => Yaml::Float(float(value)),
        "$bytes" => Yaml::Binary(unhex(value.as_str().unwrap())),
        "$complex" => {
            let [re, im] = [0, 1].map(|part| value[part].as_f64().unwrap());
            Yaml::text(complex::text(Complex { re, im })).tagged("tag:stsci.edu:asdf/core/complex-1.0.0")
        }
        "$date" | "$datetime" => Yaml::Timestamp(timestamp(value.as_str().unwrap())),
        "$tag" => yaml(&value[1]).tagged(value[0].as_str().unwrap()),
        other => panic!("{other}"),
    }
}

fn float(value: &Value) -> f64 {
    match value.as_str().unwrap() {
        "nan" => f64::NAN,
        text => text.parse().unwrap(),
    }
}

pub fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

/// Reads what Python's `isoformat` writes, in UTC.
fn timestamp(text: &str) -> Timestamp {
    let number = |range: std::ops::Range<usize>| text[range].parse::<u32>().unwrap();
    let time = (text.len() > 10).then(|| {
        let micros = if &text[19..20] == "." { number(20..26) } else { 0 };
        (number(11..13) as u8, number(14..16) as u8, number(17..19) as u8, micros)
    });
    Timestamp {
        year: number(0..4) as i32,
        month: number(5..7) as u8,
        day: number(8..10) as u8,
        time,
        offset: time.map(|_| 0),
    }
}
