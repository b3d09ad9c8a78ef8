//! The server, killed at random while a repository changes under it.
//!
//! In each round a commit is pushed and the server is killed some way into taking it up: before the fetch, in the scan,
//! while it publishes, while the search index commits. After the restart a checker that uses none of our crates (git
//! and plain HTTP) compares everything a reader can see with what Git has: every reference, every byte, every search
//! hit, every line of the change log. What is shown at once must be one commit, whole, and none before the last that
//! was seen; what is shown a moment later must be the newest.

mod git;
mod probe;
#[expect(dead_code, reason = "shared with the end-to-end tests, which use the rest")]
#[path = "../../../tests/kit/git_http.rs"]
mod remote;
#[expect(dead_code, reason = "shared with the end-to-end tests, which use the rest")]
#[path = "../../../tests/kit/repository.rs"]
mod repository;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use clap::Args;

use crate::figures::Run;
use crate::programs;
use crate::terminal::{Progress, say};
use git::{Git, Versions};
use probe::Probe;
use remote::GitRemote;
use repository::{Commit, Repository};

/// What the repository is called in the registry.
const REGISTRY: &str = "git.example/acme/killed";

/// Templates to begin with; each round adds and changes some.
const TEMPLATES: u64 = 25;

/// How long the server may take to show the newest commit.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long searching may take to follow.
const SEARCHING: Duration = Duration::from_secs(10);

/// How often, and which.
#[derive(Debug, Clone, Args)]
pub(crate) struct Rounds {
    /// How many times it is killed
    #[arg(long, default_value_t = 100)]
    rounds: u64,
    /// What decides the commits and the moments: same seed, same commits
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The program; without it, one is built
    #[arg(long)]
    program: Option<PathBuf>,
}

impl Default for Rounds {
    fn default() -> Rounds {
        Rounds { rounds: 100, seed: 1, program: None }
    }
}

pub(crate) fn run(rounds: &Rounds) -> anyhow::Result<ExitCode> {
    let program = match &rounds.program {
        Some(program) => program.clone(),
        None => programs::build_formwork()?,
    };
    let scratch = programs::scratch()?.join("kill");
    // Of a run before; it may not be there.
    drop(std::fs::remove_dir_all(&scratch));
    std::fs::create_dir_all(&scratch)?;
    let mut soak = Soak::begin(program, scratch, rounds.seed)?;
    let progress = Progress::new();
    let mut interrupted = 0;
    for round in 1..=rounds.rounds {
        progress.show(format_args!(
            "kill: round {round} of {}, {interrupted} in the middle of something",
            rounds.rounds
        ));
        interrupted +=
            u64::from(soak.round().with_context(|| format!("round {round}, seed {}", rounds.seed))?);
    }
    let whole = soak.finish()?;
    drop(progress);
    say(format_args!(
        "kill: {} kills, {interrupted} of them before the commit under way was shown; {} versions, {} changes: nothing lost, nothing by halves",
        rounds.rounds, whole.versions, whole.changes
    ));
    Run { soak: "kill", seed: rounds.seed, cases: rounds.rounds, explained: Vec::new(), unexplained: 0 }
        .keep()?;
    Ok(ExitCode::SUCCESS)
}

/// What there was in the end.
struct Whole {
    versions: usize,
    changes: u64,
}

struct Soak {
    program: PathBuf,
    data: PathBuf,
    log: PathBuf,
    repository: Repository,
    remote: GitRemote,
    random: Random,
    /// The commits there were, oldest first.
    commits: Vec<String>,
    /// The newest commit that was shown.
    shown: usize,
    /// The next free version of each template.
    next: BTreeMap<String, u64>,
    /// Every version that was ever shown, with its files as they were last.
    ever: Versions,
    /// The last change that was seen.
    sequence: u64,
    /// Every version the change log told of.
    told: std::collections::BTreeSet<String>,
}

impl Soak {
    fn begin(program: PathBuf, scratch: PathBuf, seed: u64) -> anyhow::Result<Soak> {
        let remotes = scratch.join("remotes");
        std::fs::create_dir_all(&remotes)?;
        let repository = Repository::create(&remotes.join("killed.git"))?;
        let remote = GitRemote::serve(&remotes)?;
        let mut soak = Soak {
            program,
            data: scratch.join("data"),
            log: scratch.join("log"),
            repository,
            remote,
            random: Random(seed.wrapping_mul(2).wrapping_add(1)),
            commits: Vec::new(),
            shown: 0,
            next: BTreeMap::new(),
            ever: Versions::default(),
            sequence: 0,
            told: std::collections::BTreeSet::new(),
        };
        let mut first = Commit::default();
        for number in 0..TEMPLATES {
            let template =
                if number % 3 == 0 { format!("group/quartz{number}") } else { format!("quartz{number}") };
            soak.next.insert(template.clone(), 1);
            first = add(first, &template, 0, "first");
        }
        soak.commits.push(soak.repository.commit(first)?);
        let probe = soak.start()?;
        soak.until_newest(&probe)?;
        probe.kill()?;
        Ok(soak)
    }

    fn start(&self) -> anyhow::Result<Probe> {
        Probe::start(
            &self.program,
            &self.data,
            &self.log,
            &format!("{REGISTRY}={}", self.remote.url("killed.git")),
        )
    }

    /// One commit, one kill, one restart, everything compared; whether the kill came before the commit was shown.
    fn round(&mut self) -> anyhow::Result<bool> {
        // Either the server is up and sees the push, or it is down and finds it when it starts.
        let up_before = self.random.below(2) == 0;
        let victim = if up_before { Some(self.start()?) } else { None };
        self.push()?;
        let victim = match victim {
            Some(victim) => victim,
            None => self.start()?,
        };
        victim.ask_to_look(REGISTRY);
        // Most of what can be interrupted happens in the first moments.
        let longest = if self.random.below(3) == 0 { 900 } else { 160 };
        std::thread::sleep(Duration::from_millis(self.random.below(longest)));
        let interrupted = victim.commit(REGISTRY)?.as_ref() != self.commits.last();
        victim.kill()?;

        let server = self.start()?;
        self.one_commit_whole(&server).context("right after the restart")?;
        self.until_newest(&server)?;
        server.kill()?;
        Ok(interrupted)
    }

    /// New versions, changed ones, sometimes one taken away: too few to look like a mistake of somebody's.
    fn push(&mut self) -> anyhow::Result<()> {
        let mut commit = Commit::default();
        let templates = self.next.keys().cloned().collect::<Vec<_>>();
        for _ in 0..=self.random.below(3) {
            let template = &templates[self.random.below(templates.len() as u64) as usize];
            let next = self.next.entry(template.clone()).or_default();
            commit = add(commit, template, *next, "added");
            *next += 1;
        }
        let changed = &templates[self.random.below(templates.len() as u64) as usize];
        let text = format!("changed in commit {}", self.commits.len());
        // No version that was taken away is changed: those have odd numbers.
        commit = add(commit, changed, 0, &text);
        if self.random.below(4) == 0 {
            let template = &templates[self.random.below(templates.len() as u64) as usize];
            let newest = self.next[template] - 1;
            if newest % 2 == 1 {
                commit = commit.without(&format!("{template}/v1.0.{newest}"));
            }
        }
        self.commits.push(self.repository.commit(commit)?);
        Ok(())
    }

    /// Waits for the newest commit, then compares everything.
    fn until_newest(&mut self, server: &Probe) -> anyhow::Result<()> {
        let began = Instant::now();
        server.ask_to_look(REGISTRY);
        while server.commit(REGISTRY)?.as_ref() != self.commits.last() {
            ensure!(
                began.elapsed() < PATIENCE,
                "the newest commit is not shown after {PATIENCE:?}; the log is {}",
                self.log.display()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
        self.one_commit_whole(server)
    }

    /// What is shown is one commit, whole, and no older one than was shown before.
    fn one_commit_whole(&mut self, server: &Probe) -> anyhow::Result<()> {
        let shown = server.commit(REGISTRY)?.context("nothing is shown of what was published")?;
        let Some(index) = self.commits.iter().position(|commit| *commit == shown) else {
            bail!("{shown} is shown, which was never pushed");
        };
        ensure!(index >= self.shown, "commit {index} is shown after commit {}", self.shown);
        // A server that looks again meanwhile may show the next commit half way through the comparison.
        let compared = self.compare(server, &shown);
        if server.commit(REGISTRY)?.as_deref() != Some(shown.as_str()) {
            return self.one_commit_whole(server);
        }
        self.shown = index;
        let expected = compared.with_context(|| format!("commit {index} ({shown})"))?;
        for (version, files) in expected.0 {
            self.ever.0.insert(version, files);
        }
        Ok(())
    }

    fn compare(&mut self, server: &Probe, commit: &str) -> anyhow::Result<Versions> {
        let git = Git::new(self.repository.path());
        let expected = git.versions(commit)?;
        let mut by_template = BTreeMap::<&str, Vec<&str>>::new();
        for version in expected.0.keys() {
            let (template, number) = version.rsplit_once('/').context("a version is in a template")?;
            by_template.entry(template).or_default().push(number);
        }
        for (template, numbers) in &by_template {
            let mut listed = server.versions(REGISTRY, template)?;
            listed.sort();
            let mut numbers = numbers.iter().map(ToString::to_string).collect::<Vec<_>>();
            numbers.sort();
            ensure!(listed == numbers, "{template}: {listed:?} are listed, git has {numbers:?}");
            self.found(server, template)?;
        }
        for (version, files) in expected
            .0
            .iter()
            .chain(self.ever.0.iter().filter(|(version, _)| !expected.0.contains_key(*version)))
        {
            let (template, number) = version.rsplit_once('/').context("a version is in a template")?;
            server.same_bytes(REGISTRY, template, number, files, &git).with_context(|| version.clone())?;
        }
        let (sequence, told) = server.changes(self.sequence)?;
        ensure!(sequence >= self.sequence, "the change log went from {} back to {sequence}", self.sequence);
        self.sequence = sequence;
        self.told.extend(told);
        for version in expected.0.keys() {
            let name = version.replace("/v1.0.", ":v1.0.");
            ensure!(self.told.contains(&name), "the change log has no line on {name}");
        }
        Ok(expected)
    }

    /// A template is found by searching for it. The index commits some milliseconds after what it is an index of.
    fn found(&self, server: &Probe, template: &str) -> anyhow::Result<()> {
        let began = Instant::now();
        while !server.finds(REGISTRY, template)? {
            ensure!(began.elapsed() < SEARCHING, "{template} is not found by searching for it");
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    fn finish(mut self) -> anyhow::Result<Whole> {
        let server = self.start()?;
        self.until_newest(&server)?;
        server.kill()?;
        Ok(Whole { versions: self.ever.0.len(), changes: self.sequence })
    }
}

/// A version: a template that is told from any other by its text, and an example that processes.
fn add(commit: Commit, template: &str, number: u64, text: &str) -> Commit {
    let name = template.rsplit('/').next().unwrap_or(template);
    let directory = format!("{template}/v1.0.{number}");
    let yaml = format!(
        "apiVersion: template.openshift.io/v1\nkind: Template\nmetadata:\n  name: {name}\nparameters:\n- name: NAME\n  description: A name.\n  value: {name}\nobjects:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: ${{NAME}}\n  data:\n    text: {text} {number}\n"
    );
    commit
        .file(&format!("{directory}/{name}.yaml"), yaml)
        .file(&format!("{directory}/example.yaml"), "parameters:\n  NAME: example\n")
        .file(&format!("{directory}/README.md"), format!("# {name}\n\n{text}\n"))
}

/// Numbers that are the same for the same seed (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit.max(1)
    }
}
