// RequestItems of a batch: table names, or their ARNs, as the keys of a map.
import { validationError } from '../../model/errors.js'
import { tableNameShape } from '../shapes/shape.js'
import { tableNameOf } from '../shapes/table-name.js'

const { lengthMin = 1, lengthMax = 255, pattern = '.*' } = tableNameShape
const NAME = new RegExp(`^${pattern}$`)

/** The plain name of the table that a key of RequestItems stands for. */
export function batchTableName(key: string): string {
  if (key.startsWith('arn:')) return tableNameOf(key)
  if (key.length >= lengthMin && key.length <= lengthMax && NAME.test(key)) return key
  throw validationError(
    `1 validation error detected: Value '{${key}=...}' at 'requestItems' failed to satisfy constraint: ` +
      `Map keys must satisfy constraint: [Member must have length less than or equal to ${lengthMax}, ` +
      `Member must have length greater than or equal to ${lengthMin}, ` +
      `Member must satisfy regular expression pattern: ${pattern}]`,
  )
}
