// Random statements, each with the request of the other operations that means the same: their answers are compared, on one store
// and with DynamoDB Local.
import type { AttributeValue, Item } from '../../src/model/value.js'
import type { Random } from './random.js'

export const STATEMENT_TABLE = 'Statements'
export const EXPRESSION_TABLE = 'Expressions'

export const tableInput = (TableName: string): object => ({
  TableName,
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: [
    { AttributeName: 'pk', AttributeType: 'S' },
    { AttributeName: 'sk', AttributeType: 'N' },
  ],
  KeySchema: [
    { AttributeName: 'pk', KeyType: 'HASH' },
    { AttributeName: 'sk', KeyType: 'RANGE' },
  ],
})

export interface StatementTrial {
  readonly input: { readonly Statement: string }
  /** On the other table. */
  readonly same: { readonly operation: string; readonly input: object }
  readonly kind: 'insert' | 'update' | 'delete' | 'get' | 'range' | 'scan'
}

/** A text in both languages, with its values. */
interface Both {
  readonly partiql: string
  readonly expression: string
}

/** `differs`: whether `<>` may be used, which DynamoDB Local takes for true where the attribute is absent. */
export function randomStatement(random: Random, differs: 'with <>' | 'without <>'): StatementTrial {
  return new StatementMaker(random, differs).make()
}

const NAMES = ['a', 'b', 'c', 'm', 'l'] as const

class StatementMaker {
  readonly #random: Random
  readonly #differs: boolean
  readonly #values: Record<string, AttributeValue> = {}

  constructor(random: Random, differs: 'with <>' | 'without <>') {
    this.#random = random
    this.#differs = differs === 'with <>'
  }

  make(): StatementTrial {
    const random = this.#random
    const kind = random.pick([
      'insert',
      'insert',
      'update',
      'update',
      'delete',
      'get',
      'range',
      'scan',
    ] as const)
    switch (kind) {
      case 'insert':
        return this.#insert()
      case 'update':
      case 'delete':
        return this.#write(kind)
      case 'get':
      case 'range':
      case 'scan':
        return this.#read(kind)
    }
  }

  #insert(): StatementTrial {
    const key = this.#keyItem()
    const attributes: Record<string, AttributeValue> = {}
    for (const name of this.#random.several(0, 3, () => this.#random.pick(NAMES)))
      attributes[name] = this.#value(name)
    const item = { ...key, ...attributes }
    const fields = Object.entries(item).map(([name, value]) => `'${name}': ${literalText(value)}`)
    return this.#trial('insert', `INSERT INTO ${STATEMENT_TABLE} VALUE {${fields.join(', ')}}`, 'PutItem', {
      Item: item,
      ConditionExpression: 'attribute_not_exists(pk)',
    })
  }

  #write(kind: 'update' | 'delete'): StatementTrial {
    const key = this.#keyItem()
    const changes = kind === 'update' ? this.#changes() : undefined
    const keyText = `pk = ${literalText(key['pk']!)} AND sk = ${literalText(key['sk']!)}`
    const condition = this.#random.oneIn(2) ? this.#condition(2) : undefined
    const where = condition === undefined ? keyText : `${keyText} AND (${condition.partiql})`
    if (changes === undefined)
      return this.#trial(
        'delete',
        `DELETE FROM ${STATEMENT_TABLE} WHERE ${where} RETURNING ALL OLD *`,
        'DeleteItem',
        {
          Key: key,
          ReturnValues: 'ALL_OLD',
          ...(condition && { ConditionExpression: `attribute_not_exists(pk) OR ${condition.expression}` }),
        },
      )
    return this.#trial(
      'update',
      `UPDATE ${STATEMENT_TABLE} ${changes.partiql} WHERE ${where} RETURNING ALL NEW *`,
      'UpdateItem',
      {
        Key: key,
        ReturnValues: 'ALL_NEW',
        UpdateExpression: changes.expression,
        ConditionExpression:
          condition === undefined
            ? 'attribute_exists(pk)'
            : `attribute_exists(pk) AND (${condition.expression})`,
      },
    )
  }

  #changes(): Both {
    const random = this.#random
    const name = random.pick(NAMES)
    const value = this.#value(name)
    switch (random.below(6)) {
      case 0:
        return { partiql: `REMOVE ${name}`, expression: `REMOVE ${name}` }
      case 1: {
        const one = this.#placed({ N: String(random.below(9)) })
        return {
          partiql: `SET ${name} = a + ${one.partiql}`,
          expression: `SET ${name} = a + ${one.expression}`,
        }
      }
      case 2: {
        const list = this.#placed({ L: [this.#scalar()] })
        return {
          partiql: `SET ${name} = list_append(l, ${list.partiql})`,
          expression: `SET ${name} = list_append(l, ${list.expression})`,
        }
      }
      case 3: {
        const set = this.#placed({ SS: ['p', random.pick(['q', 'r'])] })
        const [word, plain] = random.pick([
          ['set_add', 'ADD'],
          ['set_delete', 'DELETE'],
        ] as const)
        return {
          partiql: `SET ${name} = ${word}(${name}, ${set.partiql})`,
          expression: `${plain} ${name} ${set.expression}`,
        }
      }
      case 4: {
        const inner = this.#placed(this.#scalar())
        return { partiql: `SET m.x = ${inner.partiql}`, expression: `SET m.x = ${inner.expression}` }
      }
      default: {
        const placed = this.#placed(value)
        return {
          partiql: `SET ${name} = ${placed.partiql}`,
          expression: `SET ${name} = ${placed.expression}`,
        }
      }
    }
  }

  #read(kind: 'get' | 'range' | 'scan'): StatementTrial {
    const random = this.#random
    const select = `SELECT * FROM ${STATEMENT_TABLE}`
    const key = this.#keyItem()
    if (kind === 'get') {
      const text = `${select} WHERE pk = ${literalText(key['pk']!)} AND sk = ${literalText(key['sk']!)}`
      return this.#trial('get', text, 'GetItem', { Key: key, ConsistentRead: true })
    }
    if (kind === 'scan') {
      const filter = this.#condition(3)
      return this.#trial('scan', `${select} WHERE ${filter.partiql}`, 'Scan', {
        FilterExpression: filter.expression,
      })
    }
    const pk = this.#placed(key['pk']!)
    const sort = this.#sort()
    const filter = random.oneIn(2) ? this.#condition(2) : undefined
    const reverse = random.oneIn(3)
    const where = [`pk = ${pk.partiql}`, sort?.partiql, filter && `(${filter.partiql})`].filter(
      (one) => one !== undefined,
    )
    return this.#trial(
      'range',
      `${select} WHERE ${where.join(' AND ')}${reverse ? ' ORDER BY sk DESC' : ''}`,
      'Query',
      {
        KeyConditionExpression: `pk = ${pk.expression}${sort === undefined ? '' : ` AND ${sort.expression}`}`,
        ScanIndexForward: !reverse,
        ...(filter && { FilterExpression: filter.expression }),
      },
    )
  }

  #sort(): Both | undefined {
    const random = this.#random
    const number = (): Both => this.#placed({ N: String(random.below(6)) })
    if (random.oneIn(3)) return undefined
    if (random.oneIn(4)) {
      const [lower, upper] = [this.#placed({ N: '1' }), this.#placed({ N: String(1 + random.below(5)) })]
      return both((one) => `sk BETWEEN ${one(lower)} AND ${one(upper)}`)
    }
    const operator = random.pick(['=', '<', '<=', '>', '>='])
    const value = number()
    return both((one) => `sk ${operator} ${one(value)}`)
  }

  #condition(depth: number): Both {
    const random = this.#random
    if (depth > 0 && random.oneIn(3)) {
      const [left, right] = [this.#condition(depth - 1), this.#condition(depth - 1)]
      const word = random.pick(['AND', 'OR'])
      const joined = both((one) => `${one(left)} ${word} ${one(right)}`)
      return random.oneIn(2) ? both((one) => `NOT (${one(joined)})`) : joined
    }
    const name = random.pick(['a', 'b', 'c', 'm.x', 'l[0]'])
    const value = this.#placed(this.#scalar())
    switch (random.below(7)) {
      case 0:
        return both(() => `${random.pick(['attribute_exists', 'attribute_not_exists'])}(${name})`)
      case 1:
        return { partiql: `${name} IS MISSING`, expression: `attribute_not_exists(${name})` }
      case 2: {
        const text = this.#placed({ S: random.pick(['x', 'xy', 'p']) })
        const word = random.pick(['begins_with', 'contains'])
        return both((one) => `${word}(${name}, ${one(text)})`)
      }
      case 3: {
        const other = this.#placed(this.#scalar())
        return both((one) => `${name} IN (${one(value)}, ${one(other)})`)
      }
      case 4:
        if (this.#differs)
          return {
            partiql: `${name} <> ${value.partiql}`,
            expression: `NOT (attribute_not_exists(${name}) OR ${name} = ${value.expression})`,
          }
        return both((one) => `${name} = ${one(value)}`)
      case 5: {
        const size = this.#placed({ N: String(random.below(4)) })
        return both((one) => `size(${name}) >= ${one(size)}`)
      }
      default: {
        const operator = random.pick(['=', '<', '>='])
        return both((one) => `${name} ${operator} ${one(value)}`)
      }
    }
  }

  #keyItem(): Item {
    const random = this.#random
    return { pk: { S: random.pick(['p', 'q', 'r']) }, sk: { N: String(random.below(6)) } }
  }

  #value(name: string): AttributeValue {
    if (name === 'm') return { M: { x: this.#scalar() } }
    if (name === 'l') return { L: this.#random.several(0, 2, () => this.#scalar()) }
    return this.#random.oneIn(4) ? { SS: ['p', 'q'] } : this.#scalar()
  }

  #scalar(): AttributeValue {
    const random = this.#random
    return random.pick<AttributeValue>([
      { S: random.pick(['x', 'xy', "it's", '']) },
      { N: random.pick(['0', '1', '2', '-1.5', '1000']) },
      { BOOL: random.oneIn(2) },
      { NULL: true },
    ])
  }

  /** In a statement as a literal, in an expression as a placeholder. */
  #placed(value: AttributeValue): Both {
    const name = `:v${Object.keys(this.#values).length}`
    this.#values[name] = value
    return { partiql: literalText(value), expression: name }
  }

  #trial(kind: StatementTrial['kind'], Statement: string, operation: string, input: object): StatementTrial {
    const text = JSON.stringify(input)
    const used = Object.entries(this.#values).filter(([name]) => new RegExp(`${name}\\b`).test(text))
    return {
      kind,
      input: { Statement },
      same: {
        operation,
        input: {
          TableName: EXPRESSION_TABLE,
          ...input,
          ...(used.length > 0 && { ExpressionAttributeValues: Object.fromEntries(used) }),
        },
      },
    }
  }
}

/** The same text in both languages but for its pieces; what is random in it is drawn once. */
function both(text: (one: (piece: Both) => string) => string): Both {
  const pieces: Both[] = []
  const frame = text((piece) => `\u0000${pieces.push(piece) - 1}\u0000`).split('\u0000')
  const filled = (language: keyof Both): string =>
    frame.map((part, at) => (at % 2 === 0 ? part : pieces[Number(part)]![language])).join('')
  return { partiql: filled('partiql'), expression: filled('expression') }
}

/** A value as a statement spells it; binary values are given as parameters. */
export function literalText(value: AttributeValue): string {
  if ('S' in value) return `'${value.S.replaceAll("'", "''")}'`
  if ('N' in value) return value.N
  if ('BOOL' in value) return String(value.BOOL)
  if ('NULL' in value) return 'NULL'
  if ('SS' in value) return `<<${value.SS.map((text) => `'${text}'`).join(', ')}>>`
  if ('NS' in value) return `<<${value.NS.join(', ')}>>`
  if ('L' in value) return `[${value.L.map(literalText).join(', ')}]`
  if ('M' in value)
    return `{${Object.entries(value.M)
      .map(([name, inner]) => `'${name}': ${literalText(inner)}`)
      .join(', ')}}`
  throw new TypeError('a value that a statement cannot spell')
}
