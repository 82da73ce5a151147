// The one table of a simulated world. In some worlds entries follow its items: in an index by who wrote them last, which
// changes with every write, in one of several key attributes that not all of them have, and in the order of a number that not all
// of them have.
import { spaceId } from '../src/model/brand.js'
import type { TableShape } from '../src/model/table.js'

export const TABLE: TableShape = {
  name: 'items',
  space: spaceId(1),
  key: { partition: { name: 'p', type: 'S' }, sort: { name: 'id', type: 'S' } },
  indexes: [],
}

/** The shape that nodes are told, while requests carry the other: as those do that were validated before a change. */
export const INDEXED_TABLE: TableShape = {
  ...TABLE,
  indexes: [
    {
      name: 'by-writer',
      space: spaceId(2),
      kind: 'global',
      key: { partition: { name: 'w', type: 'S' } },
      projection: { type: 'ALL' },
    },
    {
      name: 'by-partition-and-writer',
      space: spaceId(4),
      kind: 'global',
      key: {
        partition: { name: 'p', type: 'S' },
        furtherPartition: [{ name: 'w', type: 'S' }],
        sort: { name: 'n', type: 'N' },
        furtherSort: [{ name: 'id', type: 'S' }],
      },
      projection: { type: 'ALL' },
    },
  ],
  expiry: { attribute: 'n', space: spaceId(3) },
}
