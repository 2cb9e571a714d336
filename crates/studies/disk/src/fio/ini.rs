//! The form of fio job files: sections of options, and the numbers in them.

use super::error::{LineError, Problem, ValueError};

/// A job with all of its options, those of the global sections above it included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Name in the brackets.
    pub name: String,
    /// Options in the order in which they apply: later ones replace earlier ones.
    pub options: Vec<JobOption>,
}

/// `key=value`, or `key` alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct JobOption {
    /// As it is written.
    pub key: String,
    /// `None`: the key stands alone.
    pub value: Option<String>,
    /// The line, from 1.
    pub line: usize,
}

/// Most options of all jobs, those included that each job has from the global sections: more than
/// people write.
const OPTIONS_MAX: usize = 100_000;
/// Problems after which a file is read no further.
const PROBLEMS_MAX: usize = 20;

/// Reads the sections of a job file. `variable` knows the environment.
///
/// # Errors
/// All lines that are not a section, an option or a comment.
pub fn read(
    text: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Vec<Section>, Vec<Problem>> {
    let (mut jobs, mut problems): (Vec<Section>, Vec<Problem>) = (Vec::new(), Vec::new());
    let mut global: Vec<JobOption> = Vec::new();
    // Options before the first section belong to nothing.
    let (mut in_global, mut options) = (None, 0);
    for (line, content) in (1..).zip(text.lines()) {
        if problems.len() >= PROBLEMS_MAX || options > OPTIONS_MAX {
            let cause = if options > OPTIONS_MAX { LineError::TooMany } else { LineError::Unread };
            problems.push(Problem { line, cause });
            return Err(problems);
        }
        options += 1;
        // A comment can follow an option; fio has no way to quote these signs.
        let content = content.split([';', '#']).next().unwrap_or_default().trim();
        if content.is_empty() {
            continue;
        }
        let mut problem = |cause| problems.push(Problem { line, cause });
        if let Some(name) = content.strip_prefix('[') {
            let Some(name) = name
                .strip_suffix(']')
                .filter(|name| !name.is_empty() && !name.contains(char::is_control))
            else {
                problem(LineError::SectionName);
                continue;
            };
            in_global = Some(name == "global");
            if name != "global" {
                options += global.len();
                jobs.push(Section { name: name.into(), options: global.clone() });
            }
            continue;
        }
        match (option(content, line, variable), in_global, jobs.last_mut()) {
            (Err(cause), ..) => problem(cause),
            (Ok(option), Some(true), _) => global.push(option),
            (Ok(option), Some(false), Some(job)) => job.options.push(option),
            _ => problem(LineError::BeforeSection),
        }
    }
    if jobs.is_empty() && problems.is_empty() {
        let line = text.lines().count().max(1);
        problems.push(Problem { line, cause: LineError::NoJob });
    }
    if problems.is_empty() { Ok(jobs) } else { Err(problems) }
}

fn option(
    content: &str,
    line: usize,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<JobOption, LineError> {
    let content = expand(content, variable)?;
    // They would reach the terminal with the next message, and no option has any.
    if content.contains(|c: char| c.is_control() && c != '\t') {
        return Err(LineError::Control);
    }
    let (key, value) = match content.split_once('=') {
        Some((key, value)) => (key.trim(), Some(value.trim().to_owned())),
        None => (content.as_str(), None),
    };
    Ok(JobOption { key: key.to_ascii_lowercase(), value, line })
}

/// Puts the values of environment variables in the place of `${NAME}`.
fn expand(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<String, LineError> {
    let (mut expanded, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once("${") {
        let Some((name, after)) = after.split_once('}') else {
            return Err(LineError::OpenBracket(text.to_owned()));
        };
        if observations::names_secret(name) {
            return Err(LineError::Secret(name.to_owned()));
        }
        let value = variable(name).ok_or_else(|| LineError::NotSet(name.to_owned()))?;
        expanded.push_str(before);
        expanded.push_str(&value);
        rest = after;
    }
    expanded.push_str(rest);
    Ok(expanded)
}

/// A size in bytes, or a count. fio's `kb_base` is 1024 unless a job says otherwise, and then `k`
/// is 1024 and `Ki`, for compatibility with old job files, 1000.
pub fn bytes(text: &str) -> Result<u64, ValueError> {
    number(text, |unit: &str| {
        let unit = unit.strip_suffix('b').unwrap_or(unit);
        let (prefix, base) =
            unit.strip_suffix('i').map_or((unit, 1024_u64), |prefix| (prefix, 1000));
        match prefix {
            "" if base == 1024 => Some(1),
            "k" => Some(base),
            "m" => Some(base.pow(2)),
            "g" => Some(base.pow(3)),
            "t" => Some(base.pow(4)),
            "p" => Some(base.pow(5)),
            _ => None,
        }
    })
    .ok_or_else(|| ValueError::unfit(text, "is not a number such as 4096, 8k or 1g"))
}

/// A time in seconds; a number alone is seconds.
pub fn seconds(text: &str) -> Result<f64, ValueError> {
    let us = number(text, |unit: &str| match unit {
        "us" | "usec" => Some(1),
        "ms" | "msec" => Some(1_000),
        "" | "s" => Some(1_000_000),
        "m" => Some(60_000_000),
        "h" => Some(3_600_000_000),
        "d" => Some(86_400_000_000),
        _ => None,
    })
    .ok_or_else(|| ValueError::unfit(text, "is not a time such as 30, 500ms or 5m"))?;
    Ok(us as f64 / 1e6)
}

/// A number that fits in 32 bits and is not 0.
pub fn count(text: &str) -> Result<u32, ValueError> {
    let number = bytes(text)?;
    u32::try_from(number)
        .ok()
        .filter(|number| *number > 0)
        .ok_or_else(|| ValueError::unfit(text, "is out of range"))
}

/// `0` or `1`; the option alone means 1.
pub fn flag(value: Option<&str>) -> Result<bool, ValueError> {
    match value {
        None | Some("1") => Ok(true),
        Some("0") => Ok(false),
        Some(text) => Err(ValueError::unfit(text, "is neither 0 nor 1")),
    }
}

/// A number from 0 to 100.
pub fn percent(text: &str) -> Result<u8, ValueError> {
    let number =
        text.strip_suffix('%').unwrap_or(text).parse().ok().filter(|percent| *percent <= 100);
    number.ok_or_else(|| ValueError::unfit(text, "is not a number from 0 to 100"))
}

fn number(text: &str, factor: impl Fn(&str) -> Option<u64>) -> Option<u64> {
    let text = text.to_ascii_lowercase();
    if let Some(digits) = text.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok()?.checked_mul(factor("")?);
    }
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse::<u64>().ok()?.checked_mul(factor(text[end..].trim())?)
}

#[cfg(test)]
mod tests {
    use super::{LineError, Problem, Section, bytes, read, seconds};

    fn variable(name: &str) -> Option<String> {
        (name == "DIR").then(|| "/mnt/x".to_owned())
    }

    fn options(section: &Section) -> Vec<(&str, Option<&str>)> {
        section
            .options
            .iter()
            .map(|option| (option.key.as_str(), option.value.as_deref()))
            .collect()
    }

    #[test]
    fn a_job_has_what_the_global_sections_above_it_say() {
        let text = "; comment\n# another\n[global]\nbs = 8k ; eight\ndirect=1\n\n[first \
                    job]\nrw=randread\ntime_based\n[global]\nbs=4k\n[second]\nfilename=${DIR}/\
                    a${DIR}\n";
        let jobs = read(text, &variable).unwrap();
        assert_eq!(jobs[0].name, "first job");
        let first = [
            ("bs", Some("8k")),
            ("direct", Some("1")),
            ("rw", Some("randread")),
            ("time_based", None),
        ];
        assert_eq!(options(&jobs[0]), first);
        assert_eq!(jobs[1].name, "second");
        let second = [
            ("bs", Some("8k")),
            ("direct", Some("1")),
            ("bs", Some("4k")),
            ("filename", Some("/mnt/x/a/mnt/x")),
        ];
        assert_eq!(options(&jobs[1]), second);
        assert_eq!(jobs[1].options[3].line, 13);
    }

    #[test]
    fn all_that_is_wrong_is_told_with_its_line() {
        let problems = read(
            "bs=4k\n[job\n[\u{1b}]\n[a]\nfilename=${NO}\nfilename=${DIR\nbs=\u{1b}[2J\n",
            &variable,
        )
        .unwrap_err();
        let lines: Vec<usize> = problems.iter().map(|problem| problem.line).collect();
        assert_eq!(lines, [1, 2, 3, 5, 6, 7]);
        assert!(problems[3].cause == LineError::NotSet("NO".into()));
        let none: Vec<Problem> = read("[global]\nbs=4k\n", &variable).unwrap_err();
        assert!(none[0].cause == LineError::NoJob);
    }

    #[test]
    fn what_a_file_makes_of_memory_and_messages_is_limited() {
        let none = |_: &str| None;
        let global = "[global]\n".to_owned() + &"a=b\n".repeat(2_000);
        let problems = read(&(global + &"[job]\n".repeat(1_000_000)), &none).unwrap_err();
        assert!(problems.len() == 1 && problems[0].cause == LineError::TooMany, "{problems:?}");
        let problems = read(&"x\n".repeat(1_000_000), &none).unwrap_err();
        assert!(problems.len() == 21 && problems[20].cause == LineError::Unread, "{problems:?}");
    }

    #[test]
    fn a_secret_of_the_environment_is_not_put_into_a_job() {
        let known = |_: &str| Some("hush".to_owned());
        let problems = read("[j]\nfilename=${API_TOKEN}\n", &known).unwrap_err();
        assert!(problems[0].cause == LineError::Secret("API_TOKEN".into()), "{problems:?}");
        assert_eq!(
            read("[j]\nfilename=${DISK}\n", &known).unwrap()[0].options[0].value.as_deref(),
            Some("hush")
        );
    }

    #[test]
    fn sizes_are_read_as_fio_reads_them() {
        // From `fio --parse-only --debug=parse`, fio 3.33.
        for (text, size) in [
            ("8k", 8192),
            ("8KiB", 8000),
            ("1MiB", 1_000_000),
            ("1M", 1 << 20),
            ("0x10", 16),
            ("512", 512),
            ("4kb", 4096),
        ] {
            assert_eq!(bytes(text), Ok(size), "{text}");
        }
        for wrong in ["", "k", "-1", "1.5k", "8x", "50%", "99999999p"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_time_without_a_unit_is_seconds() {
        for (text, s) in
            [("30", 30.0), ("30s", 30.0), ("5m", 300.0), ("500ms", 0.5), ("1d", 86_400.0)]
        {
            assert_eq!(seconds(text), Ok(s), "{text}");
        }
    }
}
