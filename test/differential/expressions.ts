// Random expressions: the text, with the names and values it needs, sometimes one too few or too many.
import type { Random } from './random.js'
import { type Index, type KeyPart, type Table, keyValue } from './tables.js'
import { type Json, type JsonObject, NAMES, TYPES, name, usualName, value, valueOf } from './values.js'

const COMPARATORS = ['=', '<>', '<', '<=', '>', '>=']
const PLAIN = /^[A-Za-z][A-Za-z0-9_]*$/

/** Collects the placeholders of all the expressions of one request. */
export class Expressions {
  readonly #random: Random
  readonly #table: Table
  readonly #names = new Map<string, string>()
  readonly #values = new Map<string, Json>()

  constructor(random: Random, table: Table) {
    this.#random = random
    this.#table = table
  }

  members(): JsonObject {
    const random = this.#random
    if (random.mischief()) this.#names.set(random.pick(['#unused', 'bad', '#', '#n0', '#a-b']), name(random))
    if (random.mischief())
      this.#values.set(random.pick([':unused', 'bad', ':', ':v0', ':a-b']), value(random))
    if (random.mischief()) this.#names.delete([...this.#names.keys()][0] ?? '')
    if (random.mischief()) this.#values.delete([...this.#values.keys()][0] ?? '')
    return {
      ...((this.#names.size > 0 || random.mischief()) && {
        ExpressionAttributeNames: Object.fromEntries(this.#names),
      }),
      ...((this.#values.size > 0 || random.mischief()) && {
        ExpressionAttributeValues: Object.fromEntries(this.#values),
      }),
    }
  }

  condition(): string {
    return this.#broken(this.#condition(0))
  }

  projection(): string {
    return this.#broken(this.#random.several(1, 4, () => this.#path()).join(this.#random.pick([', ', ','])))
  }

  keyCondition(keys: readonly KeyPart[]): string {
    const random = this.#random
    const [hash, range] = keys as [KeyPart, KeyPart | undefined]
    const parts = [`${this.#name(hash.name)} = ${this.#value(keyValue(random, hash))}`]
    if (range !== undefined && !random.oneIn(3)) parts.push(this.#sortCondition(range))
    if (random.mischief()) parts.push(this.#comparison())
    if (random.mischief()) parts.shift()
    if (random.oneIn(4)) parts.reverse()
    const bracketed = parts.map((one) => (random.oneIn(8) ? `(${one})` : one))
    return this.#broken(bracketed.join(random.mischief() ? ' OR ' : random.pick([' AND ', ' and '])))
  }

  update(): string {
    const random = this.#random
    const clauses: string[] = []
    if (!random.oneIn(3)) clauses.push(`SET ${random.several(1, 3, () => this.#assignment()).join(', ')}`)
    if (random.oneIn(3)) clauses.push(`REMOVE ${random.several(1, 3, () => this.#path()).join(', ')}`)
    if (random.oneIn(4))
      clauses.push(`ADD ${random.several(1, 2, () => this.#addition(['N', 'NS', 'SS', 'BS'])).join(', ')}`)
    if (random.oneIn(6))
      clauses.push(`DELETE ${random.several(1, 2, () => this.#addition(['NS', 'SS', 'BS'])).join(', ')}`)
    if (clauses.length === 0) clauses.push(`SET ${this.#assignment()}`)
    if (random.mischief()) clauses.push(random.pick(clauses))
    if (random.oneIn(4)) clauses.reverse()
    return this.#broken(clauses.join(random.pick([' ', '  ', '\n'])))
  }

  #sortCondition(range: KeyPart): string {
    const random = this.#random
    const at = (): string => this.#value(keyValue(random, range))
    const name = this.#name(range.name)
    if (range.type !== 'N' && random.oneIn(4)) return `begins_with(${name}, ${at()})`
    if (random.mischief()) return `begins_with(${name}, ${at()})`
    if (random.oneIn(3)) return `${name} BETWEEN ${at()} AND ${at()}`
    const operator = random.mischief() ? '<>' : random.pick(['=', '<', '<=', '>', '>='])
    return random.oneIn(10) ? `${at()} ${operator} ${name}` : `${name} ${operator} ${at()}`
  }

  #condition(depth: number): string {
    const random = this.#random
    if (depth >= 3 || random.oneIn(2)) return this.#comparison()
    switch (random.below(4)) {
      case 0:
        return `NOT ${this.#condition(depth + 1)}`
      case 1:
        return `(${this.#condition(depth + 1)})`
      default:
        return `${this.#condition(depth + 1)} ${random.pick(['AND', 'OR', 'and', 'or'])} ${this.#condition(depth + 1)}`
    }
  }

  #comparison(): string {
    const random = this.#random
    switch (random.below(9)) {
      case 0:
        return `attribute_exists(${this.#path()})`
      case 1:
        return `attribute_not_exists(${this.#path()})`
      case 2:
        return `attribute_type(${this.#path()}, ${this.#value(random.mischief() ? value(random) : { S: random.pick(TYPES) })})`
      case 3:
        return `begins_with(${this.#operand()}, ${this.#value(random.mischief() ? value(random) : valueOf(random, random.pick(['S', 'B'])))})`
      case 4:
        return `contains(${this.#operand()}, ${this.#operand()})`
      case 5:
        return `${this.#operand()} BETWEEN ${this.#operand()} AND ${this.#operand()}`
      case 6:
        return `${this.#operand()} IN (${random.several(1, 3, () => this.#operand()).join(', ')})`
      default:
        return `${this.#operand()} ${random.pick(COMPARATORS)} ${this.#operand()}`
    }
  }

  #operand(): string {
    const random = this.#random
    if (random.oneIn(6)) return `size(${this.#path()})`
    return random.oneIn(2) ? this.#path() : this.#value(value(random))
  }

  #assignment(): string {
    const random = this.#random
    const type = random.pick([undefined, undefined, 'N', 'L'] as const)
    if (type === 'N') {
      const sum = `${this.#settable('N')} ${random.pick(['+', '-'])} ${this.#settable('N')}`
      return `${this.#path(usualName(random, 'N'))} = ${sum}`
    }
    return `${this.#path(type && usualName(random, type))} = ${this.#settable(type)}`
  }

  #settable(type?: 'N' | 'L'): string {
    const random = this.#random
    const fresh = (): string =>
      this.#value(type === undefined || random.mischief(6) ? value(random) : valueOf(random, type))
    const stored = (): string => this.#path(type && usualName(random, type))
    switch (random.below(7)) {
      case 0:
        return stored()
      case 1:
      case 2:
        return `if_not_exists(${stored()}, ${random.oneIn(3) ? stored() : fresh()})`
      case 3:
      case 4:
        if (type === 'N') return fresh()
        return `list_append(${this.#listOperand()}, ${this.#listOperand()})`
      default:
        return fresh()
    }
  }

  #listOperand(): string {
    const random = this.#random
    const path = (): string => this.#path(usualName(random, 'L'))
    if (random.oneIn(3)) return path()
    if (random.oneIn(3)) return `if_not_exists(${path()}, ${this.#value(valueOf(random, 'L'))})`
    return this.#value(valueOf(random, random.mischief() ? 'S' : 'L'))
  }

  #addition(types: readonly ('N' | 'NS' | 'SS' | 'BS')[]): string {
    const random = this.#random
    const type = random.pick(types)
    const added = random.mischief(8) ? value(random) : valueOf(random, type)
    return `${this.#path(usualName(random, type))} ${this.#value(added)}`
  }

  #path(from?: string): string {
    const random = this.#random
    const keys = this.#table.keys.map((part) => part.name)
    const first = random.oneIn(12) && from === undefined ? random.pick(keys) : (from ?? random.pick(NAMES))
    let path = this.#name(first)
    for (let holder = first; random.oneIn(holder === 'm' || holder === 'd' || holder === 'l' ? 2 : 8);) {
      const isIndex = holder === 'l' ? !random.oneIn(8) : random.oneIn(8)
      if (isIndex) {
        path += `[${random.mischief() ? random.pick(['-1', ':v0', '99999999999']) : random.below(4)}]`
        holder = ''
      } else {
        holder = random.pick(NAMES)
        path += `.${this.#name(holder)}`
      }
    }
    return path
  }

  #name(attribute: string): string {
    const random = this.#random
    if (random.mischief(40)) return random.pick(['size', 'SET', 'order', '1a', '#missing'])
    if (PLAIN.test(attribute) && attribute !== 'Size' && random.oneIn(2)) return attribute
    for (const [placeholder, known] of this.#names) if (known === attribute) return placeholder
    const placeholder = `#n${this.#names.size}`
    this.#names.set(placeholder, attribute)
    return placeholder
  }

  #value(bound: Json): string {
    if (this.#random.mischief(60)) return ':missing'
    const placeholder = `:v${this.#values.size}`
    this.#values.set(placeholder, bound)
    return placeholder
  }

  /** Now and then a token goes missing, comes twice or is another. */
  #broken(text: string): string {
    const random = this.#random
    if (!random.mischief(12)) return text
    const tokens = text.split(/(?<=[\s(),.[\]])|(?=[\s(),.[\]])/)
    const at = random.below(tokens.length)
    const replacement = random.pick([
      [],
      [tokens[at]!, tokens[at]!],
      [
        random.pick([
          'AND',
          'OR',
          'NOT',
          '(',
          ')',
          ',',
          '=',
          '<>',
          '.',
          '[',
          '#',
          ':',
          'SET',
          '!',
          '1',
          'size(',
          '',
        ]),
      ],
    ])
    tokens.splice(at, 1, ...replacement)
    return random.oneIn(10) ? '' : tokens.join('')
  }
}

/** What a Query or Scan may name: the table itself or one of its indexes. */
export function keysOf(table: Table, index: Index | undefined): readonly KeyPart[] {
  return index?.keys ?? table.keys
}
