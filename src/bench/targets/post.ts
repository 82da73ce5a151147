// One request, for setting up and cleaning up.
import { UNSIGNED_HEADERS } from '../load/request-bytes.js'

export async function post(endpoint: string, operation: string, input: object): Promise<unknown> {
  const response = await fetch(new URL('/', endpoint), {
    method: 'POST',
    headers: {
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': `DynamoDB_20120810.${operation}`,
      ...UNSIGNED_HEADERS,
    },
    body: JSON.stringify(input),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${operation}: ${text}`)
  return JSON.parse(text)
}
