//! Statistics: counts, extremes, moments, percentiles and a histogram of a dataset, in bounded memory.
//!
//! Everything but the counts is about the **finite** values that no mask of the file hides. Complex numbers are measured by their modulus, booleans
//! as 0 and 1. Integers and times have an exact minimum, maximum and sum. Percentiles are those of numpy's default method (linear interpolation
//! between the two nearest values), exact however large the data are. Data that exceed the memory are read again, until few enough values are left
//! around the percentiles.

use container_core::chunked_read::{check_readable, chunk_len};
use container_core::container::{Container, Dataset, ReadOptions};
use container_core::dtype::DType;
use container_core::mask::Hidden;
use container_core::region::Region;
use container_core::threads::in_order;
use container_core::{Error, Progress, Result};

mod column;
mod exact_sum;
mod histogram;
mod json;
mod moments;
mod percentiles;
mod same;
mod sort_keys;
mod wide_squares;

pub use histogram::Histogram;
pub use json::stat_json;

use column::{Column, columns};
use moments::Moments;
use percentiles::{Ranks, Tally};
use same::{Job, Jobs};

/// The percentiles that are given.
pub const PERCENTILES: [f64; 7] = [1.0, 5.0, 25.0, 50.0, 75.0, 95.0, 99.0];

/// Bytes of a piece.
const PIECE: u64 = 4 << 20;

/// Most bytes of values that are kept for percentiles; more are read again instead.
const MAX_KEPT: u64 = 1 << 30;

/// Statistics of a dataset, or of one field of its records.
#[derive(Clone, Debug)]
pub struct Stat {
    /// Name of the field, `a.b` within a record in a record; `None` for the elements themselves.
    pub field: Option<String>,
    /// Its type.
    pub dtype: DType,
    /// The numbers that were measured.
    pub of: Measured,
    /// Number of elements, all of them.
    pub count: u64,
    /// Those of them that the file marks as missing. They are excluded from the other numbers.
    pub masked: u64,
    /// NaN among the others, or NaT.
    pub nan: u64,
    /// Negative infinities.
    pub negative_infinity: u64,
    /// Positive infinities.
    pub positive_infinity: u64,
    /// Elements without a character (strings).
    pub empty: u64,
    /// Summary of the finite values; `None` without any.
    pub summary: Option<Summary>,
}

/// Numbers that a [`Stat`] is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measured {
    /// The values.
    Values,
    /// The moduli of complex numbers.
    Modulus,
    /// Dates: counts of their unit since 1970.
    Dates,
    /// The lengths of strings, in characters, without the NULs that pad them.
    Length,
    /// Elements that are only counted.
    Nothing,
}

impl Measured {
    /// `values`, `modulus`, `dates`, `length` or `nothing`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Values => "values",
            Self::Modulus => "modulus",
            Self::Dates => "dates",
            Self::Length => "length",
            Self::Nothing => "nothing",
        }
    }
}

/// Summary of finite values.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The least.
    pub min: Number,
    /// The greatest.
    pub max: Number,
    /// Their sum; exact for integers, and for floating-point numbers rounded once where it needs no more than about 100 bits.
    pub sum: Number,
    /// Their mean.
    pub mean: f64,
    /// Standard deviation of the values as the whole population (numpy's default, `ddof=0`).
    pub std: f64,
    /// One for each of [`PERCENTILES`]. Of dates, the last tick of the unit that is not after it; between integers one of which is beyond 2⁵³, where
    /// doubles round, the last integer that is not greater.
    pub percentiles: [Number; 7],
    /// Distribution of the values.
    pub histogram: Histogram,
}

/// A number as exact as its type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// An integer.
    Integer(i128),
    /// A floating-point number.
    Float(f64),
}

impl Number {
    /// The number as a double.
    #[must_use]
    pub fn value(self) -> f64 {
        match self {
            Self::Integer(value) => value as f64,
            Self::Float(value) => value,
        }
    }
}

/// Measures `region` of a dataset: one [`Stat`], or one for each field of its records. Reads on up to `read.threads`
/// threads; the result does not depend on their number.
///
/// # Errors
/// Those of [`Container::read`]; `Cancelled`.
pub fn stat(
    container: &dyn Container,
    index: usize,
    region: &Region,
    read: &ReadOptions,
    progress: Progress<'_>,
) -> Result<Vec<Stat>> {
    let dataset = &*container.require(index)?;
    let read = &read.for_region(region, &dataset.shape);
    check_readable(container, index, region, read)?;
    let columns = columns(&dataset.dtype);
    let count = region.len().unwrap_or(u64::MAX);
    let mut found: Vec<Found> = columns.into_iter().map(|column| Found::new(column, count, read)).collect();
    let pass = Pass { container, index, region, read, dataset, progress };
    let is_measured = dataset.dtype.itemsize() > 0 && found.iter().any(|found| !found.is_settled());
    if count > 0 && (is_measured || container.has_mask(index, read)?) {
        pass.first(&mut found)?;
        while found.iter().any(|found| !found.is_settled()) {
            pass.again(&mut found)?;
        }
    }
    Ok(found.into_iter().map(Found::into_stat).collect())
}

/// A column and its results so far.
struct Found {
    column: Column,
    count: u64,
    /// Scalars that are missing.
    masked: u64,
    moments: Moments,
    ranks: Ranks,
    /// Beyond `base`.
    histogram: Option<Histogram>,
    /// Base that is subtracted from integers that doubles would round.
    base: i128,
    is_done: bool,
}

impl Found {
    fn new(column: Column, rows: u64, read: &ReadOptions) -> Self {
        let count = rows.saturating_mul(column.per_element);
        let budget = (read.limits.memory / 4).min(MAX_KEPT) / 8;
        let is_done = column.measured == Measured::Nothing;
        Self {
            column,
            count,
            masked: 0,
            moments: Moments::default(),
            ranks: Ranks::new(count, budget),
            histogram: None,
            base: 0,
            is_done,
        }
    }

    fn is_settled(&self) -> bool {
        self.is_done
    }

    /// Prepares the next pass: the ranks, counting base and histogram bounds that it needs.
    fn settle(&mut self) {
        self.ranks.settle(self.moments.count());
        self.base = self.moments.extremes().map_or(0, |extremes| self.column.keys.base(extremes));
        if self.histogram.is_none()
            && let Some((low, high)) = self.bounds()
        {
            self.histogram = Some(Histogram::new(low, high));
            if let Some(all) = self.ranks.all() {
                let keys = &self.column.keys;
                let base = self.base;
                for part in all.chunks(BATCH) {
                    let values: Vec<f64> = part.iter().map(|key| keys.beyond(*key, base)).collect();
                    self.histogram.iter_mut().for_each(|histogram| histogram.add(&values));
                }
            }
        }
        self.is_done = self.moments.count() == 0 || (self.ranks.is_settled() && self.histogram_is_full());
    }

    /// The histogram of the next pass; one that is full is not filled again.
    fn wanted_histogram(&self) -> Option<Histogram> {
        self.histogram.as_ref().filter(|_| !self.histogram_is_full()).map(Histogram::emptied)
    }

    fn histogram_is_full(&self) -> bool {
        self.histogram.as_ref().is_some_and(|histogram| histogram.counts.iter().sum::<u64>() > 0)
    }

    fn bounds(&self) -> Option<(f64, f64)> {
        let (low, high) = self.moments.extremes()?;
        let keys = self.column.keys;
        Some((keys.beyond(low, self.base), keys.beyond(high, self.base)))
    }

    fn into_stat(self) -> Stat {
        let Self { column, count, masked, moments, ranks, histogram, base, .. } = self;
        let keys = column.keys;
        let summary = moments.extremes().zip(histogram).map(|((low, high), histogram)| {
            let number = |key| keys.number(key);
            let histogram = match base {
                0 => histogram,
                _ => Histogram { low: keys.double(low), high: keys.double(high), ..histogram },
            };
            let percentiles = PERCENTILES.map(|percent| match column.measured {
                Measured::Dates => ranks.tick(percent, keys),
                _ => ranks.percentile(percent, keys),
            });
            Summary {
                min: number(low),
                max: number(high),
                sum: moments.sum(keys),
                mean: moments.mean(keys),
                std: moments.std(),
                percentiles,
                histogram,
            }
        });
        Stat {
            field: column.name,
            dtype: column.dtype,
            of: column.measured,
            count,
            masked,
            nan: moments.nan,
            negative_infinity: moments.negative_infinity,
            positive_infinity: moments.positive_infinity,
            empty: moments.empty,
            summary,
        }
    }
}

/// Going through the elements.
struct Pass<'a> {
    container: &'a dyn Container,
    index: usize,
    region: &'a Region,
    read: &'a ReadOptions,
    dataset: &'a Dataset,
    progress: Progress<'a>,
}

impl Pass<'_> {
    /// The first pass: moments, missing scalars, and the part of the ranks that does not depend on the number of values.
    fn first(&self, found: &mut [Found]) -> Result<()> {
        let mut partials: Vec<(Moments, u64)> = found.iter().map(|_| (Moments::default(), 0)).collect();
        self.go(found, true, |number, moments, masked| {
            if let Some((partial, total)) = partials.get_mut(number) {
                partial.merge(moments);
                *total = total.saturating_add(masked);
            }
        })?;
        for (found, (moments, masked)) in found.iter_mut().zip(partials) {
            (found.moments, found.masked) = (moments, masked);
            found.settle();
        }
        Ok(())
    }

    /// Closer to the ranks, and the histogram.
    fn again(&self, found: &mut [Found]) -> Result<()> {
        self.go(found, false, |_, _, _| {})?;
        found.iter_mut().filter(|found| !found.is_done).for_each(Found::settle);
        Ok(())
    }

    /// Calls `merge` with the moments of each column in each piece, and the number of its missing scalars.
    ///
    /// One pass over the data. Threads read and measure pieces; this thread merges the results in the order of the pieces, so that sums do not
    /// depend on the number of threads. Runs of equal pieces are not read: one is measured, and its result merged as often as it occurs. Tallies
    /// and histograms are stored in `found` at the end.
    fn go(
        &self,
        found: &mut [Found],
        is_first: bool,
        mut merge: impl FnMut(usize, &Moments, u64),
    ) -> Result<()> {
        let item_len = self.dataset.dtype.itemsize();
        let itemsize = item_len as u64;
        let total = self.region.len().unwrap_or(u64::MAX).saturating_mul(itemsize);
        let threads = self.read.threads.max(1);
        let most = PIECE.max(chunk_len(true, &self.read.limits)).min(self.read.limits.memory / 16);
        let order = self.dataset.order;
        let pieces = self.region.chunks(order, (most / itemsize.max(1)).max(1));
        // The elements that a mask hides differ from piece to piece.
        let has_mask = self.container.has_mask(self.index, self.read)?;
        let repeated = |part: &Region| {
            let element = (!has_mask).then(|| self.container.repeated(self.index, part)).flatten();
            element.filter(|element| element.len() == item_len)
        };
        let mut jobs = Jobs::new(pieces, repeated(self.region), repeated);
        // Pieces are read side by side, each on one thread.
        let one = self.read.with_threads(1);
        let mut done = 0_u64;
        let mut tallies: Vec<(Tally, Option<Histogram>)> =
            found.iter().map(|found| (found.ranks.tally(), found.wanted_histogram())).collect();
        {
            let found = &*found;
            in_order(
                threads,
                || Ok(jobs.next()),
                |job| {
                    let piece = match job {
                        Job::Read(piece) => piece,
                        Job::Same(run) => return Ok(Err(run)),
                    };
                    let array = self.container.read(self.index, &piece, &one)?;
                    let len = array.len();
                    let bytes = array.bytes(order, &self.read.limits)?;
                    let mask = self.container.mask(self.index, &piece, &one)?;
                    let hidden = |mask| Hidden::new(&mask, &self.dataset.dtype, order, &self.read.limits);
                    let hidden = mask.map(hidden).transpose()?.filter(Hidden::any);
                    let parts = found.iter().map(|found| {
                        let visible =
                            hidden.as_ref().map(|hidden| found.column.visible(&bytes, item_len, hidden));
                        let (elements, masked) = match &visible {
                            None => (Elements::Whole(&bytes, item_len), 0),
                            Some((run, masked)) => (Elements::Items(run), *masked),
                        };
                        ((!found.is_done).then(|| measure(found, elements, is_first)), masked)
                    });
                    Ok(Ok((parts.collect::<Vec<_>>(), len.saturating_mul(itemsize))))
                },
                |made| {
                    let (parts, len) = match made {
                        Ok(made) => made,
                        Err(run) => {
                            for (len, times) in run.lens {
                                let bytes = run.element.repeat(usize::try_from(len).unwrap_or(0));
                                for ((number, found), whole) in found.iter().enumerate().zip(&mut tallies) {
                                    if found.is_done {
                                        continue;
                                    }
                                    let part = measure(found, Elements::Whole(&bytes, item_len), is_first);
                                    // One after the other, as pieces that are read come: sums of floating-point numbers depend on it.
                                    (0..times).for_each(|_| merge(number, &part.moments, 0));
                                    let tally = whole.0.merge_times(&part.tally, times);
                                    tally.ok_or_else(|| Error::usage("tallies of two passes"))?;
                                    if let (Some(whole), Some(part)) = (&mut whole.1, &part.histogram) {
                                        whole.merge_times(part, times);
                                    }
                                }
                                done =
                                    done.saturating_add(len.saturating_mul(times).saturating_mul(itemsize));
                                self.progress.tick(done, total)?;
                            }
                            return Ok(());
                        }
                    };
                    for (number, ((part, masked), whole)) in parts.into_iter().zip(&mut tallies).enumerate() {
                        let Some(part) = part else {
                            merge(number, &Moments::default(), masked);
                            continue;
                        };
                        merge(number, &part.moments, masked);
                        whole.0.merge(part.tally).ok_or_else(|| Error::usage("tallies of two passes"))?;
                        if let (Some(whole), Some(part)) = (&mut whole.1, &part.histogram) {
                            whole.merge(part);
                        }
                    }
                    done = done.saturating_add(len);
                    self.progress.tick(done, total)
                },
            )?;
        }
        for (found, (tally, histogram)) in found.iter_mut().zip(tallies) {
            if !found.is_done {
                found.ranks.take(tally);
                found.histogram = histogram.or(found.histogram.take());
            }
        }
        Ok(())
    }
}

/// The measures of a column.
#[derive(Clone, Copy)]
enum Elements<'b> {
    /// Whole elements of this size in bytes.
    Whole(&'b [u8], usize),
    /// The column's scalars one after the other: those that are not missing.
    Items(&'b [u8]),
}

/// Contribution of one piece.
struct Measure {
    moments: Moments,
    tally: Tally,
    histogram: Option<Histogram>,
}

/// Number of elements processed together, small enough to stay in the cache.
const BATCH: usize = 4096;

fn measure(found: &Found, elements: Elements<'_>, is_first: bool) -> Measure {
    let mut moments = Moments::default();
    let mut tally = found.ranks.tally();
    let mut histogram = found.wanted_histogram();
    let mut batch = sort_keys::Batch::default();
    let mut values = Vec::with_capacity(BATCH);
    let rows = (BATCH / usize::try_from(found.column.per_element).unwrap_or(BATCH).max(1)).max(1);
    let (bytes, most) = match elements {
        Elements::Whole(bytes, itemsize) => (bytes, rows.saturating_mul(itemsize.max(1))),
        Elements::Items(bytes) => (bytes, BATCH.saturating_mul(found.column.dtype.itemsize().max(1))),
    };
    for part in bytes.chunks(most) {
        batch.clear();
        match elements {
            Elements::Whole(_, itemsize) => found.column.load(part, itemsize, &mut batch),
            Elements::Items(_) => found.column.load_items(part, &mut batch),
        }
        values.clear();
        values.extend(batch.keys.iter().map(|key| found.column.keys.beyond(*key, found.base)));
        if is_first {
            moments.add(&batch, &values, found.column.keys);
        }
        tally.add(&batch.keys);
        if let Some(histogram) = &mut histogram {
            histogram.add(&values);
        }
    }
    Measure { moments, tally, histogram }
}

#[cfg(test)]
mod tests;
