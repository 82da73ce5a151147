// Items as comma-separated values, and back: a cell that is a whole JSON value of DynamoDB ({"N":"1"}) is taken as that, so that
// what was exported comes back with its types.
//
// A program for tables runs what begins with = + - or @ as a formula. Such a text is written as a JSON value, in cells and in the
// names of the first line, so that opening an export runs nothing that is stored in an item.
import { attributeOf, type AttributeValue, type Item } from './attribute.js'

export function toCsv(items: readonly Item[]): string {
  const names = [...new Set(items.flatMap((item) => Object.keys(item)))]
  const lines = items.map((item) => names.map((name) => cell(textOf(attributeOf(item, name)))).join(','))
  return (
    [names.map((name) => cell(isPlain(name) ? name : JSON.stringify({ S: name }))).join(','), ...lines].join(
      '\r\n',
    ) + '\r\n'
  )
}

const textOf = (value: AttributeValue | undefined): string =>
  value === undefined ? '' : 'S' in value && isPlain(value.S) ? value.S : JSON.stringify(value)

/** It is taken neither for a JSON value nor for a formula. */
const isPlain = (text: string): boolean => !/^[{=+\-@\t\r]|^$/.test(text)

const cell = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

export function fromCsv(text: string): readonly Item[] {
  const [head, ...rows] = parseRows(text)
  if (head === undefined) return []
  const names = head.map(nameOf)
  return rows.map((row) => {
    const item = Object.create(null) as Record<string, AttributeValue>
    for (let at = 0; at < names.length; at++) {
      const content = row[at] ?? ''
      if (content !== '') item[names[at] as string] = valueOf(content)
    }
    return item
  })
}

function nameOf(text: string): string {
  const value = valueOf(text)
  return 'S' in value ? value.S : text
}

function valueOf(text: string): AttributeValue {
  if (/^\{"(?:S|N|B|BOOL|NULL|SS|NS|BS|L|M)":/.test(text)) {
    try {
      return JSON.parse(text) as AttributeValue
    } catch {
      return { S: text }
    }
  }
  return { S: text }
}

function parseRows(text: string): readonly (readonly string[])[] {
  const rows: string[][] = []
  let row: string[] = []
  let content = ''
  let isQuoted = false
  const endRow = (): void => {
    row.push(content)
    if (row.length > 1 || row[0] !== '') rows.push(row)
    row = []
    content = ''
  }
  for (let at = 0; at < text.length; at++) {
    const character = text[at] as string
    if (isQuoted) {
      if (character !== '"') content += character
      else if (text[at + 1] === '"') {
        content += '"'
        at++
      } else isQuoted = false
    } else if (character === '"') isQuoted = true
    else if (character === ',') {
      row.push(content)
      content = ''
    } else if (character === '\n') endRow()
    else if (character !== '\r') content += character
  }
  endRow()
  return rows
}
