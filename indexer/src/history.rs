//! Which commit brought each version: a walk down the first parents of a branch, by tree ids alone.
//!
//! At the head, every version directory has a tree id. Going from commit to commit towards the beginning, the commit
//! that brought a version is the last one at which its directory still had that id. A directory whose id is the same
//! in both commits is not entered, so a commit costs one tree for each directory on the way to what it changed. The
//! walk ends when every version is told, so after a push it ends within the commits of that push.
//!
//! The walk has a budget: a branch may have any number of commits, and a stranger may have made them. What is not told
//! within it stays unknown.
//!
//! This module must not know what a repository is: it reads commits through [`Commits`].

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

/// Names an object of a repository.
pub(crate) type Id = [u8; 20];

/// Commits walked, at most: first parents while looking for what brought versions, any parents while looking for a
/// commit.
pub(crate) const MOST_COMMITS: usize = 100_000;

/// Trees read, at most.
pub(crate) const MOST_TREES: usize = 500_000;

/// A commit, as far as the walk needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Commit {
    pub(crate) tree: Id,
    pub(crate) parents: Vec<Id>,
    /// Seconds since 1970, UTC, as its committer's clock had it.
    pub(crate) at: i64,
    /// The name of its author, safe to show.
    pub(crate) author: String,
}

/// A repository's commits and trees.
pub(crate) trait Commits {
    /// A commit; `None` if it is not there or cannot be read.
    fn commit(&self, id: Id) -> Option<Commit>;

    /// Calls `entry` with the name and id of each directory in a tree; false if the tree cannot be read.
    fn directories(&self, tree: Id, entry: &mut dyn FnMut(&[u8], Id)) -> bool;
}

/// The commit that brought some versions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Bringer {
    pub(crate) commit: String,
    pub(crate) at: i64,
    pub(crate) author: String,
    /// The directories of the versions.
    pub(crate) paths: Vec<String>,
}

/// A directory on the way to versions, as the walk has it last.
#[derive(Default)]
struct Node {
    id: Option<Id>,
    below: HashMap<Vec<u8>, Node>,
    /// The index of the version whose directory this is.
    version: Option<usize>,
}

impl Node {
    fn is_done(&self) -> bool {
        self.version.is_none() && self.below.is_empty()
    }

    /// Everything below was brought by the commit at hand, for its parent has no such directory, or cannot tell.
    fn take_all(&mut self, told: &mut Vec<usize>) {
        told.extend(self.version.take());
        self.below.drain().for_each(|(_, mut node)| node.take_all(told));
    }
}

struct Walk<'a, C> {
    commits: &'a C,
    trees: usize,
    told: Vec<usize>,
}

impl<C: Commits> Walk<'_, C> {
    /// Goes on to the parent, in which this directory has the id `parent`. False once the budget is spent.
    fn step(&mut self, node: &mut Node, parent: Option<Id>) -> bool {
        if node.id == parent {
            return true;
        }
        let Some(parent) = parent else {
            node.take_all(&mut self.told);
            return true;
        };
        // The directory of a version with another id: it was changed by the commit at hand.
        self.told.extend(node.version.take());
        node.id = Some(parent);
        if node.below.is_empty() {
            return true;
        }
        let mut there = HashMap::new();
        if !self.read(parent, &node.below, &mut there) {
            return false;
        }
        for (name, below) in &mut node.below {
            if !self.step(below, there.get(name).copied()) {
                return false;
            }
        }
        node.below.retain(|_, below| !below.is_done());
        true
    }

    /// The ids of the wanted directories in a tree. False once the budget is spent.
    fn read(&mut self, tree: Id, wanted: &HashMap<Vec<u8>, Node>, there: &mut HashMap<Vec<u8>, Id>) -> bool {
        self.trees += 1;
        self.trees <= MOST_TREES
            && self.commits.directories(tree, &mut |name, id| {
                if wanted.contains_key(name) {
                    there.insert(name.to_vec(), id);
                }
            })
    }

    /// Gives every wanted directory its id in the tree the walk begins at.
    fn begin(&mut self, node: &mut Node, id: Id) -> bool {
        node.id = Some(id);
        if node.below.is_empty() {
            return true;
        }
        let mut there = HashMap::new();
        if !self.read(id, &node.below, &mut there) {
            return false;
        }
        // What is not in the tree is not a directory of this head, and nothing brought it.
        node.below.retain(|name, _| there.contains_key(name));
        node.below.iter_mut().all(|(name, below)| there.get(name).is_some_and(|id| self.begin(below, *id)))
    }
}

/// Which commits brought the version directories `paths` to `head`. Paths that are missing in the answer are beyond
/// the budget, or beyond what of the history is there.
pub(crate) fn brought(commits: &impl Commits, head: Id, paths: &[String]) -> Vec<Bringer> {
    let mut root = Node::default();
    for (index, path) in paths.iter().enumerate() {
        let mut node = &mut root;
        for segment in path.split('/') {
            node = node.below.entry(segment.as_bytes().to_vec()).or_default();
        }
        node.version = Some(index);
    }
    let mut walk = Walk { commits, trees: 0, told: Vec::new() };
    let mut bringers = Vec::new();
    let (mut id, mut current) = (head, commits.commit(head));
    if !current.as_ref().is_some_and(|head| walk.begin(&mut root, head.tree)) {
        return bringers;
    }
    for _ in 0..MOST_COMMITS {
        let Some(commit) = current.filter(|_| !root.is_done()) else { break };
        let parent = commit.parents.first().map(|parent| (*parent, commits.commit(*parent)));
        let goes_on = match &parent {
            // The beginning brought what is left.
            None => {
                root.take_all(&mut walk.told);
                true
            }
            Some((_, Some(parent))) => walk.step(&mut root, Some(parent.tree)),
            // A parent that is not there: who brought what is left cannot be told.
            Some((_, None)) => false,
        };
        if !walk.told.is_empty() {
            let told = std::mem::take(&mut walk.told);
            let paths = told.into_iter().map(|index| paths[index].clone()).collect();
            bringers.push(Bringer { commit: hex(id), at: commit.at, author: commit.author, paths });
        }
        match parent {
            Some((parent_id, parent)) if goes_on => (id, current) = (parent_id, parent),
            _ => break,
        }
    }
    bringers
}

/// Whether `wanted` is `head` or an ancestor of it, along any parents; `None` beyond the budget.
pub(crate) fn is_ancestor(commits: &impl Commits, head: Id, wanted: Id) -> Option<bool> {
    // Everything a head follows from is fetched with it, so what is not there is no ancestor.
    if commits.commit(wanted).is_none() {
        return Some(false);
    }
    let mut seen = std::collections::HashSet::from([head]);
    let mut queue = std::collections::VecDeque::from([head]);
    while let Some(id) = queue.pop_front() {
        if id == wanted {
            return Some(true);
        }
        if seen.len() > MOST_COMMITS {
            return None;
        }
        let parents = commits.commit(id)?.parents;
        queue.extend(parents.into_iter().filter(|parent| seen.insert(*parent)));
    }
    Some(false)
}

/// An id as people write it.
pub(crate) fn hex(id: Id) -> String {
    id.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::collections::BTreeMap;

    use super::*;

    /// Commits in memory: each is a list of version directories and what is in them.
    #[derive(Default)]
    struct Memory {
        commits: HashMap<Id, Commit>,
        trees: HashMap<Id, Vec<(Vec<u8>, Id)>>,
        read: Cell<usize>,
    }

    fn id(text: &str) -> Id {
        schema::Digest::of(text.as_bytes()).as_bytes()[..20].try_into().unwrap()
    }

    impl Memory {
        fn tree(&mut self, files: &BTreeMap<String, String>) -> Id {
            let mut below = BTreeMap::<String, BTreeMap<String, String>>::new();
            let mut listing = String::new();
            let mut entries = Vec::new();
            for (path, content) in files {
                match path.split_once('/') {
                    Some((first, rest)) => {
                        below.entry(first.to_owned()).or_default().insert(rest.to_owned(), content.clone());
                    }
                    None => listing.push_str(&format!("{path}={content};")),
                }
            }
            for (name, files) in below {
                let tree = self.tree(&files);
                listing.push_str(&format!("{name}:{};", hex(tree)));
                entries.push((name.into_bytes(), tree));
            }
            let tree = id(&listing);
            self.trees.insert(tree, entries);
            tree
        }

        fn add(&mut self, name: &str, parents: &[&str], files: &[(&str, &str)]) {
            let files = files.iter().map(|(path, content)| (format!("{path}/f"), (*content).to_owned()));
            let tree = self.tree(&files.collect());
            let parents = parents.iter().map(|parent| id(parent)).collect();
            self.commits.insert(id(name), Commit { tree, parents, at: 1, author: name.to_owned() });
        }

        /// The author (and so the name) of the commit that brought each path.
        fn who(&self, head: &str, paths: &[&str]) -> BTreeMap<String, String> {
            let paths = paths.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>();
            let bringers = brought(self, id(head), &paths);
            let told = bringers.into_iter().flat_map(|bringer| {
                bringer.paths.into_iter().map(move |path| (path, bringer.author.clone()))
            });
            told.collect()
        }
    }

    impl Commits for Memory {
        fn commit(&self, id: Id) -> Option<Commit> {
            self.commits.get(&id).cloned()
        }

        fn directories(&self, tree: Id, entry: &mut dyn FnMut(&[u8], Id)) -> bool {
            self.read.set(self.read.get() + 1);
            self.trees[&tree].iter().for_each(|(name, id)| entry(name, *id));
            true
        }
    }

    fn told(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(path, who)| ((*path).to_owned(), (*who).to_owned())).collect()
    }

    #[test]
    fn a_version_was_brought_by_the_last_commit_that_changed_it() {
        let mut git = Memory::default();
        git.add("one", &[], &[("a/v1", "x")]);
        git.add("two", &["one"], &[("a/v1", "x"), ("a/v2", "y")]);
        git.add("three", &["two"], &[("a/v1", "x"), ("a/v2", "z"), ("c/b/v1", "w")]);
        let paths = ["a/v1", "a/v2", "c/b/v1", "not/there"];
        let expected = [("a/v1", "one"), ("a/v2", "three"), ("c/b/v1", "three")];
        assert_eq!(git.who("three", &paths), told(&expected));
        // Put back as it was, it was brought by who put it back.
        git.add("four", &["three"], &[("a/v1", "x"), ("a/v2", "y"), ("c/b/v1", "w")]);
        assert_eq!(git.who("four", &["a/v2"]), told(&[("a/v2", "four")]));
    }

    #[test]
    fn merges_are_followed_along_their_first_parent() {
        let mut git = Memory::default();
        git.add("base", &[], &[("a/v1", "x")]);
        git.add("side", &["base"], &[("a/v1", "x"), ("a/v2", "y")]);
        git.add("main", &["base"], &[("a/v1", "x"), ("b/v1", "z")]);
        git.add("merge", &["main", "side"], &[("a/v1", "x"), ("a/v2", "y"), ("b/v1", "z")]);
        let expected = [("a/v1", "base"), ("a/v2", "merge"), ("b/v1", "main")];
        assert_eq!(git.who("merge", &["a/v1", "a/v2", "b/v1"]), told(&expected));
        assert_eq!(is_ancestor(&git, id("merge"), id("side")), Some(true));
        assert_eq!(is_ancestor(&git, id("main"), id("side")), Some(false));
        assert_eq!(is_ancestor(&git, id("main"), id("never fetched")), Some(false));
    }

    #[test]
    fn what_did_not_change_is_not_entered_and_a_walk_ends_when_all_is_told() {
        let mut git = Memory::default();
        let mut files = (0..50).map(|n| (format!("t{n}/v1"), "x".to_owned())).collect::<Vec<_>>();
        let mut before = None::<String>;
        for n in 0..200 {
            files.push((format!("t{}/v1.0.{n}", n % 50), n.to_string()));
            let name = n.to_string();
            let list = files.iter().map(|(path, content)| (&**path, &**content)).collect::<Vec<_>>();
            git.add(&name, &before.iter().map(|name| &**name).collect::<Vec<_>>(), &list);
            before = Some(name);
        }
        let count = |paths: &[&str]| {
            git.read.set(0);
            assert_eq!(git.who("199", paths).len(), paths.len());
            git.read.get()
        };
        assert!(count(&["t49/v1.0.199"]) <= 5, "a push costs what it changed");
        let all = files.iter().map(|(path, _)| &**path).collect::<Vec<_>>();
        assert!(count(&all) <= 51 + 2 * 200, "a commit costs the directories on the way to what it changed");
    }
}
