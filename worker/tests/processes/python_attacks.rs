//! Row 22 of the attack table: what a hostile template in Python tries, and what becomes of it. Each ends in a clear
//! answer within its deadline, and the next render, in the same worker or a fresh one, is unaffected.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use worker::Pool;

use crate::kit::run;
use crate::python::{answers, calls, one, pool_with};

const PLAIN: &str = "def GenerateConfig(c): return 'fine'";

/// Runs a template, and shows that the next is fine.
async fn tried(pool: &Pool, source: &str) -> Value {
    tried_within(Duration::from_secs(5), pool, source).await
}

async fn tried_within(wall: Duration, pool: &Pool, source: &str) -> Value {
    let before = pool.stats();
    let began = Instant::now();
    let mut job = calls(&[("t.py", source)], json!([{ "file": "t.py", "properties": {} }]));
    job.budget.python_wall = wall;
    job.budget.wall = job.budget.python_wall;
    let made = answers(pool, job).await.remove(0);
    assert!(began.elapsed() < Duration::from_secs(20), "{source}: {:?}", began.elapsed());
    assert_eq!(one(pool, PLAIN).await, json!({ "text": "fine" }), "after {source}");
    let after = pool.stats();
    assert_eq!((after.killed, after.died), (before.killed, before.died), "the worker lived on: {source}");
    made
}

async fn warm() -> Pool {
    let pool = pool_with(1);
    assert_eq!(one(&pool, PLAIN).await, json!({ "text": "fine" }));
    pool
}

fn body(lines: &str) -> String {
    let lines = lines.lines().map(|line| format!("  {line}\n")).collect::<String>();
    format!("import os, sys\ndef GenerateConfig(context):\n{lines}")
}

pub(crate) fn attack_row_22_the_world_outside_is_not_there() {
    run(async {
        let pool = warm().await;
        for (lines, expected) in [
            ("return open('/etc/passwd').read()", "FileNotFoundError"),
            ("return open('/proc/self/environ').read()", "FileNotFoundError"),
            ("return os.listdir('/')", "FileNotFoundError"),
            ("open('/tmp/x', 'w').write('x')", "FileNotFoundError"),
            ("os.mkdir('/x')", "Error"),
            ("import socket\nsocket.create_connection(('1.1.1.1', 80))", "Error"),
            ("import urllib.request\nurllib.request.urlopen('http://1.1.1.1/')", "Error"),
            ("import subprocess\nsubprocess.run(['ls'])", "Error"),
            ("os.system('ls')", "Error"),
            ("os.fork()", "Error"),
            ("os.execv('/bin/sh', ['sh'])", "Error"),
            ("import threading\nthreading.Thread(target=print).start()", "Error"),
            ("import ctypes", "Error"),
            ("import multiprocessing\nmultiprocessing.Process(target=print).start()", "Error"),
        ] {
            let made = tried(&pool, &body(lines)).await;
            assert!(made["error"].as_str().is_some_and(|text| text.contains(expected)), "{lines}: {made}");
            assert!(made["line"].as_u64().is_some(), "{lines}: {made}");
        }
        let inside =
            tried(&pool, &body("return {'env': dict(os.environ), 'argv': sys.argv, 'cwd': os.getcwd()}"))
                .await;
        let env = inside["value"]["env"].as_object().unwrap();
        assert!(env.keys().all(|name| name == "PYTHONHASHSEED"), "{inside}");
        assert!(!inside.to_string().contains("/work") && !inside.to_string().contains("/home"), "{inside}");
    });
}

pub(crate) fn attack_row_22_what_does_not_end_is_stopped() {
    run(async {
        let pool = warm().await;
        for lines in [
            "while True: pass",
            "import re\nre.match('(a+)+$', 'a' * 40 + 'b')",
            "return {'a': (10 ** 9) ** (10 ** 7) % 7}",
            "import itertools\nsum(itertools.count())",
            "class E(Exception):\n  def __str__(self):\n    while True: pass\nraise E()",
            "class D(dict):\n  pass\nimport time\nwhile True: time.time()",
        ] {
            let made = tried_within(Duration::from_millis(1500), &pool, &body(lines)).await;
            let limit = made["limit"].as_str().unwrap_or_default();
            assert_eq!(
                limit, "t.py was stopped at the time limit of 1.5s: look for a loop that does not end",
                "{lines}: {made}"
            );
        }
    });
}

pub(crate) fn attack_row_22_memory_is_bounded() {
    run(async {
        let pool = warm().await;
        for lines in [
            "return len('x' * (1 << 30))",
            "a = []\nwhile True: a.append('x' * (1 << 20) + str(len(a)))",
            "a = [0]\nwhile True: a += a",
            "a = {}\nwhile True: a[len(a)] = [len(a)] * 100000",
            "return bytearray(1 << 30)",
            "s = 'x'\nwhile True: s = s + s",
        ] {
            let made = tried(&pool, &body(lines)).await;
            let limit = made["limit"].as_str().unwrap_or_default();
            assert!(
                limit.contains("memory limit of 192 MiB") && limit.contains("look for"),
                "{lines}: {made}"
            );
        }
    });
}

pub(crate) fn attack_row_22_output_is_bounded() {
    run(async {
        let pool = warm().await;
        let text = tried(&pool, &body("return 'x' * (5 << 20)")).await;
        assert!(text["limit"].as_str().unwrap_or_default().contains("limit of 1 MiB"), "{text}");
        let value = tried(&pool, &body("return ['x' * 1000] * 900000")).await;
        assert!(value["limit"].as_str().is_some(), "{value}");
        let printed = tried(
            &pool,
            &body("for _ in range(100000): print('x' * 100)\nsys.stderr.write('x' * 100000)\nreturn 'y'"),
        )
        .await;
        assert_eq!(printed, json!({ "text": "y" }));
        let forged = tried(&pool, &body("os.write(1, b'{\"text\": ')\nreturn 'y'")).await;
        assert_eq!(forged["error"], "the template wrote into the answer of its interpreter");
    });
}

pub(crate) fn attack_row_22_depth_is_bounded() {
    run(async {
        let pool = warm().await;
        for lines in [
            "def f(n): return f(n + 1)\nreturn f(0)",
            "x = []\nfor i in range(200000): x = [x]\nreturn {'a': repr(x)[:5]}",
            "x = []\nfor i in range(200000): x = [x]\nreturn x",
            "import json\njson.loads('[' * 100000)",
            "import copy\nx = []\nfor i in range(100000): x = [x]\ncopy.deepcopy(x)",
            "compile('(' * 5000 + ')' * 5000, 'x', 'eval')",
            "import re\nre.compile('(' * 5000 + ')' * 5000)",
            "class A:\n  def __getattr__(self, name): return getattr(self, name + 'x')\nA().y",
            "sys.setrecursionlimit(10 ** 9)\ndef f(n): return f(n + 1)\nreturn f(0)",
            "sys.setrecursionlimit(10 ** 9)\nx = []\nfor i in range(200000): x = [x]\nreturn {'a': repr(x)[:5]}",
        ] {
            let made = tried(&pool, &body(lines)).await;
            assert!(made["error"].is_string() || made["limit"].is_string(), "{lines}: {made}");
        }
    });
}

pub(crate) fn attack_row_22_an_interpreter_that_ends_itself_harms_itself() {
    run(async {
        let pool = warm().await;
        for (lines, expected) in [
            ("sys.exit(3)", "SystemExit: 3"),
            ("os._exit(3)", "the template ended its interpreter with status 3"),
            ("os.abort()", "the template brought its interpreter down: "),
            ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ] {
            let made = tried(&pool, &body(lines)).await;
            assert!(made["error"].as_str().unwrap().starts_with(expected), "{lines}: {made}");
        }
        // The rest of the same expansion goes on in a fresh instance.
        let files = [("t.py", "import os\ndef GenerateConfig(c): os._exit(1)"), ("u.py", PLAIN)];
        let made = answers(&pool, calls(&files, json!([{ "file": "t.py" }, { "file": "u.py" }]))).await;
        assert_eq!(made[1], json!({ "text": "fine" }));
    });
}

pub(crate) fn attack_row_22_hostile_objects_are_told_by_their_type() {
    run(async {
        let pool = warm().await;
        let class = "
class M(type):
  def __repr__(self): raise SystemExit(1)
  def __str__(self): raise SystemExit(1)
  @property
  def __name__(self): raise SystemExit(1)
  def __instancecheck__(self, other): raise SystemExit(1)
class H(metaclass=M):
  @property
  def __class__(self): raise SystemExit(1)
  def __repr__(self): raise SystemExit(1)
  def __str__(self): raise SystemExit(1)
  def __iter__(self): raise SystemExit(1)
  def __eq__(self, other): raise SystemExit(1)
  def __hash__(self): return 1
class D(dict):
  def items(self): raise SystemExit(1)
  def __iter__(self): raise SystemExit(1)
  def __repr__(self): raise SystemExit(1)
class S(str):
  def __str__(self): raise SystemExit(1)
  def __hash__(self): return 1
class E(Exception):
  def __str__(self): raise SystemExit(1)
  @property
  def __traceback__(self): raise SystemExit(1)
class F(SyntaxError):
  msg = property(lambda self: 1 / 0)
  filename = property(lambda self: 1 / 0)
def GenerateConfig(context):
";
        for (line, expected) in [
            ("  return H()", json!("what it returned is of type t.H")),
            ("  return {'a': [H()]}", json!("what it returned['a'][0] is of type t.H")),
            ("  return {H(): 1}", json!("a key in what it returned is of type t.H")),
            ("  raise E()", json!("E: its text cannot be told")),
            ("  raise F('x')", json!("F: its text cannot be told")),
        ] {
            let made = tried(&pool, &format!("{class}{line}\n")).await;
            let expected = expected.as_str().unwrap().replace("t.H", "H");
            let said = made["error"].as_str().unwrap_or_default().replace("__dm__.", "");
            assert!(said.starts_with(&expected), "{line}: {made}");
        }
        let made = tried(&pool, &format!("{class}  return D({{S('a'): S('b')}})\n")).await;
        assert_eq!(made, json!({ "value": { "a": "b" } }));
    });
}

pub(crate) fn attack_row_22_games_with_the_interpreter_stay_inside() {
    run(async {
        let pool = warm().await;
        for lines in [
            "sys.modules.clear()\nreturn 'x'",
            "import gc\nfor o in gc.get_objects():\n  if type(o) is dict: o.clear()\nreturn 'x'",
            "import builtins\nvars(builtins).clear()\nreturn 'x'",
            "sys.modules['_formwork'].serve = None\nsys.modules['_formwork']._answer = lambda job: 'forged'\nreturn 'x'",
            "vars(sys.modules['_formwork']).clear()\nreturn 'x'",
            "import json, io\njson.JSONEncoder.encode = None\nio.FileIO = None\nreturn 'x'",
            "f = sys._getframe()\nwhile f: f.f_globals.clear(); f = f.f_back",
            "os.close(0); os.close(1)\nreturn 'x'",
            "sys.setprofile(lambda *a: 1 / 0)\nreturn 'x'",
        ] {
            let made = tried(&pool, &body(lines)).await;
            assert!(made.is_object(), "{lines}: {made}");
        }
    });
}

pub(crate) fn attack_row_22_two_megabytes_of_properties_and_ten_thousand_imports() {
    run(async {
        let pool = warm().await;
        let large = json!({ "text": "x".repeat(2 << 20), "list": vec![1; 100_000] });
        let source =
            "def GenerateConfig(c): return str(len(c.properties['text']) + sum(c.properties['list']))";
        let job = calls(&[("t.py", source)], json!([{ "file": "t.py", "properties": large }]));
        assert_eq!(answers(&pool, job).await[0]["text"], ((2 << 20) + 100_000).to_string());

        let names = (0..10_000).map(|n| format!("lib/m{n}.py")).collect::<Vec<_>>();
        let mut files = names.iter().map(|name| (name.as_str(), "X = 1\n")).collect::<Vec<_>>();
        let source = "import importlib\ndef GenerateConfig(c):\n  return str(sum(importlib.import_module('lib.m%d' % n).X for n in range(0, 10000, 100)))";
        files.push(("t.py", source));
        let made = answers(&pool, calls(&files, json!([{ "file": "t.py" }, { "file": "t.py" }]))).await;
        assert_eq!(made, [json!({ "text": "100" }), json!({ "text": "100" })]);

        let circle = [
            ("t.py", "import a\ndef GenerateConfig(c): return a.X"),
            ("a.py", "import b\nX = b.Y"),
            ("b.py", "import a\nY = a.X"),
        ];
        let made = answers(&pool, calls(&circle, json!([{ "file": "t.py" }]))).await;
        assert!(made[0]["error"].as_str().unwrap().contains("circular import"), "{made:?}");
    });
}
