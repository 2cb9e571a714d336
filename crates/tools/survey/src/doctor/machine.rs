use super::check::Check;
use observations::number::{bytes, count};
use observe::profiler::{HZ_MIN, Instructions, Profiler};
use observe::survey::MachineFacts;
use observe::{file_system, survey};
use std::fmt::Display;
use std::path::Path;

/// Clock sources whose reading is a trip to a chip or a hypervisor: a microsecond or more instead
/// of some 20 ns (`pg_test_timing`).
const SLOW_CLOCKS: [&str; 4] = ["hpet", "acpi_pm", "jiffies", "refined-jiffies"];

/// Open files below which a load of many connections or data files can fail; the usual soft limit
/// is 1,024.
const OPEN_FILES_MIN: u64 = 4096;

/// Checks what the operating system allows this user, and what disturbs measurements. `folder`: the
/// folder for results. Nothing is changed, except that a control group is created and removed.
pub fn machine(folder: &Path) -> Vec<Check> {
    let facts = survey::machine();
    vec![
        user(),
        permission(
            "io_uring",
            observe::rings_permitted(),
            "permitted",
            "Disk loads use a thread for each I/O instead. To permit it: sysctl -w \
             kernel.io_uring_disabled=0; in a container also --security-opt seccomp=unconfined.",
        ),
        permission(
            "I/O limits",
            runner::limits_permitted(),
            "control groups can limit devices",
            "Without them, volumes with `throttle` do not run.",
        ),
        permission(
            "CPU profiles",
            Profiler::attach(&[std::process::id() as i32], HZ_MIN),
            "perf events are permitted",
            "`profile` and the profiles of trials are absent. To permit them: sysctl -w \
             kernel.perf_event_paranoid=1.",
        ),
        permission(
            "instructions",
            Instructions::of_started().map_err(|error| format!("not counted: {error}")),
            "the processor counts them",
            "`time` has no instruction counts. Virtual machines need a virtual PMU (QEMU: -cpu \
             host,pmu=on); elsewhere permit CPU profiles.",
        ),
        clock(&facts),
        governor(&facts),
        open_files(&facts),
        space(folder),
    ]
}

fn user() -> Check {
    const NAME: &str = "user";
    if rustix::process::geteuid().is_root() {
        return Check::ready(NAME, "root; servers run as another user");
    }
    Check::limited(
        NAME,
        "not root",
        "The page cache cannot be dropped between trials, volumes cannot be mounted, and \
         processes of other users cannot be profiled. For these: sudo steelbench ...",
    )
}

/// Checks what the operating system permits or not; `remedy` also says what is absent without it.
fn permission<T, E: Display>(
    name: &str,
    permission: Result<T, E>,
    ready: &str,
    remedy: &str,
) -> Check {
    match permission {
        Ok(_) => Check::ready(name, ready),
        Err(error) => Check::missing(name, error.to_string(), remedy),
    }
}

fn clock(facts: &MachineFacts) -> Check {
    const NAME: &str = "clock source";
    match setting(facts, "clocksource.current") {
        Some(source) if SLOW_CLOCKS.contains(&source) => Check::limited(
            NAME,
            format!("{source}, which is slow to read"),
            "Servers and Steelbench read the time very often. If it is available: echo tsc > \
             /sys/devices/system/clocksource/clocksource0/current_clocksource.",
        ),
        Some(source) => Check::ready(NAME, source),
        None => Check::limited(NAME, "not readable", "See `steelbench survey`."),
    }
}

fn governor(facts: &MachineFacts) -> Check {
    const NAME: &str = "CPU frequency";
    match setting(facts, "cpufreq.governor") {
        Some("performance") => Check::ready(NAME, "governor performance"),
        Some(governor) => Check::limited(
            NAME,
            format!("governor {governor}"),
            "Frequencies follow the load, which adds noise: cpupower frequency-set -g performance.",
        ),
        None => Check::ready(NAME, "no governor is visible, as in most virtual machines"),
    }
}

fn open_files(facts: &MachineFacts) -> Check {
    const NAME: &str = "open files";
    match facts.machine.limits.open_files {
        Some(limit) if limit < OPEN_FILES_MIN => Check::limited(
            NAME,
            format!("at most {}", count(limit)),
            "Loads with many connections or data files can fail: ulimit -n 65536.",
        ),
        Some(limit) => Check::ready(NAME, format!("at most {}", count(limit))),
        None => Check::ready(NAME, "unlimited"),
    }
}

fn space(folder: &Path) -> Check {
    const NAME: &str = "free space";
    let Some((_, free)) = file_system::space(folder) else {
        return Check::missing(
            NAME,
            format!("unknown for {}", folder.display()),
            "Change to a folder that exists.",
        );
    };
    let found = format!("{} in {}", bytes(free), folder.display());
    if free < runner::FREE_BYTES_MIN {
        return Check::missing(
            NAME,
            found,
            "No trial runs here: free space, or change the folder.",
        );
    }
    Check::ready(NAME, found)
}

/// The value of a setting of the operating system, if it was readable.
fn setting<'a>(facts: &'a MachineFacts, name: &str) -> Option<&'a str> {
    facts.settings.iter().find(|setting| setting.name == name)?.value.as_deref()
}
