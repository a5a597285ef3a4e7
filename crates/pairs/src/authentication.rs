//! Authentication, within what the client allows: as libpq's `require_auth` and `channel_binding`.
//!
//! What the server asks for is looked at before anything secret is made of the password: a server, or
//! who stands in its place, that asks for a clear password where that is not allowed gets none.

use bytes::BytesMut;
use fallible_iterator::FallibleIterator as _;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{
    ChannelBinding, SCRAM_SHA_256, SCRAM_SHA_256_PLUS, ScramSha256,
};
use postgres_protocol::message::backend::Message;
use postgres_protocol::message::frontend;
use serde::Deserialize;

/// A way in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Method {
    /// The server asks for nothing.
    None,
    Password,
    Md5,
    Scram,
    /// Known to libpq, and not here: GSSAPI, SSPI, OAuth.
    Other,
}

impl Method {
    fn read(name: &str) -> Option<Self> {
        Some(match name {
            "none" => Self::None,
            "password" => Self::Password,
            "md5" => Self::Md5,
            "scram-sha-256" => Self::Scram,
            "gss" | "sspi" | "oauth" => Self::Other,
            _ => return None,
        })
    }

    fn asks(self) -> &'static str {
        match self {
            Self::None => "for no authentication",
            Self::Password => "for a password in clear",
            Self::Md5 => "for a hashed password (md5)",
            Self::Scram => "for SASL authentication",
            Self::Other => "for an authentication that is not known here",
        }
    }
}

/// `require_auth`: which methods are allowed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct RequireAuth {
    text: String,
    /// None: all.
    allowed: Option<Vec<Method>>,
}

impl TryFrom<String> for RequireAuth {
    type Error = String;

    /// Methods with commas between them; each with a `!`, all others are allowed.
    fn try_from(text: String) -> Result<Self, String> {
        if text.is_empty() {
            return Ok(Self::default());
        }
        let words: Vec<&str> = text.split(',').map(str::trim).collect();
        let negated = words.iter().filter(|word| word.starts_with('!')).count();
        if negated != 0 && negated != words.len() {
            return Err(format!("require_auth {text:?} allows some methods and forbids others"));
        }
        let mut named = Vec::new();
        for word in words {
            let name = word.trim_start_matches('!');
            named.push(
                Method::read(name).ok_or_else(|| format!("require_auth: no method {name:?}"))?,
            );
        }
        if negated != 0 {
            let all = [Method::None, Method::Password, Method::Md5, Method::Scram];
            named = all.into_iter().filter(|method| !named.contains(method)).collect();
        }
        Ok(Self { text, allowed: Some(named) })
    }
}

/// `channel_binding`: whether SCRAM is bound to the encrypted connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Binding {
    /// Never.
    Disable,
    /// Where the server offers it.
    #[default]
    Prefer,
    /// Or nothing is authenticated.
    Require,
}

/// What a client has and allows.
#[derive(Debug)]
pub struct Credentials<'a> {
    /// The role.
    pub user: &'a str,
    /// Its password.
    pub password: Option<&'a str>,
    /// Which methods are allowed.
    pub methods: &'a RequireAuth,
    /// Whether SCRAM is to be bound to the connection.
    pub binding: Binding,
    /// The hash of the server's certificate (`tls-server-end-point`), where the connection is
    /// encrypted and the certificate has one.
    pub end_point: Option<Vec<u8>>,
}

/// An authentication under way.
pub struct Authentication<'a> {
    own: Credentials<'a>,
    scram: Option<ScramSha256>,
    bound: bool,
    /// What the client has given, to its end.
    given: Method,
}

impl std::fmt::Debug for Authentication<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // SCRAM's state holds the password.
        write!(formatter, "authentication of {}", self.own.user)
    }
}

impl<'a> Authentication<'a> {
    /// One that has not begun.
    #[must_use]
    pub fn new(own: Credentials<'a>) -> Self {
        Self { own, scram: None, bound: false, given: Method::None }
    }

    /// Take a message; what is to be answered is put into `output`. True where it was one of
    /// authentication.
    ///
    /// # Errors
    /// Where the server asks for what is not allowed or cannot be given, or does not prove that it
    /// knows the password.
    pub fn take(&mut self, message: &Message, output: &mut BytesMut) -> Result<bool, String> {
        match message {
            Message::AuthenticationOk => self.finished()?,
            Message::AuthenticationCleartextPassword => {
                let password = self.password(Method::Password)?;
                frontend::password_message(password, output).map_err(|error| error.to_string())?;
                self.given = Method::Password;
            }
            Message::AuthenticationMd5Password(body) => {
                let password = self.password(Method::Md5)?;
                let hash = md5_hash(self.own.user.as_bytes(), password, body.salt());
                frontend::password_message(hash.as_bytes(), output)
                    .map_err(|error| error.to_string())?;
                self.given = Method::Md5;
            }
            Message::AuthenticationSasl(body) => {
                let offered: Vec<&str> =
                    body.mechanisms().collect().map_err(|error| error.to_string())?;
                self.begin(&offered, output)?;
            }
            Message::AuthenticationSaslContinue(body) => {
                let scram = self.scram.as_mut().ok_or("SCRAM has not begun")?;
                scram.update(body.data()).map_err(|error| error.to_string())?;
                frontend::sasl_response(scram.message(), output)
                    .map_err(|error| error.to_string())?;
            }
            Message::AuthenticationSaslFinal(body) => {
                let mut scram = self.scram.take().ok_or("SCRAM has not begun")?;
                scram.finish(body.data()).map_err(|error| error.to_string())?;
                self.given = Method::Scram;
            }
            Message::AuthenticationGss
            | Message::AuthenticationKerberosV5
            | Message::AuthenticationScmCredential
            | Message::AuthenticationSspi => {
                return Err("the server asks for an authentication that is not known here \
                            (known: trust, password, md5, scram-sha-256)"
                    .to_owned());
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The server lets the client in: only after what is required of it.
    fn finished(&self) -> Result<(), String> {
        if self.scram.is_some() {
            return Err("the server has not proved that it knows the password".to_owned());
        }
        if self.own.binding == Binding::Require && !self.bound {
            return Err("channel binding is required, and the server did without".to_owned());
        }
        self.allow(self.given)
    }

    fn allow(&self, method: Method) -> Result<(), String> {
        let allowed = self.own.methods.allowed.as_ref().is_none_or(|all| all.contains(&method));
        if allowed {
            return Ok(());
        }
        let (text, asks) = (&self.own.methods.text, method.asks());
        Err(format!("require_auth={text} does not allow it: the server asks {asks}"))
    }

    /// The password for a method, where it may be given so.
    fn password(&self, method: Method) -> Result<&'a [u8], String> {
        self.allow(method)?;
        if self.own.binding == Binding::Require && method != Method::Scram {
            let asks = method.asks();
            return Err(format!("channel binding is required, and the server asks {asks}"));
        }
        let text = self.own.password.ok_or("the server asks for a password")?;
        Ok(text.as_bytes())
    }

    fn begin(&mut self, offered: &[&str], output: &mut BytesMut) -> Result<(), String> {
        let password = self.password(Method::Scram)?;
        let plus = offered.contains(&SCRAM_SHA_256_PLUS);
        let end_point = self.own.end_point.take().filter(|_| self.own.binding != Binding::Disable);
        let (mechanism, binding) = match end_point {
            Some(hash) if plus => (SCRAM_SHA_256_PLUS, ChannelBinding::tls_server_end_point(hash)),
            _ if self.own.binding == Binding::Require => {
                return Err(
                    "channel binding is required, and cannot be had: the connection is not \
                            encrypted, or the server does not offer it"
                        .to_owned(),
                );
            }
            // The server then knows that its offer did not reach the client.
            Some(_) => (SCRAM_SHA_256, ChannelBinding::unrequested()),
            None => (SCRAM_SHA_256, ChannelBinding::unsupported()),
        };
        if !offered.contains(&mechanism) {
            return Err(format!("authentication by {} only", offered.join(", ")));
        }
        self.bound = mechanism == SCRAM_SHA_256_PLUS;
        let scram = self.scram.insert(ScramSha256::new(password, binding));
        frontend::sasl_initial_response(mechanism, scram.message(), output)
            .map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(text: &str, binding: Binding, tag: i32) -> Result<BytesMut, String> {
        let methods = RequireAuth::try_from(text.to_owned())?;
        let own = Credentials {
            user: "me",
            password: Some("secret"),
            methods: &methods,
            binding,
            end_point: None,
        };
        let mut message = BytesMut::from(&b"R"[..]);
        let body: &[u8] = match tag {
            5 => b"salt",
            10 => b"SCRAM-SHA-256\0\0",
            _ => b"",
        };
        message.extend_from_slice(&(8 + body.len() as i32).to_be_bytes());
        message.extend_from_slice(&tag.to_be_bytes());
        message.extend_from_slice(body);
        let message = Message::parse(&mut message).unwrap().unwrap();
        let mut output = BytesMut::new();
        let taken = Authentication::new(own).take(&message, &mut output);
        assert!(taken.is_ok() || output.is_empty(), "something was sent, and then refused");
        taken.map(|_| output)
    }

    #[test]
    fn what_is_not_allowed_gets_no_answer() {
        for (text, tags) in [
            ("", &[0, 3, 5, 10][..]),
            ("none", &[0]),
            ("password", &[3]),
            ("md5, scram-sha-256", &[5, 10]),
            ("scram-sha-256", &[10]),
            ("!password,!md5,!none", &[10]),
            ("!password", &[0, 5, 10]),
            ("gss", &[]),
        ] {
            for tag in [0, 3, 5, 10] {
                let answer = asked(text, Binding::Prefer, tag);
                assert_eq!(answer.is_ok(), tags.contains(&tag), "{text}: {tag}: {answer:?}");
            }
        }
    }

    #[test]
    fn without_encryption_nothing_is_bound() {
        for tag in [0, 3, 5, 10] {
            let message = asked("", Binding::Require, tag).unwrap_err();
            assert!(message.contains("channel binding"), "{message}");
        }
    }

    #[test]
    fn a_list_is_read_as_libpq_reads_it() {
        for (text, word) in [("scram", "scram"), ("password,!md5", "forbids"), ("x,y", "\"x\"")] {
            let message = RequireAuth::try_from(text.to_owned()).unwrap_err();
            assert!(message.contains(word), "{message}");
        }
    }
}
