import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DynamoError } from '../../src/model/errors.js'
import type { AttributeValue } from '../../src/model/value.js'
import { bindStatement, readStatement } from '../../src/partiql/partiql.js'

/** The message of the refusal; empty: the statement is taken. */
function messageOf(text: string, parameters: readonly AttributeValue[] = []): string {
  try {
    bindStatement(readStatement(text), parameters)
    return ''
  } catch (error) {
    assert.ok(error instanceof DynamoError, String(error))
    assert.equal(error.name, 'ValidationException')
    return error.message
  }
}

const NOT_WELL_FORMED = "Statement wasn't well formed, can't be processed: "
const OVERFLOW =
  'Number overflow. Attempting to store a number with magnitude larger than supported range under '

const refused: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  'a text that is no statement is told what stands where it should not': [
    [`SELECT * FROM "Tab" WHERE pk = 1 foo`, `${NOT_WELL_FORMED}Unexpected token after expression`],
    [`SELECT * FROM "Tab" WHERE pk = 1 e5`, `${NOT_WELL_FORMED}Unexpected token after expression`],
    [`SELECT * FROM "Tab" WHERE pk = 1)`, `${NOT_WELL_FORMED}Unexpected token after expression`],
    [`INSERT INTO "Tab" VALUE {'pk': 1} foo`, `${NOT_WELL_FORMED}Unexpected token after expression`],
    [`INSERT INTO "Tab" t VALUE {'pk': 'x'}`, `${NOT_WELL_FORMED}Unexpected token after expression`],
    [`DELETE FROM "Tab" WHERE pk = 1 ORDER BY pk`, `${NOT_WELL_FORMED}Unexpected token after expression`],
    [`SELECT * FROM "Tab" ORDER BY pk WHERE pk = 1`, `${NOT_WELL_FORMED}Unexpected token after expression`],
    [`FROM "Tab" SET c = 1 WHERE pk = 'x'`, `${NOT_WELL_FORMED}Unexpected token after expression`],
    [`SLECT * FROM "Tab" WHERE pk = 'x'`, `${NOT_WELL_FORMED}Expected data manipulation`],
    [`SELECT * FROM "Tab" WHERE`, `${NOT_WELL_FORMED}Unexpected term`],
    [`SELECT * FROM "Tab" WHERE;`, `${NOT_WELL_FORMED}Unexpected term`],
    [`UPDATE "Tab" SET a = 1 WHERE`, `${NOT_WELL_FORMED}Unexpected term`],
    [`SELECT * FROM "Tab" WHERE NOT`, `${NOT_WELL_FORMED}Unexpected term`],
    [`SELECT * FROM "Tab" WHERE (`, `${NOT_WELL_FORMED}Unexpected term`],
    [`SELECT * FROM`, `${NOT_WELL_FORMED}Unexpected term`],
    [
      `SELECT * FROM "Tab" WHERE pk = 'a' AND`,
      `${NOT_WELL_FORMED}Missing right-hand side expression of infix operator`,
    ],
    [`SELECT * FROM "Tab" WHERE ORDER BY pk`, `${NOT_WELL_FORMED}Unexpected keyword`],
    [`SELECT * FROM "Tab" WHERE IS NULL`, `${NOT_WELL_FORMED}Unexpected operator`],
    [`SELECT * FROM "Tab" WHERE pk = LIKE`, `${NOT_WELL_FORMED}Unexpected operator`],
    [`SELECT * FROM "Tab" WHERE x IS FOO`, `${NOT_WELL_FORMED}Expected type name`],
    [`SELECT * FROM "Tab" WHERE m.inner = 1`, `${NOT_WELL_FORMED}Invalid path dot component`],
    [`DELETE FROM`, `${NOT_WELL_FORMED}Expected identifier for simple path`],
    [`DELETE FROM WHERE pk = 'a'`, `${NOT_WELL_FORMED}Expected identifier for simple path`],
    [`SELECT * FROM "Tab" WHERE pk = 1e2147483648`, NOT_WELL_FORMED],
    [`SELECT * FROM "Tab" WHERE pk = 1.5e-2147483647`, NOT_WELL_FORMED],
    [`SELECT * FROM "Tab" WHERE pk = 1 # note`, NOT_WELL_FORMED],
    [`SELECT * FROM "Tab" WHERE pk = 1 /* note`, NOT_WELL_FORMED],
    [`SELECT * FROM "Tab`, NOT_WELL_FORMED],
  ],
  'a source that is no table is refused': [
    [`SELECT * FROM "Tab" t WHERE pk = 'x'`, 'Aliasing is not supported'],
    [`SELECT * FROM "Tab" AS t WHERE pk = 'x'`, 'Aliasing is not supported'],
    [`UPDATE "Tab" t SET a = 3 WHERE pk = 'x'`, 'Aliasing is not supported'],
    [`DELETE FROM "Tab" t WHERE pk = 'x'`, 'Aliasing is not supported'],
    [`SELECT * FROM "Tab"."idx"."x"`, 'A path may contain at most 2 components in the FROM clause'],
    [`SELECT * FROM ""`, 'Path component cannot be an empty string'],
    [`SELECT * FROM "Tab".""`, 'Path component cannot be an empty string'],
    [`UPDATE "Tab"."idx" SET a = 1 WHERE pk = 1`, 'This operation is not supported on an index'],
    [`SELECT * FROM "Tab", "Com"`, 'Only select from a single table or index is supported.'],
    [`x IS INT4`, 'Unsupported operation: IsType'],
  ],
  'a condition that DynamoDB does not have is refused': [
    [`SELECT * FROM Tab WHERE EXISTS(ss)`, 'Unrecognized function: exists at 1:25:6'],
    [`SELECT *\nFROM Tab WHERE foo(ss)`, 'Unrecognized function: foo at 2:16:3'],
    [`SELECT attribute_exists(ss) FROM Tab`, 'Unexpected path component at 1:8:16'],
    [
      `SELECT * FROM Tab WHERE attribute_exists('ss')`,
      'Operator or function requires a document path; operator or function: attribute_exists',
    ],
    [
      `SELECT * FROM Tab WHERE attribute_exists()`,
      'Incorrect number of operands for operator or function; operator or function: attribute_exists, number of operands: 0',
    ],
    [`SELECT * FROM Tab WHERE a`, 'WHERE clause must contain an expression that resolves to a boolean'],
    [`SELECT * FROM Tab WHERE a = 1 AND b`, 'The arguments to AND/OR must be Expressions'],
    [`SELECT * FROM Tab WHERE a + 1 = 2`, 'Unsupported operator in Condition Expression. Operator: +'],
    [`SELECT * FROM Tab WHERE a = MISSING`, 'MISSING must be compared using IS operator'],
    [
      `SELECT * FROM Tab WHERE a < true`,
      'Incorrect operand type for operator or function; operator or function: <, operand type: BOOL',
    ],
    [
      `SELECT * FROM Tab WHERE attribute_type(a, 'X')`,
      'Invalid attribute type name found; type: X, valid types: {N,BS,L,B,NULL,M,S,SS,NS,BOOL}',
    ],
    [
      `SELECT l[-1] FROM Tab WHERE a = 1`,
      'List index is not within the allowable range; index: [-1] at 1:11:1',
    ],
    [`SELECT m.x, x FROM Tab`, 'Duplicate identifiers in select clause: x'],
  ],
  'a literal that cannot be stored is told with its place': [
    [`SELECT * FROM Tab WHERE pk = 1e126`, `${OVERFLOW}root`],
    [`INSERT INTO Tab VALUE {'pk': 1, 'm': {'x': 1e126}}`, `${OVERFLOW}root.x`],
    [`INSERT INTO Tab VALUE {'pk': 1, 'l': [1, 1e126]}`, `${OVERFLOW}root[1]`],
    [`INSERT INTO Tab VALUE {'pk': 1, 's': <<>>}`, 'Empty bags are not supported'],
    [
      `INSERT INTO Tab VALUE {'pk': 1, 's': <<1, 'a'>>}`,
      'Unsupported data type in Bag. DynamoDB only supports either numbers or strings in bags',
    ],
    [
      `INSERT INTO Tab VALUE {'pk': 1, 's': <<2, 2.0>>}`,
      'One or more parameter values were invalid: Input collection [2, 2.0] contains duplicates! under root',
    ],
    [
      `INSERT INTO Tab VALUE {'pk': 'i', 'ss': set_add(<<'a'>>, <<'b'>>)}`,
      'Unsupported data type: set_add under key root at 1:41:7',
    ],
    [
      `UPDATE Tab SET d = ${`{'a':`.repeat(32)}1${'}'.repeat(32)} WHERE pk = 1`,
      `Nesting Levels have exceeded supported limits under root${'.a'.repeat(32)}`,
    ],
  ],
  'an update that DynamoDB does not have is refused': [
    [
      `UPDATE Tab SET t = set_add(ss, <<'x'>>) WHERE pk = 1`,
      'The first argument to SET_ADD must equal the assignment value at 1:20:7',
    ],
    [
      `UPDATE Tab SET ss = set_add(ss, 'x') WHERE pk = 1`,
      'The second argument to SET_ADD must be a value with type SET at 1:29:2',
    ],
    [`UPDATE Tab SET ss = set_add(ss) WHERE pk = 1`, 'SET_ADD must have exactly two arguments at 1:21:7'],
    [`UPDATE Tab SET a = a * 2 WHERE pk = 1`, 'Unsupported operator in Update Expression. Operator: *'],
    [
      `UPDATE Tab SET a = 'a' + 1 WHERE pk = 1`,
      'Incorrect operand type for operator or function; operator or function: +, operand type: S',
    ],
    [
      `DELETE FROM Tab WHERE pk = 1 RETURNING MODIFIED OLD *`,
      'Invalid returning clause: RETURNING MODIFIED OLD *. Only RETURNING ALL OLD * is allowed in DELETE statements.',
    ],
    [`INSERT INTO Tab VALUE {'pk': 1} RETURNING ALL OLD *`, 'RETURNING is not supported in INSERT'],
    [`SELECT * FROM Tab WHERE pk = ?`, "Number of parameters in request and statement don't match."],
  ],
}

for (const [sentence, cases] of Object.entries(refused))
  describe(`PartiQL: ${sentence}`, () => {
    for (const [text, message] of cases) test(text.slice(0, 80), () => assert.equal(messageOf(text), message))
  })

test('PartiQL: a parameter of set_add has to be a set', () => {
  const text = 'UPDATE Tab SET ss = set_add(ss, ?) WHERE pk = 1'
  assert.equal(messageOf(text, [{ SS: ['a'] }]), '')
  assert.equal(
    messageOf(text, [{ S: 'a' }]),
    'The second argument to SET_ADD must be a value with type SET at 1:29:2',
  )
})

test('PartiQL: comments, any case, quoted names and signs are read', () => {
  for (const text of [
    `-- a note\nselect * from "Tab" where pk = 'a' -- another`,
    `SELECT/**/* FROM Tab /* x */ WHERE "pk" = 'it''s' AND n = - - 1;`,
    `SELECT "#odd", "a b"."c" FROM Tab WHERE n BETWEEN - 2 AND +5 AND n IN (1, .5, 2e3)`,
    `SELECT * FROM Tab WHERE attribute_exists(n) = true AND (n BETWEEN 0 AND 5) = true AND size(s) <> 3`,
    `FROM Tab WHERE pk = 'a' SET a = 1 SET b = list_append(b, [1]) REMOVE c RETURNING ALL NEW *`,
    `UPDATE Tab SET a = if_not_exists(a, 0) + 1 - 2, m."x" = <<'a'>> WHERE pk = 'a'`,
  ])
    assert.equal(messageOf(text), '', text)
})

test('PartiQL: a statement as deep or as long as a text may be does not exhaust the stack', () => {
  const TOO_MANY = 'The expression contains too many operators; operator count: 301'
  const fill = (before: string, piece: string, after = ''): string =>
    `${before}${piece.repeat(Math.floor((8192 - before.length - after.length) / piece.length))}${after}`
  const where = 'SELECT * FROM Tab WHERE '
  for (const text of [
    fill(where, '('),
    fill(where, 'NOT '),
    fill(`${where}a = `, '- '),
    fill(`${where}a = `, '['),
    fill(`${where}a = `, `{'a':`),
    fill(`${where}a = 1`, ' OR a=1'),
    fill('UPDATE Tab SET a = 1', '+1'),
    fill(`${where}a`, '(a', ')'),
  ])
    assert.equal(messageOf(text), TOO_MANY, text.slice(0, 40))
  assert.match(messageOf(`SELECT * FROM Tab WHERE a = '${'x'.repeat(8192)}'`), /wasn't well formed/)
  assert.equal(messageOf(fill(`${where}a = '`, 'x', `'`)), '')
})
