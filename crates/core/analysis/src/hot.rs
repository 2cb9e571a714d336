//! Hot resources, such as pages, that many sessions wait for.

use crate::Interval;
use crate::estimate::{sums, wilson};
use observations::{WaitClass, WaitedResource, number, order, range};
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Fewer samples say nothing of a share.
const SAMPLES_MIN: u64 = 20;
/// Things of a kind that are named.
const NAMES: usize = 5;
/// A resource with a smaller share of its class's samples is not hot.
const SHARE_MIN: f64 = 0.1;

/// Things of one kind that sessions waited for in one type of wait.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HotResources {
    /// The type of wait.
    pub wait_type: String,
    /// Our class of it.
    pub class: WaitClass,
    /// Kind of the resource: `PFS page`.
    pub kind: String,
    /// Each of them with its samples, the most first.
    pub resources: Vec<(String, u64)>,
    /// Samples of all of them.
    pub samples: u64,
    /// Samples of waits of this class.
    pub of: u64,
    /// The 95 % interval of their share of the time in this class (approximately; Wilson; samples
    /// taken as independent).
    pub interval: Interval,
    /// Most sessions that waited for one of them at the same time.
    pub sessions_max: u64,
    /// Remedy that would spread the waits, where one is known.
    pub remedy: Option<String>,
}

impl HotResources {
    /// `PAGELATCH_UP on PFS page 5:1:1520544 held 63 % of the latch time sampled: more data files
    /// would spread it`.
    pub fn finding(&self) -> String {
        let what = match &self.resources[..] {
            [(only, _)] => format!("{} {only}", self.kind),
            all => format!("{} {}s", all.len(), self.kind),
        };
        let share = number::percent(self.samples as f64 / self.of as f64, 0);
        let remedy = self
            .remedy
            .as_ref()
            .map_or_else(String::new, |remedy| format!("; {remedy} would spread it"));
        format!("{} on {what}: {share} of the sampled {} time{remedy}", self.wait_type, self.class)
    }

    /// The samples behind it.
    pub fn evidence(&self) -> String {
        let [low, high] =
            [self.interval.low, self.interval.high].map(|share| number::percent(share, 0));
        let named =
            self.resources.iter().take(NAMES).map(|(name, samples)| format!("{name} {samples}"));
        let rest = self.resources.len().saturating_sub(NAMES);
        let rest = (rest > 0).then(|| format!("{rest} more"));
        format!(
            "{} of {} samples of wait class {} (95 % CI {low} to {high}); at most {} at a time; \
             samples: {}",
            number::count(self.samples),
            number::count(self.of),
            self.class,
            number::plural(self.sessions_max as usize, "session"),
            named.chain(rest).collect::<Vec<_>>().join(", "),
        )
    }
}

/// The kinds that make up much of the samples of their class.
pub fn resources<'a>(
    waited_resources: impl IntoIterator<Item = &'a WaitedResource>,
) -> Vec<HotResources> {
    let (mut kinds, mut classes) = (BTreeMap::new(), BTreeMap::new());
    for resource in waited_resources {
        let all = classes.entry(resource.class).or_insert(0_u64);
        *all = all.saturating_add(resource.samples);
        if let Some(kind) = &resource.kind {
            kinds
                .entry((&resource.wait_type, kind, resource.class))
                .or_insert_with(Vec::new)
                .push(resource);
        }
    }
    let mut hot: Vec<HotResources> = kinds
        .into_iter()
        .filter_map(|((wait_type, kind, class), members)| {
            let (of, samples) =
                (classes[&class], range::total(members.iter().map(|member| member.samples)));
            let is_hot = samples >= SAMPLES_MIN && samples as f64 >= SHARE_MIN * of as f64;
            is_hot.then(|| HotResources {
                wait_type: wait_type.clone(),
                class,
                kind: kind.clone(),
                resources: sums(
                    members.iter().map(|member| (member.resource.clone(), member.samples as f64)),
                )
                .into_iter()
                .map(|(name, samples)| (name, samples as u64))
                .collect(),
                samples,
                of,
                interval: wilson(samples, of),
                sessions_max: members.iter().map(|member| member.sessions_max).max().unwrap_or(0),
                remedy: members.iter().find_map(|member| member.remedy.clone()),
            })
        })
        .collect();
    order::by_key(&mut hot, &|resource| Reverse(resource.samples));
    hot
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resource(
        wait_type: &str,
        class: WaitClass,
        name: &str,
        kind: Option<&str>,
        samples: u64,
    ) -> WaitedResource {
        WaitedResource {
            wait_type: wait_type.into(),
            class,
            resource: name.into(),
            kind: kind.map(str::to_owned),
            samples,
            remedy: None,
            sessions_max: samples / 4,
        }
    }

    #[test]
    fn things_of_one_kind_count_together_against_their_class() {
        let (latch, read) = (WaitClass::Latch, WaitClass::DataRead);
        let hot = resources(&[
            resource("PAGELATCH_UP", latch, "5:1:1520544", Some("PFS page"), 52),
            resource("PAGELATCH_UP", latch, "5:1:1544808", Some("PFS page"), 11),
            resource("PAGELATCH_SH", latch, "5:1:77", Some("data or index page"), 36),
            resource("LATCH_EX", latch, "ALLOC", None, 1),
            resource("PAGEIOLATCH_EX", read, "5:1:900", Some("data or index page"), 19),
        ]);
        let found: Vec<_> = hot
            .iter()
            .map(|resource| (&*resource.wait_type, &*resource.kind, resource.samples, resource.of))
            .collect();
        assert_eq!(
            found,
            [
                ("PAGELATCH_UP", "PFS page", 63, 100),
                ("PAGELATCH_SH", "data or index page", 36, 100)
            ],
            "reads have too few samples"
        );
        assert_eq!(
            hot[0].resources,
            [("5:1:1520544".to_owned(), 52), ("5:1:1544808".to_owned(), 11)]
        );
        assert_eq!(hot[0].sessions_max, 13);
        assert!(hot[0].interval.low < 0.63 && hot[0].interval.high > 0.63);
    }
}
