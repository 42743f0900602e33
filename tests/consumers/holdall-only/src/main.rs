//! Asks the façade which formats it was built with.

fn main() {
    assert_ne!(holdall::formats::FORMATS.len(), 0);
}
