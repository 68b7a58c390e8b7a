//! Every directive: what it becomes, and how it fails.

use serde_json::{Value, json};
use windlass_stack_config::{ConfigText, Interpreters, LoadFailure, NoLookups, load, load_file};

use super::world::{Answers, context, faults};

/// A project with files to name.
fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        (
            "a.json",
            r#"{"size": 512, "deep": {"list": ["x", "y"]}, "stage": "$Stage()"}"#,
        ),
        ("b.yml", "memory: 256\nname: from-$Region()\n"),
        (
            "c.env",
            "# comment\nexport KEY=\"one two\"\nEMPTY=\nPLAIN=a # b\nSINGLE='$x'\n",
        ),
        ("d.ini", "top = 1\n[part]\nkey = value\n"),
        ("e.txt", "raw text\n"),
        ("upper.js", "export default (text) => text.toUpperCase();\n"),
    ] {
        fs_err::write(folder.path().join(name), text).unwrap();
    }
    folder
}

/// What a variable's value becomes.
fn value(written: &str) -> Value {
    let folder = project();
    let text = format!(
        "
resources:
  files:
    type: bucket
  hello:
    type: custom-resource-definition
    properties:
      packaging: {{type: custom-artifact, properties: {{packagePath: x.zip}}}}
  thing:
    type: custom-resource-instance
    properties:
      definitionName: hello
      resourceProperties:
        value: {written}
directives:
  - name: Upper
    filePath: upper.js
variables:
  flag: false
  empty: ''
  name: $Stage()-x
  list: [a, b]
  my-key: dashed
  file: $File('a.json')
"
    );
    let source = ConfigText {
        file: "stacktape.yml",
        text: &text,
    };
    match load(&source, &context(folder.path(), &Answers)) {
        Ok(loaded) => {
            let config = serde_json::to_value(loaded.config).unwrap();
            config["resources"]["thing"]["properties"]["resourceProperties"]["value"].clone()
        }
        Err(LoadFailure::Invalid(faults)) => {
            let fault = &faults.list[0];
            json!({ "error": fault.message, "help": fault.suggestion })
        }
        Err(LoadFailure::Lookup(problem)) => json!({ "lookup": problem.message() }),
    }
}

#[test]
fn compile_time_directives_become_values() {
    for (written, expected) in [
        ("$Stage()", json!("dev")),
        ("$Region()", json!("eu-west-1")),
        ("$AwsAccountId()", json!("123456789012")),
        ("$Format('{}-{}', $Stage(), 3)", json!("dev-3")),
        ("$Format('none')", json!("none")),
        ("$CliArgs('release')", json!(7)),
        ("$CliArgs('dry-run')", json!(false)),
        ("$CliArgs('absent', 'x')", json!("x")),
        ("$CliArgs('absent', false)", json!(false)),
        ("$CliArgs('absent', '')", json!("")),
        ("$Var().flag", json!(false)),
        ("$Var().empty", json!("")),
        ("$Var().name", json!("dev-x")),
        ("$Var().list", json!(["a", "b"])),
        ("$Var().list.1", json!("b")),
        ("$Var().my-key", json!("dashed")),
        ("\"$Var()['my-key']-x\"", json!("dashed-x")),
        ("$Var().file.deep.list", json!(["x", "y"])),
        ("$This().resources.files.type", json!("bucket")),
        ("$File('a.json').size", json!(512)),
        ("$File('a.json').stage", json!("dev")),
        (
            "$File('b.yml')",
            json!({"memory": 256, "name": "from-eu-west-1"}),
        ),
        ("$File('c.env').KEY", json!("one two")),
        ("$File('c.env').EMPTY", json!("")),
        ("$File('c.env').PLAIN", json!("a")),
        ("$File('c.env').SINGLE", json!("$x")),
        ("$File('d.ini').part.key", json!("value")),
        ("$FileRaw('e.txt')", json!("raw text\n")),
        ("$GitInfo('branch')", json!("main")),
        ("$GitInfo('hasUncommitedChanges')", json!(false)),
        ("$GitInfo('username')", json!("")),
        ("$GitInfo('gitUrl')", json!("https://example.com/shop.git")),
        ("$GitInfo().commit", json!("c0ffee")),
        ("$StackOutput('net-dev', 'Id')", json!("net-dev/Id/here")),
        (
            "$StackOutput('net-dev', 'Id', 'us-east-1')",
            json!("net-dev/Id/us-east-1"),
        ),
        ("$Upper('a', 1).arguments", json!(["a", 1])),
        ("a-$Stage()-$CliArgs('release')", json!("a-dev-7")),
        ("$Stage().example.com", json!("dev.example.com")),
        (
            "costs $5 and ${x} and $HOME and $(date)",
            json!("costs $5 and ${x} and $HOME and $(date)"),
        ),
        ("prisma.$transaction(x)", json!("prisma.$transaction(x)")),
    ] {
        assert_eq!(value(written), expected, "{written}");
    }
}

#[test]
fn runtime_directives_stay() {
    let runtime = |value: Value| json!({ "$runtime": value });
    for (written, expected) in [
        (
            "$ResourceParam('files', 'arn')",
            runtime(json!({"directive": "resourceParam", "resource": "files", "param": "arn"})),
        ),
        (
            "$CfResourceParam('FilesBucket', 'Arn')",
            runtime(
                json!({"directive": "cfResourceParam", "logicalId": "FilesBucket", "attribute": "Arn"}),
            ),
        ),
        (
            "$Secret('key')",
            runtime(json!({"directive": "secret", "name": "key"})),
        ),
        (
            "$Secret($Format('{}-db.password', $Stage()))",
            runtime(json!({"directive": "secret", "name": "dev-db", "key": "password"})),
        ),
        (
            "$SsmParam('/a/b', 2)",
            runtime(json!({"directive": "ssmParam", "name": "/a/b", "version": 2})),
        ),
        (
            "$CfStackOutput('net', 'Id')",
            runtime(json!({"directive": "cfStackOutput", "stack": "net", "output": "Id"})),
        ),
        (
            "arn:$ResourceParam('files', 'name')/$Stage()",
            runtime(json!({"directive": "cfFormat", "parts": [
                "arn:",
                {"$runtime": {"directive": "resourceParam", "resource": "files", "param": "name"}},
                "/dev",
            ]})),
        ),
        (
            "$CfFormat('{}{}', 'a', $CfFormat('b{}', $Secret('x')))",
            runtime(json!({"directive": "cfFormat", "parts": [
                "ab",
                {"$runtime": {"directive": "secret", "name": "x"}},
            ]})),
        ),
        ("$CfFormat('{}', 'plain')", json!("plain")),
    ] {
        assert_eq!(value(written), expected, "{written}");
    }
}

#[test]
fn failures_say_what_to_do() {
    let mut said = String::new();
    for written in [
        "$Stge()",
        "$Stage('x')",
        "$Profile()",
        "$ResourceParam('files')",
        "$Secret(name)",
        "$Secret('name'",
        "$Secret('name",
        "$Secret('')",
        "$Format('{}', $Secret('x'))",
        "$File($Secret('x'))",
        "$Format('{} {}', 'a')",
        "$CliArgs('absent')",
        "$Var().nme",
        "$Var().name.more",
        "$This().resources.thing.properties.resourceProperties.value",
        "$File('/etc/passwd')",
        "$File('../x.json')",
        "$File('missing.json')",
        "$File('e.txt')",
        "$GitInfo('brnch')",
        "$SsmParam('x', 'y')",
        "x-$File('b.yml')",
        "$StackOutput('missing', 'x')",
        "$ResourceParam('fles', 'arn')",
        "$ResourceParam('files', 'ARN')",
    ] {
        said.push_str(&format!("{written}\n    {}\n", value(written)));
    }
    insta::assert_snapshot!(said, @r#"
    $Stge()
        {"error":"there is no directive $Stge","help":"did you mean $Stage?"}
    $Stage('x')
        {"error":"$Stage takes no arguments, 1 given","help":"write $Stage()"}
    $Profile()
        {"error":"the profile is not known","help":"give the argument profile"}
    $ResourceParam('files')
        {"error":"$ResourceParam takes other arguments, 1 given","help":"write $ResourceParam(resource, parameter)"}
    $Secret(name)
        {"error":"$Secret: name is not a number; text needs quotes","help":"write 'name'"}
    $Secret('name'
        {"error":"$Secret( is not closed by \")\"","help":null}
    $Secret('name
        {"error":"$Secret: a text is not closed by its quote","help":null}
    $Secret('')
        {"error":"$Secret: argument 1 is a text, not an empty one","help":null}
    $Format('{}', $Secret('x'))
        {"error":"$Secret is known only after the deploy, so $Format cannot use it","help":"use $CfFormat"}
    $File($Secret('x'))
        {"error":"$Secret is known only after the deploy, so $File cannot use it","help":null}
    $Format('{} {}', 'a')
        {"error":"$Format: the template has 2 \"{}\", and 1 values are given","help":null}
    $CliArgs('absent')
        {"error":"the argument absent was not given","help":"give it, or a default: $CliArgs('absent', …)"}
    $Var().nme
        {"error":"$Var().nme: there is no \"nme\"","help":"did you mean \"name\"?"}
    $Var().name.more
        {"error":"$Var().name.more: \"more\" is asked of the text \"dev-x\"","help":null}
    $This().resources.thing.properties.resourceProperties.value
        {"error":"$This().resources.thing.properties.resourceProperties.value leads to itself, or through more than 16 directives","help":null}
    $File('/etc/passwd')
        {"error":"/etc/passwd is an absolute path; files stay inside the project","help":null}
    $File('../x.json')
        {"error":"../x.json leads outside the project","help":null}
    $File('missing.json')
        {"error":"missing.json cannot be read: it does not exist","help":null}
    $File('e.txt')
        {"error":"e.txt is not one of .env, .json, .yml, .yaml and .ini; use $FileRaw for its text","help":null}
    $GitInfo('brnch')
        {"error":"$GitInfo has no \"brnch\"; it has hasUncommitedChanges, username, branch, commit, gitUrl","help":"did you mean \"branch\"?"}
    $SsmParam('x', 'y')
        {"error":"$SsmParam: a version is a number","help":null}
    x-$File('b.yml')
        {"error":"$File: a mapping cannot be a part of a text","help":null}
    $StackOutput('missing', 'x')
        {"lookup":"there is no stack missing"}
    $ResourceParam('fles', 'arn')
        {"error":"there is no resource \"fles\"","help":"did you mean \"files\"?"}
    $ResourceParam('files', 'ARN')
        {"error":"the bucket \"files\" has no parameter \"ARN\"","help":"did you mean \"arn\"?"}
    "#);
}

#[cfg(unix)]
#[test]
fn links_that_lead_outside_are_refused() {
    let outside = tempfile::tempdir().unwrap();
    fs_err::write(outside.path().join("secret.json"), r#"{"key": "canary"}"#).unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(
        outside.path().join("secret.json"),
        folder.path().join("inside.json"),
    )
    .unwrap();
    let source = ConfigText {
        file: "stacktape.yml",
        text: "resources: {}\nvariables:\n  x: $File('inside.json').key\n",
    };
    let mut context = context(folder.path(), &Answers);
    let Err(LoadFailure::Invalid(faults)) = load(&source, &context) else {
        panic!("the link was followed");
    };
    assert!(faults.render().contains("leads outside the project"));
    assert!(!faults.render().contains("canary"));
    context.allowed.files_outside_project = true;
    assert!(load(&source, &context).is_ok());
}

#[test]
fn bombs_are_refused_soon() {
    let mut variables = String::from("  v0: aaaaaaaaaaaaaaaa\n");
    for level in 1..15 {
        let before = level - 1;
        variables.push_str(&format!(
            "  v{level}: $Var().v{before}$Var().v{before}$Var().v{before}$Var().v{before}\n"
        ));
    }
    let said = faults(&format!("resources: {{}}\nvariables:\n{variables}"));
    assert!(said.contains("expand to more than"), "{said}");
    let said = faults("resources: {}\nvariables:\n  a: $Var().b\n  b: [$Var().a, $Var().a]\n");
    assert!(said.contains("leads to itself"), "{said}");
}

#[test]
fn where_no_code_may_run_none_runs() {
    let folder = tempfile::tempdir().unwrap();
    fs_err::write(folder.path().join("own.js"), "").unwrap();
    let source = ConfigText {
        file: "stacktape.yml",
        text: "resources: {}\ndirectives: [{ name: Own, filePath: own.js }]\n\
               variables:\n  x: $Own('a')\n",
    };
    let mut context = context(folder.path(), &Answers);
    assert!(load(&source, &context).is_ok());
    context.allowed.code = false;
    let Err(LoadFailure::Lookup(refused)) = load(&source, &context) else {
        panic!("the directive ran");
    };
    assert_eq!(refused.code().name, "POLICY_DENIED");
    insta::assert_snapshot!(refused.message(), @"the directive $Own is code, and this installation runs none to read a config");

    // A config that is a program is not even looked at.
    let file = folder.path().join("stacktape.ts");
    let interpreters = Interpreters::find(std::ffi::OsStr::new(""), []);
    let refused = load_file(&file, &context, &interpreters, "preview").unwrap_err();
    assert_eq!(refused.code().name, "POLICY_DENIED");

    // Nor where the user has not trusted the project.
    let context = self::context(folder.path(), &NoLookups);
    let refused = load_file(&file, &context, &interpreters, "preview").unwrap_err();
    insta::assert_snapshot!(refused.message(), @"whether stacktape.ts is trusted cannot be asked here");
    let Err(LoadFailure::Lookup(refused)) = load(&source, &context) else {
        panic!("the directive ran");
    };
    insta::assert_snapshot!(refused.message(), @"whether the directive $Own is trusted cannot be asked here");
}
