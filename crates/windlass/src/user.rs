//! Who runs this process, by the operating system's word rather than the environment's.

use std::sync::OnceLock;

use windlass_types::Principal;

/// The user at the command line.
pub(crate) fn local_principal() -> Principal {
    Principal::local(user_name())
}

/// A program the user started, such as the agent behind an MCP connection.
pub(crate) fn agent_principal(program: &str) -> Principal {
    Principal::local_agent(&user_name(), program)
}

fn user_name() -> String {
    static NAME: OnceLock<String> = OnceLock::new();
    let name = NAME.get_or_init(|| {
        let uid = rustix::process::getuid().as_raw();
        let passwd = fs_err::read_to_string("/etc/passwd").unwrap_or_default();
        name_of(&passwd, uid).unwrap_or_else(|| format!("uid{uid}"))
    });
    name.clone()
}

fn name_of(passwd: &str, uid: u32) -> Option<String> {
    passwd.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        let found: u32 = fields.nth(1)?.parse().ok()?;
        (found == uid && !name.is_empty()).then(|| name.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_from_the_third_field() {
        let passwd = "root:x:0:0:root:/root:/bin/sh\nbroken\nada:x:1000:1000::/home/ada:/bin/sh\n";
        assert_eq!(name_of(passwd, 1000).as_deref(), Some("ada"));
        assert_eq!(name_of(passwd, 0).as_deref(), Some("root"));
        assert_eq!(name_of(passwd, 7), None);
    }
}
