//! A local docker-registry that answers a manifest by its tag: what resolving a reference is compared to.
//!
//! Its store is written by hand, as its file system driver lays it out; so nothing must be pushed.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};

use crate::server::PATIENCE;

const MEDIA_TYPE: &str = "application/vnd.docker.distribution.manifest.v2+json";

/// A manifest of usual size, of an image with four layers.
fn manifest() -> String {
    let layer = |number: u32| {
        format!(
            "{{\"mediaType\":\"application/vnd.docker.image.rootfs.diff.tar.gzip\",\"size\":{},\"digest\":\"sha256:{}\"}}",
            1_000_000 + number,
            format!("{number:x}").repeat(64)
        )
    };
    let layers = (1..5).map(layer).collect::<Vec<_>>().join(",");
    format!(
        "{{\"schemaVersion\":2,\"mediaType\":{MEDIA_TYPE:?},\"config\":{{\"mediaType\":\"application/vnd.docker.container.image.v1+json\",\"size\":1469,\"digest\":\"sha256:{}\"}},\"layers\":[{layers}]}}",
        "a".repeat(64)
    )
}

/// A registry that is ended when it is dropped.
pub(crate) struct DockerRegistry {
    child: Child,
    /// `127.0.0.1:<port>`.
    pub(crate) address: String,
}

/// What is asked: the manifest by its tag.
pub(crate) const PATH: &str = "/v2/acme/app/manifests/v1";

/// The header it is asked with, in wrk's language.
pub(crate) fn headers() -> String {
    format!("{{[\"accept\"] = {MEDIA_TYPE:?}}}")
}

impl DockerRegistry {
    /// Starts one; `None` if there is none on this machine.
    pub(crate) fn start(directory: &Path) -> anyhow::Result<Option<DockerRegistry>> {
        let here = Command::new("docker-registry")
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        if here.is_err() {
            return Ok(None);
        }
        let root = directory.join("docker-registry");
        let store = root.join("docker/registry/v2");
        let write = |path: String, text: &str| {
            let path = store.join(path);
            std::fs::create_dir_all(path.parent().context("a path in the store")?)?;
            std::fs::write(&path, text).with_context(|| format!("{} cannot be written", path.display()))
        };
        let manifest = manifest();
        let hex = sha256(&root, &manifest)?;
        let link = format!("sha256:{hex}");
        let manifests = "repositories/acme/app/_manifests";
        write(format!("blobs/sha256/{}/{hex}/data", &hex[..2]), &manifest)?;
        write(format!("{manifests}/revisions/sha256/{hex}/link"), &link)?;
        write(format!("{manifests}/tags/v1/current/link"), &link)?;
        write(format!("{manifests}/tags/v1/index/sha256/{hex}/link"), &link)?;
        let port = std::net::TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
        let configuration = root.join("config.yml");
        let text = format!(
            "version: 0.1\nlog:\n  level: error\n  accesslog:\n    disabled: true\nstorage:\n  filesystem:\n    rootdirectory: {}\n  cache:\n    blobdescriptor: inmemory\nhttp:\n  addr: 127.0.0.1:{port}\n",
            root.display()
        );
        std::fs::write(&configuration, text)?;
        let child = Command::new("docker-registry")
            .arg("serve")
            .arg(&configuration)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("docker-registry does not start")?;
        let registry = DockerRegistry { child, address: format!("127.0.0.1:{port}") };
        let started = Instant::now();
        loop {
            if let Ok(answer) =
                crate::server::get_with(&registry.address, PATH, &format!("Accept: {MEDIA_TYPE}\r\n"))
            {
                ensure!(answer.status == 200, "docker-registry answers the manifest with {}", answer.status);
                ensure!(answer.body == manifest.as_bytes(), "docker-registry answers another manifest");
                return Ok(Some(registry));
            }
            if started.elapsed() > PATIENCE / 10 {
                bail!("docker-registry does not answer");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for DockerRegistry {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The SHA-256 of a text, by the program every Linux has.
fn sha256(directory: &Path, text: &str) -> anyhow::Result<String> {
    std::fs::create_dir_all(directory)?;
    let path = directory.join("manifest.json");
    std::fs::write(&path, text)?;
    let output = Command::new("sha256sum").arg(&path).output().context("sha256sum does not start")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.split_whitespace().next().map(str::to_owned).context("sha256sum says nothing")
}
