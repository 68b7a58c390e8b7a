//! The operations as the catalogue has them.

use super::world::Ground;

#[test]
fn every_schema_compiles_and_accepts_its_examples() {
    Ground::new().in_a_process(|process| {
        let catalogue = process.catalogue();
        catalogue.check().unwrap();
        for tool in ["stacktape_ops", "stacktape_dev", "stacktape_diagnose"] {
            assert!(catalogue.find(tool).is_some(), "{tool}");
        }
    });
}
