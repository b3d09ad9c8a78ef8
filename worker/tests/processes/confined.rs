//! What a confined process can still do.

use std::fs::File;
use std::net::TcpListener;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::json;
use worker::{Child, ChildConfig, ChildError, Limit, Reach};

use crate::kit::{done, job, lives, pool, run, until};

fn child() -> ChildConfig {
    ChildConfig::own(["__child"])
}

async fn ask(child: &mut Child, what: &str) -> String {
    child.send(what.as_bytes()).await.unwrap();
    String::from_utf8(child.receive(1 << 20).await.unwrap().unwrap()).unwrap()
}

/// Says loudly which measures this kernel does not have; the rest is tested.
fn holds(name: &str, guard: &worker::Guard) -> bool {
    if !guard.holds() {
        eprintln!("SKIPPED: what `{name}` forbids, for here it is {guard}");
    }
    guard.holds()
}

pub(crate) fn a_worker_can_only_compute() {
    run(async {
        let pool = pool(1).await;
        let outcome = done(pool.process(job("probe", json!({}))).await);
        let confinement = pool.confinement();
        assert_eq!((confinement.limits.holds(), confinement.parent.holds()), (true, true));
        assert_eq!(confinement.gaps().is_empty(), confinement.is_complete());
        let probed = &outcome.objects[0];
        assert_eq!(probed["environment"], json!([]));
        assert_ne!(probed["write"], "yes");
        let forbidden: [(_, _, &[&str]); 2] = [
            ("files", &confinement.files, &["read", "list", "connect"]),
            ("calls", &confinement.calls, &["read", "list", "connect", "socket", "program", "thread"]),
        ];
        for (name, guard, what) in forbidden {
            if holds(name, guard) {
                assert!(what.iter().all(|one| probed[*one] != "yes"), "{name}: {probed}");
            }
        }
    });
}

pub(crate) fn a_child_reaches_what_it_was_given_and_no_more() {
    run(async {
        let (given, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let secret = other.path().join("secret");
        std::fs::write(&secret, "x").unwrap();
        let config = ChildConfig { writable: vec![given.path().to_owned()], ..child() };
        let mut child = Child::start(config).await.unwrap();
        let file = given.path().join("file");
        assert_eq!(ask(&mut child, &format!("write {}", file.display())).await, "yes");
        assert_eq!(ask(&mut child, &format!("read {}", file.display())).await, "yes");
        if holds("files", &child.confinement().files.clone()) {
            assert_ne!(ask(&mut child, &format!("read {}", secret.display())).await, "yes");
            assert_ne!(ask(&mut child, &format!("write {}", secret.display())).await, "yes");
        }
        if holds("calls", &child.confinement().calls.clone()) {
            assert_ne!(ask(&mut child, &format!("connect {}", listener.local_addr().unwrap())).await, "yes");
            assert!(ask(&mut child, "start").await.parse::<u32>().is_err());
        }
        child.finish().await.unwrap();

        let config = ChildConfig { readable: vec![other.path().to_owned()], ..self::child() };
        let mut child = Child::start(config).await.unwrap();
        assert_eq!(ask(&mut child, &format!("read {}", secret.display())).await, "yes");
        if holds("files", &child.confinement().files.clone()) {
            assert_ne!(ask(&mut child, &format!("write {}", secret.display())).await, "yes");
        }
    });
}

pub(crate) fn a_child_with_network_has_it() {
    run(async {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut child = Child::start(ChildConfig { reach: Reach::Network, ..child() }).await.unwrap();
        assert_eq!(ask(&mut child, &format!("connect {}", listener.local_addr().unwrap())).await, "yes");
        assert_eq!(ask(&mut child, "write /dev/null").await, "yes");
        if holds("calls", &child.confinement().calls.clone()) {
            assert!(ask(&mut child, "start").await.parse::<u32>().is_err(), "it may not start programs");
        }

        // And the other way round.
        let readable = worker::confine::PROGRAMS_READABLE.iter().map(PathBuf::from).collect();
        let config = ChildConfig { reach: Reach::Programs, readable, ..self::child() };
        let mut child = Child::start(config).await.unwrap();
        if holds("calls", &child.confinement().calls.clone()) {
            assert_ne!(ask(&mut child, &format!("connect {}", listener.local_addr().unwrap())).await, "yes");
        }
        let started = ask(&mut child, "start").await;
        assert!(started.parse::<u32>().is_ok(), "/bin/sleep did not start: {started}");
    });
}

pub(crate) fn a_child_has_the_environment_it_was_given() {
    run(async {
        let mut bare = Child::start(child()).await.unwrap();
        assert_eq!(ask(&mut bare, "environment").await, "");
        let environment = vec![("TOKEN".into(), "abc".into())];
        let mut given = Child::start(ChildConfig { environment, ..child() }).await.unwrap();
        assert_eq!(ask(&mut given, "environment").await, "TOKEN=abc;");
    });
}

pub(crate) fn a_child_inherits_no_descriptor() {
    run(async {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a-secret-file");
        let file = File::create(&path).unwrap();
        // As a careless library would have left it.
        rustix::io::fcntl_setfd(file.as_fd(), rustix::io::FdFlags::empty()).unwrap();
        let config = ChildConfig { readable: vec![PathBuf::from("/")], ..child() };
        let mut child = Child::start(config).await.unwrap();
        let open = ask(&mut child, "descriptors").await;
        assert!(open.contains("pipe:") && !open.contains("a-secret-file"), "{open}");
    });
}

pub(crate) fn a_child_is_stopped_at_its_limits() {
    run(async {
        let limit = |result: Result<Option<Vec<u8>>, ChildError>| match result {
            Err(ChildError::Limit { what, .. }) => what,
            other => panic!("{other:?}"),
        };
        let mut slow = Child::start(ChildConfig { wall: Duration::from_secs(1), ..child() }).await.unwrap();
        slow.send(b"spin").await.unwrap();
        let pid = slow.pid().unwrap();
        assert_eq!(limit(slow.receive(100).await), Limit::Wall);
        assert!(!lives(pid));

        let mut fat = Child::start(ChildConfig { memory: Some(64 << 20), ..child() }).await.unwrap();
        fat.send(b"eat").await.unwrap();
        assert_eq!(limit(fat.receive(100).await), Limit::Memory);

        let mut chatty = Child::start(child()).await.unwrap();
        chatty.send(b"read").await.unwrap();
        assert_eq!(limit(chatty.receive(3).await), Limit::Output);
    });
}

pub(crate) fn a_child_takes_what_it_started_with_it() {
    run(async {
        let readable = worker::confine::PROGRAMS_READABLE.iter().map(PathBuf::from).collect();
        let config = ChildConfig { reach: Reach::NetworkAndPrograms, readable, ..child() };
        let mut child = Child::start(config).await.unwrap();
        let started = ask(&mut child, "start").await;
        let started =
            started.parse::<u32>().unwrap_or_else(|_| panic!("/bin/sleep did not start: {started}"));
        let pid = child.pid().unwrap();
        assert!(lives(started));
        drop(child);
        until("the end of both", || !lives(started) && !lives(pid)).await;
    });
}
