// The one table of a simulated world. In some worlds entries follow its items: in an index by who wrote them last, which
// changes with every write, in one of several key attributes that not all of them have, and in the order of a number that not all
// of them have.
import { spaceId } from '../src/model/brand.js'
import type { TableShape } from '../src/model/table.js'
import type { CreateTableInput } from '../src/router/tables/record/table-shapes.js'

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

const BY_WRITER = 'by-writer'
const KEY_ATTRIBUTES = [
  { AttributeName: 'p', AttributeType: 'S' },
  { AttributeName: 'id', AttributeType: 'S' },
] as const
const PLAIN_INPUT = {
  TableName: TABLE.name,
  KeySchema: [
    { AttributeName: 'p', KeyType: 'HASH' },
    { AttributeName: 'id', KeyType: 'RANGE' },
  ],
  AttributeDefinitions: KEY_ATTRIBUTES,
  BillingMode: 'PAY_PER_REQUEST',
} as const

/** The same in worlds with a catalogue, as CreateTable takes it. */
export const TABLE_INPUT: Readonly<Record<'plain' | 'indexed', CreateTableInput>> = {
  plain: PLAIN_INPUT,
  indexed: {
    ...PLAIN_INPUT,
    AttributeDefinitions: [...KEY_ATTRIBUTES, { AttributeName: 'w', AttributeType: 'S' }],
    GlobalSecondaryIndexes: [
      {
        IndexName: BY_WRITER,
        KeySchema: [{ AttributeName: 'w', KeyType: 'HASH' }],
        Projection: { ProjectionType: 'ALL' },
      },
    ],
  },
}

/** What comes of it: the first spaces of a new catalogue. */
export const CATALOGUED_TABLE: Readonly<Record<'plain' | 'indexed', TableShape>> = {
  plain: TABLE,
  indexed: { ...TABLE, indexes: INDEXED_TABLE.indexes.filter(({ name }) => name === BY_WRITER) },
}
