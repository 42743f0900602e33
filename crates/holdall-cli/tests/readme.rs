//! The sessions in the README run as they stand.

#[test]
fn readme_sessions() {
    // They speak of files from the top of the repository.
    std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).expect("the repository");
    trycmd::TestCases::new().case("README.md").run();
}
