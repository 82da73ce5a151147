// Settings of a table that are kept and echoed: encryption at rest, the table class, limits of on-demand throughput.
import { validationError } from '../../../model/errors.js'
import { managedKeyArn } from '../../shapes/table-name.js'
import { invalid } from './table-definition.js'
import type { BillingMode, Throughput, WarmThroughput } from './table-record.js'
import type { EncryptionInput, OnDemandThroughputInput, WarmThroughputInput } from './table-shapes.js'

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

/** The key of the account, where the request named none. */
export const shownEncryption = (
  encryption: Readonly<Record<string, unknown>>,
  region: string | undefined,
): object => ({ KMSMasterKeyArn: managedKeyArn(region), ...encryption })

/** The limits of on-demand throughput; nothing is throttled by them. `clearing`: the value that takes a limit away. */
export function checkOnDemandThroughput(
  input: OnDemandThroughputInput | undefined,
  billingMode: BillingMode,
  what: 'table' | `index ${string}`,
  clearing?: number,
): void {
  for (const name of ['MaxReadRequestUnits', 'MaxWriteRequestUnits'] as const) {
    const units = input?.[name]
    if (units === undefined) continue
    if (billingMode === 'PROVISIONED') {
      throw invalid(
        `${name} for OnDemandThroughput cannot be specified when the table BillingMode is PROVISIONED`,
      )
    }
    if (units < 1 && units !== clearing) {
      throw invalid(`Requested ${name} for OnDemandThroughput for ${what} is outside of valid range`)
    }
  }
}

/** What an on-demand table begins with. */
const WARM_ON_DEMAND: WarmThroughput = { readUnits: 12_000, writeUnits: 4_000 }

/**
 * What a table or an index is to be ready for, which may only grow: from what it was set to before, or what it begins with.
 * Only a record of it: nothing here has to be warmed up.
 */
export function warmedThroughput(
  input: WarmThroughputInput | undefined,
  { billingMode, throughput }: { readonly billingMode: BillingMode; readonly throughput: Throughput },
  current: WarmThroughput | undefined,
  what: 'table' | `index ${string}`,
  moment: 'made' | 'updated',
): WarmThroughput | undefined {
  if (input === undefined) return current
  const least = current ?? (billingMode === 'PROVISIONED' ? throughput : WARM_ON_DEMAND)
  const wanted = {
    readUnits: Math.trunc(input.ReadUnitsPerSecond ?? least.readUnits),
    writeUnits: Math.trunc(input.WriteUnitsPerSecond ?? least.writeUnits),
  }
  const lowered =
    wanted.readUnits < least.readUnits
      ? 'ReadUnitsPerSecond'
      : wanted.writeUnits < least.writeUnits
        ? 'WriteUnitsPerSecond'
        : undefined
  if (lowered === undefined) return wanted
  throw invalid(
    `Requested ${lowered} for WarmThroughput for ${what} is lower than ` +
      (moment === 'made'
        ? `initial throughput for ${billingMode === 'PROVISIONED' ? 'Provisioned' : 'OnDemand'}`
        : 'current WarmThroughput, decreasing WarmThroughput is not supported'),
  )
}
