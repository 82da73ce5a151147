import assert from 'node:assert/strict'
import { test } from 'node:test'
import { verifyDataFolder } from '../../src/cli/operate/verify-folder.js'
import { sized } from '../support/sizes.js'
import { needsSmallDisk, smallDisk } from '../support/small-disk.js'
import { spawnServer, type SpawnedServer } from '../support/spawned-server.js'

const TableName = 'Things'
const MB = 1024 * 1024

async function call(server: SpawnedServer, operation: string, input: object) {
  const response = await fetch(server.url, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': `DynamoDB_20120810.${operation}`,
    },
    body: JSON.stringify({ TableName, ...input }),
  })
  return { status: response.status, json: (await response.json()) as Record<string, unknown> }
}

const putItem = (server: SpawnedServer, id: number, characters = 5000) =>
  call(server, 'PutItem', { Item: { id: { N: String(id) }, text: { S: 'x'.repeat(characters) } } })

async function assertAllThere(server: SpawnedServer, acknowledged: ReadonlySet<number>): Promise<void> {
  for (const id of acknowledged) {
    const { status, json } = await call(server, 'GetItem', { Key: { id: { N: String(id) } } })
    assert.equal(status, 200, JSON.stringify(json))
    assert.ok(json['Item'], `item ${id}`)
  }
  let count = 0
  let start: unknown
  do {
    const { json } = await call(server, 'Scan', {
      Select: 'COUNT',
      ...(start === undefined ? {} : { ExclusiveStartKey: start }),
    })
    count += Number(json['Count'])
    start = json['LastEvaluatedKey']
  } while (start !== undefined)
  assert.equal(count, acknowledged.size)
}

for (const nodes of sized([4], [1, 4]))
  test(
    `disk full, ${nodes} nodes: a restart serves all reads, names the cause of refused writes, and goes on when there is room`,
    needsSmallDisk,
    async () => {
      using disk = smallDisk(48 * MB)
      const args = ['--path', disk.path, '--nodes', String(nodes)]
      const acknowledged = new Set<number>()
      const first = await spawnServer(args, { quiet: true })
      await call(first, 'CreateTable', {
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'N' }],
        KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
      })
      let id = 0
      // So many that the journal prepares room ahead of its frames.
      for (; id < 200; id++) if ((await putItem(first, id)).status === 200) acknowledged.add(id)
      assert.equal(acknowledged.size, 200)
      disk.fill()
      // The journal takes what it has room for; the index cannot be written.
      let refusal: Record<string, unknown> | undefined
      for (; refusal === undefined; id++) {
        const { status, json } = await putItem(first, id)
        if (status === 200) acknowledged.add(id)
        else refusal = json
      }
      assert.match(String(refusal['message']), /The journal has no room: ENOSPC/)
      await assertAllThere(first, acknowledged)
      process.kill(first.pid, 'SIGKILL')
      await first.ended

      // What the torn end of the journal gives back is taken, too.
      disk.fill()
      const second = await spawnServer(args, { quiet: true })
      await assertAllThere(second, acknowledged)
      const { status, json } = await putItem(second, id, 100_000)
      assert.equal(status, 500)
      assert.match(String(json['message']), /ENOSPC/)
      assert.match(second.said, /The index lacks the last writes: .*ENOSPC: the disk has 0\.0 MB left/)
      await assertAllThere(second, acknowledged)

      disk.free()
      while ((await putItem(second, id)).status !== 200);
      acknowledged.add(id)
      await assertAllThere(second, acknowledged)
      assert.equal(await second.stop(), 0)
      assert.deepEqual((await verifyDataFolder(disk.path)).problems, [])
      const third = await spawnServer(args)
      await assertAllThere(third, acknowledged)
      await third.stop()
    },
  )
