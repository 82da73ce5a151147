# Checks a ledger with sigstore's client for Rekor (notes, checkpoints, inclusion) and cryptography (Ed25519).
import base64
import hashlib
import pathlib
import sys

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from sigstore._internal.merkle import _chain_border_right, _chain_inner, _decomp_inclusion_proof, _hash_children, _hash_leaf
from sigstore._internal.rekor.checkpoint import SignedCheckpoint

folder, (name, key_id, key) = pathlib.Path(sys.argv[1]), sys.argv[2].split("+", 2)
signed = SignedCheckpoint.from_text((folder / "checkpoint").read_text())
[signature] = signed.signed_note.signatures
assert signature.name == name == signed.checkpoint.origin and signature.sig_hash.hex() == key_id, "another key"
Ed25519PublicKey.from_public_bytes(base64.b64decode(key)[1:]).verify(
    base64.b64decode(signature.signature), signed.signed_note.note.encode()
)


def included(index, size, leaf, root, path):
    inner, border = _decomp_inclusion_proof(index, size)
    assert len(path) == inner + border, "a path of another length"
    found = _chain_border_right(_chain_inner(leaf, path[:inner], index), path[inner:])
    assert found == root, f"entry {index} is not in the tree of {size}"


def root_of(hashes):
    if len(hashes) == 1:
        return hashes[0]
    half = 1 << (len(hashes) - 1).bit_length() - 1
    return _hash_children(root_of(hashes[:half]), root_of(hashes[half:]))


def tile(level, index, width):
    return (folder / f"tile/{level}/{index:03}{'' if width == 256 else f'.p/{width}'}").read_bytes()


size = signed.checkpoint.log_size
leaves = []
while len(leaves) < size:
    index, width = len(leaves) // 256, min(256, size - len(leaves))
    bundle, at, hashes = tile("entries", index, width), 0, []
    while at < len(bundle):
        length = int.from_bytes(bundle[at : at + 2], "big")
        hashes.append(_hash_leaf(bundle[at + 2 : at + 2 + length]))
        at += 2 + length
    assert b"".join(hashes) == tile(0, index, width), f"tile 0/{index} is not of its headers"
    leaves += hashes
assert root_of(leaves).hex() == signed.checkpoint.log_hash, "another root"

proofs = 0
for line in (folder / "proofs.txt").read_text().splitlines():
    kind, index, of, leaf, root, path = line.split(" ")
    if kind == "inclusion":
        hashes = [] if path == "-" else [base64.b64decode(hash) for hash in path.split(",")]
        included(int(index), int(of), base64.b64decode(leaf), base64.b64decode(root), hashes)
        proofs += 1
print(f"checkpoint of {size} blocks accepted, all headers by its tiles, {proofs} proofs of inclusion")
