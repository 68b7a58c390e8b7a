//! The input schemas of the contract, as it prints them, with our additive members.

use serde_json::{Value, json};

/// A spec for examples.
pub(super) const EXAMPLE: &str = "A quiz app. Instructors can create, edit and publish quizzes. \
    Learners can take published quizzes and see their own results. The primary color is #6366F1.";

/// A job id for examples.
pub(super) const EXAMPLE_JOB: &str = "job_o5uw4zdmmfzxgllxnfxgi3dbom";

fn spec() -> Value {
    json!({
        "type": "string",
        "description": "Natural language product specification from user",
    })
}

pub(super) fn strategize() -> Value {
    json!({
        "type": "object",
        "properties": {
            "spec": spec(),
            "context": {
                "type": "object",
                "properties": {
                    "industry": { "type": "string" },
                    "target_audience": { "type": "string" },
                    "budget_tier": {
                        "type": "string",
                        "enum": ["startup", "scaleup", "enterprise"],
                    },
                },
            },
        },
        "required": ["spec"],
    })
}

pub(super) fn architecture() -> Value {
    json!({
        "type": "object",
        "properties": {
            "spec": { "type": "string", "description": "Product spec or requirements JSON" },
            "requirements": {
                "type": "object",
                "description": "Output from aios_strategize (optional, enhances quality)",
            },
            "stack_preference": {
                "type": "string",
                "description": "Preferred tech stack (e.g., 'nextjs-react', 'vite-react')",
            },
        },
        "required": ["spec"],
    })
}

pub(super) fn ux() -> Value {
    json!({
        "type": "object",
        "properties": {
            "spec": { "type": "string" },
            "requirements": { "type": "object" },
            "architecture": { "type": "object" },
            "style_preference": {
                "type": "string",
                "description": "Visual style (e.g., 'minimal', 'corporate', 'playful')",
            },
        },
        "required": ["spec"],
    })
}

pub(super) fn code() -> Value {
    json!({
        "type": "object",
        "properties": {
            "spec": { "type": "string" },
            "architecture": { "type": "object" },
            "ux_spec": { "type": "object" },
            "target_files": {
                "type": "array",
                "items": { "type": "string" },
                "description": "Specific files to generate (optional, generates all if omitted)",
            },
            "framework": {
                "type": "string",
                "default": "nextjs-react",
                "description": "Target framework preset",
            },
        },
        "required": ["spec"],
    })
}

pub(super) fn full() -> Value {
    json!({
        "type": "object",
        "properties": {
            "spec": { "type": "string", "description": "Full product specification" },
            "phases": {
                "type": "array",
                "items": {
                    "type": "string",
                    "enum": ["strategy", "architecture", "ux", "code"],
                },
                "default": ["strategy", "architecture", "ux", "code"],
            },
            "stack_preference": { "type": "string" },
            "style_preference": { "type": "string" },
            "webhook_url": {
                "type": "string",
                "format": "uri",
                "description": "URL to POST completion notification (optional)",
            },
            "idempotency_key": {
                "type": "string",
                "minLength": 1,
                "maxLength": 200,
                "description": "Repeating a call with the same key and input gives the same job",
            },
        },
        "required": ["spec"],
    })
}

pub(super) fn job() -> Value {
    json!({
        "type": "object",
        "properties": { "job_id": { "type": "string" } },
        "required": ["job_id"],
    })
}

pub(super) fn artifact() -> Value {
    json!({
        "type": "object",
        "properties": {
            "job_id": { "type": "string" },
            "artifact_type": {
                "type": "string",
                "enum": ["strategy", "architecture", "ux", "code", "all"],
            },
        },
        "required": ["job_id", "artifact_type"],
    })
}
