// Units of work on Seriatim: in this process, through the SDK without a socket, and over HTTP.
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { open } from '../../../src/store/store.js'
import { clientEndpoint } from '../../../src/toolkit/endpoint/endpoint.js'
import { transactor } from '../../../src/toolkit/index.js'
import { testTransactor, type TransactorFeatures, type TransactorSubject } from '../../suites/transactor.js'

const everything: TransactorFeatures = {
  snapshots: true,
  precision: true,
  adds: true,
  locks: true,
  globalIndexes: true,
}

const inProcess = async (nodes: number): Promise<TransactorSubject> => {
  const store = await open({ memory: true, nodes })
  return {
    transactor: (options) => store.transactor(options),
    plain: { call: (operation, input) => store.call(operation, input) },
    close: () => store.close(),
  }
}

async function overHttp(): Promise<TransactorSubject> {
  const store = await open({ memory: true })
  const server = await store.listen({ port: 0 })
  const client = new DynamoDBClient({
    region: 'us-east-1',
    endpoint: server.url,
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  })
  return {
    transactor: (options) => transactor(client, options),
    plain: clientEndpoint(client),
    close: async () => {
      client.destroy()
      await store.close()
    },
  }
}

testTransactor('units in this process, one node', () => inProcess(1), everything)
testTransactor('units in this process, four nodes', () => inProcess(4), everything)
testTransactor('units over HTTP with the SDK', overHttp, everything)
