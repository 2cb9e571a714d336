//! Size of tests with as many tries or draws as there is time for.

/// Returns true if all tests run, and false in the gate, which every change passes: see
/// CONTRIBUTING.md.
pub fn is_all() -> bool {
    std::env::var_os("STEELBENCH_TEST_LANE").is_some_and(|lane| lane == "all")
}
