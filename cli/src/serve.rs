//! `formwork serve` and `formwork config`: builds the server of its parts and runs it until told to stop.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use catalog::Catalog;
use indexer::{Indexer, IndexerConfig};
use server::{AccessLog, RateLimits, Server, ServerConfig, Tls};
use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::EnvFilter;
use worker::python::{Preparation, Python};
use worker::{Pool, PoolConfig};

use crate::arguments::ServeArguments;
use crate::output;
use crate::settings::Settings;

/// Memory a fetch and scan may take.
const SCAN_MEMORY: u64 = 1 << 30;

pub(crate) fn config(arguments: &ServeArguments) -> anyhow::Result<ExitCode> {
    let settings = Settings::read(arguments)?;
    if arguments.json {
        let rows = settings.rows().into_iter().map(|(key, value, origin)| {
            serde_json::json!({ "key": key, "value": value, "from": origin.to_string() })
        });
        output::line(serde_json::to_string_pretty(&rows.collect::<Vec<_>>())?);
    } else {
        let rows = settings.rows().into_iter().map(|(key, value, origin)| {
            let value = if value.is_empty() { "-".to_owned() } else { value };
            vec![key, value, origin.to_string()]
        });
        output::print(output::table(&["KEY", "VALUE", "FROM"], &rows.collect::<Vec<_>>()));
    }
    Ok(ExitCode::SUCCESS)
}

/// How long threads that wait for something are given to end by themselves.
const LEFT_BEHIND: std::time::Duration = std::time::Duration::from_millis(500);

pub(crate) fn run(arguments: &ServeArguments) -> anyhow::Result<ExitCode> {
    let settings = Settings::read(arguments)?;
    tracing_subscriber::fmt()
        .with_env_filter(
            EnvFilter::try_from_env("FORMWORK_LOG")
                .unwrap_or_else(|_| EnvFilter::new("info,tantivy=warn,sqlx=warn")),
        )
        .with_writer(std::io::stderr)
        .with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()))
        .init();
    rustls::crypto::ring::default_provider().install_default().ok();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("the runtime could not be started")?;
    let ended = runtime.block_on(serve(settings));
    // What still runs is a report that waits for its turn; it is made at the next start.
    runtime.shutdown_timeout(LEFT_BEHIND);
    ended.map(|()| ExitCode::SUCCESS)
}

async fn serve(settings: Settings) -> anyhow::Result<()> {
    // First, so that a second server on the same directory is refused before anything else happens.
    let policy = catalog::Policy {
        settle: settings.settle.value.as_secs() as i64,
        drop_share: settings.drop_share.value,
    };
    let options = catalog::Options { policy, ..catalog::Options::default() };
    let (catalog, opened) = Catalog::open(&settings.data.value, options).await?;
    tracing::info!(generation = opened.generation, "the catalogue is open");
    let python = Python {
        cache: settings.python_cache.value.clone().unwrap_or_else(|| settings.data.value.join("python")),
        preparation: Preparation::AtStart,
        announce: None,
    };
    let pool = Arc::new(Pool::start(PoolConfig::own(settings.workers.value).with_python(python))?);
    for registry in settings.registries.iter().map(|registry| &registry.value) {
        if registry.connection.credentials.is_some() && registry.source.is_in_the_clear() {
            tracing::warn!(registry = %registry.name, "its password is sent over http, where others can read it");
        }
    }
    let registries = settings.registries.iter().map(|registry| registry.value.clone()).collect::<Vec<_>>();
    let indexer = Arc::new(
        Indexer::start(
            catalog.clone(),
            registries,
            IndexerConfig {
                program: worker::own_executable(),
                arguments: vec!["__scan".into()],
                mirrors: settings.data.value.join("mirrors"),
                poll: settings.poll.value,
                memory: SCAN_MEMORY,
                remove_unlisted: settings.remove_unlisted.value,
                wall: settings.fetch_time.value,
                fetch_bytes: settings.fetch_limit.value,
                admitted: settings.admitted(),
            },
        )
        .await?,
    );
    let tls = match (&settings.tls_cert.value, &settings.tls_key.value) {
        (Some(cert), Some(key)) => Some(Tls { cert: cert.clone(), key: key.clone() }),
        _ => None,
    };
    let scheme = if tls.is_some() { "https" } else { "http" };
    let config = ServerConfig {
        public_url: settings.public_url.value.clone(),
        tls,
        home: settings.home.value.clone(),
        remote: indexer::Remote::new(settings.allow_url.value.clone(), settings.addresses()),
        webhooks: settings.webhooks.clone(),
        deployments: settings.deployments.limits(),
        access_log: access_log(settings.access_log.value.as_deref()),
        limits: RateLimits {
            requests: settings.rate_limit.value,
            search: settings.rate_limit_search.value,
            process: settings.rate_limit_process.value,
        },
        ..ServerConfig::new(settings.listen.value)
    };
    let server =
        Server::bind(config, catalog.clone(), Box::new(pool.clone()), Box::new(indexer.clone())).await?;
    let address = server.local_addr().context("the address could not be read back")?;
    tracing::info!("listening on {scheme}://{address}");
    #[cfg(feature = "github")]
    let looking = settings.discovery.map(|discovery| {
        let given = settings.registries.iter().map(|registry| registry.value.name.clone()).collect();
        let looking =
            crate::discovery::keep_looking(discovery.value, given, catalog.clone(), indexer.clone());
        tokio::spawn(looking)
    });
    server.run(stop()).await;
    #[cfg(feature = "github")]
    if let Some(looking) = looking {
        looking.abort();
        // It ends where it waits next; a write that was begun goes to its end.
        let _ = looking.await;
    }
    indexer.shutdown().await;
    pool.shutdown();
    catalog.close().await;
    tracing::info!("stopped");
    Ok(())
}

fn access_log(path: Option<&Path>) -> AccessLog {
    match path {
        None => AccessLog::Off,
        Some(path) if path.as_os_str() == "-" => AccessLog::StandardOutput,
        Some(path) => AccessLog::File(path.to_owned()),
    }
}

/// Ends on SIGTERM or SIGINT.
async fn stop() {
    let (Ok(mut terminate), Ok(mut interrupt)) =
        (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    tracing::info!("stopping: requests under way are finished first");
}
