// The dearest requests of statements, vectors, streams and ledgers.
import { randomUUID } from 'node:crypto'
import { limits } from '../../src/model/limits.js'
import {
  anyOf,
  BODY_BYTES,
  DYNAMO,
  fill,
  longText,
  nulls,
  OWN,
  refused,
  TABLE,
  times,
  type WorstRequest,
} from './requests.js'

const NULLS = 'Worst-nulls'
const VECTORS = 'Worst-vectors'
const STREAMED = 'Worst-streamed'
const LEDGER = 'Worst-ledger'
const STREAMS = 'DynamoDBStreams_20120810.'

const statement = (text: string): string => `{"Statement":${JSON.stringify(text)}}`
const batch = (texts: readonly string[]): string => `{"Statements":[${texts.map(statement).join(',')}]}`
const transaction = (texts: readonly string[]): string =>
  `{"TransactStatements":[${texts.map(statement).join(',')}]}`
const some = <Each>(count: number, made: (at: number) => Each): readonly Each[] =>
  Array.from({ length: count }, (_, at) => made(at))

const valid = (
  name: string,
  target: string,
  body: WorstRequest['body'],
  before: WorstRequest['before'] = [],
): WorstRequest => ({ name, target, kind: 'valid', body, before })

const projected = (at: number): string => `SELECT a[1] FROM "${NULLS}" WHERE id='${at}'`
/** As long as a statement may be, or nearly so. */
const nested = (piece: string, end: string): string =>
  `SELECT * FROM "${TABLE}" WHERE ${piece.repeat(Math.floor(7_900 / (piece.length + end.length)))}id='a'${end.repeat(Math.floor(7_900 / (piece.length + end.length)))}`

const statements: readonly WorstRequest[] = [
  valid('BatchExecuteStatement: 25 of 400 KB of nulls, projected', `${DYNAMO}BatchExecuteStatement`, () =>
    batch(some(25, projected)),
  ),
  valid('BatchExecuteStatement: 25 of 400 KB of nulls', `${DYNAMO}BatchExecuteStatement`, () =>
    batch(some(25, (at) => `SELECT * FROM "${NULLS}" WHERE id='${at}'`)),
  ),
  valid('BatchExecuteStatement: updates of 25 of 400 KB of nulls', `${DYNAMO}BatchExecuteStatement`, () =>
    batch(some(25, (at) => `UPDATE "${NULLS}" SET c=1 WHERE id='${at}' RETURNING ALL NEW *`)),
  ),
  valid('ExecuteTransaction: 10 of 400 KB of nulls, projected', `${DYNAMO}ExecuteTransaction`, () =>
    transaction(some(10, projected)),
  ),
  valid('ExecuteTransaction: updates of 25 of 400 KB of nulls', `${DYNAMO}ExecuteTransaction`, () =>
    transaction(some(25, (at) => `UPDATE "${NULLS}" SET c=1 WHERE id='${at}'`)),
  ),
  valid('ExecuteStatement: 50 of 400 KB of nulls, projected', `${DYNAMO}ExecuteStatement`, () =>
    statement(`SELECT a[1] FROM "${NULLS}" WHERE id IN [${times(50, (at) => `'${at}'`)}]`),
  ),
  valid('ExecuteStatement: small items, many comparisons', `${DYNAMO}ExecuteStatement`, () =>
    statement(`SELECT * FROM "${TABLE}" WHERE id='small' AND (${anyOf(() => 'c<-1')})`),
  ),
  valid('ExecuteStatement: UPDATE with 8 KB of SET', `${DYNAMO}ExecuteStatement`, () =>
    statement(
      `UPDATE "${NULLS}" ${times(250, (at) => `SET a[${at}]=NULL`, ' ')} WHERE id='1' RETURNING ALL NEW *`,
    ),
  ),
  refused('a statement of brackets', `${DYNAMO}ExecuteStatement`, () => statement(nested('(', ')'))),
  refused('a statement of NOT', `${DYNAMO}ExecuteStatement`, () => statement(nested('NOT ', ''))),
  refused('a statement of comments', `${DYNAMO}ExecuteStatement`, () => statement('/**/'.repeat(2_000))),
  refused('a statement of lists', `${DYNAMO}ExecuteStatement`, () =>
    statement(`INSERT INTO "${TABLE}" VALUE {'id': 'a', 'b': ${'['.repeat(3_900)}${']'.repeat(3_900)}}`),
  ),
  refused('a statement of 16 MB', `${DYNAMO}ExecuteStatement`, () =>
    statement(`SELECT ${'x,'.repeat(BODY_BYTES / 2 - 1024)}`),
  ),
  refused(
    'a million parameters',
    `${DYNAMO}ExecuteStatement`,
    () => `{"Statement":"SELECT * FROM t WHERE id=?","Parameters":[${fill('{"N":"1"}')}]}`,
  ),
  refused(
    'a million statements',
    `${DYNAMO}BatchExecuteStatement`,
    () => `{"Statements":[${fill('{"Statement":"x"}')}]}`,
  ),
]

const vector = (count: number, number = '1'): string => times(count, () => `{"N":"${number}"}`)
const DIMENSIONS = limits.dimensionsMax
const LONG_NUMBER = `-0.${'1234567890'.repeat(4).slice(0, 37)}`
const near = (index: string, more = ''): string =>
  `{"TableName":"${VECTORS}","IndexName":"${index}","SearchVector":[${vector(DIMENSIONS, LONG_NUMBER)}],"TopK":100${more}}`

const searches: readonly WorstRequest[] = [
  valid('SearchVectors: 100 of 4,096 dimensions', `${DYNAMO}SearchVectors`, () => near('all')),
  valid(
    'SearchVectors: keys of 100 with 4,096 dimensions',
    `${DYNAMO}SearchVectors`,
    () => `${near('keys').slice(0, -1)}}`,
  ),
  refused(
    'SearchVectors: a vector of 16 MB',
    `${DYNAMO}SearchVectors`,
    () => `{"TableName":"${VECTORS}","IndexName":"all","TopK":100,"SearchVector":[${fill('{"N":"1"}')}]}`,
  ),
  refused(
    'SearchVectors: a vector of nothings',
    `${DYNAMO}SearchVectors`,
    () => `{"TableName":"${VECTORS}","IndexName":"all","TopK":100,"SearchVector":[${fill('{}')}]}`,
  ),
  refused(
    'SearchVectors: a million names',
    `${DYNAMO}SearchVectors`,
    () =>
      `{"TableName":"${VECTORS}","IndexName":"all","TopK":1,"SearchVector":[],"ExpressionAttributeNames":{${times(900_000, (at) => `"#${at}":"a"`)}}}`,
  ),
  refused(
    'SearchVectors: unknown members',
    `${DYNAMO}SearchVectors`,
    () => `{"TableName":"${VECTORS}",${times(900_000, (at) => `"k${at}":0`)}}`,
  ),
]

const remove = (table: string, id: string): string =>
  `{"Delete":{"TableName":"${table}","Key":{"id":{"S":"${id}"}}}}`
const putOf = (table: string, id: string, attribute: string): string =>
  `{"TableName":"${table}","Item":{"id":{"S":"${id}"},${attribute}}}`

const streams: readonly WorstRequest[] = [
  valid(
    'TransactWriteItems: 40 of 400 KB deleted, with both images',
    `${DYNAMO}TransactWriteItems`,
    () => `{"TransactItems":[${times(40, (at) => remove(STREAMED, `a${at}`))}]}`,
    some(40, (at) => [`${DYNAMO}PutItem`, () => putOf(STREAMED, `a${at}`, longText())] as const),
  ),
  valid(
    'UpdateItem: 400 KB of nulls, with both images',
    `${DYNAMO}UpdateItem`,
    () =>
      `{"TableName":"${STREAMED}","Key":{"id":{"S":"n"}},"UpdateExpression":"ADD c :x","ExpressionAttributeValues":{":x":{"N":"1"}},"ReturnValues":"ALL_NEW"}`,
    [[`${DYNAMO}PutItem`, () => putOf(STREAMED, 'n', nulls())]],
  ),
  valid(
    'GetRecords: the images of 40 of 400 KB',
    `${STREAMS}GetRecords`,
    (answers) => `{"ShardIterator":"${found('ShardIterator', answers)}"}`,
    [
      [`${DYNAMO}DescribeTable`, () => `{"TableName":"${STREAMED}"}`],
      [`${STREAMS}DescribeStream`, (answers) => `{"StreamArn":"${found('LatestStreamArn', answers)}"}`],
      [
        `${STREAMS}GetShardIterator`,
        (answers) =>
          `{"StreamArn":"${found('LatestStreamArn', answers)}","ShardId":"${found('ShardId', answers)}","ShardIteratorType":"TRIM_HORIZON"}`,
      ],
    ],
  ),
]

/** What an answer says of that member. */
function found(member: string, answers: readonly string[]): string {
  for (const answer of answers) {
    const [, value] = new RegExp(`"${member}":"([^"]*)"`).exec(answer) ?? []
    if (value !== undefined) return value
  }
  throw new Error(`no ${member} in ${answers.join(' ').slice(0, 500)}`)
}

/** Another unit of work each time: one that is sent again makes no further block. */
const blockOf = (count: number, attribute: string): string =>
  `{"Unit":{"Id":"${randomUUID()}","Isolation":"serializable"},"TransactItems":[${times(count, (at) => `{"Put":${putOf(LEDGER, `b${at}`, attribute)}}`)}]}`
const largeBlock = (): string => blockOf(39, longText())
/** As many as fit into a request. */
const nullsBlock = (): string => blockOf(5, nulls())
const longBlock = (): string => blockOf(10_000, '"b":{"S":"b"}')

const ofBlock = (
  name: string,
  target: string,
  body: (transaction: string) => string,
  block: () => string,
): WorstRequest =>
  valid(name, `${OWN}${target}`, (answers) => body(found('TransactionId', answers)), [
    [`${OWN}UnitCommit`, block],
    [`${OWN}GetRevision`, () => `{"TableName":"${LEDGER}","Key":{"id":{"S":"b1"}}}`],
  ])

const byTransaction = (id: string): string => `{"TransactionId":"${id}"}`

const ledger: readonly WorstRequest[] = (
  [
    ['16 MB', largeBlock],
    ['16 MB of nulls', nullsBlock],
    ['10,000 items', longBlock],
  ] as const
).flatMap(([name, block]) => [
  ofBlock(`GetBlock: of ${name}`, 'GetBlock', byTransaction, block),
  ofBlock(`ListRevisions: a block of ${name}`, 'ListRevisions', byTransaction, block),
  ofBlock(
    `GetRevision: of a block of ${name}`,
    'GetRevision',
    (id) => `{"TableName":"${LEDGER}","Key":{"id":{"S":"b1"}},"TransactionId":"${id}"}`,
    block,
  ),
  valid(
    `RedactRevision: of a block of ${name}`,
    `${OWN}RedactRevision`,
    (answers) =>
      `{"TableName":"${LEDGER}","Key":{"id":{"S":"b1"}},"Version":${Number(/"Version":(\d+)/.exec(answers[2] ?? '')?.[1]) - 1}}`,
    [
      // The current revision of an item is not redacted, so there has to be another one.
      [`${OWN}UnitCommit`, block],
      [`${OWN}UnitCommit`, block],
      [`${OWN}GetRevision`, () => `{"TableName":"${LEDGER}","Key":{"id":{"S":"b1"}}}`],
    ],
  ),
])

export const LATER_REQUESTS: readonly WorstRequest[] = [...statements, ...searches, ...streams, ...ledger]

/** What they are asked of. */
export function* laterTables(): Generator<readonly [operation: string, body: string]> {
  const on = `"BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],"KeySchema":[{"AttributeName":"id","KeyType":"HASH"}]`
  const index = (name: string, projection: string): string =>
    `{"IndexName":"${name}","VectorAttribute":{"AttributeName":"v"},"Dimensions":${DIMENSIONS},"DistanceFunction":"COSINE","Projection":{"ProjectionType":"${projection}"}}`
  yield ['CreateTable', `{"TableName":"${NULLS}",${on}}`]
  yield [
    'CreateTable',
    `{"TableName":"${VECTORS}",${on},"VectorIndexes":[${index('all', 'ALL')},${index('keys', 'KEYS_ONLY')}]}`,
  ]
  yield [
    'CreateTable',
    `{"TableName":"${STREAMED}",${on},"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_AND_OLD_IMAGES"}}`,
  ]
  yield ['CreateTable', `{"TableName":"${LEDGER}",${on},"Tags":[{"Key":"seriatim:ledger","Value":"true"}]}`]
  for (let at = 0; at < 50; at++) yield ['PutItem', putOf(NULLS, String(at), nulls())]
  for (let at = 0; at < 150; at++)
    yield ['PutItem', putOf(VECTORS, String(at), `"v":{"L":[${vector(DIMENSIONS, LONG_NUMBER)}]}`)]
}
