//! Which scripts are due at a moment of an operation.

use windlass_stack_config::Config;
use windlass_stack_config::model::script::Hook;

/// A moment of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Moment {
    /// Before a deploy.
    BeforeDeploy,
    /// After a deploy.
    AfterDeploy,
    /// Before a delete.
    BeforeDelete,
    /// After a delete.
    AfterDelete,
    /// Before files are put into buckets.
    BeforeBucketSync,
    /// After files were put into buckets.
    AfterBucketSync,
    /// Before local development starts.
    BeforeDev,
    /// After local development started.
    AfterDev,
}

impl Moment {
    /// Its name in the config.
    pub const fn name(self) -> &'static str {
        match self {
            Self::BeforeDeploy => "beforeDeploy",
            Self::AfterDeploy => "afterDeploy",
            Self::BeforeDelete => "beforeDelete",
            Self::AfterDelete => "afterDelete",
            Self::BeforeBucketSync => "beforeBucketSync",
            Self::AfterBucketSync => "afterBucketSync",
            Self::BeforeDev => "beforeDev",
            Self::AfterDev => "afterDev",
        }
    }

    /// Whether a failure stops the operation; after it, a failure is only reported.
    pub const fn stops(self) -> bool {
        matches!(
            self,
            Self::BeforeDeploy | Self::BeforeDelete | Self::BeforeBucketSync | Self::BeforeDev
        )
    }
}

/// The hooks of a moment, in order, without those that skip where this runs.
pub fn due(config: &Config, moment: Moment, is_ci: bool) -> Vec<&Hook> {
    let hooks = &config.hooks;
    let all = match moment {
        Moment::BeforeDeploy => &hooks.before_deploy,
        Moment::AfterDeploy => &hooks.after_deploy,
        Moment::BeforeDelete => &hooks.before_delete,
        Moment::AfterDelete => &hooks.after_delete,
        Moment::BeforeBucketSync => &hooks.before_bucket_sync,
        Moment::AfterBucketSync => &hooks.after_bucket_sync,
        Moment::BeforeDev => &hooks.before_dev,
        Moment::AfterDev => &hooks.after_dev,
    };
    all.iter()
        .filter(|hook| match is_ci {
            true => !hook.skip_on_ci,
            false => !hook.skip_on_local,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn hooks_skip_where_they_say() {
        let names = [
            Moment::BeforeDeploy,
            Moment::AfterDeploy,
            Moment::BeforeDelete,
            Moment::AfterDelete,
            Moment::BeforeBucketSync,
            Moment::AfterBucketSync,
            Moment::BeforeDev,
            Moment::AfterDev,
        ];
        for moment in names {
            let config: Config = serde_json::from_value(json!({
                "resources": {},
                "hooks": { moment.name(): [
                    { "scriptName": "always" },
                    { "scriptName": "here", "skipOnCI": true },
                    { "scriptName": "ci", "skipOnLocal": true },
                    { "scriptName": "never", "skipOnCI": true, "skipOnLocal": true },
                ] },
            }))
            .unwrap();
            let due = |is_ci| -> Vec<&str> {
                due(&config, moment, is_ci)
                    .into_iter()
                    .map(|hook| hook.script_name.as_str())
                    .collect()
            };
            assert_eq!(due(false), ["always", "here"], "{moment:?}");
            assert_eq!(due(true), ["always", "ci"], "{moment:?}");
            assert_eq!(moment.stops(), moment.name().starts_with("before"));
            let others = names.iter().filter(|other| **other != moment);
            for other in others {
                assert_eq!(super::due(&config, *other, false), Vec::<&Hook>::new());
            }
        }
    }
}
