//! Dates as numpy prints them, and back: ISO 8601 in the Gregorian calendar, as far as the unit goes, without a zone.

use std::fmt::Write;

const DAY: i128 = 86_400;

/// Length of a unit of time.
enum Unit {
    Years,
    Months,
    Days(i128),
    /// A tick is `seconds` divided by `per_second`, one of which is 1.
    Clock {
        per_second: i128,
        seconds: i128,
        shown: Shown,
    },
}

/// Part of the time of day that a unit shows.
enum Shown {
    Hour,
    Minute,
    /// Seconds with this many decimals.
    Second(usize),
}

/// Unit in numpy's spelling, `[ns]` or `[25s]`, with the factor before it.
fn parse(unit: &str) -> Option<(i128, Unit)> {
    let unit = unit.strip_prefix('[')?.strip_suffix(']')?;
    let letters = unit.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let factor = unit.strip_suffix(letters)?;
    let factor = if factor.is_empty() { 1 } else { factor.parse::<i64>().ok()?.into() };
    let clock = |per_second, seconds, shown| Unit::Clock { per_second, seconds, shown };
    let fraction = |places: u32| {
        Some(clock(10_i128.checked_pow(places)?, 1, Shown::Second(usize::try_from(places).ok()?)))
    };
    let unit = match letters {
        "Y" => Unit::Years,
        "M" => Unit::Months,
        "W" => Unit::Days(7),
        "D" => Unit::Days(1),
        "h" => clock(1, 3600, Shown::Hour),
        "m" => clock(1, 60, Shown::Minute),
        "s" => clock(1, 1, Shown::Second(0)),
        "ms" => fraction(3)?,
        "us" | "μs" => fraction(6)?,
        "ns" => fraction(9)?,
        "ps" => fraction(12)?,
        "fs" => fraction(15)?,
        "as" => fraction(18)?,
        _ => return None,
    };
    Some((factor, unit))
}

/// The date that is `count` units after 1970 began; `None` for unknown units.
pub(super) fn iso(count: i64, unit: &str) -> Option<String> {
    let (factor, kind) = parse(unit)?;
    // i64 × i64 fits; so does that × 604 800 seconds of a week.
    let count = i128::from(count).checked_mul(factor)?;
    let mut out = String::new();
    match kind {
        Unit::Years => {
            let _ = write!(out, "{:04}", count.checked_add(1970)?);
        }
        Unit::Months => {
            let (year, month) =
                (count.div_euclid(12).checked_add(1970)?, count.rem_euclid(12).checked_add(1)?);
            let _ = write!(out, "{year:04}-{month:02}");
        }
        Unit::Days(days) => write_date(count.checked_mul(days)?, &mut out)?,
        Unit::Clock { per_second, seconds, shown } => {
            let ticks = count.checked_mul(seconds)?;
            let per_day = per_second.checked_mul(DAY)?;
            write_date(ticks.div_euclid(per_day), &mut out)?;
            let in_day = ticks.rem_euclid(per_day);
            let second = in_day.div_euclid(per_second);
            let _ = write!(out, "T{:02}", second.div_euclid(3600));
            if let Shown::Hour = shown {
                return Some(out);
            }
            let _ = write!(out, ":{:02}", second.div_euclid(60).rem_euclid(60));
            if let Shown::Second(places) = shown {
                let _ = write!(out, ":{:02}", second.rem_euclid(60));
                if places > 0 {
                    let _ = write!(out, ".{:0places$}", in_day.rem_euclid(per_second));
                }
            }
        }
    }
    Some(out)
}

/// Appends the Gregorian date `days` after 1970-01-01.
///
/// Years are counted from March, so that the leap day is the last of its year, within eras of 400 years.
fn write_date(days: i128, out: &mut String) -> Option<()> {
    // 719 468 days from 0000-03-01 to 1970-01-01; an era has 146 097.
    let days = days.checked_add(719_468)?;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    // Leaves out the leap days: one in 4 years (1460 days), not in 100 (36 524), but in 400 (the last day of the era).
    let plain = day
        .checked_sub(day.div_euclid(1460))?
        .checked_add(day.div_euclid(36_524))?
        .checked_sub(day.div_euclid(146_096))?;
    let year = plain.div_euclid(365);
    let before = year.checked_mul(365)?.checked_add(year.div_euclid(4))?.checked_sub(year.div_euclid(100))?;
    let day = day.checked_sub(before)?;
    // From March on, every 5 months have 153 days.
    let month = day.checked_mul(5)?.checked_add(2)?.div_euclid(153);
    let before = month.checked_mul(153)?.checked_add(2)?.div_euclid(5);
    let day = day.checked_sub(before)?.checked_add(1)?;
    let (month, later) = if month < 10 { (month.checked_add(3)?, 0) } else { (month.checked_sub(9)?, 1) };
    let year = era.checked_mul(400)?.checked_add(year)?.checked_add(later)?;
    let _ = write!(out, "{year:04}-{month:02}-{day:02}");
    Some(())
}

/// The number of units from the start of 1970 to a date as [`iso`] writes it, or to one that omits smaller parts (day, year). `None` for a
/// fraction of the unit, and for other text.
pub(crate) fn count(text: &str, unit: &str) -> Option<i64> {
    let (factor, kind) = parse(unit)?;
    let (date, clock) = match text.split_once(['T', ' ']) {
        Some((date, clock)) => (date, time_of_day(clock)?),
        None => (text, 0),
    };
    let (sign, digits) = date.strip_prefix('-').map_or((1, date), |digits| (-1, digits));
    let mut parts = digits.splitn(3, '-');
    let year = number(parts.next()?)?.checked_mul(sign)?;
    let month = parts.next().map_or(Some(1), number).filter(|month| (1..=12).contains(month))?;
    let day = parts.next().map_or(Some(1), number)?;
    let days = days_of(year, month, day)?;
    let years = year.checked_sub(1970)?;
    let whole = |is_whole: bool, count: i128| is_whole.then_some(count);
    let count = match kind {
        Unit::Years => whole(month == 1 && day == 1 && clock == 0, years)?,
        Unit::Months => {
            let months = years.checked_mul(12)?.checked_add(month)?.checked_sub(1)?;
            whole(day == 1 && clock == 0, months)?
        }
        Unit::Days(length) => whole(clock == 0, exactly(days, length)?)?,
        Unit::Clock { per_second, seconds, .. } => {
            let ticks = clock.checked_mul(per_second)?;
            let in_day = exactly(ticks, ATTOSECONDS)?;
            let ticks = days.checked_mul(DAY)?.checked_mul(per_second)?.checked_add(in_day)?;
            exactly(ticks, seconds)?
        }
    };
    // The least of all is NaT.
    i64::try_from(exactly(count, factor)?).ok().filter(|count| *count != i64::MIN)
}

/// A quotient without a rest.
fn exactly(value: i128, divisor: i128) -> Option<i128> {
    value.checked_div(divisor).filter(|_| value.checked_rem(divisor) == Some(0))
}

/// Attoseconds in a second.
const ATTOSECONDS: i128 = 1_000_000_000_000_000_000;

/// `hh`, `hh:mm`, `hh:mm:ss` or with decimals, in attoseconds.
fn time_of_day(text: &str) -> Option<i128> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let mut parts = whole.splitn(3, ':');
    let mut part = |below: i128| parts.next().map_or(Some(0), number).filter(|value| *value < below);
    let seconds =
        part(24)?.checked_mul(3600)?.checked_add(part(60)?.checked_mul(60)?)?.checked_add(part(60)?)?;
    if fraction.len() > 18 || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    seconds.checked_mul(ATTOSECONDS)?.checked_add(format!("{fraction:0<18}").parse().ok()?)
}

/// Digits alone.
fn number(text: &str) -> Option<i128> {
    text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Days after 1970-01-01, as [`write_date`] counts them; `None` for a day that its month does not have.
fn days_of(year: i128, month: i128, day: i128) -> Option<i128> {
    let of_march = if month > 2 { month.checked_sub(3)? } else { month.checked_add(9)? };
    let march_year = if month > 2 { year } else { year.checked_sub(1)? };
    let days = march_year
        .checked_mul(365)?
        .checked_add(march_year.div_euclid(4))?
        .checked_sub(march_year.div_euclid(100))?
        .checked_add(march_year.div_euclid(400))?
        .checked_add(of_march.checked_mul(153)?.checked_add(2)?.div_euclid(5))?
        .checked_add(day)?
        .checked_sub(719_469)?;
    let mut back = String::new();
    write_date(days, &mut back)?;
    (back == format!("{year:04}-{month:02}-{day:02}")).then_some(days)
}
