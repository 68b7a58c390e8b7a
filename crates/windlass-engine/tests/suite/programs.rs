//! Random programs with random deaths end as they would have ended undisturbed.

use proptest::{collection::vec, prelude::*, test_runner::Config};
use windlass_testkit::{Moment, program::Op, proofs::killed_at_random_resumes};

use super::proofs::case;

/// One call; names are numbered afterwards, so that calls beside each other differ in name.
fn op() -> impl Strategy<Value = Op> {
    let leaf = prop_oneof![
        Just(Op::Count {
            name: "count".to_owned()
        }),
        (0..4_u8, 0..9_i64).prop_map(|(cell, value)| Op::set(&format!("cell {cell}"), value)),
        (0..4_u8, 0..9_i64).prop_map(|(cell, value)| Op::Keep {
            cell: format!("cell {cell}"),
            value
        }),
        (0..3_u32).prop_map(|refusals| Op::Flaky {
            cell: "flaky".to_owned(),
            value: 1,
            refusals,
            tries: 50
        }),
        (0..5000_u64).prop_map(|seconds| Op::sleep("nap", seconds)),
        Just(Op::wait("signal", None)),
        Just(Op::approval("approval")),
        Just(Op::Emit {
            name: "note".to_owned(),
            text: "text".to_owned()
        }),
        Just(Op::Artifact {
            name: "artifact".to_owned(),
            text: "content".to_owned()
        }),
        Just(Op::Notify {
            name: "notice".to_owned(),
            url: "https://hook.test/".to_owned()
        }),
        Just(Op::Stuck {
            cell: "stuck".to_owned()
        }),
    ];
    leaf.prop_recursive(2, 12, 4, |inner| {
        prop_oneof![
            4 => inner.clone(),
            2 => vec(inner.clone(), 1..4).prop_map(|program| Op::child("child", program)),
            1 => (vec(inner.clone(), 1..3), vec(inner, 1..3)).prop_map(|(left, right)| Op::Both { left, right }),
        ]
    })
}

/// Gives every call of a run a name of its own.
fn numbered(program: Vec<Op>, next: &mut u32) -> Vec<Op> {
    program.into_iter().map(|op| number(op, next)).collect()
}

fn number(op: Op, next: &mut u32) -> Op {
    *next += 1;
    let named = |name: String| format!("{name} {next}");
    match op {
        Op::Count { name } => Op::Count { name: named(name) },
        Op::Set { cell, value } => Op::Set {
            cell: named(cell),
            value,
        },
        Op::Keep { cell, value } => Op::Keep {
            cell: named(cell),
            value,
        },
        Op::Stuck { cell } => Op::Stuck { cell: named(cell) },
        Op::Flaky {
            cell,
            value,
            refusals,
            tries,
        } => Op::Flaky {
            cell: named(cell),
            value,
            refusals,
            tries,
        },
        Op::Sleep { name, seconds } => Op::Sleep {
            name: named(name),
            seconds,
        },
        Op::Wait { signal, seconds } => Op::Wait {
            signal: named(signal),
            seconds,
        },
        Op::Approval { name } => Op::Approval { name: named(name) },
        Op::Emit { name, text } => Op::Emit {
            name: named(name),
            text,
        },
        Op::Artifact { name, text } => Op::Artifact {
            name: named(name),
            text,
        },
        Op::Notify { name, url } => Op::Notify {
            name: named(name),
            url,
        },
        Op::Child { name, program } => Op::Child {
            name: named(name),
            program: numbered(program, &mut 0),
        },
        Op::Both { left, right } => Op::Both {
            left: numbered(left, next),
            right: numbered(right, next),
        },
        other => other,
    }
}

fn programs() -> impl Strategy<Value = Vec<Op>> {
    (
        vec(op(), 1..6),
        prop_oneof![3 => Just(None), 1 => Just(Some(Op::Fail)), 1 => Just(Some(Op::Panic))],
    )
        .prop_map(|(mut program, last)| {
            program.extend(last);
            numbered(program, &mut 0)
        })
}

fn deaths() -> impl Strategy<Value = Vec<(u64, Moment)>> {
    vec(
        (
            1..30_u64,
            prop_oneof![
                Just(Moment::BeforeWrite),
                Just(Moment::AfterWrite),
                Just(Moment::AfterCommit)
            ],
        ),
        1..6,
    )
}

proptest! {
    #![proptest_config(Config { failure_persistence: None, ..Config::default() })]

    #[test]
    fn deaths_change_nothing(program in programs(), deaths in deaths(), roll_back in any::<bool>()) {
        killed_at_random_resumes(&case(program), &deaths, roll_back);
    }
}
