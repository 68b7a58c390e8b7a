//! A commit service in memory, which remembers what it was asked and says the same twice.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use windlass_ports::{
    BoxFuture, CommitService, CommitServices, ServiceFault,
    commit_service::{
        CommitRequest, Committed, FoundBranch, OpenedPull, PullRequest, ServiceAddress,
    },
};
use windlass_types::Digest;

/// What is there: a commit and perhaps a pull request for every branch.
#[derive(Clone, Default)]
pub struct Hosted(pub Arc<Mutex<Branches>>);

/// A commit and the text of a pull request, by branch.
type Branches = BTreeMap<String, (String, Option<String>)>;

impl CommitServices for Hosted {
    fn open(&self, _: ServiceAddress) -> Result<Arc<dyn CommitService>, ServiceFault> {
        Ok(Arc::new(self.clone()))
    }
}

impl CommitService for Hosted {
    fn adapter(&self) -> &'static str {
        "local"
    }

    fn commit(&self, request: CommitRequest) -> BoxFuture<'_, Result<Committed, ServiceFault>> {
        assert!(!request.files.is_empty());
        let files: Vec<_> = request
            .files
            .iter()
            .map(|file| format!("{} {:?}", file.path, file.content))
            .collect();
        let commit_sha = Digest::of(files.join("\n").as_bytes()).to_string();
        let mut hosted = self.0.lock().unwrap();
        let entry = hosted.entry(request.branch_name);
        let reused = matches!(entry, std::collections::btree_map::Entry::Occupied(_));
        entry.or_insert((commit_sha.clone(), None));
        Box::pin(async move { Ok(Committed { commit_sha, reused }) })
    }

    fn open_pr(&self, request: PullRequest) -> BoxFuture<'_, Result<OpenedPull, ServiceFault>> {
        let mut hosted = self.0.lock().unwrap();
        let entry = hosted.get_mut(&request.branch_name).unwrap();
        assert_eq!(entry.0, request.commit_sha);
        entry.1 = Some(request.pr_body);
        Box::pin(async {
            Ok(OpenedPull {
                pr_url: "https://git.example/pulls/7".to_owned(),
                pr_number: Some(7),
            })
        })
    }

    fn find<'a>(
        &'a self,
        _: &'a str,
        _: &'a str,
    ) -> BoxFuture<'a, Result<Option<FoundBranch>, ServiceFault>> {
        Box::pin(async { Ok(None) })
    }

    fn withdraw<'a>(
        &'a self,
        _: &'a str,
        branch: &'a str,
        commit_sha: &'a str,
        _: Option<&'a OpenedPull>,
    ) -> BoxFuture<'a, Result<(), ServiceFault>> {
        let mut hosted = self.0.lock().unwrap();
        if hosted.get(branch).is_some_and(|(sha, _)| sha == commit_sha) {
            hosted.remove(branch);
        }
        Box::pin(async { Ok(()) })
    }
}
