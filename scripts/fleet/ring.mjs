// A ring of three Cassandra 5 nodes on 127.0.0.1, 127.0.0.2 and 127.0.0.3, for tests on one machine.
//
//   const ring = await startRing({ folder, log })       fetches Cassandra by Maven the first time (67 MB), and starts the nodes
//   ring.address('shop')                                cassandra://127.0.0.1,127.0.0.2,127.0.0.3/shop?datacenter=datacenter1
//   startRing({ advertised: (number) => host })         clients are told to find the nodes there, where something stands between
//   ring.kill(2); await ring.start(2)                   kill -9, and the node again with its data
//   ring.freeze(3); ring.thaw(3)                        SIGSTOP and SIGCONT
//   await ring.stop()
//
// Needs a JDK (17), Maven, and about 3 GB of memory. CASSANDRA_LIB names a folder that has Cassandra's jars already.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const VERSION = '5.0.8'
const PORT = 9042
const NODES = [1, 2, 3]
const hostOf = (number) => `127.0.0.${number}`
const START_MS_MAX = 240_000
const STOP_MS_MAX = 15_000

/** What is missing on this machine, in a sentence; undefined if nothing is. */
export function missingForRing() {
  const java = spawnSync('java', ['-version'], { encoding: 'utf8' })
  if (java.error !== undefined || java.status !== 0)
    return 'java is missing: install a JDK 17 (openjdk-17-jdk-headless)'
  if (process.env.CASSANDRA_LIB === undefined && spawnSync('mvn', ['-v']).status !== 0)
    return 'mvn is missing: install Maven, or name a folder with the jars of cassandra-all in CASSANDRA_LIB'
  return undefined
}

export async function startRing({ folder, log = () => {}, advertised }) {
  const missing = missingForRing()
  if (missing !== undefined) throw new Error(missing)
  mkdirSync(folder, { recursive: true })
  const library = jars(folder, log)
  const nodes = new Map()
  // They are processes of their own, which would stay.
  process.once('exit', () => {
    for (const child of nodes.values()) child.kill('SIGKILL')
  })

  async function start(number) {
    if (nodes.has(number)) throw new Error(`node ${number} runs already`)
    const home = join(folder, `node-${number}`)
    configure(home, number, advertised)
    const output = openSync(join(home, 'output.log'), 'a')
    const child = spawn(
      'java',
      [...javaFlags(home, number, library), 'org.apache.cassandra.service.CassandraDaemon'],
      {
        cwd: home,
        stdio: ['ignore', output, output],
        detached: true,
      },
    )
    nodes.set(number, child)
    let ended = false
    child.on('exit', () => {
      ended = true
      if (nodes.get(number) === child) nodes.delete(number)
    })
    const giveUpMs = performance.now() + START_MS_MAX
    while (!(await answers(number))) {
      if (ended) throw new Error(`node ${number} ended at its start: ${tail(join(home, 'output.log'))}`)
      if (performance.now() > giveUpMs)
        throw new Error(`node ${number} does not answer after ${START_MS_MAX / 1000} s`)
      await sleep(500)
    }
    log(`node ${number} of the ring is up`)
  }

  const signal = (number, name) => {
    const child = nodes.get(number)
    if (child === undefined) throw new Error(`node ${number} does not run`)
    child.kill(name)
  }
  const stopNode = async (number) => {
    const child = nodes.get(number)
    if (child === undefined) return
    const gone = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGTERM')
    child.kill('SIGCONT')
    await Promise.race([gone, sleep(STOP_MS_MAX, undefined, { ref: false })])
    child.kill('SIGKILL')
    await gone
  }
  const ring = {
    address: (keyspace) =>
      `cassandra://${NODES.map(advertised ?? hostOf).join(',')}/${keyspace}?datacenter=datacenter1`,
    start,
    async kill(number) {
      const child = nodes.get(number)
      const gone = new Promise((resolve) => child?.once('exit', resolve))
      signal(number, 'SIGKILL')
      await gone
    },
    freeze: (number) => signal(number, 'SIGSTOP'),
    thaw: (number) => signal(number, 'SIGCONT'),
    running: () => [...nodes.keys()],
    pids: () => Array.from(nodes.values(), ({ pid }) => pid),
    stop: () => Promise.all(NODES.map(stopNode)),
  }
  try {
    // One after another: a node that joins looks at those that are there.
    for (const number of NODES) await start(number)
  } catch (error) {
    await ring.stop()
    throw error
  }
  return ring
}

function jars(folder, log) {
  const given = process.env.CASSANDRA_LIB
  const library = given ?? join(folder, 'lib')
  if (existsSync(join(library, `cassandra-all-${VERSION}.jar`))) return library
  if (given !== undefined) throw new Error(`CASSANDRA_LIB has no cassandra-all-${VERSION}.jar`)
  log(`fetching Cassandra ${VERSION} by Maven`)
  const dependency = `<dependency><groupId>org.apache.cassandra</groupId><artifactId>cassandra-all</artifactId><version>${VERSION}</version></dependency>`
  writeFileSync(
    join(folder, 'pom.xml'),
    `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>ring</groupId>` +
      `<artifactId>ring</artifactId><version>1</version><dependencies>${dependency}</dependencies></project>\n`,
  )
  const { status } = spawnSync(
    'mvn',
    ['-q', '-B', 'dependency:copy-dependencies', '-DoutputDirectory=lib', '-DincludeScope=runtime'],
    { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] },
  )
  if (status !== 0) throw new Error('Maven could not fetch Cassandra')
  return library
}

/** Small nodes: half a GB of heap each, no authentication, loopback only. */
function configure(home, number, advertised) {
  if (existsSync(join(home, 'conf'))) return
  mkdirSync(join(home, 'conf'), { recursive: true })
  const settings = {
    cluster_name: 'seriatim',
    num_tokens: 8,
    allocate_tokens_for_local_replication_factor: 3,
    partitioner: 'org.apache.cassandra.dht.Murmur3Partitioner',
    endpoint_snitch: 'SimpleSnitch',
    seed_provider: [
      {
        class_name: 'org.apache.cassandra.locator.SimpleSeedProvider',
        parameters: [{ seeds: '127.0.0.1:7000' }],
      },
    ],
    listen_address: `127.0.0.${number}`,
    rpc_address: `127.0.0.${number}`,
    storage_port: 7000,
    native_transport_port: PORT,
    ...(advertised && { broadcast_rpc_address: advertised(number) }),
    data_file_directories: [join(home, 'data')],
    commitlog_directory: join(home, 'commitlog'),
    saved_caches_directory: join(home, 'saved_caches'),
    hints_directory: join(home, 'hints'),
    cdc_raw_directory: join(home, 'cdc_raw'),
    commitlog_sync: 'group',
    commitlog_sync_group_window: '1ms',
    commitlog_segment_size: '32MiB',
    commitlog_total_space: '512MiB',
    paxos_variant: 'v2',
    memtable_heap_space: '96MiB',
    memtable_allocation_type: 'heap_buffers',
    file_cache_size: '32MiB',
    networking_cache_size: '16MiB',
    key_cache_size: '8MiB',
    concurrent_reads: 16,
    concurrent_writes: 32,
    read_request_timeout: '5s',
    write_request_timeout: '5s',
    range_request_timeout: '10s',
    cas_contention_timeout: '2s',
    auto_snapshot: false,
  }
  // JSON is YAML.
  writeFileSync(join(home, 'conf', 'cassandra.yaml'), JSON.stringify(settings, undefined, 2))
  writeFileSync(
    join(home, 'conf', 'logback.xml'),
    `<configuration><appender name="file" class="ch.qos.logback.core.FileAppender"><file>${join(home, 'system.log')}</file>` +
      `<encoder><pattern>%-5level %date{ISO8601} %logger{20} - %msg%n</pattern></encoder></appender>` +
      `<root level="INFO"><appender-ref ref="file"/></root></configuration>\n`,
  )
}

/** Of Cassandra's own start script, what this JDK needs. */
const EXPORTS = [
  'java.base/jdk.internal.misc',
  'java.management.rmi/com.sun.jmx.remote.internal.rmi',
  'java.rmi/sun.rmi.registry',
  'java.rmi/sun.rmi.server',
  'java.rmi/sun.rmi.transport.tcp',
  'java.sql/java.sql',
  'java.base/java.lang.ref',
  'java.base/java.lang.reflect',
  'jdk.unsupported/sun.misc',
  'jdk.compiler/com.sun.tools.javac.file',
  'jdk.attach/sun.tools.attach',
  'java.base/java.nio.channels',
]
const OPENS = [
  'jdk.internal.loader',
  'jdk.internal.ref',
  'jdk.internal.math',
  'jdk.internal.module',
  'jdk.internal.reflect',
  'jdk.internal.util.jar',
  'java.lang',
  'java.lang.reflect',
  'java.util',
  'java.util.concurrent',
  'java.util.jar',
  'java.util.concurrent.atomic',
  'java.util.zip',
  'java.io',
  'java.net',
  'java.nio',
  'java.nio.channels',
  'sun.nio.ch',
  'sun.nio.fs',
].map((name) => `java.base/${name}`)

function javaFlags(home, number, library) {
  const agent = readdirSync(library).find((name) => /^jamm-.*\.jar$/.test(name))
  return [
    '-Xms512m',
    '-Xmx512m',
    '-XX:MaxDirectMemorySize=128m',
    '-XX:+UseSerialGC',
    '-XX:+ExitOnOutOfMemoryError',
    ...(agent === undefined ? [] : [`-javaagent:${join(library, agent)}`]),
    ...EXPORTS.flatMap((name) => ['--add-exports', `${name}=ALL-UNNAMED`]),
    ...[...OPENS, 'java.management/sun.management', 'jdk.management/com.sun.management.internal'].flatMap(
      (name) => ['--add-opens', `${name}=ALL-UNNAMED`],
    ),
    '-Djdk.attach.allowAttachSelf=true',
    `-Dcassandra.config=file://${join(home, 'conf', 'cassandra.yaml')}`,
    `-Dlogback.configurationFile=${join(home, 'conf', 'logback.xml')}`,
    `-Dcassandra.storagedir=${home}`,
    '-Dcassandra-foreground=yes',
    `-Dcassandra.jmx.local.port=${7100 + number}`,
    '-Dcassandra.ring_delay_ms=5000',
    '-Dcassandra.skip_wait_for_gossip_to_settle=0',
    '-cp',
    `${join(home, 'conf')}:${library}/*`,
  ]
}

function answers(number) {
  return new Promise((resolve) => {
    const socket = connect({ host: `127.0.0.${number}`, port: PORT })
    socket.once('connect', () => resolve(true))
    socket.once('error', () => resolve(false))
  }).then((isUp) => isUp)
}

const tail = (file) => readFileSync(file, 'utf8').split('\n').slice(-5).join(' ').trim()
