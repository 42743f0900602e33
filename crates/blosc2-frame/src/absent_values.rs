//! Arrays whose values are not in their frame.
//!
//! python-blosc2 saves expressions, functions and references to servers as arrays of the right type and shape in which no chunk means
//! anything, and proxies as arrays of which only those chunks mean something that were fetched. A metalayer marks each of them.
//!
//! | metalayer | kind | values |
//! |---|---|---|
//! | `b2o` | `lazyexpr`, `lazyudf` | computed when python-blosc2 opens the array |
//! | `b2o` | `c2array` | on a server |
//! | `b2o` | `remote_array` | elsewhere, but for what was fetched, as in a proxy |
//! | `LazyArray` | 0 expression, 1 function | computed (up to python-blosc2 4.0 all of them, later the functions that are not DSL kernels) |
//! | `proxy-source` | | elsewhere, but for what was fetched |
//!
//! Spec: docs/formats/blosc2.md, "Arrays without values".

mod proxy_chunks;

use container_core::container::Tolerance;
use container_core::region::Region;
use container_core::{Error, Limits, Result, Value};

use crate::b2nd::{self, Geometry, Indices, Plan};
use crate::frame::Frame;
use crate::msgpack;
use proxy_chunks::ProxyChunks;

/// Metalayer and user metadata of objects that python-blosc2 makes anew when it opens them.
pub(crate) const OBJECT: &str = "b2o";

/// Metalayer of saved expressions and functions before `b2o`, of arrays alone.
pub(crate) const LAZY: &str = "LazyArray";

/// User metadata stored next to [`LAZY`].
const LAZY_RECIPE: &str = "_LazyArray";

/// Metalayer of a proxy, which names its source.
pub(crate) const PROXY: &str = "proxy-source";

/// The values of a frame that are not in its file.
#[derive(Debug)]
pub(crate) enum Absence {
    /// All: they are made from a recipe.
    Made(Recipe),
    /// All but the parts that were fetched.
    Unfetched(ProxyChunks),
}

/// The origin of values that a frame has none of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recipe {
    Expression,
    Function,
    /// An unrecognized kind.
    Object,
    Server,
}

impl Recipe {
    /// Returns the end of a sentence about "the values of this array".
    const fn description(self) -> &'static str {
        match self {
            Self::Expression => "are computed from a stored expression when python-blosc2 opens it",
            Self::Function => "are computed from a stored function when python-blosc2 opens it",
            Self::Object => "are computed from a stored expression or function when python-blosc2 opens it",
            Self::Server => {
                "are on a server, of which the file has the address (C2Array): none is stored or computed here"
            }
        }
    }
}

impl Absence {
    /// Returns the absence of values in a frame; `None` for a frame that holds all of its values.
    pub(crate) fn of(frame: &Frame) -> Option<Self> {
        let metalayers = frame.metalayers();
        if let Some(marker) = metalayers.get(OBJECT) {
            let marker = msgpack::to_value(marker, &frame.options().limits).ok();
            let kind = match marker.as_ref().and_then(|marker| marker.get("kind")) {
                Some(Value::Text(kind)) => kind.as_str(),
                _ => "",
            };
            return match kind {
                "remote_array" => ProxyChunks::of(frame).map(Self::Unfetched),
                "lazyexpr" => Some(Self::Made(Recipe::Expression)),
                "lazyudf" => Some(Self::Made(Recipe::Function)),
                "c2array" => Some(Self::Made(Recipe::Server)),
                _ => Some(Self::Made(Recipe::Object)),
            };
        }
        if metalayers.get(PROXY).is_some() {
            return ProxyChunks::of(frame).map(Self::Unfetched);
        }
        let lazy = metalayers.get(LAZY).filter(|_| b2nd::is_array(metalayers))?;
        Some(Self::Made(match msgpack::to_value(lazy, &frame.options().limits) {
            Ok(Value::Int(0)) => Recipe::Expression,
            Ok(Value::Int(1)) => Recipe::Function,
            _ => Recipe::Object,
        }))
    }

    /// Returns the parts that a proxy holds.
    pub(crate) const fn fetched(&self) -> Option<&ProxyChunks> {
        match self {
            Self::Unfetched(fetched) => Some(fetched),
            Self::Made(_) => None,
        }
    }

    /// Returns a sentence for `info` and `ls`; `None` when no values are missing.
    pub(crate) fn description(&self) -> Option<String> {
        match self {
            Self::Made(recipe) => Some(format!("none is in the file: they {}", recipe.description())),
            Self::Unfetched(fetched) if fetched.is_partial() => {
                Some(format!("not all are in the file: this proxy has {fetched} of its source"))
            }
            Self::Unfetched(_) => None,
        }
    }

    /// Returns the loss of a conversion that takes the stored bytes in place of the values; `None` when no values are
    /// missing.
    pub(crate) fn loss(&self) -> Option<String> {
        match self {
            Self::Made(_) => Some(format!("values, of which {}", self.description()?)),
            Self::Unfetched(fetched) if fetched.is_partial() => Some(format!(
                "values that the proxy never fetched, which read as zeros: it has {fetched} of its source"
            )),
            Self::Unfetched(_) => None,
        }
    }

    /// Returns the stored recipe, which is shown and never run.
    pub(crate) fn recipe(frame: &Frame) -> Option<Value> {
        let name = match frame.absence()? {
            Self::Made(_) if frame.metalayers().get(OBJECT).is_some() => OBJECT,
            Self::Made(_) => LAZY_RECIPE,
            Self::Unfetched(_) => return None,
        };
        let stored = frame.vlmetalayer(name).ok().flatten();
        let value = stored.map(|bytes| crate::metadata::decode(&bytes, &frame.options().limits));
        Some(value.unwrap_or(Value::Null))
    }

    fn error(&self, chunk: u64) -> Error {
        match self {
            Self::Made(recipe) => {
                let problem = format!("the values of this array {}", recipe.description());
                Error::unsupported(problem).with_hint(
                    "holdall meta FILE shows their source; holdall never runs or fetches it; --lenient reads the stored placeholders",
                )
            }
            Self::Unfetched(fetched) => {
                let problem = format!(
                    "this array is a proxy that has {fetched} of its source: chunk {chunk} was not fetched, or not all of it"
                );
                Error::unsupported(problem).with_hint(
                    "read the source, which holdall meta FILE names; --lenient reads zeros for missing values",
                )
            }
        }
    }

    /// Returns the error for values of `chunks` that are absent.
    pub(crate) fn of_chunks(&self, frame: &Frame, mut chunks: impl Iterator<Item = u64>) -> Option<Error> {
        match self {
            Self::Made(_) => Some(self.error(0)),
            Self::Unfetched(fetched) if !fetched.is_partial() => None,
            Self::Unfetched(fetched) => {
                let offsets = frame.layout().offsets();
                chunks.find(|chunk| !fetched.has_chunk(offsets, *chunk)).map(|chunk| self.error(chunk))
            }
        }
    }

    /// Returns the error for a selection of an array of which values are absent. A block that was fetched counts, where
    /// blocks are.
    ///
    /// # Errors
    /// `Limit` for a selection that takes too much memory to plan.
    pub(crate) fn of_selection(
        &self,
        frame: &Frame,
        geometry: &Geometry,
        selection: &[Indices],
        limits: &Limits,
    ) -> Result<Option<Error>> {
        let Self::Unfetched(fetched) = self else { return Ok(Some(self.error(0))) };
        if !fetched.is_partial() || selection.iter().any(Indices::is_empty) {
            return Ok(None);
        }
        let offsets = frame.layout().offsets();
        let plan = Plan::new(selection, geometry, limits)?;
        let missing = plan.find_chunk(geometry, |chunk, mut blocks| {
            !fetched.has_chunk(offsets, chunk)
                && Iterator::any(&mut blocks, |block| !fetched.has_block(offsets, chunk, block))
        });
        Ok(missing.map(|chunk| self.error(chunk)))
    }
}

impl Frame {
    /// Returns the absence of values that readers are to refuse: `None` where placeholders are read as they are.
    pub(crate) fn absence_if_refused(&self) -> Option<&Absence> {
        self.absence().filter(|_| self.options().placeholders == Tolerance::Strict)
    }
}

/// True for metalayers and user metadata that mark an array as a stand-in for others. Copies of its values leave them out.
pub(crate) fn is_of_stand_in(name: &str) -> bool {
    [OBJECT, LAZY, LAZY_RECIPE].contains(&name) || name.starts_with("proxy-")
}

/// Returns the error for a region of an array of which values are absent.
pub(crate) fn of_region(
    frame: &Frame,
    geometry: &Geometry,
    region: &Region,
    limits: &Limits,
) -> Option<Error> {
    let absence = frame.absence_if_refused()?;
    let selection = b2nd::of_region(region);
    absence.of_selection(frame, geometry, &selection, limits).unwrap_or_else(Some)
}

#[cfg(test)]
mod tests;
