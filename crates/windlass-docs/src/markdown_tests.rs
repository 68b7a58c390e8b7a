//! Tests of cutting pages into chunks.

use std::fmt::Write as _;

use super::*;

fn shown(body: &str) -> String {
    let mut out = String::new();
    for chunk in chunks(body) {
        writeln!(
            out,
            "#{} {} {:?}",
            chunk.anchor, chunk.heading, chunk.parents
        )
        .unwrap();
        for passage in &chunk.passages {
            match passage {
                Passage::Statement(text) => writeln!(out, "  {text}").unwrap(),
                Passage::Code(code) => {
                    writeln!(out, "  {}: {:?}", code.language, code.text).unwrap()
                }
            }
        }
    }
    out
}

#[test]
fn headings_statements_tables_and_code() {
    let body = "\
<!-- generated -->

# Queues

A queue *holds* [messages](x.md)
until `worker` takes them.

## Dead letters

- first
- second
  goes on
- [third](y.md)
- [fourth](z.md): said

```yaml
a: 1
```

#### Alarms

Set one.

### Limits

| name | type | what |
| --- | --- | --- |
| `size` | number | bytes |
| `delay` | | seconds |

## Empty

## Dead letters

Again.
";
    insta::assert_snapshot!(shown(body), @r##"
    #queues Queues []
      A queue holds messages until `worker` takes them.
    #dead-letters Dead letters []
      first
      second goes on
      fourth: said
      yaml: "a: 1\n"
      Alarms: Set one.
    #limits Limits ["Dead letters"]
      `size`; type: number; what: bytes
      `delay`; what: seconds
    #dead-letters-1 Dead letters []
      Again.
    "##);
}

#[test]
fn anchors_are_those_of_the_renderer() {
    for (heading, anchor) in [
        ("connectTo", "connectto"),
        ("`windlass pack deploy`", "windlass-pack-deploy"),
        ("Plan, confirm, apply", "plan-confirm-apply"),
        ("config.toml", "configtoml"),
    ] {
        let chunks = chunks(&format!("# {heading}\n"));
        assert_eq!(chunks[0].anchor, anchor, "{heading}");
    }
}
