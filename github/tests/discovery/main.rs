//! Discovery against a GitHub of our own: nothing here leaves this machine.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test that uses them")]

mod fake;

use std::time::{Duration, Instant};

use fake::{Fake, Trouble, World, repository};
use github::{Api, App, Config, Credentials, Find, Found, Github, GithubError, PrivateKey, TOPIC, Token};
use ring::signature::{KeyPair, RsaKeyPair};
use rustls_pki_types::PrivatePkcs1KeyDer;
use rustls_pki_types::pem::PemObject;

const KEY: &str = include_str!("../keys/app.pem");

fn world(repositories: impl IntoIterator<Item = serde_json::Value>) -> World {
    World { repositories: repositories.into_iter().collect(), per_page: 2, life: 3_600, ..World::default() }
}

fn with_app(world: World) -> World {
    let der = PrivatePkcs1KeyDer::from_pem_slice(KEY.as_bytes()).unwrap();
    let pair = RsaKeyPair::from_der(der.secret_pkcs1_der()).unwrap();
    World {
        app: Some(pair.public_key().as_ref().to_vec()),
        token: Some("none is given yet".to_owned()),
        ..world
    }
}

fn app(key: &str) -> Credentials {
    let key = PrivateKey::from_pem(key).unwrap();
    Credentials::App(App { id: "Iv1.0123456789abcdef".to_owned(), key, installation: 42 })
}

fn github(fake: &Fake, find: Find, credentials: Credentials) -> Github {
    let api = Api::parse(&fake.address).unwrap();
    Github::new(Config { api, owner: "acme".to_owned(), find, credentials }).unwrap()
}

fn by_topic(fake: &Fake, credentials: Credentials) -> Github {
    github(fake, Find::Topic(TOPIC.to_owned()), credentials)
}

fn names(found: &[Found]) -> Vec<&str> {
    found.iter().map(|found| found.name.as_str()).collect()
}

fn five() -> Vec<serde_json::Value> {
    ["a", "b", "c", "d", "e"]
        .map(|name| repository(&format!("acme/{name}"), if name == "b" { &[] } else { &["other", TOPIC] }))
        .to_vec()
}

const FOUR: [&str; 4] = ["127.0.0.1/acme/a", "127.0.0.1/acme/c", "127.0.0.1/acme/d", "127.0.0.1/acme/e"];

#[tokio::test]
async fn repositories_with_the_topic_are_found_on_every_page() {
    let fake = Fake::start(world(five())).await;
    let github = by_topic(&fake, Credentials::None);
    let found = github.discover().await.unwrap();
    assert_eq!(names(&found), FOUR);
    let expected = Found {
        name: "127.0.0.1/acme/a".parse().unwrap(),
        clone_url: "http://127.0.0.1/acme/a.git".to_owned(),
        default_branch: "main".to_owned(),
        description: Some("About acme/a".to_owned()),
        stars: 3,
        private: false,
    };
    assert_eq!(found[0], expected);
    // Again: three pages, none of them sent again.
    assert_eq!(github.discover().await.unwrap(), found);
    let statuses = fake.log().iter().map(|(_, status)| *status).collect::<Vec<_>>();
    assert_eq!(statuses, [200, 200, 200, 304, 304, 304]);
    // What changes is seen.
    fake.world.lock().unwrap().repositories[1] = repository("acme/b", &[TOPIC]);
    assert_eq!(github.discover().await.unwrap().len(), 5);
}

#[tokio::test]
async fn repositories_with_a_registry_file_are_found_and_looked_at_once_a_push() {
    let files = vec!["acme/b".to_owned(), "acme/e".to_owned()];
    let fake = Fake::start(World { registry_files: files, is_user: true, ..world(five()) }).await;
    let github = github(&fake, Find::RegistryFile, Credentials::None);
    let found = ["127.0.0.1/acme/b", "127.0.0.1/acme/e"];
    assert_eq!(names(&github.discover().await.unwrap()), found);
    let looked = |fake: &Fake| fake.log().iter().filter(|(path, _)| path.contains("/contents/")).count();
    assert_eq!(looked(&fake), 5);
    assert_eq!(names(&github.discover().await.unwrap()), found);
    assert_eq!(looked(&fake), 5, "nothing was pushed");
    {
        let mut world = fake.world.lock().unwrap();
        world.repositories[0]["pushed_at"] = "2026-02-02T00:00:00Z".into();
        world.registry_files.push("acme/a".to_owned());
    }
    assert_eq!(github.discover().await.unwrap().len(), 3);
    assert_eq!(looked(&fake), 6);
}

#[tokio::test]
async fn an_app_signs_and_renews_its_token_when_it_is_taken_back_in_mid_run() {
    for key in [KEY, include_str!("../keys/app-pkcs8.pem")] {
        // The first request is for a token, the second and third for pages; the token goes before the third.
        let world = World { troubles: vec![(2, Trouble::Revoke)], ..with_app(world(five())) };
        let fake = Fake::start(world).await;
        let github = by_topic(&fake, app(key));
        assert_eq!(names(&github.discover().await.unwrap()), FOUR);
        let statuses = fake.log().iter().map(|(_, status)| *status).collect::<Vec<_>>();
        assert_eq!(statuses, [201, 200, 401, 201, 200, 200], "{:?}", fake.log());
        // A token that is good is kept, for fetches too.
        assert_eq!(github.token().await.unwrap(), Some(Token::new("ghs_2")));
        assert_eq!(fake.world.lock().unwrap().given, 2);
    }
}

#[tokio::test]
async fn a_token_is_renewed_before_it_ends() {
    let fake = Fake::start(World { life: 240, ..with_app(world(five())) }).await;
    let github = by_topic(&fake, app(KEY));
    assert_eq!(github.discover().await.unwrap().len(), 4);
    // Four minutes are less than a listing and a fetch are given: one for each page.
    assert_eq!(fake.world.lock().unwrap().given, 3);
    assert!(fake.log().iter().all(|(_, status)| *status < 300), "{:?}", fake.log());
}

#[tokio::test]
async fn the_wrong_key_and_the_wrong_token_are_told_apart_from_an_outage() {
    let pair = world(five());
    let fake = Fake::start(World { app: Some(vec![1, 2, 3]), token: Some("x".to_owned()), ..pair }).await;
    let error = by_topic(&fake, app(KEY)).discover().await.unwrap_err();
    assert!(
        matches!(&error, GithubError::Unauthorised { why, .. } if why == "the signature is wrong"),
        "{error}"
    );
    let secret = "ghp_very_secret";
    let credentials = Credentials::Token(Token::new(secret));
    assert!(!format!("{credentials:?}").contains(secret));
    let error = by_topic(&fake, credentials).discover().await.unwrap_err();
    assert!(matches!(&error, GithubError::Unauthorised { why, .. } if why == "Bad credentials"), "{error}");
    assert!(!error.to_string().contains(secret));
    // Asked once each: who insists is locked out.
    assert_eq!(fake.log().len(), 2, "{:?}", fake.log());
}

#[tokio::test]
async fn limits_are_waited_for_and_nothing_is_sent_before() {
    let troubles = vec![(1, Trouble::Primary(2)), (3, Trouble::Secondary(1))];
    let fake = Fake::start(World { troubles, ..world(five()) }).await;
    let started = Instant::now();
    assert_eq!(names(&by_topic(&fake, Credentials::None).discover().await.unwrap()), FOUR);
    assert!(started.elapsed() >= Duration::from_secs(2), "{:?}", started.elapsed());
    let statuses = fake.log().iter().map(|(_, status)| *status).collect::<Vec<_>>();
    assert_eq!(statuses, [200, 403, 200, 429, 200]);
    assert_eq!(fake.world.lock().unwrap().hammered, 0);
}

#[tokio::test]
async fn a_limit_that_is_far_away_is_an_error_and_nothing_is_sent_meanwhile() {
    let fake = Fake::start(World { troubles: vec![(1, Trouble::Primary(7_200))], ..world(five()) }).await;
    let github = by_topic(&fake, Credentials::None);
    for _ in 0..3 {
        let error = github.discover().await.unwrap_err();
        assert!(matches!(error, GithubError::Limited { seconds: 7_000..=7_210, .. }), "{error}");
    }
    assert_eq!(fake.log().len(), 2);
    assert_eq!(fake.world.lock().unwrap().hammered, 0);
}

#[tokio::test]
async fn failures_are_tried_again_and_then_said() {
    let troubles = vec![(0, Trouble::Status(502)), (2, Trouble::Status(503))];
    let fake = Fake::start(World { troubles, ..world(five()) }).await;
    assert_eq!(by_topic(&fake, Credentials::None).discover().await.unwrap().len(), 4);

    let troubles = (1..5).map(|at| (at, Trouble::Status(502))).collect();
    let fake = Fake::start(World { troubles, ..world(five()) }).await;
    let github = by_topic(&fake, Credentials::None);
    let error = github.discover().await.unwrap_err();
    // Half a listing is none: the others would look as if they had gone.
    assert!(matches!(&error, GithubError::Unreachable { why, .. } if why == "Oops"), "{error}");
    assert_eq!(github.discover().await.unwrap().len(), 4);

    let gone = Github::new(Config {
        api: Api::parse("http://127.0.0.1:1").unwrap(),
        owner: "acme".to_owned(),
        find: Find::RegistryFile,
        credentials: Credentials::None,
    });
    assert!(matches!(gone.unwrap().discover().await, Err(GithubError::Unreachable { .. })));
}

#[tokio::test]
async fn garbage_is_an_error_and_is_not_kept() {
    let fake = Fake::start(World { troubles: vec![(0, Trouble::Garbage)], ..world(five()) }).await;
    let github = by_topic(&fake, Credentials::None);
    let error = github.discover().await.unwrap_err();
    assert!(matches!(error, GithubError::Unreadable { .. }), "{error}");
    assert_eq!(github.discover().await.unwrap().len(), 4);

    let fake = Fake::start(world([])).await;
    assert_eq!(by_topic(&fake, Credentials::None).discover().await.unwrap(), []);
    let unknown = Github::new(Config {
        api: Api::parse(&fake.address).unwrap(),
        owner: "nobody/../acme".to_owned(),
        find: Find::RegistryFile,
        credentials: Credentials::None,
    });
    let error = unknown.unwrap().discover().await.unwrap_err();
    assert!(matches!(error, GithubError::NotFound { .. }), "{error}");
    assert!(
        fake.log().iter().skip(1).all(|(path, _)| path.contains("/nobody%2F..%2Facme/")),
        "{:?}",
        fake.log()
    );
}

/// Attack row 15: what an API lists is fetched from the API's own host, or not at all.
#[tokio::test]
async fn what_is_listed_elsewhere_is_left_out() {
    let bad = |full_name: &str, clone: &str| {
        let mut repository = repository(full_name, &[TOPIC]);
        repository["clone_url"] = clone.into();
        repository
    };
    let repositories = [
        repository("acme/good", &[TOPIC]),
        bad("acme/elsewhere", "http://169.254.169.254/latest.git"),
        bad("acme/file", "file:///etc"),
        bad("acme/helper", "ext::sh -c id"),
        bad("acme/user", "http://me:secret@127.0.0.1/acme/user.git"),
        repository("acme/..", &[TOPIC]),
        repository("acme/a b", &[TOPIC]),
        repository("acme/a/b", &[TOPIC]),
        repository("evil/good", &[TOPIC]),
        repository("nothing", &[TOPIC]),
    ];
    let fake = Fake::start(world(repositories)).await;
    assert_eq!(names(&by_topic(&fake, Credentials::None).discover().await.unwrap()), ["127.0.0.1/acme/good"]);
}
