// Which way to commit: Seriatim's own where the endpoint is Seriatim, otherwise one that makes do with DynamoDB.
import { clientRuntime } from '../runtime/real-runtime.js'
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import type { Runtime } from '../runtime/runtime.js'
import { clientEndpoint, type Endpoint, type ExtendedEndpoint } from './endpoint/endpoint.js'
import { intentsProtocol } from './intents/intents-protocol.js'
import { patienceOf } from './intents/protocol/limits.js'
import { nativeProtocol } from './native/native.js'
import { Probe } from './endpoint/probe.js'
import type { Protocol } from './unit/protocol.js'
import type { AnyTables, TableMap, Transactor, TransactorOptions } from './unit/transactor.js'
import { reportError, unitTransactor } from './unit/unit-transactor.js'

/**
 * Units of work through a `DynamoDBClient`, on Seriatim or on any other endpoint. With a type map of the tables, wrong use
 * does not compile.
 *
 * @example
 *   const mine = transactor(client)
 *   await mine.transact(async (tx) => {
 *     const account = await tx.get('Accounts', { id: 'alice' })
 *     if (account === undefined || account.balance < 100) return tx.abort('insufficient funds')
 *     tx.update('Accounts', { id: 'alice' }, { add: { balance: -100 } })
 *     tx.put('Books', { id: 'b2', title: 'Persuasion', price: 100 })
 *   })
 */
export function transactor<Tables extends TableMap<Tables> = AnyTables>(
  client: DynamoDBClient,
  options: TransactorOptions = {},
): Transactor<Tables> {
  return endpointTransactor(clientEndpoint(client), options, clientRuntime())
}

/** The same on an endpoint without an SDK client: a store in this process, or one in a test. */
export function endpointTransactor<Tables extends TableMap<Tables> = AnyTables>(
  endpoint: ExtendedEndpoint,
  options: TransactorOptions,
  runtime: Runtime,
): Transactor<Tables> {
  const { protocol = 'auto' } = options
  if (protocol === 'seriatim')
    return unitTransactor(() => native(endpoint, options, runtime), options, runtime)
  if (protocol !== 'auto')
    return unitTransactor(() => foreignProtocol(endpoint, options, runtime), options, runtime)
  const probe = new Probe(endpoint)
  const probed = async (): Promise<Protocol> =>
    (await probe.kind()) === 'seriatim'
      ? native(endpoint, options, runtime)
      : foreignProtocol(endpoint, options, runtime)
  return unitTransactor(probed, options, runtime)
}

/** Conditional writes and, where the endpoint has it, TransactWriteItems. */
function foreignProtocol(endpoint: Endpoint, options: TransactorOptions, runtime: Runtime): Protocol {
  const { protocol = 'auto', record, guards, parallelism, patience = {} } = options
  const { requestMs, ...others } = patience
  return intentsProtocol(endpoint, runtime, {
    protocol: protocol === 'seriatim' ? 'auto' : protocol,
    ...(record !== undefined && { record }),
    ...(guards !== undefined && { guards }),
    requests: { requestMs, parallelism },
    patience: patienceOf(others),
    onError: (error) => reportError(options, error),
  })
}

const native = (endpoint: ExtendedEndpoint, options: TransactorOptions, runtime: Runtime): Protocol =>
  nativeProtocol(endpoint, runtime, { table: options.record, commitMs: options.patience?.commitMs })
