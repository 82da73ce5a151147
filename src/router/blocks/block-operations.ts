// Operations on the ledger: what was committed to ledger tables, and proofs of it. Asked for under Seriatim_20261101.
//
//   GetDigest --> a signed checkpoint of all blocks        GetLedgerFile --> tiles and the like, as GET /ledger/ serves them
//   GetBlock, GetRevision, ListRevisions --> shelf, proofs of a size of the tree
//   RedactRevision --> a block
//
// May import: tables (the catalogue) and all below it, blocks, verify.
import type { Operation } from '../request/context.js'
import { getBlock } from './get-block.js'
import { getDigest } from './get-digest.js'
import { getLedgerFile } from './get-ledger-file.js'
import { getRevision } from './get-revision.js'
import { listRevisions } from './list-revisions.js'
import { redactRevision } from './redact-revision.js'

export const blockOperations: readonly Operation[] = [
  getDigest,
  getBlock,
  getRevision,
  listRevisions,
  redactRevision,
  getLedgerFile,
]
