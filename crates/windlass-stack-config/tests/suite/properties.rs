//! Whatever is given, nothing panics, and what is accepted means the same when written again.

use proptest::prelude::*;
use serde_json::{Value, json};
use windlass_stack_config::directive::syntax::{Argument, Directive, Part, parse};
use windlass_stack_config::{Config, NoLookups, load_value};

use super::world::{context, read};

fn directive() -> impl Strategy<Value = Directive> {
    let argument = prop_oneof![
        ".{0,12}".prop_map(Argument::Text),
        any::<i32>().prop_map(|number| Argument::Number(number.into())),
        any::<bool>().prop_map(Argument::Bool),
    ];
    // A custom directive: it may have arguments and a path of any kind.
    let leaf = (
        "[A-Z][a-z0-9]{0,6}x",
        prop::collection::vec(argument, 0..3),
        prop::collection::vec(".{0,6}", 0..3),
    )
        .prop_map(|(name, arguments, path)| Directive {
            name,
            arguments,
            path,
        });
    leaf.prop_recursive(4, 12, 3, |inner| {
        (
            "[A-Z][a-z0-9]{0,6}x",
            prop::collection::vec(inner.prop_map(Argument::Directive), 0..3),
        )
            .prop_map(|(name, arguments)| Directive {
                name,
                arguments,
                path: Vec::new(),
            })
    })
}

/// JSON that often looks like a config.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        any::<i16>().prop_map(Value::from),
        "(function|bucket|sqs|GET|\\*|\\$Stage\\(\\)|\\$Secret\\('x'\\)|a|src/a.ts|rate\\(1 day\\))".prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    let key = prop_oneof![
        4 => "(type|properties|packaging|events|entryfilePath|memory|environment|name|value|connectTo|overrides|method|path|httpApiGatewayName|dev|remote)",
        1 => "[a-z$<]{0,4}",
    ];
    leaf.prop_recursive(5, 64, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(key.clone(), inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_text_is_read_without_a_panic(text in ".{0,200}") {
        let _ = read(&text);
    }

    #[test]
    fn texts_like_configs_are_read_without_a_panic(
        text in "(resources|scripts|type|\\$File|\\$Var\\(|[a-z]{1,3}|[:\\-\\[\\]{}&*<|>'\"(),.$#\n ]){0,60}"
    ) {
        let _ = read(&text);
    }

    #[test]
    fn printed_directives_are_read_back(directive in directive()) {
        let printed = directive.to_string();
        prop_assert_eq!(parse(&printed, &|_| true), Ok(vec![Part::Directive(directive)]));
    }

    #[test]
    fn texts_without_directives_stay(text in "[^$]{0,40}") {
        prop_assert_eq!(parse(&text, &|_| true), Ok(vec![Part::Text(text)]));
    }

    #[test]
    fn what_is_accepted_survives_writing(one in value(), other in value()) {
        let folder = std::path::Path::new("/nonexistent");
        let given = json!({ "resources": { "one": one, "two": { "type": "bucket", "properties": other } } });
        if let Ok(loaded) = load_value("x", given, &context(folder, &NoLookups)) {
            let written = serde_json::to_value(&loaded.config).unwrap();
            let again: Config = serde_json::from_value(written).unwrap();
            prop_assert_eq!(again, loaded.config);
        }
    }
}
