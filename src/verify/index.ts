// Checks what a ledger says, far from the ledger and without trust in it: in Node, in a browser, in a program of others. And the one
// place where the ledger's hashes and texts are made: the store uses it, too.
//
//   public key ----> checkpoint (a signed note: origin, size, root of the tree)
//                        ^
//                        | path of hashes (RFC 6962), made of tiles (C2SP)
//                    header of a block  --- prev ---> header of the block before
//                        ^
//                        | path of hashes within the block
//                    entry of a revision --- previous ---> entry of the item's revision before
//                        ^
//                        | SHA-256
//                    salt and image of the item
//
// Imports nothing: no other box, no module of Node. At most 10 KB, bundled and compressed (test/verify/size.test.ts).
export type {
  BlockEntry,
  BlockHeader,
  InfoEntry,
  RedactionEntry,
  RevisionEntry,
  StoredEntry,
  TableEntry,
} from './block.js'
export { type Checkpoint, openCheckpoint, type TreeHead, type Trust } from './checkpoint.js'
export { type LedgerProblem, VerificationError } from './error.js'
export { type LedgerChecks, type LedgerSource, type VerifiedLedger, verifyLedger } from './folder.js'
export { isConsistent, isIncluded, leafHash } from './merkle.js'
export type { Ed25519 } from './note.js'
export { type Proven, verifyBlock, verifyConsistency, verifyProof } from './proof.js'
export type { Sha256 } from './sha256.js'
