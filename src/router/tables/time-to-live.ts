// UpdateTimeToLive and DescribeTimeToLive.
import { validationError } from '../../model/errors.js'
import { jsonReply } from '../request/reply.js'
import { administeredTableNameShape } from '../shapes/shape.js'
import { tableNameOf } from '../shapes/table-name.js'
import type { TableRecord } from './record/table-record.js'
import { tableOperation } from './table-operation.js'

interface UpdateTimeToLiveInput {
  readonly TableName: string
  readonly TimeToLiveSpecification: { readonly AttributeName: string; readonly Enabled: boolean }
}

export const updateTimeToLive = tableOperation<UpdateTimeToLiveInput>({
  name: 'UpdateTimeToLive',
  shape: {
    kind: 'struct',
    members: {
      TableName: administeredTableNameShape,
      TimeToLiveSpecification: {
        kind: 'struct',
        required: true,
        members: {
          AttributeName: { kind: 'string', required: true, lengthMin: 1, lengthMax: 255 },
          Enabled: { kind: 'boolean', required: true },
        },
      },
    },
  },

  async run(catalog, input, scope) {
    const name = tableNameOf(input.TableName)
    scope.authorise(name)
    const { AttributeName: attribute, Enabled: enabled } = input.TimeToLiveSpecification
    await catalog.change((draft) => {
      const record = draft.record(name)
      checkChange(record, attribute, enabled)
      const { timeToLive, ...rest } = record
      if (timeToLive !== undefined) {
        draft.drop(timeToLive.space)
        draft.put(rest)
      } else {
        draft.put({ ...rest, timeToLive: { attribute, space: draft.allocateSpace(), status: 'ENABLING' } })
      }
    })
    return jsonReply({ TimeToLiveSpecification: { Enabled: enabled, AttributeName: attribute } })
  },
})

function checkChange({ timeToLive }: TableRecord, attribute: string, enabled: boolean): void {
  if (timeToLive === undefined) {
    if (!enabled) throw validationError('TimeToLive is already disabled')
    return
  }
  if (timeToLive.attribute !== attribute) {
    throw validationError(
      `TimeToLive is active on a different AttributeName: current AttributeName is ${timeToLive.attribute}`,
    )
  }
  if (enabled) throw validationError('TimeToLive is already enabled')
}

export const describeTimeToLive = tableOperation<{ readonly TableName: string }>({
  name: 'DescribeTimeToLive',
  shape: { kind: 'struct', members: { TableName: administeredTableNameShape } },

  run(catalog, input, scope) {
    const name = tableNameOf(input.TableName)
    scope.authorise(name)
    const { timeToLive } = catalog.record(name)
    return jsonReply({
      TimeToLiveDescription:
        timeToLive === undefined
          ? { TimeToLiveStatus: 'DISABLED' }
          : { TimeToLiveStatus: timeToLive.status, AttributeName: timeToLive.attribute },
    })
  },
})
