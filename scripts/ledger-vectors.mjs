// The test data of transparency-dev/merkle against src/verify: proofs of inclusion and consistency, most of them wrong in some way.
//
//   node scripts/ledger-vectors.mjs FOLDER     a checkout of https://github.com/transparency-dev/merkle, or its folder testdata
//
// The data is not part of this repository. Ends with 0 if every file is judged as it says, with 1 if not, with 2 without the data.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isConsistent, isIncluded } from '../dist/src/verify/index.js'

const given = process.argv[2] ?? process.env.TRANSPARENCY_DEV_MERKLE
const folder = [given, given && join(given, 'testdata')].find(
  (path) => path !== undefined && existsSync(join(path, 'inclusion')),
)
if (folder === undefined) {
  console.error(
    'Give a checkout of https://github.com/transparency-dev/merkle, whose folder testdata has inclusion/ and consistency/.',
  )
  process.exit(2)
}

const bytes = (text) => new Uint8Array(Buffer.from(text ?? '', 'base64'))
const hashes = (texts) => (texts ?? []).map(bytes)
const JUDGES = {
  inclusion: ({ leafIdx, treeSize, leafHash, proof, root }) =>
    isIncluded(leafIdx, treeSize, bytes(leafHash), hashes(proof), bytes(root)),
  consistency: ({ size1, root1, size2, root2, proof }) =>
    isConsistent(size1, bytes(root1), size2, bytes(root2), hashes(proof)),
}
let wrong = 0
for (const [kind, judge] of Object.entries(JUDGES)) {
  const files = readdirSync(join(folder, kind), { recursive: true }).filter((path) => path.endsWith('.json'))
  const counts = { accepted: 0, refused: 0 }
  for (const file of files) {
    const vector = JSON.parse(readFileSync(join(folder, kind, file), 'utf8'))
    const isAccepted = judge(vector)
    if (isAccepted === !vector.wantErr) counts[isAccepted ? 'accepted' : 'refused']++
    else {
      wrong++
      console.error(
        `${kind}/${file}: ${isAccepted ? 'accepted' : 'refused'}, and should not be: ${vector.desc}`,
      )
    }
  }
  console.log(
    `${kind}: ${files.length} files, ${counts.accepted} accepted and ${counts.refused} refused as they say`,
  )
}
console.log(wrong === 0 ? 'all as expected' : `${wrong} not as expected`)
process.exitCode = wrong === 0 ? 0 : 1
