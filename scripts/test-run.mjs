// A group of test files in a process of its own. Whatever ends that process, each of its files is accounted for.
import { spawn } from 'node:child_process'
import { closeSync, existsSync, openSync, readSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const GROUP = fileURLToPath(new URL('test-group.mjs', import.meta.url))
const REPORTER = new URL('test-events.mjs', import.meta.url).href
const OUTPUT_CHARS_MAX = 20_000
const OUTPUT_MS_MAX = 2_000
const LOOK_MS = 200
/** A process in which no test has begun or ended for so long hangs. */
const SILENT_MS_MAX = 600_000
const CHUNK_BYTES = 1 << 16

export async function runGroup({ files, events, environment, isBrief, report }) {
  let at = 0
  let isEnded = false
  let running = ''
  let eventMs = Date.now()
  let testMs = eventMs
  let failures = 0
  let output = ''
  const keep = (text) => {
    output = (output + text).slice(-OUTPUT_CHARS_MAX)
  }
  const take = (event) => {
    eventMs = Date.now()
    // Node tells of the end itself when nothing keeps the process alive any more.
    if (event.type === 'test' || event.type === 'suite') testMs = eventMs
    if (event.type === 'end of file') at += 1
    else if (event.type === 'end') isEnded = true
    else if (event.type === 'spent') report.spent(event.file, event.wallMs, event.cpuMs)
    else if (event.type === 'begin') running = event.name
    else if (event.type === 'diagnostic' && isBrief) keep(`${event.text}\n`)
    else if (event.type === 'broken') failures += report.broken(event.file, event.text)
    else failures += report.take(files[at], event)
  }
  const drain = reader(events, take)

  const args = [`--test-reporter=${REPORTER}`, '--test-reporter-destination=stdout']
  const child = spawn(process.execPath, [...args, GROUP, ...files], {
    stdio: ['ignore', isBrief ? 'pipe' : 'inherit', isBrief ? 'pipe' : 'inherit'],
    env: { ...environment, SERIATIM_TEST_EVENTS: events },
  })
  child.stdout?.on('data', keep)
  child.stderr?.on('data', keep)
  let hung = false
  const looking = setInterval(() => {
    drain()
    if (Date.now() - eventMs < SILENT_MS_MAX) return
    hung = true
    child.kill('SIGKILL')
  }, LOOK_MS)
  const closed = new Promise((resolve) => child.once('close', resolve))
  const ended = await new Promise((resolve) =>
    child.once('exit', (code, signal) => resolve({ code, signal })),
  )
  const exitMs = Date.now()
  // A process that a test left behind may hold its streams open for good.
  await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, OUTPUT_MS_MAX).unref())])
  clearInterval(looking)
  drain()

  const how = hung
    ? `was ended, because no test began or ended for ${SILENT_MS_MAX / 1000} s`
    : ended.signal === null
      ? `ended with code ${ended.code}`
      : `was ended by ${ended.signal}`
  if (!isEnded) {
    const test = running === '' ? '' : ` The last test that began: ${running}.`
    report.broken(files[at], `the process ${how} before its tests had ended.${test}\n${output}`)
    for (const file of files.slice(at + 1)) report.broken(file, 'did not run: the process had ended before')
  } else if (at < files.length - 1) {
    report.broken(files[at], `its tests never came to an end, and the process ${how}\n${output}`)
    for (const file of files.slice(at + 1)) report.broken(file, 'did not run: the file before it did not end')
  } else if (ended.code !== 0 && failures === 0) {
    report.broken(files.join(', '), `the process ${how}, though no test failed\n${output}`)
  } else if (failures > 0) report.output(output)
  if (isEnded) report.lingered(files, exitMs - testMs)
}

/** Gives what was added to a file of JSON lines, whenever it is called. */
function reader(path, take) {
  let position = 0
  let rest = ''
  const bytes = Buffer.alloc(CHUNK_BYTES)
  return () => {
    if (!existsSync(path)) return
    const descriptor = openSync(path)
    const decoder = new TextDecoder()
    for (let count; (count = readSync(descriptor, bytes, 0, CHUNK_BYTES, position)) > 0; position += count)
      rest += decoder.decode(bytes.subarray(0, count), { stream: true })
    closeSync(descriptor)
    const lines = rest.split('\n')
    rest = lines.pop()
    for (const line of lines) take(JSON.parse(line))
  }
}
