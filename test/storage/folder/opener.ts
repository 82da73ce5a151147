// Opens a data folder, whatever format it has, and closes it: a process that is killed on the way.
import { open } from '../../../src/store/store.js'

const store = await open({ path: process.argv[2] as string, ledgerCopies: 'adopt' })
await store.close()
