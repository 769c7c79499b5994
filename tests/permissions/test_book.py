"""Who decides what: modes, rules, scope, secrets, control-plane files, and that a refusal is never overruled."""

import time
from itertools import permutations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_cli.kernel.commands import MODES, Mode
from agent_cli.permissions import book, policies
from agent_cli.permissions.book import judge
from agent_cli.permissions.denylist import catastrophe
from agent_cli.permissions.rules import closed
from agent_cli.permissions.suggest import grant_for, suggestion
from agent_cli.ports import Facts, Proposal, Ruling, Touches
from tests.fakes.pace import slowness
from tests.permissions.calls import CONTROL, ROOT, bash, facts, file, network, read, write

NOTE = Proposal("todo", False, Touches("none", "2 items"))
EVERY = {
    "read": read(f"{ROOT}/a.py"),
    "write": write(f"{ROOT}/a.py"),
    "reading command": bash("git status"),
    "command": bash("make"),
    "network": network("https://example.org/x"),
    "none": NOTE,
}

MODE_TABLE: dict[str, tuple[str, str, str, str, str]] = {
    # what:            ask, acceptEdits, allow, plan, yolo
    "read": ("allow", "allow", "allow", "allow", "allow"),
    "write": ("ask", "allow", "deny", "deny", "allow"),
    "reading command": ("allow", "allow", "allow", "allow", "allow"),
    "command": ("ask", "ask", "deny", "deny", "allow"),
    "network": ("ask", "ask", "deny", "ask", "allow"),
    "none": ("allow", "allow", "allow", "allow", "allow"),
}


@pytest.mark.parametrize("what", MODE_TABLE)
@pytest.mark.parametrize("mode", MODES)
def test_what_a_mode_says_where_no_rule_speaks(what: str, mode: Mode) -> None:
    assert judge(EVERY[what], facts(mode)).verdict == MODE_TABLE[what][MODES.index(mode)]


@pytest.mark.parametrize("what", MODE_TABLE)
@pytest.mark.parametrize("mode", MODES)
def test_where_nobody_is_there_a_question_is_a_refusal_with_a_way_out(what: str, mode: Mode) -> None:
    attended = judge(EVERY[what], facts(mode))
    alone = judge(EVERY[what], facts(mode, attended=False))
    assert alone.verdict == ("deny" if attended.verdict == "ask" else attended.verdict)
    if alone.verdict == "deny" and mode != "plan":
        assert "--" in alone.remedy


def test_the_way_out_names_the_flag() -> None:
    alone = facts(attended=False)
    assert "--permission-mode acceptEdits" in judge(write(f"{ROOT}/a.py"), alone).remedy
    assert "'bash:make'" in judge(bash("make"), alone).remedy
    assert "--yolo" in judge(bash("make"), alone).remedy
    assert "--allow-path /etc/hosts:r" in judge(read("/etc/hosts"), alone).remedy
    assert "--allow-path /srv/x:rw" in judge(write("/srv/x"), alone).remedy


# ── scope ──

SCOPE = (
    (read(f"{ROOT}/src/a.py"), "allow"),
    (read(ROOT), "allow"),
    (read("/srv/project2/a.py"), "ask"),
    (read("/srv"), "ask"),
    (read("/"), "ask"),
    (read("/etc/hosts"), "ask"),
    (read("/srv/docs/a.md"), "allow"),
    (write("/srv/docs/a.md"), "ask"),
    (bash("cat /etc/hosts", "/etc/hosts"), "ask"),
    (bash("cat a.py", f"{ROOT}/a.py"), "allow"),
    (bash("cat a.py 2>/dev/null", f"{ROOT}/a.py", "/dev/null"), "allow"),
    (bash("ls /srv/docs", "/srv/docs"), "allow"),
)


@pytest.mark.parametrize(("proposal", "verdict"), SCOPE)
def test_outside_the_roots_is_asked(proposal: Proposal, verdict: str) -> None:
    assert judge(proposal, facts()).verdict == verdict


def test_accept_edits_accepts_inside_only() -> None:
    assert judge(write(f"{ROOT}/a"), facts("acceptEdits")).verdict == "allow"
    assert judge(write("/srv/a"), facts("acceptEdits")).verdict == "ask"
    assert judge(write("/srv/docs/a"), facts("acceptEdits", attended=False)).verdict == "deny"


def test_the_innermost_root_decides() -> None:
    nested = Facts("acceptEdits", True, ((ROOT, "rw"), (f"{ROOT}/vendor", "r")))
    assert judge(write(f"{ROOT}/vendor/a"), nested).verdict == "ask"
    assert judge(write(f"{ROOT}/vendored"), nested).verdict == "allow"


def test_a_path_that_cannot_be_resolved_is_outside() -> None:
    loop = Proposal("read_file", True, Touches("read", "loop", unresolved="links in a circle"))
    assert judge(loop, facts()).verdict == "ask"
    assert "circle" in judge(loop, facts(attended=False)).reason
    assert judge(loop, facts("allow", allow=("read_file:*",))).verdict == "deny"
    assert judge(loop, facts("yolo")).verdict == "allow"


def test_yolo_passes_the_scope_and_a_tool_wide_grant_does_not() -> None:
    assert judge(write("/srv/a"), facts("yolo")).verdict == "allow"
    assert judge(write("/srv/a"), facts(grants=("write_file:*",))).verdict == "ask"
    assert judge(read("/etc/hosts"), facts(allow=("read_file:*", "*", "**", "/**"))).verdict == "ask"
    assert judge(bash("cat /etc/hosts", "/etc/hosts"), facts(grants=("bash:cat*",))).verdict == "ask"


def test_a_rule_that_names_the_place_passes_the_scope() -> None:
    assert judge(read("/etc/hosts"), facts(allow=("read_file:/etc/hosts",))).verdict == "allow"
    assert judge(read("/etc/ssl/x"), facts("allow", allow=("read_file:/etc/ssl/*",))).verdict == "allow"
    assert (
        judge(write("/srv/site/x"), facts(attended=False, allow=("write_file:/srv/site/**",))).verdict
        == "allow"
    )
    assert judge(read("/srv/site/x"), facts(allow=("write_file:/srv/site/**",))).verdict == "ask"
    exact = facts(grants=("bash:cat /etc/hosts",))
    assert judge(bash("cat /etc/hosts", "/etc/hosts"), exact).verdict == "allow"


# ── secrets ──

SECRET = (
    ".env", ".env.local", "prod.env", "id_rsa", "deploy_ed25519", "server.pem", "tls.key", "credentials", "credentials.json",
    "aws_credentials", "secrets.yaml", ".netrc", ".npmrc", ".pypirc", ".git-credentials", "service-account.json",
    "client_secret_12.json", ".ssh/config", ".aws/config", ".kube/config", "terraform.tfstate", "terraform.tfvars",
    ".ENV", "ID_RSA", ".docker/config.json", ".bash_history", ".envrc", "store.kdbx",
)  # fmt: skip
PLAIN = (
    ".env.example", ".env.sample", "env.py", "environment.yml", "id_rsa.pub", "credentials.py", "secrets.py", "secret_test.go",
    "keys.md", "keyboard.ts", ".gitignore", "config.json", "package.json", "deploy_ed25519.pub", "history.md", "token.py",
)  # fmt: skip


@pytest.mark.parametrize("name", SECRET)
def test_what_looks_secret_is_asked_for_reading_too(name: str) -> None:
    path = f"{ROOT}/{name}"
    assert judge(read(path), facts()).rule == "secret-path"
    assert judge(write(path), facts("acceptEdits")).verdict == "ask"
    assert judge(bash(f"cat {name}", path), facts()).verdict == "ask"
    assert judge(read(path), facts(attended=False)).verdict == "deny"
    assert judge(read(path), facts("allow", allow=("read_file:*",))).verdict == "deny"
    assert judge(read(path), facts("yolo")).verdict == "allow"


@pytest.mark.parametrize("name", PLAIN)
def test_what_does_not_look_secret_is_read(name: str) -> None:
    assert judge(read(f"{ROOT}/{name}"), facts()).verdict == "allow"


def test_only_a_rule_that_spells_out_the_secret_passes() -> None:
    path = f"{ROOT}/.env"
    assert judge(read(path), facts(grants=("read_file:*",))).verdict == "ask"
    assert judge(read(path), facts(grants=(f"read_file:{ROOT}/**",))).verdict == "ask"
    assert judge(read(path), facts(allow=("read_file:.env",))).verdict == "allow"
    assert judge(read(path), facts(grants=(f"read_file:{path}",))).verdict == "allow"
    assert judge(bash("cat .env", path), facts(grants=("bash:cat*",))).verdict == "ask"
    assert judge(bash("cat .env", path), facts(grants=("bash:cat .env",))).verdict == "allow"


# ── control-plane files ──


def test_a_place_that_was_made_for_an_agent_holds_no_control_files_because_of_where_it_lies() -> None:
    place = "/home/u/.agents/worktrees/s/maker-1"
    inside = Facts(
        "yolo", True, ((place, "rw"), (ROOT, "r")), control=("/home/u/.agents",), workplaces=(place,)
    )
    assert judge(write(f"{place}/a.py"), inside).verdict == "allow"
    assert judge(write("/home/u/.agents/config.json"), inside).rule == "control-plane"
    assert judge(write(f"{place}/.agents/config.json"), inside).rule == "control-plane"
    assert judge(write(f"{place}/.git/hooks/pre-commit"), inside).rule == "control-plane"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("control", CONTROL)
def test_a_control_file_needs_its_own_answer_in_every_mode(mode: Mode, control: str) -> None:
    generous = ("write_file:*", "bash:*", "*", f"write_file:{control}", f"bash:rm {control}")
    for proposal in (write(control), bash(f"rm {control}", control)):
        ruling = judge(proposal, facts(mode, allow=generous, grants=generous))
        assert (ruling.verdict, ruling.rule) == (
            ("deny", "plan-mode") if mode == "plan" else ("ask", "control-plane")
        )
        assert judge(proposal, facts(mode, attended=False, allow=generous, grants=generous)).verdict == "deny"
    for spelled in (write(f"{control}/x"), write(f"{ROOT}/.GIT/Config")):
        assert judge(spelled, facts(mode, allow=generous, grants=generous)).verdict != "allow"


@pytest.mark.parametrize(
    "proposal",
    (
        bash("echo x > .git/config"),
        bash("python -c \"open('.git/config', 'w')\""),
        bash(f"cat x > {ROOT}/.agents/config.toml"),
        bash("mv .agents old", writes=(f"{ROOT}/.agents",)),
        bash("rm -r .git", writes=(f"{ROOT}/.git",)),
        bash("sed -i x .GIT/CONFIG", f"{ROOT}/.GIT/CONFIG"),
    ),
)
def test_commands_that_reach_a_control_file_are_asked_in_yolo(proposal: Proposal) -> None:
    assert judge(proposal, facts("yolo")).rule == "control-plane"


def test_a_program_that_tools_may_write_is_no_program_that_only_reads() -> None:
    """`ruff --version` of a virtual environment in the project runs what an edit put there."""
    for path, mode, rule in (
        (f"{ROOT}/.venv/bin/ruff", "acceptEdits", "mode: acceptEdits"),
        (f"{ROOT}/.venv/bin/ruff", "plan", "plan-mode"),
        ("/usr/bin/ruff", "acceptEdits", "read-bundle"),
        ("/srv/docs/bin/ruff", "plan", "read-bundle"),
    ):
        touches = msgspec.structs.replace(bash("ruff --version").touches, programs=(("ruff", path),))
        assert judge(Proposal("bash", False, touches), facts(mode)).rule == rule
    named = msgspec.structs.replace(bash("ruff --version").touches, programs=(("ruff", f"{ROOT}/ruff"),))
    ruled = judge(Proposal("bash", False, named), facts(allow=("bash:ruff*",)))
    assert ruled.rule == "allow: bash:ruff*", "a rule of the operator's means it"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "line",
    (
        "agent-cli config set permissions.mode yolo", "agent-cli --trust -p x", "cd a && agent-cli kill-switch off", "sudo agent-cli guardrails reset x",
        "python -m agent_cli config set a b", "bash -c 'agent-cli kill-switch off'", "agent-cli --config x config set a b", "agent-cli pool set team --usd 900",
    ),
)  # fmt: skip
def test_this_program_does_not_loosen_itself_through_a_shell(mode: Mode, line: str) -> None:
    ruling = judge(bash(line), facts(mode, allow=("bash:*", f"bash:{line}"), grants=("*",)))
    assert (ruling.verdict, ruling.rule) == (
        ("deny", "plan-mode") if mode == "plan" else ("ask", "control-plane")
    )
    assert judge(bash(line), facts(mode, attended=False, allow=("bash:*",))).verdict == "deny"


@pytest.mark.parametrize(
    "line",
    (
        "agent-cli -p 'config set x'",
        "agent-cli sessions list",
        "echo agent-cli config set",
        "agent-cli -p x --yolo",
    ),
)
def test_other_commands_of_it_are_commands(line: str) -> None:
    assert judge(bash(line), facts("yolo")).verdict == "allow"


def test_reading_a_control_file_is_reading() -> None:
    assert judge(read(f"{ROOT}/.git/config"), facts()).verdict == "allow"
    assert judge(bash("cat .git/config", f"{ROOT}/.git/config"), facts("yolo")).rule == "read-bundle"
    for name in (
        ".github/x",
        ".git/index.lock",
        ".git/COMMIT_EDITMSG",
        "sub/.git/info/exclude",
        ".gitignore",
        "x.git/y",
    ):
        assert judge(write(f"{ROOT}/{name}"), facts("acceptEdits")).verdict == "allow", name
    walk = bash("find . -not -path './.git/*' | xargs wc -l", f"{ROOT}/.git/*")
    assert judge(walk, facts("yolo")).verdict == "allow"
    assert judge(bash("touch .", writes=(ROOT,)), facts("yolo")).verdict == "allow"


# ── deny rules ──

DENIED = (
    ("read_file:.env", read(f"{ROOT}/.env")),
    ("secrets/", read(f"{ROOT}/secrets/a/b.txt")),
    ("secrets", read(f"{ROOT}/deep/secrets/b.txt")),
    ("src/gen/**", write(f"{ROOT}/src/gen/a/b.py")),
    ("src/gen/*", read(f"{ROOT}/src/gen/a/b.py")),
    (f"{ROOT}/src", read(f"{ROOT}/src/a")),
    ("**/*.sql", read(f"{ROOT}/db/a.sql")),
    ("*.sql", read(f"{ROOT}/db/A.SQL")),
    ("*.sql", bash("cat db/a.sql", f"{ROOT}/db/a.sql")),
    ("read_file", read(f"{ROOT}/a")),
    ("*", NOTE),
    ("bash", bash("ls")),
    ("bash:git push", bash("git push origin main")),
    ("bash:git push*", bash("ls && git push")),
    ("bash:git push*", bash("git -c a=b push")),
    ("bash:git push*", bash("git -C x push --force")),
    ("bash:git push*", bash("echo $(git push)")),
    ("bash:curl *", bash("curl")),
    ("bash:curl*", bash("sudo -E curl x | sh")),
    ("bash:curl*", bash("cat <<EOF | bash\ncurl x\nEOF")),
    ("bash:rm*", bash("bash -c 'rm x'")),
    ("fetch_url:https://example.org/*", network("https://example.org/x")),
    ("fetch_*:*", network("https://example.org/x")),
)
GENEROUS = ("*", "**", "bash:*", "read_file:*", "write_file:*", "fetch_url:*", "todo:*", f"{ROOT}/**")


@pytest.mark.parametrize(("rule", "proposal"), DENIED)
@pytest.mark.parametrize("mode", MODES)
def test_a_deny_rule_holds_in_every_mode_and_against_every_permission(
    rule: str, proposal: Proposal, mode: Mode
) -> None:
    ruling = judge(proposal, facts(mode, allow=GENEROUS, grants=GENEROUS, deny=("unrelated:x", rule)))
    assert ruling.verdict == "deny"
    assert ruling.rule == f"deny: {rule}"


@pytest.mark.parametrize(
    ("rule", "proposal"),
    (
        ("write_file:*.py", read(f"{ROOT}/a.py")),
        ("bash:rm*", bash("echo 'rm x'")),
        ("bash:git push*", bash("git status")),
        ("secrets/", read(f"{ROOT}/secrets2/a")),
        ("src/gen/**", read(f"{ROOT}/other/src/gen/a")),
    ),
)
def test_a_deny_rule_does_not_reach_further(rule: str, proposal: Proposal) -> None:
    assert judge(proposal, facts("yolo", deny=(rule,))).verdict == "allow"


def test_what_a_deny_rule_closes_for_walks() -> None:
    closes = closed(
        ("*.sql", "read_file:private/", "grep:gen/**", "write_file:*.py", "bash:rm*"), ((ROOT, "rw"),)
    )
    for path in (f"{ROOT}/a.sql", f"{ROOT}/private/x/y", f"{ROOT}/gen/a"):
        assert closes(path)
    for path in (f"{ROOT}/a.py", f"{ROOT}/src/a", f"{ROOT}/rm x"):
        assert not closes(path)


def test_a_deny_rule_beats_the_question_of_a_control_file() -> None:
    ruling = judge(write(f"{ROOT}/.git/config"), facts(deny=("write_file:.git/**",)))
    assert ruling == Ruling("deny", "deny: write_file:.git/**", ruling.reason)


GLOBS = st.sampled_from(
    (
        "*",
        "bash:*",
        "bash:git*",
        "bash:git push*",
        "read_file:*",
        "src/**",
        "*.py",
        f"{ROOT}/**",
        ".env",
        "bash",
    )
)
CALLS = st.sampled_from((
    bash("git push"), bash("git push | cat"), bash("ls; git push > x"), bash("cat src/a.py", f"{ROOT}/src/a.py"),
    read(f"{ROOT}/src/a.py"), write(f"{ROOT}/src/a.py"), read("/etc/hosts"), read(f"{ROOT}/.env"), NOTE, write(CONTROL[0]),
))  # fmt: skip


@given(
    CALLS,
    st.lists(GLOBS, max_size=5),
    st.lists(GLOBS, max_size=5),
    st.lists(GLOBS, min_size=1, max_size=5),
    st.sampled_from(MODES),
    st.booleans(),
)
def test_no_rules_no_order_and_no_mode_overrule_a_deny_rule(
    proposal: Proposal, allow: list[str], grants: list[str], deny: list[str], mode: Mode, attended: bool
) -> None:
    given_facts = facts(mode, attended=attended, allow=tuple(allow), grants=tuple(grants), deny=tuple(deny))
    forbidden = policies.deny_rules(proposal, given_facts)
    if forbidden is not None:
        for order in permutations(deny[:4]):
            turned = facts(
                mode, attended=attended, allow=tuple(allow), grants=tuple(grants), deny=(*order, *deny[4:])
            )
            assert judge(proposal, turned).verdict == "deny"
    more = judge(proposal, given_facts)
    fewer = judge(proposal, facts(mode, attended=attended, allow=tuple(allow), grants=tuple(grants)))
    rank = ("deny", "ask", "allow")
    assert rank.index(more.verdict) <= rank.index(fewer.verdict)


# ── the hard denylist ──

CATASTROPHES = (
    "rm -rf /", "rm -fr /", "rm -r -f /*", "rm -rf ~", "rm -rf ~/", "rm -rf $HOME", 'rm -rf "$HOME"', "rm -rf ${HOME}/*",
    "sudo rm -rf /", "rm --recursive --force /", "rm -rf --no-preserve-root /", "rm -rf /etc", "rm -rf /usr/*", "rm -rf /home/u",
    "ls && rm -rf /", "bash -c 'rm -rf /'", "echo $(rm -rf /)", "cd / && rm -rf *", "cd ~; rm -rf .", "/bin/rm -rf /", "rm -Rf //",
    "env X=1 rm -rf / > /dev/null", "mkfs.ext4 /dev/sda1", "mkfs /dev/sdb", "dd if=/dev/zero of=/dev/sda", "cat x > /dev/nvme0n1",
    "wipefs -a /dev/sda", "shred /dev/sda", "find / -delete", ":(){ :|:& };:", "b() { b | b & }; b", "shutdown -h now", "sudo reboot",
    "poweroff", "systemctl poweroff", "init 0", "chmod -R 777 /", "chown -R u /", "kill -9 -1", "bash <<EOF\nrm -rf /\nEOF",
)  # fmt: skip
HARMLESS = (
    "rm -rf build", "rm -rf ./build", "rm -rf ~/x/build", "rm -rf /tmp/x", "rm /tmp/a", "echo 'rm -rf /'", "git commit -m 'rm -rf /'",
    "grep reboot log", "man shutdown", "command -v reboot", "find . -delete", "find / -name x", "chmod -R 755 .", "dd if=a of=b",
    "cat > x <<EOF\nrm -rf /\nEOF", "ls /", "mkfs.ext4 disk.img", "kill -1 123", "kill -9 123", "find . -name shutdown", "fdisk -l /dev/sda",
    "npm run shutdown", "cd /tmp && rm -rf *",
)  # fmt: skip


@pytest.mark.parametrize("line", CATASTROPHES)
def test_a_catastrophe_is_refused_in_yolo_whatever_the_rules_say(line: str) -> None:
    ruling = judge(bash(line), facts("yolo", allow=("bash:*", f"bash:{line}"), grants=("*",)))
    assert (ruling.verdict, ruling.rule) == ("deny", "denylist")


@pytest.mark.parametrize("line", HARMLESS)
def test_what_only_looks_like_one_is_not(line: str) -> None:
    assert judge(bash(line), facts("yolo")).verdict == "allow"


# ── rules, grants, the book ──


def test_every_ruling_says_which_rule_made_it() -> None:
    assert judge(bash("git push"), facts(allow=("bash:git push*",))).rule == "allow: bash:git push*"
    assert (
        judge(bash("git push | cat"), facts(grants=("bash:git push*",))).rule
        == "grant: bash:git push*, read-bundle"
    )
    assert judge(bash("ls"), facts()).rule == "read-bundle"
    assert judge(bash("make"), facts()).rule == "mode: ask"


def test_allow_rules_for_files_are_read_narrowly() -> None:
    assert judge(write(f"{ROOT}/src/a"), facts(allow=("write_file:src/*",))).verdict == "allow"
    assert judge(write(f"{ROOT}/src/b/a"), facts(allow=("write_file:src/*",))).verdict == "ask"
    assert judge(write(f"{ROOT}/src/b/a"), facts(allow=("write_file:src/**",))).verdict == "allow"
    assert judge(write(f"{ROOT}/src/b/a"), facts(allow=("write_file:src/",))).verdict == "allow"
    assert judge(write(f"{ROOT}/x/a.md"), facts(allow=("write_file:*.md",))).verdict == "allow"
    assert judge(write(f"{ROOT}/SRC/a"), facts(allow=("write_file:src/*",))).verdict == "ask"
    assert judge(write(f"{ROOT}/a.ts"), facts(allow=("write_file:*.{ts,tsx}",))).verdict == "allow"


def test_a_policy_that_raises_counts_as_deny(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(proposal: Proposal, facts: Facts) -> Ruling | None:
        raise RuntimeError("no")

    for gates, permits in ((book.GATES, (broken, *book.PERMITS)), ((broken, *book.GATES), book.PERMITS)):
        monkeypatch.setattr(book, "GATES", gates)
        monkeypatch.setattr(book, "PERMITS", permits)
        ruling = judge(bash("make"), facts("yolo", grants=("*",)))
        assert (ruling.verdict, ruling.rule) == ("deny", "failed: broken")


def test_a_refusal_outranks_an_earlier_question() -> None:
    assert judge(write(CONTROL[0]), facts("plan")).rule == "plan-mode"


@pytest.mark.parametrize(
    ("proposal", "rule"),
    (
        (bash("git diff HEAD~1"), "bash:git diff*"),
        (bash("npm test"), "bash:npm test*"),
        (bash("npm run build"), "bash:npm run build*"),
        (bash("uv run pytest -q"), "bash:uv run pytest*"),
        (bash("pytest tests/x -q"), "bash:pytest*"),
        (bash("git push origin"), "bash:git push origin"),
        (bash("rm -rf build"), "bash:rm -rf build"),
        (bash("python x.py"), "bash:python x.py"),
        (bash("ls *.py"), "bash:ls [*].py"),
        (bash("a && b"), "bash:a && b"),
        (bash("cat /etc/hosts"), "bash:cat /etc/hosts"),
        (bash("cat .env"), "bash:cat .env"),
        (bash("sudo ls"), "bash:sudo ls"),
        (write(f"{ROOT}/a[1].py"), f"write_file:{ROOT}/a[[]1].py"),
        (network("https://example.org/?q=1"), "fetch_url:https://example.org/[?]q=1"),
    ),
)
def test_the_suggested_rule_is_narrow(proposal: Proposal, rule: str) -> None:
    assert suggestion(proposal) == rule


ASKED = (
    bash("make"), bash("ls *.py > x"), bash("git push"), bash("echo '[' ]* {a,b}"), bash("cat /etc/hosts", "/etc/hosts"),
    bash("cat .env", f"{ROOT}/.env"), write(f"{ROOT}/a*[x]{{y}}.py"), read("/etc/hosts"), read(f"{ROOT}/.env"), network("https://e.org/?q=*"),
    bash("multi\nline"), write("/srv/{a}/b?c"),
)  # fmt: skip


@pytest.mark.parametrize("proposal", ASKED)
@pytest.mark.parametrize("scope", ("call", "always"))
def test_an_approval_for_the_call_covers_the_same_call(proposal: Proposal, scope: str) -> None:
    assert judge(proposal, facts()).verdict == "ask"
    grant = grant_for(proposal, scope)
    assert judge(proposal, facts(grants=(grant,))).verdict == "allow"
    assert judge(proposal, facts(attended=False, allow=(grant,))).verdict == "allow"
    assert judge(bash("other"), facts(grants=(grant,))).verdict == "ask"


def test_a_grant_for_the_tool_is_every_call_inside_the_scope() -> None:
    assert grant_for(bash("make"), "tool") == "bash:*"
    assert judge(bash("x > y; $(z)"), facts(grants=("bash:*",))).verdict == "allow"
    assert judge(write(f"{ROOT}/a"), facts(grants=("bash:*",))).verdict == "ask"
    assert grant_for(bash("make"), "once") == ""


@pytest.mark.parametrize("word", ["x" * 1_000_000, "x() {" * 100_000, ":" * 200_000, "a b " * 100_000])
def test_a_long_command_is_judged_at_once(word: str) -> None:
    """Quadratic in the length of a word, this took minutes: the screen stood still, signals too."""
    begun = time.process_time()
    assert catastrophe(f"echo {word}") is None
    assert time.process_time() - begun < 5 * slowness()


@pytest.mark.parametrize(
    "name",
    [
        "sub/.agents/config.json",
        "sub/.AGENTS/Config.toml",
        "a/b/.agents/hooks/x.py",
        "a/b/.claude/agents/x.md",
        "vendor/lib/.git/hooks/post-checkout",
        "vendor/lib/.git/config",
        "vendor/lib/.git",
        ".git/commondir",
        ".git/modules/lib/config",
        "a/.GIT/worktrees/b/config.worktree",
    ],
)
@pytest.mark.parametrize("mode", MODES)
def test_the_control_plane_of_a_directory_below_is_closed_too(name: str, mode: Mode) -> None:
    """A run that starts in that directory later would take its rules from there."""
    for proposal in (write(f"{ROOT}/{name}"), bash("x", writes=(f"{ROOT}/{name}",))):
        assert judge(proposal, facts(mode, allow=("*",))).verdict != "allow"
    assert judge(write(f"{ROOT}/sub/.agents/notes.md"), facts("acceptEdits")).verdict == "allow"


@pytest.mark.parametrize("mode", MODES)
def test_what_may_not_be_read_with_a_tool_may_not_be_with_a_shell(mode: Mode) -> None:
    """`cat` is in the read bundle: without this it would print what read_file refuses."""
    denied = facts(mode, deny=("read_file:secret/*", "write_file:kept/*", "edit_file:*"), allow=("bash:*",))
    for path, access, verdict in (
        ("secret/a", "r", "deny"),
        ("secret/deep/a", "w", "deny"),
        ("kept/a", "w", "deny"),
        ("kept/a", "r", "allow"),
        ("other", "r", "allow"),
        ("secret", "r", "deny"),
        ("kept", "w", "deny"),
        ("kept", "r", "allow"),
        ("secretly", "r", "allow"),
    ):
        name = f"{ROOT}/{path}"
        uses = {"writes": (name,)} if access == "w" else {}
        asked = bash(f"cat {path}", *([name] if access == "r" else []), **uses)
        assert judge(asked, denied).verdict == verdict, path


@pytest.mark.parametrize(
    "line",
    [
        "git<<<x push",
        "git <<< x push",
        "git <<<$(date) push",
        "bash <<< 'git push'",
        "function f { git push; }; f",
    ],
)
def test_neither_a_here_string_nor_a_function_hides_words(line: str) -> None:
    assert judge(bash(line), facts("yolo", deny=("bash:git push*",))).verdict == "deny"


# ── a plan before any change ──

WAITS = (
    (write(f"{ROOT}/a"), True),
    (bash("make"), True),
    (bash("git status && ls"), False),
    (read(f"{ROOT}/a"), False),
    (NOTE, False),
    (network("https://example.org"), True),
    (Proposal("spawn_agent", False, Touches("none", "x")), True),
    (Proposal("mcp__server__list", True, Touches("none", "x")), True),
    (Proposal("record_plan", False, Touches("none", "x")), False),
)


@pytest.mark.parametrize(("proposal", "waits"), WAITS)
@pytest.mark.parametrize("mode", MODES)
def test_what_waits_for_a_plan(proposal: Proposal, waits: bool, mode: Mode) -> None:
    waiting = facts(mode, allow=("*",), grants=("*",))
    ruling = judge(proposal, msgspec.structs.replace(waiting, needs_plan="no plan yet"))
    assert (ruling.rule in ("plan-gate", "plan-mode")) == waits
    if waits:
        assert ruling.verdict == "deny"


@pytest.mark.parametrize(("tools", "there"), [(("bash", "record_plan"), True), (("bash",), False)])
def test_nobody_is_sent_to_a_tool_that_is_not_there(tools: tuple[str, ...], there: bool) -> None:
    given = msgspec.structs.replace(facts("allow"), needs_plan="no plan yet", tools=frozenset(tools))
    assert ("record_plan" in judge(bash("make"), given).remedy) == there


def test_for_a_line_that_names_a_secret_only_the_line_itself_is_worth_keeping() -> None:
    """A wider rule would not let it through."""
    for line in ("rg --file=.env x", "git diff notes.txt"):
        proposal = bash(line, f"{ROOT}/.env")
        assert suggestion(proposal) == f"bash:{line}"
        assert judge(proposal, facts(allow=(suggestion(proposal),))).verdict == "allow"


@pytest.mark.parametrize("mode", MODES)
def test_what_one_tool_for_files_may_not_touch_no_other_one_may(mode: Mode) -> None:
    denied = facts(mode, deny=("read_file:secret/**", "write_file:kept/**", "apply_patch:*"), allow=("*",))
    for tool in ("read_file", "json_query", "read_many_files", "stat", "list_dir"):
        assert judge(file(tool, f"{ROOT}/secret/a"), denied).verdict == "deny"
        assert judge(file(tool, f"{ROOT}/kept/a"), denied).verdict == "allow"
    for tool in ("write_file", "edit_file", "delete_file"):
        assert judge(file(tool, f"{ROOT}/kept/a", "w"), denied).verdict == "deny"
        assert judge(file(tool, f"{ROOT}/secret/a", "w"), denied).verdict == "deny", "it would show it"
    if mode != "plan":
        assert judge(write(f"{ROOT}/other"), denied).verdict == "allow", (
            "the rule for all files is for its tool"
        )


def test_a_command_of_which_nobody_knows_what_it_touches_may_touch_what_is_closed() -> None:
    untold = Proposal("bash", False, Touches("execute", "cat …", (), "cat …", unresolved="too many paths"))
    assert judge(untold, facts("yolo", deny=("read_file:secret/**",))).verdict == "deny"
    assert judge(untold, facts("yolo", deny=("bash:rm*", "read_file:*"))).verdict == "allow"


def served(tool: str = "mcp__git__log", *, read_only: bool = False, host: str = "") -> Proposal:
    return Proposal(tool, read_only, Touches("network", '{"n": 1}', hosts=(host,) if host else ()))


@pytest.mark.parametrize(
    ("rule", "verdict"),
    [
        ("mcp__git__log", "allow"), ("mcp__git__*", "allow"), ("mcp__git", "allow"), ("mcp__git__log:*", "allow"),
        ("mcp__*", "allow"), ("mcp__gi", "ask"), ("mcp__git__push", "ask"), ("mcp__other__*", "ask"),
    ],
)  # fmt: skip
def test_rules_for_tools_of_servers(rule: str, verdict: str) -> None:
    assert judge(served(), facts(allow=(rule,))).verdict == verdict
    denied = judge(served(), facts("yolo", deny=(rule,))).verdict
    assert denied == ("deny" if verdict == "allow" else "allow")


def test_a_server_is_taken_at_its_word_only_where_the_operator_says_so() -> None:
    assert judge(served(), facts()).verdict == "ask"
    assert judge(served(read_only=True), facts()).verdict == "allow"
    assert judge(served(), facts("plan")).verdict == "deny"
    assert judge(served(read_only=True), facts(deny=("mcp__git",))).verdict == "deny"
    assert judge(served(host="evil.org"), facts("yolo", url_deny=("evil.org",))).verdict == "deny"


def test_what_an_approval_of_a_served_tool_leaves_behind() -> None:
    assert grant_for(served(), "always") == "mcp__git__log:*"
    once = grant_for(served(), "call")
    assert judge(served(), facts(grants=(once,))).verdict == "allow"
    other = Proposal("mcp__git__log", False, Touches("network", '{"n": 2}'))
    assert judge(other, facts(grants=(once,))).verdict == "ask"


def test_the_servers_of_other_agents_are_control_plane_files_too() -> None:
    assert judge(write(f"{ROOT}/.mcp.json"), facts("yolo")).rule == "control-plane"
