//! Templates that mean harm: each is stopped by a budget, says which and where, and leaves everything usable.

use std::sync::Arc;

use gotemplate::profile::{self, Numbers};
use gotemplate::{
    Arena, Budget, Environment, Error, ErrorKind, FixedClock, Limit, Profile, Program, SeededRandom, json,
    render,
};

fn run(profile: &'static Profile, text: &str, budget: Budget) -> Result<String, Box<Error>> {
    let program = Arc::new(Program::parse("t", text, profile)?);
    let arena = Arena::new();
    let data = json::decode(br#"{"s": "x", "m": {"a": 1}, "n": 5}"#, Numbers::Int, &arena).expect("JSON");
    let mut environment = Environment { budget, clock: &FixedClock(0), random: &mut SeededRandom(1) };
    let mut out = Vec::new();
    render(&program, "t", data, &arena, &mut environment, &mut out)?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}

fn small() -> Budget {
    Budget { steps: 200_000, output: 1 << 20, memory: 16 << 20, ..Budget::default() }
}

#[track_caller]
fn stopped(text: &str, limits: &[Limit]) {
    let error = run(&profile::HELM, text, small()).expect_err("it must be stopped");
    match error.kind {
        ErrorKind::Limit(limit) => {
            assert!(limits.contains(&limit), "{text}: stopped by {limit:?}: {error}");
            assert_eq!(error.line, 1, "{error}");
            assert!(error.node.is_some(), "{error}");
        }
        other => panic!("{text}: {other:?} {error}"),
    }
}

/// Attack row 20: endless `range`, templates that call each other, `include` and `tpl` of themselves.
#[test]
fn row_20_endless_ranges_and_mutual_calls() {
    stopped("{{range 1000000000}}{{end}}", &[Limit::Steps]);
    stopped("{{range 100000}}{{range 100000}}x{{end}}{{end}}", &[Limit::Steps, Limit::Output]);
    stopped(
        "{{define `a`}}{{template `b` .}}{{end}}{{define `b`}}{{template `a` .}}{{end}}{{template `a` .}}",
        &[Limit::Depth],
    );
    stopped(
        "{{define `a`}}{{template `a` .}}{{template `a` .}}{{end}}{{template `a` .}}",
        &[Limit::Depth, Limit::Steps],
    );
    stopped(
        "{{define `a`}}{{tpl `{{template \"a\" .}}` .}}{{end}}{{template `a` .}}",
        &[Limit::Depth, Limit::Steps, Limit::Memory],
    );
    // Helm's own limit comes first here.
    let error = run(&profile::HELM, "{{define `a`}}{{include `a` .}}{{end}}{{include `a` .}}", small())
        .expect_err("stopped");
    assert!(error.innermost().message.contains("nested reference name: a"), "{}", error.innermost());
}

/// Attack row 20: `repeat 1e9`, `until 1e9`, padding, and regular expressions that blow up.
#[test]
fn row_20_large_texts_lists_and_regexes() {
    stopped("{{repeat 1000000000 `x`}}", &[Limit::Memory, Limit::Steps]);
    stopped("{{repeat 1000000 `x` | repeat 1000000}}", &[Limit::Memory, Limit::Steps]);
    stopped("{{until 1000000000}}", &[Limit::Items]);
    stopped("{{untilStep 0 9000000000000000000 1}}", &[Limit::Items]);
    stopped("{{seq 1000000000}}", &[Limit::Items]);
    stopped("{{indent 1000000000 .s}}", &[Limit::Memory, Limit::Steps]);
    stopped(
        "{{printf `%1000000d` 1 | repeat 1000 | replace `` `xxxxxxxxxx`}}",
        &[Limit::Memory, Limit::Steps],
    );
    stopped("{{printf `%[1]*d` 900000 1 | repeat 100}}", &[Limit::Memory, Limit::Steps]);
    stopped(
        "{{regexMatch `(((a{1,30}){1,30}){1,30}){1,30}` .s}}{{regexFind `(\\pL{1000}|\\pN{1000}){1}` .s}}",
        &[Limit::Regex],
    );
    stopped("{{randAlphaNum 1000000000}}", &[Limit::Memory, Limit::Steps]);
    stopped("{{range $i := until 1000}}{{$.s | repeat 10000}}{{end}}", &[Limit::Output, Limit::Steps]);
    stopped("{{$l := list}}{{range until 90000}}{{$l = append $l .}}{{end}}", &[Limit::Memory, Limit::Steps]);
    // A backtracking matcher would never end here.
    let text = "{{regexMatch `^(a+)+$` (printf `%s!` (repeat 5000 `a`))}}";
    assert_eq!(run(&profile::HELM, text, small()).expect("linear"), "false");
}

/// Attack row 20: values that contain themselves.
#[test]
fn row_20_values_that_contain_themselves() {
    let cyclic = "{{$d := dict}}{{$_ := set $d `a` $d}}";
    stopped(&format!("{cyclic}{{{{$d}}}}"), &[Limit::Cyclic]);
    stopped(&format!("{cyclic}{{{{print $d}}}}"), &[Limit::Cyclic]);
    stopped(&format!("{cyclic}{{{{deepCopy $d}}}}"), &[Limit::Cyclic]);
    stopped(&format!("{cyclic}{{{{toToml $d}}}}"), &[Limit::Cyclic]);
    for text in [
        "{{toJson $d}}",
        "{{toYaml $d}}",
        "{{deepEqual $d $d}}",
        "{{len (merge $d $d)}}",
        "{{has $d (list $d)}}",
    ] {
        let answer = run(&profile::HELM, &format!("{cyclic}{text}"), small()).expect("it ends");
        assert!(["", "true", "1"].contains(&answer.as_str()), "{text}: {answer}");
    }
}

/// Attack row 18: depth and alias bombs in what a template itself decodes.
#[test]
fn row_18_deep_nesting_in_data_and_text() {
    let parentheses = format!("{{{{{}1{}}}}}", "(".repeat(9_000), ")".repeat(9_000));
    assert_eq!(
        run(&profile::TEXT, &parentheses, Budget::default()).expect("deep, but allowed in Go too"),
        "1"
    );
    let deeper = format!("{{{{{}1{}}}}}", "(".repeat(20_000), ")".repeat(20_000));
    let error = run(&profile::TEXT, &deeper, Budget::default()).expect_err("too deep");
    assert_eq!(error.message, "max expression depth exceeded");
    let ifs = format!("{}x{}", "{{if true}}".repeat(50_000), "{{end}}".repeat(50_000));
    assert_eq!(run(&profile::TEXT, &ifs, Budget::default()).expect("no machine stack is used"), "x");
    let chain = format!("{{{{if 0}}}}{}{{{{end}}}}", "{{else if 0}}".repeat(50_000));
    assert_eq!(run(&profile::TEXT, &chain, Budget::default()).expect("nor here"), "");
    let json = format!("{{{{fromJson `{}` | len}}}}", "[".repeat(200_000));
    assert_eq!(run(&profile::HELM, &json, Budget::default()).expect("an Error key"), "1");
    let yaml = format!("{{{{fromYaml `{}` | len}}}}", "[".repeat(100_000));
    assert_eq!(run(&profile::HELM, &yaml, Budget::default()).expect("an Error key"), "1");
    let bomb = "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\ng: [*f,*f,*f,*f,*f,*f,*f,*f,*f]\n";
    let answer = run(&profile::HELM, &format!("{{{{(fromYaml `{bomb}`).Error}}}}"), Budget::default())
        .expect("an Error key");
    assert!(!answer.is_empty() && answer != "<no value>", "{answer}");
}

/// Attack row 23: environment, network and cluster are empty, whatever is asked.
#[test]
fn row_23_nothing_of_the_host_is_reachable() {
    let probes = "{{env `PATH`}}|{{expandenv `$HOME ${PATH}`}}|{{getHostByName `localhost`}}";
    assert_eq!(run(&profile::SPRIG_3_2, probes, Budget::default()).expect("closed"), "||");
    assert_eq!(run(&profile::SPRIG_2_22, probes, Budget::default()).expect("closed"), "||");
    let answer =
        run(&profile::HELM, "{{getHostByName `x`}}|{{lookup `v1` `Secret` `` ``}}", Budget::default());
    assert_eq!(answer.expect("closed"), "|map[]");
    for name in ["env", "expandenv"] {
        let error = run(&profile::HELM, &format!("{{{{{name} `PATH`}}}}"), Budget::default())
            .expect_err("not in Helm");
        assert_eq!(error.message, format!("function \"{name}\" not defined"));
        assert!(error.hint.is_some_and(|hint| hint.contains("sprig-3.2")));
    }
}

/// Attack row 23: there are no files but those a caller lends; of values named so, the path is a key and nothing more.
#[test]
fn row_23_no_file_is_reachable() {
    for probe in [
        "{{.Files.Get `../../../../etc/passwd`}}",
        "{{.Files.Get `/etc/passwd`}}",
        "{{.Files.Glob `/etc/*`}}",
        "{{(.Files.Get `x`).Lines}}",
    ] {
        // As Go has it: what is missing has no value, whatever is asked of it.
        assert_eq!(run(&profile::HELM, probe, Budget::default()).expect("nothing there"), "<no value>");
    }
    let text = "{{$f := dict `Files` (dict `Get` `g`)}}{{$f.Files.Get `../../x`}}";
    let error = run(&profile::HELM, text, Budget::default()).expect_err("a key, no method");
    assert!(error.message.contains("Get is not a method but has arguments"), "{error}");
    for name in ["readFile", "readDir", "file", "exec", "http", "import"] {
        let error = run(&profile::HELM, &format!("{{{{{name} `/etc/passwd`}}}}"), Budget::default())
            .expect_err("no such function");
        assert_eq!(error.message, format!("function \"{name}\" not defined"));
    }
}

/// Attack row 20: a thousand keys; the budget for slow cryptography ends it long before.
#[cfg(feature = "crypto")]
#[test]
fn row_20_a_thousand_private_keys() {
    for call in [
        "genPrivateKey `ecdsa`",
        "genPrivateKey `ed25519`",
        "derivePassword 1 `long` `p` `u` `s`",
        "bcrypt `x`",
        "htpasswd `u` `p`",
        "genCAWithKey `ca` 1 (genPrivateKey `ecdsa`)",
    ] {
        let budget = Budget { crypto: 3, ..Budget::default() };
        let text = format!("{{{{range until 1000}}}}{{{{$k := {call}}}}}{{{{end}}}}");
        let error = run(&profile::HELM, &text, budget).expect_err("it must be stopped");
        assert!(matches!(error.kind, ErrorKind::Limit(Limit::Crypto)), "{call}: {error}");
        assert!(error.node.is_some(), "{error}");
    }
}

/// Attack row 20: `tpl` within `tpl`, nested by hand and by a template that grows its own text.
#[test]
fn row_20_deep_tpl() {
    let by_hand = "{{$t := `x`}}{{range until 2000}}{{$t = printf `{{tpl %q .}}` $t | trunc 100000}}{{end}}{{tpl $t .}}";
    let error = run(&profile::HELM, by_hand, small()).expect_err("it must be stopped");
    assert!(matches!(error.innermost().kind, ErrorKind::Limit(_) | ErrorKind::Parse), "{error}");
    stopped(
        "{{$d := dict}}{{$_ := set $d `t` `{{tpl .t .}}`}}{{tpl $d.t $d}}",
        &[Limit::Depth, Limit::Steps, Limit::Memory],
    );
    stopped(
        "{{$d := dict}}{{$_ := set $d `t` `{{tpl .t .}}{{tpl .t .}}`}}{{tpl $d.t $d}}",
        &[Limit::Depth, Limit::Steps, Limit::Memory],
    );
}

/// Attack row 20: the same program and thread are usable at once after each stop.
#[test]
fn row_20_usable_after_a_stop() {
    for text in ["{{range 1000000000}}{{end}}", "{{repeat 1000000000 `x`}}", "{{until 1000000000}}"] {
        run(&profile::HELM, text, small()).expect_err("stopped");
        assert_eq!(run(&profile::HELM, "{{.s}}", small()).expect("as before"), "x");
    }
}

#[test]
fn a_function_outside_the_profile_is_said_to_be_elsewhere() {
    let error = run(&profile::SPRIG_2_22, "{{get .m `a`}}", Budget::default()).expect_err("2.22 has no get");
    assert_eq!(error.to_go_string(), "template: t:1: function \"get\" not defined");
    assert_eq!(
        error.hint.as_deref(),
        Some("get is in the function sets sprig-3.2, interoperator, helm; this is sprig-2.22")
    );
    let error = run(&profile::TEXT, "{{pirntf .}}", Budget::default()).expect_err("a slip");
    assert_eq!(error.hint.as_deref(), Some("did you mean printf?"));
}

#[test]
fn profiles_have_the_functions_of_their_originals() {
    // Built-ins add 19; sprig's `slice` stands for the built-in of that name.
    let sprig = |profile: &Profile| profile.names().len() - profile::TEXT.names().len() + 1;
    assert_eq!(profile::TEXT.names().len(), 19);
    assert_eq!((sprig(&profile::SPRIG_2_22), sprig(&profile::SPRIG_3_2)), (150, 210));
    assert_eq!(sprig(&profile::INTEROPERATOR), 215);
}
