//! wrk, the load generator: what it is told, and what its output says.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, ensure};

/// Connections it keeps open.
const CONNECTIONS: u32 = 32;

/// The figures of one run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Load {
    /// Requests a second.
    pub(crate) rate: f64,
    /// The time 99 of 100 requests took at most, in milliseconds.
    pub(crate) p99: f64,
}

/// A script for wrk that asks for each path in turn, made once so that asking costs nothing.
pub(crate) fn gets(paths: &[String]) -> String {
    let list = paths.iter().map(|path| format!("  wrk.format(\"GET\", {path:?}),\n")).collect::<String>();
    turns(&list)
}

/// A script for wrk that asks for one path again and again, with headers as wrk writes them.
pub(crate) fn get_with(path: &str, headers: &str) -> String {
    turns(&format!("  wrk.format(\"GET\", {path:?}, {headers}),\n"))
}

/// A script for wrk that sends the same JSON to one path again and again.
pub(crate) fn posts(path: &str, body: &str) -> String {
    turns(&format!(
        "  wrk.format(\"POST\", {path:?}, {{[\"content-type\"] = \"application/json\"}}, {body:?}),\n"
    ))
}

fn turns(list: &str) -> String {
    format!(
        "local requests = {{}}\nlocal turn = 0\n\nfunction init(arguments)\n  requests = {{\n{list}  }}\nend\n\n\
         function request()\n  turn = turn % #requests + 1\n  return requests[turn]\nend\n"
    )
}

/// Loads an address for some seconds.
pub(crate) fn run(
    script: &Path,
    address: &str,
    seconds: u64,
    connections: Option<u32>,
) -> anyhow::Result<Load> {
    let output = Command::new("wrk")
        .args(["--threads", "1", "--latency", "--timeout", "10s"])
        .args(["--connections", &connections.unwrap_or(CONNECTIONS).to_string()])
        .args(["--duration", &format!("{seconds}s"), "--script"])
        .arg(script)
        .arg(format!("http://{address}/"))
        .output()
        .context("wrk does not start")?;
    let text = String::from_utf8_lossy(&output.stdout);
    ensure!(
        output.status.success(),
        "wrk ended with {}: {text}{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    read(&text)
}

fn read(text: &str) -> anyhow::Result<Load> {
    // A figure with failed requests in it is no figure.
    ensure!(!text.contains("Non-2xx") && !text.contains("Socket errors"), "requests failed:\n{text}");
    let field = |label: &str| {
        let line = text.lines().find_map(|line| line.trim().strip_prefix(label));
        line.map(str::trim).with_context(|| format!("wrk does not say {label}:\n{text}"))
    };
    let rate = field("Requests/sec:")?.parse::<f64>()?;
    let p99 = milliseconds(field("99%")?).with_context(|| format!("wrk's 99% is not understood:\n{text}"))?;
    Ok(Load { rate, p99 })
}

fn milliseconds(text: &str) -> Option<f64> {
    let split = text.find(|c: char| c.is_ascii_alphabetic())?;
    let value = text[..split].parse::<f64>().ok()?;
    match &text[split..] {
        "us" => Some(value / 1_000.0),
        "ms" => Some(value),
        "s" => Some(value * 1_000.0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "Running 1s test @ http://127.0.0.1:1/\n  1 threads and 32 connections\n  Latency Distribution\n     50%  430.00us\n     99%    1.62ms\n  63123 requests in 1.00s, 80MB read\nRequests/sec:  62996.70\nTransfer/sec:     80.11MB\n";

    #[test]
    fn its_output_is_understood() {
        assert_eq!(read(OUTPUT).unwrap(), Load { rate: 62_996.70, p99: 1.62 });
        assert!(read(&format!("{OUTPUT}  Non-2xx or 3xx responses: 5\n")).is_err());
        assert!(read("").is_err());
        assert_eq!((milliseconds("430.00us"), milliseconds("1.10s")), (Some(0.43), Some(1_100.0)));
    }
}
