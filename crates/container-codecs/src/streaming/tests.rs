use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use container_core::ErrorKind;

/// Copies its input, and makes the request with the step number `last`.
struct Copying<'c> {
    steps: &'c mut usize,
    last: usize,
    flag: &'static AtomicBool,
    total: u64,
}

impl Decoder for Copying<'_> {
    fn step(&mut self, src: &[u8], dst: &mut [u8]) -> Result<bool, Fault> {
        *self.steps += 1;
        self.flag.store(*self.steps == self.last, Ordering::Relaxed);
        assert!(src.len() <= STEP && dst.len() <= STEP);
        let len = src.len().min(dst.len());
        dst[..len].copy_from_slice(&src[..len]);
        self.total += len as u64;
        Ok(false)
    }

    fn total_in(&self) -> u64 {
        self.total
    }

    fn total_out(&self) -> u64 {
        self.total
    }
}

/// Every loop over steps of a decoder makes none after the one in which a request came.
#[test]
fn no_step_follows_a_request() {
    let src = vec![1; 10 * STEP];
    let flag: &'static AtomicBool = Box::leak(Box::default());
    let stop = Stop::when(flag);
    let run = |which: usize| {
        let (mut steps, mut dst) = (0, vec![0; src.len()]);
        let decoder = Copying { steps: &mut steps, last: 3, flag, total: 0 };
        flag.store(false, Ordering::Relaxed);
        let mut decoder = Some(decoder);
        let mut start = || Ok(decoder.take().unwrap());
        let done = match which {
            0 => Filling::new("copy", &src, &mut dst).until(stop).run(start().unwrap()),
            1 => Part { name: "copy", src: Feed::all(&src), skip: 0, dst: &mut dst, stop, to_end: false }
                .run(start),
            // Bytes before the range are dropped.
            2 => Part {
                name: "copy",
                src: Feed::all(&src),
                skip: 9 * STEP as u64,
                dst: &mut dst[..STEP],
                stop,
                to_end: true,
            }
            .run(start),
            _ => walk(&src, u64::MAX, u64::MAX, stop, start).map(drop),
        };
        (steps, done)
    };
    for which in 0..4 {
        let (steps, done) = run(which);
        assert!(matches!(done.unwrap_err().kind(), ErrorKind::Cancelled), "{which}");
        assert_eq!(steps, 3, "{which}");
    }
}
