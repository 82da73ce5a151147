import assert from 'node:assert/strict'
import { test } from 'node:test'
import { project } from '../../src/expression/expression.js'
import type { Item } from '../../src/model/value.js'
import { requestFor } from './request.js'

const item = JSON.parse(`{
  "n": { "N": "5" },
  "l": { "L": [{ "N": "0" }, { "N": "1" }, { "M": { "a": { "N": "1" }, "b": { "N": "2" } } }, { "N": "3" }] },
  "m": { "M": { "x": { "N": "1" }, "y": { "M": { "z": { "S": "zz" }, "w": { "S": "ww" } } }, "__proto__": { "S": "p" } } },
  "__proto__": { "S": "polluted" }
}`) as Item

const table: readonly (readonly [text: string, json: string])[] = [
  ['n', '{"n":{"N":"5"}}'],
  ['n, m.x', '{"n":{"N":"5"},"m":{"M":{"x":{"N":"1"}}}}'],
  ['m.x, m.y.w', '{"m":{"M":{"x":{"N":"1"},"y":{"M":{"w":{"S":"ww"}}}}}}'],
  ['l[3], l[0]', '{"l":{"L":[{"N":"0"},{"N":"3"}]}}'],
  ['l[2].b, l[1]', '{"l":{"L":[{"N":"1"},{"M":{"b":{"N":"2"}}}]}}'],
  ['l[2].b, l[2].a', '{"l":{"L":[{"M":{"b":{"N":"2"},"a":{"N":"1"}}}]}}'],
  ['l[0], l[9]', '{"l":{"L":[{"N":"0"}]}}'],
  ['l[9], yy, m.zz, l[2].zz, n.x, zz[0].b', '{}'],
  ['m . x', '{"m":{"M":{"x":{"N":"1"}}}}'],
  ['#proto, m.#proto', '{"__proto__":{"S":"polluted"},"m":{"M":{"__proto__":{"S":"p"}}}}'],
  ['#ctor', '{}'],
]

for (const [text, json] of table) {
  test(`projection ${JSON.stringify(text)}`, () => {
    assert.equal(JSON.stringify(project(requestFor(text).projection(text), item)), json)
  })
}
