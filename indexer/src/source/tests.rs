//! Sources: what is taken, what is refused, and that nothing secret stays in them.

use super::*;

fn parse(text: &str) -> Result<Source, SourceError> {
    Source::parse(text, Path::new("/"))
}

/// Attack row 15: nothing that runs a program or reads as an option gets to the transport.
#[test]
fn only_known_schemes_are_fetched() {
    for good in [
        "https://example.org/a.git",
        "HTTPS://Example.org./a.git",
        "http://[::1]:80/a",
        "ssh://git@host/a",
        "ssh://git@host:2222/~git/a",
        "file:///tmp/a.git",
        "file://localhost/tmp/a b".replace(' ', "_").as_str(),
        "git@host:a/b.git",
    ] {
        assert!(matches!(parse(good), Ok(Source::Git(_))), "{good}");
    }
    for (bad, why) in [
        ("ext::sh -c id", SourceError::Scheme("ext".to_owned())),
        ("https://a b/c", SourceError::Character),
        ("ext::sh", SourceError::Scheme("ext".to_owned())),
        ("git://host/a", SourceError::Scheme("git".to_owned())),
        ("https+x://a/b", SourceError::Scheme("https+x".to_owned())),
        ("ssh://-oProxyCommand=x/a", SourceError::Dash),
        ("ssh://-oProxyCommand=x@host/a", SourceError::Dash),
        ("git@-oProxyCommand=x:a", SourceError::Dash),
        ("git@host:-x", SourceError::Dash),
        ("git@host:--upload-pack=x", SourceError::Dash),
        ("https://-x/a", SourceError::Dash),
        ("https://host:80a/a", SourceError::Port("80a".to_owned())),
        ("https://host:+80/a", SourceError::Port("+80".to_owned())),
        ("https://host:0/a", SourceError::Port("0".to_owned())),
        ("https://a..b/a", SourceError::Host("a..b".to_owned())),
        ("https://a%2eb/a", SourceError::Host("a%2eb".to_owned())),
        ("https://[::1/a", SourceError::Host("[::1".to_owned())),
        ("https://[fe80::1%25eth0]/a", SourceError::Host("[fe80::1%25eth0]".to_owned())),
        ("https:///a", SourceError::Host(String::new())),
        ("https://host", SourceError::Path),
        ("https://host/", SourceError::Path),
        ("https://host/a?b=c", SourceError::Query),
        ("https://host/a#main", SourceError::Query),
        ("https://good\\@evil/a", SourceError::Character),
        ("file://elsewhere/tmp/a.git", SourceError::Host("elsewhere".to_owned())),
        ("ssh://git:secret@host/a", SourceError::SshPassword),
        ("ssh://g$(id)@host/a", SourceError::User),
        ("a\nb", SourceError::Character),
        ("", SourceError::Empty),
    ] {
        assert_eq!(parse(bad), Err(why), "{bad}");
    }
    assert!(matches!(parse("tmp"), Ok(Source::Directory(_))));
    assert!(matches!(parse("no/such/place"), Err(SourceError::NoDirectory(_))));
    assert!(matches!(parse("--upload-pack=x"), Err(SourceError::NoDirectory(_))));
}

/// Attack row 15, and the share of row 31 that sources have: a URL's credentials leave it at once.
#[test]
fn credentials_are_taken_out_of_the_url() {
    let text = "https://me:s%40cret@example.org/a.git";
    let (source, credentials) = Source::parse_with_credentials(text, Path::new("/")).unwrap();
    let credentials = credentials.unwrap();
    assert_eq!(source.to_string(), "https://example.org/a.git");
    assert_eq!((credentials.username.as_str(), credentials.password.expose()), ("me", "s@cret"));
    assert!(!format!("{source:?} {credentials:?}").contains("cret"));
    // A token in place of the name is as secret as a password.
    let (source, credentials) =
        Source::parse_with_credentials("https://ghp_token@example.org/a", Path::new("/")).unwrap();
    assert!(!source.to_string().contains("token") && !format!("{credentials:?}").contains("token"));
    assert_eq!(parse(text), Err(SourceError::Credentials));
    // Who is meant on an ssh host is no secret.
    assert_eq!(parse("ssh://git@host:22/a").unwrap().to_string(), "ssh://git@host:22/a");
}

/// Attack row 15: what somebody registers over the API is https or ssh, and no address of our own network in any
/// spelling.
#[test]
fn registering_over_the_api_takes_public_https_and_ssh_only() {
    let admin = |text: &str| Source::parse_for_admin(text, Addresses::Public);
    for good in
        ["https://github.com/a/b", "ssh://git@github.com/a/b", "git@github.com:a/b.git", "https://8.8.8.8/a"]
    {
        assert!(admin(good).is_ok(), "{good}: {:?}", admin(good));
    }
    for bad in ["http://github.com/a/b", "file:///etc", "/etc", ".", "some/directory"] {
        assert!(matches!(admin(bad), Err(SourceError::NotForApi(_))), "{bad}: {:?}", admin(bad));
    }
    assert_eq!(admin("https://user:pass@github.com/a/b"), Err(SourceError::Credentials));
    for bad in [
        "https://127.0.0.1/a",
        "https://127.1/a",
        "https://2130706433/a",
        "https://0x7f000001/a",
        "https://0x7f.1/a",
        "https://0177.0.0.1/a",
        "https://017700000001/a",
        "https://127.0.0.1./a",
        "https://169.254.169.254/latest",
        "https://[::1]/a",
        "https://[::ffff:127.0.0.1]/a",
        "https://[::ffff:7f00:1]/a",
        "https://[fd00:ec2::254]/a",
        "https://10.0.0.1:8443/a",
        "ssh://git@127.0.0.1/a",
        "ssh://git@2130706433/a",
        "ssh://git@[::1]:22/a",
        "git@127.0.0.1:a",
    ] {
        assert!(matches!(admin(bad), Err(SourceError::Address(_))), "{bad}: {:?}", admin(bad));
        assert!(Source::parse_for_admin(bad, Addresses::Any).is_ok(), "{bad}");
        assert!(parse(bad).is_ok(), "the operator may: {bad}");
    }
}

#[test]
fn branches_and_tags_are_named_as_git_allows() {
    for good in ["main", "release/1.0", "v1", "ünï", "a-b_c+d", "a@b"] {
        assert_eq!(Revision::branch(good).unwrap().reference(), format!("refs/heads/{good}"));
        assert_eq!(Revision::tag(good).unwrap().name(), Some(good));
    }
    for bad in [
        "",
        "/",
        "a/",
        "/a",
        "a//b",
        "-x",
        ".a",
        "a/.b",
        "a..b",
        "a.lock",
        "a.lock/b",
        "a.",
        "@",
        "a@{1}",
        "a b",
        "a~1",
        "a^",
        "a:b",
        "a?",
        "a*",
        "a[",
        "a\\b",
        "a\nb",
        "+main:refs/heads/x",
    ] {
        assert_eq!(Revision::branch(bad), Err(SourceError::Revision(bad.to_owned())), "{bad}");
    }
    assert_eq!(Revision::Default.reference(), "HEAD");
}

/// What a hostile text is made of, so that random ones get past the first check.
const PIECES: &[&str] = &[
    "https",
    "http",
    "ssh",
    "file",
    "ext",
    "://",
    "::",
    ":",
    "/",
    "//",
    "@",
    "-",
    "--upload-pack=x",
    "-oProxyCommand=x",
    ".",
    "..",
    "localhost",
    "example.org",
    "127.0.0.1",
    "0x7f.1",
    "2130706433",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[",
    "]",
    "git",
    "user:pass",
    "%00",
    "%40",
    "%2f",
    "\\",
    "?",
    "#",
    " ",
    "\t",
    "\n",
    "\0",
    "é",
    "\u{202e}",
    "8080",
    "~",
    "a.git",
];

proptest::proptest! {
    /// Printing and parsing are inverse; nothing that is taken begins with a dash where a program could see an
    /// option; and the client that is told to connect sees the very host that was checked.
    #[test]
    fn whatever_is_taken_means_one_thing(
        pieces in proptest::collection::vec(proptest::sample::select(PIECES), 0..10),
        noise in "\\PC{0,6}",
        at in 0usize..10,
    ) {
        let mut text = pieces.concat();
        let at = text.char_indices().nth(at).map_or(text.len(), |(at, _)| at);
        text.insert_str(at, &noise);
        let Ok((Source::Git(url), _)) = Source::parse_with_credentials(&text, Path::new("/nowhere")) else {
            return Ok(());
        };
        let printed = url.to_string();
        proptest::prop_assert_eq!(parse(&printed).unwrap(), Source::Git(url.clone()));
        proptest::prop_assert!(!url.host().starts_with('-') && !url.user().unwrap_or_default().starts_with('-'));
        proptest::prop_assert!(url.path().starts_with('/') || url.scheme() == Scheme::Ssh);
        proptest::prop_assert!(!printed.contains(char::is_whitespace));
        if let (Scheme::Http | Scheme::Https, Ok(theirs)) = (url.scheme(), reqwest::Url::parse(&printed)) {
            proptest::prop_assert_eq!(theirs.username(), "");
            let theirs = theirs.host_str().unwrap_or_default().to_owned();
            match url.literal_address() {
                Some(address) => proptest::prop_assert_eq!(theirs.trim_matches(['[', ']']), address.to_string()),
                None => proptest::prop_assert_eq!(theirs, url.host()),
            }
        }
        // What the API takes is always also taken from the operator, and never reaches a file.
        if let Ok(Source::Git(admin)) = Source::parse_for_admin(&text, Addresses::Public) {
            proptest::prop_assert!(matches!(admin.scheme(), Scheme::Https | Scheme::Ssh));
            proptest::prop_assert!(admin.literal_address().is_none_or(|a| Addresses::Public.check(a).is_ok()));
        }
    }
}
