//! What the children of these tests do.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::hint::black_box;
use std::io::Write;
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use engine::{Call, Interpreter, InterpreterError, Language, Made, Returned};
use schema::limits::Budget;
use schema::processing::{Outcome, Provided, Request, Step, Template};
use serde_json::{Value, json};
use worker::frames;

/// A worker's work: what `values.do` says.
pub(crate) fn work(
    template: &Template,
    request: &Request,
    provided: &[Provided],
    _: &Budget,
    interpreter: &dyn Interpreter,
) -> Step {
    let values = &request.values;
    let number = |name: &str| values[name].as_u64().unwrap_or_default();
    let mut outcome = Outcome { original: json!({ "pid": std::process::id() }), ..Outcome::default() };
    match values["do"].as_str().unwrap_or_default() {
        "echo" => {
            let files = |template: &Template| {
                template.files.iter().map(|(path, bytes)| json!([path, bytes.to_vec()])).collect::<Vec<_>>()
            };
            outcome.objects.push(values.clone());
            outcome.original["files"] = files(template).into();
            outcome.original["provided"] = provided
                .iter()
                .map(|one| json!({ "asked": one.asked, "files": files(&one.template) }))
                .collect::<Vec<_>>()
                .into();
        }
        "python" => outcome.objects = python(interpreter, template, values),
        "spin" => spin(),
        "busy" => {
            let end = Instant::now() + Duration::from_millis(number("milliseconds"));
            while Instant::now() < end {
                black_box(0);
            }
        }
        "hold" => {
            black_box(vec![1_u8; usize::try_from(number("bytes")).unwrap()]);
        }
        "eat" => eat(),
        "nest" => {
            outcome.original = json!(nest(1));
        }
        "write" => {
            outcome.objects.push(json!("x".repeat(usize::try_from(number("bytes")).unwrap())));
        }
        "fold" => {
            let fold = |value, _| json!([value]);
            outcome.original = (0..number("levels")).fold(json!(1), fold);
        }
        "panic" => panic!("boom {}", values["word"]),
        "exit" => std::process::exit(3),
        "print" => {
            let mut output = std::io::stdout();
            output.write_all(b"debug: here I am\n").unwrap();
            output.flush().unwrap();
        }
        "probe" => outcome.objects.push(probe()),
        other => panic!("no such work: {other}"),
    }
    Step::Done(Box::new(outcome))
}

/// Runs `values.calls`, one after the other: each names a file of the template, and perhaps its properties.
fn python(interpreter: &dyn Interpreter, template: &Template, values: &Value) -> Vec<Value> {
    let texts =
        template.files.iter().map(|(path, bytes)| (path.to_owned(), String::from_utf8_lossy(bytes).into()));
    let imports = texts.collect::<BTreeMap<String, String>>();
    let run = |call: &Value| {
        let file = call["file"].as_str().unwrap();
        let language = if file.ends_with(".py") { Language::Python } else { Language::Jinja };
        let env = json!({ "name": "it", "type": file, "deployment": "demo", "project": "demo" });
        let call = Call {
            language,
            file,
            source: &imports[file],
            properties: call.get("properties"),
            env: &env,
            imports: &imports,
        };
        match interpreter.call(&call) {
            Ok(Returned { made, properties, env }) => {
                let mut said = match made {
                    Made::Text(text) => json!({ "text": text }),
                    Made::Value(value) => json!({ "value": value }),
                };
                let left = [("properties", properties), ("env", env)];
                for (name, value) in left.into_iter().filter_map(|(name, value)| Some((name, value?))) {
                    said[name] = value;
                }
                said
            }
            Err(InterpreterError::Template { message, file, line, trace }) => {
                json!({ "error": message, "file": file, "line": line, "trace": trace })
            }
            Err(InterpreterError::Limit { message }) => json!({ "limit": message }),
            Err(InterpreterError::Unavailable { message }) => json!({ "unavailable": message }),
        }
    };
    values["calls"].as_array().unwrap().iter().map(run).collect()
}

fn spin() -> ! {
    loop {
        black_box(0);
    }
}

fn eat() -> ! {
    let mut all = Vec::new();
    loop {
        all.push(vec![1_u8; 1 << 20]);
        black_box(&all);
    }
}

#[expect(unconditional_recursion, reason = "the stack is to run out")]
fn nest(depth: u64) -> u64 {
    let here = black_box([depth; 64]);
    nest(here[0] + 1) + here[63]
}

/// What a hostile template would like to do, and what came of each.
fn probe() -> Value {
    fn said<T>(result: std::io::Result<T>) -> Value {
        match result {
            Ok(_) => json!("yes"),
            Err(error) => json!(error.to_string()),
        }
    }
    json!({
        "read": said(fs::read("/etc/hostname").or_else(|_| fs::read("/etc/passwd"))),
        "list": said(fs::read_dir("/")),
        "write": said(File::create("/tmp/formwork-probe")),
        "connect": said(TcpStream::connect("127.0.0.1:9")),
        "socket": said(UnixStream::pair()),
        "program": said(Command::new("/bin/true").status()),
        "thread": said(std::thread::Builder::new().spawn(|| ())),
        "environment": std::env::vars().map(|(name, _)| name).collect::<Vec<_>>(),
    })
}

/// A general child: does what each frame says, and answers each.
pub(crate) fn serve() -> ExitCode {
    let mut entered = match worker::inside::enter() {
        Ok(entered) => entered,
        Err(error) => return worker::inside::refuse(&error.to_string()),
    };
    while let Ok(Some(ask)) = entered.receive(1 << 20) {
        let ask = String::from_utf8(ask).unwrap();
        let (what, path) = ask.split_once(' ').unwrap_or((&ask, ""));
        let said = |result: std::io::Result<()>| {
            result.map_or_else(|error| error.to_string(), |()| "yes".to_owned())
        };
        let answer = match what {
            "read" => said(fs::read(path).map(drop)),
            "write" => said(fs::write(path, "x")),
            "connect" => said(TcpStream::connect(path).map(drop)),
            "start" => match Command::new("/bin/sleep").arg("1000").stdin(Stdio::null()).spawn() {
                Ok(started) => started.id().to_string(),
                Err(error) => error.to_string(),
            },
            "environment" => std::env::vars().map(|(name, value)| format!("{name}={value};")).collect(),
            "descriptors" => {
                let open = fs::read_dir("/proc/self/fd").unwrap().flatten();
                open.map(|entry| format!("{}\n", fs::read_link(entry.path()).unwrap_or_default().display()))
                    .collect()
            }
            "spin" => spin(),
            "eat" => eat(),
            other => format!("no such work: {other}"),
        };
        entered.send(answer.as_bytes()).unwrap();
    }
    ExitCode::SUCCESS
}

/// A child of another build: it answers the greeting in good form, with another name.
pub(crate) fn stranger() -> ExitCode {
    #[derive(serde::Serialize)]
    struct Ready {
        build_id: &'static str,
        confinement: worker::Confinement,
    }
    frames::read(std::io::stdin(), 1 << 20).unwrap();
    let ready = Ready { build_id: "another", confinement: worker::Confinement::default() };
    frames::write(std::io::stdout(), &rmp_serde::to_vec_named(&ready).unwrap()).unwrap();
    ExitCode::SUCCESS
}
