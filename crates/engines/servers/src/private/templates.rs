//! Templates of private servers: a data directory is made once for each program, account and
//! options, and so are the user's tables and the rows of a data set.

use super::server::{Options, Product, Server, Settings, Stop};
use super::setup::{ServerSetup, shaped_by};
use crate::account::Account;
use crate::files::write_back;
use crate::process::removed;
use crate::template::{self, Recipe, Template, Unfinished};
use engine::{EngineError, Result};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use work::Cancel;

/// A data set for a template.
pub struct Content<'a> {
    /// All that it follows from.
    pub identity: &'a str,
    /// The settings of the server that is to hold it.
    pub settings: &'a Settings,
}

impl<P: Product> Server<P> {
    /// Makes it by cloning a template; it is not started yet. The account must reach the directory
    /// and the programs.
    ///
    /// # Errors
    /// When something is there already, or the template cannot be made.
    pub fn create(options: Options<P>, cancel: &Cancel) -> Result<Self> {
        options.account.can_run(&options.product.program())?;
        let cache = cache_folder::<P>(&options.account)?;
        let template = find_or_make(&cache, &options, cancel)?;
        Self::clone_from_template(options, &template)
    }
}

/// Returns the folder of the templates of an account, which only that account can enter.
///
/// # Errors
/// When another user made it.
pub fn cache_folder<P: Product>(account: &Account) -> Result<PathBuf> {
    template::cache_folder(P::CONSTANTS.cache, account)
}

/// Returns the template for a server of these options, made now unless it is in the cache, a folder
/// that the account owns.
///
/// # Errors
/// When it cannot be made.
pub fn find_or_make<P: Product>(
    cache: &Path,
    options: &Options<P>,
    cancel: &Cancel,
) -> Result<Template> {
    let plain = TemplateJob { cache, options, kind: P::CONSTANTS.templates.plain, content: "" };
    let Some(ServerSetup { setup, settings }) = &options.setup else {
        let Options { product, account, .. } = options;
        return plain.make(cancel, |unfinished| product.initialise(account, unfinished));
    };
    let content = &options.setup.as_ref().map_or_else(String::new, ServerSetup::identity);
    let filled = TemplateJob { kind: P::CONSTANTS.templates.setup, content, ..plain };
    filled.fill(settings.clone(), cancel, |server| P::fill(server, setup, cancel))
}

/// Returns the template with a data set that `fill` loads into a running server with its settings,
/// as far as they matter to it; made now unless it is in the cache.
///
/// # Errors
/// When it cannot be made.
pub(super) fn with_data_set<P: Product>(
    options: &Options<P>,
    data_set: &Content<'_>,
    cancel: &Cancel,
    fill: impl FnOnce(&Server<P>) -> Result<()>,
) -> Result<Template> {
    let mut settings = shaped_by(data_set.settings.clone(), P::CONSTANTS.shaping);
    let content = &format!("{settings:?}\n{}", data_set.identity);
    settings.extend(owned(P::CONSTANTS.bulk_settings));
    let (cache, kind) = (&cache_folder::<P>(&options.account)?, P::CONSTANTS.templates.data_set);
    TemplateJob { cache, options, kind, content }.fill(settings, cancel, fill)
}

/// A template to be made unless it is in the cache.
struct TemplateJob<'a, P> {
    cache: &'a Path,
    options: &'a Options<P>,
    /// The beginning of its name.
    kind: &'a str,
    /// The identity in addition to the server's options.
    content: &'a str,
}

impl<P: Product> TemplateJob<'_, P> {
    fn make(
        &self,
        cancel: &Cancel,
        make: impl FnOnce(&Unfinished<'_>) -> Result<()>,
    ) -> Result<Template> {
        let recipe = Recipe {
            cache: self.cache,
            account: &self.options.account,
            kind: self.kind,
            version: &self.options.product.version(),
            identity: &self.identity()?,
            is_filled: self.kind != P::CONSTANTS.templates.plain,
            reclaim: super::server::reclaim::<P>,
        };
        Template::find_or_make(&recipe, cancel, make)
    }

    /// Returns its identity: a change recreates it.
    fn identity(&self) -> Result<String> {
        let Options { product, account, .. } = self.options;
        let program = product.program();
        let file = program.metadata().map_err(EngineError::at(&program))?;
        let (path, bytes) = (program.display(), file.len());
        let (changed_s, changed_ns) = (file.mtime(), file.mtime_nsec());
        let (version, name, uid) = (product.version(), &account.name, account.uid());
        let (product, content) = (product.identity(), self.content);
        Ok(format!(
            "{version}\n{path} of {bytes} bytes, changed {changed_s}.{changed_ns}\nuser {name} \
             ({uid})\n{product}\n{content}"
        ))
    }

    /// Makes it of a server with these settings that is filled and stopped.
    fn fill(
        &self,
        mut settings: Settings,
        cancel: &Cancel,
        fill: impl FnOnce(&Server<P>) -> Result<()>,
    ) -> Result<Template> {
        // After a crash the template is made again; at the end everything is written.
        settings.extend(owned(P::CONSTANTS.unsafe_settings));
        self.make(cancel, |unfinished| {
            let folder = unfinished.folder;
            let mut server = Server::create(self.bare(folder), cancel)?;
            server.apply(&settings, cancel)?;
            fill(&server)?;
            server.stop(Stop::Clean, cancel)?;
            let (data, kept) = (server.data_directory().to_owned(), folder.join("kept"));
            let settings = data.join(P::CONSTANTS.settings_file);
            removed(&settings, std::fs::remove_file(&settings))?;
            // Out of the way of what removes a server, and back.
            std::fs::rename(&data, &kept).map_err(EngineError::at(&data))?;
            server.remove()?;
            std::fs::rename(&kept, &data).map_err(EngineError::at(&kept))?;
            write_back(&data)
        })
    }

    /// The options of a server in this folder that is to be filled.
    fn bare(&self, folder: &Path) -> Options<P> {
        Options {
            product: self.options.product.for_template(),
            directory: folder.to_path_buf(),
            log_directory: None,
            setup: None,
            cgroups: Vec::new(),
            ..self.options.clone()
        }
    }
}

fn owned(settings: &[(&str, &str)]) -> impl Iterator<Item = (String, String)> {
    settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
}
