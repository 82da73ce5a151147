import type { WholeBlock } from '../../blocks/block-reader.js'
import type { Blocks } from '../../blocks/blocks.js'
import { proofOf } from '../../blocks/proofs.js'
import { DynamoError, validationError } from '../../model/errors.js'
import { base64, utf8Text } from '../../verify/bytes.js'
import { decodeBlockEntry } from '../../verify/block.js'
import type { RequestScope, RouterContext } from '../request/context.js'
import { furtherMembers, joinReply } from '../request/reply.js'
import { TurnBudget } from '../request/turns.js'
import {
  blockOfTransaction,
  checkDigestSize,
  ledgerOperation,
  noBlockOf,
  numberShape,
  transactionIdShape,
} from './ledger-request.js'

interface GetBlockInput {
  readonly SequenceNumber?: number
  readonly TransactionId?: string
  readonly DigestSize?: number
}

export const getBlock = ledgerOperation<GetBlockInput>({
  name: 'GetBlock',
  members: { SequenceNumber: numberShape, TransactionId: transactionIdShape, DigestSize: numberShape },

  async run({ blocks, context }, { SequenceNumber, TransactionId, DigestSize }, scope) {
    if ((SequenceNumber === undefined) === (TransactionId === undefined))
      throw validationError('Exactly one of SequenceNumber and TransactionId names the block')
    await blocks.caughtUp()
    const block =
      SequenceNumber === undefined
        ? await blockOfTransaction(blocks, TransactionId as string)
        : await blockNumbered(blocks, SequenceNumber)
    if (block === undefined) throw noBlockOf(TransactionId as string)
    authoriseBlock(block, scope)
    const { block: number, strand, tx, time } = block.parsed
    if (DigestSize !== undefined) checkDigestSize(blocks, DigestSize, number)
    const head = {
      BlockAddress: { StrandId: strand, SequenceNumber: number },
      TransactionId: tx,
      Time: time,
      Header: utf8Text(block.header),
    }
    const proof = DigestSize === undefined ? undefined : await proofOf(blocks, block, DigestSize)
    return joinReply([
      `{"Block":${JSON.stringify(head).slice(0, -1)},"Entries":[`,
      ...(await entryPieces(block, context)),
      `]}${furtherMembers({ Proof: proof })}}`,
    ])
  },
})

/** The entries of a block, with commas between them. Others have their turn meanwhile. */
async function entryPieces(
  { entries }: WholeBlock,
  { runtime }: Pick<RouterContext, 'runtime'>,
): Promise<readonly string[]> {
  const turns = new TurnBudget(runtime)
  const pieces: string[] = []
  for (const [at, { bytes, data }] of entries.entries()) {
    const entry = JSON.stringify({ Entry: utf8Text(bytes), ...(data && { Data: base64(data) }) })
    pieces.push(at === 0 ? entry : `,${entry}`)
    if (turns.isDue(bytes.length + (data?.length ?? 0))) await turns.next()
  }
  return pieces
}

function blockNumbered(blocks: Blocks, number: number): Promise<WholeBlock> {
  if (number < blocks.size) return blocks.reader.block(number)
  throw new DynamoError(
    'ResourceNotFoundException',
    `Requested resource not found: The ledger has ${blocks.size} blocks, and none with number ${number}`,
  )
}

/** A block tells of every table that it touched. */
export function authoriseBlock({ entries }: WholeBlock, scope: RequestScope): void {
  const tables = new Set<string>()
  for (const { bytes } of entries) {
    const entry = decodeBlockEntry(bytes)
    if (entry.kind !== 'info') tables.add(entry.table)
  }
  for (const table of tables) scope.authorise(table)
}
