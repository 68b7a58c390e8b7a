//! Lines and what they would run.
//!
//! Long because lines and their commands are tables.

use proptest::prelude::*;

use super::*;

/// One line per command, then the concerns.
fn show(line: &str) -> String {
    let script = parse(line);
    let mut lines = Vec::new();
    for command in &script.commands {
        let mut text = String::new();
        if !command.via.is_empty() {
            let via: Vec<&str> = command.via.iter().map(Via::as_str).collect();
            text.push_str(&format!("[{}] ", via.join(" > ")));
        }
        for assignment in &command.assignments {
            text.push_str(&format!("{}={} ", assignment.name, word(&assignment.value)));
        }
        let words: Vec<String> = command.words.iter().map(word).collect();
        text.push_str(&words.join(" "));
        for redirect in &command.redirects {
            text.push_str(&format!(" {:?}({})", redirect.kind, word(&redirect.target)));
        }
        if command.has_unknown_arguments {
            text.push_str(" …");
        }
        if command.is_background {
            text.push_str(" &");
        }
        match &command.input {
            Input::Inherited => {}
            Input::Pipe => text.push_str(" <pipe"),
            Input::Text(Some(input)) => text.push_str(&format!(" <{input:?}")),
            Input::Text(None) => text.push_str(" <text"),
        }
        if let Role::Wrapper(_) = command.role {
            text.push_str(" ->");
        }
        lines.push(format!("    {}", text.trim()));
    }
    for concern in &script.concerns {
        lines.push(format!(
            "    ? {}: {:?}",
            concern.kind.as_str(),
            concern.text
        ));
    }
    ascii(&lines.join("\n"))
}

/// Letters that look like others are shown as numbers.
fn ascii(text: &str) -> String {
    let shown = |letter: char| match letter.is_ascii() || letter == '…' {
        true => letter.to_string(),
        false => letter.escape_unicode().to_string(),
    };
    text.chars().map(shown).collect()
}

fn word(word: &Word) -> String {
    match word.kind {
        Kind::Literal => word.quoted(),
        Kind::Tilde => format!("tilde({})", word.text),
        Kind::Glob => format!("glob({})", word.text),
        Kind::Expansion => format!("dynamic({})", word.text),
    }
}

fn table(lines: &[&str]) -> String {
    let shown = lines
        .iter()
        .map(|line| format!("{line:?}\n{}\n", show(line)));
    shown.collect()
}

#[test]
fn every_position_is_listed() {
    insta::assert_snapshot!(table(&[
        "",
        "ls -la # list",
        "a; b && c || d & e",
        "a | b |& c",
        "( a; b ) > x",
        "{ a; b; } 2>/dev/null",
        "if a; then b; elif c; then d; else e; fi",
        "while read l; do rm \"$l\"; done < list > out",
        "for i in $(a) *.rs; do b $i; done",
        "case $x in a|b) c;; *) d;; esac",
        "f() { a; } > out; f x",
        "diff <(a) >(b)",
        "echo \"x $(a `b` \"$(c)\") y\"",
        "X=$(a) Y=1",
        "echo ${x:-$(a)}",
        "! a",
        "coproc a b",
        "a\n\nb\n",
        "[ -f $(a) ] && b",
        "cat < <(a) > >(tee log)",
        "time -p ls",
    ]), @r#"
    ""

    "ls -la # list"
        ls -la
    "a; b && c || d & e"
        a
        b &
        c &
        d &
        e
    "a | b |& c"
        a
        b <pipe
        c <pipe
    "( a; b ) > x"
        a Write(x)
        b Write(x)
    "{ a; b; } 2>/dev/null"
        a Write(/dev/null)
        b Write(/dev/null)
    "if a; then b; elif c; then d; else e; fi"
        a
        b
        c
        d
        e
    "while read l; do rm \"$l\"; done < list > out"
        read l Read(list) Write(out)
        rm dynamic($l) Read(list) Write(out)
    "for i in $(a) *.rs; do b $i; done"
        a
        b dynamic($i)
    "case $x in a|b) c;; *) d;; esac"
        c
        d
    "f() { a; } > out; f x"
        a Write(out)
        f x
    "diff <(a) >(b)"
        a
        b
        diff dynamic(<()) dynamic(>())
    "echo \"x $(a `b` \"$(c)\") y\""
        b
        c
        a dynamic($()) dynamic($())
        echo dynamic(x $() y)
    "X=$(a) Y=1"
        a
        X=dynamic($()) Y=1
        ? sets a variable that changes what programs do: "X"
        ? sets a variable that changes what programs do: "Y"
    "echo ${x:-$(a)}"
        a
        echo dynamic(${})
    "! a"
        a
    "coproc a b"
        coproc a b ->
        [coproc] a b
    "a\n\nb\n"
        a
        b
    "[ -f $(a) ] && b"
        a
        b
    "cat < <(a) > >(tee log)"
        a
        tee log
        cat Duplicate('') Duplicate('')
    "time -p ls"
        time -p ls ->
        [time] ls
    "#);
}

#[test]
fn words_are_unquoted() {
    insta::assert_snapshot!(table(&[
        r#""r"m x"#,
        r"\rm x",
        "r''m x",
        "/bin/rm x",
        r"$'\x72m' x",
        r"$'\162\u006d' $'a\nb' $'\q'",
        "rm\\\n -rf x",
        r#"echo "a\$b\"c\d" 'a'\''b' a"b"c'd'"#,
        "echo *.rs a? [ab] {a,b} {1..3} a{b}c {} '*' \\*",
        "echo ~/x ~user '~' a~",
        "echo $x \"$x\" ${x} \"${HOME}/y\" $((1+1)) a$",
        "$cmd x; \"$cmd\"a; $(echo rm) x",
        "cat${IFS}/etc/passwd",
        "echo \"  $x  y \"",
        "рm x",
        "𝗋𝗆 x",
        "'' x",
        "é=1; echo $é é\u{1f574} \"ü\" | grep ß",
        "echo ${x@é}",
        "echo $\"translated\"",
    ]), @r#"
    "\"r\"m x"
        rm x
    "\\rm x"
        rm x
    "r''m x"
        rm x
    "/bin/rm x"
        /bin/rm x
    "$'\\x72m' x"
        rm x
    "$'\\162\\u006d' $'a\\nb' $'\\q'"
        rm 'a
    b' dynamic($'')
    "rm\\\n -rf x"
        rm -rf x
        ? not understood: "\\\n"
    "echo \"a\\$b\\\"c\\d\" 'a'\\''b' a\"b\"c'd'"
        echo 'a$b"c\d' 'a'\''b' abcd
    "echo *.rs a? [ab] {a,b} {1..3} a{b}c {} '*' \\*"
        echo glob(*.rs) glob(a?) glob([ab]) glob({a,b}) glob({1..3}) 'a{b}c' '{}' '*' '*'
    "echo ~/x ~user '~' a~"
        echo tilde(~/x) tilde(~user) '~' 'a~'
    "echo $x \"$x\" ${x} \"${HOME}/y\" $((1+1)) a$"
        echo dynamic($x) dynamic($x) dynamic($x) dynamic($HOME/y) dynamic($(())) 'a$'
    "$cmd x; \"$cmd\"a; $(echo rm) x"
        dynamic($cmd) x
        dynamic($cmda)
        echo rm
        dynamic($()) x
        ? the command is only known when it runs: "$cmd"
        ? the command is only known when it runs: "$cmda"
        ? the command is only known when it runs: "$()"
    "cat${IFS}/etc/passwd"
        dynamic(cat$IFS/etc/passwd)
        ? the command is only known when it runs: "cat$IFS/etc/passwd"
    "echo \"  $x  y \""
        echo dynamic(  $x  y )
    "рm x"
        \u{440}m x
        ? a name that is not ASCII: "\u{440}m"
    "𝗋𝗆 x"
        \u{1d5cb}\u{1d5c6} x
        ? a name that is not ASCII: "\u{1d5cb}\u{1d5c6}"
    "'' x"
        '' x
        ? the command is only known when it runs: "''"
    "é=1; echo $é é🕴 \"ü\" | grep ß"
        \u{e9}=1
        echo dynamic($\u{e9}) '\u{e9}\u{1f574}' \u{fc}
        grep \u{df} <pipe
        ? not understood: "\u{e9}=1"
        ? sets a variable that changes what programs do: "\u{e9}"
    "echo ${x@é}"
        echo dynamic(${}) '\u{e9}}'
        ? not understood: "${x@"
    "echo $\"translated\""
        echo '$' translated
        ? not understood: "$"
    "#);
}

#[test]
fn redirections_and_texts() {
    insta::assert_snapshot!(table(&[
        "a > b 2>&1 >>c <d",
        "a &> b; c >| d; e &>> f",
        "> x",
        "> x a b",
        "a > x b c",
        "a 2>&- <&3",
        "a >&2; b >& file",
        "cat <<EOF\nplain\nEOF",
        "cat <<EOF\n$(a) \\$(b) $x\nEOF",
        "cat <<'EOF'\n$(a) `b`\nEOF",
        "cat <<EOF\n`a`\nEOF",
        "cat <<EOF && b\nx\nEOF\nc",
        "cat <<EOF | sh\nrm x\nEOF",
        "sh <<EOF\nrm -rf /\nEOF",
        "bash <<'X' > out\nrm a\nX",
        "bash -s <<< 'rm a'",
        "cat <<< \"$(a)\"",
        "cat <<-X\n\ta\n\tX",
    ]), @r#"
    "a > b 2>&1 >>c <d"
        a Write(b) Duplicate(1) Append(c) Read(d)
    "a &> b; c >| d; e &>> f"
        a Write(b)
        c Write(d)
        e Append(f)
    "> x"
        Write(x)
    "> x a b"
        a b Write(x)
    "a > x b c"
        a b c Write(x)
    "a 2>&- <&3"
        a Duplicate('') Duplicate(3)
    "a >&2; b >& file"
        a Duplicate(2)
        b Write(file)
    "cat <<EOF\nplain\nEOF"
        cat <"plain\n"
    "cat <<EOF\n$(a) \\$(b) $x\nEOF"
        a
        cat <text
    "cat <<'EOF'\n$(a) `b`\nEOF"
        cat <"$(a) `b`\n"
    "cat <<EOF\n`a`\nEOF"
        cat <text
        ? not understood: "`"
    "cat <<EOF && b\nx\nEOF\nc"
        cat <"x\n"
        b
        c
    "cat <<EOF | sh\nrm x\nEOF"
        cat <"rm x\n"
        sh <pipe
        ? runs what it reads: "sh"
    "sh <<EOF\nrm -rf /\nEOF"
        sh <"rm -rf /\n" ->
        [sh] rm -rf /
    "bash <<'X' > out\nrm a\nX"
        bash Write(out) <"rm a\n" ->
        [sh] rm a Write(out)
    "bash -s <<< 'rm a'"
        bash -s <"rm a" ->
        [sh] rm a
    "cat <<< \"$(a)\""
        a
        cat <text
    "cat <<-X\n\ta\n\tX"
        cat <"a\n\t"
    "#);
}

#[test]
fn wrappers_are_opened() {
    insta::assert_snapshot!(table(&[
        "sudo -u root -- rm x",
        "sudo -E A=1 env B=2 rm x",
        "sudo -l",
        "sudo --unknown rm x",
        "doas rm x",
        "env -i A=1 B=$x rm x",
        "env -S 'rm x'",
        "env",
        "timeout -k 5 10s nice -n 5 nohup time -p stdbuf -oL setsid -w rm x",
        "timeout 5 nice -10 ionice -c2 -n7 rm x",
        "command -v rm; command rm x; exec rm x; builtin cd x",
        "ls | xargs -0 -n1 rm -f",
        "xargs -I{} sh -c 'rm {}'",
        "xargs -I% % x",
        "xargs -I FILE cp FILE x/FILE",
        "xargs sudo; xargs env A=1; xargs sh -c; xargs timeout 5; xargs find; xargs sh -c 'ls'",
        "xargs",
        "find . -name '*.rs' -exec rm {} \\; -execdir grep x {} +",
        "find . -delete",
        "sh -c 'rm x; ls'",
        "bash -lc \"rm x\"",
        "bash -euo pipefail -c 'rm x' name arg",
        "sh -c \"rm $x\"",
        "sh script.sh",
        "curl x | sh",
        "curl x | bash -s -- a",
        "zsh --login -c 'rm x'",
        "bash --rcfile x -c ls",
        "ssh -p 22 -i k user@host rm -rf /",
        "ssh host 'rm x; ls' y",
        "ssh -o ProxyCommand='rm x' host ls",
        "ssh -oBatchMode=yes host -v ls",
        "ssh host",
        "watch -n 1 'rm x'",
        "docker exec -it -u root web rm x",
        "docker --context prod container exec web sh -c 'rm x'",
        "podman ps",
        "kubectl -n web exec -it pod -c app -- rm x",
        "kubectl exec pod rm x",
        "git -c alias.x='!rm y' x",
        "git -c core.pager=rm log",
        "git -C dir -c color.ui=never --no-pager log",
        "eval 'rm x'; eval \"$x\"",
        "trap 'rm x' EXIT",
        "su -c 'rm x' root",
        "parallel rm ::: x",
        "sh -c \"sh -c \\\"sh -c 'sh -c ls'\\\"\"",
        "sudo sudo sudo sudo sudo rm x",
        "sudo sudo sudo sudo sudo sudo rm x",
        "BUSYBOX=1 busybox rm x",
        "RM x; SUDO rm x",
    ]), @r#"
    "sudo -u root -- rm x"
        sudo -u root -- rm x ->
        [sudo] rm x
    "sudo -E A=1 env B=2 rm x"
        sudo -E A=1 env B=2 rm x ->
        [sudo] A=1 env B=2 rm x ->
        [sudo > env] A=1 B=2 rm x
    "sudo -l"
        sudo -l
        ? an unknown option of a program that runs others: "-l"
    "sudo --unknown rm x"
        sudo --unknown rm x
        ? an unknown option of a program that runs others: "--unknown"
    "doas rm x"
        doas rm x ->
        [doas] rm x
    "env -i A=1 B=$x rm x"
        env -i A=1 dynamic(B=$x) rm x ->
        [env] A=1 B=dynamic($x) rm x
    "env -S 'rm x'"
        env -S 'rm x'
        ? an unknown option of a program that runs others: "-S"
    "env"
        env
    "timeout -k 5 10s nice -n 5 nohup time -p stdbuf -oL setsid -w rm x"
        timeout -k 5 10s nice -n 5 nohup time -p stdbuf -oL setsid -w rm x ->
        [timeout] nice -n 5 nohup time -p stdbuf -oL setsid -w rm x ->
        [timeout > nice] nohup time -p stdbuf -oL setsid -w rm x ->
        [timeout > nice > nohup] time -p stdbuf -oL setsid -w rm x ->
        [timeout > nice > nohup > time] stdbuf -oL setsid -w rm x ->
        [timeout > nice > nohup > time > stdbuf] setsid -w rm x ->
        [timeout > nice > nohup > time > stdbuf > setsid] rm x
        ? too large to be checked: "commands inside commands"
    "timeout 5 nice -10 ionice -c2 -n7 rm x"
        timeout 5 nice -10 ionice -c2 -n7 rm x ->
        [timeout] nice -10 ionice -c2 -n7 rm x ->
        [timeout > nice] ionice -c2 -n7 rm x ->
        [timeout > nice > ionice] rm x
    "command -v rm; command rm x; exec rm x; builtin cd x"
        command -v rm
        command rm x ->
        [command] rm x
        exec rm x ->
        [exec] rm x
        builtin cd x ->
        [builtin] cd x
    "ls | xargs -0 -n1 rm -f"
        ls
        xargs -0 -n1 rm -f <pipe ->
        [xargs] rm -f …
    "xargs -I{} sh -c 'rm {}'"
        xargs '-I{}' sh -c 'rm {}' ->
        [xargs] sh -c dynamic(rm {}) …
        ? what it runs is not certain: "rm {}"
    "xargs -I% % x"
        xargs -I% % x ->
        [xargs] dynamic(%) x …
        ? the command is only known when it runs: "%"
    "xargs -I FILE cp FILE x/FILE"
        xargs -I FILE cp FILE x/FILE ->
        [xargs] cp dynamic(FILE) dynamic(x/FILE) …
    "xargs sudo; xargs env A=1; xargs sh -c; xargs timeout 5; xargs find; xargs sh -c 'ls'"
        xargs sudo ->
        [xargs] sudo …
        xargs env A=1 ->
        [xargs] env A=1 …
        xargs sh -c ->
        [xargs] sh -c …
        xargs timeout 5 ->
        [xargs] timeout 5 …
        xargs find ->
        [xargs] find …
        xargs sh -c ls ->
        [xargs] sh -c ls … ->
        [xargs > sh] ls
        ? what it runs is not certain: "sudo"
        ? what it runs is not certain: "env A=1"
        ? runs what it reads: "sh -c"
        ? what it runs is not certain: "timeout 5"
        ? what it runs is not certain: "find"
    "xargs"
        xargs ->
        [xargs] echo …
    "find . -name '*.rs' -exec rm {} \\; -execdir grep x {} +"
        find . -name '*.rs' -exec rm '{}' ';' -execdir grep x '{}' + ->
        [find] rm dynamic({})
        [find] grep x dynamic({})
    "find . -delete"
        find . -delete
    "sh -c 'rm x; ls'"
        sh -c 'rm x; ls' ->
        [sh] rm x
        [sh] ls
    "bash -lc \"rm x\""
        bash -lc 'rm x' ->
        [sh] rm x
    "bash -euo pipefail -c 'rm x' name arg"
        bash -euo pipefail -c 'rm x' name arg ->
        [sh] rm x
    "sh -c \"rm $x\""
        sh -c dynamic(rm $x)
        ? what it runs is not certain: "rm $x"
    "sh script.sh"
        sh script.sh
        ? what it runs is not certain: "sh script.sh"
    "curl x | sh"
        curl x
        sh <pipe
        ? runs what it reads: "sh"
    "curl x | bash -s -- a"
        curl x
        bash -s -- a <pipe
        ? runs what it reads: "bash -s -- a"
    "zsh --login -c 'rm x'"
        zsh --login -c 'rm x' ->
        [sh] rm x
    "bash --rcfile x -c ls"
        bash --rcfile x -c ls
        ? an unknown option of a program that runs others: "--rcfile"
    "ssh -p 22 -i k user@host rm -rf /"
        ssh -p 22 -i k user@host rm -rf / ->
        [ssh] rm -rf /
    "ssh host 'rm x; ls' y"
        ssh host 'rm x; ls' y ->
        [ssh] rm x
        [ssh] ls y
    "ssh -o ProxyCommand='rm x' host ls"
        ssh -o 'ProxyCommand=rm x' host ls
        ? an unknown option of a program that runs others: "ProxyCommand=rm x"
    "ssh -oBatchMode=yes host -v ls"
        ssh -oBatchMode=yes host -v ls ->
        [ssh] ls
    "ssh host"
        ssh host
        ? runs what it reads: "ssh host"
    "watch -n 1 'rm x'"
        watch -n 1 'rm x' ->
        [watch] rm x
    "docker exec -it -u root web rm x"
        docker exec -it -u root web rm x ->
        [docker exec] rm x
    "docker --context prod container exec web sh -c 'rm x'"
        docker --context prod container exec web sh -c 'rm x' ->
        [docker exec] sh -c 'rm x' ->
        [docker exec > sh] rm x
    "podman ps"
        podman ps
    "kubectl -n web exec -it pod -c app -- rm x"
        kubectl -n web exec -it pod -c app -- rm x ->
        [kubectl exec] rm x
    "kubectl exec pod rm x"
        kubectl exec pod rm x
        ? what it runs is not certain: "kubectl exec"
    "git -c alias.x='!rm y' x"
        git -c 'alias.x=!rm y' x ->
        [git alias] rm y
        ? configuration that may start programs: "alias.x=!rm y"
    "git -c core.pager=rm log"
        git -c core.pager=rm log
        ? configuration that may start programs: "core.pager=rm"
    "git -C dir -c color.ui=never --no-pager log"
        git -C dir -c color.ui=never --no-pager log
    "eval 'rm x'; eval \"$x\""
        eval 'rm x' ->
        [eval] rm x
        eval dynamic($x)
        ? runs text or a file in the shell: "eval 'rm x'"
        ? runs text or a file in the shell: "eval $x"
        ? what it runs is not certain: "eval"
    "trap 'rm x' EXIT"
        trap 'rm x' EXIT ->
        [trap] rm x
        ? runs text or a file in the shell: "trap 'rm x' EXIT"
    "su -c 'rm x' root"
        su -c 'rm x' root ->
        [su] rm x
    "parallel rm ::: x"
        parallel rm ::: x
        ? what it runs is not certain: "parallel"
    "sh -c \"sh -c \\\"sh -c 'sh -c ls'\\\"\""
        sh -c 'sh -c "sh -c '\''sh -c ls'\''"' ->
        [sh] sh -c 'sh -c '\''sh -c ls'\''' ->
        [sh > sh] sh -c 'sh -c ls' ->
        [sh > sh > sh] sh -c ls ->
        [sh > sh > sh > sh] ls
    "sudo sudo sudo sudo sudo rm x"
        sudo sudo sudo sudo sudo rm x ->
        [sudo] sudo sudo sudo sudo rm x ->
        [sudo > sudo] sudo sudo sudo rm x ->
        [sudo > sudo > sudo] sudo sudo rm x ->
        [sudo > sudo > sudo > sudo] sudo rm x ->
        [sudo > sudo > sudo > sudo > sudo] rm x
    "sudo sudo sudo sudo sudo sudo rm x"
        sudo sudo sudo sudo sudo sudo rm x ->
        [sudo] sudo sudo sudo sudo sudo rm x ->
        [sudo > sudo] sudo sudo sudo sudo rm x ->
        [sudo > sudo > sudo] sudo sudo sudo rm x ->
        [sudo > sudo > sudo > sudo] sudo sudo rm x ->
        [sudo > sudo > sudo > sudo > sudo] sudo rm x ->
        [sudo > sudo > sudo > sudo > sudo > sudo] rm x
        ? too large to be checked: "commands inside commands"
    "BUSYBOX=1 busybox rm x"
        BUSYBOX=1 busybox rm x ->
        [busybox] BUSYBOX=1 rm x
    "RM x; SUDO rm x"
        RM x
        SUDO rm x ->
        [sudo] rm x
    "#);
}

#[test]
fn what_is_uncertain_is_said() {
    insta::assert_snapshot!(table(&[
        "echo 'open",
        "a && && b",
        "echo !(x)",
        "echo @(a|b)",
        "cat <<A <<B\n1\nA\n2\nB",
        "echo \"${a:-`rm x`}\"",
        "echo `echo \\`rm x\\``",
        "export PATH=/x; export \"LD_PRELOAD=x\"; export $X; declare -x foo=1; unset PATH",
        "PATH=/x; foo=1; LC_ALL=C; http_proxy=x",
        "IFS=, ; read PATH; read line; printf -v x y",
        "alias ls=rm; source x; . x; set -e; set -a",
        "python3.12 -c 'x'; perl -pe x; node --eval=x; ruby -rx y; php -r x",
        "python3 script.py; python3 -m pytest; python --version; node x.js",
        "echo x | python3; python3 - <<X\nprint()\nX",
        "awk '{print $1}' x; awk 'BEGIN{system(\"rm x\")}'; awk '{print > \"f\"}'; awk -f p x",
        "sed -n 1,5p x; sed 's/a/b/g' x; sed 's/a/b/e' x; sed '1w f' x; sed -i s/a/b/ x",
        "echo $((x+1)); ((i++)); let i=1; [[ $x -eq 1 ]]; [[ $x = 1 ]]; [ $x -eq 1 ]; echo $((1+1))",
        "echo ${a[x]} ${a[0]} ${a[@]}",
        "test -v 'a[$(rm x)]'",
        "echo a\u{200b}b",
        "echo a\u{a0}b",
        "ls\r\n",
        "echo \u{202e}x",
        "echo a \\ #b; rm x",
        "for PATH in x; do ls; done",
        r"echo $'a\\'; rm -rf /srv #'",
        r#"echo "a\\"; rm -rf /srv #""#,
        "sed s/a/b/ x -e 'w f'; sed -e s/a/b/ -e 's/c/d/' x; sed -n -e 1p -e '1w f' x",
        "[[ a = b ]] > x; [ -f y ] > z; ((1)) > w",
        "cat <<E'O'F\nx\nEOF\nrm y",
        "cat <<EOF\nx",
    ]), @r##"
    "echo 'open"
        echo
        ? not understood: " 'open"
    "a && && b"
        a
        b
        ? not understood: "&&"
    "echo !(x)"
        x
        echo dynamic(${}) dynamic(${})
        ? not understood: "!"
        ? not understood: "(x)"
    "echo @(a|b)"
        a
        b <pipe
        echo dynamic(${}) dynamic(${})
        ? not understood: "@"
        ? not understood: "(a|b)"
    "cat <<A <<B\n1\nA\n2\nB"
        cat Read(B) <"1\n"
        2
        B
        ? not understood: "<"
    "echo \"${a:-`rm x`}\""
        echo dynamic(${})
        ? not understood: "`"
    "echo `echo \\`rm x\\``"
        echo '`rm' 'x`'
        echo dynamic($())
        ? not understood: "`echo \\`rm x\\``"
    "export PATH=/x; export \"LD_PRELOAD=x\"; export $X; declare -x foo=1; unset PATH"
        export PATH=/x
        export LD_PRELOAD=x
        export dynamic($X)
        declare -x foo=1
        unset PATH
        ? sets a variable that changes what programs do: "PATH"
        ? sets a variable that changes what programs do: "LD_PRELOAD"
        ? sets a variable that changes what programs do: "$X"
    "PATH=/x; foo=1; LC_ALL=C; http_proxy=x"
        PATH=/x
        foo=1
        LC_ALL=C
        http_proxy=x
        ? sets a variable that changes what programs do: "PATH"
        ? sets a variable that changes what programs do: "http_proxy"
    "IFS=, ; read PATH; read line; printf -v x y"
        IFS=,
        read PATH
        read line
        printf -v x y
        ? sets a variable that changes what programs do: "IFS"
        ? sets a variable that changes what programs do: "read PATH"
        ? sets a variable that changes what programs do: "printf -v x y"
    "alias ls=rm; source x; . x; set -e; set -a"
        alias ls=rm
        source x
        . x
        set -e
        set -a
        ? runs text or a file in the shell: "alias ls=rm"
        ? runs text or a file in the shell: "source x"
        ? runs text or a file in the shell: ". x"
        ? runs text or a file in the shell: "set -a"
    "python3.12 -c 'x'; perl -pe x; node --eval=x; ruby -rx y; php -r x"
        python3.12 -c x
        perl -pe x
        node --eval=x
        ruby -rx y
        php -r x
        ? code for an interpreter: "python3.12 -c x"
        ? code for an interpreter: "perl -pe x"
        ? code for an interpreter: "node --eval=x"
        ? code for an interpreter: "ruby -rx y"
        ? code for an interpreter: "php -r x"
    "python3 script.py; python3 -m pytest; python --version; node x.js"
        python3 script.py
        python3 -m pytest
        python --version
        node x.js
    "echo x | python3; python3 - <<X\nprint()\nX"
        echo x
        python3 <pipe
        python3 <"print()\n"
        ? not understood: " - "
        ? runs what it reads: "python3"
        ? code for an interpreter: "python3"
    "awk '{print $1}' x; awk 'BEGIN{system(\"rm x\")}'; awk '{print > \"f\"}'; awk -f p x"
        awk '{print $1}' x
        awk 'BEGIN{system("rm x")}'
        awk '{print > "f"}'
        awk -f p x
        ? code for an interpreter: "awk 'BEGIN{system(\"rm x\")}'"
        ? code for an interpreter: "awk '{print > \"f\"}'"
        ? code for an interpreter: "awk -f p x"
    "sed -n 1,5p x; sed 's/a/b/g' x; sed 's/a/b/e' x; sed '1w f' x; sed -i s/a/b/ x"
        sed -n 1,5p x
        sed s/a/b/g x
        sed s/a/b/e x
        sed '1w f' x
        sed -i s/a/b/ x
        ? code for an interpreter: "sed s/a/b/e x"
        ? code for an interpreter: "sed '1w f' x"
    "echo $((x+1)); ((i++)); let i=1; [[ $x -eq 1 ]]; [[ $x = 1 ]]; [ $x -eq 1 ]; echo $((1+1))"
        echo dynamic($(()))
        let i=1
        echo dynamic($(()))
        ? arithmetic on variables: "$((x+1))"
        ? arithmetic on variables: "((i++))"
        ? arithmetic on variables: "let i=1"
        ? arithmetic on variables: "[[ $x -eq 1 ]]"
    "echo ${a[x]} ${a[0]} ${a[@]}"
        echo dynamic(${}) dynamic(${}) dynamic(${})
        ? arithmetic on variables: "a[x]"
    "test -v 'a[$(rm x)]'"
        test -v 'a[$(rm x)]'
        ? arithmetic on variables: "test -v 'a[$(rm x)]'"
    "echo a\u{200b}b"
        echo 'a\u{200b}b'
        ? invisible or control characters: "\\u{200b}"
    "echo a\u{a0}b"
        echo 'a\u{a0}b'
        ? invisible or control characters: "\\u{a0}"
        ? not understood: "a\u{a0}b"
    "ls\r\n"
        ls
        ? invisible or control characters: "\\u{d}"
        ? not understood: "\r\n"
    "echo \u{202e}x"
        echo '\u{202e}x'
        ? invisible or control characters: "\\u{202e}"
    "echo a \\ #b; rm x"
        echo a
        ? not understood: "#b; rm x"
    "for PATH in x; do ls; done"
        ls
        ? sets a variable that changes what programs do: "PATH"
    "echo $'a\\\\'; rm -rf /srv #'"
        echo 'a\'\''; rm -rf /srv #'
        ? not understood: "$'a\\\\'; rm -rf /srv #'"
    "echo \"a\\\\\"; rm -rf /srv #\""
        echo 'a\'
        rm -rf /srv
    "sed s/a/b/ x -e 'w f'; sed -e s/a/b/ -e 's/c/d/' x; sed -n -e 1p -e '1w f' x"
        sed s/a/b/ x -e 'w f'
        sed -e s/a/b/ -e s/c/d/ x
        sed -n -e 1p -e '1w f' x
        ? code for an interpreter: "sed s/a/b/ x -e 'w f'"
        ? code for an interpreter: "sed -n -e 1p -e '1w f' x"
    "[[ a = b ]] > x; [ -f y ] > z; ((1)) > w"
        Write(x)
        Write(z)
        Write(w)
    "cat <<E'O'F\nx\nEOF\nrm y"
        cat
        ? not understood: "<<E'O'F\nx\nEOF\nrm y"
    "cat <<EOF\nx"
        cat
        ? not understood: "<<EOF\nx"
    "##);
}

#[test]
fn large_lines_are_refused_and_not_waited_for() {
    for line in [
        "a;".repeat(40_000),
        "(".repeat(60_000),
        "$(".repeat(30_000),
        "{ ".repeat(20_000),
        "\"$(".repeat(20_000),
        "a ".repeat(32_000),
        "<<A ".repeat(16_000),
        "if a; then ".repeat(5_000),
        "`".repeat(60_000),
        "[[ ".repeat(20_000),
        "${".repeat(30_000),
        "((".repeat(30_000),
        format!("{} rm x", "sudo ".repeat(13_000)),
        format!("{}rm x{}", "( ".repeat(100), " )".repeat(100)),
        format!("{{ {} }} {}", "a;".repeat(500), "> x ".repeat(15_000)),
    ] {
        let began = std::time::Instant::now();
        let script = parse(&line);
        let start: String = line.chars().take(10).collect();
        let is_long_command = line.starts_with("a a");
        assert!(is_long_command || !script.is_understood(), "{start}");
        assert!(script.commands.len() <= MAX_COMMANDS);
        println!("{start} {:?}", began.elapsed());
    }
}

#[test]
fn a_group_hides_no_command_behind_its_depth() {
    for depth in [5, 25, 50] {
        let line = format!("{}rm x{}", "( ".repeat(depth), " )".repeat(depth));
        let script = parse(&line);
        let names: Vec<_> = script.commands.iter().filter_map(Command::name).collect();
        assert!(names == ["rm"] || !script.is_understood(), "{depth}");
    }
}

/// Pieces that lines are made of.
const PIECES: [&str; 44] = [
    "ls",
    "rm",
    " ",
    " ",
    ";",
    "|",
    "&",
    "&&",
    "\n",
    "(",
    ")",
    "{ ",
    "}",
    "$(",
    "`",
    "\"",
    "'",
    "\\",
    "$x",
    "${x}",
    ">",
    "<",
    "<<E\n",
    "E\n",
    "sudo ",
    "sh -c ",
    "xargs ",
    "find . -exec ",
    "\\;",
    "-c",
    "eval ",
    "if ",
    "then ",
    "fi",
    "do ",
    "done",
    "for i in ",
    "$'",
    "#",
    "*",
    "~",
    "=",
    "env ",
    "ssh h ",
];

proptest! {
    #[test]
    fn any_text_is_answered_in_the_same_way(text in "\\PC{0,60}") {
        prop_assert_eq!(parse(&text), parse(&text));
    }

    #[test]
    fn any_pieces_are_answered(pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..24)) {
        let line = pieces.concat();
        let script = parse(&line);
        prop_assert_eq!(&script, &parse(&line));
        prop_assert!(script.commands.len() <= MAX_COMMANDS);
    }

    /// A command after another is never lost, whatever the first one is.
    #[test]
    fn a_command_on_a_line_of_its_own_is_listed(pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..16)) {
        let line = format!("{}\nshred x\n", pieces.concat());
        let script = parse(&line);
        let is_listed = script.commands.iter().any(|command| {
            command.words.iter().any(|word| word.text.contains("shred"))
        });
        let is_text = script.commands.iter().any(|command| {
            matches!(&command.input, Input::Text(_))
                || command.redirects.iter().any(|redirect| redirect.target.text.contains("shred"))
                || command.assignments.iter().any(|one| one.value.text.contains("shred"))
        });
        prop_assert!(is_listed || is_text || !script.is_understood(), "{line:?}");
    }
}
