//! Block devices: which ones hold a path, what they have done, and whether they may be overwritten.

mod device;
mod find;
mod in_use;
mod monitor;
mod signature;

#[cfg(test)]
pub(crate) mod test_devices;
#[cfg(test)]
mod tests;

pub use device::Device;
pub use find::{DeviceError, devices_of, members_of};
pub use in_use::{InUseError, in_use};
pub use monitor::DeviceMonitor;

pub(crate) use find::{btrfs_folder, described_in};
