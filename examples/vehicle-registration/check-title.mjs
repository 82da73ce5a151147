// A buyer checks a title without the office, without a network, and without trust in the paper: only with the office's public key.
//
//   node check-title.mjs title.tlog-proof office.key
import { readFileSync } from 'node:fs'
import { verifyProof } from 'seriatim/verify'

const [title, key] = process.argv.slice(2).map((path) => readFileSync(path, 'utf8').trimEnd())
try {
  const { checkpoint, header, entry, item } = await verifyProof(`${title}\n`, { key })
  if (entry?.kind !== 'revision' || item === undefined) throw new Error('this is not a title')
  console.log(`${entry.table} ${item.vin.S}, plate ${item.plate.S}, owner ${item.owner.S}`)
  console.log(`version ${entry.version}, committed at ${header.time} in block ${header.block}`)
  console.log(
    `as of block ${checkpoint.size} of ${checkpoint.origin}. Ask for the ledger to know that nothing newer exists.`,
  )
} catch (error) {
  console.error(`Don't buy: ${error.message}`)
  process.exitCode = 1
}
