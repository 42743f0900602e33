//! Random arrays, in the words of `testdata/asdf/peer.py`.

use container_core::dtype::{ByteOrder, DType, Kind};
use serde_json::{Value, json};

use crate::random::Random;
use crate::view::hex;

/// Types of numpy; the last ones are records.
pub const TYPES: [&str; 33] = [
    "|i1", "|u1", "<i2", ">i2", "<u2", ">u2", "<i4", ">i4", "<u4", ">u4", "<i8", ">i8", "<u8", ">u8", "<f4",
    ">f4", "<f8", ">f8", "<c8", ">c8", "<c16", ">c16", "|b1", "|S1", "|S5", "<U3", ">U2", "<f2", ">f2",
    RECORDS[0], RECORDS[1], RECORDS[2], RECORDS[3],
];

pub const RECORDS: [&str; 4] = [
    r#"[["a", "<i4"], ["b", "<f8"]]"#,
    r#"[["a", ">u2", [2, 3]], ["b", "|b1"]]"#,
    r#"[["x", "<i2"], ["n", [["p", "|i1"], ["q", ">f4"]]], ["s", "|S5"]]"#,
    r#"[["u", "<U2"], ["c", ">c8"], ["t", "|S2", [2]]]"#,
];

/// The type as JSON: text, or the list of fields.
pub fn type_json(dtype: &str) -> Value {
    if dtype.starts_with('[') { serde_json::from_str(dtype).unwrap() } else { dtype.into() }
}

pub fn is_float16(dtype: &str) -> bool {
    dtype.contains("f2")
}

impl Random {
    /// Elements of a type, none of them NaN, and text of letters.
    pub fn elements(&mut self, dtype: &str, count: usize) -> Vec<u8> {
        self.items(&DType::parse(dtype).unwrap(), count)
    }

    fn items(&mut self, dtype: &DType, count: usize) -> Vec<u8> {
        let scalar = match dtype {
            DType::Record(record) => {
                let mut items = Vec::new();
                for _ in 0..count {
                    for field in &record.fields {
                        let count = field.shape.iter().product();
                        items.extend(self.items(&field.dtype, count));
                    }
                }
                return items;
            }
            DType::Scalar(scalar) => scalar,
        };
        let style = self.below(4);
        let mut items = Vec::with_capacity(count * scalar.size);
        for at in 0..count {
            let big = !dtype.is_in_order(ByteOrder::Little);
            let number = match style {
                0 => at as u64 % 3,
                1 => at as u64,
                _ => self.bits(),
            };
            let mut put = |bytes: &[u8]| {
                if big {
                    items.extend(bytes.iter().rev());
                } else {
                    items.extend(bytes);
                }
            };
            let real = (number % 1_000_000) as f64 / 8.0 - 4000.0;
            match (&scalar.kind, scalar.size) {
                (Kind::Bool, _) => put(&[(number % 2) as u8]),
                (Kind::Float, 2) => put(&half::f16::from_f64(real).to_le_bytes()),
                (Kind::Float, 4) => put(&(real as f32).to_le_bytes()),
                (Kind::Float, _) => put(&real.to_le_bytes()),
                (Kind::Complex, 8) => {
                    put(&(real as f32).to_le_bytes());
                    put(&(-real as f32).to_le_bytes());
                }
                (Kind::Complex, _) => {
                    put(&real.to_le_bytes());
                    put(&(1.0 - real).to_le_bytes());
                }
                (Kind::Bytes, size) => {
                    let len = number as usize % (size + 1);
                    (0..size).for_each(|at| put(&[if at < len { b'a' + (number % 26) as u8 } else { 0 }]));
                }
                (Kind::Unicode, size) => {
                    let len = number as usize % (size / 4 + 1);
                    let letter = if number.is_multiple_of(2) { 'é' } else { '\u{1F600}' };
                    (0..size / 4)
                        .for_each(|at| put(&(if at < len { letter as u32 } else { 0 }).to_le_bytes()));
                }
                (_, size) => put(&number.to_le_bytes()[..size]),
            }
        }
        items
    }

    pub fn shape(&mut self) -> Vec<u64> {
        let dimensions = self.below(4) as usize;
        let most = [1, 150, 12, 5][dimensions];
        (0..dimensions).map(|_| if self.below(30) == 0 { 0 } else { 1 + self.below(most) }).collect()
    }

    /// An array for Python asdf to write: type, shape, values, and how it is stored.
    pub fn array(&mut self, types: &[&str], codecs: &[&str]) -> Value {
        let (dtype, shape) = (self.pick(types), self.shape());
        let count = shape.iter().product::<u64>() as usize;
        let mut about =
            json!({"dtype": type_json(dtype), "shape": shape, "hex": hex(&self.elements(dtype, count))});
        if self.chance(2) {
            about["order"] = "F".into();
        }
        if self.chance(3) {
            about["slices"] = shape.iter().map(|len| self.slice(*len)).collect();
        }
        let is_number = !dtype.contains(['[', 'S', 'U']);
        if is_number && self.chance(2) && about.get("slices").is_none() {
            let bytes = self.elements("|b1", count);
            about["mask"] = json!({"$array": {"dtype": "|b1", "shape": shape, "hex": hex(&bytes)}});
        }
        // The standard's schema wants lists in the tree, and Python does not read records within records from there, nor did it always
        // read lists of nothing.
        let no_text = shape.is_empty()
            || count == 0
            || about.get("slices").is_some()
            || (dtype.starts_with('[') && dtype != RECORDS[0]);
        let storage = if no_text { 2 + self.below(8) } else { self.below(10) };
        if storage < 2 {
            about["storage"] = "inline".into();
        } else if storage < 3 {
            about["storage"] = "external".into();
        } else if storage < 7 && !codecs.is_empty() {
            about["storage"] = "internal".into();
            about["compression"] = self.pick(codecs).into();
        }
        json!({ "$array": about })
    }

    fn slice(&mut self, len: u64) -> Value {
        match self.below(4) {
            0 => json!([null, null, -1]),
            1 => json!([self.below(len + 1), null, 1 + self.below(3)]),
            2 => json!([null, self.below(len + 1), null]),
            _ => json!([null, null, null]),
        }
    }
}
