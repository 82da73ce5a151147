import type { WholeBlock } from '../../blocks/block-reader.js'
import type { Blocks } from '../../blocks/blocks.js'
import { proofOf } from '../../blocks/proofs.js'
import { DynamoError, validationError } from '../../model/errors.js'
import { base64, utf8Text } from '../../verify/bytes.js'
import type { RouterContext } from '../request/context.js'
import { furtherMembers, joinReply } from '../request/reply.js'
import { TurnBudget } from '../request/turns.js'
import {
  authorisedEntries,
  blockOfTransaction,
  checkDigestSize,
  ledgerOperation,
  noBlockOf,
  numberShape,
  transactionIdShape,
  withBlock,
} from './ledger-request.js'

interface GetBlockInput {
  readonly SequenceNumber?: number
  readonly TransactionId?: string
  readonly DigestSize?: number
}

export const getBlock = ledgerOperation<GetBlockInput>({
  name: 'GetBlock',
  members: { SequenceNumber: numberShape, TransactionId: transactionIdShape, DigestSize: numberShape },

  async run(ledger, { SequenceNumber, TransactionId, DigestSize }, scope) {
    const { blocks, context } = ledger
    if ((SequenceNumber === undefined) === (TransactionId === undefined))
      throw validationError('Exactly one of SequenceNumber and TransactionId names the block')
    await blocks.caughtUp()
    const number =
      SequenceNumber === undefined
        ? await blockOfTransaction(blocks, TransactionId as string)
        : checkedNumber(blocks, SequenceNumber)
    if (number === undefined) throw noBlockOf(TransactionId as string)
    return withBlock(ledger, number, scope, async (block) => {
      await authorisedEntries(block, context, scope)
      const { strand, tx, time } = block.parsed
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
    })
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

function checkedNumber(blocks: Blocks, number: number): number {
  if (number < blocks.size) return number
  throw new DynamoError(
    'ResourceNotFoundException',
    `Requested resource not found: The ledger has ${blocks.size} blocks, and none with number ${number}`,
  )
}
