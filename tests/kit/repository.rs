//! Bare repositories made with the git program: `git fast-import` takes any tree, those Git would not check out too.
//!
//! Shared by the end-to-end tests and the benches; only the standard library. Dates and authors are fixed, so the
//! same commits have the same ids everywhere.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A bare repository with one branch, `main`.
pub(crate) struct Repository {
    path: PathBuf,
    commits: u64,
    /// Whether the next commit follows from none.
    anew: bool,
}

/// One commit, on top of what is there.
#[derive(Default)]
pub(crate) struct Commit {
    stream: Vec<u8>,
}

/// Seconds since the epoch of the first commit; each further one is a minute later.
const FIRST_COMMIT: u64 = 1_767_225_600;

/// The git program without the settings of this machine.
pub(crate) fn git() -> Command {
    let mut command = Command::new("git");
    command
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_TERMINAL_PROMPT", "0");
    command
}

/// Whether there is a git program with its CGI back end.
pub(crate) fn git_is_installed() -> bool {
    let output = git().arg("--exec-path").output();
    let path = output
        .ok()
        .filter(|output| output.status.success())
        .and_then(|output| String::from_utf8(output.stdout).ok());
    path.is_some_and(|path| Path::new(path.trim()).join("git-http-backend").exists())
}

impl Repository {
    /// A new repository in a directory that is made.
    pub(crate) fn create(path: &Path) -> io::Result<Repository> {
        checked(git().args(["init", "--quiet", "--bare", "--initial-branch=main"]).arg(path).output()?)?;
        Ok(Repository { path: path.to_owned(), commits: 0, anew: true })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Its URL for a program on this machine.
    pub(crate) fn file_url(&self) -> String {
        format!("file://{}", self.path.display())
    }

    /// Adds a commit to the branch and returns its id.
    pub(crate) fn commit(&mut self, commit: Commit) -> io::Result<String> {
        let date = FIRST_COMMIT + 60 * self.commits;
        let message = format!("Commit {}", self.commits);
        let mut stream = format!(
            "commit refs/heads/main\ncommitter Somebody <somebody@example.com> {date} +0000\ndata {}\n{message}\n",
            message.len()
        )
        .into_bytes();
        if !std::mem::take(&mut self.anew) {
            stream.extend_from_slice(b"from refs/heads/main^0\n");
        }
        stream.extend_from_slice(&commit.stream);
        stream.extend_from_slice(b"\ndone\n");
        let mut import = git()
            .arg("--git-dir")
            .arg(&self.path)
            .args(["fast-import", "--quiet", "--done"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let mut input = import.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
        // A refused stream ends the program early; its own words say more than the broken pipe.
        let written = input.write_all(&stream);
        drop(input);
        checked(import.wait_with_output()?)?;
        written?;
        self.commits += 1;
        self.head()
    }

    /// Moves the branch to a commit that is there, as a forced push does.
    pub(crate) fn force(&self, commit: &str) -> io::Result<()> {
        let update = ["update-ref", "refs/heads/main", commit];
        checked(git().arg("--git-dir").arg(&self.path).args(update).output()?)?;
        Ok(())
    }

    /// Takes the branch away; the next commit begins a history of its own.
    pub(crate) fn begin_anew(&mut self) -> io::Result<()> {
        let delete = ["update-ref", "-d", "refs/heads/main"];
        checked(git().arg("--git-dir").arg(&self.path).args(delete).output()?)?;
        self.anew = true;
        Ok(())
    }

    /// Puts everything into one pack, as hosts of repositories do now and then.
    pub(crate) fn repack(&self) -> io::Result<()> {
        checked(git().arg("--git-dir").arg(&self.path).args(["repack", "-a", "-d", "--quiet"]).output()?)?;
        Ok(())
    }

    /// The id of the newest commit.
    pub(crate) fn head(&self) -> io::Result<String> {
        let output =
            git().arg("--git-dir").arg(&self.path).args(["rev-parse", "refs/heads/main"]).output()?;
        Ok(checked(output)?.trim().to_owned())
    }
}

impl Commit {
    /// Puts a file there.
    pub(crate) fn file(mut self, path: &str, content: impl AsRef<[u8]>) -> Commit {
        self.entry("100644", path.as_bytes(), content.as_ref());
        self
    }

    /// Takes a file or directory away.
    pub(crate) fn without(mut self, path: &str) -> Commit {
        self.stream.extend_from_slice(b"D ");
        self.path(path.as_bytes());
        self
    }

    /// Puts an executable file there.
    pub(crate) fn executable(mut self, path: &str, content: impl AsRef<[u8]>) -> Commit {
        self.entry("100755", path.as_bytes(), content.as_ref());
        self
    }

    /// Puts a file there whose path need not be UTF-8.
    pub(crate) fn file_named(mut self, path: &[u8], content: impl AsRef<[u8]>) -> Commit {
        self.entry("100644", path, content.as_ref());
        self
    }

    /// Puts a symbolic link there.
    pub(crate) fn link(mut self, path: &str, target: &str) -> Commit {
        self.entry("120000", path.as_bytes(), target.as_bytes());
        self
    }

    /// Puts a submodule there: the id of a commit of another repository.
    pub(crate) fn submodule(mut self, path: &str) -> Commit {
        let id = "5f".repeat(20);
        self.stream.extend_from_slice(format!("M 160000 {id} ").as_bytes());
        self.path(path.as_bytes());
        self
    }

    /// Puts every file of a directory there, executable bits included.
    pub(crate) fn directory(mut self, path: &str, from: &Path) -> io::Result<Commit> {
        use std::os::unix::fs::PermissionsExt;
        let mut entries = std::fs::read_dir(from)?.collect::<Result<Vec<_>, _>>()?;
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name().into_string().map_err(|_| io::ErrorKind::InvalidData)?;
            let inside = if path.is_empty() { name } else { format!("{path}/{name}") };
            let metadata = entry.metadata()?;
            if metadata.is_dir() {
                self = self.directory(&inside, &entry.path())?;
            } else {
                let mode = if metadata.permissions().mode() & 0o100 == 0 { "100644" } else { "100755" };
                self.entry(mode, inside.as_bytes(), &std::fs::read(entry.path())?);
            }
        }
        Ok(self)
    }

    fn entry(&mut self, mode: &str, path: &[u8], content: &[u8]) {
        self.stream.extend_from_slice(format!("M {mode} inline ").as_bytes());
        self.path(path);
        self.stream.extend_from_slice(format!("data {}\n", content.len()).as_bytes());
        self.stream.extend_from_slice(content);
        self.stream.push(b'\n');
    }

    /// A path as `git fast-import` reads it: in quotes, what is not plain in octal.
    fn path(&mut self, path: &[u8]) {
        self.stream.push(b'"');
        for byte in path {
            match byte {
                b'"' | b'\\' => self.stream.extend_from_slice(&[b'\\', *byte]),
                b' '..=b'~' => self.stream.push(*byte),
                _ => self.stream.extend_from_slice(format!("\\{byte:03o}").as_bytes()),
            }
        }
        self.stream.extend_from_slice(b"\"\n");
    }
}

fn checked(output: Output) -> io::Result<String> {
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(io::Error::other(format!("git failed: {}", String::from_utf8_lossy(&output.stderr).trim())))
}
