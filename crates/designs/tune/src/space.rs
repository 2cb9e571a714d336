//! The knobs of a file as a space of points.

use crate::knob::Search;
use crate::optimiser::{Domain, Point, Rules};
use experiment::{Configuration, Value};
use observations::Environment;

/// The knobs, and what their constraints know.
pub(crate) struct Knobs<'e> {
    /// The declared search.
    pub search: &'e Search,
    /// The present settings.
    pub configuration: &'e Configuration,
    /// The values of each knob.
    pub domains: Vec<Domain>,
    environment: Environment,
}

impl<'e> Knobs<'e> {
    /// The knobs of a search from these settings, on this machine.
    pub fn new(search: &'e Search, configuration: &'e Configuration) -> Self {
        let domains = search.knobs.iter().map(|knob| knob.domain.clone()).collect();
        Self { search, configuration, domains, environment: observe::environment::capture(&[]) }
    }

    /// The present settings; a knob that the file does not set is left alone.
    pub fn present(&self) -> Point {
        let knobs = self.search.knobs.iter();
        knobs.map(|knob| knob.number(self.configuration.value(&knob.setting)?)).collect()
    }

    /// The point that leaves all knobs alone: the server's defaults.
    pub fn defaults(&self) -> Point {
        vec![None; self.search.knobs.len()]
    }

    /// The settings of a point.
    pub fn settings(&self, point: &[Option<f64>]) -> Vec<(String, Value)> {
        let pairs = self.search.knobs.iter().zip(point);
        pairs
            .filter_map(|(knob, value)| Some((knob.setting.clone(), knob.value((*value)?))))
            .collect()
    }

    /// A number by the name of a knob, a setting or a figure of the machine.
    fn number(&self, name: &str, point: &[Option<f64>]) -> Option<f64> {
        let knobs = &self.search.knobs;
        if let Some(at) = knobs.iter().position(|knob| knob.name() == name) {
            return knobs[at].quantity(point[at]?);
        }
        let mut settings = self.configuration.settings.iter();
        let setting = settings.find(|(path, value)| {
            path.rsplit('.').next() == Some(name) && value.as_f64().is_some()
        });
        match (setting, name) {
            (Some((_, value)), _) => value.as_f64(),
            (None, "memory") => self.environment.memory_bytes.map(|bytes| bytes as f64),
            (None, "cpus") => Some(f64::from(self.environment.cpus)),
            (None, _) => None,
        }
    }
}

impl Rules for Knobs<'_> {
    fn applies(&self, knob: usize, before: &[Option<f64>]) -> bool {
        self.search.knobs[knob].when.iter().all(|(at, values)| {
            let earlier = before[*at].map(|number| self.search.knobs[*at].value(number));
            earlier.is_some_and(|value| values.contains(&value))
        })
    }

    fn allows(&self, point: &[Option<f64>]) -> bool {
        // What is not known cannot be judged.
        let constraints = &self.search.constraints;
        constraints
            .iter()
            .all(|constraint| constraint.holds(&|name| self.number(name, point)) != Some(false))
    }
}
