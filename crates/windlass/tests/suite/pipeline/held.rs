//! Jobs that are not there, not ready, not whole: a model that does not answer keeps them where
//! they are for as long as a test needs.

use serde_json::{Value, json};

use super::{
    doors::{Door, doors},
    site::{NO_LIMITS, SPEC, SilentModel, Site},
};
use crate::suite::support::http::Ask;

fn artifact(door: &mut Door<'_>, job: &Value, kind: &str) -> super::doors::Answer {
    let input = json!({ "job_id": job, "artifact_type": kind });
    door.call("aios_get_artifact", &input).unwrap()
}

#[test]
fn what_is_unknown_not_ready_or_not_asked_for() {
    let model = SilentModel::start();
    let site = Site::open(&model.settings(NO_LIMITS));
    let mut jobs = Vec::new();
    let mut doors = doors(&site);
    for door in &mut doors {
        let input = json!({ "spec": SPEC, "phases": ["strategy", "architecture"] });
        let begun = door.call("aios_full_pipeline", &input).unwrap();
        assert_eq!(begun.worked()["generator"], "llm");
        assert_eq!(begun.worked()["estimated_duration_seconds"], 45);
        let job = begun.body["job_id"].clone();
        for id in [
            "job_aaaaaaaaaaaaaaaaaaaaaaaaaa",
            "job_x",
            "run_1",
            "nonsense",
        ] {
            let answer = door
                .call("aios_get_status", &json!({ "job_id": id }))
                .unwrap();
            answer.refused("JOB_NOT_FOUND");
            artifact(door, &json!(id), "code").refused("JOB_NOT_FOUND");
        }
        for kind in ["strategy", "architecture"] {
            let answer = artifact(door, &job, kind);
            let details = answer.refused("ARTIFACT_NOT_READY");
            assert_eq!(details["phase"], kind);
            assert_eq!(details["progress_percent"], 0);
            assert!(details["retry_after_seconds"].is_u64(), "{details}");
        }
        artifact(door, &job, "all").refused("ARTIFACT_NOT_READY");
        let answer = artifact(door, &job, "code");
        let details = answer.refused("INVALID_INPUT");
        assert_eq!(details["field"], "artifact_type");
        assert_eq!(details["constraint"], "phase_not_requested");
        let status = door.call("aios_get_status", &json!({ "job_id": job }));
        let status = status.unwrap().worked().clone();
        assert_eq!(status["status"], "running");
        assert_eq!(status["phases"].as_object().unwrap().len(), 2);
        jobs.push(job);
    }
    // A key sees its own jobs; those of the owner of the home are none to it.
    let foreign = jobs[0].as_str().unwrap();
    let reply = site.ask(Ask::get(&format!("/v1/pipelines/{foreign}")));
    assert_eq!(reply.status, 404);
    assert_eq!(reply.json()["error"]["code"], "JOB_NOT_FOUND");

    model.let_go();
    for (door, job) in doors.iter_mut().zip(&jobs) {
        let status = loop {
            let status = door.call("aios_get_status", &json!({ "job_id": job }));
            let status = status.unwrap().worked().clone();
            if status["status"] != "running" {
                break status;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        };
        assert_eq!(status["status"], "failed", "{status:#}");
        assert_eq!(status["phases"]["strategy"]["status"], "failed");
        assert_eq!(status["phases"]["architecture"]["status"], "skipped");
        assert_eq!(status["error"]["code"], "AGENT_FAILURE", "{status:#}");
        assert_eq!(status["error"]["details"]["phase"], "strategy");
        for kind in ["strategy", "all"] {
            let answer = artifact(door, job, kind);
            let details = answer.refused("ARTIFACT_NOT_READY");
            assert!(details.get("retry_after_seconds").is_none(), "{details}");
        }
        let answer = door
            .call("aios_strategize", &json!({ "spec": SPEC }))
            .unwrap();
        assert_eq!(answer.refused("AGENT_FAILURE")["phase"], "strategy");
    }
}

#[test]
fn a_phase_that_takes_too_long_is_a_timeout() {
    let model = SilentModel::start();
    let site = Site::open(&model.settings("[pipeline.timeouts]\nstrategy_s = 1\n"));
    let job = site.begin(&json!({ "spec": SPEC }));
    for mut door in doors(&site) {
        let answer = door
            .call("aios_strategize", &json!({ "spec": SPEC }))
            .unwrap();
        let details = answer.refused("AGENT_TIMEOUT");
        assert_eq!(details["phase"], "strategy");
        assert_eq!(details["limit_s"], 1);
    }
    let status = site.ended(&job);
    assert_eq!(status["status"], "timeout", "{status:#}");
    assert_eq!(status["error"]["code"], "AGENT_TIMEOUT");
    assert_eq!(status["phases"]["strategy"]["status"], "timeout");
    assert_eq!(status["phases"]["code"]["status"], "skipped");
}
