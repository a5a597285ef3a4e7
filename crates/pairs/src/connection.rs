//! A connection to a server: the protocol's messages over a socket that does not block.
//!
//! Messages are built and the rarer ones read by `postgres-protocol`. Rows that nobody wants are
//! passed over in the buffer, so that a result of any size needs no memory.

use std::io::{self, Read as _, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use bytes::{Buf as _, BytesMut};
use fallible_iterator::FallibleIterator as _;
use postgres_protocol::message::backend::{ErrorFields, Message};
use postgres_protocol::message::frontend;

use crate::authentication::{Authentication, Credentials};
use crate::options::Server;
use crate::tls::{Attempt, Tls};

/// Room for what is read at once.
const INPUT: usize = 64 * 1024;
/// A message's tag and length.
const HEADER: usize = 5;

#[derive(Debug)]
enum Stream {
    Unix(UnixStream),
    Tcp(TcpStream),
    Tls(Box<Tls>),
}

impl Stream {
    /// Connect, in clear or encrypted; to a socket of this machine always in clear.
    fn open(server: &Server, attempt: Attempt, timeout: Duration) -> io::Result<Self> {
        let mut stream = match Self::open_plain(server, timeout)? {
            Self::Tcp(stream) if attempt != Attempt::Plain => stream,
            plain => return Ok(plain),
        };
        let mut request = BytesMut::new();
        frontend::ssl_request(&mut request);
        stream.write_all(&request)?;
        // No byte more: what follows is of the handshake, and nobody else's.
        let mut answer = [0];
        stream.read_exact(&mut answer)?;
        match answer[0] {
            b'S' => {
                let tls = Tls::begin(&server.encryption, &server.host, stream)?;
                Ok(Self::Tls(Box::new(tls)))
            }
            b'N' if attempt == Attempt::Offered => Ok(Self::Tcp(stream)),
            b'N' => Err(io::Error::other("the server does not encrypt connections")),
            _ => Err(io::Error::other("the server does not say whether it encrypts")),
        }
    }

    fn open_plain(server: &Server, timeout: Duration) -> io::Result<Self> {
        if server.host.starts_with('/') {
            let path = format!("{}/.s.PGSQL.{}", server.host, server.port);
            let stream = UnixStream::connect(path)?;
            let peer = rustix::net::sockopt::socket_peercred(&stream)?.uid.as_raw();
            if server.peer.is_some_and(|wanted| wanted != peer) {
                let message = format!("the socket belongs to a server of the user {peer}");
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
            }
            stream.set_read_timeout(Some(timeout))?;
            return Ok(Self::Unix(stream));
        }
        let mut last = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
        let host = server.address.as_deref().unwrap_or(&server.host);
        for address in (host, server.port).to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, timeout) {
                Ok(stream) => {
                    stream.set_nodelay(true)?;
                    stream.set_read_timeout(Some(timeout))?;
                    return Ok(Self::Tcp(stream));
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    fn do_not_block(&self) -> io::Result<()> {
        match self {
            Self::Unix(stream) => stream.set_nonblocking(true),
            Self::Tcp(stream) => stream.set_nonblocking(true),
            Self::Tls(tls) => tls.stream.set_nonblocking(true),
        }
    }

    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.read(buffer),
            Self::Tcp(stream) => stream.read(buffer),
            Self::Tls(tls) => tls.read(buffer),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.write(bytes),
            Self::Tcp(stream) => stream.write(bytes),
            Self::Tls(tls) => tls.write(bytes),
        }
    }

    /// Send what was written and is still here; true where that was all.
    fn flush(&mut self) -> io::Result<bool> {
        match self {
            Self::Unix(_) | Self::Tcp(_) => Ok(true),
            Self::Tls(tls) => tls.flush(),
        }
    }
}

/// An error that a server reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerError {
    /// Its SQLSTATE.
    pub state: [u8; 5],
    /// Severity and message.
    pub message: String,
    /// Whether the session is over.
    pub fatal: bool,
}

impl ServerError {
    fn new(fields: ErrorFields<'_>) -> Self {
        let mut error = Self { state: *b"XX000", message: String::new(), fatal: false };
        let mut severity = String::from("ERROR");
        let mut text = String::new();
        let mut fields = fields;
        while let Ok(Some(field)) = fields.next() {
            let value = String::from_utf8_lossy(field.value_bytes());
            match field.type_() {
                b'C' => {
                    if let Ok(state) = <[u8; 5]>::try_from(value.as_bytes()) {
                        error.state = state;
                    }
                }
                b'M' => text = value.into_owned(),
                b'S' => severity = value.into_owned(),
                b'V' => error.fatal = value != "ERROR",
                _ => {}
            }
        }
        error.fatal |= ["FATAL", "PANIC"].contains(&severity.as_str());
        error.message = format!("{severity}: {text}");
        error
    }
}

/// A connection.
#[derive(Debug)]
pub struct Connection {
    stream: Stream,
    server: Server,
    attempt: Attempt,
    input: Vec<u8>,
    filled: Range<usize>,
    /// What of a row is still to come and not wanted.
    unwanted: usize,
    /// What is to be sent.
    pub output: BytesMut,
    /// The server's process.
    pub process: i32,
    secret: i32,
}

impl Connection {
    /// Connect and authenticate.
    ///
    /// # Errors
    /// With the server's or the system's words.
    pub fn open(server: &Server, timeout: Duration) -> Result<Self, String> {
        let attempts: &[Attempt] = if server.host.starts_with('/') {
            &[Attempt::Plain]
        } else {
            server.encryption.mode.attempts()
        };
        let mut errors = Vec::new();
        for attempt in attempts {
            match Self::begun(server, *attempt, timeout) {
                Ok(connection) => return Ok(connection),
                Err(error) => errors.push(error),
            }
        }
        errors.dedup();
        Err(format!("{server:?}: {}", errors.join("; ")))
    }

    /// Another connection to the same server.
    ///
    /// # Errors
    /// With the server's or the system's words.
    pub fn anew(&self, timeout: Duration) -> Result<Self, String> {
        Self::open(&self.server, timeout)
    }

    fn begun(server: &Server, attempt: Attempt, timeout: Duration) -> Result<Self, String> {
        let failed = |error: io::Error| error.to_string();
        let mut connection = Self {
            stream: Stream::open(server, attempt, timeout).map_err(failed)?,
            server: server.clone(),
            attempt,
            input: vec![0; INPUT],
            filled: 0..0,
            unwanted: 0,
            output: BytesMut::with_capacity(8192),
            process: 0,
            secret: 0,
        };
        connection.start(Instant::now() + timeout)?;
        connection.stream.do_not_block().map_err(failed)?;
        Ok(connection)
    }

    fn start(&mut self, deadline: Instant) -> Result<(), String> {
        let server = self.server.clone();
        let own = [
            ("user", server.user.as_str()),
            ("database", server.database.as_str()),
            ("application_name", "teiten-pairs"),
        ];
        let given = server.parameters.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        frontend::startup_message(own.into_iter().chain(given), &mut self.output)
            .map_err(|error| error.to_string())?;
        let mut authentication = Authentication::new(Credentials {
            user: &server.user,
            password: server.password.as_deref(),
            methods: &server.require_auth,
            binding: server.channel_binding,
            end_point: match &self.stream {
                Stream::Tls(tls) => tls.end_point(),
                Stream::Unix(_) | Stream::Tcp(_) => None,
            },
        });
        loop {
            let message = self.answer(deadline)?;
            if authentication.take(&message, &mut self.output)? {
                continue;
            }
            match message {
                Message::ParameterStatus(_) | Message::NoticeResponse(_) => {}
                Message::BackendKeyData(body) => {
                    self.process = body.process_id();
                    self.secret = body.secret_key();
                }
                Message::ReadyForQuery(_) => return Ok(()),
                Message::ErrorResponse(body) => {
                    return Err(ServerError::new(body.fields()).message);
                }
                _ => return Err("the server says what belongs to no beginning".to_owned()),
            }
        }
    }

    /// Send, and wait for one message; only while the socket blocks.
    fn answer(&mut self, deadline: Instant) -> Result<Message, String> {
        self.send().map_err(|error| error.to_string())?;
        loop {
            if let Some(found) = self.next(true) {
                return self.parsed(found);
            }
            if Instant::now() > deadline {
                return Err("no answer in time".to_owned());
            }
            if self.receive().map_err(|error| error.to_string())? == 0 {
                return Err("the server closed the connection".to_owned());
            }
        }
    }

    /// Send what the socket takes; true where that was all.
    ///
    /// # Errors
    /// Where the connection is broken.
    pub fn send(&mut self) -> io::Result<bool> {
        while !self.output.is_empty() {
            match self.stream.write(&self.output) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(sent) => self.output.advance(sent),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        // Give the room before what was sent back.
        self.output.clear();
        self.stream.flush()
    }

    /// Whether something is still to be sent.
    #[must_use]
    pub fn is_full(&self) -> bool {
        !self.output.is_empty() || matches!(&self.stream, Stream::Tls(tls) if tls.is_full())
    }

    /// Read all that the socket will not tell of again; 0 where the server closed.
    ///
    /// # Errors
    /// Where the connection is broken.
    pub fn receive(&mut self) -> io::Result<usize> {
        let mut all = self.receive_once()?;
        while let Stream::Tls(tls) = &mut self.stream {
            if all == 0 || !tls.holds_more() {
                break;
            }
            all += self.receive_once()?;
        }
        Ok(all)
    }

    fn receive_once(&mut self) -> io::Result<usize> {
        if self.filled.is_empty() {
            self.filled = 0..0;
        } else if self.filled.end == self.input.len() {
            if self.filled.start > 0 {
                self.input.copy_within(self.filled.clone(), 0);
                self.filled = 0..self.filled.len();
            } else {
                let doubled = self.input.len() * 2;
                self.input.resize(doubled, 0);
            }
        }
        loop {
            match self.stream.read(&mut self.input[self.filled.end..]) {
                Ok(count) => {
                    self.filled.end += count;
                    return Ok(count);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Take the next message that is there as a whole: its place, with the header. Rows are passed
    /// over where they are not wanted.
    pub fn next(&mut self, rows: bool) -> Option<Range<usize>> {
        loop {
            let skipped = self.unwanted.min(self.filled.len());
            self.filled.start += skipped;
            self.unwanted -= skipped;
            let there = &self.input[self.filled.clone()];
            let header: [u8; HEADER] = there.get(..HEADER)?.try_into().ok()?;
            let [tag, length @ ..] = header;
            let length = 1 + (u32::from_be_bytes(length) as usize).max(HEADER - 1);
            if tag == b'D' && !rows {
                self.unwanted = length;
                continue;
            }
            if there.len() < length {
                return None;
            }
            let found = self.filled.start..self.filled.start + length;
            self.filled.start = found.end;
            return Some(found);
        }
    }

    /// A message's tag.
    #[must_use]
    pub fn tag(&self, found: &Range<usize>) -> u8 {
        self.input[found.start]
    }

    /// The status in a message that the server is ready: idle, in a transaction, in a failed one.
    #[must_use]
    pub fn status(&self, found: &Range<usize>) -> u8 {
        self.input[found.end - 1]
    }

    /// A message in its parts.
    ///
    /// # Errors
    /// Where it is none of the protocol's.
    pub fn parsed(&self, found: Range<usize>) -> Result<Message, String> {
        let mut bytes = BytesMut::from(&self.input[found]);
        match Message::parse(&mut bytes) {
            Ok(Some(message)) => Ok(message),
            Ok(None) => Err("a broken message".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// The error in a message.
    #[must_use]
    pub fn error(&self, found: Range<usize>) -> ServerError {
        match self.parsed(found) {
            Ok(Message::ErrorResponse(body)) => ServerError::new(body.fields()),
            _ => ServerError {
                state: *b"08P01",
                message: "a broken message".to_owned(),
                fatal: true,
            },
        }
    }

    /// Say goodbye; nothing is waited for.
    pub fn close(&mut self) {
        self.output.clear();
        frontend::terminate(&mut self.output);
        let _ = self.send();
        if let Stream::Tls(tls) = &mut self.stream {
            tls.close();
        }
    }

    /// Ask the server to cancel what it is doing.
    pub fn cancel(&self, timeout: Duration) {
        let Ok(mut stream) = Stream::open(&self.server, self.attempt, timeout) else { return };
        let mut request = BytesMut::new();
        frontend::cancel_request(self.process, self.secret, &mut request);
        if stream.write(&request).and_then(|_| stream.flush()).is_ok() {
            // The server closes it when the request is done.
            let _ = stream.read(&mut [0]);
        }
    }
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.stream {
            Stream::Unix(stream) => stream.as_fd(),
            Stream::Tcp(stream) => stream.as_fd(),
            Stream::Tls(tls) => tls.stream.as_fd(),
        }
    }
}
