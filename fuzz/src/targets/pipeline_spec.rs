//! A product spec read: every piece lies in the text, nothing is left out, what is found has a
//! place, and the same text given back with its own requirements says the same.

use windlass_pipeline_design::model::analysis::SpanClass;
use windlass_pipeline_design::spec::{
    SpecContext, analyse, colour, from_requirements, requirements, requirements_as_spec, strategy,
};

pub fn run(data: &[u8]) {
    let Ok(spec) = std::str::from_utf8(data) else {
        return;
    };
    let context = SpecContext::default();
    let analysis = analyse(spec, &context);
    let mut at = 0;
    for span in &analysis.spans {
        assert!(span.start >= at && spec.get(span.start..span.end).is_some());
        assert!(spec[at..span.start].trim().is_empty());
        at = span.end;
    }
    assert!(spec[at..].trim().is_empty());
    for statement in &analysis.statements {
        assert!(!statement.spans.is_empty() && !statement.text.is_empty());
    }
    for span in &analysis.spans {
        let stated = || {
            analysis
                .statements
                .iter()
                .any(|statement| statement.spans.contains(&span.id))
        };
        assert!(span.class != SpanClass::Behaviour || stated());
    }
    for colour in &analysis.colours {
        assert_eq!(
            colour::resolve(&colour.value).as_deref(),
            Some(colour.value.as_str())
        );
    }
    let required = requirements(&analysis);
    let Ok(again) = from_requirements(spec, &required) else {
        panic!("our own requirements are refused");
    };
    assert_eq!(requirements(&again), required);
    let _ = (
        strategy(&analysis, &context),
        requirements_as_spec(&required),
    );
}
