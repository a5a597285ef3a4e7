//! A run from its options to its result.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::thread::{CpuSet, Pid, sched_getaffinity, sched_setaffinity};
use serde::Serialize;

use crate::client::{Client, Streams, Weights};
use crate::connection::Connection;
use crate::options::{Connections, Options, ScriptOption, Server};
use crate::random::Random;
use crate::record::{self, Records};
use crate::script::{Protocol, Scripts, built_in};
use crate::session::{Session, Setting};
use crate::value::{Value, Variable};
use crate::worker::{InStep, Shared, Work, Worker};

/// How often to look at the signals.
const LOOK: Duration = Duration::from_millis(100);

/// What is said while a run goes on.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum Event {
    /// Every client is connected.
    Connected {
        /// For each client the servers' processes.
        processes: Vec<Vec<i32>>,
        /// Seconds that it took.
        seconds: f64,
    },
    /// The load begins.
    Started {
        /// Nanoseconds since 1970: the zero of the records' times.
        unix_ns: u64,
    },
    /// The load has ended.
    Ended(Summary),
}

/// What a run gave.
#[derive(Debug, Clone, Serialize)]
pub struct Summary {
    /// Why it ended: "duration", "pairs", "signal" or "aborted".
    pub reason: &'static str,
    /// Pairs (with one server, transactions).
    pub pairs: u64,
    /// Seconds from the start to the end of the last pair.
    pub seconds: f64,
    /// By server.
    pub servers: Vec<OfServer>,
    /// Clients that could not go on.
    pub aborted: Vec<OfAborted>,
    /// Seconds that threads waited for the disk.
    pub disk_seconds: f64,
}

/// What a run gave on a server.
#[derive(Debug, Clone, Serialize)]
pub struct OfServer {
    /// Transactions that did not fail.
    pub transactions: u64,
    /// Seconds that they took, summed over clients.
    pub busy_seconds: f64,
    /// Tries beyond the first.
    pub retries: u64,
    /// Failed transactions by SQLSTATE.
    pub failures: BTreeMap<String, u64>,
}

/// Why a client could not go on.
#[derive(Debug, Clone, Serialize)]
pub struct OfAborted {
    /// Which client.
    pub client: u16,
    /// On which server.
    pub server: usize,
    /// The server's SQLSTATE, where it was the server.
    pub sqlstate: Option<String>,
    /// What happened.
    pub message: String,
}

/// Flags that signals set.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// A flag that SIGTERM, SIGINT and SIGHUP set.
    ///
    /// # Errors
    /// Where the system takes no handler.
    pub fn on_signals() -> std::io::Result<Self> {
        let stop = Self::default();
        for signal in
            [signal_hook::consts::SIGTERM, signal_hook::consts::SIGINT, signal_hook::consts::SIGHUP]
        {
            signal_hook::flag::register(signal, Arc::clone(&stop.0))?;
        }
        Ok(stop)
    }

    fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Run.
///
/// # Errors
/// Where a script is refused, a server not reached, or the result not written.
pub fn run(options: &Options, stop: &Stop, mut say: impl FnMut(&Event)) -> Result<(), String> {
    let scripts = scripts(options)?;
    let mut seeds = Seeds::new(options);
    let setting = Setting {
        scripts,
        protocol: options.protocol,
        max_tries: options.max_tries,
        continue_on_error: options.continue_on_error,
        reconnect: (options.connections == Connections::Anew)
            .then(|| Duration::from_secs_f64(options.connect_timeout)),
    };
    let began = Instant::now();
    let groups = connect(options, &setting, &mut seeds)?;
    say(&Event::Connected {
        processes: groups
            .iter()
            .flatten()
            .map(|client| {
                client.sessions.iter().map(|session| session.connection.process).collect()
            })
            .collect(),
        seconds: began.elapsed().as_secs_f64(),
    });
    wait(Duration::from_secs_f64(options.start_delay), stop);
    let shared = Shared {
        setting,
        weights: Weights::new(
            options.scripts.iter().map(|script| u64::from(script.weight)).collect(),
        ),
        batch: options.batch,
        duration: options.duration.map(Duration::from_secs_f64),
        time_was_up: AtomicBool::new(false),
        stop: Arc::new(AtomicBool::new(stop.is_set())),
        abandon: AtomicBool::new(false),
        alive: AtomicUsize::new(usize::from(options.clients)),
        in_step: options.in_step.then(|| InStep {
            barrier: Barrier::new(groups.len()),
            order: seeds.base.child(),
            batches: options.pairs.map_or(u64::MAX, |pairs| pairs.div_ceil(options.batch.into())),
            over: AtomicBool::new(false),
        }),
    };
    let work = load(options, &shared, groups, stop, &mut say)?;
    say(&Event::Ended(summary(options, &shared, stop, &work)));
    Ok(())
}

/// The scripts of the run, and behind them those of servers that run others.
fn scripts(options: &Options) -> Result<Scripts, String> {
    let mut scripts = Scripts::default();
    for script in &options.scripts {
        let text = match &script.text {
            Some(text) => text.as_str(),
            None => built_in(&script.name)
                .ok_or_else(|| format!("no built-in script {:?}", script.name))?,
        };
        add(&mut scripts, script, text, options.protocol)?;
    }
    for texts in options.servers.iter().filter_map(|server| server.texts.as_ref()) {
        for (script, text) in options.scripts.iter().zip(texts) {
            add(&mut scripts, script, text, options.protocol)?;
        }
    }
    Ok(scripts)
}

fn add(
    scripts: &mut Scripts,
    script: &ScriptOption,
    text: &str,
    protocol: Protocol,
) -> Result<(), String> {
    scripts.add(&script.name, text, protocol).map_err(|refused| refused.to_string())?;
    if let Some(rows) = &script.rows {
        scripts.draw_from(rows);
    }
    Ok(())
}

/// For each server the place of its first script among all.
fn first_scripts(options: &Options) -> Vec<usize> {
    let mut next = options.scripts.len();
    let place = |server: &Server| match &server.texts {
        None => 0,
        Some(texts) => {
            next += texts.len();
            next - texts.len()
        }
    };
    options.servers.iter().map(place).collect()
}

/// Seeds drawn in pgbench's order: the clients' parameters, the seed of hash functions, and for each
/// thread the choice of scripts, throttling and sampling. Each client is a thread here, so that what
/// it runs does not depend on when others end.
#[derive(Debug)]
struct Seeds {
    parameters: Vec<Random>,
    default_seed: Option<u64>,
    choice: Vec<Random>,
    base: Random,
}

impl Seeds {
    fn new(options: &Options) -> Self {
        let mut base = Random::new(options.seed);
        let parameters = (0..options.clients).map(|_| base.child()).collect();
        let given = options.variables.contains_key("default_seed");
        let default_seed = (!given).then(|| base.bits());
        let choice = (0..options.clients)
            .map(|_| {
                let choice = base.child();
                base.bits();
                base.bits();
                choice
            })
            .collect();
        Self { parameters, default_seed, choice, base }
    }

    fn streams(&mut self, client: u16) -> Streams {
        let place = usize::from(client);
        Streams {
            parameters: self.parameters[place],
            choice: self.choice[place],
            order: self.base.child(),
        }
    }
}

fn variables(options: &Options, setting: &Setting, seeds: &Seeds, client: u16) -> Vec<Variable> {
    let names = &setting.scripts.names;
    let mut variables = vec![Variable::Unset; names.len()];
    let own = [
        ("scale", Some(1)),
        ("client_id", Some(i64::from(client))),
        ("default_seed", seeds.default_seed.map(|seed| seed as i64)),
        ("random_seed", Some(options.seed as i64)),
    ];
    for (name, value) in own {
        if let (Some(slot), Some(value)) = (names.known(name), value) {
            variables[slot] = Variable::Value(Value::Integer(value));
        }
    }
    for (name, text) in &options.variables {
        if let Some(slot) = names.known(name) {
            variables[slot] = Variable::Text(text.clone());
        }
    }
    variables
}

/// The clients, connected, by thread.
fn connect(
    options: &Options,
    setting: &Setting,
    seeds: &mut Seeds,
) -> Result<Vec<Vec<Client>>, String> {
    let timeout = Duration::from_secs_f64(options.connect_timeout);
    let processors = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let threads = options.threads.unwrap_or(processors).min(options.clients.into());
    let left = options.pairs.unwrap_or(u64::MAX);
    let firsts = first_scripts(options);
    let mut groups: Vec<Vec<_>> = Vec::new();
    let mut numbers = 0..options.clients;
    for thread in 0..threads {
        // As pgbench deals them.
        let share = numbers.len().div_ceil(threads - thread);
        groups.push(
            numbers
                .by_ref()
                .take(share)
                .map(|client| {
                    let streams = seeds.streams(client);
                    (client, streams, variables(options, setting, seeds, client))
                })
                .collect(),
        );
    }
    let open = |(number, streams, variables): (u16, Streams, Vec<Variable>)| {
        let session = |(server, first): (&Server, &usize)| {
            Connection::open(server, timeout)
                .map(|connection| Session::new(connection, variables.clone(), setting, *first))
        };
        let sessions =
            options.servers.iter().zip(&firsts).map(session).collect::<Result<Vec<_>, _>>()?;
        if options.connections == Connections::Pinned {
            for session in &sessions {
                pin(session.connection.process, usize::from(number))?;
            }
        }
        Ok(Client::new(number, sessions, streams, left))
    };
    thread::scope(|scope| {
        let opened: Vec<_> = groups
            .into_iter()
            .map(|group| scope.spawn(move || group.into_iter().map(open).collect()))
            .collect();
        opened.into_iter().map(|thread| thread.join().unwrap_or_else(panicked)).collect()
    })
}

/// Have a process run on one of our processors only, the clients in turn.
fn pin(process: i32, client: usize) -> Result<(), String> {
    let failed = |error| format!("a server's process cannot be pinned: {error}");
    let ours = sched_getaffinity(None).map_err(failed)?;
    let processors: Vec<_> = (0..CpuSet::MAX_CPU).filter(|one| ours.is_set(*one)).collect();
    let mut only = CpuSet::new();
    only.set(processors[client % processors.len()]);
    let pid = Pid::from_raw(process).ok_or("the server has not told its process")?;
    sched_setaffinity(Some(pid), &only).map_err(failed)
}

fn panicked<T>(_: Box<dyn std::any::Any + Send>) -> Result<T, String> {
    Err("a thread of the generator broke down".to_owned())
}

fn wait(length: Duration, stop: &Stop) {
    let until = Instant::now() + length;
    while !stop.is_set() {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        thread::sleep(left.min(LOOK));
    }
}

fn load(
    options: &Options,
    shared: &Shared,
    groups: Vec<Vec<Client>>,
    stop: &Stop,
    say: &mut impl FnMut(&Event),
) -> Result<Vec<Work>, String> {
    let (blocks, taken) = record::channel();
    let servers = options.servers.len();
    let blocks = options.output.is_some().then_some(blocks);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let epoch = Instant::now();
    say(&Event::Started { unix_ns: now.as_nanos() as u64 });
    thread::scope(|scope| {
        let writer = options
            .output
            .as_deref()
            .map(|path| scope.spawn(move || record::write(path, servers, &taken)));
        let (done, finished) = channel();
        let workers: Vec<_> = groups
            .into_iter()
            .map(|clients| {
                let (done, records) = (done.clone(), Records::new(servers, blocks.clone()));
                scope.spawn(move || {
                    let work = Worker::new(shared, clients, records, epoch).and_then(Worker::run);
                    // The one who waits has gone only where all is over.
                    let _ = done.send(());
                    work
                })
            })
            .collect();
        drop((blocks, done));
        let grace = Duration::from_secs_f64(options.grace);
        watch(shared, stop, grace, || {
            finished.recv_timeout(LOOK) != Err(RecvTimeoutError::Disconnected)
        });
        let work = workers
            .into_iter()
            .map(|worker| match worker.join() {
                Ok(work) => work.map_err(|error| error.to_string()),
                Err(panic) => panicked(panic),
            })
            .collect::<Result<_, _>>();
        if let (Some(writer), Some(path)) = (writer, &options.output) {
            let written = match writer.join() {
                Ok(written) => written.map(|_| ()).map_err(|error| error.to_string()),
                Err(panic) => panicked(panic),
            };
            written.map_err(|error| format!("{}: {error}", path.display()))?;
        }
        work
    })
}

/// Hand signals on while threads work: first the end of what is under way is waited for.
fn watch(shared: &Shared, stop: &Stop, grace: Duration, works: impl Fn() -> bool) {
    let parent = std::os::unix::process::parent_id();
    let mut stopped = None;
    while works() {
        // Whoever started this process and has gone will not stop it any more.
        if stop.is_set() || std::os::unix::process::parent_id() != parent {
            shared.stop.store(true, Ordering::Relaxed);
            if stopped.get_or_insert_with(Instant::now).elapsed() >= grace {
                shared.abandon.store(true, Ordering::Relaxed);
            }
        }
    }
}

fn summary(options: &Options, shared: &Shared, stop: &Stop, work: &[Work]) -> Summary {
    let text = |state: &[u8; 5]| String::from_utf8_lossy(state).into_owned();
    let aborted: Vec<_> = work
        .iter()
        .flat_map(|work| &work.aborted)
        .map(|aborted| OfAborted {
            client: aborted.client,
            server: aborted.server,
            sqlstate: aborted.broken.state.as_ref().map(text),
            message: aborted.broken.message.clone(),
        })
        .collect();
    let servers = (0..options.servers.len())
        .map(|server| {
            let mut of = OfServer {
                transactions: 0,
                busy_seconds: 0.0,
                retries: 0,
                failures: BTreeMap::new(),
            };
            for counts in work.iter().map(|work| &work.counts[server]) {
                of.transactions += counts.transactions;
                of.busy_seconds += counts.busy as f64 / 1e9;
                of.retries += counts.retries;
                for (state, count) in &counts.failures {
                    *of.failures.entry(text(state)).or_default() += count;
                }
            }
            of
        })
        .collect();
    let ended = work.iter().map(|work| work.ended).max().unwrap_or_default();
    let reason = if aborted.len() == usize::from(options.clients) {
        "aborted"
    } else if stop.is_set() {
        "signal"
    } else if shared.time_was_up.load(Ordering::Relaxed) {
        "duration"
    } else {
        "pairs"
    };
    Summary {
        reason,
        pairs: work.iter().map(|work| work.pairs).sum(),
        seconds: ended.as_secs_f64(),
        servers,
        aborted,
        disk_seconds: work.iter().map(|work| work.blocked.as_secs_f64()).sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_ends_by_its_time_though_its_last_pair_ended_before() {
        let options = Options::read(
            r#"{"servers": [{"host": "/", "port": 1, "user": "u", "database": "d"}],
                "scripts": [{"name": "select-only"}], "protocol": "simple", "clients": 1,
                "seed": 1, "duration": 1.0, "pairs": 9}"#,
        )
        .unwrap();
        let reason = |time_was_up, ended| {
            let shared = Shared {
                setting: Setting {
                    scripts: Scripts::default(),
                    protocol: options.protocol,
                    max_tries: 1,
                    continue_on_error: false,
                    reconnect: None,
                },
                weights: Weights::new(vec![1]),
                batch: 1,
                duration: Some(Duration::from_secs(1)),
                time_was_up: AtomicBool::new(time_was_up),
                stop: Arc::default(),
                abandon: AtomicBool::new(false),
                alive: AtomicUsize::new(1),
                in_step: None,
            };
            let work = Work { ended: Duration::from_millis(ended), ..Work::default() };
            summary(&options, &shared, &Stop::default(), &[work]).reason
        };
        assert_eq!(reason(true, 999), "duration");
        assert_eq!(reason(false, 999), "pairs");
        assert_eq!(reason(false, 1001), "pairs", "its last pair was the last that was asked for");
    }
}
