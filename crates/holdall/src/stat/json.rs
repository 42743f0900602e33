//! `holdall.stat/1`.

use serde_json::{Map, Value as Json, json};

use super::{Measured, Number, PERCENTILES, Stat, Summary};
use crate::address::typed;
use crate::json::dtype_json;
use crate::repr::write_item;

/// `holdall.stat/1`: the statistics of one dataset, or of one field of its records. `path` and `selection` as the user named them.
#[must_use]
pub fn stat_json(path: &str, dataset: &str, selection: Option<&str>, stat: &Stat) -> Json {
    let mut line = Map::new();
    let mut put = |key: &str, value: Json| line.insert(key.to_owned(), value);
    put("schema", "holdall.stat/1".into());
    put("path", path.into());
    put("dataset", typed(dataset).into());
    put("selection", selection.into());
    put("field", stat.field.clone().into());
    put("dtype", dtype_json(&stat.dtype));
    put("of", stat.of.name().into());
    put("count", stat.count.into());
    put("nan", stat.nan.into());
    put("neg_inf", stat.negative_infinity.into());
    put("pos_inf", stat.positive_infinity.into());
    put("empty", stat.empty.into());
    put("masked", stat.masked.into());
    let summary = stat.summary.as_ref();
    let or_null = |value: &dyn Fn(&Summary) -> Json| summary.map_or(Json::Null, value);
    put("min", or_null(&|found| stat.number_json(found.min)));
    put("max", or_null(&|found| stat.number_json(found.max)));
    put("sum", or_null(&|found| if stat.of == Measured::Dates { Json::Null } else { number(found.sum) }));
    put("mean", or_null(&|found| if stat.of == Measured::Dates { Json::Null } else { found.mean.into() }));
    put("std", or_null(&|found| found.std.into()));
    put(
        "percentiles",
        or_null(&|found| {
            let pairs = PERCENTILES.iter().zip(found.percentiles);
            pairs.map(|(percent, value)| (percent.to_string(), stat.number_json(value))).collect()
        }),
    );
    put("percentiles_are", summary.map(|_| "exact").into());
    put(
        "histogram",
        or_null(&|found| {
            let histogram = &found.histogram;
            json!({"low": histogram.low, "high": histogram.high, "counts": histogram.counts})
        }),
    );
    Json::Object(line)
}

impl Stat {
    /// A date as text in ISO 8601; other numbers as they are.
    #[must_use]
    pub fn text_of(&self, number: Number) -> String {
        match (self.of, number) {
            (Measured::Dates, Number::Integer(count)) => {
                let mut text = String::new();
                let count = i64::try_from(count).unwrap_or(i64::MIN);
                let dtype = self.dtype.with_order(container_core::dtype::ByteOrder::Little);
                write_item(&dtype, &count.to_le_bytes(), &mut text);
                text
            }
            (_, Number::Integer(value)) => value.to_string(),
            (_, Number::Float(value)) => format!("{value:?}"),
        }
    }

    fn number_json(&self, value: Number) -> Json {
        if self.of == Measured::Dates { self.text_of(value).into() } else { number(value) }
    }
}

/// Integers that JSON's readers would round are text.
fn number(value: Number) -> Json {
    match value {
        Number::Float(value) => value.into(),
        Number::Integer(value) => match (i64::try_from(value), u64::try_from(value)) {
            (Ok(value), _) => value.into(),
            (_, Ok(value)) => value.into(),
            _ => value.to_string().into(),
        },
    }
}
