// Export, then import, then export again: nothing is different, whatever is in the table.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import type { Item } from '../../src/model/value.js'
import { fromWire } from '../../src/store/wire-values.js'
import { sized } from '../support/sizes.js'
import { item } from './items.js'
import {
  createTable,
  enablePointInTime,
  exported,
  imported,
  importInput,
  itemsOf,
  linesIn,
  transferPlace,
} from './support.js'

test('transfer: export then import is the identity for every type, also through a second export', async (t) => {
  const place = await transferPlace(t, { nodes: 2 })
  const { client, folder } = place
  let table = 0
  const items = fc.array(item, { minLength: 1, maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(items, fc.constantFrom('DYNAMODB_JSON', 'ION'), async (some, ExportFormat) => {
      const name = `Of-${table++}`
      const TableArn = await createTable(client, name)
      for (const [at, one] of some.entries())
        await client.putItem({ TableName: name, Item: fromWire({ ...one, p: { S: `key-${at}` } }) as never })
      const first = await exported(place, { TableArn, ExportFormat, S3Prefix: `${name}-first` })
      assert.equal(first.ExportStatus, 'COMPLETED', first.FailureMessage)
      const copy = `${name}-copy`
      const done = await imported(place, importInput(copy, { prefix: `${name}-first/` }))
      assert.equal(done.ImportStatus, 'COMPLETED', done.FailureMessage)
      assert.equal(done.ImportedItemCount, some.length)
      assert.deepEqual(await itemsOf(client, copy), await itemsOf(client, name))
      await enablePointInTime(client, copy)
      const again = await exported(place, {
        TableArn: done.TableArn!,
        ExportFormat,
        S3Prefix: `${name}-second`,
      })
      assert.equal(again.ItemCount, some.length)
      const lines = (prefix: string): Item[] => linesIn(folder, `${prefix}/`).toSorted() as unknown as Item[]
      assert.deepEqual(lines(`${name}-second`), lines(`${name}-first`))
    }),
    { numRuns: sized(12, 150) },
  )
})
