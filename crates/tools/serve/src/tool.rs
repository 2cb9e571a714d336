//! Arguments, and the life of the server.

use crate::library::Library;
use crate::server::{answer, listen};
use crate::site::Site;
use clap::Parser;
use command_line::{Context, ExitCode, Failure, Tool, output};
use std::net::{IpAddr, SocketAddr};

/// Show recorded runs in the browser, also during a run
#[derive(Debug, Parser)]
#[command(name = "serve")]
pub struct Serve {
    /// Name of an experiment, a results file, or a folder with results files [default: results/]
    name: Option<String>,
    /// Port to listen on; 0 picks a free one
    #[arg(long, value_name = "N", default_value_t = 8421)]
    port: u16,
    /// Address to listen on. There is no password: anyone who can connect to this address can read
    /// the results
    #[arg(long, value_name = "IP", default_value = "127.0.0.1")]
    listen: IpAddr,
}

impl Tool for Serve {
    const EXAMPLES: [&'static str; 2] =
        ["steelbench serve", "steelbench serve results --port 8080"];

    fn run(&self, context: &Context) -> Result<ExitCode, Failure> {
        let library = Library::open(self.name.as_deref())?;
        let site = Site::new(library, context).map_err(|error| {
            let how = "raise the limit of processes (`ulimit -u`)";
            Failure::failed(format!("cannot start a thread: {error}; {how}"))
        })?;
        let listener = listen(SocketAddr::new(self.listen, self.port))?;
        let address = listener.local_addr().map_err(Failure::failed)?;
        if !address.ip().is_loopback() {
            output::complain(&format!(
                "warning: no password is set; anyone who can reach {address} can read these \
                 results"
            ));
        }
        output::print_wrapped(&format!(
            "http://{address}/ shows {}; press Ctrl-C to stop\n",
            site.library
        ))?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| Failure::failed(format!("cannot start the server: {error}")))?;
        let result = runtime.block_on(answer(listener, site));
        // Nothing is written, so that a page that is being built need not be finished.
        runtime.shutdown_background();
        result.map_err(|error| Failure::failed(format!("the server failed: {error}")))?;
        Ok(ExitCode::Ok)
    }
}
