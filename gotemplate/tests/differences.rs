//! Where we knowingly differ from the originals: `docs/compatibility/gotemplate.md` lists each with its test here.

use std::sync::Arc;

use gotemplate::profile::{self, Numbers};
use gotemplate::{
    Arena, Budget, Environment, Error, ErrorKind, FixedClock, Profile, Program, SeededRandom, json, render,
};

fn run_with(profile: &'static Profile, text: &str, seed: u64) -> Result<String, Box<Error>> {
    let program = Arc::new(Program::parse("t", text, profile)?);
    let arena = Arena::new();
    let data = json::decode(br#"{"m": {"b": 1, "a": 2, "c": 3}}"#, Numbers::Float, &arena).expect("JSON");
    let mut environment = Environment {
        budget: Budget::default(),
        clock: &FixedClock(1_700_000_000),
        random: &mut SeededRandom(seed),
    };
    let mut out = Vec::new();
    render(&program, "t", data, &arena, &mut environment, &mut out)?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}

fn run(text: &str) -> Result<String, Box<Error>> {
    run_with(&profile::HELM, text, 1)
}

#[test]
fn keys_and_values_are_sorted() {
    assert_eq!(run("{{keys .m}} {{values .m}}").expect("it runs"), "[a b c] [2 1 3]");
}

#[test]
fn clock_and_local_zone_are_the_callers() {
    assert_eq!(
        run("{{now}} {{date `15:04 MST` now}} {{ago now}}").expect("it runs"),
        "2023-11-14 22:13:20 +0000 UTC 22:13 UTC 0s"
    );
}

#[test]
fn chance_is_the_callers() {
    let text = "{{randAlphaNum 8}} {{randNumeric 4}} {{uuidv4}} {{randInt 5 6}} {{shuffle `aaa`}}";
    let one = run_with(&profile::HELM, text, 1).expect("it runs");
    assert_eq!(one, run_with(&profile::HELM, text, 1).expect("it runs"));
    assert_ne!(one, run_with(&profile::HELM, text, 2).expect("it runs"));
    let words: Vec<&str> = one.split(' ').collect();
    assert!(words[0].len() == 8 && words[0].bytes().all(|byte| byte.is_ascii_alphanumeric()), "{one}");
    assert!(words[1].len() == 4 && words[1].bytes().all(|byte| byte.is_ascii_digit()), "{one}");
    assert!(words[2].len() == 36 && words[2].as_bytes()[14] == b'4', "{one}");
    assert_eq!(words[3..], ["5", "aaa"]);
}

#[test]
fn raised_errors_are_marked() {
    for text in
        ["{{fail `no`}}", "{{required `no` .missing}}", "{{define `x`}}{{fail `no`}}{{end}}{{include `x` .}}"]
    {
        let error = run(text).expect_err("it stops itself");
        assert_eq!((error.kind, error.cause.as_deref()), (ErrorKind::Raised, Some("no")), "{error}");
    }
}

#[test]
fn some_methods_of_times_are_not_there() {
    let error = run("{{(toDate `2006` `2020`).ISOWeek}}").expect_err("not there");
    assert_eq!(error.message, "can't evaluate field ISOWeek in type time.Time");
}

#[test]
fn there_are_no_addresses_to_print() {
    assert_eq!(run("{{printf `%p` .m.a}}").expect("it runs"), "%!p(float64=2)");
}

#[test]
fn regexes_see_no_broken_bytes() {
    assert_eq!(run("{{regexMatch `^.$` (trunc 1 `é`)}}").expect("it runs"), "false");
}
