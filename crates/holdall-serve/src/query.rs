//! Parameters of a call.

use std::collections::HashMap;
use std::str::FromStr;

use hyper::StatusCode;

use crate::reply::Failure;

/// The parameters behind the `?` of an address; of one that is given twice, the last.
pub(crate) struct Query(HashMap<String, String>);

impl Query {
    pub(crate) fn parse(text: Option<&str>) -> Self {
        Self(form_urlencoded::parse(text.unwrap_or_default().as_bytes()).into_owned().collect())
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// A parameter that has to be there.
    pub(crate) fn require(&self, name: &str) -> Result<&str, Failure> {
        self.get(name).ok_or_else(|| {
            Failure::new(StatusCode::UNPROCESSABLE_ENTITY, format!("the parameter {name} is missing"))
        })
    }

    /// A number, or `default` where none is given.
    pub(crate) fn number<T: FromStr>(&self, name: &str, default: T) -> Result<T, Failure> {
        let invalid = |text: &str| {
            Failure::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                format!("invalid number {text:?} of the parameter {name}"),
            )
        };
        self.get(name).map_or(Ok(default), |text| text.parse().map_err(|_| invalid(text)))
    }

    pub(crate) fn is_true(&self, name: &str) -> bool {
        self.get(name).is_some_and(|text| text.eq_ignore_ascii_case("true"))
    }
}
