//! The form of fio job files: sections of options.

/// A job with everything that is said of it, what the global sections above say included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Name in the brackets.
    pub name: String,
    /// Options in the order in which they apply: later ones replace earlier ones.
    pub options: Vec<JobOption>,
}

/// `key=value`, or `key` alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobOption {
    /// As it is written.
    pub key: String,
    /// `None`: the key stands alone.
    pub value: Option<String>,
    /// Its line, from 1.
    pub line: usize,
}

/// What is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub text: String,
}

/// Reads the sections of a job file. `variable` knows the environment.
///
/// # Errors
/// Everything that is no section, option or comment.
pub fn read(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<Vec<Section>, Vec<Problem>> {
    let (mut jobs, mut problems): (Vec<Section>, Vec<Problem>) = (Vec::new(), Vec::new());
    let mut global: Vec<JobOption> = Vec::new();
    // Options before the first section belong to nothing.
    let mut in_global = None;
    for (line, content) in (1..).zip(text.lines()) {
        // A comment can follow an option; fio has no way to quote these signs.
        let content = content.split([';', '#']).next().unwrap_or_default().trim();
        if content.is_empty() {
            continue;
        }
        let mut problem = |text: String| problems.push(Problem { line, text });
        if let Some(name) = content.strip_prefix('[') {
            let plain = |name: &&str| !name.is_empty() && !name.contains(char::is_control);
            let Some(name) = name.strip_suffix(']').filter(plain) else {
                problem("this is no name of a section in brackets".into());
                continue;
            };
            in_global = Some(name == "global");
            if name != "global" {
                jobs.push(Section { name: name.into(), options: global.clone() });
            }
            continue;
        }
        let option = match option(content, line, variable) {
            Ok(option) => option,
            Err(text) => {
                problem(text);
                continue;
            }
        };
        match (in_global, jobs.last_mut()) {
            (Some(true), _) => global.push(option),
            (Some(false), Some(job)) => job.options.push(option),
            _ => problem("this stands before the first section".into()),
        }
    }
    if jobs.is_empty() && problems.is_empty() {
        problems.push(Problem { line: text.lines().count().max(1), text: "there is no job".into() });
    }
    if problems.is_empty() { Ok(jobs) } else { Err(problems) }
}

fn option(
    content: &str,
    line: usize,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<JobOption, String> {
    let content = expand(content, variable)?;
    // They would reach the terminal with the next message, and no option has any.
    if content.contains(|c: char| c.is_control() && c != '\t') {
        return Err("there is a control character in this line".into());
    }
    let (key, value) = match content.split_once('=') {
        Some((key, value)) => (key.trim(), Some(value.trim().to_owned())),
        None => (content.as_str(), None),
    };
    Ok(JobOption { key: key.to_ascii_lowercase(), value, line })
}

/// Puts the values of environment variables in the place of `${NAME}`.
fn expand(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let (mut expanded, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once("${") {
        let Some((name, after)) = after.split_once('}') else {
            return Err(format!("`{text}`: the bracket of a variable is not closed"));
        };
        let value = variable(name).ok_or_else(|| format!("the environment variable {name} is not set"))?;
        expanded.push_str(before);
        expanded.push_str(&value);
        rest = after;
    }
    expanded.push_str(rest);
    Ok(expanded)
}

#[cfg(test)]
mod tests {
    use super::{Problem, Section, read};

    fn variable(name: &str) -> Option<String> {
        (name == "DIR").then(|| "/mnt/x".to_owned())
    }

    fn options(section: &Section) -> Vec<(&str, Option<&str>)> {
        section.options.iter().map(|option| (option.key.as_str(), option.value.as_deref())).collect()
    }

    #[test]
    fn a_job_has_what_the_global_sections_above_it_say() {
        let text = "; comment\n# another\n[global]\nbs = 8k ; eight\ndirect=1\n\n[first job]\nrw=randread\n\
                    time_based\n[global]\nbs=4k\n[second]\nfilename=${DIR}/a${DIR}\n";
        let jobs = read(text, &variable).unwrap();
        assert_eq!(jobs[0].name, "first job");
        let first =
            [("bs", Some("8k")), ("direct", Some("1")), ("rw", Some("randread")), ("time_based", None)];
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
        let problems =
            read("bs=4k\n[job\n[\u{1b}]\n[a]\nfilename=${NO}\nfilename=${DIR\nbs=\u{1b}[2J\n", &variable)
                .unwrap_err();
        let lines: Vec<usize> = problems.iter().map(|problem| problem.line).collect();
        assert_eq!(lines, [1, 2, 3, 5, 6, 7]);
        assert!(problems[3].text.contains("NO is not set"));
        let none: Vec<Problem> = read("[global]\nbs=4k\n", &variable).unwrap_err();
        assert!(none[0].text.contains("no job"));
    }
}
