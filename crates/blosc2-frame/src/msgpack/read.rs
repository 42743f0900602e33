//! Decodes msgpack into values, within bounds of memory and depth.

use container_core::{Error, Limits, Result, Value, interchange};
use rmp::Marker;

use super::MAX_DEPTH;

/// Extensions of python-blosc2.
const CFRAME: i8 = 42;
const REFERENCE: i8 = 43;
const COMPLEX: i8 = 44;
const SET: i8 = 45;
const NDARRAY: i8 = 46;
/// That of msgpack itself.
const TIMESTAMP: i8 = -1;

/// First item of a list that python-blosc2 makes a tuple of.
const TUPLE: &str = "__tuple__";

/// Decodes the value that fills `bytes`.
pub(super) fn whole(bytes: &[u8], limits: &Limits) -> Result<Value> {
    let mut left = limits.memory;
    let show = Show::ForPeople;
    alone(bytes, &mut left, limits, MAX_DEPTH, show).map_err(|error| error.with_context("msgpack"))
}

/// Decodes the value that fills `bytes`, with forms for what a [`Value`] lacks, so that it can be written again.
pub(super) fn exact(bytes: &[u8], limits: &Limits) -> Result<Value> {
    let mut left = limits.memory;
    alone(bytes, &mut left, limits, MAX_DEPTH, Show::Exactly)
}

/// Decodes the values that fill `bytes`, one after the other, as [`exact`] decodes each.
pub(super) fn sequence(bytes: &[u8], limits: &Limits) -> Result<Vec<Value>> {
    let mut left = limits.memory;
    let mut reader = Reader { bytes, at: 0, left: &mut left, limits, show: Show::Exactly };
    let mut values = Vec::new();
    while reader.at < bytes.len() {
        values.push(reader.value(MAX_DEPTH)?);
    }
    Ok(values)
}

/// Form of tuples, odd maps, extensions and text that is not UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Show {
    /// Lists and maps that look like it.
    ForPeople,
    /// Forms.
    Exactly,
}

/// Decodes the same, with `left` of memory and depth.
fn alone(bytes: &[u8], left: &mut u64, limits: &Limits, depth: usize, show: Show) -> Result<Value> {
    let mut reader = Reader { bytes, at: 0, left, limits, show };
    let value = reader.value(depth)?;
    if reader.at < bytes.len() {
        let more = bytes.len().saturating_sub(reader.at);
        return Err(Error::malformed(format!("{more} bytes follow the value"))
            .with_range(reader.at as u64..bytes.len() as u64));
    }
    Ok(value)
}

struct Reader<'b, 'l> {
    bytes: &'b [u8],
    at: usize,
    /// Memory that may still be taken.
    left: &'l mut u64,
    limits: &'l Limits,
    show: Show,
}

impl<'b> Reader<'b, '_> {
    /// Reads one value, with up to `depth` levels of others in it.
    fn value(&mut self, depth: usize) -> Result<Value> {
        let start = self.at;
        self.charge(size_of::<Value>())?;
        let [marker] = self.take()?;
        Ok(match Marker::from_u8(marker) {
            Marker::Null => Value::Null,
            Marker::True => Value::Bool(true),
            Marker::False => Value::Bool(false),
            Marker::FixPos(number) => number.into(),
            Marker::FixNeg(number) => i64::from(number).into(),
            Marker::U8 => u8::from_be_bytes(self.take()?).into(),
            Marker::U16 => u32::from(u16::from_be_bytes(self.take()?)).into(),
            Marker::U32 => u32::from_be_bytes(self.take()?).into(),
            Marker::U64 => u64::from_be_bytes(self.take()?).into(),
            Marker::I8 => i64::from(i8::from_be_bytes(self.take()?)).into(),
            Marker::I16 => i64::from(i16::from_be_bytes(self.take()?)).into(),
            Marker::I32 => i64::from(i32::from_be_bytes(self.take()?)).into(),
            Marker::I64 => i64::from_be_bytes(self.take()?).into(),
            Marker::F32 => f64::from(f32::from_be_bytes(self.take()?)).into(),
            Marker::F64 => f64::from_be_bytes(self.take()?).into(),
            Marker::FixStr(len) => self.text(len.into())?,
            Marker::Str8 => self.len8().and_then(|len| self.text(len))?,
            Marker::Str16 => self.len16().and_then(|len| self.text(len))?,
            Marker::Str32 => self.len32().and_then(|len| self.text(len))?,
            Marker::Bin8 => self.len8().and_then(|len| self.bin(len))?,
            Marker::Bin16 => self.len16().and_then(|len| self.bin(len))?,
            Marker::Bin32 => self.len32().and_then(|len| self.bin(len))?,
            Marker::FixArray(count) => self.list(count.into(), start, depth)?,
            Marker::Array16 => self.len16().and_then(|count| self.list(count, start, depth))?,
            Marker::Array32 => self.len32().and_then(|count| self.list(count, start, depth))?,
            Marker::FixMap(count) => self.map(count.into(), start, depth)?,
            Marker::Map16 => self.len16().and_then(|count| self.map(count, start, depth))?,
            Marker::Map32 => self.len32().and_then(|count| self.map(count, start, depth))?,
            Marker::FixExt1 => self.ext(1, start, depth)?,
            Marker::FixExt2 => self.ext(2, start, depth)?,
            Marker::FixExt4 => self.ext(4, start, depth)?,
            Marker::FixExt8 => self.ext(8, start, depth)?,
            Marker::FixExt16 => self.ext(16, start, depth)?,
            Marker::Ext8 => self.len8().and_then(|len| self.ext(len, start, depth))?,
            Marker::Ext16 => self.len16().and_then(|len| self.ext(len, start, depth))?,
            Marker::Ext32 => self.len32().and_then(|len| self.ext(len, start, depth))?,
            Marker::Reserved => {
                return Err(
                    Error::malformed("the marker 0xc1, which is not defined").with_range(self.since(start))
                );
            }
        })
    }

    fn list(&mut self, count: usize, start: usize, depth: usize) -> Result<Value> {
        let depth = self.enter(count as u64, start, depth)?;
        let mut items = Vec::new();
        for at in 0..count {
            let item = self.value(depth)?;
            let is_mark = at == 0
                && self.show == Show::ForPeople
                && matches!(&item, Value::Text(text) if text == TUPLE);
            if !is_mark {
                items.push(item);
            }
        }
        Ok(Value::List(items))
    }

    fn map(&mut self, count: usize, start: usize, depth: usize) -> Result<Value> {
        let depth = self.enter((count as u64).saturating_mul(2), start, depth)?;
        let mut entries = Vec::new();
        for _ in 0..count {
            entries.push((self.value(depth)?, self.value(depth)?));
        }
        if !entries.iter().all(|(key, _)| matches!(key, Value::Text(_))) {
            // Each pair is a list more.
            self.charge(count.saturating_mul(3).saturating_mul(size_of::<Value>()))?;
            let pairs = entries.into_iter().map(|(key, value)| Value::List(vec![key, value]));
            let pairs = Value::List(pairs.collect());
            return Ok(if self.show == Show::Exactly { interchange::form("pairs", pairs) } else { pairs });
        }
        let named = entries.into_iter().filter_map(|(key, value)| match key {
            Value::Text(key) => Some((key, value)),
            _ => None,
        });
        Ok(Value::Map(named.collect()))
    }

    /// Reads an extension of `len` bytes, whose number comes before them.
    fn ext(&mut self, len: usize, start: usize, depth: usize) -> Result<Value> {
        // Five values and three names are made of it, in addition to its own.
        self.charge(size_of::<Value>().saturating_mul(8))?;
        let [code] = self.take()?;
        let code = i8::from_be_bytes([code]);
        let bytes = self.slice(len)?;
        let depth = deeper(depth).ok_or_else(|| self.too_deep(start))?;
        if self.show == Show::Exactly {
            let parts = vec![i64::from(code).into(), self.copy(bytes)?];
            return Ok(interchange::form("ext", parts));
        }
        let (kind, value) = match code {
            CFRAME => (Some("cframe"), None),
            REFERENCE => (Some("reference"), self.inside(bytes, depth)?),
            SET => (Some("set"), self.inside(bytes, depth)?),
            NDARRAY => (Some("ndarray"), self.inside(bytes, depth)?),
            COMPLEX => (Some("complex"), complex(bytes)),
            TIMESTAMP => (Some("timestamp"), timestamp(bytes)),
            _ => (None, None),
        };
        let mut entries = vec![("ext".to_owned(), i64::from(code).into())];
        entries.extend(kind.map(|kind| ("kind".to_owned(), kind.into())));
        if code == CFRAME {
            entries.push(("nbytes".to_owned(), (bytes.len() as u64).into()));
        }
        let value = match value {
            Some(value) => value,
            None => self.copy(bytes)?,
        };
        entries.push(("value".to_owned(), value));
        Ok(Value::Map(entries))
    }

    /// Decodes the msgpack inside an extension; `None` for other bytes.
    fn inside(&mut self, bytes: &[u8], depth: usize) -> Result<Option<Value>> {
        match alone(bytes, self.left, self.limits, depth, self.show) {
            Err(error) if error.is_damage() => Ok(None),
            other => other.map(Some),
        }
    }

    fn text(&mut self, len: usize) -> Result<Value> {
        let bytes = self.slice(len)?;
        self.charge(len)?;
        Ok(match std::str::from_utf8(bytes) {
            Ok(text) => Value::Text(text.to_owned()),
            Err(_) if self.show == Show::Exactly => return Err(Error::malformed("text that is not UTF-8")),
            Err(_) => Value::Bytes(bytes.to_vec()),
        })
    }

    fn bin(&mut self, len: usize) -> Result<Value> {
        let bytes = self.slice(len)?;
        self.copy(bytes)
    }

    fn copy(&mut self, bytes: &[u8]) -> Result<Value> {
        self.charge(bytes.len())?;
        Ok(Value::Bytes(bytes.to_vec()))
    }

    /// Goes a level down, to `count` values, each of a byte at least.
    fn enter(&mut self, count: u64, start: usize, depth: usize) -> Result<usize> {
        let have = self.bytes.len().saturating_sub(self.at) as u64;
        if count > have {
            let end = (self.at as u64).saturating_add(count);
            return Err(Error::truncated(self.at as u64..end, have));
        }
        deeper(depth).ok_or_else(|| self.too_deep(start))
    }

    fn too_deep(&self, start: usize) -> Error {
        let problem = format!("more than {MAX_DEPTH} values within each other");
        Error::unsupported(problem).with_range(self.since(start))
    }

    fn since(&self, start: usize) -> std::ops::Range<u64> {
        start as u64..self.at as u64
    }

    fn len8(&mut self) -> Result<usize> {
        self.take().map(|bytes| u8::from_be_bytes(bytes).into())
    }

    fn len16(&mut self) -> Result<usize> {
        self.take().map(|bytes| u16::from_be_bytes(bytes).into())
    }

    fn len32(&mut self) -> Result<usize> {
        self.take().map(|bytes| usize::try_from(u32::from_be_bytes(bytes)).unwrap_or(usize::MAX))
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N]> {
        let bytes = self.slice(N)?;
        // As long as it is.
        Ok(bytes.first_chunk::<N>().copied().unwrap_or([0; N]))
    }

    fn slice(&mut self, len: usize) -> Result<&'b [u8]> {
        let end = self.at.saturating_add(len);
        let Some(bytes) = self.bytes.get(self.at..end) else {
            let have = self.bytes.len().saturating_sub(self.at);
            // Past what 32 bits count, too.
            let end = (self.at as u64).saturating_add(len as u64);
            return Err(Error::truncated(self.at as u64..end, have as u64));
        };
        self.at = end;
        Ok(bytes)
    }

    /// Takes note of `len` bytes of memory.
    fn charge(&mut self, len: usize) -> Result<()> {
        match self.left.checked_sub(len as u64) {
            Some(left) => {
                *self.left = left;
                Ok(())
            }
            None => {
                let asked = self.limits.memory.saturating_sub(*self.left).saturating_add(len as u64);
                Err(Error::limit("memory for msgpack in bytes", asked, self.limits.memory))
            }
        }
    }
}

const fn deeper(depth: usize) -> Option<usize> {
    depth.checked_sub(1)
}

/// Reads real and imaginary part, big-endian f64.
fn complex(bytes: &[u8]) -> Option<Value> {
    let (real, rest) = bytes.split_first_chunk::<8>()?;
    let imaginary = rest.try_into().ok()?;
    let parts = [f64::from_be_bytes(*real), f64::from_be_bytes(imaginary)];
    Some(Value::List(parts.map(Value::Float).into()))
}

/// Seconds since 1970 and nanoseconds, in the three lengths that msgpack has for them.
fn timestamp(bytes: &[u8]) -> Option<Value> {
    let (seconds, nanoseconds) = match bytes.len() {
        4 => (i64::from(u32::from_be_bytes(bytes.try_into().ok()?)), 0),
        8 => {
            let both = u64::from_be_bytes(bytes.try_into().ok()?);
            (i64::try_from(both & 0x3_FFFF_FFFF).ok()?, u32::try_from(both >> 34).ok()?)
        }
        12 => {
            let (nanoseconds, seconds) = bytes.split_first_chunk::<4>()?;
            (i64::from_be_bytes(seconds.try_into().ok()?), u32::from_be_bytes(*nanoseconds))
        }
        _ => return None,
    };
    Some(Value::List(vec![seconds.into(), nanoseconds.into()]))
}
