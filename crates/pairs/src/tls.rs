//! Encrypted connections, as libpq's `sslmode`, `sslrootcert`, `sslcert` and `sslkey`.

use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{
    WebPkiSupportedAlgorithms, ring, verify_tls12_signature, verify_tls13_signature,
};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, Error, RootCertStore,
    SignatureScheme,
};
use serde::Deserialize;
use sha2::{Digest as _, Sha224, Sha256, Sha384, Sha512};

/// `sslrootcert` of this name: the certificates that the system trusts.
const SYSTEM: &str = "system";
const SYSTEM_BUNDLES: &[&str] = &[
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// `sslmode`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// In clear.
    #[default]
    Disable,
    /// In clear, and encrypted where the server does not take that.
    Allow,
    /// Encrypted where the server offers it.
    Prefer,
    /// Encrypted; the server's certificate is looked at where there are roots.
    Require,
    /// Encrypted, with a certificate that a root has signed.
    VerifyCa,
    /// The same, for the host's name.
    VerifyFull,
}

/// One way to begin a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attempt {
    /// In clear.
    Plain,
    /// Encrypted, or in clear where the server does not encrypt.
    Offered,
    /// Encrypted.
    Encrypted,
}

impl Mode {
    /// What is tried, one after the other.
    #[must_use]
    pub fn attempts(self) -> &'static [Attempt] {
        match self {
            Self::Disable => &[Attempt::Plain],
            Self::Allow => &[Attempt::Plain, Attempt::Encrypted],
            Self::Prefer => &[Attempt::Offered, Attempt::Plain],
            Self::Require | Self::VerifyCa | Self::VerifyFull => &[Attempt::Encrypted],
        }
    }
}

/// How connections to a server are encrypted.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Encryption {
    /// Whether.
    #[serde(default)]
    pub mode: Mode,
    /// The file of the certificates that are trusted, or "system".
    #[serde(default)]
    pub roots: Option<PathBuf>,
    /// The file of the client's certificate and of those between it and its root.
    #[serde(default)]
    pub certificate: Option<PathBuf>,
    /// The file of the client's key.
    #[serde(default)]
    pub key: Option<PathBuf>,
}

impl Encryption {
    /// What all connections to a server share.
    ///
    /// # Errors
    /// Where a file cannot be read, or roots are missing.
    fn config(&self) -> Result<ClientConfig, String> {
        let provider = ring::default_provider();
        let verifier = Verifier {
            trusted: self.trusted()?,
            names: self.mode == Mode::VerifyFull,
            algorithms: provider.signature_verification_algorithms,
        };
        let builder = ClientConfig::builder_with_provider(Arc::new(provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier));
        match (&self.certificate, &self.key) {
            (Some(certificate), Some(key)) => {
                let failed = |error| format!("{}: {error}", key.display());
                let chain = certificates(certificate)?;
                let key = PrivateKeyDer::from_pem_file(key).map_err(failed)?;
                builder.with_client_auth_cert(chain, key).map_err(|error| error.to_string())
            }
            _ => Ok(builder.with_no_client_auth()),
        }
    }

    /// The roots; None where any certificate will do.
    fn trusted(&self) -> Result<Option<Trusted>, String> {
        let verifies = matches!(self.mode, Mode::VerifyCa | Mode::VerifyFull);
        let path = match &self.roots {
            Some(path) if path.as_os_str() == SYSTEM => {
                let found = SYSTEM_BUNDLES.iter().map(Path::new).find(|path| path.is_file());
                found.ok_or("the system's root certificates are not found")?
            }
            Some(path) if verifies || (self.mode == Mode::Require && path.is_file()) => path,
            None if verifies => {
                return Err("there are no root certificates (sslrootcert)".to_owned());
            }
            _ => return Ok(None),
        };
        let own = certificates(path)?;
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(own.iter().cloned());
        Ok(Some(Trusted { roots, own }))
    }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let failed = |error| format!("{}: {error}", path.display());
    let all = CertificateDer::pem_file_iter(path).map_err(failed)?;
    let all = all.collect::<Result<Vec<_>, _>>().map_err(failed)?;
    if all.is_empty() { Err(format!("{}: no certificate", path.display())) } else { Ok(all) }
}

#[derive(Debug)]
struct Trusted {
    roots: RootCertStore,
    own: Vec<CertificateDer<'static>>,
}

#[derive(Debug)]
struct Verifier {
    trusted: Option<Trusted>,
    names: bool,
    algorithms: WebPkiSupportedAlgorithms,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(trusted) = &self.trusted else { return Ok(ServerCertVerified::assertion()) };
        let certificate = ParsedCertificate::try_from(end_entity)?;
        let signed = verify_server_cert_signed_by_trust_anchor(
            &certificate,
            &trusted.roots,
            intermediates,
            now,
            self.algorithms.all,
        );
        match signed {
            Ok(()) => {}
            // A server's own certificate among the roots is trusted, though it may be of an authority.
            Err(Error::InvalidCertificate(CertificateError::Other(_)))
                if trusted.own.contains(end_entity) => {}
            Err(error) => return Err(error),
        }
        if self.names {
            verify_server_name(&certificate, server_name)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

/// An encrypted stream.
#[derive(Debug)]
pub struct Tls {
    session: ClientConnection,
    /// What is encrypted goes over it.
    pub stream: TcpStream,
}

impl Tls {
    /// Encrypt a stream that blocks; the server has agreed to it.
    ///
    /// # Errors
    /// Where the server's certificate is not trusted, or the handshake fails.
    pub fn begin(encryption: &Encryption, host: &str, stream: TcpStream) -> io::Result<Self> {
        let config = encryption.config().map_err(io::Error::other)?;
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        let mut session =
            ClientConnection::new(Arc::new(config), name).map_err(io::Error::other)?;
        session.set_buffer_limit(None);
        let mut tls = Self { session, stream };
        while tls.session.is_handshaking() {
            tls.session.complete_io(&mut tls.stream)?;
        }
        Ok(tls)
    }

    /// The hash of the server's certificate that SCRAM is bound to (RFC 5929, tls-server-end-point);
    /// None where its signature has no hash function of its own.
    #[must_use]
    pub fn end_point(&self) -> Option<Vec<u8>> {
        hashed(self.session.peer_certificates()?.first()?)
    }

    /// Read what has come; 0 where the server closed.
    ///
    /// # Errors
    /// Where the stream is broken, or has nothing now.
    pub fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.session.reader().read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(0),
                read => return read,
            }
            if self.session.read_tls(&mut self.stream)? == 0 {
                return Ok(0);
            }
            self.session.process_new_packets().map_err(io::Error::other)?;
            self.flush()?;
        }
    }

    /// Whether something has come that is not read yet: the socket does not tell of it again.
    pub fn holds_more(&mut self) -> bool {
        self.session.process_new_packets().is_ok_and(|state| state.plaintext_bytes_to_read() > 0)
    }

    /// Take bytes to be sent; all of them.
    ///
    /// # Errors
    /// None but the library's own.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.session.writer().write(bytes)
    }

    /// Send what the socket takes; true where that was all.
    ///
    /// # Errors
    /// Where the stream is broken.
    pub fn flush(&mut self) -> io::Result<bool> {
        while self.session.wants_write() {
            match self.session.write_tls(&mut self.stream) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// Whether something is still to be sent.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.session.wants_write()
    }

    /// Tell the server that nothing follows.
    pub fn close(&mut self) {
        self.session.send_close_notify();
        let _ = self.flush();
    }
}

/// A certificate's hash, by the function of its signature; in place of MD5 and SHA-1, SHA-256.
fn hashed(certificate: &[u8]) -> Option<Vec<u8>> {
    const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01];
    const ECDSA: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04];
    let (whole, _) = element(certificate)?;
    let (_, after) = element(whole)?;
    let (algorithm, _) = element(after)?;
    let (name, _) = element(algorithm)?;
    let bits = match (name.strip_prefix(RSA), name.strip_prefix(ECDSA)) {
        (Some([4 | 5 | 11]), _) | (_, Some([1] | [3, 2])) => 256,
        (Some([12]), _) | (_, Some([3, 3])) => 384,
        (Some([13]), _) | (_, Some([3, 4])) => 512,
        (Some([14]), _) | (_, Some([3, 1])) => 224,
        _ => return None,
    };
    Some(match bits {
        224 => Sha224::digest(certificate).to_vec(),
        256 => Sha256::digest(certificate).to_vec(),
        384 => Sha384::digest(certificate).to_vec(),
        _ => Sha512::digest(certificate).to_vec(),
    })
}

/// The content of the first element in DER, and what follows it.
fn element(der: &[u8]) -> Option<(&[u8], &[u8])> {
    let (&first, rest) = der.get(1..)?.split_first()?;
    let (length, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        0x81..=0x84 => {
            let (bytes, rest) = rest.split_at_checked(usize::from(first - 0x80))?;
            (bytes.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), rest)
        }
        _ => return None,
    };
    rest.split_at_checked(length)
}
