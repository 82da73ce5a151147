import type { WholeBlock } from '../../blocks/block-reader.js'
import { proofOf } from '../../blocks/proofs.js'
import { DynamoError, validationError } from '../../model/errors.js'
import { base64, utf8Text } from '../../verify/bytes.js'
import { decodeBlockEntry } from '../../verify/block.js'
import type { RequestScope } from '../request/context.js'
import { jsonReply } from '../request/reply.js'
import { checkDigestSize, ledgerOperation, numberShape, transactionIdShape } from './ledger-request.js'

interface GetBlockInput {
  readonly SequenceNumber?: number
  readonly TransactionId?: string
  readonly DigestSize?: number
}

export const getBlock = ledgerOperation<GetBlockInput>({
  name: 'GetBlock',
  members: { SequenceNumber: numberShape, TransactionId: transactionIdShape, DigestSize: numberShape },

  async run({ blocks }, { SequenceNumber, TransactionId, DigestSize }, scope) {
    if ((SequenceNumber === undefined) === (TransactionId === undefined))
      throw validationError('Exactly one of SequenceNumber and TransactionId names the block')
    await blocks.caughtUp()
    const number = SequenceNumber ?? (await blocks.reader.blockOf(TransactionId as string))
    if (number === undefined || number >= blocks.size)
      throw new DynamoError(
        'ResourceNotFoundException',
        SequenceNumber === undefined
          ? `Requested resource not found: No block is of transaction ${TransactionId}`
          : `Requested resource not found: The ledger has ${blocks.size} blocks, and none with number ${SequenceNumber}`,
      )
    const block = await blocks.reader.block(number)
    authoriseBlock(block, scope)
    if (DigestSize !== undefined) checkDigestSize(blocks, DigestSize, number)
    const { strand, tx, time } = block.parsed
    return jsonReply({
      Block: {
        BlockAddress: { StrandId: strand, SequenceNumber: number },
        TransactionId: tx,
        Time: time,
        Header: utf8Text(block.header),
        Entries: block.entries.map(({ bytes, data }) => ({
          Entry: utf8Text(bytes),
          ...(data && { Data: base64(data) }),
        })),
      },
      ...(DigestSize !== undefined && { Proof: await proofOf(blocks, block, DigestSize) }),
    })
  },
})

/** A block tells of every table that it touched. */
export function authoriseBlock({ entries }: WholeBlock, scope: RequestScope): void {
  const tables = new Set<string>()
  for (const { bytes } of entries) {
    const entry = decodeBlockEntry(bytes)
    if (entry.kind !== 'info') tables.add(entry.table)
  }
  for (const table of tables) scope.authorise(table)
}
