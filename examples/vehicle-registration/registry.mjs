// A registration office, as Amazon's sample for QLDB has one: vehicles, persons, who owns which, transfers, and a history that
// the office cannot rewrite.
//
//   node registry.mjs FOLDER     writes FOLDER/title.tlog-proof, FOLDER/office.key, and FOLDER/ledger, a copy of the whole ledger
//
// check-title.mjs, which knows only the key, checks the title; `seriatim ledger verify FOLDER/ledger --key FOLDER/office.key` the copy.
import { randomUUID } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ledgerAt, open } from 'seriatim'

const [folder = 'office'] = process.argv.slice(2)
await mkdir(folder, { recursive: true })
const store = await open({ memory: true })
const t = store.transactor({ retry: { limit: 20 } })

// Tables: their every change is kept for good.
for (const [TableName, key] of [
  ['Person', 'id'],
  ['Vehicle', 'vin'],
  ['VehicleRegistration', 'vin'],
])
  await store.call('CreateTable', {
    TableName,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [{ AttributeName: key, AttributeType: 'S' }],
    KeySchema: [{ AttributeName: key, KeyType: 'HASH' }],
    Tags: [{ Key: 'seriatim:ledger', Value: 'true' }],
  })

const enrol = (firstName, lastName, licence) =>
  t.transact((tx) => {
    const id = randomUUID()
    tx.put('Person', { id, firstName, lastName, licence })
    return id
  })

const register = (vehicle, owner, plate) =>
  t.transact(async (tx) => {
    if ((await tx.get('Person', { id: owner })) === undefined) return tx.abort('no such person')
    tx.put('Vehicle', vehicle, { expression: 'attribute_not_exists(vin)' })
    tx.put('VehicleRegistration', { vin: vehicle.vin, plate, owner, secondaryOwners: [] })
  })

/** Read, decide, write: of two transfers at once one sees the other. */
const transfer = (vin, from, to) =>
  t.transact(async (tx) => {
    const registration = await tx.get('VehicleRegistration', { vin })
    if (registration === undefined) return tx.abort(`${vin} is not registered`)
    if (registration.owner !== from) return tx.abort(`${vin} does not belong to the seller`)
    if ((await tx.get('Person', { id: to })) === undefined) return tx.abort('no such buyer')
    tx.update('VehicleRegistration', { vin }, { set: { owner: to, secondaryOwners: [] } })
  })

const raul = await enrol('Raul', 'Lewis', 'LEWISR261LL')
const brent = await enrol('Brent', 'Logan', 'LOGANB486CG')
const alexis = await enrol('Alexis', 'Pena', '744 849 301')
const audi = { vin: '1N4AL11D75C109151', make: 'Audi', model: 'A5', year: 2011, colour: 'Silver' }
await register(audi, raul, 'LEWISR261LL')
await register(
  { vin: 'KM8SRDHF6EU074761', make: 'Tesla', model: 'Model S', year: 2015, colour: 'Blue' },
  brent,
  'CA762X',
)

// Two buyers at the same moment: one of them gets the car.
const sales = await Promise.allSettled([transfer(audi.vin, raul, brent), transfer(audi.vin, raul, alexis)])
console.log('sold:', sales.filter(({ status }) => status === 'fulfilled').length) // sold: 1
const { owner } = await t.transact((tx) => tx.get('VehicleRegistration', { vin: audi.vin }))
await transfer(audi.vin, owner, owner === brent ? alexis : brent)

// Who owned it, and since when.
const people = new Map([
  [raul, 'Raul'],
  [brent, 'Brent'],
  [alexis, 'Alexis'],
])
for await (const { version, item, block } of store.ledger.history('VehicleRegistration', { vin: audi.vin }))
  console.log(`version ${version}, block ${block}: ${people.get(item.owner)}`)

// A person asks to be forgotten: what older versions said of him goes, and that it went is in the ledger.
await t.transact((tx) =>
  tx.update('Person', { id: raul }, { set: { lastName: 'removed', licence: 'removed' } }),
)
await store.ledger.redact('Person', { id: raul }, { version: 0, reason: 'asked for by the person' })

// The title, on paper: the newest registration of the car, with its proof.
const { size, key } = await store.ledger.digest()
await writeFile(join(folder, 'office.key'), `${key}\n`)
await writeFile(
  join(folder, 'title.tlog-proof'),
  await store.ledger.prove('VehicleRegistration', { vin: audi.vin }),
)

// And a copy of the whole ledger, for a stranger to check, over HTTP as a stranger gets it.
const server = await store.listen({ port: 0 })
const office = ledgerAt(server.url, { key })
const { checkpoint } = await office.export(join(folder, 'ledger'))
console.log('exported:', checkpoint.size === size) // exported: true
console.log('seen first:', (await office.watch(join(folder, 'last-seen')).check()).size === size) // seen first: true
await server.stop()
await store.close()
