// The ledger of a server whose disk becomes full, which is killed then, started without room, and given room again.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { verifyDataFolder } from '../../src/cli/operate/verify-folder.js'
import { verifyConsistency } from '../../src/verify/proof.js'
import { needsSmallDisk, smallDisk } from '../support/small-disk.js'
import { spawnServer, type SpawnedServer } from '../support/spawned-server.js'
import { asking, clientOf, type DigestAnswer, Key, ledgerTable, type RevisionsAnswer } from './support.js'

const MB = 1024 * 1024
const CARS = 20

test(
  'ledger: a full disk refuses writes, contradicts no signed checkpoint, and leaves none of the acknowledged out of the blocks',
  needsSmallDisk,
  async () => {
    using disk = smallDisk(64 * MB)
    const acknowledged: string[] = []
    const put = async ({ url }: SpawnedServer): Promise<string | undefined> => {
      const dynamodb = clientOf(url)
      const owner = `owner ${acknowledged.length}`
      const vin = `v${acknowledged.length % CARS}`
      const item = { ...Key(vin), owner: { S: owner }, text: { S: 'x'.repeat(20_000) } }
      try {
        await dynamodb.putItem({ TableName: 'Cars', Item: item })
        acknowledged.push(owner)
        return undefined
      } catch (error) {
        return (error as Error).message
      } finally {
        dynamodb.destroy()
      }
    }
    /** Asked for until there is one: what is behind is tried again each second. */
    const digest = async ({ url }: SpawnedServer, OldSize?: number): Promise<DigestAnswer> => {
      for (;;) {
        const answer = await asking(url)<DigestAnswer>('GetDigest', { OldSize }).catch(
          (error: unknown) => error as Error,
        )
        if (!(answer instanceof Error)) return answer
      }
    }
    const continues = async (server: SpawnedServer, before: DigestAnswer): Promise<DigestAnswer> => {
      const after = await digest(server, before.Size)
      await verifyConsistency(before.Checkpoint, after.Checkpoint, after.ConsistencyProof!, {
        key: after.Key,
      })
      return after
    }

    const first = await spawnServer(['--path', disk.path], { quiet: true })
    const creator = clientOf(first.url)
    await creator.createTable(ledgerTable('Cars'))
    creator.destroy()
    for (let at = 0; at < 100; at++) assert.equal(await put(first), undefined)
    const before = await digest(first)
    assert.equal(before.Size, 101)
    disk.fill()
    let refusal: string | undefined
    while (refusal === undefined) refusal = await put(first)
    assert.match(refusal, /ENOSPC|no room/)
    // Refused or answered: what is signed is durable.
    const during = await asking(first.url)<DigestAnswer>('GetDigest', {}).catch(() => before)
    process.kill(first.pid, 'SIGKILL')
    await first.ended

    disk.fill()
    const second = await spawnServer(['--path', disk.path], { quiet: true })
    disk.free()
    while ((await put(second)) !== undefined);
    await continues(second, before)
    await continues(second, during)
    const owners: string[] = []
    for (let car = 0; car < CARS; car++) {
      let NextToken: string | undefined
      do {
        const page: RevisionsAnswer = await asking(second.url)('ListRevisions', {
          TableName: 'Cars',
          Key: Key(`v${car}`),
          NextToken,
        })
        owners.push(...page.Revisions.map(({ Data }) => Data!.owner!.S))
        NextToken = page.NextToken
      } while (NextToken !== undefined)
    }
    assert.deepEqual(
      acknowledged.filter((owner) => !owners.includes(owner)),
      [],
    )
    assert.equal(await second.stop(), 0)
    assert.deepEqual((await verifyDataFolder(disk.path)).problems, [])
  },
)
