//! A client: it runs each batch of transactions on one server, and the same on all others.

use std::time::Instant;

use crate::random::Random;
use crate::record::{MOST_SERVERS, Outcome, Pair};
use crate::session::{Broken, Session, Setting, Step};

/// What a client did until it had to stop.
#[derive(Debug)]
pub enum Progress {
    /// It waits for a server.
    Waiting,
    /// It sleeps until then.
    Sleeping(Instant),
    /// It has run its batch on one server and waits to be let on to the next.
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

/// The order of servers of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Turns([u8; MOST_SERVERS]);

impl Turns {
    /// Draw an order (Fisher and Yates, from the front): of two servers by one random bit, and of
    /// one by none, as the first of them alone would be drawn.
    pub fn draw(servers: usize, random: &mut Random) -> Self {
        let mut order = [0; MOST_SERVERS];
        for (server, place) in order.iter_mut().enumerate() {
            *place = server as u8;
        }
        for place in 0..servers {
            let other = random.up_to((servers - 1 - place) as u64) as usize;
            order.swap(place, place + other);
        }
        Self(order)
    }
}

#[derive(Debug, Clone, Copy)]
struct Transaction {
    script: u8,
    /// The random numbers that it began with on the first server.
    random: Random,
    outcomes: [Outcome; MOST_SERVERS],
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
    /// The order of servers of this batch.
    turns: Turns,
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
            turns: Turns::default(),
            visited: 0,
            index: 0,
            left,
            waited: false,
        }
    }

    /// Begin a batch on the first of these servers.
    pub fn begin(&mut self, length: u16, turns: Turns, weights: &Weights) {
        let length = u64::from(length).min(self.left);
        self.left -= length;
        self.batch.clear();
        for _ in 0..length {
            let script = weights.choose(&mut self.chooser);
            let outcomes = [Outcome::default(); MOST_SERVERS];
            self.batch.push(Transaction { script, random: self.random, outcomes });
        }
        self.turns = turns;
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
        usize::from(self.turns.0[self.visited])
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
            first: self.turns.0[0],
            position: position as u16,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_servers_are_drawn_as_ever() {
        let (mut one, mut other) = (Random::new(29), Random::new(29));
        for _ in 0..1000 {
            let first = one.up_to(1) as u8;
            assert_eq!(Turns::draw(2, &mut other).0[..2], [first, 1 - first]);
        }
        let before = other;
        assert_eq!(Turns::draw(1, &mut other).0[0], 0);
        assert_eq!(before, other, "one server needs no random number");
    }

    #[test]
    fn every_order_is_as_likely() {
        let mut random = Random::new(7);
        let mut seen = std::collections::BTreeMap::new();
        for _ in 0..24_000 {
            let Turns(order) = Turns::draw(4, &mut random);
            *seen.entry(order).or_insert(0) += 1;
        }
        assert_eq!(seen.len(), 24);
        assert!(seen.values().all(|times| (850..1150).contains(times)), "{seen:?}");
    }
}
