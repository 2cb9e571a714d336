//! Routes the sessions of a server to the emulators of their databases, and answers what these do
//! not know.

use crate::backups;
use crate::catalog::{Catalog, Made, cell, error, literals, rows};
use crate::{hints, limits};
use iridium_core::ast::statements::ddl::ColumnSpec;
use iridium_core::ast::{IsolationLevel, ObjectName, Statement};
use iridium_core::error::DbError;
use iridium_core::executor::database::CursorFetchResult;
use iridium_core::executor::journal::Journal;
use iridium_core::types::{DataType, Value};
use iridium_core::{
    Database, ExecutionTrace, ExplainPlan, QueryResult, SessionId, SessionManager, SessionOptions,
    SqlAnalyzer, StatementExecutor,
};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The time that a session waits for the application lock.
const LOCK_TIMEOUT: Duration = Duration::from_secs(20);

/// The time that a session is kept that could not get a lock, so that who has it can end its
/// transaction.
const BACK_OFF: Duration = Duration::from_millis(20);

/// Pages of the model database's first file.
const MODEL_PAGES: i64 = 1024;

/// A checksum of rows, which the emulator lacks.
const CHECKSUM: &str = "CONCAT(CHECKSUM_AGG(BINARY_CHECKSUM(*)), ' ', \
                        SUM(CAST(BINARY_CHECKSUM(*) AS bigint)))";

pub type Answer = Result<Vec<Option<QueryResult>>, DbError>;

/// The server. Maps each of its sessions to a database of the emulator and a session there.
#[derive(Default)]
pub struct Server {
    catalog: Mutex<Catalog>,
    master: Arc<Database>,
    sessions: Mutex<HashMap<SessionId, (Arc<Database>, SessionId)>>,
    next: AtomicU64,
    /// The login lacks VIEW SERVER STATE.
    hides_sessions: bool,
}

/// The variable that has the login lack VIEW SERVER STATE.
const HIDES_SESSIONS: &str = "STAND_IN_HIDES_SESSIONS";

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Server {
    /// Returns a server with these databases.
    pub fn with(databases: impl Iterator<Item = String>) -> Self {
        let hides_sessions = std::env::var_os(HIDES_SESSIONS).is_some();
        let server = Self { hides_sessions, ..Self::default() };
        lock(&server.catalog).databases.extend(databases.map(|name| (name, Made::default())));
        server
    }

    fn look_up(&self, session: SessionId) -> Result<(Arc<Database>, SessionId), DbError> {
        let found = lock(&self.sessions).get(&session).cloned();
        found.ok_or_else(|| error(18_456, "there is no such session".into()))
    }

    /// Answers queries that the emulator does not know; `None`: it may know this one.
    fn catalog_answer(&self, session: SessionId, sql: &str) -> Option<Answer> {
        let mut catalog = lock(&self.catalog);
        let texts = literals(sql);
        let first = texts.first().cloned().unwrap_or_default();
        let has = |part: &str| sql.contains(part);
        if has("HAS_PERMS_BY_NAME") {
            let may = !(self.hides_sessions && has("VIEW SERVER"));
            return Some(Ok(cell("may", Some(u8::from(may).to_string()))));
        }
        if let Some((_, ids)) = sql.split_once("FROM sys.dm_exec_sessions WHERE session_id IN (") {
            let ids = ids.trim_end_matches(')').split(", ").filter_map(|id| id.parse().ok());
            let sessions = lock(&self.sessions);
            // Without the permission one sees one's own session only, without an error.
            let may = |id: SessionId| !self.hides_sessions || id == session;
            let is_seen = |id: &SessionId| sessions.contains_key(id) && may(*id);
            let count = ids.filter(is_seen).count().to_string();
            let columns = ["sessions", "cpu_ms", "page_reads", "logical_reads"];
            return Some(Ok(rows(&columns, vec![vec![Some(count), None, None, None]])));
        }
        if has("@@MAX_CONNECTIONS") {
            return Some(Ok(cell("most", Some("32767".into()))));
        }
        if has("'EngineEdition') AS int) AS engine_edition") && !has("@@VERSION") {
            return Some(Ok(cell("engine_edition", Some("3".into()))));
        }
        if has("sys.master_files WHERE database_id = 3") {
            return Some(Ok(cell("pages", Some(MODEL_PAGES.to_string()))));
        }
        if let Some(name) = bracketed(sql.strip_prefix("CREATE DATABASE ")) {
            if catalog.databases.contains_key(&name) {
                return Some(Err(error(1801, format!("Database '{name}' already exists."))));
            }
            let made = Made::parse(sql);
            // The first file of the database.
            let first = made.files.first().filter(|file| file.0 == 0 && file.3 < MODEL_PAGES);
            if first.is_some() {
                let message = "The primary file must be at least 8 MB to accommodate a copy of \
                               the model database.";
                return Some(Err(error(1803, message.into())));
            }
            catalog.databases.insert(name, made);
            return Some(Ok(Vec::new()));
        }
        if let Some(name) = bracketed(sql.strip_prefix("DROP DATABASE ")) {
            let gone = catalog.databases.remove(&name);
            return Some(
                gone.map(|_| Vec::new())
                    .ok_or_else(|| error(3701, format!("Cannot drop '{name}'."))),
            );
        }
        if let Some((name, clause)) =
            sql.strip_prefix("ALTER DATABASE ").and_then(|rest| rest.split_once(" SET "))
        {
            let made = catalog.databases.get_mut(name.trim_matches(['[', ']']))?;
            let altered = made.alter(clause);
            return Some(
                altered.map(|()| Vec::new()).ok_or_else(|| error(102, format!("near '{clause}'."))),
            );
        }
        if let Some((name, new)) =
            sql.strip_prefix("ALTER DATABASE ").and_then(|rest| rest.split_once(" MODIFY NAME = "))
        {
            let made = catalog.databases.remove(name.trim_matches(['[', ']']))?;
            catalog.databases.insert(new.trim_matches(['[', ']']).to_owned(), made);
            return Some(Ok(Vec::new()));
        }
        if has("DB_ID(") && !has("FROM") {
            let is_there = catalog.databases.contains_key(&first);
            return Some(Ok(cell("id", is_there.then(|| "5".to_owned()))));
        }
        if has("InstanceDefaultDataPath") || has("InstanceDefaultLogPath") {
            return Some(Ok(cell("folder", Some("/var/opt/mssql/data/".into()))));
        }
        if has("sp_configure") {
            let value = sql.split(", ").nth(1)?.split(';').next()?.trim().parse().ok()?;
            let Some(known) = catalog.settings.get_mut(&first) else {
                return Some(Err(error(15_123, first)));
            };
            known.0 = value;
            if has("RECONFIGURE") {
                // It applies what others have changed, too.
                catalog.settings.values_mut().for_each(|setting| setting.1 = setting.0);
            }
            return Some(Ok(Vec::new()));
        }
        if has("FROM sys.configurations") {
            let all = catalog.settings.iter().map(|(name, (configured, in_use))| {
                let [configured, in_use] = [configured, in_use].map(ToString::to_string).map(Some);
                vec![Some(name.clone()), configured, in_use, Some("1".into())]
            });
            let columns = ["name", "configured", "in_use", "is_dynamic"];
            return Some(Ok(rows(&columns, all.collect())));
        }
        backups::answer(&mut catalog, sql).or_else(|| of_database(&mut catalog, sql, &texts))
    }

    /// Takes the application lock, or says that another session has had it all the time.
    fn application_lock(&self, session: SessionId) -> Answer {
        let started = Instant::now();
        loop {
            let mut catalog = lock(&self.catalog);
            if catalog.lock.is_none_or(|holder| holder == session) {
                catalog.lock = Some(session);
                return Ok(cell("got", Some("0".into())));
            }
            drop(catalog);
            if started.elapsed() > LOCK_TIMEOUT {
                return Ok(cell("got", Some("-1".into())));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Answers the driver's query before a bulk load: the columns of a table, and their collations.
    fn columns(&self, session: SessionId, sql: &str) -> Answer {
        let name = literals(sql).into_iter().next().unwrap_or_default();
        let (database, session_state) = self.look_up(session)?;
        // Of no rows, it knows the columns only when they are named, and no types.
        let table = name.trim_matches(['[', ']']);
        let text = format!(
            "SELECT COLUMN_NAME, DATA_TYPE, CHARACTER_MAXIMUM_LENGTH FROM \
             INFORMATION_SCHEMA.COLUMNS WHERE TABLE_NAME = '{table}'"
        );
        let answers = database.execute_session_batch_sql_multi(session_state, &text)?;
        let columns: Vec<_> = answers.iter().flatten().flat_map(|answer| &answer.rows).collect();
        let names: Vec<String> =
            columns.iter().map(|row| format!("[{}]", shown(&row[0]))).collect();
        let sql =
            format!("SELECT @@TRANCOUNT AS n; SELECT {} FROM {name} WHERE 1 = 0", names.join(", "));
        let mut answer = database.execute_session_batch_sql_multi(session_state, &sql)?;
        if let Some(described) = answer.get_mut(1).and_then(Option::as_mut) {
            described.column_types =
                columns.iter().map(|row| data_type(&shown(&row[1]), &row[2])).collect();
        }
        let collated =
            answer.get(1).and_then(Option::as_ref).map(|columns| columns.columns.clone());
        let collated = collated.unwrap_or_default().into_iter().enumerate();
        let row = |(at, name): (usize, String)| {
            let number = Some((at + 1).to_string());
            let tds = Some("0904d00034".to_owned());
            vec![number, Some(name), tds, Some("SQL_Latin1_General_CP1_CI_AS".into())]
        };
        answer.extend(rows(
            &["colid", "name", "tds_collation", "collation"],
            collated.map(row).collect(),
        ));
        Ok(answer)
    }
}

/// Statements about one database.
fn of_database(catalog: &mut Catalog, sql: &str, texts: &[String]) -> Option<Answer> {
    let has = |part: &str| sql.contains(part);
    if has("[steelbench_not_marked_yet].sys.tables") {
        return Some(Ok(cell("tables", Some("0".into()))));
    }
    let name = if has("[steelbench_not_marked_yet]") {
        "steelbench_not_marked_yet"
    } else if [
        "[steelbench]",
        "N'steelbench'",
        "sys.database_files",
        "sys.database_recovery_status",
    ]
    .into_iter()
    .any(has)
    {
        "steelbench"
    } else {
        return None;
    };
    let made = catalog.databases.get_mut(name)?;
    if has("sp_addextendedproperty") {
        let [property, value] = [texts.first()?.clone(), texts.get(1)?.clone()];
        made.properties.insert(property, value);
        return Some(Ok(Vec::new()));
    }
    if has("BACKUP DATABASE ") {
        made.options.insert("has_begun", "1".into());
        return Some(Ok(Vec::new()));
    }
    if has("sys.database_recovery_status") {
        return Some(Ok(cell("has_begun", made.options.get("has_begun").cloned())));
    }
    if has("sys.extended_properties") {
        let all = made
            .properties
            .iter()
            .map(|(name, value)| vec![Some(name.clone()), Some(value.clone())]);
        return Some(Ok(rows(&["name", "value"], all.collect())));
    }
    if has("FROM sys.databases WHERE name") {
        let value =
            made.options.iter().find(|(column, _)| has(column)).map(|(_, value)| value.clone());
        return Some(Ok(cell("value", value)));
    }
    if has("FROM sys.database_files") {
        let all = made.files.iter().map(|(kind, name, path, pages, growth)| {
            let [kind, pages, growth] =
                [kind, pages, growth].map(|number| Some(number.to_string()));
            vec![kind, Some(name.clone()), Some(path.clone()), pages, growth, Some("0".into())]
        });
        let columns = ["kind", "name", "path", "pages", "growth_pages", "is_percent"];
        return Some(Ok(rows(&columns, all.collect())));
    }
    None
}

/// A statement without what the emulator does not know and no result here depends on: hints, caches
/// of sequences, a name of an aggregate, collations, digits of seconds. To it all values of
/// `uniqueidentifier` are equal: they can be no key. Two sessions that read what is not committed
/// wait for each other for ever: each locks itself, and then all others.
fn known(sql: &str) -> String {
    let sql = &sql.replace("READ UNCOMMITTED", "READ COMMITTED");
    let known = sql
        .replace(" OPTION (LOOP JOIN, FORCE ORDER, MAXDOP 1)", "")
        .replace(" CACHE 1000", "")
        .replace("count_big(*)", "count(*)")
        .replace("datetime2(3)", "datetime2")
        .replace(" COLLATE SQL_Latin1_General_CP1_CI_AS", "")
        .replace(CHECKSUM, "'not computed'");
    match known.split_once(", CONSTRAINT [pk_") {
        Some((table, _)) if table.contains("] uniqueidentifier") => format!("{table})"),
        _ => known,
    }
}

/// A text; empty where the value is none.
fn shown(value: &Value) -> String {
    match value {
        Value::VarChar(text) | Value::NVarChar(text) | Value::Char(text) | Value::NChar(text) => {
            text.clone()
        }
        _ => String::new(),
    }
}

/// The type of a column.
fn data_type(name: &str, length: &Value) -> DataType {
    let length = match length {
        Value::Int(length) => *length as u16,
        Value::BigInt(length) => *length as u16,
        Value::SmallInt(length) => *length as u16,
        _ => 4000,
    };
    match name.to_lowercase().as_str() {
        "int" => DataType::Int,
        "bigint" => DataType::BigInt,
        "uniqueidentifier" => DataType::UniqueIdentifier,
        "date" => DataType::Date,
        "datetime2" => DataType::DateTime2,
        "decimal" => DataType::Decimal { precision: 15, scale: 2 },
        "char" => DataType::Char { len: length },
        _ => DataType::VarChar { max_len: length },
    }
}

fn bracketed(text: Option<&str>) -> Option<String> {
    Some(text?.strip_prefix('[')?.split(']').next()?.to_owned())
}

impl SessionManager for Server {
    fn create_session(&self) -> SessionId {
        let session = 51 + self.next.fetch_add(1, Ordering::Relaxed);
        let create_session = self.master.create_session();
        lock(&self.sessions).insert(session, (Arc::clone(&self.master), create_session));
        session
    }

    /// Sessions are not used again.
    fn reset_session(&self, _: SessionId) -> Result<(), DbError> {
        Err(error(0, "closed".into()))
    }

    fn close_session(&self, session: SessionId) -> Result<(), DbError> {
        let (database, session_state) = self.look_up(session)?;
        lock(&self.sessions).remove(&session);
        let mut catalog = lock(&self.catalog);
        catalog.lock = catalog.lock.filter(|holder| *holder != session);
        drop(catalog);
        database.close_session(session_state)
    }

    fn set_session_journal(
        &self,
        session: SessionId,
        journal: Box<dyn Journal>,
    ) -> Result<(), DbError> {
        let (database, session_state) = self.look_up(session)?;
        database.set_session_journal(session_state, journal)
    }
}

impl StatementExecutor for Server {
    fn execute_session(
        &self,
        session: SessionId,
        statement: Statement,
    ) -> Result<Option<QueryResult>, DbError> {
        let (database, session_state) = self.look_up(session)?;
        database.execute_session(session_state, statement)
    }

    fn execute_session_batch(
        &self,
        session: SessionId,
        statements: Vec<Statement>,
    ) -> Result<Option<QueryResult>, DbError> {
        let (database, session_state) = self.look_up(session)?;
        database.execute_session_batch(session_state, statements)
    }

    fn execute_session_batch_sql(
        &self,
        session: SessionId,
        sql: &str,
    ) -> Result<Option<QueryResult>, DbError> {
        let (database, session_state) = self.look_up(session)?;
        database.execute_session_batch_sql(session_state, sql)
    }

    fn execute_session_batch_sql_multi(&self, session: SessionId, sql: &str) -> Answer {
        if let Some(limit) = limits::exceeded(sql) {
            return Err(error(1701, format!("beyond a documented limit: {limit}")));
        }
        if sql.contains("SET FMTONLY ON") {
            return self.columns(session, sql);
        }
        if sql.contains("sp_getapplock") {
            // Lets the runtime serve other connections while this thread waits for the lock.
            return tokio::task::block_in_place(|| self.application_lock(session));
        }
        if let Some(answer) = self.catalog_answer(session, sql.trim()) {
            return answer;
        }
        // Like Babelfish, accepts the request for plans without sending any.
        if ["CHECKPOINT", "SET SHOWPLAN_XML ON"].contains(&sql.trim()) {
            return Ok(Vec::new());
        }
        let (database, session_state) = self.look_up(session)?;
        // It takes this at the outermost level only.
        let rollback = sql.strip_prefix("IF @@TRANCOUNT > 0 ");
        if rollback.is_some() && !database.transaction_is_active(session_state)? {
            return Ok(Vec::new());
        }
        let known = hints::without(&known(rollback.unwrap_or(sql)))?;
        let answer = database.execute_session_batch_sql_multi(session_state, &known);
        match answer {
            // The emulator does not wait for locks: report a conflict as a deadlock.
            Err(refused) if refused.to_string().contains("lock conflict") => {
                if database.transaction_is_active(session_state)? {
                    database.execute_session_batch_sql(session_state, "ROLLBACK TRANSACTION")?;
                }
                std::thread::sleep(BACK_OFF);
                Err(error(
                    1205,
                    format!("Transaction was deadlocked ({refused}). Rerun the transaction."),
                ))
            }
            answer => answer,
        }
    }

    fn set_session_metadata(
        &self,
        session: SessionId,
        user: Option<String>,
        application: Option<String>,
        host: Option<String>,
        database: Option<String>,
    ) -> Result<(), DbError> {
        if let Some(name) = &database {
            self.set_session_database(session, name.clone())?;
        }
        let (own_database, session_state) = self.look_up(session)?;
        own_database.set_session_metadata(session_state, user, application, host, database)
    }

    fn set_session_database(&self, session: SessionId, database: String) -> Result<(), DbError> {
        let made =
            lock(&self.catalog).databases.get(&database).map(|made| Arc::clone(&made.tables));
        if let Some(tables) = made {
            let create_session = tables.create_session();
            lock(&self.sessions).insert(session, (tables, create_session));
        }
        let (own_database, session_state) = self.look_up(session)?;
        own_database.set_session_database(session_state, database)
    }

    fn cursor_rpc_open(
        &self,
        session: SessionId,
        sql: &str,
        option: i32,
    ) -> Result<(i32, QueryResult), DbError> {
        let (database, session_state) = self.look_up(session)?;
        database.cursor_rpc_open(session_state, sql, option)
    }

    fn cursor_rpc_fetch(
        &self,
        session: SessionId,
        handle: i32,
        fetch_type: i32,
        row: i32,
        rows: i32,
    ) -> Result<CursorFetchResult, DbError> {
        let (database, session_state) = self.look_up(session)?;
        database.cursor_rpc_fetch(session_state, handle, fetch_type, row, rows)
    }

    fn cursor_rpc_close(&self, session: SessionId, handle: i32) -> Result<(), DbError> {
        let (database, session_state) = self.look_up(session)?;
        database.cursor_rpc_close(session_state, handle)
    }

    fn cursor_rpc_deallocate(&self, session: SessionId, handle: i32) -> Result<(), DbError> {
        let (database, session_state) = self.look_up(session)?;
        database.cursor_rpc_deallocate(session_state, handle)
    }

    fn set_bulk_load_active(
        &self,
        session: SessionId,
        active: bool,
        table: ObjectName,
        columns: Vec<ColumnSpec>,
        received: bool,
    ) -> Result<(), DbError> {
        let (database, session_state) = self.look_up(session)?;
        database.set_bulk_load_active(session_state, active, table, columns, received)
    }

    fn get_bulk_load_state(
        &self,
        session: SessionId,
    ) -> (bool, Option<ObjectName>, Option<Vec<ColumnSpec>>, bool) {
        match self.look_up(session) {
            Ok((database, session_state)) => database.get_bulk_load_state(session_state),
            Err(_) => (false, None, None, false),
        }
    }
}

impl SqlAnalyzer for Server {
    fn explain_sql(&self, sql: &str) -> Result<ExplainPlan, DbError> {
        self.master.explain_sql(sql)
    }

    fn trace_execute_session_sql(
        &self,
        session: SessionId,
        sql: &str,
    ) -> Result<ExecutionTrace, DbError> {
        let (database, session_state) = self.look_up(session)?;
        database.trace_execute_session_sql(session_state, sql)
    }

    fn session_isolation_level(&self, session: SessionId) -> Result<IsolationLevel, DbError> {
        let (database, session_state) = self.look_up(session)?;
        database.session_isolation_level(session_state)
    }

    fn transaction_is_active(&self, session: SessionId) -> Result<bool, DbError> {
        let (database, session_state) = self.look_up(session)?;
        database.transaction_is_active(session_state)
    }

    fn session_options(&self, session: SessionId) -> Result<SessionOptions, DbError> {
        let (database, session_state) = self.look_up(session)?;
        database.session_options(session_state)
    }
}
