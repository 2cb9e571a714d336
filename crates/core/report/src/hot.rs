//! Resources that waiting sessions met at.

use crate::model::Section;
use analysis::hot::HotResources;

/// Adds the resources that sessions met at.
pub fn hot_resources(section: &mut Section, hot: &[HotResources]) {
    for hot in hot {
        section.warn(format!("{}.", hot.finding()));
        section.detail(format!("{}.", hot.evidence()));
    }
}
