//! temp
use super::shown;
use windlass_pipeline_spec::{SpecContext, analyse, requirements};
#[test]
fn adhoc() {
    for n in 1..20 {
        let Ok(text) =
            std::fs::File::open(format!("/tmp/specs/{n}.md")).and_then(std::io::read_to_string)
        else {
            continue;
        };
        let analysis = analyse(&text, &SpecContext::default());
        println!("=== {n}\n{}", shown::requirements(&requirements(&analysis)));
        println!("{}", shown::findings(&analysis));
    }
}
