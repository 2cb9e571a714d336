//! A private server for its client programs, and copies of it.

use crate::files::clone_folder;
use crate::pair::{Pair, Replicating, remove_folder};
use crate::private::Server;
use engine::{AdminSession, PrivateFacts, PrivateServer, Program, ProgramNames, Result, lock};
use std::path::Path;
use std::sync::{Arc, Mutex};
use work::Cancel;

impl<P: Replicating> PrivateServer for Pair<P> {
    fn facts(&self) -> PrivateFacts {
        let data_directory = lock(&self.primary.server).data_directory().to_path_buf();
        PrivateFacts { user: P::SUPERUSER, database: P::DATABASE, data_directory }
    }

    fn session(&self, database: Option<&str>, cancel: &Cancel) -> Result<Box<dyn AdminSession>> {
        let config =
            P::in_database(P::config(&self.primary.sockets), database.unwrap_or(P::DATABASE));
        let session = P::admin_session(config, cancel);
        session.map_err(|error| lock(&self.primary.server).with_log(error))
    }

    fn environment(&self, database: Option<&str>) -> Vec<(String, Option<String>)> {
        P::environment(&P::in_database(
            P::config(&self.primary.sockets),
            database.unwrap_or(P::DATABASE),
        ))
    }

    fn program(&self, program: ProgramNames) -> Result<Program> {
        let product = lock(&self.primary.server).options.product.clone();
        product.client_program(program)
    }

    fn copy(
        &self,
        folder: &Path,
        from: Option<&Path>,
        finish: &dyn Fn(&Path) -> Result<()>,
    ) -> Result<Box<dyn PrivateServer>> {
        // In a statement: the lock is held until its end.
        let (options, settings) = {
            let server = lock(&self.primary.server);
            (server.options_in(folder), server.in_force.clone())
        };
        options.account.make_folder(folder)?;
        let mut copy = Server::with_data(options, |options, data| {
            from.map_or(Ok(()), |from| clone_folder(from, data, &options.account))?;
            finish(data)?;
            options.account.chown_below(data)
        })?;
        copy.in_force = settings;
        Ok(Box::new(Self::new(&Arc::new(Mutex::new(copy)), &self.cancel)))
    }

    fn start(&self, more: &[(&str, String)], cancel: &Cancel) -> Result<()> {
        let mut server = lock(&self.primary.server);
        let mut settings = server.in_force.clone().unwrap_or_default();
        settings.extend(more.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        server.start_with(settings, cancel)
    }

    fn log_tail(&self, lines: usize) -> String {
        lock(&self.primary.server).log_tail(lines)
    }

    fn remove(self: Box<Self>) -> Result<()> {
        let mut server = lock(&self.primary.server);
        server.clear()?;
        remove_folder(&server.layout)
    }
}
