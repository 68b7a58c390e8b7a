//! A repository on this machine, with work in progress in it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use windlass_commit::LocalGit;
use windlass_git::GitProgram;
use windlass_ports::commit_service::{
    CommitRequest, CommitService as _, FoundBranch, ServiceKind, Stage,
};
use windlass_ports::git::Git;
use windlass_types::Timestamp;

use super::support::{BRANCH, address, commit_request, pull_request, write};

struct Site {
    home: tempfile::TempDir,
    git: Arc<GitProgram>,
    variables: Vec<(OsString, OsString)>,
}

impl Site {
    /// A work tree on `main` with an edited and a staged file.
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let variables = vec![
            ("HOME".into(), home.path().as_os_str().to_owned()),
            ("PATH".into(), std::env::var_os("PATH").unwrap()),
        ];
        let site = Self {
            git: Arc::new(GitProgram::new(variables.clone())),
            home,
            variables,
        };
        let config =
            "[user]\n\tname = Ann\n\temail = ann@example.com\n[init]\n\tdefaultBranch = main\n";
        fs_err::write(site.home.path().join(".gitconfig"), config).unwrap();
        let tree = site.tree();
        fs_err::create_dir_all(tree.join("content")).unwrap();
        site.run(&tree, &["init", "--quiet"]);
        for name in ["old.md", "gone.md"] {
            fs_err::write(tree.join("content").join(name), "# Old\n").unwrap();
        }
        site.run(&tree, &["add", "."]);
        site.run(&tree, &["commit", "--quiet", "-m", "base"]);
        fs_err::write(tree.join("content/old.md"), "being edited\n").unwrap();
        fs_err::write(tree.join("staged"), "staged\n").unwrap();
        site.run(&tree, &["add", "staged"]);
        site
    }

    fn tree(&self) -> PathBuf {
        self.home.path().join("site")
    }

    fn records(&self) -> PathBuf {
        self.home.path().join("run data/pulls")
    }

    fn run(&self, cwd: &Path, args: &[&str]) -> String {
        let output = Command::new("git")
            .current_dir(cwd)
            .env_clear()
            .envs(self.variables.clone())
            .args(args)
            .output()
            .unwrap();
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn base(&self) -> String {
        self.run(&self.tree(), &["rev-parse", "main"])
    }

    fn service(&self, repository: &Path) -> LocalGit {
        let mut address = address(ServiceKind::Local, None);
        address.repository = repository.to_owned();
        address.record_dir = self.records();
        LocalGit::new(Arc::clone(&self.git) as Arc<dyn Git>, &address)
    }

    fn request(&self) -> CommitRequest {
        CommitRequest {
            base_ref: self.base(),
            base_branch: Some("main".to_owned()),
            ..commit_request("file:///srv/site")
        }
    }

    /// What the person at work sees.
    fn at_work(&self) -> (String, Vec<u8>, String) {
        let tree = self.tree();
        (
            self.run(
                &tree,
                &[
                    "--no-optional-locks",
                    "status",
                    "--porcelain=v2",
                    "--branch",
                ],
            ),
            fs_err::read(tree.join(".git/index")).unwrap(),
            fs_err::read_to_string(tree.join(".git/HEAD")).unwrap(),
        )
    }
}

#[tokio::test]
async fn a_branch_is_created_next_to_the_work_and_only_once() {
    let site = Site::new();
    let service = site.service(&site.tree());
    let before = site.at_work();
    let first = service.commit(site.request()).await.unwrap();
    assert!(!first.reused);
    assert_eq!(site.at_work(), before);
    let shown = site.run(
        &site.tree(),
        &[
            "show",
            "--format=%P %an %at%n%s|%b",
            "--name-status",
            "--no-renames",
            BRANCH,
        ],
    );
    assert_eq!(
        shown,
        format!(
            "{} Windlass 1700000000\nLaunch Acme|All of it.\n\n\n\
             D\tcontent/gone.md\nA\tcontent/new.md\nM\tcontent/old.md",
            site.base()
        )
    );
    // Again, and again at another time: what is there is what was asked for.
    let mut later = site.request();
    later.time = Timestamp::from_millis(1_800_000_000_000);
    for request in [site.request(), later] {
        let again = service.commit(request).await.unwrap();
        assert_eq!(
            (again.commit_sha, again.reused),
            (first.commit_sha.clone(), true)
        );
    }
    assert_eq!(site.at_work(), before);
}

#[tokio::test]
async fn a_branch_with_other_content_is_left_alone() {
    let site = Site::new();
    let service = site.service(&site.tree());
    service.commit(site.request()).await.unwrap();
    let mut other = site.request();
    other.files[0] = write("content/new.md", "# Other\n");
    let fault = service.commit(other).await.unwrap_err();
    assert_eq!(fault.service_code.as_deref(), Some("branch_exists"));
    assert!(!fault.retryable, "{fault}");

    let mut moved = site.request();
    site.run(&site.tree(), &["commit", "--quiet", "-m", "staged"]);
    moved.base_ref = site.base();
    let fault = service.commit(moved).await.unwrap_err();
    assert_eq!(fault.service_code.as_deref(), Some("branch_exists"));
}

#[tokio::test]
async fn a_pull_request_is_a_file_that_can_be_found_and_removed() {
    let site = Site::new();
    let bare = site.home.path().join("bare");
    let base = site.base();
    let url = format!("file://{}", site.tree().display());
    site.git.fetch_commit(&bare, &url, &base).unwrap();
    let service = site.service(&bare);
    assert_eq!(service.find("", BRANCH).await.unwrap(), None);
    let made = service.commit(site.request()).await.unwrap();

    // The process ended between the two calls.
    let service = site.service(&bare);
    let found = service.find("", BRANCH).await.unwrap().unwrap();
    assert_eq!((&found.commit_sha, &found.pull), (&made.commit_sha, &None));

    let mut request = pull_request(&url, &made.commit_sha);
    request.base_ref = base.clone();
    request.base_branch = Some("main".to_owned());
    let pull = service.open_pr(request.clone()).await.unwrap();
    assert_eq!(service.open_pr(request).await.unwrap(), pull);
    let place = site
        .records()
        .canonicalize()
        .unwrap()
        .join("launch-r_1-acme.md");
    let encoded = place.display().to_string().replace(' ', "%20");
    assert_eq!(
        (pull.pr_url.as_str(), pull.pr_number),
        (format!("file://{encoded}").as_str(), None)
    );
    assert_eq!(
        fs_err::read_to_string(&place).unwrap(),
        format!(
            "# Launch Acme\n\n- branch: `{BRANCH}`\n- commit: `{}`\n- into: `main` (`{base}`)\n\nPages.\n",
            made.commit_sha
        )
    );
    assert_eq!(fs_err::read_dir(site.records()).unwrap().count(), 1);
    let expected = FoundBranch {
        commit_sha: made.commit_sha.clone(),
        pull: Some(pull.clone()),
    };
    assert_eq!(service.find("", BRANCH).await.unwrap(), Some(expected));

    for _ in 0..2 {
        service
            .withdraw("", BRANCH, &made.commit_sha, Some(&pull))
            .await
            .unwrap();
        assert_eq!(service.find("", BRANCH).await.unwrap(), None);
    }
    assert!(!place.exists());
}

#[tokio::test]
async fn a_branch_that_went_on_is_not_deleted() {
    let site = Site::new();
    let service = site.service(&site.tree());
    let made = service.commit(site.request()).await.unwrap();
    site.run(&site.tree(), &["branch", "--force", BRANCH, "main"]);
    service
        .withdraw("", BRANCH, &made.commit_sha, None)
        .await
        .unwrap();
    assert_eq!(site.run(&site.tree(), &["rev-parse", BRANCH]), site.base());
    let fault = service
        .open_pr(pull_request("", &made.commit_sha))
        .await
        .unwrap_err();
    assert_eq!(fault.stage, Stage::OpenPr);
    assert!(fault.message.contains("is not at commit"), "{fault}");
}

#[tokio::test]
async fn what_is_not_part_of_a_launch_is_refused_before_git_runs() {
    let site = Site::new();
    let service = site.service(&site.tree());
    for branch in ["main", "launch/", "launch/../main", "refs/heads/launch/x"] {
        let mut request = site.request();
        request.branch_name = branch.to_owned();
        assert!(service.commit(request).await.is_err(), "{branch}");
        assert!(
            service
                .withdraw("", branch, &site.base(), None)
                .await
                .is_err()
        );
    }
    let mut request = site.request();
    request.files.push(write("config/x.toml", ""));
    let fault = service.commit(request).await.unwrap_err();
    assert_eq!(fault.path_not_allowed.as_deref(), Some("config/x.toml"));
    let mut request = site.request();
    request.base_ref = "2".repeat(40);
    let fault = service.commit(request).await.unwrap_err();
    assert_eq!(
        fault.message,
        format!(
            "commit `{}` does not exist in the site's repository",
            "2".repeat(40)
        )
    );
    assert_eq!(
        site.run(&site.tree(), &["branch", "--list", "launch/*"]),
        ""
    );
    // A machine's paths do not leave.
    let nowhere = site.service(&site.home.path().join("absent"));
    let fault = nowhere.commit(site.request()).await.unwrap_err();
    assert!(
        !fault
            .message
            .contains(&site.home.path().display().to_string()),
        "{fault}"
    );
}

#[tokio::test]
async fn many_at_once_create_one_branch() {
    let site = Site::new();
    let service = Arc::new(site.service(&site.tree()));
    let tries: Vec<_> = (0..4)
        .map(|_| {
            let (service, request) = (Arc::clone(&service), site.request());
            tokio::spawn(async move { service.commit(request).await })
        })
        .collect();
    let mut made = Vec::new();
    for one in tries {
        let done = tokio::time::timeout(Duration::from_secs(60), one).await;
        made.push(done.unwrap().unwrap().unwrap());
    }
    assert!(made.iter().all(|one| one.commit_sha == made[0].commit_sha));
    assert_eq!(made.iter().filter(|one| !one.reused).count(), 1);
}
