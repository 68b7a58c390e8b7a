//! The settings file: any text is understood wholly or refused with a place in the file.

use windlass_config::Settings;

pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    if let Err(error) = Settings::parse(text, "config.toml") {
        assert!(error.to_string().contains("config.toml"));
    }
}
