//! Python in a confined worker: what templates find there, what comes back, and that nothing stays.

use std::path::Path;
use std::time::{Duration, Instant};

use schema::digest::Digest;
use schema::kind::Kind;
use schema::processing::{Request, Template};
use serde_json::{Value, json};
use worker::python::{Preparation, Python, PythonState};
use worker::{Job, Pool, PoolConfig, WorkerError};

use crate::kit::{budget, done, job, run, works};

/// Compiled once for all runs of these tests.
pub(crate) fn python() -> Python {
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("python");
    Python { cache, preparation: Preparation::WhenNeeded, announce: None }
}

pub(crate) fn pool_with(workers: usize) -> Pool {
    let budget = schema::limits::Budget { memory: 256 << 20, ..budget() };
    Pool::start(PoolConfig { budget, ..PoolConfig::own(workers) }.with_python(python())).unwrap()
}

/// A job that makes these calls over these files.
pub(crate) fn calls(files: &[(&str, &str)], calls: Value) -> Job {
    let files = files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()));
    let template = Template {
        name: "t".to_owned(),
        kind: Kind::DmPython,
        entry: "t.py".to_owned(),
        files: files.collect(),
        jinja2: false,
    };
    let entropy = Digest::of(format!("{:?}", Instant::now()).as_bytes()).hex();
    let values = json!({ "do": "python", "calls": calls });
    let mut job = job("", json!({}));
    job.budget.memory = 256 << 20;
    job.budget.python_wall = Duration::from_secs(60);
    Job {
        digest: None,
        template,
        request: Request { values, entropy, now: 1_700_000_000, ..Request::default() },
        ..job
    }
}

pub(crate) async fn answers(pool: &Pool, job: Job) -> Vec<Value> {
    done(pool.process(job).await).objects
}

/// What one template in Python gives.
pub(crate) async fn one(pool: &Pool, source: &str) -> Value {
    one_with(pool, source, json!({})).await
}

pub(crate) async fn one_with(pool: &Pool, source: &str, properties: Value) -> Value {
    let job = calls(&[("t.py", source)], json!([{ "file": "t.py", "properties": properties }]));
    answers(pool, job).await.remove(0)
}

pub(crate) fn templates_return_texts_and_values() {
    run(async {
        let pool = pool_with(1);
        let text = "import yaml\ndef GenerateConfig(context):\n  return yaml.dump({'n': context.properties['n'] + 1})\n";
        assert_eq!(one_with(&pool, text, json!({ "n": 1 })).await, json!({ "text": "n: 2\n" }));
        let value = "def generate_config(context):\n  return {'t': (1, 2.5), 3: None, True: u'\\u2603', 'n': context.env['name']}\n";
        assert_eq!(
            one(&pool, value).await,
            json!({ "value": { "t": [1, 2.5], "3": null, "true": "☃", "n": "it" } })
        );
        let dates = "import datetime\ndef GenerateConfig(c):\n  d = datetime.datetime(2001, 12, 14, 21, 59)\n  return {'d': d, 'e': d.date()}\n";
        assert_eq!(
            one(&pool, dates).await["value"],
            json!({ "d": "2001-12-14 21:59:00", "e": "2001-12-14" })
        );
        let both = "def generate_config(c): return 'lower'\ndef GenerateConfig(c): return 'upper'\n";
        assert_eq!(one(&pool, both).await["text"], "upper");
        assert_eq!(one(&pool, "def GenerateConfig(c): return None").await, json!({ "value": null }));
        let neither = one(&pool, "def Other(c): return None").await;
        assert_eq!(neither["error"], "KeyError: 'GenerateConfig'");
    });
}

pub(crate) fn templates_of_python_2_find_what_they_knew() {
    run(async {
        let pool = pool_with(1);
        let source = "
import copy, yaml
def GenerateConfig(context):
  p = context.properties
  assert p.has_key('a') and isinstance(u'x', basestring) and isinstance('x', unicode) and isinstance(1, long)
  q = copy.deepcopy(p)
  q['b']['c'] = 2
  made = yaml.load('{x: 1}')
  made['pairs'] = sorted(k for k, v in p.iteritems()) + list(p['b'].iterkeys()) + [i for i in xrange(2)]
  return yaml.dump(p) + yaml.safe_dump(made, default_flow_style=True) + repr(p) + repr(q)
";
        let text = one_with(&pool, source, json!({ "a": 1, "b": { "c": [1] } })).await;
        let expected = "a: 1\nb:\n  c:\n  - 1\n{pairs: [a, b, c, 0, 1], x: 1}\n{'a': 1, 'b': {'c': [1]}}{'a': 1, 'b': {'c': 2}}";
        assert_eq!(text["text"], expected, "{text}");
    });
}

pub(crate) fn helpers_are_imported_from_the_files() {
    run(async {
        let pool = pool_with(1);
        let files = [
            (
                "t.py",
                "from helpers.common import Name\nimport helpers.extra as extra\nimport a.b.deep\nimport flat\nimport json\n\
                 def GenerateConfig(c): return [Name(c), extra.TYPE, a.b.deep.D, flat.Z, json.X]",
            ),
            (
                "helpers/common.py",
                "import flat\nimport extra\nfrom . import extra as e\nfrom .extra import TYPE\ndef Name(c): return c.env['name'] + e.TYPE + extra.TYPE",
            ),
            ("helpers/extra.py", "TYPE = 'vm'"),
            ("a/b/deep.py", "D = 4"),
            ("flat.py", "Z = 26"),
            ("json.py", "X = 'a helper goes before the library'"),
            ("after.py", "import json, yaml\ndef GenerateConfig(c): return json.X + yaml.dump(1)[:1]"),
        ];
        let job = calls(&files, json!([{ "file": "t.py" }, { "file": "after.py" }]));
        let expected = json!({ "value": ["itvmvm", "vm", 4, 26, "a helper goes before the library"] });
        assert_eq!(
            answers(&pool, job).await,
            [expected, json!({ "text": "a helper goes before the library1" })]
        );
        let missing = one(&pool, "import nothelper\ndef GenerateConfig(c): return ''").await;
        assert_eq!(missing["error"], "ModuleNotFoundError: No module named 'nothelper'");
        assert_eq!((&missing["file"], &missing["line"]), (&json!("t.py"), &json!(1)));
    });
}

pub(crate) fn jinja2_itself_renders() {
    run(async {
        let pool = pool_with(1);
        let files = [
            (
                "t.jinja",
                "{% import 'm.jinja' as m %}{{ m.hello(env.name) }} {{ properties.l }} {{ nothing }}{{ properties.iteritems() | list }} {{ imports | length }}",
            ),
            ("m.jinja", "{% macro hello(name) %}hello {{ name }}{% endmacro %}"),
            ("broken.jinja", "a\n{% for x in %}"),
            ("fails.jinja", "a\nb: {{ nothing.at.all }}"),
        ];
        let job = calls(
            &files,
            json!([
                { "file": "t.jinja", "properties": { "l": [1, "x", null] } },
                { "file": "broken.jinja" },
                { "file": "fails.jinja" },
            ]),
        );
        let made = answers(&pool, job).await;
        assert_eq!(made[0]["text"], "hello it [1, 'x', None] [('l', [1, 'x', None])] 4", "{made:?}");
        assert_eq!((&made[1]["file"], &made[1]["line"]), (&json!("broken.jinja"), &json!(2)), "{made:?}");
        assert!(made[1]["error"].as_str().unwrap().starts_with("jinja2.exceptions.TemplateSyntaxError: "));
        assert_eq!(made[2]["trace"], json!(["fails.jinja:2 in top-level template code"]));
        assert_eq!(made[2]["error"], "jinja2.exceptions.UndefinedError: 'nothing' is undefined");
        assert_eq!((&made[2]["file"], &made[2]["line"]), (&json!("fails.jinja"), &json!(2)), "{made:?}");
    });
}

pub(crate) fn failures_name_file_line_and_what_led_there() {
    run(async {
        let pool = pool_with(1);
        let files = [
            ("t.py", "import json\nimport helper\ndef GenerateConfig(c):\n  return helper.work(c)\n"),
            (
                "helper.py",
                "import json\ndef work(c):\n  return json.loads('{') if c.properties else c.properties['zone']\n",
            ),
            ("syntax.py", "x = 1\ndef GenerateConfig(c)\n  pass\n"),
            ("raises.py", "def GenerateConfig(c):\n  raise ValueError('no zone for %s' % c.env['name'])\n"),
        ];
        let job = calls(
            &files,
            json!([
                { "file": "t.py", "properties": {} },
                { "file": "t.py", "properties": { "a": 1 } },
                { "file": "syntax.py" },
                { "file": "raises.py" },
            ]),
        );
        let made = answers(&pool, job).await;
        let trace = ["t.py:4 in GenerateConfig", "helper.py:3 in work"];
        assert_eq!(
            made[0],
            json!({ "error": "KeyError: 'zone'", "file": "helper.py", "line": 3, "trace": trace })
        );
        assert_eq!((&made[1]["file"], &made[1]["line"]), (&json!("helper.py"), &json!(3)));
        assert!(made[1]["error"].as_str().unwrap().starts_with("json.decoder.JSONDecodeError: "), "{made:?}");
        assert_eq!(made[1]["trace"].as_array().unwrap().len(), 5, "{made:?}");
        assert_eq!((&made[2]["error"], &made[2]["line"]), (&json!("SyntaxError: expected ':'"), &json!(2)));
        assert_eq!((&made[3]["error"], &made[3]["line"]), (&json!("ValueError: no zone for it"), &json!(2)));
    });
}

pub(crate) fn what_a_template_changes_of_what_it_was_given_is_told() {
    run(async {
        let pool = pool_with(1);
        let source = "def GenerateConfig(c):\n  c.properties['added'] = [1]\n  c.env['deployment'] = 'changed'\n  return 'x'\n";
        let made = one_with(&pool, source, json!({ "x": 1 })).await;
        assert_eq!(made["properties"], json!({ "x": 1, "added": [1] }));
        assert_eq!(made["env"]["deployment"], "changed");
        let kept =
            one_with(&pool, "def GenerateConfig(c): return 'x'", json!({ "x": [1.0, null, { "a": "b" }] }))
                .await;
        assert_eq!(kept, json!({ "text": "x" }));
    });
}

pub(crate) fn what_cannot_be_written_down_is_named() {
    run(async {
        let pool = pool_with(1);
        for (value, message) in [
            (
                "{1, 2}",
                "what it returned['a']['b'] is of type set: return maps, lists, texts, numbers, true, false and None",
            ),
            (
                "b'x'",
                "what it returned['a']['b'] is of type bytes: return maps, lists, texts, numbers, true, false and None",
            ),
            ("float('nan')", "what it returned['a']['b'] is nan, which is no number to write down"),
            ("2 ** 64", "what it returned['a']['b'] is a whole number of more than 64 bits: make it a text"),
            ("{(1, 2): 3}", "a key in what it returned['a']['b'] is of type tuple: make it a text"),
            ("{1: 2, '1': 3}", "two keys in what it returned['a']['b'] are both written '1'"),
            ("c", "what it returned nests more than 100 deep: look for something that contains itself"),
            ("[[[[[[0] * 30] * 30] * 30] * 30] * 30]", "what it returned has more than 1000000 parts"),
            ("'\\ud83d'", "what it returned holds half a surrogate pair, which is no character"),
        ] {
            let source = format!(
                "def GenerateConfig(context):\n  c = []\n  c.append(c)\n  return {{'a': {{'b': {value}}}}}\n"
            );
            let made = one(&pool, &source).await;
            assert_eq!(made["error"], message, "{value}: {made}");
        }
        let plain = "class S(str): pass\nclass I(int): pass\nimport collections\ndef GenerateConfig(c):\n  return collections.OrderedDict([(S('a'), S('b')), ('c', [I(3), 2 ** 63])])\n";
        assert_eq!(
            one(&pool, plain).await["value"],
            json!({ "a": "b", "c": [3, 9_223_372_036_854_775_808_u64] })
        );
    });
}

const CHANCE: &str = "
import datetime, os, random, secrets, time, uuid
def GenerateConfig(context):
  return {
    'random': random.random(), 'choice': random.sample(range(1000), 5), 'urandom': os.urandom(8).hex(),
    'uuid': str(uuid.uuid4()), 'secrets': secrets.token_hex(8), 'system': random.SystemRandom().random(),
    'hash': hash('a text'), 'time': time.time(), 'now': str(datetime.datetime.utcnow()), 'ticks': time.monotonic(),
  }
";

pub(crate) fn with_a_seed_the_same_comes_out_and_without_one_it_differs() {
    run(async {
        let pool = pool_with(2);
        let render = async |seed: Option<&str>| {
            let mut job = calls(
                &[("t.py", CHANCE), ("t.jinja", "{{ range(1000000) | random }}")],
                json!([{ "file": "t.py" }, { "file": "t.py" }, { "file": "t.jinja" }]),
            );
            job.request.seed = seed.map(str::to_owned);
            answers(&pool, job).await
        };
        let (first, second, third) =
            (render(Some("a")).await, render(Some("a")).await, render(Some("b")).await);
        assert_eq!(first, second);
        assert_ne!(first[0]["value"]["random"], third[0]["value"]["random"]);
        assert_ne!(
            first[0]["value"]["random"], first[1]["value"]["random"],
            "two calls of one expansion differ"
        );
        assert_eq!(first[0]["value"]["time"], json!(1_700_000_000.0));

        let (first, second) = (render(None).await, render(None).await);
        for name in ["random", "choice", "urandom", "uuid", "secrets", "system", "time"] {
            assert_ne!(first[0]["value"][name], second[0]["value"][name], "{name}");
            assert_ne!(first[0]["value"][name], first[1]["value"][name], "{name}");
        }
        assert_ne!(first[2], second[2], "Jinja's random");
        // Documented: the order of a set is the same everywhere.
        assert_eq!(first[0]["value"]["hash"], second[0]["value"]["hash"]);
        let time = first[0]["value"]["time"].as_f64().unwrap();
        assert!(
            (1_700_000_000.0..1_700_000_100.0).contains(&time),
            "the caller's clock, and it goes: {time}"
        );
    });
}

pub(crate) fn one_expansion_is_one_instance_and_no_call_sees_another() {
    run(async {
        let pool = pool_with(1);
        let files = [
            (
                "spoil.py",
                "
import builtins, collections, helper, json, random, sys, yaml, jinja2, os
helper.left = 'here'
json.loads = json.left = None
random.seed(1)
builtins.len = lambda x: 42
builtins.left = 'here'
sys.modules['left'] = json
sys.path.append('/left')
sys.meta_path.clear()
yaml.SafeDumper.left = 'here'
yaml.SafeDumper.add_representer(str, lambda d, v: d.represent_int(7))
yaml.SafeLoader.add_constructor('!left', lambda l, n: 'here')
jinja2.Environment.left = 'here'
os.environ['LEFT'] = 'here'
os.listdir = None
left = 'here'
def GenerateConfig(context):
  context.imports['t.py'] = 'left'
  return {'id': id(sys.modules), 'first': len('xx')}
",
            ),
            ("helper.py", "value = 1"),
            (
                "look.py",
                "
import builtins, helper, jinja2, json, os, sys, yaml
def GenerateConfig(context):
  def fails(work):
    try: work()
    except Exception: return True
  return {
    'id': id(sys.modules), 'length': len('xx'),
    'left': [hasattr(x, 'left') for x in (helper, json, builtins, yaml.SafeDumper, jinja2.Environment)] + ['left' in globals(), 'left' in sys.modules, '/left' in sys.path],
    'loads': json.loads('1'), 'dump': yaml.safe_dump('x'), 'meta_path': len(sys.meta_path), 'listdir': os.listdir is None,
    'constructor': fails(lambda: yaml.safe_load('!left x')), 'imports': context.imports['t.py'] == 'left' if 't.py' in context.imports else False,
  }
",
            ),
        ];
        let job = calls(&files, json!([{ "file": "spoil.py" }, { "file": "look.py" }]));
        let made = answers(&pool, job).await;
        let alone = answers(&pool, calls(&files, json!([{ "file": "look.py" }]))).await;
        assert_eq!(made[0]["value"]["first"], 42, "{made:?}");
        assert_eq!(made[1], alone[0]);
        assert_eq!(made[1]["value"]["length"], 2);
        assert_eq!(made[1]["value"]["left"], json!([false, false, false, false, false, false, false, false]));
        assert_eq!(made[1]["value"]["dump"], "x\n...\n");
        assert_eq!(made[1]["value"]["constructor"], true);
    });
}

pub(crate) fn many_calls_of_one_expansion_are_quick() {
    run(async {
        let pool = pool_with(1);
        let source = "def GenerateConfig(c):\n  return 'n: %d' % c.properties['n']\n";
        let list = (0..500).map(|n| json!({ "file": "t.py", "properties": { "n": n } })).collect::<Vec<_>>();
        let began = Instant::now();
        let made = answers(&pool, calls(&[("t.py", source)], json!(list))).await;
        assert_eq!(made[499]["text"], "n: 499");
        assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    });
}

pub(crate) fn python_is_mapped_in_few_workers_and_where_it_turns_out_to_be_needed() {
    run(async {
        let pool = pool_with(2);
        pool.ready().await.unwrap();
        assert_eq!(pool.python(), Some(PythonState::Idle), "nobody has needed it");
        let plain = works(&pool).await;
        assert_eq!(pool.python(), Some(PythonState::Idle));
        for _ in 0..6 {
            assert_eq!(one(&pool, "def GenerateConfig(c): return 'x'").await["text"], "x");
        }
        assert!(matches!(pool.python(), Some(PythonState::Ready(_))));
        assert_eq!(pool.stats().retired, 1, "one worker was replaced by one with Python");
        assert!(pool.stats().started <= 3);
        let _ = plain;
        // A job that does not look like Python and turns out to need it.
        let mut job = calls(&[("t.py", "def GenerateConfig(c): return 'y'")], json!([{ "file": "t.py" }]));
        job.template.kind = Kind::Template;
        assert_eq!(answers(&pool, job).await[0]["text"], "y");
    });
}

pub(crate) fn without_python_a_template_says_so() {
    run(async {
        let pool = Pool::start(PoolConfig { budget: budget(), ..PoolConfig::own(1) }).unwrap();
        let made = one(&pool, "def GenerateConfig(c): return 'x'").await;
        assert!(made["unavailable"].as_str().unwrap().contains("set up without it"), "{made}");
        assert_eq!(pool.python(), None);
    });
}

pub(crate) fn a_cache_others_can_write_to_is_not_used() {
    use std::os::unix::fs::PermissionsExt;
    run(async {
        let cache = tempfile::tempdir().unwrap();
        std::fs::set_permissions(cache.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
        let python = Python { cache: cache.path().to_owned(), ..python() };
        let pool =
            Pool::start(PoolConfig { budget: budget(), ..PoolConfig::own(1) }.with_python(python)).unwrap();
        let job = calls(&[("t.py", "")], json!([{ "file": "t.py" }]));
        match pool.process(job).await {
            Err(WorkerError::NoPython { message }) => assert!(message.contains("chmod go-w"), "{message}"),
            other => panic!("{other:?}"),
        }
        assert!(matches!(pool.python(), Some(PythonState::Failed(_))));
        works(&pool).await;
    });
}
