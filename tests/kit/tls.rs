//! Certificates made on the spot by the openssl program, and TLS on top of a connection.

use std::io;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::git_http::Stream;

/// A certification authority of a test's own, and a server it vouches for: `localhost` and `127.0.0.1`.
pub(crate) struct Authority {
    directory: PathBuf,
}

impl Authority {
    /// Makes both in a directory; nothing if there is no openssl program.
    pub(crate) fn create(directory: &Path) -> Option<Authority> {
        std::fs::create_dir_all(directory).expect("a directory can be made");
        let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
        let run = |arguments: &[&str]| {
            let status = Command::new("openssl")
                .args(arguments)
                .current_dir(directory)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status();
            status.is_ok_and(|status| status.success())
        };
        let authority =
            ["-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=An authority of a test"];
        let request = ["-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=localhost"];
        std::fs::write(directory.join("names"), "subjectAltName=DNS:localhost,IP:127.0.0.1\n")
            .expect("it is ours");
        let sign = [
            "x509",
            "-req",
            "-in",
            "server.csr",
            "-CA",
            "ca.pem",
            "-CAkey",
            "ca.key",
            "-CAcreateserial",
            "-out",
            "server.pem",
            "-days",
            "2",
            "-extfile",
            "names",
        ];
        let made = run(&[&["req", "-x509"], &key[..], &authority[..]].concat())
            && run(&[&["req", "-new"], &key[..], &request[..]].concat())
            && run(&sign);
        made.then(|| Authority { directory: directory.to_owned() })
    }

    /// Its own certificate, in PEM.
    pub(crate) fn certificate(&self) -> PathBuf {
        self.directory.join("ca.pem")
    }

    /// Puts TLS on top of the server's side of connections.
    pub(crate) fn wrap(&self) -> Box<dyn Fn(TcpStream) -> io::Result<Box<dyn Stream>> + Send + Sync> {
        // A second installation is refused and harmless.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let chain = CertificateDer::pem_file_iter(self.directory.join("server.pem"))
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .expect("openssl wrote it");
        let key = PrivateKeyDer::from_pem_file(self.directory.join("server.key")).expect("openssl wrote it");
        let config = rustls::ServerConfig::builder().with_no_client_auth().with_single_cert(chain, key);
        let config = Arc::new(config.expect("key and certificate belong together"));
        Box::new(move |stream| {
            let session = rustls::ServerConnection::new(config.clone()).map_err(io::Error::other)?;
            Ok(Box::new(Tls(rustls::StreamOwned::new(session, stream))))
        })
    }
}

/// A connection that says goodbye, so that its end is not taken for a cut.
struct Tls(rustls::StreamOwned<rustls::ServerConnection, TcpStream>);

impl io::Read for Tls {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl io::Write for Tls {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Drop for Tls {
    fn drop(&mut self) {
        self.0.conn.send_close_notify();
        // The other side may be gone.
        let _ = io::Write::flush(&mut self.0);
    }
}
