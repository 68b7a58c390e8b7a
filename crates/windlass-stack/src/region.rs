//! The regions of AWS, to find spelling mistakes before anything is asked there.

use windlass_text::suggest;
use windlass_types::Problem;

use crate::fault;

/// Known at the time of this release; newer ones are named in the settings.
const REGIONS: &[&str] = &[
    "af-south-1",
    "ap-east-1",
    "ap-east-2",
    "ap-northeast-1",
    "ap-northeast-2",
    "ap-northeast-3",
    "ap-south-1",
    "ap-south-2",
    "ap-southeast-1",
    "ap-southeast-2",
    "ap-southeast-3",
    "ap-southeast-4",
    "ap-southeast-5",
    "ap-southeast-6",
    "ap-southeast-7",
    "ca-central-1",
    "ca-west-1",
    "cn-north-1",
    "cn-northwest-1",
    "eu-central-1",
    "eu-central-2",
    "eu-north-1",
    "eu-south-1",
    "eu-south-2",
    "eu-west-1",
    "eu-west-2",
    "eu-west-3",
    "eusc-de-east-1",
    "il-central-1",
    "me-central-1",
    "me-south-1",
    "mx-central-1",
    "sa-east-1",
    "us-east-1",
    "us-east-2",
    "us-gov-east-1",
    "us-gov-west-1",
    "us-west-1",
    "us-west-2",
];

/// Refuses a region that AWS does not have.
pub(crate) fn check_region(region: &str, extra: &[String]) -> Result<(), Problem> {
    if REGIONS.contains(&region) || extra.iter().any(|it| it == region) {
        return Ok(());
    }
    let known = REGIONS.iter().copied();
    let problem = fault::invalid("region", format!("there is no AWS region {region:?}"));
    let problem = match suggest::question(region, known) {
        Some(question) => problem.next(question),
        None => problem,
    };
    Err(problem.next(
        "add a region that is newer than this release to stack.extra_regions in the settings",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_that_is_spelled_wrong_is_refused() {
        assert!(check_region("eu-west-1", &[]).is_ok());
        assert!(check_region("xx-new-9", &["xx-new-9".to_owned()]).is_ok());
        let refused = check_region("eu-wets-1", &[]).unwrap_err();
        assert_eq!(refused.message(), "there is no AWS region \"eu-wets-1\"");
        assert_eq!(refused.next_actions()[0], "did you mean \"eu-west-1\"?");
    }
}
