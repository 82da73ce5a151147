// A compare-and-set engine in a process of its own, for studies of servers whose engine is not the limit: an engine in memory behind a
// socket. All calls of one turn go in one write, and so do all answers.
//
//   server 1 --+                       frame: u32 length, v8.serialize([id, call, args]) or ([id, answer, error])
//   server 2 --+--> engine server --> MemoryEngine
import { connect, createServer, type Server, type Socket } from 'node:net'
import { deserialize, serialize } from 'node:v8'
import type { Engine } from '../../../src/engine/engine.js'
import { EngineUnavailable, SpaceMissing } from '../../../src/engine/engine.js'
import { MemoryEngine } from '../../../src/engine/memory-engine.js'

type Call = 'read' | 'cas' | 'write' | 'range' | 'createSpace' | 'dropSpace'
type Question = readonly [id: number, call: Call, args: readonly unknown[]]
type Reply = readonly [
  id: number,
  answer: unknown,
  error?: { readonly name: string; readonly message: string },
]

export function serveEngine(): Promise<Server> {
  const engine = new MemoryEngine()
  const server = createServer((socket) => {
    socket.setNoDelay(true)
    const send = sender(socket)
    socket.on('error', () => socket.destroy())
    onFrames(socket, (frame) => {
      const [id, call, args] = frame as Question
      const method = engine[call] as (...given: readonly unknown[]) => Promise<unknown>
      method.apply(engine, [...args]).then(
        (answer) => send([id, answer] satisfies Reply),
        ({ name, message }: Error) => send([id, undefined, { name, message }] satisfies Reply),
      )
    })
  })
  return new Promise((resolve) => void server.listen(0, '127.0.0.1', () => resolve(server)))
}

export function socketEngine(port: number): Engine {
  const socket = connect(port, '127.0.0.1')
  socket.setNoDelay(true)
  const send = sender(socket)
  const waiting = new Map<number, { resolve: (answer: unknown) => void; reject: (error: Error) => void }>()
  let last = 0
  onFrames(socket, (frame) => {
    const [id, answer, error] = frame as Reply
    const waiter = waiting.get(id)
    waiting.delete(id)
    if (error === undefined) waiter?.resolve(answer)
    else waiter?.reject(errorOf(error))
  })
  const ask = <T>(call: Call, ...args: readonly unknown[]): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      waiting.set(++last, { resolve: resolve as (answer: unknown) => void, reject })
      send([last, call, args] satisfies Question)
    })
  const { limits } = new MemoryEngine()
  return {
    name: `engine server at 127.0.0.1:${port}`,
    limits,
    scopeOf: ({ space, partition }) => `${space}/${partition}`,
    read: (...args) => ask('read', ...args),
    cas: (...args) => ask('cas', ...args),
    write: (...args) => ask('write', ...args),
    range: (...args) => ask('range', ...args),
    createSpace: (...args) => ask('createSpace', ...args),
    dropSpace: (...args) => ask('dropSpace', ...args),
    close: () => {
      socket.destroy()
      return Promise.resolve()
    },
  }
}

const errorOf = ({ name, message }: { name: string; message: string }): Error =>
  name === 'SpaceMissing' ? new SpaceMissing(message) : new EngineUnavailable(message)

function sender(socket: Socket): (frame: unknown) => void {
  let frames: Buffer[] = []
  return (frame) => {
    if (frames.length === 0)
      setImmediate(() => {
        socket.write(Buffer.concat(frames))
        frames = []
      })
    const body = serialize(frame)
    const length = Buffer.allocUnsafe(4)
    length.writeUInt32BE(body.length)
    frames.push(length, body)
  }
}

function onFrames(socket: Socket, take: (frame: unknown) => void): void {
  let rest: Buffer = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    let at = 0
    for (; rest.length - at >= 4;) {
      const end = at + 4 + rest.readUInt32BE(at)
      if (end > rest.length) break
      take(deserialize(rest.subarray(at + 4, end)))
      at = end
    }
    rest = rest.subarray(at)
  })
}
