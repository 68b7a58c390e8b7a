//! What launches leave in the home goes with their runs, and with nothing else.

use super::place::LaunchPlace;

#[test]
fn the_folder_of_a_run_goes_when_the_run_does() {
    let place = LaunchPlace::clean();
    let launches = place.home().join("launch");
    let strangers = ["notes", "r_2025-01-01"].map(|name| launches.join(name));
    let gone = launches.join("r_2025-01-01T00-00-00Z_aaaaaaaaaaaaaaaaaaaaaaaaaa");
    for folder in strangers.iter().chain([&gone]) {
        fs_err::create_dir_all(folder).unwrap();
        fs_err::write(folder.join("file"), "x").unwrap();
    }
    let mut client = place.serve();
    let run_id = client.started(&place.config(), "READY_FOR_PR");
    let folder = launches.join(&run_id);
    assert!(folder.is_dir());
    let prune = || place.say(&["store", "prune", "--keep-days", "0", "--yes"]);
    let mut number = 0;
    // Something else ends, so that there is something to prune.
    let mut end_something = || {
        number += 1;
        let file = format!("{number}=1");
        let directory = place.root().to_str().unwrap();
        let arguments = [
            "demo", "apply", "--yes", "--dir", directory, "--file", &file,
        ];
        place.say(&arguments).worked();
    };
    end_something();
    prune().worked();
    assert!(folder.is_dir(), "its run has not ended");
    assert!(!gone.exists(), "nobody knows that run");
    assert!(strangers.iter().all(|folder| folder.join("file").is_file()));
    client.about("launch_cancel", &run_id).worked();
    client.settled(&run_id);
    drop(client);
    prune().worked();
    assert!(!folder.exists(), "its run is gone");
    assert!(strangers.iter().all(|folder| folder.is_dir()));
}
