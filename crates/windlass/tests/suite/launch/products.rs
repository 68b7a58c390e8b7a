//! Three products with the faults of real repositories: nothing crashes, facts cite lines that
//! hold them, and what must not be said is not said.

use serde_json::{Value, json};

use super::{
    client::{Client, digests},
    place::{LaunchPlace, git, json_file, products, repository_root},
    reader::{Found, Reader},
};

/// A product launched as far as it goes.
struct Launched {
    place: LaunchPlace,
    client: Client,
    run_id: String,
    expected: Value,
}

impl Launched {
    fn new(name: &str) -> Self {
        let expected = json_file(&products().join(name).join("EXPECT.json"));
        let product_name = expected["config"]["product_name"].as_str().unwrap();
        let place = LaunchPlace::product(name, product_name);
        let mut client = place.serve();
        let run_id = client.start(&place.config());
        client.settled(&run_id);
        Self {
            place,
            client,
            run_id,
            expected,
        }
    }

    fn json(&mut self, name: &str) -> Value {
        self.client.artifact_json(&self.run_id, name)
    }

    /// Every draft with its path in the site.
    fn drafts(&mut self) -> Vec<(String, String)> {
        let status = self.client.status(&self.run_id);
        let names: Vec<String> = digests(&status)
            .into_keys()
            .filter(|name| name.starts_with("drafts/"))
            .collect();
        names
            .into_iter()
            .map(|name| {
                let text = self.client.artifact(&self.run_id, &name);
                (name, text)
            })
            .collect()
    }
}

/// Everything in `EXPECT.json` that does not hold.
fn disappointments(launched: &mut Launched) -> Vec<String> {
    let mut wrong = Vec::new();
    let facts = launched.json("product_facts.json");
    let evidence = launched.json("evidence_map.json");
    let inventory = launched.json("repo_inventory.json");
    let snippets = launched.json("snippet_catalog.json");
    let expected = launched.expected.clone();
    let mut check = |holds: bool, what: String| {
        if !holds {
            wrong.push(what);
        }
    };
    let fact = &expected["facts"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let has = |list: &Value, wanted: &str| {
        let items = list.as_array().into_iter().flatten();
        items.map(text).any(|item| item == wanted)
    };

    for (key, claimed) in [
        ("license", text(&fact["license"]["value"])),
        ("runtime", text(&fact["runtime"]["value"])),
        ("install_command", text(&fact["install_command"]["value"])),
    ] {
        let known = match key {
            "license" => facts["license"] == *claimed,
            "runtime" => has(&facts["runtime_requirements"], &claimed),
            _ => {
                let ways = facts["distribution"].as_array().unwrap();
                ways.iter()
                    .any(|way| has(&way["install_commands"], &claimed))
            }
        };
        check(known, format!("facts.{key}: {claimed}"));
        let cited = cited_at(&evidence, &fact[key]);
        check(
            cited,
            format!("facts.{key}: {claimed} is cited at its line"),
        );
    }
    let names = facts["distribution"].as_array().unwrap().iter();
    let mut names = names.map(|way| text(&way["identifier"]));
    let name = text(&fact["name"]["value"]);
    check(
        names.any(|known| known == name),
        format!("facts.name: {name}"),
    );
    for dependency in fact["dependencies"].as_array().unwrap() {
        let name = text(&dependency["value"]);
        let known = facts["dependencies"].to_string().contains(&name);
        check(known, format!("facts.dependencies: {name}"));
    }
    for format in fact["formats"].as_array().unwrap() {
        let name = text(&format["value"]);
        check(
            has(&facts["supported_formats"], &name),
            format!("facts.formats: {name}"),
        );
    }
    let symbols: Vec<Value> = ["classes", "functions"]
        .iter()
        .flat_map(|kind| {
            facts["api_surface_summary"][kind]
                .as_array()
                .unwrap()
                .clone()
        })
        .collect();
    for symbol in fact["public_api"].as_array().unwrap() {
        let known = symbols.iter().any(|known| {
            known["name"] == symbol["value"]
                && known["path"] == symbol["file"]
                && known["line"] == symbol["line"]
        });
        check(known, format!("facts.public_api: {symbol}"));
    }
    for hidden in fact["not_public"].as_array().unwrap() {
        let shown = symbols.iter().any(|known| known["name"] == *hidden);
        check(!shown, format!("facts.not_public: {hidden}"));
    }
    for limit in fact["limitations"].as_array().unwrap() {
        let value = text(&limit["value"]);
        let claims = facts["claims"].as_array().unwrap();
        let claim = claims.iter().find(|claim| claim["claim_text"] == *value);
        check(claim.is_some(), format!("facts.limitations: {value}"));
    }
    let pages: Vec<(String, String)> = launched.drafts();
    for contradiction in expected["contradictions"].as_array().unwrap() {
        let about = text(&contradiction["about"]);
        let known = evidence["contradictions"].as_array().unwrap().iter();
        let mut known = known.filter(|record| {
            let winner = record["winning_claim_id"].as_str().unwrap_or_default();
            let ids = ["claim_a_id", "claim_b_id"].map(|id| record[id].as_str().unwrap());
            let loser = ids.into_iter().find(|id| *id != winner).unwrap_or_default();
            cites(&evidence, winner, &contradiction["winner"])
                && cites(&evidence, loser, &contradiction["loser"])
        });
        let settled = known.next().is_some();
        check(settled, format!("contradictions: {about} is settled"));
        let lost = text(&contradiction["loser"]["contains"]).to_lowercase();
        let claims = facts["claims"].as_array().unwrap().iter();
        let mut claims = claims.map(|claim| text(&claim["claim_text"]).to_lowercase());
        let claimed = claims.any(|claim| claim.contains(&lost));
        check(
            !claimed,
            format!("contradictions: {about}: what lost is claimed"),
        );
    }
    let phantoms = inventory["phantom_paths"].as_array().unwrap();
    for phantom in expected["phantom_paths"].as_array().unwrap() {
        check(
            phantoms.contains(phantom),
            format!("phantom_paths: {phantom}"),
        );
    }
    for snippet in expected["snippets_with_syntax_errors"].as_array().unwrap() {
        let at = |source: &Value| {
            source["path"] == snippet["file"] && source["start_line"] == snippet["start_line"]
        };
        let all = snippets["snippets"].as_array().unwrap();
        let good = all
            .iter()
            .any(|known| at(&known["source"]) && known["validation"]["syntax_ok"] == true);
        check(!good, format!("snippets_with_syntax_errors: {snippet}"));
    }
    for never in expected["never_in_pages"].as_array().unwrap() {
        let never = text(never).to_lowercase();
        for (path, page) in &pages {
            let said = page.to_lowercase().contains(&never);
            check(!said, format!("never_in_pages: {never:?} in {path}"));
        }
    }
    let status = launched.client.status(&launched.run_id);
    for name in digests(&status).into_keys() {
        let artifact = launched.client.artifact(&launched.run_id, &name);
        for never in expected["never_in_artifacts"].as_array().unwrap() {
            let never = text(never);
            check(
                !artifact.contains(&never),
                format!("never_in_artifacts: {never:?} in {name}"),
            );
        }
    }
    for path in expected["not_text"].as_array().unwrap() {
        let path = text(path);
        let cited = evidence.to_string().contains(&format!("\"{path}\""));
        check(!cited, format!("not_text: {path} is cited"));
    }
    wrong
}

/// Whether some claim cites the line that an expectation names.
fn cited_at(evidence: &Value, expected: &Value) -> bool {
    let claims = evidence["claims"].as_object().unwrap();
    claims.keys().any(|id| cites(evidence, id, expected))
}

/// Whether this claim does.
fn cites(evidence: &Value, claim_id: &str, expected: &Value) -> bool {
    let line = expected["line"].as_u64().unwrap();
    let citations = evidence["claims"][claim_id]["citations"].as_array();
    citations.into_iter().flatten().any(|citation| {
        let at = |key: &str| citation[key].as_u64().unwrap();
        citation["path"] == expected["file"] && (at("start_line")..=at("end_line")).contains(&line)
    })
}

fn assert_honest(name: &str) {
    let mut launched = Launched::new(name);
    let tool_reply = launched.client.about("launch_resume", &launched.run_id);
    let status = &tool_reply.worked()["status"];
    assert_eq!(status["state"], "READY_FOR_PR", "{:#}", status["failure"]);
    let wrong = disappointments(&mut launched);
    let facts = launched.json("product_facts.json");
    let evidence = launched.json("evidence_map.json");
    let reader = Reader::new(&launched.place.config(), &facts, evidence);
    let mut found = Found::default();
    for (path, page) in launched.drafts() {
        reader.read(&path, &page, "", &mut found);
    }
    assert_eq!(found.wrong, [""; 0]);
    assert!(found.sound > 20, "{} statements", found.sound);
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn a_python_product_is_read_honestly() {
    assert_honest("python");
}

#[test]
fn a_typescript_product_is_read_honestly() {
    assert_honest("typescript");
}

#[test]
fn a_rust_product_is_read_honestly() {
    assert_honest("rust");
}

/// Windlass launches itself: a repository of some size that was not written for this.
#[test]
fn its_own_repository_is_read_honestly() {
    let place = LaunchPlace::example();
    let repository = repository_root().canonicalize().unwrap();
    let head = git(&repository, &["rev-parse", "HEAD"]);
    let mut members = place.config();
    members["product_name"] = json!("Windlass");
    members["github_repo_url"] = json!(repository);
    members["github_ref"] = json!(head.trim());
    members["allowed_paths"] = json!(["content"]);
    members["max_fix_attempts"] = json!(40);
    // Its reference page lists more symbols than the usual page may have lines.
    members["budgets"] = json!({ "max_lines_per_file": 5000 });
    members.as_object_mut().unwrap().remove("canonical_urls");
    let mut client = place.serve();
    let run_id = client.start(&members);
    let status = client.settled(&run_id);
    assert!(status.get("failure").is_none(), "{:#}", status["failure"]);
    let tool_reply = client.about("launch_resume", &run_id);
    let status = &tool_reply.worked()["status"];
    assert_eq!(status["state"], "READY_FOR_PR", "{:#}", status["failure"]);
    let facts = client.artifact_json(&run_id, "product_facts.json");
    let evidence = client.artifact_json(&run_id, "evidence_map.json");
    let reader = Reader::new(&members, &facts, evidence);
    let mut found = Found::default();
    for name in digests(status).into_keys() {
        if name.starts_with("drafts/") {
            reader.read(&name, &client.artifact(&run_id, &name), "", &mut found);
        }
    }
    assert_eq!(found.wrong, [""; 0]);
    assert!(found.sound > 20, "{} statements", found.sound);
}
