//! What a run is to do, as JSON.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;

use crate::authentication::{Binding, RequireAuth};
use crate::record::MOST_SERVERS;
use crate::script::Protocol;
use crate::tls::Encryption;

/// A run.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// One server, or those that take turns.
    pub servers: Vec<Server>,
    /// What clients run.
    pub scripts: Vec<ScriptOption>,
    /// How many clients; each has a connection to every server.
    pub clients: u16,
    /// Threads that serve them: as many as processors, at most one for each client, where not given.
    #[serde(default)]
    pub threads: Option<usize>,
    /// How statements are sent.
    pub protocol: Protocol,
    /// As pgbench's --random-seed.
    pub seed: u64,
    /// Seconds after which no client begins anew.
    #[serde(default)]
    pub duration: Option<f64>,
    /// Pairs after which a client ends.
    #[serde(default)]
    pub pairs: Option<u64>,
    /// How many transactions a client runs on one server before it runs them on the next.
    #[serde(default = "one")]
    pub batch: u16,
    /// All clients are on the same server at any time.
    #[serde(default)]
    pub in_step: bool,
    /// What becomes of connections.
    #[serde(default)]
    pub connections: Connections,
    /// Seconds from the last connection to the first transaction.
    #[serde(default)]
    pub start_delay: f64,
    /// Tries of a transaction that fails to serialize or is in a deadlock.
    #[serde(default = "one")]
    pub max_tries: u16,
    /// Go on after other errors of SQL; without it they end their client, as in pgbench.
    #[serde(default)]
    pub continue_on_error: bool,
    /// As pgbench's --define; `scale` is 1 where it is not given.
    #[serde(default)]
    pub variables: BTreeMap<String, String>,
    /// Where the pairs are written to, as an array of NumPy's.
    #[serde(default)]
    pub output: Option<PathBuf>,
    /// Seconds that a signal leaves to transactions under way, before they are cancelled.
    #[serde(default = "grace")]
    pub grace: f64,
    /// Seconds to wait for a connection.
    #[serde(default = "connect_timeout")]
    pub connect_timeout: f64,
}

fn one() -> u16 {
    1
}

fn grace() -> f64 {
    5.0
}

fn connect_timeout() -> f64 {
    10.0
}

/// What becomes of a client's connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Connections {
    /// They stay.
    #[default]
    Stay,
    /// They stay, and all servers' processes of a client run on one processor, the clients' in turn:
    /// where the system put one elsewhere it would be the faster or the slower for seconds. For
    /// servers of this machine whose processes may be moved.
    Pinned,
    /// Each transaction has one of its own, as with pgbench's --connect.
    Anew,
}

/// A script, and how often it is chosen beside others.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptOption {
    /// What it is called in messages; of a built-in script its name.
    pub name: String,
    /// Its text; none for a built-in script.
    #[serde(default)]
    pub text: Option<String>,
    /// As in pgbench: out of the sum of all weights.
    #[serde(default = "one")]
    pub weight: u16,
    /// Values of its variables.
    #[serde(default)]
    pub rows: Option<Rows>,
}

/// Rows of values, of which each transaction draws one.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rows {
    /// The variables.
    pub names: Vec<String>,
    /// A value for each; none for NULL, where statements have parameters.
    pub rows: Vec<Vec<Option<String>>>,
}

impl Rows {
    fn are_whole(&self) -> bool {
        let width = self.names.len();
        let whole = |row: &Vec<Option<String>>| row.len() == width;
        !self.rows.is_empty() && self.rows.iter().all(whole)
    }
}

/// Where a server is.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// A host name or address, or the folder of a socket.
    pub host: String,
    /// The host's address, where that is not to be looked up.
    #[serde(default)]
    pub address: Option<String>,
    /// The port, which is of the socket's name too.
    pub port: u16,
    /// The role.
    pub user: String,
    /// The database.
    pub database: String,
    /// The role's password.
    #[serde(default)]
    pub password: Option<String>,
    /// Further settings of the session.
    #[serde(default)]
    pub parameters: BTreeMap<String, String>,
    /// The user (by number) who must own the server behind a socket, as libpq's requirepeer.
    #[serde(default)]
    pub peer: Option<u32>,
    /// Which ways of authentication are allowed, as libpq's require_auth.
    #[serde(default)]
    pub require_auth: RequireAuth,
    /// As libpq's channel_binding.
    #[serde(default)]
    pub channel_binding: Binding,
    /// Whether connections are encrypted, and who is trusted.
    #[serde(default)]
    pub encryption: Encryption,
    /// The texts of the scripts where it runs others than those of the run: one for each of these,
    /// in their order.
    #[serde(default)]
    pub texts: Option<Vec<String>>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The password stays out of every message.
        write!(formatter, "{}@{}:{}/{}", self.user, self.host, self.port, self.database)
    }
}

impl Options {
    /// Read them.
    ///
    /// # Errors
    /// With the key that is wrong.
    pub fn read(json: &str) -> Result<Self, String> {
        let options: Self = serde_json::from_str(json).map_err(|error| error.to_string())?;
        options.check()?;
        Ok(options)
    }

    fn check(&self) -> Result<(), String> {
        let wrong = [
            (!(1..=MOST_SERVERS).contains(&self.servers.len()), "servers: 1 to 8"),
            (self.scripts.is_empty() || self.scripts.len() > 128, "scripts: 1 to 128"),
            (self.scripts.iter().all(|script| script.weight == 0), "scripts: no weight"),
            (self.clients == 0, "clients: at least 1"),
            (self.threads == Some(0), "threads: at least 1"),
            (self.batch == 0, "batch: at least 1"),
            (self.max_tries == 0, "max_tries: at least 1"),
            (self.duration.is_none() && self.pairs.is_none(), "duration or pairs is needed"),
            (self.pairs == Some(0), "pairs: at least 1"),
            (!self.seconds().all(|seconds| (0.0..1e9).contains(&seconds)), "seconds: 0 or more"),
            (
                !self.variables.keys().all(|name| crate::names::is_valid(name)),
                "variables: an invalid name",
            ),
            (
                self.servers
                    .iter()
                    .filter_map(|server| server.texts.as_ref())
                    .any(|texts| texts.len() != self.scripts.len()),
                "texts: one for each script",
            ),
            (
                !self.scripts.iter().filter_map(|script| script.rows.as_ref()).all(Rows::are_whole),
                "rows: at least one, each with a value for every name",
            ),
        ];
        match wrong.iter().find(|(found, _)| *found) {
            Some((_, message)) => Err((*message).to_owned()),
            None => Ok(()),
        }
    }

    fn seconds(&self) -> impl Iterator<Item = f64> {
        let given = [self.start_delay, self.grace, self.connect_timeout];
        given.into_iter().chain(self.duration)
    }
}
