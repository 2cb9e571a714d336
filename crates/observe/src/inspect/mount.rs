use crate::devices::{Device, btrfs_folder};
use crate::environment::{file_system, space};
use crate::{mounts, sysfs};
use observations::MountFacts;
use std::path::Path;

/// xfs gives the stripe among its options in these, whatever the sectors of the device are.
const SECTOR_BYTES: u64 = 512;

/// The file system that holds a path and is on these devices.
pub(super) fn of(path: &Path, members: &[Device]) -> Option<MountFacts> {
    let mounts = mounts::all().ok()?;
    let mount = mounts::holding(&mounts, path)?;
    let block_bytes = file_system(path).map(|stat| stat.f_frsize).filter(|bytes| *bytes > 0);
    let (stripe_unit_bytes, stripe_width_bytes) = stripe(&mount.options, block_bytes);
    let (size_bytes, free_bytes) = space(path).unzip();
    let btrfs = members.first().filter(|_| mount.file_system == "btrfs").and_then(|one| btrfs_folder(*one));
    let profiles = |kind: &str| {
        let folder = btrfs.as_ref().map(|(folder, _)| folder.join("allocation").join(kind));
        folder.map(|folder| profiles(&folder)).unwrap_or_default()
    };
    Some(MountFacts {
        folder: mount.folder.display().to_string(),
        file_system: mount.file_system.clone(),
        source: mount.source.clone(),
        options: mount.options.clone(),
        block_bytes,
        stripe_unit_bytes,
        stripe_width_bytes,
        btrfs_data: profiles("data"),
        btrfs_metadata: profiles("metadata"),
        size_bytes,
        free_bytes,
    })
}

/// Stripe unit and width among the options: xfs shows `sunit` and `swidth` in sectors (xfs(5)), ext4
/// `stripe`, which is the width, in its blocks (Documentation/admin-guide/ext4.rst).
fn stripe(options: &str, block_bytes: Option<u64>) -> (Option<u64>, Option<u64>) {
    let option = |name: &str| -> Option<u64> {
        let pairs = options.split(',').filter_map(|option| option.split_once('='));
        pairs.into_iter().find(|(found, _)| *found == name)?.1.parse().ok()
    };
    let sectors = |name| option(name).map(|sectors| sectors * SECTOR_BYTES);
    let ext4_width = || Some(option("stripe")? * block_bytes?);
    (sectors("sunit"), sectors("swidth").or_else(ext4_width))
}

/// How btrfs spreads its blocks: profiles are folders among files.
fn profiles(folder: &Path) -> Vec<String> {
    let mut names = sysfs::names(folder);
    names.retain(|name| folder.join(name).is_dir());
    names
}

#[cfg(test)]
mod tests {
    use super::stripe;

    #[test]
    fn reads_the_stripe_that_a_file_system_shows() {
        let xfs = "rw,relatime,attr2,inode64,sunit=128,swidth=256,noquota";
        assert_eq!(stripe(xfs, Some(4096)), (Some(65_536), Some(131_072)));
        assert_eq!(stripe("rw,relatime,stripe=32", Some(4096)), (None, Some(131_072)));
        assert_eq!(stripe("rw,relatime,noquota", Some(4096)), (None, None));
    }
}
