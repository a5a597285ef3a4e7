//! A client: it runs each batch of transactions on one server, and the same on the other.

use std::time::Instant;

use crate::random::Random;
use crate::record::{Outcome, Pair};
use crate::session::{Broken, Session, Setting, Step};

/// What a client did until it had to stop.
#[derive(Debug)]
pub enum Progress {
    /// It waits for a server.
    Waiting,
    /// It sleeps until then.
    Sleeping(Instant),
    /// It has run its batch on one server and waits to be let on to the other.
    BetweenServers,
    /// It has run its batch on every server.
    Done,
}

/// A client that cannot go on.
#[derive(Debug, Clone)]
pub struct Aborted {
    /// Which client.
    pub client: u16,
    /// On which server.
    pub server: usize,
    /// Why.
    pub broken: Broken,
}

/// The choice between scripts.
#[derive(Debug)]
pub struct Weights {
    weights: Vec<u64>,
    total: u64,
}

impl Weights {
    /// Of these scripts.
    #[must_use]
    pub fn new(weights: Vec<u64>) -> Self {
        let total = weights.iter().sum();
        Self { weights, total }
    }

    /// Choose; one script alone needs no random number.
    fn choose(&self, random: &mut Random) -> u8 {
        if self.weights.len() == 1 {
            return 0;
        }
        let mut place = random.up_to(self.total - 1);
        for (script, weight) in self.weights.iter().enumerate() {
            if place < *weight {
                return script as u8;
            }
            place -= weight;
        }
        0
    }
}

#[derive(Debug, Clone, Copy)]
struct Transaction {
    script: u8,
    /// The random numbers that it began with on the first server.
    random: Random,
    outcomes: [Outcome; 2],
}

/// A client.
#[derive(Debug)]
pub struct Client {
    /// Its number, from 0.
    pub number: u16,
    /// Its sessions, by server.
    pub sessions: Vec<Session>,
    /// For the choice of scripts.
    chooser: Random,
    /// For the parameters.
    random: Random,
    /// For the order of servers.
    pub order: Random,
    batch: Vec<Transaction>,
    first: usize,
    /// How many servers have run the batch.
    visited: usize,
    index: usize,
    /// Transactions on each server that it may still begin.
    pub left: u64,
    /// It waited while it ran this batch.
    pub waited: bool,
}

/// The random numbers of a client.
#[derive(Debug, Clone, Copy)]
pub struct Streams {
    /// For the parameters: pgbench's of a client.
    pub parameters: Random,
    /// For the choice of scripts: pgbench's of a thread.
    pub choice: Random,
    /// For the order of servers, which pgbench has not.
    pub order: Random,
}

impl Client {
    /// A client that has run nothing.
    #[must_use]
    pub fn new(number: u16, sessions: Vec<Session>, streams: Streams, left: u64) -> Self {
        Self {
            number,
            sessions,
            chooser: streams.choice,
            random: streams.parameters,
            order: streams.order,
            batch: Vec::new(),
            first: 0,
            visited: 0,
            index: 0,
            left,
            waited: false,
        }
    }

    /// Begin a batch on this server.
    pub fn begin(&mut self, length: u16, first: usize, weights: &Weights) {
        let length = u64::from(length).min(self.left);
        self.left -= length;
        self.batch.clear();
        for _ in 0..length {
            let script = weights.choose(&mut self.chooser);
            let outcomes = [Outcome::default(); 2];
            self.batch.push(Transaction { script, random: self.random, outcomes });
        }
        self.first = first;
        self.visited = 0;
        self.waited = false;
        self.begin_on_server();
    }

    /// Begin the batch on the next server.
    pub fn begin_on_server(&mut self) {
        self.index = 0;
        self.begin_transaction();
    }

    /// The server that it is on.
    #[must_use]
    pub fn server(&self) -> usize {
        (self.first + self.visited) % self.sessions.len()
    }

    fn begin_transaction(&mut self) {
        let server = self.server();
        let transaction = &mut self.batch[self.index];
        if self.visited == 0 {
            transaction.random = self.random;
        }
        self.sessions[server].begin(usize::from(transaction.script), transaction.random);
    }

    /// Run on, until it has to stop.
    ///
    /// # Errors
    /// Where it cannot go on.
    pub fn advance(&mut self, setting: &Setting, epoch: Instant) -> Result<Progress, Aborted> {
        loop {
            let server = self.server();
            let session = &mut self.sessions[server];
            let step = session.advance(setting, epoch);
            let outcome = match step {
                Ok(Step::Waiting) => {
                    self.waited = true;
                    return Ok(Progress::Waiting);
                }
                Ok(Step::Sleeping(until)) => {
                    self.waited = true;
                    return Ok(Progress::Sleeping(until));
                }
                Ok(Step::Ended(outcome)) => outcome,
                Err(broken) => return Err(Aborted { client: self.number, server, broken }),
            };
            self.batch[self.index].outcomes[server] = outcome;
            if self.visited == 0 {
                self.random = session.random;
            }
            self.index += 1;
            if self.index < self.batch.len() {
                self.begin_transaction();
                continue;
            }
            self.visited += 1;
            return Ok(if self.visited < self.sessions.len() {
                Progress::BetweenServers
            } else {
                Progress::Done
            });
        }
    }

    /// The pairs of the batch that is done.
    pub fn pairs(&self) -> impl Iterator<Item = Pair> {
        self.batch.iter().enumerate().map(|(position, transaction)| Pair {
            outcomes: transaction.outcomes,
            client: self.number,
            script: transaction.script,
            first: self.first as u8,
            position: position as u16,
        })
    }
}
