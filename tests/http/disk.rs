//! Attack row 32: a disk that is full or read-only is told in one line, and takes nothing from what was published.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::kit::registries::{EXAMPLE, kubernetes_template};
use crate::kit::{Commit, GitRemote, Repository, Server, formwork, git_or_skip, run_with, skipped, wait_for};

const REGISTRY: &str = "git.example/acme/growing";

/// A small file system of its own, unmounted when dropped.
struct SmallDisk<'a>(&'a Path);

impl<'a> SmallDisk<'a> {
    fn mount(at: &'a Path, size: &str) -> Option<SmallDisk<'a>> {
        std::fs::create_dir_all(at).unwrap();
        mount(&["-t", "tmpfs", "-o", &format!("size={size}"), "none"], at).then_some(SmallDisk(at))
    }

    fn grow(&self, size: &str) {
        assert!(mount(&["-o", &format!("remount,size={size}")], self.0));
    }
}

impl Drop for SmallDisk<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0).status();
    }
}

fn mount(arguments: &[&str], at: &Path) -> bool {
    let mut command = Command::new("mount");
    command.args(arguments).arg(at).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Bytes that do not compress.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u8
    };
    (0..length).map(|_| next()).collect()
}

fn version(number: u32) -> Commit {
    let directory = format!("redis/v1.0.{number}");
    Commit::default()
        .file(&format!("{directory}/redis.yaml"), kubernetes_template("redis", "text"))
        .file(&format!("{directory}/example.yaml"), EXAMPLE)
}

#[test]
fn a_full_disk_keeps_what_was_published_and_recovers() {
    if !git_or_skip() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let Some(disk) = SmallDisk::mount(&data, "24m") else {
        return skipped("no file system can be mounted here");
    };
    let mut repository = Repository::create(&directory.path().join("growing.git")).unwrap();
    repository.commit(version(0)).unwrap();
    let remote = GitRemote::serve(directory.path()).unwrap();
    let source = format!("{REGISTRY}={}", remote.url("growing.git"));
    let server = Server::launch_on(&data, &["--registry", &source, "--poll", "1s"]);
    server.wait_ready();
    server.wait_version("redis", "v1.0.0");

    let large = version(1).file("redis/v1.0.1/image.bin", noise(18 << 20));
    repository.commit(large).unwrap();
    let failed = wait_for("the sync to fail", || {
        Some(server.sync(REGISTRY)).filter(|status| status["state"] == "failed")
    });
    println!("said: {}", failed["message"]);
    server.resolve("redis").expect_status(200);
    assert_eq!(server.resolve("redis").json()["resolved"], "v1.0.0");
    assert_eq!(server.get("/api/v1/templates/redis:=v1.0.0/-/files/redis.yaml").status, 200);
    server.resolve("redis:=v1.0.1").expect_status(404);

    disk.grow("400m");
    server.wait_version("redis", "v1.0.1");
    let (status, log) = server.stop();
    assert!(status.success(), "{log}");
    let mut command = formwork();
    command.arg("fsck").arg("--repair").arg("--data").arg(&data);
    let checked = run_with(command, b"");
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));
}

#[test]
fn a_read_only_data_directory_is_refused_in_one_line() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::launch_on(data.path(), &["examples/registry"]);
    server.wait_ready();
    let (status, log) = server.stop();
    assert!(status.success(), "{log}");
    // Everybody may read it, nobody may write.
    let mut directories = vec![data.path().to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(&directory).unwrap().flatten() {
            if entry.path().is_dir() {
                directories.push(entry.path());
            } else {
                std::fs::set_permissions(entry.path(), PermissionsExt::from_mode(0o444)).unwrap();
            }
        }
        std::fs::set_permissions(&directory, PermissionsExt::from_mode(0o555)).unwrap();
    }
    let mut command = formwork();
    command.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(data.path()).arg("examples/registry");
    command.current_dir(crate::kit::workspace());
    // Who may do everything may write here too.
    if is_root() {
        command.uid(65_534).gid(65_534);
    }
    let output = run_with(command, b"");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    let last = said.lines().last().unwrap_or_default();
    assert!(
        last.contains("writable for this user") && last.contains(&*data.path().to_string_lossy()),
        "{said}"
    );
}

/// Whether this process may do everything.
fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0)
}
