import { jsonReply } from '../request/reply.js'
import { tableOperation } from './table-operation.js'

const PAGE_NAMES_MAX = 100

interface ListTablesInput {
  readonly Limit?: number
  readonly ExclusiveStartTableName?: string
}

export const listTables = tableOperation<ListTablesInput>({
  name: 'ListTables',
  shape: {
    kind: 'struct',
    members: {
      Limit: { kind: 'integer', valueMin: 1, valueMax: PAGE_NAMES_MAX },
      ExclusiveStartTableName: {
        kind: 'string',
        lengthMin: 3,
        lengthMax: 255,
        pattern: '[a-zA-Z0-9_.-]+',
      },
    },
  },

  run(catalog, input, scope) {
    const namesMax = Math.trunc(input.Limit ?? PAGE_NAMES_MAX)
    const names = catalog.names()
    const page: string[] = []
    for (let at = firstAfter(names, input.ExclusiveStartTableName); at < names.length; at++) {
      const name = names[at] as string
      if (!scope.allows(name, 'listed')) continue
      if (page.length === namesMax) {
        return jsonReply({ TableNames: page, LastEvaluatedTableName: page.at(-1) })
      }
      page.push(name)
    }
    return jsonReply({ TableNames: page })
  },
})

/** Position of the first name after that one. */
function firstAfter(names: readonly string[], start: string | undefined): number {
  if (start === undefined) return 0
  let low = 0
  let high = names.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((names[middle] as string) <= start) low = middle + 1
    else high = middle
  }
  return low
}
