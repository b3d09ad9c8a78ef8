//! The functions that need cryptography: known answers where there are any, structure where chance decides.
#![cfg(feature = "crypto")]

use std::sync::Arc;

use gotemplate::{
    Arena, Budget, Environment, ErrorKind, FixedClock, Limit, Program, SeededRandom, Value, profile, render,
};

fn run(text: &str) -> Result<String, Box<gotemplate::Error>> {
    let program = Arc::new(Program::parse("t", text, &profile::SPRIG_3_2)?);
    let arena = Arena::new();
    let mut environment = Environment {
        budget: Budget { crypto: 6, ..Budget::default() },
        clock: &FixedClock(1_700_000_000),
        random: &mut SeededRandom(7),
    };
    let mut out = Vec::new();
    render(&program, "t", Value::Nil, &arena, &mut environment, &mut out)?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}

#[test]
fn derived_passwords_are_the_algorithms() {
    let text = r#"{{derivePassword 1 "long" "password" "user" "example.com"}} {{derivePassword 2 "maximum" "password" "user" "example.com"}} {{derivePassword 1 "nope" "p" "u" "s"}}"#;
    assert_eq!(
        run(text).expect("it runs"),
        "ZedaFaxcZaso9* O8-6Bwz1*I5XVPPq)@H! cannot find password template nope"
    );
}

#[test]
fn aes_reads_what_go_wrote_and_what_it_writes_itself() {
    let by_go = "mQJdZDpfRnO4x+nDnTlLybQzx8I62AD0AO759F2m/0E=";
    let text =
        format!(r#"{{{{decryptAES "secret" "{by_go}"}}}}|{{{{encryptAES "k" "x y" | decryptAES "k"}}}}"#);
    assert_eq!(run(&text).expect("it runs"), "plain text|x y");
    let error = run(r#"{{decryptAES "k" "AAAA"}}"#).expect_err("too short");
    assert!(error.message.ends_with("slice bounds out of range [:16] with capacity 3"), "{error}");
}

#[test]
fn keys_and_certificates_have_their_form_and_repeat_with_the_seed() {
    let text = r#"{{genPrivateKey "ecdsa"}}{{genPrivateKey "ed25519"}}{{$ca := genCAWithKey "ca" 10 (genPrivateKey "ecdsa")}}{{$leaf := genSignedCertWithKey "leaf" (list "10.0.0.1") (list "a.b") 5 $ca (genPrivateKey "ed25519")}}{{$leaf.Cert}}{{$leaf.Key}}"#;
    let out = run(text).expect("it runs");
    for label in ["EC PRIVATE KEY", "PRIVATE KEY", "CERTIFICATE"] {
        assert!(out.contains(&format!("-----BEGIN {label}-----\n")), "{out}");
        assert!(out.contains(&format!("-----END {label}-----\n")), "{out}");
    }
    assert_eq!(out, run(text).expect("it runs"));
    assert!(run(r#"{{htpasswd "u" "p"}}"#).expect("it runs").starts_with("u:$2a$10$"));
}

#[test]
fn row_20_slow_functions_have_a_budget_of_their_own() {
    let error = run(r#"{{range 1000}}{{genPrivateKey "ecdsa"}}{{end}}"#).expect_err("stopped");
    assert_eq!(error.kind, ErrorKind::Limit(Limit::Crypto));
    assert_eq!((error.line, error.column), (1, Some(16)));
}
