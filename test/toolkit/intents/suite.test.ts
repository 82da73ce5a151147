// Units of work on endpoints without Seriatim's own protocol.
import { clientRuntime } from '../../../src/runtime/real-runtime.js'
import { test } from 'node:test'
import { endpointTransactor } from '../../../src/toolkit/open-transactor.js'
import { MOTO_MISSING } from '../../support/moto.js'
import { sized } from '../../support/sizes.js'
import {
  testTransactor,
  type TransactorFeatures,
  type TransactorSubject,
  type TransactorTests,
} from '../../suites/transactor.js'
import {
  dynalitePlace,
  dynamoDbLocal,
  fleet,
  intentsTransactor,
  localFolder,
  motoPlace,
  motoProgram,
  type Place,
  seriatim,
} from './endpoints.js'
import type { IntentsOptions } from '../../../src/toolkit/intents/intents-protocol.js'

const features: TransactorFeatures = {
  snapshots: false,
  precision: true,
  adds: false,
  locks: true,
  globalIndexes: false,
}

/** On servers that are slow to start and to answer. */
const onSlow = sized<TransactorTests>('some', 'all')

/** A guard stands for its whole partition. */
const guarded: TransactorFeatures = { ...features, precision: false }

const subject =
  (place: () => Promise<Place>, settings?: IntentsOptions) => async (): Promise<TransactorSubject> => {
    const opened = await place()
    const { endpoint } = opened
    return {
      transactor: (options = {}) =>
        settings === undefined
          ? endpointTransactor(endpoint, options, clientRuntime())
          : intentsTransactor(endpoint, settings, options),
      plain: endpoint,
      close: () => opened.close(),
    }
  }

testTransactor('units on Seriatim, its own protocol switched off', subject(seriatim), features)
testTransactor(
  'units on Seriatim by conditional writes',
  subject(seriatim, { protocol: 'intents' }),
  features,
)
testTransactor('units on Seriatim, every one by intents', subject(seriatim, { always: true }), features)
testTransactor('units on a fleet', subject(fleet), features)
testTransactor('units on Seriatim with guards', subject(seriatim, { guards: { Orders: 'rely' } }), guarded)
testTransactor(
  'units on Seriatim with guards, every one by intents',
  subject(seriatim, { guards: { Orders: 'rely' }, always: true }),
  guarded,
)
testTransactor('units on dynalite', subject(dynalitePlace), features, onSlow)
testTransactor(
  'units on dynalite with guards',
  subject(dynalitePlace, { guards: { Orders: 'rely' } }),
  guarded,
  onSlow,
)
if (localFolder === undefined)
  test('units on DynamoDB Local', { skip: 'DYNAMODB_LOCAL names no folder that has it' }, () => undefined)
else {
  testTransactor('units on DynamoDB Local', subject(dynamoDbLocal), features, onSlow)
  testTransactor(
    'units on DynamoDB Local by conditional writes',
    subject(dynamoDbLocal, { protocol: 'intents' }),
    features,
    onSlow,
  )
}
if (motoProgram === undefined) test('units on moto', { skip: MOTO_MISSING }, () => undefined)
else testTransactor('units on moto', subject(motoPlace), features, onSlow)
