//! `steelbench serve`: recorded runs in the browser. Requests are answered here: GET alone, and
//! only from pages of our own.
//!
//! [`views`] are the pages, [`page`] is what they have in common, [`library`] reads the results
//! files, for one page at a time. Sections and figures are those of the HTML report.
//! `assets/serve.js` asks every two seconds whether the files have changed and then brings the page
//! up to date.

mod library;
mod page;
mod views;

use axum::Router;
use axum::extract::{Path, RawQuery, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get};
use clap::Parser;
use command::{Context, ExitCode, Failure, Tool, output};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use library::{Build, File, Library, Site};
use page::{Query, Refusal};
use socket2::SockRef;
use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::spawn_blocking;

/// Requests that wait for the one page that is being built, or look whether files have changed;
/// others wait in line.
const PAGES_WAITING: usize = 8;

/// How long a visitor may take for the head of a request, and for taking what was sent: connections
/// that are open and say nothing must not keep others out for longer.
const PATIENCE: Duration = Duration::from_secs(15);
const ACCEPT_AGAIN: Duration = Duration::from_millis(200);

/// Show recorded runs in the browser, also while they go on
#[derive(Debug, Parser)]
#[command(name = "serve")]
pub struct Serve {
    /// Name of an experiment, a results file, or a folder with results files [default: results/]
    name: Option<String>,
    /// Port to listen on; 0 takes one that is free
    #[arg(long, value_name = "N", default_value_t = 8421)]
    port: u16,
    /// Address to listen on. There is no password: whoever can connect to this address can read
    /// the results
    #[arg(long, value_name = "IP", default_value = "127.0.0.1")]
    listen: IpAddr,
}

impl Tool for Serve {
    fn run(&self, context: &Context) -> Result<ExitCode, Failure> {
        let library = Library::of(self.name.as_deref())?;
        let listener = listen(SocketAddr::new(self.listen, self.port))?;
        let address = listener.local_addr().map_err(Failure::failed)?;
        if !address.ip().is_loopback() {
            output::complain(&format!(
                "warning: there is no password; whoever reaches {address} can read these results"
            ));
        }
        output::print_wrapped(&format!("http://{address}/ shows {library}; Ctrl-C stops\n"))?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(PAGES_WAITING)
            .build()
            .map_err(|error| Failure::failed(format!("cannot start the server: {error}")))?;
        let result = runtime.block_on(answer(listener, Site::new(library, *context)));
        // Nothing is written, so that a page that is being built need not be finished.
        runtime.shutdown_background();
        result.map_err(|error| Failure::failed(format!("the server has failed: {error}")))?;
        Ok(ExitCode::Ok)
    }
}

fn listen(address: SocketAddr) -> Result<TcpListener, Failure> {
    TcpListener::bind(address).map_err(|error| {
        let (port, ip) = (address.port(), address.ip());
        Failure::failed(match error.kind() {
            ErrorKind::AddrInUse => format!(
                "port {port} of {ip} is in use, perhaps by another `steelbench serve`; choose \
                 another with --port"
            ),
            ErrorKind::AddrNotAvailable => {
                format!("{ip} is no address of this machine; name one of its own with --listen")
            }
            ErrorKind::PermissionDenied => {
                format!("port {port} of {ip} may not be used; choose one from 1024 on with --port")
            }
            _ => format!("cannot listen on {address}: {error}"),
        })
    })
}

async fn answer(listener: TcpListener, site: Site) -> std::io::Result<()> {
    let pages = TowerToHyperService::new(router(site, listener.local_addr()?.ip()));
    listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let (mut interrupt, mut end) =
        (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = interrupt.recv() => return Ok(()),
            _ = end.recv() => return Ok(()),
        };
        match accepted {
            Ok((visitor, _)) => drop(tokio::spawn(converse(visitor, pages.clone()))),
            // No descriptor is free: those of slow visitors will be.
            Err(_) => tokio::time::sleep(ACCEPT_AGAIN).await,
        }
    }
}

/// Answers a visitor's requests. One that breaks off is no error of ours.
async fn converse(visitor: TcpStream, pages: TowerToHyperService<Router>) {
    // For what we have sent and it does not take; that the system refuses this changes nothing
    // else.
    let _ = SockRef::from(&visitor).set_tcp_user_timeout(Some(PATIENCE));
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(PATIENCE);
    let _ = server.serve_connection(TokioIo::new(visitor), pages).await;
}

fn router(site: Site, ours: IpAddr) -> Router {
    Router::new()
        .route("/", page(views::list))
        .route("/run", page(views::run))
        .route("/compare", page(views::configurations))
        .route("/runs", page(views::runs))
        .route("/version", get(version))
        .route("/assets/{name}", get(asset))
        .fallback(async || no_page())
        .method_not_allowed_fallback(async || {
            let said = "Pages can only be read (GET); nothing can be changed here.";
            Refusal::new(StatusCode::METHOD_NOT_ALLOWED, said)
        })
        .with_state(Arc::new(site))
        .layer(from_fn_with_state(ours, guard))
}

/// A kind of page; files are read and pages built apart from the thread that answers.
fn page(build: Build) -> MethodRouter<Arc<Site>> {
    get(async move |State(site): State<Arc<Site>>, RawQuery(query): RawQuery| {
        let built = spawn_blocking(move || site.build(build, &query.unwrap_or_default())).await;
        built
            .unwrap_or_else(|_| Err(failed("Building this page has failed.")))
            .map(|html| ([HTML, NO_STORE], html))
    })
}

/// `/version?file=NAME`, several times or not at all for every file: `{"version": "..."}`, which is
/// another text once the files have changed.
async fn version(
    State(site): State<Arc<Site>>,
    RawQuery(query): RawQuery,
) -> Result<Response, Refusal> {
    let look = move || {
        let query = Query::of(&query.unwrap_or_default());
        let named: Vec<File> =
            query.all("file").map(|name| site.library.file(name)).collect::<Result<_, _>>()?;
        let files = if named.is_empty() { site.library.files() } else { named };
        Ok(serde_json::json!({ "version": library::version(&files) }).to_string())
    };
    let looked = spawn_blocking(look).await;
    let json = looked.unwrap_or_else(|_| Err(failed("Looking at the files has failed.")))?;
    Ok(([(header::CONTENT_TYPE, "application/json"), NO_STORE], json).into_response())
}

const HTML: (header::HeaderName, &str) = (header::CONTENT_TYPE, "text/html; charset=utf-8");
const NO_STORE: (header::HeaderName, &str) = (header::CACHE_CONTROL, "no-store");

/// What pages load. Their addresses change with the content, so that it can be kept.
async fn asset(Path(name): Path<String>) -> Result<Response, Refusal> {
    let (_, kind, content) =
        page::ASSETS.iter().find(|(known, ..)| *known == name).ok_or_else(no_page)?;
    let kept = (header::CACHE_CONTROL, "max-age=31536000, immutable");
    Ok(([(header::CONTENT_TYPE, *kind), kept], *content).into_response())
}

fn no_page() -> Refusal {
    Refusal::new(StatusCode::NOT_FOUND, "There is no such page.")
}

fn failed(said: &str) -> Refusal {
    Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, said)
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.status, [HTML, NO_STORE], self.page()).into_response()
    }
}

/// Nothing is loaded from elsewhere, no other site may show a page in a frame, use its content, or
/// send a form. Figures have styles of their own.
const HEADERS: [(&str, &str); 4] = [
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self'; \
         connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-resource-policy", "same-origin"),
];

/// Refuses requests that were sent to a foreign name or by a page of another site, and adds the
/// headers to every answer.
async fn guard(State(ours): State<IpAddr>, request: Request, next: Next) -> Response {
    let mut response = if !is_ours(request.headers(), ours) {
        let said = "This address is not one of this server's: open it by the address that \
                    `steelbench serve` has printed.";
        Refusal::new(StatusCode::MISDIRECTED_REQUEST, said).into_response()
    } else if is_used_by_others(request.headers()) {
        let said = "Pages of other sites may link to this one, and not load it.";
        Refusal::new(StatusCode::FORBIDDEN, said).into_response()
    } else {
        next.run(request).await
    };
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Whether a page of another site loads this as a part of itself, as browsers say
/// (<https://www.w3.org/TR/fetch-metadata/>): it could not read the answer, but have us build pages
/// again and again and measure how long we take. Another port of this machine is the same site.
fn is_used_by_others(headers: &HeaderMap) -> bool {
    let is = |name: &str, values: &[&str]| {
        headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .is_some_and(|value| values.contains(&value))
    };
    is("sec-fetch-site", &["cross-site", "same-site"]) && !is("sec-fetch-mode", &["navigate"])
}

/// Whether a request names us. Another site's page can make its own name mean this machine (DNS
/// rebinding) and would then be allowed to read our pages; but it cannot make the browser say
/// another name.
fn is_ours(headers: &HeaderMap, ours: IpAddr) -> bool {
    let Some(host) = headers.get(header::HOST).and_then(|host| host.to_str().ok()) else {
        return false;
    };
    // The port may be another one: that of a tunnel.
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    if name.eq_ignore_ascii_case("localhost") {
        return true;
    }
    let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    // An address is no name that anybody could make mean another machine.
    bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback() || ip == ours || ours.is_unspecified())
}

#[cfg(test)]
mod tests {
    use super::is_ours;
    use axum::http::HeaderMap;
    use std::net::IpAddr;

    fn asked(host: &str, ours: &str) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert("host", host.parse().unwrap());
        is_ours(&headers, ours.parse::<IpAddr>().unwrap())
    }

    #[test]
    fn only_our_own_names_are_answered() {
        for host in
            ["localhost", "LOCALHOST:8421", "127.0.0.1:8421", "127.0.0.1", "[::1]:8421", "[::1]"]
        {
            assert!(asked(host, "127.0.0.1"), "{host}");
        }
        for host in [
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example:80",
            "10.0.0.1:8421",
            "",
            "[::2]",
            ":",
        ] {
            assert!(!asked(host, "127.0.0.1"), "{host}");
        }
        assert!(asked("10.0.0.1:8421", "10.0.0.1") && !asked("10.0.0.2:8421", "10.0.0.1"));
        assert!(asked("10.0.0.2:8421", "0.0.0.0") && !asked("a-name", "0.0.0.0"));
        assert!(!is_ours(&HeaderMap::new(), "127.0.0.1".parse().unwrap()));
    }
}
