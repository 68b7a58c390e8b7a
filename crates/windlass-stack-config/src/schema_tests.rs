//! The schema is whole, documented and stable.

use super::*;

/// Every property of every object, with the name of the object it is in.
fn properties<'a>(schema: &'a Value, name: &str, visit: &mut dyn FnMut(&str, &str, &'a Value)) {
    match schema {
        Value::Object(object) => {
            if let Some(Value::Object(found)) = object.get("properties") {
                for (key, property) in found {
                    if property.get("const").is_none() {
                        visit(name, key, property);
                    }
                }
            }
            for (key, value) in object {
                match (key.as_str(), value) {
                    // Names stand here, not keywords.
                    ("properties" | "$defs", Value::Object(named)) => {
                        for (inner, value) in named {
                            let name = if key == "$defs" { inner } else { name };
                            properties(value, name, visit);
                        }
                    }
                    _ => properties(value, name, visit),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| properties(item, name, visit)),
        _ => {}
    }
}

#[test]
fn every_property_is_described() {
    let schema = schema();
    let mut missing = Vec::new();
    let mut count = 0;
    properties(&schema, "Config", &mut |object, key, property| {
        count += 1;
        let is_described = property.get("description").is_some();
        // `type` and `properties` of unions are described by their alternative.
        if !is_described && key != "properties" {
            missing.push(format!("{object}.{key}"));
        }
    });
    assert!(missing.is_empty(), "{missing:#?}");
    assert!(count > 400, "{count}");
}

#[test]
fn nothing_of_rust_is_left() {
    let text = schema().to_string();
    for word in [
        "x-windlass",
        "\"null\"",
        "uint32",
        "{DAYS}",
        "format\":\"double",
    ] {
        assert!(!text.contains(word), "{word}");
    }
    assert!(
        text.contains("Logging180Days"),
        "the names of logging are by their default"
    );
}

#[test]
fn references_have_a_target() {
    let schema = schema();
    let definitions = schema["$defs"].as_object().unwrap();
    for part in schema.to_string().split("#/$defs/").skip(1) {
        let name = part.split('"').next().unwrap();
        assert!(definitions.contains_key(name), "{name}");
    }
    assert!(jsonschema::validator_for(&schema).is_ok());
}

#[test]
fn types_that_are_refused_are_not_offered() {
    let text = schema().to_string();
    for (name, _) in crate::model::ResourceKind::REJECTED {
        // A few names are types of other things as well.
        if !["network-load-balancer"].contains(name) {
            assert!(!text.contains(&format!("\"{name}\"")), "{name}");
        }
    }
}
