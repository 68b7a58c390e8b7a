//! Commands that only read, with the options that keep them so.
//!
//! One line each: `name subcommand|subcommand : options : operands`. Options that are not listed
//! make the command unknown, because one of them may write a file or start a program
//! (`sort -o`, `git log --output`, `rg --pre`).
//!
//! Options: `-abc` letters, `-n=` a letter with a value, `-#` digits, `--long`, `--long=` with a
//! value, `-word` a word with one dash where the line says `words`.
//! Operands: `none`; `any`; `paths`, readable ones; `text` then paths; `dynamic`, where even
//! expansions do no harm; `~pattern`, each fits; `first`, one readable path. `paths+` and `text+`:
//! even a pattern that becomes an option does no harm.

pub(super) const TABLE: &str = r"
ls : -aAbBcCdfFgGhHiIklLmnNopqQrRsStTuUvxXZ1 -w= --all --almost-all --color --human-readable --group-directories-first --time-style= --sort= --reverse --recursive --size --directory --classify --full-time --inode --numeric-uid-gid --no-group --si : paths+
cat : -AbeEnstTuv --number --number-nonblank --show-all --show-ends --show-tabs --squeeze-blank : paths+
tac|rev : -bs : paths+
head : -qvz# -n= -c= --lines= --bytes= --quiet --verbose : paths+
tail : -qvzfFr# -n= -c= --lines= --bytes= --quiet --verbose --follow --retry : paths+
wc : -clmwL --bytes --chars --lines --words --max-line-length : paths+
nl : -ba -b= -w= -s= -n= : paths+
od : -abcdfhilosvx -A= -t= -j= -N= -w= : paths
hexdump : -bcCdovx -n= -s= : paths
strings : -a -n= -t= --all --bytes= : paths
file : -bhikLNprsz --brief --mime --mime-type --mime-encoding : paths
stat : -Lftx -c= --format= --printf= --file-system --terse --dereference : paths+
readlink|realpath : -efmnqsz --canonicalize --relative-to= : paths
basename|dirname : -az -s= : any
du : -abchHklmsSx0 -d= --max-depth= --human-readable --summarize --total --apparent-size --all --exclude= : paths+
df : -aBhHiklmPT --human-readable --inodes --total --print-type --local : any
tree : -aACdDfFghiJlnNpqQrsStuUvx -L= -I= -P= --dirsfirst --gitignore --noreport : paths
cmp : -bls --verbose --silent --print-bytes : paths+
diff : -aBbcdeEiNqrstTuwyZ -U= -C= -I= --brief --color --context --unified --ignore-all-space --ignore-space-change --ignore-blank-lines --recursive --side-by-side --report-identical-files --suppress-common-lines --exclude= --stat --minimal : paths+
comm : -123 --check-order --nocheck-order --total : paths
sort : -bcCdfghiMnRrsuVz -k= -t= --key= --field-separator= --numeric-sort --reverse --unique --human-numeric-sort --version-sort --general-numeric-sort --ignore-case --stable --check : paths
uniq : -cdDiuz -f= -s= -w= --count --repeated --unique --ignore-case : first
cut : -nsz -b= -c= -d= -f= --bytes= --characters= --delimiter= --fields= --complement --output-delimiter= : paths+
tr : -cCdst --complement --delete --squeeze-repeats --truncate-set1 : any
column : -etx -s= -o= -c= -N= -t --table --separator= : paths
paste : -sz -d= : paths
join : -i -1= -2= -t= -a= -v= -o= : paths
fold|fmt : -bs -w= : paths
expand|unexpand : -ia -t= : paths
seq : -w -s= -f= : any
cksum|md5sum|sha1sum|sha224sum|sha256sum|sha384sum|sha512sum|b2sum|shasum : -bctz -a= --check --binary --text --quiet --status : paths+
grep|egrep|fgrep|zgrep : -abcEFGHhiIlLnNoPqrRsTUvVwxyzZ# -A= -B= -C= -e= -m= --after-context= --before-context= --context= --count --color --colour --include= --exclude= --exclude-dir= --extended-regexp --fixed-strings --files-with-matches --files-without-match --ignore-case --invert-match --line-number --max-count= --no-filename --no-messages --null --only-matching --perl-regexp --quiet --recursive --regexp= --text --with-filename --word-regexp --line-regexp : text+
rg : -abcFHhiIlLNnopPqsSuUvVwxz0# -A= -B= -C= -e= -g= -m= -t= -T= -M= -d= --after-context= --before-context= --context= --count --count-matches --color= --column --crlf --files --files-with-matches --files-without-match --fixed-strings --glob= --iglob= --heading --no-heading --hidden --ignore-case --invert-match --json --line-number --line-regexp --max-columns= --max-count= --max-depth= --multiline --no-filename --no-ignore --no-ignore-vcs --no-line-number --null --only-matching --passthru --pcre2 --quiet --regexp= --replace= --smart-case --case-sensitive --sort= --sortr= --stats --text --trim --type= --type-not= --type-list --unrestricted --vimgrep --with-filename --word-regexp --version : text
jq : -acCeMnrRsSj --compact-output --raw-output --raw-input --slurp --sort-keys --tab --exit-status --monochrome-output --null-input --indent= : text
date : -uR -d= -I --utc --universal --iso-8601 --rfc-3339= --rfc-email --date= : ~^\+
cal|ncal : -13jmwy : any
pwd : -LP : none
cd : -LP : paths
true|false|: : : dynamic
echo : -neE : dynamic
printf : : dynamic
test|[ : words -a -b -c -d -e -f -g -h -k -n -o -p -r -s -t -u -w -x -z -L -O -G -S -N -eq -ne -lt -le -gt -ge -nt -ot -ef : dynamic
sleep : : any
exit|return|break|continue : : dynamic
wait : -n : any
read : -r -n= -d= -p= -t= -a= -s : any
set : -euxo : any
export|local|readonly|declare|typeset : -rx : ~^[A-Za-z_][A-Za-z0-9_]*=
shift|unset : : any
which|type : -aptP : any
command : -vV : any
whoami|arch|logname|tty|nproc|users : : none
nproc : --all : none
id|groups : -agGnruZz --groups --name --user --group : any
hostname : -fsidIAy --fqdn --short --all-ip-addresses : none
uname : -asnrvmpio --all --kernel-name --kernel-release --kernel-version --machine --operating-system : none
uptime : -ps --pretty --since : none
free : -bkmghtlwv -s= -c= --human --mega --giga --kilo --total --wide --si : none
ps : -AaCdeflFHjLlMNTwxZy -o= -p= -u= -U= -C= -t= -g= --forest --no-headers --sort= --pid= --ppid= --user= --format= --headers --cols= : ~^[auxwflgjsvTm0-9]+$
pgrep : -afilnovx -u= -U= -P= --list-name --list-full --full --exact --count : any
pstree : -aAcghlnpstTuZ -H= : any
top : -bH -n= -d= -p= -u= -o= -w= : none
vmstat : -adfnstwS -d : any
iostat|mpstat|pidstat|sar : -AcdhkmNpPrtuxyzqnbBSvwW : any
ss : -0460abdeEHhilmMnNoOpPrsStTuwxzZ --all --listening --numeric --processes --tcp --udp --summary --info --extended --memory --unix : any
netstat : -aceFgilnoprstuvWx46 : none
lsof : -anPRlth0 -i -p= -u= -c= -d= -s : any
lsblk|lscpu|lsmem|lspci|lsusb|lsmod|lsns|lslocks : -abdefhiJklmnNOpPrsStvx -o= --json --all --fs --output= --paths : any
mount|findmnt : -lJRn -o= -t= -T= : none
dmesg : -dehHkLTtxru -l= -f= --level= --facility= --since= --until= --human --ctime --kernel --decode --color= : none
last|lastlog|w|who|finger : -adFfhiHlnqswxbmprtu# -n= : any
journalctl : -abefkmqrx -n= -o= -p= -S= -U= -u= -g= -b= -t= -c= --boot --catalog --dmesg --follow --grep= --identifier= --lines= --list-boots --no-hostname --no-pager --output= --priority= --quiet --reverse --since= --system --unit= --until= --user --utc --disk-usage --all --full --no-full --no-tail --output-fields= --case-sensitive : any
systemctl status|is-active|is-enabled|is-failed|is-system-running|list-units|list-timers|list-sockets|list-jobs|list-unit-files|list-dependencies|show|cat|get-default : -alq -n= -o= -p= -t= --all --failed --full --lines= --no-legend --no-pager --output= --plain --property= --quiet --recursive --reverse --state= --type= --user --system --value : any
timedatectl status|show|list-timezones : --no-pager --all --property= : none
hostnamectl status : --no-pager : none
loginctl list-sessions|list-users|session-status : --no-pager --no-legend : any
getent passwd|group|hosts|services|protocols|networks : : any
ip : words -4 -6 -br -brief -s -stats -d -details -j -json -p -pretty -c -color -o -oneline : ~^(a|addr|address|l|link|r|route|n|neigh|neighbour|ru|rule|show|list|ls|dev|lo|[a-z]+[0-9]+[a-z0-9]*|default|up)$
git status : -bsuvz --branch --short --porcelain --long --verbose --untracked-files --ignored --ahead-behind --no-ahead-behind --show-stash --column --no-column --renames --no-renames : paths
git log|show|reflog|shortlog|whatchanged : -ceEgiLmnpPqrstuwz# -n= -S= -G= -U= -L= --all --abbrev --abbrev-commit --after= --author= --before= --branches --tags --remotes --cc --cherry --color --no-color --committer= --date= --date-order --decorate --no-decorate --diff-filter= --dirstat --first-parent --follow --format= --full-history --graph --grep= --invert-grep --left-right --max-count= --merges --no-merges --name-only --name-status --no-ext-diff --no-textconv --no-patch --no-renames --numstat --numbered --summary --oneline --parents --patch --pickaxe-regex --pretty --raw --relative-date --reverse --shortstat --show-signature --since= --skip= --stat --submodule --topo-order --until= --unified= --word-diff --find-renames --email : any
git diff : -abMwzpuRsB -U= -S= -G= --cached --staged --check --color --no-color --color-words --compact-summary --diff-filter= --dirstat --exit-code --find-renames --function-context --histogram --ignore-all-space --ignore-blank-lines --ignore-space-at-eol --ignore-space-change --merge-base --minimal --name-only --name-status --no-ext-diff --no-prefix --no-renames --no-textconv --numstat --patience --patch --quiet --raw --relative --shortstat --stat --submodule --summary --text --unified= --word-diff --exclude= : any
git branch : -arvl --all --remotes --list --verbose --show-current --merged --no-merged --contains= --points-at= --sort= --format= --color --no-color --column : none
git tag : -ln --list --sort= --format= --contains= --points-at= --merged : none
git remote : -v --verbose : none
git remote get-url : --all --push : any
git rev-parse : -q --abbrev-ref --short --verify --show-toplevel --show-prefix --show-cdup --is-inside-work-tree --is-bare-repository --git-dir --git-common-dir --absolute-git-dir --symbolic-full-name --all --branches --tags : any
git describe : --all --tags --always --dirty --long --abbrev= --match= --exact-match --contains --first-parent --candidates= : any
git ls-files : -cdmorsuvzt --cached --deleted --modified --others --ignored --stage --exclude-standard --error-unmatch --full-name --exclude= --directory --killed --unmerged : paths
git ls-tree : -drtlz --name-only --name-status --full-tree --full-name --long --abbrev : any
git blame|annotate : -bcCeflMnpstwk -L= --date= --porcelain --line-porcelain --show-email --reverse : any
git cat-file : -pets : any
git rev-list|name-rev|merge-base|diff-tree|for-each-ref|show-ref|count-objects|var|check-ignore|check-attr|symbolic-ref|whatchanged|show-branch|cherry : -acdHnqrstvz# --all --abbrev-commit --count --branches --tags --remotes --heads --merges --no-merges --max-count= --since= --until= --format= --sort= --name-only --name-status --name-status --is-ancestor --first-parent --human-readable --verbose --short --reverse --objects --no-commit-id --root : ~^[^-]
git stash list|show : -p --stat --name-only --oneline : any
git worktree list : --porcelain -v : none
git config : words --get --get-all --get-regexp --global --local --show-origin --show-scope : ~^(user\.name|user\.email|init\.defaultBranch|core\.(editor|pager|autocrlf|filemode)|remote\.[\w.-]+\.url|branch\.[\w./-]+|pull\.rebase|push\.default)$
git grep : -ceEFGhHiIlLnopPqvw# -A= -B= -C= -e= --count --line-number --files-with-matches --ignore-case --name-only --extended-regexp --fixed-strings --perl-regexp --heading --break --untracked --cached --word-regexp --color : any
git version|--version|help : : none
cargo|rustc|rustup|rustfmt|node|npm|pnpm|yarn|bun|deno|python|python2|python3|pip|pip3|uv|go|gofmt|java|javac|mvn|gradle|ruby|gem|bundle|php|composer|perl|gcc|g++|clang|cmake|make|ninja|docker|podman|kubectl|helm|terraform|tofu|aws|gcloud|az|gh|curl|wget|ssh|tar|zip|sed|awk|gawk|jq|yq|rg|fd|tmux|systemctl|bash|zsh|sqlite3|psql|mysql|redis-cli|nginx|ansible : words --version -version -v -V : version
go|docker|kubectl|helm|terraform|tofu|gradle version : --client --short -o= : none
kubectl get|describe|top|explain|events : -Ahw -n= -o= -l= -c= --namespace= --all-namespaces --output= --selector= --field-selector= --context= --show-labels --show-kind --sort-by= --no-headers --containers --watch --chunk-size= --ignore-not-found --types= --for= --recursive --label-columns= -L= --request-timeout= : ~^(?i)[a-z0-9][\w.,/:-]*$
kubectl logs : -fp -n= -c= -l= --namespace= --container= --selector= --context= --all-containers --follow --previous --prefix --since= --since-time= --tail= --timestamps --limit-bytes= --max-log-requests= --ignore-errors --request-timeout= : ~^[a-z0-9][\w./-]*$
kubectl rollout status|history : -n= --namespace= --context= --timeout= --watch --revision= --request-timeout= : ~^[a-z0-9][\w./-]*$
kubectl auth can-i|whoami : -n= --namespace= --context= --list -A : any
kubectl config current-context|get-contexts|get-clusters|get-users : -o= --output= --no-headers : any
kubectl api-resources|api-versions|cluster-info|version : -o= --output= --context= --client --short --namespaced --verbs= --no-headers --request-timeout= : none
helm list|ls|status|history : -aAn= --namespace= --all --all-namespaces --kube-context= -o= --output= --max= --filter= --failed --deployed --pending -q : ~^[a-z0-9][\w./-]*$
";
