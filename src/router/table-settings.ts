// Settings of a table that are kept and echoed: encryption at rest and the table class.
import { validationError } from '../model/errors.js'
import { invalid } from './table-definition.js'
import type { EncryptionInput } from './table-shapes.js'

const TABLE_CLASSES = ['STANDARD', 'STANDARD_INFREQUENT_ACCESS']

export function checkTableClass(tableClass: string | undefined): void {
  if (tableClass === undefined || TABLE_CLASSES.includes(tableClass)) return
  throw validationError(
    `Invalid table-class parameter provided. Please try again with a valid table-class value: [${TABLE_CLASSES.join(', ')}].`,
  )
}

export function checkEncryption(encryption: EncryptionInput | undefined): void {
  if (encryption === undefined) return
  const { Enabled: enabled, SSEType: type, KMSMasterKeyId: key } = encryption
  if (enabled !== true) {
    if (type !== undefined) throw invalid('SSEType can not be specified if Enabled is false')
    if (key !== undefined) throw invalid('KMSMasterKeyId can not be specified if Enabled is false')
    return
  }
  if (type === 'AES256') throw invalid('SSEType AES256 is not supported')
  if (key !== undefined && type === undefined)
    throw invalid('SSEType KMS is required if KMSMasterKeyId is specified')
}

/** Only a record of what was asked for: encrypting the disk is up to whoever runs the store. */
export function describeEncryption(encryption: EncryptionInput): Readonly<Record<string, unknown>> {
  return {
    Status: 'ENABLED',
    SSEType: 'KMS',
    ...(encryption.KMSMasterKeyId !== undefined && { KMSMasterKeyArn: encryption.KMSMasterKeyId }),
  }
}
