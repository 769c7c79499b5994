"""What a file is, by its first bytes."""

from __future__ import annotations

from agent_cli.kernel.pictures import PDF, image_kind

_OTHERS = (
    (b"PK\x03\x04", "zip archive (also jar, docx, xlsx, whl)"),
    (b"\x1f\x8b", "gzip data"),
    (b"BZh", "bzip2 data"),
    (b"\xfd7zXZ\x00", "xz data"),
    (b"\x28\xb5\x2f\xfd", "zstd data"),
    (b"7z\xbc\xaf\x27\x1c", "7-zip archive"),
    (b"\x7fELF", "ELF program or library"),
    (b"\xcf\xfa\xed\xfe", "Mach-O program or library"),
    (b"MZ", "Windows program or library"),
    (b"SQLite format 3\x00", "SQLite database"),
    (b"\x00asm", "WebAssembly module"),
    (b"\xca\xfe\xba\xbe", "Java class or Mach-O universal file"),
    (b"OggS", "Ogg media"),
    (b"ID3", "MP3 audio"),
    (b"GGUF", "GGUF model weights"),
)


def binary_kind(head: bytes) -> str:
    """A name for what is no text."""
    if picture := image_kind(head):
        return picture.name
    if head.startswith(b"%PDF-"):
        return PDF.name
    return next((name for magic, name in _OTHERS if head.startswith(magic)), "binary data")
