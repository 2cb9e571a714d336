//! Why two configurations differ, in words. Which evidence each phrase needs: `wording.rs`.

use super::{Finding, FindingKind};
use crate::decompose::SHARE_MIN;
use crate::wording::{self, SUPPORTED};
use crate::{Decomposition, Explanation, Part, PartKind, WaitShape};
use observations::{number, order};
use statistics::adjusted;

/// Parts named in one sentence, each way, and wait types whose number and length are shown.
const NAMED_MAX: usize = 3;
/// Number and length are shown of waits that are at least this share of all of a side's waits.
const SHARE_OF_WAITS: f64 = 0.05;
/// A wait with less than this share of the other side's time counts as new or eliminated.
const GONE: f64 = 0.01;
/// Numbers of waits that differ by less than this share are "as many" where no difference is
/// supported.
const AS_MANY: f64 = 0.05;

impl Explanation {
    /// Explains the difference in words: its parts, the code behind it, and waits with opposite
    /// changes in count and length.
    pub fn findings(&self) -> Vec<Finding> {
        let waits = parts(self).into_iter().chain(shapes(&self.decomposition));
        waits.chain(code(self)).collect()
    }
}

/// A wait below this share of the session time is not worth the sentence.
const WORTH_SAYING: f64 = 0.2;

/// Upper bound of the gain from removing the second side's largest wait: Little's law with
/// everything else unchanged. Another saturated resource makes the gain smaller.
pub fn gain(explanation: &Explanation) -> Option<Finding> {
    let decomposition = &explanation.decomposition;
    let session_s = decomposition.total.to_s;
    let name = |part: &'_ Part| match &part.kind {
        PartKind::WaitType(name) => Some(name.clone()),
        _ => None,
    };
    let waits = decomposition.by_type.iter().filter_map(|part| Some((name(part)?, part.to_s)));
    let (wait, wait_s) = waits.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let share = wait_s / session_s;
    if !(WORTH_SAYING..1.0).contains(&share) {
        return None;
    }
    let text = format!(
        "{wait} waits take {} of the session time with {}; removing them would raise throughput \
         at most {}x (estimate).",
        wording::percent(share),
        explanation.to,
        wording::ratio(1.0 / (1.0 - share))
    );
    let evidence = "Little's law with everything else unchanged; less if another resource \
                    saturates first"
        .to_owned();
    Some(Finding::new(FindingKind::Gain, text, evidence))
}

/// How sessions and session time changed, and the CPU and wait types that this time is less or more
/// of. `None` of single blocks, and where nothing changed.
fn parts(explanation: &Explanation) -> Option<Finding> {
    let decomposition = &explanation.decomposition;
    decomposition.total.interval?;
    let phrases = Phrases::for_explanation(explanation);
    let causes = phrases.causes();
    let [sessions_from, sessions_to] = decomposition.sessions;
    let more_sessions = (sessions_to / sessions_from - 1.0).abs() > 1e-9;
    if causes.is_empty() && !more_sessions {
        return None;
    }
    let text =
        [format!("From {}, {}.", explanation.sides(), phrases.change())].into_iter().chain(causes);
    let blocks = wording::count(decomposition.blocks, "block");
    let evidence = format!(
        "[ ]: 95 % t intervals, {blocks}; false discovery rate of the named causes at most 5 % \
         (Benjamini-Hochberg)"
    );
    let finding = Finding::new(FindingKind::Waits, text.collect::<Vec<_>>().join(" "), evidence);
    Some(finding.in_short(phrases.largest_cause()))
}

/// A decomposition, and the units of its sentences.
struct Phrases<'d> {
    decomposition: &'d Decomposition,
    /// True if the verdict claims the difference.
    is_claimed: bool,
    /// Units of work to which seconds refer, and their name.
    work: (f64, String),
    /// Length and name of the unit of time.
    time: (f64, &'static str),
}

impl<'d> Phrases<'d> {
    fn for_explanation(explanation: &'d Explanation) -> Self {
        let decomposition = &explanation.decomposition;
        let work = wording::work_scale(decomposition.work, &decomposition.unit);
        let total = &decomposition.total;
        let time = wording::seconds_unit(work.0 * total.from_s.max(total.to_s));
        Self { decomposition, is_claimed: explanation.is_claimed, work, time }
    }

    fn figure(&self, seconds: f64) -> String {
        wording::figure(self.work.0 * seconds / self.time.0)
    }

    /// The verdict is by ratio, this one by differences: of a claimed ratio both have changed.
    fn total_changed(&self) -> bool {
        self.is_claimed || self.decomposition.total.supported()
    }

    /// `session time falls from 8.00 to 3.96 s per 1,000 rows`; with another number of sessions,
    /// what throughput makes of both.
    fn change(&self) -> String {
        let Decomposition { sessions: [from, to], total, .. } = self.decomposition;
        let (unit, work) = (self.time.1, &self.work.1);
        let (from_s, to_s) = (self.figure(total.from_s), self.figure(total.to_s));
        let verb = if total.change_s < 0.0 { "falls" } else { "rises" };
        let changes = if self.total_changed() {
            format!("session time {verb} from {from_s} to {to_s} {unit} per {work}")
        } else {
            format!(
                "session time per {work} does not differ significantly ({from_s} and {to_s} \
                 {unit})"
            )
        };
        if (to / from - 1.0).abs() <= 1e-9 {
            return changes;
        }
        let ratio = self.decomposition.throughput_ratio();
        let (verb, factor) = if ratio < 1.0 { ("falls", 1.0 / ratio) } else { ("rises", ratio) };
        format!(
            "throughput {verb} {}x: {}x the sessions ({} to {}) divided by {}x the session time \
             per unit of work; {changes}",
            wording::ratio(factor),
            wording::ratio(to / from),
            wording::whole(*from),
            wording::whole(*to),
            wording::ratio(total.to_s / total.from_s),
        )
    }

    /// Sentences on the parts of the change, on parts of the opposite sign, on parts that are not
    /// significant, and on client time, which is not a cause.
    ///
    /// `Of this decrease: 59 % [52, 66] less WRITER_LOCK wait and 6.3 % [5, 8] less CPU time,
    /// offset by 3.0 % [1, 5] more WAL_SYNC wait.`
    fn causes(&self) -> Vec<String> {
        let total = &self.decomposition.total;
        let least = SHARE_MIN * total.change_s.abs();
        let mut parts: Vec<&Part> = self
            .decomposition
            .by_type
            .iter()
            .filter(|part| part.change_s != 0.0 && part.change_s.abs() >= least)
            .collect();
        order::largest_first(&mut parts, &|row| row.change_s.abs());
        let (client, parts): (Vec<&Part>, Vec<&Part>) =
            parts.into_iter().partition(|part| part.kind.is_client());
        if !self.total_changed() {
            let supported = parts.iter().filter(|part| part.supported()).take(NAMED_MAX);
            let changes: Vec<String> = supported
                .map(|part| format!("{} {}", self.seconds(part), self.phrase(part)))
                .collect();
            let but = (!changes.is_empty())
                .then(|| format!("Parts that changed: {}.", wording::list(&changes)));
            return but.into_iter().collect();
        }
        let (same, opposite): (Vec<&Part>, Vec<&Part>) =
            parts.into_iter().partition(|part| (part.change_s < 0.0) == (total.change_s < 0.0));
        // Parts that cancel out can be larger than what is left of them, which no reader takes for
        // a share.
        let as_shares = same
            .iter()
            .chain(&opposite)
            .all(|part| part.share.is_some_and(|share| share.abs() <= 1.0));
        let size = |part: &Part| if as_shares { self.share(part) } else { self.seconds(part) };
        let named = |side: &[&'d Part], supported: bool| -> Vec<String> {
            let largest = side.iter().take(NAMED_MAX).filter(|part| part.supported() == supported);
            largest.map(|part| format!("{} {}", size(part), self.phrase(part))).collect()
        };
        let what = if total.change_s < 0.0 { "decrease" } else { "increase" };
        let begin = if as_shares { format!("Of this {what}") } else { "By part".to_owned() };
        let offset = wording::list(&named(&opposite, true));
        let offset = if offset.is_empty() { offset } else { format!(", offset by {offset}") };
        let unsure = [named(&same, false), named(&opposite, false)].concat();
        let mut sentences = vec![match named(&same, true) {
            supported if supported.is_empty() => {
                format!("No single part of this {what} is significant{offset}.")
            }
            supported => format!("{begin}: {}{offset}.", wording::list(&supported)),
        }];
        sentences.extend(
            (!unsure.is_empty()).then(|| format!("Not significant: {}.", wording::list(&unsure))),
        );
        let idle = client.iter().map(|part| format!("{} {}", size(part), self.phrase(part)));
        let idle: Vec<String> = idle.collect();
        sentences
            .extend((!idle.is_empty()).then(|| format!("Not a cause: {}.", wording::list(&idle))));
        sentences
    }

    /// The largest supported part, behind the effect of more sessions:
    /// `58 % [55, 63] of the decrease is less WRITER_LOCK wait.`
    fn largest_cause(&self) -> String {
        let Decomposition { sessions: [from, to], total, .. } = self.decomposition;
        let sessions = ((to / from - 1.0).abs() > 1e-9).then(|| {
            format!(
                "{}x the sessions, {}x the session time of a unit of work.",
                wording::ratio(to / from),
                wording::ratio(total.to_s / total.from_s)
            )
        });
        let causes = self.decomposition.by_type.iter().filter(|part| {
            part.supported()
                && !part.kind.is_client()
                && (part.change_s < 0.0) == (total.change_s < 0.0)
                && self.total_changed()
        });
        let largest = causes.max_by(|a, b| a.change_s.abs().total_cmp(&b.change_s.abs()));
        let largest = largest.map(|part| {
            let what = if total.change_s < 0.0 { "decrease" } else { "increase" };
            let phrase = self.phrase(part);
            match part.share {
                Some(share) if share.abs() <= 1.0 => {
                    format!("{} of the {what} is {phrase}.", self.share(part))
                }
                _ => format!("The largest part of the {what} is {phrase}: {}.", self.seconds(part)),
            }
        });
        let none = "No single part of the session time changed significantly.".to_owned();
        let sentences = [sessions, largest].into_iter().flatten().collect::<Vec<_>>();
        if sentences.is_empty() { none } else { sentences.join(" ") }
    }

    /// `less WRITER_LOCK wait`, `new WAL_SYNC wait`, `PAGELATCH_UP wait eliminated`.
    ///
    /// A wait that is eliminated is next to nothing of either side: the hundredth that is left of
    /// it can be most of a session time that fell as much.
    fn phrase(&self, part: &Part) -> String {
        let what = subject(part);
        let is_wait = matches!(part.kind, PartKind::WaitType(_) | PartKind::ClientWait(_));
        let total = &self.decomposition.total;
        let is_gone = |seconds: f64, other: f64, all: f64| seconds < GONE * other.min(all);
        match (part.from_s, part.to_s) {
            (from, to) if is_wait && is_gone(to, from, total.to_s) => format!("{what} eliminated"),
            (from, to) if is_wait && is_gone(from, to, total.from_s) => format!("new {what}"),
            (from, to) if to < from => format!("less {what}"),
            _ => format!("more {what}"),
        }
    }

    /// `59 % [52, 66]`; where the interval has no end, the seconds with theirs.
    fn share(&self, part: &Part) -> String {
        let share = wording::percent(part.share.unwrap_or_default().abs());
        match part.share_interval {
            Some(interval) => {
                let sign = part.share.unwrap_or_default().signum();
                let interval = interval.times(100.0 * sign);
                let ends = number::percent_ends(interval, wording::figure_of_percent);
                format!("{share} {ends}")
            }
            None => format!("{share} ({})", self.seconds(part)),
        }
    }

    /// `0.31 s [0.20, 0.42]`, without the sign.
    fn seconds(&self, part: &Part) -> String {
        let sign = part.change_s.signum();
        let interval = part.interval.map_or_else(String::new, |interval| {
            let interval = interval.times(sign);
            format!(" [{}, {}]", self.figure(interval.low), self.figure(interval.high))
        });
        format!("{} {}{interval}", self.figure(part.change_s.abs()), self.time.1)
    }
}

/// `WRITER_LOCK wait`, `CPU time`.
fn subject(part: &Part) -> String {
    match &part.kind {
        PartKind::WaitType(name) => match wording::meaning(name) {
            Some(meaning) => format!("{name} wait ({meaning})"),
            None => format!("{name} wait"),
        },
        PartKind::ClientWait(name) => match observations::shown(name).strip_prefix("idle: ") {
            Some(why) => format!("idle time ({why})"),
            None => format!("{name} wait"),
        },
        PartKind::Cpu => "CPU time".to_owned(),
        _ => "unaccounted time".to_owned(),
    }
}

/// Waits of which there are fewer, each longer (or the other way round), or as many, each longer or
/// shorter.
fn shapes(decomposition: &Decomposition) -> Option<Finding> {
    let waits: Vec<(String, f64, f64)> = decomposition
        .by_type
        .iter()
        .filter_map(|part| match &part.kind {
            PartKind::WaitType(name) => Some((name.clone(), part.from_s, part.to_s)),
            _ => None,
        })
        .collect();
    let all_from: f64 = waits.iter().map(|(_, from, _)| from).sum();
    let all_to: f64 = waits.iter().map(|(_, _, to)| to).sum();
    let matters = waits.iter().filter(|(_, from, to)| {
        *from >= SHARE_OF_WAITS * all_from || *to >= SHARE_OF_WAITS * all_to
    });
    let shapes: Vec<&WaitShape> =
        matters.filter_map(|(name, ..)| decomposition.shape(name)).collect();
    let counts = shapes.iter().map(|shape| shape.count_p);
    let adjusted =
        adjusted(&counts.chain(shapes.iter().map(|shape| shape.each_p)).collect::<Vec<_>>());
    let (counts, eachs) = adjusted.split_at(shapes.len());
    let parts = shapes.iter().zip(counts.iter().zip(eachs));
    let parts: Vec<(String, String)> = parts
        .filter_map(|(shape, (count, each))| tell(shape, *count, (*each)?))
        .take(NAMED_MAX)
        .collect();
    let (texts, evidence): (Vec<String>, Vec<String>) = parts.into_iter().unzip();
    let blocks = wording::count(decomposition.blocks, "block");
    let evidence =
        format!("t test of log ratios, {blocks}, Holm-adjusted: {}", evidence.join("; "));
    (!texts.is_empty())
        .then(|| Finding::new(FindingKind::Waits, format!("{}.", texts.join("; ")), evidence))
}

fn tell(shape: &WaitShape, count_p: Option<f64>, each_p: f64) -> Option<(String, String)> {
    let close = (shape.to_count / shape.from_count - 1.0).abs() < AS_MANY;
    let count =
        match count_p {
            _ if each_p >= SUPPORTED => return None,
            Some(p) if p < SUPPORTED && shape.is_opposite() => {
                if shape.to_count < shape.from_count { "fewer waits" } else { "more waits" }
            }
            _ if close => "equally many waits",
            _ => return None,
        };
    let each = if shape.to_each_s > shape.from_each_s { "longer" } else { "shorter" };
    let name = &shape.wait_type;
    let text = format!("{name}: {count}, each {each}: {}", wording::shape(shape));
    let count_p = count_p.map_or_else(String::new, |p| format!("count {}, ", wording::p_value(p)));
    Some((text, format!("{name} {count_p}length {}", wording::p_value(each_p))))
}

/// Functions whose processor time for the same work changed; `None` where trials were not profiled,
/// or no change is supported.
fn code(explanation: &Explanation) -> Option<Finding> {
    let code = explanation.decomposition.code.as_ref()?;
    let supported = code.parts.iter().filter(|part| part.supported());
    let named: Vec<(&String, &String, &Part)> = supported
        .filter_map(|part| match &part.kind {
            PartKind::Function { function, module } => Some((function, module, part)),
            _ => None,
        })
        .take(NAMED_MAX)
        .collect();
    if named.is_empty() {
        return None;
    }
    let decomposition = &explanation.decomposition;
    let (scale, units) = wording::work_scale(decomposition.work, &decomposition.unit);
    let (unit_s, unit) = wording::seconds_unit(scale * code.total.from_s.max(code.total.to_s));
    let time = |seconds: f64| wording::figure(scale * seconds / unit_s);
    let changes = named.iter().map(|(function, module, part)| {
        let (from, to) = (time(part.from_s), time(part.to_s));
        format!("{function} ({module}) from {from} to {to} {unit}")
    });
    let text = format!(
        "From {}, profiled CPU time per {units} changes from {} to {} {unit}; by function: {}.",
        explanation.sides(),
        time(code.total.from_s),
        time(code.total.to_s),
        wording::list(&changes.collect::<Vec<_>>())
    );
    let [from, to] = code.samples;
    let blocks = wording::count(decomposition.blocks, "block");
    let evidence = format!(
        "{from} and {to} samples, 95 % t intervals, {blocks}; false discovery rate of the named \
         functions at most 5 % (Benjamini-Hochberg)"
    );
    Some(Finding::new(FindingKind::Code, text, evidence))
}
