// What coordinators and recovery may ask of a storage node and of its ledger over a network: written down once, since a
// method that is left out is not there for them.
import type { Ledger } from '../src/ledger/ledger.js'
import type { TransactionNode } from '../src/storage/contract/transactions.js'
import type { UnitNode } from '../src/storage/contract/units.js'

export const TRANSACTION_METHODS: readonly (keyof TransactionNode)[] = [
  'prepare',
  'commit',
  'cancel',
  'finished',
  'transact',
  'readAt',
  'readLatest',
  'stalled',
]

/** A number that a node shows to who runs in its process. */
export type CalledUnitNode = Omit<UnitNode, 'unitsHeld'>

export const UNIT_METHODS: readonly (keyof CalledUnitNode)[] = [
  'openSnapshot',
  'closeSnapshot',
  'readSnapshot',
  'rangeAt',
  'lockItems',
  'unlockItems',
]

export const LEDGER_METHODS: readonly (keyof Ledger)[] = [
  'begin',
  'decide',
  'complete',
  'read',
  'unfinished',
  'recent',
  'purge',
]
