"""What source files define."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agent_cli.compose.files import files_below, symbols_below
from agent_cli.talk.door import Symbol
from agent_cli.tools import outline
from agent_cli.tools.outline import known, names

PYTHON = "class Parser:\n    async def read(self):\n        pass\n\ndef load(path: str) -> int:\n    return undef(1)\n"
SCRIPT = """\
export default async function load(path) {}
export class Parser extends Base {
  private async read(line: string): Promise<void> {
    if (line) {
    }
  }
}
const add = (a: number, b: number): number => a + b
export interface Shape {}
type Id = string
let x = 3
"""
GO = "func main() {\n}\nfunc (p *Parser) Read(line string) error {\n}\ntype Parser struct {\n}\n\tfunc() {}()\n"
RUST = "pub(crate) async unsafe fn load<T>(x: T) {}\nimpl Parser {\n    fn read(&self) {}\n}\npub struct Parser;\nenum E {}\n"
JAVA = """\
public final class Parser {
    private static final int X = f(3);
    public List<String> read(String line) throws IOException {
        return load(line);
    }
}
interface Shape {}
"""
C = """\
#define LIMIT 3
static int *load(const char *path)
{
    return free(path);
}
struct parser {
    int at;
};
int forward(void);
std::string Parser::read(int line) const {
"""


@pytest.mark.parametrize(
    ("path", "text", "found"),
    [
        ("a.py", PYTHON, [(1, "Parser"), (2, "read"), (5, "load")]),
        ("a.ts", SCRIPT, [(1, "load"), (2, "Parser"), (3, "read"), (8, "add"), (9, "Shape"), (10, "Id")]),
        ("a.go", GO, [(1, "main"), (3, "Read"), (5, "Parser")]),
        ("a.rs", RUST, [(1, "load"), (3, "read"), (5, "Parser"), (6, "E")]),
        ("A.java", JAVA, [(1, "Parser"), (3, "read"), (7, "Shape")]),
        ("a.CPP", C, [(1, "LIMIT"), (2, "load"), (6, "parser"), (10, "Parser::read")]),
        ("a.rb", "module A\n  def self.go!\n  end\nend\n", [(1, "A"), (2, "self.go!")]),
        ("a.php", "<?php\nabstract class A {\n  public static function go() {\n", [(2, "A"), (3, "go")]),
        ("a.kt", "fun <T> load(x: T) {}\ndata class A(val x: Int)\n", [(1, "load"), (2, "A")]),
        ("a.sh", "load() {\n}\nfunction go {\n", [(1, "load"), (3, "go")]),
    ],
)
def test_what_a_file_defines(path: str, text: str, found: list[tuple[int, str]]):
    assert known(path)
    assert list(names(path, text)) == found


@pytest.mark.parametrize("line", ["  a(" + ")" * 40_000, "\tpublic " + "a " * 40_000])
@pytest.mark.parametrize("suffix", [".ts", ".java"])
def test_lines_that_nobody_wrote_are_passed_over(line: str, suffix: str):
    begun = time.perf_counter()
    assert list(names(f"a{suffix}", f"class A {{\n{line}\nclass B {{\n")) == [(1, "A"), (3, "B")]
    assert time.perf_counter() - begun < 0.2


@pytest.mark.skipif(os.name != "posix", reason="needs named pipes")
def test_a_pipe_under_the_name_of_a_source_is_not_waited_for(tmp_path: Path):
    (tmp_path / "a.py").write_text("def first(): pass\n")
    os.mkfifo(tmp_path / "b.py")
    (tmp_path / "c.py").symlink_to("b.py")
    (tmp_path / "d.py").write_text("def last(): pass\n")
    done = subprocess.run(
        [sys.executable, "-I", "-S", outline.__file__],
        cwd=tmp_path, input=b"a.py\0b.py\0c.py\0d.py", capture_output=True, timeout=20, check=True,
    )  # fmt: skip
    assert done.stdout == b"a.py\t1\tfirst\nd.py\t1\tlast\n"


@pytest.mark.skipif(os.name != "posix", reason="elsewhere every name is text")
def test_a_file_is_not_offered_by_a_name_that_no_message_can_hold(tmp_path: Path):
    for name in (b"caf\xe9.py", b"plain.py", b"two\nlines.py"):
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)).write_text("def f(): pass\n", "utf-8")
    assert files_below(tmp_path) == ["plain.py"]
    assert symbols_below(tmp_path) == [Symbol("f", "plain.py", 1)]


@pytest.mark.parametrize("suffix", sorted(outline.LANGUAGES))
def test_no_line_however_odd_takes_long(suffix: str):
    """A name that is not there is found to be missing in one go over the line."""
    begun = time.thread_time()
    for line in (
        "a " * 20_000,
        "a" * 40_000,
        "  public " * 5_000,
        "  f(" * 10_000,
        "const a " + ("(" * 20_000),
    ):
        list(names(f"a{suffix}", f"{line}\n"))
    assert time.thread_time() - begun < 2.0


def test_the_sources_of_a_directory_are_read_by_a_program_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    (tmp_path / ".gitignore").write_text("build/\n")
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "b.py").write_text("def hidden(): pass\n")
    (tmp_path / "a b.py").write_text(PYTHON)
    (tmp_path / "big.py").write_text("def big(): pass\n" * 40_000)
    (tmp_path / "one.js").write_text("function f(){};" * 1_000)
    (tmp_path / "notes.md").write_text("def notes(): pass\n")
    assert symbols_below(tmp_path) == [
        Symbol("Parser", "a b.py", 1), Symbol("read", "a b.py", 2), Symbol("load", "a b.py", 5),
    ]  # fmt: skip
