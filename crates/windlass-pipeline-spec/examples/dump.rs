fn main() {
    let path = std::env::args().nth(1).unwrap();
    let spec = std::fs::read_to_string(path).unwrap();
    let a = windlass_pipeline_spec::analyse(&spec, &windlass_pipeline_spec::SpecContext::default());
    for r in &a.access {
        println!("{r:?}");
    }
    for s in &a.statements {
        if s.entity.as_deref() == std::env::args().nth(2).as_deref() {
            println!(
                "{} {:?} {:?} own={:?} ind={:?} | {}",
                s.requirement,
                s.actor,
                s.kind,
                s.object.as_ref().map(|o| o.own),
                s.indirect,
                s.text
            );
        }
    }
}
