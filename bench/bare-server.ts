// The ceiling of anything on node:http: parses the body, and answers as many bytes as the operation's answer has.
import { createServer } from 'node:http'
import { ANSWERS } from './workloads.js'

createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    JSON.parse(Buffer.concat(chunks).toString())
    const operation = String(request.headers['x-amz-target']).split('.')[1] ?? ''
    const answer = ANSWERS.get(operation) ?? EMPTY
    response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0', 'content-length': answer.length })
    response.end(answer)
  })
}).listen(Number(process.argv[2]), '127.0.0.1')

const EMPTY = Buffer.from('{}')
