//! Templates of private servers: a data directory is made once for each program, account and
//! options, and so are the user's tables and the rows of a data set.

use super::server::{Options, Product, Server, Settings, Stop};
use super::setup::shaped_by;
use crate::account::Account;
use crate::files::write_back;
use crate::process::removed;
use crate::template::{self, Recipe, Template};
use engine::{EngineError, Result};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use work::Cancel;

/// Kinds of templates: empty data directories, those with tables of the user, and with a data set.
const PLAIN: &str = "";
const SETUP: &str = "setup-";
const DATA_SET: &str = "data-";

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
    let Options { product, account, setup, .. } = options;
    let Some(tables) = setup else {
        let recipe = recipe(cache, options, PLAIN, "")?;
        return Template::find_or_make(&recipe, cancel, |unfinished| {
            product.initialise(account, unfinished)
        });
    };
    let recipe = recipe(cache, options, SETUP, &tables.identity())?;
    filled(&recipe, options, tables.settings.clone(), cancel, |server| {
        P::fill(server, &tables.setup, cancel)
    })
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
    let content = format!("{settings:?}\n{}", data_set.identity);
    settings.extend(owned(P::CONSTANTS.bulk_settings));
    let cache = cache_folder::<P>(&options.account)?;
    let recipe = recipe(&cache, options, DATA_SET, &content)?;
    filled(&recipe, options, settings, cancel, fill)
}

/// Returns the recipe of a template of this kind; `content`: its identity in addition to the
/// server's options.
fn recipe<'a, P: Product>(
    cache: &'a Path,
    options: &'a Options<P>,
    kind: &str,
    content: &str,
) -> Result<Recipe<'a>> {
    let Options { product, account, .. } = options;
    let program = product.program();
    let file = program.metadata().map_err(EngineError::at(&program))?;
    let (path, bytes) = (program.display(), file.len());
    let (changed_s, changed_ns) = (file.mtime(), file.mtime_nsec());
    let (version, name, uid) = (product.version(), &account.name, account.uid());
    let identity = format!(
        "{version}\n{path} of {bytes} bytes, changed {changed_s}.{changed_ns}\nuser {name} \
         ({uid})\n{}\n{content}",
        product.identity()
    );
    Ok(Recipe {
        cache,
        account,
        kind: format!("{}{kind}", P::CONSTANTS.templates),
        version,
        identity,
        is_filled: kind != PLAIN,
        reclaim: super::server::reclaim::<P>,
    })
}

/// Returns the template of a server with these settings that is filled and stopped.
fn filled<P: Product>(
    recipe: &Recipe<'_>,
    options: &Options<P>,
    mut settings: Settings,
    cancel: &Cancel,
    fill: impl FnOnce(&Server<P>) -> Result<()>,
) -> Result<Template> {
    // After a crash the template is made again; at the end everything is written.
    settings.extend(owned(P::CONSTANTS.unsafe_settings));
    Template::find_or_make(recipe, cancel, |unfinished| {
        let folder = unfinished.folder;
        let bare = Options {
            product: options.product.for_template(),
            directory: folder.to_path_buf(),
            log_directory: None,
            setup: None,
            cgroups: Vec::new(),
            ..options.clone()
        };
        let mut server = Server::create(bare, cancel)?;
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

fn owned(settings: &[(&str, &str)]) -> impl Iterator<Item = (String, String)> {
    settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
}
