//! `steelbench serve`: recorded runs in the browser.
//!
//! [`server`] answers requests and guards them, [`list`] and [`run`] are the pages, [`library`] reads the results files, for one
//! page at a time. Sections and figures are those of the HTML report.
//! `assets/serve.js` asks every two seconds whether the files have changed and then brings the page up to date.

mod assets;
mod library;
mod list;
mod page;
mod run;
mod server;

use crate::args::Serve;
use crate::exit_code::{ExitCode, Failure};
use crate::output;
use library::{Library, Site};
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};

/// Serves pages until it is told to stop.
pub fn serve(arguments: &Serve) -> Result<ExitCode, Failure> {
    let library = Library::of(arguments.name.as_deref())?;
    let listener = listen(SocketAddr::new(arguments.listen, arguments.port))?;
    let address = listener.local_addr().map_err(Failure::failed)?;
    if !address.ip().is_loopback() {
        output::complain(&format!(
            "warning: there is no password; whoever reaches {address} can read these results"
        ));
    }
    output::print(&format!("http://{address}/ shows {library}; Ctrl-C stops\n"))?;
    server::serve(listener, Site::new(library))?;
    Ok(ExitCode::Ok)
}

fn listen(address: SocketAddr) -> Result<TcpListener, Failure> {
    TcpListener::bind(address).map_err(|error| {
        let (port, ip) = (address.port(), address.ip());
        Failure::failed(match error.kind() {
            ErrorKind::AddrInUse => format!(
                "port {port} of {ip} is in use, perhaps by another `steelbench serve`; choose another with --port"
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
