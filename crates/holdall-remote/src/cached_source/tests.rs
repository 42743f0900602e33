use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use container_core::Error;
use proptest::prelude::*;

use super::*;
use crate::store::Failure;

/// An object in memory that records the ranges of requests.
#[derive(Default)]
struct Memory {
    len: u64,
    requests: Mutex<Vec<Range<u64>>>,
    at_once: AtomicUsize,
    most_at_once: AtomicUsize,
    delay: Duration,
    failing: Option<Range<u64>>,
}

fn byte(at: u64) -> u8 {
    u8::try_from(at % 251).unwrap()
}

impl Store for Arc<Memory> {
    fn head(&self, len: u64) -> Result<Opened, Failure> {
        let head = (0..len.min(self.len)).map(byte).collect();
        Ok(Opened { head, pin: Pin { len: self.len, ..Pin::default() } })
    }

    fn fetch(&self, at: u64, dst: &mut [u8], _: &Pin) -> Result<(), Failure> {
        let range = at..at + dst.len() as u64;
        let running = self.at_once.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_at_once.fetch_max(running, Ordering::SeqCst);
        self.requests.lock().unwrap().push(range.clone());
        std::thread::sleep(self.delay);
        self.at_once.fetch_sub(1, Ordering::SeqCst);
        if self.failing.as_ref().is_some_and(|failing| failing.start < range.end && range.start < failing.end)
        {
            return Err(Failure::fatal(Error::malformed("the server failed")));
        }
        dst.iter_mut().zip(at..).for_each(|(dst, at)| *dst = byte(at));
        Ok(())
    }
}

fn open(memory: Memory, options: &RemoteOptions) -> (CachedSource, Arc<Memory>) {
    let memory = Arc::new(memory);
    let source = CachedSource::new(Box::new(Arc::clone(&memory)), options, &Limits::default()).unwrap();
    (source, memory)
}

fn requests(memory: &Memory) -> Vec<Range<u64>> {
    let mut requests = std::mem::take(&mut *memory.requests.lock().unwrap());
    requests.sort_by_key(|range| range.start);
    requests
}

fn is_object(at: u64, bytes: &[u8]) -> bool {
    bytes.iter().zip(at..).all(|(have, at)| *have == byte(at))
}

#[test]
fn small_objects_are_read_whole_with_two_requests() {
    let (source, memory) = open(Memory { len: 1 << 20, ..Memory::default() }, &RemoteOptions::default());
    assert_eq!(requests(&memory), [64 << 10..1 << 20]);
    assert!(is_object(0, &source.read(0..1 << 20).unwrap()));
    assert!(is_object(5000, &source.read(5000..900_000).unwrap()));
    assert_eq!(source.traffic(), Traffic { requests: 2, rounds: 2, bytes: 1 << 20 });
    assert!(!source.is_far() && source.read(1 << 20..(1 << 20) + 1).is_err());
    assert!(open(Memory { len: 3 << 20, ..Memory::default() }, &RemoteOptions::default()).0.is_far());
    assert_eq!(open(Memory::default(), &RemoteOptions::default()).0.len(), 0);
}

#[test]
fn announced_ranges_are_fetched_in_one_round() {
    let (source, memory) = open(Memory { len: 1 << 30, ..Memory::default() }, &RemoteOptions::default());
    let ranges: Vec<_> = (1..=300_u64).map(|at| at << 20..(at << 20) + 8).collect();
    assert_eq!(source.prefetch(&ranges).unwrap(), 300);
    assert_eq!(requests(&memory), ranges);
    for range in &ranges {
        assert!(is_object(range.start, &source.read(range.clone()).unwrap()));
    }
    assert_eq!(source.traffic(), Traffic { requests: 301, rounds: 2, bytes: (64 << 10) + 300 * 8 });
    // Neighbours share a request, bytes in memory are not requested.
    source.prefetch(&[0..70_000, 80_000..90_000, 5 << 20..6 << 20]).unwrap();
    assert_eq!(requests(&memory), [64 << 10..90_000, (5 << 20) + 8..6 << 20]);
    assert!(memory.most_at_once.load(Ordering::SeqCst) <= 16);
}

#[test]
fn more_than_the_cache_holds_is_announced_in_turns() {
    let options = RemoteOptions { cache_len: 1 << 20, ..RemoteOptions::default() };
    let (source, memory) = open(Memory { len: 1 << 30, ..Memory::default() }, &options);
    let ranges: Vec<_> = (1..=10_u64).map(|at| at << 24..(at << 24) + (200 << 10)).collect();
    assert_eq!(source.prefetch(&ranges).unwrap(), 2);
    requests(&memory);
    container_core::source::prefetch_in_turns(&source, &ranges, |_, range| {
        assert!(is_object(range.start, &source.read(range.clone())?));
        Ok(())
    })
    .unwrap();
    // Nothing twice: the first two were in memory.
    assert_eq!(requests(&memory), ranges[2..]);
    // A range that never fits is left to its read.
    assert_eq!(source.prefetch(&[1 << 28..(1 << 28) + (1 << 20)]).unwrap(), 1);
    assert!(requests(&memory).is_empty());
    assert_eq!(source.prefetch(&[]).unwrap(), 0);
}

#[test]
fn sequential_reads_fetch_ahead_and_scattered_ones_do_not() {
    let (source, memory) = open(Memory { len: 1 << 30, ..Memory::default() }, &RemoteOptions::default());
    let base = 1_u64 << 25;
    for at in (0..4_u64 << 20).step_by(32 << 10) {
        assert!(is_object(base + at, &source.read(base + at..base + at + (32 << 10)).unwrap()));
    }
    let lens: Vec<u64> = requests(&memory).iter().map(|range| range.end - range.start).collect();
    assert_eq!(lens[..6], [64 << 10, 128 << 10, 256 << 10, 512 << 10, 1 << 20, 2 << 20]);
    for at in [9_u64 << 26, 5 << 26, 7 << 26] {
        source.read(at..at + 100).unwrap();
    }
    assert!(requests(&memory).iter().all(|range| range.end - range.start == 64 << 10));
}

#[test]
fn long_reads_go_around_the_cache_in_requests_side_by_side() {
    let delay = Duration::from_millis(20);
    let (source, memory) =
        open(Memory { len: 1 << 30, delay, ..Memory::default() }, &RemoteOptions::default());
    assert!(is_object(12_345, &source.read(12_345..12_345 + (9 << 20)).unwrap()));
    let made = requests(&memory);
    assert_eq!((made.len(), made[0].clone()), (5, 12_345..12_345 + (2 << 20)));
    assert!(memory.most_at_once.load(Ordering::SeqCst) > 1);
    assert_eq!(source.traffic().rounds, 2);
    assert!(source.state().cache.len() <= 64 << 10);
}

#[test]
fn threads_request_no_byte_twice() {
    let delay = Duration::from_millis(5);
    let (source, memory) =
        open(Memory { len: 1 << 30, delay, ..Memory::default() }, &RemoteOptions::default());
    std::thread::scope(|scope| {
        for thread in 0..8_u64 {
            let source = &source;
            scope.spawn(move || {
                let from = (1 << 27) + thread * 10_000;
                assert!(is_object(from, &source.read(from..from + 50_000).unwrap()));
            });
        }
    });
    let made = requests(&memory);
    assert!(made.windows(2).all(|pair| pair[0].end <= pair[1].start), "{made:?}");
}

#[test]
fn a_failed_range_is_reported_to_all_that_wait_and_fetched_again_later() {
    let failing = Some(1 << 27..(1 << 27) + 1);
    let (source, memory) =
        open(Memory { len: 1 << 30, failing, ..Memory::default() }, &RemoteOptions::default());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let error = source.read(1 << 27..(1 << 27) + 100).unwrap_err();
                assert!(error.to_string().contains("the server failed"), "{error}");
            });
        }
    });
    assert!(source.state().in_flight.is_empty());
    assert!(!requests(&memory).is_empty());
    assert!(is_object(1 << 20, &source.read(1 << 20..(1 << 20) + 9).unwrap()));
}

#[test]
fn a_request_to_stop_ends_reads() {
    static STOP: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(true);
    let (source, _) = open(Memory { len: 1 << 30, ..Memory::default() }, &RemoteOptions::default());
    let mut dst = vec![0; 100];
    let error = source.read_until(1 << 28, &mut dst, Stop::when(&STOP)).unwrap_err();
    assert!(matches!(error.kind(), container_core::ErrorKind::Cancelled));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_reads_through_a_cache_of_any_size_give_the_object(
        cache_len in 0_u64..300_000,
        reads in proptest::collection::vec((0_u64..3_000_000, 0_u64..200_000, any::<bool>()), 1..20),
    ) {
        let options = RemoteOptions { cache_len, ..RemoteOptions::default() };
        let (source, _) = open(Memory { len: 3_000_000, ..Memory::default() }, &options);
        for (at, len, is_announced) in reads {
            let range = at..(at + len).min(3_000_000);
            if is_announced {
                source.prefetch(std::slice::from_ref(&range)).unwrap();
            }
            prop_assert!(is_object(at, &source.read(range).unwrap()));
        }
    }
}
