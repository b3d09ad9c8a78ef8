//! Every function of every profile, one test for each: sprig's documented examples and further ones, with the
//! originals' answers. `functions/NAME.yaml` holds the cases of a function; adding a file, or a case to one, adds a test.
//! What chance or the clock decides is looked at by the template itself, so that its shape is the answer.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use gotemplate::profile::{ALL, Numbers, Profile};
use gotemplate::{Arena, Budget, Environment, FixedClock, Program, SeededRandom, json, render};
use libtest_mimic::{Arguments, Failed, Trial};

/// What the templates find in the data.
const DATA: &[u8] = br#"{"list": [10, 20, 30], "map": {"a": 1}}"#;

/// Functions whose cases call what is there only with the cargo feature `crypto`.
const CRYPTO: &[&str] = &[
    "bcrypt",
    "buildCustomCert",
    "decryptAES",
    "derivePassword",
    "encryptAES",
    "genCA",
    "genCAWithKey",
    "genPrivateKey",
    "genSelfSignedCert",
    "genSelfSignedCertWithKey",
    "genSignedCert",
    "genSignedCertWithKey",
    "htpasswd",
];

/// One file.
struct Function {
    name: String,
    cases: Vec<Case>,
}

struct Case {
    template: String,
    answers: Vec<Answer>,
}

/// What the originals answer, in these profiles.
struct Answer {
    profiles: Vec<String>,
    output: String,
    error: String,
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let functions = match read_all() {
        Ok(functions) => functions,
        Err(why) => panic!("the cases cannot be read: {why}"),
    };
    let mut trials = Vec::new();
    for profile in ALL {
        let missing = without_case(profile, &functions);
        trials.push(Trial::test(format!("{}: every function has a case", profile.name), move || {
            if missing.is_empty() { Ok(()) } else { Err(format!("no case: {}", missing.join(", ")).into()) }
        }));
    }
    for function in functions {
        let function = Arc::new(function);
        for profile in ALL.iter().filter(|profile| profile.function(&function.name).is_some()) {
            let of_trial = Arc::clone(&function);
            let needs_crypto = CRYPTO.contains(&function.name.as_str()) && !cfg!(feature = "crypto");
            let trial = Trial::test(format!("{}: {}", profile.name, function.name), move || {
                check(&of_trial, profile).map_err(Failed::from)
            });
            trials.push(trial.with_ignored_flag(needs_crypto));
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// The functions of a profile that no case is for.
fn without_case(profile: &Profile, functions: &[Function]) -> Vec<&'static str> {
    let named = |answer: &Answer| answer.profiles.iter().any(|name| name == profile.name);
    let have = functions
        .iter()
        .filter(|function| function.cases.iter().any(|case| case.answers.iter().any(named)))
        .map(|function| function.name.as_str())
        .collect::<BTreeSet<_>>();
    profile.names().into_iter().filter(|name| !have.contains(name)).collect()
}

/// Renders the cases of a function in one profile.
fn check(function: &Function, profile: &'static Profile) -> Result<(), String> {
    let mut wrong = String::new();
    for Case { template, answers } in &function.cases {
        let Some(want) =
            answers.iter().find(|answer| answer.profiles.iter().any(|name| name == profile.name))
        else {
            continue;
        };
        let (output, error) = answer(template, profile);
        if (&output, &error) != (&want.output, &want.error) {
            wrong.push_str(&format!(
                "{template}\n   got {output:?} {error:?}\n  want {:?} {:?}\n",
                want.output, want.error
            ));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

fn answer(template: &str, profile: &'static Profile) -> (String, String) {
    let program = match Program::parse("t", template, profile) {
        Ok(program) => Arc::new(program),
        Err(error) => return (String::new(), error.to_go_string()),
    };
    let arena = Arena::new();
    let data = json::decode(DATA, Numbers::Int, &arena).expect("the data is JSON");
    let mut environment = Environment {
        budget: Budget { crypto: 10, ..Budget::default() },
        clock: &FixedClock(1_700_000_000),
        random: &mut SeededRandom(1),
    };
    let mut out = Vec::new();
    let result = render(&program, "t", data, &arena, &mut environment, &mut out);
    let error = result.err().map(|error| error.to_go_string()).unwrap_or_default();
    (String::from_utf8_lossy(&out).into_owned(), error)
}

fn read_all() -> Result<Vec<Function>, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/functions");
    let entries = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut paths = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .collect::<Vec<_>>();
    paths.sort();
    paths.iter().map(|path| read(path).map_err(|why| format!("{}: {why}", path.display()))).collect()
}

fn read(path: &Path) -> Result<Function, String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let value = yaml::load_value(&text, &yaml::Options::kubernetes()).map_err(|error| error.to_string())?;
    let value = value.unwrap_or_default().to_json();
    let name = string(&value["function"]).ok_or("`function` is missing")?;
    let profiles = ALL.iter().filter(|profile| profile.function(&name).is_some()).count();
    if profiles == 0 {
        return Err(format!("no profile has a function `{name}`"));
    }
    let cases = value["cases"].as_array().ok_or("`cases` is no list")?;
    let cases = cases.iter().map(case).collect::<Option<Vec<_>>>();
    Ok(Function { name, cases: cases.ok_or("a case lacks its template, its answers or their profiles")? })
}

fn case(value: &serde_json::Value) -> Option<Case> {
    let answers = value["answers"].as_array()?.iter().map(|value| {
        Some(Answer {
            profiles: value["profiles"].as_array()?.iter().filter_map(string).collect(),
            output: string(&value["output"]).unwrap_or_default(),
            error: string(&value["error"]).unwrap_or_default(),
        })
    });
    Some(Case { template: string(&value["template"])?, answers: answers.collect::<Option<_>>()? })
}

fn string(value: &serde_json::Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}
