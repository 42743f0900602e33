//! Measuring contenders side by side: interleaved, so that a noisy minute meets all of them, and with another one first in each
//! round (A B C, B C A, C A B, …): whoever runs after the pause between rounds, or after a large file, runs slower.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

/// Result of one run of a contender.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// Seconds of the operation alone, without preparing it or dropping its result.
    pub seconds: f64,
    /// A number made from the result, the same for every contender of a group; `None` where there is nothing to compare.
    pub check: Option<u64>,
}

#[cfg(feature = "contenders")]
impl From<interop::peer::Timed> for Run {
    fn from(timed: interop::peer::Timed) -> Self {
        Self { seconds: timed.seconds, check: timed.check }
    }
}

/// One way of doing what a group measures.
pub struct Contender<'a> {
    name: &'static str,
    most: usize,
    run: Box<dyn FnMut() -> Result<Run> + 'a>,
}

impl<'a> Contender<'a> {
    /// A contender; `run` measures itself.
    pub fn new<R: Into<Run>>(name: &'static str, mut run: impl FnMut() -> Result<R> + 'a) -> Self {
        Self { name, most: usize::MAX, run: Box::new(move || run().map(Into::into)) }
    }

    /// The same, run in `rounds` rounds at most and not in the one that is not counted: for one so slow that more would take
    /// minutes, and whose ratio is so large that noise does not matter.
    #[must_use]
    pub fn at_most(mut self, rounds: usize) -> Self {
        self.most = rounds;
        self
    }
}

/// Unit of the results of a group.
#[derive(Clone, Copy, Debug)]
pub enum Unit {
    /// GB/s of so many bytes.
    Rate(u64),
    /// Microseconds.
    Time,
    /// So many items, told as thousands of them for each second.
    Items(u64, &'static str),
    /// So many items, told as nanoseconds for each.
    Each(u64, &'static str),
}

/// Expected results of a group.
#[derive(Clone, Copy, Debug)]
pub enum Claim {
    /// Ratio of the first contender's speed to the second's, and the least that it should be.
    Speed(&'static str, &'static str, Option<f64>),
    /// The most microseconds that a contender should take; of a group with [`Unit::Each`], for each item.
    AtMost(&'static str, f64),
}

/// Contenders that do the same thing.
pub struct Group<'a> {
    /// Name of what they do.
    pub title: String,
    /// Unit of the results.
    pub unit: Unit,
    /// Who does it.
    pub contenders: Vec<Contender<'a>>,
    /// Expected results.
    pub claims: Vec<Claim>,
}

/// The times of one contender, in seconds.
#[derive(Clone, Debug)]
pub struct Times {
    /// The contender.
    pub name: &'static str,
    sorted: Vec<f64>,
}

impl Times {
    fn new(name: &'static str, mut seconds: Vec<f64>) -> Self {
        seconds.sort_by(f64::total_cmp);
        Self { name, sorted: seconds }
    }

    /// The shortest.
    #[must_use]
    pub fn best(&self) -> f64 {
        self.sorted.first().copied().unwrap_or(f64::NAN)
    }

    /// The middle one; of an even number the mean of the middle two.
    #[must_use]
    pub fn median(&self) -> f64 {
        let middle = self.sorted.len() / 2;
        match self.sorted.get(middle) {
            None => f64::NAN,
            Some(high) if self.sorted.len() % 2 == 1 => *high,
            Some(high) => f64::midpoint(self.sorted[middle - 1], *high),
        }
    }
}

/// The results of a group.
pub struct Measured {
    /// Name of what was done.
    pub title: String,
    /// Unit of the results.
    pub unit: Unit,
    /// One for each contender, in their order.
    pub times: Vec<Times>,
    /// Expected results.
    pub claims: Vec<Claim>,
}

/// Runs every contender of `group` once for each round, each round beginning with the next one, and once before that.
///
/// # Errors
/// That of a contender, and when two of them do not come to the same result.
pub fn measure(group: Group<'_>, rounds: usize) -> Result<Measured> {
    let Group { title, unit, mut contenders, claims } = group;
    let mut seconds = vec![Vec::new(); contenders.len()];
    let mut agreed: Option<(&'static str, u64)> = None;
    for round in 0..=rounds {
        for turn in 0..contenders.len() {
            let at = (round + turn) % contenders.len();
            let (contender, seconds) = (&mut contenders[at], &mut seconds[at]);
            if seconds.len() == contender.most || (round == 0 && contender.most < usize::MAX) {
                continue;
            }
            let name = contender.name;
            let run = (contender.run)().with_context(|| format!("{title}: {name}"))?;
            if let Some(check) = run.check {
                let (first, expected) = *agreed.get_or_insert((name, check));
                ensure!(check == expected, "{title}: {name} gives {check:x}, {first} gives {expected:x}");
            }
            if round > 0 {
                seconds.push(run.seconds);
            }
        }
    }
    let times =
        contenders.iter().zip(seconds).map(|(contender, seconds)| Times::new(contender.name, seconds));
    Ok(Measured { title, unit, times: times.collect(), claims })
}

/// Runs `operation` and makes the check from its result, which is dropped after the clock has stopped.
///
/// # Errors
/// Those of both.
pub fn timed<T>(
    operation: impl FnOnce() -> Result<T>,
    check: impl FnOnce(&T) -> Result<Option<u64>>,
) -> Result<Run> {
    let start = Instant::now();
    let result = operation()?;
    let elapsed = start.elapsed();
    Ok(Run { seconds: elapsed.as_secs_f64(), check: check(&result)? })
}

/// The mean of `count` runs of an operation that is too short to be measured alone, in seconds.
///
/// # Errors
/// The operation's.
pub fn mean(count: u32, mut operation: impl FnMut() -> Result<()>) -> Result<Run> {
    let start = Instant::now();
    for _ in 0..count {
        operation()?;
    }
    let elapsed: Duration = start.elapsed() / count;
    Ok(Run { seconds: elapsed.as_secs_f64(), check: None })
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    fn group<'a>(contenders: Vec<Contender<'a>>) -> Group<'a> {
        Group { title: "test".into(), unit: Unit::Time, contenders, claims: Vec::new() }
    }

    #[test]
    fn another_contender_begins_each_round_and_the_first_round_is_not_counted() {
        let order = RefCell::new(String::new());
        let contender = |name: &'static str, first: f64| {
            let mut seconds = first;
            let order = &order;
            Contender::new(name, move || {
                order.borrow_mut().push_str(name);
                seconds -= 1.0;
                Ok(Run { seconds: seconds + 1.0, check: Some(7) })
            })
        };
        let measured =
            measure(group(vec![contender("a", 9.0), contender("b", 90.0), contender("c", 0.0)]), 3).unwrap();
        assert_eq!(*order.borrow(), "abcbcacababc");
        assert_eq!((measured.times[0].best(), measured.times[0].median()), (6.0, 7.0));
        assert_eq!((measured.times[1].best(), measured.times[1].median()), (87.0, 88.0));
    }

    #[test]
    fn a_slow_contender_has_fewer_rounds() {
        let order = RefCell::new(String::new());
        let contender = |name: &'static str| {
            let order = &order;
            Contender::new(name, move || {
                order.borrow_mut().push_str(name);
                Ok(Run { seconds: 1.0, check: None })
            })
        };
        let measured = measure(group(vec![contender("a"), contender("s").at_most(2)]), 3).unwrap();
        assert_eq!(*order.borrow(), "asaasa");
        assert_eq!((measured.times[0].sorted.len(), measured.times[1].sorted.len()), (3, 2));
    }

    #[test]
    fn contenders_that_come_to_different_results_are_an_error() {
        let contender = |name, check| Contender::new(name, move || Ok(Run { seconds: 1.0, check }));
        let equal = vec![contender("a", Some(1)), contender("b", None), contender("c", Some(1))];
        assert!(measure(group(equal), 1).is_ok());
        let different = vec![contender("a", Some(1)), contender("b", Some(2))];
        assert!(measure(group(different), 1).is_err());
    }

    #[test]
    fn median_of_an_even_count_is_the_mean_of_the_middle_two() {
        assert_eq!(Times::new("a", vec![4.0, 1.0, 2.0, 8.0]).median(), 3.0);
    }
}
