//! The digest of a block while it is being written: on a thread of its own, since MD5 is slower than most disks.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use container_codecs::checksum::Algorithm;

/// Bytes that are handed over at a time.
const PIECE_LEN: usize = 1 << 20;

/// Pieces that may wait.
const MAX_QUEUED_PIECES: usize = 4;

/// A running MD5.
pub(super) enum Hasher {
    /// None is wanted.
    Off,
    /// On this thread: there is only one, or few bytes to hash.
    Here(Box<dyn container_core::checksum::Checksum>),
    /// On a second thread, which receives pieces and returns their memory.
    There(Thread),
}

pub(super) struct Thread {
    pieces: SyncSender<Vec<u8>>,
    spare: Receiver<Vec<u8>>,
    filling: Vec<u8>,
    digest: JoinHandle<[u8; 16]>,
}

impl Hasher {
    /// A digest of about `len` bytes, with up to `threads` threads to use.
    pub(super) fn start(wanted: bool, len: u64, threads: usize) -> Self {
        if !wanted {
            return Self::Off;
        }
        // Below this a thread costs more than it wins.
        if threads < 2 || len < 4 * PIECE_LEN as u64 {
            return Self::Here(Algorithm::Md5.start());
        }
        let (pieces, waiting) = sync_channel::<Vec<u8>>(MAX_QUEUED_PIECES);
        let (back, spare) = sync_channel::<Vec<u8>>(MAX_QUEUED_PIECES + 2);
        let work = move || {
            let mut running = Algorithm::Md5.start();
            while let Ok(mut piece) = waiting.recv() {
                running.update(&piece);
                piece.clear();
                // At the end the writer takes no more pieces back.
                let _ = back.try_send(piece);
            }
            sixteen(&running.finish())
        };
        match std::thread::Builder::new().name("asdf md5".into()).spawn(work) {
            Ok(digest) => {
                Self::There(Thread { pieces, spare, filling: Vec::with_capacity(PIECE_LEN), digest })
            }
            Err(_) => Self::Here(Algorithm::Md5.start()),
        }
    }

    pub(super) fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Off => {}
            Self::Here(running) => running.update(bytes),
            Self::There(thread) => {
                let mut bytes = bytes;
                while !bytes.is_empty() {
                    let (now, later) = bytes.split_at(bytes.len().min(PIECE_LEN - thread.filling.len()));
                    thread.filling.extend_from_slice(now);
                    bytes = later;
                    if thread.filling.len() == PIECE_LEN {
                        let next = thread.spare.try_recv().unwrap_or_else(|_| Vec::with_capacity(PIECE_LEN));
                        // The thread ends only when this end is closed.
                        let _ = thread.pieces.send(std::mem::replace(&mut thread.filling, next));
                    }
                }
            }
        }
    }

    /// The digest; zeros where none is wanted.
    pub(super) fn finish(self) -> [u8; 16] {
        match self {
            Self::Off => [0; 16],
            Self::Here(running) => sixteen(&running.finish()),
            Self::There(Thread { pieces, filling, digest, .. }) => {
                let _ = pieces.send(filling);
                drop(pieces);
                digest.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            }
        }
    }
}

/// MD5 as the bytes of a block header.
pub(crate) fn sixteen(digest: &container_core::checksum::Digest) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(digest.as_bytes());
    bytes
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::ptr_arg)]
mod tests {
    use super::*;

    #[test]
    fn digest_is_independent_of_threads_and_pieces() {
        let bytes: Vec<u8> =
            (0..6_000_001_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        let expected = sixteen(&Algorithm::Md5.digest(&bytes));
        for threads in [1, 2] {
            for piece in [1000, 1 << 20, 3_000_000, bytes.len()] {
                let mut hasher = Hasher::start(true, bytes.len() as u64, threads);
                bytes.chunks(piece).for_each(|piece| hasher.update(piece));
                assert_eq!(hasher.finish(), expected, "{threads} threads, {piece} bytes");
            }
        }
        assert_eq!(Hasher::start(false, 9, 2).finish(), [0; 16]);
    }
}
