import { jsonReply } from '../request/reply.js'
import { tableNameShape } from '../shapes/shape.js'
import { streamArn, streamOfArn, tableNameOf } from '../shapes/table-name.js'
import { tableOperation } from '../tables/table-operation.js'
import { PAGE_MAX, pageLimitShape, streamArnShape } from './stream-request.js'

interface ListStreamsInput {
  readonly TableName?: string
  readonly Limit?: number
  readonly ExclusiveStartStreamArn?: string
}

/** Both may be absent. */
const { required: _nameRequired, ...optionalName } = tableNameShape
const { required: _arnRequired, ...optionalArn } = streamArnShape

export const listStreams = tableOperation<ListStreamsInput>({
  name: 'ListStreams',
  shape: {
    kind: 'struct',
    members: {
      TableName: { ...optionalName, lengthMin: 3 },
      Limit: pageLimitShape,
      ExclusiveStartStreamArn: optionalArn,
    },
  },

  run(catalog, input, scope) {
    const { region } = scope.addressed
    const streamsMax = input.Limit ?? PAGE_MAX
    const name = input.TableName === undefined ? undefined : tableNameOf(input.TableName)
    const after = input.ExclusiveStartStreamArn
    const start = after === undefined ? undefined : streamOfArn(after)
    const page: Readonly<Record<'StreamArn' | 'TableName' | 'StreamLabel', string>>[] = []
    for (const { tableName, label } of catalog.streams()) {
      if (name !== undefined && tableName !== name) continue
      // By name and not by place: the stream with which a page ended may be gone by now.
      if (start !== undefined && !isAfter({ tableName, label }, start)) continue
      if (!scope.allows(tableName, 'listed')) continue
      if (page.length === streamsMax)
        return jsonReply({ Streams: page, LastEvaluatedStreamArn: page.at(-1)?.StreamArn })
      page.push({
        StreamArn: streamArn(tableName, label, region),
        TableName: tableName,
        StreamLabel: label,
      })
    }
    return jsonReply({ Streams: page })
  },
})

interface Named {
  readonly tableName: string
  readonly label: string
}

const isAfter = (one: Named, other: Named): boolean =>
  one.tableName === other.tableName ? one.label > other.label : one.tableName > other.tableName
