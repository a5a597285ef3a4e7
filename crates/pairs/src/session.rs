//! A client's session on one server: it runs transactions, one command after the other, and
//! returns whenever it has to wait.

use std::time::{Duration, Instant};

use bytes::{BufMut as _, BytesMut};
use fallible_iterator::FallibleIterator as _;
use postgres_protocol::IsNull;
use postgres_protocol::message::backend::Message;
use postgres_protocol::message::frontend;

use crate::connection::{Connection, ServerError};
use crate::names;
use crate::random::Random;
use crate::record::Outcome;
use crate::script::{Action, Protocol, Script, Scripts, Sleep, Statement, Store, pause};
use crate::value::{Variable, leading_integer};

/// What every session of a run knows.
#[derive(Debug)]
pub struct Setting {
    /// What is run.
    pub scripts: Scripts,
    /// How statements are sent.
    pub protocol: Protocol,
    /// Tries of a transaction that fails to serialize or is in a deadlock.
    pub max_tries: u16,
    /// Go on after other errors of SQL.
    pub continue_on_error: bool,
    /// Where each transaction has a connection of its own: how long connecting may take.
    pub reconnect: Option<Duration>,
}

/// Where a transaction stands.
#[derive(Debug)]
pub enum Step {
    /// It waits for the server.
    Waiting,
    /// It sleeps until then.
    Sleeping(Instant),
    /// It has ended.
    Ended(Outcome),
}

/// Why a session cannot go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// What happened, for people.
    pub message: String,
    /// The server's SQLSTATE, where it was the server.
    pub state: Option<[u8; 5]>,
}

impl From<String> for Broken {
    fn from(message: String) -> Self {
        Self { message, state: None }
    }
}

impl From<std::io::Error> for Broken {
    fn from(error: std::io::Error) -> Self {
        Self::from(error.to_string())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Waiting {
    Nothing,
    /// For a statement's or a pipeline's answers.
    Answer,
    /// For the answer to a preparation.
    Prepared,
    RolledBack,
    Slept(Instant),
}

/// A session.
#[derive(Debug)]
pub struct Session {
    /// The connection.
    pub connection: Connection,
    /// The connection is new: nobody waits for its socket yet.
    pub is_unwatched: bool,
    /// A transaction has begun, and not gone on.
    begins: bool,
    variables: Vec<Variable>,
    /// By the number of the statement.
    prepared: Vec<bool>,
    /// The random numbers of the transaction; after its end, of the next.
    pub random: Random,
    at_start: Random,
    /// The place of its scripts among all.
    first: usize,
    script: usize,
    command: usize,
    started: Instant,
    retries: u16,
    waiting: Waiting,
    /// Points of synchronisation whose answers are still to come.
    syncs: usize,
    in_pipeline: bool,
    status: u8,
    error: Option<ServerError>,
    results: Results,
    text: String,
}

/// What `\gset` and `\aset` keep of results.
#[derive(Debug, Default)]
struct Results {
    /// The slots of the columns; None for those that no script mentions.
    columns: Vec<Option<usize>>,
    /// The first column whose name no variable may have.
    nameless: Option<String>,
    /// The last row.
    row: Vec<String>,
    /// The rows of the result that is being read; None where it has none to give.
    current: Option<u64>,
    /// The same of the last result that was read.
    last: Option<u64>,
}

impl Session {
    /// A session that has not run anything; its scripts begin at a place among all.
    #[must_use]
    pub fn new(
        connection: Connection,
        variables: Vec<Variable>,
        setting: &Setting,
        first: usize,
    ) -> Self {
        Self {
            connection,
            is_unwatched: true,
            begins: false,
            variables,
            prepared: vec![false; setting.scripts.statements],
            random: Random::new(0),
            at_start: Random::new(0),
            first,
            script: first,
            command: 0,
            started: Instant::now(),
            retries: 0,
            waiting: Waiting::Nothing,
            syncs: 0,
            in_pipeline: false,
            status: b'I',
            error: None,
            results: Results::default(),
            text: String::new(),
        }
    }

    /// Begin a transaction with these random numbers.
    pub fn begin(&mut self, script: usize, random: Random) {
        self.script = self.first + script;
        self.random = random;
        self.at_start = random;
        self.command = 0;
        self.retries = 0;
        self.begins = true;
        self.started = Instant::now();
    }

    /// Have a new connection in the place of the last transaction's. It is waited for, as pgbench
    /// does: other clients of the thread wait with it.
    fn reconnect(&mut self, timeout: Duration) -> Result<(), Broken> {
        self.started = Instant::now();
        self.connection.close();
        self.connection = self.connection.anew(timeout)?;
        self.is_unwatched = true;
        self.prepared.fill(false);
        Ok(())
    }

    /// Whether it waits for the server.
    #[must_use]
    pub fn waits_for_server(&self) -> bool {
        !matches!(self.waiting, Waiting::Nothing | Waiting::Slept(_))
    }

    /// Run on, until it has to wait or the transaction ends.
    ///
    /// # Errors
    /// Where the client cannot go on.
    pub fn advance(&mut self, setting: &Setting, epoch: Instant) -> Result<Step, Broken> {
        if std::mem::take(&mut self.begins) {
            if let Some(timeout) = setting.reconnect {
                self.reconnect(timeout)?;
            }
        }
        loop {
            match self.waiting {
                Waiting::Nothing => {}
                Waiting::Slept(until) => {
                    if Instant::now() < until {
                        return Ok(Step::Sleeping(until));
                    }
                    self.waiting = Waiting::Nothing;
                    self.command += 1;
                }
                Waiting::Answer | Waiting::Prepared | Waiting::RolledBack => {
                    if !self.read(setting)? {
                        return Ok(Step::Waiting);
                    }
                    if let Some(outcome) = self.answered(setting, epoch)? {
                        return Ok(Step::Ended(outcome));
                    }
                    continue;
                }
            }
            let script = &setting.scripts.scripts[self.script];
            if self.command == script.commands.len() {
                self.check_end()?;
                return Ok(Step::Ended(self.outcome(epoch, [0; 5])));
            }
            self.execute(setting, script).map_err(|mut broken| {
                if broken.state.is_none() {
                    let line = script.commands[self.command].line;
                    broken.message = format!("{}:{line}: {}", script.name, broken.message);
                }
                broken
            })?;
        }
    }

    fn check_end(&self) -> Result<(), Broken> {
        if self.in_pipeline {
            return Err("end of script reached with pipeline open".to_owned().into());
        }
        if self.status != b'I' {
            let message = "end of script reached without completing the last transaction";
            return Err(message.to_owned().into());
        }
        Ok(())
    }

    fn outcome(&self, epoch: Instant, state: [u8; 5]) -> Outcome {
        Outcome {
            start: nanoseconds(self.started.duration_since(epoch)),
            latency: nanoseconds(self.started.elapsed()),
            state,
            retries: self.retries,
        }
    }

    fn execute(&mut self, setting: &Setting, script: &Script) -> Result<(), Broken> {
        let names = &setting.scripts.names;
        match &script.commands[self.command].action {
            Action::Sql(statement) => return self.sql(setting, statement),
            Action::Draw(slots, rows) => {
                let row = &rows[self.random.up_to(rows.len() as u64 - 1) as usize];
                for (slot, value) in slots.iter().zip(row) {
                    self.variables[*slot].clone_from(value);
                }
            }
            Action::Set(slot, expression) => {
                let value = expression.value(&self.variables, names, &mut self.random)?;
                self.variables[*slot] = Variable::Value(value);
            }
            Action::Unless(condition, target) => {
                if !condition.value(&self.variables, names, &mut self.random)?.truth() {
                    self.command = *target;
                    return Ok(());
                }
            }
            Action::Jump(target) => {
                self.command = *target;
                return Ok(());
            }
            Action::Sleep(sleep) => {
                let length = match sleep {
                    Sleep::Fixed(length) => *length,
                    Sleep::Variable(slot, unit) => {
                        let (name, mut text) = (names.name(*slot), String::new());
                        if !self.variables[*slot].write(&mut text) {
                            return Err(format!("undefined variable \"{name}\"").into());
                        }
                        let count = leading_integer(&text);
                        if count == 0 && !text.starts_with(|first: char| first.is_ascii_digit()) {
                            let message =
                                format!("invalid sleep time \"{text}\" for variable \"{name}\"");
                            return Err(message.into());
                        }
                        pause(count, *unit)
                    }
                };
                self.waiting = Waiting::Slept(Instant::now() + length);
                return Ok(());
            }
            Action::StartPipeline => {
                if self.in_pipeline {
                    return Err("already in pipeline mode".to_owned().into());
                }
                if setting.protocol == Protocol::Prepared && self.prepare_pipeline(script)? {
                    return Ok(());
                }
                self.in_pipeline = true;
            }
            Action::SyncPipeline | Action::EndPipeline if !self.in_pipeline => {
                return Err("not in pipeline mode".to_owned().into());
            }
            Action::SyncPipeline => self.sync(),
            Action::EndPipeline => {
                self.in_pipeline = false;
                return self.send(Waiting::Answer);
            }
        }
        self.command += 1;
        Ok(())
    }

    fn sync(&mut self) {
        frontend::sync(&mut self.connection.output);
        self.syncs += 1;
    }

    /// Send, with a point of synchronisation, and wait.
    fn send(&mut self, waiting: Waiting) -> Result<(), Broken> {
        self.sync();
        self.send_plain(waiting)
    }

    fn send_plain(&mut self, waiting: Waiting) -> Result<(), Broken> {
        self.waiting = waiting;
        self.results.current = None;
        self.results.last = None;
        self.connection.send()?;
        Ok(())
    }

    fn sql(&mut self, setting: &Setting, statement: &Statement) -> Result<(), Broken> {
        if self.in_pipeline && statement.store.is_some() {
            let message = "\\gset and \\aset are not allowed in pipeline mode";
            return Err(message.to_owned().into());
        }
        if setting.protocol == Protocol::Simple {
            self.text.clear();
            statement.write(&self.variables, &setting.scripts.names, &mut self.text);
            frontend::query(&self.text, &mut self.connection.output)?;
            self.syncs += 1;
            return self.send_plain(Waiting::Answer);
        }
        let name = if setting.protocol == Protocol::Prepared {
            if !self.prepared[statement.number] {
                self.parse(&statement.prepared_name, statement)?;
                self.prepared[statement.number] = true;
                return self.send(Waiting::Prepared);
            }
            statement.prepared_name.as_str()
        } else {
            self.parse("", statement)?;
            ""
        };
        self.bind(name, statement)?;
        if self.in_pipeline {
            self.command += 1;
            return Ok(());
        }
        self.send(Waiting::Answer)
    }

    fn parse(&mut self, name: &str, statement: &Statement) -> Result<(), Broken> {
        frontend::parse(name, &statement.parameterised, [], &mut self.connection.output)?;
        Ok(())
    }

    /// Bind, describe and execute, as libpq does.
    fn bind(&mut self, name: &str, statement: &Statement) -> Result<(), Broken> {
        let (variables, text) = (&self.variables, &mut self.text);
        let output = &mut self.connection.output;
        let written = |slot: &usize, bytes: &mut BytesMut| {
            text.clear();
            if !variables[*slot].write(text) {
                return Ok(IsNull::Yes);
            }
            bytes.put_slice(text.as_bytes());
            Ok(IsNull::No)
        };
        frontend::bind("", name, [], &statement.parameters, written, [0], output)
            .map_err(|_| Broken::from("too many parameters, or too long ones".to_owned()))?;
        frontend::describe(b'P', "", output)?;
        frontend::execute("", 0, output)?;
        Ok(())
    }

    /// Prepare what stands in the pipeline; false where all of it was.
    fn prepare_pipeline(&mut self, script: &Script) -> Result<bool, Broken> {
        let mut any = false;
        for command in &script.commands[self.command..] {
            match &command.action {
                Action::EndPipeline => break,
                Action::Sql(statement) if !self.prepared[statement.number] => {
                    self.parse(&statement.prepared_name, statement)?;
                    self.prepared[statement.number] = true;
                    any = true;
                }
                _ => {}
            }
        }
        if any {
            self.send(Waiting::Prepared)?;
        }
        Ok(any)
    }

    /// Read what has come; true where it was all that is waited for.
    fn read(&mut self, setting: &Setting) -> Result<bool, Broken> {
        let store = match &setting.scripts.scripts[self.script].commands.get(self.command) {
            Some(command) if self.waiting == Waiting::Answer => match &command.action {
                Action::Sql(statement) => statement.store.as_ref(),
                _ => None,
            },
            _ => None,
        };
        while let Some(found) = self.connection.next(store.is_some()) {
            match self.connection.tag(&found) {
                b'Z' => {
                    self.status = self.connection.status(&found);
                    self.syncs = self.syncs.saturating_sub(1);
                    if self.syncs == 0 {
                        return Ok(true);
                    }
                }
                b'E' => {
                    let error = self.connection.error(found);
                    if error.fatal {
                        return Err(Broken { message: error.message, state: Some(error.state) });
                    }
                    self.error.get_or_insert(error);
                }
                b'G' | b'H' | b'W' => {
                    return Err("COPY is not supported here, nor by pgbench".to_owned().into());
                }
                tag => {
                    if let Some(store) = store {
                        let message = match tag {
                            b'T' | b'D' => Some(self.connection.parsed(found)?),
                            _ => None,
                        };
                        self.keep(setting, store, tag, message)?;
                    }
                }
            }
        }
        Ok(false)
    }

    fn keep(
        &mut self,
        setting: &Setting,
        store: &Store,
        tag: u8,
        message: Option<Message>,
    ) -> Result<(), Broken> {
        let broken = |error: std::io::Error| Broken::from(error);
        match message {
            Some(Message::RowDescription(body)) => {
                self.results.columns.clear();
                self.results.nameless = None;
                let mut fields = body.fields();
                while let Some(field) = fields.next().map_err(broken)? {
                    let name = format!("{}{}", store.prefix, field.name());
                    if self.results.nameless.is_none() && !names::is_valid(&name) {
                        self.results.nameless = Some(name.clone());
                    }
                    self.results.columns.push(setting.scripts.names.known(&name));
                }
                self.results.current = Some(0);
            }
            Some(Message::DataRow(body)) => {
                self.results.row.clear();
                let mut ranges = body.ranges();
                while let Some(range) = ranges.next().map_err(broken)? {
                    let bytes = range.map_or(&[][..], |range| &body.buffer()[range]);
                    self.results.row.push(String::from_utf8_lossy(bytes).into_owned());
                }
                self.results.current = self.results.current.map(|rows| rows + 1);
            }
            _ if tag == b'C' || tag == b'I' => {
                self.results.last = self.results.current.take();
                if store.all && self.results.last.is_some_and(|rows| rows > 0) {
                    self.set_row()?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Set variables to the last row. An error where a column's name is no variable's.
    fn set_row(&mut self) -> Result<(), Broken> {
        if let Some(name) = &self.results.nameless {
            return Err(format!("\\gset: invalid variable name \"{name}\"").into());
        }
        for (slot, text) in self.results.columns.iter().zip(self.results.row.drain(..)) {
            if let Some(slot) = slot {
                self.variables[*slot] = Variable::Text(text);
            }
        }
        Ok(())
    }

    /// Go on after all answers; the outcome where that ended the transaction.
    fn answered(&mut self, setting: &Setting, epoch: Instant) -> Result<Option<Outcome>, Broken> {
        let waited = std::mem::replace(&mut self.waiting, Waiting::Nothing);
        if waited == Waiting::RolledBack {
            let error = self.error.take();
            return match error {
                Some(error) if self.status == b'I' => Ok(self.failed(setting, epoch, &error)),
                _ => Err("the failed transaction could not be rolled back".to_owned().into()),
            };
        }
        if let Some(error) = &self.error {
            self.in_pipeline = false;
            if !retryable(error) && !setting.continue_on_error {
                let script = &setting.scripts.scripts[self.script];
                let line = script.commands[self.command].line;
                let message = format!("{}:{line}: {}", script.name, error.message);
                return Err(Broken { message, state: Some(error.state) });
            }
            if self.status != b'I' {
                frontend::query("ROLLBACK", &mut self.connection.output)?;
                self.syncs += 1;
                self.send_plain(Waiting::RolledBack)?;
                return Ok(None);
            }
            let error = self.error.take();
            return Ok(error.and_then(|error| self.failed(setting, epoch, &error)));
        }
        if waited == Waiting::Answer {
            self.stored(setting)?;
            self.command += 1;
        }
        Ok(None)
    }

    fn stored(&mut self, setting: &Setting) -> Result<(), Broken> {
        let script = &setting.scripts.scripts[self.script];
        let command = &script.commands[self.command];
        if let Action::Sql(Statement { store: Some(Store { all: false, .. }), .. }) =
            &command.action
        {
            let rows = self.results.last.unwrap_or(0);
            if rows != 1 {
                let (name, line) = (&script.name, command.line);
                return Err(format!("{name}:{line}: \\gset: expected one row, got {rows}").into());
            }
            self.set_row().map_err(|broken| {
                format!("{}:{}: {}", script.name, command.line, broken.message)
            })?;
        }
        Ok(())
    }

    /// The transaction has failed: once more, or its outcome.
    fn failed(
        &mut self,
        setting: &Setting,
        epoch: Instant,
        error: &ServerError,
    ) -> Option<Outcome> {
        if retryable(error) && self.retries + 1 < setting.max_tries {
            self.retries += 1;
            self.random = self.at_start;
            self.command = 0;
            return None;
        }
        Some(self.outcome(epoch, error.state))
    }
}

/// Failures of serialization and deadlocks, which another try may not meet.
fn retryable(error: &ServerError) -> bool {
    [*b"40001", *b"40P01"].contains(&error.state)
}

fn nanoseconds(duration: Duration) -> u64 {
    duration.as_nanos() as u64
}
