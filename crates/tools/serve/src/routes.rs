//! The addresses of pages and of the files that they load.

use crate::guard;
use crate::library::{self, File};
use crate::page::{self, Query, Refusal};
use crate::site::{Build, Site};
use crate::views;
use crate::worker::{Done, Undone};
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode};
use std::net::IpAddr;
use std::sync::Arc;

/// An answer with its whole body.
pub(crate) type Answer = Response<Full<Bytes>>;

/// Answers a request to the address `ours`, whose body is not read.
pub(crate) async fn answer<B>(site: Arc<Site>, ours: IpAddr, request: Request<B>) -> Answer {
    let (head, _) = request.into_parts();
    let result = match guard::refusal(&head.headers, ours) {
        Some(refusal) => Err(refusal),
        None => content(site, &head).await,
    };
    let mut response = result.unwrap_or_else(Answer::from);
    guard::protect(response.headers_mut());
    response
}

async fn content(site: Arc<Site>, head: &Parts) -> Result<Answer, Refusal> {
    let query = head.uri.query().unwrap_or_default().to_owned();
    match route(head.uri.path()) {
        None => Err(no_page()),
        Some(_) if !matches!(head.method, Method::GET | Method::HEAD) => {
            let text = "Pages are read-only (GET).";
            Err(Refusal::new(StatusCode::METHOD_NOT_ALLOWED, text))
        }
        Some(Route::Page(build)) => page(site, build, query).await,
        Some(Route::Version) => version(site, query).await,
        Some(Route::Asset(name)) => asset(name),
    }
}

/// Targets of addresses.
enum Route<'a> {
    Page(Build),
    Version,
    Asset(&'a str),
}

fn route(path: &str) -> Option<Route<'_>> {
    Some(match path {
        "/" => Route::Page(views::list),
        "/run" => Route::Page(views::run),
        "/compare" => Route::Page(views::configurations),
        "/runs" => Route::Page(views::runs),
        "/version" => Route::Version,
        _ => Route::Asset(path.strip_prefix("/assets/")?),
    })
}

/// A page; another thread than the answering one reads files and builds pages.
async fn page(site: Arc<Site>, build: Build, query: String) -> Result<Answer, Refusal> {
    let shared = Arc::clone(&site);
    let built = site.pages.result(move || shared.build(build, &query)).await;
    let Done { result, is_crowded } =
        built.map_err(|cause| undone(&cause, "Building this page failed."))?;
    let mut response = response(StatusCode::OK, [HTML, NO_STORE], result?);
    if is_crowded {
        // Further requests that this connection has sent already are not answered.
        response.headers_mut().insert(header::CONNECTION, CLOSE);
    }
    Ok(response)
}

const CLOSE: HeaderValue = HeaderValue::from_static("close");

/// The refusal of a request whose job has no result.
fn undone(cause: &Undone, panicked: &str) -> Refusal {
    match cause {
        Undone::Dropped => {
            let text = "Too many requests are waiting; reload the page.";
            Refusal::new(StatusCode::SERVICE_UNAVAILABLE, text)
        }
        Undone::Panicked => Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, panicked),
    }
}

/// `/version?file=NAME`, several times or not at all for every file: `{"version": "..."}`, which is
/// another text once the files have changed.
async fn version(site: Arc<Site>, query: String) -> Result<Answer, Refusal> {
    let shared = Arc::clone(&site);
    let looking = site.versions.result(move || {
        let query = Query::parse(&query);
        let named: Vec<File> = query
            .all("file")
            .map(|name| shared.library.file(name))
            .collect::<Result<_, Refusal>>()?;
        let files = if named.is_empty() { shared.library.files() } else { named };
        Ok::<_, Refusal>(serde_json::json!({ "version": library::version(&files) }).to_string())
    });
    let looked = looking.await.map_err(|cause| undone(&cause, "Reading the files failed."))?;
    Ok(response(StatusCode::OK, [JSON, NO_STORE], looked.result?))
}

const HTML: (HeaderName, &str) = (header::CONTENT_TYPE, "text/html; charset=utf-8");
const JSON: (HeaderName, &str) = (header::CONTENT_TYPE, "application/json");
const NO_STORE: (HeaderName, &str) = (header::CACHE_CONTROL, "no-store");

/// Assets of the pages. Their addresses change with the content, so browsers may cache them.
fn asset(name: &str) -> Result<Answer, Refusal> {
    let (_, kind, content) =
        page::ASSETS.iter().find(|(known, ..)| *known == name).ok_or_else(no_page)?;
    let kept = (header::CACHE_CONTROL, "max-age=31536000, immutable");
    Ok(response(StatusCode::OK, [(header::CONTENT_TYPE, *kind), kept], *content))
}

fn response(
    status: StatusCode,
    headers: [(HeaderName, &'static str); 2],
    body: impl Into<Bytes>,
) -> Answer {
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = status;
    for (name, value) in headers {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

fn no_page() -> Refusal {
    Refusal::new(StatusCode::NOT_FOUND, "Page not found.")
}

impl From<Refusal> for Answer {
    fn from(refusal: Refusal) -> Self {
        let mut response = response(refusal.status, [HTML, NO_STORE], refusal.page());
        match refusal.status {
            StatusCode::SERVICE_UNAVAILABLE => {
                response.headers_mut().insert(header::CONNECTION, CLOSE);
            }
            StatusCode::METHOD_NOT_ALLOWED => {
                let methods = HeaderValue::from_static("GET,HEAD");
                response.headers_mut().insert(header::ALLOW, methods);
            }
            _ => {}
        }
        response
    }
}
