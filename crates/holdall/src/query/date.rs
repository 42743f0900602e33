//! Dates in ISO 8601: `2026-01-31`, `2026-01-31T12:00:00.5Z`, `2026-01-31 12:00+01:00`. Without a zone they are in UTC.

/// Nanoseconds since 1970; `None` for what is no date. A month may be without a day, a day without a time.
pub(super) fn instant(text: &str) -> Option<i128> {
    let mut rest = Rest(text.trim().as_bytes());
    let year = i64::from(rest.digits(4)?);
    rest.literal(b'-')?;
    let month = rest.digits(2).filter(|month| (1..=12).contains(month))?;
    let day = match rest.literal(b'-') {
        Some(()) => rest.digits(2).filter(|day| (1..=days_of(year, month)).contains(day))?,
        None if rest.0.is_empty() => 1,
        None => return None,
    };
    let mut nanos = i128::from(days_since_1970(year, month, day)).checked_mul(86_400_000_000_000)?;
    if rest.0.is_empty() {
        return Some(nanos);
    }
    rest.literal(b'T').or_else(|| rest.literal(b't')).or_else(|| rest.literal(b' '))?;
    let hour = rest.digits(2).filter(|hour| *hour < 24)?;
    rest.literal(b':')?;
    let minute = rest.digits(2).filter(|minute| *minute < 60)?;
    let mut seconds = i128::from(hour) * 3600 + i128::from(minute) * 60;
    if rest.literal(b':').is_some() {
        // 60 is a leap second.
        seconds += i128::from(rest.digits(2).filter(|second| *second <= 60)?);
        if rest.literal(b'.').or_else(|| rest.literal(b',')).is_some() {
            nanos += rest.fraction()?;
        }
    }
    nanos += seconds * 1_000_000_000;
    Some(nanos - i128::from(rest.zone()?) * 60_000_000_000)
}

/// Text that is left.
struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    fn literal(&mut self, byte: u8) -> Option<()> {
        self.0 = self.0.strip_prefix(&[byte])?;
        Some(())
    }

    /// A number of exactly so many digits.
    fn digits(&mut self, count: usize) -> Option<u32> {
        let (digits, rest) = self.0.split_at_checked(count)?;
        let number = digits.iter().try_fold(0_u32, |number, digit| {
            digit.is_ascii_digit().then(|| number * 10 + u32::from(digit - b'0'))
        })?;
        self.0 = rest;
        Some(number)
    }

    /// Digits after a point, as nanoseconds; those beyond are cut.
    fn fraction(&mut self) -> Option<i128> {
        let len = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, rest) = self.0.split_at_checked(len).filter(|(digits, _)| !digits.is_empty())?;
        self.0 = rest;
        let digits = digits.iter().chain(std::iter::repeat(&b'0')).take(9);
        Some(digits.fold(0, |number, digit| number * 10 + i128::from(digit - b'0')))
    }

    /// Minutes east of UTC, to the end of the text.
    fn zone(&mut self) -> Option<i32> {
        let sign = match self.0 {
            [] | [b'Z' | b'z'] => return Some(0),
            [b'+', ..] => 1,
            [b'-', ..] => -1,
            _ => return None,
        };
        self.0 = self.0.get(1..)?;
        let hours = self.digits(2).filter(|hours| *hours < 24)?;
        let _ = self.literal(b':');
        let minutes = if self.0.is_empty() { 0 } else { self.digits(2).filter(|minutes| *minutes < 60)? };
        let minutes = i32::try_from(hours * 60 + minutes).ok()?;
        self.0.is_empty().then_some(sign * minutes)
    }
}

fn days_of(year: i64, month: u32) -> u32 {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days in the Gregorian calendar, by years that begin in March, so that the leap day is the last.
fn days_since_1970(year: i64, month: u32, day: u32) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days_before = i64::from((153 * month + 2) / 5 + day - 1);
    // 719468 days from 1 March of year 0 to 1970.
    365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + days_before - 719_468
}

#[cfg(test)]
mod tests {
    use super::instant;

    /// The numbers are those of Python's `datetime.fromisoformat(…).timestamp()` in UTC.
    #[test]
    fn dates_are_those_of_python() {
        for (text, seconds) in [
            ("1970-01-01", 0),
            ("2026-01-01", 1_767_225_600),
            ("2000-02-29T12:30:15", 951_827_415),
            ("2100-03-01", 4_107_542_400),
            ("1969-12-31T23:59:59Z", -1),
            ("0001-01-01", -62_135_596_800),
            ("9999-12-31T23:59:59", 253_402_300_799),
            ("2026-01-01T00:00:00+01:00", 1_767_222_000),
            ("2026-01-01 00:00-0530", 1_767_245_400),
            ("2026-07-01T00:00Z", 1_782_864_000),
        ] {
            assert_eq!(instant(text), Some(seconds * 1_000_000_000), "{text}");
        }
        assert_eq!(instant("1970-01-01T00:00:00.25"), Some(250_000_000));
        assert_eq!(instant("1970-01-01T00:00:00.1234567891"), Some(123_456_789));
        assert_eq!(instant("2026-02"), instant("2026-02-01"));
    }

    #[test]
    fn what_is_no_date_is_none() {
        for text in [
            "",
            "2026",
            "2026-1-1",
            "2026-13-01",
            "2026-02-29",
            "2026-01-01T",
            "2026-01-01T24:00",
            "2026-01-01T00:00:00.",
            "2026-01-01x",
            "2026-01-01T00:00:00+1",
            "02026-01-01",
            "-2026-01-01",
            "2026-01-01T00:00Zx",
            "é026-01-01",
        ] {
            assert_eq!(instant(text), None, "{text}");
        }
    }
}
