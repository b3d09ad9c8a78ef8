//! Sockets: listening, TLS, limits on connections, and stopping without dropping anybody.
//!
//! A head must arrive within [`HEAD_DEADLINE`]; a client that stops reading or sending for [`STALLED`] is hung up on
//! (`stall`), so slow readers cost a descriptor for a while and no more. At the limit of connections none is
//! accepted until one ends: the kernel's queue and then the client wait.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use catalog::Catalog;
use http::Request;
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_rustls::TlsAcceptor;

use crate::access::sessions::Sessions;
use crate::access_log::AccessLogger;
use crate::compress::Packed;
use crate::dm::Manager;
use crate::front::{AnswerBody, Answering, Front};
use crate::kubernetes::Kubernetes;
use crate::limits::Limits;
use crate::memo::Memo;
use crate::metrics::Metrics;
use crate::previews::Previews;
use crate::ready::ReadyAnswers;
use crate::request_id::RequestIds;
use crate::stall::Stall;
use crate::state::{App, Processor, Syncs};
use crate::webhooks::Receiver;
use crate::{ServeError, ServerConfig, Tls};

/// Longest the head of a request may take, from the first byte or the end of the request before.
const HEAD_DEADLINE: Duration = Duration::from_secs(30);
/// Longest a handshake may take.
const HANDSHAKE_DEADLINE: Duration = Duration::from_secs(10);
/// Longest a client may neither take nor give a byte while one is wanted.
const STALLED: Duration = Duration::from_secs(60);
/// Longest requests under way may take once the server stops.
const STOPPING: Duration = Duration::from_secs(20);
/// Time between two notes of when tokens were last used.
const TOKEN_USES: Duration = Duration::from_secs(60);
/// Bytes of a request's head.
const HEAD_BYTES: usize = 64 << 10;

/// A server that listens and does not answer yet.
pub struct Server {
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    front: Front,
    connections: Arc<Semaphore>,
}

impl Server {
    /// Listens. The first request is answered once [`Server::run`] runs.
    ///
    /// # Errors
    /// When the address cannot be had, or the configuration cannot be used.
    pub async fn bind(
        config: ServerConfig,
        catalog: Catalog,
        processor: Box<dyn Processor>,
        syncs: Box<dyn Syncs>,
    ) -> Result<Server, ServeError> {
        let tls = config.tls.as_ref().map(acceptor).transpose()?;
        let listen = config.listen;
        let listener =
            TcpListener::bind(listen).await.map_err(|cause| ServeError::Listen { listen, cause })?;
        let local = listener.local_addr().map_err(|cause| ServeError::Listen { listen, cause })?;
        let connections = Arc::new(Semaphore::new(config.connections.min(Semaphore::MAX_PERMITS)));
        let front = front(config, local, catalog, processor, syncs).await?;
        Ok(Server { listener, tls, front, connections })
    }

    /// Where it listens.
    ///
    /// # Errors
    /// When the system does not say.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// The service, to be driven without a socket.
    pub fn front(&self) -> Front {
        self.front.clone()
    }

    /// Answers until `shutdown`, then lets requests under way finish for a while.
    pub async fn run(self, shutdown: impl Future<Output = ()>) {
        let mut shutdown = pin!(shutdown);
        let graceful = GracefulShutdown::new();
        let mut builder = auto::Builder::new(TokioExecutor::new());
        builder.http1().timer(TokioTimer::new()).header_read_timeout(HEAD_DEADLINE).max_buf_size(HEAD_BYTES);
        builder
            .http2()
            .timer(TokioTimer::new())
            .keep_alive_interval(HEAD_DEADLINE)
            .max_concurrent_streams(128);
        let builder = Arc::new(builder);
        let reports = tokio::spawn(crate::reports::keep_reporting(self.front.app().clone()));
        let notes = tokio::spawn(note_token_uses(Arc::clone(self.front.app())));
        let forgetting = tokio::spawn(crate::dm::keep_forgetting(Arc::clone(self.front.app())));
        loop {
            let accepted = tokio::select! {
                biased;
                () = &mut shutdown => break,
                accepted = self.accept() => accepted,
            };
            let Some((stream, peer, permit)) = accepted else { continue };
            let connection = Connection { front: self.front.clone(), peer: peer.ip() };
            let (builder, watcher, tls) = (Arc::clone(&builder), graceful.watcher(), self.tls.clone());
            tokio::spawn(async move {
                connection.front.app().metrics.connections.inc();
                let metrics = connection.front.clone();
                match tls {
                    None => converse(&builder, stream, connection, watcher).await,
                    // A handshake that fails or dawdles is the client's affair; there is nobody to tell.
                    Some(tls) => {
                        if let Ok(Ok(stream)) =
                            tokio::time::timeout(HANDSHAKE_DEADLINE, tls.accept(stream)).await
                        {
                            converse(&builder, stream, connection, watcher).await;
                        }
                    }
                }
                metrics.app().metrics.connections.dec();
                drop(permit);
            });
        }
        // They would go on for as long as their clients like.
        self.front.app().kubernetes.watchers.stop();
        // Closing the catalogue writes down what is left.
        notes.abort();
        forgetting.abort();
        drop(self.listener);
        // What was made and not shown is made again by the next server.
        reports.abort();
        if tokio::time::timeout(STOPPING, graceful.shutdown()).await.is_err() {
            tracing::warn!(
                "requests were still under way {} s after the server was stopped",
                STOPPING.as_secs()
            );
        }
    }

    async fn accept(&self) -> Option<(TcpStream, SocketAddr, OwnedSemaphorePermit)> {
        let permit = Arc::clone(&self.connections).acquire_owned().await.ok()?;
        match self.listener.accept().await {
            Ok((stream, peer)) => {
                // Answers are written whole; waiting for more to send would only delay them.
                let _ = stream.set_nodelay(true);
                Some((stream, peer, permit))
            }
            Err(error) => {
                // Out of descriptors, most likely: answer those who are here and come back.
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(100)).await;
                None
            }
        }
    }
}

/// Has it written down now and then when tokens were last used: a request only notes it in memory.
async fn note_token_uses(app: Arc<App>) {
    loop {
        tokio::time::sleep(TOKEN_USES).await;
        if let Err(error) = app.catalog.save_token_uses().await {
            tracing::warn!(%error, "when tokens were last used was not written down; it is tried again");
        }
    }
}

async fn converse<S>(
    builder: &auto::Builder<TokioExecutor>,
    stream: S,
    connection: Connection,
    watcher: hyper_util::server::graceful::Watcher,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let conversation = builder.serve_connection(TokioIo::new(Stall::new(stream, STALLED)), connection);
    if let Err(error) = watcher.watch(conversation).await {
        tracing::debug!(error, "a connection ended early");
    }
}

/// One connection's view of the front.
struct Connection {
    front: Front,
    peer: IpAddr,
}

impl hyper::service::Service<Request<Incoming>> for Connection {
    type Response = http::Response<AnswerBody>;
    type Error = Infallible;
    type Future = Infallibly;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        Infallibly(self.front.answer(request, Some(self.peer)))
    }
}

/// An answer that always comes.
struct Infallibly(Answering);

impl Future for Infallibly {
    type Output = Result<http::Response<AnswerBody>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, context: &mut std::task::Context<'_>) -> std::task::Poll<Self::Output> {
        Pin::new(&mut self.0).poll(context).map(Ok)
    }
}

async fn front(
    config: ServerConfig,
    local: SocketAddr,
    catalog: Catalog,
    processor: Box<dyn Processor>,
    syncs: Box<dyn Syncs>,
) -> Result<Front, ServeError> {
    let base = config.public_url.as_deref().map(public_url).transpose()?.unwrap_or_default();
    let shown_base = if base.is_empty() { local_url(local, config.tls.is_some()) } else { base.clone() };
    let https = config.tls.is_some() || base.starts_with("https://");
    let previews = Previews::new(processor.load().0.workers);
    // A public URL says that something in front lets others in.
    let is_local = local.ip().is_loopback() && base.is_empty();
    Ok(Front::new(Arc::new(App {
        webhooks: Receiver::new(config.webhooks, &catalog).await,
        kubernetes: Kubernetes::new(config.hosted),
        catalog,
        processor,
        syncs,
        home: config.home,
        remote: config.remote,
        base,
        shown_base,
        metrics: Metrics::new(),
        sessions: Sessions::new(https),
        ready: ReadyAnswers::new(),
        packed: Packed::new(),
        limits: Limits::new(&config.limits),
        previews,
        home_page: Memo::new(),
        registry_pages: Memo::new(),
        ids: RequestIds::new(),
        log: AccessLogger::start(&config.access_log).map_err(ServeError::AccessLog)?,
        dm: Manager::new(is_local, config.deployments),
    })))
}

/// A public URL without its last slash.
fn public_url(url: &str) -> Result<String, ServeError> {
    let error = |why| ServeError::PublicUrl { url: url.to_owned(), why };
    let rest = url
        .strip_prefix("https://")
        .or_else(|| url.strip_prefix("http://"))
        .ok_or_else(|| error("it has no scheme"))?;
    let host = rest.strip_suffix('/').unwrap_or(rest);
    if host.is_empty() || !host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte)) {
        return Err(error("behind the scheme there is more than a host, or no host"));
    }
    Ok(url.strip_suffix('/').unwrap_or(url).to_owned())
}

/// Where a reader on this machine reaches the server.
fn local_url(local: SocketAddr, tls: bool) -> String {
    let scheme = if tls { "https" } else { "http" };
    if local.ip().is_unspecified() {
        format!("{scheme}://localhost:{}", local.port())
    } else {
        format!("{scheme}://{local}")
    }
}

fn acceptor(tls: &Tls) -> Result<TlsAcceptor, ServeError> {
    let error = |path: &std::path::Path, why: String| ServeError::Tls { path: path.to_owned(), why };
    // The binary installs a provider; whoever uses this crate otherwise gets the same one.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let certificates = CertificateDer::pem_file_iter(&tls.cert)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|cause| error(&tls.cert, format!("no certificate can be read: {cause}")))?;
    let key = PrivateKeyDer::from_pem_file(&tls.key)
        .map_err(|cause| error(&tls.key, format!("no private key can be read: {cause}")))?;
    let mut config = rustls::ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(certificates, key)
        .map_err(|cause| error(&tls.cert, format!("the certificate and the key cannot be used: {cause}")))?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_urls_are_a_scheme_and_a_host() {
        assert_eq!(public_url("https://t.example/").unwrap(), "https://t.example");
        assert_eq!(public_url("http://127.0.0.1:8080").unwrap(), "http://127.0.0.1:8080");
        for bad in [
            "t.example",
            "ftp://t.example",
            "https://",
            "https://t.example/path",
            "https://a@b",
            "https://a\"b",
        ] {
            assert!(public_url(bad).is_err(), "{bad}");
        }
        assert_eq!(local_url(([0, 0, 0, 0], 80).into(), false), "http://localhost:80");
    }
}
