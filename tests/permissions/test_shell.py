"""What can be told of a shell line, and what counts as reading."""

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_cli.permissions.bundle import read_only, risky
from agent_cli.permissions.denylist import catastrophe
from agent_cli.permissions.destructive import discards
from agent_cli.permissions.rules import allows_line, parse, views
from agent_cli.permissions.shell import Commands, read_command
from agent_cli.permissions.variables import segments

CERTAIN: dict[str, tuple[tuple[str, ...], ...]] = {
    "ls": (("ls",),),
    "  ls -la  ": (("ls", "-la"),),
    "ls\t-l": (("ls", "-l"),),
    "git commit -m 'a; b && c'": (("git", "commit", "-m", "a; b && c"),),
    'git commit -m "fix $(x)"'.replace("$(x)", "it"): (("git", "commit", "-m", "fix it"),),
    'echo "a \\"b\\" c"': (("echo", 'a "b" c'),),
    "echo a\\ b": (("echo", "a b"),),
    "echo ''": (("echo", ""),),
    "e''cho x": (("echo", "x"),),
    "echo 'it'\\''s'": (("echo", "it's"),),
    "ls && pwd": (("ls",), ("pwd",)),
    "ls || pwd; cat x | wc -l": (("ls",), ("pwd",), ("cat", "x"), ("wc", "-l")),
    "ls&&pwd": (("ls",), ("pwd",)),
    "ls;": (("ls",),),
    "cat x 2>&1": (("cat", "x"),),
    "cat x 2>/dev/null": (("cat", "x"),),
    "cat x >/dev/null 2>&1 && ls": (("cat", "x"), ("ls",)),
    "cat x &>/dev/null": (("cat", "x"),),
    "cat x >&2": (("cat", "x"),),
    "cat </dev/null": (("cat",),),
    "grep 'x$' a": (("grep", "x$", "a"),),
    'grep "x$" a': (("grep", "x$", "a"),),
    "git diff HEAD~1": (("git", "diff", "HEAD~1"),),
    "ls ~/x": (("ls", "~/x"),),
    "cd ~": (("cd", "~"),),
    "echo a#b": (("echo", "a#b"),),
    "[ -f x ]": (("[", "-f", "x", "]"),),
    "echo a \\\n  b": (("echo", "a", "b"),),
    "echo '*'": (("echo", "*"),),
    "find . -name '*.py'": (("find", ".", "-name", "*.py"),),
}
DOUBTFUL = (
    "",
    "   ",
    "echo $HOME",
    'echo "$HOME"',
    "echo ${HOME}",
    "echo $(id)",
    'echo "$(id)"',
    "echo `id`",
    'echo "`id`"',
    "echo $((1+1))",
    "echo $'a\\nb'",
    "cat <(ls)",
    "tee >(cat)",
    "ls > out",
    "ls >> out",
    "ls 2> out",
    "ls >| out",
    "ls &> out",
    "ls >& out",
    "ls > /dev/null/../../etc/x",
    "sort < in",
    "cat <<EOF\nx\nEOF",
    "cat <<< x",
    "sleep 5 &",
    "ls & pwd",
    "(ls)",
    "{ ls; }",
    "f() { ls; }",
    "echo {a,b}",
    "ls *.py",
    "ls a?",
    "ls [ab]",
    "ls -l [ab]*",
    "ls ~root",
    "ls ~+",
    "A=1 ls",
    "A=1",
    "if true; then ls; fi",
    "for x in a b; do ls; done",
    "! ls",
    "time ls",
    "[[ -f x ]]",
    "case x in x) ls;; esac",
    "ls\npwd",
    "ls # comment",
    "# comment",
    "echo 'open",
    'echo "open',
    "echo open\\",
    "ls &&",
    "&& ls",
    "ls | ",
    "| ls",
    "ls ;; pwd",
    "ls |& cat",
    "ls\rpwd",
    "ls \x00",
    "ls\u00a0-l",
    "ls >",
    "2>&1x ls",
)

READS = (
    "pwd", "ls -la src", "cat a.py b.py", "cat -n a.py", "head -n 20 x", "head -20 x", "tail -n +5 x", "wc -l x",
    "git status", "git status --short", "git -P log --oneline -n 5", "git --no-pager diff --stat HEAD~1 -- a.py",
    "git log --oneline -10", "git log -p -S needle -- x", "git show HEAD:a.py", "git branch -a", "git branch",
    "git branch --list 'feature/*'", "git remote -v", "git stash list", "git rev-parse --show-toplevel", "git ls-files",
    "git blame -L 1,5 a.py", "grep -n needle a.py", "grep -A3 -B 2 x a", "grep --line-number x a", "egrep 'a|b' x",
    "sort -u x", "sort -k2,2n -t: x", "cut -d: -f1 x", "uniq -c", "tr a b", "find . -name '*.py' -type f",
    "find . -maxdepth 2 -not -path './x/*'", "sed -n '1,20p' a.py", "sed -n 5p a.py", "echo hello", "date +%F",
    "command -v git", "python --version", "stat -c %s x", "du -sh .", "tree -L 2", "test -f x", "[ -d x ]", "cd src",
    "diff -u a b", "which python", "basename /a/b", "sha256sum x", "ps aux", "true", "printf '%s' x",
)  # fmt: skip
NOT_READS = (
    "rm x", "sort -o out x", "sort -uo out x", "sort --output=out x", "sort --outp=out x", "find . -exec rm {} +",
    "find . -delete", "find . -fprint x", "find . -okdir rm", "rg --pre cmd x", "rg x", "grep -r x .", "grep -R x .",
    "grep --recursive x .", "grep -f pats x", "git -c core.pager=x log", "git -C /x log", "git diff --output=x",
    "git diff --ext-diff", "git log --o=x", "git branch new", "git branch -d x", "git branch -D x", "git tag v1",
    "git tag -d v1", "git remote add a b", "git stash", "git stash drop", "git reflog expire", "git push", "git config x y",
    "git checkout .", "git show --output=x", "git grep -O x", "env", "env X=1 ls", "printenv", "xargs ls", "uniq a b",
    "tail -f x", "date -s 2020-01-01", "date 01010000", "date -us x", "tree -o out", "hostname new", "sed -i s/a/b/ x",
    "sed -n 'w out' x", "sed -n 5p -i x", "sed 's/a/b/e' x", "command ls", "test -v 'a[$(id)]'", "printf -v x y", "printf %n x", "printf '%5n' x",
    "./ls", "/bin/ls", "awk '{print}' x", "tee x", "diff -r a b", "ps e", "python x.py", "cat --unknown x", "curl x",
    "wc --files0-from=x", "file -f x", "ls --unknown", "du --files0-from=x", "sudo ls", "date -f x", "git blame --contents x y",
)  # fmt: skip


@pytest.mark.parametrize("line", CERTAIN)
def test_a_line_of_literal_words_is_read_as_a_shell_reads_it(line: str) -> None:
    found = read_command(line)
    assert found is not None
    assert found.simple == CERTAIN[line]


@pytest.mark.parametrize("line", DOUBTFUL)
def test_what_a_shell_would_have_to_work_out_cannot_be_told(line: str) -> None:
    assert read_command(line) is None


@pytest.mark.parametrize("line", READS)
def test_the_bundle_knows_what_only_reads(line: str) -> None:
    assert allows_line((), line) == ("read-bundle",)


@pytest.mark.parametrize("line", NOT_READS)
def test_options_that_write_or_run_are_not_reading(line: str) -> None:
    assert allows_line((), line) is None


def test_joints_stand_between_their_commands() -> None:
    assert read_command("a && b || c | d; e") == Commands(
        (("a",), ("b",), ("c",), ("d",), ("e",)), ("&&", "||", "|", ";")
    )


@pytest.mark.parametrize(
    "line",
    (
        "rm x", "ls; rm x", "ls && rm x", "ls | rm x", "ls & rm x", "(rm x)", "{ rm x; }", "if a; then rm x; fi",
        "sudo rm x", "sudo -u bob rm x", "env A=1 rm x", "A=1 rm x", "A=1 B=2 rm x", "ls | xargs rm x", "xargs -n 1 rm x",
        "nohup rm x", "timeout 5 rm x", "/bin/rm x", "\\rm x", "r''m x", '"rm" x', "bash -c 'rm x'", "sh -lc 'ls; rm x'",
        "eval 'rm x'", "echo $(rm x)", 'echo "$(rm x)"', "echo `rm x`", "cat <(rm x)", "bash <<EOF\nrm x\nEOF",
        "cat <<EOF\n$(rm x)\nEOF", "find . -exec rm x ;", "sudo env A=1 bash -c 'rm x'", "ls\nrm x", "! rm x", "time rm x",
        "for f in a; do rm x; done", "f() { rm x; }", "echo ${y:-$(rm x)}", "ssh host 'rm x'", "trap 'rm x' EXIT",
        "rm x > log", "2>/dev/null rm x", "  rm   x", "command rm x", "exec rm x", "while true; do rm x; done",
    ),
)  # fmt: skip
def test_a_command_is_seen_wherever_it_hides(line: str) -> None:
    assert "rm x" in set(views(line))


@pytest.mark.parametrize(
    "line", ("echo 'rm x'", "git commit -m 'rm x'", "find . -name rm", "cat <<EOF\nrm x\nEOF")
)
def test_text_about_a_command_is_not_the_command(line: str) -> None:
    seen = {view for view in views(line) if view != line}
    assert "rm x" not in seen
    assert "rm" not in seen


@pytest.mark.parametrize("line", ("env ls", "sudo ls", "xargs ls", "find . -exec x", "sort -o a b", "rg --pre x y",
    "git -c a=b log", "git log --output=x", "timeout 5 ls", "sed -i x y", "sed 'w out' x", "curl -o a b", "go vet -vettool=x",
    "sed s/a/b/e x", "sed s/a/id/ge x", "sed 's|a|b|e' x", "sed 's,a,b,gw out' x", "sed wout x", "sed '1e id' x", "sed '$!e id' x", "sed '/x/e id' x",
    "sed -f script x", "sed -e p -e 'w out' x", "sed --expression=e x", "sed 's/a/b/;e id' x", "sed -ni p x", "sed --in-place=.b p x", "sed 's/a/b' x",
    "sed 'r /etc/passwd' x", "git grep -Oless x", "git grep x -Osh", "git grep --open-files-in-pager=sh x", "rsync -e sh a b", "rsync --rsh=sh a b",
    "ssh -oProxyCommand=sh host", "scp -S sh a b"))  # fmt: skip
def test_an_option_that_writes_or_runs_is_a_risk(line: str) -> None:
    found = read_command(line)
    assert found is not None
    assert risky(found.simple[0])


@pytest.mark.parametrize(
    "line",
    (
        "pytest -q",
        "git log -C",
        "rg -n x",
        "sed s/a/b/ x",
        "command -v ls",
        "curl x",
        "sed -n '1,5p;$p' x",
        "sed 's#/usr/lib#/lib#g' x",
        "sed -E -e 's/(a|b)+/\\1/I' -e 3d x",
        "git diff -Oorder",
        "git grep x",
        "rsync -a a b",
        "ssh -p 22 host",
    ),
)
def test_ordinary_options_are_no_risk(line: str) -> None:
    found = read_command(line)
    assert found is not None
    assert not risky(found.simple[0]) or read_only(found.simple[0])


@pytest.mark.parametrize(
    ("rule", "line", "allowed"),
    (
        ("bash:git diff*", "git diff", True),
        ("bash:git diff*", "git diff HEAD x", True),
        ("bash:git diff*", "git difftool -x rm", False),
        ("bash:git diff*", "git diff; rm x", False),
        ("bash:git diff*", "git diff && git diff x", True),
        ("bash:git diff*", "git diff | cat", True),
        ("bash:git diff*", "git diff | tee x", False),
        ("bash:git diff*", "git diff > x", False),
        ("bash:git diff*", "git diff $(rm x)", False),
        ("bash:git diff*", "git diff 'a b'", True),
        ("bash:git diff*", "git 'diff x'", False),
        ("bash:git diff*", "A=1 git diff", False),
        ("bash:git diff*", "git diff --output=x", False),
        ("bash:git diff*", "git  diff  x", True),
        ("bash:git push *", "git push", True),
        ("bash:pytest tests/*", "pytest tests/a.py -q", True),
        ("bash:pytest tests/*", "pytest other", False),
        ("bash:make test", "make test", True),
        ("bash:make test", "make test x", False),
        ("bash:make test > log", "make test > log", True),
        ("bash:ls [*].py", "ls *.py", True),
        ("bash:ls [*].py", "ls a.py b.sh; rm x", False),
        ("bash:*", "anything > x; rm y", True),
        ("bash", "anything > x", True),
        ("git diff*", "git diff x", True),
        ("bash:rg*", "rg --pre cmd x", False),
        ("bash:env*", "env rm x", False),
        ("bash:find*", "find . -delete", False),
        ("bash:npm run test*", "npm run test", True),
        ("bash:npm run test*", "npm run test:unit", False),
    ),
)
def test_a_rule_allows_one_simple_command_of_literal_words(rule: str, line: str, *, allowed: bool) -> None:
    parsed = parse(rule)
    held = (parsed,) if rule != "bash" else (parsed._replace(pattern="*"),)
    assert (allows_line(held, line) is not None) is allowed


@given(st.text(alphabet="ab '\"\\$`;&|<>(){}*?[]~#!=\n-1/.", max_size=40))
def test_reading_a_line_never_fails_and_never_invents(line: str) -> None:
    found = read_command(line)
    seen = segments(line)
    if found is not None:
        assert found.simple == tuple(segment.words for segment in seen)
        assert len(found.joints) == len(found.simple) - 1
        assert not set("`<(){}") & set(line) or any(quote in line for quote in "'\"\\") or "/dev/null" in line
    tuple(views(line))


@given(
    st.lists(st.text(alphabet='abc $`;&|<>(){}*?~#!="\n-/.', min_size=1, max_size=8), min_size=1, max_size=5)
)
def test_quoted_words_come_back_as_they_are(words: list[str]) -> None:
    line = " ".join("'" + word + "'" for word in ["cmd", *words])
    assert read_command(line) == Commands((("cmd", *words),), ())


PIECES = (
    "a",
    "b ",
    " ",
    "'",
    "''",
    '"',
    "\\",
    "$",
    "~",
    "~/",
    "#",
    "!",
    "=",
    "1",
    "2",
    "-",
    "/",
    ".",
    "2>&1",
    " >/dev/null",
    "]",
    "^",
)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=8).map("".join))
def test_a_certain_line_has_the_words_that_bash_gives_it(line: str) -> None:
    found = read_command(line)
    if found is None or len(found.simple) != 1:
        return
    shell = subprocess.run(
        ["bash", "-c", f"exec 9>&1; w() {{ printf '<%s>' \"$@\" >&9; }}; w {line.lstrip()}"],
        capture_output=True,
        check=False,
        text=True,
        stdin=subprocess.DEVNULL,
        env={"HOME": "~", "PATH": "/usr/bin:/bin"},
    )
    if "Bad file descriptor" not in shell.stderr:
        assert shell.stdout == "".join(f"<{word}>" for word in found.simple[0])


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("D=/; rm -rf $D", "removes everything in /"),
        ('D=/; rm -rf "$D"/*', "removes everything in //*"),
        ("H=$HOME; rm -rf ${H}", "removes everything in $HOME"),
        ("x=rm; $x -rf /", "removes everything in /"),
        ("a='-rf /'; rm $a", "removes everything in /"),
        ("for d in /tmp/x /etc; do rm -rf $d; done", "removes everything in /etc"),
        ("export X=/dev/sda && dd if=/dev/zero of=$X", "writes over the disk /dev/sda"),
        ("rm -rf ${D:-/}", "removes everything in /"),
        ("D=/tmp/x; rm -rf ${D:?}/y", None),
        ("D=/tmp/x; rm -rf $D/y", None),
        ("D=build; rm -rf $D/*", None),
        ("rm -rf $D", None),
    ],
)
def test_a_catastrophe_is_seen_behind_a_variable_of_the_line(line: str, found: str | None):
    assert catastrophe(line) == found


@pytest.mark.parametrize(
    "line", ["A='reset --hard'; git $A", "c=clean; git $c -fd", "r=origin; git push --force $r"]
)
def test_work_is_not_thrown_away_behind_a_variable(line: str):
    assert discards(line)
