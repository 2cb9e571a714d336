//! Common parts of all pages: the frame, error pages, and addresses.
//! The address of a page determines its content.

use command_line::Failure;
use form_urlencoded::{Serializer, parse};
use hyper::StatusCode;
use report::web::{self, Body, text};
use std::fmt;
use std::sync::LazyLock;
use store::{Fault, StoreError};

const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";

/// Assets of the pages, all part of this program: name, media type and content. Scripts and styles
/// are in the order in which pages load them.
pub(crate) static ASSETS: [(&str, &str, &str); 8] = [
    ("report.css", STYLE, web::STYLE),
    ("serve.css", STYLE, include_str!("assets/serve.css")),
    ("d3.js", SCRIPT, web::LIBRARIES[0]),
    ("plot.js", SCRIPT, web::LIBRARIES[1]),
    ("report.js", SCRIPT, web::SCRIPT),
    ("serve.js", SCRIPT, include_str!("assets/serve.js")),
    ("icon.svg", "image/svg+xml", include_str!("assets/icon.svg")),
    ("licenses.txt", "text/plain; charset=utf-8", web::LICENSES),
];

/// Elements that load the assets of a kind, from addresses that are others in a version of this
/// program that has other contents.
fn load(kind: &str, before: &str, after: &str) -> String {
    static STAMP: LazyLock<String> =
        LazyLock::new(|| observations::sha256(ASSETS.map(|(.., content)| content)));
    let assets = ASSETS.iter().filter(|(_, of_kind, _)| *of_kind == kind);
    let elements =
        assets.map(|(name, ..)| format!("{before}\"/assets/{name}?{:.16}\"{after}\n", *STAMP));
    elements.collect()
}

/// A page before it is put into its frame.
#[derive(Debug)]
pub struct Page {
    /// Title, sections and figures.
    pub body: Body,
    /// HTML below the title: forms and links.
    pub tools: String,
    /// The progress of a run; empty where the page shows no run.
    pub progress: String,
    /// Address that tells the version, and the version of what was read; `None`: the page never
    /// changes.
    pub live: Option<(String, String)>,
}

/// Why a request is not answered as asked.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// The status of the answer.
    pub status: StatusCode,
    /// The sentences of the page.
    pub message: String,
}

impl Refusal {
    /// A refusal with this status.
    pub fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
    }

    /// The address asks for what makes no sense.
    pub fn wrong(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    /// A page that says so.
    pub fn page(&self) -> String {
        let title = match self.status {
            StatusCode::NOT_FOUND => "Not found",
            StatusCode::INTERNAL_SERVER_ERROR => "Internal error",
            StatusCode::SERVICE_UNAVAILABLE => "Busy",
            _ => "Bad request",
        };
        let line = |line| format!("<p>{}</p>\n", text(line));
        let lines: String = self.message.lines().map(line).collect();
        let body = without_figures(title, &format!("{lines}<p><a href=\"/\">All runs</a></p>\n"));
        Page { body, tools: String::new(), progress: String::new(), live: None }.html()
    }
}

/// A page of one section, without figures.
pub(crate) fn without_figures(title: &str, section: &str) -> Body {
    let sections = format!("<section>\n{section}</section>\n");
    Body {
        title: title.into(),
        first: String::new(),
        contents: String::new(),
        sections,
        island: "{\"figures\":[]}".into(),
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        let status = match error.fault {
            Fault::Missing | Fault::Empty | Fault::NoRun(_) => StatusCode::NOT_FOUND,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self::new(status, error.to_string())
    }
}

impl From<Failure> for Refusal {
    /// Failures of what pages share with commands are about what was asked for.
    fn from(failure: Failure) -> Self {
        Self::wrong(failure.message())
    }
}

impl Page {
    /// The whole page.
    pub fn html(&self) -> String {
        let Body { title, first, contents, sections, island } = &self.body;
        let live = self.live.as_ref().map_or_else(String::new, |(address, version)| {
            format!(" data-live=\"{}\" data-version=\"{}\"", text(address), text(version))
        });
        let nav = match contents.as_str() {
            "" => String::new(),
            contents => format!(include_str!("assets/contents.html"), contents = contents),
        };
        format!(
            include_str!("assets/page.html"),
            live = live,
            title = title,
            head = load("image/svg+xml", "<link rel=\"icon\" href=", ">")
                + &load(STYLE, "<link rel=\"stylesheet\" href=", ">"),
            text = text(&self.progress),
            tools = self.tools,
            first = first,
            nav = nav,
            sections = sections,
            island = island,
            scripts = load(SCRIPT, "<script src=", "></script>"),
        )
    }
}

/// The parameters of an address in their order; those that no page knows are ignored.
#[derive(Debug)]
pub struct Query(Vec<(String, String)>);

/// Runs on a side of a comparison: all of them are read for its page.
const RUNS_MAX: usize = 20;

/// A run as addresses name it: `NAME@3`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunName<'a> {
    pub file: &'a str,
    pub run: i64,
}

impl Query {
    pub fn parse(raw: &str) -> Self {
        Self(parse(raw.as_bytes()).into_owned().collect())
    }

    /// Every value of a parameter that says anything.
    pub fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        let query = self.0.iter().filter(move |(key, _)| key == name);
        query.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.all(name).next()
    }

    /// A parameter without which there is no answer; `what` says in words what is missing.
    pub fn need(&self, name: &str, what: &str) -> Result<&str, Refusal> {
        self.get(name)
            .ok_or_else(|| Refusal::wrong(format!("The address lacks {what} (`{name}=`).")))
    }

    /// The number of a run; `None` means the latest.
    pub fn run(&self) -> Result<Option<i64>, Refusal> {
        self.get("run")
            .map(|text| {
                text.parse()
                    .map_err(|_| Refusal::wrong(format!("`run={text}` is not a run number.")))
            })
            .transpose()
    }

    /// The runs that a parameter names; there is one at least.
    pub fn run_names(&self, name: &str, what: &str) -> Result<Vec<RunName<'_>>, Refusal> {
        self.need(name, what)?;
        let runs: Vec<RunName<'_>> = self
            .all(name)
            .map(|text| {
                RunName::parse(text).ok_or_else(|| {
                    Refusal::wrong(format!("`{name}={text}` is not a run; expected NAME@NUMBER."))
                })
            })
            .collect::<Result<_, _>>()?;
        if runs.len() > RUNS_MAX {
            return Err(Refusal::wrong(format!("A side can have at most {RUNS_MAX} runs.")));
        }
        Ok(runs)
    }
}

impl<'a> RunName<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let (file, run) = text.rsplit_once('@')?;
        Some(Self { file, run: run.parse().ok()? })
    }
}

impl fmt::Display for RunName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.file, self.run)
    }
}

/// An address with parameters; still to be escaped where it is put into HTML.
pub fn address(path: &str, parameters: &[(&str, &str)]) -> String {
    let mut query = Serializer::new(String::new());
    query.extend_pairs(parameters);
    format!("{path}?{}", query.finish())
}

/// Address of the page of a run.
pub(crate) fn run_address(file: &str, run: i64) -> String {
    address("/run", &[("file", file), ("run", &run.to_string())])
}

#[cfg(test)]
mod tests {
    use super::{Query, address};

    #[test]
    fn what_is_put_into_an_address_is_read_from_it() {
        let odd = "a&b=c d+e%2f/..\"<ü>#?@3";
        let link = address("/run", &[("file", odd), ("only", odd), ("only", "x")]);
        assert!(link.is_ascii() && !link.contains(['"', '<', ' ', '#']), "{link}");
        let query = Query::parse(link.strip_prefix("/run?").unwrap());
        assert_eq!(query.get("file"), Some(odd));
        assert_eq!(query.all("only").collect::<Vec<_>>(), [odd, "x"]);
        let runs = query.run_names("file", "which").unwrap();
        assert_eq!((runs.len(), runs[0].file, runs[0].run), (1, &odd[..odd.len() - 2], 3));
    }

    #[test]
    fn what_says_nothing_is_not_there() {
        let query = Query::parse("a=&run=x&b=t%FF@two&=");
        assert_eq!(query.get("a"), None);
        assert!(query.need("a", "which").is_err());
        assert!(query.run().is_err());
        assert!(query.run_names("b", "which").is_err());
        assert_eq!(Query::parse("").run().ok(), Some(None));
    }
}
