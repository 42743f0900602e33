//! Files that another process writes to: a reader may catch a length between two writes, and reads again once before it reports damage.

use std::path::Path;
use std::time::{Duration, SystemTime};

/// Time that a writer needs between two writes of one change, most often.
const PAUSE: Duration = Duration::from_millis(20);

/// Age of the last change from which on the file is not considered as being written.
const MAX_AGE: Duration = Duration::from_secs(2);

/// Length and time of the last change of a regular file.
fn stamp(path: &Path) -> Option<(u64, SystemTime)> {
    let about = path.metadata().ok().filter(std::fs::Metadata::is_file)?;
    Some((about.len(), about.modified().ok()?))
}

/// Checks a file; if that finds damage and the file has just been changed, checks again after a pause.
pub(crate) fn look<T>(path: &Path, mut look: impl FnMut() -> T, is_damaged: impl Fn(&T) -> bool) -> T {
    let before = stamp(path);
    let seen = look();
    let Some(now) = stamp(path) else { return seen };
    // A clock that is slower than the file's is not a reason to wait.
    let is_new = now.1.elapsed().is_ok_and(|age| age < MAX_AGE);
    if (before == Some(now) && !is_new) || !is_damaged(&seen) {
        return seen;
    }
    std::thread::sleep(PAUSE);
    look()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{File, FileTimes};

    #[test]
    fn damage_of_a_file_that_is_being_written_is_looked_at_once_more() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a");
        let looks = |damaged: bool, change: &dyn Fn(u32)| {
            let mut count = 0;
            look(
                &path,
                || {
                    change(count);
                    count += 1;
                    damaged && count == 1
                },
                |damaged| *damaged,
            );
            count
        };
        let age = |seconds: u64| {
            let time = SystemTime::now() - Duration::from_secs(seconds);
            File::options()
                .append(true)
                .open(&path)
                .unwrap()
                .set_times(FileTimes::new().set_modified(time))
                .unwrap();
        };
        assert_eq!(looks(true, &|_| ()), 1);
        std::fs::write(&path, b"half").unwrap();
        assert_eq!((looks(true, &|_| ()), looks(false, &|_| ())), (2, 1));
        age(60);
        assert_eq!(looks(true, &|_| ()), 1);
        // The file grows during the check.
        let grow = |count: u32| {
            if count == 0 {
                std::fs::write(&path, b"whole").unwrap();
                age(60);
            }
        };
        assert_eq!(looks(true, &grow), 2);
    }
}
