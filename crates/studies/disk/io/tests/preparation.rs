//! Preparation before a measurement.

use super::support::{MIB, Mount, file, folder, whole};
use disk_io::{DiskError, Region, fill, precondition};
use std::time::Duration;
use work::conductor::LoadError;

#[test]
fn filling_writes_all_of_a_region_and_nothing_else() {
    for direct in [true, false] {
        let folder = folder();
        let path = file(&folder, "data", 64 << 10);
        // Begins within the file, ends within a sector, and is longer than the file.
        let region = Region { path: path.clone(), start: 32 << 10, length: 9 * MIB + 100 };
        fill(&region, direct, 50, &|| false).unwrap();
        let contents = std::fs::read(&path).unwrap();
        assert_eq!(contents.len() as u64, region.start + region.length);
        let (before, filled) = contents.split_at(32 << 10);
        assert!(before.iter().all(|byte| *byte == 0));
        let mut pages: Vec<&[u8]> = filled.chunks(4096).collect();
        assert!(pages.iter().all(|page| page.iter().any(|byte| *byte != 0)));
        assert!(pages.iter().filter(|page| page.len() == 4096).all(|page| {
            page[2048..].iter().all(|byte| *byte == 0)
                && page[..2048].iter().any(|byte| *byte > 100)
        }));
        // Nothing to deduplicate.
        let count = pages.len();
        pages.sort_unstable();
        pages.dedup();
        assert_eq!(pages.len(), count);
    }
}

#[test]
fn filling_stops_when_asked_and_says_when_there_is_no_space() {
    let folder = folder();
    let path = file(&folder, "data", MIB);
    let stopped = fill(&whole(&path, 64 * MIB), true, 0, &|| true);
    assert!(matches!(stopped, Err(DiskError::Load(LoadError::Stopped))), "{stopped:?}");
    let Some(mounted) = Mount::ext4(&folder, 16 * MIB) else { return };
    let path = mounted.at.path().join("data");
    std::fs::File::create(&path).unwrap();
    for direct in [true, false] {
        let full = fill(&whole(&path, 64 * MIB), direct, 0, &|| false).unwrap_err();
        let DiskError::File { source, .. } = &full else { panic!("{full}") };
        assert_eq!(source.raw_os_error(), Some(libc::ENOSPC), "{full}");
    }
}

#[test]
fn preconditioning_goes_on_until_steady_or_the_last_round() {
    let folder = folder();
    let path = file(&folder, "data", 8 * MIB);
    let round = Duration::from_millis(50);
    let few = precondition(&[whole(&path, 8 * MIB)], round, 3, 0, &|| false).unwrap();
    assert_eq!((few.iops.len(), few.steady), (3, false));
    let many = precondition(&[whole(&path, 8 * MIB)], round, 40, 0, &|| false).unwrap();
    assert_eq!(disk_io::steady(&many.iops), Some(many.steady));
    assert!(many.iops.len() == 40 || many.steady);
    // All of the file was hit: 1,024 blocks, each missed with a chance of exp(-writes / 1024).
    let writes: f64 = few.iops.iter().chain(&many.iops).map(|iops| iops * 0.05).sum();
    let missed = std::fs::read(&path)
        .unwrap()
        .chunks(8192)
        .filter(|block| block.iter().all(|b| *b == 0))
        .count();
    assert!(
        missed as f64 <= 1024.0 * (-writes / 1024.0).exp() * 2.0 + 20.0,
        "{missed} after {writes} writes"
    );
    let missing =
        precondition(&[whole(&folder.path().join("missing"), MIB)], round, 1, 0, &|| false);
    assert!(matches!(missing, Err(DiskError::File { .. })), "{missing:?}");
}
