//! Redis as a local process. Its whole config comes on standard input, so that the password is
//! in no argument and no file.

use std::path::Path;

use windlass_types::{Problem, Secret};

use crate::plan::make_folder;
use crate::process::Launch;

/// How to start it.
pub(crate) fn redis_launch(
    program: &Path,
    data: &Path,
    port: u16,
    password: &Secret<String>,
) -> Result<Launch, Problem> {
    make_folder(data).map_err(|error| Problem::internal("dev Redis", error))?;
    let config = format!(
        "bind 127.0.0.1\nport {port}\nprotected-mode yes\nrequirepass {}\ndir \"{}\"\nappendonly yes\nsave \"\"\ndaemonize no\n",
        password.expose_secret(),
        data.display()
            .to_string()
            .replace('\\', "\\\\")
            .replace('"', "\\\""),
    );
    let mut launch = Launch::new(program, data).arguments(["-"]);
    launch.input = Some(Secret::new(config));
    launch.grace = std::time::Duration::from_secs(5);
    Ok(launch)
}
