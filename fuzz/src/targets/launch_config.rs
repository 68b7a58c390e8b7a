//! Run configurations: refused with a pointer, or accepted into a form that means the same.

use windlass_launch_model::config::{Accepted, Caller};

pub fn run(data: &[u8]) {
    let Ok(given) = serde_json::from_slice::<serde_json::Value>(data) else {
        return;
    };
    for caller in [Caller::local(), Caller::remote(Vec::new())] {
        let Ok(accepted) = Accepted::new(given.clone(), &caller) else {
            continue;
        };
        let again = Accepted::new(accepted.json().clone(), &caller).expect("it was accepted");
        assert_eq!(again.hash(), accepted.hash());
        let restored = Accepted::restore(accepted.json().clone()).expect("it was accepted");
        assert_eq!(restored.hash(), accepted.hash());
        let config = accepted.config();
        assert!(!config.product_slug.is_empty() && !config.locales.is_empty());
        assert!(accepted.allowed().admit(".git/config").is_err());
        assert!(accepted.allowed().admit("../outside").is_err());
    }
}
