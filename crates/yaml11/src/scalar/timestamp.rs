//! Dates and times.

use super::Timestamp;

/// Rest of a text that is read from its beginning.
struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    /// Between `least` and `most` digits, as a number.
    fn digits(&mut self, least: usize, most: usize) -> Option<u32> {
        let count = self.0.iter().take(most).take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        if count < least {
            return None;
        }
        // At most six digits.
        Some(digits.iter().fold(0, |value: u32, byte| {
            value.saturating_mul(10).saturating_add(u32::from(byte.saturating_sub(b'0')))
        }))
    }

    fn byte(&mut self, wanted: u8) -> Option<()> {
        self.0 = self.0.strip_prefix(&[wanted])?;
        Some(())
    }

    fn blanks(&mut self) -> bool {
        let before = self.0.len();
        while let [b' ' | b'\t', rest @ ..] = self.0 {
            self.0 = rest;
        }
        self.0.len() < before
    }
}

/// The date or time of a text; `None` for other forms and for impossible dates.
pub(super) fn plain(text: &str) -> Option<Timestamp> {
    // A bare date has all its digits.
    tagged(text).filter(|found| found.time.is_some() || text.len() == 10)
}

/// As [`plain`], for text under the tag of dates, where `2001-1-2` is one too.
pub(super) fn tagged(text: &str) -> Option<Timestamp> {
    written(text).filter(is_read)
}

/// Whether a text has the form of a date or time with an impossible field, as month 13 or hour 25.
pub(super) fn is_impossible(text: &str) -> bool {
    written(text).is_some_and(|found| (found.time.is_some() || text.len() == 10) && !is_read(&found))
}

/// Parses a timestamp, even with an impossible date.
fn written(text: &str) -> Option<Timestamp> {
    let mut rest = Rest(text.as_bytes());
    let year = rest.digits(4, 4)?;
    rest.byte(b'-')?;
    let month = rest.digits(1, 2)?;
    rest.byte(b'-')?;
    let day = rest.digits(1, 2)?;
    let mut found = Timestamp {
        year: i32::try_from(year).ok()?,
        month: u8::try_from(month).ok()?,
        day: u8::try_from(day).ok()?,
        time: None,
        offset: None,
    };
    if rest.0.is_empty() {
        return Some(found);
    }
    if rest.byte(b't').or_else(|| rest.byte(b'T')).is_none() && !rest.blanks() {
        return None;
    }
    let hour = rest.digits(1, 2)?;
    rest.byte(b':')?;
    let minute = rest.digits(2, 2)?;
    rest.byte(b':')?;
    let second = rest.digits(2, 2)?;
    let mut micros = 0;
    if rest.byte(b'.').is_some() {
        let written = rest.0.len();
        micros = rest.digits(0, 6)?;
        // .43 are 430000 microseconds; digits beyond the sixth are cut off.
        for _ in written.saturating_sub(rest.0.len())..6 {
            micros = micros.saturating_mul(10);
        }
        while rest.digits(1, 1).is_some() {}
    }
    found.time =
        Some((u8::try_from(hour).ok()?, u8::try_from(minute).ok()?, u8::try_from(second).ok()?, micros));
    found.offset = zone(&mut rest)?;
    rest.0.is_empty().then_some(found)
}

/// True for the values of Python's `datetime`: years from 1 to 9999, days of the calendar, no leap seconds, zones of less than a day.
pub(crate) fn is_read(value: &Timestamp) -> bool {
    let is_time =
        |(hour, minute, second, micro)| hour < 24 && minute < 60 && second < 60 && micro < 1_000_000;
    let is_zone = |offset: i32| value.time.is_some() && offset.unsigned_abs() < 24 * 60;
    is_day(value) && value.time.is_none_or(is_time) && value.offset.is_none_or(is_zone)
}

/// Minutes east of UTC, if a zone is written; the outer `None` is an invalid zone.
fn zone(rest: &mut Rest<'_>) -> Option<Option<i32>> {
    let blanks = rest.blanks();
    if rest.0.is_empty() {
        return (!blanks).then_some(None);
    }
    if rest.byte(b'Z').is_some() {
        return Some(Some(0));
    }
    let west = rest.byte(b'-').is_some();
    if !west {
        rest.byte(b'+')?;
    }
    let hours = rest.digits(1, 2)?;
    let minutes = if rest.byte(b':').is_some() { rest.digits(2, 2)? } else { 0 };
    let offset = i32::try_from(hours.saturating_mul(60).saturating_add(minutes)).ok()?;
    Some(Some(if west { offset.saturating_neg() } else { offset }))
}

fn is_day(date: &Timestamp) -> bool {
    let leap = date.year % 4 == 0 && (date.year % 100 != 0 || date.year % 400 == 0);
    let days = match date.month {
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        1..=12 => 31,
        _ => return false,
    };
    (1..=9999).contains(&date.year) && (1..=days).contains(&date.day)
}
