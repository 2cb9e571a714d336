//! The waits of sessions, by configuration.

mod table;

use crate::hot::HotResources;
use crate::{Accounting, Summary};
use serde::Serialize;
pub use table::{Averages, HEADINGS, WaitOptions, WaitRow, WaitTable};

/// Waits and accounting of one configuration.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConfigurationWaits {
    /// The position in the recording.
    pub index: usize,
    /// The short label.
    pub configuration: String,
    /// The waits of sessions.
    pub waits: WaitTable,
    /// Hot resources of the waits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hot: Vec<HotResources>,
    /// The use of their time.
    pub accounting: Accounting,
}

impl Summary<'_> {
    /// Waits and accounting of the configurations that the verdict names: of all where there is one
    /// factor, else of the baseline, of what shows the largest effect from there, and of the
    /// best. Each by itself: what sessions wait for at the levels of another factor is another
    /// story.
    pub fn waits(&self) -> Vec<ConfigurationWaits> {
        self.named_configurations()
            .into_iter()
            .filter_map(|index| {
                let row = self.configurations.get(index)?;
                Some(ConfigurationWaits {
                    index,
                    configuration: row.label.clone(),
                    waits: row.waits.clone(),
                    hot: row.hot.clone(),
                    accounting: row.accounting.clone()?,
                })
            })
            .collect()
    }
}
