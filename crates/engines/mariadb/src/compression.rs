//! How InnoDB compresses the tables of a trial: by rows in smaller pages (`ROW_FORMAT =
//! COMPRESSED`, <https://mariadb.com/kb/en/innodb-row-formats-overview/>), or by pages with holes
//! behind them (`PAGE_COMPRESSED`, <https://mariadb.com/kb/en/innodb-page-compression/>).

use super::admin::{Admin, DATABASE, MARK};
use super::errors::failed_at;
use super::server::Installation;
use super::settings::{COMPRESSION, COMPRESSIONS};
use engine::{EngineError, Result};
use experiment::Configuration;
use servers::administration::Administration as _;
use std::path::Path;

/// Algorithm of pages that every server has.
const BUILT_IN: &str = "zlib";

/// The place of plugins, seen from the server's program.
const PLUGINS: [&str; 3] = ["../lib/mysql/plugin", "../lib64/mysql/plugin", "../lib/plugin"];

/// A way to compress a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// Rows, in pages of this many KiB.
    Rows(&'static str),
    /// Pages, by this algorithm.
    Pages(&'static str),
}

impl Compression {
    /// Reads the compression settings of a configuration.
    pub fn from_configuration(configuration: &Configuration) -> Option<Self> {
        let configuration = configuration.get(COMPRESSION)?;
        let method = COMPRESSIONS.iter().find(|method| **method == configuration)?;
        let pages = method.strip_prefix("page-").map(Self::Pages);
        pages.or_else(|| Some(Self::Rows(method.strip_prefix("compressed-")?.strip_suffix('k')?)))
    }

    /// Options of `CREATE TABLE`.
    pub fn options(self) -> String {
        match self {
            Self::Rows(page_kib) => format!(" ROW_FORMAT = COMPRESSED KEY_BLOCK_SIZE = {page_kib}"),
            Self::Pages(_) => " PAGE_COMPRESSED = 1".into(),
        }
    }

    /// Returns whether copies of its files have the same size: holes behind pages are filled by a
    /// copy.
    pub fn can_be_copied(self) -> bool {
        matches!(self, Self::Rows(_))
    }

    /// Returns the missing parts of a private server: since MariaDB 10.7 all algorithms but one are
    /// plugins.
    pub fn missing(self, installation: &Installation) -> Option<String> {
        let Self::Pages(algorithm) = self else { return None };
        let folder = installation.server.parent().unwrap_or(Path::new("/"));
        let plugin = format!("provider_{algorithm}.so");
        (algorithm != BUILT_IN
            && installation.has_provider_plugins()
            && !PLUGINS.iter().any(|place| folder.join(place).join(&plugin).exists()))
        .then(|| lacking(algorithm))
    }

    /// Has the server compress pages by the algorithm, which is a setting of the whole server: on
    /// another's it has to be so already.
    ///
    /// # Errors
    /// When the server lacks it, or its files can have no holes.
    pub fn prepare(self, admin: &Admin, is_private: bool) -> Result<()> {
        let Self::Pages(algorithm) = self else { return Ok(()) };
        let doing = format!("{} = \"page-{algorithm}\"", COMPRESSION.path());
        let failed = |message: String| EngineError::failed(doing.clone(), message);
        if !admin.ask(|client| Ok(client.is_mariadb()))? {
            return Err(failed(
                "MySQL's page compression is not supported; use compressed-16k, compressed-8k or \
                 compressed-4k"
                    .into(),
            ));
        }
        let status = |name: &str| {
            let sql = format!("SHOW GLOBAL STATUS LIKE 'Innodb_have_{name}'");
            let rows = admin.ask(|client| client.query(&sql).map_err(failed_at(&sql)))?;
            Ok::<_, EngineError>(rows.iter().any(|row| row.get(1) == Some("ON")))
        };
        let has = |name: &str| if name == BUILT_IN { Ok(true) } else { status(name) };
        if !has(algorithm)? && is_private {
            // If the server lacks the plugin, the error below says so, and what to do.
            let install = format!("INSTALL SONAME 'provider_{algorithm}'");
            let _ = admin.ask(|client| client.run(&install).map_err(failed_at(&install)));
        }
        if !has(algorithm)? {
            return Err(failed(lacking(algorithm)));
        }
        if !status("punch_hole")? {
            return Err(failed(
                "this file system does not support sparse files (punch hole), so page \
                 compression saves no space"
                    .into(),
            ));
        }
        if is_private {
            admin
                .run(&doing, &format!("SET GLOBAL innodb_compression_algorithm = '{algorithm}'"))?;
        }
        let sql = "SELECT @@GLOBAL.innodb_compression_algorithm";
        let got = admin.ask(|client| client.cell(sql).map_err(failed_at(sql)))?.unwrap_or_default();
        if got != algorithm {
            return Err(EngineError::SettingIgnored {
                setting: "innodb_compression_algorithm".into(),
                expected: algorithm.into(),
                got,
            });
        }
        Ok(())
    }

    /// Sees whether all tables are as they were asked for.
    ///
    /// # Errors
    /// When one is not.
    pub fn verify(self, admin: &Admin) -> Result<()> {
        let is_so = match self {
            Self::Rows(_) => "row_format = 'Compressed'",
            Self::Pages(_) => "create_options LIKE '%PAGE_COMPRESSED%'",
        };
        let sql = format!(
            "SELECT group_concat(table_name) FROM information_schema.tables WHERE table_schema = \
             '{DATABASE}' AND table_name <> '{MARK}' AND engine = 'InnoDB' AND NOT ({is_so})"
        );
        match admin.ask(|client| client.cell(&sql).map_err(failed_at("checking the tables")))? {
            Some(plain) => Err(EngineError::failed(
                "compressing the tables",
                format!("not compressed: {plain}"),
            )),
            None => Ok(()),
        }
    }
}

fn lacking(algorithm: &str) -> String {
    format!(
        "this server was built without {algorithm}; install its plugin (10.7 and later; Debian: \
         mariadb-plugin-provider-{algorithm}), or skip the level with if_installed"
    )
}
