// The ceiling of anything on node:http: parses the body, and answers as many bytes as the operation's answer has.
import { createServer } from 'node:http'
import { answerTo, ITEM_BYTES, type WorkloadOperation, QUERY_ITEMS } from '../../src/bench/load/workloads.js'

const itemBytes = Number(process.argv[3] ?? ITEM_BYTES)
const answers = new Map<string, Buffer>()

function answerFor(operation: WorkloadOperation | 'ListTables', items: number): Buffer {
  const name = `${operation} ${items}`
  let answer = answers.get(name)
  if (answer === undefined) {
    answer = Buffer.from(
      operation === 'ListTables' ? '{"TableNames":[]}' : answerTo(operation, items, itemBytes),
    )
    answers.set(name, answer)
  }
  return answer
}

createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const body = JSON.parse(Buffer.concat(chunks).toString()) as {
      readonly TransactItems?: readonly unknown[]
    }
    const operation = String(request.headers['x-amz-target']).split('.')[1] as WorkloadOperation
    const answer = answerFor(
      operation,
      operation === 'Query' ? QUERY_ITEMS : (body.TransactItems?.length ?? 1),
    )
    response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0', 'content-length': answer.length })
    response.end(answer)
  })
}).listen(Number(process.argv[2]), '127.0.0.1')
