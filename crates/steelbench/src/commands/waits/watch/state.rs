use analysis::ActivitySummary;
use observations::WaitClass;
use std::collections::VecDeque;

/// Seconds of history: as many as a wide terminal has columns.
const HISTORY: usize = 240;

/// What the lower part of the screen shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tab {
    /// By wait type.
    #[default]
    Waits,
    /// By statement.
    Statements,
    /// By application and user.
    Clients,
    /// Who waits for whom.
    Tasks,
}

impl Tab {
    /// In the order of their keys, from 1.
    pub const ALL: [Self; 4] = [Self::Waits, Self::Statements, Self::Clients, Self::Tasks];

    /// The tab of a key.
    pub fn of_key(key: char) -> Option<Self> {
        let number = key.to_digit(10)? as usize;
        Self::ALL.get(number.checked_sub(1)?).copied()
    }

    /// Its heading.
    pub fn title(self) -> &'static str {
        match self {
            Self::Waits => "Waits",
            Self::Statements => "Statements",
            Self::Clients => "Sessions",
            Self::Tasks => "Tasks",
        }
    }
}

/// What is on the screen.
#[derive(Debug, Default)]
pub struct State {
    /// The lower part.
    pub tab: Tab,
    /// Nothing new is shown.
    pub paused: bool,
    /// The last interval.
    pub latest: Option<ActivitySummary>,
    /// For each past interval, how many sessions were busy on average, by class; `None` is without a
    /// wait. The newest is the last.
    history: VecDeque<Vec<(Option<WaitClass>, f64)>>,
}

impl State {
    /// Stops or goes on.
    pub fn pause(&mut self) {
        self.paused = !self.paused;
    }

    /// Changes the lower part.
    pub fn show(&mut self, tab: Tab) {
        self.tab = tab;
    }

    /// Takes in an interval.
    pub fn hear(&mut self, summary: ActivitySummary) {
        if self.paused {
            return;
        }
        let elapsed_s = summary.seen.elapsed_s.max(f64::MIN_POSITIVE);
        let sessions = summary.classes.iter().map(|(class, seconds)| (*class, seconds / elapsed_s));
        self.history.push_back(sessions.collect());
        if self.history.len() > HISTORY {
            self.history.pop_front();
        }
        self.latest = Some(summary);
    }

    /// The classes that were seen lately, most time first.
    pub fn classes(&self) -> Vec<Option<WaitClass>> {
        let mut sums: Vec<(Option<WaitClass>, f64)> = Vec::new();
        for (class, sessions) in self.history.iter().flatten() {
            match sums.iter_mut().find(|(known, _)| known == class) {
                Some((_, sum)) => *sum += sessions,
                None => sums.push((*class, *sessions)),
            }
        }
        sums.sort_by(|a, b| b.1.total_cmp(&a.1));
        sums.into_iter().map(|(class, _)| class).collect()
    }

    /// Busy sessions in a class over the last intervals, the oldest first.
    pub fn sessions_in(&self, class: Option<WaitClass>, intervals: usize) -> Vec<f64> {
        let in_class = |interval: &Vec<(Option<WaitClass>, f64)>| {
            interval.iter().find(|(known, _)| *known == class).map_or(0.0, |(_, sessions)| *sessions)
        };
        let skipped = self.history.len().saturating_sub(intervals);
        self.history.iter().skip(skipped).map(in_class).collect()
    }
}
