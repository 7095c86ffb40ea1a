//! Files that hold what is expected.

use std::path::PathBuf;

/// Compares `actual` with the file `name`, or writes the file if `UPDATE_GOLDEN=1` is set.
pub(crate) fn assert_golden(name: &str, actual: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some_and(|value| value == "1") {
        std::fs::write(&path, actual).unwrap();
        return;
    }
    let expected = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}; UPDATE_GOLDEN=1 writes it", path.display()));
    let differs = expected
        .lines()
        .zip(actual.lines())
        .position(|(a, b)| a != b);
    assert!(
        expected == actual,
        "{name} differs from line {}: UPDATE_GOLDEN=1 writes it anew\n--- is\n{}",
        differs.map_or("the end".to_owned(), |line| (line + 1).to_string()),
        actual
            .lines()
            .skip(differs.unwrap_or(0))
            .take(8)
            .collect::<Vec<_>>()
            .join("\n")
    );
}
