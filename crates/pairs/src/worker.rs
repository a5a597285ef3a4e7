//! A thread that serves some clients: it waits for all their sockets at once.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};

use crate::client::{Aborted, Client, Progress, Turns, Weights};
use crate::random::Random;
use crate::record::{MOST_SERVERS, Records};
use crate::session::Setting;

/// How often to look whether to stop, while nothing happens.
const LOOK: Duration = Duration::from_millis(100);
/// How long a request to cancel may take.
const CANCEL: Duration = Duration::from_secs(1);

/// What the threads of a run share.
#[derive(Debug)]
pub struct Shared {
    /// What sessions know.
    pub setting: Setting,
    /// The choice between scripts.
    pub weights: Weights,
    /// Transactions on one server before the next.
    pub batch: u16,
    /// How long clients begin anew.
    pub duration: Option<Duration>,
    /// A client would have begun anew, had its time not been up.
    pub time_was_up: AtomicBool,
    /// No client begins anew.
    pub stop: std::sync::Arc<AtomicBool>,
    /// Give up what is under way.
    pub abandon: AtomicBool,
    /// Clients that have not been aborted.
    pub alive: AtomicUsize,
    /// Where all clients are on the same server at any time.
    pub in_step: Option<InStep>,
}

/// What threads need to be in step.
#[derive(Debug)]
pub struct InStep {
    /// Of all threads.
    pub barrier: Barrier,
    /// The order of servers, of which each thread has a copy.
    pub order: Random,
    /// How many batches a client may run.
    pub batches: u64,
    /// No batch begins any more; set between two barriers, so that all threads see the same.
    pub over: AtomicBool,
}

impl Shared {
    /// Whether no client begins anew. That it is the time that ends a run is kept here, where it is
    /// decided: the last pair may have ended a moment before, and does not tell.
    fn over(&self, epoch: Instant) -> bool {
        if self.stop.load(Ordering::Relaxed) || self.alive.load(Ordering::Relaxed) == 0 {
            return true;
        }
        let is_up = self.duration.is_some_and(|duration| epoch.elapsed() >= duration);
        if is_up {
            self.time_was_up.store(true, Ordering::Relaxed);
        }
        is_up
    }
}

/// Counts of a server.
#[derive(Debug, Default, Clone)]
pub struct Counts {
    /// Transactions that did not fail.
    pub transactions: u64,
    /// Nanoseconds that they took.
    pub busy: u64,
    /// Tries beyond the first.
    pub retries: u64,
    /// Failed transactions by SQLSTATE.
    pub failures: BTreeMap<[u8; 5], u64>,
}

/// What a thread did.
#[derive(Debug, Default)]
pub struct Work {
    /// Pairs.
    pub pairs: u64,
    /// By server.
    pub counts: [Counts; MOST_SERVERS],
    /// Clients that could not go on.
    pub aborted: Vec<Aborted>,
    /// When its last pair ended, from the start.
    pub ended: Duration,
    /// How long the disk was waited for.
    pub blocked: Duration,
}

/// A thread's clients.
#[derive(Debug)]
pub struct Worker<'a> {
    shared: &'a Shared,
    epoch: Instant,
    poll: OwnedFd,
    clients: Vec<Client>,
    /// Whether a client runs; the others have ended or are parked.
    runs: Vec<bool>,
    /// Those that can go on at once.
    ready: VecDeque<usize>,
    sleeping: Vec<(Instant, usize)>,
    /// Sockets that did not take all that is to be sent.
    full: Vec<(usize, usize)>,
    records: Records,
    work: Work,
}

impl<'a> Worker<'a> {
    /// A thread that has not begun.
    ///
    /// # Errors
    /// Where the system has no means to wait for the sockets.
    pub fn new(
        shared: &'a Shared,
        clients: Vec<Client>,
        records: Records,
        epoch: Instant,
    ) -> io::Result<Self> {
        let runs = vec![false; clients.len()];
        let mut worker = Self {
            shared,
            epoch,
            poll: epoll::create(CreateFlags::CLOEXEC)?,
            runs,
            clients,
            ready: VecDeque::new(),
            sleeping: Vec::new(),
            full: Vec::new(),
            records,
            work: Work::default(),
        };
        for place in 0..worker.clients.len() {
            for server in 0..worker.clients[place].sessions.len() {
                worker.add(place, server)?;
            }
        }
        Ok(worker)
    }

    /// Wait for the socket of a session from now on, where it is new; the one before is closed, and
    /// the system has forgotten it.
    fn add(&mut self, place: usize, server: usize) -> io::Result<()> {
        let session = &mut self.clients[place].sessions[server];
        if std::mem::take(&mut session.is_unwatched) {
            self.full.retain(|own| *own != (place, server));
            let data = EventData::new_u64((place * MOST_SERVERS + server) as u64);
            epoll::add(&self.poll, &session.connection, data, EventFlags::IN)?;
        }
        Ok(())
    }

    /// Run the clients to their end.
    ///
    /// # Errors
    /// Where waiting for the sockets fails.
    pub fn run(mut self) -> io::Result<Work> {
        if let Some(in_step) = &self.shared.in_step {
            self.run_in_step(in_step)?;
        } else {
            for place in 0..self.clients.len() {
                if self.begin_anywhere(place) {
                    self.go(place);
                }
            }
            self.serve()?;
        }
        if self.shared.abandon.load(Ordering::Relaxed) {
            self.cancel();
        }
        for client in &mut self.clients {
            for session in &mut client.sessions {
                session.connection.close();
            }
        }
        self.records.flush();
        self.work.blocked = self.records.blocked;
        Ok(self.work)
    }

    /// All clients of all threads on one server, then on the next.
    fn run_in_step(&mut self, in_step: &InStep) -> io::Result<()> {
        let mut order = in_step.order;
        let mut result = Ok(());
        let servers = self.clients.first().map_or(1, |client| client.sessions.len());
        for _ in 0..in_step.batches {
            // One thread looks at the clock for all, so that all take as many steps.
            if in_step.barrier.wait().is_leader() {
                in_step.over.store(self.shared.over(self.epoch), Ordering::Relaxed);
            }
            in_step.barrier.wait();
            if in_step.over.load(Ordering::Relaxed) {
                break;
            }
            let turns = Turns::draw(servers, &mut order);
            for visited in 0..servers {
                for place in 0..self.clients.len() {
                    if !self.lives(place) || self.shared.abandon.load(Ordering::Relaxed) {
                        continue;
                    }
                    match visited {
                        0 => self.clients[place].begin(
                            self.shared.batch,
                            turns,
                            &self.shared.weights,
                        ),
                        _ => self.clients[place].begin_on_server(),
                    }
                    self.go(place);
                }
                result = result.and(self.serve());
                in_step.barrier.wait();
            }
        }
        result
    }

    /// Whether a client has not been aborted.
    fn lives(&self, place: usize) -> bool {
        let number = self.clients[place].number;
        !self.work.aborted.iter().any(|aborted| aborted.client == number)
    }

    /// Begin a batch on a random server, if there is to be one more.
    fn begin_anywhere(&mut self, place: usize) -> bool {
        let client = &mut self.clients[place];
        let begins = client.left > 0 && !self.shared.over(self.epoch);
        if begins {
            let turns = Turns::draw(client.sessions.len(), &mut client.order);
            client.begin(self.shared.batch, turns, &self.shared.weights);
        }
        self.runs[place] = begins;
        begins
    }

    fn go(&mut self, place: usize) {
        self.runs[place] = true;
        self.ready.push_back(place);
    }

    /// Serve until no client runs.
    fn serve(&mut self) -> io::Result<()> {
        let mut events = Vec::with_capacity(256);
        loop {
            for _ in 0..self.ready.len() {
                if let Some(place) = self.ready.pop_front() {
                    self.advance(place)?;
                }
            }
            if !self.runs.contains(&true) || self.shared.abandon.load(Ordering::Relaxed) {
                return Ok(());
            }
            events.clear();
            let timeout = self.timeout();
            match epoll::wait(
                &self.poll,
                rustix::buffer::spare_capacity(&mut events),
                Some(&timeout),
            ) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            for event in &events {
                self.event(event)?;
            }
            self.wake();
        }
    }

    fn timeout(&self) -> Timespec {
        let mut timeout = if self.ready.is_empty() { LOOK } else { Duration::ZERO };
        if let Some((until, _)) = self.sleeping.iter().min() {
            timeout = timeout.min(until.saturating_duration_since(Instant::now()));
        }
        Timespec { tv_sec: timeout.as_secs() as i64, tv_nsec: i64::from(timeout.subsec_nanos()) }
    }

    fn wake(&mut self) {
        if self.sleeping.is_empty() {
            return;
        }
        let now = Instant::now();
        let ready = &mut self.ready;
        self.sleeping.retain(|(until, place)| {
            let sleeps = *until > now;
            if !sleeps {
                ready.push_back(*place);
            }
            sleeps
        });
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        let (flags, data) = (event.flags, event.data);
        let data = data.u64() as usize;
        let (place, server) = (data / MOST_SERVERS, data % MOST_SERVERS);
        let client = &mut self.clients[place];
        let current = client.server() == server;
        let session = &mut client.sessions[server];
        let connection = &mut session.connection;
        let mut failure = None;
        if flags.contains(EventFlags::OUT) {
            match connection.send() {
                Ok(true) => self.watch(place, server, false)?,
                Ok(false) => {}
                Err(error) => failure = Some(error.to_string()),
            }
        }
        let session = &mut self.clients[place].sessions[server];
        if failure.is_none() && flags != EventFlags::OUT {
            match session.connection.receive() {
                Ok(0) => failure = Some("the server closed the connection".to_owned()),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => failure = Some(error.to_string()),
            }
        }
        if let Some(message) = failure {
            let client = self.clients[place].number;
            self.abort(place, Aborted { client, server, broken: message.into() });
            return Ok(());
        }
        // What a server says to a session that waits for nothing is read with its next answer.
        if current && self.runs[place] && session.waits_for_server() {
            self.advance(place)?;
        }
        Ok(())
    }

    fn advance(&mut self, place: usize) -> io::Result<()> {
        if !self.runs[place] {
            return Ok(());
        }
        loop {
            let client = &mut self.clients[place];
            match client.advance(&self.shared.setting, self.epoch) {
                Ok(Progress::Waiting) => {
                    let server = client.server();
                    self.add(place, server)?;
                    if self.clients[place].sessions[server].connection.is_full() {
                        self.watch(place, server, true)?;
                    }
                    return Ok(());
                }
                Ok(Progress::Sleeping(until)) => {
                    self.sleeping.push((until, place));
                    return Ok(());
                }
                Ok(Progress::BetweenServers) => {
                    if self.shared.in_step.is_some() {
                        self.runs[place] = false;
                        return Ok(());
                    }
                    client.begin_on_server();
                }
                Ok(Progress::Done) => {
                    let waited = client.waited;
                    self.note(place);
                    if self.shared.in_step.is_some() {
                        self.runs[place] = false;
                        return Ok(());
                    }
                    if !self.begin_anywhere(place) {
                        return Ok(());
                    }
                    if !waited {
                        // Scripts that ask no server anything let others have their turn.
                        self.go(place);
                        return Ok(());
                    }
                }
                Err(aborted) => {
                    self.abort(place, aborted);
                    return Ok(());
                }
            }
        }
    }

    /// Keep what a batch gave.
    fn note(&mut self, place: usize) {
        let client = &self.clients[place];
        for pair in client.pairs() {
            self.work.pairs += 1;
            for (counts, outcome) in
                self.work.counts.iter_mut().zip(&pair.outcomes[..client.sessions.len()])
            {
                counts.retries += u64::from(outcome.retries);
                if outcome.state == [0; 5] {
                    counts.transactions += 1;
                    counts.busy += outcome.latency;
                } else {
                    *counts.failures.entry(outcome.state).or_default() += 1;
                }
            }
            self.records.put(&pair);
        }
        self.work.ended = self.epoch.elapsed();
    }

    fn abort(&mut self, place: usize, aborted: Aborted) {
        if !self.lives(place) {
            return;
        }
        self.runs[place] = false;
        self.sleeping.retain(|(_, other)| *other != place);
        for session in &mut self.clients[place].sessions {
            // Not closed: the number of the socket would be given to another.
            let _ = epoll::delete(&self.poll, &session.connection);
            session.connection.close();
        }
        self.shared.alive.fetch_sub(1, Ordering::Relaxed);
        self.work.aborted.push(aborted);
    }

    /// Watch whether a socket takes more, or no longer.
    fn watch(&mut self, place: usize, server: usize, full: bool) -> io::Result<()> {
        let known = self.full.contains(&(place, server));
        if known == full {
            return Ok(());
        }
        let flags = if full { EventFlags::IN | EventFlags::OUT } else { EventFlags::IN };
        let data = EventData::new_u64((place * MOST_SERVERS + server) as u64);
        epoll::modify(&self.poll, &self.clients[place].sessions[server].connection, data, flags)?;
        self.full.retain(|own| *own != (place, server));
        if full {
            self.full.push((place, server));
        }
        Ok(())
    }

    /// Have the servers cancel what clients still wait for.
    fn cancel(&self) {
        for session in self.clients.iter().flat_map(|client| &client.sessions) {
            if session.waits_for_server() {
                session.connection.cancel(CANCEL);
            }
        }
    }
}
