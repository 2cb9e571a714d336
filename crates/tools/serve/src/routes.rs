//! The addresses of pages and of the files that they load.

use crate::guard::guard;
use crate::library::{self, File};
use crate::page::{self, Query, Refusal};
use crate::site::{Build, Site};
use crate::views;
use crate::worker::{Done, Undone};
use axum::Router;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get};
use std::net::IpAddr;
use std::sync::Arc;

/// Routes requests to the address `ours`.
pub fn router(site: Site, ours: IpAddr) -> Router {
    Router::new()
        .route("/", page(views::list))
        .route("/run", page(views::run))
        .route("/compare", page(views::configurations))
        .route("/runs", page(views::runs))
        .route("/version", get(version))
        .route("/assets/{name}", get(asset))
        .fallback(async || no_page())
        .method_not_allowed_fallback(async || {
            let text = "Pages are read-only (GET).";
            Refusal::new(StatusCode::METHOD_NOT_ALLOWED, text)
        })
        .with_state(Arc::new(site))
        .layer(from_fn_with_state(ours, guard))
}

/// A kind of page; another thread than the answering one reads files and builds pages.
fn page(build: Build) -> MethodRouter<Arc<Site>> {
    get(async move |State(site): State<Arc<Site>>, RawQuery(query): RawQuery| {
        let shared = Arc::clone(&site);
        let build = move || shared.build(build, &query.unwrap_or_default());
        let Done { result, is_crowded } =
            site.pages.result(build).await.map_err(|undone| match undone {
                Undone::Dropped => busy(),
                Undone::Panicked => failed("Building this page failed."),
            })?;
        let mut response = ([HTML, NO_STORE], result?).into_response();
        if is_crowded {
            // Further requests that this connection has sent already are not answered.
            response.headers_mut().insert(header::CONNECTION, CLOSE);
        }
        Ok::<_, Refusal>(response)
    })
}

const CLOSE: HeaderValue = HeaderValue::from_static("close");

fn busy() -> Refusal {
    Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "Too many requests are waiting; reload the page.")
}

/// `/version?file=NAME`, several times or not at all for every file: `{"version": "..."}`, which is
/// another text once the files have changed.
async fn version(
    State(site): State<Arc<Site>>,
    RawQuery(query): RawQuery,
) -> Result<Response, Refusal> {
    let shared = Arc::clone(&site);
    let looking = site.versions.result(move || {
        let query = Query::parse(&query.unwrap_or_default());
        let named: Vec<File> = query
            .all("file")
            .map(|name| shared.library.file(name))
            .collect::<Result<_, Refusal>>()?;
        let files = if named.is_empty() { shared.library.files() } else { named };
        Ok::<_, Refusal>(serde_json::json!({ "version": library::version(&files) }).to_string())
    });
    let looked = looking.await.map_err(|undone| match undone {
        Undone::Dropped => busy(),
        Undone::Panicked => failed("Reading the files failed."),
    })?;
    let json = looked.result?;
    Ok(([(header::CONTENT_TYPE, "application/json"), NO_STORE], json).into_response())
}

const HTML: (header::HeaderName, &str) = (header::CONTENT_TYPE, "text/html; charset=utf-8");
const NO_STORE: (header::HeaderName, &str) = (header::CACHE_CONTROL, "no-store");

/// Assets of the pages. Their addresses change with the content, so browsers may cache them.
async fn asset(Path(name): Path<String>) -> Result<Response, Refusal> {
    let (_, kind, content) =
        page::ASSETS.iter().find(|(known, ..)| *known == name).ok_or_else(no_page)?;
    let kept = (header::CACHE_CONTROL, "max-age=31536000, immutable");
    Ok(([(header::CONTENT_TYPE, *kind), kept], *content).into_response())
}

fn no_page() -> Refusal {
    Refusal::new(StatusCode::NOT_FOUND, "Page not found.")
}

fn failed(text: &str) -> Refusal {
    Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, text)
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = (self.status, [HTML, NO_STORE], self.page()).into_response();
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            response.headers_mut().insert(header::CONNECTION, CLOSE);
        }
        response
    }
}
