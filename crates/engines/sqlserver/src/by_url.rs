//! Servers that run already, by URL.

#[cfg(feature = "driver")]
use super::live;
use crate::engine::SqlServer;
use engine::{Server, ServerError, Servers};

impl Servers for SqlServer {
    fn url_schemes(&self) -> &'static [&'static str] {
        &["mssql", "sqlserver"]
    }

    fn is_connection_string(&self, text: &str) -> bool {
        let first =
            text.split_once('=').map(|(name, _)| name.replace([' ', '_'], "").to_lowercase());
        let servers = ["server", "datasource", "address", "addr", "networkaddress", "driver"];
        first.is_some_and(|first| servers.contains(&first.as_str()))
    }

    #[cfg(feature = "driver")]
    fn by_url(&self, url: &str) -> Result<Box<dyn Server>, ServerError> {
        Ok(Box::new(live::Config::parse(url).map_err(ServerError::new)?))
    }

    #[cfg(not(feature = "driver"))]
    fn by_url(&self, _: &str) -> Result<Box<dyn Server>, ServerError> {
        Err(ServerError::new(crate::not_built::NOT_BUILT))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connection_strings_are_told_from_those_of_others() {
        let is_ours = |text: &str| SqlServer.is_connection_string(text);
        assert!(
            is_ours("Server=h;Uid=a")
                && is_ours("DRIVER={x};Server=h")
                && is_ours("Data Source=tcp:h")
        );
        for other in
            ["host=db dbname=x", "shop", "", "application_name=a://b", "mssql://a@h?Server=x"]
        {
            assert!(!is_ours(other), "{other}");
        }
    }
}
